//! What is compared with what.

use crate::support::bench::TestBench;
use crate::support::files::Files;
use crate::support::repository::{Repository, git};
use crate::support::tool::{Ended, Tool};
use std::path::Path;

/// A project whose comparison builds nothing and ends with code 3, so that only its revisions matter.
fn project() -> Files {
    Files::fixture("benchless")
}

/// `base sha, head sha` of a run that compared nothing.
fn shas(ended: &Ended) -> [String; 2] {
    let report = ended.expect(3);
    let found = ["base", "head"].map(|side| report.0[side]["sha"].as_str().unwrap().to_owned());
    for sha in &found {
        assert!(
            ended.stderr.contains(&sha[..7]),
            "both revisions are said: {}",
            ended.stderr
        );
    }
    found
}

/// A branch off the default branch `trunk`, which went on; a clone of it without a local `trunk`.
///
/// ```text
/// fork --- later (trunk)
///    \--- work (topic)
/// ```
struct Branched {
    at: TestBench,
    clone: Repository,
    fork: String,
    later: String,
    work: String,
}

fn branched() -> Branched {
    let at = TestBench::of_own(&project());
    let origin = &at.repository;
    let fork = origin.git(&["rev-parse", "HEAD"]);
    let later = origin.commit(&project().with("later.txt", "later"), &[&fork]);
    let work = origin.commit(&project().with("work.txt", "work"), &[&fork]);
    origin.git(&["update-ref", "refs/heads/trunk", &later]);
    origin.git(&["branch", "topic", &work]);
    let path = origin.path.with_file_name("clone");
    let url = format!("file://{}", origin.path.display());
    git(
        Path::new("/"),
        &[
            "clone",
            "--quiet",
            "--branch",
            "topic",
            &url,
            path.to_str().unwrap(),
        ],
    );
    Branched {
        clone: Repository { path },
        at,
        fork,
        later,
        work,
    }
}

impl Branched {
    fn tool(&self, args: &[&str]) -> Tool {
        Tool::new(&self.clone.path, &self.at.home, &["compare"])
            .args(args)
            .json()
    }
}

#[test]
fn the_default_base_is_where_the_branch_left_the_default_branch_whatever_its_name() {
    let of = branched();
    assert_eq!(shas(&of.tool(&[]).run()), [of.fork.clone(), of.work.clone()]);
    // Work on top that is not committed yet is the head.
    of.clone.write("work.txt", "not committed");
    let [base, head] = shas(&of.tool(&[]).run());
    assert_eq!(base, of.fork);
    assert_ne!(head, of.work);
    assert_eq!(
        shas(&of.tool(&["origin/trunk", "HEAD"]).run()),
        [of.later.clone(), of.work.clone()]
    );
}

#[test]
fn on_the_merge_ref_of_a_pull_request_its_own_head_is_compared_with_where_it_left_its_base() {
    let of = branched();
    let merged = project().with("later.txt", "later").with("work.txt", "work");
    let merge = of.clone.commit(&merged, &[&of.later, &of.work]);
    of.clone.git(&["checkout", "--quiet", "--detach", &merge]);
    let on_merge_ref = |base: &str| {
        of.tool(&[])
            .env("GITHUB_EVENT_NAME", "pull_request")
            .env("GITHUB_REF", "refs/pull/7/merge")
            .env("GITHUB_BASE_REF", base)
            .env("GITHUB_SHA", &merge)
            .run()
    };
    assert_eq!(shas(&on_merge_ref("trunk")), [of.fork.clone(), of.work.clone()]);
}

#[test]
fn a_stacked_pull_request_is_compared_with_the_branch_it_goes_into() {
    let of = branched();
    let upper = of.clone.commit(
        &project().with("work.txt", "work").with("upper.txt", "upper"),
        &[&of.work],
    );
    of.clone.git(&["checkout", "--quiet", "-b", "upper", &upper]);
    let ended = of
        .tool(&[])
        .env("GITHUB_EVENT_NAME", "pull_request")
        .env("GITHUB_BASE_REF", "topic")
        .run();
    assert_eq!(shas(&ended), [of.work.clone(), upper]);
}

