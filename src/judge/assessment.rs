//! Every scenario's numbers, standing and decision, before the confirmation is asked.
//!
//! The looks are *replayed*: the decision is made on the first 16, then 32, ... paired rounds, and the first look that
//! decides is the one that counts, whatever was measured afterwards. So the live run, which stops at the same looks,
//! and a later judgement of its file agree. (The step of a clock is learned from all slots there are.)

use crate::comparison::{Comparison, compare};
use crate::judge::decision::{Decision, Outcome, Question, decide};
use crate::judge::estimate::{Contrast, contrast};
use crate::judge::incidents::Incidents;
use crate::judge::looks::{Look, looks, planned};
use crate::judge::origin::{Counts, layout_floor};
use crate::judge::standing::{Standing, standings};
use crate::plan::Policy;
use crate::recording::{Entry, Recording};

/// All rows of a recording.
#[derive(Debug)]
pub struct Assessment<'a> {
    /// What was recorded.
    pub recording: &'a Recording,
    /// The limits.
    pub policy: &'a Policy,
    /// Everything that went wrong.
    pub incidents: Incidents<'a>,
    /// Instructions that were counted.
    pub counts: Counts<'a>,
    /// One row a scenario, by position.
    pub rows: Vec<Row<'a>>,
}

/// One scenario.
#[derive(Debug)]
pub struct Row<'a> {
    /// Position in [`Recording::scenarios`].
    pub position: usize,
    /// The scenario.
    pub entry: &'a Entry,
    /// Its numbers.
    pub comparison: Comparison,
    /// Whether it can be compared.
    pub standing: Standing,
    /// The deciding look, else the last one; absent with too few rounds, or if nothing is compared.
    pub decided: Option<Decided>,
}

/// A look and what it says.
#[derive(Debug)]
pub struct Decided {
    /// The estimate.
    pub contrast: Contrast,
    /// The conclusion.
    pub decision: Decision,
}

/// Which looks are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// The planned ones only: measuring goes on.
    NextLook,
    /// The planned ones and one at the end of what there is.
    TheEnd,
}

impl<'a> Assessment<'a> {
    /// Assesses every row.
    #[must_use]
    pub fn of(recording: &'a Recording, policy: &'a Policy, until: Until) -> Self {
        let comparisons = compare(recording);
        let standings = standings(recording, &comparisons);
        // Bonferroni 1936: the family is the whole report, whichever shard measures a row.
        let family = standings
            .iter()
            .filter(|standing| standing.is_judged())
            .count()
            .max(1);
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 scenarios")]
        let alpha = policy.family_alpha / family as f64;
        let rows = recording
            .scenarios
            .iter()
            .zip(comparisons)
            .zip(standings)
            .enumerate()
            .map(|(position, ((entry, comparison), standing))| {
                let mut row = Row {
                    position,
                    entry,
                    comparison,
                    standing,
                    decided: None,
                };
                row.decided = row.replay(recording, policy, alpha, until);
                row
            })
            .collect();
        Self {
            recording,
            policy,
            incidents: Incidents::of(recording),
            counts: Counts::of(recording),
            rows,
        }
    }

    /// Head's instructions relative to base's, minus one, for as much work as base does in one iteration; absent unless
    /// both were counted and are repeatable.
    #[must_use]
    pub fn instructions_change(&self, row: &Row<'_>) -> Option<f64> {
        let per_iteration = self.counts.change(row.entry.ix)?;
        Some((1.0 + per_iteration) * row.comparison.per_work() - 1.0).filter(|change| change.is_finite())
    }

    /// Rows that are about to be flagged.
    pub fn candidates(&self) -> impl Iterator<Item = &Row<'a>> {
        self.rows.iter().filter(|row| row.is_candidate())
    }
}

impl Row<'_> {
    /// Paired rounds of the comparison.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        u32::try_from(self.comparison.measured.len()).unwrap_or(u32::MAX)
    }

    /// Slots of the side that has more.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.comparison.base.slots.max(self.comparison.head.slots)
    }

    /// Whether it would be flagged if fresh processes repeat it.
    #[must_use]
    pub fn is_candidate(&self) -> bool {
        self.standing.is_judged()
            && self
                .decided
                .as_ref()
                .is_some_and(|decided| decided.decision.outcome == Outcome::Candidate)
    }

    /// Whether more rounds of the comparison would be of no use.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.decided
            .as_ref()
            .is_some_and(|decided| decided.decision.outcome != Outcome::Open)
    }

    fn replay(&self, recording: &Recording, policy: &Policy, alpha: f64, until: Until) -> Option<Decided> {
        if !matches!(self.standing, Standing::Compared(_) | Standing::Barred(_)) {
            return None;
        }
        let available = self.rounds();
        let fixed = recording.header.plan.measuring.rounds;
        let looks = match until {
            Until::NextLook => planned(available),
            Until::TheEnd => looks(available, fixed),
        };
        let mut last = None;
        for Look { rounds, share } in looks {
            let seen = self.comparison.measured.get(..rounds as usize)?;
            let contrast = contrast(seen)?;
            let last_round = seen.last().map_or(0, |pair| pair.round);
            let decision = decide(Question {
                comparison: &self.comparison,
                metric: &self.entry.scenario.metric,
                contrast: &contrast,
                layout_floor: layout_floor(&self.comparison.control, last_round),
                alpha: alpha * share,
                policy,
            })?;
            let decided = decision.outcome != Outcome::Open;
            last = Some(Decided { contrast, decision });
            if decided {
                break;
            }
        }
        last
    }
}
