//! Rows of counted instructions: exact, so any change is shown and none needs an interval.

use crate::judge::assessment::{Assessment, Row};
use crate::judge::standing::Standing;
use crate::judge::wording;
use crate::metric::Metric;
use crate::recording::Counted;
use crate::report::{Change, Finding};
use crate::verdict::Verdict;

/// A finding for each scenario whose instructions were asked for. It is flagged from the threshold on; what two
/// processes of one side do not agree on is unclear, and what may not be compared in time may not be here either.
#[must_use]
pub fn findings(assessment: &Assessment<'_>) -> Vec<Finding> {
    if !assessment.recording.header.plan.measuring.instructions {
        return Vec::new();
    }
    let counted = |row: &Row<'_>| {
        let sides = assessment.counts.sides(row.entry.ix)?;
        Some(finding(assessment, row, sides))
    };
    assessment.rows.iter().filter_map(counted).collect()
}

fn finding(assessment: &Assessment<'_>, row: &Row<'_>, sides: [Option<&Counted>; 2]) -> Finding {
    let scenario = &row.entry.scenario;
    let change = assessment.instructions_change(row);
    let threshold = assessment.policy.threshold.0;
    let (verdict, notes) = match (&row.standing, change) {
        (Standing::Barred(reason), _) => (Verdict::NotComparable, vec![reason.clone()]),
        (_, Some(change)) if change >= threshold => (Verdict::Regressed, Vec::new()),
        (_, Some(change)) if change <= -threshold => (Verdict::Improved, Vec::new()),
        (_, Some(_)) => (Verdict::Unchanged, Vec::new()),
        (_, None) => unknown(sides),
    };
    #[expect(
        clippy::cast_precision_loss,
        reason = "a count of 2^53 instructions takes weeks"
    )]
    let [base, head] = sides.map(|counted| Some(counted?.agreed()? as f64));
    Finding {
        scenario: scenario.id.clone(),
        kind: scenario.kind,
        target: scenario.target.clone(),
        metric: Metric::instructions(),
        base,
        head,
        change: change.map(|change| Change {
            change,
            low: change,
            high: change,
            floor: 0.0,
            detectable: threshold,
            rounds: 2,
            per_round: Vec::new(),
            base_per_round: Vec::new(),
            confirmation: None,
        }),
        confirmed: verdict.is_change().then_some(true),
        instructions_change: change,
        verdict,
        flag: verdict.flag(change, assessment.policy.alert.0),
        notes,
    }
}

fn unknown(sides: [Option<&Counted>; 2]) -> (Verdict, Vec<String>) {
    let failures = sides.into_iter().flatten();
    let failures: Vec<String> = failures
        .filter_map(|counted| {
            let why = counted.failure.as_deref()?;
            Some(format!("{}: {}", counted.side, wording::first_line(why)))
        })
        .collect();
    if !failures.is_empty() {
        return (Verdict::Failed, failures);
    }
    let differing = sides
        .into_iter()
        .flatten()
        .filter(|counted| counted.agreed().is_none());
    let notes = differing.map(|counted| {
        let counts: Vec<String> = counted.instructions.iter().map(u64::to_string).collect();
        format!(
            "{}'s counts differ from process to process: {}",
            counted.side,
            counts.join(", ")
        )
    });
    (Verdict::Unclear, notes.collect())
}
