//! Counted instructions and code in other orders, from made-up recordings to the report.

mod story;

use abreast::layout::{LAYOUTS, Layout};
use abreast::metric::Metric;
use abreast::recording::{BenchChange, ChangedPiece, Counted, Phase, Recording, Throughput, Work};
use abreast::report::{Finding, Report};
use abreast::revision::Side;
use abreast::verdict::Verdict;
use story::worlds::{World, rng};
use story::{At, Samples, Schedule, Story, row};

fn count(story: &mut Story, scenario: u32, base: u64, head: u64) {
    for (side, instructions) in [(Side::Base, base), (Side::Head, head)] {
        story.recording.counted.push(Counted {
            scenario,
            side,
            instructions: vec![instructions; 2],
            failure: None,
        });
    }
}

/// A story whose only scenario takes this many nanoseconds, in the comparison and with fresh processes.
fn confirmed(ns: impl Fn(At) -> Samples + Copy) -> Story {
    let mut story = Story::of(&["a"]);
    story.run(Phase::Measure, 16, Schedule::Paired, |at| Some(ns(at)));
    story.run(Phase::Confirm, 16, Schedule::Paired, |at| Some(ns(at)));
    story
}

/// The same with the code in other orders: order `n` takes `ns` nanoseconds.
fn relaid(story: &mut Story, ns: impl Fn(At, u32) -> f64) {
    let before = story.recording.slots.len();
    story.run(Phase::Relaid, 2 * LAYOUTS, Schedule::Paired, |at| {
        Some(Samples::from(ns(at, Layout::of_round(at.round).0)))
    });
    for slot in &mut story.recording.slots[before..] {
        slot.layout = Layout::of_round(slot.round);
    }
}

fn of_instructions<'a>(report: &'a Report, id: &str) -> &'a Finding {
    let mut rows = report.findings.iter();
    rows.find(|finding| finding.scenario == id && finding.metric == Metric::instructions())
        .expect("it was counted")
}

fn slower(at: At) -> Samples {
    Samples::from(if at.side == Side::Head { 1100.0 } else { 1000.0 } + f64::from(at.launch % 3))
}

#[test]
fn twice_the_work_explains_twice_the_instructions_and_no_change_of_time() {
    let ns = |at: At| {
        let head = at.side == Side::Head;
        // Per element head is 5 % slower.
        let ns = if head { 2100.0 } else { 1000.0 } + f64::from(at.launch % 3);
        Samples {
            throughput: Some(Throughput {
                per: Work::Elements,
                amount: if head { 2000.0 } else { 1000.0 },
            }),
            ..Samples::from(ns)
        }
    };
    let mut story = confirmed(ns);
    story.recording.header.plan.measuring.instructions = true;
    count(&mut story, 0, 1_000, 2_000);
    let report = story.judge();
    let time = row(&report, "a");
    assert!((time.instructions_change.unwrap()).abs() < 1e-12);
    assert!(
        !time.notes.iter().any(|note| note.starts_with("the code")),
        "{:?}",
        time.notes
    );
    assert_eq!(of_instructions(&report, "a").verdict, Verdict::Unchanged);

    story.recording.counted.clear();
    count(&mut story, 0, 1_000, 2_100);
    let report = story.judge();
    assert!(
        row(&report, "a")
            .notes
            .contains(&"the code, not its layout: instructions +5.0 %".to_owned())
    );
    assert_eq!(of_instructions(&report, "a").verdict, Verdict::Regressed);
}

#[test]
fn where_the_bench_changed_instructions_are_no_verdict_either() {
    let mut story = confirmed(slower);
    story.recording.header.plan.measuring.instructions = true;
    story.recording.bench_changes.push(BenchChange {
        target: story::target(),
        pieces: vec![ChangedPiece {
            file: "benches/b.rs".to_owned(),
            line: 7,
            literals: vec!["a".to_owned()],
            run_file: false,
        }],
    });
    count(&mut story, 0, 1_000, 1_100);
    let report = story.judge();
    assert_eq!(row(&report, "a").verdict, Verdict::NotComparable);
    assert_eq!(of_instructions(&report, "a").verdict, Verdict::NotComparable);
}

