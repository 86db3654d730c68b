//! The user's repository, read and never written - but for the branch with the history, by those who ask for that.
//!
//! [`Repo`] finds it and turns words into two [`Revision`](crate::revision::Revision)s; a [`Snapshot`] is the flat list
//! of files of one of them. Nothing under the work tree or `.git` changes: no index refresh, no object, no reference,
//! not even the mtime of an object file (libgit2 touches those when it is asked to write an object that exists, so
//! everything made here goes to a database in memory).
//!
//! What is not here: fetching, checking out (see [`tree`](crate::edge::tree)), smudge filters. Files are handed out as
//! git stores them, on both sides alike.

mod ancestry;
mod branch;
mod ci;
mod collect;
mod default_branch;
mod disk_file;
mod error;
mod lfs;
mod line;
mod merge_ref;
mod name;
mod proposed;
mod repo;
mod resolve;
mod scaffold;
mod scratch;
mod snapshot;
mod store;
mod submodule;
mod tree_id;
mod worktree;

pub use branch::{Branch, BranchError};
pub use ci::Ci;
pub use error::GitError;
pub use proposed::proposed;
pub use repo::Repo;
pub use resolve::WORKING_TREE;
pub use scaffold::commit as scaffold;
pub use snapshot::{ContentId, Entry, Mode, Snapshot, changed_paths};
