//! The terminal: where reports are printed, how wide it is, whether it has colours.
#![expect(
    clippy::disallowed_methods,
    reason = "this file is where the terminal and the current folder are asked"
)]

use crate::report::Options;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// If standard output is a terminal that has them, and `NO_COLOR` does not say otherwise.
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

/// Prints to standard output. A reader that went away (`| head`) is no error.
///
/// # Errors
/// Anything else that the system refuses, like a full disk.
pub fn print(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Says on standard error why the tool gives up; if nobody listens there, nobody hears it.
pub fn error(message: &str) {
    let _ = writeln!(std::io::stderr(), "error: {message}");
}

/// How a report looks on standard output.
#[must_use]
pub fn options(color: Color, verbose: bool) -> Options {
    let color = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never,
    };
    let plain = plain();
    let width = if std::io::stdout().is_terminal() {
        width().unwrap_or(plain.width)
    } else {
        plain.width
    };
    Options {
        width,
        color,
        verbose,
        ..plain
    }
}

/// How a report looks in a file.
#[must_use]
pub fn plain() -> Options {
    Options {
        width: 120,
        color: false,
        verbose: false,
        ..Options::default()
    }
}

fn width() -> Option<usize> {
    terminal_size::terminal_size().map(|(terminal_size::Width(columns), _)| usize::from(columns))
}

/// The folder the user is in; the root if it was removed.
#[must_use]
pub fn current_dir() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"))
}
