//! The branch of the history and a remote that has it too.

use super::{ATTEMPTS, Branch, BranchError, edited, files, wait};
use crate::edge::git::error::GitError;
use crate::edge::process::{Launch, Runner};
use crate::history::{BRANCH, FOLDER, join};
use git2::{Oid, Tree};
use std::path::Path;
use std::time::Duration;

impl Branch<'_> {
    /// Sends the branch to a remote; where the remote has more, that is fetched and joined first, and sent again. Git itself
    /// is asked, for it knows how to log in.
    ///
    /// # Errors
    /// [`BranchError::Remote`] with git's last words.
    pub fn push(&self, remote: &str) -> Result<(), BranchError> {
        let name = Self::name();
        for attempt in 0..ATTEMPTS {
            let pushed = self.run_git(&[
                "push",
                "--quiet",
                "--porcelain",
                remote,
                &format!("{name}:{name}"),
            ])?;
            let Err(said) = pushed else { return Ok(()) };
            let raced = [
                "[rejected]",
                "fetch first",
                "non-fast-forward",
                "cannot lock ref",
                "failed to update ref",
            ];
            if !raced.iter().any(|word| said.contains(word)) {
                return Err(BranchError::Remote { what: "push", said });
            }
            wait(attempt);
            let theirs = format!("refs/remotes/{remote}/{BRANCH}");
            let fetched = self.run_git(&["fetch", "--quiet", remote, &format!("+{name}:{theirs}")])?;
            fetched.map_err(|said| BranchError::Remote { what: "fetch", said })?;
            self.join(&theirs)?;
        }
        Err(BranchError::Busy)
    }

    /// Makes the local branch hold what both it and another one hold.
    fn join(&self, other: &str) -> Result<(), BranchError> {
        for attempt in 0..ATTEMPTS {
            let (Some(own), Some(theirs)) = (self.reference(&Self::name())?, self.reference(other)?) else {
                return Ok(());
            };
            let ahead = |one, other| self.git().graph_descendant_of(one, other).unwrap_or(false);
            if own == theirs || ahead(own, theirs) {
                return Ok(());
            }
            let to = if ahead(theirs, own) {
                theirs
            } else {
                let tree = self.joined(&self.tree(own)?, &self.tree(theirs)?)?;
                self.write_commit("join two histories", tree, &[theirs, own])?
            };
            if self.advance(Some(own), to, "join")? {
                return Ok(());
            }
            wait(attempt);
        }
        Err(BranchError::Busy)
    }

    /// Their tree with every file that only ours has, and everything that ours has more of in a file.
    fn joined(&self, ours: &Tree<'_>, theirs: &Tree<'_>) -> Result<Oid, GitError> {
        let mut edits = Vec::new();
        for (name, id) in files(ours)? {
            let path = format!("{FOLDER}/{name}");
            let of_theirs = theirs.get_path(Path::new(&path)).ok().map(|entry| entry.id());
            if of_theirs == Some(id) {
                continue;
            }
            let read = |id| self.git().find_blob(id).map(|blob| blob.content().to_vec());
            let own = read(id).map_err(GitError::doing(format!("read `{path}`")))?;
            let joined = match of_theirs.map(read) {
                None => Some(own),
                Some(theirs) => theirs.ok().and_then(|theirs| join(&name, &theirs, &own)),
            };
            // What cannot be joined stays as they have it; ours stays in the history of the branch.
            edits.extend(joined.map(|content| (path, Some(content))));
        }
        edited(self.git(), Some(theirs), &edits)
    }

    /// Runs git in the work tree; what it said if it failed.
    fn run_git(&self, args: &[&str]) -> Result<Result<(), String>, BranchError> {
        let launch = Launch {
            program: "git".into(),
            args: args.iter().map(Into::into).collect(),
            cwd: self.repo.root.clone(),
            // A question for a password would wait for ever; messages are matched in English.
            env: [("GIT_TERMINAL_PROMPT", "0"), ("LC_ALL", "C")]
                .map(|(name, value)| (name.into(), Some(value.into())))
                .into(),
            timeout: Some(Duration::from_secs(120)),
            processor: None,
        };
        let finished = Runner::unleashed()
            .run(&launch)
            .map_err(|error| BranchError::Remote {
                what: "reach the remote of",
                said: error.to_string(),
            })?;
        Ok(if finished.ending.is_success() {
            Ok(())
        } else {
            Err(finished.tail.trim().to_owned())
        })
    }
}
