//! Measuring through a scripted laboratory: no process, no clock.
#![expect(clippy::disallowed_methods, reason = "a test cuts a recording anywhere")]

use super::*;
use crate::metric::Metric;
use crate::plan::{Measuring, Policy, Selection};
use crate::recording::{
    Build, Contention, End, Events, Executable, Header, IncidentKind, Linked, Observation, RelaidOutcome,
    SCHEMA, SlotRecord, Told,
};
use crate::report::Finding;
use crate::revision::Revision;
use crate::scenario::{Kind, Scenario, Target};
use crate::verdict::Verdict;
use std::path::Path;

mod layout;
mod program;

/// What a script lets a scenario do in a slot.
#[derive(Clone, Copy)]
enum Act {
    /// Takes this many nanoseconds per iteration.
    Takes(f64),
    /// The same, and this many seconds of the slot.
    Costs(f64, f64),
    /// Ends the process.
    Crashes,
    /// Never ends.
    Hangs,
    /// Writes nothing.
    SaysNothing,
    /// Counts so many events.
    Counts(u64),
}
use Act::{Costs, Counts, Crashes, Hangs, SaysNothing, Takes};

/// Slots cost this many seconds for each scenario.
const COST_S: f64 = 0.1;

struct ScriptedLab<F> {
    script: F,
    slots: Vec<Slot>,
    /// Interrupt instead of running the slot with this number.
    interrupt_at: Option<usize>,
    /// Seconds a process takes before its first scenario, which are part of that one's cost.
    start_s: f64,
    /// Instructions of a scenario on a side.
    counts: fn(Side, u32) -> Result<u64, String>,
    /// The user stops it while executables are linked.
    interrupts_linking: bool,
    /// No executable can be linked in another order.
    cannot_link: bool,
    /// What was to be linked in other orders.
    relayings: Vec<BTreeSet<(Side, Target)>>,
}

impl<F: FnMut(&Slot, u32) -> Act> ScriptedLab<F> {
    fn new(script: F) -> Self {
        Self {
            script,
            slots: Vec::new(),
            interrupt_at: None,
            start_s: 0.0,
            counts: |_, _| Err("not counted".to_owned()),
            interrupts_linking: false,
            cannot_link: false,
            relayings: Vec::new(),
        }
    }
}

impl<F: FnMut(&Slot, u32) -> Act> Lab for ScriptedLab<F> {
    fn run(&mut self, slot: &Slot, _entries: &[Entry], _timing: Timing) -> Result<Outcome, LabError> {
        let mut outcome = Outcome {
            record: SlotRecord {
                phase: slot.phase,
                round: slot.round,
                side: slot.side,
                first: slot.first,
                target: slot.target.clone(),
                layout: slot.layout,
                at_s: 0.0,
                wall_s: 0.0,
                waited_s: None,
                contention: Contention::default(),
                observations: Vec::new(),
            },
            told: None,
            end: SlotEnd::Well,
            bad: Vec::new(),
            notes: Vec::new(),
            tail: String::new(),
        };
        if self.interrupt_at == Some(self.slots.len()) {
            outcome.end = SlotEnd::Interrupted;
            return Ok(outcome);
        }
        self.slots.push(slot.clone());
        for scenario in &slot.scenarios {
            let act = (self.script)(slot, *scenario);
            let first = outcome.record.observations.is_empty();
            let cost_s = if let Costs(_, cost_s) = act {
                cost_s
            } else {
                COST_S
            };
            let cost_s = cost_s + if first { self.start_s } else { 0.0 };
            outcome.record.wall_s += cost_s;
            match act {
                Takes(ns) | Costs(ns, _) => outcome.record.observations.push(Observation {
                    scenario: *scenario,
                    iters: vec![1000; 3].into(),
                    totals: [1003.0, 1000.0, 1001.0]
                        .map(|iters: f64| (ns * iters).round())
                        .to_vec(),
                    throughput: None,
                    cost_s,
                }),
                SaysNothing => {}
                Counts(events) => told(&mut outcome).counts.push(Events {
                    scenario: *scenario,
                    values: vec![events],
                }),
                Crashes => {
                    outcome.end = SlotEnd::Badly("exit status 101".to_owned());
                    break;
                }
                Hangs => {
                    outcome.end = SlotEnd::TimedOut;
                    outcome.record.wall_s += slot.timeout_s;
                    break;
                }
            }
        }
        Ok(outcome)
    }

