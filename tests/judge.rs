//! What the judge says, told as stories: recordings made up in memory, one behaviour a test.

mod story;

use abreast::judge::assessment::Until;
use abreast::judge::{Unrepeated, candidates, undecided, unrepeated};
use abreast::plan::{Harness, Shard};
use abreast::recording::{
    BenchChange, ChangedPiece, Event, IncidentKind, Phase, Recording, Skipped, Throughput, Work,
};
use abreast::report::Finding;
use abreast::revision::Side;
use abreast::scenario::Target;
use abreast::units::Fraction;
use abreast::verdict::{Flag, Verdict};
use story::worlds::{normal, rng};
use story::{At, Samples, Schedule, Story, change, row, target};

fn noted(finding: &Finding, words: &str) -> bool {
    finding.notes.iter().any(|note| note.contains(words))
}

/// Base and head constant.
fn constants(base: f64, head: f64) -> impl FnMut(At) -> f64 {
    move |at| match at.side {
        Side::Base => base,
        Side::Head => head,
    }
}

/// 2 % of noise a process on a value that depends on scenario and side.
fn noisy(seed: u64, ns: impl Fn(At) -> f64) -> impl FnMut(At) -> f64 {
    let mut random = rng(seed);
    move |at| ns(at) * (0.02 * normal(&mut random)).exp()
}

// A01: the same code on both sides.

