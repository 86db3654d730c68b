//! The qualification as JSON, schema `abreast/qualify/1`: the same keys in every file; what is absent is `null`.

use super::{Detection, Glance, Qualification, ScenarioGlance, Share};
use crate::recording::Host;
use crate::report::json::{WireRevision, pretty};
use serde::Serialize;

/// Name and version of the format.
pub const SCHEMA: &str = "abreast/qualify/1";

/// Pretty-printed JSON with a final newline.
#[must_use]
pub fn render(of: &Qualification) -> String {
    pretty(&Wire::new(of))
}

#[derive(Serialize)]
struct Wire<'a> {
    schema: &'static str,
    revision: WireRevision<'a>,
    host: &'a Host,
    started_at: &'a str,
    summary: Summary,
    reports: Vec<WireReport>,
    scenarios: Vec<WireScenario>,
    injected: Vec<WireDetection>,
    shifted: Vec<WireReport>,
}

#[derive(Serialize)]
struct Summary {
    reports: usize,
    flagged_reports: usize,
    flagged_reports_upper: f64,
    rows: usize,
    flagged_rows: usize,
    flagged_rows_upper: f64,
    decided_rows: usize,
    median_floor: Option<f64>,
    median_detectable: Option<f64>,
    order_effect: Option<f64>,
    drift: Option<f64>,
    contended: Option<f64>,
}

#[derive(Serialize)]
struct WireReport {
    seed: u64,
    rows: usize,
    flagged: usize,
    suspected: usize,
    decided: usize,
    order_effect: Option<f64>,
    drift: Option<f64>,
    contended: Option<f64>,
    measured_s: f64,
}

#[derive(Serialize)]
struct WireScenario {
    scenario: String,
    package: String,
    target: String,
    typical_ns: Option<f64>,
    floor: Option<f64>,
    detectable: Option<f64>,
    change_p90: Option<f64>,
    decided: usize,
    flagged: usize,
    reports: usize,
}

#[derive(Serialize)]
struct WireDetection {
    size: f64,
    rows: usize,
    found: usize,
    able: usize,
    able_found: usize,
    able_lower: f64,
    wrong_way: usize,
    measured: Option<f64>,
}

impl<'a> Wire<'a> {
    fn new(of: &'a Qualification) -> Self {
        Self {
            schema: SCHEMA,
            revision: WireRevision::new(&of.revision),
            host: &of.host,
            started_at: &of.started_at,
            summary: Summary::new(of),
            reports: of.reports.iter().map(WireReport::new).collect(),
            scenarios: of.scenarios().into_iter().map(WireScenario::new).collect(),
            injected: of.detection().iter().map(WireDetection::new).collect(),
            shifted: of.shifted.iter().map(WireReport::new).collect(),
        }
    }
}

impl Summary {
    fn new(of: &Qualification) -> Self {
        let (reports, rows): (Share, Share) = (of.flagged_reports(), of.flagged_rows());
        Self {
            reports: reports.of,
            flagged_reports: reports.seen,
            flagged_reports_upper: reports.upper,
            rows: rows.of,
            flagged_rows: rows.seen,
            flagged_rows_upper: rows.upper,
            decided_rows: of.decided_rows().0,
            median_floor: of.median_floor(),
            median_detectable: of.median_detectable(),
            order_effect: of.median_of(|report| report.order_effect),
            drift: of.median_of(|report| report.drift),
            contended: of.median_of(|report| report.contended),
        }
    }
}

impl WireReport {
    fn new(of: &Glance) -> Self {
        Self {
            seed: of.seed,
            rows: of.rows.len(),
            flagged: of.flagged(),
            suspected: of.suspected(),
            decided: of.decided(),
            order_effect: of.order_effect,
            drift: of.drift,
            contended: of.contended,
            measured_s: of.measured_s,
        }
    }
}

impl WireScenario {
    fn new(of: ScenarioGlance) -> Self {
        Self {
            scenario: of.scenario,
            package: of.target.package,
            target: of.target.target,
            typical_ns: of.typical,
            floor: of.floor,
            detectable: of.detectable,
            change_p90: of.change_p90,
            decided: of.decided,
            flagged: of.flagged,
            reports: of.reports,
        }
    }
}

impl WireDetection {
    fn new(of: &Detection) -> Self {
        Self {
            size: f64::from(of.percent) / 100.0,
            rows: of.rows,
            found: of.found,
            able: of.able,
            able_found: of.able_found,
            able_lower: of.able_lower,
            wrong_way: of.wrong_way,
            measured: of.measured,
        }
    }
}
