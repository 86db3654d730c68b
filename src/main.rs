//! The `abreast` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(abreast::cli::main(std::env::args_os()) as u8)
}
