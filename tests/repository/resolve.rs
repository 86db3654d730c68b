//! Defaults of base and head, and everything a user may type.

use crate::fixture::{Fixture, sentence};
use abreast::edge::git::{Ci, WORKING_TREE};
use abreast::revision::Revision;

/// A clone on branch `topic` with one commit, and what `origin/trunk` was at the fork.
fn topic() -> (Fixture, Fixture, String) {
    let origin = Fixture::new();
    origin.commit_file("a", "1");
    let fork = origin.commit_file("a", "2");
    let clone = origin.cloned(&[]);
    clone.git(&["checkout", "--quiet", "-b", "topic"]);
    (origin, clone, fork)
}

#[test]
fn base_is_the_merge_base_with_the_remotes_head_even_without_a_local_branch_of_that_name() {
    let (_origin, clone, fork) = topic();
    clone.git(&["branch", "--quiet", "-D", "trunk"]);
    clone.commit_file("b", "1");
    // A decoy: named main, but not the default branch.
    clone.git(&["branch", "main"]);
    let (base, head) = clone.resolve(None, None).unwrap();
    assert_eq!(
        (base.sha, base.label.as_str()),
        (fork, "merge base with origin/trunk")
    );
    assert_eq!((head.sha, head.label.as_str()), (clone.head(), WORKING_TREE));
}

#[test]
fn a_branch_with_a_usual_name_does_not_win_over_the_remotes_head() {
    let origin = Fixture::new();
    origin.commit_file("a", "1");
    origin.git(&["branch", "main"]);
    origin.git(&["branch", "-m", "trunk", "stem"]);
    let fork = origin.commit_file("a", "2");
    let clone = origin.cloned(&[]);
    clone.git(&["checkout", "--quiet", "-b", "topic"]);
    clone.commit_file("b", "1");
    let (base, _) = clone.resolve(None, None).unwrap();
    assert_eq!(
        (base.sha, base.label.as_str()),
        (fork, "merge base with origin/stem")
    );
}

#[test]
fn what_the_base_branch_gained_after_the_fork_is_not_in_base() {
    let (origin, clone, fork) = topic();
    clone.commit_file("b", "1");
    for content in ["3", "4", "slower"] {
        origin.commit_file("a", content);
    }
    clone.git(&["fetch", "--quiet"]);
    let (base, _) = clone.resolve(None, None).unwrap();
    assert_eq!(base.sha, fork);
}

#[test]
fn the_only_remote_counts_whatever_its_name() {
    let (_origin, clone, fork) = topic();
    clone.git(&["remote", "rename", "origin", "upstream"]);
    clone.git(&["remote", "set-head", "upstream", "trunk"]);
    clone.commit_file("b", "1");
    let (base, _) = clone.resolve(None, None).unwrap();
    assert_eq!(
        (base.sha, base.label.as_str()),
        (fork, "merge base with upstream/trunk")
    );
}

#[test]
fn without_a_remote_head_the_configured_default_and_then_the_only_usual_name_count() {
    let (_origin, clone, fork) = topic();
    clone.git(&["remote", "set-head", "origin", "--delete"]);
    clone.commit_file("b", "1");
    let (base, _) = clone.resolve(None, None).unwrap();
    assert_eq!(
        (base.sha.as_str(), base.label.as_str()),
        (fork.as_str(), "merge base with origin/trunk")
    );

    let own = clone.commit_file("b", "2");
    clone.git(&["branch", "special"]);
    clone.commit_file("b", "3");
    clone.git(&["config", "init.defaultBranch", "special"]);
    let (base, _) = clone.resolve(None, None).unwrap();
    assert_eq!((base.sha, base.label.as_str()), (own, "merge base with special"));
}

