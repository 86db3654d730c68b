//! A pull request from a fork: another workflow measured, and all it left behind is an artifact.

use super::command::{Job, plainly};
use super::reports::{regressed, sha};
use super::server::FakeGithub;
use serde_json::{Value, json};

/// The end of a run that measured the branch `fix` of a fork. GitHub names no pull request for it.
fn ended(head: char) -> Value {
    json!({"workflow_run": {
        "id": 800, "run_number": 4, "run_attempt": 1, "event": "pull_request",
        "head_branch": "fix#1&x", "head_sha": sha(head),
        "head_repository": {"full_name": "guest/project"},
        "pull_requests": [],
    }})
}

fn after(github: &FakeGithub, head: char) -> Job {
    Job::new(github, "workflow_run", &ended(head), 900).with("GITHUB_REF", "refs/heads/main")
}

#[test]
fn the_pull_request_is_found_by_the_head_that_github_tells() {
    let github = FakeGithub::new();
    github.open(6, "guest/project", "other", &sha('a'));
    github.open(7, "guest/project", "fix#1&x", &sha('a'));
    github.open(8, "somebody/project", "fix#1&x", &sha('a'));
    let job = after(&github, 'a');
    job.says(&regressed('a'), plainly, "commented on pull request #7");
    let body = github.body();
    // The run that measured, not the one that comments.
    assert!(
        body.contains("/actions/runs/800)") && body.contains("run=800 number=4"),
        "{body}"
    );
}

#[test]
fn what_the_artifact_says_about_a_pull_request_counts_for_nothing() {
    let github = FakeGithub::new();
    github.open(7, "guest/project", "fix#1&x", &sha('a'));
    github.open(1, "owner/project", "main", &sha('c'));
    let mut report = regressed('a');
    for key in ["pr", "pull_request", "number", "issue"] {
        report[key] = json!(1);
    }
    after(&github, 'a').says(&report, plainly, "commented on pull request #7");
}

#[test]
fn a_commit_that_is_no_longer_the_newest_is_skipped() {
    let github = FakeGithub::new();
    github.open(7, "guest/project", "fix#1&x", &sha('c'));
    let job = after(&github, 'a');
    job.says(
        &regressed('a'),
        plainly,
        "pull request #7 has a newer commit by now",
    );
    assert!(github.bodies().is_empty());
}

#[test]
fn a_head_without_an_open_pull_request_is_skipped() {
    let github = FakeGithub::new();
    github.open(8, "somebody/project", "fix#1&x", &sha('a'));
    let job = after(&github, 'a');
    job.says(&regressed('a'), plainly, "no open pull request has the head");
    assert!(github.bodies().is_empty());
    assert!(job.read("summary.md").contains("parse/slow"));
}

#[test]
fn a_report_about_another_commit_than_the_run_is_refused() {
    let github = FakeGithub::new();
    github.open(7, "guest/project", "fix#1&x", &sha('a'));
    let job = after(&github, 'a');
    for number in [None, Some(7)] {
        let error = job.say(&regressed('c'), |ask| ask.number = number).unwrap_err();
        assert!(error.contains("is about the commit cccccccccc"), "{error}");
    }
    assert!(github.bodies().is_empty());
}

#[test]
fn an_older_run_that_is_told_of_last_changes_nothing() {
    let github = FakeGithub::new();
    // The commit was pushed again, so both runs are about the newest one.
    github.open(7, "guest/project", "fix#1&x", &sha('a'));
    let mut newer = ended('a');
    newer["workflow_run"]["id"] = json!(801);
    newer["workflow_run"]["run_number"] = json!(5);
    let job = Job::new(&github, "workflow_run", &newer, 900);
    job.says(&regressed('a'), plainly, "commented");
    // Its own run is newer, but not the one that measured.
    let job = Job::new(&github, "workflow_run", &ended('a'), 901);
    let mut other = regressed('a');
    other["notes"] = json!(["another one"]);
    job.says(&other, plainly, "left as it is");
}
