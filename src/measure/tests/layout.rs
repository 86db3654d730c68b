//! Whether code or its place changed, through the scripted laboratory.

use super::*;
use crate::layout::{LAYOUTS, ONE_EACH};

/// `s2` is slower on head by this factor in this slot.
fn slower(slot: &Slot, scenario: u32, factor: impl Fn(&Slot) -> f64) -> Act {
    let slower = slot.side == Side::Head && scenario == 2;
    Takes(100.0 * noise(slot, scenario) * if slower { factor(slot) } else { 1.0 })
}

/// A tenth slower as built; elsewhere in memory nothing is left of it.
fn only_as_built(slot: &Slot, scenario: u32) -> Act {
    slower(
        slot,
        scenario,
        |slot| if slot.layout.is_as_built() { 1.1 } else { 1.0 },
    )
}

fn everywhere(slot: &Slot, scenario: u32) -> Act {
    slower(slot, scenario, |_| 1.1)
}

struct Seen {
    verdict: Verdict,
    notes: String,
    relayings: usize,
    relaid_rounds: usize,
    counted: usize,
}

fn seen(script: fn(&Slot, u32) -> Act, counts: fn(Side, u32) -> Result<u64, String>) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 5, minutes(10.0));
    let mut lab = ScriptedLab::new(script);
    lab.counts = counts;
    run(&mut lab, &mut journal);
    let row = finding_of(&journal, "s2");
    Seen {
        verdict: row.verdict,
        notes: row.notes.join("\n"),
        relayings: lab.relayings.len(),
        relaid_rounds: rounds_of(&journal, Phase::Relaid, 2),
        counted: journal.recording.counted.len(),
    }
}

#[test]
fn a_change_that_instructions_explain_is_the_codes_and_nothing_is_linked_again() {
    let seen = seen(everywhere, |side, _| {
        Ok(if side == Side::Head { 1_090 } else { 1_000 })
    });
    assert_eq!(seen.verdict, Verdict::Regressed);
    assert_eq!((seen.counted, seen.relayings, seen.relaid_rounds), (2, 0, 0));
    assert!(seen.notes.contains("instructions +9.0 %"), "{}", seen.notes);
}

#[test]
fn a_change_without_more_instructions_that_is_gone_in_other_orders_is_layout() {
    let seen = seen(only_as_built, |_, _| Ok(1_000));
    assert_eq!(seen.verdict, Verdict::Unclear);
    assert_eq!(
        (seen.relayings, seen.relaid_rounds % (2 * LAYOUTS as usize)),
        (1, 0)
    );
    assert!(seen.relaid_rounds > 0);
    assert!(seen.notes.contains("layout suspected: "), "{}", seen.notes);
    assert!(
        seen.notes.contains("in 8 other orders, instructions equal"),
        "{}",
        seen.notes
    );
}

#[test]
fn a_change_without_more_instructions_that_stays_in_other_orders_is_flagged() {
    let seen = seen(everywhere, |_, _| Ok(1_000));
    assert_eq!(seen.verdict, Verdict::Regressed);
    assert!(
        seen.notes.contains("the code, not its layout: +10"),
        "{}",
        seen.notes
    );
}

#[test]
fn other_orders_that_cannot_tell_yet_have_more_rounds() {
    let noisy_elsewhere = |slot: &Slot, scenario: u32| {
        let wild = if slot.phase == Phase::Relaid { 50.0 } else { 1.0 };
        let slower = slot.side == Side::Head && scenario == 2;
        let noise = 1.0 + (noise(slot, scenario) - 1.0) * wild;
        Takes(100.0 * noise * if slower { 1.1 } else { 1.0 })
    };
    let noisy = seen(noisy_elsewhere, |_, _| Ok(1_000));
    assert!(noisy.relaid_rounds > ONE_EACH as usize, "{}", noisy.relaid_rounds);
    let quiet = seen(everywhere, |_, _| Ok(1_000));
    assert_eq!(quiet.relaid_rounds, ONE_EACH as usize);
    let gone = seen(only_as_built, |_, _| Ok(1_000));
    assert_eq!(gone.relaid_rounds, ONE_EACH as usize);
}

