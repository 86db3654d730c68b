//! `go test -bench`: lines of text, or the same text in the events of `go test -json`.

use super::tally::{MICROSECOND, MILLISECOND, SECOND, Tally, label, quoted};
use super::{FormatError, Written};
use crate::metric::{Metric, Unit};
use crate::profile::{Format, Profile};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// Units that are known, as they are told to people.
const KNOWN: &str = "ns, us, ms and s per anything, B/op, bytes, allocs/op, and B, kB, KB, MB, GB, op, ops, req, items \
                     and tokens per s";

/// One line of `go test -json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GEvent {
    action: String,
    package: Option<String>,
    output: Option<String>,
}

/// For each benchmark and unit a value for each time it ran (`-count`).
///
/// A name is `package.Name-8`: without `Benchmark`, with the package where it is told, and with the number of threads.
/// What ran on another system or processor than the first is no repetition, and left out.
///
/// # Errors
/// [`FormatError`], also for a unit of `b.ReportMetric` that is not known.
pub(super) fn read(written: Written<'_>) -> Result<Profile, FormatError> {
    let text = String::from_utf8_lossy(written.bytes);
    let mut lines = Lines::default();
    if text.lines().any(is_event) {
        for (package, text) in lines.unwrapped(&text) {
            lines.read(Some(package), &text)?;
        }
    } else {
        lines.read(None, &text)?;
    }
    if lines.cut {
        let sentence = "the output is cut off: what is whole before its end was read";
        lines.tally.incident(sentence.to_owned());
    }
    if lines.elsewhere > 0 {
        lines.tally.incident(format!(
            "{} lines of benchmarks were left out: they ran on another system or processor than the first",
            lines.elsewhere
        ));
    }
    if !lines.familiar {
        return Err(FormatError::Foreign {
            format: Format::GoBench,
            found: "text without a line that `go test` writes".to_owned(),
        });
    }
    lines.tally.finish(Format::GoBench)
}

fn is_event(line: &str) -> bool {
    line.starts_with('{') && line.contains("\"Action\":")
}

/// What was read so far.
#[derive(Default)]
struct Lines {
    tally: Tally,
    /// The package that the next lines are about, as far as it is told.
    package: Option<String>,
    /// A benchmark whose name was written before it ran, and whose numbers are still to come: whatever it writes itself
    /// stands between.
    pending: Option<String>,
    /// What is told of the machine of the next lines that is not so of the first.
    other: BTreeSet<String>,
    /// Lines of benchmarks that were left out for that reason.
    elsewhere: usize,
    /// Whether a package has begun to write and has not ended.
    open: bool,
    /// Whether the end of the output is missing.
    cut: bool,
    /// Whether there was any line that `go test` writes.
    familiar: bool,
}

impl Lines {
    /// The text in events, one for each package. Lines of one package may be split over events, and those of several
    /// may be mixed (golang/go#36059, #66825). What is no event is about no package.
    fn unwrapped(&mut self, text: &str) -> Vec<(String, String)> {
        let mut packages: Vec<(String, String)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut strangers = 0_usize;
        for line in text.split_inclusive('\n') {
            let (package, output) = match serde_json::from_str::<GEvent>(line) {
                Ok(event) if event.action == "output" => (
                    event.package.unwrap_or_default(),
                    event.output.unwrap_or_default(),
                ),
                Ok(_) => continue,
                Err(_) if line.starts_with('{') && !line.ends_with('\n') => {
                    self.cut = true;
                    continue;
                }
                Err(_) if line.starts_with('{') => {
                    strangers += 1;
                    continue;
                }
                Err(_) => (String::new(), line.to_owned()),
            };
            let place = *places.entry(package).or_insert_with_key(|package| {
                packages.push((package.clone(), String::new()));
                packages.len() - 1
            });
            packages[place].1.push_str(&output);
        }
        if strangers > 0 {
            self.tally
                .incident(format!("{strangers} lines that are no events were passed over"));
        }
        packages
    }

    /// Reads the lines of one package, or of several one after another.
    fn read(&mut self, package: Option<String>, text: &str) -> Result<(), FormatError> {
        self.package = package.filter(|package| !package.is_empty());
        self.other.clear();
        for line in text.split_inclusive('\n') {
            let whole = line.ends_with('\n') || is_end(line);
            if whole {
                self.line(line.trim_end_matches(['\n', '\r']))?;
            } else {
                // The last digits of a number may be missing, or of a unit.
                self.cut = true;
                self.pending = None;
            }
        }
        self.unanswered();
        if self.open && !self.cut {
            let of = self
                .package
                .as_ref()
                .map_or_else(String::new, |package| format!(" of `{}`", quoted(package)));
            self.tally.incident(format!("the end{of} is missing"));
        }
        self.open = false;
        Ok(())
    }

