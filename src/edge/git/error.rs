//! What can go wrong between a repository and a snapshot, each as a sentence that ends with what to do.

use std::io;
use std::path::PathBuf;

/// A repository that cannot be used, a revision that cannot be found, or a file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// No repository at or above the folder.
    #[error(
        "`{}` is not inside a git repository: run this in the repository whose commits are compared",
        start.display()
    )]
    NotARepository {
        /// Where the search began.
        start: PathBuf,
    },
    /// A repository without files.
    #[error(
        "`{}` is a bare repository, and this needs a work tree: clone it, or `git worktree add` one and run there",
        path.display()
    )]
    Bare {
        /// The repository.
        path: PathBuf,
    },
    /// The folder belongs to another user, so git refuses to read its configuration.
    #[error(
        "`{0}` belongs to another user, which git does not trust (common in containers): \
         run `git config --global --add safe.directory {0}`",
        path.display()
    )]
    ForeignOwner {
        /// Folder to trust.
        path: PathBuf,
    },
    /// A repository format that the linked libgit2 does not read.
    #[error(
        "`{}` uses {what}, which the git library of this tool cannot read: \
         compare in a clone with the default format (`{remedy}`)",
        path.display()
    )]
    Format {
        /// The repository.
        path: PathBuf,
        /// The format, in words.
        what: String,
        /// A command that makes a readable clone.
        remedy: &'static str,
    },
    /// An index in a format that the linked libgit2 does not read.
    #[error(
        "the index of `{}` is {what}, which the git library of this tool cannot read: run `{remedy}` first",
        root.display()
    )]
    Index {
        /// The work tree.
        root: PathBuf,
        /// The format, in words.
        what: &'static str,
        /// The command that makes it readable.
        remedy: &'static str,
    },
    /// `HEAD` names a branch without commits.
    #[error("`{}` has no commit yet: commit once, then there is something to compare with", root.display())]
    NoCommits {
        /// The work tree.
        root: PathBuf,
    },
    /// Nothing tells which branch is the default one.
    #[error(
        "cannot tell the default branch ({found}): name the base, as in `abreast compare origin/NAME`, \
         or run `git remote set-head origin --auto` once"
    )]
    NoDefaultBranch {
        /// What was looked for, and found.
        found: String,
    },
    /// The base branch of a pull request is not in this clone.
    #[error(
        "the pull request's base branch `{branch}` is not in this clone: \
         check out with `fetch-depth: 0`, or run `git fetch origin {branch}:refs/remotes/origin/{branch}`"
    )]
    NoPullRequestBase {
        /// Branch name, without the remote.
        branch: String,
    },
    /// The words name nothing.
    #[error("`{spec}` names no commit here{hint}")]
    Unknown {
        /// What was typed.
        spec: String,
        /// Continues the sentence: the nearest name, or how to list names.
        hint: String,
    },
    /// An abbreviated id with several meanings.
    #[error("`{spec}` is ambiguous{candidates}: write more digits of the id")]
    Ambiguous {
        /// What was typed.
        spec: String,
        /// Continues the sentence: the commits it may mean, if they could be listed.
        candidates: String,
    },
    /// The words name a file or a folder.
    #[error("`{spec}` names a {kind}, not a commit: name a branch, a tag or a commit id")]
    NotACommit {
        /// What was typed.
        spec: String,
        /// `blob` or `tree`.
        kind: String,
    },
    /// The history that is needed was cut off.
    #[error(
        "{what}, because this clone is shallow: check out with `fetch-depth: 0` (actions/checkout) \
         or run `git fetch --unshallow`"
    )]
    Shallow {
        /// What could not be done.
        what: String,
    },
    /// Two histories without a common commit.
    #[error("{head} and {base} have no commit in common: name the base, as in `abreast compare HEAD~1`")]
    Unrelated {
        /// The branch that was to be the base.
        base: String,
        /// The head, in words.
        head: String,
    },
    /// Two ends that are not on one line.
    #[error(
        "`{good}` is not a first-parent ancestor of `{bad}`: name a commit that `git log --first-parent {bad}` shows"
    )]
    NotBefore {
        /// The older end.
        good: String,
        /// The newer end.
        bad: String,
    },
    /// An object that this clone was told not to fetch.
    #[error(
        "`{what}` is not in this clone, which was made with `--filter={filter}`: \
         run `git fetch --refetch --no-filter`, or `git clone` without a filter"
    )]
    Filtered {
        /// Path, or commit.
        what: String,
        /// The filter as configured, like `blob:none`.
        filter: String,
    },
    /// An object that should be there.
    #[error("`{what}` is missing from the repository's objects: `git fsck` tells what is damaged")]
    Missing {
        /// Path, or commit.
        what: String,
    },
    /// A file of the working tree went away while it was read.
    #[error("`{}` disappeared while the working tree was read: try again when nothing writes there", path.display())]
    Vanished {
        /// Path relative to the work tree.
        path: PathBuf,
    },
    /// A file of the working tree cannot be read.
    #[error("cannot read `{}` ({reason}): make it readable, or list it in .gitignore", path.display())]
    Unreadable {
        /// Path relative to the work tree.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// A file outside the repository's objects was not what it was when the snapshot was made.
    #[error("`{}` changed after the snapshot was made: run again when nothing writes there", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The working tree that a revision stands for is no longer there.
    #[error(
        "the working tree is no longer the one with tree {wanted} (now {found}): \
         start a new run, or put the files back"
    )]
    WorkingTreeMoved {
        /// Tree id of the revision.
        wanted: String,
        /// Tree id of the files as they are.
        found: String,
    },
    /// A file that was in use could not be read again.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    Io {
        /// A verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// Anything else libgit2 refuses.
    #[error("cannot {doing}: {} (git's own `git status` or `git fsck` may tell more)", source.message())]
    Git {
        /// A verb with its object.
        doing: String,
        /// libgit2's words.
        source: git2::Error,
    },
}

impl GitError {
    /// For `map_err`: a libgit2 failure while `doing` something.
    pub(super) fn doing(doing: impl Into<String>) -> impl FnOnce(git2::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Git { doing, source }
    }
}
