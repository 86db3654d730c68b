//! Measuring: warm up, run pairs of rounds until every scenario is decided or the budget is spent, confirm.
//!
//! The state of a measurement is its recording and nothing else; a resumed run looks at the recording and goes on.
//! What is decided is asked of `judge`; what a slot is like is the business of the [`Lab`].

mod confirmation;
mod layout;
mod need;
mod reach;
mod warm_up;

use self::need::{brisk, cheapest, costs, given_up, job, pending, starts, timing, timing_of};
use crate::edge::store::{Journal, StoreError};
use crate::judge::assessment::Until;
use crate::judge::{self, looks};
use crate::layout::Layout;
use crate::plan::Plan;
use crate::recording::{EndReason, Entry, Event, Phase, Relaid, Timing};
use crate::revision::Side;
use crate::scenario::Target;
use crate::schedule::{self, Chunk, Job};
use crate::slot::{Outcome, Slot, SlotEnd};
use std::collections::{BTreeMap, BTreeSet};

/// What runs a slot: real processes in `lab`, a script in tests.
pub trait Lab {
    /// Runs one slot to its end. A bench that fails in any way is an [`Outcome`].
    ///
    /// # Errors
    /// [`LabError`] if no slot can be run at all.
    fn run(&mut self, slot: &Slot, entries: &[Entry], timing: Timing) -> Result<Outcome, LabError>;

    /// Counts the instructions of one iteration of a scenario, in a process of its own; or says why it cannot. Absent
    /// if the user stopped it.
    ///
    /// # Errors
    /// [`LabError`] if nothing can be run at all.
    fn count(&mut self, side: Side, entry: &Entry) -> Result<Option<Result<u64, String>>, LabError>;

    /// Links these executables in every shuffled order; says for each what came of it. Absent if the user stopped it.
    ///
    /// # Errors
    /// [`LabError`] if nothing can be built or run any more.
    fn relay(&mut self, wanted: &BTreeSet<(Side, Target)>) -> Result<Option<Vec<Relaid>>, LabError>;
}

/// Slots cannot be run: the tool's own folder is gone, the disk is full, an executable cannot be started.
#[derive(Debug, thiserror::Error)]
#[error("measuring stopped: {0}")]
pub struct LabError(pub Box<dyn std::error::Error + Send + Sync>);

/// Why measuring stopped early. What was recorded is safe.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// No slot can be run.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The recording cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Slots run.
    Measuring {
        /// What for.
        phase: Phase,
        /// Round that is going on, from 0.
        round: u32,
    },
    /// Instructions are counted.
    Counting {
        /// Scenarios and sides that are done.
        done: usize,
        /// All of them.
        of: usize,
    },
    /// Executables are linked in other orders.
    Linking,
}

/// How far a measurement has come, told between slots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Status {
    /// What is going on.
    pub stage: Stage,
    /// Scenarios that need no more rounds.
    pub decided: usize,
    /// Scenarios that are measured on both sides.
    pub scenarios: usize,
    /// Seconds spent in measured processes.
    pub spent_s: f64,
    /// Seconds that may be spent.
    pub budget_s: Option<f64>,
}

/// Least part of the budget that is kept for confirming while anything is still undecided, because the last rounds find
/// something, too.
const CONFIRM_SHARE: f64 = 0.15;

/// How long a process should run, in seconds: a quiet moment of a shared machine lasts for tenths of a second
/// (docs/performance.md), and both sides of a scenario should meet the same one.
const CHUNK_S: f64 = 0.25;

/// How many times longer than its start a process should run.
const CHUNK_STARTS: f64 = 4.0;

