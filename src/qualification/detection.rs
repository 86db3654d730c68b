//! Of changes that were injected: how many were found.

use super::{BOUND, RowGlance, is_measured};
use crate::recording::Recording;
use crate::report::{Finding, Report};
use crate::stats::proportion;
use crate::stats::quantile::median;
use crate::verdict::Verdict;
use std::collections::BTreeMap;

/// One report of a suite with injected changes.
#[derive(Debug, Clone, PartialEq)]
pub struct InjectedGlance {
    /// Seed of its orders, and of which lane got which change.
    pub seed: u64,
    /// Its rows.
    pub rows: Vec<InjectedRow>,
}

/// One row of it.
#[derive(Debug, Clone, PartialEq)]
pub struct InjectedRow {
    /// What was added, in percent.
    pub percent: u32,
    /// What was found.
    pub found: RowGlance,
}

impl InjectedGlance {
    /// The rows of a report, each with what was added to it; rows of unknown lanes are left out.
    #[must_use]
    pub fn of(recording: &Recording, report: &Report, percent: impl Fn(usize) -> u32) -> Self {
        let added: BTreeMap<&str, u32> = recording
            .scenarios
            .iter()
            .enumerate()
            .map(|(n, entry)| (entry.scenario.id.as_str(), percent(n)))
            .collect();
        let row = |finding: &Finding| {
            let percent = *added.get(finding.scenario.as_str())?;
            let found = RowGlance::of(finding);
            Some(InjectedRow { percent, found })
        };
        Self {
            seed: recording.header.plan.measuring.seed,
            rows: report
                .findings
                .iter()
                .filter(|finding| is_measured(finding))
                .filter_map(row)
                .collect(),
        }
    }
}

/// What became of injected changes of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    /// The size, in percent; 0 where nothing was added.
    pub percent: u32,
    /// Rows with it.
    pub rows: usize,
    /// Those called slower.
    pub found: usize,
    /// Those whose own figure says that they could show a change of this size.
    pub able: usize,
    /// Those of them called slower.
    pub able_found: usize,
    /// One-sided 95 % lower bound of the probability that such a row is.
    pub able_lower: f64,
    /// Rows called faster.
    pub wrong_way: usize,
    /// What was measured: median.
    pub measured: Option<f64>,
}

impl Detection {
    pub(super) fn of(percent: u32, rows: &[&InjectedRow]) -> Self {
        let size = f64::from(percent) / 100.0;
        let is_found = |row: &&&InjectedRow| row.found.verdict == Verdict::Regressed;
        let is_able = |row: &&&InjectedRow| row.found.detectable.is_some_and(|detectable| detectable <= size);
        let able = rows.iter().filter(is_able).count();
        let able_found = rows.iter().filter(is_able).filter(is_found).count();
        let measured: Vec<f64> = rows.iter().filter_map(|row| row.found.change).collect();
        Self {
            percent,
            rows: rows.len(),
            found: rows.iter().filter(is_found).count(),
            able,
            able_found,
            able_lower: proportion::lower(able_found, able, BOUND),
            wrong_way: rows
                .iter()
                .filter(|row| row.found.verdict == Verdict::Improved)
                .count(),
            measured: median(&measured),
        }
    }
}
