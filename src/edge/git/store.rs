//! One object database that snapshots read from: the user's, a submodule's, or the one in memory.

use super::error::GitError;
use git2::{ErrorCode, ObjectType, Oid, Repository};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A repository whose objects are read. Shared by all entries that came from it.
pub(super) struct Store {
    git: Mutex<Repository>,
    /// Its shared `.git` folder, below which Git LFS keeps its objects.
    pub(super) common: PathBuf,
    /// `--filter` of a partial clone: objects may be missing by design.
    filter: Option<String>,
}

impl Store {
    /// Takes the handle over. `common` is said apart, since a handle on a database in memory stands for the user's repository.
    pub(super) fn new(git: Repository, common: &Path) -> Self {
        let filter = filter(&git);
        Self {
            git: Mutex::new(git),
            common: common.to_owned(),
            filter,
        }
    }

    /// The handle. A panic elsewhere cannot leave it half-changed, as nothing is written through it.
    pub(super) fn git(&self) -> MutexGuard<'_, Repository> {
        self.git.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of a blob; `what` names it in messages.
    pub(super) fn read(&self, id: Oid, what: &str) -> Result<Vec<u8>, GitError> {
        let git = self.git();
        let read = |git: &Repository| Ok(git.odb()?.read(id)?.data().to_vec());
        read(&git).map_err(|error| self.failure(error, what))
    }

    /// Size of a blob in bytes, without reading it.
    pub(super) fn size(&self, id: Oid, what: &str) -> Result<u64, GitError> {
        let git = self.git();
        let read = |git: &Repository| git.odb()?.read_header(id);
        let (size, _) = read(&git).map_err(|error| self.failure(error, what))?;
        Ok(size as u64)
    }

    /// Whether the commit is here.
    pub(super) fn has_commit(&self, id: Oid) -> bool {
        let git = self.git();
        let read = |git: &Repository| git.odb()?.read_header(id);
        read(&git).is_ok_and(|(_, kind)| kind == ObjectType::Commit)
    }

    /// Says why an object cannot be read.
    pub(super) fn failure(&self, error: git2::Error, what: &str) -> GitError {
        let what = what.to_owned();
        match (&self.filter, error.code()) {
            (Some(filter), ErrorCode::NotFound) => GitError::Filtered {
                what,
                filter: filter.clone(),
            },
            (None, ErrorCode::NotFound) => GitError::Missing { what },
            _ => GitError::doing(format!("read `{what}`"))(error),
        }
    }
}

/// The filter of the first remote that promises the missing objects.
fn filter(git: &Repository) -> Option<String> {
    let config = git.config().ok()?;
    let mut entries = config.entries(Some("remote\\..*\\.partialclonefilter")).ok()?;
    let entry = entries.next()?.ok()?;
    entry.value().ok().map(str::to_owned)
}