    fn line(&mut self, line: &str) -> Result<(), FormatError> {
        if let Some((_, failed)) = line.split_once("--- FAIL: ") {
            self.stopped(failed, "failed");
        } else if let Some((_, skipped)) = line.split_once("--- SKIP: ") {
            self.stopped(skipped, "was skipped");
        } else if let Some(rest) = line.strip_prefix("Benchmark").filter(|rest| is_name(rest)) {
            self.benchmark(rest)?;
        } else if is_end(line) {
            self.end(line);
        } else if let Some(panic) = line.strip_prefix("panic: ") {
            self.tally.incident(format!("it panicked: {}", quoted(panic)));
        } else if let Some((unit, about)) = line.strip_prefix("Unit ").and_then(|unit| unit.split_once(' ')) {
            self.tally.unknown(format!("Unit {unit}"), Value::from(about));
        } else if !self.answer(line)
            && let Some((key, value)) = setting(line)
        {
            self.setting(key, value);
        }
        Ok(())
    }

    /// A line that begins with a benchmark's name. With `-v` there is also one with nothing but its name.
    fn benchmark(&mut self, rest: &str) -> Result<(), FormatError> {
        self.familiar = true;
        self.unanswered();
        let mut fields = rest.split_whitespace();
        let name = fields.next().unwrap_or_default();
        let fields: Vec<&str> = fields.collect();
        match fields.split_first() {
            Some((count, pairs)) if count.parse::<u64>().is_ok() => match measured(pairs) {
                Some(pairs) => self.tell(name, &pairs),
                None => {
                    let sentence = format!("the numbers of `{}` cannot be read", self.id(name));
                    self.tally.incident(sentence);
                    Ok(())
                }
            },
            None if !rest.ends_with(char::is_whitespace) => Ok(()),
            _ => {
                self.pending = Some(name.to_owned());
                Ok(())
            }
        }
    }

    /// Whether a line has the numbers that the pending benchmark has not told yet.
    fn answer(&mut self, line: &str) -> bool {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let pairs = match fields.split_first() {
            Some((count, pairs)) if count.parse::<u64>().is_ok() => measured(pairs),
            _ => None,
        };
        // Anything may be written by a benchmark itself; only with units that are all known it is an answer.
        let pairs = pairs.filter(|pairs| pairs.iter().all(|(_, unit)| known(unit).is_some()));
        match (pairs, self.pending.take()) {
            (Some(pairs), Some(name)) => self.tell(&name, &pairs).is_ok(),
            (_, pending) => {
                self.pending = pending;
                false
            }
        }
    }

    fn tell(&mut self, name: &str, pairs: &[(f64, &str)]) -> Result<(), FormatError> {
        if !self.other.is_empty() {
            self.elsewhere += 1;
            return Ok(());
        }
        let name = self.id(name);
        for (value, unit) in pairs {
            let Some((metric, scale)) = known(unit) else {
                return Err(FormatError::UnknownUnit {
                    of: name,
                    unit: quoted(unit),
                    known: KNOWN,
                });
            };
            let unit = match unit.strip_suffix("MB/s") {
                Some(what) => format!("{what}bytes_per_second"),
                None => unit.replace("/op", "_per_op"),
            };
            let id = format!("{name}/{}", label(&unit));
            // Nothing was allocated: that is whole, and is no amount to compare.
            if metric.unit != Unit::Bytes || *value != 0.0 {
                self.tally.add(&id, metric, value * scale);
            }
        }
        Ok(())
    }

    fn id(&self, name: &str) -> String {
        match &self.package {
            Some(package) => label(&format!("{package}.{name}")),
            None => label(name),
        }
    }

    /// A benchmark or test that ended without numbers.
    fn stopped(&mut self, told: &str, how: &str) {
        self.familiar = true;
        self.pending = None;
        let name = told.split_whitespace().next().unwrap_or_default();
        let name = self.id(name.strip_prefix("Benchmark").unwrap_or(name));
        self.tally.incident(format!("`{name}` {how}"));
    }

    /// The pending benchmark will not tell its numbers any more.
    fn unanswered(&mut self) {
        if let Some(name) = self.pending.take() {
            let sentence = format!("`{}` told no numbers", self.id(&name));
            self.tally.incident(sentence);
        }
    }

