//! The report that `trtllm-bench latency` and `trtllm-bench throughput` write with `--report_json`: one JSON object
//! with sections, of which only `performance` is always there.
//!
//! Percentiles are over requests. A request's time per token is its mean, so they say nothing about single tokens.
//! Those of streaming have no unit in their names: times in milliseconds, rates in tokens a second.

use super::objects::Found;
use super::tally::{MILLISECOND, Tally, label, quoted};
use super::value::{Fields, object};
use super::{FormatError, Written};
use crate::profile::{Format, Profile};
use serde_json::Value;

/// A section with settings: its name, what has to be the same on both sides, and what is known besides: places, names
/// of the build, what was measured, and what follows from the rest.
struct Section {
    name: &'static str,
    settings: &'static [&'static str],
    aside: &'static [&'static str],
}

const SECTIONS: [Section; 6] = [
    Section {
        name: "engine",
        settings: &[
            "model",
            "backend",
            "dtype",
            "kv_cache_dtype",
            "quantization",
            "max_input_length",
            "max_sequence_length",
        ],
        aside: &["model_path", "engine_dir", "version"],
    },
    Section {
        name: "machine",
        settings: &["name", "memory.total", "clocks.mem"],
        aside: &[],
    },
    Section {
        name: "world_info",
        settings: &[
            "tp_size",
            "pp_size",
            "ep_size",
            "world_size",
            "max_batch_size",
            "max_num_tokens",
            "scheduling_policy",
            "kv_cache_percentage",
        ],
        aside: &["issue_rate"],
    },
    Section {
        name: "request_info",
        settings: &["num_requests", "avg_input_length"],
        aside: &["avg_num_concurrent_requests"],
    },
    Section {
        name: "decoding_stats",
        settings: &["mode"],
        aside: &[],
    },
    Section {
        name: "dataset",
        settings: &[
            "num_requests",
            "max_isl",
            "max_osl",
            "max_sequence_length",
            "avg_isl",
            "avg_osl",
            "avg_sequence_length",
        ],
        aside: &["dataset_path", "isl_stats", "osl_stats", "seq_len_stats"],
    },
];

/// Sections with what was measured.
const MEASURED: [&str; 2] = ["performance", "streaming_metrics"];

/// Single figures, each with its unit behind: `total_latency_ms`.
const FIGURES: [&str; 10] = [
    "total_latency",
    "avg_request_latency",
    "request_throughput",
    "system_output_throughput",
    "system_total_throughput",
    "output_throughput_per_user",
    "output_throughput_per_gpu",
    "token_output_speed",
    "avg_ttft",
    "avg_tpot",
];

/// Percentiles over requests, what ids call them, and their unit where the key has none.
const PERCENTILES: [(&str, &str, &str); 4] = [
    ("request_latency_percentiles", "request_latency", ""),
    ("tpot_percentiles", "tpot", "ms"),
    ("ttft_percentiles", "ttft", "ms"),
    ("gen_tps_percentiles", "gen_tps", "tok_s"),
];

/// The mean, which each of the percentiles repeats from a single figure.
const MEAN: &str = "average";

/// One value of each figure: a report is one run.
///
/// # Errors
/// [`FormatError::Foreign`] if no report is in it, [`FormatError::Nothing`] if none of its numbers can be used,
/// [`FormatError::UnknownUnit`] for figures that are neither milliseconds nor so much a second.
pub(super) fn read(written: Written<'_>) -> Result<Profile, FormatError> {
    let mut found = Found::read(written.bytes);
    let reports = found.objects.iter().filter(|fields| is_report(fields)).count();
    let Some(at) = found.objects.iter().position(is_report) else {
        return Err(found.foreign(Format::Trtllm));
    };
    let mut report = found.objects.swap_remove(at);
    let mut tally = Tally::new(found.incidents);
    if reports > 1 {
        tally.incident(format!("it holds {reports} reports: only the first was read"));
    }
    for name in MEASURED {
        measured(name, object(report.remove(name).unwrap_or_default()), &mut tally)?;
    }
    for section in SECTIONS {
        let mut fields = object(report.remove(section.name).unwrap_or_default());
        for key in section.settings {
            let told = fields.remove(*key).unwrap_or_default();
            tally.setting(&format!("{}.{key}", section.name), &told);
        }
        for key in section.aside {
            fields.remove(*key);
        }
        tally.unknown_in(&format!("{}.", section.name), fields);
    }
    tally.unknown_in("", report);
    tally.finish(Format::Trtllm)
}

fn is_report(fields: &Fields) -> bool {
    fields.get(MEASURED[0]).is_some_and(Value::is_object)
}

