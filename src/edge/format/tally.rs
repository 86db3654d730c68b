//! Collects a profile value by value: the same reading again is another repetition, and what cannot be is counted.

use super::FormatError;
use super::value::{Fields, number, text};
use crate::metric::{Metric, Unit};
use crate::profile::{Format, Profile, Reading};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Nanoseconds of a second.
pub(super) const SECOND: f64 = 1e9;
/// Nanoseconds of a millisecond.
pub(super) const MILLISECOND: f64 = 1e6;
/// Nanoseconds of a microsecond.
pub(super) const MICROSECOND: f64 = 1e3;
/// Bytes of a mebibyte, which programs like to call a megabyte.
pub(super) const MEBIBYTE: f64 = 1_048_576.0;
/// Bytes of a gibibyte.
pub(super) const GIBIBYTE: f64 = 1_073_741_824.0;

/// Most incidents that are repeated to say why nothing was measured.
const REASONS: usize = 3;

/// Most incidents of one file that are told; hostile files have one for each of their bytes.
const INCIDENTS: usize = 20;

/// Longest foreign text that is repeated, in characters.
const LONGEST: usize = 200;

/// Fewest times in a list whose median is told: with fewer it is one or two requests and nothing else.
const FOR_MEDIAN: usize = 5;

/// Foreign text as a part of a sentence: one line of at most 200 characters. Control characters and ends of lines
/// become spaces; `…` stands where it was cut.
pub(super) fn quoted(text: &str) -> String {
    let breaks = |character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
    let mut characters = text
        .chars()
        .map(|character| if breaks(character) { ' ' } else { character });
    let mut line: String = characters.by_ref().take(LONGEST).collect();
    if characters.next().is_some() {
        line.pop();
        line.push('…');
    }
    line
}

/// [`quoted`] for ids and settings, which are compared: texts that differ stay different, since a number of the whole
/// text follows where it was not repeated as it is.
pub(super) fn label(text: &str) -> String {
    let line = quoted(text);
    if line == text {
        line
    } else {
        format!("{line} #{:016x}", fnv(text.as_bytes()))
    }
}

/// FNV-1a with 64 bits (Fowler, Noll & Vo 1991).
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// What was cut off or could not be used, a sentence each: the first twenty, and how many more there were.
#[derive(Default)]
pub(super) struct Incidents {
    told: Vec<String>,
    more: usize,
}

impl Incidents {
    /// One more.
    pub(super) fn push(&mut self, sentence: String) {
        if self.told.len() < INCIDENTS {
            self.told.push(sentence);
        } else {
            self.more += 1;
        }
    }

    /// Whether there was none.
    pub(super) fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// The sentences, in order.
    pub(super) fn into_sentences(self) -> Vec<String> {
        let mut told = self.told;
        if self.more > 0 {
            told.push(format!("and {} more like these", self.more));
        }
        told
    }
}

/// A profile that is being read.
#[derive(Default)]
pub(super) struct Tally {
    profile: Profile,
    incidents: Incidents,
    /// Where in the profile a reading is.
    places: HashMap<String, usize>,
    /// How many values of a reading were left out.
    left_out: BTreeMap<String, usize>,
    /// Readings that were said to be counts, and are averages.
    averages: BTreeSet<String>,
    /// Settings of the first record of each name.
    records: HashMap<String, BTreeMap<String, String>>,
    /// Settings and unknown keys that came again with something else.
    disagreed: BTreeSet<String>,
}

impl Tally {
    /// Nothing yet, after these incidents.
    pub(super) fn new(incidents: Vec<String>) -> Self {
        let mut tally = Self::default();
        for sentence in incidents {
            tally.incident(sentence);
        }
        tally
    }

    /// One value in the metric's unit. Numbers that are not finite or not above zero are left out and counted; a count
    /// may be zero. One that is not whole is an average and no count: it is kept with the keys that are not known, and
    /// there is no reading with its id.
    pub(super) fn add(&mut self, id: &str, metric: Metric, value: f64) {
        if metric.unit == Unit::Count && value.is_finite() && value.fract() != 0.0 {
            self.averages.insert(id.to_owned());
            self.unknown(id.to_owned(), Value::from(value));
            return;
        }
        let least = if metric.unit == Unit::Count {
            0.0
        } else {
            f64::MIN_POSITIVE
        };
        if !value.is_finite() || value < least {
            *self.left_out.entry(id.to_owned()).or_default() += 1;
        } else if let Some(place) = self.places.get(id) {
            self.profile.readings[*place].values.push(value);
        } else {
            self.places.insert(id.to_owned(), self.profile.readings.len());
            self.profile.readings.push(Reading {
                id: id.to_owned(),
                metric,
                values: vec![value],
            });
        }
    }

