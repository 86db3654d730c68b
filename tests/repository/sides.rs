//! Switching the tree between the sides.

use crate::fixture::{Fixture, paths};
use crate::tree::Place;
use abreast::edge::git::Snapshot;
use abreast::edge::tree::Sides;
use abreast::revision::Side;
use std::fs;
use std::os::unix::fs::symlink;

struct Both {
    base: Snapshot,
    head: Snapshot,
    place: Place,
    _fixture: Fixture,
}

/// Base and head differ by a changed, an added, a removed file, a mode, a file that became a folder and a link.
fn both() -> Both {
    let fixture = Fixture::new();
    fixture.write("same.rs", "same");
    fixture.write("data/words", "base");
    fixture.write("data/removed/x", "base");
    fixture.write("shape", "file");
    symlink("same.rs", fixture.path.join("link")).unwrap();
    fixture.commit("one");
    let base = fixture.snapshot("HEAD");
    fixture.git(&["rm", "--quiet", "-r", "data/removed", "shape", "link"]);
    fixture.write("data/words", "head");
    fixture.write("data/added/y", "head");
    fixture.write("shape/inner", "head");
    symlink("data/words", fixture.path.join("link")).unwrap();
    fixture.commit("two");
    let head = fixture.snapshot("HEAD");
    let place = Place::new();
    let tree = place.open();
    tree.lay(&base, None).unwrap();
    tree.lay(&head, Some(&base)).unwrap();
    drop(tree);
    Both {
        base,
        head,
        place,
        _fixture: fixture,
    }
}

impl Both {
    fn sides(&self) -> Sides {
        let store = self.place.folder.path().join("store");
        Sides::new(self.place.open(), &self.base, &self.head, store).unwrap()
    }

    fn marked(&self) -> bool {
        self.place.folder.path().join("switched.json").exists()
    }
}

#[test]
fn each_side_sees_its_own_files_and_heads_keep_their_mtimes() {
    let both = both();
    both.place.age();
    let mut sides = both.sides();
    assert_eq!(both.place.files(), paths(&both.head));
    for _ in 0..2 {
        sides.activate(Side::Base).unwrap();
        assert_eq!(both.place.files(), paths(&both.base));
        assert_eq!(both.place.read("data/words"), "base");
        assert_eq!(both.place.read("shape"), "file");
        assert_eq!(both.place.read("link"), "same");
        assert!(!both.place.path("data/added").exists());
        assert!(both.marked());
        sides.activate(Side::Head).unwrap();
        assert_eq!(both.place.files(), paths(&both.head));
        assert_eq!(both.place.read("data/words"), "head");
        assert_eq!(both.place.read("link"), "head");
        assert!(!both.marked());
    }
    for path in ["same.rs", "data/words", "data/added/y", "shape/inner"] {
        assert!(both.place.is_old(path), "{path}");
    }
}

#[test]
fn what_a_bench_does_to_its_own_sides_files_stays_with_that_side() {
    let both = both();
    let mut sides = both.sides();
    fs::write(both.place.path("data/words"), "head, changed").unwrap();
    fs::remove_file(both.place.path("data/added/y")).unwrap();
    sides.activate(Side::Base).unwrap();
    assert_eq!(both.place.read("data/words"), "base");
    sides.activate(Side::Head).unwrap();
    assert_eq!(both.place.read("data/words"), "head, changed");
    assert!(!both.place.path("data/added/y").exists());
}

#[test]
fn nothing_is_done_when_no_file_differs() {
    let both = both();
    let store = both.place.folder.path().join("store");
    let mut sides = Sides::new(both.place.open(), &both.head, &both.head, store.clone()).unwrap();
    sides.activate(Side::Base).unwrap();
    assert!(!both.marked() && !store.exists());
    assert!(sides.differing().is_empty());
}

#[test]
fn the_tree_comes_back_with_heads_files() {
    let both = both();
    let mut sides = both.sides();
    sides.activate(Side::Base).unwrap();
    let tree = sides.into_tree().unwrap();
    assert_eq!(both.place.files(), paths(&both.head));
    assert!(!both.marked());
    tree.lay(&both.base, Some(&both.head)).unwrap();
    assert_eq!(both.place.files(), paths(&both.base));
}

#[test]
fn a_run_that_was_killed_in_bases_state_makes_the_switched_files_look_new() {
    let both = both();
    both.place.age();
    let mut sides = both.sides();
    sides.activate(Side::Base).unwrap();
    both.place.age();
    drop(sides);
    let tree = both.place.open();
    assert!(!both.marked());
    assert!(!both.place.is_old("data/words") && !both.place.is_old("shape"));
    assert!(!both.place.is_old("data/removed/x"));
    // `link` points to it, and differs.
    assert!(!both.place.is_old("same.rs"));
    tree.lay(&both.head, None).unwrap();
    assert_eq!(both.place.files(), paths(&both.head));
    assert!(!both.place.is_old("data/words"));
}

#[test]
fn a_note_that_cannot_be_read_makes_every_file_look_new() {
    let both = both();
    both.place.age();
    fs::write(both.place.folder.path().join("switched.json"), "{\"pa").unwrap();
    both.place.open();
    assert!(!both.marked());
    assert!(!both.place.is_old("same.rs"));
}

#[test]
fn a_store_of_an_earlier_run_is_not_mixed_in() {
    let both = both();
    drop(both.sides());
    let mut sides = both.sides();
    sides.activate(Side::Base).unwrap();
    assert_eq!(both.place.files(), paths(&both.base));
}