#[test]
fn a_run_of_one_commit_against_itself_flags_nothing_and_says_what_it_measures() {
    let ids: Vec<String> = (0..24).map(|n| format!("bench/{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut flagged = 0;
    for seed in 0..10 {
        let mut story = Story::of(&ids);
        story.recording.header.plan.head.sha = story.recording.header.plan.base.sha.clone();
        story
            .without_confirmation()
            .measure(32, noisy(seed, |at| 40.0 * f64::from(at.scenario + 1).powi(4)));
        let report = story.judge();
        flagged += report.count(Verdict::Regressed) + report.count(Verdict::Improved);
        assert!(
            report
                .notes
                .iter()
                .any(|note| note.contains("this run measures the noise floor"))
        );
        assert!(
            report
                .findings
                .iter()
                .all(|finding| finding.change.as_ref().is_some_and(|change| change.floor > 0.0))
        );
    }
    assert_eq!(flagged, 0);
}

// A03: a known change, and what can be reached at all.

#[test]
fn a_tenth_slower_is_found_on_its_bench_and_on_no_other() {
    let mut found = 0;
    for seed in 0..100 {
        let mut story = Story::of(&["a", "b", "c", "d", "e"]);
        let ns = |at: At| {
            if at.scenario == 2 && at.side == Side::Head {
                110.0
            } else {
                100.0
            }
        };
        story.measure(32, noisy(seed, ns)).confirm(16, {
            let mut again = noisy(seed + 1000, ns);
            move |at| Some(again(at))
        });
        let report = story.judge();
        for other in ["a", "b", "d", "e"] {
            assert!(
                !matches!(
                    row(&report, other).verdict,
                    Verdict::Regressed | Verdict::Improved
                ),
                "seed {seed}"
            );
        }
        let of = row(&report, "c");
        found += usize::from(of.verdict == Verdict::Regressed && of.confirmed == Some(true));
    }
    assert!(found >= 95, "{found} of 100");
}

#[test]
fn with_three_rounds_the_judge_says_how_many_it_needs() {
    let mut story = Story::of(&["a"]);
    story.measure(3, constants(100.0, 200.0));
    let report = story.judge();
    let of = row(&report, "a");
    assert_eq!((of.verdict, of.flag), (Verdict::Unclear, Flag::Unclear));
    assert_eq!(of.notes, ["3 paired rounds: a verdict needs at least 8"]);
    assert_eq!(of.change, None);
    assert_eq!((of.base, of.head), (Some(100.0), Some(200.0)));
    assert_eq!(undecided(&story.recording, &story.policy), [0]);
}

#[test]
fn every_row_that_was_compared_states_what_it_could_have_shown() {
    let mut story = Story::of(&["a", "b"]);
    story.measure(16, noisy(3, |_| 1e5));
    let report = story.judge();
    let detectable = report.method.median_detectable.unwrap_or(0.0);
    assert!((0.02..0.15).contains(&detectable), "{detectable}");
}

// A04: drift.

#[test]
fn a_monotone_drift_cancels_and_would_not_in_blocks() {
    let drift = |at: At| Some(100.0 * 1.01_f64.powi(i32::try_from(at.launch).unwrap_or(0)));
    let mut paired = Story::of(&["a"]);
    paired
        .without_confirmation()
        .run(Phase::Measure, 16, Schedule::Paired, drift);
    let report = paired.judge();
    assert!(change(&report, "a").abs() < 0.01, "{}", change(&report, "a"));
    assert_eq!(row(&report, "a").verdict, Verdict::Unchanged);

    let mut blocks = Story::of(&["a"]);
    blocks
        .without_confirmation()
        .run(Phase::Measure, 16, Schedule::Blocks, drift);
    let report = blocks.judge();
    // Sixteen launches of 1 % lie between the slots of a round.
    assert!((change(&report, "a") - (1.01_f64.powi(16) - 1.0)).abs() < 1e-9);
    assert_eq!(row(&report, "a").verdict, Verdict::Regressed);
}

#[test]
fn a_linear_drift_with_noise_stays_within_one_percent() {
    for seed in 0..20 {
        let mut story = Story::of(&["a"]);
        story.measure(32, noisy(seed, |at| 100.0 + f64::from(at.launch)));
        let report = story.judge();
        assert!(
            change(&report, "a").abs() < 0.02,
            "seed {seed}: {}",
            change(&report, "a")
        );
        assert_ne!(row(&report, "a").verdict, Verdict::Regressed);
    }
}

#[test]
fn a_penalty_for_running_second_cancels_exactly_and_is_reported() {
    let mut story = Story::of(&["a"]);
    story.measure(16, |at| if at.first { 100.0 } else { 103.0 });
    let report = story.judge();
    assert!(change(&report, "a").abs() < 1e-12);
    assert_eq!(row(&report, "a").verdict, Verdict::Unchanged);
    assert!((report.method.order_effect.unwrap_or(0.0) - 0.03).abs() < 1e-9);
}

// A07: confirmation.

#[test]
fn only_what_fresh_processes_repeat_is_counted() {
    let ids: Vec<String> = (0..40).map(|n| format!("row{n:02}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut story = Story::of(&ids);
    let first = |at: At| {
        if at.scenario < 5 && at.side == Side::Head {
            1100.0
        } else {
            1000.0
        }
    };
    story.measure(16, noisy(1, first));
    assert_eq!(candidates(&story.recording, &story.policy), [0, 1, 2, 3, 4]);
    let mut again = noisy(2, |at| {
        if at.scenario == 3 && at.side == Side::Head {
            1100.0
        } else {
            1000.0
        }
    });
    story.confirm(16, |at| (at.scenario < 5).then(|| again(at)));

    let report = story.judge();
    assert_eq!(report.count(Verdict::Regressed), 1);
    let kept = row(&report, "row03");
    assert_eq!((kept.verdict, kept.confirmed), (Verdict::Regressed, Some(true)));
    assert!(
        kept.change
            .as_ref()
            .and_then(|change| change.confirmation)
            .is_some_and(|again| again > 0.05)
    );
    for dropped in ["row00", "row01", "row02", "row04"] {
        let of = row(&report, dropped);
        assert_eq!(
            (of.verdict, of.flag, of.confirmed),
            (Verdict::Unclear, Flag::Unclear, Some(false))
        );
        assert!(
            noted(of, "not confirmed: +") && noted(of, "with fresh processes"),
            "{:?}",
            of.notes
        );
        assert!(
            of.change
                .as_ref()
                .is_some_and(|change| change.change > 0.05 && change.confirmation.is_some())
        );
    }
}

#[test]
fn a_confirmation_that_crashes_keeps_the_flag_with_a_warning() {
    let mut story = Story::of(&["a", "b"]);
    story.measure(16, constants(100.0, 110.0));
    story.confirm(16, |at| (at.scenario == 1).then(|| constants(100.0, 110.0)(at)));
    story.incident(
        Phase::Confirm,
        Side::Head,
        0,
        IncidentKind::Crash,
        "signal 11\nmore",
    );
    let report = story.judge();
    let crashed = row(&report, "a");
    assert_eq!((crashed.verdict, crashed.confirmed), (Verdict::Regressed, None));
    assert_eq!(
        crashed.notes,
        ["warning: not repeated, the confirmation failed: head crashed in the confirmation: signal 11"]
    );
    assert_eq!(row(&report, "b").confirmed, Some(true));
}

#[test]
fn without_confirmation_flags_stand_and_say_so() {
    let mut story = Story::of(&["a"]);
    story.without_confirmation().measure(16, constants(100.0, 90.0));
    let report = story.judge();
    let of = row(&report, "a");
    assert_eq!(
        (of.verdict, of.flag, of.confirmed),
        (Verdict::Improved, Flag::Faster, None)
    );
    assert!(noted(of, "switched off"));
}

#[test]
fn a_run_that_ended_before_its_confirmation_flags_nothing_yet() {
    let mut story = Story::of(&["a"]);
    story.measure(16, constants(100.0, 110.0));
    assert_eq!(candidates(&story.recording, &story.policy), [0]);
    let report = story.judge();
    assert_eq!(row(&report, "a").verdict, Verdict::Unclear);
    assert!(noted(
        row(&report, "a"),
        "+10.0 % at first, and no fresh processes measured it again"
    ));
}

#[test]
fn a_much_smaller_change_is_no_repetition() {
    let mut story = Story::of(&["a"]);
    story.measure(16, constants(1000.0, 1031.0));
    story.confirm(16, |at| Some(constants(1000.0, 1002.0)(at)));
    let report = story.judge();
    assert_eq!(
        row(&report, "a").notes,
        ["not confirmed: +3.1 % at first, +0.2 % with fresh processes"]
    );
}

#[test]
fn fresh_processes_that_neither_repeat_nor_exclude_a_change_may_be_more() {
    let mut story = Story::of(&["noisy", "repeated", "excluded", "crashed"]);
    story.measure(16, constants(1000.0, 1100.0));
    story.confirm(16, |at| match (at.scenario, at.side) {
        (0, Side::Head) => Some(if at.round % 4 < 2 { 1700.0 } else { 700.0 }),
        (1, Side::Head) => Some(1100.0),
        (3, _) => None,
        _ => Some(1000.0),
    });
    story.incident(Phase::Confirm, Side::Head, 3, IncidentKind::Crash, "signal 11");
    let more = Unrepeated {
        scenario: 0,
        rounds: 16,
    };
    assert_eq!(unrepeated(&story.recording, &story.policy, Until::TheEnd), [more]);
    let report = story.judge();
    assert!(noted(row(&report, "noisy"), "too noisy to tell"), "{report:#?}");
    assert!(!noted(row(&report, "excluded"), "too noisy to tell"));
    assert_eq!(row(&report, "repeated").verdict, Verdict::Regressed);
}

/// Candidates do not share the confirmation's level: the comparison has spent the family's.
#[test]
fn how_many_others_were_found_changes_no_confirmation() {
    let confirmed = |ids: &[&str]| {
        let mut story = Story::of(ids);
        story.measure(16, constants(1000.0, 1100.0));
        // A third of the rounds show nothing: significant at 5 %, not at a sixtieth of it.
        story.confirm(16, |at| {
            let odd = [2, 3, 6, 11, 14].contains(&at.round);
            Some(match at.side {
                Side::Base => 1000.0,
                Side::Head if odd => 1000.0,
                Side::Head => 1080.0 + f64::from(at.round % 5) * 10.0,
            })
        });
        row(&story.judge(), "a").confirmed
    };
    assert_eq!(confirmed(&["a"]), Some(true));
    let many: Vec<String> = (0..60).map(|n| format!("row{n}")).collect();
    let ids: Vec<&str> = std::iter::once("a")
        .chain(many.iter().map(String::as_str))
        .collect();
    assert_eq!(confirmed(&ids), Some(true));
}

// A08 and A10: one side only.

#[test]
fn new_and_removed_rows_keep_their_number_and_have_no_change() {
    let mut story = Story::of(&["a"]);
    story
        .scenario("old", &[Side::Base])
        .scenario("new", &[Side::Head]);
    story.measure(16, constants(100.0, 100.0));
    let report = story.judge();
    let (new, old) = (row(&report, "new"), row(&report, "old"));
    assert_eq!(
        (new.verdict, new.base, new.head),
        (Verdict::New, None, Some(100.0))
    );
    assert_eq!(
        (old.verdict, old.base, old.head),
        (Verdict::Removed, Some(100.0), None)
    );
    assert!(new.change.is_none() && old.change.is_none());
    assert_eq!(report.compared(), 1);
}

#[test]
fn a_new_benchmark_that_never_measured_anything_has_failed() {
    let mut story = Story::of(&[]);
    story.scenario("broken", &[Side::Head]);
    story.incident(
        Phase::Warmup,
        Side::Head,
        0,
        IncidentKind::Crash,
        "exit status 101",
    );
    let report = story.judge();
    let of = row(&report, "broken");
    assert_eq!(of.verdict, Verdict::Failed);
    assert_eq!(of.notes, ["head crashed in the warm-up: exit status 101"]);
}

#[test]
fn a_side_that_did_not_build_is_no_reason_to_call_rows_new() {
    let mut story = Story::of(&[]);
    story.scenario("a", &[Side::Head]);
    story.recording.builds[0].executables.clear();
    story.recording.builds[0].failure = Some("error[E0308]: mismatched types\n".to_owned());
    story.run(Phase::Measure, 8, Schedule::Paired, |at| {
        (at.side == Side::Head).then_some(100.0)
    });
    let report = story.judge();
    let of = row(&report, "a");
    assert_eq!((of.verdict, of.head), (Verdict::Failed, Some(100.0)));
    assert_eq!(of.notes, ["base did not build"]);
    assert!(report.notes[0].starts_with("base did not build:\nerror[E0308]"));
}

#[test]
fn a_side_whose_benchmarks_could_not_be_listed_is_no_reason_either() {
    let mut story = Story::of(&[]);
    story.scenario("a", &[Side::Head]);
    story.incident(
        Phase::Measure,
        Side::Base,
        0,
        IncidentKind::Unusable,
        "no such file",
    );
    for incident in &mut story.recording.incidents {
        incident.scenario = None;
    }
    let report = story.judge();
    assert_eq!(
        row(&report, "a").notes,
        ["base could not be listed: no such file"]
    );
}

// A11 and A13: not the same experiment.

fn with_changed_source(literals: &[&str]) -> Story {
    let mut story = Story::of(&["sums/fib/20", "sums/fact/20", "sort"]);
    story.recording.bench_changes.push(BenchChange {
        target: target(),
        pieces: vec![ChangedPiece {
            file: "benches/kernels.rs".to_owned(),
            line: 12,
            literals: literals.iter().map(|literal| (*literal).to_owned()).collect(),
            run_file: false,
        }],
    });
    story.without_confirmation().measure(16, constants(100.0, 150.0));
    story
}

#[test]
fn a_changed_bench_source_is_not_held_against_the_code() {
    let report = with_changed_source(&["fib"]).judge();
    let of = row(&report, "sums/fib/20");
    assert_eq!((of.verdict, of.flag), (Verdict::NotComparable, Flag::None));
    assert_eq!(of.notes, ["bench source changed (benches/kernels.rs:12)"]);
    assert!((change(&report, "sums/fib/20") - 0.5).abs() < 1e-9);
    assert_eq!(row(&report, "sums/fact/20").verdict, Verdict::Regressed);
    assert_eq!(row(&report, "sort").verdict, Verdict::Regressed);
}

#[test]
fn a_changed_piece_that_names_no_scenario_touches_all_of_its_target() {
    let report = with_changed_source(&["data.bin"]).judge();
    assert_eq!(report.count(Verdict::NotComparable), 3);
}

#[test]
fn with_one_harness_for_both_sides_a_changed_bench_source_does_not_matter() {
    let mut story = with_changed_source(&["fib"]);
    story.recording.header.plan.selection.harness = Harness::Head;
    assert_eq!(story.judge().count(Verdict::Regressed), 3);
}

#[test]
fn twice_the_work_with_twice_the_throughput_is_judged_per_element() {
    let mut story = with_changed_source(&["sort"]);
    story.recording.slots.clear();
    story.run(Phase::Measure, 16, Schedule::Paired, |at| {
        let amount = if at.side == Side::Head { 2000.0 } else { 1000.0 };
        Some(Samples {
            throughput: Some(Throughput {
                per: Work::Elements,
                amount,
            }),
            ..Samples::from(amount)
        })
    });
    let report = story.judge();
    let of = row(&report, "sort");
    assert_eq!(of.verdict, Verdict::Unchanged);
    assert!(change(&report, "sort").abs() < 1e-9);
    assert_eq!(
        of.notes[0],
        "judged per element: throughput changed from 1000 to 2000"
    );
    assert_eq!((of.base, of.head), (Some(1000.0), Some(2000.0)));
}

#[test]
fn another_criterion_makes_rows_incomparable() {
    let mut story = Story::of(&["a"]);
    story.recording.builds[0].executables[0].criterion = Some("0.7.0".to_owned());
    story.measure(16, constants(100.0, 150.0));
    let report = story.judge();
    assert_eq!(row(&report, "a").verdict, Verdict::NotComparable);
    assert_eq!(
        row(&report, "a").notes,
        ["measuring library changed (criterion 0.7.0 -> 0.8.2)"]
    );
    assert!(candidates(&story.recording, &story.policy).is_empty());
}

// Identical executables.

fn identical() -> Story {
    let mut story = Story::of(&["a"]);
    for build in &mut story.recording.builds {
        build.executables[0].loaded_sha256 = "same".to_owned();
    }
    story
}

#[test]
fn identical_executables_need_no_measuring() {
    let story = identical();
    let report = story.judge();
    assert_eq!(
        (row(&report, "a").verdict, &row(&report, "a").change),
        (Verdict::Identical, &None)
    );
    assert!(undecided(&story.recording, &story.policy).is_empty());
}

#[test]
fn identical_executables_that_were_measured_are_a_null() {
    let mut story = identical();
    story.recording.header.plan.measuring.identical = true;
    assert_eq!(undecided(&story.recording, &story.policy), [0]);
    story.measure(16, constants(100.0, 100.0));
    let report = story.judge();
    assert_eq!(row(&report, "a").verdict, Verdict::Unchanged);
    assert!(noted(
        row(&report, "a"),
        "identical executables: any change is noise"
    ));
}

// A21: degenerate numbers.

#[test]
fn a_constant_is_unchanged_and_a_constant_change_is_a_candidate() {
    let mut story = Story::of(&["same"]);
    story.measure(16, constants(100.0, 100.0));
    let report = story.judge();
    let of = row(&report, "same");
    assert_eq!(of.verdict, Verdict::Unchanged);
    assert!(
        of.change
            .as_ref()
            .is_some_and(|change| change.change.abs() + change.low.abs() + change.high.abs() <= 0.0)
    );

    let mut story = Story::of(&["tenth"]);
    story.measure(16, constants(100.0, 110.0));
    assert_eq!(candidates(&story.recording, &story.policy), [0]);
}

#[test]
fn a_scenario_without_measurements_fails_with_its_reason_and_leaves_others_alone() {
    let mut story = Story::of(&["a", "zero", "hung"]);
    story.run(Phase::Measure, 16, Schedule::Paired, |at| {
        (at.scenario == 0).then_some(100.0)
    });
    story.incident(
        Phase::Measure,
        Side::Head,
        1,
        IncidentKind::BadMeasurement,
        "zero time",
    );
    story.incident(
        Phase::Warmup,
        Side::Base,
        2,
        IncidentKind::Timeout,
        "killed after 10 s",
    );
    let report = story.judge();
    assert_eq!(row(&report, "a").verdict, Verdict::Unchanged);
    assert_eq!(row(&report, "zero").verdict, Verdict::Failed);
    assert_eq!(
        row(&report, "zero").notes,
        ["head wrote no usable measurement in round 0: zero time"]
    );
    assert_eq!(
        row(&report, "hung").notes,
        ["base timed out in the warm-up: killed after 10 s"]
    );
    assert!(undecided(&story.recording, &story.policy).is_empty());
}

#[test]
fn outliers_a_thousandfold_change_nothing() {
    let ns = |at: At| if at.side == Side::Head { 104.0 } else { 100.0 };
    let mut clean = Story::of(&["a"]);
    clean.without_confirmation().measure(32, noisy(5, ns));
    let mut wild = Story::of(&["a"]);
    wild.without_confirmation().measure(32, {
        let mut value = noisy(5, ns);
        move |at| value(at) * if at.launch % 21 == 3 { 1000.0 } else { 1.0 }
    });
    let (clean, wild) = (clean.judge(), wild.judge());
    assert!((change(&clean, "a") - change(&wild, "a")).abs() < 0.02);
    let base = |report| row(report, "a").base.unwrap_or(0.0);
    assert!((base(&clean) / base(&wild) - 1.0).abs() < 0.02);
}

#[test]
fn a_scenario_the_budget_did_not_reach_is_named() {
    let mut story = Story::of(&["a", "b"]);
    story.run(Phase::Measure, 16, Schedule::Paired, |at| {
        (at.scenario == 0).then_some(100.0)
    });
    story.incident(Phase::Measure, Side::Base, 1, IncidentKind::NotReached, "");
    let report = story.judge();
    assert_eq!(
        row(&report, "b").notes,
        ["not measured: the budget did not suffice"]
    );
    assert!(
        report
            .notes
            .iter()
            .any(|note| note == "not measured for lack of budget: 1 scenario")
    );
}

// A22: nanoseconds, clocks, limits.

#[test]
fn a_tiny_change_in_nanoseconds_is_shown_and_not_flagged() {
    let mut story = Story::of(&["a"]);
    story.measure(16, noisy(1, constant_of(0.40, 0.58)));
    let report = story.judge();
    let of = row(&report, "a");
    assert_eq!(of.verdict, Verdict::Unclear);
    assert!(
        of.change
            .as_ref()
            .is_some_and(|change| change.change > 0.4 && change.detectable > 2.5)
    );
    assert!(noted(of, "is below the absolute floor of 1 ns"), "{:?}", of.notes);
    assert!(
        undecided(&story.recording, &story.policy).is_empty(),
        "more rounds would change nothing"
    );
}

fn constant_of(base: f64, head: f64) -> impl Fn(At) -> f64 {
    move |at| if at.side == Side::Head { head } else { base }
}

#[test]
fn large_changes_are_flagged_whatever_the_unit() {
    for (base, head) in [(2.0, 50.0), (85e6, 130e6)] {
        let mut story = Story::of(&["a"]);
        story
            .without_confirmation()
            .measure(16, noisy(1, constant_of(base, head)));
        let report = story.judge();
        assert_eq!(
            (row(&report, "a").verdict, row(&report, "a").flag),
            (Verdict::Regressed, Flag::Alert)
        );
    }
}

#[test]
fn a_clock_that_steps_too_far_cannot_show_a_change() {
    let mut random = rng(4);
    let mut stepping = |true_ns: f64| {
        let total = |ns: f64| (ns * (0.03 * normal(&mut random)).exp() / 50e3).round() * 50e3;
        let totals: Vec<f64> = [true_ns; 10].map(total).to_vec();
        Samples {
            iters: vec![1; 10],
            totals,
            throughput: None,
        }
    };
    let mut story = Story::of(&["a"]);
    story.run(Phase::Measure, 16, Schedule::Paired, |at| {
        Some(stepping(if at.side == Side::Head { 720e3 } else { 620e3 }))
    });
    let report = story.judge();
    let of = row(&report, "a");
    assert_eq!(of.verdict, Verdict::Unclear, "{of:?}");
    assert!(
        noted(
            of,
            "resolution too coarse: the clock steps by 50 µs, 8.3 % of a sample"
        ),
        "{:?}",
        of.notes
    );
    assert!(change(&report, "a") > 0.1);
}

#[test]
fn limits_are_compared_with_raw_values() {
    for (head, flagged) in [(105.04, true), (105.0 - 1e-9, false)] {
        let mut story = Story::of(&["a"]);
        story
            .without_confirmation()
            .threshold(0.05)
            .measure(16, constants(100.0, head));
        story.policy.margin = Fraction(0.04);
        assert_eq!(
            row(&story.judge(), "a").verdict == Verdict::Regressed,
            flagged,
            "{head}"
        );
    }
}

#[test]
fn an_unchanged_row_never_hides_more_than_the_margin() {
    // Significant, but below the absolute floor: 0.9 of 10 ns.
    let mut story = Story::of(&["a"]);
    story.measure(16, constants(10.0, 10.9));
    assert_eq!(row(&story.judge(), "a").verdict, Verdict::Unclear);
    for seed in 0..40 {
        let mut story = Story::of(&["a", "b", "c"]);
        story.measure(
            24,
            noisy(seed, |at| {
                8.0 + 0.2 * f64::from(at.scenario) * if at.side == Side::Head { 1.0 } else { 0.0 }
            }),
        );
        for of in story.judge().findings {
            let within = of
                .change
                .as_ref()
                .is_some_and(|change| change.low >= -0.05 && change.high <= 0.05);
            assert!(of.verdict != Verdict::Unchanged || within, "{of:?}");
        }
    }
}

// Looks.

#[test]
fn the_first_look_that_decides_is_the_one_that_counts() {
    let mut story = Story::of(&["a"]);
    story.measure(16, noisy(1, constant_of(1e4, 1.2e4)));
    let early = story.judge();
    assert!(undecided(&story.recording, &story.policy).is_empty());
    story.measure(30, noisy(2, constant_of(1e4, 1e4)));
    let late = story.judge();
    assert_eq!(row(&early, "a"), row(&late, "a"));
    assert_eq!(late.method.rounds, 16);
}

#[test]
fn asking_between_looks_decides_nothing() {
    let mut story = Story::of(&["a"]);
    story.measure(12, constants(100.0, 200.0));
    assert_eq!(undecided(&story.recording, &story.policy), [0]);
    story.measure(4, constants(100.0, 200.0));
    assert!(undecided(&story.recording, &story.policy).is_empty());
}

#[test]
fn a_fixed_number_of_rounds_is_used_up_and_looked_at_once() {
    let mut story = Story::of(&["a"]);
    story.recording.header.plan.measuring.rounds = Some(40);
    story.measure(32, noisy(1, |_| 1e4));
    assert_eq!(undecided(&story.recording, &story.policy), [0]);
    story.measure(8, noisy(2, |_| 1e4));
    assert!(undecided(&story.recording, &story.policy).is_empty());
    assert_eq!(story.judge().method.rounds, 40);
}

#[test]
fn a_noisy_row_says_how_many_rounds_it_needs() {
    let mut story = Story::of(&["a"]);
    let mut random = rng(9);
    story.measure(16, |_| 1e4 * (0.06 * normal(&mut random)).exp());
    let report = story.judge();
    let notes = &row(&report, "a").notes;
    assert!(
        notes.len() == 1
            && notes[0].starts_with("needs about ")
            && notes[0].ends_with("rounds for a 5 % margin"),
        "{notes:?}"
    );
}

// The whole report.

#[test]
fn rows_are_sorted_by_change_and_then_by_name() {
    let mut story = Story::of(&["z", "b", "a", "fast", "slow"]);
    story
        .scenario("new2", &[Side::Head])
        .scenario("new1", &[Side::Head]);
    story
        .without_confirmation()
        .measure(16, |at| match (at.scenario, at.side) {
            (3, Side::Head) => 50.0,
            (4, Side::Head) => 150.0,
            _ => 100.0,
        });
    let report = story.judge();
    let order: Vec<&str> = report
        .findings
        .iter()
        .map(|finding| finding.scenario.as_str())
        .collect();
    assert_eq!(order, ["slow", "a", "b", "z", "fast", "new1", "new2"]);
}

#[test]
fn a_shift_of_all_rows_is_called_the_machine() {
    let ids: Vec<String> = (0..12).map(|n| format!("row{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut story = Story::of(&ids);
    story
        .without_confirmation()
        .measure(16, noisy(3, constant_of(1e4, 1.06e4)));
    let report = story.judge();
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.starts_with("all rows moved together by +")),
        "{:?}",
        report.notes
    );
    let mut story = Story::of(&ids);
    story.without_confirmation().measure(
        16,
        noisy(3, |at| {
            1e4 * if at.scenario == 0 && at.side == Side::Head {
                2.0
            } else {
                1.0
            }
        }),
    );
    assert!(
        !story
            .judge()
            .notes
            .iter()
            .any(|note| note.starts_with("all rows"))
    );
}

#[test]
fn rows_of_other_shards_count_in_the_family_and_are_left_to_them() {
    let mut story = Story::of(&["a", "b"]);
    story.recording.header.plan.measuring.shard = Some(Shard { index: 1, count: 2 });
    story.recording.scenarios[1].assigned = false;
    story.run(Phase::Measure, 16, Schedule::Paired, |at| {
        (at.scenario == 0).then_some(100.0)
    });
    let report = story.judge();
    assert_eq!(report.findings.len(), 1);
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.starts_with("1 scenario measured by other shards"))
    );
}

#[test]
fn skipped_targets_and_blind_spots_are_named() {
    let mut story = Story::of(&["a"]);
    for build in &mut story.recording.builds {
        build.skipped.push(Skipped {
            target: Target {
                package: "engine".to_owned(),
                target: "old".to_owned(),
            },
            reason: "libtest harness".to_owned(),
        });
    }
    story.measure(16, constants(100.0, 100.0));
    let report = story.judge();
    assert_eq!(
        report.notes,
        ["bench target `old` of `engine` skipped: libtest harness"]
    );
    assert!(
        report
            .blind_spots
            .iter()
            .any(|spot| spot == "1 bench target skipped")
    );
    assert!(
        report
            .blind_spots
            .iter()
            .any(|spot| spot.starts_with("no GPU was seen"))
    );
    assert!(
        report
            .blind_spots
            .iter()
            .any(|spot| spot.starts_with("code layout"))
    );
}

#[test]
fn a_second_observation_in_one_slot_is_ignored() {
    let mut story = Story::of(&["a"]);
    story.measure(16, constants(100.0, 100.0));
    let before = story.judge();
    for slot in &mut story.recording.slots {
        let mut again = slot.observations[0].clone();
        again.totals = vec![1.0];
        slot.observations.push(again);
    }
    assert_eq!(story.judge(), before);
}

#[test]
fn a_recording_that_was_written_and_read_is_judged_the_same() {
    let mut story = Story::of(&["a", "b"]);
    // Whole totals, as criterion writes: the parser may be off in the last bit of others.
    let mut value = noisy(8, |at| 1e6 + f64::from(at.scenario));
    story.measure(16, |at| value(at).round());
    let recording = &story.recording;
    let events = [Event::Header(Box::new(recording.header.clone()))]
        .into_iter()
        .chain(recording.builds.iter().cloned().map(Event::Build))
        .chain(recording.scenarios.iter().cloned().map(Event::Scenario))
        .chain(recording.slots.iter().cloned().map(Event::Slot))
        .chain(recording.ends.iter().cloned().map(Event::End));
    let lines: Vec<String> = events
        .map(|event| serde_json::to_string(&event).unwrap())
        .collect();
    let read = Recording::read((lines.join("\n") + "\n").as_bytes()).unwrap();
    assert_eq!(abreast::judge::judge(&read, &story.policy), story.judge());
}
