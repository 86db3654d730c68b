//! The history's folder in a work tree: read whole, and added to file by file.
//!
//! Writers take a lock on the folder itself, so that two of them add one after the other and nothing is left behind; a
//! file is replaced in one piece, so that a reader, or the next writer after a crash, never finds half of it.
#![expect(
    clippy::disallowed_methods,
    reason = "this file is where a history in a work tree is read and written"
)]

use crate::history::alias::AliasError;
use crate::history::trend::Known;
use crate::history::{Parsed, parse};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Why a history could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The system refused.
    #[error("{path} could not be {what}: {source}")]
    Io {
        /// File or folder.
        path: PathBuf,
        /// `read`, `written`, ...
        what: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// What maintainers say cannot be used.
    #[error(transparent)]
    Aliases(#[from] AliasError),
}

/// A history in a folder.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The history in this folder, which need not exist.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything in it. Files are read by as many threads as there are processors.
    ///
    /// # Errors
    /// [`HistoryError`] if a folder cannot be listed or a file not be read, or the aliases are wrong. Files with wrong content are
    /// no errors but named in [`Known::skipped`].
    pub fn read(&self) -> Result<Known, HistoryError> {
        let mut names = Vec::new();
        for entry in walkdir::WalkDir::new(&self.path).min_depth(1).max_depth(2) {
            match entry {
                Ok(entry) if entry.file_type().is_file() => names.extend(self.name(entry.path())),
                Ok(_) => {}
                Err(error)
                    if error
                        .io_error()
                        .is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound) => {}
                Err(error) => {
                    let path = error.path().unwrap_or(&self.path).to_owned();
                    return Err(io(&path, "listed")(error.into()));
                }
            }
        }
        let read = |name: &String| -> Result<Option<(String, Parsed)>, HistoryError> {
            let path = self.path.join(name);
            match std::fs::read(&path) {
                Ok(bytes) => Ok(Some((name.clone(), parse(name, &bytes)?))),
                // Pruned while the folder was read.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(io(&path, "read")(error)),
            }
        };
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let shares = names.chunks(names.len().div_ceil(workers).max(1));
        let parsed: Result<Vec<_>, HistoryError> = std::thread::scope(|scope| {
            let workers: Vec<_> = shares
                .map(|names| {
                    scope.spawn(move || names.iter().filter_map(|name| read(name).transpose()).collect())
                })
                .collect();
            let mut all = Vec::new();
            for worker in workers {
                let share: Result<Vec<_>, HistoryError> = worker
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                all.extend(share?);
            }
            Ok(all)
        });
        Ok(Known::of(parsed?))
    }

    /// Name of a file relative to the folder; `None` if it is not UTF-8, which no name of the history's is.
    fn name(&self, path: &Path) -> Option<String> {
        Some(path.strip_prefix(&self.path).ok()?.to_str()?.to_owned())
    }

    /// Replaces the content of one file by what `change` makes of it (`None`: there is no file). Nobody else changes anything
    /// in the folder meanwhile. What `change` refuses is handed back, and the file is as it was.
    ///
    /// # Errors
    /// [`HistoryError`] if the folder or file cannot be written.
    pub fn change<E>(
        &self,
        name: &str,
        change: impl FnOnce(Option<&[u8]>) -> Result<Vec<u8>, E>,
    ) -> Result<Result<(), E>, HistoryError> {
        let path = self.path.join(name);
        let folder = path.parent().unwrap_or(&self.path);
        std::fs::create_dir_all(folder).map_err(io(folder, "made"))?;
        let lock = File::open(&self.path).map_err(io(&self.path, "opened"))?;
        lock.lock().map_err(io(&self.path, "locked"))?;
        let old = match std::fs::read(&path) {
            Ok(old) => Some(old),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(io(&path, "read")(error)),
        };
        let new = match change(old.as_deref()) {
            Ok(new) => new,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if old.as_ref() != Some(&new) {
            write(&path, folder, &new)?;
        }
        Ok(Ok(()))
    }

    /// Puts files in place of others, and takes some away; false, and nothing is done, if one of them is not as `is_known`
    /// remembers it. Nobody else changes anything meanwhile.
    ///
    /// # Errors
    /// [`HistoryError`] if a file cannot be read, written or removed.
    pub fn replace(
        &self,
        put: &[(String, Vec<u8>)],
        remove: &[String],
        is_known: impl Fn(&str, &[u8]) -> bool,
    ) -> Result<bool, HistoryError> {
        if put.is_empty() && remove.is_empty() {
            return Ok(true);
        }
        let lock = File::open(&self.path).map_err(io(&self.path, "opened"))?;
        lock.lock().map_err(io(&self.path, "locked"))?;
        for name in put.iter().map(|(name, _)| name).chain(remove) {
            let path = self.path.join(name);
            let bytes = std::fs::read(&path).map_err(io(&path, "read"))?;
            if !is_known(name, &bytes) {
                return Ok(false);
            }
        }
        for (name, content) in put {
            let path = self.path.join(name);
            write(&path, path.parent().unwrap_or(&self.path), content)?;
        }
        for name in remove {
            let path = self.path.join(name);
            std::fs::remove_file(&path).map_err(io(&path, "removed"))?;
        }
        Ok(true)
    }
}

