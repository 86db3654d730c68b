//! Code or its place: counts instructions, and measures executables whose code lies in other orders.

use super::need::{pending, rounds_in};
use super::{Lab, MeasureError, Measurement, Stage, Status};
use crate::judge;
use crate::judge::confirmation::LOOKS;
use crate::layout::{Layout, ONE_EACH};
use crate::recording::{Counted, Entry, Event, Phase};
use crate::revision::Side;
use crate::scenario::Target;
use std::collections::BTreeSet;

/// Processes that count the instructions of a scenario on a side, at most: two that agree suffice.
const COUNTS: usize = 3;

impl<L: Lab> Measurement<'_, L> {
    /// Where fresh processes repeated a change: counts the instructions of both sides, and measures what they do not
    /// explain with the code of both sides in other orders.
    pub(super) fn tell_code_from_layout(&mut self) -> Result<(), MeasureError> {
        let wanted = self.plan.measuring.confirm && self.plan.measuring.layout_check;
        if !wanted || self.interrupted {
            return Ok(());
        }
        let suspects = self.suspects();
        if suspects.is_empty() {
            return Ok(());
        }
        self.count(&suspects)?;
        let suspects = self.suspects();
        self.relay(&Side::BOTH, &self.targets(&suspects))?;
        // Looked at as often as a confirmation is.
        for rounds in LOOKS {
            if !self.interrupted {
                self.measure_in_other_orders(rounds)?;
            }
        }
        Ok(())
    }

    /// Counts the instructions of every scenario that both sides have, if that was asked for.
    pub(super) fn count_all(&mut self) -> Result<(), MeasureError> {
        if !self.plan.measuring.instructions || self.interrupted {
            return Ok(());
        }
        self.count(&self.benches(self.pending()))
    }

    /// Links base in other orders, if a relink control was asked for.
    pub(super) fn prepare_relink_control(&mut self) -> Result<(), MeasureError> {
        if self.plan.measuring.relink_control && !self.interrupted {
            self.relay(&[Side::Base], &self.targets(&self.benches(self.pending())))?;
        }
        Ok(())
    }

    /// The order in which base is measured as the relink control of this round, if it is.
    pub(super) fn control(&self, phase: Phase, round: u32, target: &Target) -> Option<Layout> {
        let layout = Layout::of_control(round);
        let wanted = self.plan.measuring.relink_control && phase == Phase::Measure;
        (wanted && self.is_linked(Side::Base, target, layout)).then_some(layout)
    }

    fn suspects(&self) -> BTreeSet<u32> {
        self.benches(judge::suspects(&self.journal.recording, &self.plan.policy))
    }

    /// Those of benches: of programs nobody knows what to count, and how they are linked.
    fn benches(&self, scenarios: impl IntoIterator<Item = u32>) -> BTreeSet<u32> {
        let is_of_bench = |ix: &u32| {
            let entry = self.journal.recording.scenarios.get(*ix as usize);
            entry.is_some_and(|entry| !entry.scenario.target.is_program())
        };
        scenarios.into_iter().filter(is_of_bench).collect()
    }

    fn targets(&self, scenarios: &BTreeSet<u32>) -> BTreeSet<Target> {
        let entries = self.journal.recording.scenarios.iter();
        let chosen = entries.filter(|entry| scenarios.contains(&entry.ix));
        chosen.map(|entry| entry.scenario.target.clone()).collect()
    }

    /// Counts what has not been counted yet.
    fn count(&mut self, scenarios: &BTreeSet<u32>) -> Result<(), MeasureError> {
        let known: BTreeSet<(u32, Side)> = self
            .journal
            .recording
            .counted
            .iter()
            .map(|counted| (counted.scenario, counted.side))
            .collect();
        let wanted: Vec<(u32, Side)> = scenarios
            .iter()
            .flat_map(|scenario| Side::BOTH.map(|side| (*scenario, side)))
            .filter(|key| !known.contains(key))
            .collect();
        for (done, (scenario, side)) in wanted.iter().enumerate() {
            self.watched(Stage::Counting {
                done,
                of: wanted.len(),
            });
            let counted = self.count_one(*scenario, *side)?;
            if self.interrupted {
                break;
            }
            self.journal.append(Event::Counted(counted))?;
        }
        Ok(())
    }

    fn count_one(&mut self, scenario: u32, side: Side) -> Result<Counted, MeasureError> {
        let mut counted = Counted {
            scenario,
            side,
            instructions: Vec::new(),
            failure: None,
        };
        let Some(entry) = self.journal.recording.scenarios.get(scenario as usize) else {
            return Ok(counted);
        };
        if shares_its_id(entry, &self.journal.recording.scenarios) {
            counted.failure = Some("another benchmark has the same id, and both run under it".to_owned());
            return Ok(counted);
        }
        while counted.instructions.len() < COUNTS && counted.agreed().is_none() {
            match self.lab.count(side, entry)? {
                Some(Ok(instructions)) => counted.instructions.push(instructions),
                Some(Err(failure)) => {
                    counted.failure = Some(failure);
                    break;
                }
                None => {
                    self.interrupted = true;
                    break;
                }
            }
        }
        Ok(counted)
    }

    /// Links executables of these sides in other orders, unless that was tried before.
    fn relay(&mut self, sides: &[Side], targets: &BTreeSet<Target>) -> Result<(), MeasureError> {
        let tried = |side: Side, target: &Target| {
            let relaid = &self.journal.recording.relaid;
            relaid
                .iter()
                .any(|relaid| relaid.side == side && &relaid.target == target)
        };
        let wanted: BTreeSet<(Side, Target)> = sides
            .iter()
            .flat_map(|side| targets.iter().map(|target| (*side, target.clone())))
            .filter(|(side, target)| !tried(*side, target))
            .collect();
        if wanted.is_empty() || self.interrupted {
            return Ok(());
        }
        self.watched(Stage::Linking);
        match self.lab.relay(&wanted)? {
            Some(relaid) => {
                for relaid in relaid {
                    self.journal.append(Event::Relaid(relaid))?;
                }
            }
            None => self.interrupted = true,
        }
        Ok(())
    }

    /// Rounds in other orders until every change that cannot be told from them yet had `until` of them, as far as the
    /// budget allows, each order with as many as every other. Fewer than one pair for each order would say nothing; the
    /// budget yields to those.
    fn measure_in_other_orders(&mut self, until: u32) -> Result<(), MeasureError> {
        let suspects = self.suspects();
        let recording = &self.journal.recording;
        let linked = |target: &Target| {
            Side::BOTH
                .iter()
                .all(|side| Layout::shuffled().all(|layout| self.is_linked(*side, target, layout)))
        };
        let done = |ix| rounds_in(recording, Phase::Relaid, ix);
        let mut jobs = self.jobs(|ix| suspects.contains(&ix) && done(ix) < until);
        jobs.retain(|job| linked(&job.target));
        let Some(fewest) = jobs.iter().map(|job| done(job.scenario)).min() else {
            return Ok(());
        };
        let wanted = (until - fewest).next_multiple_of(ONE_EACH);
        let affordable = self.affordable(&jobs) / ONE_EACH * ONE_EACH;
        let least = if fewest < ONE_EACH { ONE_EACH } else { 0 };
        let rounds = wanted.min(affordable).max(least);
        let first = recording.next_round(Phase::Relaid).next_multiple_of(ONE_EACH);
        for round in first..first + rounds {
            self.round(Phase::Relaid, round, &jobs)?;
            if self.interrupted {
                break;
            }
        }
        Ok(())
    }

    fn is_linked(&self, side: Side, target: &Target, layout: Layout) -> bool {
        self.journal.recording.relaid.iter().any(|relaid| {
            relaid.side == side
                && &relaid.target == target
                && relaid.linked().is_some_and(|linked| linked.layout == layout)
        })
    }

    fn watched(&mut self, stage: Stage) {
        let recording = &self.journal.recording;
        (self.watch)(&Status {
            stage,
            decided: self.decided,
            scenarios: pending(recording).len(),
            spent_s: recording.measured_s(),
            budget_s: self.plan.measuring.budget_s,
        });
    }

    /// Tells how far a round has come.
    pub(super) fn tell(&mut self, phase: Phase, round: u32) {
        self.watched(Stage::Measuring { phase, round });
    }
}

/// Whether criterion numbered it, or another one after it: `a` and `a #2` are reached through the same id.
fn shares_its_id(entry: &Entry, entries: &[Entry]) -> bool {
    let own = |id: &str| id.split(" #").next().unwrap_or(id).to_owned();
    let id = own(&entry.scenario.id);
    entries.iter().any(|other| {
        other.ix != entry.ix
            && other.scenario.target == entry.scenario.target
            && own(&other.scenario.id) == id
    })
}
