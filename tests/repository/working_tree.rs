//! The working tree as it is on disk.

use crate::fixture::{Fixture, paths, sentence, text};
use abreast::edge::git::{Ci, Mode, changed_paths};
use std::path::{Path, PathBuf};

#[test]
fn a_clean_working_tree_is_the_commit() {
    let fixture = Fixture::new();
    fixture.commit_file("src/lib.rs", "fn f() {}\n");
    let (revision, snapshot) = fixture.working();
    assert_eq!(revision.sha, fixture.head());
    assert_eq!(
        changed_paths(&fixture.snapshot("HEAD"), &snapshot),
        Vec::<PathBuf>::new()
    );
}

#[test]
fn dirty_staged_untracked_and_deleted_files_are_as_on_disk_and_ignored_ones_are_out() {
    let fixture = Fixture::new();
    for path in ["clean", "dirty", "staged", "both", "deleted", "removed", "kept"] {
        fixture.write(path, "1");
    }
    fixture.write(".gitignore", "*.log\ntarget/\n");
    fixture.commit("one");
    fixture.write("dirty", "2");
    fixture.write("staged", "2");
    fixture.write("both", "2");
    fixture.write("new", "2");
    fixture.git(&["add", "staged", "both", "new"]);
    fixture.write("both", "3");
    fixture.remove("deleted");
    fixture.git(&["rm", "--quiet", "removed"]);
    fixture.git(&["rm", "--quiet", "--cached", "kept"]);
    fixture.write("deep/untracked", "2");
    fixture.write("a.log", "2");
    fixture.write("target/x", "2");
    let (revision, snapshot) = fixture.working();
    assert_eq!(
        paths(&snapshot),
        [
            ".gitignore",
            "both",
            "clean",
            "deep/untracked",
            "dirty",
            "kept",
            "new",
            "staged"
        ]
    );
    let content = |path| text(&snapshot, path).unwrap();
    assert_eq!(content("clean"), "1");
    assert_eq!(content("both"), "3");
    assert_eq!(
        [content("dirty"), content("staged"), content("new")],
        ["2", "2", "2"]
    );
    // What git itself would call the tree, in an index of its own.
    let index = fixture.path.with_file_name("other-index");
    let tree = |args: &[&str]| {
        let mut all = vec!["-c", "core.fsync=none"];
        all.extend(args);
        let output = std::process::Command::new("git")
            .args(all)
            .current_dir(&fixture.path)
            .env("GIT_INDEX_FILE", &index)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    tree(&["add", "--all"]);
    assert_eq!(revision.sha, tree(&["write-tree"]));
}

#[test]
fn the_mode_counts_and_so_does_a_file_that_became_a_symlink() {
    let fixture = Fixture::new();
    fixture.write("run.sh", "#!/bin/sh\n");
    fixture.write("data", "x");
    fixture.commit("one");
    let before = fixture.snapshot("HEAD");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(fixture.path.join("run.sh"), mode).unwrap();
    fixture.remove("data");
    std::os::unix::fs::symlink("run.sh", fixture.path.join("data")).unwrap();
    let (revision, snapshot) = fixture.working();
    assert_ne!(revision.sha, fixture.head());
    let mode = |path| snapshot.get(Path::new(path)).unwrap().mode;
    assert_eq!((mode("run.sh"), mode("data")), (Mode::Executable, Mode::Symlink));
    assert_eq!(text(&snapshot, "data").unwrap(), "run.sh");
    let changed: Vec<PathBuf> = ["data", "run.sh"].iter().map(PathBuf::from).collect();
    assert_eq!(changed_paths(&before, &snapshot), changed);
    fixture.commit("two");
    assert_eq!(
        changed_paths(&fixture.snapshot("HEAD"), &snapshot),
        Vec::<PathBuf>::new()
    );
}

#[test]
fn line_endings_are_those_that_git_would_store() {
    let fixture = Fixture::new();
    fixture.write(".gitattributes", "*.txt text=auto\n");
    fixture.write("a.txt", "one\ntwo\n");
    fixture.write("plain", "one\r\n");
    fixture.commit("one");
    fixture.write("a.txt", "one\r\ntwo\r\n");
    assert_eq!(
        fixture.working().0.sha,
        fixture.head(),
        "only the line endings differ"
    );
    fixture.write("a.txt", "one\r\nthree\r\n");
    fixture.write("plain", "two\r\n");
    let (_, snapshot) = fixture.working();
    assert_eq!(text(&snapshot, "a.txt").unwrap(), "one\nthree\n");
    assert_eq!(text(&snapshot, "plain").unwrap(), "two\r\n");
}

#[test]
fn attributes_that_are_only_in_the_index_still_count_as_in_git() {
    let fixture = Fixture::new();
    fixture.write(".gitattributes", "*.txt text=auto\n");
    fixture.write("a.txt", "one\n");
    fixture.commit("one");
    fixture.remove(".gitattributes");
    fixture.write("a.txt", "two\r\n");
    assert_eq!(text(&fixture.working().1, "a.txt").unwrap(), "two\n");
}

#[test]
fn a_file_committed_with_carriage_returns_keeps_them_under_autocrlf_as_in_git() {
    let fixture = Fixture::new();
    fixture.write("legacy", "one\r\n");
    fixture.write("fresh", "one\n");
    fixture.commit("one");
    fixture.git(&["config", "core.autocrlf", "true"]);
    fixture.write("legacy", "two\r\n");
    fixture.write("fresh", "two\r\n");
    let (revision, snapshot) = fixture.working();
    assert_eq!(text(&snapshot, "legacy").unwrap(), "two\r\n");
    assert_eq!(text(&snapshot, "fresh").unwrap(), "two\n");
    fixture.commit("two");
    assert_eq!(revision.sha, fixture.id("HEAD^{tree}"));
}

#[test]
fn odd_names_are_files_like_others() {
    let fixture = Fixture::new();
    for name in [
        "ünï/cödé.rs",
        "new\nline",
        "tab\t",
        "quote\"",
        " space ",
        "-dash",
        "star*",
    ] {
        fixture.write(name, name);
    }
    fixture.commit("one");
    fixture.write("another\nline", "x");
    let (_, snapshot) = fixture.working();
    assert_eq!(snapshot.len(), 8);
    for name in ["ünï/cödé.rs", "new\nline", " space ", "star*"] {
        assert_eq!(text(&snapshot, name).unwrap(), name);
    }
    assert_eq!(text(&snapshot, "another\nline").unwrap(), "x");
    assert_eq!(fixture.snapshot("HEAD").len(), 7);
}

#[test]
fn a_name_that_is_not_text_is_a_file_like_others() {
    use std::os::unix::ffi::OsStrExt as _;
    let fixture = Fixture::new();
    fixture.commit_file("a", "1");
    let name = Path::new(std::ffi::OsStr::from_bytes(b"\xff\xfe.rs"));
    std::fs::write(fixture.path.join(name), "x").unwrap();
    let (_, snapshot) = fixture.working();
    assert_eq!(snapshot.read(name).unwrap().unwrap(), b"x");
    fixture.commit("two");
    assert_eq!(fixture.snapshot("HEAD").read(name).unwrap().unwrap(), b"x");
}

#[test]
fn conflicted_files_are_as_on_disk() {
    let fixture = Fixture::new();
    fixture.commit_file("a", "1\n");
    fixture.git(&["checkout", "--quiet", "-b", "topic"]);
    fixture.commit_file("a", "2\n");
    fixture.git(&["checkout", "--quiet", "trunk"]);
    fixture.commit_file("a", "3\n");
    let _ = std::process::Command::new("git")
        .args(["merge", "--quiet", "topic"])
        .current_dir(&fixture.path)
        .output();
    let (_, snapshot) = fixture.working();
    assert!(text(&snapshot, "a").unwrap().contains("<<<<<<<"));
}

#[test]
fn files_that_a_sparse_checkout_leaves_out_are_as_committed() {
    let fixture = Fixture::new();
    fixture.write("in/a", "1");
    fixture.write("out/b", "1");
    fixture.commit("one");
    fixture.git(&["sparse-checkout", "set", "--no-sparse-index", "in"]);
    assert!(!fixture.path.join("out/b").exists());
    let (revision, snapshot) = fixture.working();
    assert_eq!(revision.sha, fixture.head());
    assert_eq!(text(&snapshot, "out/b").unwrap(), "1");
}

#[test]
fn a_file_that_is_only_announced_to_the_index_is_as_on_disk() {
    let fixture = Fixture::new();
    fixture.commit_file("a", "1");
    fixture.write("soon", "words");
    fixture.git(&["add", "--intent-to-add", "soon"]);
    assert_eq!(text(&fixture.working().1, "soon").unwrap(), "words");
}

#[test]
fn a_file_too_large_for_memory_is_read_when_needed_and_a_change_meanwhile_is_noticed() {
    let fixture = Fixture::new();
    fixture.commit_file("a", "1");
    let file = std::fs::File::create(fixture.path.join("big")).unwrap();
    file.set_len(33 << 20).unwrap();
    let (_, snapshot) = fixture.working();
    assert_eq!(snapshot.read(Path::new("big")).unwrap().unwrap().len(), 33 << 20);
    file.set_len((33 << 20) + 1).unwrap();
    let said = sentence(snapshot.read(Path::new("big")));
    assert!(
        said.contains("big") && said.contains("changed after the snapshot"),
        "{said}"
    );
}

#[test]
fn resolving_and_reading_see_the_same_files_even_if_somebody_edits_between() {
    let fixture = Fixture::new();
    fixture.commit_file("a", "1");
    fixture.write("a", "2");
    let repo = fixture.repo();
    let (_, head) = repo.resolve(Some("HEAD"), None, &Ci::default()).unwrap();
    fixture.write("a", "3");
    assert_eq!(text(&repo.snapshot(&head).unwrap(), "a").unwrap(), "2");
    // A later run of the same plan finds other files, and says so.
    let said = sentence(fixture.repo().snapshot(&head));
    assert!(said.contains("no longer the one"), "{said}");
    fixture.write("a", "2");
    assert_eq!(text(&fixture.repo().snapshot(&head).unwrap(), "a").unwrap(), "2");
}

#[test]
fn a_linked_worktree_has_files_of_its_own() {
    let fixture = Fixture::new();
    fixture.commit_file("a", "1");
    let linked = fixture.path.with_file_name("linked");
    fixture.git(&[
        "worktree",
        "add",
        "--quiet",
        linked.to_str().unwrap(),
        "-b",
        "topic",
    ]);
    let linked = Fixture::at(linked);
    linked.write("a", "2");
    assert_eq!(text(&linked.working().1, "a").unwrap(), "2");
    assert_eq!(text(&fixture.working().1, "a").unwrap(), "1");
}

#[test]
fn a_repository_inside_that_is_no_submodule_is_left_out_with_a_note() {
    let fixture = Fixture::new();
    fixture.commit_file("a", "1");
    let inner = Fixture::at(fixture.path.join("inner"));
    std::fs::create_dir(&inner.path).unwrap();
    inner.git(&["init", "--quiet"]);
    inner.commit_file("x", "1");
    let (_, snapshot) = fixture.working();
    assert_eq!(paths(&snapshot), ["a"]);
    assert!(
        snapshot.notes[0].contains("`inner/` is a repository of its own"),
        "{:?}",
        snapshot.notes
    );
}
