//! Why settings cannot be used.

use crate::plan::MIN_ROUNDS;
use crate::program::ProgramError;
use crate::run_files::GlobError;

/// Why settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Not TOML, or a value of the wrong type.
    #[error("{file}: {message}")]
    Toml {
        /// File it was read from.
        file: String,
        /// What is wrong and where.
        message: String,
    },
    /// A key that means nothing.
    #[error("{file}: unknown key `{key}`{}", nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    UnknownKey {
        /// File it was read from.
        file: String,
        /// What was written.
        key: String,
        /// Closest key there is.
        nearest: Option<String>,
    },
    /// A number of rounds no verdict can come from.
    #[error(
        "cannot reach a verdict with {0} rounds, whatever the change: at least {MIN_ROUNDS} are needed, \
         and 16 or more for changes below 10 %"
    )]
    Rounds(u32),
    /// The filter is no regular expression.
    #[error("--filter is not a regular expression: {0}")]
    Filter(String),
    /// A pattern for files is none.
    #[error(transparent)]
    RunFiles(#[from] GlobError),
    /// A program that cannot be used.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A number that must be finite and not negative.
    #[error("--floor-ns must be a number from 0 on")]
    FloorNs,
    /// An alert limit below what is flagged: every regression would be an alert.
    #[error(
        "--alert {alert} % is below --threshold {threshold} %: a change is flagged from the threshold on"
    )]
    Alert {
        /// As percent.
        alert: String,
        /// As percent.
        threshold: String,
    },
}
