//! What is remembered of commits: how fast each was, told as a chain of changes that were measured on one runner each.
//!
//! A time that another machine measured, or the same machine a month ago, says nothing about a commit. What keeps its
//! meaning is a change: two commits side by side on one machine, with the error it was measured with. So the history
//! holds changes ([`Measurement`]), one file a class of machines and commit ([`File`]), and the level of a commit is the sum
//! of the changes that lead to it ([`chain`]). Errors add up along the way; a direct comparison with an older commit, such
//! as the last release, takes them back.
//!
//! From the levels come the change points, and the drift that no single change would show ([`change`]). [`trend`] puts all
//! of it together; renderers in [`report`](crate::report) write it down. Files are read and written by
//! `edge::history` (the work tree) and `edge::git` (a branch).

pub mod alias;
pub mod blessing;
pub mod chain;
pub mod change;
mod file;
pub mod foreign;
mod line;
pub mod prune;
mod read;
pub mod trend;

pub use file::{File, FileError, Group, Measurement, Point, Row, SCHEMA, append, path_of};
pub use line::{Commit, Line};
pub use read::{Parsed, join, parse};

/// Folder of the work tree, and of the branch, that holds the history.
pub const FOLDER: &str = "baselines";

/// The orphan branch that may hold the history instead of the work tree.
pub const BRANCH: &str = "abreast-history";
