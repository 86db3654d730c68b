//! The results of `engine_benchmark`: an object for each scenario, with a few numbers of every request, percentiles
//! over all of them, and what else the scenario measures.
//!
//! Requests overlap, so they are no repetitions: of what is told of each there is one value for a scenario, the median;
//! with fewer than five it is left out. A request without a single token has 0.0 as its time to the first. Texts are
//! not read: only their tokens would tell whether they are the same.

use super::super::FormatError;
use super::super::objects::Found;
use super::super::tally::{MEBIBYTE, MILLISECOND, Tally, label, quoted};
use super::super::value::{Fields, list, object, take_texts, text};
use super::name;
use serde_json::Value;
use std::collections::BTreeMap;

/// Figures, each with its unit behind (`ttft_ms`), and what ids call them.
const FIGURES: [(&str, &str); 8] = [
    ("e2e", "e2e"),
    ("inter_token_latency", "inter_token_latency"),
    ("peak_device_memory", "peak_device_memory"),
    ("peak_host_memory", "peak_host_memory"),
    ("peak_memory", "peak_memory"),
    ("steady_state_device_memory", "steady_state_device_memory"),
    ("tokens", "tokens_per_second"),
    ("ttft", "time_to_first_token"),
];

/// Parts of the configuration that have to be the same on both sides, and are not in the ids.
const SETTINGS: [&str; 5] = [
    "model_path",
    "execution_provider",
    "synthetic",
    "warmup_runs",
    "measured_runs",
];

/// Names of the build.
const VERSIONS: [&str; 3] = ["ort_version", "genai_version", "cuda_plugin_ep_version"];

/// What is told of each request, in milliseconds, and what ids call it.
const OF_REQUEST: [(&str, &str); 2] = [
    ("ttft_ms", "time_to_first_token"),
    ("inter_token_latency_ms", "inter_token_latency"),
];

pub(super) fn is_scenario(fields: &Fields) -> bool {
    fields.contains_key("core_metrics")
}

pub(super) fn read(found: Found) -> Result<Tally, FormatError> {
    let mut tally = Tally::new(found.incidents);
    let all = found.objects.len();
    let scenarios: Vec<Fields> = found.objects.into_iter().filter(is_scenario).collect();
    if scenarios.len() < all {
        let left_out = all - scenarios.len();
        tally.incident(format!(
            "{left_out} objects that are no whole scenarios were left out"
        ));
    }
    for scenario in scenarios {
        one(scenario, &mut tally)?;
    }
    Ok(tally)
}

fn one(mut scenario: Fields, tally: &mut Tally) -> Result<(), FormatError> {
    let mut take = |key: &str| scenario.remove(key).unwrap_or_default();
    let called = take("scenario");
    if called.is_null() {
        // Keys are sorted, so a file that is cut off may have numbers and not what they are about.
        tally.incident("a scenario without its name was left out".to_owned());
        return Ok(());
    }
    let (status, error) = (text(&take("status")), text(&take("error")));
    let mut config = object(take("config_metadata"));
    let mut core = object(take("core_metrics"));
    let mut special = object(take("scenario_metrics"));
    if let Some(status) = status.filter(|status| status != "success") {
        let (status, reason) = (
            quoted(&status),
            quoted(error.as_deref().unwrap_or("no reason is told")),
        );
        tally.incident(format!("the scenario ended with `{status}`: {reason}"));
    }
    let mut settings = BTreeMap::new();
    take_texts(&mut config, "config_metadata.", &SETTINGS, &mut settings);
    take_texts(
        &mut special,
        "scenario_metrics.",
        &["prompt_tokens"],
        &mut settings,
    );
    for key in VERSIONS {
        config.remove(key);
    }
    let name = sizes(&called, &mut config);
    if !tally.record(&name, settings) {
        return Ok(());
    }
    requests(
        list(core.remove("raw_requests").unwrap_or_default()),
        &name,
        tally,
    );
    let summary = object(core.remove("summary").unwrap_or_default());
    figures(summary, "core_metrics.summary.", &name, tally)?;
    special.remove("outputs");
    figures(special, "scenario_metrics.", &name, tally)?;
    tally.unknown_in("", scenario);
    tally.unknown_in("config_metadata.", config);
    tally.unknown_in("core_metrics.", core);
    Ok(())
}

/// `decode_baseline-c1-in4k-out64/`.
fn sizes(called: &Value, config: &mut Fields) -> String {
    let mut take = |key: &str| text(&config.remove(key).unwrap_or_default());
    let thousands = take("prompt_length_k").map(|length| format!("{length}k"));
    name(&[
        ("", text(called)),
        ("c", take("concurrency")),
        ("in", thousands),
        ("out", take("generation_tokens")),
    ])
}

/// The medians of requests that got all of their tokens, apart for each role that requests have.
fn requests(told: Vec<Value>, name: &str, tally: &mut Tally) {
    let all = told.len();
    let mut short = 0_usize;
    let mut roles: BTreeMap<String, [Vec<Value>; 2]> = BTreeMap::new();
    for mut request in told.into_iter().map(object) {
        if request.get("completed").and_then(Value::as_bool) == Some(false) {
            short += 1;
            continue;
        }
        let role = text(&request.remove("role").unwrap_or_default())
            .filter(|role| !role.is_empty())
            .map_or_else(String::new, |role| format!("{}/", label(&role)));
        let lists = roles.entry(role).or_default();
        for (list, (key, _)) in lists.iter_mut().zip(OF_REQUEST) {
            list.push(request.remove(key).unwrap_or_default());
        }
    }
    for (role, lists) in &roles {
        for (list, (_, id)) in lists.iter().zip(OF_REQUEST) {
            tally.median(&format!("{name}{role}{id}"), list, MILLISECOND);
        }
    }
    if short > 0 {
        tally.incident(format!(
            "{short} of {all} requests ended before all of their tokens were there, and were left out"
        ));
    }
}

/// Figures with one value, one for each run, or one for each percentile.
fn figures(fields: Fields, path: &str, name: &str, tally: &mut Tally) -> Result<(), FormatError> {
    for (key, told) in fields {
        let Some((id, unit)) = FIGURES
            .iter()
            .find_map(|(stem, id)| Some((*id, key.strip_prefix(stem)?.strip_prefix('_')?)))
        else {
            tally.unknown(format!("{path}{key}"), told);
            continue;
        };
        let add = |id: &str, told: &Value, tally: &mut Tally| match unit {
            "ms" => tally.time(id, told, MILLISECOND),
            "per_s" => tally.rate(id, told),
            "mb" => tally.memory(id, told, MEBIBYTE),
            _ => tally.memory(id, told, 1.0),
        };
        if !["ms", "per_s", "mb", "bytes"].contains(&unit) {
            return Err(FormatError::UnknownUnit {
                unit: quoted(unit),
                known: "ms, per_s, mb, bytes",
                of: quoted(&key),
            });
        }
        let id = format!("{name}{id}");
        match told {
            Value::Object(_) => {
                for (rank, told) in object(told) {
                    add(&format!("{id}/{}", label(&rank)), &told, tally);
                }
            }
            Value::Array(runs) => {
                for told in runs {
                    add(&id, &told, tally);
                }
            }
            told => add(&id, &told, tally),
        }
    }
    Ok(())
}
