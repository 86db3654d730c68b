//! What `vllm bench serve` writes about the requests that it sent to a server: one JSON fields, or one after another
//! with `--append-result`. Those of `vllm bench throughput` are read as well.
//!
//! Statistics are in milliseconds, lists in seconds. The gaps in `itls` are between pieces of an answer, and several
//! tokens may share one. Requests overlap, so they are no repetitions: a result is, and of each of its lists there is
//! one value, the median. A list with fewer than five times is left out.

use super::objects::Found;
use super::tally::{MILLISECOND, SECOND, Tally, label, quoted};
use super::value::{Fields, list, number, text};
use super::{FormatError, Written};
use crate::profile::{Format, Profile};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What was asked for, in the order in which it tells results apart. Results with the same are repetitions.
const ASKED: [&str; 12] = [
    "request_rate",
    "max_concurrency",
    "num_prompts",
    "num_requests",
    "burstiness",
    "ramp_up_strategy",
    "ramp_up_start_rps",
    "ramp_up_end_rps",
    "model_id",
    "tokenizer_id",
    "backend",
    "best_of",
];

/// What follows from it if every request was answered, and has to be the same for numbers to mean the same.
const FOLLOWS: [&str; 3] = ["total_input_tokens", "total_input_sequences", "total_num_tokens"];

/// Keys of which each result has one.
const RESULT: [&str; 2] = ["request_throughput", "requests_per_second"];

/// So much a second. Some versions write a colon into the second key.
const RATES: [&str; 10] = [
    "request_throughput",
    "request_goodput",
    "request_goodput:",
    "output_throughput",
    "input_throughput",
    "total_token_throughput",
    "input_sequence_throughput",
    "max_output_tokens_per_s",
    "requests_per_second",
    "tokens_per_second",
];

/// Times in seconds.
const TIMES: [&str; 2] = ["duration", "elapsed_time"];

/// Lists with a time in seconds for each request, and what the statistics call it.
const LISTS: [(&str, &str); 2] = [("ttfts", "ttft"), ("latencies", "e2el")];

/// What came out. Tokens are drawn at random and requests fail as they like, so no launch is judged by it.
const OUTCOME: [&str; 2] = ["failed", "total_output_tokens"];

/// Keys that are known and neither settings nor numbers to compare.
const ASIDE: [&str; 10] = [
    "date",
    "endpoint_type",
    "label",
    "completed",
    "input_lens",
    "start_times",
    "queue_times",
    "generated_texts",
    "rps_change_events",
    "max_concurrent_requests",
];

type Settings = BTreeMap<&'static str, String>;

/// One value for each result, also of each list of `--save-detailed`.
///
/// Results that were made with the same settings are repetitions. Where a file has several settings, ids begin with the
/// fewest of them that tell the results apart: `max_concurrency=8/mean_ttft`.
///
/// # Errors
/// [`FormatError::Foreign`] if no result is in it, [`FormatError::Nothing`] if none of its numbers can be used,
/// [`FormatError::UnknownUnit`] for statistics that are not in milliseconds.
pub(super) fn read(written: Written<'_>) -> Result<Profile, FormatError> {
    let found = Found::read(written.bytes);
    if !found.objects.iter().any(is_result) {
        let begun = found.objects.iter().any(|fields| fields.contains_key("model_id"));
        return Err(if begun {
            FormatError::Nothing {
                format: Format::VllmServe,
                why: "its result ends before the first number".to_owned(),
            }
        } else {
            found.foreign(Format::VllmServe)
        });
    }
    let mut tally = Tally::new(found.incidents);
    let all = found.objects.len();
    let results: Vec<Fields> = found.objects.into_iter().filter(is_result).collect();
    if results.len() < all {
        let left_out = all - results.len();
        tally.incident(format!(
            "{left_out} objects that are no whole results were left out"
        ));
    }
    let settings: Vec<Settings> = results.iter().map(settings).collect();
    let naming = telling_apart(&settings);
    let differs = |key: &&str| settings.iter().any(|each| each.get(key) != settings[0].get(key));
    let differing: Vec<&str> = ASKED.into_iter().filter(differs).collect();
    for (result, settings) in results.into_iter().zip(&settings) {
        let name = name(settings, &naming);
        let follows = FOLLOWS
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), settings.get(key)?.clone())));
        if !tally.record(&name, follows.collect()) {
            continue;
        }
        for key in ASKED.iter().filter(|key| !naming.contains(key)) {
            let of = if differing.contains(key) {
                name.as_str()
            } else {
                ""
            };
            if let Some(text) = settings.get(key) {
                tally.setting_text(&format!("{of}{key}"), text);
            }
        }
        figures(result, &name, &mut tally)?;
    }
    tally.finish(Format::VllmServe)
}

