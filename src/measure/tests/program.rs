//! Programs through the scripted laboratory: everything that one measures belongs to one launch.

use super::*;
use crate::profile::Format;
use crate::program::Program;

/// Of five scenarios the first two are benchmarks. The others belong to a program, which counts the last one.
fn with_program(path: &Path, measuring: Measuring, launches: Option<u32>) -> Journal {
    let mut journal = journal(path, 5, measuring);
    for entry in &mut journal.recording.scenarios[2..] {
        entry.scenario.kind = Kind::Program;
        entry.scenario.target = Target::program("engine");
    }
    journal.recording.scenarios[4].scenario.metric = Metric::count();
    journal.recording.header.plan.selection.programs = vec![Program {
        name: "engine".to_owned(),
        build: Vec::new(),
        run: vec!["engine".to_owned()],
        env: BTreeMap::new(),
        folder: String::new(),
        format: Format::Wall,
        timeout: Some("7s".parse().unwrap()),
        metrics: Vec::new(),
        launches,
    }];
    journal
}

/// `s4` is counted, `s3` takes longer on head by this factor.
fn slower_s3(factor: f64) -> impl Fn(&Slot, u32) -> Act {
    move |slot, scenario| match (scenario, slot.side) {
        (4, _) => Counts(62),
        (3, Side::Head) => Takes(factor * 100.0 * noise(slot, scenario)),
        _ => steady(slot, scenario),
    }
}

fn of_program(slot: &&Slot) -> bool {
    slot.target.is_program()
}

#[test]
fn everything_that_a_program_measures_is_in_each_of_its_launches() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = with_program(&folder.path().join("r"), minutes(10.0), None);
    // Only one of its rows needs more rounds than the others.
    let mut lab = ScriptedLab::new(|slot: &Slot, scenario| {
        if scenario == 2 {
            Takes(100.0 * (1.0 + (noise(slot, scenario) - 1.0) * 16.0))
        } else {
            slower_s3(1.0)(slot, scenario)
        }
    });
    assert_eq!(run(&mut lab, &mut journal), EndReason::Decided);
    let launches: Vec<&Slot> = lab.slots.iter().filter(of_program).collect();
    assert!(launches.iter().all(|slot| slot.scenarios == [2, 3, 4]));
    assert!(launches.iter().all(|slot| (slot.timeout_s - 7.0).abs() < 1e-9));
    assert!(rounds_of(&journal, Phase::Measure, 2) > 16);
    assert_eq!(rounds_of(&journal, Phase::Measure, 0), 16);
    assert_eq!(
        rounds_of(&journal, Phase::Measure, 3),
        rounds_of(&journal, Phase::Measure, 2)
    );
    assert_eq!(journal.recording.told.len(), launches.len());
    assert_eq!(verdict_of(&journal, "s3"), (Verdict::Unchanged, None));
    assert_eq!(finding_of(&journal, "s4").head, Some(62.0));
}

#[test]
fn a_change_of_a_program_is_repeated_by_fresh_launches_and_nobody_links_or_counts_it() {
    let folder = tempfile::tempdir().unwrap();
    let measuring = Measuring {
        relink_control: true,
        instructions: true,
        ..minutes(10.0)
    };
    let mut journal = with_program(&folder.path().join("r"), measuring, None);
    let mut lab = ScriptedLab::new(slower_s3(1.1));
    lab.counts = |_, _| Ok(1_000);
    run(&mut lab, &mut journal);
    assert_eq!(verdict_of(&journal, "s3"), (Verdict::Regressed, Some(true)));
    let again: Vec<&Slot> = lab
        .slots
        .iter()
        .filter(|slot| slot.phase == Phase::Confirm)
        .collect();
    assert_eq!(again.len(), 32);
    assert!(again.iter().all(|slot| slot.scenarios == [2, 3, 4]));
    let linked: Vec<_> = lab.relayings.iter().flatten().collect();
    assert!(!linked.is_empty() && linked.iter().all(|(_, target)| !target.is_program()));
    let counted = journal.recording.counted.iter();
    let counted: BTreeSet<u32> = counted.map(|counted| counted.scenario).collect();
    assert_eq!(counted, BTreeSet::from([0, 1]));
}

#[test]
fn a_program_that_crashes_fails_with_all_its_rows_and_the_benches_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = with_program(&folder.path().join("r"), minutes(10.0), None);
    let mut lab = ScriptedLab::new(|slot: &Slot, scenario| {
        if slot.target.is_program() && slot.side == Side::Head {
            Crashes
        } else {
            slower_s3(1.0)(slot, scenario)
        }
    });
    run(&mut lab, &mut journal);
    let launches = lab.slots.iter().filter(of_program);
    assert_eq!(launches.filter(|slot| slot.side == Side::Head).count(), 2);
    for id in ["s2", "s3", "s4"] {
        let finding = finding_of(&journal, id);
        assert_eq!(finding.verdict, Verdict::Failed);
        let notes = finding.notes.join("; ");
        assert!(notes.contains("exit status 101"), "{id}: {notes}");
    }
    for scenario in [0, 1] {
        assert_eq!(rounds_of(&journal, Phase::Measure, scenario), 16);
    }
}

#[test]
fn a_program_has_the_number_of_launches_that_was_asked_for() {
    for launches in [8, 24] {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = with_program(&folder.path().join("r"), minutes(10.0), Some(launches));
        let mut lab = ScriptedLab::new(slower_s3(1.0));
        assert_eq!(run(&mut lab, &mut journal), EndReason::Decided);
        assert_eq!(rounds_of(&journal, Phase::Measure, 2), launches as usize);
        assert_eq!(rounds_of(&journal, Phase::Measure, 0), 16);
    }
}

#[test]
fn the_budget_reaches_a_whole_program_or_nothing_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = with_program(&folder.path().join("r"), minutes(1.0), None);
    // Sixteen rounds of each row take 48 s, of both 96 s.
    let mut lab = ScriptedLab::new(|slot: &Slot, scenario| match scenario {
        2 | 3 => Costs(1e9, 1.5),
        _ => slower_s3(1.0)(slot, scenario),
    });
    run(&mut lab, &mut journal);
    assert_eq!(lab.slots.iter().filter(of_program).count(), 1);
    for id in ["s2", "s3", "s4"] {
        let finding = finding_of(&journal, id);
        assert_eq!(finding.verdict, Verdict::Failed);
        let notes = finding.notes.join("; ");
        assert!(notes.contains("16 rounds of it take 96 s"), "{id}: {notes}");
    }
    assert_eq!(rounds_of(&journal, Phase::Measure, 0), 16);
}
