//! Which comment is written, and which is left alone.

use super::*;
use crate::comment::sample;
use crate::pull_request::Run;
use crate::report::{self, Report};
use crate::verdict::Verdict;

const US: &str = "github-actions[bot]";

fn regressed() -> Report {
    let slow = report::sample::changed("slow", Verdict::Regressed, 100.0, 0.2, 0.01);
    Report {
        findings: vec![slow],
        ..report::sample::empty()
    }
}

fn unchanged() -> Report {
    Report {
        findings: vec![report::sample::unchanged("same")],
        ..report::sample::empty()
    }
}

/// What a job says in some run about some commit.
fn says(job: &str, run: u64, head: &str) -> Message {
    Message {
        run: Run {
            id: Some(run),
            ..Run::default()
        },
        head: head.repeat(40),
        ..sample::message(job, vec![regressed()])
    }
}

fn quietly(message: Message) -> Message {
    Message {
        reports: sample::message("", vec![unchanged()]).reports,
        on_change: true,
        ..message
    }
}

fn posted(id: u64, author: &str, body: impl Into<String>) -> Posted {
    Posted {
        id,
        author: Some(author.to_owned()),
        body: body.into(),
    }
}

fn by_us(id: u64, sections: &[Section]) -> Posted {
    posted(id, US, compose(sections, None))
}

fn situation(comments: &[Posted]) -> Situation<'_> {
    Situation {
        comments,
        author: US,
        head: None,
        written: false,
    }
}

fn full(message: &Message) -> Section {
    message.section(crate::comment::LIMIT)
}

/// The jobs of a body, each with the commit it is about.
fn jobs(body: &str) -> Vec<(String, String)> {
    let sections = sections(body).unwrap();
    sections
        .into_iter()
        .map(|section| (section.job, section.stamp.head[..1].to_owned()))
        .collect()
}

