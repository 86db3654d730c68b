//! `abreast/decode/1`: JSON lines that tell when every token was known (docs/decode.md).

mod figures;

use self::figures::Figures;
use super::tally::{Incidents, label, quoted};
use super::value::text;
use super::{FormatError, Written};
use crate::profile::{Format, Generation, Profile};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

const SCHEMA: &str = "abreast/decode/1";

/// Keys of the header that have to be the same on both sides.
const SETTINGS: [&str; 14] = [
    "model",
    "weights",
    "dtype",
    "weight_bytes",
    "backend",
    "device",
    "threads",
    "prompt_tokens",
    "prompt_sha256",
    "sampling",
    "tokens",
    "decode_skip",
    "warmups",
    "runs",
];

/// The key of the header that is known and no setting: how work reaches the GPU may be the very change that is looked
/// at. The counters show it.
const LAUNCH: &str = "launch";

/// One value of each figure for each run, in nanoseconds, but one 99th percentile of all together; then the counters.
///
/// A run that is damaged, or has no end, is left out as a whole: one text with a hole in it says nothing about time.
/// Lines that are none of the protocol, which a program may write besides, are passed over and counted.
///
/// # Errors
/// [`FormatError::Foreign`] without a header of this version, [`FormatError::Nothing`] without a run that is whole.
pub(super) fn read(written: Written<'_>) -> Result<Profile, FormatError> {
    let lines: Vec<&[u8]> = written
        .bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .collect();
    let last = lines.iter().rposition(|line| !line.is_empty());
    let mut told = Told::default();
    for (index, line) in lines.iter().enumerate() {
        if line.is_empty() {
            continue;
        }
        match serde_json::from_slice::<Map<String, Value>>(line) {
            Ok(keys) => {
                if told.line(index + 1, keys)?.is_break() {
                    break;
                }
            }
            Err(_) if Some(index) == last && line.starts_with(b"{") => told.cut = true,
            Err(_) => told.stranger(index + 1),
        }
    }
    told.into_profile()
}

/// What the lines have told so far.
#[derive(Default)]
struct Told {
    /// Settings and unknown keys; readings and generations come last.
    profile: Profile,
    incidents: Incidents,
    has_header: bool,
    /// Tokens at the beginning of each run that are outside of the window; at least one.
    skip: Option<usize>,
    /// Runs that the header announces.
    announced: Option<u64>,
    runs: BTreeMap<u64, Run>,
    /// How many lines are none of the protocol, and the first of them.
    strangers: usize,
    first_stranger: Option<usize>,
    /// The last line is not whole.
    cut: bool,
    /// Why it measured nothing, or nothing more.
    skipped: Option<String>,
}

impl Told {
    fn line(&mut self, line: usize, mut keys: Map<String, Value>) -> Result<ControlFlow<()>, FormatError> {
        match keys.remove("event").as_ref().and_then(Value::as_str) {
            Some("header") if self.has_header => {
                self.incidents.push(format!(
                    "line {line} is a second header: only what is above it was read"
                ));
                return Ok(ControlFlow::Break(()));
            }
            Some("header") => self.header(keys)?,
            Some("token") => self.token(line, keys),
            Some("end") => self.end(line, keys),
            Some("skipped") => {
                let reason = keys.remove("reason").as_ref().and_then(text);
                self.skipped =
                    Some(reason.map_or_else(|| "it does not say why".to_owned(), |reason| quoted(&reason)));
            }
            Some(event) => self.keep("", [(event.to_owned(), Value::Object(keys))]),
            None => self.stranger(line),
        }
        Ok(ControlFlow::Continue(()))
    }

    fn stranger(&mut self, line: usize) {
        self.strangers += 1;
        self.first_stranger.get_or_insert(line);
    }

