//! What `vllm bench latency` writes: how long each of some whole generations took, in seconds.
//!
//! `--output-json` holds the times and nothing about how they were made. With `SAVE_TO_PYTORCH_BENCHMARK_FORMAT` the
//! same program writes a second file, `….pytorch.json`, which has the arguments too; it is read as well.

use super::objects::Found;
use super::tally::{SECOND, Tally, label, quoted};
use super::value::{Fields, list, object, take_texts, text};
use super::{FormatError, Written};
use crate::profile::{Format, Profile};
use serde_json::Value;
use std::collections::BTreeMap;

/// What there is one of for each measured generation.
const ID: &str = "latency";

/// What its settings begin with.
const PREFIX: &str = "latency/";

/// Keys of a plain result.
const PLAIN: [&str; 2] = ["latencies", "avg_latency"];

/// Arguments that have to be the same on both sides. All others say where something lies, or what is written besides.
const SETTINGS: [&str; 26] = [
    "batch_size",
    "data_parallel_size",
    "device",
    "disable_detokenize",
    "dtype",
    "enable_chunked_prefill",
    "enable_prefix_caching",
    "enforce_eager",
    "gpu_memory_utilization",
    "input_len",
    "kv_cache_dtype",
    "load_format",
    "max_model_len",
    "max_num_batched_tokens",
    "max_num_seqs",
    "model",
    "n",
    "num_iters_warmup",
    "output_len",
    "pipeline_parallel_size",
    "quantization",
    "seed",
    "speculative_config",
    "tensor_parallel_size",
    "tokenizer",
    "use_beam_search",
];

/// Every measured generation is a repetition, also those of a second record, if its arguments are those of the first.
/// Without their times, as in files that somebody shortened, what the program made of them: the mean once, and the
/// percentiles.
///
/// # Errors
/// [`FormatError::Foreign`] if no result is in it, [`FormatError::Nothing`] if none of its times can be used.
pub(super) fn read(written: Written<'_>) -> Result<Profile, FormatError> {
    let found = Found::read(written.bytes);
    if !found
        .objects
        .iter()
        .any(|fields| is_plain(fields) || fields.contains_key("metric"))
    {
        return Err(found.foreign(Format::VllmLatency));
    }
    let mut tally = Tally::new(found.incidents);
    let mut results = 0_usize;
    for fields in found.objects {
        if is_plain(&fields) {
            results += 1;
            if results == 1 {
                plain(fields, &mut tally);
            }
        } else {
            record(fields, &mut tally);
        }
    }
    if results > 1 {
        tally.incident(format!(
            "it holds {results} results, and nothing tells whether they were made alike: only the first was read"
        ));
    }
    tally.finish(Format::VllmLatency)
}

fn is_plain(fields: &Fields) -> bool {
    PLAIN.iter().any(|key| fields.contains_key(*key))
}

fn plain(mut fields: Fields, tally: &mut Tally) {
    if !tally.record(PREFIX, BTreeMap::new()) {
        return;
    }
    let latencies = list(fields.remove("latencies").unwrap_or_default());
    let mean = fields.remove("avg_latency").unwrap_or_default();
    let percentiles = object(fields.remove("percentiles").unwrap_or_default());
    // A spread, which follows from the times.
    fields.remove("std_latency");
    if latencies.is_empty() {
        tally.time(&format!("{ID}/mean"), &mean, SECOND);
        for (percentile, told) in &percentiles {
            tally.time(&format!("{ID}/p{}", label(percentile)), told, SECOND);
        }
    }
    for told in &latencies {
        tally.time(ID, told, SECOND);
    }
    tally.unknown_in("", fields);
}

