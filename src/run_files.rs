//! Which tracked files benches may read as they run: part of the experiment, and of a bundle.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::path::Path;

/// The files below a `benches` folder that are no Rust source, and whatever the settings name.
#[derive(Debug, Clone)]
pub struct RunFiles {
    named: GlobSet,
}

/// A pattern that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("--run-files {glob}: {reason}; write it like `testdata/**` or `assets/*.json`")]
pub struct GlobError {
    glob: String,
    reason: String,
}

impl RunFiles {
    /// The default, and what these globs match; they are relative to the root of the repository. `*` stays within a
    /// folder, `**` does not.
    ///
    /// # Errors
    /// [`GlobError`] for the first that is no glob.
    pub fn new(globs: &[String]) -> Result<Self, GlobError> {
        let error = |glob: &str, error: &globset::Error| GlobError {
            glob: glob.to_owned(),
            reason: error.kind().to_string(),
        };
        let mut set = GlobSetBuilder::new();
        for text in globs {
            let glob = GlobBuilder::new(text).literal_separator(true).build();
            set.add(glob.map_err(|found: globset::Error| error(text, &found))?);
        }
        let named = set.build().map_err(|found| error(&globs.join(","), &found))?;
        Ok(Self { named })
    }

    /// Whether a bench of some package may read this file; the path is relative to the root of the repository.
    #[must_use]
    pub fn hold(&self, path: &Path) -> bool {
        self.named.is_match(path) || (in_bench_folder(path) && !is_rust(path))
    }

    /// Whether a bench of the package in this folder may read this file.
    #[must_use]
    pub fn hold_for(&self, package_dir: &Path, path: &Path) -> bool {
        self.named.is_match(path) || (path.starts_with(package_dir.join("benches")) && !is_rust(path))
    }

    /// Whether the settings name this file.
    #[must_use]
    pub fn are_named(&self, path: &Path) -> bool {
        self.named.is_match(path)
    }

    /// Whether a file belongs to the benches and not to the code under test: their sources, and what they read.
    #[must_use]
    pub fn are_harness(&self, path: &Path) -> bool {
        self.named.is_match(path) || in_bench_folder(path)
    }
}

/// Whether a path is below the `benches` folder of some package.
fn in_bench_folder(path: &Path) -> bool {
    path.parent()
        .is_some_and(|parent| parent.iter().any(|part| part == "benches"))
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_files(globs: &[&str]) -> RunFiles {
        let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
        RunFiles::new(&globs).unwrap()
    }

    #[test]
    fn files_of_bench_folders_but_sources_are_run_files() {
        let files = run_files(&[]);
        assert!(files.hold(Path::new("benches/data/x.json")));
        assert!(files.hold(Path::new("crates/a/benches/x")));
        assert!(!files.hold(Path::new("benches/x.rs")));
        assert!(!files.hold(Path::new("src/x.json")));
        assert!(!files.hold(Path::new("benches")));
        assert!(files.are_harness(Path::new("benches/x.rs")));
        let of_a = |path| files.hold_for(Path::new("crates/a"), Path::new(path));
        assert!(of_a("crates/a/benches/x") && !of_a("crates/b/benches/x"));
    }

    #[test]
    fn what_is_named_is_a_run_file_of_every_package_and_may_be_a_source() {
        let files = run_files(&["testdata/**", "src/*.rs"]);
        assert!(files.hold(Path::new("testdata/deep/x.json")));
        assert!(files.hold_for(Path::new("crates/a"), Path::new("src/x.rs")));
        assert!(!files.hold(Path::new("src/deep/x.rs")));
        assert!(!files.hold(Path::new("other/testdata/x")));
    }

    #[test]
    fn what_is_no_glob_is_refused_with_its_text() {
        let error = RunFiles::new(&["a[".to_owned()]).unwrap_err().to_string();
        assert!(error.starts_with("--run-files a[: "), "{error}");
    }
}