    fn end(&mut self, line: &str) {
        self.familiar = true;
        self.open = false;
        self.unanswered();
        if let Some(failed) = line.strip_prefix("FAIL\t") {
            self.tally
                .incident(format!("a package failed: {}", quoted(failed)));
        }
        // The test binary writes a word, and then go writes a line with the name of the package.
        if line.contains('\t') {
            self.package = None;
        }
    }

    fn setting(&mut self, key: &str, value: &str) {
        match key {
            "goos" | "goarch" | "cpu" => {
                if self.tally.setting_text(key, value) {
                    self.other.remove(key);
                } else {
                    self.other.insert(key.to_owned());
                }
            }
            "pkg" => self.package = Some(value.to_owned()),
            _ => return self.tally.unknown(key.to_owned(), Value::from(value)),
        }
        self.open = true;
        self.familiar = true;
    }
}

/// Whether a line ends what a package wrote.
fn is_end(line: &str) -> bool {
    matches!(line, "PASS" | "FAIL") || line.starts_with("ok  \t") || line.starts_with("FAIL\t")
}

/// Whether a benchmark may be called so: `Benchmarking` is a word.
fn is_name(rest: &str) -> bool {
    rest.starts_with(|first: char| !first.is_lowercase() && !first.is_whitespace() && first != ':')
}

/// `key: value`, as in the design of Go's benchmark format (golang/proposal, 14313): keys are words without capitals.
fn setting(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let other = |character: char| character.is_whitespace() || character.is_uppercase();
    let is_key = key.starts_with(char::is_lowercase) && !key.contains(other);
    (is_key && value.starts_with([' ', '\t'])).then(|| (key, value.trim()))
}

/// Numbers with their units; absent if they are not in pairs, or there are none.
fn measured<'a>(fields: &[&'a str]) -> Option<Vec<(f64, &'a str)>> {
    let (pairs, rest) = fields.as_chunks::<2>();
    if pairs.is_empty() || !rest.is_empty() {
        return None;
    }
    pairs
        .iter()
        .map(|[value, unit]| Some((value.parse().ok()?, *unit)))
        .collect()
}

