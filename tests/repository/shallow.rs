//! Clones without all of their history: a clear sentence, never a wrong base.

use crate::fixture::{Fixture, sentence};
use abreast::edge::git::Ci;

fn is_about_depth(said: &str) {
    assert!(
        said.contains("fetch-depth: 0") && said.contains("git fetch --unshallow"),
        "{said}"
    );
}

/// Three commits on trunk, and a topic of one commit off the second.
fn origin() -> Fixture {
    let origin = Fixture::new();
    origin.commit_file("a", "1");
    origin.commit_file("a", "2");
    origin.git(&["checkout", "--quiet", "-b", "topic"]);
    origin.commit_file("b", "1");
    origin.git(&["checkout", "--quiet", "trunk"]);
    origin.commit_file("a", "3");
    origin
}

#[test]
fn depth_one_names_the_fetch_depth_for_a_default_base_and_for_a_parent() {
    let origin = origin();
    let clone = origin.cloned(&["--depth=1", "--no-single-branch", "--branch=topic"]);
    assert!(clone.repo().is_shallow());
    is_about_depth(&sentence(clone.resolve(None, None)));
    is_about_depth(&sentence(clone.resolve(Some("HEAD~1"), None)));
    is_about_depth(&sentence(clone.resolve(Some("v1.0"), None)));
}

#[test]
fn depth_one_still_compares_revisions_that_are_there() {
    let clone = origin().cloned(&["--depth=1", "--no-single-branch", "--branch=topic"]);
    let (base, head) = clone.resolve(Some("origin/trunk"), None).unwrap();
    assert_eq!((base.sha, head.sha), (clone.id("origin/trunk"), clone.head()));
}

#[test]
fn a_base_fetched_with_depth_one_afterwards_is_refused() {
    let origin = origin();
    let clone = origin.cloned(&["--depth=1", "--branch=topic"]);
    clone.git(&[
        "fetch",
        "--quiet",
        "--depth=1",
        "origin",
        "trunk:refs/remotes/origin/trunk",
    ]);
    clone.git(&["remote", "set-head", "origin", "trunk"]);
    is_about_depth(&sentence(clone.resolve(None, None)));
}

#[test]
fn the_merge_ref_of_a_pull_request_without_its_parents_is_refused() {
    let origin = origin();
    origin.git(&["merge", "--quiet", "--no-ff", "-m", "synthetic", "topic"]);
    let clone = origin.cloned(&["--depth=1"]);
    let ci = Ci {
        event_name: Some("pull_request".to_owned()),
        head_ref: Some("refs/pull/7/merge".to_owned()),
        base_ref: Some("trunk".to_owned()),
        ..Ci::default()
    };
    is_about_depth(&sentence(clone.repo().resolve(None, None, &ci)));
    is_about_depth(&sentence(clone.repo().resolve(Some("HEAD"), None, &ci)));
    // Depth two has the parents, and not where they fork.
    let clone = origin.cloned(&["--depth=2"]);
    clone.git(&["update-ref", "-d", "refs/remotes/origin/trunk"]);
    is_about_depth(&sentence(clone.repo().resolve(None, None, &ci)));
}

#[test]
fn a_deep_enough_shallow_clone_gives_the_right_base() {
    let origin = origin();
    let fork = origin.id("trunk~1");
    let clone = origin.cloned(&["--depth=2", "--no-single-branch", "--branch=topic"]);
    assert!(clone.repo().is_shallow());
    let (base, _) = clone.resolve(None, None).unwrap();
    assert_eq!(
        base.sha, fork,
        "the fork point is where the history ends, and still right"
    );
}

#[test]
fn the_merge_base_itself_may_be_where_the_history_ends_and_a_hidden_one_is_refused() {
    let origin = Fixture::new();
    origin.commit_file("a", "1");
    origin.git(&["checkout", "--quiet", "-b", "topic"]);
    origin.commit_file("b", "1");
    origin.git(&["checkout", "--quiet", "trunk"]);
    let newer = origin.commit_file("a", "2");
    origin.commit_file("a", "3");
    origin.git(&["checkout", "--quiet", "topic"]);
    origin.git(&["merge", "--quiet", "--no-ff", "-m", "merge", &newer]);
    origin.commit_file("b", "2");
    let clone = origin.cloned(&[]);
    clone.git(&["remote", "set-head", "origin", "trunk"]);
    assert_eq!(clone.resolve(None, None).unwrap().0.sha, newer);
    clone.write(".git/shallow", format!("{newer}\n"));
    assert_eq!(clone.resolve(None, None).unwrap().0.sha, newer);
    let merge = clone.id("HEAD~1");
    clone.write(".git/shallow", format!("{merge}\n"));
    is_about_depth(&sentence(clone.resolve(None, None)));
}

/// Trunk and topic both contain F; topic also merged a side branch whose history was cut off, and which holds a newer
/// commit of trunk. F is found, and wrong: it would blame everything between F and that commit on the topic.
#[test]
fn a_common_commit_is_refused_when_a_cut_path_may_lead_to_a_newer_one() {
    let origin = Fixture::new();
    let old = origin.commit_file("a", "1");
    origin.git(&["checkout", "--quiet", "-b", "topic"]);
    origin.commit_file("b", "1");
    origin.git(&["checkout", "--quiet", "trunk"]);
    let newer = origin.commit_file("a", "2");
    origin.git(&["checkout", "--quiet", "-b", "side"]);
    let side = origin.commit_file("c", "1");
    origin.git(&["checkout", "--quiet", "trunk"]);
    origin.commit_file("a", "3");
    origin.git(&["checkout", "--quiet", "topic"]);
    origin.git(&["merge", "--quiet", "--no-ff", "-m", "merge", "side"]);
    let clone = origin.cloned(&[]);
    clone.git(&["remote", "set-head", "origin", "trunk"]);
    assert_eq!(clone.resolve(None, None).unwrap().0.sha, newer);
    clone.write(".git/shallow", format!("{side}\n"));
    let git = git2::Repository::open(&clone.path).unwrap();
    let found = git
        .merge_base(
            git.refname_to_id("refs/remotes/origin/trunk").unwrap(),
            git.head().unwrap().target().unwrap(),
        )
        .unwrap();
    assert_eq!(
        found.to_string(),
        old,
        "the trap is set: the older commit is what is found"
    );
    is_about_depth(&sentence(clone.resolve(None, None)));
}

#[test]
fn a_linked_worktree_knows_where_the_history_ends() {
    let origin = origin();
    let fork = origin.id("trunk~1");
    let clone = origin.cloned(&["--depth=2", "--no-single-branch", "--branch=topic"]);
    let linked = clone.path.with_file_name("linked");
    clone.git(&["worktree", "add", "--quiet", "--detach", linked.to_str().unwrap()]);
    let (base, _) = Fixture::at(linked).resolve(None, None).unwrap();
    assert_eq!(base.sha, fork);
}

#[test]
fn a_linked_worktree_of_a_shallow_clone_is_shallow_too() {
    let clone = origin().cloned(&["--depth=1", "--no-single-branch", "--branch=topic"]);
    let linked = clone.path.with_file_name("linked");
    clone.git(&["worktree", "add", "--quiet", "--detach", linked.to_str().unwrap()]);
    let linked = Fixture::at(linked);
    assert!(linked.repo().is_shallow());
    is_about_depth(&sentence(linked.resolve(None, None)));
    is_about_depth(&sentence(linked.resolve(Some("HEAD~1"), None)));
    assert!(linked.resolve(Some("HEAD"), None).is_ok());
}
