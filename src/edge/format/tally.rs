//! Collects a profile value by value: the same reading again is another repetition, and what cannot be is counted.

use super::FormatError;
use super::python_json::{Fields, number, text};
use crate::metric::{Better, Metric, Unit};
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

/// A profile that is being read.
#[derive(Default)]
pub(super) struct Tally {
    profile: Profile,
    /// Where in the profile a reading is.
    places: HashMap<String, usize>,
    /// How many values of a reading were left out.
    left_out: BTreeMap<String, usize>,
    /// Settings and unknown keys that came again with something else.
    disagreed: BTreeSet<String>,
}

impl Tally {
    /// Nothing yet, after these incidents.
    pub(super) fn new(incidents: Vec<String>) -> Self {
        let mut tally = Self::default();
        tally.profile.incidents = incidents;
        tally
    }

    /// One value in the metric's unit. Numbers that are not finite or not above zero are left out and counted; a count
    /// may be zero.
    pub(super) fn add(&mut self, id: &str, metric: Metric, value: f64) {
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

    /// An amount of work that was done, like tokens that were written. Less of it is bad news: it makes times look
    /// good.
    pub(super) fn work(&mut self, id: &str, told: &Value) {
        let metric = Metric {
            better: Better::Higher,
            ..Metric::count()
        };
        self.told(id, metric, told, 1.0);
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
            self.setting_text(key, text);
        }
    }

    /// The same, for what is text already.
    pub(super) fn setting_text(&mut self, key: &str, text: String) {
        match self.profile.settings.get(key) {
            None => {
                self.profile.settings.insert(key.to_owned(), text);
            }
            Some(kept) if *kept != text => {
                let kept = kept.clone();
                self.disagree(key, &kept, &text);
            }
            Some(_) => {}
        }
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
                "`{key}` is `{kept}`, and `{later}` later on: the first counts"
            ));
        }
    }

    /// What was cut off or could not be used.
    pub(super) fn incident(&mut self, sentence: String) {
        self.profile.incidents.push(sentence);
    }

    /// The profile.
    ///
    /// # Errors
    /// If there is not a single reading.
    pub(super) fn finish(self, format: Format) -> Result<Profile, FormatError> {
        let mut profile = self.profile;
        for (id, left_out) in self.left_out {
            let kept = self
                .places
                .get(&id)
                .map_or(0, |place| profile.readings[*place].values.len());
            profile.incidents.push(format!(
                "{left_out} of {} values of `{id}` left out: no numbers above zero",
                kept + left_out
            ));
        }
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
        tally.work("tokens", &json!(0));
        let profile = tally.finish(Format::Trtllm).unwrap();
        assert_eq!(
            testing::readings(&profile),
            vec![("tokens", Unit::Count, vec![0.0])]
        );
        assert_eq!(profile.readings[0].metric.better, Better::Higher);
        assert_eq!(profile.incidents, [""; 0]);
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
