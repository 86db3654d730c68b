//! The tool's own folder: one room for each repository or bundle, with its private tree, its target directory and its
//! runs.
//!
//! ```text
//! ABREAST_HOME/<name>-<hash>/
//!     lock                 held while a run works here
//!     child                number of the running child, so that a later run can end it
//!     tree/                the one private tree; both sides are built here, at one absolute path
//!     sides/               files of whichever side the tree does not hold at the moment
//!     target/              cargo's target directory
//!     runs/<run>/          recording.jsonl, base/ and head/ executables, bundle/ as it was unpacked
//! ```
#![expect(
    clippy::disallowed_methods,
    reason = "this file is where the tool's own folder is kept"
)]

mod memory;

use crate::digest::{sha256, written};
use crate::recording::Recording;
use crate::revision::Side;
use object::{Object, ObjectSection};
use sha2::{Digest, Sha256};
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Runs whose executables and recordings are kept for `--resume` and for a second look.
const KEPT_RUNS: usize = 5;

/// The room of one repository or bundle in the tool's folder, locked.
#[derive(Debug)]
pub struct Room {
    folder: PathBuf,
    /// Where measured processes write: in memory, where that is possible.
    scratch: PathBuf,
    _lock: File,
}

/// Why the tool's folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// Neither `ABREAST_HOME` nor a home folder is known.
    #[error("no folder for abreast's files: set ABREAST_HOME")]
    Nowhere,
    /// The system refused.
    #[error("{path} could not be {what}: {source}; set ABREAST_HOME to use another folder")]
    Io {
        /// Path.
        path: PathBuf,
        /// `made`, `locked`, ...
        what: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// `--resume` without anything to resume.
    #[error(
        "there is nothing to resume: no unfinished run compares these commits with these benches and build settings"
    )]
    NothingToResume,
    /// An executable of the run to be resumed is missing or changed.
    #[error("the executable {path} is missing, or not the one that was recorded; start the comparison anew")]
    Executable {
        /// Path.
        path: PathBuf,
    },
}

/// Digests of one executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digests {
    /// Of the whole file.
    pub file: String,
    /// Of what is loaded to run it.
    pub loaded: String,
}

impl Room {
    /// Opens and locks the room of the repository with this common git folder. If another run works there,
    /// `waiting` is called once with that run's process number, and this one waits.
    ///
    /// # Errors
    /// [`HomeError`] if the folder cannot be made or locked.
    pub fn of_repository(common_dir: &Path, waiting: impl FnOnce(&str)) -> Result<Self, HomeError> {
        Self::enter(&repository_name(common_dir), waiting)
    }

    /// The same for the bundle with this digest, which may be at another place another time.
    ///
    /// # Errors
    /// As [`Room::of_repository`].
    pub fn of_bundle(digest: &str, waiting: impl FnOnce(&str)) -> Result<Self, HomeError> {
        let short = digest.get(..16).unwrap_or(digest);
        Self::enter(&format!("bundle-{short}"), waiting)
    }

    /// The room of the suite with known changes, in which its repository is too.
    ///
    /// # Errors
    /// As [`Room::of_repository`].
    pub fn of_suite(waiting: impl FnOnce(&str)) -> Result<Self, HomeError> {
        Self::enter("suite", waiting)
    }

