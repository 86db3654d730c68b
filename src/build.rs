//! What a tree holds to build, and what cargo made of it: facts on their way into the recording.

use crate::recording::Skipped;
use crate::scenario::Target;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Bench targets of one side, by whether they are built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Benches {
    /// To be compiled.
    pub wanted: Vec<BenchTarget>,
    /// Left alone, and why.
    pub skipped: Vec<Skipped>,
    /// Where the workspace's lock file is, or would be.
    pub lock_file: PathBuf,
}

/// A bench target that may be criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchTarget {
    /// Its key.
    pub target: Target,
    /// Cargo's own id of the package: its name may also be that of a dependency.
    pub package_id: String,
    /// Folder of its package, relative to the tree.
    pub package_dir: PathBuf,
    /// Its main source file, relative to the tree.
    pub source: PathBuf,
    /// Selected features that its package has.
    pub features: Vec<String>,
}

/// What cargo produced.
#[derive(Debug, Clone, Default)]
pub struct Built {
    /// Bench executables.
    pub benches: Vec<BuiltFile>,
    /// What build scripts told cargo, by package, without machine-specific folders.
    pub scripts: BTreeMap<String, String>,
    /// Files of the tree that were compiled into anything a bench executable may be linked from, relative to the tree.
    pub compiled: BTreeSet<PathBuf>,
    /// Lock file the build used.
    pub lock: Option<Lock>,
    /// Seconds cargo ran.
    pub seconds: f64,
    /// The compiler's errors, if it failed.
    pub failure: Option<String>,
}

/// An executable in the target directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltFile {
    /// What it was built from.
    pub target: Target,
    /// Where it is.
    pub path: PathBuf,
    /// Files of the tree its own crate consists of, relative to the tree.
    pub sources: Vec<PathBuf>,
}

/// The part of a `Cargo.lock` that tells which code was built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock {
    packages: Vec<LockedPackage>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct LockedPackage {
    name: String,
    version: String,
    #[serde(default)]
    source: Option<String>,
    /// `name`, `name version` or `name version (source)`.
    #[serde(default)]
    dependencies: Vec<String>,
}

impl Lock {
    /// Reads a lock file; `None` if it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct File {
            #[serde(default)]
            package: Vec<LockedPackage>,
        }
        let file: File = toml::from_str(text).ok()?;
        Some(Self {
            packages: file.package,
        })
    }

    /// Versions of every package, with their source where it is not a registry, sorted.
    #[must_use]
    pub fn versions(&self) -> BTreeMap<&str, BTreeSet<String>> {
        let mut versions: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for package in &self.packages {
            let source = package
                .source
                .as_deref()
                .filter(|source| source.starts_with("git+"));
            let version = match source {
                Some(source) => format!("{} ({source})", package.version),
                None => package.version.clone(),
            };
            versions.entry(&package.name).or_default().insert(version);
        }
        versions
    }

    /// Version of the package called `dependency` that `package` itself depends on.
    #[must_use]
    pub fn version_for(&self, package: &str, dependency: &str) -> Option<&str> {
        let from = self
            .packages
            .iter()
            .find(|locked| locked.name == package && locked.source.is_none())?;
        let wanted = from
            .dependencies
            .iter()
            .find(|text| text.split(' ').next() == Some(dependency))?;
        self.resolve(wanted).map(|locked| locked.version.as_str())
    }

    /// Everything that the named workspace packages depend on, themselves included.
    pub fn closure<'a>(&self, roots: impl Iterator<Item = &'a str>) -> BTreeSet<(&str, &str)> {
        let mut reached = BTreeSet::new();
        let mut queue: Vec<&LockedPackage> = roots
            .filter_map(|root| self.packages.iter().find(|locked| locked.name == root))
            .collect();
        while let Some(package) = queue.pop() {
            if reached.insert((package.name.as_str(), package.version.as_str())) {
                queue.extend(package.dependencies.iter().filter_map(|text| self.resolve(text)));
            }
        }
        reached
    }

    fn resolve(&self, dependency: &str) -> Option<&LockedPackage> {
        let mut words = dependency.split(' ');
        let (name, version) = (words.next()?, words.next());
        self.packages
            .iter()
            .find(|locked| locked.name == name && version.is_none_or(|version| locked.version == version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"
version = 4
[[package]]
name = "mine"
version = "0.1.0"
dependencies = ["criterion 0.5.1", "serde"]
[[package]]
name = "other"
version = "0.1.0"
dependencies = ["criterion 0.8.2"]
[[package]]
name = "criterion"
version = "0.5.1"
source = "registry+x"
[[package]]
name = "criterion"
version = "0.8.2"
source = "registry+x"
[[package]]
name = "serde"
version = "1.0.0"
source = "git+https://example.org/serde#0123"
"#;

    #[test]
    fn each_package_has_the_criterion_it_depends_on() {
        let lock = Lock::parse(LOCK).unwrap();
        assert_eq!(lock.version_for("mine", "criterion"), Some("0.5.1"));
        assert_eq!(lock.version_for("other", "criterion"), Some("0.8.2"));
        assert_eq!(lock.version_for("mine", "divan"), None);
    }

    #[test]
    fn the_closure_of_a_package_is_what_gets_compiled_for_it() {
        let lock = Lock::parse(LOCK).unwrap();
        let closure: Vec<_> = lock.closure(["mine"].into_iter()).into_iter().collect();
        assert_eq!(
            closure,
            [("criterion", "0.5.1"), ("mine", "0.1.0"), ("serde", "1.0.0")]
        );
    }

    #[test]
    fn text_that_is_no_lock_file_is_none() {
        assert_eq!(Lock::parse("= ="), None);
    }
}