#[test]
fn the_event_file_of_a_runner_names_the_default_branch() {
    let (origin, _, fork) = topic();
    origin.git(&["branch", "develop", "HEAD~1"]);
    let clone = origin.cloned(&[]);
    clone.git(&["remote", "set-head", "origin", "--delete"]);
    let said = sentence(clone.resolve(None, None));
    assert!(said.contains("origin/trunk and origin/develop exist"), "{said}");
    let ci = Ci {
        default_branch: Some("trunk".to_owned()),
        ..Ci::default()
    };
    let (base, _) = clone.repo().resolve(None, None, &ci).unwrap();
    assert_eq!(base.sha, fork);
}

#[test]
fn local_branches_do_when_there_is_no_remote() {
    let fixture = Fixture::new();
    let fork = fixture.commit_file("a", "1");
    fixture.git(&["checkout", "--quiet", "-b", "topic"]);
    fixture.commit_file("a", "2");
    let (base, _) = fixture.resolve(None, None).unwrap();
    assert_eq!((base.sha, base.label.as_str()), (fork, "merge base with trunk"));
}

#[test]
fn no_default_branch_says_how_to_name_the_base() {
    let fixture = Fixture::new();
    fixture.commit_file("a", "1");
    fixture.git(&["branch", "-m", "odd"]);
    let said = sentence(fixture.resolve(None, None));
    assert!(said.contains("cannot tell the default branch"), "{said}");
    assert!(
        said.contains("abreast compare origin/NAME") && said.contains("set-head"),
        "{said}"
    );
}

#[test]
fn histories_without_a_common_commit_are_refused() {
    let fixture = Fixture::new();
    fixture.commit_file("a", "1");
    fixture.git(&["checkout", "--quiet", "--orphan", "island"]);
    fixture.commit_file("b", "1");
    let said = sentence(fixture.resolve(None, None));
    assert!(
        said.contains("working tree and trunk have no commit in common"),
        "{said}"
    );
}

#[test]
fn every_way_to_name_a_commit_is_understood_and_kept_as_the_label() {
    let fixture = Fixture::new();
    let first = fixture.commit_file("a", "first words");
    let second = fixture.commit_file("a", "2");
    fixture.git(&["tag", "light", "HEAD~1"]);
    fixture.git(&["tag", "-a", "heavy", "-m", "t", "HEAD~1"]);
    fixture.git(&["checkout", "--quiet", "-b", "topic"]);
    let third = fixture.commit_file("a", "3");
    for (spec, id) in [
        ("HEAD~2", &first),
        ("HEAD^", &second),
        ("light", &first),
        ("heavy", &first),
        ("heavy^{commit}", &first),
        (&first[..8], &first),
        ("trunk", &second),
        ("refs/heads/trunk", &second),
        ("topic@{0}", &third),
        ("@", &third),
        ("@{-1}", &second),
        (":/first words", &first),
    ] {
        let (base, head) = fixture.resolve(Some(spec), Some("topic")).unwrap();
        assert_eq!((&base.sha, base.label.as_str()), (id, spec));
        assert_eq!(head.sha, third);
    }
}

#[test]
fn a_date_in_the_reflog_is_understood() {
    let fixture = Fixture::new();
    let first = fixture.commit_file("a", "1");
    fixture.commit_file("a", "2");
    let log = "0000000000000000000000000000000000000000 ";
    let last = fixture.head();
    let lines = format!(
        "{log}{first} A <a@example.org> 1000000000 +0000\tc\n{first} {last} A <a@example.org> {} +0000\tc\n",
        4_000_000_000_u64
    );
    fixture.write(".git/logs/refs/heads/trunk", lines);
    let (base, _) = fixture.resolve(Some("trunk@{yesterday}"), None).unwrap();
    assert_eq!(base.sha, first);
}

#[test]
fn the_working_tree_can_be_either_side() {
    let fixture = Fixture::new();
    let first = fixture.commit_file("a", "1");
    fixture.commit_file("a", "2");
    let (base, head) = fixture.resolve(Some(":worktree"), Some("HEAD~1")).unwrap();
    assert_eq!((base.label.as_str(), base.sha), (WORKING_TREE, fixture.head()));
    assert_eq!(head.sha, first);
    let (_, head) = fixture.resolve(None, Some(":worktree")).unwrap();
    assert_eq!(head.label, WORKING_TREE);
}