#[test]
fn without_counts_other_orders_decide() {
    let not_installed: fn(Side, u32) -> Result<u64, String> =
        |_, _| Err("valgrind is not installed".to_owned());
    assert_eq!(seen(everywhere, not_installed).verdict, Verdict::Regressed);
    assert_eq!(seen(only_as_built, not_installed).verdict, Verdict::Unclear);
}

#[test]
fn counts_that_differ_from_process_to_process_explain_nothing() {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(1_000);
    let seen = seen(only_as_built, |_, _| Ok(COUNT.fetch_add(100, Ordering::Relaxed)));
    assert_eq!(seen.verdict, Verdict::Unclear);
    assert!(!seen.notes.contains("instructions"), "{}", seen.notes);
}

/// As a map does that has a seed of its own in each process.
#[test]
fn counts_that_differ_less_than_the_change_explain_it() {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let seen = seen(everywhere, |side, _| {
        let more = if side == Side::Head { 100 } else { 0 };
        Ok(1_000 + more + COUNT.fetch_add(1, Ordering::Relaxed))
    });
    assert_eq!((seen.verdict, seen.relaid_rounds), (Verdict::Regressed, 0));
    assert!(
        seen.notes
            .contains("the code, not its layout: instructions at least +10"),
        "{}",
        seen.notes
    );
}

#[test]
fn what_cannot_be_linked_in_another_order_keeps_its_flag_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 5, minutes(10.0));
    let mut lab = ScriptedLab::new(everywhere);
    lab.counts = |_, _| Ok(1_000);
    lab.cannot_link = true;
    run(&mut lab, &mut journal);
    assert_eq!(verdict_of(&journal, "s2"), (Verdict::Regressed, Some(true)));
    let report = judge::judge(&journal.recording, &Policy::default());
    let row = report
        .findings
        .iter()
        .find(|finding| finding.scenario == "s2")
        .unwrap();
    let note = "not told from code layout: instructions equal, and its code could not be linked in another order: no linker";
    assert!(row.notes.iter().any(|own| own == note), "{:?}", row.notes);
    assert!(
        report
            .blind_spots
            .iter()
            .any(|spot| spot.ends_with("1 flagged row not told from it"))
    );
}

#[test]
fn an_interrupt_among_other_orders_ends_the_run_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder.path().join("r"), 5, minutes(10.0));
    let mut lab = ScriptedLab::new(only_as_built);
    lab.counts = |_, _| Ok(1_000);
    lab.interrupts_linking = true;
    assert_eq!(run(&mut lab, &mut journal), EndReason::Interrupted);
    let slots = journal.recording.slots.len();
    lab.interrupts_linking = false;
    assert_eq!(run(&mut lab, &mut journal), EndReason::Decided);
    let later = &journal.recording.slots[slots..];
    assert!(!later.is_empty() && later.iter().all(|slot| slot.phase == Phase::Relaid));
    assert_eq!(verdict_of(&journal, "s2").0, Verdict::Unclear);
}

#[test]
fn where_nothing_changed_nothing_is_counted_or_linked() {
    let seen = seen(steady, |_, _| Ok(1_000));
    assert_eq!((seen.counted, seen.relayings, seen.relaid_rounds), (0, 0, 0));
}

#[test]
fn a_run_that_was_killed_among_other_orders_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let mut whole = journal(&path, 5, minutes(10.0));
    let mut lab = ScriptedLab::new(only_as_built);
    lab.counts = |_, _| Ok(1_000);
    run(&mut lab, &mut whole);
    let rounds = rounds_of(&whole, Phase::Relaid, 2);
    let mut cut = journal(&folder.path().join("s"), 5, minutes(10.0));
    let mut first = ScriptedLab::new(only_as_built);
    first.counts = |_, _| Ok(1_000);
    first.interrupt_at = Some(lab.slots.len() - 5);
    run(&mut first, &mut cut);
    let mut second = ScriptedLab::new(only_as_built);
    run(&mut second, &mut cut);
    assert!(rounds_of(&cut, Phase::Relaid, 2) >= rounds);
    assert!(second.relayings.is_empty(), "what is linked is not linked again");
    assert_eq!(verdict_of(&cut, "s2"), (Verdict::Unclear, Some(true)));
}

