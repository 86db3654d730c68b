//! Google Benchmark's JSON (`--benchmark_out`): a row for each repetition, and rows for what is made of them.

use super::json::{self, Document};
use super::tally::{MICROSECOND, MILLISECOND, SECOND, Tally, label, quoted};
use super::value::{Fields, object};
use super::{FormatError, Written};
use crate::profile::{Format, Profile};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashSet;

/// Rows are in a list in the document.
const DEPTH: usize = 2;

/// What has to be the same on both sides. Clock rates, caches and load are known and left out: they are measured, and
/// read differently from one run to the next.
const SETTINGS: [&str; 6] = [
    "host_name",
    "num_cpus",
    "cpu_scaling_enabled",
    "aslr_enabled",
    "library_version",
    "library_build_type",
];

/// Other keys of the context that are known.
const OF_CONTEXT: [&str; 6] = [
    "date",
    "executable",
    "mhz_per_cpu",
    "caches",
    "load_avg",
    "json_schema_version",
];

/// What every benchmark has, in the row's unit of time.
const TIMES: [&str; 2] = ["real_time", "cpu_time"];

/// Counts of a row that are known and not read.
const OF_ROW: [&str; 7] = [
    "family_index",
    "per_family_instance_index",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "aggregate_unit",
];

/// Keys that only rows of a fitted complexity have. These are about all sizes together and measure nothing.
const OF_FIT: [&str; 4] = ["big_o", "cpu_coefficient", "real_coefficient", "rms"];

/// What is made of repetitions, as it is called at the end of names that say nothing else about it.
const STATISTICS: [&str; 4] = ["mean", "median", "stddev", "cv"];

/// One repetition, or what was made of several.
#[derive(Deserialize)]
struct GRow {
    name: String,
    /// Since 1.5: the name without the statistic.
    run_name: Option<String>,
    /// `iteration` or `aggregate`; since 1.5.
    run_type: Option<String>,
    aggregate_name: Option<String>,
    #[serde(default)]
    error_occurred: bool,
    error_message: Option<String>,
    #[serde(default)]
    skipped: bool,
    skip_message: Option<String>,
    time_unit: Option<String>,
    /// Times, counters, and whatever newer versions have.
    #[serde(flatten)]
    rest: Fields,
}

/// What a row is about.
enum Kind<'a> {
    /// A repetition of the benchmark with this name.
    Repetition(&'a str),
    /// A statistic over the repetitions of the benchmark with this name.
    Statistic(&'a str, &'a str),
    Fit,
}

