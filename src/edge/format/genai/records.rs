//! The records of `benchmark_e2e.py`: one for each combination of sizes, with the mean of each phase over all runs.
//!
//! What is zero, empty or false is not written at all. The numbers of runs in `config` are defaults of a class and not
//! what was done.

use super::super::FormatError;
use super::super::objects::Found;
use super::super::tally::{GIBIBYTE, MILLISECOND, SECOND, Tally, quoted};
use super::super::value::{Fields, number, object, take_texts, text};
use super::name;
use serde_json::Value;
use std::collections::BTreeMap;

/// Figures, each with its unit behind: `token_generation_latency_ms`.
const FIGURES: [&str; 14] = [
    "prompt_processing_latency",
    "prompt_processing_throughput",
    "sampling_latency",
    "sampling_throughput",
    "time_to_first_token",
    "token_generation_latency",
    "token_generation_throughput",
    "tokenization_latency",
    "tokenization_throughput",
    "wall_clock_throughput",
    "wall_clock_time",
    "peak_cpu_memory",
    "peak_gpu_memory",
    "max_memory_usage",
];

/// How far values are apart, which no single launch is judged by.
const SPREAD: &str = "time_to_first_token_stddev_ms";

/// Parts of the configuration that have to be the same on both sides, and are not in the ids.
const SETTINGS: [&str; 2] = ["backend", "precision"];

/// What the script would have done by itself, whatever it did.
const DEFAULTS: [&str; 3] = ["warmup_runs", "measured_runs", "seq_length"];

/// Parts of a machine and of a model; versions name the build.
const METADATA: [&str; 3] = ["device", "package_name", "platform"];
const VERSIONS: [&str; 2] = ["package_version", "python_version"];
const MODEL: [&str; 2] = ["full_name", "short_name"];

/// How near two numbers are that are the same but for rounding.
const NEAR: f64 = 0.01;

pub(super) fn is_record(fields: &Fields) -> bool {
    fields.contains_key("config") && fields.contains_key("metrics")
}

pub(super) fn read(found: Found) -> Result<Tally, FormatError> {
    let mut tally = Tally::new(found.incidents);
    let all = found.objects.len();
    let records: Vec<Fields> = found.objects.into_iter().filter(is_record).collect();
    if records.len() < all {
        let left_out = all - records.len();
        tally.incident(format!(
            "{left_out} objects that are no whole records were left out"
        ));
    }
    for record in records {
        one(record, &mut tally)?;
    }
    Ok(tally)
}

fn one(mut record: Fields, tally: &mut Tally) -> Result<(), FormatError> {
    let mut config = object(record.remove("config").unwrap_or_default());
    let mut metadata = object(record.remove("metadata").unwrap_or_default());
    let mut model = object(config.remove("model_info").unwrap_or_default());
    let mut options = object(config.remove("backend_options").unwrap_or_default());
    record.remove("trigger_date");
    let mut settings = BTreeMap::new();
    for (path, fields, keys) in [
        ("config.", &mut config, &SETTINGS[..]),
        ("config.model_info.", &mut model, &MODEL[..]),
        (
            "config.backend_options.",
            &mut options,
            &["execution_provider"][..],
        ),
        ("metadata.", &mut metadata, &METADATA[..]),
    ] {
        take_texts(fields, path, keys, &mut settings);
    }
    for key in DEFAULTS {
        config.remove(key);
    }
    for key in VERSIONS {
        metadata.remove(key);
    }
    let sizes = Sizes::take(&mut config);
    let metrics = object(record.remove("metrics").unwrap_or_default());
    if let Some(of) = sizes.latency_of(&metrics) {
        settings.insert("prompt_processing_latency".to_owned(), of.to_owned());
    }
    let name = sizes.name();
    if !tally.record(&name, settings) {
        return Ok(());
    }
    figures(metrics, &name, tally)?;
    tally.unknown_in("", record);
    tally.unknown_in("config.", config);
    tally.unknown_in("config.model_info.", model);
    tally.unknown_in("config.backend_options.", options);
    tally.unknown_in("metadata.", metadata);
    Ok(())
}

fn figures(metrics: Fields, name: &str, tally: &mut Tally) -> Result<(), FormatError> {
    for (key, told) in metrics {
        if key == SPREAD {
            continue;
        }
        let Some((stem, unit)) = FIGURES
            .iter()
            .find_map(|stem| Some((*stem, key.strip_prefix(stem)?.strip_prefix('_')?)))
        else {
            tally.unknown(format!("metrics.{key}"), told);
            continue;
        };
        let mean = format!("{name}{stem}/mean");
        match unit {
            "ms" => tally.time(&mean, &told, MILLISECOND),
            "s" => tally.time(&mean, &told, SECOND),
            "tps" | "qps" => tally.rate(&mean, &told),
            // So it says, but the script divides by 1024 three times; and it is the most of all runs.
            "gb" | "GB" => tally.memory(&format!("{name}{stem}"), &told, GIBIBYTE),
            _ => {
                return Err(FormatError::UnknownUnit {
                    unit: quoted(unit),
                    known: "ms, s, tps, qps, gb, GB",
                    of: quoted(&key),
                });
            }
        }
    }
    Ok(())
}

/// What was measured.
struct Sizes {
    batch: Value,
    input: Value,
    output: Value,
    limit: Value,
}

impl Sizes {
    fn take(config: &mut Fields) -> Self {
        let mut take = |key: &str| config.remove(key).unwrap_or_default();
        Self {
            batch: take("batch_size"),
            input: take("prompt_length"),
            output: take("tokens_generated"),
            limit: take("max_length"),
        }
    }

    /// The limit is named only where it is not the two lengths together, as it is by itself.
    fn name(&self) -> String {
        let by_itself = number(&self.input)
            .zip(number(&self.output))
            .map(|(input, output)| input + output);
        let limit = text(&self.limit).filter(|_| by_itself != number(&self.limit));
        name(&[
            ("b", text(&self.batch)),
            ("in", text(&self.input)),
            ("out", text(&self.output)),
            ("max", limit),
        ])
    }

    /// Whether the latency of the prompt is that of all its tokens or of one: the script changed its mind without
    /// changing the key. The throughput, which stayed the same, tells. Absent if it does not.
    fn latency_of(&self, metrics: &Fields) -> Option<&'static str> {
        let told = |key: &str| metrics.get(key).and_then(number);
        let seconds = told("prompt_processing_latency_ms")? / 1e3;
        let tokens = told("prompt_processing_throughput_tps")? * seconds / number(&self.batch)?;
        let length = number(&self.input)?;
        let near = |tokens: f64, expected: f64| (tokens / expected - 1.0).abs() < NEAR;
        match (near(tokens, length), near(tokens, 1.0)) {
            (true, false) => Some("of all tokens"),
            (false, true) => Some("of one token"),
            _ => None,
        }
    }
}
