//! Laying a snapshot out: write what differs, remove what does not belong.

#![expect(clippy::disallowed_methods, reason = "writes the tool's own tree")]

use super::error::TreeError;
use super::links::Links;
use super::marker::Marker;
use super::{names, strays};
use crate::edge::git::{ContentId, Entry, GitError, Mode, Snapshot};
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// Start of the names of files that are being written. One that a killed run left is removed as a stray.
const UNFINISHED: &str = ".abreast-";

/// A folder that belongs to the tool alone.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
}

impl Tree {
    /// Opens the folder, which need not exist yet.
    ///
    /// If a run was killed while [`Sides`](super::Sides) had base's files in the tree, every file that was swapped gets
    /// a current mtime here: files come back with the mtimes they had, and cargo would believe that what it built last
    /// is still fresh.
    ///
    /// # Errors
    /// A folder that cannot be created or touched.
    pub fn open(root: PathBuf) -> Result<Self, TreeError> {
        fs::create_dir_all(&root).map_err(TreeError::io("create the folder", &root))?;
        strays::make_writable(&root)?;
        let tree = Self { root };
        let marker = tree.marker();
        match marker.read()? {
            None => return Ok(tree),
            Some(None) => strays::freshen_all(&tree.root, &tree.root)?,
            Some(Some(paths)) => {
                for path in paths.iter().filter(|path| names::check_name(path).is_ok()) {
                    strays::freshen(&tree.root, &tree.root.join(path))?;
                }
            }
        }
        marker.remove()?;
        Ok(tree)
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the folder hold the snapshot's files, with their content and mode.
    ///
    /// A file that is already right (by size and content: mtimes prove nothing, a bench may have changed it) is not
    /// touched. Everything rewritten has a current mtime. Removed are the files of `previous` that the snapshot lacks,
    /// and all other files that the tree's own `.gitignore`s do not name; ignored ones (generated files) stay.
    ///
    /// # Errors
    /// A name that is refused, content that cannot be read, or a file system that refuses; the tree is then unfinished,
    /// and laying it out again is enough.
    pub fn lay(&self, snapshot: &Snapshot, previous: Option<&Snapshot>) -> Result<(), TreeError> {
        names::check(snapshot)?;
        let links = Links::below(&self.root)?;
        let gone = previous.into_iter().flat_map(Snapshot::entries);
        for (path, _) in gone.filter(|(path, _)| snapshot.get(path).is_none()) {
            self.remove(path)?;
        }
        for (path, entry) in snapshot.entries() {
            if !self.holds(path, entry)? {
                self.write(snapshot, path, entry)?;
            }
        }
        strays::remove(&self.root, snapshot)?;
        links.freshen_changes(&Links::below(&self.root)?, &self.root)
    }

    /// Where a switch of sides is announced: beside the tree.
    pub(super) fn marker(&self) -> Marker {
        Marker::beside(&self.root)
    }

    /// Whether the file on disk is already the entry.
    fn holds(&self, path: &Path, entry: &Entry) -> Result<bool, TreeError> {
        let Some(full) = names::find(&self.root, path) else {
            return Ok(false);
        };
        let found = full.symlink_metadata().map_err(TreeError::io("look at", &full))?;
        if found.len() != entry.size {
            return Ok(false);
        }
        if entry.mode == Mode::Symlink {
            let target = found.is_symlink().then(|| full.read_link().ok()).flatten();
            let id = target.and_then(|target| ContentId::of(target.as_os_str().as_bytes()).ok());
            return Ok(id == Some(entry.id));
        }
        let executable = found.permissions().mode() & 0o100 != 0;
        if !found.is_file() || executable != (entry.mode == Mode::Executable) {
            return Ok(false);
        }
        let id = ContentId::of_file(&full).map_err(TreeError::io("read", &full))?;
        Ok(id == entry.id)
    }

    fn write(&self, snapshot: &Snapshot, path: &Path, entry: &Entry) -> Result<(), TreeError> {
        let full = names::make_room(&self.root, path)?;
        if entry.mode == Mode::Symlink {
            return link(snapshot, path, &full);
        }
        let folder = full.parent().unwrap_or(&self.root);
        let bits = if entry.mode == Mode::Executable {
            0o777
        } else {
            0o666
        };
        // Written aside and renamed: a file is never half there, and a hard link to it elsewhere is left alone.
        let mut file = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .permissions(Permissions::from_mode(bits))
            .tempfile_in(folder)
            .map_err(TreeError::io("write", &full))?;
        snapshot
            .copy(path, &mut file)?
            .map_err(TreeError::io("write", &full))?;
        let id = ContentId::of_file(file.path()).map_err(TreeError::io("read back", &full))?;
        if id != entry.id {
            return Err(GitError::Changed {
                path: path.to_owned(),
            }
            .into());
        }
        file.persist(&full)
            .map_err(|error| TreeError::io("write", &full)(error.error))?;
        Ok(())
    }

    fn remove(&self, path: &Path) -> Result<(), TreeError> {
        if names::check_name(path).is_err() {
            return Ok(());
        }
        if let Some(full) = names::find(&self.root, path) {
            fs::remove_file(&full).map_err(TreeError::io("remove", &full))?;
            names::prune(&self.root, path)?;
        }
        Ok(())
    }
}

/// Replaces whatever is at `full` by a symlink, which may point anywhere: reading it is the build's business.
fn link(snapshot: &Snapshot, path: &Path, full: &Path) -> Result<(), TreeError> {
    let target = PathBuf::from(OsString::from_vec(snapshot.read(path)?.unwrap_or_default()));
    if full.symlink_metadata().is_ok() {
        fs::remove_file(full).map_err(TreeError::io("remove", full))?;
    }
    symlink(&target, full).map_err(TreeError::io("create the symlink", full))
}
