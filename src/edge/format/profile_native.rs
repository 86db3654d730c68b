//! The lines for people that `profile_native` and `decode-profile` write (docs/decode.md).
//!
//! Two forms: `steady_run` lines tell the steady window of each run, one `throughput` line tells all runs together with
//! their prompts. Their numbers mean different things, and so do their ids.

mod pairs;

use super::tally::{Incidents, MILLISECOND, label};
use super::{FormatError, Written};
use crate::metric::Metric;
use crate::profile::{Format, Generation, Profile, Reading};
use pairs::{in_unit, is_name, pairs, quantity, value};
use std::collections::BTreeMap;

/// Keys of `profile_native: ` lines that have to be the same on both sides.
const SETTINGS: [&str; 10] = [
    "model",
    "pipeline",
    "ep",
    "backend",
    "resolved_backend",
    "layers",
    "prompt_tokens",
    "tokens",
    "warmups",
    "runs",
];

/// Lines of counters, and what is put before their names. All but the first tell the measured runs together; the first
/// tells everything since the start, warm-ups included. `device_kv_measured` is older than `device_measured`, and
/// counts nothing but copies of the cache of keys and values.
const COUNTERS: [(&str, &str); 5] = [
    ("cuda_graph", "total_"),
    ("cuda_graph_measured", ""),
    ("device_measured", ""),
    ("device_kv_measured", "kv_"),
    ("cuda_kv_growth_measured", "kv_growth_"),
];

/// How a last line ends that is whole though its end of line is missing.
const WHOLE: [&str; 4] = ["]", ")", "\"", " tok/s"];

const MS_PER_TOKEN: &str = "ms_per_token";
const FIRST: &str = "time_to_first_token";
const RATE: &str = "tokens_per_second";

/// A value of each figure for each run, all times in nanoseconds; then the counters, a sum over all runs. Where no run
/// is told there is their median, of an even number the larger one, with an id of its own: `ms_per_token/median`.
///
/// # Errors
/// [`FormatError::Foreign`] without a line of this program, [`FormatError::Nothing`] without a time,
/// [`FormatError::UnknownUnit`] where a number is in another unit than it always was.
pub(super) fn read(written: Written<'_>) -> Result<Profile, FormatError> {
    let text = String::from_utf8_lossy(written.bytes);
    let mut told = Told::default();
    let mut lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let is_whole = text.ends_with('\n') || WHOLE.iter().any(|end| text.ends_with(end));
    if !is_whole && lines.pop().is_some() {
        told.incident("the last line was cut off".to_owned());
    }
    for line in lines {
        if let Some((name, rest)) = line.split_once(": ") {
            told.line(name, rest)?;
        }
    }
    told.into_profile()
}

/// What the lines have told so far.
#[derive(Default)]
struct Told {
    /// Settings and unknown lines; readings and generations come last.
    profile: Profile,
    incidents: Incidents,
    /// A line was one of this program.
    is_known: bool,
    runs: Vec<Window>,
    /// Runs that are told and left out.
    passed_over: usize,
    median: Option<Window>,
    /// Runs that the line with the median tells.
    announced: Option<usize>,
    whole: Option<Whole>,
    ids: Vec<u32>,
    /// The most of any run.
    prefix_hit_tokens: Option<u64>,
    counters: BTreeMap<String, u64>,
}

/// The steady window of a run. Nanoseconds, and tokens per second.
#[derive(Clone, Copy)]
struct Window {
    first: Option<f64>,
    token: Option<f64>,
    rate: Option<f64>,
}

/// All runs together, prompts included. Nanoseconds for a token, and tokens per second.
struct Whole {
    token: f64,
    rate: f64,
}

