//! The promise that every run of the tool keeps: the user's files are what they were.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Kind, content, mode and time of change of everything below some folders, `.git` and ignored files included.
#[derive(PartialEq, Eq)]
pub(crate) struct Guard(BTreeMap<PathBuf, (Vec<u8>, u32, SystemTime)>);

impl Guard {
    /// Looks at the folders now.
    pub(crate) fn of(folders: &[&Path]) -> Self {
        let found = folders.iter().flat_map(walkdir::WalkDir::new).map(|entry| {
            let entry = entry.unwrap();
            let about = entry.path().symlink_metadata().unwrap();
            let content = if about.is_file() {
                std::fs::read(entry.path()).unwrap()
            } else if about.is_symlink() {
                let target = std::fs::read_link(entry.path()).unwrap();
                target.into_os_string().into_encoded_bytes()
            } else {
                Vec::new()
            };
            let mode = std::os::unix::fs::MetadataExt::mode(&about);
            (
                entry.path().to_owned(),
                (content, mode, about.modified().unwrap()),
            )
        });
        Self(found.collect())
    }

    /// Looks again, and names the first path that is new, gone or not what it was.
    pub(crate) fn assert_unchanged(&self, folders: &[&Path]) {
        let now = Self::of(folders);
        for (path, state) in &self.0 {
            assert!(
                now.0.get(path) == Some(state),
                "the run changed or removed {}",
                path.display()
            );
        }
        for path in now.0.keys() {
            assert!(self.0.contains_key(path), "the run made {}", path.display());
        }
    }
}
