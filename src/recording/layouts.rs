//! What tells code from its place: executables in another order, and counted instructions.

use crate::layout::Layout;
use crate::revision::Side;
use crate::scenario::Target;
use serde::{Deserialize, Serialize};

/// An executable of one side linked once more, with the same code in another order; or why none could be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relaid {
    /// Side it belongs to.
    pub side: Side,
    /// Target it was built from.
    #[serde(flatten)]
    pub target: Target,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: RelaidOutcome,
}

/// What came of linking an executable in other orders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RelaidOutcome {
    /// One of them.
    Linked(Linked),
    /// None could be linked: the last words of cargo, or why it was not tried.
    Failure(String),
}

/// An executable in another order, copied out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Linked {
    /// Its order, never as built.
    pub layout: Layout,
    /// Path relative to the run's folder.
    pub path: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// Seconds cargo ran, for all orders of the executable together.
    pub build_s: f64,
}

impl Relaid {
    /// Nothing could be linked.
    #[must_use]
    pub fn failed(side: Side, target: Target, why: String) -> Self {
        Self {
            side,
            target,
            outcome: RelaidOutcome::Failure(why),
        }
    }

    /// The executable, if there is one.
    #[must_use]
    pub fn linked(&self) -> Option<&Linked> {
        match &self.outcome {
            RelaidOutcome::Linked(linked) => Some(linked),
            RelaidOutcome::Failure(_) => None,
        }
    }

    /// Why there is none.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        match &self.outcome {
            RelaidOutcome::Linked(_) => None,
            RelaidOutcome::Failure(why) => Some(why),
        }
    }
}

/// Instructions that one iteration of a scenario takes on one side, with what surrounds it in criterion's test mode: on
/// the thread that calls `iter`, in user space. What other threads and the kernel do for it is not counted.
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

    /// The lowest and the highest count: twice the same one if two processes agree on it. Absent below two processes.
    #[must_use]
    pub fn range(&self) -> Option<[u64; 2]> {
        if let Some(agreed) = self.agreed() {
            return Some([agreed; 2]);
        }
        let counts = (self.instructions.len() > 1).then_some(&self.instructions)?;
        Some([*counts.iter().min()?, *counts.iter().max()?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(instructions: &[u64]) -> Counted {
        Counted {
            scenario: 0,
            side: Side::Base,
            instructions: instructions.to_vec(),
            failure: None,
        }
    }

    #[test]
    fn counts_that_do_not_agree_have_a_range() {
        let range = |instructions: &[u64]| counted(instructions).range();
        assert_eq!(range(&[7, 9, 8]), Some([7, 9]));
        assert_eq!(range(&[7, 8, 8]), Some([8, 8]));
        assert_eq!([range(&[7]), range(&[])], [None, None]);
    }

    #[test]
    fn a_count_is_believed_if_two_processes_agree() {
        let agreed = |instructions: &[u64]| counted(instructions).agreed();
        assert_eq!(agreed(&[7, 7]), Some(7));
        assert_eq!(agreed(&[7, 8, 8]), Some(8));
        assert_eq!(agreed(&[7, 8, 9]), None);
        assert_eq!(agreed(&[7]), None);
        assert_eq!(agreed(&[]), None);
    }
}
