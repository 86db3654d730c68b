//! Symlinks inside the tree, as cargo sees them: not at all.
//!
//! Cargo records the file that a link led to when it built (its dep-info is canonicalised), and later asks that file for
//! its mtime. A link that leads elsewhere now, or is gone, changes neither, and cargo would call the artefact fresh. So
//! whenever a link changes, what it led to and what it leads to must look new.

use super::error::TreeError;
use super::strays;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Where each link leads: the target as written, and the file at its end, if there is one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Links(BTreeMap<PathBuf, (PathBuf, Option<PathBuf>)>);

impl Links {
    /// All links below `root`.
    pub(super) fn below(root: &Path) -> Result<Self, TreeError> {
        let mut links = BTreeMap::new();
        for found in WalkDir::new(root).follow_links(false) {
            let found = found.map_err(|error| TreeError::io("list", root)(error.into()))?;
            if found.path_is_symlink() {
                let path = found.into_path();
                let target = path
                    .read_link()
                    .map_err(TreeError::io("read the symlink", &path))?;
                let end = path.canonicalize().ok();
                links.insert(path, (target, end));
            }
        }
        Ok(Self(links))
    }

    /// Makes the files at both ends of every link that differs between `self` and `now` look new.
    pub(super) fn freshen_changes(&self, now: &Self, root: &Path) -> Result<(), TreeError> {
        for (before, after) in [(self, now), (now, self)] {
            for (path, link) in &before.0 {
                if after.0.get(path) != Some(link)
                    && let (_, Some(end)) = link
                {
                    strays::freshen(root, end)?;
                }
            }
        }
        Ok(())
    }
}
