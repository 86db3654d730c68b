//! Bundles as files: a tar archive compressed with Zstandard, whose first member is the manifest.
//!
//! The other members are contents named by their digest, so that nothing in the archive chooses where it is written,
//! and equal files are stored once. Nothing is believed that its digest does not prove.
#![expect(
    clippy::disallowed_methods,
    reason = "this file is where bundles are written and read"
)]

use crate::bundle::{BundleError, Manifest};
use crate::digest::{is_digest, written};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// How the name of a bundle ends; `record` tells bundles from revisions by it.
pub const SUFFIX: &str = ".tar.zst";

const MANIFEST: &str = "manifest.json";

/// A manifest beyond this size is not read: it would list some hundred thousand files.
const LARGEST_MANIFEST: u64 = 64 << 20;

/// Compression level: the default, a few hundred megabytes a second.
const LEVEL: i32 = 3;

/// A bundle that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The system refused.
    #[error("{path} could not be {what}: {source}")]
    Io {
        /// Path.
        path: PathBuf,
        /// `written`, `read`, ...
        what: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// It is no bundle, or not one for here.
    #[error("{path} cannot be used: {source}")]
    Bundle {
        /// Bundle.
        path: PathBuf,
        /// What is wrong with it.
        source: BundleError,
    },
    /// A file whose name is no text cannot be in a manifest.
    #[error("`{}` cannot be put into a bundle: its name is not UTF-8", .0.display())]
    Name(PathBuf),
}

/// System and architecture of this machine, as Rust names them.
#[must_use]
pub fn here() -> (&'static str, &'static str) {
    (std::env::consts::OS, std::env::consts::ARCH)
}

/// Digest and size of a file.
///
/// # Errors
/// [`ArchiveError::Io`] if it cannot be read.
pub fn digest_of(path: &Path) -> Result<(String, u64), ArchiveError> {
    let mut file = open(path)?;
    let copied = copy(&mut file, &mut io::sink());
    copied.map_err(|(Failure::Reading(error) | Failure::Writing(error))| io_error(path, "read")(error))
}

/// Opens what must be a plain file: a pipe would be waited for, and cannot be read twice.
fn open(path: &Path) -> Result<File, ArchiveError> {
    let found = path.metadata().map_err(io_error(path, "read"))?;
    if !found.is_file() {
        let source = io::Error::other("it is no plain file");
        return Err(io_error(path, "read")(source));
    }
    File::open(path).map_err(io_error(path, "read"))
}

/// Writes a bundle. `contents` holds the file of each digest that the manifest names. Equal input gives equal bytes.
///
/// # Errors
/// As for reading the contents and writing.
pub fn write(out: impl Write, manifest: &Manifest, contents: &BTreeMap<String, PathBuf>) -> io::Result<()> {
    let mut archive = tar::Builder::new(zstd::Encoder::new(out, LEVEL)?);
    let text = serde_json::to_vec_pretty(manifest)?;
    append(&mut archive, MANIFEST, text.len() as u64, text.as_slice())?;
    for (digest, file) in contents {
        let file = File::open(file)?;
        append(&mut archive, digest, file.metadata()?.len(), file)?;
    }
    archive.into_inner()?.finish()?.flush()
}

fn append(
    archive: &mut tar::Builder<impl Write>,
    name: &str,
    bytes: u64,
    content: impl Read,
) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(0o644);
    archive.append_data(&mut header, name, content)
}

/// Unpacks a bundle: afterwards every content that its manifest names is a file in `folder`, named by its digest.
/// `folder` is made; nothing is written outside it.
///
/// # Errors
/// [`ArchiveError`] for a file that is no bundle, is for another machine, or whose content is not what it should be.
pub fn unpack(path: &Path, folder: &Path) -> Result<Manifest, ArchiveError> {
    let refuse = |source: BundleError| ArchiveError::Bundle {
        path: path.to_owned(),
        source,
    };
    let damaged = |error: io::Error| refuse(BundleError::Content(error.to_string()));
    let file = open(path)?;
    let mut archive = tar::Archive::new(zstd::Decoder::new(file).map_err(damaged)?);
    // Raw: members that give the next one a long name are not obeyed, and so never read into memory.
    let mut entries = archive.entries().map_err(damaged)?.raw(true);
    let no_manifest = || {
        refuse(BundleError::Content(
            "it does not begin with a manifest".to_owned(),
        ))
    };
    let first = entries.next().ok_or_else(no_manifest)?.map_err(damaged)?;
    if first.path_bytes() != MANIFEST.as_bytes() || first.size() > LARGEST_MANIFEST {
        return Err(no_manifest());
    }
    let manifest: Manifest = serde_json::from_reader(first).map_err(|error| damaged(error.into()))?;
    let (os, arch) = here();
    manifest.check(os, arch).map_err(refuse)?;
    std::fs::create_dir_all(folder).map_err(io_error(folder, "made"))?;
    let mut missing = manifest.contents();
    for entry in entries {
        let mut entry = entry.map_err(damaged)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let expected = is_digest(&name).then(|| missing.remove(name.as_str())).flatten();
        if expected != Some(entry.size()) || !entry.header().entry_type().is_file() {
            return Err(refuse(BundleError::Content(format!(
                "`{name}` does not belong in it"
            ))));
        }
        let to = folder.join(&name);
        let mut out = File::create(&to).map_err(io_error(&to, "written"))?;
        let (digest, _) = copy(&mut entry, &mut out).map_err(|failure| match failure {
            Failure::Reading(error) => damaged(error),
            Failure::Writing(error) => io_error(&to, "written")(error),
        })?;
        if digest != name {
            return Err(refuse(BundleError::Content(format!(
                "`{name}` has another content"
            ))));
        }
    }
    if let Some(digest) = missing.into_keys().next() {
        return Err(refuse(BundleError::Content(format!("`{digest}` is missing"))));
    }
    Ok(manifest)
}