/// One record of the file with the arguments; there is one for each metric, and here only one metric.
fn record(mut fields: Fields, tally: &mut Tally) {
    let mut metric = object(fields.remove("metric").unwrap_or_default());
    let name = metric.remove("name").unwrap_or_default();
    if name.as_str() != Some(ID) {
        tally.incident(format!(
            "the metric {} is none of this program's, and was left out",
            quoted(&name.to_string())
        ));
        return;
    }
    let mut model = object(fields.remove("model").unwrap_or_default());
    let mut benchmark = object(fields.remove("benchmark").unwrap_or_default());
    let mut info = object(benchmark.remove("extra_info").unwrap_or_default());
    let mut arguments = object(info.remove("args").unwrap_or_default());
    let mut settings = BTreeMap::new();
    take_texts(&mut arguments, "", &SETTINGS, &mut settings);
    if let Some(name) = model.remove("name").as_ref().and_then(text) {
        settings.insert("model".to_owned(), name);
    }
    if !tally.record(PREFIX, settings) {
        return;
    }
    for told in list(metric.remove("benchmark_values").unwrap_or_default()) {
        tally.time(ID, &told, SECOND);
    }
    if !arguments.is_empty() {
        tally.unknown("args".to_owned(), Value::Object(arguments.into_iter().collect()));
    }
    benchmark.remove("name");
    // The mean and the percentiles, which follow from the times.
    metric.remove("extra_info");
    tally.unknown_in("", fields);
    tally.unknown_in("benchmark.", benchmark);
    tally.unknown_in("benchmark.extra_info.", info);
    tally.unknown_in("metric.", metric);
    tally.unknown_in("model.", model);
}

#[cfg(test)]
mod tests {
    use super::super::tally::testing::{alone, cut_anywhere, readings, settings, unknown};
    use super::*;
    use crate::metric::Unit;

    const RESULT: &[u8] = include_bytes!("../../../tests/fixtures/formats/vllm-latency/result.json");
    const OLD: &[u8] = include_bytes!("../../../tests/fixtures/formats/vllm-latency/old.json");
    const PYTORCH: &[u8] = include_bytes!("../../../tests/fixtures/formats/vllm-latency/result.pytorch.json");
    const CUT: &[u8] = include_bytes!("../../../tests/fixtures/formats/vllm-latency/truncated.json");

    #[test]
    fn every_generation_is_a_repetition_and_seconds_become_nanoseconds() {
        for result in [RESULT, OLD] {
            let profile = alone(read, result).unwrap();
            assert_eq!(
                readings(&profile),
                vec![("latency", Unit::Ns, vec![1.5e9, 1.25e9, 1.75e9, 1.5e9])]
            );
            assert!(settings(&profile).is_empty());
            assert_eq!(profile.incidents, [""; 0]);
        }
    }

    #[test]
    fn keys_that_are_not_known_are_kept() {
        assert_eq!(unknown(&alone(read, RESULT).unwrap()), ["warmup_latencies"]);
        assert_eq!(unknown(&alone(read, OLD).unwrap()), [""; 0]);
    }

    #[test]
    fn the_file_for_the_dashboard_tells_the_arguments() {
        let profile = alone(read, PYTORCH).unwrap();
        assert_eq!(
            readings(&profile),
            vec![("latency", Unit::Ns, vec![1.5e9, 1.25e9, 1.75e9])]
        );
        assert_eq!(
            settings(&profile),
            [
                ("latency/batch_size", "8"),
                ("latency/dtype", "bfloat16"),
                ("latency/enable_prefix_caching", "false"),
                ("latency/enforce_eager", "false"),
                ("latency/input_len", "32"),
                ("latency/model", "Qwen/Qwen3-0.6B"),
                ("latency/n", "1"),
                ("latency/num_iters_warmup", "10"),
                ("latency/output_len", "128"),
                ("latency/tensor_parallel_size", "1"),
                ("latency/use_beam_search", "false"),
            ]
        );
        assert_eq!(unknown(&profile), ["args"]);
        assert_eq!(profile.unknown["args"]["output_json"], "results/latency.json");
        assert_eq!(profile.incidents, [""; 0]);
    }

