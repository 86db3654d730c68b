//! From words to two revisions: the defaults of base and head.

use super::ci::Ci;
use super::default_branch::Branch;
use super::error::GitError;
use super::merge_ref::MergeRef;
use super::repo::Repo;
use super::snapshot::Snapshot;
use crate::revision::Revision;
use git2::{ErrorCode, ObjectType, Oid};

/// Label of the revision that stands for the files as they are on disk.
pub const WORKING_TREE: &str = "working tree";

/// How the working tree is asked for. Git itself cannot mean anything by it that peels to a commit.
const WORKING_TREE_SPEC: &str = ":worktree";

/// A resolved side, and the commit whose history it has.
struct Found {
    revision: Revision,
    commit: Oid,
}

impl Repo {
    /// Base and head, in this order.
    ///
    /// | asked | meaning |
    /// |---|---|
    /// | head: nothing | the working tree; on the merge ref of a pull request, the pull request's own head |
    /// | base: nothing | merge base of head with the branch it goes into: of the pull request, else the default one |
    /// | `:worktree` | tracked and untracked-unignored files as they are on disk |
    /// | anything else | a git revision, peeled to a commit |
    ///
    /// The working tree's `sha` is `HEAD`'s if the files are those of `HEAD`, else the id of their git tree.
    ///
    /// # Errors
    /// No commits, unknown or ambiguous words, no default branch, or a history too short for a sure answer.
    pub fn resolve(
        &self,
        base: Option<&str>,
        head: Option<&str>,
        ci: &Ci,
    ) -> Result<(Revision, Revision), GitError> {
        let tip = self.tip()?;
        let merge = match head {
            None => MergeRef::find(self, tip, ci)?,
            Some(_) => None,
        };
        let head = match (head, &merge) {
            (None, Some(merge)) => Found {
                revision: Revision {
                    label: "pull request head".to_owned(),
                    sha: merge.head.to_string(),
                },
                commit: merge.head,
            },
            (None, None) => self.working(tip)?,
            (Some(spec), _) => self.asked(spec, tip)?,
        };
        let base = match base {
            Some(spec) => self.asked(spec, tip)?.revision,
            None => {
                let branch = self.target(merge.as_ref(), ci)?;
                let commit = self.fork_point(&branch, head.commit, &head.revision.label)?;
                Revision {
                    label: format!("merge base with {}", branch.name),
                    sha: commit.to_string(),
                }
            }
        };
        Ok((base, head.revision))
    }

    /// The files of a revision that [`Repo::resolve`] gave, or that a recording holds.
    ///
    /// # Errors
    /// Missing or unreadable objects or files; a working tree that is no longer the one the revision stands for.
    pub fn snapshot(&self, revision: &Revision) -> Result<Snapshot, GitError> {
        let wanted = Oid::from_str(&revision.sha)
            .map_err(GitError::doing(format!("read the object id `{}`", revision.sha)))?;
        let is_commit = self
            .git
            .odb()
            .and_then(|odb| odb.read_header(wanted))
            .is_ok_and(|(_, kind)| kind == ObjectType::Commit);
        if revision.label != WORKING_TREE {
            if !is_commit {
                return Err(self.unknown(&revision.sha));
            }
            return self.commit_snapshot(wanted);
        }
        let (tree, snapshot) = self.working_snapshot()?;
        if tree == wanted || (is_commit && self.tree_of(wanted)? == tree) {
            return Ok(snapshot);
        }
        // A clean working tree of an earlier run: its commit still has exactly those files.
        if is_commit {
            return self.commit_snapshot(wanted);
        }
        Err(GitError::WorkingTreeMoved {
            wanted: wanted.to_string(),
            found: tree.to_string(),
        })
    }

    /// The commit that is checked out.
    fn tip(&self) -> Result<Oid, GitError> {
        let unborn = |code| matches!(code, ErrorCode::UnbornBranch | ErrorCode::NotFound);
        let head = self.git.head().map_err(|source| {
            if unborn(source.code()) {
                GitError::NoCommits {
                    root: self.root.clone(),
                }
            } else {
                GitError::doing("read HEAD")(source)
            }
        })?;
        let commit = head
            .peel_to_commit()
            .map_err(GitError::doing("read HEAD's commit"))?;
        Ok(commit.id())
    }

    fn asked(&self, spec: &str, tip: Oid) -> Result<Found, GitError> {
        if spec == WORKING_TREE_SPEC {
            return self.working(tip);
        }
        let commit = self.commit_named(spec)?;
        Ok(Found {
            revision: Revision {
                label: spec.to_owned(),
                sha: commit.to_string(),
            },
            commit,
        })
    }

    fn working(&self, tip: Oid) -> Result<Found, GitError> {
        let (tree, _) = self.working_snapshot()?;
        let id = if tree == self.tree_of(tip)? { tip } else { tree };
        Ok(Found {
            revision: Revision {
                label: WORKING_TREE.to_owned(),
                sha: id.to_string(),
            },
            commit: tip,
        })
    }

    /// The branch that head is meant to go into.
    fn target(&self, merge: Option<&MergeRef>, ci: &Ci) -> Result<Branch, GitError> {
        let asked = ci.base_ref.as_deref().filter(|_| ci.is_pull_request());
        match (asked.and_then(|name| self.remote_branch(name)), merge, asked) {
            (Some(branch), _, _) => Ok(branch),
            // Only the merge commit was fetched: its first parent is the base branch at that time.
            (None, Some(merge), asked) => Ok(Branch {
                name: asked.map_or_else(|| "HEAD^1".to_owned(), |name| format!("{name} (HEAD^1)")),
                commit: merge.base,
            }),
            (None, None, Some(name)) => Err(GitError::NoPullRequestBase {
                branch: name.to_owned(),
            }),
            (None, None, None) => self.default_branch(ci),
        }
    }

    fn working_snapshot(&self) -> Result<(Oid, Snapshot), GitError> {
        if let Some(known) = self.working.borrow().as_ref() {
            return Ok(known.clone());
        }
        let fresh = self.read_working_tree()?;
        *self.working.borrow_mut() = Some(fresh.clone());
        Ok(fresh)
    }

    fn tree_of(&self, commit: Oid) -> Result<Oid, GitError> {
        let commit = self
            .git
            .find_commit(commit)
            .map_err(GitError::doing(format!("read commit {commit}")))?;
        Ok(commit.tree_id())
    }
}
