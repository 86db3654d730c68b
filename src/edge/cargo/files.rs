//! Files that cargo reads and writes: manifests, locks, and the list of sources beside an executable.
#![expect(
    clippy::disallowed_methods,
    reason = "this file is where manifests, locks and cargo's outputs are read"
)]

use crate::build::Lock;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Names of bench targets that keep cargo's default test harness, which criterion cannot run under.
/// Targets found by their file name alone always do.
pub(super) fn default_harness_targets(manifest: &Path) -> BTreeSet<String> {
    let table = manifest_table(manifest).unwrap_or_default();
    let mut own = BTreeMap::new();
    for bench in table
        .get("bench")
        .and_then(toml::Value::as_array)
        .into_iter()
        .flatten()
    {
        let name = bench
            .get("name")
            .and_then(toml::Value::as_str)
            .unwrap_or_default();
        own.insert(
            name.to_owned(),
            bench
                .get("harness")
                .and_then(toml::Value::as_bool)
                .unwrap_or(true),
        );
    }
    let folder = manifest.with_file_name("benches");
    let discovered = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            let is_target =
                path.extension().is_some_and(|extension| extension == "rs") || path.join("main.rs").is_file();
            is_target.then(|| {
                path.file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned()
            })
        });
    for name in discovered {
        own.entry(name).or_insert(true);
    }
    own.into_iter()
        .filter_map(|(name, harness)| harness.then_some(name))
        .collect()
}

pub(super) fn read_lock(path: &Path) -> Option<Lock> {
    Lock::parse(&std::fs::read_to_string(path).ok()?)
}

pub(super) fn manifest_table(manifest: &Path) -> Option<toml::Table> {
    std::fs::read_to_string(manifest).ok()?.parse().ok()
}

/// Files of the tree that one executable's own crate was compiled from, as rustc lists them beside it.
pub(super) fn dep_info(executable: &Path, tree: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(executable.with_extension("d")).unwrap_or_default();
    let mut files = BTreeSet::new();
    for line in text.lines() {
        let Some((_, dependencies)) = line.split_once(": ") else {
            continue;
        };
        // A space inside a name is written `\ `.
        let escaped = dependencies.replace("\\ ", "\u{0}");
        files.extend(escaped.split_whitespace().filter_map(|name| {
            let path = tree.join(name.replace('\u{0}', " "));
            path.strip_prefix(tree).ok().map(Path::to_owned)
        }));
    }
    files.into_iter().collect()
}

/// Package ids look like `path+file:///x/name#0.1.0` or `...#name@0.1.0`; the manifest is read only if that fails.
pub(super) fn package_name(id: &str, manifest: &Path) -> String {
    let after = id.rsplit_once('#').map_or("", |(_, fragment)| fragment);
    if let Some((name, _)) = after.split_once('@') {
        return name.to_owned();
    }
    manifest_table(manifest)
        .and_then(|table| Some(table.get("package")?.get("name")?.as_str()?.to_owned()))
        .unwrap_or_else(|| {
            let folder = manifest.parent().and_then(Path::file_name).unwrap_or_default();
            folder.to_string_lossy().into_owned()
        })
}

/// Files of the tree that anything in this folder of cargo's was compiled from. The folder may also hold crates of
/// earlier builds, so a file may be listed that no bench is linked from any more; never the other way round.
pub(super) fn compiled_files(folder: &Path, tree: &Path) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let listings = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "d"));
    listings.flat_map(|path| dep_info(&path, tree)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_targets_without_the_test_harness_can_be_criterion() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("Cargo.toml");
        std::fs::write(
            &manifest,
            "[package]\nname='x'\n[[bench]]\nname='crit'\nharness=false\n[[bench]]\nname='old'\n",
        )
        .unwrap();
        std::fs::create_dir_all(folder.path().join("benches/multi")).unwrap();
        for file in ["crit.rs", "old.rs", "auto.rs", "multi/main.rs", "data.txt"] {
            std::fs::write(folder.path().join("benches").join(file), "").unwrap();
        }
        let harnessed: Vec<String> = default_harness_targets(&manifest).into_iter().collect();
        assert_eq!(harnessed, ["auto", "multi", "old"]);
    }

    #[test]
    fn the_files_of_a_bench_are_those_inside_the_tree() {
        let folder = tempfile::tempdir().unwrap();
        let executable = folder.path().join("main-0123");
        std::fs::write(
            executable.with_extension("d"),
            "/t/deps/main-0123.d: benches/main.rs benches/a\\ b.rs /tree/benches/data.bin /usr/x.rs\n\nbenches/main.rs:\n",
        )
        .unwrap();
        let files = dep_info(&executable, Path::new("/tree"));
        assert_eq!(
            files,
            ["benches/a b.rs", "benches/data.bin", "benches/main.rs"].map(PathBuf::from)
        );
    }

    #[test]
    fn a_package_id_names_its_package() {
        assert_eq!(
            package_name("path+file:///t/x#real-name@0.1.0", Path::new("/t/x/Cargo.toml")),
            "real-name"
        );
        assert_eq!(
            package_name("path+file:///t/x#0.1.0", Path::new("/t/x/Cargo.toml")),
            "x"
        );
    }
}
