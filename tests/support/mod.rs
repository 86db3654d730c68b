//! What end-to-end tests stand on: a fixture repository with one commit for each situation, the tool run on two of its
//! commits, a guard that the user's files are as they were, and the report that came out.
//!
//! Compiling criterion costs half a minute, so there is one repository for all tests, kept in cargo's folder for test
//! files from one `cargo test` to the next: the tool has one target directory for each repository and compiles
//! criterion there once. Commits are objects made without a work tree and depend on their files alone, so a test makes
//! those it needs and finds them again next time. Tests of this repository run one after another: a test holds a lock
//! on it ([`bench::TestBench::of_suite`]), whatever runs the tests.
#![allow(dead_code, reason = "each test binary uses its own part of this")]

pub(crate) mod bench;
pub(crate) mod files;
pub(crate) mod guard;
pub(crate) mod report;
pub(crate) mod repository;
pub(crate) mod script;
pub(crate) mod tool;
