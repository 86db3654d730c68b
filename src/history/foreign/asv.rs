//! airspeed velocity: `results/MACHINE/COMMIT-ENVIRONMENT.json`, one file a commit, machine and environment.
//!
//! Version 2 of the format has a row for each benchmark with columns that the file itself names, version 1 an object.
//! Times are in seconds, which asv calls by the beginning of the benchmark's name: `time_`, `mem_`, `track_`.

use super::{ForeignError, Reading};
use crate::metric::Metric;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const WHAT: &str = "asv";

pub(super) fn read(files: &[(String, Vec<u8>)]) -> Result<Vec<Reading>, ForeignError> {
    let mut readings = Vec::new();
    for (path, bytes) in files {
        let name = path.rsplit('/').next().unwrap_or(path);
        if !name.ends_with(".json") || ["machine.json", "benchmarks.json"].contains(&name) {
            continue;
        }
        let document: Value = serde_json::from_slice(bytes).map_err(|error| ForeignError::Format {
            path: path.clone(),
            what: WHAT,
            why: error.to_string(),
        })?;
        let missing = |key: &str| ForeignError::Format {
            path: path.clone(),
            what: WHAT,
            why: format!("there is no `{key}`"),
        };
        let commit = document["commit_hash"]
            .as_str()
            .ok_or_else(|| missing("commit_hash"))?;
        let results = document["results"]
            .as_object()
            .ok_or_else(|| missing("results"))?;
        let machine = document["params"]["machine"].as_str().unwrap_or("machine");
        let environment = document["env_name"].as_str().unwrap_or_default();
        let date = document["date"].as_i64().unwrap_or(0);
        let columns: Vec<&str> = document["result_columns"]
            .as_array()
            .map_or_else(Vec::new, |all| all.iter().filter_map(Value::as_str).collect());
        for (id, result) in results {
            let Some((metric, factor)) = metric(id) else {
                continue;
            };
            for (suffix, value) in values(result, &columns) {
                readings.push(Reading {
                    commit: commit.to_owned(),
                    at: jiff::Timestamp::from_millisecond(date)
                        .map_or_else(|_| String::new(), |at| at.to_string()),
                    class: format!("{WHAT} {machine} {environment}").trim_end().to_owned(),
                    target: WHAT.to_owned(),
                    id: format!("{id}{suffix}"),
                    metric: metric.clone(),
                    value: value * factor,
                    error: None,
                });
            }
        }
    }
    Ok(readings)
}

/// By the last part of the name, as asv does; what is only tracked has no direction that asv would know.
fn metric(id: &str) -> Option<(Metric, f64)> {
    let name = id
        .rsplit('.')
        .next()
        .unwrap_or(id)
        .trim_start_matches(|c: char| c.is_ascii_uppercase());
    [
        ("time", Metric::time(), 1e9),
        ("mem", Metric::memory(), 1.0),
        ("peakmem", Metric::memory(), 1.0),
    ]
    .into_iter()
    .find_map(|(start, metric, factor)| {
        name.to_ascii_lowercase()
            .starts_with(start)
            .then_some((metric, factor))
    })
}

/// The values of one benchmark with what their parameters are called: `(64, 'f32')`.
fn values(result: &Value, columns: &[&str]) -> Vec<(String, f64)> {
    let column = |name: &str, at: usize| match result {
        Value::Array(row) => row
            .get(columns.iter().position(|column| *column == name).unwrap_or(at))
            .cloned()
            .unwrap_or(Value::Null),
        Value::Object(row) => row.get(name).cloned().unwrap_or(Value::Null),
        other => {
            if at == 0 {
                other.clone()
            } else {
                Value::Null
            }
        }
    };
    let parameters: Vec<Vec<String>> = column("params", 1)
        .as_array()
        .map(|all| {
            all.iter()
                .map(|values| {
                    values
                        .as_array()
                        .map_or_else(Vec::new, |values| values.iter().map(shown).collect())
                })
                .collect()
        })
        .unwrap_or_default();
    let numbers = column("result", 0);
    match &numbers {
        Value::Array(numbers) => {
            let named = numbers
                .iter()
                .enumerate()
                .map(|(n, number)| (combination(&parameters, n), number));
            named
                .filter_map(|(name, number)| Some((name, number.as_f64()?)))
                .collect()
        }
        number => number
            .as_f64()
            .map(|number| (String::new(), number))
            .into_iter()
            .collect(),
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The n-th combination of parameters, the last one running fastest; empty without parameters.
fn combination(parameters: &[Vec<String>], mut n: usize) -> String {
    let mut chosen: Vec<&str> = Vec::new();
    for values in parameters.iter().rev() {
        if values.is_empty() {
            return String::new();
        }
        chosen.push(&values[n % values.len()]);
        n /= values.len();
    }
    chosen.reverse();
    if chosen.is_empty() {
        String::new()
    } else {
        format!("({})", chosen.join(", "))
    }
}

pub(super) fn write(readings: &[Reading]) -> Vec<(String, Vec<u8>)> {
    let mut files: BTreeMap<(String, String), Vec<&Reading>> = BTreeMap::new();
    for reading in readings {
        files
            .entry((reading.class.clone(), reading.commit.clone()))
            .or_default()
            .push(reading);
    }
    let file = |((class, commit), own): ((String, String), Vec<&Reading>)| {
        let machine: String = class
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "-_.".contains(c) {
                    c
                } else {
                    '-'
                }
            })
            .collect();
        let date: jiff::Timestamp = own
            .first()
            .and_then(|reading| reading.at.parse().ok())
            .unwrap_or_default();
        let seconds = |reading: &&Reading| reading.metric.unit == crate::metric::Unit::Ns;
        let results: serde_json::Map<String, Value> = own
            .iter()
            .filter(|reading| seconds(reading))
            .map(|reading| {
                (
                    format!("{}.time_{}", reading.target, reading.id),
                    json!([[reading.value / 1e9], []]),
                )
            })
            .collect();
        let document = json!({
            "commit_hash": commit, "env_name": "abreast", "date": date.as_millisecond(), "params": { "machine": machine },
            "python": "", "requirements": {}, "env_vars": {}, "result_columns": ["result", "params"], "results": results,
            "durations": {}, "version": 2,
        });
        let name = format!(
            "results/{machine}/{}-abreast.json",
            commit.get(..8).unwrap_or(&commit)
        );
        (name, format!("{document}\n").into_bytes())
    };
    files.into_iter().map(file).collect()
}
