//! What many reports of unchanged code say about the machine and about the tool: how often anything was flagged, how
//! small a change each scenario could have shown, what running second costs; and, of injected changes, how many were
//! found.

pub mod detection;
pub mod json;
pub mod quote;
pub mod text;

pub use detection::{Detection, InjectedGlance, InjectedRow};

use crate::comparison::{Comparison, compare};
use crate::judge::account::SLOWED;
use crate::judge::ruling::PLACE;
use crate::metric::Metric;
use crate::recording::{Host, Recording};
use crate::report::{Finding, Report};
use crate::revision::Revision;
use crate::scenario::Target;
use crate::stats::proportion;
use crate::stats::quantile::{median, quantile};
use crate::verdict::Verdict;
use std::collections::BTreeMap;

/// Level of all one-sided bounds here.
pub const BOUND: f64 = 0.05;

/// Everything that was found. Sizes are fractions.
#[derive(Debug, Clone, PartialEq)]
pub struct Qualification {
    /// The commit that was measured against itself.
    pub revision: Revision,
    /// The machine.
    pub host: Host,
    /// When it began, RFC 3339, UTC.
    pub started_at: String,
    /// Reports that were asked for.
    pub wanted: usize,
    /// Whether the user stopped it before it was complete.
    pub interrupted: bool,
    /// Reports of unchanged code, in the order they were made.
    pub reports: Vec<Glance>,
    /// Reports of a suite with injected changes.
    pub injected: Vec<InjectedGlance>,
    /// Reports of the same suite with an unrelated function before everything, and no other change.
    pub shifted: Vec<Glance>,
}

/// One report of unchanged code, at a glance.
#[derive(Debug, Clone, PartialEq)]
pub struct Glance {
    /// Seed of its orders.
    pub seed: u64,
    /// Its rows that were measured.
    pub rows: Vec<RowGlance>,
    /// Extra time of whoever ran second, median over rows; absent if no row has one.
    pub order_effect: Option<f64>,
    /// How much slower base was in the last quarter of the rounds than in the first, median over rows.
    pub drift: Option<f64>,
    /// Part of the processes that met somebody else's work on their processor as they began.
    pub contended: Option<f64>,
    /// Seconds of measuring.
    pub measured_s: f64,
}

/// One row of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RowGlance {
    /// Full id.
    pub scenario: String,
    /// Package and bench target.
    pub target: Target,
    /// Typical value on base, in nanoseconds.
    pub base: Option<f64>,
    /// What was measured though nothing changed; absent with too few rounds.
    pub change: Option<f64>,
    /// Its noise floor.
    pub floor: Option<f64>,
    /// The smallest change it could have shown.
    pub detectable: Option<f64>,
    /// What was said.
    pub verdict: Verdict,
    /// Whether the place of the code may have made the change.
    pub suspected: bool,
}

impl RowGlance {
    fn of(finding: &Finding) -> Self {
        let change = finding.change.as_ref();
        Self {
            scenario: finding.scenario.clone(),
            target: finding.target.clone(),
            base: finding.base,
            change: change.map(|change| change.change),
            floor: change.map(|change| change.floor),
            detectable: change.map(|change| change.detectable),
            verdict: finding.verdict,
            suspected: finding.notes.iter().any(|note| note.starts_with(PLACE)),
        }
    }

    fn is_flagged(&self) -> bool {
        self.verdict.is_change()
    }

    fn is_decided(&self) -> bool {
        self.is_flagged() || self.verdict == Verdict::Unchanged
    }
}

impl Glance {
    /// The rows of time of a report, and what its recording tells of the machine.
    #[must_use]
    pub fn of(recording: &Recording, report: &Report) -> Self {
        let slowdowns: Vec<f64> = recording
            .slots
            .iter()
            .filter_map(|slot| Some(slot.contention.slowdown?[0]))
            .collect();
        let drifts: Vec<f64> = compare(recording).iter().filter_map(drift).collect();
        Self {
            seed: recording.header.plan.measuring.seed,
            rows: report
                .findings
                .iter()
                .filter(|finding| is_measured(finding))
                .map(RowGlance::of)
                .collect(),
            order_effect: report.method.order_effect,
            drift: median(&drifts).map(f64::exp_m1),
            contended: share(
                slowdowns.iter().filter(|slowdown| **slowdown >= SLOWED).count(),
                slowdowns.len(),
            ),
            measured_s: recording.measured_s(),
        }
    }

    /// Rows that were flagged.
    #[must_use]
    pub fn flagged(&self) -> usize {
        self.rows.iter().filter(|row| row.is_flagged()).count()
    }

    /// Rows that moved, were repeated by fresh processes, and were not flagged because it may be the place of the code.
    #[must_use]
    pub fn suspected(&self) -> usize {
        self.rows.iter().filter(|row| row.suspected).count()
    }

    /// Rows that were called unchanged or flagged.
    #[must_use]
    pub fn decided(&self) -> usize {
        self.rows.iter().filter(|row| row.is_decided()).count()
    }
}

/// A row of time that has enough rounds to say anything of it.
fn is_measured(finding: &Finding) -> bool {
    finding.metric == Metric::time() && finding.change.is_some()
}

