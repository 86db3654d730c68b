//! From a recording to a report: the whole judging half in one call.
//!
//! [`judge`] is a pure function of the recording and the policy. The others are for a run that is still going on:
//! [`undecided`] takes only the planned looks, so what it says never changes what a later look may spend; [`candidates`] and
//! [`suspects`] also take the one at the end of what there is, and [`unrepeated`] is told which.

pub mod account;
pub mod assessment;
pub mod claims;
pub mod confirmation;
pub mod counted;
pub mod curves;
pub mod decision;
pub mod estimate;
pub mod exact;
pub mod incidents;
pub mod looks;
pub mod origin;
pub mod ruling;
pub mod standing;
pub mod touched;
pub mod validity;
pub mod wording;

use crate::judge::assessment::{Assessment, Row, Until};
use crate::judge::confirmation::{Confirmation, confirm};
use crate::judge::looks::FIRST_LOOK;
use crate::judge::origin::{Origin, origin};
use crate::judge::ruling::finding;
use crate::judge::standing::Standing;
use crate::metric::{Better, Metric};
use crate::plan::{MIN_ROUNDS, Policy};
use crate::recording::{IncidentKind, Recording};
use crate::report::{Elapsed, Finding, Method, Report};
use crate::revision::Side;
use crate::scenario::{Kind, Target};
use crate::stats::quantile::median;
use crate::verdict::Verdict;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Judges a run that came to an end: every finding, in report order.
#[must_use]
pub fn judge(recording: &Recording, policy: &Policy) -> Report {
    let assessment = Assessment::of(recording, policy, Until::TheEnd);
    let mut findings: Vec<Finding> = assessment
        .rows
        .iter()
        .filter(|row| !is_elsewhere(recording, row))
        .map(|row| finding(&assessment, row))
        .collect();
    findings.sort_by(in_report_order);
    let mut counted = counted::findings(&assessment);
    counted.sort_by(in_report_order);
    let plan = &recording.header.plan;
    Report {
        base: plan.base.clone(),
        head: plan.head.clone(),
        host: recording.host.clone(),
        differences: recording.differences.clone(),
        notes: account::notes(&assessment, &findings),
        blind_spots: account::blind_spots(&assessment, &findings),
        method: method(&assessment, &findings),
        elapsed: elapsed(recording),
        findings: findings
            .into_iter()
            .chain(counted)
            .chain(lost_targets(recording))
            .collect(),
        curves: curves::curves(recording),
    }
}

/// A failed row for each bench target or program of which no side could even tell what it measures: it has no scenarios,
/// and would vanish from the report.
fn lost_targets(recording: &Recording) -> Vec<Finding> {
    let listed: BTreeSet<&Target> = recording
        .scenarios
        .iter()
        .map(|entry| &entry.scenario.target)
        .collect();
    let unusable = recording.incidents.iter().filter(|incident| {
        incident.what == IncidentKind::Unusable
            && incident.scenario.is_none()
            && !listed.contains(&incident.target)
    });
    let mut lost: BTreeMap<&Target, Vec<String>> = BTreeMap::new();
    for incident in unusable {
        let notes = lost.entry(&incident.target).or_default();
        notes.push(incidents::sentence(incident));
    }
    let row = |(target, notes): (&Target, Vec<String>)| Finding {
        scenario: "(all of them)".to_owned(),
        kind: if target.is_program() {
            Kind::Program
        } else {
            Kind::Criterion
        },
        target: target.clone(),
        metric: Metric::time(),
        base: None,
        head: None,
        change: None,
        confirmed: None,
        instructions_change: None,
        verdict: Verdict::Failed,
        flag: Verdict::Failed.flag(None, 0.0),
        notes,
    };
    lost.into_iter().map(row).collect()
}

/// Scenarios of this run that still need rounds, by [`Entry::ix`](crate::recording::Entry::ix), in order.
///
/// With a fixed number of rounds: those with fewer. Else those that no planned look has decided; a scenario without a
/// partner needs [`MIN_ROUNDS`] slots for its number, one that is shown but not judged needs one look. A scenario that
/// failed before its first pair is left out.
#[must_use]
pub fn undecided(recording: &Recording, policy: &Policy) -> Vec<u32> {
    let assessment = Assessment::of(recording, policy, Until::NextLook);
    let fixed = recording.header.plan.measuring.rounds;
    let needs_rounds = |row: &&Row<'_>| {
        if !row.entry.assigned || row.entry.sides.is_empty() {
            return false;
        }
        let failed = assessment.incidents.failures(row.position).next().is_some();
        match row.standing {
            Standing::Identical | Standing::Exact => false,
            Standing::OneSided(..) | Standing::Failed(_) => {
                !(failed && row.slots() == 0) && row.slots() < fixed.unwrap_or(MIN_ROUNDS)
            }
            _ if failed && row.rounds() == 0 => false,
            _ if fixed.is_some() => fixed.is_some_and(|rounds| row.rounds() < rounds),
            Standing::Barred(_) => row.rounds() < FIRST_LOOK,
            Standing::Compared(_) => !row.is_settled(),
        }
    };
    assessment.rows.iter().filter(needs_rounds).map(ix).collect()
}