/// The JSON files of a folder, named relative to it; of a file that file, whatever it is called. For histories of other
/// programs, which are read whole.
///
/// # Errors
/// [`HistoryError`] if something cannot be read.
pub fn json_files(path: &Path) -> Result<Vec<(String, Vec<u8>)>, HistoryError> {
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(path).sort_by_file_name() {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(path).to_owned();
            io(&path, "listed")(error.into())
        })?;
        let own = entry.path();
        let wanted = own == path || own.extension().is_some_and(|extension| extension == "json");
        if entry.file_type().is_file() && wanted {
            let relative = own.strip_prefix(path).unwrap_or(own);
            let name = if relative.as_os_str().is_empty() {
                own
            } else {
                relative
            };
            let bytes = std::fs::read(own).map_err(io(own, "read"))?;
            files.push((name.to_string_lossy().into_owned(), bytes));
        }
    }
    Ok(files)
}

fn write(path: &Path, folder: &Path, content: &[u8]) -> Result<(), HistoryError> {
    let mut draft = tempfile::NamedTempFile::new_in(folder).map_err(io(folder, "written"))?;
    let file = draft.as_file_mut();
    // Without the second step a power cut may leave an empty file under the final name.
    file.write_all(content)
        .and_then(|()| file.sync_all())
        .map_err(io(path, "written"))?;
    let _ = std::fs::set_permissions(draft.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644));
    draft
        .persist(path)
        .map_err(|error| io(path, "written")(error.error))?;
    Ok(())
}

fn io(path: &Path, what: &'static str) -> impl FnOnce(std::io::Error) -> HistoryError {
    let path = path.to_owned();
    move |source| HistoryError::Io { path, what, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_writers_at_once_lose_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = Folder::new(scratch.path().join("baselines"));
        std::thread::scope(|scope| {
            for n in 0..20 {
                let folder = &folder;
                scope.spawn(move || {
                    let add = |old: Option<&[u8]>| -> Result<Vec<u8>, ()> {
                        let mut text = old.unwrap_or_default().to_vec();
                        text.extend(format!("{n}\n").bytes());
                        Ok(text)
                    };
                    folder.change("c/one.json", add).unwrap().unwrap();
                    folder.change(&format!("c/{n}.json"), add).unwrap().unwrap();
                });
            }
        });
        let text = std::fs::read_to_string(folder.path().join("c/one.json")).unwrap();
        let mut lines: Vec<u32> = text.lines().map(|line| line.parse().unwrap()).collect();
        lines.sort_unstable();
        assert_eq!(lines, (0..20).collect::<Vec<u32>>());
        let names = std::fs::read_dir(folder.path().join("c")).unwrap();
        assert_eq!(names.count(), 21, "drafts were left behind");
    }

    #[test]
    fn a_refused_change_leaves_the_file_and_a_folder_that_is_not_there_is_an_empty_history() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = Folder::new(scratch.path().join("baselines"));
        assert!(folder.read().unwrap().files.is_empty());
        folder
            .change("x", |_| Ok::<_, ()>(b"1".to_vec()))
            .unwrap()
            .unwrap();
        assert_eq!(folder.change("x", |_| Err("no")).unwrap(), Err("no"));
        assert_eq!(std::fs::read(folder.path().join("x")).unwrap(), b"1");
    }
}
