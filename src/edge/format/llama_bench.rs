//! llama.cpp's `llama-bench`: one row for each test, in any of its encodings.
//!
//! Fields come and go between versions, so they are read by name: what has to be there is how many tokens a test has
//! and how long they took. There is no text to compare, since every token it decodes is a random one.

mod rows;

use super::tally::{Incidents, label};
use super::value::{number, text};
use super::{FormatError, Written};
use crate::metric::Metric;
use crate::profile::{Format, Profile, Reading};
use rows::Row;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Fields of all versions since 2023 that have to be the same on both sides. Tests of one file that differ in some are
/// told apart by the first that are needed.
const SETTINGS: [&str; 49] = [
    "model_type",
    "n_threads",
    "n_batch",
    "n_ubatch",
    "n_gpu_layers",
    "n_cpu_moe",
    "flash_attn",
    "type_k",
    "type_v",
    "f16_kv",
    "split_mode",
    "main_gpu",
    "tensor_split",
    "tensor_buft_overrides",
    "no_kv_offload",
    "no_op_offload",
    "no_host",
    "repack",
    "moe_cache",
    "mul_mat_q",
    "load_mode",
    "lazy_mode",
    "use_mmap",
    "use_direct_io",
    "embeddings",
    "defrag_thold",
    "devices",
    "cpu_mask",
    "cpu_strict",
    "poll",
    "fit_target",
    "fit_min_ctx",
    "n_gen_warmup",
    "model_filename",
    "model_size",
    "model_n_params",
    "backends",
    "cpu_info",
    "gpu_info",
    // Instead of `backends`, until 2024.
    "cuda",
    "opencl",
    "vulkan",
    "kompute",
    "metal",
    "sycl",
    "rpc",
    "gpu_blas",
    "blas",
    "rpc_servers",
];

/// Fields that name the build or the moment, and means of what was read.
const PASSED_OVER: [&str; 9] = [
    "build_commit",
    "build_number",
    "test_time",
    "avg_ns",
    "stddev_ns",
    "avg_ts",
    "stddev_ts",
    "samples_ns",
    "samples_ts",
];

/// Tokens per second of every test, a value for each repetition: from `samples_ns`, since `samples_ts` has six digits.
/// CSV, SQL and Markdown have the mean and nothing else, which has an id of its own: `pp512/tokens_per_second/mean`.
/// The first repetition may hold what happens once, like recording a graph: it is warmed up with a single token.
///
/// # Errors
/// [`FormatError::Foreign`] if no row is a test, [`FormatError::Nothing`] if there are none or none has a time.
pub(super) fn read(written: Written<'_>) -> Result<Profile, FormatError> {
    let foreign = |found: &str| FormatError::Foreign {
        format: Format::LlamaBench,
        found: found.to_owned(),
    };
    let rows = rows::read(written.bytes)
        .ok_or_else(|| foreign("no line of it begins a list, a table or a statement with tests"))?;
    let has_rows = !rows.rows.is_empty();
    let mut profile = Profile::default();
    let mut incidents = rows.incidents;
    let mut tests = Vec::new();
    for (index, row) in rows.rows.into_iter().enumerate() {
        match Test::of(row, &mut profile) {
            Some(test) => tests.push(test),
            None => incidents.push(format!(
                "whole row {} is left out: it does not tell n_prompt and n_gen",
                index + 1
            )),
        }
    }
    if has_rows && tests.is_empty() {
        return Err(foreign("none of its rows tells n_prompt and n_gen"));
    }
    let ids = told_apart(&tests, &mut profile.settings);
    for (id, test) in ids.into_iter().zip(tests) {
        let values = test.rates(&id, &mut incidents);
        if !values.is_empty() {
            let mean = if test.samples_ns.is_empty() { "/mean" } else { "" };
            profile.readings.push(Reading {
                id: format!("{id}/tokens_per_second{mean}"),
                metric: Metric::rate(),
                values,
            });
        }
    }
    profile.incidents = incidents.into_sentences();
    if profile.readings.is_empty() {
        return Err(FormatError::Nothing {
            format: Format::LlamaBench,
            why: profile
                .incidents
                .into_iter()
                .next()
                .unwrap_or_else(|| "there are no tests in it".to_owned()),
        });
    }
    Ok(profile)
}

