//! `cargo abreast ...`: the same command under the name by which cargo finds it.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    // Cargo passes the word that selected this program as the first argument.
    let mut args: Vec<_> = std::env::args_os().collect();
    if args.get(1).is_some_and(|word| word == "abreast") {
        args.remove(1);
    }
    ExitCode::from(abreast::cli::main(args) as u8)
}
