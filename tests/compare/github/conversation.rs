//! One comment, whoever writes it and however often.

use super::reports::{many_rows, message, sha, told, unchanged};
use super::server::{FakeGithub, Interference, REPOSITORY, State, TOKEN, US};
use abreast::comment::{Message, Reason, compose, sections};
use abreast::edge::github::{Access, Github, GithubError, Time};
use abreast::pipeline::{Became, Recipient, publish};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The time at which all of it takes place.
pub(crate) const NOW_S: u64 = 1_000_000;

/// Access that waits for nothing and remembers how long it should have.
pub(crate) fn access(to: &FakeGithub) -> (Github, Arc<Mutex<Vec<Duration>>>) {
    let waited = Arc::new(Mutex::new(Vec::new()));
    let access = Access {
        api: to.api.clone(),
        repository: REPOSITORY.to_owned(),
        token: TOKEN.to_owned(),
        roots: None,
    };
    let own = Arc::clone(&waited);
    let time = Time {
        now_s: Box::new(|| NOW_S),
        wait: Box::new(move |time| own.lock().unwrap().push(time)),
    };
    let github = Github::new(access, time).unwrap();
    (github, waited)
}

/// Publishes on pull request 7; what its newest commit is, is not known if the server was not told.
pub(crate) fn say(to: &FakeGithub, message: &Message) -> Result<Became, GithubError> {
    publish(&access(to).0, message, &recipient())
}

fn recipient() -> Recipient {
    Recipient {
        number: 7,
        author: US.to_owned(),
    }
}

/// Names of the jobs in a comment.
fn jobs(body: &str) -> Vec<String> {
    let sections = sections(body).unwrap();
    sections.into_iter().map(|section| section.job).collect()
}

#[test]
fn five_pushes_leave_one_comment_about_the_last() {
    let github = FakeGithub::new();
    for (push, head) in ['1', '2', '3', '4', '5'].into_iter().enumerate() {
        let became = say(&github, &message("bench", push as u64 + 1, head)).unwrap();
        let expected = if push == 0 {
            Became::Created
        } else {
            Became::Updated
        };
        assert_eq!(became, expected);
    }
    let body = github.body();
    assert!(
        body.contains("(5555555555)") && !body.contains("(4444444444)"),
        "{body}"
    );
    assert_eq!(github.state().comments.len(), 1);
}

#[test]
fn two_jobs_leave_two_sections_of_one_comment() {
    let github = FakeGithub::new();
    assert_eq!(say(&github, &message("linux", 1, 'a')).unwrap(), Became::Created);
    assert_eq!(say(&github, &message("arm", 1, 'a')).unwrap(), Became::Updated);
    assert_eq!(jobs(&github.body()), ["arm", "linux"]);
    // The next push updates each of them.
    say(&github, &message("linux", 2, 'c')).unwrap();
    assert_eq!(jobs(&github.body()), ["arm", "linux"]);
    let texts: Vec<String> = sections(&github.body())
        .unwrap()
        .into_iter()
        .map(|section| section.text)
        .collect();
    assert!(texts[0].contains("(aaaaaaaaaa)") && texts[1].contains("(cccccccccc)"));
}

#[test]
fn a_comment_on_the_third_page_is_found() {
    let github = FakeGithub::new();
    for n in 0..230 {
        github.posted("someone", &format!("comment {n}"));
    }
    say(&github, &message("bench", 1, 'a')).unwrap();
    say(&github, &message("bench", 2, 'c')).unwrap();
    assert!(github.body().contains("(cccccccccc)"));
    assert_eq!(github.state().comments.len(), 231);
}

#[test]
fn exactly_full_pages_are_turned_and_end() {
    let github = FakeGithub::new();
    for n in 0..200 {
        github.posted("someone", &format!("comment {n}"));
    }
    assert_eq!(access(&github).0.comments(7).unwrap().len(), 200);
}

#[test]
fn an_older_run_that_ends_last_changes_nothing() {
    let github = FakeGithub::new();
    say(&github, &message("bench", 2, 'c')).unwrap();
    let before = github.body();
    let became = say(&github, &message("bench", 1, 'a')).unwrap();
    assert_eq!(became, Became::Left(Reason::Newer));
    assert_eq!(github.body(), before);
    // Whichever run is newer: what is about the newest commit stays.
    github.open(7, REPOSITORY, "fix", &sha('c'));
    let became = say(&github, &message("bench", 3, 'a')).unwrap();
    assert_eq!(became, Became::Left(Reason::Newer));
    assert_eq!(github.asked("PATCH"), 0);
}

#[test]
fn the_comments_of_others_are_untouched() {
    let github = FakeGithub::new();
    let section = message("bench", 99, 'a').section(9_000);
    github.posted("someone", "what a nice benchmark");
    github.posted("mallory", &compose(&[section], None));
    github.posted("codecov[bot]", "benchmark: coverage went up");
    let before = github.state().comments.clone();
    say(&github, &message("bench", 1, 'a')).unwrap();
    say(&github, &message("bench", 2, 'c')).unwrap();
    let state = github.state();
    assert_eq!(state.comments[..3], before);
    assert_eq!(state.comments.len(), 4);
    assert_eq!(state.comments[3].author, US);
}

