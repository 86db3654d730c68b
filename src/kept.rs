//! What the history keeps of a comparison: the report's rows, with the error of each change.

use crate::history::{Group, Measurement, Point, Row};
use crate::recording::Recording;
use crate::report::{Change, Finding, Report};
use crate::revision::Revision;
use crate::stats::interval::of_one;
use crate::verdict::Verdict;
use std::collections::BTreeMap;

/// What is kept of a comparison; `tree` tells the id of a commit's files, where it is known.
#[must_use]
pub fn measurement(
    recording: &Recording,
    report: &Report,
    tree: impl Fn(&Revision) -> Option<String>,
) -> Measurement {
    let point = |revision: &Revision| Point {
        sha: revision.sha.clone(),
        tree: tree(revision),
        label: revision.label.clone(),
    };
    let mut groups: BTreeMap<_, Vec<Row>> = BTreeMap::new();
    for finding in &report.findings {
        let key = (finding.kind, finding.target.clone(), finding.metric.clone());
        groups.entry(key).or_default().push(row(finding));
    }
    let group = |((kind, target, metric), mut rows): (
        (_, crate::scenario::Target, crate::metric::Metric),
        Vec<Row>,
    )| {
        // Reports are sorted by change; here the order of the ids makes two files easy to compare.
        rows.sort_by(|one, other| one.id.cmp(&other.id));
        Group {
            kind,
            package: target.package,
            target: target.target,
            metric: metric.name,
            unit: metric.unit,
            better: metric.better,
            rows,
        }
    };
    Measurement {
        base: Some(point(&report.base)),
        head: point(&report.head),
        measured_at: recording.header.started_at.clone(),
        run: recording.header.run.clone(),
        tool: recording.header.tool.clone(),
        host: recording.host.clone(),
        groups: groups.into_iter().map(group).collect(),
    }
}

fn row(finding: &Finding) -> Row {
    let (change, error) = match (&finding.change, finding.verdict) {
        (Some(change), _) => (Some(change.change), error(change)),
        // The same code takes the same time; nothing had to be measured.
        (None, Verdict::Identical) => (Some(0.0), Some(0.0)),
        (None, _) => (None, None),
    };
    let possible = change.filter(|change| *change > -1.0 && change.is_finite());
    Row {
        id: finding.scenario.clone(),
        base: finding.base.and_then(short),
        head: finding.head.and_then(short),
        change: possible.and_then(short),
        error: possible.and(error).and_then(short),
        rounds: finding.change.as_ref().map(|change| change.rounds),
        verdict: finding.verdict,
    }
}

/// Standard error of `ln(head / base)`, from the rounds; 0 for exact rows, which have neither rounds nor noise.
fn error(change: &Change) -> Option<f64> {
    let logs: Vec<f64> = change.per_round.iter().map(|each| each.ln_1p()).collect();
    if let Some(found) = of_one(&logs) {
        return Some(found.standard_error);
    }
    // The floor is where 95 % of changes of unchanged code lie: two standard errors.
    change.floor.is_finite().then_some(change.floor / 2.0)
}

/// Six significant digits: a hundred times finer than anything measured, and a quarter of the size in a file. `None` for
/// what is not finite.
fn short(number: f64) -> Option<f64> {
    let rounded: f64 = format!("{number:.5e}").parse().ok()?;
    rounded.is_finite().then_some(rounded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::File;
    use crate::plan::{Measuring, Plan, Policy, Selection};
    use crate::recording::{Header, SCHEMA};
    use crate::report::sample;

    #[test]
    fn a_report_is_kept_with_the_errors_of_its_changes_and_can_be_read_again() {
        let report = sample::report();
        let header = Header {
            schema: SCHEMA.to_owned(),
            tool: "0.1.0".to_owned(),
            run: "2026-01-02T030405Z-f0f0f0f0f0".to_owned(),
            started_at: "2026-01-02T03:04:05Z".to_owned(),
            plan: Plan {
                base: report.base.clone(),
                head: report.head.clone(),
                selection: Selection::default(),
                measuring: Measuring::with_seed(1),
                policy: Policy::default(),
            },
        };
        let kept = measurement(&Recording::new(header), &report, |revision| {
            Some(revision.sha.clone())
        });
        let rows: usize = kept.groups.iter().map(|group| group.rows.len()).sum();
        assert_eq!(rows, report.findings.len());
        let all = || kept.groups.iter().flat_map(|group| &group.rows);
        let regressed = all().find(|row| row.verdict == Verdict::Regressed).unwrap();
        assert!(
            regressed.change.unwrap() > 0.0 && regressed.error.unwrap() > 0.0,
            "{regressed:?}"
        );
        let identical = all().find(|row| row.verdict == Verdict::Identical).unwrap();
        assert_eq!((identical.change, identical.error), (Some(0.0), Some(0.0)));
        assert!(all().any(|row| row.verdict == Verdict::New && row.change.is_none()));
        let file = File::new("class".to_owned(), kept);
        assert_eq!(File::parse(&file.to_json()), Ok(file));
    }

    #[test]
    fn numbers_keep_six_digits() {
        assert_eq!(
            [0.123_456_789, -1e-9, 0.0].map(short),
            [Some(0.123_457), Some(-1e-9), Some(0.0)]
        );
        assert_eq!([f64::NAN, f64::INFINITY].map(short), [None, None]);
    }
}
