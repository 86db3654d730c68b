//! Files written once load for ever: stored recordings, each a small story, and what the judge says about them.
//!
//! The recordings in `tests/data/recordings` are frozen. `readme` and `small_sample` are real runs (a checksum that
//! handles an eighth of its input twice, words split at ASCII white space only, one benchmark gone and one new); the
//! others were made up by the functions below. A new story gets a
//! function here and is written by
//!
//! ```text
//! cargo test --test formats -- --ignored write_new_stories
//! ```
//!
//! which never touches a file that exists. Verdicts may get better with the statistics, so a changed snapshot is
//! reviewed, not forbidden; a file that no longer loads is a broken promise (docs/formats.md).
#![expect(clippy::disallowed_methods, reason = "reads and writes stored recordings")]

mod damage;
mod story;

use abreast::judge::judge;
use abreast::recording::{
    BenchChange, ChangedPiece, ChangedSources, Difference, Event, Host, IncidentKind, Phase, Recording,
    RecordingError, Timing,
};
use abreast::report::markdown;
use abreast::revision::Side;
use std::path::{Path, PathBuf};
use story::worlds::{normal, rng};
use story::{At, Samples, Schedule, Story, target};

type Teller = fn() -> Story;

/// Every made-up story.
const STORIES: [(&str, Teller); 5] = [
    ("head_fails", head_fails),
    ("bench_added", bench_added),
    ("not_confirmed", not_confirmed),
    ("truncated", truncated),
    ("hung", hung),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recordings")
}

fn stored(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name).with_extension("jsonl")).expect("the recording is stored")
}

/// The comment that a stored recording leads to.
fn comment(name: &str) -> String {
    let recording = Recording::read(stored(name).as_slice()).expect("stored recordings load for ever");
    let policy = recording.header.plan.policy.clone();
    markdown::render(&judge(&recording, &policy))
}

macro_rules! stories {
    ($($name:ident: $sentence:ident,)*) => {
        $(
            #[test]
            fn $sentence() {
                insta::assert_snapshot!(stringify!($name), comment(stringify!($name)));
            }
        )*

        #[test]
        fn every_stored_recording_is_told() {
            let told = [$(concat!(stringify!($name), ".jsonl")),*];
            let mut stored: Vec<String> = std::fs::read_dir(folder())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            stored.sort();
            assert_eq!(stored, told);
        }
    };
}

stories! {
    bench_added: a_bench_that_only_head_has_is_new_and_one_that_changed_is_not_compared,
    head_fails: a_head_that_does_not_build_leaves_the_absolute_numbers_of_base,
    hung: a_bench_that_hangs_fails_alone,
    not_confirmed: a_change_that_fresh_processes_do_not_repeat_is_not_counted,
    readme: the_run_of_the_readme_finds_what_was_done_to_the_code,
    small_sample: a_real_run_tells_what_changed,
    truncated: a_recording_that_was_cut_off_is_judged_as_far_as_it_goes,
}

#[test]
fn what_is_read_is_written_again_to_the_letter() {
    for entry in std::fs::read_dir(folder()).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let event: Event = serde_json::from_str(line).unwrap();
            assert_eq!(serde_json::to_string(&event).unwrap(), line.trim_end());
        }
    }
}

