//! Where a submodule's repository is, for any commit of the repository that holds it.

use super::repo::canonical;
use super::store::Store;
use git2::{Oid, Repository, RepositoryOpenFlags};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// A repository that may hold submodules: where its files and its git folders are.
pub(super) struct Place {
    /// Its work tree, or where it would be.
    pub(super) disk: PathBuf,
    /// Its `.git` folders, the worktree's own first.
    git_dirs: Vec<PathBuf>,
}

impl Place {
    pub(super) fn new(git: &Repository, disk: PathBuf) -> Self {
        let mut git_dirs = vec![git.path().to_owned(), git.commondir().to_owned()];
        git_dirs.dedup();
        Self { disk, git_dirs }
    }

    /// The submodule's repository that has `commit`, and its place. It is looked for where it is checked out, then
    /// where git keeps it (`.git/modules/NAME`, also when it is not checked out any more).
    pub(super) fn submodule(&self, path: &Path, name: Option<&str>, commit: Oid) -> Option<(Store, Place)> {
        let checked_out = self.disk.join(path);
        let kept = name
            .filter(|name| {
                Path::new(name)
                    .components()
                    .all(|part| matches!(part, Component::Normal(_)))
            })
            .into_iter()
            .flat_map(|name| {
                self.git_dirs
                    .iter()
                    .map(move |folder| folder.join("modules").join(name))
            });
        let mut candidates = std::iter::once(checked_out.clone()).chain(kept);
        candidates.find_map(|candidate| {
            let git = open(&candidate)?;
            let place = Place::new(&git, checked_out.clone());
            let common = canonical(git.commondir()).ok()?;
            let store = Store::new(git, &common);
            store.has_commit(commit).then_some((store, place))
        })
    }

    /// The commit that is checked out in a submodule, absent if it is not initialised.
    pub(super) fn checked_out(&self, path: &Path) -> Option<(Repository, Oid)> {
        let git = open(&self.disk.join(path))?;
        let commit = git.head().ok()?.peel_to_commit().ok()?.id();
        Some((git, commit))
    }
}

/// Opens exactly this folder: an empty one must not lead to the repository around it. What git keeps without a work
/// tree names one that may be gone, so that is not looked at the second time.
fn open(path: &Path) -> Option<Repository> {
    let none: [&OsStr; 0] = [];
    let exactly = RepositoryOpenFlags::NO_SEARCH;
    Repository::open_ext(path, exactly, none)
        .or_else(|_| Repository::open_ext(path, exactly | RepositoryOpenFlags::BARE, none))
        .ok()
}

/// Name of the submodule at `path` in the text of a `.gitmodules`.
pub(super) fn name_of(gitmodules: &str, path: &str) -> Option<String> {
    let mut name = None;
    for line in gitmodules.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix("[submodule") {
            let section = section.trim().trim_end_matches(']').trim();
            name = Some(section.trim_matches('"').to_owned());
        } else if let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case("path")
            && value.trim().trim_matches('"') == path
        {
            return name;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_submodule_is_found_by_its_path_whatever_its_name() {
        let text =
            "[submodule \"first\"]\n\tpath = vendor/a\n\turl = x\n[submodule \"second\"]\n\tpath=vendor/b\n";
        assert_eq!(name_of(text, "vendor/a").as_deref(), Some("first"));
        assert_eq!(name_of(text, "vendor/b").as_deref(), Some("second"));
        assert_eq!(name_of(text, "vendor"), None);
        assert_eq!(name_of("path = vendor/a", "vendor/a"), None);
    }
}
