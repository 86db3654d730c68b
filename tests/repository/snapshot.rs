//! Comparing and mixing snapshots.

use crate::fixture::{Fixture, paths, text};
use abreast::edge::git::changed_paths;
use std::path::{Path, PathBuf};

fn two_commits() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("src/lib.rs", "1");
    fixture.write("benches/a.rs", "1");
    fixture.write("benches/old.rs", "1");
    fixture.commit("one");
    fixture.write("src/lib.rs", "2");
    fixture.write("benches/a.rs", "2");
    fixture.write("benches/new.rs", "2");
    fixture.remove("benches/old.rs");
    fixture.commit("two");
    fixture
}

#[test]
fn added_removed_and_changed_paths_are_found_and_sorted() {
    let fixture = two_commits();
    let changed = changed_paths(&fixture.snapshot("HEAD~1"), &fixture.snapshot("HEAD"));
    let expected: Vec<PathBuf> = ["benches/a.rs", "benches/new.rs", "benches/old.rs", "src/lib.rs"]
        .iter()
        .map(PathBuf::from)
        .collect();
    assert_eq!(changed, expected);
}

#[test]
fn a_base_with_heads_benches_has_exactly_heads_benches() {
    let fixture = two_commits();
    let (base, head) = (fixture.snapshot("HEAD~1"), fixture.snapshot("HEAD"));
    let mixed = base.overlay(&head, |path| path.starts_with("benches"));
    assert_eq!(paths(&mixed), ["benches/a.rs", "benches/new.rs", "src/lib.rs"]);
    assert_eq!(text(&mixed, "benches/a.rs").unwrap(), "2");
    assert_eq!(text(&mixed, "src/lib.rs").unwrap(), "1");
    assert_eq!(base.len(), 3, "the original stays");
}

#[test]
fn an_overlay_that_puts_a_folder_where_a_file_was_leaves_no_file_in_its_way() {
    let fixture = Fixture::new();
    fixture.write("b", "file");
    fixture.write("c/x", "1");
    fixture.commit("one");
    fixture.remove("b");
    std::fs::remove_dir_all(fixture.path.join("c")).unwrap();
    fixture.write("b/x", "2");
    fixture.write("c", "file");
    fixture.commit("two");
    let (base, head) = (fixture.snapshot("HEAD~1"), fixture.snapshot("HEAD"));
    let mixed = base.overlay(&head, |path| path == Path::new("b/x") || path == Path::new("c"));
    assert_eq!(paths(&mixed), ["b/x", "c"]);
}

#[test]
fn equal_content_has_equal_ids_wherever_it_is() {
    let fixture = Fixture::new();
    fixture.write("a", "same");
    fixture.write("b/c", "same");
    fixture.write("d", "other");
    fixture.commit("one");
    let snapshot = fixture.snapshot("HEAD");
    let id = |path| snapshot.content_id(Path::new(path));
    assert_eq!(id("a"), id("b/c"));
    assert_ne!(id("a"), id("d"));
    assert_eq!(id("b"), None, "a folder is no file");
    assert_eq!(id("a").unwrap().to_string(), fixture.id("HEAD:a"));
    assert_eq!(snapshot.read(Path::new("none")).unwrap(), None);
}

#[test]
fn snapshots_outlive_the_repository_handle_and_can_be_sent_to_other_threads() {
    let fixture = two_commits();
    let snapshot = fixture.snapshot("HEAD");
    let read = std::thread::spawn(move || text(&snapshot, "src/lib.rs"))
        .join()
        .unwrap();
    assert_eq!(read.unwrap(), "2");
}