fn is_result(fields: &Fields) -> bool {
    RESULT.iter().any(|key| fields.contains_key(*key))
}

fn settings(result: &Fields) -> Settings {
    let keys = ASKED.into_iter().chain(FOLLOWS);
    keys.filter_map(|key| Some((key, text(result.get(key)?)?)))
        .collect()
}

/// The fewest settings, of those that were asked for, that tell apart what can be told apart.
fn telling_apart(all: &[Settings]) -> Vec<&'static str> {
    let apart = |keys: &[&str]| {
        all.iter()
            .map(|settings| keys.iter().map(|key| settings.get(*key)).collect::<Vec<_>>())
            .collect::<BTreeSet<_>>()
            .len()
    };
    let mut naming: Vec<&'static str> = Vec::new();
    for key in ASKED {
        let before = apart(&naming);
        if before == apart(&ASKED) {
            break;
        }
        naming.push(key);
        if apart(&naming) == before {
            naming.pop();
        }
    }
    naming
}

/// What ids begin with: nothing, or `request_rate=4,max_concurrency=8/`.
fn name(settings: &Settings, naming: &[&str]) -> String {
    let named: Vec<String> = naming
        .iter()
        .map(|key| {
            let told = settings.get(*key).map_or("none", String::as_str);
            format!("{key}={}", label(told))
        })
        .collect();
    if named.is_empty() {
        String::new()
    } else {
        format!("{}/", named.join(","))
    }
}

fn figures(mut result: Fields, name: &str, tally: &mut Tally) -> Result<(), FormatError> {
    failures(&result, tally);
    for key in RATES {
        let told = result.remove(key).unwrap_or_default();
        tally.rate(&format!("{name}{}", key.trim_end_matches(':')), &told);
    }
    for key in TIMES {
        let told = result.remove(key).unwrap_or_default();
        tally.time(&format!("{name}{key}"), &told, SECOND);
    }
    for key in OUTCOME {
        if let Some(told) = result.remove(key).filter(|told| !told.is_null()) {
            tally.unknown(format!("{name}{key}"), told);
        }
    }
    // Seconds of sound in a second; zero where nothing is heard.
    let heard = result.remove("rtfx").unwrap_or_default();
    if number(&heard) != Some(0.0) {
        tally.rate(&format!("{name}rtfx"), &heard);
    }
    requests(&mut result, name, tally);
    for key in ASKED.iter().chain(&FOLLOWS).chain(&ASIDE) {
        result.remove(*key);
    }
    for (key, told) in result {
        match Statistic::of(&key, &told)? {
            Some(Statistic::Spread) => {}
            Some(Statistic::Time(id)) => tally.time(&format!("{name}{}", label(id)), &told, MILLISECOND),
            None => tally.unknown(format!("{name}{key}"), told),
        }
    }
    Ok(())
}

/// Requests that failed are in no number. Versions that do not count them tell how many did not.
fn failures(result: &Fields, tally: &mut Tally) {
    let told = |key: &str| result.get(key).and_then(number);
    let asked = told("num_prompts");
    let counted = told("failed").or_else(|| Some(asked? - told("completed")?));
    if let Some(failed) = counted.filter(|failed| *failed > 0.0) {
        let of = asked.map_or_else(String::new, |asked| format!(" of {asked}"));
        tally.incident(format!(
            "{failed}{of} requests failed: all numbers are of those that did not"
        ));
    }
}

/// The medians of the lists of `--save-detailed`, of the requests that did not fail.
fn requests(result: &mut Fields, name: &str, tally: &mut Tally) {
    let mut take = |key: &str| list(result.remove(key).unwrap_or_default());
    let (errors, lengths) = (take("errors"), take("output_lens"));
    let failed = |n: usize| {
        let error = errors.get(n).and_then(Value::as_str).unwrap_or_default();
        !error.is_empty() || lengths.get(n).and_then(number) == Some(0.0)
    };
    let mut whole = |key: &str| {
        let told = take(key).into_iter().enumerate();
        told.filter(|(n, _)| !failed(*n))
            .map(|(_, told)| told)
            .collect::<Vec<Value>>()
    };
    for (key, id) in LISTS {
        tally.median(&format!("{name}{id}"), &whole(key), SECOND);
    }
    let gaps: Vec<Value> = whole("itls").into_iter().flat_map(list).collect();
    tally.median(&format!("{name}itl"), &gaps, SECOND);
}

