//! What is said, and in which order; one renderer a file turns it into characters.
//!
//! A [`Report`] is complete: renderers choose words and layout, they compute nothing and decide nothing.

pub mod csv;
pub mod format;
#[cfg(test)]
pub(crate) mod hostile;
pub mod html;
pub mod json;
pub mod label;
pub mod markdown;
mod page;
mod row;
#[cfg(test)]
pub(crate) mod sample;
pub mod sentence;
pub mod status;
pub mod svg;
pub mod terminal;
pub mod trend;
pub mod visible;

pub use terminal::Options;

use crate::metric::Metric;
use crate::recording::{Difference, Host};
use crate::revision::Revision;
use crate::scenario::{Kind, Target};
use crate::verdict::{Flag, Verdict};

/// Everything a reader is told about one comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Base commit.
    pub base: Revision,
    /// Head commit.
    pub head: Revision,
    /// The machine.
    pub host: Host,
    /// What differs between the sides besides the code under test.
    pub differences: Vec<Difference>,
    /// Sentences about the whole run: side that did not build, uniform shift, skipped targets, LFS pointers ...
    pub notes: Vec<String>,
    /// What this run cannot catch, computed from the run.
    pub blind_spots: Vec<String>,
    /// How it was decided.
    pub method: Method,
    /// Where the time went.
    pub elapsed: Elapsed,
    /// One row for each scenario, in report order: slowest change first, then rows without a change.
    pub findings: Vec<Finding>,
    /// Times of tokens by their position, of programs that told them.
    pub curves: Vec<Curve>,
}

/// Time of a token against its position in the generated text.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The program.
    pub target: Target,
    /// Typical nanoseconds of base from each token to the next, the first interval first; empty if it told none.
    pub base: Vec<f64>,
    /// The same of head.
    pub head: Vec<f64>,
}

/// How a report was decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// Rounds of the scenario that had the most; 0 if nothing was compared.
    pub rounds: u32,
    /// Chance that any row is flagged on unchanged code.
    pub family_alpha: f64,
    /// Smallest flagged change, a fraction.
    pub threshold: f64,
    /// Largest change an unchanged row may hide, a fraction.
    pub margin: f64,
    /// Alert limit, a fraction.
    pub alert: f64,
    /// Absolute floor in nanoseconds; absent if the report was read from JSON, which does not have it.
    pub floor_ns: Option<f64>,
    /// Median over judged rows of the smallest change that would have been found; absent if none was judged.
    pub median_detectable: Option<f64>,
    /// Same-side contrasts behind the floors, all rows together.
    pub null_pairs: u32,
    /// Seed of all random orders.
    pub seed: u64,
    /// Extra time of whichever side ran second, median over judged rows, a fraction; absent if none was judged.
    pub order_effect: Option<f64>,
}

/// Seconds by stage; absent if the stage did not take place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Elapsed {
    /// Laying out both trees.
    pub checkout_s: Option<f64>,
    /// Base's cargo build.
    pub build_base_s: Option<f64>,
    /// Head's cargo build.
    pub build_head_s: Option<f64>,
    /// Measured processes.
    pub measure_s: Option<f64>,
    /// Everything, from start to end.
    pub total_s: Option<f64>,
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Full id, raw.
    pub scenario: String,
    /// Origin.
    pub kind: Kind,
    /// Package and bench target.
    pub target: Target,
    /// Quantity.
    pub metric: Metric,
    /// Typical value on base, in the metric's unit.
    pub base: Option<f64>,
    /// Typical value on head, in the metric's unit.
    pub head: Option<f64>,
    /// Relative change with its interval; absent if nothing was compared.
    pub change: Option<Change>,
    /// Result of the confirmation pass, which an exact row needs none of; absent if the row was not in it or it failed.
    pub confirmed: Option<bool>,
    /// Head's counted instructions relative to base's, minus one; absent if they were not counted or not repeatable.
    pub instructions_change: Option<f64>,
    /// Conclusion.
    pub verdict: Verdict,
    /// What the reader sees.
    pub flag: Flag,
    /// Sentences about this row.
    pub notes: Vec<String>,
}

/// A measured relative change. All sizes are fractions: 0.02 is +2 %; finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Head relative to base, minus one; above zero is "more", which is slower for times.
    pub change: f64,
    /// Lower end of the corrected interval.
    pub low: f64,
    /// Upper end of the corrected interval.
    pub high: f64,
    /// Noise of this estimator on this row without any change, from same-side contrasts of this run.
    pub floor: f64,
    /// Smallest change this row would have shown with probability 0.9.
    pub detectable: f64,
    /// Rounds behind it.
    pub rounds: u32,
    /// Change of each round alone, in order.
    pub per_round: Vec<f64>,
    /// Base's number in each of these rounds, in the metric's unit; head's is as much more as the round's change says.
    pub base_per_round: Vec<f64>,
    /// Change seen by the confirmation pass.
    pub confirmation: Option<f64>,
}

impl Report {
    /// Number of findings with this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.verdict == verdict)
            .count()
    }

    /// Findings present on both sides: everything but new and removed.
    #[must_use]
    pub fn compared(&self) -> usize {
        self.findings.len() - self.count(Verdict::New) - self.count(Verdict::Removed)
    }

    /// Findings that got a verdict about speed: regressed, improved, unchanged or identical.
    #[must_use]
    pub fn judged(&self) -> usize {
        [
            Verdict::Regressed,
            Verdict::Improved,
            Verdict::Unchanged,
            Verdict::Identical,
        ]
        .into_iter()
        .map(|verdict| self.count(verdict))
        .sum()
    }
}

/// The formats a report can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, clap::ValueEnum)]
pub enum Format {
    /// For a person at a terminal.
    Term,
    /// For a pull-request comment or a job summary.
    Md,
    /// Everything, for programs: `abreast/report/1`.
    Json,
    /// The findings, for tables.
    Csv,
    /// One self-contained page: every row with its rounds.
    Html,
    /// A plot of all changes.
    Svg,
}

impl Format {
    /// The format that the name of a file stands for, by its extension; `None` if it stands for none.
    #[must_use]
    pub fn of_file(path: &std::path::Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "txt" => Some(Self::Term),
            "md" | "markdown" => Some(Self::Md),
            "json" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            "html" | "htm" => Some(Self::Html),
            "svg" => Some(Self::Svg),
            _ => None,
        }
    }
}

/// The report as text in one format. Only [`Format::Term`] looks at the options.
#[must_use]
pub fn render(report: &Report, format: Format, options: &Options) -> String {
    match format {
        Format::Term => terminal::render(report, options),
        Format::Md => markdown::render(report),
        Format::Json => json::render(report),
        Format::Csv => csv::render(report),
        Format::Html => html::render(report),
        Format::Svg => svg::render(report),
    }
}
