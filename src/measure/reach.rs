//! What the budget reaches: scenarios that it does not are given up by name instead of being measured in vain.

use super::need::{cheapest, costs, job, not_reached, pending};
use super::{CONFIRM_SHARE, Lab, MeasureError, Measurement};
use crate::plan::MIN_ROUNDS;
use crate::recording::{Event, Phase};
use crate::schedule::{Chunk, Job};

impl<L: Lab> Measurement<'_, L> {
    /// With less than the smallest number of rounds nothing can be said about a scenario, so rather than measure all
    /// of them in vain, the most expensive ones are given up, and named.
    pub(super) fn drop_what_the_budget_cannot_reach(&mut self) -> Result<(), MeasureError> {
        let Some(budget_s) = self.plan.measuring.budget_s else {
            return Ok(());
        };
        if self.journal.recording.next_round(Phase::Measure) > 0 {
            return Ok(());
        }
        let left_s = (budget_s * (1.0 - CONFIRM_SHARE) - self.journal.recording.measured_s()).max(0.0);
        let jobs = self.jobs(|_| true);
        let affordable = cheapest(&jobs, left_s, MIN_ROUNDS);
        for job in jobs.iter().filter(|job| !affordable.contains(&job.scenario)) {
            self.give_up(job)?;
        }
        let known = costs(&self.journal.recording);
        let never: Vec<Job> = pending(&self.journal.recording)
            .into_iter()
            .filter(|entry| !known.contains_key(&entry.ix))
            .map(|entry| job(entry, 0.0))
            .collect();
        never.iter().try_for_each(|job| self.give_up(job))
    }

    /// After one side's warm-up slot: what could not have the smallest number of rounds if it were alone is not even
    /// tried on the other side.
    pub(super) fn give_up_what_alone_exceeds_the_budget(
        &mut self,
        chunk: &Chunk,
    ) -> Result<(), MeasureError> {
        let Some(budget_s) = self.plan.measuring.budget_s else {
            return Ok(());
        };
        let hopeless = |job: &Job| job.cost_s * 2.0 * f64::from(MIN_ROUNDS) > budget_s;
        let jobs = self.jobs(|ix| chunk.scenarios.contains(&ix));
        jobs.iter()
            .filter(|job| hopeless(job))
            .try_for_each(|job| self.give_up(job))
    }

    fn give_up(&mut self, job: &Job) -> Result<(), MeasureError> {
        self.journal.append(Event::Incident(not_reached(job)))?;
        Ok(())
    }

    pub(super) fn warm_up_took_too_long(&self) -> bool {
        let half = self.plan.measuring.budget_s.map(|budget_s| budget_s / 2.0);
        half.is_some_and(|half| self.journal.recording.measured_s() > half)
    }
}