#[test]
fn a_shallow_clone_is_refused_with_the_remedy_and_never_compared_with_a_wrong_base() {
    let of = branched();
    let path = of.clone.path.with_file_name("shallow");
    let url = format!("file://{}", of.at.repository.path.display());
    git(
        Path::new("/"),
        &[
            "clone",
            "--quiet",
            "--depth",
            "1",
            "--no-single-branch",
            "--branch",
            "topic",
            &url,
            path.to_str().unwrap(),
        ],
    );
    let ended = Tool::new(&path, &of.at.home, &["compare"]).json().run();
    let said = ended.refusal(2);
    assert!(said.contains("fetch-depth: 0"), "{said}");
}

#[test]
fn a_revision_that_is_none_is_refused_and_the_nearest_name_offered() {
    let at = TestBench::of_own(&project());
    for (words, expected) in [
        ("trnuk", "did you mean `trunk`?"),
        ("0123456789", "names no commit here"),
        ("HEAD..HEAD", "it is a range"),
        ("HEAD^{tree}", "not a commit"),
    ] {
        let ended = at.compare(words, "HEAD", &[]);
        let said = ended.refusal(2);
        assert!(said.contains(words) && said.contains(expected), "{said}");
    }
}

#[test]
fn an_abbreviation_of_several_commits_is_refused_with_the_candidates() {
    let at = TestBench::of_own(&project());
    // Commits' ids are fixed by their files, so this finds the same two each time, after some three hundred.
    let mut seen = std::collections::BTreeMap::new();
    let (one, other) = (0..)
        .find_map(|n| {
            let id = at.commit(&Files::default().with("n", format!("{n}")));
            seen.insert(id[..4].to_owned(), id.clone())
                .map(|earlier| (earlier, id))
        })
        .unwrap();
    let ended = at.compare(&one[..4], "HEAD", &[]);
    let said = ended.refusal(2);
    assert!(
        said.contains("ambiguous") && said.contains(&one[..12]) && said.contains(&other[..12]),
        "{said}"
    );
}

#[test]
fn where_there_is_nothing_to_compare_the_reason_is_said() {
    let home = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let refused = |path: &Path| {
        let ended = Tool::new(path, home.path(), &["compare"]).json().run();
        ended.refusal(2).to_owned()
    };
    let nowhere = folder.path().join("nowhere");
    std::fs::create_dir(&nowhere).unwrap();
    assert!(refused(&nowhere).contains("is not inside a git repository"));

    let bare = folder.path().join("bare");
    git(folder.path(), &["init", "--quiet", "--bare", "bare"]);
    assert!(refused(&bare).contains("is a bare repository"));

    let empty = folder.path().join("empty");
    git(folder.path(), &["init", "--quiet", "empty"]);
    std::fs::write(empty.join("Cargo.toml"), "[package]\nname = \"x\"\n").unwrap();
    assert!(refused(&empty).contains("has no commit yet"));

    let rustless = folder.path().join("rustless");
    Repository::new(&rustless, &Files::default().with("main.c", "int main;"));
    let said = refused(&rustless);
    assert!(
        said.contains("there is no Cargo.toml in") && said.contains("inside a Rust project"),
        "{said}"
    );
}

#[test]
fn the_tool_works_from_a_folder_below_the_root_and_for_a_project_below_it() {
    let at = TestBench::of_own(&project().below("deep/project"));
    let below = at.repository.path.join("deep/project/src");
    let ended = Tool::new(&below, &at.home, &["compare", "HEAD", "HEAD"])
        .guarding(&at.repository.path)
        .json()
        .run();
    ended.expect(3);
}
