//! A GitHub that does not answer, or says no.

use super::command::no_time;
use super::conversation::{NOW_S, access, say};
use super::reports::{message, sha};
use super::server::{FakeGithub, Fault, Interference, REPOSITORY, State, TOKEN, US};
use abreast::comment::{Reason, compose};
use abreast::edge::github::{Access, Github, GithubError};
use abreast::pipeline::Became;
use std::time::Duration;

fn seconds(waited: &[Duration]) -> Vec<u64> {
    waited.iter().map(Duration::as_secs).collect()
}

#[test]
fn a_server_that_fails_is_asked_again_more_and_more_patiently() {
    let github = FakeGithub::new();
    for status in [500, 502, 503, 504] {
        github.fail("GET", status, "Server Error");
    }
    let (access, waited) = access(&github);
    assert_eq!(access.comments(7).unwrap().len(), 0);
    assert_eq!(seconds(&waited.lock().unwrap()), [1, 2, 4, 8]);
}

#[test]
fn a_server_that_goes_on_failing_is_given_up() {
    let github = FakeGithub::new();
    for _ in 0..20 {
        github.fail("GET", 503, "Service Unavailable");
    }
    let (access, waited) = access(&github);
    let error = access.comments(7).unwrap_err();
    assert!(matches!(error, GithubError::Busy { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("503") && text.contains("Service Unavailable"),
        "{text}"
    );
    assert_eq!(seconds(&waited.lock().unwrap()), [1, 2, 4, 8, 16]);
}

#[test]
fn a_time_that_is_told_is_waited() {
    let github = FakeGithub::new();
    github.fail_with(Fault::new("GET", 429, "Too Many Requests").header("Retry-After", 3));
    github.fail_with(
        Fault::new("GET", 403, "You have exceeded a secondary rate limit").header("Retry-After", 7),
    );
    github.fail_with(Fault::new(
        "GET",
        403,
        "You have exceeded a secondary rate limit.",
    ));
    let (access, waited) = access(&github);
    access.comments(7).unwrap();
    assert_eq!(seconds(&waited.lock().unwrap()), [3, 7, 60]);
}

#[test]
fn the_end_of_the_hour_is_waited_for_if_it_is_near() {
    let spent = |reset: u64| {
        Fault::new("GET", 403, "API rate limit exceeded")
            .header("X-RateLimit-Remaining", 0)
            .header("X-RateLimit-Reset", reset)
    };
    let github = FakeGithub::new();
    github.fail_with(spent(NOW_S + 30));
    let (patient, waited) = access(&github);
    patient.comments(7).unwrap();
    assert_eq!(seconds(&waited.lock().unwrap()), [31]);

    github.fail_with(spent(NOW_S + 3_000));
    let error = patient.comments(7).unwrap_err();
    assert!(matches!(error, GithubError::Limited { .. }), "{error}");
    assert!(error.to_string().contains("asks to wait"), "{error}");
}

#[test]
fn a_comment_that_was_made_although_the_answer_got_lost_is_not_made_twice() {
    let github = FakeGithub::new();
    github.fail_with(Fault::new("POST", 502, "Bad Gateway").but_done());
    say(&github, &message("bench", 1, 'a')).unwrap();
    github.body();
    assert_eq!(github.asked("POST"), 1);
}

#[test]
fn a_comment_that_was_not_made_is_tried_again() {
    let github = FakeGithub::new();
    github.fail("POST", 500, "Server Error");
    github.fail_with(Fault::new("POST", 429, "Too Many Requests").header("Retry-After", 2));
    assert_eq!(say(&github, &message("bench", 1, 'a')).unwrap(), Became::Created);
    github.body();
    assert_eq!(github.asked("POST"), 3);
}

#[test]
fn a_change_that_failed_is_tried_again() {
    let github = FakeGithub::new();
    say(&github, &message("bench", 1, 'a')).unwrap();
    github.fail("PATCH", 503, "Service Unavailable");
    assert_eq!(say(&github, &message("bench", 2, 'c')).unwrap(), Became::Updated);
    assert!(github.body().contains("(cccccccccc)"));
}

#[test]
fn what_failed_is_decided_anew_before_it_is_tried_again() {
    let github = FakeGithub::new();
    github.open(7, REPOSITORY, "fix", &sha('c'));
    say(&github, &message("bench", 1, '0')).unwrap();
    // While this change fails, the run of a newer commit makes its own.
    let newer = compose(&[message("bench", 3, 'c').section(9_000)], None);
    let theirs = newer.clone();
    let meanwhile: Interference = Box::new(move |state: &mut State| state.comments[0].body = theirs);
    github.state().interference.push_back(("PATCH", meanwhile));
    github.fail("PATCH", 502, "Bad Gateway");
    let became = say(&github, &message("bench", 2, 'a')).unwrap();
    assert_eq!(became, Became::Left(Reason::Newer));
    assert_eq!(github.body(), newer);
    assert_eq!(github.asked("PATCH"), 1);
}

#[test]
fn a_job_is_kept_for_three_minutes_at_most_whatever_it_waits_for() {
    let github = FakeGithub::new();
    for _ in 0..3 {
        github.fail_with(Fault::new("GET", 429, "Too Many Requests").header("Retry-After", 50));
    }
    github.fail_with(Fault::new(
        "POST",
        403,
        "You have exceeded a secondary rate limit",
    ));
    let (access, waited) = access(&github);
    let recipient = abreast::pipeline::Recipient {
        number: 7,
        author: US.to_owned(),
    };
    let error = abreast::pipeline::publish(&access, &message("bench", 1, 'a'), &recipient).unwrap_err();
    assert!(error.to_string().contains("GitHub asks to wait 60 s"), "{error}");
    assert_eq!(seconds(&waited.lock().unwrap()), [50, 50, 50]);
    assert!(github.bodies().is_empty());
}

#[test]
fn a_token_that_may_only_read_is_told_from_too_many_requests() {
    let github = FakeGithub::new();
    github.state().read_only = true;
    let error = say(&github, &message("bench", 1, 'a')).unwrap_err();
    let GithubError::ReadOnly { said, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(said, "Resource not accessible by integration");
    assert!(error.to_string().contains("pull-requests: write"), "{error}");
    assert_eq!(github.asked("POST"), 1);
}

#[test]
fn what_is_refused_for_good_is_not_tried_again() {
    for (status, words) in [(422, "Validation Failed"), (404, "Not Found"), (410, "Gone")] {
        let github = FakeGithub::new();
        github.fail("POST", status, words);
        let error = say(&github, &message("bench", 1, 'a')).unwrap_err();
        assert!(matches!(error, GithubError::Refused { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(github.asked("POST"), 1);
    }
}

#[test]
fn a_wrong_token_is_refused_and_not_shown() {
    let github = FakeGithub::new();
    let access = Access {
        api: github.api.clone(),
        repository: REPOSITORY.to_owned(),
        token: "another-secret".to_owned(),
        roots: None,
    };
    let error = Github::new(access, no_time()).unwrap().comments(7).unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(text.contains("401") && text.contains("Bad credentials"), "{text}");
    assert!(!text.contains("another-secret"), "{text}");
}

#[test]
fn a_redirect_is_not_followed() {
    let github = FakeGithub::new();
    let elsewhere = FakeGithub::new();
    let moved =
        Fault::new("GET", 301, "Moved Permanently").header("Location", format!("{}/x", elsewhere.api));
    github.fail_with(moved);
    let error = access(&github).0.comments(7).unwrap_err().to_string();
    assert!(error.contains("has moved"), "{error}");
    assert_eq!(elsewhere.asked("GET"), 0);
}

#[test]
fn an_address_that_a_list_names_is_never_asked() {
    let github = FakeGithub::new();
    for n in 0..150 {
        github.posted("someone", &format!("comment {n}"));
    }
    let elsewhere = FakeGithub::new();
    github.state().links_to = Some(elsewhere.api.clone());
    assert_eq!(access(&github).0.comments(7).unwrap().len(), 150);
    assert_eq!(elsewhere.asked("GET"), 0);
}

#[test]
fn an_answer_that_is_none_says_so() {
    let github = FakeGithub::new();
    github.fail("GET", 200, "no list");
    let error = access(&github).0.comments(7).unwrap_err();
    assert!(matches!(error, GithubError::Answer { .. }), "{error}");
}

#[test]
fn where_nobody_answers_it_is_said_after_some_patience() {
    let access = Access {
        // Nothing listens on the port of a server that was closed.
        api: {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            format!("http://{}", listener.local_addr().unwrap())
        },
        repository: REPOSITORY.to_owned(),
        token: TOKEN.to_owned(),
        roots: None,
    };
    let error = Github::new(access, no_time()).unwrap().comments(7).unwrap_err();
    assert!(matches!(error, GithubError::Busy { .. }), "{error}");
}
