//! A second view of the user's repository whose object database is only memory, so that git can compute ids of files
//! (with its own line-ending filters) without a byte reaching the disk.
//!
//! The user's objects are deliberately not part of it. libgit2 sets the mtime of an existing object file when it is asked
//! to write that object again, and would do so to the user's files.

use super::error::GitError;
use git2::{ObjectType, Odb, Oid, Repository};
use std::path::Path;

/// The view. Dropped with the last snapshot that reads from it.
pub(super) struct Scratch {
    git: Repository,
}

impl Scratch {
    /// `git_dir` is the repository's (or linked worktree's) own `.git` folder.
    pub(super) fn new(git_dir: &Path) -> Result<Self, GitError> {
        let doing = || GitError::doing("make an object database in memory");
        let git = Repository::open(git_dir).map_err(doing())?;
        let memory = Odb::new().map_err(doing())?;
        memory.add_new_mempack_backend(1).map_err(doing())?;
        git.set_odb(&memory).map_err(doing())?;
        Ok(Self { git })
    }

    /// Keeps bytes as a blob.
    pub(super) fn keep(&self, bytes: &[u8]) -> Result<Oid, GitError> {
        self.git
            .odb()
            .and_then(|odb| odb.write(ObjectType::Blob, bytes))
            .map_err(GitError::doing("keep a file in memory"))
    }

    /// Keeps a file as the blob that `git add` would make of it: line endings as the attributes and `core.autocrlf`
    /// say, external filters not run. Git looks at the index's blob of the same path to decide, so that one must be
    /// [kept](Self::keep) before, and so must the index's `.gitattributes` files.
    pub(super) fn keep_file(&self, path: &Path) -> Result<Oid, git2::Error> {
        self.git.blob_path(path)
    }

    /// The handle, for reading what was kept.
    pub(super) fn into_git(self) -> Repository {
        self.git
    }
}