/// For each benchmark its real time, its time on the processor, its rates and its memory: a value for each repetition,
/// or the median (else the mean) where repetitions were not written (`--benchmark_report_aggregates_only`), whose ids
/// say so: `BM_Sum/real_time/median`.
///
/// # Errors
/// [`FormatError`].
pub(super) fn read(written: Written<'_>) -> Result<Profile, FormatError> {
    let foreign = |found: &str| FormatError::Foreign {
        format: Format::GoogleBenchmark,
        found: found.to_owned(),
    };
    let Document {
        value,
        cut,
        incidents,
    } = json::read(written.bytes, DEPTH).map_err(|found| foreign(&found))?;
    let mut root = object(value);
    let listed = match root.remove("benchmarks") {
        Some(Value::Array(rows)) => rows,
        None if cut => Vec::new(),
        _ => return Err(foreign("JSON without a list of `benchmarks`")),
    };
    if listed.iter().any(|row| row.get("states").is_some()) {
        return Err(foreign("JSON whose `benchmarks` have `states`"));
    }
    let mut tally = Tally::new(incidents);
    about(root.remove("context").map(object).unwrap_or_default(), &mut tally);
    tally.unknown_in("", root);
    let mut rows: Vec<GRow> = Vec::new();
    for (place, row) in listed.into_iter().enumerate() {
        match GRow::deserialize(row) {
            Ok(row) => rows.push(row),
            Err(error) => {
                let error = quoted(&error.to_string());
                tally.incident(format!("row {} cannot be read: {error}", place + 1));
            }
        }
    }
    let names: HashSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let kinds: Vec<(&GRow, Kind<'_>)> = rows.iter().map(|row| (row, row.kind(&names))).collect();
    let repeated: HashSet<&str> = kinds
        .iter()
        .filter_map(|(_, kind)| match kind {
            Kind::Repetition(name) => Some(*name),
            Kind::Statistic(..) | Kind::Fit => None,
        })
        .collect();
    let with_median: HashSet<&str> = kinds
        .iter()
        .filter_map(|(_, kind)| match kind {
            Kind::Statistic(name, "median") => Some(*name),
            _ => None,
        })
        .collect();
    let mut only_statistics = false;
    for (row, kind) in kinds {
        match kind {
            Kind::Repetition(name) => row.tell(name, "", &mut tally)?,
            Kind::Statistic(name, statistic) if !repeated.contains(name) => {
                if statistic == "median" || statistic == "mean" && !with_median.contains(name) {
                    only_statistics = true;
                    row.tell(name, &format!("/{statistic}"), &mut tally)?;
                }
            }
            Kind::Statistic(..) | Kind::Fit => {}
        }
    }
    if only_statistics {
        let sentence = "there are benchmarks without their repetitions: one median or mean stands for all";
        tally.incident(sentence.to_owned());
    }
    tally.finish(Format::GoogleBenchmark)
}

/// What is told about the machine and the library.
fn about(mut context: Fields, tally: &mut Tally) {
    for key in SETTINGS {
        if let Some(value) = context.remove(key) {
            if key == "library_build_type" && value == "debug" {
                let sentence =
                    "the benchmark library was built for debugging: its own work may show in the times";
                tally.incident(sentence.to_owned());
            }
            tally.setting(key, &value);
        }
    }
    context.retain(|key, _| !OF_CONTEXT.contains(&key.as_str()));
    tally.unknown_in("context/", context);
}

impl GRow {
    /// `names` are those of all rows.
    fn kind(&self, names: &HashSet<&str>) -> Kind<'_> {
        if OF_FIT.iter().any(|key| self.rest.contains_key(*key)) {
            return Kind::Fit;
        }
        let run_name = self.run_name.as_ref().unwrap_or(&self.name);
        match self.run_type.as_deref() {
            Some("aggregate") => {
                Kind::Statistic(run_name, self.aggregate_name.as_deref().unwrap_or_default())
            }
            Some(_) => Kind::Repetition(run_name),
            None => self.old_kind(names),
        }
    }

    /// Before 1.5 only names tell statistics from repetitions. A mean always had a standard deviation with it, so a
    /// benchmark that happens to be called `harmonic_mean` is none.
    fn old_kind(&self, names: &HashSet<&str>) -> Kind<'_> {
        STATISTICS
            .iter()
            .find_map(|statistic| {
                let name = self.name.strip_suffix(*statistic)?.strip_suffix('_')?;
                let both = ["mean", "stddev"]
                    .iter()
                    .all(|needed| names.contains(format!("{name}_{needed}").as_str()));
                both.then_some(Kind::Statistic(name, statistic))
            })
            .unwrap_or(Kind::Repetition(&self.name))
    }

    /// Adds a value to each reading of the benchmark `name`; `statistic` is what their ids end with.
    fn tell(&self, name: &str, statistic: &str, tally: &mut Tally) -> Result<(), FormatError> {
        let name = label(name);
        let reason = |told: &Option<String>| quoted(told.as_deref().unwrap_or("no reason is told"));
        if self.error_occurred {
            let why = reason(&self.error_message);
            tally.incident(format!("`{name}` failed: {why}"));
            return Ok(());
        }
        if self.skipped {
            let why = reason(&self.skip_message);
            tally.incident(format!("`{name}` was skipped: {why}"));
            return Ok(());
        }
        if !TIMES.iter().any(|key| self.rest.contains_key(*key)) {
            tally.incident(format!("`{name}` has no times"));
            return Ok(());
        }
        let scale = match self.time_unit.as_deref() {
            Some("ns") => 1.0,
            Some("us") => MICROSECOND,
            Some("ms") => MILLISECOND,
            Some("s") => SECOND,
            unit => {
                return Err(FormatError::UnknownUnit {
                    of: format!("{name}/real_time"),
                    unit: quoted(unit.unwrap_or_default()),
                    known: "ns, us, ms, s",
                });
            }
        };
        for key in TIMES {
            if let Some(value) = self.rest.get(key) {
                tally.time(&format!("{name}/{key}{statistic}"), value, scale);
            }
        }
        for (key, value) in &self.rest {
            let id = format!("{name}/{key}{statistic}");
            match key.as_str() {
                "bytes_per_second" | "items_per_second" => tally.rate(&id, value),
                "allocs_per_iter" => tally.count(&id, value),
                "max_bytes_used" | "total_allocated_bytes" => tally.memory(&id, value, 1.0),
                key if TIMES.contains(&key) || OF_ROW.contains(&key) => {}
                _ => tally.unknown(id, value.clone()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tally::testing::{alone, cut_anywhere, readings, settings, unknown};
    use super::*;
    use crate::metric::Unit;

    const V1_0: &[u8] = include_bytes!("../../../tests/fixtures/formats/google-benchmark/1.0.json");
    const V1_9: &[u8] = include_bytes!("../../../tests/fixtures/formats/google-benchmark/1.9.json");
    const AGGREGATES: &[u8] =
        include_bytes!("../../../tests/fixtures/formats/google-benchmark/aggregates-only.json");
    const CUT: &[u8] = include_bytes!("../../../tests/fixtures/formats/google-benchmark/cut.json");

    #[test]
    fn every_repetition_is_a_value_and_times_are_in_nanoseconds() {
        let profile = alone(read, V1_9).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("BM_Sum/1024/real_time", Unit::Ns, vec![1_500.0, 1_750.0]),
                ("BM_Sum/1024/cpu_time", Unit::Ns, vec![1_250.0, 1_500.0]),
                ("BM_Sum/1024/allocs_per_iter", Unit::Count, vec![0.0, 0.0]),
                (
                    "BM_Sum/1024/bytes_per_second",
                    Unit::PerSecond,
                    vec![6.5536e9, 5.4613e9]
                ),
                ("BM_Sum/1024/items_per_second", Unit::PerSecond, vec![1.6384e9]),
                ("BM_Sum/1024/max_bytes_used", Unit::Bytes, vec![4096.0, 4096.0]),
                ("BM_Frame/threads:2/real_time", Unit::Ns, vec![2.5e6]),
                ("BM_Frame/threads:2/cpu_time", Unit::Ns, vec![5e6]),
                ("BM_Load/real_time", Unit::Ns, vec![1.5e9]),
                ("BM_Load/cpu_time", Unit::Ns, vec![5e8]),
            ]
        );
    }

    #[test]
    fn what_failed_was_skipped_or_is_no_number_is_an_incident() {
        let profile = alone(read, V1_9).unwrap();
        assert_eq!(
            profile.incidents,
            [
                "the benchmark library was built for debugging: its own work may show in the times",
                "`BM_Open` failed: the file is not there",
                "`BM_Vector` was skipped: no such instructions here",
                "1 of 2 values of `BM_Sum/1024/items_per_second` left out: no numbers above zero",
            ]
        );
    }

    #[test]
    fn the_machine_and_the_library_are_settings_and_what_is_measured_of_them_is_not() {
        let profile = alone(read, V1_9).unwrap();
        assert_eq!(
            settings(&profile),
            [
                ("aslr_enabled", "true"),
                ("cpu_scaling_enabled", "false"),
                ("host_name", "bench-1"),
                ("library_build_type", "debug"),
                ("library_version", "v1.9.4"),
                ("num_cpus", "16"),
            ]
        );
    }

    #[test]
    fn counters_of_the_user_are_kept() {
        let profile = alone(read, V1_9).unwrap();
        assert_eq!(
            unknown(&profile),
            ["BM_Sum/1024/label", "BM_Sum/1024/misses", "context/compiler"]
        );
        assert_eq!(
            profile.unknown["BM_Sum/1024/misses"],
            Value::from(3.0),
            "the first"
        );
    }

    #[test]
    fn in_old_files_only_names_tell_statistics_from_repetitions() {
        let profile = alone(read, V1_0).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("BM_Sort/64/real_time", Unit::Ns, vec![10.0, 12.0]),
                ("BM_Sort/64/cpu_time", Unit::Ns, vec![9.0, 11.0]),
                ("BM_harmonic_mean/real_time", Unit::Ns, vec![7.0]),
            ]
        );
        assert_eq!(
            profile.incidents,
            ["1 of 1 values of `BM_harmonic_mean/cpu_time` left out: no numbers above zero"]
        );
        assert_eq!(unknown(&profile), [""; 0]);
    }

    #[test]
    fn without_repetitions_the_median_stands_for_them() {
        let profile = alone(read, AGGREGATES).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("BM_Sum/real_time/median", Unit::Ns, vec![11.0]),
                ("BM_Sum/cpu_time/median", Unit::Ns, vec![10.0]),
            ]
        );
        assert_eq!(
            profile.incidents,
            ["there are benchmarks without their repetitions: one median or mean stands for all"]
        );
    }

    #[test]
    fn a_mean_is_never_called_like_a_repetition() {
        let rows = br#"{"benchmarks": [{"name": "a_mean", "run_name": "a", "run_type": "aggregate",
            "aggregate_name": "mean", "real_time": 1, "cpu_time": 2, "items_per_second": 3, "time_unit": "ns"}]}"#;
        assert_eq!(
            readings(&alone(read, rows).unwrap()),
            vec![
                ("a/real_time/mean", Unit::Ns, vec![1.0]),
                ("a/cpu_time/mean", Unit::Ns, vec![2.0]),
                ("a/items_per_second/mean", Unit::PerSecond, vec![3.0]),
            ]
        );
    }

    #[test]
    fn allocations_that_are_no_whole_number_are_kept_and_no_count() {
        let rows =
            br#"{"benchmarks": [{"name": "a", "real_time": 1, "time_unit": "ns", "allocs_per_iter": 2},
            {"name": "a", "real_time": 2, "time_unit": "ns", "allocs_per_iter": 2.5}]}"#;
        let profile = alone(read, rows).unwrap();
        assert_eq!(
            readings(&profile),
            vec![("a/real_time", Unit::Ns, vec![1.0, 2.0])]
        );
        assert_eq!(profile.unknown["a/allocs_per_iter"], Value::from(2.5));
    }

    #[test]
    fn many_failures_are_told_in_part_and_on_one_line_each() {
        let row = r#"{"name": "a", "error_occurred": true, "error_message": "no\nluck"}"#;
        let rows = format!(
            r#"{{"benchmarks": [{}, {{"name": "b", "real_time": 1, "time_unit": "ns"}}]}}"#,
            [row; 30].join(", ")
        );
        let incidents = alone(read, rows.as_bytes()).unwrap().incidents;
        assert_eq!(incidents.len(), 21);
        assert_eq!(incidents[19], "`a` failed: no luck");
        assert_eq!(incidents[20], "and 10 more like these");
    }

    #[test]
    fn a_process_that_died_leaves_the_rows_that_were_whole() {
        let profile = alone(read, CUT).unwrap();
        assert_eq!(
            readings(&profile)[..2],
            [
                ("BM_Sum/1024/real_time", Unit::Ns, vec![1_500.0]),
                ("BM_Sum/1024/cpu_time", Unit::Ns, vec![1_250.0]),
            ]
        );
        assert_eq!(
            profile.incidents,
            [
                "the file is cut off: what is whole before its end was read",
                "the benchmark library was built for debugging: its own work may show in the times",
            ]
        );
        let end = V1_9
            .windows(12)
            .position(|part| part == b"\"benchmarks\"")
            .unwrap();
        assert_eq!(
            alone(read, &V1_9[..end]).unwrap_err().to_string(),
            "nothing was measured in this google-benchmark: the file is cut off: what is whole before its \
             end was read; the benchmark library was built for debugging: its own work may show in the times"
        );
    }

    #[test]
    fn no_cut_anywhere_breaks_what_is_promised() {
        for file in [V1_0, V1_9, AGGREGATES] {
            cut_anywhere(read, file);
        }
    }

    #[test]
    fn a_unit_that_is_not_known_is_an_error() {
        let row = br#"{"benchmarks": [{"name": "a", "real_time": 1, "cpu_time": 1, "time_unit": "h"}]}"#;
        assert_eq!(
            alone(read, row).unwrap_err().to_string(),
            "`a/real_time` is in `h`, a unit that is not known; known are ns, us, ms, s"
        );
    }

    #[test]
    fn other_files_are_foreign_and_a_list_of_names_measured_nothing() {
        for (other, said) in [
            (
                r#"{"results": []}"#,
                "this is no google-benchmark: JSON without a list of `benchmarks`",
            ),
            (
                r#"{"benchmarks": [{"name": "copy", "states": []}]}"#,
                "this is no google-benchmark: JSON whose `benchmarks` have `states`",
            ),
            (
                r#"{"benchmarks": [{"name": "BM_Sum"}, 7]}"#,
                "nothing was measured in this google-benchmark: row 2 cannot be read: invalid type: \
                 integer `7`, expected struct GRow; `BM_Sum` has no times",
            ),
        ] {
            assert_eq!(alone(read, other.as_bytes()).unwrap_err().to_string(), said);
        }
    }
}
