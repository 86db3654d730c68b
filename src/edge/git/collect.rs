//! Gathers the files of a commit, of its submodules and of theirs, into a snapshot.

use super::error::GitError;
use super::lfs::{POINTER_LIMIT, Pointer};
use super::repo::Repo;
use super::snapshot::{Content, ContentId, Entry, Mode, Snapshot};
use super::store::Store;
use super::submodule::{Place, name_of};
use git2::{ObjectType, Oid, Repository};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Git's file modes, the bits that tell kinds apart.
const SYMLINK: u32 = 0o120_000;
const SUBMODULE: u32 = 0o160_000;

/// Which commit of a submodule counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pins {
    /// The one that the commit around it records.
    Recorded,
    /// The one that is checked out in it; the recorded one if it is not initialised.
    CheckedOut,
}

/// Something in a tree or an index that is not a folder.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// Path from the repository's top, with `/`.
    pub(super) path: Vec<u8>,
    pub(super) mode: u32,
    pub(super) id: Oid,
}

/// A snapshot in the making.
pub(super) struct Collector {
    entries: BTreeMap<PathBuf, Entry>,
    notes: Vec<String>,
    pointers: Vec<PathBuf>,
    pins: Pins,
}

impl Repo {
    /// The files of a commit.
    pub(super) fn commit_snapshot(&self, commit: Oid) -> Result<Snapshot, GitError> {
        let git = Repository::open(self.git.path()).map_err(GitError::doing("open the repository again"))?;
        let place = Place::new(&git, self.root.clone());
        let store = Arc::new(Store::new(git, &self.common));
        let mut collector = Collector::new(Pins::Recorded);
        collector.commit(&store, &place, commit, Path::new(""))?;
        Ok(collector.finish())
    }
}

impl Collector {
    pub(super) fn new(pins: Pins) -> Self {
        Self {
            entries: BTreeMap::new(),
            notes: Vec::new(),
            pointers: Vec::new(),
            pins,
        }
    }

    /// Adds everything below a commit, under `prefix`.
    fn commit(
        &mut self,
        store: &Arc<Store>,
        place: &Place,
        commit: Oid,
        prefix: &Path,
    ) -> Result<(), GitError> {
        let items = list(store, commit)?;
        let gitmodules = items
            .iter()
            .find(|item| item.path == b".gitmodules" && item.mode != SYMLINK)
            .and_then(|item| store.read(item.id, ".gitmodules").ok())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default();
        for item in &items {
            if item.mode == SUBMODULE {
                self.submodule(place, item, &gitmodules, prefix)?;
            } else {
                self.blob(store, item, prefix)?;
            }
        }
        Ok(())
    }

    /// Adds the file of a blob; a pointer whose content was fetched becomes that content.
    pub(super) fn blob(&mut self, store: &Arc<Store>, item: &Item, prefix: &Path) -> Result<(), GitError> {
        let path = prefix.join(to_path(&item.path));
        let what = path.to_string_lossy();
        let mode = mode(item.mode);
        let size = store.size(item.id, &what)?;
        if mode != Mode::Symlink
            && size < POINTER_LIMIT
            && let Some(pointer) = Pointer::parse(&store.read(item.id, &what)?)
        {
            if let Some(object) = pointer.object(&store.common) {
                let id = ContentId::of_file(&object).map_err(|source| GitError::Io {
                    doing: "read",
                    path: object.clone(),
                    source,
                })?;
                let content = Content::File(object);
                self.insert(
                    path,
                    Entry {
                        mode,
                        id,
                        size: pointer.size,
                        content,
                    },
                );
                return Ok(());
            }
            self.pointers.push(path.clone());
        }
        let content = Content::Object(Arc::clone(store), item.id);
        let id = ContentId(item.id);
        self.insert(
            path,
            Entry {
                mode,
                id,
                size,
                content,
            },
        );
        Ok(())
    }