#[test]
fn fewer_instructions_do_not_explain_more_time() {
    let mut story = confirmed(slower);
    count(&mut story, 0, 1_000, 900);
    relaid(&mut story, |at, order| {
        1000.0 + f64::from(order * 10) + f64::from(at.launch % 3)
    });
    let report = story.judge();
    assert_eq!(row(&report, "a").verdict, Verdict::Unclear);
    assert!(
        row(&report, "a")
            .notes
            .iter()
            .any(|note| note.contains("instructions −10.0 %"))
    );
}

#[test]
fn instructions_that_take_as_long_as_was_added_explain_it_however_small_a_part_of_the_count_they_are() {
    // The bench sets up a million instructions' worth for an iteration of 1 µs, which takes 100 ns longer on head.
    let judged = |added: u64| {
        let mut story = confirmed(slower);
        count(&mut story, 0, 1_000_000, 1_000_000 + added);
        relaid(&mut story, |at, order| {
            1000.0 + f64::from(order * 10) + f64::from(at.launch % 3)
        });
        row(&story.judge(), "a").verdict
    };
    assert_eq!(judged(200), Verdict::Regressed);
    assert_eq!(judged(50), Verdict::Unclear);
    assert_eq!(judged(0), Verdict::Unclear);
}

#[test]
fn luck_of_the_place_alone_survives_seldom_and_a_real_change_of_that_size_mostly() {
    // Each order of each side draws its own luck of 4 %; each process adds 1 % of noise.
    let survived = |real: f64| {
        let kept = (0..200).filter(|seed| {
            let mut story = confirmed(slower);
            let mut random = rng(*seed);
            let luck = World::Gaussian.slots(&mut random, 2 * LAYOUTS as usize);
            let noise = World::Gaussian.slots(&mut random, 4 * LAYOUTS as usize);
            relaid(&mut story, |at, order| {
                let order = order as usize - 1;
                let side = at.side as usize;
                let log = 2.0 * luck[2 * order + side]
                    + 0.5 * noise[4 * order + 2 * side + at.round as usize % 2]
                    + if at.side == Side::Head { real } else { 0.0 };
                1000.0 * log.exp()
            });
            row(&story.judge(), "a").verdict == Verdict::Regressed
        });
        kept.count()
    };
    let (by_luck, by_code) = (survived(0.0), survived(0.1));
    assert!(by_luck <= 10, "{by_luck} of 200");
    assert!(by_code >= 180, "{by_code} of 200");
}

#[test]
fn shards_keep_their_counts_when_they_are_joined() {
    let shard = |id: &str, head: u64| -> Recording {
        let mut story = Story::of(&[id]);
        story.run(Phase::Measure, 16, Schedule::Paired, |at| Some(slower(at)));
        story.run(Phase::Confirm, 16, Schedule::Paired, |at| Some(slower(at)));
        count(&mut story, 0, 1_000, head);
        story.recording
    };
    let joined = Recording::merge(vec![shard("a", 1_000), shard("b", 1_100)]).unwrap();
    let report = abreast::judge::judge(&joined, &joined.header.plan.policy);
    assert_eq!(row(&report, "a").instructions_change, Some(0.0));
    assert!((row(&report, "b").instructions_change.unwrap() - 0.1).abs() < 1e-12);
}

#[test]
fn a_penalty_after_a_pause_flags_nothing() {
    // The first process of each pair of rounds follows a pause, and takes 5 % longer.
    for seed in 0..20 {
        let mut story = Story::of(&["a"]);
        let mut random = rng(seed);
        let noise = World::Gaussian.slots(&mut random, 64);
        story.measure(32, |at| {
            let paused = at.first && at.round % 2 == 0;
            1000.0 * (0.5 * noise[at.launch as usize] + if paused { 0.05 } else { 0.0 }).exp()
        });
        let report = story.judge();
        assert!(
            !matches!(row(&report, "a").verdict, Verdict::Regressed | Verdict::Improved),
            "seed {seed}"
        );
    }
}