    /// A time, told in units of so many nanoseconds.
    pub(super) fn time(&mut self, id: &str, told: &Value, nanoseconds: f64) {
        self.told(id, Metric::time(), told, nanoseconds);
    }

    /// Something a second.
    pub(super) fn rate(&mut self, id: &str, told: &Value) {
        self.told(id, Metric::rate(), told, 1.0);
    }

    /// An amount of memory, told in units of so many bytes. Zero is what programs write who could not look.
    pub(super) fn memory(&mut self, id: &str, told: &Value, bytes: f64) {
        if number(told) != Some(0.0) {
            self.told(id, Metric::memory(), told, bytes);
        }
    }

    /// A number of events that cost something.
    pub(super) fn count(&mut self, id: &str, told: &Value) {
        self.told(id, Metric::count(), told, 1.0);
    }

    /// The median of times that are no repetitions, like those of requests that overlap: one value of `{id}/median`,
    /// of an even number the mean of the two in the middle. With fewer than five it is left out, and that is told.
    pub(super) fn median(&mut self, id: &str, told: &[Value], nanoseconds: f64) {
        let told = told.iter().filter(|told| !told.is_null());
        let mut times: Vec<f64> = told
            .map(|told| number(told).map_or(f64::NAN, |time| time * nanoseconds))
            .collect();
        let all = times.len();
        times.retain(|time| time.is_finite() && *time > 0.0);
        if times.len() < all {
            self.incident(format!(
                "{} of {all} times in the list `{id}` left out: no numbers above zero",
                all - times.len()
            ));
        }
        if times.len() >= FOR_MEDIAN {
            times.sort_by(f64::total_cmp);
            let median = f64::midpoint(times[(times.len() - 1) / 2], times[times.len() / 2]);
            self.add(&format!("{id}/median"), Metric::time(), median);
        } else if all > 0 {
            self.incident(format!(
                "the list `{id}` is left out: it has {} times, and a median takes {FOR_MEDIAN}",
                times.len()
            ));
        }
    }

    /// `null` is the same as absent; what is no number is left out and counted.
    fn told(&mut self, id: &str, metric: Metric, told: &Value, scale: f64) {
        if !told.is_null() {
            self.add(id, metric, number(told).map_or(f64::NAN, |number| number * scale));
        }
    }

    /// What has to be the same on both sides; `null` is the same as absent. The first counts, where there are several.
    pub(super) fn setting(&mut self, key: &str, told: &Value) {
        if let Some(text) = text(told) {
            self.setting_text(key, &text);
        }
    }

    /// The same, for what is text already. Whether it is what was told before, if anything was.
    pub(super) fn setting_text(&mut self, key: &str, text: &str) -> bool {
        let text = label(text);
        match self.profile.settings.get(key) {
            None => {
                self.profile.settings.insert(key.to_owned(), text);
            }
            Some(kept) if *kept != text => {
                let kept = kept.clone();
                self.disagree(key, &kept, &text);
                return false;
            }
            Some(_) => {}
        }
        true
    }

    /// What has to be the same of one record, whose ids begin with `name`; so do the keys. A later record of that name
    /// is a repetition only if its settings are equal. Whether it may be read: if not, that is told.
    pub(super) fn record(&mut self, name: &str, settings: BTreeMap<String, String>) -> bool {
        let Some(first) = self.records.get(name) else {
            for (key, text) in &settings {
                self.setting_text(&format!("{name}{key}"), text);
            }
            self.records.insert(name.to_owned(), settings);
            return true;
        };
        let mut keys = first.keys().chain(settings.keys());
        let Some(key) = keys.find(|key| first.get(*key) != settings.get(*key)) else {
            return true;
        };
        let told = |settings: &BTreeMap<String, String>| {
            settings
                .get(key)
                .map_or_else(|| "absent".to_owned(), |text| quoted(text))
        };
        let of = match name.trim_end_matches('/') {
            "" => String::new(),
            name => format!(" of `{name}`"),
        };
        let sentence = format!(
            "a record{of} was left out: its `{key}` is {}, and {} in the first",
            told(&settings),
            told(first)
        );
        self.incident(sentence);
        false
    }

