//! **abreast** runs two commits side by side on one machine and tells a change from noise.
//!
//! The house is an hourglass. Left of the waist ([`recording`]) everything touches the world and decides nothing;
//! right of it everything decides and touches nothing. ARCHITECTURE.md is the plan of the house, docs/glossary.md the
//! words, `pipeline` the story.
#![forbid(unsafe_code)]

pub mod bench_source;
pub mod bisection;
pub mod build;
pub mod bundle;
pub mod claim;
pub mod cli;
pub mod comment;
pub mod comparison;
pub mod config;
pub mod difference;
pub mod digest;
pub mod edge;
pub mod exit;
pub mod history;
pub mod imported;
pub mod injection;
pub mod inside;
pub mod judge;
pub mod kept;
pub mod lab;
pub mod last_words;
pub mod launch;
pub mod layout;
pub mod measure;
pub mod metric;
pub mod pipeline;
pub mod plan;
pub mod profile;
pub mod program;
pub mod pull_request;
pub mod qualification;
pub mod recording;
pub mod report;
pub mod revision;
pub mod run_files;
pub mod scenario;
pub mod schedule;
pub mod slot;
pub mod stats;
pub mod units;
pub mod verdict;
pub mod workflows;
pub mod workshop;
