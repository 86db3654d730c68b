//! Laying a snapshot out in the tool's own tree.

use crate::fixture::{Fixture, paths};
use abreast::edge::git::{Ci, Snapshot};
use abreast::edge::tree::{Tree, TreeError};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

pub(crate) struct Place {
    pub(crate) folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn open(&self) -> Tree {
        Tree::open(self.root()).unwrap()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// All files and symlinks, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = walkdir::WalkDir::new(self.root())
            .into_iter()
            .map(Result::unwrap)
            .filter(|found| !found.file_type().is_dir())
            .map(|found| {
                found
                    .path()
                    .strip_prefix(self.root())
                    .unwrap()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        files.sort();
        files
    }

    /// Makes every file look as if it was laid out long ago.
    pub(crate) fn age(&self) {
        for found in walkdir::WalkDir::new(self.root()) {
            let found = found.unwrap();
            if found.file_type().is_file() {
                fs::File::open(found.path())
                    .unwrap()
                    .set_modified(long_ago())
                    .unwrap();
            }
        }
    }

    pub(crate) fn is_old(&self, path: &str) -> bool {
        fs::metadata(self.path(path)).unwrap().modified().unwrap() == long_ago()
    }
}

pub(crate) fn long_ago() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)
}

#[test]
fn the_tree_holds_exactly_the_snapshots_files_with_their_modes() {
    let fixture = Fixture::new();
    fixture.write("src/lib.rs", "lib");
    fixture.write("run.sh", "#!/bin/sh\n");
    fixture.write("new\nline/ü", "x");
    fs::set_permissions(fixture.path.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("src/lib.rs", fixture.path.join("link")).unwrap();
    fixture.commit("one");
    let place = Place::new();
    let snapshot = fixture.snapshot("HEAD");
    place.open().lay(&snapshot, None).unwrap();
    assert_eq!(place.files(), paths(&snapshot));
    assert_eq!(place.read("link"), "lib");
    assert_eq!(place.path("link").read_link().unwrap(), Path::new("src/lib.rs"));
    let bits = |path| fs::metadata(place.path(path)).unwrap().permissions().mode() & 0o111;
    assert_ne!(bits("run.sh"), 0);
    assert_eq!(bits("src/lib.rs"), 0);
}

#[test]
fn only_what_differs_is_rewritten_and_only_that_has_a_current_mtime() {
    let fixture = Fixture::new();
    fixture.write("same.rs", "1");
    fixture.write("changed.rs", "1");
    fixture.write("mode.sh", "1");
    let one = fixture.commit("one");
    fixture.write("changed.rs", "2");
    fs::set_permissions(fixture.path.join("mode.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fixture.commit("two");
    let place = Place::new();
    let (base, head) = (fixture.snapshot(&one), fixture.snapshot("HEAD"));
    let tree = place.open();
    tree.lay(&base, None).unwrap();
    place.age();
    let same = fs::metadata(place.path("same.rs")).unwrap().ino();
    tree.lay(&head, Some(&base)).unwrap();
    assert!(place.is_old("same.rs"));
    assert_eq!(fs::metadata(place.path("same.rs")).unwrap().ino(), same);
    assert!(!place.is_old("changed.rs") && !place.is_old("mode.sh"));
    assert_eq!(place.read("changed.rs"), "2");
}

#[test]
fn a_tracked_file_that_a_bench_changed_is_put_right_even_if_size_and_mtime_look_right() {
    let fixture = Fixture::new();
    fixture.commit_file("data", "12345");
    let snapshot = fixture.snapshot("HEAD");
    let place = Place::new();
    let tree = place.open();
    tree.lay(&snapshot, None).unwrap();
    place.age();
    fs::write(place.path("data"), "54321").unwrap();
    fs::File::open(place.path("data"))
        .unwrap()
        .set_modified(long_ago())
        .unwrap();
    tree.lay(&snapshot, Some(&snapshot)).unwrap();
    assert_eq!(place.read("data"), "12345");
    assert!(!place.is_old("data"));
}

#[test]
fn strays_and_former_files_go_and_ignored_leftovers_stay() {
    let fixture = Fixture::new();
    fixture.write(".gitignore", "gen/\n*.tmp\ntracked.tmp\n");
    fixture.write("a", "1");
    fixture.write("old/crate/Cargo.toml", "1");
    fixture.write("forced.tmp", "1");
    fixture.git(&["add", "--force", "forced.tmp"]);
    fixture.commit("one");
    let base = fixture.snapshot("HEAD");
    fixture.git(&["rm", "--quiet", "-r", "old", "forced.tmp"]);
    fixture.commit("two");
    let head = fixture.snapshot("HEAD");
    let place = Place::new();
    // Rules outside of the tree are not the tree's own.
    fs::write(place.folder.path().join(".gitignore"), "*\n").unwrap();
    let tree = place.open();
    tree.lay(&base, None).unwrap();
    fs::create_dir_all(place.path("gen/deep")).unwrap();
    fs::write(place.path("gen/deep/x.rs"), "generated").unwrap();
    fs::write(place.path("b.tmp"), "left").unwrap();
    fs::write(place.path(".hidden"), "stray").unwrap();
    fs::create_dir_all(place.path("empty/er")).unwrap();
    fs::write(place.path(".ignore"), "stray.rs\n").unwrap();
    fs::write(place.path("stray.rs"), "stray").unwrap();
    tree.lay(&head, Some(&base)).unwrap();
    assert_eq!(place.files(), [".gitignore", "a", "b.tmp", "gen/deep/x.rs"]);
    assert!(!place.path("old").exists() && !place.path("empty").exists());
}

#[test]
fn files_folders_and_symlinks_replace_each_other() {
    let fixture = Fixture::new();
    fixture.write("to_dir", "file");
    fixture.write("to_file/x", "1");
    fixture.write("to_link/x", "1");
    symlink("to_dir", fixture.path.join("was_link")).unwrap();
    fixture.commit("one");
    let base = fixture.snapshot("HEAD");
    fixture.git(&["rm", "--quiet", "-r", "."]);
    fixture.write("to_dir/x", "2");
    fixture.write("to_file", "file");
    symlink("to_dir", fixture.path.join("to_link")).unwrap();
    fixture.write("was_link/x", "2");
    fixture.commit("two");
    let head = fixture.snapshot("HEAD");
    let place = Place::new();
    let tree = place.open();
    // With and without the former snapshot, there and back.
    for (snapshot, previous) in [(&base, None), (&head, Some(&base)), (&base, None), (&head, None)] {
        tree.lay(snapshot, previous).unwrap();
        assert_eq!(place.files(), paths(snapshot));
    }
    assert_eq!(place.read("to_link/x"), "2");
}

#[test]
fn a_link_that_points_elsewhere_now_makes_both_its_ends_look_new_to_cargo() {
    let fixture = Fixture::new();
    fixture.write("imp_a.rs", "a");
    fixture.write("imp_b.rs", "b");
    fixture.write("other.rs", "c");
    symlink("imp_a.rs", fixture.path.join("imp.rs")).unwrap();
    fixture.commit("one");
    let base = fixture.snapshot("HEAD");
    fixture.remove("imp.rs");
    symlink("imp_b.rs", fixture.path.join("imp.rs")).unwrap();
    fixture.commit("two");
    let place = Place::new();
    let tree = place.open();
    tree.lay(&base, None).unwrap();
    place.age();
    tree.lay(&fixture.snapshot("HEAD"), Some(&base)).unwrap();
    assert!(
        !place.is_old("imp_a.rs"),
        "cargo recorded the old end of the link"
    );
    assert!(
        !place.is_old("imp_b.rs"),
        "the new end may be older than the build"
    );
    assert!(place.is_old("other.rs"));
}

#[test]
fn a_file_outside_of_the_tree_that_a_link_points_to_is_not_touched() {
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("precious");
    fs::write(&file, "x").unwrap();
    fs::File::open(&file).unwrap().set_modified(long_ago()).unwrap();
    let fixture = Fixture::new();
    fixture.commit_file("a", "1");
    symlink(&file, fixture.path.join("link")).unwrap();
    fixture.commit("two");
    let place = Place::new();
    place.open().lay(&fixture.snapshot("HEAD"), None).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), long_ago());
}

/// A commit whose tree is written byte by byte, as no git command would.
fn hostile(fixture: &Fixture, entries: &[(&str, &str, git2::Oid)]) -> Snapshot {
    let repo = git2::Repository::open(&fixture.path).unwrap();
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        bytes.extend_from_slice(format!("{mode} {name}\0").as_bytes());
        bytes.extend_from_slice(id.as_bytes());
    }
    let tree = repo.odb().unwrap().write(git2::ObjectType::Tree, &bytes).unwrap();
    let commit = format!("tree {tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n");
    let id = repo
        .odb()
        .unwrap()
        .write(git2::ObjectType::Commit, commit.as_bytes())
        .unwrap();
    let repo = fixture.repo();
    let (base, _) = repo
        .resolve(Some(&id.to_string()), Some("HEAD"), &Ci::default())
        .unwrap();
    repo.snapshot(&base).unwrap()
}

