//! Before the first round: what each scenario costs and which do not work, within a part of the budget.

use super::need::{cheapest, costs, job, known_costs, one_sided, pending};
use super::{Arm, Lab, MeasureError, Measurement};
use crate::layout::Layout;
use crate::recording::{Entry, IncidentKind, Phase};
use crate::revision::Side;
use crate::scenario::Target;
use crate::schedule::{self, Chunk, Job};
use crate::stats::quantile::median;
use std::collections::BTreeSet;

/// How long a process of the warm-up should run, in seconds.
const CHUNK_S: f64 = 1.0;

/// Most of the budget that the warm-up may spend.
const MOST: f64 = 0.5;

/// Rounds in which a scenario that only one side has is measured, for its absolute time.
pub(super) const ROUNDS_OF_ONE_SIDE: u32 = 4;

/// Most of the budget that scenarios of one side may spend.
const MOST_OF_ONE_SIDE: f64 = 0.05;

/// Scenarios of a target whose costs say what the others may cost.
const SAMPLE: usize = 3;

/// Scenarios of a target that may hang, if none of it ever ended, before the others are not tried any more.
const HANGS: usize = 2;

impl<L: Lab> Measurement<'_, L> {
    /// Runs every scenario once on each side; nobody judges that: it fills caches and shows what each scenario costs and
    /// which do not work.
    ///
    /// A bench may insist on seconds where it is asked for hundredths of one, so nothing is taken for granted: the
    /// first process of a target holds one scenario, later ones as many as fit by what its scenarios were seen to cost,
    /// and the targets take turns. What the budget would not reach by what its target's scenarios cost is not tried.
    pub(super) fn warm_up(&mut self) -> Result<(), MeasureError> {
        loop {
            let jobs = self.worth_trying();
            let chunks = schedule::round(self.plan.measuring.seed, Phase::Warmup, 0, &jobs, |_| CHUNK_S);
            let mut had_its_turn: BTreeSet<Target> = BTreeSet::new();
            if chunks.is_empty() {
                return Ok(());
            }
            for chunk in chunks {
                if self.interrupted || self.has_taken_too_long() {
                    return Ok(());
                }
                if had_its_turn.insert(chunk.target.clone()) {
                    self.try_once(&chunk)?;
                }
            }
        }
    }

    fn try_once(&mut self, chunk: &Chunk) -> Result<(), MeasureError> {
        for arm in self.arms(Phase::Warmup, 0, chunk) {
            self.slots(Phase::Warmup, 0, arm, chunk)?;
            self.give_up_what_alone_exceeds_the_budget(chunk)?;
        }
        let hangs = self.journal.recording.incidents.iter();
        let hangs = hangs.filter(|incident| incident.what == IncidentKind::Timeout);
        let hangs = hangs.filter(|incident| incident.target == chunk.target).count();
        let never_ended = !known_costs(&self.journal.recording).contains_key(&chunk.target);
        if hangs >= HANGS && never_ended {
            self.give_up_target(&chunk.target)?;
        }
        Ok(())
    }

    /// Measures what only one side has, for a few rounds or a small part of the budget.
    pub(super) fn look_at_what_one_side_has(&mut self) -> Result<(), MeasureError> {
        let known = costs(&self.journal.recording);
        let lonely: Vec<(Side, u32)> = one_sided(&self.journal.recording)
            .filter(|(entry, _)| !known.contains_key(&entry.ix))
            .map(|(entry, side)| (side, entry.ix))
            .collect();
        let budget_s = self.plan.measuring.budget_s.unwrap_or(f64::INFINITY);
        let end_s = self.journal.recording.measured_s() + budget_s * MOST_OF_ONE_SIDE;
        for round in 0..ROUNDS_OF_ONE_SIDE {
            for side in Side::BOTH {
                let own = lonely.iter().filter(|(of, _)| *of == side);
                let scenarios = &self.journal.recording.scenarios;
                let jobs = self.expected(own.filter_map(|(_, ix)| scenarios.get(*ix as usize)));
                let chunks = schedule::round(self.plan.measuring.seed, Phase::Measure, round, &jobs, |_| {
                    CHUNK_S
                });
                for chunk in chunks {
                    if self.interrupted || self.journal.recording.measured_s() > end_s {
                        return self.give_up_unseen(lonely.iter().map(|(_, ix)| *ix));
                    }
                    let arm = Arm::of(side, &chunk, Layout::AS_BUILT);
                    self.slots(Phase::Warmup, round, arm, &chunk)?;
                }
            }
        }
        Ok(())
    }

    fn has_taken_too_long(&self) -> bool {
        let most_s = self.plan.measuring.budget_s.map(|budget_s| budget_s * MOST);
        most_s.is_some_and(|most_s| self.journal.recording.measured_s() > most_s)
    }

    /// Scenarios of unknown cost that would be measured if they cost what the cheapest of their target does, and all of
    /// a target of which little is known.
    fn worth_trying(&self) -> Vec<Job> {
        let seen = costs(&self.journal.recording);
        let entries = pending(&self.journal.recording).into_iter();
        let unknown: Vec<&Entry> = entries.filter(|entry| !seen.contains_key(&entry.ix)).collect();
        let Some(left_s) = self.left_for_rounds_s() else {
            return self.expected(unknown.into_iter());
        };
        let of_targets = known_costs(&self.journal.recording);
        let costs_of = |entry: &Entry| {
            of_targets
                .get(&entry.scenario.target)
                .map_or(&[][..], Vec::as_slice)
        };
        let at_best = unknown
            .iter()
            .map(|entry| job(entry, costs_of(entry).first().copied().unwrap_or(0.0)));
        let all: Vec<Job> = self.jobs(|_| true).into_iter().chain(at_best).collect();
        let reached = cheapest(&all, left_s, |target| self.least_rounds(target));
        let worth = |entry: &&Entry| reached.contains(&entry.ix) || costs_of(entry).len() < SAMPLE;
        self.expected(unknown.into_iter().filter(worth))
    }

    /// Jobs with the cost that is typical of their target, or a whole process for a target of which nothing is known.
    fn expected<'a>(&self, entries: impl Iterator<Item = &'a Entry>) -> Vec<Job> {
        let known = known_costs(&self.journal.recording);
        entries
            .map(|entry| {
                let typical_s = known.get(&entry.scenario.target).and_then(|costs| median(costs));
                job(entry, typical_s.unwrap_or(CHUNK_S))
            })
            .collect()
    }
}
