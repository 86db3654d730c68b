//! Repositories that cannot be used, each with a sentence that says what to do.

use crate::fixture::{Fixture, git, sentence};
use abreast::edge::git::Repo;
use std::path::Path;

#[test]
fn a_folder_outside_of_any_repository_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let said = sentence(Repo::discover(folder.path()));
    assert!(said.contains("is not inside a git repository"), "{said}");
    assert!(said.contains(folder.path().to_str().unwrap()), "{said}");
}

#[test]
fn a_bare_repository_needs_a_work_tree() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "--bare", "bare.git"]);
    let said = sentence(Repo::discover(&folder.path().join("bare.git")));
    assert!(
        said.contains("bare") && said.contains("git worktree add"),
        "{said}"
    );
}

#[test]
fn a_linked_worktree_of_a_bare_repository_has_a_work_tree() {
    let origin = Fixture::new();
    origin.commit_file("a", "1");
    let bare = origin.cloned(&["--bare"]);
    let linked = bare.path.with_file_name("linked");
    bare.git(&["worktree", "add", "--quiet", linked.to_str().unwrap(), "trunk"]);
    let repo = Repo::discover(&linked).unwrap();
    assert_eq!(repo.root(), linked.canonicalize().unwrap());
}

#[test]
fn sha256_and_reftable_are_named_with_a_way_to_a_readable_repository() {
    for (option, word) in [
        ("--object-format=sha256", "sha256"),
        ("--ref-format=reftable", "reftable"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "--quiet", option, "odd"]);
        let said = sentence(Repo::discover(&folder.path().join("odd")));
        assert!(said.contains(word) && said.contains("default format"), "{said}");
        assert!(said.contains("/odd`"), "{said}");
    }
}

#[test]
fn another_users_repository_is_named_with_the_command_that_trusts_it() {
    let fixture = Fixture::new();
    fixture.commit_file("deep/a", "1");
    if std::os::unix::fs::chown(&fixture.path, Some(12_345), None).is_err() {
        return; // Only root can give a folder away.
    }
    std::os::unix::fs::chown(fixture.path.join(".git"), Some(12_345), None).unwrap();
    let said = sentence(Repo::discover(&fixture.path.join("deep")));
    let path = fixture.path.canonicalize().unwrap();
    let command = format!("git config --global --add safe.directory {}`", path.display());
    assert!(said.contains(&command), "{said}");
}

#[test]
fn an_index_that_is_sparse_or_split_is_refused_with_the_command_that_makes_it_whole() {
    let fixture = Fixture::new();
    fixture.commit_file("in/a", "1");
    fixture.commit_file("out/b", "1");
    let sparse = fixture.cloned(&[]);
    sparse.git(&["sparse-checkout", "set", "--sparse-index", "in"]);
    let said = sentence(sparse.resolve(None, None));
    assert!(
        said.contains("git sparse-checkout reapply --no-sparse-index"),
        "{said}"
    );
    sparse.git(&["sparse-checkout", "reapply", "--no-sparse-index"]);
    assert!(sparse.resolve(None, None).is_ok());

    fixture.git(&["update-index", "--split-index"]);
    let said = sentence(fixture.resolve(None, None));
    assert!(said.contains("git update-index --no-split-index"), "{said}");
    fixture.git(&["update-index", "--no-split-index"]);
    assert!(fixture.resolve(None, None).is_ok());
}

#[test]
fn a_repository_without_commits_says_so() {
    let fixture = Fixture::new();
    fixture.write("a", "1");
    let said = sentence(fixture.resolve(None, None));
    assert!(said.contains("has no commit yet"), "{said}");
    assert!(sentence(fixture.resolve(Some("HEAD"), None)).contains("has no commit yet"));
}

#[test]
fn a_repository_is_found_from_a_subfolder_and_a_linked_worktree_shares_its_common_folder() {
    let fixture = Fixture::new();
    fixture.commit_file("deep/down/a", "1");
    let linked = fixture.path.with_file_name("linked");
    fixture.git(&[
        "worktree",
        "add",
        "--quiet",
        linked.to_str().unwrap(),
        "-b",
        "topic",
    ]);
    let root = fixture.path.canonicalize().unwrap();
    let repo = Repo::discover(&fixture.path.join("deep/down")).unwrap();
    assert_eq!(repo.root(), root);
    assert_eq!(repo.common_dir(), root.join(".git"));
    let other = Repo::discover(&linked.join("deep")).unwrap();
    assert_eq!(other.root(), linked.canonicalize().unwrap());
    assert_eq!(other.common_dir(), root.join(".git"));
    assert!(!repo.is_shallow());
    assert!(Repo::discover(Path::new("/nonexistent/folder")).is_err());
}
