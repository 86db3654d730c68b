//! Base and head: which commit, and what the user called it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One of the two things compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// What the change is measured against.
    Base,
    /// The change.
    Head,
}

impl Side {
    /// Base, then head.
    pub const BOTH: [Self; 2] = [Self::Base, Self::Head];

    /// The other side.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Base => Self::Head,
            Self::Head => Self::Base,
        }
    }

    /// `base` or `head`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Head => "head",
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A resolved side: 40 hex digits and the words it was asked for with.
///
/// For a snapshot of the working tree that differs from `HEAD`, `sha` is the id of the snapshot's git tree:
/// no commit of that content exists, and none is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// What the user typed, or how the default was found: `main`, `HEAD~1`, `working tree`.
    pub label: String,
    /// Full object id.
    pub sha: String,
}

impl Revision {
    /// First ten digits of the id, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        self.sha.get(..10).unwrap_or(&self.sha)
    }
}
