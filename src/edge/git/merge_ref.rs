//! The merge commit that GitHub makes of a pull request and its base branch, and checks out for it.
//!
//! Measuring that commit would measure the base branch's newest changes too, so the real head is its second parent.

use super::ci::Ci;
use super::error::GitError;
use super::repo::Repo;
use git2::{ObjectType, Oid};

/// The two parents of the checked-out merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MergeRef {
    /// First parent: the base branch when the merge was made.
    pub(super) base: Oid,
    /// Second parent: the pull request's head.
    pub(super) head: Oid,
}

impl MergeRef {
    /// What is checked out, if it is such a merge.
    ///
    /// A pull request's own head may be a merge commit too, and a workflow may check it out while `GITHUB_REF` still
    /// names the merge ref. So the ref counts only if `GITHUB_SHA`, where known, is what is checked out; else the
    /// message must be GitHub's own, `Merge <head> into <base>`, and name the parents.
    pub(super) fn find(repo: &Repo, tip: Oid, ci: &Ci) -> Result<Option<Self>, GitError> {
        let (parents, message) = raw_commit(repo, tip)?;
        let &[base, head] = parents.as_slice() else {
            return Ok(None);
        };
        let checked_out = ci.sha.as_deref().is_none_or(|sha| sha == tip.to_string());
        let by_ref = ci.is_pull_request() && ci.is_merge_ref() && checked_out;
        let detached = repo.git.head_detached().unwrap_or(false);
        let by_message = detached && names_parents(&message, base, head);
        if !by_ref && !by_message {
            return Ok(None);
        }
        let odb = repo.git.odb().map_err(GitError::doing("open the objects"))?;
        if !odb.exists(head) || !odb.exists(base) {
            return Err(GitError::Shallow {
                what: format!("the merge {tip} of a pull request is here, but not its parents"),
            });
        }
        Ok(Some(Self { base, head }))
    }
}

/// Parents and message as they are stored. libgit2's own commit hides the parents that a shallow clone lacks.
fn raw_commit(repo: &Repo, commit: Oid) -> Result<(Vec<Oid>, String), GitError> {
    let doing = || GitError::doing(format!("read commit {commit}"));
    let odb = repo.git.odb().map_err(doing())?;
    let object = odb.read(commit).map_err(doing())?;
    if object.kind() != ObjectType::Commit {
        return Ok((Vec::new(), String::new()));
    }
    let text = String::from_utf8_lossy(object.data()).into_owned();
    let (header, message) = text.split_once("\n\n").unwrap_or((&text, ""));
    let parents = header
        .lines()
        .filter_map(|line| Oid::from_str(line.strip_prefix("parent ")?).ok())
        .collect();
    Ok((parents, message.to_owned()))
}

fn names_parents(message: &str, base: Oid, head: Oid) -> bool {
    let names = |word: &str, id: Oid| word.len() >= 7 && id.to_string().starts_with(word);
    message
        .lines()
        .next()
        .and_then(|line| line.trim().strip_prefix("Merge ")?.split_once(" into "))
        .is_some_and(|(first, second)| names(first, head) && names(second, base))
}
