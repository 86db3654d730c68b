//! Everything that touches the world: files, processes, git, clocks, the environment. Nothing here decides anything.
//!
//! One file (or folder) per outside thing. They import nouns, and `process` where a child must run; what they hand
//! out is plain data. [`tree`] also reads [`git::Snapshot`], the form in which files leave a repository.

pub mod git;
pub mod tree;
