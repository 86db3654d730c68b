//! What `model_benchmark` prints: a line with the sizes, a few lines for each phase, and the memory it took.
//!
//! Numbers have six digits, and units stand in brackets behind their names. Versions differ in what they count as which
//! phase: old ones choose a token apart from computing it, new ones only the first. The numbers of values, `n`, show it
//! and are settings for that reason.

use super::super::FormatError;
use super::super::tally::{MICROSECOND, MILLISECOND, SECOND, Tally, label, quoted};
use super::name;
use crate::metric::Metric;
use serde_json::Value;
use std::collections::BTreeMap;

/// What the lines of a phase begin with, and what ids call it.
const PHASES: [(&str, &str); 4] = [
    ("Prompt processing (", "prompt_processing"),
    ("Token generation:", "token_generation"),
    ("Token sampling:", "token_sampling"),
    ("E2E generation (", "e2e_generation"),
];

/// Amounts of memory, and what ids call them. The first stands at the end of every report; the others follow it where
/// somebody looked.
const MEMORY: [(&str, &str); 4] = [
    ("Peak working set size", "peak_working_set"),
    ("Dedicated GPU memory usage", "dedicated_gpu_memory"),
    ("Shared GPU memory usage", "shared_gpu_memory"),
    ("Total GPU memory usage", "total_gpu_memory"),
];

const SIZES: [(&str, &str); 3] = [
    ("Batch size", "b"),
    ("prompt tokens", "in"),
    ("tokens to generate", "out"),
];

pub(super) fn is_report(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.lines().any(|line| phase(line.trim()).is_some())
}

pub(super) fn read(bytes: &[u8]) -> Result<Tally, FormatError> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines: Vec<&str> = text.lines().map(str::trim).collect();
    // Digits may be missing, unless the line ends with a bracket, as the last one of newer versions does.
    let mut cut = !text.ends_with('\n') && !text.trim_end().ends_with(')');
    if cut {
        lines.pop();
    }
    let mut report = Report::default();
    for line in lines {
        report.line(line)?;
    }
    report.tell();
    cut |= report.open;
    if cut {
        report
            .tally
            .incident("the text is cut off: what is whole before its last line was read".to_owned());
    }
    Ok(report.tally)
}

/// What has been read so far.
#[derive(Default)]
struct Report {
    tally: Tally,
    /// What ids begin with.
    name: String,
    /// The phase that lines are about.
    phase: Phase,
    /// What was read of it so far.
    held: Vec<(String, Metric, f64)>,
    /// The numbers of its values.
    n: Option<String>,
    /// Whether the line about memory has yet to come.
    open: bool,
}

#[derive(Default)]
enum Phase {
    #[default]
    None,
    Known(&'static str),
    Unknown(String),
}

impl Report {
    fn line(&mut self, line: &str) -> Result<(), FormatError> {
        if line.starts_with(SIZES[0].0) {
            self.tell();
            self.name = sizes(line);
            self.phase = Phase::None;
            self.open = true;
        } else if let Some(id) = phase(line) {
            self.tell();
            self.phase = Phase::Known(id);
            self.open = true;
        } else if let Some((told, id)) = MEMORY.iter().find(|(told, _)| line.starts_with(told)) {
            self.tell();
            // A line that ends before its amount is cut off.
            if line.contains(':') {
                self.open = false;
                self.memory(told, id, line)?;
            }
        } else if let Some(statistic) = Statistic::of(line) {
            self.statistic(&statistic)?;
        } else if let Some(label) = line.strip_suffix(':') {
            self.tell();
            self.phase = Phase::Unknown(label.to_owned());
        }
        Ok(())
    }

    /// Tells the phase that has ended, unless it is another one that was called so before.
    fn tell(&mut self) {
        let held = std::mem::take(&mut self.held);
        let n = self.n.take().map(|n| ("n".to_owned(), n));
        if let Phase::Known(phase) = self.phase
            && !held.is_empty()
        {
            let name = format!("{}{phase}/", self.name);
            if self.tally.record(&name, BTreeMap::from_iter(n)) {
                for (id, metric, value) in held {
                    self.tally.add(&format!("{name}{id}"), metric, value);
                }
            }
        }
    }

