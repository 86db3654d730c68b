//! Git LFS and partial clones: blobs that are not the file, or not there.

use crate::fixture::{Fixture, sentence, text};
use abreast::edge::git::Ci;
use sha2::{Digest as _, Sha256};

fn sha256(content: &str) -> String {
    Sha256::digest(content.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn pointer(content: &str) -> String {
    let (sha, size) = (sha256(content), content.len());
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{sha}\nsize {size}\n")
}

fn store(fixture: &Fixture, content: &str) {
    let sha = sha256(content);
    fixture.write(
        &format!(".git/lfs/objects/{}/{}/{sha}", &sha[..2], &sha[2..4]),
        content,
    );
}

#[test]
fn a_pointer_whose_content_was_fetched_is_that_content_and_others_are_named_in_one_note() {
    let fixture = Fixture::new();
    fixture.write("here.bin", pointer("weights"));
    for n in 0..6 {
        fixture.write(&format!("gone{n}.bin"), pointer(&format!("lost {n}")));
    }
    fixture.commit("one");
    store(&fixture, "weights");
    let snapshot = fixture.snapshot("HEAD");
    assert_eq!(text(&snapshot, "here.bin").unwrap(), "weights");
    assert_eq!(text(&snapshot, "gone0.bin").unwrap(), pointer("lost 0"));
    assert_eq!(snapshot.notes.len(), 1);
    let note = &snapshot.notes[0];
    assert!(
        note.starts_with("6 Git LFS file(s)") && note.contains("git lfs pull"),
        "{note}"
    );
    assert!(
        note.contains("`gone4.bin`, ...") && !note.contains("gone5"),
        "{note}"
    );
}

#[test]
fn an_object_of_the_wrong_size_is_not_believed() {
    let fixture = Fixture::new();
    fixture.write("w.bin", pointer("weights"));
    fixture.commit("one");
    let sha = sha256("weights");
    fixture.write(
        &format!(".git/lfs/objects/{}/{}/{sha}", &sha[..2], &sha[2..4]),
        "half",
    );
    assert_eq!(
        text(&fixture.snapshot("HEAD"), "w.bin").unwrap(),
        pointer("weights")
    );
}

#[test]
fn content_in_the_working_tree_is_unchanged_if_its_pointer_is_the_committed_one() {
    let fixture = Fixture::new();
    fixture.write(".gitattributes", "*.bin filter=lfs -text\n");
    fixture.write("w.bin", pointer("weights"));
    fixture.commit("one");
    fixture.write("w.bin", "weights");
    let (revision, _) = fixture.working();
    assert_eq!(revision.sha, fixture.head());
    fixture.write("w.bin", "other weights");
    let (revision, snapshot) = fixture.working();
    assert_ne!(revision.sha, fixture.head());
    assert_eq!(text(&snapshot, "w.bin").unwrap(), "other weights");
    assert!(snapshot.notes.is_empty(), "{:?}", snapshot.notes);
    // Without git-lfs installed the working tree has pointers, and they are what is committed.
    fixture.write("w.bin", pointer("newer weights"));
    let (revision, snapshot) = fixture.working();
    assert_eq!(text(&snapshot, "w.bin").unwrap(), pointer("newer weights"));
    fixture.commit("two");
    assert_eq!(revision.sha, fixture.id("HEAD^{tree}"));
}

#[test]
fn a_partial_clone_without_the_blobs_names_its_filter() {
    let origin = Fixture::new();
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    origin.commit_file("a", "1");
    origin.commit_file("a", "2");
    let clone = origin.cloned(&["--filter=blob:none"]);
    let repo = clone.repo();
    let (base, head) = repo.resolve(Some("HEAD~1"), None, &Ci::default()).unwrap();
    assert_eq!(text(&repo.snapshot(&head).unwrap(), "a").unwrap(), "2");
    let said = sentence(repo.snapshot(&base));
    assert!(
        said.contains("`a` is not in this clone") && said.contains("--filter=blob:none"),
        "{said}"
    );
    assert!(
        said.contains("git fetch --refetch --no-filter") && said.contains("git clone"),
        "{said}"
    );
    // The advice works.
    clone.git(&["fetch", "--quiet", "--refetch", "--no-filter"]);
    assert_eq!(text(&clone.snapshot("HEAD~1"), "a").unwrap(), "1");
}

#[test]
fn a_damaged_repository_is_not_taken_for_a_partial_clone() {
    let fixture = Fixture::new();
    fixture.commit_file("a", "1");
    let id = fixture.id("HEAD:a");
    fixture.remove(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    let repo = fixture.repo();
    let (base, _) = repo.resolve(Some("HEAD"), Some("HEAD"), &Ci::default()).unwrap();
    let said = sentence(repo.snapshot(&base));
    assert!(
        said.contains("`a` is missing") && said.contains("git fsck"),
        "{said}"
    );
}
