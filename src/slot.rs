//! A slot: one process of one executable of one side, as planned and as it turned out.

use crate::last_words::with_last_words;
use crate::layout::Layout;
use crate::recording::{Entry, Incident, IncidentKind, Phase, SlotRecord, Told};
use crate::revision::Side;
use crate::scenario::Target;

/// One process to start.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// Purpose.
    pub phase: Phase,
    /// Round within the phase.
    pub round: u32,
    /// Whose executable.
    pub side: Side,
    /// Whether this side runs first in its round.
    pub first: bool,
    /// Which executable.
    pub target: Target,
    /// In which order its code lies.
    pub layout: Layout,
    /// What it measures, by [`Entry::ix`], in the order the bench registers it. Never empty.
    pub scenarios: Vec<u32>,
    /// Seconds one scenario may take before it counts as hanging.
    pub limit_s: f64,
    /// Seconds after which the process is killed.
    pub timeout_s: f64,
}

/// How a slot turned out.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What is recorded of it.
    pub record: SlotRecord,
    /// What a program told besides; absent for a bench.
    pub told: Option<Told>,
    /// How its process ended.
    pub end: SlotEnd,
    /// Scenarios that wrote something unusable, and what.
    pub bad: Vec<(u32, String)>,
    /// What was lost of what could be used otherwise, a sentence each.
    pub notes: Vec<String>,
    /// Last lines of its output.
    pub tail: String,
}

/// How a slot's process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlotEnd {
    /// With status 0.
    Well,
    /// Otherwise: `exit status 101`, `signal 11`.
    Badly(String),
    /// Killed when its time was up.
    TimedOut,
    /// Killed because the user stopped the run.
    Interrupted,
}

/// What follows from a slot that did not measure everything it was to measure.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Blame {
    /// One incident for each scenario that is to blame.
    pub incidents: Vec<Incident>,
    /// Scenarios that only never got their turn.
    pub again: Vec<u32>,
}

impl Blame {
    fn accuse(&mut self, slot: &Slot, scenarios: &[u32], what: IncidentKind, detail: &str) {
        let accused = scenarios
            .iter()
            .map(|ix| incident(slot, *ix, what, detail.to_owned()));
        self.incidents.extend(accused);
    }
}

impl Outcome {
    /// Tells who is to blame for what is missing. Benches run in order, so when a process dies or hangs, the first
    /// scenario without a result was running; those after it are innocent and get another process. A program measures
    /// all of its quantities at once: whatever happens to it happens to all that are missing.
    /// An interrupted slot blames nobody.
    #[must_use]
    pub fn blame(&self, slot: &Slot, entries: &[Entry]) -> Blame {
        let mut blame = Blame::default();
        if self.end == SlotEnd::Interrupted {
            return blame;
        }
        for (scenario, what) in &self.bad {
            blame.incidents.push(incident(
                slot,
                *scenario,
                IncidentKind::BadMeasurement,
                what.clone(),
            ));
        }
        let missing: Vec<u32> = slot
            .scenarios
            .iter()
            .copied()
            .filter(|ix| !self.holds(*ix) && !self.bad.iter().any(|(bad, _)| bad == ix))
            .collect();
        let at_once = if slot.target.is_program() {
            missing.len()
        } else {
            1
        };
        let (running, waiting) = missing.split_at(at_once.min(missing.len()));
        match &self.end {
            SlotEnd::Well => self.blame_the_silent(slot, &missing, entries, &mut blame),
            SlotEnd::Badly(how) => {
                let detail = with_last_words(&format!("{how} while it ran"), &self.tail);
                blame.accuse(slot, running, IncidentKind::Crash, &detail);
                blame.again = waiting.to_vec();
            }
            SlotEnd::TimedOut if self.last_scenario_s() < slot.limit_s => blame.again = missing,
            SlotEnd::TimedOut => {
                let own = if slot.target.is_program() {
                    "its own timeout, "
                } else {
                    ""
                };
                let detail = format!(
                    "killed after {:.0} s without a result ({own}--timeout, or a larger --budget, allows it more)",
                    self.last_scenario_s()
                );
                blame.accuse(slot, running, IncidentKind::Timeout, &detail);
                blame.again = waiting.to_vec();
            }
            SlotEnd::Interrupted => {}
        }
        blame
    }