    fn header(&mut self, mut keys: Map<String, Value>) -> Result<(), FormatError> {
        match keys.remove("schema").as_ref().and_then(Value::as_str) {
            Some(SCHEMA) => {}
            Some(schema) => {
                let schema = quoted(schema);
                return Err(foreign(format!("its schema is `{schema}`, not `{SCHEMA}`")));
            }
            None => return Err(foreign("its header has no schema".to_owned())),
        }
        self.has_header = true;
        self.skip = keys
            .get("decode_skip")
            .and_then(Value::as_u64)
            .and_then(|skip| usize::try_from(skip).ok())
            .filter(|skip| *skip > 0);
        self.announced = keys.get("runs").and_then(Value::as_u64);
        for key in SETTINGS {
            if let Some(value) = keys.remove(key).as_ref().and_then(text) {
                self.profile.settings.insert(key.to_owned(), label(&value));
            }
        }
        keys.remove(LAUNCH);
        self.keep("", keys);
        Ok(())
    }

    fn token(&mut self, line: usize, mut keys: Map<String, Value>) {
        let mut number = |key: &str| keys.remove(key).and_then(|value| value.as_u64());
        let (run, index, id, t_ns) = (number("run"), number("index"), number("id"), number("t_ns"));
        match run {
            Some(run) => self.runs.entry(run).or_default().token(line, index, id, t_ns),
            None => self.stranger(line),
        }
        self.keep("token.", keys);
    }

    fn end(&mut self, line: usize, mut keys: Map<String, Value>) {
        let Some(number) = keys.remove("run").and_then(|run| run.as_u64()) else {
            self.stranger(line);
            return;
        };
        let run = self.runs.entry(number).or_default();
        if run.has_ended {
            run.spoil("it ends twice".to_owned());
        }
        run.has_ended = true;
        let generation = &mut run.generation;
        generation.stop = keys.remove("stop").as_ref().and_then(text);
        generation.prefix_hit_tokens = keys
            .remove("prefix_hit_tokens")
            .and_then(|tokens| tokens.as_u64());
        let mut uncounted = Map::new();
        match keys.remove("counters") {
            Some(Value::Object(counters)) => {
                for (name, count) in counters {
                    match count.as_u64() {
                        Some(count) => {
                            generation.counters.insert(name, count);
                        }
                        None => {
                            uncounted.insert(name, count);
                        }
                    }
                }
            }
            Some(other) => {
                keys.insert("counters".to_owned(), other);
            }
            None => {}
        }
        self.keep("end.counters.", uncounted);
        self.keep("end.", keys);
    }

    /// Keeps keys that are not known; `null` is the same as absent.
    fn keep(&mut self, path: &str, keys: impl IntoIterator<Item = (String, Value)>) {
        for (key, value) in keys {
            if !value.is_null() {
                self.profile
                    .unknown
                    .entry(format!("{path}{key}"))
                    .or_insert(value);
            }
        }
    }

    fn into_profile(self) -> Result<Profile, FormatError> {
        let mut profile = self.profile;
        let mut incidents = self.incidents;
        if let Some(why) = self.skipped {
            let sentence = format!("skipped: {why}");
            if self.runs.is_empty() {
                return Err(FormatError::Nothing {
                    format: Format::AbreastDecode,
                    why: sentence,
                });
            }
            incidents.push(sentence);
        }
        if !self.has_header {
            return Err(foreign(format!("no line of it is a header of `{SCHEMA}`")));
        }
        if self.skip.is_none() {
            incidents.push("no steady window: the header tells no decode_skip of at least 1".to_owned());
        }
        let is_open = self.runs.values().any(|run| !run.has_ended);
        let told = self.runs.len();
        let mut figures = Figures::default();
        for (number, run) in self.runs {
            match run.whole(number, &mut incidents) {
                Ok(generation) => {
                    figures.add(number, &generation, self.skip, &mut incidents);
                    profile.generations.push(generation);
                }
                Err(why) => incidents.push(format!("run {number} is left out: {why}")),
            }
        }
        // A run without its end says already that something is missing at the end of the file.
        if self.cut && !is_open {
            incidents.push("the last line was cut off".to_owned());
        } else if !is_open
            && let Some(announced) = self.announced
            && announced > told as u64
        {
            incidents.push(format!("{told} of {announced} runs are told"));
        }
        if let Some(first) = self.first_stranger {
            incidents.push(format!(
                "lines that are none of the protocol: {}, the first is line {first}",
                self.strangers
            ));
        }
        profile.readings = figures.into_readings(&mut incidents);
        profile.incidents = incidents.into_sentences();
        if profile.readings.is_empty() {
            let why = profile.incidents.into_iter().next();
            return Err(FormatError::Nothing {
                format: Format::AbreastDecode,
                why: why.unwrap_or_else(|| "no run is told".to_owned()),
            });
        }
        Ok(profile)
    }
}

