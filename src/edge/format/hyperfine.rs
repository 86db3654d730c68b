//! `hyperfine --export-json`: lists of seconds beside each other, or since 2.0 a list of runs with units.

use super::json::{self, Document};
use super::tally::{SECOND, Tally, label, quoted};
use super::value::{Fields, number, object, text};
use super::{FormatError, Written};
use crate::metric::Metric;
use crate::profile::{Format, Profile};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// Results are in a list in the document.
const DEPTH: usize = 2;

/// The newest version of the file that is known; files before 2.0 have none.
const VERSION: f64 = 2.0;

/// What hyperfine makes of the runs; it is known, and not read.
const SUMMARIES: [&str; 6] = ["stddev", "median", "min", "max", "summary", "is_reference"];

/// One command.
#[derive(Deserialize)]
struct HResult {
    command: String,
    /// Since 2.0, where `--command-name` was given; before, it stands in place of the command.
    name: Option<String>,
    #[serde(default)]
    parameters: Fields,
    /// The only one, before 1.11.
    parameter: Option<Value>,
    #[serde(default)]
    mean: Value,
    #[serde(default)]
    times: Vec<Value>,
    #[serde(default)]
    user: Value,
    #[serde(default)]
    system: Value,
    #[serde(default)]
    memory_usage_byte: Vec<Value>,
    #[serde(default)]
    exit_codes: Vec<Value>,
    #[serde(default)]
    measurements: Vec<HRun>,
    #[serde(flatten)]
    rest: Fields,
}

/// One run, since 2.0.
#[derive(Deserialize)]
struct HRun {
    time_wall_clock: Option<HQuantity>,
    time_user: Option<HQuantity>,
    time_system: Option<HQuantity>,
    #[serde(alias = "peak_memory_usage")]
    memory_peak_resident: Option<HQuantity>,
    /// `null` after a signal.
    #[serde(default = "success")]
    exit_code: Value,
    /// The sum of two others: known, and not read.
    #[serde(rename = "time_cpu")]
    _time_cpu: Option<Value>,
    #[serde(flatten)]
    rest: Fields,
}

#[derive(Deserialize)]
struct HQuantity {
    value: Value,
    #[serde(default)]
    unit: String,
}

/// For each command the time of every run, user and system time, and the most memory that it held. Before 2.0 user and
/// system time, and in old files the time itself, are means over all runs: `…/user/mean`.
///
/// Runs that failed are left out, since what they did not do took no time, and so are the means that they are in.
///
/// # Errors
/// [`FormatError`], also for a unit other than seconds and bytes.
pub(super) fn read(written: Written<'_>) -> Result<Profile, FormatError> {
    let foreign = |found: String| FormatError::Foreign {
        format: Format::Hyperfine,
        found,
    };
    let Document {
        value,
        cut,
        incidents,
    } = json::read(written.bytes, DEPTH).map_err(foreign)?;
    let mut root = object(value);
    let results = match root.remove("results") {
        Some(Value::Array(results)) => results,
        None if cut => Vec::new(),
        _ => return Err(foreign("JSON without a list of `results`".to_owned())),
    };
    let mut tally = Tally::new(incidents);
    about(root, &mut tally);
    let mut commands = HashMap::new();
    for (place, result) in results.into_iter().enumerate() {
        match HResult::deserialize(result) {
            Ok(result) => {
                let id = result.id();
                let first = commands
                    .entry(id.clone())
                    .or_insert_with(|| result.command.clone());
                if *first == result.command {
                    result.tell(&id, &mut tally)?;
                } else {
                    tally.incident(format!("another command that is called `{id}` was left out"));
                }
            }
            Err(error) => {
                let error = quoted(&error.to_string());
                tally.incident(format!("result {} cannot be read: {error}", place + 1));
            }
        }
    }
    tally.finish(Format::Hyperfine)
}

/// What the file says about itself and the machine.
fn about(mut root: Fields, tally: &mut Tally) {
    if let Some(version) = root.remove("schema_version").as_ref().and_then(number)
        && version > VERSION
    {
        tally.incident(format!(
            "the file has version {version}, which is newer than {VERSION}: some of it may be misunderstood"
        ));
    }
    let mut metadata = root.remove("metadata").map(object).unwrap_or_default();
    metadata.remove("start_time");
    if let Some(version) = metadata.remove("hyperfine_version") {
        tally.setting("hyperfine", &version);
    }
    for (key, value) in metadata.remove("platform").map(object).unwrap_or_default() {
        tally.setting(&label(&key), &value);
    }
    tally.unknown_in("metadata/", metadata);
    root.remove("primary_metric");
    tally.unknown_in("", root);
}