impl Told {
    fn line(&mut self, name: &str, rest: &str) -> Result<(), FormatError> {
        if let Some((_, prefix)) = COUNTERS.iter().find(|(line, _)| *line == name) {
            self.counters(name, prefix, rest);
            return Ok(());
        }
        let run = name.strip_prefix("steady_run ");
        self.is_known |= run.is_some() || name == "profile_native" || name == "steady_median";
        match name {
            _ if run.is_some() => self.run(rest)?,
            "profile_native" => self.header(rest),
            "steady_median" => self.median(rest)?,
            "throughput" => self.whole(rest)?,
            "generated_token_ids" => self.token_ids(rest),
            // The ids say the same, and say it exactly.
            "generated_text" => {}
            _ if is_name(name) => self.unknown(name.to_owned(), rest),
            _ => {}
        }
        Ok(())
    }

    fn header(&mut self, rest: &str) {
        if let Some(sampling) = rest.strip_prefix("sampling: ") {
            self.setting("sampling", sampling);
            return;
        }
        let pairs = pairs(rest);
        let is_list = pairs.first().is_some_and(|(key, _)| rest.starts_with(key));
        if !is_list {
            self.unknown("profile_native".to_owned(), rest);
            return;
        }
        for (key, value) in pairs {
            if SETTINGS.contains(&key) {
                self.setting(key, value);
            } else {
                self.unknown(format!("profile_native.{key}"), value);
            }
        }
    }

    /// Times are told in thousandths of a millisecond, which is much of a token's: what the whole window took, divided
    /// by its tokens, is as much more exact as there are tokens.
    fn run(&mut self, rest: &str) -> Result<(), FormatError> {
        let pairs = pairs(rest);
        let mut window = Window::of(&pairs)?;
        let tokens = value(&pairs, "decode_tokens").and_then(|tokens| tokens.parse::<u32>().ok());
        let wall = quantity(&pairs, "decode_wall", "ms")?;
        if let (Some(tokens), Some(wall)) = (tokens.filter(|tokens| *tokens > 0), wall) {
            let token = wall * MILLISECOND / f64::from(tokens);
            window.token = Some(token);
            window.rate = Some(1e9 / token);
            let tokens = tokens.to_string();
            let first = self.profile.settings.get("decode_tokens").cloned();
            if let Some(first) = first.filter(|first| *first != tokens) {
                self.passed_over += 1;
                self.incident(format!(
                    "a run is left out: it has {tokens} steady tokens, and the first has {first}"
                ));
                return Ok(());
            }
            self.setting("decode_tokens", &tokens);
        }
        for (key, value) in pairs {
            match key {
                "prefill" | "decode_tokens" | "decode_wall" | "decode" | "throughput" => {}
                // Tokens of the prompt that were remembered, of all: `4095/4096`.
                "prefix_cache_hit" => {
                    let hit = value.split('/').next().and_then(|hit| hit.parse().ok());
                    self.prefix_hit_tokens = self.prefix_hit_tokens.max(hit);
                }
                _ => self.unknown(format!("steady_run.{key}"), value),
            }
        }
        self.runs.push(window);
        Ok(())
    }

    fn median(&mut self, rest: &str) -> Result<(), FormatError> {
        let (figures, protocol) = rest.split_once(" (").unwrap_or((rest, ""));
        let figures = pairs(figures);
        self.median = Some(Window::of(&figures)?);
        if let Some(backend) = value(&figures, "backend") {
            self.setting("backend", backend);
        }
        for (key, value) in pairs(protocol.trim_end_matches(')')) {
            if key == "runs" {
                self.announced = value.parse().ok();
            }
            self.setting(key, value);
        }
        Ok(())
    }

