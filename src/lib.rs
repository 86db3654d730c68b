//! **abreast** runs two commits side by side on one machine and tells a change from noise.
//!
//! The house is an hourglass. Left of the waist ([`recording`]) everything touches the world and decides nothing;
//! right of it everything decides and touches nothing. ARCHITECTURE.md is the plan of the house, docs/glossary.md the
//! words, `pipeline` the story.

pub mod account;
pub mod assessment;
pub mod comparison;
pub mod confirmation;
pub mod decision;
pub mod estimate;
pub mod incidents;
pub mod judge;
pub mod looks;
pub mod metric;
pub mod plan;
pub mod recording;
pub mod report;
pub mod revision;
pub mod ruling;
pub mod scenario;
pub mod standing;
pub mod stats;
pub mod touched;
pub mod units;
pub mod verdict;
pub mod wording;