#[test]
fn names_that_lead_out_of_the_run_are_refused() {
    let text = String::from_utf8(stored("small_sample")).expect("text");
    let run = text
        .split("\"run\":\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("a run");
    for (from, to) in [
        (
            format!("\"run\":\"{run}\""),
            "\"run\":\"../../victim\"".to_owned(),
        ),
        ("\"path\":\"base/".to_owned(), "\"path\":\"../../base/".to_owned()),
        (
            "\"package_dir\":\"".to_owned(),
            "\"package_dir\":\"/etc/".to_owned(),
        ),
    ] {
        assert!(text.contains(&from), "{from}");
        let error = Recording::read(text.replacen(&from, &to, 1).as_bytes()).expect_err(&to);
        assert!(
            matches!(error, RecordingError::Inconsistent { .. }),
            "{to}: {error}"
        );
    }
}

#[test]
fn another_version_says_what_to_do_and_a_foreign_file_is_refused() {
    let read = |text: &str| Recording::read(text.as_bytes()).unwrap_err();
    let header = String::from_utf8(stored("hung")).unwrap();
    let later = header.replace("abreast/recording/1", "abreast/recording/2");
    assert_eq!(
        read(&later).to_string(),
        "the recording has format `abreast/recording/2`; this abreast reads `abreast/recording/1`: use the abreast \
         that wrote it, or record again"
    );
    for foreign in [
        "{\"schema\":\"abreast/report/1\"}\n",
        "scenario,kind\n",
        "{}\n",
        "\u{0}\n",
    ] {
        assert!(matches!(read(foreign), RecordingError::Foreign), "{foreign}");
    }
    assert!(matches!(read(""), RecordingError::Empty));
}

#[test]
fn a_damaged_line_is_named() {
    let text = String::from_utf8(stored("hung")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[3] = "{\"event\":\"scen";
    let error = Recording::read(lines.join("\n").as_bytes()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("line 4 of the recording is damaged"),
        "{error}"
    );
}

#[test]
fn an_unknown_key_is_passed_over() {
    let text = String::from_utf8(stored("hung")).unwrap();
    let newer = text.replace(
        "{\"event\":\"host\",",
        "{\"event\":\"host\",\"moon_phase\":\"full\",",
    );
    assert_ne!(newer, text);
    assert_eq!(
        Recording::read(newer.as_bytes()).unwrap(),
        Recording::read(text.as_bytes()).unwrap()
    );
}

#[test]
#[ignore = "writes stories that are not stored yet"]
fn write_new_stories() {
    for (name, story) in STORIES {
        let path = folder().join(name).with_extension("jsonl");
        if !path.exists() {
            let mut text = lines(&story().recording);
            if name == "truncated" {
                text.truncate(text.len() - 40);
            }
            std::fs::write(path, text).unwrap();
        }
    }
}

/// A recording as the lines of its file.
fn lines(recording: &Recording) -> String {
    let mut events = vec![
        Event::Header(Box::new(recording.header.clone())),
        Event::Host(recording.host.clone()),
    ];
    events.extend(recording.builds.iter().cloned().map(Event::Build));
    events.extend(recording.differences.iter().cloned().map(Event::Difference));
    events.extend(recording.bench_changes.iter().cloned().map(Event::BenchChange));
    events.push(Event::ChangedSources(recording.changed_sources.clone()));
    events.extend(recording.scenarios.iter().cloned().map(Event::Scenario));
    events.extend(recording.timing.map(Event::Timing));
    events.extend(recording.slots.iter().cloned().map(Event::Slot));
    events.extend(recording.incidents.iter().cloned().map(Event::Incident));
    events.extend(recording.ends.iter().cloned().map(Event::End));
    let line = |event| serde_json::to_string(event).expect("events are plain data") + "\n";
    events.iter().map(line).collect()
}

/// A machine, the time a slot gets, a regular end.
fn dressed(story: &mut Story) {
    let recording = &mut story.recording;
    recording.host = Host {
        cpu: Some("AMD EPYC 7B13".to_owned()),
        cores: Some(2),
        memory_bytes: Some(8 << 30),
        os: Some("Debian GNU/Linux 12 (bookworm)".to_owned()),
        kernel: Some("6.1.0".to_owned()),
        arch: Some("x86_64".to_owned()),
        ..Host::default()
    };
    let [base, head] = [&recording.header.plan.base.sha, &recording.header.plan.head.sha];
    for build in &mut recording.builds {
        build
            .sha
            .clone_from(if build.side == Side::Base { base } else { head });
    }
    recording.timing = Some(Timing {
        warm_up_ms: 32,
        measure_ms: 97,
        samples: 10,
    });
    recording.changed_sources = ChangedSources {
        compiled: vec!["src/lib.rs".to_owned()],
        elsewhere: Vec::new(),
        others: Vec::new(),
    };
}

/// Three samples of whole nanoseconds around `ns` per iteration, with half a percent of noise a process.
fn around(seed: u64, ns: impl Fn(At) -> f64) -> impl FnMut(At) -> Option<Samples> {
    let mut random = rng(seed);
    move |at| {
        let ns = ns(at) * (0.005 * normal(&mut random)).exp();
        let total = |(n, excess): (u64, f64)| (ns * excess * (1000 * n) as f64).round();
        Some(Samples {
            iters: vec![1000, 2000, 3000],
            totals: [(1, 1.05), (2, 1.0), (3, 1.02)].map(total).into(),
            throughput: None,
        })
    }
}

fn head_fails() -> Story {
    let mut story = Story::of(&[]);
    story
        .scenario("parse/small", &[Side::Base])
        .scenario("parse/large", &[Side::Base]);
    let head = &mut story.recording.builds[1];
    head.executables.clear();
    head.failure = Some(
        "error[E0308]: mismatched types\n --> src/lib.rs:7:5\n  |\n7 |     \"seven\"\n  |     ^^^^^^^ expected `usize`, \
         found `&str`"
            .to_owned(),
    );
    story.run(
        Phase::Warmup,
        4,
        Schedule::Paired,
        around(1, |at| [210.0, 83_000.0][at.scenario as usize]),
    );
    story.recording.slots.retain(|slot| slot.side == Side::Base);
    dressed(&mut story);
    story
}

fn bench_added() -> Story {
    let mut story = Story::of(&["parse/small", "render"]);
    story
        .scenario("parse/old", &[Side::Base])
        .scenario("parse/new", &[Side::Head]);
    story.recording.differences.push(Difference {
        kind: "lock".to_owned(),
        subject: "memchr".to_owned(),
        base: Some("2.7.1".to_owned()),
        head: Some("2.7.4".to_owned()),
    });
    story.recording.bench_changes.push(BenchChange {
        target: target(),
        pieces: vec![ChangedPiece {
            file: "benches/kernels.rs".to_owned(),
            line: 12,
            literals: vec!["render".to_owned()],
            run_file: false,
        }],
    });
    story.run(
        Phase::Measure,
        8,
        Schedule::Paired,
        around(2, |at| match (at.scenario, at.side) {
            (0, _) => 210.0,
            (1, Side::Base) => 4_000.0,
            (1, Side::Head) => 5_000.0,
            _ => 900.0,
        }),
    );
    dressed(&mut story);
    story
}

fn not_confirmed() -> Story {
    let mut story = Story::of(&["parse/small", "parse/large"]);
    let value = |at: At| match (at.scenario, at.side, at.phase) {
        (0, Side::Head, Phase::Measure) => 210.0 * 1.06,
        (0, ..) => 210.0,
        (_, Side::Base, _) => 83_000.0,
        _ => 83_000.0 * 1.12,
    };
    story.run(Phase::Measure, 16, Schedule::Paired, around(3, value));
    story.run(Phase::Confirm, 8, Schedule::Paired, around(4, value));
    dressed(&mut story);
    story
}

fn truncated() -> Story {
    let mut story = Story::of(&["parse/small", "parse/large"]);
    story.run(
        Phase::Measure,
        9,
        Schedule::Paired,
        around(5, |at| [210.0, 83_000.0][at.scenario as usize]),
    );
    dressed(&mut story);
    story.recording.ends.clear();
    story
}

fn hung() -> Story {
    let mut story = Story::of(&["parse/small", "parse/endless"]);
    let found = "killed after 37 s without a result";
    story.incident(Phase::Warmup, Side::Base, 1, IncidentKind::Timeout, found);
    let mut values = around(6, |_| 210.0);
    story.run(Phase::Measure, 16, Schedule::Paired, |at| {
        if at.scenario == 0 { values(at) } else { None }
    });
    dressed(&mut story);
    story
}
