//! What is said about one scenario: the verdict, and the flag the reader sees.

use serde::{Deserialize, Serialize};

/// Conclusion about one scenario. It starts as [`Verdict::Unclear`]; everything else must be earned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Worse, confirmed by fresh processes.
    Regressed,
    /// Better, confirmed by fresh processes.
    Improved,
    /// No confirmed change, and the interval lies within the margin.
    Unchanged,
    /// Nothing could be shown.
    Unclear,
    /// Both sides load the same code and data.
    Identical,
    /// The sides are not the same experiment.
    NotComparable,
    /// Only head has it.
    New,
    /// Only base has it.
    Removed,
    /// Could not be measured.
    Failed,
}

/// What the reader sees at the start of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flag {
    /// A regression of at least the alert limit.
    Alert,
    /// A smaller regression.
    Warn,
    /// An improvement.
    Faster,
    /// Unchanged.
    Ok,
    /// Unclear.
    Unclear,
    /// Nothing to say about speed.
    None,
}

impl Verdict {
    /// All verdicts, in the order reports count them.
    pub const ALL: [Self; 9] = [
        Self::Regressed,
        Self::Improved,
        Self::Unchanged,
        Self::Unclear,
        Self::Identical,
        Self::New,
        Self::Removed,
        Self::Failed,
        Self::NotComparable,
    ];

    /// The word used in JSON and CSV.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::Improved => "improved",
            Self::Unchanged => "unchanged",
            Self::Unclear => "unclear",
            Self::Identical => "identical",
            Self::NotComparable => "not_comparable",
            Self::New => "new",
            Self::Removed => "removed",
            Self::Failed => "failed",
        }
    }

    /// Whether it says that something changed.
    #[must_use]
    pub fn is_change(self) -> bool {
        matches!(self, Self::Regressed | Self::Improved)
    }

    /// The flag of this verdict for a change of this size (absolute, as a fraction), given the alert limit.
    #[must_use]
    pub fn flag(self, change: Option<f64>, alert: f64) -> Flag {
        match self {
            Self::Regressed if change.is_some_and(|change| change.abs() >= alert) => Flag::Alert,
            Self::Regressed => Flag::Warn,
            Self::Improved => Flag::Faster,
            Self::Unchanged => Flag::Ok,
            Self::Unclear => Flag::Unclear,
            Self::Identical | Self::NotComparable | Self::New | Self::Removed | Self::Failed => Flag::None,
        }
    }
}

impl Flag {
    /// The word used in JSON and CSV.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Alert => "alert",
            Self::Warn => "warn",
            Self::Faster => "faster",
            Self::Ok => "ok",
            Self::Unclear => "unclear",
            Self::None => "none",
        }
    }
}
