//! The note beside the tree that says which files may be back with an old mtime.

#![expect(
    clippy::disallowed_methods,
    reason = "a small file that outlives a killed run"
)]

use super::error::TreeError;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// Name of the file, in the folder that holds the tree.
const NAME: &str = "switched.json";

/// Where the note is.
#[derive(Debug, Clone)]
pub(super) struct Marker {
    path: PathBuf,
}

/// What it says.
#[derive(Debug, Serialize, Deserialize)]
struct Switched {
    paths: Vec<Name>,
}

/// A path in JSON: text where it is text, else its bytes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    Bytes(Vec<u8>),
}

impl Marker {
    pub(super) fn beside(root: &Path) -> Self {
        let folder = root.parent().unwrap_or(root);
        Self {
            path: folder.join(NAME),
        }
    }

    /// Absent: no switch was under way. `Some(None)`: one was, but the note cannot be read, so any file may be meant.
    pub(super) fn read(&self) -> Result<Option<Option<Vec<PathBuf>>>, TreeError> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(TreeError::io("read", &self.path)(error)),
        };
        let switched: Option<Switched> = serde_json::from_slice(&bytes).ok();
        Ok(Some(switched.map(|switched| {
            switched.paths.into_iter().map(PathBuf::from).collect()
        })))
    }

    /// Written whole and to the disk before any file moves.
    pub(super) fn write(&self, paths: &[PathBuf]) -> Result<(), TreeError> {
        let names = paths.iter().map(|path| Name::from(path.as_path())).collect();
        let text = serde_json::to_vec(&Switched { paths: names })
            .map_err(|error| TreeError::io("write", &self.path)(error.into()))?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(&text)?;
            file.as_file().sync_all()?;
            file.persist(&self.path).map_err(|error| error.error)
        };
        write().map_err(TreeError::io("write", &self.path))?;
        Ok(())
    }

    pub(super) fn remove(&self) -> Result<(), TreeError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(TreeError::io("remove", &self.path)(error))
            }
            _ => Ok(()),
        }
    }
}

impl From<&Path> for Name {
    fn from(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
    }
}

impl From<Name> for PathBuf {
    fn from(name: Name) -> Self {
        match name {
            Name::Text(text) => Self::from(text),
            Name::Bytes(bytes) => Self::from(OsString::from_vec(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_not_text_survive_the_note() {
        let folder = tempfile::tempdir().unwrap();
        let marker = Marker::beside(&folder.path().join("tree"));
        assert_eq!(marker.read().unwrap(), None);
        let paths = vec![
            PathBuf::from("src/lib.rs"),
            PathBuf::from(OsString::from_vec(vec![b'a', 0xff, b'\n'])),
        ];
        marker.write(&paths).unwrap();
        assert_eq!(marker.read().unwrap(), Some(Some(paths)));
        fs::write(folder.path().join(NAME), "{\"pat").unwrap();
        assert_eq!(marker.read().unwrap(), Some(None));
        marker.remove().unwrap();
        marker.remove().unwrap();
        assert_eq!(marker.read().unwrap(), None);
    }
}