#[test]
fn an_unknown_name_comes_with_the_nearest_one() {
    let (_origin, clone, _) = topic();
    clone.git(&["branch", "feature/decode"]);
    let said = sentence(clone.resolve(Some("feature/decoed~1"), None));
    assert!(said.contains("`feature/decoed~1` names no commit"), "{said}");
    assert!(said.contains("did you mean `feature/decode`?"), "{said}");
    clone.git(&["branch", "--quiet", "-D", "trunk"]);
    let said = sentence(clone.resolve(Some("trunk"), None));
    assert!(said.contains("did you mean `origin/trunk`?"), "{said}");
    let said = sentence(clone.resolve(Some("topic~99"), None));
    assert!(said.contains("`topic` is known, but what follows"), "{said}");
    let said = sentence(clone.resolve(Some("zzz"), None));
    assert!(said.contains("git branch --all"), "{said}");
    let said = sentence(clone.resolve(Some("HEAD~1..HEAD"), None));
    assert!(said.contains("range"), "{said}");
    assert!(sentence(clone.resolve(Some(""), None)).contains("names no commit"));
}

#[test]
fn a_commit_of_a_recording_that_is_not_here_is_not_taken_for_the_working_tree() {
    let fixture = Fixture::new();
    fixture.commit_file("a", "1");
    let elsewhere = Revision {
        label: "main".to_owned(),
        sha: "1234567890123456789012345678901234567890".to_owned(),
    };
    let said = sentence(fixture.repo().snapshot(&elsewhere));
    assert!(
        said.contains("`1234567890123456789012345678901234567890` names no commit"),
        "{said}"
    );
}

#[test]
fn a_file_is_not_a_commit() {
    let fixture = Fixture::new();
    fixture.commit_file("a", "1");
    let said = sentence(fixture.resolve(Some("HEAD:a"), None));
    assert!(said.contains("names a blob, not a commit"), "{said}");
}

#[test]
fn an_ambiguous_id_lists_its_commits_unless_only_one_is_a_commit() {
    let fixture = Fixture::new();
    fixture.commit_file("a", "1");
    let tree = fixture.id("HEAD^{tree}");
    // Four hex digits collide after some hundred objects.
    let mut seen: std::collections::BTreeMap<String, String> = std::collections::BTreeMap::new();
    let mut found = None;
    let parent = fixture.head();
    let repo = git2::Repository::open(&fixture.path).unwrap();
    let someone = git2::Signature::new("A", "a@example.org", &git2::Time::new(1, 0)).unwrap();
    let tree = repo.find_tree(git2::Oid::from_str(&tree).unwrap()).unwrap();
    let parent = repo.find_commit(git2::Oid::from_str(&parent).unwrap()).unwrap();
    for n in 0..5_000 {
        let id = repo
            .commit(None, &someone, &someone, &format!("{n}"), &tree, &[&parent])
            .unwrap()
            .to_string();
        if let Some(other) = seen.insert(id[..4].to_owned(), id.clone()) {
            found = Some((other, id));
            break;
        }
    }
    let (one, two) = found.unwrap();
    let said = sentence(fixture.resolve(Some(&one[..4]), None));
    assert!(
        said.contains("is ambiguous") && said.contains("more digits"),
        "{said}"
    );
    assert!(said.contains(&one[..12]) && said.contains(&two[..12]), "{said}");

    let lone = &parent.id().to_string();
    for n in 0..1_000_000 {
        let bytes = format!("{n}");
        let id = git2::Oid::hash_object(git2::ObjectType::Blob, bytes.as_bytes()).unwrap();
        if id.to_string()[..4] == lone[..4] {
            repo.blob(bytes.as_bytes()).unwrap();
            break;
        }
    }
    if seen.contains_key(&lone[..4]) {
        return;
    }
    let (base, _) = fixture.resolve(Some(&lone[..4]), None).unwrap();
    assert_eq!(&base.sha, lone);
}
