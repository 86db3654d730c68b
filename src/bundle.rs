//! What a bundle says about itself: the first file in it, by which everything else is checked.

use crate::digest::is_digest;
use crate::inside::is_inside;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Name and version of the format this build writes.
pub const SCHEMA: &str = "abreast/bundle/1";

/// What a bundle holds, and where it can run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Always [`SCHEMA`] when written by this build.
    pub schema: String,
    /// Version of the tool that wrote it.
    pub tool: String,
    /// System its executables are for, as Rust names it: `linux`.
    pub os: String,
    /// Architecture its executables are for, as Rust names it: `x86_64`.
    pub arch: String,
    /// Everything in it. Files of equal content share one copy.
    pub files: Vec<Packed>,
}

/// One file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packed {
    /// Where it belongs: `build.jsonl`, `base/PACKAGE--TARGET`, `files/head/benches/input.txt`.
    pub path: String,
    /// SHA-256 of its content, 64 lower-case hex digits.
    pub sha256: String,
    /// Size of its content.
    pub bytes: u64,
    /// What kind of file.
    pub kind: PackedKind,
}

/// Kind of a file, as far as git knows kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PackedKind {
    /// A file.
    File,
    /// A file that may be executed.
    Executable,
    /// A symbolic link; its content is the name of its target.
    Symlink,
}

/// Why a bundle cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// Written by another version of the format.
    #[error("it is of the format `{0}`, and this abreast reads `{SCHEMA}`: use the abreast that built it")]
    Schema(String),
    /// For another machine.
    #[error(
        "its executables are for {built}, and this machine is {here}: build it on a machine of this kind"
    )]
    Machine {
        /// What it was built for.
        built: String,
        /// What is here.
        here: String,
    },
    /// A name that leads elsewhere, or stands twice.
    #[error("it was not made by abreast: {0}")]
    Name(String),
    /// Content that is not what the manifest says, or missing.
    #[error("it is damaged or was tampered with: {0}; build it anew")]
    Content(String),
}

impl Manifest {
    /// Whether this bundle can be unpacked and run on a machine of this kind.
    ///
    /// # Errors
    /// [`BundleError`] for another format or machine, for names that are absolute, lead out of the folder or stand
    /// twice, and for digests that are none.
    pub fn check(&self, os: &str, arch: &str) -> Result<(), BundleError> {
        if self.schema != SCHEMA {
            return Err(BundleError::Schema(self.schema.clone()));
        }
        if (self.os.as_str(), self.arch.as_str()) != (os, arch) {
            return Err(BundleError::Machine {
                built: format!("{} {}", self.os, self.arch),
                here: format!("{os} {arch}"),
            });
        }
        let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
        let mut names: Vec<&str> = Vec::new();
        for file in &self.files {
            if !is_inside(Path::new(&file.path)) {
                return Err(BundleError::Name(format!("`{}` leads out of it", file.path)));
            }
            if !is_digest(&file.sha256) {
                return Err(BundleError::Name(format!("`{}` is no digest", file.sha256)));
            }
            if *sizes.entry(&file.sha256).or_insert(file.bytes) != file.bytes {
                return Err(BundleError::Name(format!("`{}` has two sizes", file.path)));
            }
            names.push(&file.path);
        }
        names.sort_unstable();
        match names.windows(2).find(|two| two[0] == two[1]) {
            Some(two) => Err(BundleError::Name(format!("`{}` is in it twice", two[0]))),
            None => Ok(()),
        }
    }

    /// Size of each content, by digest.
    #[must_use]
    pub fn contents(&self) -> BTreeMap<&str, u64> {
        self.files
            .iter()
            .map(|file| (file.sha256.as_str(), file.bytes))
            .collect()
    }

    /// The file at a path, if there is one.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Packed> {
        self.files.iter().find(|file| file.path == path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(path: &str) -> Packed {
        Packed {
            path: path.to_owned(),
            sha256: "0123456789abcdef".repeat(4),
            bytes: 5,
            kind: PackedKind::File,
        }
    }

    fn manifest(files: &[&str]) -> Manifest {
        Manifest {
            schema: SCHEMA.to_owned(),
            tool: "0.1.0".to_owned(),
            os: "linux".to_owned(),
            arch: "x86_64".to_owned(),
            files: files.iter().map(|path| packed(path)).collect(),
        }
    }

    #[test]
    fn names_that_lead_out_of_the_folder_are_refused() {
        for name in ["../x", "/etc/passwd", "a/../../x", "", ".", "a/.."] {
            let error = manifest(&["build.jsonl", name])
                .check("linux", "x86_64")
                .unwrap_err();
            assert!(matches!(error, BundleError::Name(_)), "{name}: {error}");
        }
        assert_eq!(
            manifest(&["build.jsonl", "base/a", "files/head/b/c"]).check("linux", "x86_64"),
            Ok(())
        );
    }

    #[test]
    fn a_name_that_stands_twice_is_refused() {
        let error = manifest(&["a", "b", "a"]).check("linux", "x86_64").unwrap_err();
        assert_eq!(
            error.to_string(),
            "it was not made by abreast: `a` is in it twice"
        );
    }

    #[test]
    fn digests_name_files_and_so_must_be_digests() {
        let mut manifest = manifest(&["a"]);
        manifest.files[0].sha256 = "../../x".to_owned();
        assert!(manifest.check("linux", "x86_64").is_err());
    }

    #[test]
    fn another_machine_and_another_format_are_named() {
        let error = manifest(&[]).check("linux", "aarch64").unwrap_err().to_string();
        assert!(
            error.contains("for linux x86_64, and this machine is linux aarch64"),
            "{error}"
        );
        let mut later = manifest(&[]);
        later.schema = "abreast/bundle/2".to_owned();
        let error = later.check("linux", "x86_64").unwrap_err().to_string();
        assert!(error.contains("`abreast/bundle/2`"), "{error}");
    }
}
