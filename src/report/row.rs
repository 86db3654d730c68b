//! One finding as data: the columns that JSON and CSV share, in their fixed order.

use super::Finding;
use crate::metric::Better;
use serde::Serialize;

/// One finding as written. `N` is how the format writes notes: a list in JSON, one cell in CSV.
///
/// The order of the fields is the order of keys and columns; it is part of `abreast/report/1`.
#[derive(Debug, Serialize)]
pub(super) struct Row<'a, N> {
    scenario: &'a str,
    kind: &'static str,
    package: &'a str,
    target: &'a str,
    metric: &'a str,
    unit: &'static str,
    better: Better,
    base: Option<f64>,
    head: Option<f64>,
    change: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    floor: Option<f64>,
    detectable: Option<f64>,
    rounds: Option<u32>,
    confirmed: Option<bool>,
    instructions_change: Option<f64>,
    verdict: &'static str,
    flag: &'static str,
    notes: N,
}

/// Names of the columns, for formats that need them even when there is no row.
pub(super) const COLUMNS: [&str; 20] = [
    "scenario",
    "kind",
    "package",
    "target",
    "metric",
    "unit",
    "better",
    "base",
    "head",
    "change",
    "low",
    "high",
    "floor",
    "detectable",
    "rounds",
    "confirmed",
    "instructions_change",
    "verdict",
    "flag",
    "notes",
];

impl<'a, N> Row<'a, N> {
    pub(super) fn new(finding: &'a Finding, notes: N) -> Self {
        // Complete on purpose: a new field of a finding must be written or left out here, knowingly.
        let Finding {
            scenario,
            kind,
            target,
            metric,
            base,
            head,
            change,
            confirmed,
            instructions_change,
            verdict,
            flag,
            notes: _,
        } = finding;
        let change = change.as_ref();
        Self {
            scenario,
            kind: kind.as_str(),
            package: &target.package,
            target: &target.target,
            metric: &metric.name,
            unit: metric.unit.as_str(),
            better: metric.better,
            base: finite(*base),
            head: finite(*head),
            change: finite(change.map(|change| change.change)),
            low: finite(change.map(|change| change.low)),
            high: finite(change.map(|change| change.high)),
            floor: finite(change.map(|change| change.floor)),
            detectable: finite(change.map(|change| change.detectable)),
            rounds: change.map(|change| change.rounds),
            confirmed: *confirmed,
            instructions_change: finite(*instructions_change),
            verdict: verdict.as_str(),
            flag: flag.as_str(),
            notes,
        }
    }
}

/// A number that data formats can hold: what is not finite is absent, never `NaN`.
pub(super) fn finite(number: Option<f64>) -> Option<f64> {
    number.filter(|number| number.is_finite())
}
