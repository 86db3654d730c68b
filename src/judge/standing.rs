//! Whether a scenario can be compared at all, before any number is looked at.
//!
//! It depends on what was built and listed, and on what programs told of themselves, not on the numbers that are
//! compared: the size of the family must not depend on those.

use crate::comparison::Comparison;
use crate::judge::exact::is_exact;
use crate::judge::touched::touched;
use crate::judge::validity::{Objection, objection, untold};
use crate::judge::wording;
use crate::plan::Harness;
use crate::recording::{ChangedPiece, Entry, Executable, Recording, Work};
use crate::revision::Side;
use crate::scenario::Target;
use crate::verdict::Verdict;
use std::collections::HashMap;

/// What may be said about a scenario, with the notes that follow from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Both sides are the same experiment.
    Compared(Vec<String>),
    /// Both sides are there but not the same experiment; a change is shown and never judged.
    Barred(String),
    /// Equal executables, not measured.
    Identical,
    /// Both sides counted it; exact, so that it needs no share of the level.
    Exact,
    /// On one side only: [`Verdict::New`] or [`Verdict::Removed`].
    OneSided(Verdict, Vec<String>),
    /// Cannot be compared, and why.
    Failed(String),
}

impl Standing {
    /// Whether the scenario belongs to the family that shares the level.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        matches!(self, Self::Compared(_))
    }
}

/// The standing of every scenario, by position.
#[must_use]
pub fn standings(recording: &Recording, comparisons: &[Comparison]) -> Vec<Standing> {
    let mut targets: HashMap<&Target, TargetFacts<'_>> = HashMap::new();
    let touched = touched(recording);
    recording
        .scenarios
        .iter()
        .zip(comparisons)
        .zip(touched)
        .map(|((entry, comparison), touched)| {
            let target = &entry.scenario.target;
            let facts = targets
                .entry(target)
                .or_insert_with(|| TargetFacts::of(recording, target));
            facts.standing(entry, comparison, touched)
        })
        .collect()
}

/// What is known of one bench target on both sides.
struct TargetFacts<'a> {
    executables: [Option<&'a Executable>; 2],
    /// Why a side that lists nothing of this target does not, unless it simply has none.
    missing: [Option<Missing>; 2],
    identical: bool,
    measures_identical: bool,
    own_harness: bool,
    /// Why the rates of a program may not be compared.
    objection: Option<Objection>,
    /// What only one side of a program tells.
    untold: Option<String>,
}

/// Why a side has no executable of a target, or no list of its benchmarks.
enum Missing {
    NotBuilt,
    Skipped(String),
    /// `listed: why`, `used: why`.
    Unusable(String),
}

impl<'a> TargetFacts<'a> {
    fn of(recording: &'a Recording, target: &Target) -> Self {
        let plan = &recording.header.plan;
        Self {
            executables: Side::BOTH.map(|side| recording.executable(side, target)),
            missing: Side::BOTH.map(|side| missing(recording, side, target)),
            identical: recording.identical(target),
            measures_identical: plan.measuring.identical,
            own_harness: plan.selection.harness == Harness::Own,
            objection: objection(&recording.told, target),
            untold: untold(&recording.told, target),
        }
    }

    fn standing(&self, entry: &Entry, comparison: &Comparison, touched: Option<&ChangedPiece>) -> Standing {
        let has = |side: Side| entry.sides.contains(&side);
        match (has(Side::Base), has(Side::Head)) {
            (true, true) if self.identical && !self.measures_identical => Standing::Identical,
            (true, true) if is_exact(&entry.scenario) => match &self.objection {
                Some(objection) if !objection.spares_counts => Standing::Barred(objection.reason.clone()),
                _ => Standing::Exact,
            },
            (true, true) => self.both(entry, comparison, touched),
            (true, false) => self.one_sided(Side::Head, Verdict::Removed),
            (false, true) => self.one_sided(Side::Base, Verdict::New),
            (false, false) => Standing::Failed("listed by neither side".to_owned()),
        }
    }

    fn both(&self, entry: &Entry, comparison: &Comparison, touched: Option<&ChangedPiece>) -> Standing {
        if self.identical {
            return Standing::Compared(vec!["identical executables: any change is noise".to_owned()]);
        }
        let [base, head] = self
            .executables
            .map(|executable| executable.and_then(|executable| executable.criterion.as_deref()));
        if let (Some(base), Some(head)) = (base, head)
            && base != head
        {
            return Standing::Barred(format!("measuring library changed (criterion {base} -> {head})"));
        }
        if let Some(objection) = &self.objection {
            return Standing::Barred(objection.reason.clone());
        }
        let mut notes: Vec<String> = self.untold.iter().cloned().collect();
        if let Some(work) = comparison.work {
            notes.push(format!(
                "judged per {}: throughput changed from {} to {}",
                match work.base.per {
                    Work::Bytes => "byte",
                    Work::Bits => "bit",
                    Work::Elements => "element",
                },
                work.base.amount,
                work.head.amount
            ));
        }
        if let Some(piece) = touched.filter(|_| self.own_harness) {
            let note = if entry.scenario.target.is_program() {
                format!("a file that it reads changed ({})", piece.file)
            } else {
                format!("bench source changed ({}:{})", piece.file, piece.line)
            };
            // A bench that declares its new amount of work says itself how to compare: per unit of work.
            if comparison.work.is_none() {
                return Standing::Barred(note);
            }
            notes.push(note);
        }
        Standing::Compared(notes)
    }

    fn one_sided(&self, without: Side, verdict: Verdict) -> Standing {
        match &self.missing[without as usize] {
            Some(Missing::NotBuilt) => Standing::Failed(format!("{without} did not build")),
            Some(Missing::Unusable(what)) => Standing::Failed(format!("{without} could not be {what}")),
            Some(Missing::Skipped(reason)) => Standing::OneSided(
                verdict,
                vec![format!(
                    "{without} has this bench target, but it was skipped: {reason}"
                )],
            ),
            None => Standing::OneSided(verdict, Vec::new()),
        }
    }
}

fn missing(recording: &Recording, side: Side, target: &Target) -> Option<Missing> {
    let Some(build) = recording.build(side) else {
        return Some(Missing::NotBuilt);
    };
    if let Some(incident) = recording.unusable(side, target) {
        let verb = if target.is_program() { "used" } else { "listed" };
        let why = wording::first_line(&incident.detail);
        return Some(Missing::Unusable(format!("{verb}: {why}")));
    }
    // What cargo made of the benches of a side says nothing of a program.
    if target.is_program() || recording.executable(side, target).is_some() {
        return None;
    }
    if let Some(skipped) = build.skipped.iter().find(|skipped| &skipped.target == target) {
        return Some(Missing::Skipped(skipped.reason.clone()));
    }
    build.failure.as_ref().map(|_| Missing::NotBuilt)
}
