//! What one row of the report is about.

use crate::metric::Metric;
use serde::{Deserialize, Serialize};

/// Where a scenario comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A criterion benchmark id.
    Criterion,
    /// One quantity of a program that is measured as a whole.
    Program,
}

impl Kind {
    /// The word used in JSON and CSV.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Criterion => "criterion",
            Self::Program => "program",
        }
    }
}

/// A bench target of a package, or a program: one executable on each side.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Target {
    /// Cargo package name; empty for a program.
    pub package: String,
    /// Name of the bench target in that package, or of the program.
    pub target: String,
}

impl Target {
    /// The program of this name.
    #[must_use]
    pub fn program(name: &str) -> Self {
        Self {
            package: String::new(),
            target: name.to_owned(),
        }
    }

    /// Whether it is a program: a bench target has a package.
    #[must_use]
    pub fn is_program(&self) -> bool {
        self.package.is_empty()
    }
}

/// One thing measured. The key that matches base with head is everything here: kind, package, target, full id, metric.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Scenario {
    /// Origin.
    pub kind: Kind,
    /// Executable it belongs to.
    #[serde(flatten)]
    pub target: Target,
    /// Full criterion id as the bench wrote it, or what a program calls the quantity; unescaped, may hold any character.
    pub id: String,
    /// Quantity.
    pub metric: Metric,
}
