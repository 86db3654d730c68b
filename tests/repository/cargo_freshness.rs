//! The point of all the care about mtimes: cargo never takes the other side's artefact for fresh, and rebuilds
//! nothing that is equal.

use crate::fixture::Fixture;
use crate::tree::Place;
use abreast::edge::tree::{Sides, Tree};
use abreast::revision::Side;
use std::os::unix::fs::symlink;
use std::process::Command;

/// Builds what is in the tree and runs it. Says what it printed, and whether cargo compiled anything.
fn run(place: &Place) -> (String, bool) {
    let output = Command::new("cargo")
        .args(["run", "--offline"])
        .current_dir(place.root())
        .env("CARGO_TARGET_DIR", place.folder.path().join("target"))
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{talk}");
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (said, talk.contains("Compiling"))
}

/// Three commits of a program that says where its code and its data are from; its module is a symlink.
fn program() -> Fixture {
    let fixture = Fixture::new();
    fixture.write(
        "Cargo.toml",
        "[package]\nname = \"says\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    );
    fixture.write(
        "Cargo.lock",
        "version = 3\n\n[[package]]\nname = \"says\"\nversion = \"0.1.0\"\n",
    );
    fixture.write(
        "src/main.rs",
        "mod code;\nfn main() { println!(\"{} {}\", code::FROM, include_str!(\"../data\")); }\n",
    );
    fixture.write("src/one.rs", "pub const FROM: &str = \"base\";\n");
    fixture.write("src/two.rs", "pub const FROM: &str = \"head\";\n");
    fixture.write("data", "base");
    symlink("one.rs", fixture.path.join("src/code.rs")).unwrap();
    fixture.commit("base");
    fixture.remove("src/code.rs");
    symlink("two.rs", fixture.path.join("src/code.rs")).unwrap();
    fixture.commit("only the link");
    fixture.write("data", "head");
    fixture.commit("head");
    fixture
}

#[test]
fn cargo_builds_what_is_in_the_tree_through_every_switch_and_kill() {
    let fixture = program();
    let (base, head) = (fixture.snapshot("HEAD~2"), fixture.snapshot("HEAD"));
    let relinked = fixture.snapshot("HEAD~1");
    let place = Place::new();
    let lay = |tree: &Tree, snapshot, previous| tree.lay(snapshot, Some(previous)).unwrap();
    let tree = place.open();
    lay(&tree, &base, &base);
    assert_eq!(run(&place), ("base base".to_owned(), true));
    lay(&tree, &relinked, &base);
    assert_eq!(run(&place), ("head base".to_owned(), true));
    lay(&tree, &head, &relinked);
    assert_eq!(run(&place), ("head head".to_owned(), true));
    lay(&tree, &head, &head);
    assert_eq!(run(&place), ("head head".to_owned(), false), "nothing changed");

    let store = place.folder.path().join("store");
    let mut sides = Sides::new(tree, &base, &head, store).unwrap();
    sides.activate(Side::Base).unwrap();
    sides.activate(Side::Head).unwrap();
    let tree = sides.into_tree().unwrap();
    assert_eq!(
        run(&place),
        ("head head".to_owned(), false),
        "there and back is no change"
    );

    // Killed while base is in; the next run wants base first.
    let store = place.folder.path().join("store");
    let mut sides = Sides::new(tree, &base, &head, store).unwrap();
    sides.activate(Side::Base).unwrap();
    drop(sides);
    let tree = place.open();
    lay(&tree, &base, &base);
    assert_eq!(run(&place), ("base base".to_owned(), true));
    lay(&tree, &head, &base);
    assert_eq!(run(&place), ("head head".to_owned(), true));
}

#[test]
fn a_module_that_was_a_link_is_built_anew_when_it_is_a_file_or_a_link_again_and_after_a_kill() {
    let fixture = program();
    let linked = fixture.snapshot("HEAD~2");
    fixture.remove("src/code.rs");
    fixture.write("src/code.rs", "pub const FROM: &str = \"file\";\n");
    fixture.write("data", "base");
    fixture.commit("a file");
    let file = fixture.snapshot("HEAD");
    let place = Place::new();
    let tree = place.open();
    tree.lay(&linked, None).unwrap();
    assert_eq!(run(&place), ("base base".to_owned(), true));
    tree.lay(&file, Some(&linked)).unwrap();
    assert_eq!(run(&place), ("file base".to_owned(), true));
    tree.lay(&linked, None).unwrap();
    assert_eq!(run(&place), ("base base".to_owned(), true));

    // The last build knows the end of head's link; killed in base's state, it must not be taken for base's.
    let store = place.folder.path().join("store");
    let mut sides = Sides::new(tree, &file, &linked, store).unwrap();
    sides.activate(Side::Base).unwrap();
    drop(sides);
    let tree = place.open();
    tree.lay(&file, None).unwrap();
    assert_eq!(run(&place), ("file base".to_owned(), true));
}