    /// A key that is not known. Of several the first is kept, and texts that differ are told, since they may be
    /// settings.
    pub(super) fn unknown(&mut self, key: String, value: Value) {
        match (self.profile.unknown.get(&key), &value) {
            (None, _) => {
                self.profile.unknown.insert(key, value);
            }
            (Some(Value::String(kept)), Value::String(later)) if kept != later => {
                let kept = kept.clone();
                self.disagree(&key, &kept, later);
            }
            (Some(_), _) => {}
        }
    }

    /// Keys that are not known, each with its path in front.
    pub(super) fn unknown_in(&mut self, path: &str, fields: Fields) {
        for (key, value) in fields {
            self.unknown(format!("{path}{key}"), value);
        }
    }

    fn disagree(&mut self, key: &str, kept: &str, later: &str) {
        if self.disagreed.insert(key.to_owned()) {
            self.incident(format!(
                "`{}` is `{}`, and `{}` later on: the first counts",
                quoted(key),
                quoted(kept),
                quoted(later)
            ));
        }
    }

    /// What was cut off or could not be used.
    pub(super) fn incident(&mut self, sentence: String) {
        self.incidents.push(sentence);
    }

    /// The profile.
    ///
    /// # Errors
    /// If there is not a single reading.
    pub(super) fn finish(mut self, format: Format) -> Result<Profile, FormatError> {
        let mut profile = self.profile;
        for (id, left_out) in self.left_out {
            let kept = self
                .places
                .get(&id)
                .map_or(0, |place| profile.readings[*place].values.len());
            self.incidents.push(format!(
                "{left_out} of {} values of `{id}` left out: no numbers above zero",
                kept + left_out
            ));
        }
        profile
            .readings
            .retain(|reading| !self.averages.contains(&reading.id));
        profile.incidents = self.incidents.into_sentences();
        if profile.readings.is_empty() {
            let reasons: Vec<String> = profile.incidents.into_iter().take(REASONS).collect();
            let why = if reasons.is_empty() {
                "it has none of the numbers that are read".to_owned()
            } else {
                reasons.join("; ")
            };
            return Err(FormatError::Nothing { format, why });
        }
        Ok(profile)
    }
}

/// What tests of readers have in common.
#[cfg(test)]
pub(super) mod testing {
    use super::super::{FormatError, Written};
    use crate::metric::Unit;
    use crate::profile::Profile;