/// One row.
struct Test {
    /// As `llama-bench` calls it, without spaces: `pp512`, `tg128@d4096`, `pp512+tg128`.
    name: String,
    /// Tokens of one repetition; those of the depth are not timed.
    tokens: u64,
    settings: BTreeMap<&'static str, String>,
    /// Times of the repetitions, in nanoseconds as they are told.
    samples_ns: Vec<Value>,
    /// Their mean, and that of the rates; for encodings without repetitions.
    avg_ns: Option<f64>,
    avg_ts: Option<f64>,
}

impl Test {
    /// Takes what is known of a row; what is not goes to `profile`. Absent without the numbers of tokens.
    fn of(mut row: Row, profile: &mut Profile) -> Option<Self> {
        let mut tokens = |key: &str| row.remove(key).as_ref().and_then(whole);
        let (prompt, generated) = (tokens("n_prompt")?, tokens("n_gen")?);
        // It is younger than the others.
        let depth = tokens("n_depth").unwrap_or(0);
        let mut name = match (prompt, generated) {
            (prompt, 0) => format!("pp{prompt}"),
            (0, generated) => format!("tg{generated}"),
            (prompt, generated) => format!("pp{prompt}+tg{generated}"),
        };
        if depth > 0 {
            name += &format!("@d{depth}");
        }
        let mut settings = BTreeMap::new();
        for key in SETTINGS {
            if let Some(value) = row.remove(key).as_ref().and_then(setting) {
                settings.insert(key, value);
            }
        }
        let test = Self {
            name,
            tokens: prompt.saturating_add(generated),
            settings,
            avg_ns: row.get("avg_ns").and_then(number),
            avg_ts: row.get("avg_ts").and_then(number),
            samples_ns: match row.remove("samples_ns") {
                Some(Value::Array(samples)) => samples,
                _ => Vec::new(),
            },
        };
        for (key, value) in row {
            if !PASSED_OVER.contains(&key.as_str()) {
                profile.unknown.entry(key).or_insert(value);
            }
        }
        Some(test)
    }

    /// Tokens per second of every repetition, or their mean.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 tokens")]
    fn rates(&self, id: &str, incidents: &mut Incidents) -> Vec<f64> {
        let is_rate = |rate: &f64| rate.is_finite() && *rate > 0.0;
        let rate = |ns: f64| Some(1e9 * self.tokens as f64 / ns).filter(is_rate);
        if self.samples_ns.is_empty() {
            let mean = self.avg_ts.filter(is_rate).or(self.avg_ns.and_then(rate));
            if mean.is_none() {
                incidents.push(format!("{id} is left out: it tells no time above zero"));
            }
            return mean.into_iter().collect();
        }
        let rates: Vec<f64> = self
            .samples_ns
            .iter()
            .filter_map(|ns| number(ns).and_then(rate))
            .collect();
        if rates.len() < self.samples_ns.len() {
            incidents.push(format!(
                "{} of {} repetitions of {id} are left out: they took no time above zero",
                self.samples_ns.len() - rates.len(),
                self.samples_ns.len()
            ));
        }
        rates
    }
}

/// A name for every test that no other has. What all tests share becomes a setting of the whole; of what they differ
/// in, as much as is needed is added to the names, and the rest becomes settings of single tests.
fn told_apart(tests: &[Test], shared: &mut BTreeMap<String, String>) -> Vec<String> {
    let mut names: Vec<String> = tests.iter().map(|test| test.name.clone()).collect();
    let mut left = Vec::new();
    for key in SETTINGS {
        let mut values = tests.iter().map(|test| test.settings.get(key));
        let first = values.next().flatten();
        if values.all(|value| value == first) {
            if let Some(value) = first {
                shared.insert(key.to_owned(), value.clone());
            }
        } else if divides(key, &names, tests) {
            for (name, test) in names.iter_mut().zip(tests) {
                if let Some(value) = test.settings.get(key) {
                    *name += &format!(" {key}={value}");
                }
            }
        } else {
            left.push(key);
        }
    }
    let mut taken = HashSet::new();
    let mut times: HashMap<String, u32> = HashMap::new();
    for name in &mut names {
        let first = name.clone();
        let times = times.entry(first.clone()).or_default();
        while !taken.insert(name.clone()) {
            *times += 1;
            *name = format!("{first} #{}", *times + 1);
        }
    }
    for (name, test) in names.iter().zip(tests) {
        for key in &left {
            if let Some(value) = test.settings.get(key) {
                shared.insert(format!("{name}/{key}"), value.clone());
            }
        }
    }
    names
}

