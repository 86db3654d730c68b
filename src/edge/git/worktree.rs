//! The working tree as it is on disk: the index, and over it whatever changed, came or went.

use super::collect::{Collector, Item, Pins, is_submodule, to_path};
use super::disk_file::{Reader, Stored};
use super::error::GitError;
use super::repo::Repo;
use super::scratch::Scratch;
use super::snapshot::Snapshot;
use super::store::Store;
use super::submodule::Place;
use super::tree_id::tree_id;
use git2::{Delta, DiffOptions, FileMode, Index, IndexEntryExtendedFlag, Oid, Repository};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What the diff says about one path.
pub(super) struct Change {
    pub(super) delta: Delta,
    /// Mode of the file on disk, with `core.fileMode` respected.
    pub(super) mode: FileMode,
}

impl Repo {
    /// Tree id and files of the working tree.
    pub(super) fn read_working_tree(&self) -> Result<(Oid, Snapshot), GitError> {
        let index = self.git.index().map_err(|error| self.index_refusal(error))?;
        let scratch = Scratch::new(self.git.path())?;
        let mut collector = Collector::new(Pins::CheckedOut);
        let changes = self.changes(&index, &mut collector)?;
        let place = Place::new(&self.git, self.root.clone());

        let clean = clean(&index, &changes);
        let reader = Reader::new(self, &index, &scratch);
        let mut read: Vec<Stored> = Vec::new();
        for (path, change) in &changes {
            if !matches!(change.delta, Delta::Deleted | Delta::Ignored | Delta::Unmodified) {
                read.extend(reader.read(path, change)?);
            }
        }
        let mut all: Vec<Item> = read.iter().map(|file| file.item.clone()).collect();
        for item in &clean {
            let mut item = item.clone();
            if is_submodule(item.mode)
                && let Some((_, commit)) = place.checked_out(to_path(&item.path))
            {
                item.id = commit;
            }
            all.push(item);
        }
        let tree = tree_id(&all)?;

        let git = Repository::open(self.git.path()).map_err(GitError::doing("open the repository again"))?;
        let stored = Arc::new(Store::new(git, &self.common));
        let gitmodules = reader.gitmodules();
        for item in &clean {
            if is_submodule(item.mode) {
                collector.submodule(&place, item, &gitmodules, Path::new(""))?;
            } else {
                collector.blob(&stored, item, Path::new(""))?;
            }
        }
        let memory = Arc::new(Store::new(scratch.into_git(), &self.common));
        for file in read {
            file.collect(&self.root, &memory, &mut collector)?;
        }
        Ok((tree, collector.finish()))
    }

    /// libgit2 names the part of the index that it does not know by its four letters.
    fn index_refusal(&self, error: git2::Error) -> GitError {
        let (what, remedy) = match error.message() {
            text if text.contains("'sdir'") => ("sparse", "git sparse-checkout reapply --no-sparse-index"),
            text if text.contains("'link'") => ("split", "git update-index --no-split-index"),
            _ => return GitError::doing("read the index")(error),
        };
        let root = self.root.clone();
        GitError::Index { root, what, remedy }
    }

    /// What differs between the index and the disk, by path.
    fn changes(
        &self,
        index: &Index,
        collector: &mut Collector,
    ) -> Result<BTreeMap<Vec<u8>, Change>, GitError> {
        let mut options = DiffOptions::new();
        options
            .include_untracked(true)
            .recurse_untracked_dirs(true)
            .include_typechange(true)
            .include_unreadable(true)
            .ignore_submodules(true)
            .update_index(false);
        let diff = self
            .git
            .diff_index_to_workdir(Some(index), Some(&mut options))
            .map_err(GitError::doing("compare the index with the files"))?;
        let mut changes = BTreeMap::new();
        for delta in diff.deltas() {
            let file = delta.new_file();
            let Some(path) = file.path_bytes().or_else(|| delta.old_file().path_bytes()) else {
                continue;
            };
            if delta.status() == Delta::Unreadable {
                return Err(GitError::Unreadable {
                    path: to_path(path).to_owned(),
                    reason: "permission denied".to_owned(),
                });
            }
            // Git reports a repository inside the work tree as one folder, and would not add its files either.
            if path.ends_with(b"/") {
                collector.note(format!(
                    "`{}` is a repository of its own and not a submodule: its files are left out",
                    to_path(path).display()
                ));
                continue;
            }
            let change = Change {
                delta: delta.status(),
                mode: file.mode(),
            };
            changes.insert(path.to_owned(), change);
        }
        Ok(changes)
    }
}

/// Index entries whose file is as the index says, and submodules. A file that a sparse checkout leaves out is as the
/// index says.
fn clean(index: &Index, changes: &BTreeMap<Vec<u8>, Change>) -> Vec<Item> {
    let mut clean = Vec::new();
    for entry in index.iter() {
        let stage = (entry.flags >> 12) & 0x3;
        let sparse = entry.flags_extended & IndexEntryExtendedFlag::SKIP_WORKTREE.bits() != 0;
        let as_indexed = match changes.get(&entry.path) {
            None => true,
            Some(change) => sparse && change.delta == Delta::Deleted,
        };
        if stage == 0 && (as_indexed || is_submodule(entry.mode)) {
            clean.push(Item {
                path: entry.path,
                mode: entry.mode,
                id: entry.id,
            });
        }
    }
    clean
}
