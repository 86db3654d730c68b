//! The `abreast` command.
fn main() {}
