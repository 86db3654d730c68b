//! Git LFS: a file whose blob is only a pointer to its content.

use sha2::{Digest, Sha256};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Blobs from this size on are not looked into: the specification keeps pointers below 1024 bytes.
pub(super) const POINTER_LIMIT: u64 = 1024;

/// First line of every pointer.
const VERSION: &str = "version https://git-lfs.github.com/spec/v1";

/// What a pointer says about its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pointer {
    /// SHA-256 of the content, 64 hex digits.
    sha256: String,
    /// Size of the content in bytes.
    pub(super) size: u64,
}

impl Pointer {
    /// Reads a pointer; anything else is `None`.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.lines();
        if lines.next()? != VERSION {
            return None;
        }
        let value = |key: &str| {
            lines
                .clone()
                .find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))
        };
        let sha256 = value("oid")?.strip_prefix("sha256:")?;
        let is_hex = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(Self {
            sha256: is_hex.then(|| sha256.to_owned())?,
            size: value("size")?.parse().ok()?,
        })
    }

    /// The pointer that `git lfs` would make of this content.
    pub(super) fn of(content: &mut impl Read) -> io::Result<Self> {
        let mut hash = Sha256::new();
        let mut size = 0;
        let mut buffer = [0; 1 << 14];
        loop {
            match content.read(&mut buffer)? {
                0 => break,
                count => {
                    hash.update(buffer.get(..count).unwrap_or_default());
                    size += count as u64;
                }
            }
        }
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { sha256, size })
    }

    /// The pointer as it is stored in git.
    pub(super) fn text(&self) -> String {
        format!("{VERSION}\noid sha256:{}\nsize {}\n", self.sha256, self.size)
    }

    /// The content in the repository's LFS store, if it was fetched and has the right size.
    pub(super) fn object(&self, common: &Path) -> Option<PathBuf> {
        let path = common
            .join("lfs/objects")
            .join(self.sha256.get(..2)?)
            .join(self.sha256.get(2..4)?)
            .join(&self.sha256);
        let found = path.metadata().ok()?;
        (found.is_file() && found.len() == self.size).then_some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_read_back_and_other_files_are_not_pointers() {
        let pointer = Pointer::of(&mut b"weights".as_slice()).unwrap();
        assert_eq!(pointer.size, 7);
        assert_eq!(Pointer::parse(pointer.text().as_bytes()), Some(pointer.clone()));
        for other in [
            "",
            "version https://git-lfs.github.com/spec/v1\n",
            "version https://git-lfs.github.com/spec/v1\noid sha256:../../etc\nsize 1\n",
            "fn main() {}\n",
        ] {
            assert_eq!(Pointer::parse(other.as_bytes()), None, "{other:?}");
        }
        assert_eq!(Pointer::parse(&[0xff, 0xfe]), None);
    }
}
