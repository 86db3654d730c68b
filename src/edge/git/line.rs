//! The commits of a branch in order, for a history that runs through them.

use super::error::GitError;
use super::repo::Repo;
use crate::history::{Commit, Line};
use git2::{ObjectType, Oid, Sort};
use std::collections::HashMap;

impl Repo {
    /// Every commit that `tip` contains, parents before children, with the tags on them.
    ///
    /// # Errors
    /// `tip` is no revision, or an object is missing.
    pub fn line(&self, tip: &str) -> Result<Line, GitError> {
        let doing = || GitError::doing("walk the history");
        let tip = self.commit_id(tip)?;
        let tags = self.tags()?;
        let mut walk = self.history.revwalk().map_err(doing())?;
        walk.set_sorting(Sort::TOPOLOGICAL | Sort::TIME)
            .map_err(doing())?;
        walk.push(tip).map_err(doing())?;
        let mut commits = Vec::new();
        for id in walk {
            let id = id.map_err(doing())?;
            let commit = self.history.find_commit(id).map_err(doing())?;
            commits.push(described(&commit, tags.get(&id).cloned().unwrap_or_default()));
        }
        // The walk's own reversal would put the sides of a merge in another order than `git log` shows them.
        commits.reverse();
        Ok(Line::new(commits))
    }

    /// The commits from `good` to `bad`, both included, along first parents.
    ///
    /// # Errors
    /// One is no commit, or `good` is not among the first parents of `bad`.
    pub fn first_parents(&self, good: &str, bad: &str) -> Result<Vec<Commit>, GitError> {
        let (from, mut at) = (self.commit_id(good)?, self.commit_id(bad)?);
        let doing = || GitError::doing("walk the history");
        let mut commits = Vec::new();
        loop {
            let commit = self.history.find_commit(at).map_err(doing())?;
            commits.push(described(&commit, Vec::new()));
            if at == from {
                break;
            }
            at = match commit.parent_id(0) {
                Ok(parent) => parent,
                Err(_) => {
                    return Err(GitError::NotBefore {
                        good: good.to_owned(),
                        bad: bad.to_owned(),
                    });
                }
            };
        }
        if commits.len() < 2 {
            return Err(GitError::NotBefore {
                good: good.to_owned(),
                bad: bad.to_owned(),
            });
        }
        commits.reverse();
        Ok(commits)
    }

    /// Full id of the commit that a word names.
    ///
    /// # Errors
    /// No such revision, or not a commit.
    pub fn commit_id(&self, spec: &str) -> Result<Oid, GitError> {
        let found = self
            .git
            .revparse_single(spec)
            .and_then(|object| object.peel(ObjectType::Commit));
        found
            .map(|commit| commit.id())
            .map_err(GitError::doing(format!("find the commit `{spec}`")))
    }

    /// What a word is called in a report: `HEAD` is the branch that is checked out, anything else itself.
    #[must_use]
    pub fn name_of(&self, spec: &str) -> String {
        let head = || self.git.head().ok()?.shorthand().ok().map(str::to_owned);
        match spec {
            "HEAD" => head().unwrap_or_else(|| spec.to_owned()),
            _ => spec.to_owned(),
        }
    }

    /// Id of the files of a commit; `None` if there is no commit of this id.
    #[must_use]
    pub fn files_of(&self, sha: &str) -> Option<String> {
        let commit = self.git.find_commit(Oid::from_str(sha).ok()?).ok()?;
        Some(commit.tree_id().to_string())
    }

    /// Address of a commit's page without the commit's id, if a remote is at a place that has such pages; `origin` before others.
    #[must_use]
    pub fn commit_pages(&self) -> Option<String> {
        let names = self.git.remotes().ok()?;
        let names: Vec<&str> = names.iter().flatten().flatten().collect();
        let mut names = names.iter().filter(|name| **name == "origin").chain(&names);
        names.find_map(|name| pages(self.git.find_remote(name).ok()?.url().ok()?))
    }

    fn tags(&self) -> Result<HashMap<Oid, Vec<String>>, GitError> {
        let doing = || GitError::doing("list the tags");
        let mut tags: HashMap<Oid, Vec<String>> = HashMap::new();
        for reference in self.git.references_glob("refs/tags/*").map_err(doing())? {
            let reference = reference.map_err(doing())?;
            // A tag of a file or a tree is none of a commit.
            if let (Ok(commit), Ok(name)) = (reference.peel_to_commit(), reference.shorthand()) {
                tags.entry(commit.id()).or_default().push(name.to_owned());
            }
        }
        Ok(tags)
    }
}

fn described(commit: &git2::Commit<'_>, tags: Vec<String>) -> Commit {
    Commit {
        sha: commit.id().to_string(),
        tree: commit.tree_id().to_string(),
        time: commit.time().seconds(),
        subject: String::from_utf8_lossy(commit.summary_bytes().unwrap_or_default()).into_owned(),
        tags,
    }
}

/// `git@github.com:o/r.git`, `ssh://git@host/o/r`, `https://user:secret@host/o/r.git` as `https://host/o/r/commit/`; `None` for what
/// is no address of a host.
fn pages(url: &str) -> Option<String> {
    let url = url.trim_end_matches('/').trim_end_matches(".git");
    let (host, path) = match url.split_once("://") {
        Some(("https" | "http" | "ssh" | "git", rest)) => rest.split_once('/')?,
        Some(_) => return None,
        None => url.split_once(':')?,
    };
    let host = host.rsplit('@').next()?.split(':').next()?;
    let fit = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_./~".contains(c))
    };
    let commit = if host.contains("bitbucket") {
        "commits"
    } else {
        "commit"
    };
    let dash = if host.contains("gitlab") { "-/" } else { "" };
    (host.contains('.') && fit(host) && fit(path)).then(|| format!("https://{host}/{path}/{dash}{commit}/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_commits_are_found_from_the_address_of_a_remote_without_its_secrets() {
        for (url, expected) in [
            ("git@github.com:o/r.git", Some("https://github.com/o/r/commit/")),
            (
                "https://user:secret@github.com/o/r.git/",
                Some("https://github.com/o/r/commit/"),
            ),
            (
                "ssh://git@gitlab.example.org:22/g/s/r",
                Some("https://gitlab.example.org/g/s/r/-/commit/"),
            ),
            (
                "https://bitbucket.org/o/r",
                Some("https://bitbucket.org/o/r/commits/"),
            ),
            ("/srv/git/r.git", None),
            ("file:///srv/git/r.git", None),
            ("https://github.com/o/r\"><script>", None),
            ("C:/r", None),
        ] {
            assert_eq!(pages(url).as_deref(), expected, "{url}");
        }
    }
}
