//! What the benchmarks of onnxruntime-genai write: a list of records from the script `benchmark_e2e.py`, text from
//! `model_benchmark`, and an object for each scenario of `engine_benchmark`.
//!
//! Ids and the keys of settings begin with what was measured: `b1-in16-out256/` is one sequence of 16 tokens that 256
//! are added to. A second record of the same is a repetition only if its settings are equal.

mod engine;
mod records;
mod text;

use super::objects::Found;
use super::tally::label;
use super::{FormatError, Written};
use crate::profile::{Format, Profile};

/// Reads whichever of the three it is, told apart by what is in it.
///
/// # Errors
/// [`FormatError::Foreign`] if it is none of them, [`FormatError::Nothing`] if none of its numbers can be used,
/// [`FormatError::UnknownUnit`] for figures in units that none of them uses.
pub(super) fn read(written: Written<'_>) -> Result<Profile, FormatError> {
    let found = Found::read(written.bytes);
    let tally = if found.objects.iter().any(engine::is_scenario) {
        engine::read(found)?
    } else if found.objects.iter().any(records::is_record) {
        records::read(found)?
    } else if text::is_report(written.bytes) {
        text::read(written.bytes)?
    } else {
        return Err(found.foreign(Format::Genai));
    };
    tally.finish(Format::Genai)
}

