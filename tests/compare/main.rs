//! End to end: the tool compares commits of a fixture project as a user would have it do, each situation a commit.
//!
//! The benches of the fixture report scripted times (`tests/fixtures/suite/src/player.rs`), so results do not depend
//! on the machine. Tests of more than some 20 seconds are in `tests/long`.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests are users, who have files and processes; a test that cannot go on panics"
)]

#[path = "../support/mod.rs"]
mod support;

mod builds;
mod bundles;
mod foreign;
mod github;
mod harness;
mod history;
mod ids;
mod interruption;
mod layout;
mod misbehaviour;
mod null;
mod numbers;
mod power;
mod programs;
mod qualify;
mod recordings;
mod revisions;
mod sets;
mod targets;
mod usage;