    /// Whether it has a number for a scenario, measured or counted.
    #[must_use]
    pub fn holds(&self, ix: u32) -> bool {
        let mut measured = self.record.observations.iter();
        let mut counted = self.told.iter().flat_map(|told| &told.counts);
        measured.any(|observation| observation.scenario == ix)
            || counted.any(|events| events.scenario == ix && !events.values.is_empty())
    }

    /// Blames scenarios that wrote nothing in a process that ended well. One of them may have ended it
    /// (`std::process::exit(0)`): then nothing was heard after it, and those after it never got their turn.
    fn blame_the_silent(&self, slot: &Slot, missing: &[u32], entries: &[Entry], blame: &mut Blame) {
        let mut incidents: Vec<Incident> = missing
            .iter()
            .map(|ix| self.no_measurement(slot, *ix, entries))
            .collect();
        if slot.target.is_program() {
            blame.incidents.extend(incidents);
            return;
        }
        let is_silent = |ix: u32| {
            incidents
                .iter()
                .any(|incident| incident.scenario == Some(ix) && incident.what == IncidentKind::NoMeasurement)
        };
        let last_heard = slot.scenarios.iter().rposition(|ix| !is_silent(*ix));
        let may_have_ended_it = last_heard.map_or(0, |at| at + 1);
        blame.again = slot
            .scenarios
            .iter()
            .skip(may_have_ended_it + 1)
            .copied()
            .collect();
        incidents.retain(|incident| incident.scenario.is_some_and(|ix| !blame.again.contains(&ix)));
        blame.incidents.extend(incidents);
    }

    /// Seconds the scenario that was running when the process ended had been running.
    fn last_scenario_s(&self) -> f64 {
        self.record.wall_s
            - self
                .record
                .observations
                .iter()
                .map(|observation| observation.cost_s)
                .sum::<f64>()
    }

    fn no_measurement(&self, slot: &Slot, ix: u32, entries: &[Entry]) -> Incident {
        let id = entries
            .get(ix as usize)
            .map_or("", |entry| entry.scenario.id.as_str());
        if self.tail.contains(&format!("benchmark {id} took zero time")) {
            let detail = "not measurable: a sample took zero time per iteration".to_owned();
            incident(slot, ix, IncidentKind::BadMeasurement, detail)
        } else {
            let detail = with_last_words("the process ended well but wrote no measurement", &self.tail);
            incident(slot, ix, IncidentKind::NoMeasurement, detail)
        }
    }
}

