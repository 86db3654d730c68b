//! What a GitHub runner says about the event: plain words, read once.

#![expect(
    clippy::disallowed_methods,
    reason = "the event is described by environment variables and a file"
)]

use std::path::Path;

/// The runner's description of the event that started it. All absent outside of GitHub Actions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ci {
    /// `GITHUB_EVENT_NAME`: `pull_request`, `push`, ...
    pub event_name: Option<String>,
    /// `GITHUB_REF`: `refs/pull/7/merge`, `refs/heads/main`, ...
    pub head_ref: Option<String>,
    /// `GITHUB_BASE_REF`: name of the branch that a pull request goes into.
    pub base_ref: Option<String>,
    /// `GITHUB_SHA`: the commit of `head_ref`, which a workflow may or may not have checked out.
    pub sha: Option<String>,
    /// The repository's default branch, as the event file (`GITHUB_EVENT_PATH`) says.
    pub default_branch: Option<String>,
}

impl Ci {
    /// Reads the environment. Empty and non-Unicode values, and an event file that is absent or not JSON, are absent.
    #[must_use]
    pub fn from_env() -> Self {
        let read = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            event_name: read("GITHUB_EVENT_NAME"),
            head_ref: read("GITHUB_REF"),
            base_ref: read("GITHUB_BASE_REF"),
            sha: read("GITHUB_SHA"),
            default_branch: read("GITHUB_EVENT_PATH").and_then(|path| default_branch(Path::new(&path))),
        }
    }

    /// Whether the event is about a pull request.
    #[must_use]
    pub fn is_pull_request(&self) -> bool {
        self.event_name
            .as_deref()
            .is_some_and(|name| name.starts_with("pull_request"))
    }

    /// Whether the ref is the merge that GitHub makes of a pull request and its base branch.
    pub(super) fn is_merge_ref(&self) -> bool {
        self.head_ref
            .as_deref()
            .and_then(|name| name.strip_prefix("refs/pull/")?.strip_suffix("/merge"))
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

fn default_branch(event: &Path) -> Option<String> {
    let text = std::fs::read_to_string(event).ok()?;
    let event: serde_json::Value = serde_json::from_str(&text).ok()?;
    let name = event.get("repository")?.get("default_branch")?.as_str()?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbered_merge_refs_are_merge_refs() {
        let is = |name: &str| {
            Ci {
                head_ref: Some(name.to_owned()),
                ..Ci::default()
            }
            .is_merge_ref()
        };
        assert!(is("refs/pull/7/merge"));
        for other in [
            "refs/pull/7/head",
            "refs/heads/main",
            "refs/pull//merge",
            "refs/pull/x/merge",
        ] {
            assert!(!is(other), "{other}");
        }
    }

    #[test]
    fn the_default_branch_comes_from_the_event_file_and_garbage_is_absent() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), r#"{"repository":{"default_branch":"trunk"}}"#).unwrap();
        assert_eq!(default_branch(file.path()).as_deref(), Some("trunk"));
        for garbage in [
            "",
            "[]",
            r#"{"repository":null}"#,
            r#"{"repository":{"default_branch":""}}"#,
        ] {
            std::fs::write(file.path(), garbage).unwrap();
            assert_eq!(default_branch(file.path()), None, "{garbage}");
        }
    }
}
