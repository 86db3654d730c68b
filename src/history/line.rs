//! The commits that a trend runs through, oldest first.

use std::collections::HashMap;

/// A commit of the branch that is looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commit {
    /// Full id.
    pub sha: String,
    /// Id of its files.
    pub tree: String,
    /// When it was made, seconds since 1970, UTC.
    pub time: i64,
    /// First line of its message; hostile.
    pub subject: String,
    /// Names of tags on it; hostile.
    pub tags: Vec<String>,
}

/// All commits of a branch in an order in which parents come before their children.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    commits: Vec<Commit>,
    by_sha: HashMap<String, usize>,
    /// The newest commit with these files, since an older one may have been reverted to.
    by_tree: HashMap<String, usize>,
}

impl Line {
    /// A line of these commits, oldest first.
    #[must_use]
    pub fn new(commits: Vec<Commit>) -> Self {
        let by_sha = commits
            .iter()
            .enumerate()
            .map(|(at, commit)| (commit.sha.clone(), at));
        let by_tree = commits
            .iter()
            .enumerate()
            .map(|(at, commit)| (commit.tree.clone(), at));
        Self {
            by_sha: by_sha.collect(),
            by_tree: by_tree.filter(|(tree, _)| !tree.is_empty()).collect(),
            commits,
        }
    }

    /// Oldest first.
    #[must_use]
    pub fn commits(&self) -> &[Commit] {
        &self.commits
    }

    /// Where a commit is.
    #[must_use]
    pub fn position(&self, sha: &str) -> Option<usize> {
        self.by_sha.get(sha).copied()
    }

    /// Where a commit with the same files is: what became of one that was rebased or squashed.
    #[must_use]
    pub fn same_files(&self, tree: &str) -> Option<usize> {
        self.by_tree.get(tree).copied()
    }

    /// The commit that begins with these digits, if exactly one does.
    #[must_use]
    pub fn abbreviated(&self, digits: &str) -> Option<usize> {
        let mut found = self
            .commits
            .iter()
            .enumerate()
            .filter(|(_, commit)| digits.len() >= 4 && commit.sha.starts_with(digits));
        match (found.next(), found.next()) {
            (Some((at, _)), None) => Some(at),
            _ => None,
        }
    }
}