#[track_caller]
fn created(decision: Decision) -> String {
    match decision {
        Decision::Create(body) => body,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn edited(decision: Decision) -> Edit {
    match decision {
        Decision::Edit(edit) => edit,
        other => panic!("{other:?}"),
    }
}

fn named(jobs: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(job, head): &(&str, &str)| ((*job).to_owned(), (*head).to_owned());
    jobs.iter().map(owned).collect()
}

#[test]
fn the_first_message_makes_a_comment() {
    let others = [
        posted(1, "someone", "the benchmark of abreast is nice"),
        posted(2, US, "something else"),
    ];
    let body = created(decide(&says("bench", 1, "a"), &situation(&others)));
    assert_eq!(jobs(&body), named(&[("bench", "a")]));
}

#[test]
fn the_next_one_changes_it() {
    let comments = [by_us(3, &[full(&says("bench", 1, "a"))])];
    let edit = edited(decide(&says("bench", 2, "b"), &situation(&comments)));
    assert_eq!((edit.id, edit.remove), (3, vec![]));
    assert_eq!(jobs(&edit.body.unwrap()), named(&[("bench", "b")]));
}

#[test]
fn what_is_said_already_is_not_said_again() {
    let message = says("bench", 1, "a");
    let comments = [by_us(3, &[full(&message)])];
    assert_eq!(
        decide(&message, &situation(&comments)),
        Decision::Leave(Reason::Said)
    );
}

#[test]
fn another_job_gets_a_section_of_its_own_and_the_first_one_stays() {
    let first = full(&says("linux", 1, "a"));
    let comments = [by_us(3, std::slice::from_ref(&first))];
    let edit = edited(decide(&says("arm", 1, "a"), &situation(&comments)));
    let body = edit.body.unwrap();
    assert_eq!(jobs(&body), named(&[("arm", "a"), ("linux", "a")]));
    assert_eq!(sections(&body).unwrap()[1], first);
}

#[test]
fn an_older_run_that_ends_last_changes_nothing() {
    let comments = [by_us(3, &[full(&says("bench", 2, "b"))])];
    let older = says("bench", 1, "a");
    assert_eq!(
        decide(&older, &situation(&comments)),
        Decision::Leave(Reason::Newer)
    );
}

#[test]
fn what_is_about_the_newest_commit_wins_whichever_run_it_is_of() {
    let about = |message: &Message, said: &Message, head: &str| {
        let comments = [by_us(3, &[full(said)])];
        let head = head.repeat(40);
        let situation = Situation {
            head: Some(&head),
            ..situation(&comments)
        };
        decide(message, &situation)
    };
    let (early, late) = (says("bench", 1, "a"), says("bench", 2, "b"));
    // Somebody pushed `a` again and started its run anew.
    let edit = edited(about(&early, &late, "a"));
    assert_eq!(jobs(&edit.body.unwrap()), named(&[("bench", "a")]));
    assert_eq!(about(&late, &early, "a"), Decision::Leave(Reason::Newer));
    // Neither is about it: the later run wins, and says what it is not.
    assert_eq!(about(&early, &late, "c"), Decision::Leave(Reason::Newer));
    let body = edited(about(&late, &early, "c")).body.unwrap();
    assert!(
        body.contains("about `bbbbbbbbbb`, which is not the newest commit"),
        "{body}"
    );
}

#[test]
fn a_run_that_was_started_again_replaces_what_it_said() {
    let attempt = |attempt, report| {
        let mut message = says("bench", 1, "a");
        message.run.attempt = Some(attempt);
        message.reports[0].report = report;
        message
    };
    let comments = [by_us(3, &[full(&attempt(1, regressed()))])];
    let again = edited(decide(&attempt(2, regressed()), &situation(&comments)));
    assert!(again.body.is_some());
    // In one attempt the last word counts.
    let corrected = edited(decide(&attempt(1, unchanged()), &situation(&comments)));
    assert!(corrected.body.is_some());
}

#[test]
fn where_nothing_changed_nothing_is_said_unless_something_was() {
    let quiet = quietly(says("bench", 2, "b"));
    assert_eq!(decide(&quiet, &situation(&[])), Decision::Leave(Reason::Quiet));
    let of_another_job = [by_us(3, &[full(&says("other", 1, "a"))])];
    let left = decide(&quiet, &situation(&of_another_job));
    assert_eq!(left, Decision::Leave(Reason::Quiet));
    let told = [by_us(3, &[full(&says("bench", 1, "a"))])];
    let body = edited(decide(&quiet, &situation(&told))).body.unwrap();
    assert!(body.contains("### ✅ `bench`: no change\n"), "{body}");
}

#[test]
fn what_somebody_else_wrote_is_left_alone_whatever_it_says() {
    let forged = compose(&[full(&says("bench", 99, "a"))], None);
    let comments = [
        posted(1, "someone", forged.clone()),
        Posted {
            author: None,
            ..posted(2, US, forged)
        },
    ];
    created(decide(&says("bench", 1, "a"), &situation(&comments)));
}

#[test]
fn two_comments_that_were_made_at_once_become_the_older_one() {
    let (linux, arm) = (says("linux", 1, "a"), says("arm", 1, "a"));
    let comments = [by_us(9, &[full(&arm)]), by_us(8, &[full(&linux)])];
    for message in [&linux, &arm] {
        let edit = edited(decide(message, &situation(&comments)));
        assert_eq!((edit.id, edit.remove), (8, vec![9]));
        assert_eq!(jobs(&edit.body.unwrap()), named(&[("arm", "a"), ("linux", "a")]));
    }
    // If the older one has all already, the other only goes.
    let comments = [by_us(8, &[full(&arm), full(&linux)]), by_us(9, &[full(&arm)])];
    let expected = Edit {
        id: 8,
        body: None,
        remove: vec![9],
    };
    assert_eq!(decide(&arm, &situation(&comments)), Decision::Edit(expected));
}

#[test]
fn of_two_comments_the_newer_section_of_a_job_survives() {
    let comments = [
        by_us(8, &[full(&says("bench", 2, "b"))]),
        by_us(9, &[full(&says("bench", 1, "a"))]),
    ];
    let edit = edited(decide(&says("other", 2, "b"), &situation(&comments)));
    assert_eq!(
        jobs(&edit.body.unwrap()),
        named(&[("bench", "b"), ("other", "b")])
    );
}

#[test]
fn two_jobs_of_one_name_do_not_write_against_each_other_for_ever() {
    let mut one = says("bench", 1, "a");
    let other = says("bench", 1, "a");
    one.reports[0].report = unchanged();
    let comments = [by_us(3, &[full(&other)])];
    let second_look = Situation {
        written: true,
        ..situation(&comments)
    };
    assert_eq!(decide(&one, &second_look), Decision::Leave(Reason::SameName));
}

#[test]
fn what_another_job_lost_by_writing_at_the_same_time_is_written_again() {
    let message = says("linux", 1, "a");
    let comments = [by_us(3, &[full(&says("arm", 1, "a"))])];
    let second_look = Situation {
        written: true,
        ..situation(&comments)
    };
    let edit = edited(decide(&message, &second_look));
    assert_eq!(jobs(&edit.body.unwrap()), named(&[("arm", "a"), ("linux", "a")]));
}

#[test]
fn doing_what_was_decided_leaves_nothing_to_do() {
    let mut comments = vec![
        by_us(4, &[full(&says("other", 1, "a"))]),
        by_us(7, &[full(&says("bench", 1, "a"))]),
    ];
    let message = says("bench", 2, "b");
    let edit = edited(decide(&message, &situation(&comments)));
    comments.retain(|posted| !edit.remove.contains(&posted.id));
    comments[0].body = edit.body.unwrap();
    let looked_again = Situation {
        written: true,
        ..situation(&comments)
    };
    assert_eq!(decide(&message, &looked_again), Decision::Leave(Reason::Said));
}