    fn memory(&mut self, told: &str, id: &str, line: &str) -> Result<(), FormatError> {
        let rest = line.strip_prefix(told).unwrap_or_default();
        // `… (bytes): 5` in old versions, `…: 5 bytes (0.00 MB)` in new ones.
        let (amount, unit) =
            if let Some((unit, amount)) = rest.strip_prefix(" (").and_then(|rest| rest.split_once("):")) {
                (amount.trim(), unit)
            } else {
                let rest = rest.trim_start_matches(':').trim();
                let (amount, unit) = rest.split_once(' ').unwrap_or((rest, ""));
                (amount, unit.split(' ').next().unwrap_or_default())
            };
        if unit != "bytes" {
            return Err(FormatError::UnknownUnit {
                of: told.to_owned(),
                unit: quoted(unit),
                known: "bytes",
            });
        }
        let id = format!("{}{id}", self.name);
        self.tally.memory(&id, &Value::from(amount), 1.0);
        Ok(())
    }

    fn statistic(&mut self, statistic: &Statistic<'_>) -> Result<(), FormatError> {
        let Statistic { name, unit, told } = *statistic;
        match &self.phase {
            Phase::Known(_) => {}
            Phase::Unknown(label) => {
                let unit = unit.map_or_else(String::new, |unit| format!(" ({unit})"));
                let key = format!("{label}/{name}{unit}");
                self.tally.unknown(key, Value::from(told));
                return Ok(());
            }
            Phase::None => return Ok(()),
        }
        let value = told.parse().unwrap_or(f64::NAN);
        let factor = match (name, unit) {
            ("n", _) => {
                self.n = Some(told.to_owned());
                return Ok(());
            }
            ("stddev", _) => return Ok(()),
            ("avg", Some("tokens/s")) => {
                self.held
                    .push(("tokens_per_second/mean".to_owned(), Metric::rate(), value));
                return Ok(());
            }
            (_, Some("ns")) => 1.0,
            (_, Some("us")) => MICROSECOND,
            (_, Some("ms")) => MILLISECOND,
            (_, Some("s")) => SECOND,
            (_, unit) => {
                return Err(FormatError::UnknownUnit {
                    of: quoted(name),
                    unit: quoted(unit.unwrap_or_default()),
                    known: "ns, us, ms, s, tokens/s",
                });
            }
        };
        let id = if name == "avg" { "mean" } else { name };
        self.held.push((label(id), Metric::time(), value * factor));
        Ok(())
    }
}

/// The phase that a line begins.
fn phase(line: &str) -> Option<&'static str> {
    let known = PHASES.iter().find(|(begins, _)| line.starts_with(begins))?;
    line.ends_with(':').then_some(known.1)
}

/// `Batch size: 1, prompt tokens: 16, tokens to generate: 128` as ids begin.
fn sizes(line: &str) -> String {
    let parts: Vec<(&str, &str)> = line
        .split(',')
        .filter_map(|part| part.trim().split_once(": "))
        .collect();
    let size = |name: &str| {
        parts
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, size)| (*size).to_owned())
    };
    name(&SIZES.map(|(name, letter)| (letter, size(name))))
}

/// `avg (us):       442.5` in its parts.
struct Statistic<'a> {
    name: &'a str,
    unit: Option<&'a str>,
    told: &'a str,
}

impl<'a> Statistic<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (name, told) = line.split_once(':')?;
        let (name, unit) = match name.split_once(" (") {
            Some((name, unit)) => (name, Some(unit.strip_suffix(')')?)),
            None => (name, None),
        };
        let told = told.trim();
        let percentile = |rank: &str| rank.parse::<f64>().is_ok_and(f64::is_finite);
        let known = ["avg", "stddev", "n"].contains(&name) || name.strip_prefix('p').is_some_and(percentile);
        (known && !told.is_empty()).then_some(Self { name, unit, told })
    }
}