/// Case A16: base linked in another order is 8 % slower. Head is 7 % slower in one lane and 25 % in another, whose
/// base does not mind.
#[test]
fn a_change_within_what_another_order_of_base_does_is_not_flagged() {
    let lanes = |slot: &Slot, scenario: u32| {
        let moved = slot.side == Side::Base && !slot.layout.is_as_built();
        let factor = match (scenario, slot.side, moved) {
            (1, _, true) => 1.08,
            (1, Side::Head, _) => 1.07,
            (2, _, true) => 1.01,
            (2, Side::Head, _) => 1.25,
            _ => 1.0,
        };
        Takes(100.0 * noise(slot, scenario) * factor)
    };
    let folder = tempfile::tempdir().unwrap();
    let asked = Measuring {
        relink_control: true,
        ..minutes(10.0)
    };
    let mut journal = journal(&folder.path().join("r"), 5, asked);
    let mut lab = ScriptedLab::new(lanes);
    lab.counts = |side, _| Ok(if side == Side::Head { 1_250 } else { 1_000 });
    run(&mut lab, &mut journal);
    assert_eq!(lab.relayings, [BTreeSet::from([(Side::Base, target())])]);
    let report = judge::judge(&journal.recording, &Policy::default());
    let row = |id: &str| {
        report
            .findings
            .iter()
            .find(|finding| finding.scenario == id)
            .unwrap()
    };
    assert_eq!(row("s1").verdict, Verdict::Unclear);
    assert!(
        row("s1").notes.join("\n").contains("within the relink floor (8"),
        "{:?}",
        row("s1").notes
    );
    assert_eq!(row("s2").verdict, Verdict::Regressed);
    assert_eq!(row("s3").verdict, Verdict::Unchanged);
    assert!(
        !report
            .blind_spots
            .iter()
            .any(|spot| spot.contains("--relink-control"))
    );
    // Before the sides in one round of a pair, after them in the other.
    let of_one_round = |round: u32| -> Vec<bool> {
        let slots = lab
            .slots
            .iter()
            .filter(|slot| slot.phase == Phase::Measure && slot.round == round);
        slots.map(|slot| slot.layout.is_as_built()).collect()
    };
    assert!(of_one_round(0).chunks(3).all(|arms| arms == [false, true, true]));
    assert!(of_one_round(1).chunks(3).all(|arms| arms == [true, true, false]));
}

#[test]
fn counted_instructions_are_rows_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let asked = Measuring {
        instructions: true,
        ..minutes(10.0)
    };
    let mut journal = journal(&folder.path().join("r"), 4, asked);
    let mut lab = ScriptedLab::new(steady);
    lab.counts = |side, scenario| match (scenario, side) {
        (1, Side::Head) => Ok(1_050),
        (2, Side::Head) => Ok(1_001),
        (3, Side::Head) => Err("valgrind is not installed".to_owned()),
        _ => Ok(1_000),
    };
    run(&mut lab, &mut journal);
    let report = judge::judge(&journal.recording, &Policy::default());
    let counted: Vec<_> = report
        .findings
        .iter()
        .filter(|finding| finding.metric == Metric::instructions())
        .map(|finding| (finding.scenario.as_str(), finding.verdict))
        .collect();
    assert_eq!(
        counted,
        [
            ("s1", Verdict::Regressed),
            ("s2", Verdict::Unchanged),
            ("s0", Verdict::Unchanged),
            ("s3", Verdict::Failed)
        ]
    );
    let of_time = report
        .findings
        .iter()
        .filter(|finding| finding.metric == Metric::time());
    assert!(
        of_time
            .into_iter()
            .all(|finding| finding.verdict == Verdict::Unchanged)
    );
}
