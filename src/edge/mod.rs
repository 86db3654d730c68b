//! Everything that touches the world: one file for each outside thing.
//!
//! Files here observe and act; they decide nothing about speed. They import the nouns and [`process`], not each other
//! (git's files form one thing, and the tree holds git's snapshots). `workshop`, `lab` and `pipeline` put them together.

pub mod archive;
pub mod callgrind;
pub mod cargo;
pub mod clock;
pub mod criterion;
pub mod fleet;
pub mod format;
pub mod git;
pub mod github;
pub mod history;
pub mod home;
pub mod machine;
pub mod process;
pub mod quiet;
pub mod store;
pub mod terminal;
pub mod tree;
pub mod view;