/// Everything in a section with what was measured.
fn measured(section: &str, mut fields: Fields, tally: &mut Tally) -> Result<(), FormatError> {
    for stem in FIGURES {
        for (key, unit) in units(&fields, stem) {
            let told = fields.remove(&key).unwrap_or_default();
            figure(stem, &key, &unit, &told, tally)?;
        }
    }
    for (stem, id, otherwise) in PERCENTILES {
        for (key, unit) in units(&fields, stem) {
            let unit = if unit.is_empty() { otherwise } else { unit.as_str() };
            let mut ranks = object(fields.remove(&key).unwrap_or_default());
            ranks.remove(MEAN);
            for (rank, told) in ranks {
                figure(&format!("{id}/{}", label(&rank)), &key, unit, &told, tally)?;
            }
        }
    }
    tally.unknown_in(&format!("{section}."), fields);
    Ok(())
}

/// The keys that are a stem and a unit, each with the unit, which is empty for the bare stem.
fn units(fields: &Fields, stem: &str) -> Vec<(String, String)> {
    let unit = |key: &str| match key.strip_prefix(stem)? {
        "" => Some(String::new()),
        rest => Some(rest.strip_prefix('_')?.to_owned()),
    };
    let keys = fields.keys();
    keys.filter_map(|key| Some((key.clone(), unit(key)?))).collect()
}