/// Scenarios about to be flagged, by [`Entry::ix`](crate::recording::Entry::ix), in order: what the confirmation has
/// to repeat.
#[must_use]
pub fn candidates(recording: &Recording, policy: &Policy) -> Vec<u32> {
    let assessment = Assessment::of(recording, policy, Until::TheEnd);
    assessment.candidates().map(ix).collect()
}

/// Rounds with which a candidate was found, at least [`MIN_ROUNDS`]. Even.
fn found_after(row: &Row<'_>) -> u32 {
    let rounds = row.decided.as_ref().map_or(0, |decided| decided.contrast.rounds);
    rounds.max(MIN_ROUNDS).next_multiple_of(2)
}

/// A candidate that fresh processes have not repeated, and may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unrepeated {
    /// [`Entry::ix`](crate::recording::Entry::ix).
    pub scenario: u32,
    /// Rounds that found it, at least [`MIN_ROUNDS`]: as many should repeat it. Even.
    pub rounds: u32,
}

/// Candidates of which more fresh processes could tell whether they repeat it, in order: those of the planned looks, or
/// of the end as well. Those whose fresh processes failed are not among them.
#[must_use]
pub fn unrepeated(recording: &Recording, policy: &Policy, until: Until) -> Vec<Unrepeated> {
    let assessment = Assessment::of(recording, policy, until);
    let may_repeat = |row: &&Row<'_>| !confirm(&assessment, row, Until::NextLook).is_settled();
    assessment
        .candidates()
        .filter(may_repeat)
        .map(|row| Unrepeated {
            scenario: ix(row),
            rounds: found_after(row),
        })
        .collect()
}

/// Candidates that fresh processes repeated and that neither counted instructions nor other orders have told from layout,
/// by [`Entry::ix`](crate::recording::Entry::ix), in order: the change may be the place of the code and not the code.
#[must_use]
pub fn suspects(recording: &Recording, policy: &Policy) -> Vec<u32> {
    let assessment = Assessment::of(recording, policy, Until::TheEnd);
    let is_suspect = |row: &&Row<'_>| {
        matches!(
            confirm(&assessment, row, Until::TheEnd),
            Confirmation::Repeated(_)
        ) && !matches!(
            origin(&assessment, row),
            Origin::Code(_) | Origin::Place { settled: true, .. }
        )
    };
    assessment.candidates().filter(is_suspect).map(ix).collect()
}

fn ix(row: &Row<'_>) -> u32 {
    row.entry.ix
}

/// Another shard measures it and its recording is not here.
fn is_elsewhere(recording: &Recording, row: &Row<'_>) -> bool {
    recording.header.plan.measuring.shard.is_some()
        && !row.entry.assigned
        && row.slots() == 0
        && row.standing != Standing::Identical
}

/// Slowest change first, then rows without a change; ties by key, so that the order never depends on the run.
fn in_report_order(one: &Finding, other: &Finding) -> Ordering {
    let worse = |finding: &Finding| {
        finding.change.as_ref().map(|change| match finding.metric.better {
            Better::Lower => change.change,
            Better::Higher => -change.change,
        })
    };
    let by_change = match (worse(one), worse(other)) {
        (Some(one), Some(other)) => other.total_cmp(&one),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    let key = |finding: &Finding| (finding.kind, finding.target.clone(), finding.scenario.clone());
    by_change
        .then_with(|| key(one).cmp(&key(other)))
        .then_with(|| one.metric.cmp(&other.metric))
}

fn method(assessment: &Assessment<'_>, findings: &[Finding]) -> Method {
    let policy = assessment.policy;
    let judged = || {
        assessment
            .rows
            .iter()
            .filter(|row| row.standing.is_judged())
            .filter_map(|row| row.decided.as_ref())
    };
    let detectable: Vec<f64> = judged().map(|decided| decided.decision.detectable).collect();
    let order_effects: Vec<f64> = judged()
        .filter_map(|decided| decided.contrast.order_effect)
        .map(f64::exp_m1)
        .filter(|effect| effect.is_finite())
        .collect();
    Method {
        rounds: findings
            .iter()
            .filter_map(|finding| finding.change.as_ref())
            .map(|change| change.rounds)
            .max()
            .unwrap_or(0),
        family_alpha: policy.family_alpha,
        threshold: policy.threshold.0,
        margin: policy.margin.0,
        alert: policy.alert.0,
        floor_ns: Some(policy.floor_ns),
        median_detectable: median(&detectable),
        null_pairs: judged()
            .filter_map(|decided| decided.contrast.null)
            .map(|null| null.contrasts)
            .fold(0, u32::saturating_add),
        seed: assessment.recording.header.plan.measuring.seed,
        order_effect: median(&order_effects),
    }
}

fn elapsed(recording: &Recording) -> Elapsed {
    let sum = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum());
    let build = |side: Side| recording.build(side).map(|build| build.build_s);
    Elapsed {
        checkout_s: sum(recording.builds.iter().map(|build| build.checkout_s).collect()),
        build_base_s: build(Side::Base),
        build_head_s: build(Side::Head),
        measure_s: (!recording.slots.is_empty()).then(|| recording.measured_s()),
        total_s: sum(recording.ends.iter().map(|end| end.total_s).collect()),
    }
}