    fn count(&mut self, side: Side, entry: &Entry) -> Result<Option<Result<u64, String>>, LabError> {
        Ok(Some((self.counts)(side, entry.ix)))
    }

    fn relay(&mut self, wanted: &BTreeSet<(Side, Target)>) -> Result<Option<Vec<Relaid>>, LabError> {
        self.relayings.push(wanted.clone());
        if self.interrupts_linking {
            return Ok(None);
        }
        let linked = |(side, target): &(Side, Target)| {
            let (side, target) = (*side, target.clone());
            Layout::shuffled().map(move |layout| Relaid {
                side,
                target: target.clone(),
                outcome: RelaidOutcome::Linked(Linked {
                    layout,
                    path: format!("{side}/{}", layout.0),
                    sha256: String::new(),
                    build_s: 1.0,
                }),
            })
        };
        let failed =
            |(side, target): &(Side, Target)| Relaid::failed(*side, target.clone(), "no linker".to_owned());
        Ok(Some(if self.cannot_link {
            wanted.iter().map(failed).collect()
        } else {
            wanted.iter().flat_map(linked).collect()
        }))
    }
}

/// What the program of a slot tells.
fn told(outcome: &mut Outcome) -> &mut Told {
    let slot = &outcome.record;
    outcome.told.get_or_insert_with(|| Told {
        phase: slot.phase,
        round: slot.round,
        side: slot.side,
        target: slot.target.clone(),
        settings: BTreeMap::new(),
        generations: Vec::new(),
        counts: Vec::new(),
        unknown: BTreeMap::new(),
    })
}

fn target() -> Target {
    Target {
        package: "p".to_owned(),
        target: "t".to_owned(),
    }
}

/// A recording as it is when measuring begins: both sides built, `count` scenarios.
fn journal(path: &Path, count: u32, measuring: Measuring) -> Journal {
    let revision = |sha: &str| Revision {
        label: sha.to_owned(),
        sha: sha.repeat(40),
    };
    let plan = Plan {
        base: revision("a"),
        head: revision("b"),
        selection: Selection::default(),
        measuring,
        policy: Policy::default(),
    };
    let header = Header {
        schema: SCHEMA.to_owned(),
        tool: "0.0.0".to_owned(),
        run: "run".to_owned(),
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        plan,
    };
    let mut journal = Journal::create(path, header).unwrap();
    for side in Side::BOTH {
        let executable = Executable {
            target: target(),
            path: format!("{side}/p--t"),
            sha256: side.to_string(),
            loaded_sha256: side.to_string(),
            criterion: Some("0.8.2".to_owned()),
            package_dir: String::new(),
        };
        let build = Build {
            side,
            sha: side.to_string(),
            checkout_s: 0.0,
            build_s: 0.0,
            toolchain: None,
            executables: vec![executable],
            skipped: Vec::new(),
            failure: None,
        };
        journal.append(Event::Build(build)).unwrap();
    }
    for ix in 0..count {
        let scenario = Scenario {
            kind: Kind::Criterion,
            target: target(),
            id: format!("s{ix}"),
            metric: Metric::time(),
        };
        journal
            .append(Event::Scenario(Entry {
                ix,
                scenario,
                sides: Side::BOTH.to_vec(),
                assigned: true,
            }))
            .unwrap();
    }
    journal
}

fn minutes(minutes: f64) -> Measuring {
    Measuring {
        budget_s: Some(minutes * 60.0),
        rounds: None,
        seed: 1,
        shard: None,
        identical: false,
        confirm: true,
        layout_check: true,
        relink_control: false,
        instructions: false,
        elsewhere: false,
        timeout_s: None,
    }
}