/// What a key like `p99_ttft_ms` says.
enum Statistic<'a> {
    /// A time in milliseconds, with its id: `p99_ttft`.
    Time(&'a str),
    /// How far values are apart, which no single launch is judged by.
    Spread,
}

impl<'a> Statistic<'a> {
    /// Times whose unit would have to be guessed.
    const TIMES: [&'static str; 4] = ["ttft", "tpot", "itl", "e2el"];

    /// Absent for keys of another kind, like those that users add with `--metadata`, whose values are always text.
    fn of(key: &'a str, told: &Value) -> Result<Option<Self>, FormatError> {
        let bare = key.strip_prefix("probe_").unwrap_or(key);
        let Some((statistic, about)) = bare.split_once('_') else {
            return Ok(None);
        };
        let Some((about, unit)) = about.rsplit_once('_') else {
            return Ok(None);
        };
        let percentile = |rank: &str| rank.parse::<f64>().is_ok_and(f64::is_finite);
        let known = ["mean", "median", "min", "max", "std"].contains(&statistic)
            || statistic.strip_prefix('p').is_some_and(percentile);
        let numeric = told.is_number() || number(told).is_some_and(|number| !number.is_finite());
        if !known || !numeric {
            return Ok(None);
        }
        match unit {
            "ms" if statistic == "std" => Ok(Some(Self::Spread)),
            "ms" => Ok(key.strip_suffix("_ms").map(Self::Time)),
            _ if Self::TIMES.contains(&about) => Err(FormatError::UnknownUnit {
                of: quoted(key),
                unit: quoted(unit),
                known: "ms",
            }),
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tally::testing::{alone, cut_anywhere, readings, settings, unknown};
    use super::*;
    use crate::metric::Unit;

    const RESULT: &[u8] = include_bytes!("../../../tests/fixtures/formats/vllm-serve/result.json");
    const OLD: &[u8] = include_bytes!("../../../tests/fixtures/formats/vllm-serve/old-detailed.json");
    const DETAILED: &[u8] = include_bytes!("../../../tests/fixtures/formats/vllm-serve/detailed.json");
    const APPENDED: &[u8] = include_bytes!("../../../tests/fixtures/formats/vllm-serve/appended.json");
    const SWEEP: &[u8] = include_bytes!("../../../tests/fixtures/formats/vllm-serve/sweep.json");
    const POOLING: &[u8] = include_bytes!("../../../tests/fixtures/formats/vllm-serve/pooling.json");
    const THROUGHPUT: &[u8] = include_bytes!("../../../tests/fixtures/formats/vllm-serve/throughput.json");
    const CUT: &[u8] = include_bytes!("../../../tests/fixtures/formats/vllm-serve/truncated.json");

    const ASKED_OF_RESULT: [(&str, &str); 6] = [
        ("backend", "vllm"),
        ("burstiness", "1"),
        ("model_id", "Qwen/Qwen3-0.6B"),
        ("num_prompts", "4"),
        ("request_rate", "inf"),
        ("tokenizer_id", "Qwen/Qwen3-0.6B"),
    ];

    #[test]
    fn statistics_are_in_milliseconds_and_rates_in_what_they_say() {
        let profile = alone(read, RESULT).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("request_throughput", Unit::PerSecond, vec![2.0]),
                ("output_throughput", Unit::PerSecond, vec![128.0]),
                ("total_token_throughput", Unit::PerSecond, vec![192.0]),
                ("max_output_tokens_per_s", Unit::PerSecond, vec![136.0]),
                ("duration", Unit::Ns, vec![2e9]),
                ("mean_itl", Unit::Ns, vec![7.5e6]),
                ("mean_tpot", Unit::Ns, vec![7.5e6]),
                ("mean_ttft", Unit::Ns, vec![31.25e6]),
                ("median_itl", Unit::Ns, vec![7.25e6]),
                ("median_tpot", Unit::Ns, vec![7.25e6]),
                ("median_ttft", Unit::Ns, vec![30.5e6]),
                ("p99.9_ttft", Unit::Ns, vec![41e6]),
                ("p99_itl", Unit::Ns, vec![12.5e6]),
                ("p99_tpot", Unit::Ns, vec![8.5e6]),
                ("p99_ttft", Unit::Ns, vec![40.75e6]),
            ]
        );
        let told = settings(&profile);
        for setting in ASKED_OF_RESULT {
            assert!(told.contains(&setting), "{setting:?}");
        }
        assert!(told.contains(&("total_input_tokens", "128")));
        assert_eq!(told.len(), ASKED_OF_RESULT.len() + 1, "{told:?}");
        assert_eq!(profile.incidents, [""; 0]);
    }

    #[test]
    fn metadata_and_what_has_no_unit_are_kept() {
        let profile = alone(read, RESULT).unwrap();
        assert_eq!(
            unknown(&profile),
            [
                "failed",
                "max_ttft_ms",
                "spec_decode_acceptance_rate",
                "total_output_tokens",
                "tp"
            ],
            "`--metadata max_ttft_ms=50` is a word of the user's"
        );
        assert_eq!(profile.unknown["tp"], "1");
        assert_eq!(profile.unknown["total_output_tokens"], 256);
    }

    #[test]
    fn a_list_has_one_value_the_median_of_the_requests_that_did_not_fail() {
        let profile = alone(read, DETAILED).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("request_throughput", Unit::PerSecond, vec![20.0]),
                ("output_throughput", Unit::PerSecond, vec![48.0]),
                ("total_token_throughput", Unit::PerSecond, vec![688.0]),
                ("max_output_tokens_per_s", Unit::PerSecond, vec![12.0]),
                ("duration", Unit::Ns, vec![2.5e8]),
                ("ttft/median", Unit::Ns, vec![62.5e6]),
                ("e2el/median", Unit::Ns, vec![125e6]),
                ("itl/median", Unit::Ns, vec![31.25e6]),
                ("mean_ttft", Unit::Ns, vec![75e6]),
                ("median_ttft", Unit::Ns, vec![62.5e6]),
                ("p99_ttft", Unit::Ns, vec![123.75e6]),
            ]
        );
        assert_eq!(
            profile.incidents,
            ["1 of 6 requests failed: all numbers are of those that did not"]
        );
        assert_eq!(unknown(&profile), ["failed", "total_output_tokens"]);
    }

    #[test]
    fn lists_of_several_results_have_several_values() {
        let appended = [DETAILED, DETAILED].concat();
        let profile = alone(read, &appended).unwrap();
        let told = readings(&profile);
        assert!(
            told.contains(&("ttft/median", Unit::Ns, vec![62.5e6, 62.5e6])),
            "{told:?}"
        );
    }

    #[test]
    fn older_files_have_a_colon_in_a_key_and_do_not_count_failures() {
        let profile = alone(read, OLD).unwrap();
        let told = readings(&profile);
        assert!(told.contains(&("request_goodput", Unit::PerSecond, vec![0.5])));
        assert!(told.contains(&("median_ttft", Unit::Ns, vec![31.25e6])));
        assert!(settings(&profile).contains(&("best_of", "1")));
        assert!(settings(&profile).contains(&("request_rate", "4")), "4.0 is 4");
        assert_eq!(unknown(&profile), ["total_output_tokens"]);
        assert_eq!(
            profile.incidents,
            [
                "1 of 2 requests failed: all numbers are of those that did not",
                "the list `ttft` is left out: it has 1 times, and a median takes 5",
                "the list `itl` is left out: it has 2 times, and a median takes 5",
            ]
        );
    }

    #[test]
    fn appended_results_with_the_same_settings_are_repetitions() {
        let profile = alone(read, APPENDED).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("request_throughput", Unit::PerSecond, vec![2.0, 2.5]),
                ("output_throughput", Unit::PerSecond, vec![128.0, 160.0]),
                ("total_token_throughput", Unit::PerSecond, vec![192.0, 240.0]),
                ("duration", Unit::Ns, vec![2e9, 1.5e9]),
                ("mean_ttft", Unit::Ns, vec![31.25e6, 30.5e6]),
            ],
            "how much was answered may differ"
        );
        assert_eq!(
            profile.incidents,
            ["a record was left out: its `total_input_tokens` is 96, and 128 in the first"],
            "the third had a failure, and is no repetition"
        );
    }

    #[test]
    fn settings_that_differ_within_a_file_tell_its_results_apart() {
        let profile = alone(read, SWEEP).unwrap();
        let told = readings(&profile);
        let rates: Vec<_> = told
            .iter()
            .filter(|(id, ..)| id.ends_with("request_throughput"))
            .collect();
        assert_eq!(
            rates,
            [
                &(
                    "max_concurrency=1/request_throughput",
                    Unit::PerSecond,
                    vec![2.0, 2.25]
                ),
                &("max_concurrency=8/request_throughput", Unit::PerSecond, vec![8.0]),
                &(
                    "max_concurrency=none/request_throughput",
                    Unit::PerSecond,
                    vec![16.0]
                ),
            ]
        );
        let told = settings(&profile);
        assert!(told.contains(&("request_rate", "inf")));
        assert!(
            told.contains(&("max_concurrency=8/num_prompts", "32")),
            "{told:?}"
        );
        assert!(told.contains(&("max_concurrency=1/total_input_tokens", "128")));
        assert!(told.iter().all(|(key, _)| *key != "max_concurrency"));
        assert_eq!(profile.incidents, [""; 0]);
        assert_eq!(profile.unknown["max_concurrency=1/tp"], "1");
        assert_eq!(profile.unknown["max_concurrency=8/tp"], "2");
    }

    #[test]
    fn metadata_of_repetitions_that_differs_is_told() {
        let results = br#"{"request_throughput": 2.0, "tp": "1"} {"request_throughput": 2.5, "tp": "2"}"#;
        assert_eq!(
            alone(read, results).unwrap().incidents,
            ["`tp` is `1`, and `2` later on: the first counts"],
            "it may be a setting; nobody knows"
        );
    }

    #[test]
    fn pooling_models_have_latencies_and_inputs() {
        assert_eq!(
            readings(&alone(read, POOLING).unwrap()),
            vec![
                ("request_throughput", Unit::PerSecond, vec![4.0]),
                ("total_token_throughput", Unit::PerSecond, vec![256.0]),
                ("input_sequence_throughput", Unit::PerSecond, vec![8.0]),
                ("duration", Unit::Ns, vec![5e8]),
                ("mean_e2el", Unit::Ns, vec![187.5e6]),
                ("median_e2el", Unit::Ns, vec![187.5e6]),
                ("p99_e2el", Unit::Ns, vec![248.75e6]),
            ]
        );
    }

    #[test]
    fn results_of_throughput_are_told_apart() {
        let profile = alone(read, THROUGHPUT).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("requests_per_second", Unit::PerSecond, vec![40.0]),
                ("tokens_per_second", Unit::PerSecond, vec![6400.0]),
                ("elapsed_time", Unit::Ns, vec![2.5e9]),
            ]
        );
        assert_eq!(
            settings(&profile),
            [("num_requests", "100"), ("total_num_tokens", "16000")]
        );
    }

    #[test]
    fn of_a_file_that_is_cut_off_the_whole_numbers_stay() {
        let profile = alone(read, CUT).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("request_throughput", Unit::PerSecond, vec![2.0, 2.5]),
                ("output_throughput", Unit::PerSecond, vec![128.0]),
                ("total_token_throughput", Unit::PerSecond, vec![192.0]),
                ("duration", Unit::Ns, vec![2e9, 1.5e9]),
                ("mean_ttft", Unit::Ns, vec![31.25e6]),
            ]
        );
        assert_eq!(
            profile.incidents,
            ["the file is cut off: what is whole before its end was read"]
        );
        for file in [RESULT, OLD, DETAILED, APPENDED, SWEEP, POOLING, THROUGHPUT] {
            cut_anywhere(read, file);
        }
        let begun = br#"{"date": "20250101-000000", "model_id": "m", "request_rate": "#;
        assert_eq!(
            alone(read, begun).unwrap_err().to_string(),
            "nothing was measured in this vllm-serve: its result ends before the first number"
        );
    }

    #[test]
    fn a_server_that_does_not_stream_has_no_time_to_the_first_token() {
        let profile = alone(read, br#"{"request_throughput": 2.0, "mean_ttft_ms": 0.0}"#).unwrap();
        assert_eq!(
            readings(&profile),
            vec![("request_throughput", Unit::PerSecond, vec![2.0])]
        );
        assert_eq!(
            profile.incidents,
            ["1 of 1 values of `mean_ttft` left out: no numbers above zero"]
        );
    }

    #[test]
    fn statistics_in_another_unit_are_an_error() {
        let error = alone(read, br#"{"request_throughput": 2.0, "p99_ttft_us": 31.5}"#).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`p99_ttft_us` is in `us`, a unit that is not known; known are ms"
        );
        assert!(alone(read, br#"{"request_throughput": 2.0, "p99_ttft_slo": "30"}"#).is_ok());
    }

    #[test]
    fn other_files_are_foreign() {
        assert_eq!(
            alone(read, br#"{"latencies": [1.5]}"#).unwrap_err().to_string(),
            "this is no vllm-serve: its first JSON object has the keys `latencies`"
        );
    }
}