    fn enter(name: &str, waiting: impl FnOnce(&str)) -> Result<Self, HomeError> {
        let folder = home()?.join(name);
        std::fs::create_dir_all(&folder).map_err(io(&folder, "made"))?;
        let path = folder.join("lock");
        let mut lock = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io(&path, "made"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = lock.read_to_string(&mut holder);
                waiting(holder.trim());
                lock.lock().map_err(io(&path, "locked"))?;
            }
            Err(TryLockError::Error(source)) => return Err(io(&path, "locked")(source)),
        }
        let _ = lock.set_len(0);
        let _ = lock.seek(SeekFrom::Start(0));
        let _ = write!(lock, "{}", std::process::id());
        let scratch = memory::folder(&sha256(folder.as_os_str().as_encoded_bytes())[..16]);
        Ok(Self {
            scratch: scratch.unwrap_or_else(|| folder.join("scratch")),
            folder,
            _lock: lock,
        })
    }

    /// The private tree.
    #[must_use]
    pub fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// The repository of the suite.
    #[must_use]
    pub fn repository(&self) -> PathBuf {
        self.folder.join("repository")
    }

    /// Store for the side that the tree does not hold.
    #[must_use]
    pub fn sides(&self) -> PathBuf {
        self.folder.join("sides")
    }

    /// Cargo's target directory.
    #[must_use]
    pub fn target_dir(&self) -> PathBuf {
        self.folder.join("target")
    }

    /// File that names the running child.
    #[must_use]
    pub fn leash(&self) -> PathBuf {
        self.folder.join("child")
    }

    /// Makes the folder of a new run, and removes the oldest ones beyond the few that are kept.
    ///
    /// # Errors
    /// [`HomeError`] if it cannot be made.
    pub fn new_run(&self, name: &str) -> Result<RunFolder, HomeError> {
        let mut runs = self.runs();
        while runs.len() >= KEPT_RUNS {
            let _ = std::fs::remove_dir_all(runs.remove(0));
        }
        let run = self.run(name);
        for part in ["base", "head"] {
            let path = run.folder.join(part);
            std::fs::create_dir_all(&path).map_err(io(&path, "made"))?;
        }
        Ok(run)
    }

    /// The folder of an earlier run.
    #[must_use]
    pub fn run(&self, name: &str) -> RunFolder {
        RunFolder {
            folder: self.folder.join("runs").join(name),
            scratch: self.scratch.clone(),
        }
    }

    /// Recordings of earlier runs, newest first.
    #[must_use]
    pub fn recordings(&self) -> Vec<PathBuf> {
        self.runs()
            .into_iter()
            .rev()
            .map(|run| run.join("recording.jsonl"))
            .filter(|path| path.is_file())
            .collect()
    }

    /// Run folders, oldest first: their names begin with the time.
    fn runs(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.join("runs"))
            .into_iter()
            .flatten()
            .flatten();
        let mut runs: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        runs.sort();
        runs
    }
}

impl Drop for Room {
    /// Gives the memory back; what a killed run leaves there is emptied by the next one.
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.scratch);
    }
}

/// Folder of one run.
#[derive(Debug, Clone)]
pub struct RunFolder {
    folder: PathBuf,
    scratch: PathBuf,
}

impl RunFolder {
    /// Where the recording is kept unless the user names a file.
    #[must_use]
    pub fn recording(&self) -> PathBuf {
        self.folder.join("recording.jsonl")
    }

    /// Absolute path of something recorded relative to this folder.
    #[must_use]
    pub fn path(&self, relative: &str) -> PathBuf {
        self.folder.join(relative)
    }

    /// Where the contents of a bundle are unpacked.
    #[must_use]
    pub fn unpacked(&self) -> PathBuf {
        self.folder.join("bundle")
    }

    /// Puts an unpacked executable where the recording expects it.
    ///
    /// # Errors
    /// [`HomeError`] if it cannot be copied.
    pub fn place(&self, relative: &str, content: &Path) -> Result<(), HomeError> {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.path(relative);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(io(folder, "made"))?;
        }
        std::fs::copy(content, &path).map_err(io(&path, "written"))?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).map_err(io(&path, "written"))
    }

    /// Copies an executable out of the target directory, where the other side's build would replace it.
    /// Returns its path relative to this folder and its digests.
    ///
    /// # Errors
    /// [`HomeError`] if it cannot be copied.
    pub fn keep(&self, side: Side, name: &str, built: &Path) -> Result<(String, Digests), HomeError> {
        let relative = format!("{side}/{name}");
        let kept = self.folder.join(&relative);
        std::fs::copy(built, &kept).map_err(io(&kept, "written"))?;
        let digests = digests(&std::fs::read(&kept).map_err(io(&kept, "read"))?);
        Ok((relative, digests))
    }

    /// Where the lock file that a side was built with is kept, if its commit has none.
    #[must_use]
    pub fn lock_file(&self, side: Side) -> PathBuf {
        self.folder.join(format!("{side}.lock"))
    }

    /// An empty folder for one slot's output, always at the same path.
    ///
    /// # Errors
    /// [`HomeError`] if it cannot be made.
    pub fn fresh_scratch(&self) -> Result<PathBuf, HomeError> {
        let path = self.scratch.clone();
        if path.exists() {
            std::fs::remove_dir_all(&path).map_err(io(&path, "emptied"))?;
        }
        std::fs::create_dir_all(&path).map_err(io(&path, "made"))?;
        Ok(path)
    }

    /// A folder for large files that are needed only for a moment; it goes with what is returned.
    ///
    /// # Errors
    /// [`HomeError`] if it cannot be made.
    pub fn workbench(&self) -> Result<tempfile::TempDir, HomeError> {
        tempfile::tempdir_in(&self.folder).map_err(io(&self.folder, "written"))
    }

    /// Checks that all executables of a recording are still what they were.
    ///
    /// # Errors
    /// [`HomeError::Executable`] for the first that is not.
    pub fn verify(&self, recording: &Recording) -> Result<(), HomeError> {
        for executable in recording.builds.iter().flat_map(|build| &build.executables) {
            let path = self.path(&executable.path);
            let intact = std::fs::read(&path).is_ok_and(|bytes| {
                let digests = digests(&bytes);
                (&digests.file, &digests.loaded) == (&executable.sha256, &executable.loaded_sha256)
            });
            if !intact {
                return Err(HomeError::Executable { path });
            }
        }
        Ok(())
    }
}