/// A reproducible deviation within ±0.5 % for each process.
fn noise(slot: &Slot, scenario: u32) -> f64 {
    let mut hash = u64::from(slot.round) * 4 + slot.phase as u64 * 2 + slot.side as u64;
    hash = (hash * 1_000 + u64::from(scenario)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash ^= hash >> 29;
    hash = hash.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    #[expect(clippy::cast_precision_loss, reason = "32 bits")]
    let unit = (hash >> 32) as f64 / f64::from(u32::MAX);
    1.0 + (unit - 0.5) / 100.0
}

fn steady(slot: &Slot, scenario: u32) -> Act {
    Takes(100.0 * noise(slot, scenario))
}

/// `s2` is a tenth slower on head.
fn slower_s2(slot: &Slot, scenario: u32) -> Act {
    let slower = slot.side == Side::Head && scenario == 2;
    Takes(100.0 * noise(slot, scenario) * if slower { 1.1 } else { 1.0 })
}

fn run<F: FnMut(&Slot, u32) -> Act>(lab: &mut ScriptedLab<F>, journal: &mut Journal) -> EndReason {
    measure(lab, journal, &mut |_| {}).unwrap()
}

fn finding_of(journal: &Journal, id: &str) -> Finding {
    let report = judge::judge(&journal.recording, &Policy::default());
    let mut rows = report.findings.into_iter();
    rows.find(|finding| finding.scenario == id).unwrap()
}

fn verdict_of(journal: &Journal, id: &str) -> (Verdict, Option<bool>) {
    let finding = finding_of(journal, id);
    (finding.verdict, finding.confirmed)
}

fn rounds_of(journal: &Journal, phase: Phase, scenario: u32) -> usize {
    let slots = journal.recording.slots.iter().filter(|slot| slot.phase == phase);
    slots
        .flat_map(|slot| &slot.observations)
        .filter(|observation| observation.scenario == scenario)
        .count()
        / 2
}

#[test]
fn quiet_scenarios_are_decided_at_the_first_look_and_nothing_is_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 5, minutes(10.0));
    let mut lab = ScriptedLab::new(steady);
    assert_eq!(run(&mut lab, &mut journal), EndReason::Decided);
    for scenario in 0..5 {
        assert_eq!(rounds_of(&journal, Phase::Measure, scenario), 16);
        assert_eq!(rounds_of(&journal, Phase::Confirm, scenario), 0);
    }
    assert_eq!(verdict_of(&journal, "s0"), (Verdict::Unchanged, None));
}

#[test]
fn every_scenario_runs_once_on_each_side_of_every_round_in_both_orders_equally() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(
        &folder.path().join("r"),
        25,
        Measuring {
            rounds: Some(12),
            ..minutes(10.0)
        },
    );
    let mut lab = ScriptedLab::new(steady);
    run(&mut lab, &mut journal);
    for scenario in 0..25 {
        let own: Vec<&Slot> = lab
            .slots
            .iter()
            .filter(|slot| slot.phase == Phase::Measure && slot.scenarios.contains(&scenario))
            .collect();
        assert_eq!(own.len(), 24);
        for round in 0..12 {
            let sides: BTreeSet<Side> = own
                .iter()
                .filter(|slot| slot.round == round)
                .map(|slot| slot.side)
                .collect();
            assert_eq!(sides.len(), 2);
        }
        assert_eq!(
            own.iter()
                .filter(|slot| slot.first && slot.side == Side::Base)
                .count(),
            6
        );
    }
    // Both sides of a chunk are neighbours in time.
    for pair in lab.slots.chunks(2) {
        assert_eq!(pair[0].scenarios, pair[1].scenarios);
        assert_eq!(pair[0].side, pair[1].side.other());
    }
}

/// Case A07: the first pass would flag five of forty rows, fresh processes reproduce one.
#[test]
fn a_confirmation_keeps_only_what_repeats_and_runs_only_what_was_flagged() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 40, minutes(10.0));
    let mut lab = ScriptedLab::new(|slot, scenario| {
        let slower = slot.side == Side::Head
            && match slot.phase {
                Phase::Confirm => scenario == 3,
                _ => [3, 8, 13, 21, 34].contains(&scenario),
            };
        Takes(100.0 * noise(slot, scenario) * if slower { 1.1 } else { 1.0 })
    });
    run(&mut lab, &mut journal);
    let confirmed: BTreeSet<u32> = lab
        .slots
        .iter()
        .filter(|slot| slot.phase == Phase::Confirm)
        .flat_map(|slot| slot.scenarios.clone())
        .collect();
    assert_eq!(confirmed, BTreeSet::from([3, 8, 13, 21, 34]));
    assert_eq!(verdict_of(&journal, "s3"), (Verdict::Regressed, Some(true)));
    for id in ["s8", "s13", "s21", "s34"] {
        assert_eq!(verdict_of(&journal, id), (Verdict::Unclear, Some(false)));
    }
    let report = judge::judge(&journal.recording, &Policy::default());
    assert_eq!(report.count(Verdict::Regressed), 1);
}

