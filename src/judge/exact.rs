//! Rows of what a program counted: exact, so that any change is one and none needs an interval.

use crate::judge::assessment::{Assessment, Row};
use crate::judge::wording;
use crate::metric::{Better, Unit};
use crate::recording::{Phase, Recording, Told};
use crate::report::{Change, Finding};
use crate::revision::Side;
use crate::scenario::{Kind, Scenario};
use crate::verdict::Verdict;

/// Whether a scenario is counted and not measured.
#[must_use]
pub fn is_exact(scenario: &Scenario) -> bool {
    scenario.kind == Kind::Program && scenario.metric.unit == Unit::Count
}

/// Launches of a side that have to agree before a count is believed: one may be an accident.
const AGREEING: usize = 2;

/// Fills in the numbers and the verdict: unclear unless each side counts the same in all of its launches. Whether both
/// sides counted anything.
pub(super) fn count(finding: &mut Finding, assessment: &Assessment<'_>, row: &Row<'_>) -> bool {
    let counted = Side::BOTH.map(|side| counts(assessment.recording, row, side));
    if counted
        .iter()
        .any(|launches| launches.iter().all(Option::is_none))
    {
        return false;
    }
    let rounds = Side::BOTH.map(|side| rounds(assessment.recording, row, side));
    let mut of_sides = [None, None];
    for ((side, counted), of_side) in Side::BOTH.into_iter().zip(&counted).zip(&mut of_sides) {
        match agreed(counted) {
            Ok(counts) => *of_side = Some(counts),
            Err(why) => finding.notes.push(format!("{side} {why}")),
        }
    }
    let [Some(base), Some(head)] = of_sides else {
        return true;
    };
    // One number where all repetitions agree, else what a launch counted in all.
    let is_constant = |counts: &[u64]| counts.windows(2).all(|pair| pair[0] == pair[1]);
    let is_one = is_constant(base) && is_constant(head);
    let number = |counts: &[u64]| {
        if is_one {
            counts.first().copied().unwrap_or(0)
        } else {
            counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count))
        }
    };
    let (one, other) = (number(base), number(head));
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
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 events")]
    let (base, head) = (one as f64, other as f64);
    (finding.base, finding.head) = (Some(base), Some(head));
    // From zero on there is no relative change: the two numbers say it.
    let change = if one == other {
        Some(0.0)
    } else {
        (base > 0.0).then_some(head / base - 1.0)
    };
    finding.change = change.map(|change| Change {
        change,
        low: change,
        high: change,
        floor: 0.0,
        detectable: 0.0,
        rounds: rounds[0].max(rounds[1]),
        per_round: Vec::new(),
        base_per_round: Vec::new(),
        confirmation: None,
    });
    true
}

/// What each launch of a side counted, repetition by repetition; absent for a launch that did not.
fn counts<'a>(recording: &'a Recording, row: &Row<'_>, side: Side) -> Vec<Option<&'a [u64]>> {
    let target = &row.entry.scenario.target;
    let launches = recording.told.iter();
    let launches = launches.filter(|told| told.side == side && told.target == *target);
    launches
        .map(|told| {
            let events = told
                .counts
                .iter()
                .find(|events| events.scenario == row.entry.ix)?;
            (!events.values.is_empty()).then_some(events.values.as_slice())
        })
        .collect()
}

/// Launches of a side that are of the comparison, and neither of the warm-up nor of the confirmation.
fn rounds(recording: &Recording, row: &Row<'_>, side: Side) -> u32 {
    let target = &row.entry.scenario.target;
    let is_meant = |told: &&Told| told.phase == Phase::Measure && told.side == side && told.target == *target;
    u32::try_from(recording.told.iter().filter(is_meant).count()).unwrap_or(u32::MAX)
}

/// What all launches counted, or why there is no such thing, as a part of a sentence.
fn agreed<'a>(counted: &[Option<&'a [u64]>]) -> Result<&'a [u64], String> {
    let Some(all) = counted.iter().copied().collect::<Option<Vec<&[u64]>>>() else {
        return Err("did not count it in each of its launches".to_owned());
    };
    let Some(first) = all.first() else {
        return Err("counted nothing".to_owned());
    };
    if let Some(other) = all.iter().find(|other| *other != first) {
        let list = |counts: &[u64]| {
            let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
            wording::some(&counts)
        };
        return Err(format!(
            "counted differently in its own launches: {} and {}",
            list(first),
            list(other)
        ));
    }
    if all.len() < AGREEING {
        return Err(format!(
            "has one launch: {AGREEING} have to agree before a count is believed"
        ));
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_believed_if_all_launches_agree_repetition_by_repetition() {
        assert_eq!(agreed(&[Some(&[1, 0]), Some(&[1, 0])]), Ok(&[1, 0][..]));
        assert_eq!(
            agreed(&[Some(&[1, 0]), Some(&[0, 1])]).unwrap_err(),
            "counted differently in its own launches: 1, 0 and 0, 1"
        );
        assert!(agreed(&[Some(&[1]), None]).is_err());
        assert!(agreed(&[Some(&[1])]).unwrap_err().starts_with("has one launch"));
        assert!(agreed(&[]).is_err());
    }
}
