//! What GitHub checks out for a pull request: a merge commit, not the head that its author pushed.

use crate::fixture::{Fixture, sentence};
use abreast::edge::git::Ci;

fn pull_request(base: &str) -> Ci {
    Ci {
        event_name: Some("pull_request".to_owned()),
        head_ref: Some("refs/pull/7/merge".to_owned()),
        base_ref: Some(base.to_owned()),
        ..Ci::default()
    }
}

/// A clone whose `HEAD` is the merge of `topic` into `target`, which moved on after the fork.
struct Merged {
    clone: Fixture,
    fork: String,
    head: String,
    _origin: Fixture,
}

/// `target` is branched off the first commit of trunk, `topic` off `target`; then both get commits.
fn merged(target: &str) -> Merged {
    let origin = Fixture::new();
    origin.commit_file("a", "1");
    origin.commit_file("a", "2");
    if target != "trunk" {
        origin.git(&["checkout", "--quiet", "-b", target]);
    }
    let fork = origin.commit_file("stack", "1");
    origin.git(&["checkout", "--quiet", "-b", "topic"]);
    let head = origin.commit_file("b", "faster");
    origin.git(&["checkout", "--quiet", target]);
    for content in ["2", "3", "twice as slow"] {
        origin.commit_file("stack", content);
    }
    origin.git(&["checkout", "--quiet", "--detach"]);
    origin.git(&["merge", "--quiet", "--no-ff", "-m", "synthetic", "topic"]);
    origin.git(&["update-ref", "refs/pull/7/merge", "HEAD"]);
    origin.git(&["checkout", "--quiet", "trunk"]);
    let clone = origin.cloned(&[]);
    clone.git(&["fetch", "--quiet", "origin", "refs/pull/7/merge"]);
    clone.git(&["checkout", "--quiet", "--detach", "FETCH_HEAD"]);
    Merged {
        clone,
        fork,
        head,
        _origin: origin,
    }
}

#[test]
fn the_real_head_is_compared_with_its_fork_point_so_a_later_slowdown_of_the_base_is_not_blamed_on_it() {
    let found = merged("trunk");
    let (base, head) = found
        .clone
        .repo()
        .resolve(None, None, &pull_request("trunk"))
        .unwrap();
    assert_eq!(
        (base.sha, base.label.as_str()),
        (found.fork, "merge base with origin/trunk")
    );
    assert_eq!((head.sha, head.label.as_str()), (found.head, "pull request head"));
}

#[test]
fn a_stacked_pull_request_is_compared_with_the_branch_it_is_stacked_on() {
    let found = merged("feat/a");
    let (base, head) = found
        .clone
        .repo()
        .resolve(None, None, &pull_request("feat/a"))
        .unwrap();
    assert_eq!(
        (base.sha, base.label.as_str()),
        (found.fork, "merge base with origin/feat/a")
    );
    assert_eq!(head.sha, found.head);
}

#[test]
fn without_the_base_branch_the_merges_first_parent_stands_for_it() {
    let found = merged("feat/a");
    found
        .clone
        .git(&["update-ref", "-d", "refs/remotes/origin/feat/a"]);
    let (base, _) = found
        .clone
        .repo()
        .resolve(None, None, &pull_request("feat/a"))
        .unwrap();
    assert_eq!(
        (base.sha, base.label.as_str()),
        (found.fork, "merge base with feat/a (HEAD^1)")
    );
}

#[test]
fn the_merge_is_known_by_githubs_message_where_no_variable_tells() {
    let found = merged("trunk");
    let (first, second) = (found.clone.id("HEAD^1"), found.clone.id("HEAD^2"));
    found.clone.git(&[
        "commit",
        "--quiet",
        "--amend",
        "-m",
        &format!("Merge {second} into {first}"),
    ]);
    let (base, head) = found.clone.resolve(None, None).unwrap();
    assert_eq!((base.sha, head.sha), (found.fork, second.clone()));
    // The same words about other commits are somebody's own.
    found.clone.git(&[
        "commit",
        "--quiet",
        "--amend",
        "-m",
        &format!("Merge {first} into {second}"),
    ]);
    let (_, head) = found.clone.resolve(None, None).unwrap();
    assert_eq!(head.sha, found.clone.head());
}

#[test]
fn the_pull_requests_own_head_checked_out_is_not_taken_for_the_merge_ref_even_if_it_is_a_merge() {
    let found = merged("trunk");
    let merge_ref = found.clone.head();
    found.clone.git(&["checkout", "--quiet", "--detach", &found.head]);
    found.clone.git(&[
        "merge",
        "--quiet",
        "--no-ff",
        "-m",
        "Merge trunk",
        "origin/trunk~1",
    ]);
    let own = found.clone.head();
    let ci = Ci {
        sha: Some(merge_ref),
        ..pull_request("trunk")
    };
    let (_, head) = found.clone.repo().resolve(None, None, &ci).unwrap();
    assert_eq!(head.sha, own);
}

#[test]
fn a_merge_on_a_branch_outside_of_a_pull_request_is_measured_as_it_is() {
    let found = merged("trunk");
    let (_, head) = found.clone.resolve(None, None).unwrap();
    assert_eq!(head.sha, found.clone.head());
}

#[test]
fn explicit_revisions_win_over_the_event() {
    let found = merged("trunk");
    let repo = found.clone.repo();
    let (base, head) = repo
        .resolve(Some("HEAD^1"), Some("HEAD"), &pull_request("trunk"))
        .unwrap();
    assert_eq!(
        (base.sha, head.sha),
        (found.clone.id("HEAD^1"), found.clone.head())
    );
    let (base, head) = repo
        .resolve(Some("HEAD^1"), None, &pull_request("trunk"))
        .unwrap();
    assert_eq!((base.sha, head.sha), (found.clone.id("HEAD^1"), found.head));
}

#[test]
fn a_base_branch_that_was_not_fetched_is_named_and_not_replaced_by_another() {
    let found = merged("feat/a");
    found.clone.git(&["checkout", "--quiet", "--detach", &found.head]);
    found
        .clone
        .git(&["update-ref", "-d", "refs/remotes/origin/feat/a"]);
    let said = sentence(found.clone.repo().resolve(None, None, &pull_request("feat/a")));
    assert!(
        said.contains("base branch `feat/a`") && said.contains("fetch-depth: 0"),
        "{said}"
    );
}