/// Measures what the plan in the journal's header asks for, appending to the journal, until it is done.
///
/// # Errors
/// [`MeasureError`]; the journal then holds everything that was measured.
pub fn measure(
    lab: &mut impl Lab,
    journal: &mut Journal,
    watch: &mut dyn FnMut(&Status),
) -> Result<EndReason, MeasureError> {
    let plan = journal.recording.header.plan.clone();
    let timing = match journal.recording.timing {
        Some(timing) => timing,
        None => {
            let pending = pending(&journal.recording).into_iter();
            let benchmarks = pending.filter(|entry| !entry.scenario.target.is_program());
            let timing = timing(&plan, benchmarks.count());
            journal.append(Event::Timing(timing))?;
            timing
        }
    };
    let budget_s = plan.measuring.budget_s.unwrap_or(0.0);
    let mut run = Measurement {
        lab,
        journal,
        watch,
        plan,
        timing,
        decided: 0,
        brisk: BTreeSet::new(),
        starts: BTreeMap::new(),
        interrupted: false,
    };
    run.warm_up()?;
    run.brisk = brisk(&run.journal.recording);
    run.starts = starts(&run.journal.recording);
    run.drop_what_the_budget_cannot_reach()?;
    run.look_at_what_one_side_has()?;
    run.prepare_relink_control()?;
    let mut kept_s = budget_s * CONFIRM_SHARE;
    let reason = loop {
        let before_s = run.journal.recording.measured_s();
        let reason = run.rounds(kept_s)?;
        run.confirm()?;
        run.tell_code_from_layout()?;
        let left_s = budget_s - run.journal.recording.measured_s();
        let idle = run.journal.recording.measured_s() <= before_s;
        if reason != EndReason::Budget || (idle && kept_s <= left_s / 2.0) {
            break reason;
        }
        // What confirming did not need, undecided scenarios get, but for half of it: they will show something, too.
        kept_s = left_s / 2.0;
    };
    run.count_all()?;
    Ok(if run.interrupted {
        EndReason::Interrupted
    } else {
        reason
    })
}

/// One of those that run in a round.
#[derive(Debug, Clone, Copy)]
struct Arm {
    side: Side,
    first: bool,
    layout: Layout,
}

impl Arm {
    fn of(side: Side, chunk: &Chunk, layout: Layout) -> Self {
        let first = side == chunk.first;
        Self { side, first, layout }
    }
}

struct Measurement<'a, L> {
    lab: &'a mut L,
    journal: &'a mut Journal,
    watch: &'a mut dyn FnMut(&Status),
    plan: Plan,
    timing: Timing,
    decided: usize,
    /// Scenarios that get many short samples; known after the warm-up.
    brisk: BTreeSet<u32>,
    /// Seconds a process spends before its first scenario; known after the warm-up.
    starts: BTreeMap<Target, f64>,
    interrupted: bool,
}