    /// `843.22 tok/s, 1.186 ms/step (64 generated tokens in 75.904 ms)`: the time of all tokens is the most exact.
    fn whole(&mut self, rest: &str) -> Result<(), FormatError> {
        let told = rest.split_once(" (").and_then(|(rates, detail)| {
            let (rate, step) = rates.split_once(", ")?;
            let (tokens, total) = detail.strip_suffix(')')?.split_once(" generated tokens in ")?;
            Some((rate, step, tokens.parse::<u32>().ok()?, total))
        });
        let Some((rate, step, tokens, total)) = told else {
            self.incident("the throughput line is not as it should be and left out".to_owned());
            return Ok(());
        };
        in_unit("throughput", rate, "tok/s")?;
        in_unit("throughput", step, "ms/step")?;
        if let Some(total) = in_unit("throughput", total, "ms")? {
            let token = total * MILLISECOND / f64::from(tokens);
            self.whole = Some(Whole {
                token,
                rate: 1e9 / token,
            });
            self.setting("generated_tokens", &tokens.to_string());
            self.is_known = true;
        }
        Ok(())
    }

    fn token_ids(&mut self, rest: &str) {
        let ids: Option<Vec<u32>> = rest
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .and_then(|ids| ids.split(',').map(|id| id.trim().parse().ok()).collect());
        match ids {
            Some(ids) => self.ids = ids,
            None if rest == "[]" => {}
            None => self.incident("the generated token ids are no list of numbers and left out".to_owned()),
        }
    }

    fn counters(&mut self, line: &str, prefix: &str, rest: &str) {
        for (key, value) in pairs(rest) {
            match value.parse() {
                Ok(count) => {
                    self.counters.entry(format!("{prefix}{key}")).or_insert(count);
                }
                // `enabled=true`: no setting, since to capture or not may be what the change is about.
                Err(_) => self.unknown(format!("{line}.{key}"), value),
            }
        }
    }

    /// The first counts.
    fn setting(&mut self, key: &str, value: &str) {
        let settings = &mut self.profile.settings;
        settings.entry(label(key)).or_insert_with(|| label(value));
    }

    fn unknown(&mut self, key: String, value: &str) {
        self.profile.unknown.entry(key).or_insert_with(|| value.into());
    }

    fn incident(&mut self, sentence: String) {
        self.incidents.push(sentence);
    }

    fn into_profile(mut self) -> Result<Profile, FormatError> {
        if !self.is_known {
            return Err(FormatError::Foreign {
                format: Format::ProfileNative,
                found: "no line of it is one of `profile_native`".to_owned(),
            });
        }
        let runs = self.runs.len() + self.passed_over;
        if runs > 0 && self.median.is_none() {
            self.incident("no steady_median follows the runs: some may be missing".to_owned());
        }
        if let Some(announced) = self.announced.filter(|announced| runs > 0 && *announced != runs) {
            self.incident(format!("{runs} of {announced} runs are told"));
        }
        let mut ids = [MS_PER_TOKEN, FIRST, RATE].map(str::to_owned);
        if self.runs.is_empty() {
            self.runs.extend(self.median);
            ids = ids.map(|id| id + "/median");
        }
        let column = |of: fn(&Window) -> Option<f64>| self.runs.iter().filter_map(of).collect::<Vec<f64>>();
        let whole = |of: fn(&Whole) -> f64| self.whole.iter().map(of).collect::<Vec<f64>>();
        let [token, first, rate] = ids;
        let figures = [
            (token, Metric::time(), column(|run| run.token)),
            (first, Metric::time(), column(|run| run.first)),
            (rate, Metric::rate(), column(|run| run.rate)),
            (
                "whole/ms_per_token".to_owned(),
                Metric::time(),
                whole(|all| all.token),
            ),
            (
                "whole/tokens_per_second".to_owned(),
                Metric::rate(),
                whole(|all| all.rate),
            ),
        ];
        let mut profile = self.profile;
        let mut incidents = self.incidents;
        for (id, metric, told) in figures {
            let count = told.len();
            let values: Vec<f64> = told
                .into_iter()
                .filter(|value| value.is_finite() && *value > 0.0)
                .collect();
            if values.len() < count {
                incidents.push(format!(
                    "{} of {count} values of {id} are left out: they are not above zero",
                    count - values.len()
                ));
            }
            if !values.is_empty() {
                profile.readings.push(Reading { id, metric, values });
            }
        }
        if profile.readings.is_empty() {
            let why = incidents.into_sentences().into_iter().next();
            return Err(FormatError::Nothing {
                format: Format::ProfileNative,
                why: why.unwrap_or_else(|| "it has neither a steady_run nor a throughput line".to_owned()),
            });
        }
        for (name, count) in self.counters {
            let id = label(&name);
            if [MS_PER_TOKEN, FIRST, RATE].contains(&id.as_str()) {
                incidents.push(format!(
                    "the counter `{id}` is left out: it is called like a figure"
                ));
                continue;
            }
            #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 events")]
            let values = vec![count as f64];
            profile.readings.push(Reading {
                id,
                metric: Metric::count(),
                values,
            });
        }
        profile.incidents = incidents.into_sentences();
        if !self.ids.is_empty() || self.prefix_hit_tokens.is_some() {
            profile.generations.push(Generation {
                ids: self.ids,
                prefix_hit_tokens: self.prefix_hit_tokens,
                ..Generation::default()
            });
        }
        Ok(profile)
    }
}