/// `b1-in16-out256/` from what is known of it.
fn name(sizes: &[(&str, Option<String>)]) -> String {
    let known: Vec<String> = sizes
        .iter()
        .filter_map(|(letter, size)| Some(format!("{letter}{}", label(size.as_ref()?))))
        .collect();
    if known.is_empty() {
        String::new()
    } else {
        format!("{}/", known.join("-"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tally::testing::{alone, cut_anywhere, readings, settings, unknown};
    use super::*;
    use crate::metric::Unit;

    const RECORDS: &[u8] = include_bytes!("../../../tests/fixtures/formats/genai/e2e.json");
    const OLD_RECORDS: &[u8] = include_bytes!("../../../tests/fixtures/formats/genai/e2e-per-token.json");
    const CUT_RECORDS: &[u8] = include_bytes!("../../../tests/fixtures/formats/genai/e2e-truncated.json");
    const TEXT: &[u8] = include_bytes!("../../../tests/fixtures/formats/genai/model_benchmark.txt");
    const OLD_TEXT: &[u8] = include_bytes!("../../../tests/fixtures/formats/genai/model_benchmark-old.txt");
    const CUT_TEXT: &[u8] =
        include_bytes!("../../../tests/fixtures/formats/genai/model_benchmark-truncated.txt");
    const ENGINE: &[u8] = include_bytes!("../../../tests/fixtures/formats/genai/engine.json");
    const OLD_ENGINE: &[u8] = include_bytes!("../../../tests/fixtures/formats/genai/engine-old.json");
    const FAILED_ENGINE: &[u8] = include_bytes!("../../../tests/fixtures/formats/genai/engine-failed.json");
    const CUT_ENGINE: &[u8] = include_bytes!("../../../tests/fixtures/formats/genai/engine-truncated.json");

    #[test]
    fn a_record_has_one_mean_of_each_phase() {
        let profile = alone(read, RECORDS).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                (
                    "b1-in16-out256/peak_gpu_memory",
                    Unit::Bytes,
                    vec![2_684_354_560.0]
                ),
                (
                    "b1-in16-out256/prompt_processing_latency/mean",
                    Unit::Ns,
                    vec![8e6]
                ),
                (
                    "b1-in16-out256/prompt_processing_throughput/mean",
                    Unit::PerSecond,
                    vec![2000.0]
                ),
                ("b1-in16-out256/sampling_latency/mean", Unit::Ns, vec![62_500.0]),
                (
                    "b1-in16-out256/sampling_throughput/mean",
                    Unit::PerSecond,
                    vec![16000.0]
                ),
                ("b1-in16-out256/time_to_first_token/mean", Unit::Ns, vec![8.5e6]),
                (
                    "b1-in16-out256/token_generation_latency/mean",
                    Unit::Ns,
                    vec![4e6]
                ),
                (
                    "b1-in16-out256/token_generation_throughput/mean",
                    Unit::PerSecond,
                    vec![250.0]
                ),
                (
                    "b1-in16-out256/tokenization_latency/mean",
                    Unit::Ns,
                    vec![500_000.0]
                ),
                (
                    "b1-in16-out256/tokenization_throughput/mean",
                    Unit::PerSecond,
                    vec![32000.0]
                ),
                (
                    "b1-in16-out256/wall_clock_throughput/mean",
                    Unit::PerSecond,
                    vec![256.0]
                ),
                ("b1-in16-out256/wall_clock_time/mean", Unit::Ns, vec![1.0625e9]),
                (
                    "b4-in16-out256/token_generation_latency/mean",
                    Unit::Ns,
                    vec![5e6]
                ),
                (
                    "b4-in16-out256/token_generation_throughput/mean",
                    Unit::PerSecond,
                    vec![800.0]
                ),
            ],
            "gigabytes are gibibytes, and what was zero is not written"
        );
        assert_eq!(profile.incidents, [""; 0]);
    }

    #[test]
    fn runs_that_a_record_claims_are_not_those_that_were_made() {
        let profile = alone(read, RECORDS).unwrap();
        assert_eq!(
            settings(&profile),
            [
                ("b1-in16-out256/config.backend", "onnxruntime-genai"),
                ("b1-in16-out256/config.model_info.full_name", "qwen3-0.6b"),
                ("b1-in16-out256/config.precision", "int4"),
                ("b1-in16-out256/metadata.device", "cuda"),
                ("b1-in16-out256/metadata.package_name", "onnxruntime-genai-cuda"),
                ("b1-in16-out256/prompt_processing_latency", "of all tokens"),
                ("b4-in16-out256/config.backend", "onnxruntime-genai"),
                ("b4-in16-out256/config.model_info.full_name", "qwen3-0.6b"),
                ("b4-in16-out256/config.precision", "int4"),
                ("b4-in16-out256/metadata.device", "cuda"),
                ("b4-in16-out256/metadata.package_name", "onnxruntime-genai-cuda"),
            ],
            "`warmup_runs` and `measured_runs` are what the script would have done by itself"
        );
        assert_eq!(unknown(&profile), ["config.chat_template", "metrics.energy_j"]);
    }

    #[test]
    fn old_scripts_divide_the_time_of_the_prompt_by_its_tokens() {
        let profile = alone(read, OLD_RECORDS).unwrap();
        assert!(
            settings(&profile).contains(&("b1-in16-out256-max512/prompt_processing_latency", "of one token"))
        );
        let told = readings(&profile);
        assert!(told.contains(&(
            "b1-in16-out256-max512/prompt_processing_latency/mean",
            Unit::Ns,
            vec![500_000.0]
        )));
    }

    #[test]
    fn a_second_record_of_the_same_sizes_is_a_repetition_only_if_its_settings_are_equal() {
        let record = |precision: &str, latency: f64| {
            format!(
                r#"{{"config": {{"batch_size": 1, "precision": "{precision}"}},
                "metrics": {{"token_generation_latency_ms": {latency}}}}}"#
            )
        };
        let records = [record("int4", 4.0), record("int4", 5.0), record("fp16", 8.0)].concat();
        let profile = alone(read, records.as_bytes()).unwrap();
        assert_eq!(
            readings(&profile),
            vec![("b1/token_generation_latency/mean", Unit::Ns, vec![4e6, 5e6])]
        );
        assert_eq!(settings(&profile), [("b1/config.precision", "int4")]);
        assert_eq!(
            profile.incidents,
            ["a record of `b1` was left out: its `config.precision` is fp16, and int4 in the first"]
        );
        let scenario = |provider: &str, memory: f64| {
            format!(
                r#"{{"scenario": "s", "config_metadata": {{"execution_provider": "{provider}"}},
                "core_metrics": {{"summary": {{"peak_memory_mb": {memory}}}}}}}"#
            )
        };
        let scenarios = [scenario("cuda", 1.0), scenario("cpu", 2.0)].concat();
        let profile = alone(read, scenarios.as_bytes()).unwrap();
        assert_eq!(
            readings(&profile),
            vec![("s/peak_memory", Unit::Bytes, vec![1_048_576.0])]
        );
        assert_eq!(
            profile.incidents,
            [
                "a record of `s` was left out: its `config_metadata.execution_provider` is cpu, and cuda in \
                 the first"
            ]
        );
    }

    #[test]
    fn a_phase_of_another_number_of_values_is_no_repetition() {
        let report = |n: u32, avg: u32| {
            format!(
                "Token generation:\n\tavg (us): {avg}\n\tn: {n} * 1 token(s)\n\
                 Peak working set size: 0 bytes (0 MB)\n"
            )
        };
        let reports = [report(5, 10), report(6, 20), report(5, 30)].concat();
        let profile = alone(read, reports.as_bytes()).unwrap();
        assert_eq!(
            readings(&profile),
            vec![("token_generation/mean", Unit::Ns, vec![10e3, 30e3])]
        );
        assert_eq!(
            profile.incidents,
            [
                "a record of `token_generation` was left out: its `n` is 6 * 1 token(s), and 5 * 1 token(s) \
                 in the first"
            ]
        );
    }

    #[test]
    fn text_has_a_mean_a_rate_and_a_median_of_each_phase() {
        let profile = alone(read, TEXT).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                (
                    "b1-in128-out64/prompt_processing/mean",
                    Unit::Ns,
                    vec![40_250_500.0]
                ),
                (
                    "b1-in128-out64/prompt_processing/tokens_per_second/mean",
                    Unit::PerSecond,
                    vec![3180.25]
                ),
                (
                    "b1-in128-out64/prompt_processing/p50",
                    Unit::Ns,
                    vec![40_125_000.0]
                ),
                (
                    "b1-in128-out64/token_generation/mean",
                    Unit::Ns,
                    vec![4_062_500.0]
                ),
                (
                    "b1-in128-out64/token_generation/tokens_per_second/mean",
                    Unit::PerSecond,
                    vec![246.125]
                ),
                ("b1-in128-out64/token_generation/p50", Unit::Ns, vec![4_031_250.0]),
                ("b1-in128-out64/token_sampling/mean", Unit::Ns, vec![27_500.0]),
                (
                    "b1-in128-out64/token_sampling/tokens_per_second/mean",
                    Unit::PerSecond,
                    vec![36363.5]
                ),
                ("b1-in128-out64/token_sampling/p50", Unit::Ns, vec![27_750.0]),
                ("b1-in128-out64/e2e_generation/mean", Unit::Ns, vec![300.25e6]),
                ("b1-in128-out64/e2e_generation/p50", Unit::Ns, vec![299.5e6]),
                (
                    "b1-in128-out64/peak_working_set",
                    Unit::Bytes,
                    vec![1_304_625_152.0]
                ),
                (
                    "b1-in128-out64/dedicated_gpu_memory",
                    Unit::Bytes,
                    vec![4_294_967_296.0]
                ),
                (
                    "b1-in128-out64/total_gpu_memory",
                    Unit::Bytes,
                    vec![4_294_967_296.0]
                ),
            ]
        );
        assert_eq!(
            settings(&profile),
            [
                ("b1-in128-out64/e2e_generation/n", "5"),
                ("b1-in128-out64/prompt_processing/n", "5 * 128 token(s)"),
                ("b1-in128-out64/token_generation/n", "315 * 1 token(s)"),
                ("b1-in128-out64/token_sampling/n", "5 * 1 token(s)"),
            ]
        );
        assert_eq!(profile.incidents, [""; 0]);
    }

    #[test]
    fn old_text_samples_every_token_apart_and_its_settings_say_so() {
        let profile = alone(read, OLD_TEXT).unwrap();
        let told = readings(&profile);
        assert!(
            told.contains(&(
                "b1-in2-out128/prompt_processing/mean",
                Unit::Ns,
                vec![1_250_000_000.0, 1_500_000_000.0]
            )),
            "{told:?}"
        );
        assert!(told.contains(&(
            "b1-in2-out128/peak_working_set",
            Unit::Bytes,
            vec![2864254976.0, 2864254976.0]
        )));
        assert!(settings(&profile).contains(&("b1-in2-out128/token_sampling/n", "640 * 1 token(s)")));
        assert_eq!(unknown(&profile), ["Token embedding/avg (us)"]);
        assert_eq!(
            profile.incidents,
            ["1 of 2 values of `b1-in2-out128/token_sampling/mean` left out: no numbers above zero"]
        );
    }

    #[test]
    fn a_scenario_has_medians_of_requests_and_percentiles() {
        let profile = alone(read, ENGINE).unwrap();
        let id = |id: &str| format!("decode_baseline-c2-in4k-out64/{id}");
        let told = readings(&profile);
        let expected = [
            (id("time_to_first_token/median"), Unit::Ns, vec![51.25e6]),
            (id("inter_token_latency/median"), Unit::Ns, vec![6.375e6]),
            (id("inter_token_latency/p50"), Unit::Ns, vec![6.25e6]),
            (id("inter_token_latency/p95"), Unit::Ns, vec![7.5e6]),
            (id("peak_device_memory"), Unit::Bytes, vec![2048.5 * 1_048_576.0]),
            (id("time_to_first_token/p5"), Unit::Ns, vec![50e6]),
            (id("time_to_first_token/p50"), Unit::Ns, vec![51.25e6]),
            (id("time_to_first_token/p95"), Unit::Ns, vec![52.5e6]),
            (id("e2e"), Unit::Ns, vec![500e6, 512.5e6, 506.25e6]),
            (id("peak_host_memory"), Unit::Bytes, vec![1024.0 * 1_048_576.0]),
            (
                id("tokens_per_second"),
                Unit::PerSecond,
                vec![256.0, 249.5, 252.75],
            ),
        ];
        let expected: Vec<_> = expected
            .iter()
            .map(|(id, unit, values)| (id.as_str(), *unit, values.clone()))
            .collect();
        assert_eq!(told, expected);
        assert_eq!(
            settings(&profile),
            [
                (
                    "decode_baseline-c2-in4k-out64/config_metadata.execution_provider",
                    "cuda"
                ),
                ("decode_baseline-c2-in4k-out64/config_metadata.measured_runs", "3"),
                (
                    "decode_baseline-c2-in4k-out64/config_metadata.model_path",
                    "models/qwen3-0.6b"
                ),
                (
                    "decode_baseline-c2-in4k-out64/scenario_metrics.prompt_tokens",
                    "4093"
                ),
            ]
        );
        assert_eq!(unknown(&profile), ["scenario_metrics.admission"]);
        assert_eq!(
            profile.incidents,
            [
                "the scenario ended with `failed`: 1 of 6 request(s) completed with fewer tokens than requested",
                "1 of 6 requests ended before all of their tokens were there, and were left out",
            ]
        );
    }

    #[test]
    fn the_first_scenarios_had_their_figures_elsewhere() {
        let profile = alone(read, OLD_ENGINE).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("long_prefill-c1-in32k-out16/e2e/p50", Unit::Ns, vec![2.125e9]),
                ("long_prefill-c1-in32k-out16/e2e/p95", Unit::Ns, vec![2.25e9]),
                (
                    "long_prefill-c1-in32k-out16/peak_memory",
                    Unit::Bytes,
                    vec![4_294_967_296.0]
                ),
                (
                    "long_prefill-c1-in32k-out16/tokens_per_second/p50",
                    Unit::PerSecond,
                    vec![7.5]
                ),
                (
                    "long_prefill-c1-in32k-out16/time_to_first_token/p50",
                    Unit::Ns,
                    vec![2e9]
                ),
                (
                    "long_prefill-c1-in32k-out16/time_to_first_token/p95",
                    Unit::Ns,
                    vec![2.0625e9]
                ),
                (
                    "long_prefill-c1-in32k-out16/inter_token_latency/p50",
                    Unit::Ns,
                    vec![7.5e6]
                ),
                (
                    "long_prefill-c1-in32k-out16/inter_token_latency/p95",
                    Unit::Ns,
                    vec![8.5e6]
                ),
            ]
        );
        assert_eq!(
            profile.incidents,
            [
                "1 of 2 times in the list `long_prefill-c1-in32k-out16/time_to_first_token` left out: no \
                 numbers above zero",
                "the list `long_prefill-c1-in32k-out16/time_to_first_token` is left out: it has 1 times, and \
                 a median takes 5",
                "1 of 2 times in the list `long_prefill-c1-in32k-out16/inter_token_latency` left out: no \
                 numbers above zero",
                "the list `long_prefill-c1-in32k-out16/inter_token_latency` is left out: it has 1 times, and \
                 a median takes 5",
            ],
            "a request without any token has 0.0"
        );
    }

    #[test]
    fn a_scenario_that_failed_says_why() {
        assert_eq!(
            alone(read, FAILED_ENGINE).unwrap_err().to_string(),
            "nothing was measured in this genai: \
             the scenario ended with `failed`: model_path does not exist: models/absent"
        );
    }

    #[test]
    fn of_files_that_are_cut_off_the_whole_numbers_stay() {
        let cut = "the file is cut off: what is whole before its end was read";
        let profile = alone(read, CUT_RECORDS).unwrap();
        assert_eq!(
            readings(&profile),
            vec![(
                "b1-in16-out256/tokenization_throughput/mean",
                Unit::PerSecond,
                vec![32000.0]
            )]
        );
        assert_eq!(profile.incidents, [cut]);
        let profile = alone(read, CUT_TEXT).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                (
                    "b1-in128-out64/prompt_processing/mean",
                    Unit::Ns,
                    vec![40_250_500.0]
                ),
                (
                    "b1-in128-out64/prompt_processing/tokens_per_second/mean",
                    Unit::PerSecond,
                    vec![3180.25]
                ),
            ]
        );
        assert_eq!(
            profile.incidents,
            ["the text is cut off: what is whole before its last line was read"]
        );
        let profile = alone(read, CUT_ENGINE).unwrap();
        let told = readings(&profile);
        assert!(
            told.contains(&("decode_baseline-c2-in4k-out64/e2e", Unit::Ns, vec![500e6])),
            "{told:?}"
        );
        assert_eq!(profile.incidents[0], cut);
        let unnamed = ENGINE.iter().position(|byte| *byte == b'[').unwrap();
        assert_eq!(
            alone(read, &ENGINE[..unnamed]).unwrap_err().to_string(),
            format!("nothing was measured in this genai: {cut}; a scenario without its name was left out")
        );
        for file in [
            RECORDS,
            OLD_RECORDS,
            TEXT,
            OLD_TEXT,
            ENGINE,
            OLD_ENGINE,
            FAILED_ENGINE,
        ] {
            cut_anywhere(read, file);
        }
    }

    #[test]
    fn figures_in_another_unit_are_an_error() {
        for (written, told) in [
            (
                r#"[{"config": {}, "metrics": {"token_generation_latency_us": 4.0}}]"#,
                "`token_generation_latency_us` is in `us`, a unit that is not known; known are ms, s, tps, qps, gb, GB",
            ),
            (
                "Prompt processing (time to first token):\n\tavg (min): 5\n",
                "`avg` is in `min`, a unit that is not known; known are ns, us, ms, s, tokens/s",
            ),
            (
                "Prompt processing (time to first token):\nPeak working set size: 5 pages (5 MB)\n",
                "`Peak working set size` is in `pages`, a unit that is not known; known are bytes",
            ),
            (
                r#"{"scenario": "s", "core_metrics": {"summary": {"ttft_us": {"p50": 5}}}}"#,
                "`ttft_us` is in `us`, a unit that is not known; known are ms, per_s, mb, bytes",
            ),
        ] {
            assert_eq!(alone(read, written.as_bytes()).unwrap_err().to_string(), told);
        }
    }

    #[test]
    fn other_files_are_foreign() {
        assert_eq!(
            alone(read, b"Exception: no model\n").unwrap_err().to_string(),
            "this is no genai: there is no JSON object in it"
        );
        assert!(matches!(
            alone(read, br#"{"metrics": {}}"#).unwrap_err(),
            FormatError::Foreign { .. }
        ));
    }
}
