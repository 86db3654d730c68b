//! The files of one side, as a flat list that no longer needs the repository's names.

#![expect(
    clippy::disallowed_methods,
    reason = "large files are read from where they lie, not through memory"
)]

use super::error::GitError;
use super::store::Store;
use git2::{ObjectType, Oid};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of one side, sorted by path (component by component), and what a reader should know about them.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    pub(super) entries: BTreeMap<PathBuf, Entry>,
    /// Files that are not what they seem, one sentence each: submodules that are absent, files that are pointers.
    pub notes: Vec<String>,
}

/// One file.
#[derive(Clone)]
pub struct Entry {
    /// What kind of file.
    pub mode: Mode,
    /// Of its content (for a symlink, of its target's name).
    pub id: ContentId,
    /// Of its content, in bytes.
    pub size: u64,
    pub(super) content: Content,
}

/// Kind of a file, as far as git knows kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A file.
    File,
    /// A file that may be executed.
    Executable,
    /// A symbolic link; its content is the name of its target.
    Symlink,
}

/// Equal for two files exactly if their bytes are equal: git's blob id of the bytes as they are laid out, also for
/// Git LFS files and files of submodules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId(pub(super) Oid);

/// Where the bytes are.
#[derive(Clone)]
pub(super) enum Content {
    /// In an object database.
    Object(Arc<Store>, Oid),
    /// In a file that is not ours: an LFS object, or a file of the working tree too large for memory.
    File(PathBuf),
}

impl ContentId {
    /// Id of a file on disk, followed if it is a symlink.
    ///
    /// # Errors
    /// As for reading the file.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        Oid::hash_file(ObjectType::Blob, path)
            .map(Self)
            .map_err(|error| io::Error::other(error.message().to_owned()))
    }

    /// Id of some bytes.
    ///
    /// # Errors
    /// None in practice: only if the hash implementation refuses to work.
    pub fn of(bytes: &[u8]) -> io::Result<Self> {
        Oid::hash_object(ObjectType::Blob, bytes)
            .map(Self)
            .map_err(|error| io::Error::other(error.message().to_owned()))
    }
}

impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {} ({} bytes)", self.mode, self.id, self.size)
    }
}

impl Snapshot {
    /// A snapshot that came from no repository: for each path its kind, and a file with its content.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn of_files(files: impl IntoIterator<Item = (PathBuf, Mode, PathBuf)>) -> Result<Self, GitError> {
        let mut entries = BTreeMap::new();
        for (path, mode, file) in files {
            let error = |source| GitError::Io {
                doing: "read",
                path: file.clone(),
                source,
            };
            let id = ContentId::of_file(&file).map_err(error)?;
            let size = file.metadata().map_err(error)?.len();
            let content = Content::File(file);
            let entry = Entry {
                mode,
                id,
                size,
                content,
            };
            entries.insert(path, entry);
        }
        Ok(Self {
            entries,
            notes: Vec::new(),
        })
    }

    /// All files in the order of their paths, which are relative to the repository's top folder.
    pub fn entries(&self) -> impl Iterator<Item = (&Path, &Entry)> {
        self.entries.iter().map(|(path, entry)| (path.as_path(), entry))
    }

    /// Number of files.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no file at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The file at `path`, absent if there is none (a folder is none).
    #[must_use]
    pub fn get(&self, path: &Path) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// Id of the content at `path`, absent if there is no file.
    #[must_use]
    pub fn content_id(&self, path: &Path) -> Option<ContentId> {
        self.get(path).map(|entry| entry.id)
    }

    /// The bytes at `path`, absent if there is no file. A symlink's bytes are the name of its target.
    ///
    /// # Errors
    /// An object that can no longer be read, or a file of the working tree that changed.
    pub fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, GitError> {
        let Some(entry) = self.get(path) else {
            return Ok(None);
        };
        match &entry.content {
            Content::Object(store, id) => store.read(*id, &path.to_string_lossy()).map(Some),
            Content::File(file) => {
                let bytes = std::fs::read(file).map_err(|source| GitError::Io {
                    doing: "read",
                    path: file.clone(),
                    source,
                })?;
                match ContentId::of(&bytes) {
                    Ok(id) if id == entry.id => Ok(Some(bytes)),
                    _ => Err(GitError::Changed { path: file.clone() }),
                }
            }
        }
    }

    /// Copies the bytes at `path` into `out`; nothing if there is no file. Bytes that come from a file which is not
    /// git's are not checked on the way: compare the result's [`ContentId`].
    ///
    /// # Errors
    /// Outer: what is to be read. Inner: what is written to.
    pub fn copy(&self, path: &Path, out: &mut impl Write) -> Result<io::Result<()>, GitError> {
        let Some(entry) = self.get(path) else {
            return Ok(Ok(()));
        };
        match &entry.content {
            Content::Object(store, id) => Ok(out.write_all(&store.read(*id, &path.to_string_lossy())?)),
            Content::File(file) => {
                let mut source = std::fs::File::open(file).map_err(|source| GitError::Io {
                    doing: "open",
                    path: file.clone(),
                    source,
                })?;
                Ok(io::copy(&mut source, out).map(|_| ()))
            }
        }
    }

    /// This snapshot with the files that `selects` picks taken from `other` instead, present or absent. Where that puts
    /// a file where the rest has a folder (or the reverse), `other`'s wins.
    #[must_use]
    pub fn overlay(&self, other: &Self, selects: impl Fn(&Path) -> bool) -> Self {
        let mut entries = self.entries.clone();
        entries.retain(|path, _| !selects(path));
        for (path, entry) in other.entries().filter(|(path, _)| selects(path)) {
            for folder in path.ancestors().skip(1) {
                entries.remove(folder);
            }
            let below: Vec<PathBuf> = entries
                .range(path.to_owned()..)
                .take_while(|(inner, _)| inner.starts_with(path))
                .map(|(inner, _)| inner.clone())
                .collect();
            for inner in below {
                entries.remove(&inner);
            }
            entries.insert(path.to_owned(), entry.clone());
        }
        Self {
            entries,
            notes: self.notes.clone(),
        }
    }
}

/// Paths that were added, removed or changed (content or mode), sorted.
#[must_use]
pub fn changed_paths(base: &Snapshot, head: &Snapshot) -> Vec<PathBuf> {
    let same = |one: &Entry, two: &Entry| one.mode == two.mode && one.id == two.id;
    let gone = base
        .entries
        .keys()
        .filter(|path| !head.entries.contains_key(*path));
    let come = head
        .entries
        .iter()
        .filter(|(path, entry)| !base.entries.get(*path).is_some_and(|other| same(other, entry)))
        .map(|(path, _)| path);
    let mut paths: Vec<PathBuf> = gone.chain(come).cloned().collect();
    paths.sort();
    paths
}
