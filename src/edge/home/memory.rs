//! A folder in memory, for what the measured processes write.
//!
//! Criterion writes some ten small files for each benchmark. On a disk that takes a tenth of the measuring time, and the
//! kernel writes them back while the next process is measured.

use nix::unistd::geteuid;
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Where systems keep files in memory.
const PLACES: [&str; 1] = ["/dev/shm"];

/// Below this much room the disk is used: containers often have just 64 MiB. A process writes less than one MiB.
const ROOM_BYTES: u64 = 32 << 20;

/// A private folder in memory with this name inside; absent where there is no such place, or somebody else has the
/// name.
pub(super) fn folder(name: &str) -> Option<PathBuf> {
    PLACES.iter().find_map(|place| private(Path::new(place), name))
}

fn private(place: &Path, name: &str) -> Option<PathBuf> {
    let stat = nix::sys::statvfs::statvfs(place).ok()?;
    let free_bytes = stat.blocks_available() as u64 * stat.fragment_size() as u64;
    let own = geteuid();
    let folder = place.join(format!("abreast-{own}"));
    // Fails if it is there; whose it is, is looked at next.
    let _ = DirBuilder::new().mode(0o700).create(&folder);
    let found = folder.symlink_metadata().ok()?;
    let is_private = found.is_dir() && found.uid() == own.as_raw() && found.mode() & 0o077 == 0;
    (is_private && free_bytes >= ROOM_BYTES).then(|| folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_folder_that_others_can_enter_is_not_used() {
        let place = tempfile::tempdir().unwrap();
        let folder = private(place.path(), "x").unwrap();
        let parent = folder.parent().unwrap();
        assert_eq!(folder.file_name().unwrap(), "x");
        std::fs::set_permissions(parent, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(private(place.path(), "x"), None);
        std::fs::remove_dir(parent).unwrap();
        std::os::unix::fs::symlink(place.path(), parent).unwrap();
        assert_eq!(private(place.path(), "x"), None);
    }

    #[test]
    fn where_there_is_no_memory_there_is_none() {
        assert_eq!(private(Path::new("/nowhere"), "x"), None);
    }
}
