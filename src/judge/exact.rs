//! Rows of what a program counted: exact, so that any change is one and none needs an interval.

use crate::judge::assessment::{Assessment, Row};
use crate::metric::{Better, Unit};
use crate::recording::Recording;
use crate::report::{Change, Finding};
use crate::revision::Side;
use crate::scenario::{Kind, Scenario};
use crate::verdict::Verdict;
use std::collections::BTreeSet;

/// Whether a scenario is counted and not measured.
#[must_use]
pub fn is_exact(scenario: &Scenario) -> bool {
    scenario.kind == Kind::Program && scenario.metric.unit == Unit::Count
}

/// Fills in the numbers and the verdict: unclear unless each side counts the same in all its launches.
pub(super) fn count(finding: &mut Finding, assessment: &Assessment<'_>, row: &Row<'_>) {
    let [base, head] = Side::BOTH.map(|side| counts(assessment.recording, row.entry.ix, side));
    let constant = |counts: &BTreeSet<u64>| match counts.len() {
        1 => counts.first().copied(),
        _ => None,
    };
    let (one, other) = (constant(&base), constant(&head));
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 events")]
    let number = |count: Option<u64>| count.map(|count| count as f64);
    (finding.base, finding.head) = (number(one), number(other));
    for (side, counts) in Side::BOTH.iter().zip([&base, &head]) {
        match counts.len() {
            0 => finding.notes.push(format!("{side} counted nothing")),
            1 => {}
            _ => finding.notes.push(format!(
                "{side} counted differently in its own launches: {}",
                counts.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
            )),
        }
    }
    let (Some(one), Some(other)) = (one, other) else {
        return;
    };
    let is_worse = match finding.metric.better {
        Better::Lower => other > one,
        Better::Higher => other < one,
    };
    finding.verdict = match (one == other, is_worse) {
        (true, _) => Verdict::Unchanged,
        (false, true) => Verdict::Regressed,
        (false, false) => Verdict::Improved,
    };
    finding.confirmed = finding.verdict.is_change().then_some(true);
    // From zero on there is no relative change: the two numbers say it.
    let change = match (finding.base, finding.head) {
        (Some(base), Some(head)) if base > 0.0 => Some(head / base - 1.0),
        _ if one == other => Some(0.0),
        _ => None,
    };
    let launches = assessment.recording.told.iter();
    let launches = launches.filter(|told| told.target == finding.target && told.side == Side::Base);
    finding.change = change.map(|change| Change {
        change,
        low: change,
        high: change,
        floor: 0.0,
        detectable: 0.0,
        rounds: u32::try_from(launches.count()).unwrap_or(u32::MAX),
        per_round: Vec::new(),
        confirmation: None,
    });
}

/// Every count of a scenario on a side, in whatever launch.
fn counts(recording: &Recording, scenario: u32, side: Side) -> BTreeSet<u64> {
    let told = recording.told.iter().filter(|told| told.side == side);
    let events = told.flat_map(|told| &told.counts);
    events
        .filter(|events| events.scenario == scenario)
        .flat_map(|events| events.values.iter().copied())
        .collect()
}