#[test]
fn a_snapshot_that_would_write_through_a_symlink_or_out_of_the_tree_is_refused() {
    let fixture = Fixture::new();
    fixture.commit_file("sub/b", "payload");
    let outside = tempfile::tempdir().unwrap();
    let repo = git2::Repository::open(&fixture.path).unwrap();
    let link = repo.blob(outside.path().to_str().unwrap().as_bytes()).unwrap();
    let folder = git2::Oid::from_str(&fixture.id("HEAD:sub")).unwrap();
    let file = git2::Oid::from_str(&fixture.id("HEAD:sub/b")).unwrap();
    let place = Place::new();
    let tree = place.open();

    let through = hostile(&fixture, &[("120000", "a", link), ("40000", "a", folder)]);
    let error = tree.lay(&through, None).unwrap_err();
    assert!(
        matches!(&error, TreeError::FileAndFolder { path } if path == Path::new("a")),
        "{error}"
    );

    for name in ["..", ".git", ".GIT", "/abs"] {
        for (mode, id) in [("100644", file), ("40000", folder)] {
            let snapshot = hostile(&fixture, &[(mode, name, id)]);
            let error = tree.lay(&snapshot, None).unwrap_err();
            assert!(
                matches!(error, TreeError::Refused { .. }),
                "{name} {mode}: {error}"
            );
        }
    }
    let climbing = hostile(&fixture, &[("100644", "x/../../up", file)]);
    assert!(matches!(
        tree.lay(&climbing, None).unwrap_err(),
        TreeError::Refused { .. }
    ));
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    assert_eq!(fs::read_dir(place.folder.path()).unwrap().count(), 1);
}