#[test]
fn a_candidate_is_confirmed_once_although_the_budget_ends_and_the_run_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let mut journal = journal(&path, 10, minutes(3.0));
    // `s2` is flagged at the first look; `s6` is so noisy that only the end of the budget ends its rounds.
    let script = |slot: &Slot, scenario: u32| {
        let noise = noise(slot, scenario);
        let slower = slot.side == Side::Head && scenario == 2;
        let wild = if scenario == 6 {
            (noise - 1.0) * 60.0
        } else {
            noise - 1.0
        };
        Takes(100.0 * (1.0 + wild) * if slower { 1.1 } else { 1.0 })
    };
    assert_eq!(
        run(&mut ScriptedLab::new(script), &mut journal),
        EndReason::Budget
    );
    assert_eq!(verdict_of(&journal, "s2"), (Verdict::Regressed, Some(true)));
    assert_eq!(rounds_of(&journal, Phase::Confirm, 2), 16);

    let mut journal = Journal::resume(&path).unwrap();
    run(&mut ScriptedLab::new(script), &mut journal);
    assert_eq!(rounds_of(&journal, Phase::Confirm, 2), 16);
}

#[test]
fn a_confirmation_that_was_cut_short_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let mut journal = journal(&path, 3, minutes(10.0));
    let mut lab = ScriptedLab::new(slower_s2);
    // The warm-up and each of sixteen rounds have two processes a side, six rounds of the confirmation have one.
    lab.interrupt_at = Some(4 + 64 + 12);
    assert_eq!(run(&mut lab, &mut journal), EndReason::Interrupted);
    assert_eq!(rounds_of(&journal, Phase::Confirm, 2), 6);
    let mut journal = Journal::resume(&path).unwrap();
    run(&mut ScriptedLab::new(slower_s2), &mut journal);
    assert_eq!(rounds_of(&journal, Phase::Confirm, 2), 16);
}

#[test]
fn fresh_processes_that_cannot_tell_yet_are_more_for_those_rows_only() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 3, minutes(30.0));
    // All three are slower. `s0` is noisy from the start, so that a later look finds it; fresh processes show `s0` and
    // `s1` so noisily that sixteen rounds cannot tell, and `s2` at once.
    let script = |slot: &Slot, scenario: u32| {
        let wild = match (slot.phase, scenario) {
            (Phase::Confirm, 0 | 1) => 40.0,
            (_, 0) => 50.0,
            _ => 1.0,
        };
        let noise = 1.0 + (noise(slot, scenario) - 1.0) * wild;
        let slower = slot.side == Side::Head;
        Takes(100.0 * noise * if slower { 1.1 } else { 1.0 })
    };
    run(&mut ScriptedLab::new(script), &mut journal);
    let found_after = |scenario| rounds_of(&journal, Phase::Measure, scenario);
    assert!(
        found_after(0) > 16 && found_after(1) == 16,
        "{} {}",
        found_after(0),
        found_after(1)
    );
    assert!(rounds_of(&journal, Phase::Confirm, 0) > 16);
    assert!(rounds_of(&journal, Phase::Confirm, 1) > 16);
    assert_eq!(rounds_of(&journal, Phase::Confirm, 2), 16);
}

#[test]
fn what_was_found_early_is_confirmed_among_the_rounds_of_what_is_undecided() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 4, minutes(3.0));
    let script = |slot: &Slot, scenario: u32| {
        let wild = if scenario == 0 { 60.0 } else { 1.0 };
        let noise = 1.0 + (noise(slot, scenario) - 1.0) * wild;
        let slower = slot.side == Side::Head && scenario == 2;
        Takes(100.0 * noise * if slower { 1.1 } else { 1.0 })
    };
    run(&mut ScriptedLab::new(script), &mut journal);
    let phases: Vec<Phase> = journal.recording.slots.iter().map(|slot| slot.phase).collect();
    let of = |phase: Phase| phases.iter().filter(|other| **other == phase).count();
    assert_eq!(of(Phase::Confirm), 32);
    let longest = phases
        .chunk_by(|one, other| one == other)
        .filter(|run| run[0] == Phase::Confirm);
    assert_eq!(
        longest.map(<[Phase]>::len).max(),
        Some(4),
        "a pair of rounds at a time"
    );
    assert_eq!(verdict_of(&journal, "s2"), (Verdict::Regressed, Some(true)));
}

