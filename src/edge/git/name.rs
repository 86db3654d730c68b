//! From what the user typed to a commit, and a helpful sentence if that fails.

use super::error::GitError;
use super::repo::Repo;
use git2::{ErrorCode, ObjectType, Oid};

/// Similarity from which a name is offered as a correction. Chosen; at 0.8 Jaro-Winkler still finds a swapped, missing or
/// doubled letter in names of five letters, and not a different word.
const NEAR: f64 = 0.8;

/// Most candidates of an ambiguous id that are listed. Chosen.
const LISTED: usize = 5;

impl Repo {
    /// The commit that a git revision means: branch, tag, id, `HEAD~2`, `main@{yesterday}`, `:/message`, ...
    pub(super) fn commit_named(&self, spec: &str) -> Result<Oid, GitError> {
        let object = match self.git.revparse_single(spec) {
            Ok(object) => object,
            Err(error) if error.code() == ErrorCode::Ambiguous => return self.only_commit(spec),
            Err(_) => return Err(self.unknown(spec)),
        };
        match object.peel_to_commit() {
            Ok(commit) => Ok(commit.id()),
            Err(_) => Err(GitError::NotACommit {
                spec: spec.to_owned(),
                kind: object.kind().map_or("object", |kind| kind.str()).to_owned(),
            }),
        }
    }

    /// An abbreviation may be ambiguous only because a file's id begins alike; as git does, commits are preferred.
    fn only_commit(&self, spec: &str) -> Result<Oid, GitError> {
        let mut commits = Vec::new();
        let spec_is_id = spec.len() >= 4 && spec.bytes().all(|byte| byte.is_ascii_hexdigit());
        if spec_is_id && let Ok(odb) = self.git.odb() {
            let wanted = spec.to_ascii_lowercase();
            // The listing is advice: a database that cannot be walked only makes the sentence shorter.
            let _ = odb.foreach(|id| {
                let kind = || odb.read_header(*id).map(|(_, kind)| kind);
                if id.to_string().starts_with(&wanted) && kind().is_ok_and(|kind| kind == ObjectType::Commit)
                {
                    commits.push(*id);
                }
                true
            });
        }
        commits.sort();
        commits.dedup();
        if let [only] = commits.as_slice() {
            return Ok(*only);
        }
        let names: Vec<String> = commits
            .iter()
            .take(LISTED)
            .map(|id| format!("`{}`", id.to_string().get(..12).unwrap_or_default()))
            .collect();
        Err(GitError::Ambiguous {
            spec: spec.to_owned(),
            candidates: if names.is_empty() {
                String::new()
            } else {
                format!(" (commits {})", names.join(", "))
            },
        })
    }

    /// Says that `spec` names nothing, and what may have been meant.
    pub(super) fn unknown(&self, spec: &str) -> GitError {
        let stem = spec.split(['~', '^', '@', ':']).next().unwrap_or_default();
        let nearest = self.nearest(stem);
        if self.is_shallow() {
            let meant = nearest.map_or(String::new(), |name| format!(" (did you mean `{name}`?)"));
            return GitError::Shallow {
                what: format!("`{spec}` names no commit here{meant}, or it was not fetched"),
            };
        }
        let hint = if spec.contains("..") {
            ": it is a range; name base and head as two revisions".to_owned()
        } else if stem != spec && self.git.revparse_single(stem).is_ok() {
            format!(": `{stem}` is known, but what follows it leads nowhere")
        } else if let Some(name) = nearest {
            format!(": did you mean `{name}`?")
        } else {
            ": `git branch --all` and `git tag` list the names".to_owned()
        };
        GitError::Unknown {
            spec: spec.to_owned(),
            hint,
        }
    }

    /// The branch or tag that looks most like a name that is none. A branch that exists only on the remote counts by
    /// its short name too, because that is what people type.
    fn nearest(&self, wanted: &str) -> Option<String> {
        if wanted.is_empty() || self.git.revparse_single(wanted).is_ok() {
            return None;
        }
        let references = self.git.references().ok()?;
        let mut best: Option<(f64, String)> = None;
        for reference in references.flatten() {
            let Ok(name) = reference.name() else { continue };
            let Some((full, short)) = spoken(name) else {
                continue;
            };
            let score = strsim::jaro_winkler(wanted, full).max(strsim::jaro_winkler(wanted, short));
            if score >= NEAR && best.as_ref().is_none_or(|(other, _)| score > *other) {
                best = Some((score, full.to_owned()));
            }
        }
        best.map(|(_, name)| name)
    }
}

/// How a reference is typed, with and without its remote: `origin/topic` and `topic`.
fn spoken(reference: &str) -> Option<(&str, &str)> {
    if let Some(name) = reference.strip_prefix("refs/remotes/") {
        let short = name.split_once('/').map_or(name, |(_, short)| short);
        return (short != "HEAD").then_some((name, short));
    }
    let name = reference
        .strip_prefix("refs/heads/")
        .or_else(|| reference.strip_prefix("refs/tags/"))?;
    Some((name, name))
}