/// Digests of an executable's bytes.
///
/// What is loaded are the sections that take part in the program's memory image, with their addresses; the build id
/// is among them but tells only that some byte differs somewhere. A format this cannot read counts as loaded whole.
#[must_use]
pub fn digests(bytes: &[u8]) -> Digests {
    let file = sha256(bytes);
    let loaded = object::File::parse(bytes)
        .ok()
        .and_then(|object| loaded(&object))
        .unwrap_or_else(|| file.clone());
    Digests { file, loaded }
}

fn loaded(object: &object::File<'_>) -> Option<String> {
    let mut hash = Sha256::new();
    hash.update(object.entry().to_le_bytes());
    let mut any = false;
    for section in object.sections() {
        let name = section.name_bytes().unwrap_or_default();
        let in_memory = match section.flags() {
            object::SectionFlags::Elf { sh_flags, .. } => sh_flags.0 & object::elf::SHF_ALLOC.0 != 0,
            _ => section.segment_name().ok().flatten() != Some("__DWARF"),
        };
        if !in_memory || name == b".note.gnu.build-id" {
            continue;
        }
        any = true;
        hash.update(name);
        hash.update(section.address().to_le_bytes());
        hash.update(section.size().to_le_bytes());
        hash.update(section.data().ok()?);
    }
    any.then(|| written(&hash.finalize()))
}

/// Removes a large file that nobody needs any more; one that stays is no harm.
pub fn discard(file: &Path) {
    let _ = std::fs::remove_file(file);
}

fn home() -> Result<PathBuf, HomeError> {
    use etcetera::BaseStrategy as _;
    if let Some(path) = std::env::var_os("ABREAST_HOME").filter(|path| !path.is_empty()) {
        return std::path::absolute(&path).map_err(io(Path::new(&path), "found"));
    }
    let base = etcetera::choose_base_strategy().map_err(|_| HomeError::Nowhere)?;
    Ok(base.cache_dir().join("abreast"))
}

fn repository_name(common_dir: &Path) -> String {
    let folder = common_dir
        .parent()
        .and_then(Path::file_name)
        .unwrap_or_default()
        .to_string_lossy();
    let name: String = folder
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c))
        .take(40)
        .collect();
    let digest = sha256(common_dir.as_os_str().as_encoded_bytes());
    format!("{name}-{}", &digest[..8])
}

fn io(path: &Path, what: &'static str) -> impl FnOnce(std::io::Error) -> HomeError {
    let path = path.to_owned();
    move |source| HomeError::Io { path, what, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_id_and_symbols_are_not_loaded() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let object = object::File::parse(&*own).unwrap();
        let build_id = object
            .section_by_name(".note.gnu.build-id")
            .map(|section| section.file_range().unwrap());
        let strings = object.section_by_name(".strtab").unwrap().file_range().unwrap();
        let code = object.section_by_name(".text").unwrap().file_range().unwrap();
        let original = digests(&own);
        let with_changed = |offset: u64| {
            let mut bytes = own.clone();
            bytes[usize::try_from(offset).unwrap()] ^= 1;
            digests(&bytes)
        };
        for (offset, size) in [Some(strings), build_id].into_iter().flatten() {
            let changed = with_changed(offset + size - 1);
            assert_ne!(changed.file, original.file);
            assert_eq!(changed.loaded, original.loaded);
        }
        assert_ne!(with_changed(code.0 + code.1 / 2).loaded, original.loaded);
    }

    #[test]
    fn bytes_that_are_no_executable_count_whole() {
        let Digests { file, loaded } = digests(b"#!/bin/sh\n");
        assert_eq!(file, loaded);
    }

    #[test]
    fn repositories_of_the_same_name_have_different_rooms() {
        let (one, two) = (
            repository_name(Path::new("/a/x/.git")),
            repository_name(Path::new("/b/x/.git")),
        );
        assert!(one.starts_with("x-") && two.starts_with("x-"));
        assert_ne!(one, two);
    }
}
