//! The `abreast` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(abreast::cli::main(std::env::args_os()) as u8)
}