impl Window {
    /// What a `steady_run` or `steady_median` line says itself.
    fn of(pairs: &[(&str, &str)]) -> Result<Self, FormatError> {
        let ns = |ms: f64| ms * MILLISECOND;
        Ok(Self {
            first: quantity(pairs, "prefill", "ms")?.map(ns),
            token: quantity(pairs, "decode", "ms/token")?.map(ns),
            rate: quantity(pairs, "throughput", "tok/s")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tally::testing::{alone, cut_anywhere, readings, settings, unknown};
    use super::*;
    use crate::metric::Unit;

    macro_rules! fixture {
        ($name:literal) => {
            include_str!(concat!(
                "../../../tests/fixtures/formats/profile-native/",
                $name
            ))
        };
    }

    fn profile(text: &str) -> Profile {
        alone(read, text.as_bytes()).unwrap()
    }

    fn error(text: &str) -> String {
        alone(read, text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn every_run_is_a_value_and_the_median_is_none() {
        let profile = profile(fixture!("steady.txt"));
        assert_eq!(
            readings(&profile),
            [
                ("ms_per_token", Unit::Ns, vec![1e6, 1.5e6]),
                ("time_to_first_token", Unit::Ns, vec![4e6, 4.1 * 1e6]),
                ("tokens_per_second", Unit::PerSecond, vec![1000.0, 1e9 / 1.5e6]),
            ]
        );
        assert_eq!(
            settings(&profile),
            [
                ("backend", "native"),
                ("decode_skip", "8"),
                ("decode_tokens", "56"),
                ("ep", "Cpu"),
                ("model", "tiny"),
                ("runs", "2"),
                ("sampling", "OFF (greedy, byte-identical fast path)"),
                ("warmups", "1"),
            ]
        );
        assert_eq!(
            profile.generations,
            [Generation {
                ids: vec![17, 4, 9, 2],
                ..Generation::default()
            }]
        );
        assert!(profile.incidents.is_empty(), "{:?}", profile.incidents);
        assert!(profile.unknown.is_empty(), "{:?}", profile.unknown);
    }

    #[test]
    fn a_tokens_time_comes_from_the_window_since_its_own_has_four_digits() {
        let text = "steady_run 1: prefill=4.021 ms decode_tokens=56 decode_wall=66.412 ms \
                    decode=1.186 ms/token throughput=843.22 tok/s\n";
        let token: f64 = 66.412 * 1e6 / 56.0;
        assert!((token - 1_185_928.57).abs() < 0.01);
        assert_eq!(
            readings(&profile(text)),
            [
                ("ms_per_token", Unit::Ns, vec![token]),
                ("time_to_first_token", Unit::Ns, vec![4.021 * 1e6]),
                ("tokens_per_second", Unit::PerSecond, vec![1e9 / token]),
            ]
        );
    }

    #[test]
    fn where_no_run_is_told_the_median_is_the_value_and_is_called_so() {
        let text = fixture!("steady.txt");
        let median: String = text
            .lines()
            .filter(|line| !line.starts_with("steady_run"))
            .map(|line| line.to_owned() + "\n")
            .collect();
        let profile = profile(&median);
        assert_eq!(
            readings(&profile),
            [
                ("ms_per_token/median", Unit::Ns, vec![1.5e6]),
                ("time_to_first_token/median", Unit::Ns, vec![4.1 * 1e6]),
                ("tokens_per_second/median", Unit::PerSecond, vec![1000.0]),
            ]
        );
        assert!(profile.incidents.is_empty(), "{:?}", profile.incidents);
    }

    #[test]
    fn whole_generations_have_ids_of_their_own() {
        let profile = profile(fixture!("whole.txt"));
        assert_eq!(
            readings(&profile),
            [
                ("whole/ms_per_token", Unit::Ns, vec![1e6]),
                ("whole/tokens_per_second", Unit::PerSecond, vec![1000.0]),
            ]
        );
        assert_eq!(profile.settings["generated_tokens"], "128");
    }

    #[test]
    fn counters_of_measured_runs_are_told_from_those_since_the_start() {
        let profile = profile(fixture!("steady-cuda.txt"));
        let count = |id, count| (id, Unit::Count, vec![count]);
        assert_eq!(
            readings(&profile)[3..],
            [
                count("allocations", 0.0),
                count("captures", 2.0),
                count("d2h_bytes", 2560.0),
                count("d2h_calls", 128.0),
                count("fallbacks", 0.0),
                count("h2d_bytes", 0.0),
                count("h2d_calls", 0.0),
                count("replays", 124.0),
                count("syncs", 128.0),
                count("total_captures", 3.0),
                count("total_fallbacks", 0.0),
                count("total_replays", 186.0),
            ]
        );
        assert_eq!(unknown(&profile), ["cuda_graph.enabled"]);
        assert_eq!(profile.settings["model"], "my models/tiny.gguf");
    }

    #[test]
    fn copies_of_the_cache_are_not_taken_for_all_copies() {
        let profile = profile(fixture!("seed-whole-cuda.txt"));
        let count = |id, count| (id, Unit::Count, vec![count]);
        assert_eq!(
            readings(&profile),
            [
                ("whole/ms_per_token", Unit::Ns, vec![1e7]),
                ("whole/tokens_per_second", Unit::PerSecond, vec![100.0]),
                count("captures", 1.0),
                count("fallbacks", 1.0),
                count("kv_d2h_bytes", 4096.0),
                count("kv_d2h_calls", 1.0),
                count("kv_h2d_bytes", 0.0),
                count("kv_h2d_calls", 0.0),
                count("replays", 13.0),
                count("total_captures", 2.0),
                count("total_fallbacks", 2.0),
                count("total_replays", 26.0),
            ]
        );
        assert_eq!(
            profile.unknown["cuda_graph_fallback_reason"],
            "node 7: shape changed, warm it first"
        );
        assert_eq!(
            settings(&profile),
            [
                ("ep", "Cuda"),
                ("generated_tokens", "16"),
                ("layers", "28"),
                ("model", "/models/qwen/model.onnx"),
                ("prompt_tokens", "[785, 6722, 315]"),
                ("runs", "1"),
                ("tokens", "16"),
                ("warmups", "1"),
            ]
        );
        assert_eq!(profile.generations[0].ids, [17, 4, 9, 2]);
    }

    #[test]
    fn the_backend_that_was_found_is_a_setting() {
        let profile = profile(fixture!("seed-ort.txt"));
        assert_eq!(profile.settings["backend"], "ort");
        assert_eq!(profile.settings["resolved_backend"], "ort");
        assert_eq!(
            profile.settings["sampling"],
            "ON repetition_penalty=1.1 repetition_window=all min_p=0.05"
        );
        assert_eq!(unknown(&profile), ["ort_available_execution_providers"]);
    }

    #[test]
    fn a_pipeline_tells_its_median_without_a_backend_and_its_ids_last() {
        let profile = profile(fixture!("seed-pipeline.txt"));
        assert_eq!(readings(&profile)[0], ("ms_per_token", Unit::Ns, vec![1e6]));
        assert_eq!(profile.settings["pipeline"], "/models/gemma");
        assert_eq!(profile.settings["decode_skip"], "8");
        assert!(!profile.settings.contains_key("backend"));
        assert_eq!(profile.generations[0].ids, [17, 4, 9, 2]);
        assert!(profile.incidents.is_empty(), "{:?}", profile.incidents);
    }

    #[test]
    fn a_prompt_that_was_remembered_is_told() {
        let profile = profile(fixture!("later-cuda.txt"));
        assert_eq!(profile.generations[0].prefix_hit_tokens, Some(4095));
    }

    #[test]
    fn lines_of_later_versions_are_kept() {
        let profile = profile(fixture!("later-cuda.txt"));
        assert_eq!(
            unknown(&profile),
            [
                "cuda_graph.enabled",
                "memory_strategy",
                "profile_native",
                "weight_offload_cache",
            ]
        );
        let counted: Vec<&str> = readings(&profile).iter().skip(3).map(|(id, ..)| *id).collect();
        assert_eq!(
            counted,
            [
                "captures",
                "fallbacks",
                "invalidations",
                "kv_growth_d2d_copy_bytes",
                "kv_growth_events",
                "replays",
                "total_captures",
                "total_fallbacks",
                "total_invalidations",
                "total_replays",
            ]
        );
        assert!(profile.incidents.is_empty(), "{:?}", profile.incidents);
    }

    #[test]
    fn a_line_that_was_cut_off_is_left_out_and_the_others_stay() {
        let profile = profile(fixture!("truncated.txt"));
        assert_eq!(readings(&profile)[0], ("ms_per_token", Unit::Ns, vec![1e6]));
        assert_eq!(
            profile.incidents,
            [
                "the last line was cut off",
                "no steady_median follows the runs: some may be missing",
            ]
        );
    }

    #[test]
    fn a_run_of_another_number_of_tokens_is_no_repetition() {
        let text = fixture!("steady.txt").replacen("decode_tokens=56", "decode_tokens=12", 1);
        let profile = profile(&text);
        let token = 56.0 * 1e6 / 12.0;
        assert_eq!(readings(&profile)[0], ("ms_per_token", Unit::Ns, vec![token]));
        assert_eq!(profile.settings["decode_tokens"], "12");
        assert_eq!(
            profile.incidents,
            ["a run is left out: it has 56 steady tokens, and the first has 12"]
        );
    }

    #[test]
    fn of_many_lines_that_cannot_be_read_twenty_are_told() {
        let text = fixture!("steady.txt").to_owned() + &"generated_token_ids: [x]\n".repeat(30);
        let incidents = profile(&text).incidents;
        assert_eq!(incidents.len(), 21);
        assert_eq!(incidents[20], "and 10 more like these");
    }

    #[test]
    fn settings_are_short() {
        let text = fixture!("steady.txt").replace("model=tiny", &format!("model={}", "m".repeat(300)));
        let settings = profile(&text).settings;
        assert!(
            settings["model"].starts_with(&("m".repeat(199) + "… #")),
            "{settings:?}"
        );
    }

    #[test]
    fn a_count_at_the_end_of_the_file_may_miss_a_digit() {
        let text = fixture!("whole.txt").to_owned() + "cuda_graph_measured: captures=1 replays=6";
        let profile = profile(&text);
        assert_eq!(readings(&profile).len(), 2);
        assert_eq!(profile.incidents, ["the last line was cut off"]);
    }

    #[test]
    fn a_whole_last_line_needs_no_end_of_line() {
        for text in [fixture!("steady.txt"), fixture!("seed-pipeline.txt")] {
            assert_eq!(profile(text.trim_end()), profile(text));
        }
    }

    #[test]
    fn runs_that_are_missing_are_noticed() {
        let text = fixture!("steady.txt").replace("runs=2", "runs=3");
        assert_eq!(profile(&text).incidents, ["2 of 3 runs are told"]);
    }

    #[test]
    fn a_number_in_another_unit_is_refused() {
        let text = fixture!("steady.txt");
        for (from, to, refused) in [
            (
                "4.100 ms",
                "4100 us",
                "`prefill` is in `us`, a unit that is not known; known are ms",
            ),
            (
                "84.000 ms",
                "84.000",
                "`decode_wall` is in ``, a unit that is not known; known are ms",
            ),
            (
                "ms/token",
                "ms/step",
                "`decode` is in `ms/step`, a unit that is not known; known are ms/token",
            ),
            (
                "tok/s",
                "tok/min",
                "`throughput` is in `tok/min`, a unit that is not known; known are tok/s",
            ),
        ] {
            assert_eq!(error(&text.replace(from, to)), refused);
        }
        assert_eq!(
            error(&fixture!("whole.txt").replace("128.000 ms", "0.128 s")),
            "`throughput` is in `s`, a unit that is not known; known are ms"
        );
    }

    #[test]
    fn times_that_are_no_times_are_left_out() {
        let text = fixture!("steady.txt")
            .replace("prefill=4.000", "prefill=0.000")
            .replace("decode_wall=84.000", "decode_wall=NaN");
        let profile = profile(&text);
        assert_eq!(
            readings(&profile),
            [
                ("ms_per_token", Unit::Ns, vec![1e6]),
                ("time_to_first_token", Unit::Ns, vec![4.1 * 1e6]),
                ("tokens_per_second", Unit::PerSecond, vec![1000.0]),
            ]
        );
        assert_eq!(
            profile.incidents,
            [
                "1 of 2 values of ms_per_token are left out: they are not above zero",
                "1 of 2 values of time_to_first_token are left out: they are not above zero",
                "1 of 2 values of tokens_per_second are left out: they are not above zero",
            ]
        );
    }

    #[test]
    fn ids_that_are_no_list_are_left_out() {
        let text = fixture!("steady.txt").replace("[17, 4", "[17, ...");
        let profile = profile(&text);
        assert!(profile.generations.is_empty());
        assert_eq!(
            profile.incidents,
            ["the generated token ids are no list of numbers and left out"]
        );
    }

    #[test]
    fn a_counter_cannot_pose_as_a_figure() {
        let text = fixture!("steady.txt").to_owned() + "device_measured: ms_per_token=1\n";
        let profile = profile(&text);
        assert_eq!(readings(&profile).len(), 3);
        assert_eq!(
            profile.incidents,
            ["the counter `ms_per_token` is left out: it is called like a figure"]
        );
    }

    #[test]
    fn a_file_may_be_cut_anywhere() {
        cut_anywhere(read, fixture!("later-cuda.txt").as_bytes());
        cut_anywhere(read, fixture!("seed-whole-cuda.txt").as_bytes());
    }

    #[test]
    fn other_files_are_named_as_such() {
        for text in ["", "hello\n", "throughput: 12 MB/s\n", "{\"a\": 1}"] {
            assert_eq!(
                error(text),
                "this is no profile-native: no line of it is one of `profile_native`"
            );
        }
        assert_eq!(
            error("profile_native: model=tiny ep=Cpu backend=native\n"),
            "nothing was measured in this profile-native: it has neither a steady_run nor a throughput line"
        );
    }
}
