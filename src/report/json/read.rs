//! Reading a report back from JSON: strict about types, lenient about keys it does not know.
//!
//! A report may be the artifact of a stranger's pull request. So it is measured before it is parsed and counted after,
//! and what can be computed (the summary) is not read at all. Its texts stay raw: renderers escape them.

use super::{BLIND, SCHEMA};
use crate::metric::{Better, Metric, Unit};
use crate::recording::{Difference, Host};
use crate::report::{Change, Elapsed, Finding, Method, Report, visible};
use crate::revision::Revision;
use crate::scenario::{Kind, Target};
use crate::verdict::{Flag, Verdict};
use serde::Deserialize;
use serde_json::error::Category;

/// Most bytes of a report that is read: room for some 20,000 rows. Chosen.
pub const MOST_BYTES: usize = 16 << 20;
/// Most rows. Chosen.
const MOST_ROWS: usize = 20_000;
/// Most differences, or sentences about the run or about one row. Chosen.
const MOST_SENTENCES: usize = 10_000;
/// Deepest nesting; a report needs four levels. Chosen.
const DEEPEST: usize = 16;
/// No number of a report is larger: 10^18 nanoseconds are thirty years. Chosen.
const LARGEST: f64 = 1e18;
/// Cells of what a message quotes.
const LONGEST_QUOTE: usize = 200;

/// Why a file is not a report that can be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// More than a report ever needs.
    #[error("it has {found} {what}; at most {most} are read")]
    TooMuch {
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many are read.
        most: usize,
    },
    /// Nested deeper than a report ever is.
    #[error("it is nested deeper than {DEEPEST} levels, which no report is")]
    TooDeep,
    /// No report of ours.
    #[error("this is not a report: it has no \"schema\": \"{SCHEMA}\" (write one with `--format json`)")]
    Foreign,
    /// Another version of the format.
    #[error("the report has format `{found}`; this abreast reads `{SCHEMA}`: use the abreast that wrote it")]
    Version {
        /// Schema named in the file, every character visible.
        found: String,
    },
    /// Not JSON, or a value of the wrong type.
    #[error("the report is damaged: {what}")]
    Damaged {
        /// What is wrong and where, every character visible.
        what: String,
    },
}

/// Reads a report. What its JSON does not have is absent: the absolute floor, the cost of running second, the change of
/// each round and of the confirmation; blind spots are among the notes.
///
/// # Errors
/// [`ReadError`]; nothing panics on any input, and memory stays within a small multiple of [`MOST_BYTES`].
pub fn read(bytes: &[u8]) -> Result<Report, ReadError> {
    at_most("bytes", bytes.len(), MOST_BYTES)?;
    if is_too_deep(bytes) {
        return Err(ReadError::TooDeep);
    }
    check_schema(bytes)?;
    let wire: Wire = serde_json::from_slice(bytes).map_err(damaged)?;
    wire.report()
}

#[derive(Deserialize)]
struct Wire {
    base: Revision,
    head: Revision,
    host: Host,
    differences: Vec<Difference>,
    notes: Vec<String>,
    method: WireMethod,
    elapsed: WireElapsed,
    findings: Vec<WireFinding>,
}

#[derive(Deserialize)]
struct WireMethod {
    rounds: u32,
    family_alpha: f64,
    threshold: f64,
    margin: f64,
    alert: f64,
    median_detectable: Option<f64>,
    null_pairs: u32,
    seed: u64,
}

#[derive(Deserialize)]
struct WireElapsed {
    checkout_s: Option<f64>,
    build_base_s: Option<f64>,
    build_head_s: Option<f64>,
    measure_s: Option<f64>,
    total_s: Option<f64>,
}

#[derive(Deserialize)]
struct WireFinding {
    scenario: String,
    kind: Kind,
    package: String,
    target: String,
    metric: String,
    unit: Unit,
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
    verdict: Verdict,
    flag: Flag,
    notes: Vec<String>,
}

impl Wire {
    fn report(self) -> Result<Report, ReadError> {
        at_most("rows", self.findings.len(), MOST_ROWS)?;
        at_most("differences", self.differences.len(), MOST_SENTENCES)?;
        at_most("notes", self.notes.len(), MOST_SENTENCES)?;
        at_most("graphics processors", self.host.gpus.len(), MOST_SENTENCES)?;
        let (blind, notes): (Vec<String>, Vec<String>) =
            self.notes.into_iter().partition(|note| note.starts_with(BLIND));
        let spot = |note: String| note[BLIND.len()..].to_owned();
        Ok(Report {
            base: revision("base", self.base)?,
            head: revision("head", self.head)?,
            host: self.host,
            differences: self.differences,
            notes,
            blind_spots: blind.into_iter().map(spot).collect(),
            method: self.method.method()?,
            elapsed: self.elapsed.elapsed()?,
            findings: self
                .findings
                .into_iter()
                .enumerate()
                .map(|(n, finding)| finding.finding().map_err(|what| in_row(n, &what)))
                .collect::<Result<_, _>>()?,
            curves: Vec::new(),
        })
    }
}