    /// Adds the files of a submodule, or a note if they are not here.
    pub(super) fn submodule(
        &mut self,
        place: &Place,
        item: &Item,
        gitmodules: &str,
        prefix: &Path,
    ) -> Result<(), GitError> {
        let path = to_path(&item.path);
        let full = prefix.join(path);
        let mut commit = item.id;
        if self.pins == Pins::CheckedOut
            && let Some((git, checked_out)) = place.checked_out(path)
        {
            commit = checked_out;
            self.note_changes(&git, &full);
        }
        let name = name_of(gitmodules, &path.to_string_lossy());
        match place.submodule(path, name.as_deref(), commit) {
            Some((store, place)) => self.commit(&Arc::new(store), &place, commit, &full),
            None => {
                let short: String = commit.to_string().chars().take(10).collect();
                self.notes.push(format!(
                    "submodule `{}` is left out, its commit {short} is not here: \
                     run `git submodule update --init --recursive`",
                    full.display()
                ));
                Ok(())
            }
        }
    }

    /// Adds or replaces one file.
    pub(super) fn insert(&mut self, path: PathBuf, entry: Entry) {
        self.entries.insert(path, entry);
    }

    /// Adds one sentence for the reader.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(super) fn finish(mut self) -> Snapshot {
        if let Some(note) = pointer_note(&self.pointers) {
            self.notes.push(note);
        }
        Snapshot {
            entries: self.entries,
            notes: self.notes,
        }
    }

    fn note_changes(&mut self, git: &Repository, path: &Path) {
        let mut options = git2::StatusOptions::new();
        options
            .include_untracked(true)
            .exclude_submodules(true)
            .update_index(false);
        if git
            .statuses(Some(&mut options))
            .is_ok_and(|changes| !changes.is_empty())
        {
            self.notes.push(format!(
                "submodule `{}` has uncommitted changes, which are not measured: commit them in the submodule first",
                path.display()
            ));
        }
    }
}

/// Everything below a commit that is not a folder. A stack and not recursion: the depth is the repository's to choose.
fn list(store: &Store, commit: Oid) -> Result<Vec<Item>, GitError> {
    let git = store.git();
    let what = format!("commit {commit}");
    let root = git
        .find_commit(commit)
        .map_err(|error| store.failure(error, &what))?
        .tree_id();
    let mut items = Vec::new();
    let mut folders = vec![(Vec::new(), root)];
    while let Some((prefix, id)) = folders.pop() {
        let what = String::from_utf8_lossy(&prefix).into_owned();
        let tree = git.find_tree(id).map_err(|error| store.failure(error, &what))?;
        for entry in &tree {
            let mut path: Vec<u8> = prefix.clone();
            path.extend_from_slice(entry.name_bytes());
            if entry.kind() == Some(ObjectType::Tree) {
                path.push(b'/');
                folders.push((path, entry.id()));
            } else {
                let mode = u32::from_ne_bytes(entry.filemode().to_ne_bytes());
                let id = entry.id();
                items.push(Item { path, mode, id });
            }
        }
    }
    Ok(items)
}

fn mode(bits: u32) -> Mode {
    if bits & 0o170_000 == SYMLINK {
        Mode::Symlink
    } else if bits & 0o100 != 0 {
        Mode::Executable
    } else {
        Mode::File
    }
}

/// A path as git stores it. Not UTF-8 in general.
pub(super) fn to_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Whether the mode of an index entry is a submodule's.
pub(super) fn is_submodule(mode: u32) -> bool {
    mode & 0o170_000 == SUBMODULE
}

fn pointer_note(pointers: &[PathBuf]) -> Option<String> {
    const NAMED: usize = 5;
    if pointers.is_empty() {
        return None;
    }
    let names: Vec<String> = pointers
        .iter()
        .take(NAMED)
        .map(|path| format!("`{}`", path.display()))
        .collect();
    let more = if pointers.len() > NAMED { ", ..." } else { "" };
    Some(format!(
        "{} Git LFS file(s) are only pointers here ({}{more}): run `git lfs pull`, or `git lfs fetch` for the other side",
        pointers.len(),
        names.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_five_pointers_are_named_and_all_are_counted() {
        let paths: Vec<PathBuf> = (0..7).map(|n| PathBuf::from(format!("w{n}.bin"))).collect();
        let note = pointer_note(&paths).unwrap();
        assert!(
            note.starts_with("7 Git LFS file(s)") && note.contains("`w4.bin`, ..."),
            "{note}"
        );
        assert!(!note.contains("w5"), "{note}");
        assert_eq!(pointer_note(&[]), None);
    }
}
