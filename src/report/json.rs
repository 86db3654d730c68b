//! The report as JSON, schema `abreast/report/1`: the same keys in the same order in every report.
//!
//! The structs here are the format. They mirror [`Report`] but are not it, so that the program can change its types
//! without changing what other programs read. Every key is always present; what is absent is `null`; no number is
//! `NaN` or infinite. Text is raw: JSON needs no other escaping and readers want to match ids exactly.

mod read;

pub use self::read::{MOST_BYTES, ReadError, read};

use super::row::{Row, finite};
use super::{Elapsed, Method, Report};
use crate::recording::{Difference, Host};
use crate::revision::Revision;
use crate::verdict::Verdict;
use serde::Serialize;
use std::borrow::Cow;

/// Name and version of the format.
pub const SCHEMA: &str = "abreast/report/1";
/// How a note begins that is a blind spot.
const BLIND: &str = "blind spot: ";

/// The report as pretty-printed JSON with a final newline.
#[must_use]
pub fn render(report: &Report) -> String {
    pretty(&Wire::new(report))
}

/// Pretty-printed JSON with a final newline.
pub(crate) fn pretty(wire: &impl Serialize) -> String {
    // Serialising plain structs with string keys into memory has no way to fail; the fallback keeps the signature
    // honest without a panic.
    let mut text = serde_json::to_string_pretty(wire).unwrap_or_default();
    text.push('\n');
    text
}

/// The whole report as JSON.
#[derive(Serialize)]
pub(super) struct Wire<'a> {
    schema: &'static str,
    base: WireRevision<'a>,
    head: WireRevision<'a>,
    host: &'a Host,
    differences: &'a [Difference],
    notes: Vec<Cow<'a, str>>,
    summary: Summary,
    method: WireMethod,
    elapsed: WireElapsed,
    findings: Vec<Row<'a, &'a [String]>>,
}

/// A commit as JSON.
#[derive(Serialize)]
pub(crate) struct WireRevision<'a> {
    label: &'a str,
    sha: &'a str,
}

#[derive(Serialize)]
struct Summary {
    scenarios: usize,
    compared: usize,
    judged: usize,
    regressed: usize,
    improved: usize,
    unchanged: usize,
    unclear: usize,
    identical: usize,
    new: usize,
    removed: usize,
    failed: usize,
    not_comparable: usize,
}

#[derive(Serialize)]
struct WireMethod {
    rounds: u32,
    family_alpha: Option<f64>,
    threshold: Option<f64>,
    margin: Option<f64>,
    alert: Option<f64>,
    median_detectable: Option<f64>,
    null_pairs: u32,
    seed: u64,
}

#[derive(Serialize)]
struct WireElapsed {
    checkout_s: Option<f64>,
    build_base_s: Option<f64>,
    build_head_s: Option<f64>,
    measure_s: Option<f64>,
    total_s: Option<f64>,
}

impl<'a> Wire<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        Self {
            schema: SCHEMA,
            base: WireRevision::new(&report.base),
            head: WireRevision::new(&report.head),
            host: &report.host,
            differences: &report.differences,
            // The schema has one list for what a reader must know about the run; blind spots are part of that.
            notes: report
                .notes
                .iter()
                .map(|note| Cow::Borrowed(note.as_str()))
                .chain(
                    report
                        .blind_spots
                        .iter()
                        .map(|spot| Cow::Owned(format!("{BLIND}{spot}"))),
                )
                .collect(),
            summary: Summary::new(report),
            method: WireMethod::new(&report.method),
            elapsed: WireElapsed::new(&report.elapsed),
            findings: report
                .findings
                .iter()
                .map(|finding| Row::new(finding, finding.notes.as_slice()))
                .collect(),
        }
    }
}

impl<'a> WireRevision<'a> {
    pub(crate) fn new(revision: &'a Revision) -> Self {
        Self {
            label: &revision.label,
            sha: &revision.sha,
        }
    }
}

impl Summary {
    fn new(report: &Report) -> Self {
        Self {
            scenarios: report.findings.len(),
            compared: report.compared(),
            judged: report.judged(),
            regressed: report.count(Verdict::Regressed),
            improved: report.count(Verdict::Improved),
            unchanged: report.count(Verdict::Unchanged),
            unclear: report.count(Verdict::Unclear),
            identical: report.count(Verdict::Identical),
            new: report.count(Verdict::New),
            removed: report.count(Verdict::Removed),
            failed: report.count(Verdict::Failed),
            not_comparable: report.count(Verdict::NotComparable),
        }
    }
}

impl WireMethod {
    fn new(method: &Method) -> Self {
        Self {
            rounds: method.rounds,
            family_alpha: finite(Some(method.family_alpha)),
            threshold: finite(Some(method.threshold)),
            margin: finite(Some(method.margin)),
            alert: finite(Some(method.alert)),
            median_detectable: finite(method.median_detectable),
            null_pairs: method.null_pairs,
            seed: method.seed,
        }
    }
}

impl WireElapsed {
    fn new(elapsed: &Elapsed) -> Self {
        Self {
            checkout_s: finite(elapsed.checkout_s),
            build_base_s: finite(elapsed.build_base_s),
            build_head_s: finite(elapsed.build_head_s),
            measure_s: finite(elapsed.measure_s),
            total_s: finite(elapsed.total_s),
        }
    }
}

#[cfg(test)]
mod tests;