#[test]
fn what_was_found_is_confirmed_in_full_before_undecided_scenarios_have_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 24, minutes(2.75));
    // Half of them are slower and quiet: confirming them takes more than the part that is always kept.
    let script = |slot: &Slot, scenario: u32| {
        let wild = if scenario < 12 { 1.0 } else { 60.0 };
        let noise = 1.0 + (noise(slot, scenario) - 1.0) * wild;
        let slower = slot.side == Side::Head && scenario < 12;
        Takes(100.0 * noise * if slower { 1.1 } else { 1.0 })
    };
    let mut lab = ScriptedLab::new(script);
    lab.counts = |side, scenario| {
        Ok(if side == Side::Head && scenario < 12 {
            1_100
        } else {
            1_000
        })
    };
    assert_eq!(run(&mut lab, &mut journal), EndReason::Budget);
    for scenario in 0..12 {
        assert_eq!(rounds_of(&journal, Phase::Confirm, scenario), 16);
        assert_eq!(
            verdict_of(&journal, &format!("s{scenario}")),
            (Verdict::Regressed, Some(true))
        );
    }
    assert!(rounds_of(&journal, Phase::Measure, 12) > 16);
    let spent_s = journal.recording.measured_s();
    assert!((155.0..=165.0).contains(&spent_s), "{spent_s}");
}

/// Case A07, variant: the second pass crashes for one id.
#[test]
fn a_flag_whose_confirmation_crashes_stays_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 6, minutes(10.0));
    let mut lab = ScriptedLab::new(|slot, scenario| {
        if slot.phase == Phase::Confirm && scenario == 2 {
            return Crashes;
        }
        slower_s2(slot, scenario)
    });
    run(&mut lab, &mut journal);
    assert_eq!(verdict_of(&journal, "s2"), (Verdict::Regressed, None));
}

#[test]
fn a_process_is_short_unless_its_start_is_expensive() {
    let folder = tempfile::tempdir().unwrap();
    let mut most_in_a_process = Vec::new();
    for start_s in [0.0, 0.2] {
        let mut journal = journal(&folder.path().join(format!("{start_s}")), 20, minutes(10.0));
        let mut lab = ScriptedLab::new(steady);
        lab.start_s = start_s;
        run(&mut lab, &mut journal);
        let measured = lab.slots.iter().filter(|slot| slot.phase == Phase::Measure);
        most_in_a_process.push(measured.map(|slot| slot.scenarios.len()).max());
    }
    assert_eq!(most_in_a_process, [Some(2), Some(7)]);
}

/// Case A28: one of forty benches sleeps for ever.
#[test]
fn a_hanging_scenario_is_killed_once_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 40, minutes(3.0));
    let mut lab = ScriptedLab::new(|slot, scenario| {
        if scenario == 17 {
            Hangs
        } else {
            steady(slot, scenario)
        }
    });
    run(&mut lab, &mut journal);
    let hung = |slot: &&Slot| slot.scenarios.contains(&17);
    assert_eq!(
        lab.slots.iter().filter(hung).count(),
        1,
        "it is not even tried on the other side"
    );
    assert_eq!(verdict_of(&journal, "s17").0, Verdict::Failed);
    for scenario in (0..40).filter(|scenario| *scenario != 17) {
        assert!(rounds_of(&journal, Phase::Measure, scenario) >= 8, "s{scenario}");
    }
}

