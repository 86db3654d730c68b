//! One file of the working tree, read as `git add` would read it.

#![expect(
    clippy::disallowed_methods,
    reason = "reads the user's files as they are on disk"
)]

use super::collect::{Collector, Item, to_path};
use super::error::GitError;
use super::lfs::{POINTER_LIMIT, Pointer};
use super::repo::Repo;
use super::scratch::Scratch;
use super::snapshot::{Content, ContentId, Entry, Mode};
use super::store::Store;
use super::worktree::Change;
use git2::{AttrCheckFlags, AttrValue, Delta, FileMode, Index, Oid};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

/// Files from this size on are not kept in memory but read from the working tree when they are laid out, and checked
/// then. Chosen: larger than any source, small enough that a few dozen fit into a runner's memory.
const LARGE: u64 = 32 << 20;

/// A file that was read from disk.
pub(super) struct Stored {
    /// As `git add` would store it.
    pub(super) item: Item,
    /// Content that is not that blob, or is not kept in memory.
    outside: Option<Outside>,
}

/// Content apart from the blob that git would store.
struct Outside {
    id: Oid,
    size: u64,
    kept: Kept,
}

enum Kept {
    InMemory,
    OnDisk,
}

/// Reads files of one working tree into one database in memory.
pub(super) struct Reader<'a> {
    repo: &'a Repo,
    index: &'a Index,
    scratch: &'a Scratch,
}

impl<'a> Reader<'a> {
    pub(super) fn new(repo: &'a Repo, index: &'a Index, scratch: &'a Scratch) -> Self {
        let reader = Self { repo, index, scratch };
        for entry in index.iter() {
            let path = to_path(&entry.path);
            if path.file_name().is_some_and(|name| name == ".gitattributes") {
                reader.keep_indexed(path);
            }
        }
        reader
    }

    /// Reads one file. Absent for what is nothing to git (sockets, pipes, devices) and for a conflicted path that is
    /// deleted; anything else was there a moment ago.
    pub(super) fn read(&self, path: &[u8], change: &Change) -> Result<Option<Stored>, GitError> {
        let relative = to_path(path);
        let full = self.repo.root.join(relative);
        let trouble = |error: io::Error| trouble(relative, &error);
        let found = match full.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound && change.delta == Delta::Conflicted => {
                return Ok(None);
            }
            found => found.map_err(trouble)?,
        };
        let stored = |mode: FileMode, id| Item {
            path: path.to_owned(),
            mode: u32::from(mode),
            id,
        };
        if found.is_symlink() {
            let target = full.read_link().map_err(trouble)?;
            let id = self.scratch.keep(target.as_os_str().as_bytes())?;
            return Ok(Some(Stored {
                item: stored(FileMode::Link, id),
                outside: None,
            }));
        }
        if !found.is_file() {
            return Ok(None);
        }
        let mode = match change.mode {
            mode @ (FileMode::Blob | FileMode::BlobExecutable) => mode,
            _ if found.permissions().mode() & 0o100 != 0 => FileMode::BlobExecutable,
            _ => FileMode::Blob,
        };
        let (id, outside) = self.content(relative, &full, found.len())?;
        Ok(Some(Stored {
            item: stored(mode, id),
            outside,
        }))
    }

    /// The working tree's `.gitmodules`: as on disk, else as in the index.
    pub(super) fn gitmodules(&self) -> String {
        let path = Path::new(".gitmodules");
        let bytes = fs::read(self.repo.root.join(path))
            .ok()
            .or_else(|| self.indexed(path));
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    }

    /// Id of the blob that git would store, and the content if that is something else.
    fn content(&self, relative: &Path, full: &Path, size: u64) -> Result<(Oid, Option<Outside>), GitError> {
        let trouble = |error: io::Error| trouble(relative, &error);
        if self.is_lfs(relative)
            && let Some(pointer) = smudged(full, size).map_err(trouble)?
        {
            let id = self.scratch.keep(pointer.text().as_bytes())?;
            if pointer.object(&self.repo.common).is_some() {
                return Ok((id, None));
            }
            if size < LARGE {
                let bytes = fs::read(full).map_err(trouble)?;
                let outside = Outside {
                    id: self.scratch.keep(&bytes)?,
                    size: bytes.len() as u64,
                    kept: Kept::InMemory,
                };
                return Ok((id, Some(outside)));
            }
            return Ok((id, Some(on_disk(full, size).map_err(trouble)?)));
        }
        if size >= LARGE {
            let outside = on_disk(full, size).map_err(trouble)?;
            return Ok((outside.id, Some(outside)));
        }
        self.keep_indexed(relative);
        let id = self
            .scratch
            .keep_file(full)
            .map_err(|error| lost(relative, full, &error))?;
        Ok((id, None))
    }

    fn is_lfs(&self, path: &Path) -> bool {
        let filter = self
            .repo
            .git
            .get_attr(path, "filter", AttrCheckFlags::FILE_THEN_INDEX);
        filter.is_ok_and(|value| AttrValue::from_string(value) == AttrValue::String("lfs"))
    }

    /// What git's line-ending filter asks for: the blob that the index has at the same path.
    fn keep_indexed(&self, path: &Path) {
        if let Some(bytes) = self.indexed(path) {
            // Only a hint to the filter; without it the conversion is git's default for a new file.
            let _ = self.scratch.keep(&bytes);
        }
    }

    fn indexed(&self, path: &Path) -> Option<Vec<u8>> {
        let entry = self.index.get_path(path, 0)?;
        Some(self.repo.git.find_blob(entry.id).ok()?.content().to_vec())
    }
}

