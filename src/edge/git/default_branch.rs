//! Which branch is the default one, without believing in the name `main`.

use super::ci::Ci;
use super::error::GitError;
use super::repo::Repo;
use git2::Oid;

/// Names tried when nothing tells: the defaults of git's and the forges' different years.
const USUAL: [&str; 4] = ["main", "master", "trunk", "develop"];

/// A branch and its newest commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Branch {
    /// As the user may type it: `origin/trunk`, `trunk`.
    pub(super) name: String,
    /// Its commit.
    pub(super) commit: Oid,
}

impl Repo {
    /// The default branch, from the surest source that knows it: the remote's `HEAD`, the event file of the runner,
    /// `init.defaultBranch`, the only branch with a usual name. Remote-tracking branches come before local ones.
    pub(super) fn default_branch(&self, ci: &Ci) -> Result<Branch, GitError> {
        if let Some(branch) = self.remote_head() {
            return Ok(branch);
        }
        let configured = self
            .git
            .config()
            .and_then(|config| config.get_string("init.defaultBranch"))
            .ok();
        for name in [ci.default_branch.as_ref(), configured.as_ref()]
            .into_iter()
            .flatten()
        {
            if let Some(branch) = self.remote_branch(name).or_else(|| self.local_branch(name)) {
                return Ok(branch);
            }
        }
        let remote: Vec<Branch> = USUAL.iter().filter_map(|name| self.remote_branch(name)).collect();
        let found = if remote.is_empty() {
            USUAL.iter().filter_map(|name| self.local_branch(name)).collect()
        } else {
            remote
        };
        match found.as_slice() {
            [only] => Ok(only.clone()),
            [] => Err(GitError::NoDefaultBranch {
                found: format!(
                    "no remote HEAD, no init.defaultBranch, none of {}",
                    USUAL.join(", ")
                ),
            }),
            several => {
                let names: Vec<&str> = several.iter().map(|branch| branch.name.as_str()).collect();
                Err(GitError::NoDefaultBranch {
                    found: format!("no remote HEAD, and {} exist", names.join(" and ")),
                })
            }
        }
    }

    /// The remote-tracking branch of that name on the remote that matters.
    pub(super) fn remote_branch(&self, name: &str) -> Option<Branch> {
        let remote = self.remote()?;
        self.branch(
            &format!("refs/remotes/{remote}/{name}"),
            format!("{remote}/{name}"),
        )
    }

    fn local_branch(&self, name: &str) -> Option<Branch> {
        self.branch(&format!("refs/heads/{name}"), name.to_owned())
    }

    fn branch(&self, reference: &str, name: String) -> Option<Branch> {
        let commit = self
            .git
            .find_reference(reference)
            .ok()?
            .peel_to_commit()
            .ok()?
            .id();
        Some(Branch { name, commit })
    }

    fn remote_head(&self) -> Option<Branch> {
        let remote = self.remote()?;
        let head = self
            .git
            .find_reference(&format!("refs/remotes/{remote}/HEAD"))
            .ok()?;
        let target = head.symbolic_target().ok().flatten()?;
        let name = target.strip_prefix("refs/remotes/").unwrap_or(target);
        self.branch(target, name.to_owned())
    }

    /// `origin`, else the only remote. With several others nothing tells which of them holds the default branch.
    fn remote(&self) -> Option<String> {
        let remotes = self.git.remotes().ok()?;
        let names: Vec<&str> = remotes.iter().flatten().flatten().collect();
        match names.as_slice() {
            _ if names.contains(&"origin") => Some("origin".to_owned()),
            [only] => Some((*only).to_owned()),
            _ => None,
        }
    }
}