impl HResult {
    /// Its name with its parameters, which need not be in the command: another one may be used before each run.
    fn id(&self) -> String {
        let name = self.name.as_deref().unwrap_or(&self.command);
        let parameters: Vec<String> = self
            .parameters()
            .filter_map(|(name, value)| Some(format!("{name}={}", text(value)?)))
            .collect();
        if parameters.is_empty() {
            label(name)
        } else {
            label(&format!("{name} ({})", parameters.join(", ")))
        }
    }

    fn parameters(&self) -> impl Iterator<Item = (&str, &Value)> {
        let only = self.parameter.iter().map(|value| ("parameter", value));
        let all = self.parameters.iter().map(|(name, value)| (name.as_str(), value));
        only.chain(all)
    }

    fn tell(self, id: &str, tally: &mut Tally) -> Result<(), FormatError> {
        let mut exit_codes = self.exit_codes;
        if !exit_codes.is_empty() && exit_codes.len() < self.times.len() {
            exit_codes.resize(self.times.len(), Value::Null);
        }
        // Old files tell none.
        let succeeded = |run: usize| exit_codes.get(run).is_none_or(|code| *code == success());
        for (run, seconds) in self.times.iter().enumerate() {
            if succeeded(run) {
                tally.time(&format!("{id}/time"), seconds, SECOND);
            }
        }
        // Where hyperfine cannot tell the memory, it writes zero.
        for (run, bytes) in self.memory_usage_byte.iter().enumerate() {
            if succeeded(run) {
                tally.memory(&format!("{id}/memory"), bytes, 1.0);
            }
        }
        let mut means = vec![("user", &self.user), ("system", &self.system)];
        if self.times.is_empty() {
            means.insert(0, ("time", &self.mean));
        }
        means.retain(|(_, mean)| !mean.is_null());
        if exit_codes.iter().all(|code| *code == success()) {
            for (name, mean) in means {
                tally.time(&format!("{id}/{name}/mean"), mean, SECOND);
            }
        } else if !means.is_empty() {
            tally.incident(format!(
                "the means of `{id}` are left out: runs that failed are in them"
            ));
        }
        for run in self.measurements {
            let succeeded = run.exit_code == success();
            for (name, metric, quantity, (unit, scale)) in [
                ("time", Metric::time(), run.time_wall_clock, ("second", SECOND)),
                ("user", Metric::time(), run.time_user, ("second", SECOND)),
                ("system", Metric::time(), run.time_system, ("second", SECOND)),
                (
                    "memory",
                    Metric::memory(),
                    run.memory_peak_resident,
                    ("byte", 1.0),
                ),
            ] {
                let of = format!("{id}/{name}");
                if let Some(value) = quantity
                    .map(|quantity| quantity.number_in(unit, &of))
                    .transpose()?
                    .filter(|_| succeeded)
                {
                    tally.add(&of, metric, value * scale);
                }
            }
            exit_codes.push(run.exit_code);
            tally.unknown_in(&format!("{id}/"), run.rest);
        }
        let runs = exit_codes.len();
        let failed: Vec<String> = exit_codes
            .iter()
            .filter(|code| **code != success())
            .map(ending)
            .collect();
        if !failed.is_empty() {
            let kinds: BTreeSet<&str> = failed.iter().map(String::as_str).collect();
            tally.incident(format!(
                "{} of {runs} runs of `{id}` failed: {}",
                failed.len(),
                quoted(&kinds.into_iter().collect::<Vec<_>>().join(", "))
            ));
        }
        let mut rest = self.rest;
        rest.retain(|key, _| !SUMMARIES.contains(&key.as_str()));
        tally.unknown_in(&format!("{id}/"), rest);
        Ok(())
    }
}

impl HQuantity {
    /// Its number, if it has the only unit that this quantity was ever told in.
    fn number_in(self, unit: &str, of: &str) -> Result<f64, FormatError> {
        if self.unit == unit {
            Ok(number(&self.value).unwrap_or(f64::NAN))
        } else {
            Err(FormatError::UnknownUnit {
                of: of.to_owned(),
                unit: quoted(&self.unit),
                known: "second for times, byte for memory",
            })
        }
    }
}