/// One run, line by line.
#[derive(Default)]
struct Run {
    generation: Generation,
    has_ended: bool,
    /// The first reason why it cannot be used.
    spoiled: Option<String>,
}

impl Run {
    fn token(&mut self, line: usize, index: Option<u64>, id: Option<u64>, t_ns: Option<u64>) {
        let Generation { ids, t_ns: times, .. } = &mut self.generation;
        let (Some(index), Some(t_ns)) = (index, t_ns) else {
            return self.spoil(format!("line {line} does not tell which token was known when"));
        };
        if self.has_ended {
            return self.spoil("it goes on after its end".to_owned());
        }
        let expected = times.len();
        if usize::try_from(index) != Ok(expected) {
            return self.spoil(format!(
                "token {index} is told where token {expected} was expected"
            ));
        }
        if times.last().is_some_and(|before| t_ns < *before) {
            return self.spoil(format!("token {index} was known before the one it follows"));
        }
        times.push(t_ns);
        ids.extend(id.and_then(|id| u32::try_from(id).ok()));
    }

    fn spoil(&mut self, why: String) {
        self.spoiled.get_or_insert(why);
    }

    /// The run if nothing of it is missing, or why it cannot be used.
    fn whole(self, number: u64, incidents: &mut Incidents) -> Result<Generation, String> {
        let mut generation = self.generation;
        if let Some(why) = self.spoiled {
            return Err(why);
        }
        let Some(last) = generation.t_ns.len().checked_sub(1) else {
            return Err("it has no token".to_owned());
        };
        if !self.has_ended {
            return Err(format!("it was cut off after token {last}"));
        }
        if generation.ids.len() != generation.t_ns.len() && !generation.ids.is_empty() {
            incidents.push(format!(
                "the ids of run {number} are left out: {} of its {} tokens have none",
                generation.t_ns.len() - generation.ids.len(),
                generation.t_ns.len()
            ));
            generation.ids.clear();
        }
        Ok(generation)
    }
}