fn figure(id: &str, key: &str, unit: &str, told: &Value, tally: &mut Tally) -> Result<(), FormatError> {
    match unit {
        "ms" => tally.time(id, told, MILLISECOND),
        "tok_s" | "req_s" => tally.rate(id, told),
        _ => {
            return Err(FormatError::UnknownUnit {
                of: quoted(key),
                unit: quoted(unit),
                known: "ms, tok_s, req_s",
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tally::testing::{alone, cut_anywhere, readings, settings, unknown};
    use super::*;
    use crate::metric::Unit;

    const LATENCY: &[u8] = include_bytes!("../../../tests/fixtures/formats/trtllm/latency.json");
    const THROUGHPUT: &[u8] = include_bytes!("../../../tests/fixtures/formats/trtllm/throughput.json");
    const CUT: &[u8] = include_bytes!("../../../tests/fixtures/formats/trtllm/truncated.json");

    #[test]
    fn a_report_of_latency_has_times_of_requests_and_of_streaming() {
        let profile = alone(read, LATENCY).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("total_latency", Unit::Ns, vec![2.5e9]),
                ("avg_request_latency", Unit::Ns, vec![250e6]),
                ("request_throughput", Unit::PerSecond, vec![4.0]),
                ("system_output_throughput", Unit::PerSecond, vec![512.0]),
                ("system_total_throughput", Unit::PerSecond, vec![1024.0]),
                ("output_throughput_per_user", Unit::PerSecond, vec![510.5]),
                ("output_throughput_per_gpu", Unit::PerSecond, vec![512.0]),
                ("request_latency/maximum", Unit::Ns, vec![252.5e6]),
                ("request_latency/minimum", Unit::Ns, vec![248.5e6]),
                ("request_latency/p50", Unit::Ns, vec![250.25e6]),
                ("request_latency/p90", Unit::Ns, vec![251.5e6]),
                ("request_latency/p95", Unit::Ns, vec![252e6]),
                ("request_latency/p99", Unit::Ns, vec![252.5e6]),
                ("token_output_speed", Unit::PerSecond, vec![535.75]),
                ("avg_ttft", Unit::Ns, vec![12.5e6]),
                ("avg_tpot", Unit::Ns, vec![1.875e6]),
                ("tpot/p50", Unit::Ns, vec![1.875e6]),
                ("tpot/p99", Unit::Ns, vec![1.9375e6]),
                ("ttft/p50", Unit::Ns, vec![12.25e6]),
                ("ttft/p99", Unit::Ns, vec![14.5e6]),
                ("gen_tps/p50", Unit::PerSecond, vec![533.25]),
            ]
        );
        assert_eq!(profile.incidents, [""; 0]);
    }

    #[test]
    fn settings_are_the_model_the_machine_and_the_requests_but_not_the_build() {
        assert_eq!(
            settings(&alone(read, LATENCY).unwrap()),
            [
                ("dataset.avg_isl", "128"),
                ("dataset.avg_osl", "128"),
                ("dataset.avg_sequence_length", "256"),
                ("dataset.max_isl", "128"),
                ("dataset.max_osl", "128"),
                ("dataset.max_sequence_length", "256"),
                ("dataset.num_requests", "10"),
                ("decoding_stats.mode", "Eagle"),
                ("engine.backend", "Pytorch"),
                ("engine.dtype", "bfloat16"),
                ("engine.kv_cache_dtype", "FP8"),
                ("engine.model", "meta-llama/Llama-3.1-8B"),
                ("engine.quantization", "FP8"),
                ("machine.clocks.mem", "3.201"),
                ("machine.memory.total", "139.8"),
                ("machine.name", "NVIDIA H200"),
                ("request_info.avg_input_length", "128"),
                ("request_info.num_requests", "10"),
                ("world_info.ep_size", "1"),
                ("world_info.kv_cache_percentage", "0.9"),
                ("world_info.max_batch_size", "1"),
                ("world_info.max_num_tokens", "8192"),
                ("world_info.pp_size", "1"),
                ("world_info.scheduling_policy", "GUARANTEED_NO_EVICT"),
                ("world_info.tp_size", "1"),
                ("world_info.world_size", "1"),
            ]
        );
    }

    #[test]
    fn sections_and_keys_that_are_not_known_are_kept() {
        let profile = alone(read, LATENCY).unwrap();
        assert_eq!(
            unknown(&profile),
            [
                "decoding_stats.acceptance_length_percentiles",
                "energy",
                "performance.note",
                "request_info.avg_output_length"
            ]
        );
    }

    #[test]
    fn how_long_answers_were_is_kept_and_no_count() {
        for (report, length) in [(LATENCY, 128.0), (THROUGHPUT, 127.5)] {
            let profile = alone(read, report).unwrap();
            assert_eq!(profile.unknown["request_info.avg_output_length"], length);
            assert!(readings(&profile).iter().all(|(_, unit, _)| *unit != Unit::Count));
        }
    }

    #[test]
    fn a_report_of_throughput_without_streaming_or_gpu_is_read() {
        let profile = alone(read, THROUGHPUT).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("total_latency", Unit::Ns, vec![5e9]),
                ("avg_request_latency", Unit::Ns, vec![1.25e9]),
                ("request_throughput", Unit::PerSecond, vec![20.0]),
                ("system_output_throughput", Unit::PerSecond, vec![2560.0]),
                ("output_throughput_per_user", Unit::PerSecond, vec![102.5]),
                ("output_throughput_per_gpu", Unit::PerSecond, vec![1280.0]),
                ("request_latency/p50", Unit::Ns, vec![1.25e9]),
                ("request_latency/p99", Unit::Ns, vec![1.5e9]),
            ]
        );
        let told = settings(&profile);
        assert!(told.contains(&("engine.max_input_length", "2048")), "{told:?}");
        assert!(told.iter().all(|(key, _)| !key.starts_with("machine")));
        assert_eq!(unknown(&profile), ["request_info.avg_output_length"]);
    }

    #[test]
    fn of_a_report_that_is_cut_off_the_whole_numbers_stay() {
        let profile = alone(read, CUT).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("total_latency", Unit::Ns, vec![2.5e9]),
                ("avg_request_latency", Unit::Ns, vec![250e6]),
            ]
        );
        assert_eq!(
            profile.incidents,
            ["the file is cut off: what is whole before its end was read"]
        );
        for file in [LATENCY, THROUGHPUT] {
            cut_anywhere(read, file);
        }
    }

    #[test]
    fn a_time_of_zero_is_one_that_nobody_took() {
        let report = br#"{"performance": {"total_latency_ms": 2.5},
            "streaming_metrics": {"avg_ttft_ms": 0.0, "tpot_percentiles": {"p50": NaN}}}"#;
        let profile = alone(read, report).unwrap();
        assert_eq!(readings(&profile), vec![("total_latency", Unit::Ns, vec![2.5e6])]);
        assert_eq!(
            profile.incidents,
            [
                "1 of 1 values of `avg_ttft` left out: no numbers above zero",
                "1 of 1 values of `tpot/p50` left out: no numbers above zero",
            ]
        );
    }

    #[test]
    fn figures_in_another_unit_are_an_error() {
        for (report, told) in [
            (
                r#"{"performance": {"total_latency_us": 2.5}}"#,
                "`total_latency_us` is in `us`",
            ),
            (
                r#"{"performance": {"request_latency_percentiles": {"p50": 2.5}}}"#,
                "`request_latency_percentiles` is in ``",
            ),
            (
                r#"{"performance": {}, "streaming_metrics": {"ttft_percentiles_s": {"p50": 2.5}}}"#,
                "`ttft_percentiles_s` is in `s`",
            ),
        ] {
            let error = alone(read, report.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(told), "{error}");
        }
    }

    #[test]
    fn of_several_reports_only_the_first_is_read() {
        let reports =
            br#"{"performance": {"total_latency_ms": 2.5}} {"performance": {"total_latency_ms": 5.0}}"#;
        let profile = alone(read, reports).unwrap();
        assert_eq!(readings(&profile), vec![("total_latency", Unit::Ns, vec![2.5e6])]);
        assert_eq!(profile.incidents, ["it holds 2 reports: only the first was read"]);
    }

    #[test]
    fn other_files_are_foreign() {
        assert_eq!(
            alone(read, br#"{"performance": 5}"#).unwrap_err().to_string(),
            "this is no trtllm: its first JSON object has the keys `performance`"
        );
    }
}