#[test]
fn a_scenario_that_crashes_is_given_up_after_the_second_time_and_its_neighbours_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 8, minutes(10.0));
    let mut lab = ScriptedLab::new(|slot, scenario| {
        if scenario == 4 && slot.side == Side::Head {
            Crashes
        } else {
            steady(slot, scenario)
        }
    });
    run(&mut lab, &mut journal);
    let crashes = journal
        .recording
        .incidents
        .iter()
        .filter(|incident| incident.scenario == Some(4))
        .count();
    assert_eq!(crashes, 2);
    assert_eq!(verdict_of(&journal, "s4").0, Verdict::Failed);
    for scenario in [0, 1, 2, 3, 5, 6, 7] {
        assert_eq!(rounds_of(&journal, Phase::Measure, scenario), 16);
    }
}

#[test]
fn a_scenario_that_never_writes_anything_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 2, minutes(10.0));
    let mut lab = ScriptedLab::new(|slot, scenario| {
        if scenario == 0 {
            SaysNothing
        } else {
            steady(slot, scenario)
        }
    });
    run(&mut lab, &mut journal);
    assert_eq!(verdict_of(&journal, "s0").0, Verdict::Failed);
    assert_eq!(verdict_of(&journal, "s1").0, Verdict::Unchanged);
}

#[test]
fn what_the_budget_cannot_reach_is_named_instead_of_measured_in_vain() {
    let folder = tempfile::tempdir().unwrap();
    // 100 scenarios of 0.1 s need 320 s for sixteen rounds; 85 % of two minutes, less the warm-up, hold 29 of them.
    let mut journal = journal(&folder.path().join("r"), 100, minutes(2.0));
    let mut lab = ScriptedLab::new(steady);
    run(&mut lab, &mut journal);
    let missed = journal
        .recording
        .incidents
        .iter()
        .filter(|i| i.what == IncidentKind::NotReached)
        .count();
    assert!((68..=74).contains(&missed), "{missed}");
    let report = judge::judge(&journal.recording, &Policy::default());
    assert_eq!(report.count(Verdict::Failed), missed);
    let spent_s = journal.recording.measured_s();
    assert!(spent_s < 120.01, "{spent_s}");
}

#[test]
fn what_alone_exceeds_the_budget_is_tried_on_one_side_and_leaves_the_time_to_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 10, minutes(1.0));
    let mut lab = ScriptedLab::new(|slot, scenario| {
        if scenario == 3 {
            Costs(1e9, 6.0)
        } else {
            steady(slot, scenario)
        }
    });
    run(&mut lab, &mut journal);
    let tried = lab
        .slots
        .iter()
        .filter(|slot| slot.scenarios.contains(&3))
        .count();
    assert_eq!(tried, 1);
    assert_eq!(verdict_of(&journal, "s3").0, Verdict::Failed);
    for scenario in (0..10).filter(|scenario| *scenario != 3) {
        assert!(rounds_of(&journal, Phase::Measure, scenario) >= 8, "s{scenario}");
    }
}

#[test]
fn scenarios_that_cost_much_more_than_they_are_asked_for_are_measured_as_far_as_the_budget_goes() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 200, minutes(3.0));
    let mut lab = ScriptedLab::new(|slot, scenario| Costs(1e8 * noise(slot, scenario), 1.5));
    run(&mut lab, &mut journal);
    let report = judge::judge(&journal.recording, &Policy::default());
    let judged = report
        .findings
        .iter()
        .filter(|finding| finding.change.is_some())
        .count();
    // Sixteen rounds of one take 48 s; the budget holds 180 s, the warm-up and what is kept for confirming included.
    assert!(judged >= 3, "{judged}");
    let most = lab.slots.iter().map(|slot| slot.scenarios.len()).max();
    assert_eq!(most, Some(1));
    let spent_s = journal.recording.measured_s();
    assert!(spent_s < 200.0, "{spent_s}");
}

#[test]
fn cheap_scenarios_of_one_target_are_not_left_out_for_expensive_ones_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 40, minutes(1.0));
    for entry in &mut journal.recording.scenarios[..10] {
        entry.scenario.target.target = "expensive".to_owned();
    }
    let mut lab = ScriptedLab::new(|slot, scenario| {
        let cost_s = if scenario < 10 { 1.5 } else { 0.02 };
        Costs(1e3 * noise(slot, scenario), cost_s)
    });
    run(&mut lab, &mut journal);
    for scenario in 10..40 {
        assert!(rounds_of(&journal, Phase::Measure, scenario) >= 8, "s{scenario}");
    }
}

