//! github-action-benchmark: `data.js` on a branch of pages, `window.BENCHMARK_DATA = {...}`, or the JSON alone.

use super::quantity::{quantity, written};
use super::{ForeignError, Reading};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const WHAT: &str = "github-action-benchmark";
const START: &str = "window.BENCHMARK_DATA =";

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ADocument {
    #[serde(default)]
    last_update: i64,
    #[serde(default)]
    repo_url: String,
    entries: BTreeMap<String, Vec<AEntry>>,
}

#[derive(Serialize, Deserialize)]
struct AEntry {
    commit: ACommit,
    #[serde(default)]
    date: i64,
    #[serde(default)]
    tool: String,
    benches: Vec<ABench>,
}

#[derive(Serialize, Deserialize)]
struct ACommit {
    id: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    timestamp: String,
    #[serde(default)]
    url: String,
}

#[derive(Serialize, Deserialize)]
struct ABench {
    name: String,
    value: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    unit: String,
}

pub(super) fn read(files: &[(String, Vec<u8>)]) -> Result<Vec<Reading>, ForeignError> {
    let mut readings = Vec::new();
    for (path, bytes) in files {
        let text = String::from_utf8_lossy(bytes);
        let json = text.trim().trim_start_matches(START).trim_end_matches(';');
        let wrong = |error: serde_json::Error| ForeignError::Format {
            path: path.clone(),
            what: WHAT,
            why: error.to_string(),
        };
        let document: ADocument = serde_json::from_str(json).map_err(wrong)?;
        for (suite, entries) in document.entries {
            for entry in entries {
                for bench in &entry.benches {
                    readings.push(reading(path, &suite, &entry, bench)?);
                }
            }
        }
    }
    Ok(readings)
}

fn reading(path: &str, suite: &str, entry: &AEntry, bench: &ABench) -> Result<Reading, ForeignError> {
    let (metric, factor) = quantity(&bench.unit).ok_or_else(|| ForeignError::Unit {
        path: path.to_owned(),
        name: bench.name.clone(),
        unit: bench.unit.clone(),
    })?;
    // `± 123` is what the tool behind it printed: a spread, in the unit of the value.
    let range = bench.range.as_deref().map(|range| {
        range
            .trim_start_matches(['\u{b1}', '+', '-', '/', ' '])
            .replace(',', "")
    });
    let error = range
        .and_then(|range| range.parse::<f64>().ok())
        .filter(|range| range.is_finite() && *range >= 0.0);
    Ok(Reading {
        commit: entry.commit.id.clone(),
        at: moment(entry),
        class: format!("{WHAT} {suite}"),
        target: suite.to_owned(),
        id: bench.name.clone(),
        metric,
        value: bench.value * factor,
        error: error.map(|error| error * factor),
    })
}

fn moment(entry: &AEntry) -> String {
    let measured = jiff::Timestamp::from_millisecond(entry.date)
        .ok()
        .filter(|_| entry.date > 0);
    measured.map_or_else(|| entry.commit.timestamp.clone(), |at| at.to_string())
}

pub(super) fn write(readings: &[Reading]) -> Vec<(String, Vec<u8>)> {
    let mut entries: BTreeMap<String, Vec<AEntry>> = BTreeMap::new();
    for reading in readings {
        let at: jiff::Timestamp = reading.at.parse().unwrap_or_default();
        let own = entries.entry(reading.class.clone()).or_default();
        if own.last().is_none_or(|entry| entry.commit.id != reading.commit) {
            own.push(AEntry {
                commit: ACommit {
                    id: reading.commit.clone(),
                    message: String::new(),
                    timestamp: reading.at.clone(),
                    url: String::new(),
                },
                date: at.as_millisecond(),
                tool: if reading.metric.better == crate::metric::Better::Lower {
                    "customSmallerIsBetter"
                } else {
                    "customBiggerIsBetter"
                }
                .to_owned(),
                benches: Vec::new(),
            });
        }
        if let Some(entry) = own.last_mut() {
            entry.benches.push(ABench {
                name: format!("{}/{}", reading.target, reading.id),
                value: reading.value,
                range: reading.error.map(|error| format!("\u{b1} {error}")),
                unit: written(&reading.metric).to_owned(),
            });
        }
    }
    let last = entries
        .values()
        .flatten()
        .map(|entry| entry.date)
        .max()
        .unwrap_or(0);
    let document = ADocument {
        last_update: last,
        repo_url: String::new(),
        entries,
    };
    // Plain data with text keys has no way to fail.
    let json = serde_json::to_string_pretty(&document).unwrap_or_default();
    vec![("data.js".to_owned(), format!("{START} {json}\n").into_bytes())]
}
