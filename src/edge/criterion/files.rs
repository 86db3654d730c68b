//! The files criterion writes: private by its own words, so the structs here have a `C` prefix and are used nowhere
//! else.
#![expect(
    clippy::disallowed_methods,
    reason = "this file is where criterion's files are read"
)]

use super::{Found, ListError, Sample};
use crate::recording::{Throughput, Work};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::Path;
use std::time::SystemTime;

/// Fewest samples that are a measurement. Criterion itself takes at least ten; `--quick` leaves two.
const MIN_SAMPLES: usize = 3;

/// Reads everything a process that began at `started` wrote below its `CRITERION_HOME`, in the order it was written.
///
/// # Errors
/// Only if the folder itself cannot be listed. Unreadable, cut or senseless files are findings with a reason.
pub fn read(home: &Path, started: SystemTime) -> Result<Vec<Found>, ListError> {
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(home) {
        let entry = entry.map_err(|source| ListError::Io {
            path: home.to_owned(),
            source: source.into(),
        })?;
        let path = entry.path();
        let in_new = path
            .parent()
            .and_then(Path::file_name)
            .is_some_and(|name| name == "new");
        if entry.file_name() == "benchmark.json" && in_new {
            let written = entry
                .metadata()
                .ok()
                .and_then(|metadata| metadata.modified().ok())
                .unwrap_or(started);
            files.push((written, path.to_owned()));
        }
    }
    files.sort();
    let mut seen: HashMap<String, u32> = HashMap::new();
    let mut previous = started;
    let mut found = Vec::new();
    for (written, path) in files {
        let cost_s = written.duration_since(previous).unwrap_or_default().as_secs_f64();
        previous = written;
        // Without a readable id nothing can be said about a folder; its scenario counts as missing.
        let Ok(benchmark) = parse::<CBenchmark>(&path) else {
            continue;
        };
        let times = seen.entry(benchmark.full_id.clone()).or_default();
        *times += 1;
        let id = if *times == 1 {
            benchmark.full_id.clone()
        } else {
            format!("{} #{times}", benchmark.full_id)
        };
        let sample = parse::<CSample>(&path.with_file_name("sample.json")).and_then(|sample| {
            let throughput = benchmark.throughput.as_ref().and_then(CThroughput::work);
            sample.into_sample(throughput)
        });
        found.push(Found { id, sample, cost_s });
    }
    Ok(found)
}

fn parse<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let text = std::fs::read(path).map_err(|error| format!("{name} is missing: {error}"))?;
    serde_json::from_slice(&text).map_err(|error| format!("{name} is damaged: {error}"))
}

#[derive(Deserialize)]
struct CBenchmark {
    full_id: String,
    throughput: Option<CThroughput>,
}

#[derive(Deserialize)]
struct CSample {
    iters: Vec<Option<f64>>,
    times: Vec<Option<f64>>,
}

/// `{"Bytes": 1024}` in all versions; the newest has a variant with two counts.
#[derive(Deserialize)]
#[serde(transparent)]
struct CThroughput(serde_json::Map<String, serde_json::Value>);

impl CThroughput {
    fn work(&self) -> Option<Throughput> {
        let (variant, value) = self.0.iter().next()?;
        let per = match variant.as_str() {
            "Bytes" | "BytesDecimal" => Work::Bytes,
            "Bits" => Work::Bits,
            "Elements" | "ElementsAndBytes" => Work::Elements,
            _ => return None,
        };
        let amount = value.as_f64().or_else(|| value.get("elements")?.as_f64())?;
        (amount > 0.0).then_some(Throughput { per, amount })
    }
}

impl CSample {
    fn into_sample(self, throughput: Option<Throughput>) -> Result<Sample, String> {
        if self.iters.len() != self.times.len() {
            return Err(format!(
                "{} iteration counts but {} times",
                self.iters.len(),
                self.times.len()
            ));
        }
        if self.iters.len() < MIN_SAMPLES {
            return Err(format!(
                "too few samples: {} (at least {MIN_SAMPLES} are needed)",
                self.iters.len()
            ));
        }
        let mut sample = Sample {
            iters: Vec::new(),
            totals: Vec::new(),
            throughput,
        };
        for (iters, total) in self.iters.into_iter().zip(self.times) {
            let (Some(iters), Some(total)) = (iters, total) else {
                return Err("a sample is not a finite number".to_owned());
            };
            if total <= 0.0 {
                return Err("not measurable: a sample took zero time".to_owned());
            }
            if !(1.0..9e15).contains(&iters) {
                return Err(format!("a sample has {iters} iterations"));
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "within 1..9e15"
            )]
            sample.iters.push(iters as u64);
            sample.totals.push(total);
        }
        Ok(sample)
    }
}