    /// A reader.
    pub(in super::super) type Read = fn(Written<'_>) -> Result<Profile, FormatError>;

    /// Reads a file that stands alone.
    pub(in super::super) fn alone(read: Read, bytes: &[u8]) -> Result<Profile, FormatError> {
        read(Written {
            bytes,
            beside: &|_: &str| None,
        })
    }

    /// Readings, as far as those of one format differ.
    pub(in super::super) fn readings(profile: &Profile) -> Vec<(&str, Unit, Vec<f64>)> {
        let readings = profile.readings.iter();
        readings
            .map(|reading| (reading.id.as_str(), reading.metric.unit, reading.values.clone()))
            .collect()
    }

    /// Settings, side by side.
    pub(in super::super) fn settings(profile: &Profile) -> Vec<(&str, &str)> {
        let settings = profile.settings.iter();
        settings
            .map(|(key, text)| (key.as_str(), text.as_str()))
            .collect()
    }

    /// Names of unknown keys.
    pub(in super::super) fn unknown(profile: &Profile) -> Vec<&str> {
        profile.unknown.keys().map(String::as_str).collect()
    }

    /// Cuts a file anywhere. Nothing panics, ids stay unique, and no reading is without values.
    pub(in super::super) fn cut_anywhere(read: Read, bytes: &[u8]) {
        for end in 0..bytes.len() {
            let Ok(profile) = alone(read, &bytes[..end]) else {
                continue;
            };
            let mut ids: Vec<&str> = profile
                .readings
                .iter()
                .map(|reading| reading.id.as_str())
                .collect();
            ids.sort_unstable();
            assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
            for reading in &profile.readings {
                assert!(!reading.values.is_empty(), "{reading:?}");
                assert!(
                    reading.values.iter().all(|value| value.is_finite()),
                    "{reading:?}"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_same_reading_again_is_another_repetition() {
        let mut tally = Tally::default();
        tally.time("b", &json!(0.5), SECOND);
        tally.rate("a", &json!("2.5"));
        tally.time("b", &json!(0.25), SECOND);
        tally.memory("m", &json!(2), MEBIBYTE);
        let profile = tally.finish(Format::Trtllm).unwrap();
        assert_eq!(
            testing::readings(&profile),
            vec![
                ("b", Unit::Ns, vec![5e8, 2.5e8]),
                ("a", Unit::PerSecond, vec![2.5]),
                ("m", Unit::Bytes, vec![2_097_152.0]),
            ]
        );
    }

    #[test]
    fn what_cannot_be_is_left_out_and_told_once_for_each_reading() {
        let mut tally = Tally::default();
        for told in [
            json!(1.0),
            json!(0.0),
            json!(-1),
            json!("NaN"),
            json!(1e300),
            Value::Null,
        ] {
            tally.time("t", &told, SECOND);
        }
        tally.rate("r", &json!("fast"));
        for told in [json!(0), json!(-1)] {
            tally.count("c", &told);
        }
        let profile = tally.finish(Format::Trtllm).unwrap();
        assert_eq!(
            testing::readings(&profile),
            vec![("t", Unit::Ns, vec![1e9]), ("c", Unit::Count, vec![0.0])]
        );
        assert_eq!(
            profile.incidents,
            [
                "1 of 2 values of `c` left out: no numbers above zero",
                "1 of 1 values of `r` left out: no numbers above zero",
                "4 of 5 values of `t` left out: no numbers above zero",
            ]
        );
    }

    #[test]
    fn no_memory_is_memory_that_nobody_looked_at() {
        let mut tally = Tally::default();
        tally.memory("none", &json!(0.0), MEBIBYTE);
        tally.count("events", &json!(0));
        let profile = tally.finish(Format::Trtllm).unwrap();
        assert_eq!(
            testing::readings(&profile),
            vec![("events", Unit::Count, vec![0.0])]
        );
        assert_eq!(profile.incidents, [""; 0]);
    }

    #[test]
    fn a_count_that_is_not_whole_is_an_average_and_no_reading() {
        let mut tally = Tally::default();
        for told in [json!(2), json!(2.5), json!(3)] {
            tally.count("allocs", &told);
        }
        tally.count("events", &json!(7));
        let profile = tally.finish(Format::GoogleBenchmark).unwrap();
        assert_eq!(
            testing::readings(&profile),
            vec![("events", Unit::Count, vec![7.0])]
        );
        assert_eq!(profile.unknown["allocs"], json!(2.5));
        assert_eq!(profile.incidents, [""; 0]);
    }

    #[test]
    fn a_list_has_one_value_its_median() {
        let mut tally = Tally::default();
        tally.median("odd", &[5, 1, 4, 2, 3].map(Value::from), MILLISECOND);
        tally.median(
            "even",
            &[
                json!(6),
                json!(1),
                json!("4"),
                json!(2),
                Value::Null,
                json!(3),
                json!(9),
            ],
            1.0,
        );
        let profile = tally.finish(Format::VllmServe).unwrap();
        assert_eq!(
            testing::readings(&profile),
            vec![
                ("odd/median", Unit::Ns, vec![3e6]),
                ("even/median", Unit::Ns, vec![3.5])
            ]
        );
        assert_eq!(profile.incidents, [""; 0]);
    }

    #[test]
    fn a_list_with_too_few_times_is_left_out() {
        let mut tally = Tally::default();
        tally.median("none", &[], 1.0);
        tally.median("few", &[0, 1, 4, 2, 3].map(Value::from), 1.0);
        tally.rate("r", &json!(1));
        let profile = tally.finish(Format::VllmServe).unwrap();
        assert_eq!(profile.readings.len(), 1);
        assert_eq!(
            profile.incidents,
            [
                "1 of 5 times in the list `few` left out: no numbers above zero",
                "the list `few` is left out: it has 4 times, and a median takes 5",
            ]
        );
    }

    #[test]
    fn a_record_with_other_settings_is_no_repetition() {
        let mut tally = Tally::default();
        let settings = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter();
            pairs
                .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()))
                .collect::<BTreeMap<String, String>>()
        };
        assert!(tally.record("b1/", settings(&[("dtype", "f16")])));
        assert!(tally.record("b1/", settings(&[("dtype", "f16")])));
        assert!(tally.record("b8/", settings(&[("dtype", "f32")])));
        assert!(!tally.record("b1/", settings(&[("dtype", "f32")])));
        assert!(!tally.record("b1/", settings(&[("dtype", "f16"), ("seed", "1")])));
        tally.count("n", &json!(1));
        let profile = tally.finish(Format::Genai).unwrap();
        assert_eq!(
            testing::settings(&profile),
            [("b1/dtype", "f16"), ("b8/dtype", "f32")]
        );
        assert_eq!(
            profile.incidents,
            [
                "a record of `b1` was left out: its `dtype` is f32, and f16 in the first",
                "a record of `b1` was left out: its `seed` is 1, and absent in the first",
            ]
        );
    }

    #[test]
    fn foreign_text_becomes_one_line_of_200_characters() {
        assert_eq!(quoted("a\r\nb\u{7}c\u{2028}d"), "a  b c d");
        assert_eq!(quoted(&"µ".repeat(200)), "µ".repeat(200));
        assert_eq!(quoted(&"µ".repeat(201)), "µ".repeat(199) + "…");
    }

    #[test]
    fn ids_and_settings_that_are_cut_stay_different() {
        assert_eq!(label("BM_Sum/8"), "BM_Sum/8");
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
        let long = "x".repeat(300);
        let [one, other] = ["1", "2"].map(|end| label(&(long.clone() + end)));
        assert_ne!(one, other);
        assert_eq!(one.chars().count(), 218);
        assert!(one.starts_with(&("x".repeat(199) + "… #")), "{one}");
    }

    #[test]
    fn of_many_incidents_twenty_are_told() {
        let mut tally = Tally::new(vec!["first".to_owned()]);
        for n in 0..30 {
            tally.incident(format!("incident {n}"));
        }
        tally.count("n", &json!(1));
        let incidents = tally.finish(Format::Sglang).unwrap().incidents;
        assert_eq!(incidents.len(), 21);
        assert_eq!(
            (
                incidents[0].as_str(),
                incidents[19].as_str(),
                incidents[20].as_str()
            ),
            ("first", "incident 18", "and 11 more like these")
        );
    }

    #[test]
    fn settings_that_change_within_a_file_are_told_once() {
        let mut tally = Tally::default();
        for (n, name) in ["a", "b", "c"].into_iter().enumerate() {
            tally.setting("model", &json!(name));
            tally.setting("threads", &json!(8));
            tally.setting("absent", &Value::Null);
            tally.unknown("tp".to_owned(), json!(name));
            tally.unknown("load".to_owned(), json!(n));
            tally.count("n", &json!(n));
        }
        let profile = tally.finish(Format::Trtllm).unwrap();
        assert_eq!(testing::settings(&profile), [("model", "a"), ("threads", "8")]);
        assert_eq!(profile.unknown["load"], json!(0));
        assert_eq!(
            profile.incidents,
            [
                "`model` is `a`, and `b` later on: the first counts",
                "`tp` is `a`, and `b` later on: the first counts",
            ]
        );
    }

    #[test]
    fn no_reading_at_all_is_an_error_with_the_reasons() {
        let error = Tally::default().finish(Format::Sglang).unwrap_err();
        assert_eq!(
            error.to_string(),
            "nothing was measured in this sglang: it has none of the numbers that are read"
        );
        let mut tally = Tally::new(vec!["the file is cut off".to_owned()]);
        tally.time("t", &json!(0), SECOND);
        assert_eq!(
            tally.finish(Format::Sglang).unwrap_err().to_string(),
            "nothing was measured in this sglang: the file is cut off; \
             1 of 1 values of `t` left out: no numbers above zero"
        );
    }
}
