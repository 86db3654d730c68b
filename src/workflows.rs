//! The GitHub workflows that `abreast init --github` writes. They are files of `assets/github/`, with one word left
//! open: where the action is.

/// What stands for the action in the templates: no account can be called so.
const ACTION: &str = "_OWNER_/abreast@_REF_";

/// A situation that workflows are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Pull requests from branches of the repository itself: one step that measures and comments.
    PullRequests,
    /// Pull requests from forks: one workflow measures without rights, another comments without their code.
    Forks,
    /// The default branch, every night: how far the runner can be trusted, and what the day changed.
    Nightly,
    /// Several runners that share the scenarios, and one that judges what they measured.
    Shards,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::PullRequests, Self::Forks, Self::Nightly, Self::Shards];

    /// Files as path, relative to the root of the repository, and template.
    fn templates(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::PullRequests => &[(
                ".github/workflows/abreast.yml",
                include_str!("../assets/github/abreast.yml"),
            )],
            Self::Forks => &[
                (
                    ".github/workflows/abreast-fork-measure.yml",
                    include_str!("../assets/github/abreast-fork-measure.yml"),
                ),
                (
                    ".github/workflows/abreast-fork-comment.yml",
                    include_str!("../assets/github/abreast-fork-comment.yml"),
                ),
            ],
            Self::Nightly => &[(
                ".github/workflows/abreast-nightly.yml",
                include_str!("../assets/github/abreast-nightly.yml"),
            )],
            Self::Shards => &[(
                ".github/workflows/abreast-shards.yml",
                include_str!("../assets/github/abreast-shards.yml"),
            )],
        }
    }
}

/// The files of these kinds, each once, as path and text; the workflows use `action` (`owner/name@ref`).
#[must_use]
pub fn files(kinds: &[Kind], action: &str) -> Vec<(&'static str, String)> {
    let wanted = Kind::ALL.into_iter().filter(|kind| kinds.contains(kind));
    wanted
        .flat_map(Kind::templates)
        .map(|(path, template)| (*path, template.replace(ACTION, action)))
        .collect()
}

/// The action of this version as workflows name it; `None` if the program was not told where its sources are.
#[must_use]
pub fn released_action() -> Option<String> {
    action_at(env!("CARGO_PKG_REPOSITORY"), env!("CARGO_PKG_VERSION"))
}

fn action_at(repository: &str, version: &str) -> Option<String> {
    let name = repository
        .strip_prefix("https://github.com/")?
        .trim_end_matches('/');
    let parts: Vec<&str> = name.trim_end_matches(".git").split('/').collect();
    match parts.as_slice() {
        [owner, name] if !owner.is_empty() && !name.is_empty() => Some(format!("{owner}/{name}@v{version}")),
        _ => None,
    }
}

/// Whether a text names an action as workflows do: `owner/name@ref`, `owner/name/folder@ref`, or a folder of the
/// repository, `./folder`.
#[must_use]
pub fn is_action(text: &str) -> bool {
    let plain = |text: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
        !text.is_empty() && text.bytes().all(allowed)
    };
    match text.split_once('@') {
        Some((name, reference)) => plain(name) && name.contains('/') && plain(reference),
        None => text.starts_with("./") && plain(text),
    }
}

/// What stands for the action where nobody said which: the workflows are complete but for that.
#[must_use]
pub fn open_action() -> &'static str {
    ACTION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_files_and_only_the_action_is_left_open() {
        let paths = |kinds: &[Kind]| -> Vec<&str> {
            files(kinds, "an/action@v1")
                .into_iter()
                .map(|(path, _)| path)
                .collect()
        };
        assert_eq!(paths(&Kind::ALL).len(), 5);
        assert_eq!(paths(&[Kind::Forks, Kind::Forks]).len(), 2);
        for (path, text) in files(&Kind::ALL, "an/action@v1") {
            assert!(text.contains("uses: an/action@v1\n"), "{path}");
            assert!(!text.contains("_OWNER_") && !text.contains("_REF_"), "{path}");
            assert!(text.starts_with("# "), "{path} does not say what it is for");
        }
    }

    #[test]
    fn the_action_is_where_the_sources_are() {
        let found = Some("an-owner/abreast@v0.1.0".to_owned());
        assert_eq!(action_at("https://github.com/an-owner/abreast", "0.1.0"), found);
        assert_eq!(
            action_at("https://github.com/an-owner/abreast.git/", "0.1.0"),
            found
        );
        for elsewhere in [
            "",
            "https://example.org/a/b",
            "https://github.com/",
            "https://github.com/a/b/c",
        ] {
            assert_eq!(action_at(elsewhere, "0.1.0"), None, "{elsewhere}");
        }
    }

    #[test]
    fn what_is_no_action_is_not_written_into_a_workflow() {
        for action in ["o/n@v1", "o/n/sub@0123abc", "./", "./tools/abreast", ACTION] {
            assert!(is_action(action), "{action}");
        }
        for other in [
            "",
            "o/n",
            "n@v1",
            "o/n@",
            "o/n@v1\n      run: x",
            "o/n@v1 # x",
            "../x",
        ] {
            assert!(!is_action(other), "{other}");
        }
    }
}