#[test]
fn two_thousand_rows_and_a_second_job_fit_into_one_comment() {
    let github = FakeGithub::new();
    say(&github, &told("linux", 1, 'a', &many_rows('a'))).unwrap();
    say(&github, &told("arm", 1, 'a', &many_rows('a'))).unwrap();
    let body = github.body();
    assert!(body.chars().count() < 65_536, "{}", body.chars().count());
    for section in sections(&body).unwrap() {
        // Among the changes, and at the top of the table.
        assert_eq!(
            section.text.matches("| 🔴\u{a0}alert |").count(),
            6,
            "{}",
            section.job
        );
    }
    assert!(body.contains("rows are left out here") && !body.contains("::group::"));
}

#[test]
fn where_nothing_changed_nothing_is_said_until_something_did() {
    let github = FakeGithub::new();
    let on_change = |message: Message| Message {
        on_change: true,
        ..message
    };
    let quiet = |run, head| on_change(told("bench", run, head, &unchanged(head)));
    assert_eq!(say(&github, &quiet(1, 'a')).unwrap(), Became::Left(Reason::Quiet));
    assert!(github.state().comments.is_empty());
    let loud = on_change(message("bench", 2, 'c'));
    assert_eq!(say(&github, &loud).unwrap(), Became::Created);
    assert_eq!(say(&github, &quiet(3, 'd')).unwrap(), Became::Updated);
    let body = github.body();
    assert!(body.contains("### ✅ `bench`: no change"), "{body}");
    assert!(body.contains("(dddddddddd)") && !body.contains("🔴"), "{body}");
}

#[test]
fn two_jobs_that_both_made_a_comment_end_with_one() {
    let github = FakeGithub::new();
    let other = compose(&[message("arm", 1, 'a').section(9_000)], None);
    let both: Interference = Box::new(move |state: &mut State| {
        state.post(US, &other);
    });
    github.state().interference.push_back(("POST", both));
    say(&github, &message("linux", 1, 'a')).unwrap();
    assert_eq!(jobs(&github.body()), ["arm", "linux"]);
    assert_eq!(github.state().comments[0].id, 1, "the older one stays");
}

#[test]
fn what_another_job_overwrote_is_written_again() {
    let github = FakeGithub::new();
    say(&github, &message("arm", 1, 'a')).unwrap();
    let lost = github.body();
    // It read the comment before this one changed it, and wrote after.
    let overwritten: Interference = Box::new(move |state: &mut State| state.comments[0].body = lost);
    github.state().interference.push_back(("PATCH", overwritten));
    let became = say(&github, &message("linux", 1, 'a')).unwrap();
    assert_eq!(became, Became::Updated);
    assert_eq!(jobs(&github.body()), ["arm", "linux"]);
    assert_eq!(github.asked("PATCH"), 2);
}

#[test]
fn a_comment_that_is_removed_while_it_is_changed_is_made_anew() {
    let github = FakeGithub::new();
    say(&github, &message("bench", 1, 'a')).unwrap();
    let gone: Interference = Box::new(|state: &mut State| state.comments.clear());
    github.state().interference.push_back(("GET", gone));
    say(&github, &message("bench", 2, 'c')).unwrap();
    assert!(github.body().contains("(cccccccccc)"));
}

#[test]
fn an_app_that_was_not_told_its_login_finds_its_comment_by_what_it_wrote() {
    let github = FakeGithub::new();
    github.state().login = Some("an-app[bot]".to_owned());
    for (run, head) in [(1, 'a'), (2, 'c'), (3, 'd')] {
        say(&github, &message("bench", run, head)).unwrap();
        assert_eq!(github.bodies().len(), 1);
    }
    let state = github.state();
    assert_eq!(state.comments[0].id, 1, "the oldest stays");
    assert!(state.comments[0].body.contains("(dddddddddd)"));
}

#[test]
fn two_jobs_of_one_name_in_one_run_are_told_apart_from_a_lost_comment() {
    let github = FakeGithub::new();
    let other = compose(&[told("bench", 1, 'a', &unchanged('a')).section(9_000)], None);
    say(&github, &message("bench", 0, 'a')).unwrap();
    let namesake: Interference = Box::new(move |state: &mut State| state.comments[0].body = other);
    github.state().interference.push_back(("PATCH", namesake));
    let became = say(&github, &message("bench", 1, 'a')).unwrap();
    assert_eq!(became, Became::Left(Reason::SameName));
}

#[test]
fn a_look_after_writing_waits_until_another_job_would_have_written() {
    let github = FakeGithub::new();
    let (access, waited) = access(&github);
    publish(&access, &message("bench", 1, 'a'), &recipient()).unwrap();
    let waited = waited.lock().unwrap();
    assert_eq!(waited.len(), 1);
    assert!(waited[0] >= Duration::from_secs(1));
}

#[test]
fn a_push_that_happens_meanwhile_is_noticed() {
    let github = FakeGithub::new();
    github.open(7, REPOSITORY, "fix", &sha('a'));
    say(&github, &message("bench", 1, '0')).unwrap();
    // Its run is the newer one, and has written before the comments are read.
    let newer = compose(&[message("bench", 2, 'c').section(9_000)], None);
    let pushed: Interference = Box::new(move |state: &mut State| {
        state.pulls[0]["head"]["sha"] = sha('c').into();
    });
    github.state().comments[0].body = newer.clone();
    github.state().interference.push_back(("GET", pushed));
    let became = say(&github, &message("bench", 1, 'a')).unwrap();
    assert_eq!(became, Became::Left(Reason::Newer));
    assert_eq!(github.body(), newer);
}
