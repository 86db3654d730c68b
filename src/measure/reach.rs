//! What the budget reaches: scenarios that it does not are given up by name instead of being measured in vain.

use super::need::{Whole, cheapest, costs, job, not_reached, pending, wholes};
use super::{CONFIRM_SHARE, Lab, MeasureError, Measurement};
use crate::judge::looks::FIRST_LOOK;
use crate::recording::{Event, Phase};
use crate::scenario::Target;
use crate::schedule::{Chunk, Job};

impl<L: Lab> Measurement<'_, L> {
    /// Rounds that a scenario of this target gets or is not measured: those of the first look. Fewer decide next to
    /// nothing once there are more than a few rows.
    pub(super) fn least_rounds(&self, target: &Target) -> u32 {
        let asked = self.launches(target).or(self.plan.measuring.rounds);
        asked.map_or(FIRST_LOOK, |asked| asked.min(FIRST_LOOK))
    }

    /// Rather than measure all scenarios in vain, the most expensive ones are given up, and named.
    pub(super) fn drop_what_the_budget_cannot_reach(&mut self) -> Result<(), MeasureError> {
        let Some(left_s) = self.left_for_rounds_s() else {
            return Ok(());
        };
        if self.journal.recording.next_round(Phase::Measure) > 0 {
            return Ok(());
        }
        let jobs = self.jobs(|_| true);
        let affordable = cheapest(&jobs, left_s, |target| self.least_rounds(target));
        for whole in wholes(&jobs) {
            if whole.jobs.iter().any(|job| !affordable.contains(&job.scenario)) {
                self.give_up(&whole)?;
            }
        }
        self.give_up_unseen(self.pending().into_iter())
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
        let jobs = self.jobs(|ix| chunk.scenarios.contains(&ix));
        for whole in wholes(&jobs) {
            if whole.cost_s * 2.0 * f64::from(self.least_rounds(whole.target)) > budget_s {
                self.give_up(&whole)?;
            }
        }
        Ok(())
    }

    fn give_up(&mut self, whole: &Whole<'_>) -> Result<(), MeasureError> {
        let rounds = self.least_rounds(whole.target);
        for job in &whole.jobs {
            let incident = not_reached(job, whole.cost_s, rounds);
            self.journal.append(Event::Incident(incident))?;
        }
        Ok(())
    }

    /// Gives up what a target has and nobody has seen the cost of.
    pub(super) fn give_up_target(&mut self, target: &Target) -> Result<(), MeasureError> {
        let entries = pending(&self.journal.recording);
        let of_target = entries.iter().filter(|entry| &entry.scenario.target == target);
        let all: Vec<u32> = of_target.map(|entry| entry.ix).collect();
        self.give_up_unseen(all.into_iter())
    }

    /// Gives up those of these scenarios that nobody has seen the cost of.
    pub(super) fn give_up_unseen(
        &mut self,
        scenarios: impl Iterator<Item = u32>,
    ) -> Result<(), MeasureError> {
        let known = costs(&self.journal.recording);
        let unseen: Vec<Job> = scenarios
            .filter(|ix| !known.contains_key(ix))
            .filter_map(|ix| self.journal.recording.scenarios.get(ix as usize))
            .map(|entry| job(entry, 0.0))
            .collect();
        wholes(&unseen).iter().try_for_each(|whole| self.give_up(whole))
    }

    /// Seconds that are left of the budget for rounds, what is kept for confirming taken off; absent without a budget.
    pub(super) fn left_for_rounds_s(&self) -> Option<f64> {
        let budget_s = self.plan.measuring.budget_s?;
        Some((budget_s * (1.0 - CONFIRM_SHARE) - self.journal.recording.measured_s()).max(0.0))
    }
}
