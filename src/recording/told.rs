//! What a program told in one launch besides times and rates.

use super::Phase;
use crate::profile::Generation;
use crate::revision::Side;
use crate::scenario::Target;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Facts of one launch: what it was set to do, what came of it, and what it counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// Phase of the launch.
    pub phase: Phase,
    /// Round within the phase.
    pub round: u32,
    /// Side.
    pub side: Side,
    /// The program.
    #[serde(flatten)]
    pub target: Target,
    /// What has to be the same on both sides for its numbers to mean the same.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Texts that it generated.
    #[serde(default)]
    pub generations: Vec<Generation>,
    /// What it counted.
    #[serde(default)]
    pub counts: Vec<Events>,
    /// What else it told that this build does not know.
    #[serde(default)]
    pub unknown: BTreeMap<String, serde_json::Value>,
}

/// How often something happened in one launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Events {
    /// [`Entry::ix`](super::Entry::ix).
    pub scenario: u32,
    /// A count for each repetition.
    pub values: Vec<u64>,
}
