//! The folder that criterion writes: `GROUP/FUNCTION/VALUE/new/` with `benchmark.json` and `estimates.json`, one commit.
//!
//! These files are private by criterion's own words; what is read of them has been there since 0.3.

use super::{ForeignError, Reading};
use crate::metric::Metric;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;

const WHAT: &str = "criterion";

#[derive(Deserialize)]
struct CBenchmark {
    full_id: String,
}

#[derive(Deserialize)]
struct CEstimates {
    median: CEstimate,
}

#[derive(Deserialize)]
struct CEstimate {
    point_estimate: f64,
    standard_error: f64,
}

pub(super) fn read(files: &[(String, Vec<u8>)], commit: &str) -> Result<Vec<Reading>, ForeignError> {
    let by_path: BTreeMap<&str, &[u8]> = files
        .iter()
        .map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
        .collect();
    let mut readings = Vec::new();
    for (path, bytes) in &by_path {
        let Some(folder) = path.strip_suffix("new/benchmark.json") else {
            continue;
        };
        let wrong = |error: serde_json::Error| ForeignError::Format {
            path: (*path).to_owned(),
            what: WHAT,
            why: error.to_string(),
        };
        let Some(estimates) = by_path.get(format!("{folder}new/estimates.json").as_str()) else {
            continue;
        };
        let benchmark: CBenchmark = serde_json::from_slice(bytes).map_err(wrong)?;
        let estimates: CEstimates = serde_json::from_slice(estimates).map_err(wrong)?;
        readings.push(Reading {
            commit: commit.to_owned(),
            at: String::new(),
            class: WHAT.to_owned(),
            target: WHAT.to_owned(),
            id: benchmark.full_id,
            metric: Metric::time(),
            value: estimates.median.point_estimate,
            error: Some(estimates.median.standard_error).filter(|error| *error >= 0.0),
        });
    }
    Ok(readings)
}

/// The newest commit's times alone: a folder of criterion has room for one. What criterion did not measure here, like a
/// mean, is told as the median.
pub(super) fn write(readings: &[Reading]) -> Vec<(String, Vec<u8>)> {
    let newest = readings.last().map(|reading| reading.commit.as_str());
    let of_newest = readings
        .iter()
        .filter(|reading| Some(reading.commit.as_str()) == newest && reading.metric == Metric::time());
    of_newest
        .flat_map(|reading| {
            let fit = |text: &str| -> String {
                let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
                text.chars().map(safe).take(64).collect::<String>().replace("..", "__")
            };
            let folder = format!("{}/{}", fit(&reading.target), fit(&reading.id));
            let error = reading.error.unwrap_or(0.0);
            let estimate = json!({
                "point_estimate": reading.value, "standard_error": error,
                "confidence_interval": { "confidence_level": 0.95, "lower_bound": reading.value - 1.96 * error, "upper_bound": reading.value + 1.96 * error },
            });
            let benchmark = json!({
                "group_id": reading.target, "function_id": reading.id, "value_str": null, "throughput": null,
                "full_id": reading.id, "directory_name": folder, "title": reading.id,
            });
            let estimates = json!({ "mean": estimate, "median": estimate, "slope": null, "std_dev": estimate, "median_abs_dev": estimate });
            [("benchmark", benchmark), ("estimates", estimates)]
                .map(|(name, content)| (format!("{folder}/new/{name}.json"), format!("{content}\n").into_bytes()))
        })
        .collect()
}