/// `ln(last quarter / first quarter)` of base; absent below eight rounds.
fn drift(comparison: &Comparison) -> Option<f64> {
    let logs: Vec<f64> = comparison.measured.iter().map(|pair| pair.log_base).collect();
    let quarter = logs.len() / 4;
    if quarter < 2 {
        return None;
    }
    Some(median(&logs[logs.len() - quarter..])? - median(&logs[..quarter])?)
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
fn share(part: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

/// How many of a number, and the upper bound of the probability behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Seen.
    pub seen: usize,
    /// Of so many.
    pub of: usize,
    /// One-sided 95 % upper bound.
    pub upper: f64,
}

impl Share {
    fn of(seen: usize, of: usize) -> Self {
        let upper = proportion::upper(seen, of, BOUND);
        Self { seen, of, upper }
    }
}

/// What one scenario showed over all reports of unchanged code.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioGlance {
    /// Full id.
    pub scenario: String,
    /// Package and bench target.
    pub target: Target,
    /// Typical value in nanoseconds: median over the reports.
    pub typical: Option<f64>,
    /// Noise floor: median.
    pub floor: Option<f64>,
    /// Smallest change that could have been shown: median.
    pub detectable: Option<f64>,
    /// Size of the change that was measured though nothing changed: 90th percentile.
    pub change_p90: Option<f64>,
    /// Reports in which it was decided.
    pub decided: usize,
    /// Reports in which it was flagged.
    pub flagged: usize,
    /// Reports in which it was measured.
    pub reports: usize,
}

impl Qualification {
    /// Reports in which anything was flagged.
    #[must_use]
    pub fn flagged_reports(&self) -> Share {
        flagged(&self.reports)
    }

    /// Reports with an unrelated function before everything in which anything was flagged.
    #[must_use]
    pub fn flagged_shifted(&self) -> Share {
        flagged(&self.shifted)
    }

    /// Rows that were flagged.
    #[must_use]
    pub fn flagged_rows(&self) -> Share {
        Share::of(
            self.reports.iter().map(Glance::flagged).sum(),
            self.reports.iter().map(|report| report.rows.len()).sum(),
        )
    }

    /// Rows that were decided, and all rows.
    #[must_use]
    pub fn decided_rows(&self) -> (usize, usize) {
        (
            self.reports.iter().map(Glance::decided).sum(),
            self.reports.iter().map(|report| report.rows.len()).sum(),
        )
    }

    /// Median over the reports of one of their figures.
    #[must_use]
    pub fn median_of(&self, figure: impl Fn(&Glance) -> Option<f64>) -> Option<f64> {
        median(&self.reports.iter().filter_map(figure).collect::<Vec<f64>>())
    }

    /// Noise floor: median over all rows.
    #[must_use]
    pub fn median_floor(&self) -> Option<f64> {
        self.median_of_rows(|row| row.floor)
    }

    /// Smallest change that could have been shown: median over all rows.
    #[must_use]
    pub fn median_detectable(&self) -> Option<f64> {
        self.median_of_rows(|row| row.detectable)
    }

    fn median_of_rows(&self, figure: impl Fn(&RowGlance) -> Option<f64>) -> Option<f64> {
        let rows = self.reports.iter().flat_map(|report| &report.rows);
        median(&rows.filter_map(figure).collect::<Vec<f64>>())
    }

    /// Every scenario over all reports, the bluntest first.
    #[must_use]
    pub fn scenarios(&self) -> Vec<ScenarioGlance> {
        let mut rows: BTreeMap<(&Target, &str), Vec<&RowGlance>> = BTreeMap::new();
        for row in self.reports.iter().flat_map(|report| &report.rows) {
            rows.entry((&row.target, &row.scenario)).or_default().push(row);
        }
        let mut scenarios: Vec<ScenarioGlance> =
            rows.into_values().filter_map(|rows| glance(&rows)).collect();
        let blunt = |scenario: &ScenarioGlance| scenario.detectable.unwrap_or(f64::INFINITY);
        scenarios.sort_by(|one, other| blunt(other).total_cmp(&blunt(one)));
        scenarios
    }

    /// What became of the changes that were injected, by size, in percent.
    #[must_use]
    pub fn detection(&self) -> Vec<Detection> {
        let mut sizes: BTreeMap<u32, Vec<&InjectedRow>> = BTreeMap::new();
        for row in self.injected.iter().flat_map(|report| &report.rows) {
            sizes.entry(row.percent).or_default().push(row);
        }
        sizes
            .into_iter()
            .map(|(percent, rows)| Detection::of(percent, &rows))
            .collect()
    }
}

fn flagged(reports: &[Glance]) -> Share {
    let flagged = reports.iter().filter(|report| report.flagged() > 0).count();
    Share::of(flagged, reports.len())
}

fn glance(rows: &[&RowGlance]) -> Option<ScenarioGlance> {
    let numbers = |number: fn(&RowGlance) -> Option<f64>| -> Vec<f64> {
        rows.iter().filter_map(|row| number(row)).collect()
    };
    let first = rows.first()?;
    let changes = numbers(|row| row.change.map(f64::abs));
    Some(ScenarioGlance {
        scenario: first.scenario.clone(),
        target: first.target.clone(),
        typical: median(&numbers(|row| row.base)),
        floor: median(&numbers(|row| row.floor)),
        detectable: median(&numbers(|row| row.detectable)),
        change_p90: quantile(&changes, 0.9),
        decided: rows.iter().filter(|row| row.is_decided()).count(),
        flagged: rows.iter().filter(|row| row.is_flagged()).count(),
        reports: rows.len(),
    })
}

#[cfg(test)]
mod tests;
