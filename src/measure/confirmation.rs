//! The confirmation: fresh processes for whatever is about to be flagged, and the part of the budget that is kept for it.

use super::need::{costs, rounds_in, spread};
use super::{Lab, MeasureError, Measurement};
use crate::judge::assessment::Until;
use crate::judge::confirmation::LOOKS;
use crate::judge::{self, Unrepeated};
use crate::layout::ONE_EACH;
use crate::plan::MIN_ROUNDS;
use crate::recording::Phase;
use crate::schedule::Job;
use std::collections::BTreeMap;

impl<L: Lab> Measurement<'_, L> {
    /// Candidates of which more fresh processes could tell whether they repeat it; none if nobody asked for that.
    pub(super) fn unrepeated(&self, until: Until) -> Vec<Unrepeated> {
        if !self.plan.measuring.confirm {
            return Vec::new();
        }
        judge::unrepeated(&self.journal.recording, &self.plan.policy, until)
    }

    /// A pair of rounds for each of these candidates that had fewer than may be looked at.
    pub(super) fn confirm_by_the_way(&mut self, found: &[Unrepeated]) -> Result<(), MeasureError> {
        let lacking = self.until_next_look(found);
        let jobs = self.jobs(|ix| lacking.contains_key(&ix));
        if jobs.is_empty() || self.affordable(&jobs) < 2 || self.interrupted {
            return Ok(());
        }
        let round = self.journal.recording.next_round(Phase::Confirm);
        self.round(Phase::Confirm, round, &jobs)?;
        self.round(Phase::Confirm, round + 1, &jobs)
    }

    /// Fresh processes for whatever is about to be flagged, until they repeat it or exclude it. What an earlier call, or
    /// the part of the run before it was resumed, has repeated already is not repeated again.
    pub(super) fn confirm(&mut self) -> Result<(), MeasureError> {
        for _ in LOOKS {
            let lacking = self.until_next_look(&self.unrepeated(Until::TheEnd));
            let jobs = self.jobs(|ix| lacking.contains_key(&ix));
            let recording = &self.journal.recording;
            let done = |job: &Job| rounds_in(recording, Phase::Confirm, job.scenario);
            let most = jobs.iter().map(|job| lacking[&job.scenario]).max().unwrap_or(0);
            let fewest_done = jobs.iter().map(done).min().unwrap_or(0);
            // A confirmation too short to repeat anything would only unsay what was found; the budget yields to it.
            let least = MIN_ROUNDS.saturating_sub(fewest_done);
            let rounds = most.min(self.affordable(&jobs)).max(least).min(most);
            let first = recording.next_round(Phase::Confirm);
            for done in 0..rounds.next_multiple_of(2) {
                let needed = |job: &&Job| lacking[&job.scenario] > done || done < least;
                let jobs: Vec<Job> = jobs.iter().filter(needed).cloned().collect();
                if self.interrupted {
                    return Ok(());
                }
                self.round(Phase::Confirm, first + done, &jobs)?;
            }
        }
        Ok(())
    }

    /// Rounds that candidates lack until their confirmation is looked at again, if it is, and with one row of a program all
    /// of its rows.
    fn until_next_look(&self, found: &[Unrepeated]) -> BTreeMap<u32, u32> {
        let lacking = |row: &Unrepeated| {
            let done = rounds_in(&self.journal.recording, Phase::Confirm, row.scenario);
            let look = LOOKS.into_iter().find(|look| *look > done)?;
            Some((row.scenario, look - done))
        };
        let asked = found.iter().filter_map(lacking).collect();
        spread(&asked, &self.journal.recording.scenarios)
    }

    /// Seconds of measuring after which nothing but confirming is done: the budget but for what confirming these
    /// candidates takes, as many rounds as found each of them and one turn of every other order of its code, and but for
    /// `kept_s` at least. Absent without a budget.
    pub(super) fn deadline_s(&self, found: &[Unrepeated], kept_s: f64) -> Option<f64> {
        let budget_s = self.plan.measuring.budget_s?;
        if !self.plan.measuring.confirm {
            return Some(budget_s);
        }
        let recording = &self.journal.recording;
        let [.., most] = LOOKS;
        let lacking = |row: &Unrepeated| {
            let done = rounds_in(recording, Phase::Confirm, row.scenario);
            (row.scenario, row.rounds.min(most).saturating_sub(done))
        };
        let lacking = spread(&found.iter().map(lacking).collect(), &recording.scenarios);
        let costs = costs(recording);
        let needed_s: f64 = lacking
            .into_iter()
            .filter_map(|(scenario, rounds)| {
                let entry = recording.scenarios.get(scenario as usize)?;
                let is_relaid = self.plan.measuring.layout_check && !entry.scenario.target.is_program();
                let elsewhere = if is_relaid { ONE_EACH } else { 0 };
                Some(2.0 * f64::from(rounds + elsewhere) * costs.get(&scenario)?)
            })
            .sum();
        Some(budget_s - needed_s.max(kept_s))
    }

    /// Rounds of these jobs that the budget still allows, even; as many as a confirmation may have without a budget.
    pub(super) fn affordable(&self, jobs: &[Job]) -> u32 {
        let Some(budget_s) = self.plan.measuring.budget_s else {
            let [.., most] = LOOKS;
            return most;
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
