//! Files that the snapshot does not name, and mtimes that must be seen as new.

#![expect(
    clippy::disallowed_methods,
    reason = "removes files of the tool's own tree and sets their times"
)]

use super::error::TreeError;
use super::names;
use crate::edge::git::Snapshot;
use ignore::WalkBuilder;
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use walkdir::WalkDir;

/// Removes every file that is neither the snapshot's nor ignored by the `.gitignore`s inside the tree, and the folders
/// that are empty then: an empty folder can be a workspace member to cargo.
pub(super) fn remove(root: &Path, snapshot: &Snapshot) -> Result<(), TreeError> {
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .ignore(false)
        .git_global(false)
        .git_exclude(false)
        .parents(false)
        .require_git(false)
        .follow_links(false)
        .build();
    let mut folders = Vec::new();
    for found in walk {
        let found = found.map_err(|error| {
            let reason = std::io::Error::other(error.to_string());
            TreeError::io("list", root)(error.into_io_error().unwrap_or(reason))
        })?;
        let path = found.path();
        let Ok(relative) = path.strip_prefix(root) else {
            continue;
        };
        if found.file_type().is_some_and(|kind| kind.is_dir()) {
            folders.push(path.to_owned());
        } else if snapshot.get(relative).is_none() {
            fs::remove_file(path).map_err(TreeError::io("remove", path))?;
        }
    }
    // The walk names a folder before what is in it; the first is the root.
    for folder in folders.iter().skip(1).rev() {
        names::remove_if_empty(folder)?;
    }
    Ok(())
}

/// Gives the owner back every folder that a bench made unwritable.
pub(super) fn make_writable(root: &Path) -> Result<(), TreeError> {
    const OWNER: u32 = 0o700;
    // A folder is yielded before it is read, so one that could not be read can be.
    for found in WalkDir::new(root).follow_links(false) {
        let found = found.map_err(|error| TreeError::io("list", root)(error.into()))?;
        let Ok(metadata) = found.metadata() else { continue };
        let mode = metadata.permissions().mode();
        if metadata.is_dir() && mode & OWNER != OWNER {
            let path = found.path();
            fs::set_permissions(path, Permissions::from_mode(mode | OWNER))
                .map_err(TreeError::io("make writable", path))?;
        }
    }
    Ok(())
}

/// Gives the file a current mtime; if it is a symlink, what it points to, as long as that is inside the tree (a folder:
/// everything in it). Nothing is done for what does not exist.
pub(super) fn freshen(root: &Path, path: &Path) -> Result<(), TreeError> {
    let Ok(target) = path.canonicalize() else {
        return Ok(());
    };
    let inside: PathBuf = root.canonicalize().map_err(TreeError::io("open", root))?;
    if !target.starts_with(&inside) {
        return Ok(());
    }
    if target.is_dir() {
        return freshen_all(root, &target);
    }
    touch(&target)
}

/// Gives every file below `folder` a current mtime. Symlinks are passed over: their targets are below too, or not ours.
pub(super) fn freshen_all(root: &Path, folder: &Path) -> Result<(), TreeError> {
    for found in WalkDir::new(folder).follow_links(false) {
        let found = found.map_err(|error| TreeError::io("list", root)(error.into()))?;
        if found.file_type().is_file() {
            touch(found.path())?;
        }
    }
    Ok(())
}

fn touch(path: &Path) -> Result<(), TreeError> {
    let now = FileTimes::new().set_modified(SystemTime::now());
    // Opened for reading: the owner may set the time of a file that it may not write.
    File::open(path)
        .and_then(|file| file.set_times(now))
        .map_err(TreeError::io("set the time of", path))
}