enum Failure {
    Reading(io::Error),
    Writing(io::Error),
}

/// Copies everything; returns its digest and size.
fn copy(from: &mut impl Read, to: &mut impl Write) -> Result<(String, u64), Failure> {
    let mut hash = Sha256::new();
    let mut bytes = 0;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => return Ok((written(&hash.finalize()), bytes)),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Failure::Reading(error)),
        };
        hash.update(&buffer[..read]);
        to.write_all(&buffer[..read]).map_err(Failure::Writing)?;
        bytes += read as u64;
    }
}

fn io_error(path: &Path, what: &'static str) -> impl FnOnce(io::Error) -> ArchiveError {
    let path = path.to_owned();
    move |source| ArchiveError::Io { path, what, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::{Packed, PackedKind, SCHEMA};

    /// A bundle in `folder` of one content; the contents may be changed, as may the manifest.
    fn bundle(
        folder: &Path,
        mut change: impl FnMut(&mut Manifest, &mut BTreeMap<String, PathBuf>),
    ) -> PathBuf {
        let content = file(folder, "hello");
        let (sha256, bytes) = digest_of(&content).unwrap();
        let packed = |path: &str| Packed {
            path: path.to_owned(),
            sha256: sha256.clone(),
            bytes,
            kind: PackedKind::File,
        };
        let (os, arch) = here();
        let mut manifest = Manifest {
            schema: SCHEMA.to_owned(),
            tool: "0.1.0".to_owned(),
            os: os.to_owned(),
            arch: arch.to_owned(),
            files: vec![packed("base/a"), packed("head/a")],
        };
        let mut contents = BTreeMap::from([(sha256.clone(), content)]);
        change(&mut manifest, &mut contents);
        let path = folder.join("b.tar.zst");
        write(File::create(&path).unwrap(), &manifest, &contents).unwrap();
        path
    }

    /// A file named by its text.
    fn file(folder: &Path, text: &str) -> PathBuf {
        let path = folder.join(text);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn refusal(mut change: impl FnMut(&Path, &mut Manifest, &mut BTreeMap<String, PathBuf>)) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = bundle(folder.path(), |manifest, contents| {
            change(folder.path(), manifest, contents);
        });
        unpack(&path, &folder.path().join("out")).unwrap_err().to_string()
    }

    #[test]
    fn what_was_packed_is_unpacked_and_equal_files_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = bundle(folder.path(), |_, _| {});
        let manifest = unpack(&path, &folder.path().join("out")).unwrap();
        assert_eq!(manifest.files.len(), 2);
        let out: Vec<PathBuf> = std::fs::read_dir(folder.path().join("out"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert_eq!(out.len(), 1);
        assert_eq!(std::fs::read(&out[0]).unwrap(), b"hello");
    }

    #[test]
    fn equal_input_gives_an_equal_file() {
        let folder = tempfile::tempdir().unwrap();
        let one = std::fs::read(bundle(folder.path(), |_, _| {})).unwrap();
        let other = std::fs::read(bundle(folder.path(), |_, _| {})).unwrap();
        assert!(one == other);
    }

    #[test]
    fn another_content_under_the_same_digest_is_noticed() {
        let said = refusal(|folder, _, contents| {
            for content in contents.values_mut() {
                *content = file(folder, "evil!");
            }
        });
        assert!(
            said.contains("tampered with") && said.contains("another content"),
            "{said}"
        );
    }

    #[test]
    fn what_is_missing_and_what_does_not_belong_is_noticed() {
        let said = refusal(|_, _, contents| contents.clear());
        assert!(said.contains("is missing"), "{said}");
        let said = refusal(|folder, _, contents| {
            contents.insert("escaped".to_owned(), file(folder, "x"));
        });
        assert!(said.contains("does not belong in it"), "{said}");
        let said = refusal(|_, manifest, _| {
            for file in &mut manifest.files {
                file.bytes = 4;
            }
        });
        assert!(said.contains("does not belong in it"), "{said}");
    }

    #[test]
    fn a_bundle_for_another_machine_is_refused_before_anything_is_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let path = bundle(folder.path(), |manifest, _| manifest.arch = "z80".to_owned());
        let said = unpack(&path, &folder.path().join("out")).unwrap_err().to_string();
        assert!(said.contains("z80"), "{said}");
        assert!(!folder.path().join("out").exists());
    }

    #[test]
    fn a_file_that_was_cut_is_refused_unless_only_the_end_mark_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = bundle(folder.path(), |_, _| {});
        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let refused = unpack(&path, &folder.path().join("out"));
            let only_end_mark = whole.len() - length < 16;
            assert!(
                refused.is_err() || only_end_mark,
                "{length} of {} bytes",
                whole.len()
            );
        }
    }
}