/// What a unit measures, and from it to the metric's own. Before the last hyphen stands what is measured, after it the
/// unit: `p99-ns/op`. Rates stay in the multiples they are told in, which are in the id, but for the one that Go tells
/// itself: `MB/s` are a million bytes a second.
fn known(unit: &str) -> Option<(Metric, f64)> {
    let unit = unit.rsplit('-').next().unwrap_or(unit);
    let (what, per) = unit.split_once('/').unwrap_or((unit, ""));
    let per_second = matches!(per, "s" | "sec");
    let time = |nanoseconds: f64| (!per_second).then(|| (Metric::time(), nanoseconds));
    match what {
        "ns" => time(1.0),
        "us" | "\u{b5}s" | "\u{3bc}s" => time(MICROSECOND),
        "ms" => time(MILLISECOND),
        "s" | "sec" => time(SECOND),
        "B" | "bytes" if matches!(per, "" | "op") => Some((Metric::memory(), 1.0)),
        "allocs" if per == "op" => Some((Metric::count(), 1.0)),
        "MB" if per == "s" => Some((Metric::rate(), 1e6)),
        "B" | "kB" | "KB" | "MB" | "GB" | "op" | "ops" | "req" | "items" | "tokens" if per_second => {
            Some((Metric::rate(), 1.0))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tally::testing::{alone, cut_anywhere, readings, settings, unknown};
    use super::*;

    const GO_1_4: &[u8] = include_bytes!("../../../tests/fixtures/formats/go-bench/go1.4.txt");
    const GO_1_22: &[u8] = include_bytes!("../../../tests/fixtures/formats/go-bench/go1.22.txt");
    const EVENTS: &[u8] = include_bytes!("../../../tests/fixtures/formats/go-bench/go1.22.jsonl");
    const CUT: &[u8] = include_bytes!("../../../tests/fixtures/formats/go-bench/cut.txt");

    #[test]
    fn lines_with_the_same_name_are_repetitions_of_one_benchmark() {
        let profile = alone(read, GO_1_22).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("example.com/store.Get-8/ns_per_op", Unit::Ns, vec![250.5, 249.5]),
                (
                    "example.com/store.Get-8/allocs_per_op",
                    Unit::Count,
                    vec![0.0, 0.0]
                ),
                (
                    "example.com/store.Put/size=1k-8/ns_per_op",
                    Unit::Ns,
                    vec![2500.0, 2400.0]
                ),
                (
                    "example.com/store.Put/size=1k-8/bytes_per_second",
                    Unit::PerSecond,
                    vec![409.6 * 1e6, 426.67 * 1e6]
                ),
                (
                    "example.com/store.Put/size=1k-8/p99-ns_per_op",
                    Unit::Ns,
                    vec![7500.0, 7400.0]
                ),
                (
                    "example.com/store.Put/size=1k-8/B_per_op",
                    Unit::Bytes,
                    vec![1024.0, 1040.0]
                ),
                (
                    "example.com/store.Put/size=1k-8/allocs_per_op",
                    Unit::Count,
                    vec![3.0, 3.0]
                ),
                ("example.com/store.Serve-8/ns_per_op", Unit::Ns, vec![3.8e7]),
                ("example.com/store.Serve-8/B_per_op", Unit::Bytes, vec![131_072.0]),
                (
                    "example.com/store.Serve-8/allocs_per_op",
                    Unit::Count,
                    vec![200.0]
                ),
                ("example.com/text.Get/ns_per_op", Unit::Ns, vec![1000.0]),
            ],
            "what a benchmark writes itself may stand between its name and its numbers"
        );
    }

    #[test]
    fn benchmarks_and_packages_that_failed_are_incidents() {
        let profile = alone(read, GO_1_22).unwrap();
        assert_eq!(
            profile.incidents,
            [
                "`example.com/store.Lock-8` failed",
                "a package failed: example.com/store 9.120s",
                "`example.com/text.Skipped` was skipped",
            ]
        );
    }

    #[test]
    fn lines_before_benchmarks_are_settings_if_they_are_known() {
        let profile = alone(read, GO_1_22).unwrap();
        assert_eq!(
            settings(&profile),
            [
                ("cpu", "AMD EPYC 9654 96-Core Processor"),
                ("goarch", "amd64"),
                ("goos", "linux"),
            ]
        );
        assert_eq!(unknown(&profile), ["toolchain"]);
    }

    #[test]
    fn old_output_has_no_lines_before_benchmarks() {
        let profile = alone(read, GO_1_4).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("DecodeDigits-8/ns_per_op", Unit::Ns, vec![154_125.0]),
                (
                    "DecodeDigits-8/bytes_per_second",
                    Unit::PerSecond,
                    vec![64.88 * 1e6]
                ),
                ("DecodeDigits-8/B_per_op", Unit::Bytes, vec![40_418.0]),
                ("DecodeDigits-8/allocs_per_op", Unit::Count, vec![7.0]),
                ("Sum/ns_per_op", Unit::Ns, vec![0.25]),
            ]
        );
        assert_eq!(profile.incidents, [""; 0]);
    }

    #[test]
    fn events_are_read_by_package_although_they_are_mixed_and_split() {
        let profile = alone(read, EVENTS).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("example.com/store.Get-8/ns_per_op", Unit::Ns, vec![250.5, 249.5]),
                ("example.com/text.Get-8/ns_per_op", Unit::Ns, vec![1000.0]),
            ]
        );
        assert_eq!(
            profile.incidents,
            ["a package failed: example.com/broken [build failed]"]
        );
        assert_eq!(profile.settings["goos"], "linux");
    }

    #[test]
    fn the_last_line_of_output_that_is_cut_off_is_left_out() {
        let profile = alone(read, CUT).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("example.com/store.Get-8/ns_per_op", Unit::Ns, vec![250.5]),
                ("example.com/store.Get-8/allocs_per_op", Unit::Count, vec![0.0]),
            ]
        );
        assert_eq!(
            profile.incidents,
            ["the output is cut off: what is whole before its end was read"]
        );
    }

    #[test]
    fn output_that_ends_between_two_lines_lacks_its_end() {
        let begun = "pkg: p\nBenchmarkA \t10\t5 ns/op\n";
        let profile = alone(read, begun.as_bytes()).unwrap();
        assert_eq!(profile.incidents, ["the end of `p` is missing"]);
        let only_lines = "BenchmarkA \t10\t5 ns/op\n";
        let profile = alone(read, only_lines.as_bytes()).unwrap();
        assert_eq!(profile.incidents, [""; 0], "lines may be picked out");
    }

    #[test]
    fn a_last_line_without_an_end_of_line_is_whole_if_it_ends_the_package() {
        let stripped = "pkg: p\nBenchmarkA \t10\t5 ns/op\nPASS\nok  \tp\t1.0s";
        assert_eq!(alone(read, stripped.as_bytes()).unwrap().incidents, [""; 0]);
    }

    #[test]
    fn no_cut_anywhere_breaks_what_is_promised() {
        for file in [GO_1_4, GO_1_22, EVENTS] {
            cut_anywhere(read, file);
        }
    }

    #[test]
    fn a_unit_that_is_not_known_is_an_error() {
        let reported = "pkg: p\nBenchmarkA-8 \t10\t5 ns/op\t0.25 hit-ratio\n";
        assert_eq!(
            alone(read, reported.as_bytes()).unwrap_err().to_string(),
            format!("`p.A-8` is in `hit-ratio`, a unit that is not known; known are {KNOWN}")
        );
    }

    #[test]
    fn times_in_other_units_are_nanoseconds() {
        let reported = "BenchmarkA\t10\t5 ms/op\t2 us/query\t3 \u{b5}s/op\t1 s/step\t4 ops/s\n";
        let profile = alone(read, reported.as_bytes()).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("A/ms_per_op", Unit::Ns, vec![5e6]),
                ("A/us/query", Unit::Ns, vec![2e3]),
                ("A/\u{b5}s_per_op", Unit::Ns, vec![3e3]),
                ("A/s/step", Unit::Ns, vec![1e9]),
                ("A/ops/s", Unit::PerSecond, vec![4.0]),
            ]
        );
    }

    #[test]
    fn megabytes_a_second_are_bytes_a_second() {
        let reported = "BenchmarkA\t10\t2.5 MB/s\t1.5 read-MB/s\t3 kB/s\n";
        let profile = alone(read, reported.as_bytes()).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("A/bytes_per_second", Unit::PerSecond, vec![2.5e6]),
                ("A/read-bytes_per_second", Unit::PerSecond, vec![1.5e6]),
                ("A/kB/s", Unit::PerSecond, vec![3.0]),
            ]
        );
    }

    #[test]
    fn allocations_that_are_no_whole_number_are_kept_and_no_count() {
        let reported = "BenchmarkA\t10\t5 ns/op\t2.5 allocs/op\n";
        let profile = alone(read, reported.as_bytes()).unwrap();
        assert_eq!(readings(&profile), vec![("A/ns_per_op", Unit::Ns, vec![5.0])]);
        assert_eq!(profile.unknown["A/allocs_per_op"], 2.5);
    }

    #[test]
    fn what_ran_on_another_processor_is_no_repetition() {
        let block =
            |cpu: &str, ns: u32| format!("goos: linux\ncpu: {cpu}\nBenchmarkA\t10\t{ns} ns/op\nPASS\n");
        let text = [block("one", 5), block("two", 6), block("one", 7)].concat();
        let profile = alone(read, text.as_bytes()).unwrap();
        assert_eq!(
            readings(&profile),
            vec![("A/ns_per_op", Unit::Ns, vec![5.0, 7.0])]
        );
        assert_eq!(
            profile.incidents,
            [
                "`cpu` is `one`, and `two` later on: the first counts",
                "1 lines of benchmarks were left out: they ran on another system or processor than the first",
            ]
        );
    }

    #[test]
    fn a_benchmark_without_numbers_and_times_of_zero_are_incidents() {
        let odd = "BenchmarkA\t10\t0.00 ns/op\nBenchmarkB-8 \tlog\nBenchmarkC\t10\tfast ns/op\n\
                   BenchmarkD\t1\t7 ns/op\n";
        let profile = alone(read, odd.as_bytes()).unwrap();
        assert_eq!(readings(&profile), vec![("D/ns_per_op", Unit::Ns, vec![7.0])]);
        assert_eq!(
            profile.incidents,
            [
                "`B-8` told no numbers",
                "the numbers of `C` cannot be read",
                "1 of 1 values of `A/ns_per_op` left out: no numbers above zero",
            ]
        );
    }

    #[test]
    fn words_that_only_look_like_benchmarks_are_none() {
        let chatter = "Benchmarking 10 5 ns/op\nBenchmark results: 10\nBenchmark: 7\n=== RUN   BenchmarkA\n";
        assert_eq!(
            alone(read, chatter.as_bytes()).unwrap_err().to_string(),
            "this is no go-bench: text without a line that `go test` writes"
        );
        assert_eq!(
            alone(read, b"PASS\nok  \tp\t0.1s\n").unwrap_err().to_string(),
            "nothing was measured in this go-bench: it has none of the numbers that are read"
        );
    }
}
