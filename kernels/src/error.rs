//! What an operator refuses.

/// Why an operator did not run. Nothing was written to its output then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpError {
    /// A shape that does not fit the others.
    #[error("{op}: {what} must have shape {wanted}, and has {found:?}")]
    Shape {
        /// The operator.
        op: &'static str,
        /// Which of its tensors.
        what: &'static str,
        /// What would fit.
        wanted: String,
        /// What it is.
        found: Vec<usize>,
    },
    /// A number that is outside of what it stands for.
    #[error("{op}: {what} is {found}, and must be below {limit}")]
    Range {
        /// The operator.
        op: &'static str,
        /// Which number.
        what: &'static str,
        /// What it is.
        found: usize,
        /// First number that is too large.
        limit: usize,
    },
}

impl OpError {
    pub(crate) fn shape(
        op: &'static str,
        what: &'static str,
        wanted: impl std::fmt::Debug,
        found: &[usize],
    ) -> Self {
        Self::Shape {
            op,
            what,
            wanted: format!("{wanted:?}"),
            found: found.to_vec(),
        }
    }

    /// Refuses a shape that is not the wanted one.
    pub(crate) fn unless_shape(
        op: &'static str,
        what: &'static str,
        wanted: &[usize],
        found: &[usize],
    ) -> Result<(), Self> {
        if wanted == found {
            Ok(())
        } else {
            Err(Self::shape(op, what, wanted, found))
        }
    }
}