impl WireMethod {
    fn method(self) -> Result<Method, ReadError> {
        let fraction = |name: &str, number: f64| {
            if (0.0..=LARGEST).contains(&number) {
                Ok(number)
            } else {
                Err(wrong(&format!("`method.{name}` is no fraction")))
            }
        };
        Ok(Method {
            rounds: self.rounds,
            family_alpha: fraction("family_alpha", self.family_alpha)?,
            threshold: fraction("threshold", self.threshold)?,
            margin: fraction("margin", self.margin)?,
            alert: fraction("alert", self.alert)?,
            floor_ns: None,
            median_detectable: self
                .median_detectable
                .map(|number| fraction("median_detectable", number))
                .transpose()?,
            null_pairs: self.null_pairs,
            seed: self.seed,
            order_effect: None,
        })
    }
}

impl WireElapsed {
    fn elapsed(self) -> Result<Elapsed, ReadError> {
        let seconds = |number: Option<f64>| {
            if number.is_none_or(|number| (0.0..=LARGEST).contains(&number)) {
                Ok(number)
            } else {
                Err(wrong("a time in `elapsed` is no number of seconds"))
            }
        };
        Ok(Elapsed {
            checkout_s: seconds(self.checkout_s)?,
            build_base_s: seconds(self.build_base_s)?,
            build_head_s: seconds(self.build_head_s)?,
            measure_s: seconds(self.measure_s)?,
            total_s: seconds(self.total_s)?,
        })
    }
}

impl WireFinding {
    /// The row, or what is wrong with it.
    fn finding(self) -> Result<Finding, String> {
        if self.notes.len() > MOST_SENTENCES {
            return Err(format!("{} notes", self.notes.len()));
        }
        for (name, number) in [
            ("base", self.base),
            ("head", self.head),
            ("instructions_change", self.instructions_change),
        ] {
            bounded(name, number)?;
        }
        // An alert is a regression; every other flag follows from the verdict.
        let flags = [self.verdict.flag(None, 0.0), self.verdict.flag(Some(1.0), 1.0)];
        if !flags.contains(&self.flag) {
            let (verdict, flag) = (self.verdict.as_str(), self.flag.as_str());
            return Err(format!("verdict `{verdict}` with flag `{flag}`"));
        }
        Ok(Finding {
            change: self.change()?,
            scenario: self.scenario,
            kind: self.kind,
            target: Target {
                package: self.package,
                target: self.target,
            },
            metric: Metric {
                name: self.metric,
                unit: self.unit,
                better: self.better,
            },
            base: self.base,
            head: self.head,
            confirmed: self.confirmed,
            instructions_change: self.instructions_change,
            verdict: self.verdict,
            flag: self.flag,
            notes: self.notes,
        })
    }

    /// All numbers of the change, or none.
    fn change(&self) -> Result<Option<Change>, String> {
        let Some(change) = bounded("change", self.change)? else {
            return Ok(None);
        };
        let part = |name: &str, number: Option<f64>| {
            bounded(name, number)?.ok_or_else(|| format!("`change` without `{name}`"))
        };
        Ok(Some(Change {
            change,
            low: part("low", self.low)?,
            high: part("high", self.high)?,
            floor: part("floor", self.floor)?,
            detectable: part("detectable", self.detectable)?,
            rounds: self
                .rounds
                .ok_or_else(|| "`change` without `rounds`".to_owned())?,
            per_round: Vec::new(),
            base_per_round: Vec::new(),
            confirmation: None,
        }))
    }
}

/// A number that no renderer has trouble with.
fn bounded(name: &str, number: Option<f64>) -> Result<Option<f64>, String> {
    if number.is_none_or(|number| number.abs() <= LARGEST) {
        Ok(number)
    } else {
        Err(format!("`{name}` is out of range"))
    }
}

fn revision(side: &str, revision: Revision) -> Result<Revision, ReadError> {
    let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if matches!(revision.sha.len(), 40 | 64) && revision.sha.bytes().all(digit) {
        Ok(revision)
    } else {
        Err(wrong(&format!("`{side}.sha` is no full object id")))
    }
}

fn check_schema(bytes: &[u8]) -> Result<(), ReadError> {
    #[derive(Deserialize)]
    struct Probe {
        schema: String,
    }
    let probe: Probe = serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        Category::Data => ReadError::Foreign,
        Category::Syntax | Category::Eof | Category::Io => damaged(error),
    })?;
    if !probe.schema.starts_with("abreast/report/") {
        Err(ReadError::Foreign)
    } else if probe.schema != SCHEMA {
        let found = quoted(&probe.schema);
        Err(ReadError::Version { found })
    } else {
        Ok(())
    }
}

/// Whether brackets are open at more levels than a report has. The parser passes over keys it does not know, and this
/// is cheaper than to find out how.
fn is_too_deep(bytes: &[u8]) -> bool {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in bytes {
        if in_text {
            in_text = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

fn at_most(what: &'static str, found: usize, most: usize) -> Result<(), ReadError> {
    if found > most {
        return Err(ReadError::TooMuch { what, found, most });
    }
    Ok(())
}

/// The parser's message, which may quote the file.
fn damaged(error: serde_json::Error) -> ReadError {
    wrong(&error.to_string())
}

fn in_row(n: usize, what: &str) -> ReadError {
    wrong(&format!("row {} has {what}", n + 1))
}

fn wrong(what: &str) -> ReadError {
    let what = quoted(what);
    ReadError::Damaged { what }
}

/// In one line: where messages are read, a line may be a command.
fn quoted(text: &str) -> String {
    visible::cut_end(&visible::line(text), LONGEST_QUOTE)
}

#[cfg(test)]
mod tests;