    #[test]
    fn a_second_record_is_a_repetition_only_if_its_arguments_are_the_same() {
        let record = |batch: u32, value: f64| {
            format!(
                r#"{{"benchmark": {{"extra_info": {{"args": {{"batch_size": {batch}}}}}}},
                "metric": {{"name": "latency", "benchmark_values": [{value}]}}}}"#
            )
        };
        let records =
            [record(8, 0.5), record(8, 0.25), record(16, 1.0)].join("\n") + "\n{\"latencies\": [2.0]}\n";
        let profile = alone(read, records.as_bytes()).unwrap();
        assert_eq!(readings(&profile), vec![("latency", Unit::Ns, vec![5e8, 2.5e8])]);
        assert_eq!(settings(&profile), [("latency/batch_size", "8")]);
        assert_eq!(
            profile.incidents,
            [
                "a record of `latency` was left out: its `batch_size` is 16, and 8 in the first",
                "a record of `latency` was left out: its `batch_size` is absent, and 8 in the first",
            ]
        );
    }

    #[test]
    fn without_the_times_of_generations_the_mean_is_read_once() {
        let shortened = br#"{"avg_latency": 1.5, "percentiles": {"50": 1.25, "99": 2.0}}"#;
        assert_eq!(
            readings(&alone(read, shortened).unwrap()),
            vec![
                ("latency/mean", Unit::Ns, vec![1.5e9]),
                ("latency/p50", Unit::Ns, vec![1.25e9]),
                ("latency/p99", Unit::Ns, vec![2e9]),
            ]
        );
    }

    #[test]
    fn of_a_file_that_is_cut_off_the_whole_times_stay() {
        let profile = alone(read, CUT).unwrap();
        assert_eq!(
            readings(&profile),
            vec![("latency", Unit::Ns, vec![1.5e9, 1.25e9])]
        );
        assert_eq!(
            profile.incidents,
            ["the file is cut off: what is whole before its end was read"]
        );
        for file in [RESULT, PYTORCH] {
            cut_anywhere(read, file);
        }
    }

    #[test]
    fn of_several_results_only_the_first_is_read() {
        let profile = alone(read, b"{\"latencies\": [0.5]}\n{\"latencies\": [0.25]}\n").unwrap();
        assert_eq!(readings(&profile), vec![("latency", Unit::Ns, vec![5e8])]);
        assert_eq!(
            profile.incidents,
            ["it holds 2 results, and nothing tells whether they were made alike: only the first was read"]
        );
    }

    #[test]
    fn times_that_cannot_be_are_left_out() {
        let profile = alone(read, br#"{"latencies": [0.5, NaN, 0.0, -1, null, "x"]}"#).unwrap();
        assert_eq!(readings(&profile), vec![("latency", Unit::Ns, vec![5e8])]);
        assert_eq!(
            profile.incidents,
            ["4 of 5 values of `latency` left out: no numbers above zero"]
        );
        let error = alone(read, br#"{"avg_latency": NaN, "latencies": [NaN]}"#).unwrap_err();
        assert_eq!(
            error.to_string(),
            "nothing was measured in this vllm-latency: \
             1 of 1 values of `latency` left out: no numbers above zero"
        );
    }

    #[test]
    fn other_files_are_foreign() {
        let error = alone(read, br#"{"elapsed_time": 2.5, "requests_per_second": 4.0}"#).unwrap_err();
        assert_eq!(
            error.to_string(),
            "this is no vllm-latency: its first JSON object has the keys `elapsed_time`, `requests_per_second`"
        );
        assert!(matches!(
            alone(read, b"").unwrap_err(),
            FormatError::Foreign { .. }
        ));
        let other = br#"[{"metric": {"name": "tokens_per_second", "benchmark_values": [1.0]}}]"#;
        assert!(matches!(
            alone(read, other).unwrap_err(),
            FormatError::Nothing { .. }
        ));
    }
}