impl<L: Lab> Measurement<'_, L> {
    /// Pairs of rounds over whatever is not decided, and of the confirmation of what was found, until all is decided or no
    /// more of the budget is left than confirming takes, or than `kept_s`.
    ///
    /// Confirming by the way meets the machine at many moments; all of it at the end may meet a bad one.
    fn rounds(&mut self, kept_s: f64) -> Result<EndReason, MeasureError> {
        // Nobody can judge before the first round; a scenario that stumbled in the warm-up gets its chance.
        let mut undecided = match self.journal.recording.next_round(Phase::Measure) {
            0 => self.pending(),
            _ => self.undecided(),
        };
        loop {
            let round = self.journal.recording.next_round(Phase::Measure);
            if self.interrupted {
                return Ok(EndReason::Interrupted);
            }
            if self.plan.measuring.rounds.is_some_and(|rounds| round >= rounds) {
                // Rounds that were lost, as by a run that was killed in the middle of one, are made up for.
                undecided = judge::undecided(&self.journal.recording, &self.plan.policy)
                    .into_iter()
                    .collect();
            }
            let mut jobs = self.jobs_of_round(round, &undecided);
            if jobs.is_empty() {
                return Ok(EndReason::Decided);
            }
            let found = self.unrepeated(Until::NextLook);
            if let Some(deadline_s) = self.deadline_s(&found, kept_s) {
                let left_s = deadline_s - self.journal.recording.measured_s();
                let affordable = cheapest(&jobs, left_s, |_| 2);
                jobs.retain(|job| affordable.contains(&job.scenario));
                if jobs.is_empty() {
                    return Ok(EndReason::Budget);
                }
            }
            self.round(Phase::Measure, round, &jobs)?;
            self.round(Phase::Measure, round + 1, &jobs)?;
            self.confirm_by_the_way(&found)?;
            if looks::next_look(round) <= round + 2 {
                undecided = self.undecided();
                self.decided = pending(&self.journal.recording)
                    .len()
                    .saturating_sub(undecided.len());
            }
        }
    }

    fn pending(&self) -> BTreeSet<u32> {
        let pending = pending(&self.journal.recording);
        pending.into_iter().map(|entry| entry.ix).collect()
    }

    fn undecided(&self) -> BTreeSet<u32> {
        if self.plan.measuring.rounds.is_some() {
            return self.pending();
        }
        judge::undecided(&self.journal.recording, &self.plan.policy)
            .into_iter()
            .collect()
    }

    /// Jobs of a round: what is not decided, and programs whose number of launches is fixed until they had them.
    fn jobs_of_round(&self, round: u32, undecided: &BTreeSet<u32>) -> Vec<Job> {
        let entries = &self.journal.recording.scenarios;
        let is_wanted = |ix: u32| {
            let target = entries.get(ix as usize).map(|entry| &entry.scenario.target);
            match target.and_then(|target| self.launches(target)) {
                Some(launches) => round < launches,
                None => undecided.contains(&ix),
            }
        };
        self.jobs(is_wanted)
    }

    /// Launches that a program is to have on each side, if their number is fixed.
    fn launches(&self, target: &Target) -> Option<u32> {
        self.plan.selection.program(target)?.launches
    }

    /// Jobs for pending scenarios, with what they were seen to cost. Of a program all that it measures, or nothing.
    fn jobs(&self, wanted: impl Fn(u32) -> bool) -> Vec<Job> {
        let costs = costs(&self.journal.recording);
        let pending = pending(&self.journal.recording);
        let programs: BTreeSet<&Target> = pending
            .iter()
            .filter(|entry| entry.scenario.target.is_program() && wanted(entry.ix))
            .map(|entry| &entry.scenario.target)
            .collect();
        pending
            .into_iter()
            .filter(|entry| wanted(entry.ix) || programs.contains(&entry.scenario.target))
            .filter_map(|entry| costs.get(&entry.ix).map(|cost_s| job(entry, *cost_s)))
            .collect()
    }

    fn round(&mut self, phase: Phase, round: u32, jobs: &[Job]) -> Result<(), MeasureError> {
        let chunk_s = |target: &Target| self.chunk_s(target);
        for chunk in schedule::round(self.plan.measuring.seed, phase, round, jobs, chunk_s) {
            for arm in self.arms(phase, round, &chunk) {
                self.slots(phase, round, arm, &chunk)?;
            }
        }
        Ok(())
    }

    /// Who runs in a round: both sides, and base in another order where there is a relink control, before them in one
    /// round of a pair and after them in the other.
    fn arms(&self, phase: Phase, round: u32, chunk: &Chunk) -> Vec<Arm> {
        let layout = match phase {
            Phase::Relaid => Layout::of_round(round),
            _ => Layout::AS_BUILT,
        };
        let mut arms = [chunk.first, chunk.first.other()]
            .map(|side| Arm::of(side, chunk, layout))
            .to_vec();
        if let Some(layout) = self.control(phase, round, &chunk.target) {
            let first = round.is_multiple_of(2);
            let at = if first { 0 } else { arms.len() };
            let side = Side::Base;
            arms.insert(at, Arm { side, first, layout });
        }
        arms
    }

    fn chunk_s(&self, target: &Target) -> f64 {
        let start_s = self.starts.get(target).copied().unwrap_or(0.0);
        (CHUNK_STARTS * start_s).max(CHUNK_S)
    }

    /// One slot, and further ones for scenarios that never got their turn because another one failed.
    fn slots(&mut self, phase: Phase, round: u32, arm: Arm, chunk: &Chunk) -> Result<(), MeasureError> {
        let limit_s = self.plan.limit_s(&chunk.target);
        // What measures several benchmarks one after the other has time for all of them.
        let others_s = if chunk.target.is_program() {
            0.0
        } else {
            3.0 * chunk.cost_s
        };
        let hopeless = given_up(&self.journal.recording);
        let mut scenarios = chunk.scenarios.clone();
        scenarios.retain(|ix| !hopeless.contains(ix));
        while !scenarios.is_empty() && !self.interrupted {
            let timing = timing_of(self.timing, scenarios.iter().all(|ix| self.brisk.contains(ix)));
            let slot = Slot {
                phase,
                round,
                side: arm.side,
                first: arm.first,
                target: chunk.target.clone(),
                layout: arm.layout,
                scenarios,
                limit_s,
                timeout_s: limit_s + others_s,
            };
            let outcome = self.lab.run(&slot, &self.journal.recording.scenarios, timing)?;
            let blame = outcome.blame(&slot, &self.journal.recording.scenarios);
            self.interrupted |= outcome.end == SlotEnd::Interrupted;
            if !self.interrupted {
                self.journal.append(Event::Slot(outcome.record))?;
                if let Some(told) = outcome.told {
                    self.journal.append(Event::Told(told))?;
                }
                for text in outcome.notes {
                    self.journal.append(Event::Note { text })?;
                }
            }
            for incident in blame.incidents {
                self.journal.append(Event::Incident(incident))?;
            }
            scenarios = blame.again;
            self.tell(phase, round);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
