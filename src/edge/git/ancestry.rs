//! The fork point of two histories, and the proof that a shallow clone did not hide a better one.

use super::default_branch::Branch;
use super::error::GitError;
use super::repo::Repo;
use git2::{ErrorCode, Oid};

impl Repo {
    /// The best common ancestor of `branch` and `head`; `label` names head in messages.
    ///
    /// # Errors
    /// Unrelated histories, and shallow ones in which the answer may be wrong.
    pub(super) fn fork_point(&self, branch: &Branch, head: Oid, label: &str) -> Result<Oid, GitError> {
        let unsure = || GitError::Shallow {
            what: format!("cannot find the merge base of {label} and {}", branch.name),
        };
        let found = match self.history.merge_base(branch.commit, head) {
            Ok(found) => found,
            Err(_) if self.is_shallow() => return Err(unsure()),
            Err(error) if error.code() == ErrorCode::NotFound => {
                return Err(GitError::Unrelated {
                    base: branch.name.clone(),
                    head: label.to_owned(),
                });
            }
            Err(error) => return Err(GitError::doing("find the merge base")(error)),
        };
        // A tip that is the other's ancestor is the answer whatever else was cut off.
        if found == head || found == branch.commit || !self.touches_the_edge(branch.commit, head, found)? {
            return Ok(found);
        }
        Err(unsure())
    }

    /// Whether a commit with unknown parents lies between the tips and `found`, so that a path which was not fetched
    /// may lead to a newer common ancestor. `found` itself may be such a commit: only its ancestors are cut off.
    fn touches_the_edge(&self, one: Oid, two: Oid, found: Oid) -> Result<bool, GitError> {
        if !self.is_shallow() {
            return Ok(false);
        }
        let doing = || GitError::doing("walk the history");
        let mut walk = self.history.revwalk().map_err(doing())?;
        walk.push(one).map_err(doing())?;
        walk.push(two).map_err(doing())?;
        walk.hide(found).map_err(doing())?;
        for commit in walk {
            if self.shallow.contains(&commit.map_err(doing())?) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