#[test]
fn a_target_of_which_nothing_ever_ends_is_left_after_two_tries() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 30, minutes(10.0));
    let mut lab = ScriptedLab::new(|_, _| Hangs);
    run(&mut lab, &mut journal);
    assert_eq!(lab.slots.len(), 2);
    let report = judge::judge(&journal.recording, &Policy::default());
    assert_eq!(report.count(Verdict::Failed), 30);
}

#[test]
fn a_warm_up_that_eats_the_budget_stops_and_names_what_it_did_not_reach() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 30, minutes(1.0));
    let mut lab = ScriptedLab::new(|slot, scenario| Costs(1e8 * noise(slot, scenario), 2.0));
    run(&mut lab, &mut journal);
    let report = judge::judge(&journal.recording, &Policy::default());
    assert_eq!(report.findings.len(), 30);
    assert!(
        report
            .findings
            .iter()
            .all(|finding| finding.verdict != Verdict::Identical)
    );
    let missed = journal
        .recording
        .incidents
        .iter()
        .filter(|i| i.what == IncidentKind::NotReached)
        .count();
    assert_eq!(missed, report.count(Verdict::Failed));
    assert!(missed >= 29, "{missed}");
    let spent_s = journal.recording.measured_s();
    assert!(spent_s < 90.0, "{spent_s}");
}

#[test]
fn noisy_scenarios_get_the_time_that_quiet_ones_do_not_need() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 10, minutes(3.0));
    let mut lab = ScriptedLab::new(|slot, scenario| {
        let noise = noise(slot, scenario);
        Takes(
            100.0
                * if scenario == 6 {
                    1.0 + (noise - 1.0) * 60.0
                } else {
                    noise
                },
        )
    });
    assert_eq!(run(&mut lab, &mut journal), EndReason::Budget);
    assert_eq!(rounds_of(&journal, Phase::Measure, 0), 16);
    assert!(rounds_of(&journal, Phase::Measure, 6) > 100);
    let spent_s = journal.recording.measured_s();
    assert!((170.0..=180.0).contains(&spent_s), "{spent_s}");
}

#[test]
fn a_fixed_number_of_rounds_is_what_every_scenario_gets() {
    let folder = tempfile::tempdir().unwrap();
    let measuring = Measuring {
        rounds: Some(10),
        budget_s: None,
        ..minutes(1.0)
    };
    let mut journal = journal(&folder.path().join("r"), 3, measuring);
    let mut lab = ScriptedLab::new(steady);
    assert_eq!(run(&mut lab, &mut journal), EndReason::Decided);
    assert_eq!(
        (0..3)
            .map(|s| rounds_of(&journal, Phase::Measure, s))
            .collect::<Vec<_>>(),
        [10, 10, 10]
    );
}

#[test]
fn identical_executables_are_not_measured_unless_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    for (identical, slots) in [(false, 0), (true, 4)] {
        let mut journal = journal(
            &folder.path().join("r"),
            3,
            Measuring {
                identical,
                ..minutes(10.0)
            },
        );
        for build in &mut journal.recording.builds {
            build.executables[0].loaded_sha256 = "same".to_owned();
        }
        let mut lab = ScriptedLab::new(steady);
        run(&mut lab, &mut journal);
        assert_eq!(
            lab.slots
                .iter()
                .filter(|slot| slot.phase == Phase::Warmup)
                .count(),
            slots
        );
        let verdict = if identical {
            Verdict::Unchanged
        } else {
            Verdict::Identical
        };
        assert_eq!(verdict_of(&journal, "s1").0, verdict);
    }
}

#[test]
fn a_scenario_of_one_side_is_measured_there_only_and_briefly() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 2, minutes(10.0));
    journal.recording.scenarios[1].sides = vec![Side::Head];
    let mut lab = ScriptedLab::new(steady);
    run(&mut lab, &mut journal);
    let own: Vec<&Slot> = lab
        .slots
        .iter()
        .filter(|slot| slot.scenarios.contains(&1))
        .collect();
    assert_eq!(own.len(), super::warm_up::ROUNDS_OF_ONE_SIDE as usize);
    assert!(own.iter().all(|slot| slot.side == Side::Head));
    let report = judge::judge(&journal.recording, &Policy::default());
    let finding = report
        .findings
        .iter()
        .find(|finding| finding.scenario == "s1")
        .unwrap();
    assert_eq!(finding.verdict, Verdict::New);
    assert!(finding.base.is_none() && (99.0..101.0).contains(&finding.head.unwrap()));
}