impl Stored {
    /// Puts the file into a snapshot. `memory` is the database it was read into, `root` the work tree.
    pub(super) fn collect(
        self,
        root: &Path,
        memory: &Arc<Store>,
        collector: &mut Collector,
    ) -> Result<(), GitError> {
        let Some(outside) = self.outside else {
            return collector.blob(memory, &self.item, Path::new(""));
        };
        let path = to_path(&self.item.path);
        let content = match outside.kept {
            Kept::InMemory => Content::Object(Arc::clone(memory), outside.id),
            Kept::OnDisk => Content::File(root.join(path)),
        };
        let is_executable = self.item.mode == u32::from(FileMode::BlobExecutable);
        let entry = Entry {
            mode: if is_executable {
                Mode::Executable
            } else {
                Mode::File
            },
            id: ContentId(outside.id),
            size: outside.size,
            content,
        };
        collector.insert(path.to_owned(), entry);
        Ok(())
    }
}

/// The pointer of a file that Git LFS looks after, if the working tree has the content and not the pointer itself.
fn smudged(full: &Path, size: u64) -> io::Result<Option<Pointer>> {
    if size < POINTER_LIMIT && Pointer::parse(&fs::read(full)?).is_some() {
        return Ok(None);
    }
    Pointer::of(&mut fs::File::open(full)?).map(Some)
}

fn on_disk(full: &Path, size: u64) -> io::Result<Outside> {
    Ok(Outside {
        id: ContentId::of_file(full)?.0,
        size,
        kept: Kept::OnDisk,
    })
}

/// libgit2 hides the system's reason in its message; asking the system again is surer.
fn lost(relative: &Path, full: &Path, error: &git2::Error) -> GitError {
    match fs::File::open(full) {
        Err(system) => trouble(relative, &system),
        Ok(_) => GitError::Unreadable {
            path: relative.to_owned(),
            reason: error.message().to_owned(),
        },
    }
}

fn trouble(path: &Path, error: &io::Error) -> GitError {
    let path = path.to_owned();
    if error.kind() == ErrorKind::NotFound {
        return GitError::Vanished { path };
    }
    GitError::Unreadable {
        path,
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use git2::Repository;

    fn read(delta: Delta, prepare: impl FnOnce(&Path)) -> Result<Option<Stored>, GitError> {
        let folder = tempfile::tempdir().unwrap();
        Repository::init(folder.path()).unwrap();
        prepare(&folder.path().join("x"));
        let repo = Repo::discover(folder.path()).unwrap();
        let index = repo.git.index().unwrap();
        let scratch = Scratch::new(repo.git.path()).unwrap();
        let change = Change {
            delta,
            mode: FileMode::Blob,
        };
        Reader::new(&repo, &index, &scratch).read(b"x", &change)
    }

    #[test]
    fn a_file_that_vanishes_between_the_listing_and_the_reading_is_named() {
        let error = read(Delta::Untracked, |_| ()).err().unwrap();
        assert!(
            matches!(&error, GitError::Vanished { path } if path == Path::new("x")),
            "{error}"
        );
        assert!(error.to_string().starts_with("`x` disappeared"), "{error}");
    }

    #[test]
    fn a_conflicted_path_that_is_deleted_is_no_error() {
        assert!(read(Delta::Conflicted, |_| ()).unwrap().is_none());
    }

    #[test]
    fn a_file_without_read_permission_is_named_with_the_reason() {
        let mut is_root = false;
        let outcome = read(Delta::Untracked, |path| {
            fs::write(path, "secret").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
            is_root = fs::read(path).is_ok();
        });
        if is_root {
            assert!(outcome.is_ok(), "root reads everything");
            return;
        }
        let text = outcome.err().unwrap().to_string();
        assert!(
            text.contains("`x`") && text.to_lowercase().contains("permission"),
            "{text}"
        );
    }

    #[test]
    fn a_pipe_is_nothing_to_git_and_is_not_waited_for() {
        let made = read(Delta::Untracked, |path| {
            std::os::unix::net::UnixListener::bind(path).unwrap();
        });
        assert!(made.unwrap().is_none());
    }
}
