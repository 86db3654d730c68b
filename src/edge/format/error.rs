//! Why nothing could be read.

use crate::profile::Format;

/// What was expected, what was found, what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// Nothing of it is in this format.
    #[error("this is no {}: {found}", .format.name())]
    Foreign {
        /// What it was read as.
        format: Format,
        /// What it is instead, as far as can be told, as a part of a sentence.
        found: String,
    },
    /// The format, but without a single number that could be used.
    #[error("nothing was measured in this {}: {why}", .format.name())]
    Nothing {
        /// What it was read as.
        format: Format,
        /// Why, as a part of a sentence.
        why: String,
    },
    /// A number whose unit is not known.
    #[error("`{of}` is in `{unit}`, a unit that is not known; known are {known}")]
    UnknownUnit {
        /// What has the unit.
        of: String,
        /// As it was written.
        unit: String,
        /// Those that are known, in a row.
        known: &'static str,
    },
}
