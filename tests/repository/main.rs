//! `edge::git` and `edge::tree` against real repositories, made by the `git` command in temporary folders.

#![allow(clippy::unwrap_used, reason = "a broken fixture should stop its test")]
#![expect(
    clippy::disallowed_methods,
    reason = "fixtures are made with git and files, and looked at with files"
)]

mod cargo_freshness;
mod fixture;
mod pull_request;
mod refusals;
mod resolve;
mod shallow;
mod sides;
mod snapshot;
mod special_files;
mod submodules;
mod tree;
mod untouched;
mod working_tree;
