//! What is measured: its name, its unit and which direction is better.

use serde::{Deserialize, Serialize};

/// Unit of a metric's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Unit {
    /// Nanoseconds per iteration.
    #[serde(rename = "ns")]
    Ns,
    /// A number of events per iteration.
    #[serde(rename = "count")]
    Count,
    /// Bytes of memory.
    #[serde(rename = "bytes")]
    Bytes,
    /// Something per second: tokens, requests, items.
    #[serde(rename = "per_s")]
    PerSecond,
}

impl Unit {
    /// The word used in JSON and CSV.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::Count => "count",
            Self::Bytes => "bytes",
            Self::PerSecond => "per_s",
        }
    }
}

/// Which direction of a metric is good news. It belongs to the metric, never to the tool that reads it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Smaller values are better (time).
    #[default]
    Lower,
    /// Larger values are better (rates).
    Higher,
}

/// One measured quantity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Metric {
    /// Name in reports: `time`.
    pub name: String,
    /// Unit of every value.
    pub unit: Unit,
    /// Good direction.
    pub better: Better,
}

impl Metric {
    /// Wall time per iteration in nanoseconds, lower is better: what criterion measures by default.
    #[must_use]
    pub fn time() -> Self {
        Self {
            name: "time".to_owned(),
            unit: Unit::Ns,
            better: Better::Lower,
        }
    }

    /// Something per second, higher is better.
    #[must_use]
    pub fn rate() -> Self {
        Self {
            name: "rate".to_owned(),
            unit: Unit::PerSecond,
            better: Better::Higher,
        }
    }

    /// Bytes of memory, lower is better.
    #[must_use]
    pub fn memory() -> Self {
        Self {
            name: "memory".to_owned(),
            unit: Unit::Bytes,
            better: Better::Lower,
        }
    }

    /// A number of events that cost something, lower is better.
    #[must_use]
    pub fn count() -> Self {
        Self {
            name: "count".to_owned(),
            unit: Unit::Count,
            better: Better::Lower,
        }
    }

    /// Instructions of one iteration and of what surrounds it in criterion's test mode, lower is better: exact, where
    /// the bench runs the same way each time.
    #[must_use]
    pub fn instructions() -> Self {
        Self {
            name: "instructions".to_owned(),
            unit: Unit::Count,
            better: Better::Lower,
        }
    }
}