/// Kill the run at any byte of its file and go on: nothing that was complete is lost or measured twice.
#[test]
fn a_run_that_was_killed_anywhere_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let mut whole = journal(&path, 6, minutes(10.0));
    run(&mut ScriptedLab::new(steady), &mut whole);
    let text = std::fs::read(&path).unwrap();
    let preparation = text
        .windows(17)
        .position(|bytes| bytes == b"\"event\":\"timing\",")
        .unwrap()
        - 1;
    for cut in (preparation..text.len()).step_by(text.len() / 40) {
        std::fs::write(&path, &text[..cut]).unwrap();
        let mut journal = Journal::resume(&path).unwrap();
        let before = journal.recording.slots.clone();
        assert_eq!(
            run(&mut ScriptedLab::new(steady), &mut journal),
            EndReason::Decided
        );
        assert_eq!(journal.recording.slots[..before.len()], before);
        let again = crate::edge::store::read_recording(&path).unwrap();
        assert!(!again.truncated);
        assert_eq!(again.slots, journal.recording.slots);
        for scenario in 0..6 {
            assert_eq!(
                verdict_of(&journal, &format!("s{scenario}")).0,
                Verdict::Unchanged,
                "cut at {cut}"
            );
        }
    }
}

#[test]
fn an_interrupted_run_keeps_whole_slots_and_can_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let mut journal = journal(&path, 6, minutes(10.0));
    let mut lab = ScriptedLab::new(steady);
    lab.interrupt_at = Some(9);
    assert_eq!(run(&mut lab, &mut journal), EndReason::Interrupted);
    assert_eq!(journal.recording.slots.len(), 9);
    journal
        .append(Event::End(End {
            total_s: 1.0,
            reason: EndReason::Interrupted,
        }))
        .unwrap();
    let mut plan = journal.recording.header.plan.clone();
    assert!(journal.recording.can_go_on_as(&plan));
    plan.measuring.shard = Some("1/2".parse().unwrap());
    assert!(!journal.recording.can_go_on_as(&plan));
    let mut journal = Journal::resume(&path).unwrap();
    assert_eq!(
        run(&mut ScriptedLab::new(steady), &mut journal),
        EndReason::Decided
    );
}

#[test]
fn a_file_that_lacks_only_its_last_line_feed_is_gone_on_with_on_a_new_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    drop(journal(&path, 2, minutes(10.0)));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.trim_end()).unwrap();
    let mut journal = Journal::resume(&path).unwrap();
    run(&mut ScriptedLab::new(steady), &mut journal);
    let read = crate::edge::store::read_recording(&path).unwrap();
    assert_eq!(read, journal.recording);
}

#[test]
fn a_round_that_was_cut_short_is_made_up_for_so_that_the_fixed_number_is_reached() {
    for interrupt_at in 1..60 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r");
        let measuring = Measuring {
            rounds: Some(8),
            budget_s: None,
            ..minutes(1.0)
        };
        let mut journal = journal(&path, 3, measuring);
        let mut lab = ScriptedLab::new(steady);
        lab.interrupt_at = Some(interrupt_at);
        run(&mut lab, &mut journal);
        drop(journal);
        let mut journal = Journal::resume(&path).unwrap();
        let reason = run(&mut ScriptedLab::new(steady), &mut journal);
        assert_eq!(reason, EndReason::Decided, "interrupted at {interrupt_at}");
        for scenario in 0..3 {
            let verdict = verdict_of(&journal, &format!("s{scenario}"));
            assert_eq!(verdict.0, Verdict::Unchanged, "interrupted at {interrupt_at}");
        }
    }
}

#[test]
fn a_full_disk_stops_the_run_with_a_sentence_and_keeps_what_was_written() {
    let header = {
        let folder = tempfile::tempdir().unwrap();
        journal(&folder.path().join("r"), 0, minutes(1.0))
            .recording
            .header
    };
    let error = Journal::create(Path::new("/dev/full"), header)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("recording into /dev/full failed: ") && error.contains("--resume"),
        "{error}"
    );
}
