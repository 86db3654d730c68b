//! Files in and out: recordings, and the texts a user asked for.
#![expect(
    clippy::disallowed_methods,
    reason = "this file is where recordings and reports are read and written"
)]

use crate::recording::{Event, Recording, RecordingError};
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refused.
    #[error("{path} could not be {what}: {source}")]
    Io {
        /// File.
        path: PathBuf,
        /// `read`, `written`, ...
        what: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// Recording stopped because an event could not be written; everything before it is safe.
    #[error(
        "recording into {path} failed: {source}. Everything measured before is in the file; \
         make room and go on with --resume"
    )]
    Append {
        /// Recording.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A recording that would be lost.
    #[error(
        "{0} is a recording that was not finished: go on with it (--resume), name another file, or remove it"
    )]
    Unfinished(PathBuf),
    /// An event cannot be expressed as JSON.
    #[error("an event could not be encoded: {0}")]
    Encode(#[from] serde_json::Error),
    /// Something that is to be read is a link, a pipe or a device.
    #[error(
        "{0} could not be read: it is no plain file, and nothing else is read here; name the file itself"
    )]
    NotPlain(PathBuf),
    /// A file is too long to be what it should be.
    #[error("{path} is larger than {} MiB, which is more than it needs: see where it comes from", most >> 20)]
    TooLarge {
        /// File.
        path: PathBuf,
        /// Most bytes that are read.
        most: u64,
    },
    /// The content is no recording.
    #[error("{path}: {source}")]
    Recording {
        /// File.
        path: PathBuf,
        /// What is wrong with it.
        source: RecordingError,
    },
}

/// A recording under way: in memory for looks, in its file for safety.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Everything recorded so far.
    pub recording: Recording,
}

impl Journal {
    /// Starts a new file with its header; an existing file is replaced, unless it is a recording that could go on.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be made.
    pub fn create(path: &Path, header: crate::recording::Header) -> Result<Self, StoreError> {
        let unfinished =
            |found: Recording| (found.killed() || found.interrupted()) && !found.slots.is_empty();
        if path.is_file() && read_recording(path).is_ok_and(unfinished) {
            return Err(StoreError::Unfinished(path.to_owned()));
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(io(folder, "made"))?;
        }
        let file = File::create(path).map_err(io(path, "made"))?;
        let mut journal = Self {
            path: path.to_owned(),
            file,
            recording: Recording::new(header.clone()),
        };
        journal.write(&Event::Header(Box::new(header)))?;
        Ok(journal)
    }

    /// Goes on with an existing file; a last line that was cut off is removed from it, one that lacks only its line
    /// feed gets it.
    ///
    /// # Errors
    /// [`StoreError`] if it is no recording or cannot be written.
    pub fn resume(path: &Path) -> Result<Self, StoreError> {
        let mut recording = read_recording(path)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(io(path, "opened"))?;
        if recording.truncated {
            let text = std::fs::read(path).map_err(io(path, "read"))?;
            let whole = text
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |at| at + 1);
            file.set_len(whole as u64).map_err(io(path, "written"))?;
            recording.truncated = false;
        }
        file.seek(SeekFrom::End(-1)).map_err(io(path, "read"))?;
        let mut last = [0];
        file.read_exact(&mut last).map_err(io(path, "read"))?;
        if last != *b"\n" {
            file.write_all(b"\n").map_err(io(path, "written"))?;
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            recording,
        })
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an event, to the file first.
    ///
    /// # Errors
    /// [`StoreError::Append`] with the file left as it was before the event.
    pub fn append(&mut self, event: Event) -> Result<(), StoreError> {
        self.write(&event)?;
        self.recording.push(event);
        Ok(())
    }

    fn write(&mut self, event: &Event) -> Result<(), StoreError> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        let before = self.file.stream_position().unwrap_or(0);
        self.file.write_all(&line).map_err(|source| {
            // A half-written line would have to be cut off by the next reader; better not to leave one.
            if self.file.set_len(before).is_ok() {
                let _ = self.file.seek(SeekFrom::Start(before));
            }
            StoreError::Append {
                path: self.path.clone(),
                source,
            }
        })
    }
}

/// Reads one recording.
///
/// # Errors
/// [`StoreError`] if the file cannot be read or is no recording.
pub fn read_recording(path: &Path) -> Result<Recording, StoreError> {
    let file = File::open(path).map_err(io(path, "read"))?;
    Recording::read(BufReader::with_capacity(1 << 20, file)).map_err(|source| StoreError::Recording {
        path: path.to_owned(),
        source,
    })
}

/// Reads a text file; `None` if there is none.
///
/// # Errors
/// [`StoreError`] if it exists but cannot be read or is not UTF-8.
pub fn read_text(path: &Path) -> Result<Option<String>, StoreError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(io(path, "read")(source)),
    }
}

/// Reads a whole file.
///
/// # Errors
/// [`StoreError`] if it cannot be read.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, StoreError> {
    std::fs::read(path).map_err(io(path, "read"))
}

/// Reads a whole file that a stranger named: nothing but a plain file, of at most so many bytes.
///
/// # Errors
/// [`StoreError`] if it cannot be read, is a folder, a device or a pipe, or is larger.
pub fn read_plain(path: &Path, most: u64) -> Result<Vec<u8>, StoreError> {
    let facts = std::fs::metadata(path).map_err(io(path, "read"))?;
    if !facts.is_file() {
        return Err(StoreError::NotPlain(path.to_owned()));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(most.saturating_add(1)).read_to_end(&mut bytes))
        .map_err(io(path, "read"))?;
    if bytes.len() as u64 > most {
        let path = path.to_owned();
        return Err(StoreError::TooLarge { path, most });
    }
    Ok(bytes)
}

/// The same for a file that a stranger may have laid there: a link could lead anywhere, and is refused.
///
/// # Errors
/// Those of [`read_plain`], and if it is a link.
pub fn read_artifact(path: &Path, most: u64) -> Result<Vec<u8>, StoreError> {
    let facts = path.symlink_metadata().map_err(io(path, "read"))?;
    if facts.is_symlink() {
        return Err(StoreError::NotPlain(path.to_owned()));
    }
    read_plain(path, most)
}

/// Writes a whole file so that a reader sees the old or the new content, never a part. Folders are made.
/// Something that is no plain file, like `/dev/stdout`, is written to directly.
///
/// # Errors
/// [`StoreError`] if it cannot be written.
pub fn write(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    if path.exists() && !path.is_file() {
        return std::fs::write(path, content).map_err(io(path, "written"));
    }
    write_with(path, |file| file.write_all(content))
}

/// Writes a whole file piece by piece, so that a reader sees the old or the new content, never a part. Folders are made.
///
/// # Errors
/// [`StoreError`] if it cannot be written.
pub fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> Result<(), StoreError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(io(folder, "made"))?;
    let mut draft = tempfile::NamedTempFile::new_in(folder).map_err(io(folder, "written"))?;
    fill(draft.as_file_mut()).map_err(io(path, "written"))?;
    // A temporary file is private to its owner; what is written here is not.
    let _ = std::fs::set_permissions(draft.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644));
    draft
        .persist(path)
        .map_err(|error| io(path, "written")(error.error))?;
    Ok(())
}

/// Whether two paths name one existing file.
#[must_use]
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// What became of printing, as of writing a file.
///
/// # Errors
/// [`StoreError::Io`] if it failed.
pub fn printed(result: std::io::Result<()>) -> Result<(), StoreError> {
    result.map_err(io(Path::new("standard output"), "written"))
}

fn io(path: &Path, what: &'static str) -> impl FnOnce(std::io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Io { path, what, source }
}