fn incident(slot: &Slot, scenario: u32, what: IncidentKind, detail: String) -> Incident {
    Incident {
        phase: Some(slot.phase),
        round: Some(slot.round),
        side: Some(slot.side),
        target: slot.target.clone(),
        scenario: Some(scenario),
        what,
        detail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Metric;
    use crate::recording::{Contention, Events, Observation};
    use crate::scenario::{Kind, Scenario};
    use std::collections::BTreeMap;

    fn target() -> Target {
        Target {
            package: "p".into(),
            target: "t".into(),
        }
    }

    fn entries(ids: &[&str]) -> Vec<Entry> {
        (0..)
            .zip(ids)
            .map(|(ix, id)| Entry {
                ix,
                scenario: Scenario {
                    kind: Kind::Criterion,
                    target: target(),
                    id: (*id).to_owned(),
                    metric: Metric::time(),
                },
                sides: Side::BOTH.to_vec(),
                assigned: true,
            })
            .collect()
    }

    fn slot() -> Slot {
        Slot {
            phase: Phase::Measure,
            round: 3,
            side: Side::Head,
            first: true,
            target: target(),
            layout: Layout::AS_BUILT,
            scenarios: vec![0, 1, 2],
            limit_s: 4.0,
            timeout_s: 5.0,
        }
    }

    fn outcome(measured: &[u32], end: SlotEnd, tail: &str) -> Outcome {
        let observations = measured
            .iter()
            .map(|ix| Observation {
                scenario: *ix,
                iters: vec![1].into(),
                totals: vec![1.0],
                throughput: None,
                cost_s: 0.1,
            })
            .collect();
        let record = SlotRecord {
            phase: Phase::Measure,
            round: 3,
            side: Side::Head,
            first: true,
            target: target(),
            layout: Layout::AS_BUILT,
            at_s: 0.0,
            wall_s: 5.0,
            waited_s: None,
            contention: Contention::default(),
            observations,
        };
        Outcome {
            record,
            told: None,
            end,
            bad: Vec::new(),
            notes: Vec::new(),
            tail: tail.to_owned(),
        }
    }

    #[test]
    fn a_crash_is_blamed_on_the_scenario_that_was_running_and_the_rest_get_another_process() {
        let end = SlotEnd::Badly("exit status 101".into());
        let blame = outcome(&[0], end, "thread 'main' panicked at x.rs:1:\nboom\n")
            .blame(&slot(), &entries(&["a", "b", "c"]));
        assert_eq!(blame.again, [2]);
        let [incident] = &blame.incidents[..] else {
            panic!("{blame:?}")
        };
        assert_eq!((incident.scenario, incident.what), (Some(1), IncidentKind::Crash));
        assert_eq!(
            incident.detail,
            "exit status 101 while it ran: thread 'main' panicked at x.rs:1: | boom"
        );
    }

    #[test]
    fn a_scenario_that_ends_its_process_well_takes_no_other_with_it() {
        let blame = outcome(&[0], SlotEnd::Well, "").blame(&slot(), &entries(&["a", "b", "c"]));
        assert_eq!(blame.again, [2]);
        let blamed: Vec<_> = blame.incidents.iter().map(|incident| incident.scenario).collect();
        assert_eq!(blamed, [Some(1)]);
    }

    #[test]
    fn a_hang_is_blamed_on_the_scenario_that_was_running() {
        let blame = outcome(&[], SlotEnd::TimedOut, "").blame(&slot(), &entries(&["a", "b", "c"]));
        assert_eq!(blame.again, [1, 2]);
        assert_eq!(
            (blame.incidents[0].scenario, blame.incidents[0].what),
            (Some(0), IncidentKind::Timeout)
        );
    }

    #[test]
    fn a_process_that_ran_out_of_time_while_its_scenarios_made_progress_blames_nobody() {
        let mut outcome = outcome(&[0], SlotEnd::TimedOut, "");
        outcome.record.observations[0].cost_s = 3.0;
        let blame = outcome.blame(&slot(), &entries(&["a", "b", "c"]));
        assert_eq!(
            blame,
            Blame {
                incidents: Vec::new(),
                again: vec![1, 2]
            }
        );
    }

    #[test]
    fn a_scenario_without_a_result_in_a_healthy_process_is_to_blame_itself() {
        let tail = "error: At least one measurement of benchmark b took zero time per iteration.";
        let blame = outcome(&[0], SlotEnd::Well, tail).blame(&slot(), &entries(&["a", "b", "c"]));
        assert!(blame.again.is_empty());
        let kinds: Vec<_> = blame.incidents.iter().map(|incident| incident.what).collect();
        assert_eq!(kinds, [IncidentKind::BadMeasurement, IncidentKind::NoMeasurement]);
    }

    #[test]
    fn what_happens_to_a_program_happens_to_all_that_it_lacks_and_is_not_tried_again_at_once() {
        let slot = Slot {
            target: Target::program("engine"),
            ..slot()
        };
        for (end, what) in [
            (SlotEnd::Badly("exit status 3".into()), IncidentKind::Crash),
            (SlotEnd::TimedOut, IncidentKind::Timeout),
            (SlotEnd::Well, IncidentKind::NoMeasurement),
        ] {
            let mut outcome = outcome(&[], end, "boom");
            outcome.told = Some(Told {
                phase: Phase::Measure,
                round: 3,
                side: Side::Head,
                target: slot.target.clone(),
                settings: BTreeMap::new(),
                generations: Vec::new(),
                counts: vec![Events {
                    scenario: 1,
                    values: vec![0],
                }],
                unknown: BTreeMap::new(),
            });
            let blame = outcome.blame(&slot, &entries(&["a", "counted", "c"]));
            let blamed = blame.incidents.iter();
            let blamed: Vec<_> = blamed
                .map(|incident| (incident.scenario, incident.what))
                .collect();
            assert_eq!(blamed, [(Some(0), what), (Some(2), what)]);
            assert!(blame.again.is_empty());
        }
    }

    #[test]
    fn an_interrupted_slot_blames_nobody() {
        let blame = outcome(&[], SlotEnd::Interrupted, "").blame(&slot(), &entries(&["a", "b", "c"]));
        assert_eq!(blame, Blame::default());
    }
}
