//! Which names of a snapshot may become files, and how to touch them without following a symlink.

#![expect(
    clippy::disallowed_methods,
    reason = "makes room for files of the tool's own tree"
)]

use super::error::TreeError;
use crate::edge::git::Snapshot;
use crate::inside::is_inside;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Refuses a snapshot with a name that leads out of the tree, or that is a file and a folder at once. The second
/// matters for safety too: the file may be a symlink, and the folder's files would be written through it.
pub(super) fn check(snapshot: &Snapshot) -> Result<(), TreeError> {
    let mut previous: Option<&Path> = None;
    for (path, _) in snapshot.entries() {
        check_name(path)?;
        // Sorted by component, so a folder's files directly follow a file of the same name.
        if let Some(file) = previous.filter(|file| path.starts_with(file)) {
            return Err(TreeError::FileAndFolder {
                path: file.to_owned(),
            });
        }
        previous = Some(path);
    }
    Ok(())
}

/// Refuses absolute names, `..`, and `.git` in the spellings that some file systems take for it.
pub(super) fn check_name(path: &Path) -> Result<(), TreeError> {
    let is_git = |name: &OsStr| name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1");
    if !is_inside(path) || path.iter().any(is_git) {
        return Err(TreeError::Refused {
            path: path.to_owned(),
        });
    }
    Ok(())
}

/// Makes every folder above `path` a real folder and removes a folder at `path` itself. What was in the way is
/// removed, never followed. Returns the full path.
pub(super) fn make_room(root: &Path, path: &Path) -> Result<PathBuf, TreeError> {
    let mut full = root.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        full.push(part);
        match full.symlink_metadata() {
            Ok(found) if found.is_dir() => continue,
            Ok(_) => fs::remove_file(&full).map_err(TreeError::io("remove", &full))?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(TreeError::io("look at", &full)(error)),
        }
        fs::create_dir(&full).map_err(TreeError::io("create the folder", &full))?;
    }
    let full = root.join(path);
    if full.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        fs::remove_dir_all(&full).map_err(TreeError::io("remove", &full))?;
    }
    Ok(full)
}

/// The full path of something that is not a folder and lies in real folders; absent if there is no such thing.
pub(super) fn find(root: &Path, path: &Path) -> Option<PathBuf> {
    let mut full = root.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        full.push(part);
        if !full.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            return None;
        }
    }
    let full = root.join(path);
    full.symlink_metadata()
        .is_ok_and(|found| !found.is_dir())
        .then_some(full)
}

/// Removes the folders above `path` that are empty, up to `root`, which stays.
pub(super) fn prune(root: &Path, path: &Path) -> Result<(), TreeError> {
    for folder in path
        .ancestors()
        .skip(1)
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        if !remove_if_empty(&root.join(folder))? {
            break;
        }
    }
    Ok(())
}

/// Whether the folder was empty and is gone.
pub(super) fn remove_if_empty(folder: &Path) -> Result<bool, TreeError> {
    let expected = |error: &io::Error| {
        matches!(
            error.kind(),
            ErrorKind::DirectoryNotEmpty | ErrorKind::NotFound | ErrorKind::NotADirectory
        )
    };
    match fs::remove_dir(folder) {
        Ok(()) => Ok(true),
        Err(error) if expected(&error) => Ok(false),
        Err(error) => Err(TreeError::io("remove the empty folder", folder)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_of_the_tree_or_into_a_repository_are_refused() {
        for name in [
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a/..",
            ".git/config",
            "a/.GIT/hooks/x",
            "git~1/x",
            "",
            ".",
        ] {
            assert!(check_name(Path::new(name)).is_err(), "{name}");
        }
        for name in ["a", "a/b.rs", ".gitignore", ".github/x", "a..b", "..."] {
            assert!(check_name(Path::new(name)).is_ok(), "{name}");
        }
    }

    #[test]
    fn room_is_made_by_removing_a_symlink_and_not_by_following_it() {
        let outside = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("a")).unwrap();
        assert_eq!(find(root.path(), Path::new("a/b")), None);
        let full = make_room(root.path(), Path::new("a/b")).unwrap();
        fs::write(full, "x").unwrap();
        assert!(root.path().join("a").symlink_metadata().unwrap().is_dir());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