#[test]
fn a_symlink_left_in_the_tree_is_neither_written_nor_deleted_through() {
    let fixture = Fixture::new();
    fixture.commit_file("a/b", "1");
    let base = fixture.snapshot("HEAD");
    fixture.git(&["rm", "--quiet", "a/b"]);
    fixture.commit_file("c/d", "1");
    let head = fixture.snapshot("HEAD");
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("b"), "precious").unwrap();
    fs::write(outside.path().join("d"), "precious").unwrap();
    let place = Place::new();
    let tree = place.open();
    tree.lay(&base, None).unwrap();
    // A build script or a bench put links where folders were.
    fs::remove_dir_all(place.path("a")).unwrap();
    symlink(outside.path(), place.path("a")).unwrap();
    symlink(outside.path(), place.path("c")).unwrap();
    tree.lay(&head, Some(&base)).unwrap();
    assert_eq!(place.files(), ["c/d"]);
    for name in ["b", "d"] {
        assert_eq!(fs::read_to_string(outside.path().join(name)).unwrap(), "precious");
    }
}

#[test]
fn a_large_file_of_the_working_tree_that_changed_meanwhile_is_not_laid_out() {
    let fixture = Fixture::new();
    fixture.commit_file("a", "1");
    let big = fs::File::create(fixture.path.join("big")).unwrap();
    big.set_len(33 << 20).unwrap();
    let (_, snapshot) = fixture.working();
    let place = Place::new();
    let tree = place.open();
    fixture.write("big", "small now");
    let error = tree.lay(&snapshot, None).unwrap_err().to_string();
    assert!(error.contains("`big` changed"), "{error}");
    assert_eq!(place.files(), ["a"]);
}

#[test]
fn a_failure_names_the_file() {
    let fixture = Fixture::new();
    fixture.commit_file("a/b", "1");
    let place = Place::new();
    fs::write(place.root(), "not a folder").unwrap();
    let error = Tree::open(place.root()).unwrap_err().to_string();
    assert!(error.contains("/tree`"), "{error}");
}
