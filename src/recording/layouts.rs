//! What tells code from its place: executables in another order, and counted instructions.

use crate::layout::Layout;
use crate::revision::Side;
use crate::scenario::Target;
use serde::{Deserialize, Serialize};

/// An executable of one side linked once more, with the same code in another order; or why it could not be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relaid {
    /// Side it belongs to.
    pub side: Side,
    /// Target it was built from.
    #[serde(flatten)]
    pub target: Target,
    /// Its order, never as built.
    pub layout: Layout,
    /// Seconds cargo ran, for all orders of the executable together.
    pub build_s: f64,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: RelaidOutcome,
}

/// What came of linking an executable in another order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RelaidOutcome {
    /// It was copied out: where it is, and what it is.
    Linked {
        /// Path relative to the run's folder.
        path: String,
        /// SHA-256 of the file.
        sha256: String,
    },
    /// It could not be linked: the last words of cargo, or why it was not tried.
    Failure(String),
}

/// Instructions that one iteration of a scenario takes on one side, with what surrounds it in criterion's test mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// [`Entry::ix`](super::Entry::ix).
    pub scenario: u32,
    /// Side.
    pub side: Side,
    /// One count a process. A bench that runs the same way each time gives equal ones.
    pub instructions: Vec<u64>,
    /// Why there are none, or no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Counted {
    /// The count, if two processes agree on it: a single one may be an accident.
    #[must_use]
    pub fn agreed(&self) -> Option<u64> {
        let repeated = |count: &&u64| self.instructions.iter().filter(|other| other == count).count() > 1;
        self.instructions.iter().find(repeated).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_believed_if_two_processes_agree() {
        let agreed = |instructions: &[u64]| {
            let counted = Counted {
                scenario: 0,
                side: Side::Base,
                instructions: instructions.to_vec(),
                failure: None,
            };
            counted.agreed()
        };
        assert_eq!(agreed(&[7, 7]), Some(7));
        assert_eq!(agreed(&[7, 8, 8]), Some(8));
        assert_eq!(agreed(&[7, 8, 9]), None);
        assert_eq!(agreed(&[7]), None);
        assert_eq!(agreed(&[]), None);
    }
}
