//! Finding the user's repository, and saying in a sentence why it cannot be used.

#![expect(
    clippy::disallowed_methods,
    reason = "reads the list of commits where a shallow clone ends"
)]

use super::error::GitError;
use super::snapshot::Snapshot;
use git2::{ErrorCode, Oid, Repository, RepositoryOpenFlags};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The user's repository, opened once and never written to.
///
/// The working tree is read at most once: the revision that [`Repo::resolve`] gave and the files that
/// [`Repo::snapshot`] hands out belong together even if somebody edits meanwhile.
pub struct Repo {
    pub(super) git: Repository,
    /// The same repository seen from its common folder: libgit2 knows where a shallow history ends only there,
    /// not in a linked worktree.
    pub(super) history: Repository,
    pub(super) root: PathBuf,
    pub(super) common: PathBuf,
    /// Commits whose parents were not fetched.
    pub(super) shallow: BTreeSet<Oid>,
    /// Tree id and files of the working tree, once read.
    pub(super) working: RefCell<Option<(Oid, Snapshot)>>,
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repo")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl Repo {
    /// Opens the repository that holds `start` (a folder in a work tree, a linked worktree or a submodule), looking
    /// upwards on the same file system as git does.
    ///
    /// # Errors
    /// No repository, a bare one, one of another user, or one in a format libgit2 does not read.
    pub fn discover(start: &Path) -> Result<Self, GitError> {
        let none: [&OsStr; 0] = [];
        let git = Repository::open_ext(start, RepositoryOpenFlags::empty(), none)
            .map_err(|source| refusal(start, source))?;
        let root = match git.workdir() {
            Some(root) => canonical(root)?,
            None => {
                return Err(GitError::Bare {
                    path: git.path().to_owned(),
                });
            }
        };
        let common = canonical(git.commondir())?;
        let history = Repository::open(&common).map_err(|source| refusal(&common, source))?;
        let shallow = shallow_commits(&common)?;
        Ok(Self {
            git,
            history,
            root,
            common,
            shallow,
            working: RefCell::new(None),
        })
    }

    /// The work tree's top folder, absolute, without symlinks.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The `.git` folder that all linked worktrees share, absolute, without symlinks: one per repository.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.common
    }

    /// Whether some history was not fetched.
    #[must_use]
    pub fn is_shallow(&self) -> bool {
        !self.shallow.is_empty()
    }
}

/// The folder without symlinks and trailing slash.
pub(super) fn canonical(path: &Path) -> Result<PathBuf, GitError> {
    path.canonicalize().map_err(|source| GitError::Io {
        doing: "open",
        path: path.to_owned(),
        source,
    })
}

fn shallow_commits(common: &Path) -> Result<BTreeSet<Oid>, GitError> {
    let path = common.join("shallow");
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(text
            .lines()
            .filter_map(|line| Oid::from_str(line.trim()).ok())
            .collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(source) => Err(GitError::Io {
            doing: "read",
            path,
            source,
        }),
    }
}

/// libgit2 tells most of these only by its message.
fn refusal(start: &Path, source: git2::Error) -> GitError {
    let path = holder(start);
    let message = source.message();
    if source.code() == ErrorCode::Owner {
        return GitError::ForeignOwner { path };
    }
    if source.code() == ErrorCode::NotFound {
        return GitError::NotARepository {
            start: start.to_owned(),
        };
    }
    let (what, remedy) = if message.contains("object format") {
        (
            "the object format sha256".to_owned(),
            "git init --object-format=sha1",
        )
    } else if message.contains("extensions.refstorage") {
        (
            "the reference storage reftable".to_owned(),
            "git clone --ref-format=files",
        )
    } else if let Some((_, name)) = message.split_once("unsupported extension name extensions.") {
        (format!("the extension `{name}`"), "git clone")
    } else {
        return GitError::Git {
            doing: format!("open the repository at `{}`", path.display()),
            source,
        };
    };
    GitError::Format { path, what, remedy }
}

/// The folder that git would call the repository: the nearest one with a `.git`, as `safe.directory` wants it.
fn holder(start: &Path) -> PathBuf {
    let start = start.canonicalize().unwrap_or_else(|_| start.to_owned());
    start
        .ancestors()
        .find(|folder| folder.join(".git").exists())
        .unwrap_or(&start)
        .to_owned()
}
