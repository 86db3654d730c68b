//! Exit codes: every one of them, and the one function that chooses.

use crate::qualification::Qualification;
use crate::recording::Recording;
use crate::report::Report;
use crate::verdict::Verdict;
use serde::Deserialize;

/// How the tool ends. The numbers are part of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Measured, and nothing that `--fail-on` names.
    Ok = 0,
    /// Something that `--fail-on` names.
    Failed = 1,
    /// Wrong usage or input.
    Usage = 2,
    /// Nothing was compared.
    Nothing = 3,
    /// A side did not check out or build.
    Build = 4,
    /// Finished, but some scenarios failed, hung or were not reached.
    Incomplete = 5,
    /// A defect of the tool.
    Internal = 70,
    /// The user stopped it.
    Interrupted = 130,
}

/// Results that make the tool end with [`Exit::Failed`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum FailOn {
    /// None.
    Never,
    /// A regressed row.
    Regression,
    /// An unclear row.
    Unclear,
    /// A removed row.
    Removed,
}

/// What happened to the run that produced a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Circumstance {
    /// A side failed to check out or build, wholly or in part.
    pub side_failed: bool,
    /// The user stopped it.
    pub interrupted: bool,
}

impl Circumstance {
    /// What a recording says about how its run went.
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        Self {
            side_failed: recording.builds.iter().any(|build| build.failure.is_some()),
            interrupted: recording.interrupted(),
        }
    }
}

impl Exit {
    /// The exit code of a bundle that was written: a side or a program that did not build, nothing in it, or all well.
    #[must_use]
    pub fn of_build(recording: &Recording) -> Self {
        if Circumstance::of(recording).side_failed || !recording.incidents.is_empty() {
            Self::Build
        } else if recording.builds.iter().all(|build| build.executables.is_empty())
            && recording.header.plan.selection.programs.is_empty()
        {
            Self::Nothing
        } else {
            Self::Ok
        }
    }

    /// The exit code of a qualification: cut short, nothing measured, or all well. What it found is no failure.
    #[must_use]
    pub fn of_qualification(found: &Qualification) -> Self {
        if found.interrupted {
            Self::Interrupted
        } else if found.reports.iter().all(|report| report.rows.is_empty())
            && found.injected.is_empty()
            && found.shifted.is_empty()
        {
            Self::Nothing
        } else {
            Self::Ok
        }
    }

    /// The exit code of reports that were brought to a pull request, or as far as they could be. How measuring went
    /// was the exit code of what measured.
    #[must_use]
    pub fn of_comment(reports: &[Report], fail_on: &[FailOn]) -> Self {
        if reports.iter().any(|report| is_named(report, fail_on)) {
            Self::Failed
        } else {
            Self::Ok
        }
    }

    /// The exit code of a delivered report. The first line that applies wins:
    ///
    /// | situation | code |
    /// |---|---|
    /// | interrupted | 130 |
    /// | a side did not check out or build | 4 |
    /// | a row that `fail_on` names | 1 |
    /// | no row at all | 3 |
    /// | a failed row | 5 |
    /// | otherwise | 0 |
    #[must_use]
    pub fn of(report: &Report, fail_on: &[FailOn], circumstance: Circumstance) -> Self {
        if circumstance.interrupted {
            Self::Interrupted
        } else if circumstance.side_failed {
            Self::Build
        } else if is_named(report, fail_on) {
            Self::Failed
        } else if report.findings.is_empty() {
            Self::Nothing
        } else if report.count(Verdict::Failed) > 0 {
            Self::Incomplete
        } else {
            Self::Ok
        }
    }
}

/// Whether a report has a row that somebody wants to fail for.
fn is_named(report: &Report, fail_on: &[FailOn]) -> bool {
    let has = |verdict| report.count(verdict) > 0;
    fail_on.iter().any(|fail_on| match fail_on {
        FailOn::Never => false,
        FailOn::Regression => has(Verdict::Regressed),
        FailOn::Unclear => has(Verdict::Unclear),
        FailOn::Removed => has(Verdict::Removed),
    })
}
