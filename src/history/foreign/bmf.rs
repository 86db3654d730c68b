//! Bencher Metric Format: `{"name": {"latency": {"value": 1.0, "lower_value": 0.9, "upper_value": 1.1}}}`, one commit a file.

use super::{ForeignError, Reading};
use crate::metric::{Metric, Unit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const WHAT: &str = "Bencher";

#[derive(Serialize, Deserialize)]
struct BMetric {
    value: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

type BDocument = BTreeMap<String, BTreeMap<String, BMetric>>;

/// The measures that Bencher itself defines.
fn metric(measure: &str) -> Option<Metric> {
    match measure {
        "latency" => Some(Metric::time()),
        "throughput" => Some(Metric::rate()),
        "instructions" => Some(Metric::instructions()),
        "file-size" | "memory" => Some(Metric::memory()),
        other if other.contains("hits") || other.contains("cycles") || other.contains("accesses") => {
            Some(Metric {
                name: other.to_owned(),
                ..Metric::count()
            })
        }
        _ => None,
    }
}

pub(super) fn read(files: &[(String, Vec<u8>)], commit: &str) -> Result<Vec<Reading>, ForeignError> {
    let mut readings = Vec::new();
    for (path, bytes) in files {
        let document: BDocument = serde_json::from_slice(bytes).map_err(|error| ForeignError::Format {
            path: path.clone(),
            what: WHAT,
            why: error.to_string(),
        })?;
        for (id, measures) in document {
            for (measure, of) in measures {
                let metric = metric(&measure).ok_or_else(|| ForeignError::Unit {
                    path: path.clone(),
                    name: id.clone(),
                    unit: measure.clone(),
                })?;
                // Adapters write an interval of one standard deviation or of a confidence: half of it is the best guess there is.
                let width = of
                    .upper_value
                    .zip(of.lower_value)
                    .map(|(upper, lower)| (upper - lower) / 2.0);
                readings.push(Reading {
                    commit: commit.to_owned(),
                    at: String::new(),
                    class: WHAT.to_owned(),
                    target: WHAT.to_owned(),
                    id: id.clone(),
                    metric,
                    value: of.value,
                    error: width.filter(|width| *width >= 0.0),
                });
            }
        }
    }
    Ok(readings)
}

/// The newest commit's readings alone: the format has room for one.
pub(super) fn write(readings: &[Reading]) -> Vec<(String, Vec<u8>)> {
    let newest = readings.last().map(|reading| reading.commit.as_str());
    let mut document = BDocument::new();
    for reading in readings
        .iter()
        .filter(|reading| Some(reading.commit.as_str()) == newest)
    {
        let measure = match reading.metric.unit {
            Unit::Ns => "latency",
            Unit::PerSecond => "throughput",
            Unit::Bytes => "memory",
            Unit::Count => reading.metric.name.as_str(),
        };
        document
            .entry(format!("{}/{}", reading.target, reading.id))
            .or_default()
            .insert(
                measure.to_owned(),
                BMetric {
                    value: reading.value,
                    lower_value: reading.error.map(|error| reading.value - error),
                    upper_value: reading.error.map(|error| reading.value + error),
                },
            );
    }
    // Plain data with text keys has no way to fail.
    let json = serde_json::to_string_pretty(&document).unwrap_or_default();
    vec![("bmf.json".to_owned(), format!("{json}\n").into_bytes())]
}