fn foreign(found: String) -> FormatError {
    FormatError::Foreign {
        format: Format::AbreastDecode,
        found,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tally::testing::{alone, cut_anywhere};
    use super::*;
    use crate::metric::Metric;
    use crate::profile::Reading;

    const CPU: &[u8] = include_bytes!("../../../tests/fixtures/formats/abreast-decode/cpu.jsonl");
    const CUDA: &[u8] = include_bytes!("../../../tests/fixtures/formats/abreast-decode/cuda.jsonl");
    /// From before `launch` and the copies were told.
    const OLD: &[u8] = include_bytes!("../../../tests/fixtures/formats/abreast-decode/before-launch.jsonl");
    const CUT: &[u8] = include_bytes!("../../../tests/fixtures/formats/abreast-decode/truncated.jsonl");

    fn profile(bytes: &[u8]) -> Profile {
        alone(read, bytes).unwrap()
    }

    #[test]
    fn who_skips_says_why_before_the_header_or_after_some_runs() {
        let skipped = br#"{"event":"skipped","reason":"no CUDA device"}"#;
        let error = alone(read, skipped).unwrap_err().to_string();
        assert_eq!(
            error,
            "nothing was measured in this abreast-decode: skipped: no CUDA device"
        );
        let error = alone(read, br#"{"event":"skipped"}"#).unwrap_err().to_string();
        assert!(error.ends_with("skipped: it does not say why"), "{error}");
        let some = profile(&[CPU, b"\n", skipped].concat());
        assert_eq!(some.incidents, ["skipped: no CUDA device"]);
        assert_eq!(some.readings, profile(CPU).readings);
    }

    fn reading(id: &str, metric: Metric, values: &[f64]) -> Reading {
        Reading {
            id: id.to_owned(),
            metric,
            values: values.to_vec(),
        }
    }

    /// A header, then the lines of runs, each with these times and a known end.
    fn written(skip: &str, runs: &[&[u64]]) -> String {
        let mut text =
            format!(r#"{{"event":"header","schema":"abreast/decode/1","decode_skip":{skip}}}"#) + "\n";
        for (run, times) in runs.iter().enumerate() {
            for (index, t_ns) in times.iter().enumerate() {
                text += &token(run, index, *t_ns);
            }
            text += &end(run);
        }
        text
    }

    fn token(run: usize, index: usize, t_ns: u64) -> String {
        format!(r#"{{"event":"token","run":{run},"index":{index},"id":{index},"t_ns":{t_ns}}}"#) + "\n"
    }

    fn end(run: usize) -> String {
        format!(r#"{{"event":"end","run":{run},"stop":"length","prefix_hit_tokens":0,"counters":{{}}}}"#)
            + "\n"
    }

    fn ids(profile: &Profile) -> Vec<&str> {
        profile
            .readings
            .iter()
            .map(|reading| reading.id.as_str())
            .collect()
    }

    #[test]
    fn every_run_has_one_value_of_every_figure() {
        let profile = profile(CPU);
        let zero = |id: &str| reading(id, Metric::count(), &[0.0, 0.0]);
        assert_eq!(
            profile.readings,
            [
                reading("ms_per_token", Metric::time(), &[1e6, 2e6]),
                reading("p50", Metric::time(), &[1e6, 2e6]),
                reading("time_to_first_token", Metric::time(), &[4e6, 4.1e6]),
                reading("tokens_per_second", Metric::rate(), &[1000.0, 500.0]),
                zero("allocations"),
                zero("captures"),
                zero("d2h_bytes"),
                zero("d2h_calls"),
                zero("fallbacks"),
                zero("h2d_bytes"),
                zero("h2d_calls"),
                zero("replays"),
                zero("seams"),
                zero("segments"),
                zero("syncs"),
            ]
        );
        assert!(profile.incidents.is_empty(), "{:?}", profile.incidents);
        assert!(profile.unknown.is_empty(), "{:?}", profile.unknown);
    }

    #[test]
    fn settings_are_what_both_sides_must_share() {
        let settings: Vec<(String, String)> = profile(CPU).settings.into_iter().collect();
        let expected = [
            ("backend", "cpu"),
            ("decode_skip", "2"),
            ("device", "cpu"),
            ("dtype", "f32"),
            ("model", "tiny"),
            (
                "prompt_sha256",
                "2965ef7479da99cdc7f861a3e34792f61feb7eeb2adcbf989ac9edc40143dd37",
            ),
            ("prompt_tokens", "5"),
            ("runs", "2"),
            ("sampling", "greedy"),
            ("threads", "2"),
            ("tokens", "4"),
            ("warmups", "1"),
            ("weight_bytes", "1254912"),
            ("weights", "seeded"),
        ];
        assert_eq!(
            settings,
            expected.map(|(key, value)| (key.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn every_run_is_a_text_with_its_times() {
        let profile = profile(CUDA);
        let counters = [
            ("allocations", 0),
            ("captures", 1),
            ("d2h_bytes", 16),
            ("d2h_calls", 4),
            ("fallbacks", 0),
            ("h2d_bytes", 0),
            ("h2d_calls", 0),
            ("replays", 2),
            ("seams", 0),
            ("segments", 1),
            ("syncs", 4),
        ];
        assert_eq!(
            profile.generations,
            [Generation {
                ids: vec![17, 4, 9, 2],
                t_ns: vec![4_000_000, 5_200_000, 6_100_000, 7_200_000],
                stop: Some("length".to_owned()),
                prefix_hit_tokens: Some(0),
                counters: counters.map(|(name, count)| (name.to_owned(), count)).into(),
            }]
        );
        assert!(
            profile
                .readings
                .contains(&reading("replays", Metric::count(), &[2.0]))
        );
    }

    #[test]
    fn another_way_to_reach_the_gpu_is_no_other_setting() {
        let profile = profile(CUDA);
        assert!(!profile.settings.contains_key("launch"));
        assert!(profile.unknown.is_empty(), "{:?}", profile.unknown);
    }

    #[test]
    fn what_was_written_before_launches_were_told_is_read() {
        let profile = profile(OLD);
        assert_eq!(
            ids(&profile),
            [
                "ms_per_token",
                "p50",
                "time_to_first_token",
                "tokens_per_second",
                "allocations",
                "captures",
                "fallbacks",
                "replays",
                "seams",
                "segments",
                "syncs",
            ]
        );
        assert!(profile.incidents.is_empty(), "{:?}", profile.incidents);
    }

    #[test]
    fn a_run_that_was_cut_off_is_left_out_and_the_others_stay() {
        let profile = profile(CUT);
        assert_eq!(
            profile.readings[0],
            reading("ms_per_token", Metric::time(), &[1e6])
        );
        assert_eq!(profile.generations.len(), 1);
        assert_eq!(
            profile.incidents,
            ["run 1 is left out: it was cut off after token 1"]
        );
    }

    #[test]
    fn a_file_that_was_cut_off_between_runs_says_so_once() {
        let text = written("1", &[&[10, 20, 30]]);
        let cut = text.clone() + r#"{"event":"token","run":1,"ind"#;
        assert_eq!(profile(cut.as_bytes()).incidents, ["the last line was cut off"]);
        let announced = text.replace(r#""decode_skip":1"#, r#""decode_skip":1,"runs":3"#);
        assert_eq!(profile(announced.as_bytes()).incidents, ["1 of 3 runs are told"]);
    }

    #[test]
    fn a_thousand_intervals_of_all_runs_together_have_one_99th_percentile() {
        let short: Vec<u64> = (1..=500).map(|n| n * 1000).collect();
        let long: Vec<u64> = (1..=502).map(|n| n * 2000).collect();
        let text = written("1", &[&short, &long]);
        let told = profile(text.as_bytes());
        assert_eq!(told.readings[1], reading("p50", Metric::time(), &[1e3, 2e3]));
        assert_eq!(told.readings[2], reading("p99", Metric::time(), &[2e3]));
        let text = written("1", &[&short, &long[..501]]);
        assert!(!ids(&profile(text.as_bytes())).contains(&"p99"), "999 have none");
    }

    #[test]
    fn a_99th_percentile_of_zero_is_left_out() {
        let together = [vec![10_u64; 1001], vec![20]].concat();
        let profile = profile(written("1", &[&together]).as_bytes());
        assert_eq!(
            ids(&profile),
            ["ms_per_token", "time_to_first_token", "tokens_per_second"]
        );
        assert_eq!(profile.incidents, ["p50 of run 0 is zero and left out"]);
    }

    #[test]
    fn of_many_runs_that_are_damaged_twenty_are_told() {
        let damaged: String = (1..=30).map(end).collect();
        let text = written("1", &[&[10, 20, 30]]) + &damaged;
        let incidents = profile(text.as_bytes()).incidents;
        assert_eq!(incidents.len(), 21);
        assert_eq!(incidents[19], "run 20 is left out: it has no token");
        assert_eq!(incidents[20], "and 10 more like these");
    }

    #[test]
    fn foreign_text_is_short_and_on_one_line() {
        let long = "d".repeat(300);
        let text = written("1", &[&[10, 20, 30]])
            .replace(r#""decode_skip""#, &format!(r#""device":"{long}","decode_skip""#))
            .replace(r#""counters":{}"#, r#""counters":{"a\nb":1}"#);
        let profile = profile(text.as_bytes());
        assert!(profile.settings["device"].starts_with(&("d".repeat(199) + "… #")));
        let id = &profile.readings.last().unwrap().id;
        assert!(id.starts_with("a b #"), "{id}");
    }

    #[test]
    fn a_run_without_a_window_still_has_a_first_token() {
        let profile = profile(written("8", &[&[10, 20, 30]]).as_bytes());
        assert_eq!(
            profile.readings,
            [reading("time_to_first_token", Metric::time(), &[10.0])]
        );
        assert_eq!(
            profile.incidents,
            ["run 0 has no steady window: it has 3 tokens, and 8 are skipped"]
        );
    }

    #[test]
    fn a_window_that_would_begin_before_the_first_token_is_none() {
        for skip in ["0", "null", "-1", "\"8\""] {
            let profile = profile(written(skip, &[&[10, 20, 30]]).as_bytes());
            assert_eq!(ids(&profile), ["time_to_first_token"]);
            assert_eq!(
                profile.incidents,
                ["no steady window: the header tells no decode_skip of at least 1"]
            );
        }
    }

    #[test]
    fn times_that_are_zero_are_left_out() {
        let standing = profile(written("1", &[&[10, 10, 10]]).as_bytes());
        assert_eq!(ids(&standing), ["time_to_first_token"]);
        assert_eq!(
            standing.incidents,
            ["run 0 has no steady window: all of it took no time"]
        );
        let together = profile(written("1", &[&[0, 0, 0, 9]]).as_bytes());
        assert_eq!(ids(&together), ["ms_per_token", "tokens_per_second"]);
        assert_eq!(
            together.incidents,
            [
                "p50 of run 0 is zero and left out",
                "time_to_first_token of run 0 is zero and left out",
            ]
        );
    }

    #[test]
    fn a_run_with_a_hole_in_it_is_left_out() {
        let whole = written("1", &[&[10, 20, 30]]);
        let cases = [
            (
                token(1, 0, 5) + &token(1, 2, 9) + &end(1),
                "token 2 is told where token 1 was expected",
            ),
            (
                token(1, 0, 5) + &token(1, 1, 4) + &end(1),
                "token 1 was known before the one it follows",
            ),
            (
                token(1, 0, 5) + &end(1) + &token(1, 1, 9),
                "it goes on after its end",
            ),
            (token(1, 0, 5) + &end(1) + &end(1), "it ends twice"),
            (end(1), "it has no token"),
            (
                token(1, 0, 5).replace("5}", "-5}") + &end(1),
                "line 6 does not tell which token was known when",
            ),
        ];
        for (more, why) in cases {
            let profile = profile((whole.clone() + &more).as_bytes());
            assert_eq!(profile.incidents, [format!("run 1 is left out: {why}")]);
            assert_eq!(profile.generations.len(), 1);
        }
    }

    #[test]
    fn texts_may_be_told_without_ids_but_not_with_some_of_them() {
        let all = written("1", &[&[10, 20, 30]]);
        let none = all.replace(r#""id":"#, r#""label":"#);
        let without = profile(none.as_bytes());
        assert!(without.generations[0].ids.is_empty());
        assert!(without.incidents.is_empty(), "{:?}", without.incidents);
        assert_eq!(without.unknown["token.label"], 0);
        let some = profile(all.replace(r#""id":1"#, r#""id":null"#).as_bytes());
        assert!(some.generations[0].ids.is_empty());
        assert_eq!(
            some.incidents,
            ["the ids of run 0 are left out: 1 of its 3 tokens have none"]
        );
    }

    #[test]
    fn keys_and_events_that_are_not_known_are_kept() {
        let text = written("1", &[&[10, 20, 30]])
            .replace(r#""decode_skip""#, r#""driver":"580.1","decode_skip""#)
            .replace(r#""id":1"#, r#""id":1,"logprob":-0.5"#)
            .replace(r#""counters":{}"#, r#""counters":{"misses":3,"reason":"x"}"#)
            + r#"{"event":"clock","sm_mhz":1980}"#;
        let profile = profile(text.as_bytes());
        let unknown: Vec<(String, Value)> = profile.unknown.into_iter().collect();
        assert_eq!(
            unknown,
            [
                ("clock".to_owned(), serde_json::json!({ "sm_mhz": 1980 })),
                ("driver".to_owned(), "580.1".into()),
                ("end.counters.reason".to_owned(), "x".into()),
                ("token.logprob".to_owned(), serde_json::json!(-0.5)),
            ]
        );
        assert_eq!(
            profile.readings.last(),
            Some(&reading("misses", Metric::count(), &[3.0]))
        );
    }

    #[test]
    fn a_counter_cannot_pose_as_a_figure() {
        let text = written("1", &[&[10, 20, 30]]).replace(r#""counters":{}"#, r#""counters":{"p50":3}"#);
        let profile = profile(text.as_bytes());
        assert_eq!(
            ids(&profile),
            ["ms_per_token", "p50", "time_to_first_token", "tokens_per_second"]
        );
        assert_eq!(
            profile.incidents,
            ["the counter `p50` is left out: it is called like a figure"]
        );
    }

    #[test]
    fn lines_of_a_program_that_also_talks_are_passed_over() {
        let text = "loading\n".to_owned() + &written("1", &[&[10, 20, 30]]) + "{}\n\ndone\n";
        let profile = profile(text.as_bytes());
        assert_eq!(profile.generations.len(), 1);
        assert_eq!(
            profile.incidents,
            ["lines that are none of the protocol: 3, the first is line 1"]
        );
    }

    #[test]
    fn a_second_header_ends_what_is_read() {
        let text = [CPU, CPU].concat();
        let profile = profile(&text);
        assert_eq!(profile.generations.len(), 2);
        assert_eq!(
            profile.incidents,
            ["line 12 is a second header: only what is above it was read"]
        );
    }

    #[test]
    fn a_file_may_be_cut_anywhere() {
        cut_anywhere(read, CUDA);
        cut_anywhere(read, CUT);
    }

    #[test]
    fn other_files_are_named_as_such() {
        for (bytes, expected) in [
            (
                "",
                "this is no abreast-decode: no line of it is a header of `abreast/decode/1`",
            ),
            (
                "[1, 2]\n\u{0}\n",
                "this is no abreast-decode: no line of it is a header of `abreast/decode/1`",
            ),
            (
                r#"{"event":"header","schema":"abreast/decode/2"}"#,
                "this is no abreast-decode: its schema is `abreast/decode/2`, not `abreast/decode/1`",
            ),
            (
                r#"{"event":"header"}"#,
                "this is no abreast-decode: its header has no schema",
            ),
            (
                r#"{"event":"header","schema":"abreast/decode/1","decode_skip":1}"#,
                "nothing was measured in this abreast-decode: no run is told",
            ),
        ] {
            assert_eq!(alone(read, bytes.as_bytes()).unwrap_err().to_string(), expected);
        }
        let cut = written("1", &[&[10, 20, 30]]).replace(&end(0), "");
        assert_eq!(
            alone(read, cut.as_bytes()).unwrap_err().to_string(),
            "nothing was measured in this abreast-decode: run 0 is left out: it was cut off after token 2"
        );
    }
}
