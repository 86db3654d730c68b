//! The confirmation: fresh processes for whatever is about to be flagged, and the part of the budget they are kept.

use super::need::{costs, rounds_in};
use super::{Lab, MeasureError, Measurement};
use crate::judge;
use crate::layout::ONE_EACH;
use crate::plan::MIN_ROUNDS;
use crate::recording::Phase;
use crate::schedule::Job;
use std::collections::BTreeMap;

/// Rounds after which a confirmation is looked at; again after twice as many, and so on. As the first look.
const CONFIRM_BLOCK: u32 = 16;

/// Most rounds of a confirmation. A change that needed more to be found is hardly worth them.
const MAX_CONFIRM_ROUNDS: u32 = 64;

impl<L: Lab> Measurement<'_, L> {
    /// Fresh processes for whatever is about to be flagged, until they repeat it or exclude it, or were as many as
    /// found it. What an earlier call, or the part of the run before it was resumed, has repeated already is not
    /// repeated again.
    pub(super) fn confirm(&mut self) -> Result<(), MeasureError> {
        if !self.plan.measuring.confirm {
            return Ok(());
        }
        let mut block = CONFIRM_BLOCK;
        while block <= MAX_CONFIRM_ROUNDS && !self.interrupted {
            let recording = &self.journal.recording;
            let done = |ix| rounds_in(recording, Phase::Confirm, ix);
            let lacking = self.lacking(block);
            let jobs = self.jobs(|ix| lacking.contains_key(&ix));
            let most = jobs.iter().map(|job| lacking[&job.scenario]).max().unwrap_or(0);
            let fewest_done = jobs.iter().map(|job| done(job.scenario)).min().unwrap_or(0);
            // A confirmation too short to repeat anything would only unsay what was found; the budget yields to it.
            let least = MIN_ROUNDS.saturating_sub(fewest_done);
            let rounds = most.min(self.affordable(&jobs)).max(least).min(most);
            let first = recording.next_round(Phase::Confirm);
            for done in 0..rounds.next_multiple_of(2) {
                let needed = |job: &&Job| lacking[&job.scenario] > done || done < least;
                let jobs: Vec<Job> = jobs.iter().filter(needed).cloned().collect();
                self.round(Phase::Confirm, first + done, &jobs)?;
                if self.interrupted {
                    break;
                }
            }
            block *= 2;
        }
        Ok(())
    }

    /// Rounds that candidates lack until they had `block` of them, or as many as found them.
    fn lacking(&self, block: u32) -> BTreeMap<u32, u32> {
        let recording = &self.journal.recording;
        let lacking = |row: &judge::Unrepeated| {
            let done = rounds_in(recording, Phase::Confirm, row.scenario);
            row.rounds.min(block).saturating_sub(done)
        };
        judge::unrepeated(recording, &self.plan.policy)
            .iter()
            .map(|row| (row.scenario, lacking(row)))
            .filter(|(_, lacking)| *lacking > 0)
            .collect()
    }

    /// Seconds of the budget that may have been spent when confirming begins: all but what repeating the candidates
    /// there are takes, once as they are and once in every other order, and at least `least_share` of it. Absent without
    /// a budget.
    ///
    /// Confirming mostly takes less, since it ends when it can tell; what it leaves is not lost.
    pub(super) fn budget_without_confirming_s(&self, least_share: f64) -> Option<f64> {
        let budget_s = self.plan.measuring.budget_s?;
        let measuring = &self.plan.measuring;
        let lacking = if measuring.confirm {
            self.lacking(MAX_CONFIRM_ROUNDS)
        } else {
            BTreeMap::new()
        };
        let elsewhere = if measuring.layout_check { ONE_EACH } else { 0 };
        let costs = costs(&self.journal.recording);
        let needed_s: f64 = lacking
            .into_iter()
            .filter_map(|(scenario, rounds)| {
                Some(2.0 * f64::from(rounds + elsewhere) * costs.get(&scenario)?)
            })
            .sum();
        Some(budget_s - needed_s.max(budget_s * least_share))
    }

    /// Rounds of these jobs that the budget still allows, even; as many as a confirmation may have without a budget.
    pub(super) fn affordable(&self, jobs: &[Job]) -> u32 {
        let Some(budget_s) = self.plan.measuring.budget_s else {
            return MAX_CONFIRM_ROUNDS;
        };
        let per_round_s: f64 = jobs.iter().map(|job| 2.0 * job.cost_s).sum();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates at both ends"
        )]
        let rounds = ((budget_s - self.journal.recording.measured_s()) / per_round_s) as u32;
        rounds / 2 * 2
    }
}