/// The exit code of a run that did not fail.
fn success() -> Value {
    Value::from(0)
}

fn ending(exit_code: &Value) -> String {
    if exit_code.is_null() {
        "no exit code".to_owned()
    } else {
        format!("exit code {}", quoted(&exit_code.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tally::testing::{alone, cut_anywhere, readings, settings, unknown};
    use super::*;
    use crate::metric::Unit;

    const V1_0: &[u8] = include_bytes!("../../../tests/fixtures/formats/hyperfine/1.0.json");
    const V1_6: &[u8] = include_bytes!("../../../tests/fixtures/formats/hyperfine/1.6.json");
    const V1_20: &[u8] = include_bytes!("../../../tests/fixtures/formats/hyperfine/1.20.json");
    const V2_0: &[u8] = include_bytes!("../../../tests/fixtures/formats/hyperfine/2.0.json");
    const CUT: &[u8] = include_bytes!("../../../tests/fixtures/formats/hyperfine/cut.json");

    #[test]
    fn every_run_that_succeeded_is_a_value() {
        let profile = alone(read, V1_20).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("./search corpus (cache=cold)/time", Unit::Ns, vec![5e8]),
                (
                    "./search corpus (cache=cold)/memory",
                    Unit::Bytes,
                    vec![1_048_576.0]
                ),
                (
                    "./search corpus (cache=warm)/time",
                    Unit::Ns,
                    vec![1.875e8, 1.875e8]
                ),
                ("./search corpus (cache=warm)/user/mean", Unit::Ns, vec![1.25e8]),
                ("./search corpus (cache=warm)/system/mean", Unit::Ns, vec![6.25e7]),
            ],
            "memory is zero where it is not known"
        );
        assert!(settings(&profile).is_empty(), "the ids hold the parameters");
        assert_eq!(unknown(&profile), ["./search corpus (cache=cold)/shell"]);
    }

    #[test]
    fn runs_that_failed_and_the_means_they_are_in_are_left_out() {
        let profile = alone(read, V1_20).unwrap();
        assert_eq!(
            profile.incidents,
            [
                "the means of `./search corpus (cache=cold)` are left out: runs that failed are in them",
                "2 of 3 runs of `./search corpus (cache=cold)` failed: exit code 1, no exit code",
            ]
        );
        let all = br#"{"results": [{"command": "a", "mean": 1, "times": [1, 2], "exit_codes": [1]}]}"#;
        assert_eq!(
            alone(read, all).unwrap_err().to_string(),
            "nothing was measured in this hyperfine: 2 of 2 runs of `a` failed: exit code 1, no exit code"
        );
    }

    #[test]
    fn a_file_without_runs_has_the_mean() {
        let profile = alone(read, V1_0).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("sort small.txt/time/mean", Unit::Ns, vec![2.5e8]),
                ("sort small.txt/user/mean", Unit::Ns, vec![1.25e8]),
                ("sort small.txt/system/mean", Unit::Ns, vec![6.25e7]),
            ]
        );
        assert_eq!(profile.incidents, [""; 0]);
        assert_eq!(unknown(&profile), [""; 0]);
    }

    #[test]
    fn one_parameter_without_a_name_is_in_the_id_too() {
        let profile = alone(read, V1_6).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("make -j 1 (parameter=1)/time", Unit::Ns, vec![2.5e8, 5e8, 7.5e8]),
                ("make -j 1 (parameter=1)/user/mean", Unit::Ns, vec![3.75e8]),
                ("make -j 1 (parameter=1)/system/mean", Unit::Ns, vec![1.25e8]),
                ("make -j 2 (parameter=2)/time", Unit::Ns, vec![3.75e8]),
                ("make -j 2 (parameter=2)/user/mean", Unit::Ns, vec![3.75e8]),
            ]
        );
        assert!(settings(&profile).is_empty());
        assert_eq!(
            profile.incidents,
            ["1 of 1 values of `make -j 2 (parameter=2)/system/mean` left out: no numbers above zero"]
        );
    }

    #[test]
    fn since_2_0_each_run_has_all_of_its_numbers() {
        let profile = alone(read, V2_0).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("search/time", Unit::Ns, vec![5e8]),
                ("search/user", Unit::Ns, vec![2.5e8]),
                ("search/system", Unit::Ns, vec![1.25e8]),
                ("search/memory", Unit::Bytes, vec![1_048_576.0]),
            ],
            "the second failed"
        );
        assert_eq!(
            settings(&profile),
            [
                ("architecture", "x86_64"),
                ("hyperfine", "2.0.0"),
                ("os", "Linux")
            ]
        );
        assert_eq!(unknown(&profile), ["search/cpu_cycles"]);
        assert_eq!(profile.incidents, ["1 of 2 runs of `search` failed: exit code 2"]);
    }

    #[test]
    fn a_unit_that_is_not_known_is_an_error() {
        let text = String::from_utf8_lossy(V2_0).replacen("\"second\"", "\"millisecond\"", 1);
        assert_eq!(
            alone(read, text.as_bytes()).unwrap_err().to_string(),
            "`search/time` is in `millisecond`, a unit that is not known; known are second for times, byte for memory"
        );
    }

    #[test]
    fn the_same_command_again_is_more_of_the_same() {
        let twice = br#"{"results": [{"command": "a", "times": [1]}, {"command": "a", "times": [2]}]}"#;
        let profile = alone(read, twice).unwrap();
        assert_eq!(readings(&profile), vec![("a/time", Unit::Ns, vec![1e9, 2e9])]);
        let other = br#"{"results": [{"name": "n", "command": "a", "times": [1]},
            {"name": "n", "command": "b", "times": [2]}]}"#;
        let profile = alone(read, other).unwrap();
        assert_eq!(readings(&profile), vec![("n/time", Unit::Ns, vec![1e9])]);
        assert_eq!(
            profile.incidents,
            ["another command that is called `n` was left out"]
        );
    }

    #[test]
    fn what_a_command_is_called_is_one_line() {
        let lines = br#"{"results": [{"command": "sh -c '\n  a'", "times": [1]}]}"#;
        let profile = alone(read, lines).unwrap();
        assert!(
            profile.readings[0].id.starts_with("sh -c '   a' #"),
            "{profile:?}"
        );
        assert!(profile.readings[0].id.ends_with("/time"));
    }

    #[test]
    fn of_a_file_that_is_cut_off_the_whole_results_are_read() {
        let profile = alone(read, CUT).unwrap();
        let ids: Vec<&str> = profile
            .readings
            .iter()
            .map(|reading| reading.id.as_str())
            .collect();
        assert_eq!(
            ids,
            [
                "./search corpus (cache=cold)/time",
                "./search corpus (cache=cold)/memory",
            ]
        );
        assert_eq!(
            profile.incidents,
            [
                "the file is cut off: what is whole before its end was read",
                "the means of `./search corpus (cache=cold)` are left out: runs that failed are in them",
                "2 of 3 runs of `./search corpus (cache=cold)` failed: exit code 1, no exit code",
            ]
        );
    }

    #[test]
    fn no_cut_anywhere_breaks_what_is_promised() {
        for file in [V1_0, V1_6, V1_20, V2_0] {
            cut_anywhere(read, file);
        }
    }

    #[test]
    fn one_result_that_cannot_be_read_does_not_hide_the_others() {
        let odd =
            br#"{"results": [7, {"command": "a", "times": [0.5, "x"]}, {"mean": 1}], "schema_version": 3}"#;
        let profile = alone(read, odd).unwrap();
        assert_eq!(readings(&profile), vec![("a/time", Unit::Ns, vec![5e8])]);
        assert_eq!(
            profile.incidents,
            [
                "the file has version 3, which is newer than 2: some of it may be misunderstood",
                "result 1 cannot be read: invalid type: integer `7`, expected struct HResult",
                "result 3 cannot be read: missing field `command`",
                "1 of 2 values of `a/time` left out: no numbers above zero",
            ]
        );
    }

    #[test]
    fn other_files_are_foreign() {
        assert_eq!(
            alone(read, br#"{"benchmarks": []}"#).unwrap_err().to_string(),
            "this is no hyperfine: JSON without a list of `results`"
        );
        assert_eq!(
            alone(read, br#"{"results": []}"#).unwrap_err().to_string(),
            "nothing was measured in this hyperfine: it has none of the numbers that are read"
        );
    }
}
