//! Rows of counted instructions: exact, so any change is shown and none needs an interval.

use crate::judge::assessment::Assessment;
use crate::judge::origin::{Counts, relative};
use crate::judge::wording;
use crate::metric::Metric;
use crate::recording::{Counted, Entry};
use crate::report::{Change, Finding};
use crate::verdict::Verdict;

/// A finding for each scenario whose instructions were asked for. It is flagged from the threshold on; what two
/// processes of one side do not agree on is unclear.
#[must_use]
pub fn findings(assessment: &Assessment<'_>) -> Vec<Finding> {
    let recording = assessment.recording;
    if !recording.header.plan.measuring.instructions {
        return Vec::new();
    }
    let entry = |scenario: u32| recording.scenarios.get(scenario as usize);
    Counts::of(recording)
        .iter()
        .filter_map(|(scenario, sides)| Some(finding(assessment, entry(scenario)?, sides)))
        .collect()
}

fn finding(assessment: &Assessment<'_>, entry: &Entry, sides: [Option<&Counted>; 2]) -> Finding {
    let [base, head] = sides.map(|counted| counted.and_then(Counted::agreed));
    let change = base.zip(head).and_then(|(base, head)| relative(base, head));
    let threshold = assessment.policy.threshold.0;
    let (verdict, notes) = match change {
        Some(change) if change >= threshold => (Verdict::Regressed, Vec::new()),
        Some(change) if change <= -threshold => (Verdict::Improved, Vec::new()),
        Some(_) => (Verdict::Unchanged, Vec::new()),
        None => unknown(sides),
    };
    let flagged = matches!(verdict, Verdict::Regressed | Verdict::Improved);
    #[expect(
        clippy::cast_precision_loss,
        reason = "a count of 2^53 instructions takes weeks"
    )]
    let number = |count: Option<u64>| count.map(|count| count as f64);
    Finding {
        scenario: entry.scenario.id.clone(),
        kind: entry.scenario.kind,
        target: entry.scenario.target.clone(),
        metric: Metric::instructions(),
        base: number(base),
        head: number(head),
        change: change.map(|change| Change {
            change,
            low: change,
            high: change,
            floor: 0.0,
            detectable: threshold,
            rounds: 2,
            per_round: Vec::new(),
            confirmation: None,
        }),
        confirmed: flagged.then_some(true),
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