/// Whether some tests that have the same name so far differ in this setting.
fn divides(key: &str, names: &[String], tests: &[Test]) -> bool {
    let mut seen: HashMap<&str, Option<&String>> = HashMap::new();
    names.iter().zip(tests).any(|(name, test)| {
        let value = test.settings.get(key);
        *seen.entry(name).or_insert(value) != value
    })
}

/// As a setting is written: `true` is 1 and `false` is 0, as CSV has them, and as `flash_attn` became a number.
fn setting(value: &Value) -> Option<String> {
    match value {
        Value::Bool(flag) => Some(u8::from(*flag).to_string()),
        other => text(other).map(|text| label(&text)),
    }
}

/// A whole number, also where it was written as text.
fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tally::testing::{alone, cut_anywhere, settings, unknown};
    use super::*;

    macro_rules! fixture {
        ($name:literal) => {
            include_bytes!(concat!(
                "../../../tests/fixtures/formats/llama-bench/",
                $name
            ))
        };
    }

    fn profile(bytes: &[u8]) -> Profile {
        alone(read, bytes).unwrap()
    }

    fn rate(id: &str, values: &[f64]) -> Reading {
        Reading {
            id: format!("{id}/tokens_per_second"),
            metric: Metric::rate(),
            values: values.to_vec(),
        }
    }

    fn mean(id: &str, value: f64) -> Reading {
        Reading {
            id: format!("{id}/tokens_per_second/mean"),
            metric: Metric::rate(),
            values: vec![value],
        }
    }

    fn error(bytes: &[u8]) -> String {
        alone(read, bytes).unwrap_err().to_string()
    }

    /// JSON lines, each with what is needed and these fields.
    fn lines(rows: &[&str]) -> String {
        rows.iter()
            .map(|row| format!("{{\"n_prompt\":0,\"n_gen\":8,\"samples_ns\":[1000],{row}}}\n"))
            .collect()
    }

    #[test]
    fn every_repetition_of_a_test_is_a_value() {
        let profile = profile(fixture!("2025.json"));
        assert_eq!(
            profile.readings,
            [
                rate("pp512", &[8000.0, 6400.0]),
                rate("tg128", &[128.0, 125.0]),
                rate("pp512+tg128@d4096", &[500.0, 400.0]),
            ]
        );
        assert!(profile.incidents.is_empty(), "{:?}", profile.incidents);
        assert!(profile.unknown.is_empty(), "{:?}", profile.unknown);
        assert!(profile.generations.is_empty());
    }

    #[test]
    fn rates_come_from_times_since_those_that_are_told_have_six_digits() {
        let told = r#"{"n_prompt":512,"n_gen":0,"samples_ns":[211635853],"samples_ts":[2419.25]}"#;
        assert_eq!(
            profile(told.as_bytes()).readings,
            [rate("pp512", &[512e9 / 211_635_853.0])]
        );
    }

    #[test]
    fn settings_do_not_name_the_build_or_the_moment() {
        let profile = profile(fixture!("2026.json"));
        assert_eq!(
            settings(&profile),
            [
                ("backends", "CUDA"),
                ("cpu_info", "Some CPU"),
                ("cpu_mask", "0x0"),
                ("cpu_strict", "0"),
                ("devices", "auto"),
                ("embeddings", "0"),
                ("fit_min_ctx", "0"),
                ("fit_target", "0"),
                ("flash_attn", "-1"),
                ("gpu_info", "Some GPU"),
                ("load_mode", "mmap"),
                ("main_gpu", "0"),
                ("model_filename", "models/qwen3-8b-q4_k_m.gguf"),
                ("model_n_params", "8190735360"),
                ("model_size", "5027783488"),
                ("model_type", "qwen3 8B Q4_K - Medium"),
                ("n_batch", "2048"),
                ("n_cpu_moe", "0"),
                ("n_gpu_layers", "-1"),
                ("n_threads", "16"),
                ("n_ubatch", "512"),
                ("no_host", "0"),
                ("no_kv_offload", "0"),
                ("no_op_offload", "0"),
                ("poll", "50"),
                ("split_mode", "layer"),
                ("tensor_buft_overrides", "none"),
                ("tensor_split", "0.00"),
                ("type_k", "f16"),
                ("type_v", "f16"),
            ]
        );
    }

    #[test]
    fn the_first_version_told_its_backends_one_by_one_and_had_no_depth() {
        let profile = profile(fixture!("2023.json"));
        assert_eq!(
            profile.readings,
            [rate("pp512", &[2560.0, 2000.0]), rate("tg128", &[128.0, 125.0])]
        );
        for (key, value) in [
            ("cuda", "1"),
            ("opencl", "0"),
            ("gpu_blas", "1"),
            ("f16_kv", "1"),
            ("mul_mat_q", "1"),
        ] {
            assert_eq!(profile.settings[key], value);
        }
        assert!(profile.unknown.is_empty(), "{:?}", profile.unknown);
    }

    #[test]
    fn flash_attention_is_the_same_setting_as_a_flag_and_as_a_number() {
        for told in ["false", "0", "\"0\""] {
            let text = lines(&[&format!("\"flash_attn\":{told}")]);
            assert_eq!(profile(text.as_bytes()).settings["flash_attn"], "0");
        }
    }

    #[test]
    fn json_lines_say_what_json_says() {
        assert_eq!(profile(fixture!("2026.jsonl")), profile(fixture!("2026.json")));
    }

    #[test]
    fn csv_and_sql_have_the_mean_of_the_rates_which_is_called_so() {
        let means = [mean("pp512", 9120.0), mean("tg128@d4096", 144.0)];
        let json = profile(fixture!("2026.json"));
        for bytes in [&fixture!("2026.csv")[..], fixture!("2026.sql")] {
            let profile = profile(bytes);
            assert_eq!(profile.readings, means);
            assert_eq!(profile.settings, json.settings);
            assert!(profile.incidents.is_empty(), "{:?}", profile.incidents);
            assert!(profile.unknown.is_empty(), "{:?}", profile.unknown);
        }
        let means = [mean("pp512", 2280.0), mean("tg128", 126.5)];
        for bytes in [&fixture!("2023.csv")[..], fixture!("2023.sql")] {
            assert_eq!(profile(bytes).readings, means);
        }
    }

    #[test]
    fn the_table_for_people_has_the_same_ids() {
        let old = profile(fixture!("2023.md"));
        let profile = profile(fixture!("2026.md"));
        assert_eq!(
            profile.readings,
            [mean("pp512", 9120.0), mean("tg128@d4096", 144.0)]
        );
        assert_eq!(
            settings(&profile),
            [
                ("backends", "CPU"),
                ("load_mode", "mmap"),
                ("model_n_params", "8.19 B"),
                ("model_size", "4.68 GiB"),
                ("model_type", "qwen3 8B Q4_K - Medium"),
                ("n_threads", "16"),
            ]
        );
        assert!(profile.unknown.is_empty(), "{:?}", profile.unknown);
        assert!(profile.incidents.is_empty(), "{:?}", profile.incidents);
        assert_eq!(old.readings, [mean("pp512", 2280.0), mean("tg128", 126.5)]);
    }

    #[test]
    fn a_list_without_its_end_has_all_tests_that_are_in_it() {
        let profile = profile(fixture!("no-footer.json"));
        assert_eq!(profile.readings.len(), 3);
        assert_eq!(
            profile.incidents,
            ["the bracket at the end is missing: tests may be, too"]
        );
    }

    #[test]
    fn a_row_that_was_cut_off_is_left_out_and_the_others_stay() {
        let cases: [(&[u8], usize, &str); 5] = [
            (fixture!("truncated.json"), 2, "row 3 was cut off"),
            (fixture!("truncated.jsonl"), 1, "row 2 was cut off"),
            (
                fixture!("truncated.csv"),
                1,
                "row 2 is left out: it has 36 values for 40 fields",
            ),
            (fixture!("truncated.sql"), 1, "row 2 was cut off"),
            (fixture!("truncated.md"), 1, "row 2 was cut off"),
        ];
        for (bytes, tests, incident) in cases {
            let profile = profile(bytes);
            assert_eq!(profile.readings.len(), tests);
            assert_eq!(profile.incidents, [incident]);
        }
    }

    #[test]
    fn a_damaged_row_does_not_take_the_next_with_it() {
        let text = lines(&["\"poll\":1", "\"poll\":nan", "\"poll\":1"]);
        let profile = profile(text.as_bytes());
        assert_eq!(profile.readings, [rate("tg8", &[8e6]), rate("tg8 #2", &[8e6])]);
        assert_eq!(
            profile.incidents,
            ["row 2 is damaged: what follows on its lines was passed over"]
        );
    }

    #[test]
    fn tests_that_differ_in_a_setting_are_told_apart_by_it() {
        let profile = profile(fixture!("2025-threads.jsonl"));
        assert_eq!(
            profile.readings,
            [
                rate("tg16 n_threads=1", &[40.0]),
                rate("tg16 n_threads=2", &[80.0])
            ]
        );
        assert!(!profile.settings.contains_key("n_threads"));
    }

    #[test]
    fn as_little_as_is_needed_tells_tests_apart_and_the_rest_stays_a_setting() {
        let text = lines(&[
            r#""model_type":"a","model_size":1,"n_batch":64"#,
            r#""model_type":"b","model_size":2,"n_batch":64"#,
        ]);
        let profile = profile(text.as_bytes());
        assert_eq!(
            profile.readings,
            [rate("tg8 model_type=a", &[8e6]), rate("tg8 model_type=b", &[8e6])]
        );
        assert_eq!(
            settings(&profile),
            [
                ("n_batch", "64"),
                ("tg8 model_type=a/model_size", "1"),
                ("tg8 model_type=b/model_size", "2"),
            ]
        );
    }

    #[test]
    fn the_same_test_again_is_another_row() {
        let text = lines(&["\"poll\":1", "\"poll\":1", "\"poll\":1"]);
        let profile = profile(text.as_bytes());
        assert_eq!(
            profile.readings,
            [
                rate("tg8", &[8e6]),
                rate("tg8 #2", &[8e6]),
                rate("tg8 #3", &[8e6])
            ]
        );
    }

    #[test]
    fn repetitions_without_a_time_are_left_out() {
        let text = r#"{"n_prompt":0,"n_gen":8,"samples_ns":[0,1000,-5,null,"2000"]}"#;
        let profile = profile(text.as_bytes());
        assert_eq!(profile.readings, [rate("tg8", &[8e6, 4e6])]);
        assert_eq!(
            profile.incidents,
            ["3 of 5 repetitions of tg8 are left out: they took no time above zero"]
        );
    }

    #[test]
    fn without_repetitions_the_mean_is_the_value() {
        let told = |fields: &str| {
            let text = format!("{{\"n_prompt\":0,\"n_gen\":8,{fields}}}");
            alone(read, text.as_bytes()).map(|profile| profile.readings)
        };
        assert_eq!(told(r#""avg_ns":1000"#).unwrap(), [mean("tg8", 8e6)]);
        assert_eq!(
            told(r#""avg_ns":1000,"avg_ts":7.5,"samples_ns":[]"#).unwrap(),
            [mean("tg8", 7.5)]
        );
        for nothing in [r#""avg_ns":0"#, r#""avg_ts":"nan""#, r#""avg_ts":"inf""#] {
            assert_eq!(
                told(nothing).unwrap_err().to_string(),
                "nothing was measured in this llama-bench: tg8 is left out: it tells no time above zero"
            );
        }
    }

    #[test]
    fn of_many_rows_that_cannot_be_read_twenty_are_told() {
        let rows = "{\"n_prompt\":1}\n".repeat(30) + &lines(&["\"poll\":1"]);
        let incidents = profile(rows.as_bytes()).incidents;
        assert_eq!(incidents.len(), 21);
        assert_eq!(
            incidents[19],
            "whole row 20 is left out: it does not tell n_prompt and n_gen"
        );
        assert_eq!(incidents[20], "and 10 more like these");
    }

    #[test]
    fn a_setting_is_one_line_of_few_characters() {
        let long = "f".repeat(300);
        let text = lines(&[&format!("\"model_type\":\"a\\nb\",\"model_filename\":\"{long}\"")]);
        let settings = profile(text.as_bytes()).settings;
        assert!(settings["model_type"].starts_with("a b #"), "{settings:?}");
        assert!(settings["model_filename"].starts_with(&("f".repeat(199) + "… #")));
    }

    #[test]
    fn a_quote_in_sql_ends_nothing_unless_a_comma_follows() {
        let sql = String::from_utf8_lossy(fixture!("2023.sql")).into_owned();
        let quoted = profile(sql.replace("Some GPU", "Bob's 'GPU'").as_bytes());
        assert_eq!(quoted.readings.len(), 2);
        assert_eq!(quoted.settings["gpu_info"], "Bob's 'GPU'");
        let cut_short = sql.replacen("Some GPU", "a', 'b", 1);
        let ambiguous = profile(cut_short.as_bytes());
        assert_eq!(ambiguous.readings.len(), 1);
        assert_eq!(
            ambiguous.incidents,
            ["row 1 is left out: it has 28 values for 27 fields"]
        );
    }

    #[test]
    fn a_quote_in_csv_is_doubled() {
        let csv = String::from_utf8_lossy(fixture!("2023.csv")).into_owned();
        let profile = profile(csv.replace("Some GPU", "a \"\"b\"\", c").as_bytes());
        assert_eq!(profile.settings["gpu_info"], "a \"b\", c");
        assert!(profile.incidents.is_empty(), "{:?}", profile.incidents);
    }

    #[test]
    fn lines_above_the_first_test_are_passed_over() {
        for bytes in [
            &fixture!("2026.json")[..],
            fixture!("2026.jsonl"),
            fixture!("2026.csv"),
            fixture!("2026.sql"),
            fixture!("2026.md"),
        ] {
            let noisy = [&b"ggml_cuda_init: found 1 CUDA devices:\n\n"[..], bytes].concat();
            assert_eq!(profile(&noisy), profile(bytes));
        }
    }

    #[test]
    fn fields_that_are_not_known_are_kept() {
        let text = lines(&[r#""n_experts":4,"build_commit":"a""#, r#""n_experts":8"#]);
        let profile = profile(text.as_bytes());
        assert_eq!(unknown(&profile), ["n_experts"]);
        assert_eq!(profile.unknown["n_experts"], 4);
    }

    #[test]
    fn a_file_may_be_cut_anywhere() {
        for bytes in [
            &fixture!("2023.json")[..],
            fixture!("2025-threads.jsonl"),
            fixture!("2023.csv"),
            fixture!("2026.sql"),
            fixture!("2026.md"),
        ] {
            cut_anywhere(read, bytes);
        }
    }

    #[test]
    fn other_files_are_named_as_such() {
        for bytes in [&b""[..], b"hello\n", b"[1, 2]", b"\xff\xfe\x00"] {
            assert_eq!(
                error(bytes),
                "this is no llama-bench: no line of it begins a list, a table or a statement with tests"
            );
        }
        for bytes in [
            &b"{\"results\":[]}"[..],
            b"[{\"n_prompt\":512}]",
            b"[{\"n_prompt\":\"many\",\"n_gen\":1}]",
        ] {
            assert_eq!(
                error(bytes),
                "this is no llama-bench: none of its rows tells n_prompt and n_gen"
            );
        }
        assert_eq!(
            error(b"[\n"),
            "nothing was measured in this llama-bench: the bracket at the end is missing: tests may be, too"
        );
        assert_eq!(
            error(b"[\n\n]\n"),
            "nothing was measured in this llama-bench: there are no tests in it"
        );
    }
}
