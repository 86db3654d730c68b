//! Files of submodules, at the commit that each side records.

use crate::fixture::{Fixture, paths, text};

/// A repository with submodule `vendor/lib`, which has a submodule `deep` itself; both moved on in the second commit.
struct Nested {
    main: Fixture,
    _inner: Fixture,
    _deep: Fixture,
}

fn nested() -> Nested {
    let deep = Fixture::new();
    deep.commit_file("d", "1");
    let inner = Fixture::new();
    inner.commit_file("l", "1");
    inner.git(&["submodule", "--quiet", "add", deep.path.to_str().unwrap(), "deep"]);
    inner.commit("with deep");
    let main = Fixture::new();
    main.commit_file("a", "1");
    main.git(&[
        "submodule",
        "--quiet",
        "add",
        "--name",
        "the-lib",
        inner.path.to_str().unwrap(),
        "vendor/lib",
    ]);
    main.git(&["submodule", "--quiet", "update", "--init", "--recursive"]);
    main.commit("with lib");
    let lib = Fixture::at(main.path.join("vendor/lib"));
    lib.commit_file("l", "2");
    main.commit("newer lib");
    Nested {
        main,
        _inner: inner,
        _deep: deep,
    }
}

#[test]
fn each_side_has_the_submodules_files_at_the_commit_it_records() {
    let nested = nested();
    let (base, head) = (nested.main.snapshot("HEAD~1"), nested.main.snapshot("HEAD"));
    assert_eq!(text(&base, "vendor/lib/l").unwrap(), "1");
    assert_eq!(text(&head, "vendor/lib/l").unwrap(), "2");
    assert_eq!(text(&head, "vendor/lib/deep/d").unwrap(), "1");
    assert!(base.notes.is_empty() && head.notes.is_empty(), "{:?}", head.notes);
}

#[test]
fn the_working_tree_has_the_commit_that_is_checked_out() {
    let nested = nested();
    let lib = Fixture::at(nested.main.path.join("vendor/lib"));
    assert_eq!(nested.main.working().0.sha, nested.main.head());
    lib.git(&["checkout", "--quiet", "HEAD~1"]);
    let (revision, snapshot) = nested.main.working();
    assert_ne!(revision.sha, nested.main.head());
    assert_eq!(text(&snapshot, "vendor/lib/l").unwrap(), "1");
    let deep = Fixture::at(lib.path.join("deep"));
    deep.commit_file("d", "2");
    assert_eq!(text(&nested.main.working().1, "vendor/lib/deep/d").unwrap(), "2");
}

#[test]
fn uncommitted_changes_in_a_submodule_are_said_not_to_count() {
    let nested = nested();
    nested.main.write("vendor/lib/l", "dirty");
    let (_, snapshot) = nested.main.working();
    assert_eq!(text(&snapshot, "vendor/lib/l").unwrap(), "2");
    assert_eq!(snapshot.notes.len(), 1, "{:?}", snapshot.notes);
    assert!(
        snapshot.notes[0].contains("`vendor/lib` has uncommitted changes"),
        "{:?}",
        snapshot.notes
    );
}

#[test]
fn a_submodule_that_is_not_initialised_is_a_note_and_not_an_error() {
    let nested = nested();
    let clone = nested.main.cloned(&[]);
    for snapshot in [clone.snapshot("HEAD"), clone.working().1] {
        assert_eq!(paths(&snapshot), [".gitmodules", "a"]);
        assert_eq!(snapshot.notes.len(), 1);
        let note = &snapshot.notes[0];
        assert!(
            note.contains("`vendor/lib`") && note.contains("git submodule update --init --recursive"),
            "{note}"
        );
    }
    assert_eq!(clone.working().0.sha, clone.head());
}

#[test]
fn a_commit_that_was_not_fetched_into_the_submodule_is_a_note() {
    let nested = nested();
    let lib = Fixture::at(nested.main.path.join("vendor/lib"));
    let gone = lib.head();
    lib.git(&["checkout", "--quiet", "HEAD~1"]);
    let git_dir = nested.main.path.join(".git/modules/the-lib");
    std::fs::remove_file(git_dir.join("objects").join(&gone[..2]).join(&gone[2..])).unwrap();
    let snapshot = nested.main.snapshot("HEAD");
    assert!(snapshot.notes[0].contains(&gone[..10]), "{:?}", snapshot.notes);
    assert_eq!(text(&snapshot, "vendor/lib/l"), None);
}

#[test]
fn a_submodule_that_is_no_longer_checked_out_is_read_from_where_git_keeps_it() {
    let nested = nested();
    nested
        .main
        .git(&["submodule", "--quiet", "deinit", "--force", "vendor/lib"]);
    assert_eq!(text(&nested.main.snapshot("HEAD"), "vendor/lib/l").unwrap(), "2");
    let (_, working) = nested.main.working();
    assert_eq!(
        text(&working, "vendor/lib/deep/d").as_deref(),
        Some("1"),
        "{:?}",
        working.notes
    );
}

#[test]
fn a_submodule_is_a_repository_of_its_own_when_asked_from_inside() {
    let nested = nested();
    let lib = Fixture::at(nested.main.path.join("vendor/lib"));
    assert_eq!(lib.repo().root(), lib.path.canonicalize().unwrap());
    assert_eq!(lib.working().0.sha, lib.head());
}
