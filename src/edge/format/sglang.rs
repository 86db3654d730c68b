//! What SGLang's `bench_one_batch` appends to its result file: a line of JSON for each batch that it measured, with
//! times in seconds. `bench_one_batch_server` appends other figures about the same sizes; they are read as well.
//!
//! A line is one repetition. Of the steps of decoding it tells only the median, and not whether they were replayed
//! from a graph.

use super::objects::Found;
use super::tally::{SECOND, Tally, label};
use super::value::{Fields, text};
use super::{FormatError, Written};
use crate::profile::{Format, Profile};
use std::collections::BTreeSet;

/// What is measured; ids begin with it.
const SIZES: [&str; 3] = ["batch_size", "input_len", "output_len"];

/// Times, in seconds. Without a second token there is no step of decoding.
const TIMES: [&str; 5] = [
    "prefill_latency",
    "median_decode_latency",
    "total_latency",
    "latency",
    "last_ttft",
];

/// Tokens per second.
const RATES: [&str; 6] = [
    "prefill_throughput",
    "median_decode_throughput",
    "overall_throughput",
    "input_throughput",
    "output_throughput",
    "last_gen_throughput",
];

/// Lines about the same sizes are repetitions. Their names tell them apart where the file has several; a name that all
/// lines have names the build, and is nowhere.
///
/// # Errors
/// [`FormatError::Foreign`] if no line is in it, [`FormatError::Nothing`] if none of its numbers can be used.
pub(super) fn read(written: Written<'_>) -> Result<Profile, FormatError> {
    let found = Found::read(written.bytes);
    if !found.objects.iter().any(is_line) {
        return Err(found.foreign(Format::Sglang));
    }
    let mut tally = Tally::new(found.incidents);
    let all = found.objects.len();
    let mut lines: Vec<Fields> = found.objects.into_iter().filter(is_line).collect();
    if lines.len() < all {
        let passed_over = all - lines.len();
        tally.incident(format!(
            "{passed_over} lines without sizes or times were passed over"
        ));
    }
    let names: Vec<Option<String>> = lines
        .iter_mut()
        .map(|line| text(&line.remove("run_name").unwrap_or_default()))
        .collect();
    let named = names.iter().collect::<BTreeSet<_>>().len() > 1;
    for (line, name) in lines.into_iter().zip(names) {
        let name = name
            .filter(|_| named)
            .map_or(String::new(), |name| format!("{}/", label(&name)));
        figures(line, &name, &mut tally);
    }
    tally.finish(Format::Sglang)
}

fn is_line(fields: &Fields) -> bool {
    SIZES.iter().all(|size| fields.contains_key(*size)) && TIMES.iter().any(|time| fields.contains_key(*time))
}

fn figures(mut line: Fields, name: &str, tally: &mut Tally) {
    let [batch, input, output] =
        SIZES.map(|size| label(&text(&line.remove(size).unwrap_or_default()).unwrap_or_default()));
    let sizes = format!("{name}b{batch}-in{input}-out{output}");
    for key in TIMES {
        let told = line.remove(key).unwrap_or_default();
        tally.time(&format!("{sizes}/{key}"), &told, SECOND);
    }
    for key in RATES {
        let told = line.remove(key).unwrap_or_default();
        tally.rate(&format!("{sizes}/{key}"), &told);
    }
    tally.unknown_in("", line);
}

#[cfg(test)]
mod tests {
    use super::super::tally::testing::{alone, cut_anywhere, readings, settings, unknown};
    use super::*;
    use crate::metric::Unit;

    const RESULT: &[u8] = include_bytes!("../../../tests/fixtures/formats/sglang/result.jsonl");
    const SERVER: &[u8] = include_bytes!("../../../tests/fixtures/formats/sglang/server.jsonl");
    const CUT: &[u8] = include_bytes!("../../../tests/fixtures/formats/sglang/truncated.jsonl");

    #[test]
    fn lines_about_the_same_sizes_are_repetitions_and_one_token_has_no_step() {
        let profile = alone(read, RESULT).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("b1-in256-out32/prefill_latency", Unit::Ns, vec![1.25e8, 1.5e8]),
                (
                    "b1-in256-out32/median_decode_latency",
                    Unit::Ns,
                    vec![7_812_500.0, 8_789_062.5]
                ),
                ("b1-in256-out32/total_latency", Unit::Ns, vec![3.75e8, 4.375e8]),
                (
                    "b1-in256-out32/prefill_throughput",
                    Unit::PerSecond,
                    vec![2048.0, 1706.5]
                ),
                (
                    "b1-in256-out32/median_decode_throughput",
                    Unit::PerSecond,
                    vec![128.0, 113.75]
                ),
                (
                    "b1-in256-out32/overall_throughput",
                    Unit::PerSecond,
                    vec![768.0, 658.25]
                ),
                ("b8-in256-out1/prefill_latency", Unit::Ns, vec![5e8]),
                ("b8-in256-out1/total_latency", Unit::Ns, vec![5e8]),
                ("b8-in256-out1/prefill_throughput", Unit::PerSecond, vec![4096.0]),
                ("b8-in256-out1/overall_throughput", Unit::PerSecond, vec![4112.0]),
            ]
        );
        assert!(settings(&profile).is_empty(), "the name is the build's");
        assert_eq!(unknown(&profile), [""; 0]);
        assert_eq!(profile.incidents, [""; 0]);
    }

    #[test]
    fn lines_of_the_server_are_read_and_what_has_no_unit_is_kept() {
        let profile = alone(read, SERVER).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("b16-in1024-out16/latency", Unit::Ns, vec![2.5e9]),
                ("b16-in1024-out16/last_ttft", Unit::Ns, vec![1.25e9]),
                (
                    "b16-in1024-out16/overall_throughput",
                    Unit::PerSecond,
                    vec![6656.0]
                ),
                (
                    "b16-in1024-out16/input_throughput",
                    Unit::PerSecond,
                    vec![13107.25]
                ),
                ("b16-in1024-out16/output_throughput", Unit::PerSecond, vec![102.5]),
            ]
        );
        assert_eq!(unknown(&profile), ["acc_length", "cache_hit_rate"]);
        assert_eq!(
            profile.incidents,
            ["1 of 1 values of `b16-in1024-out16/last_gen_throughput` left out: no numbers above zero"]
        );
    }

    #[test]
    fn names_tell_lines_apart_where_there_are_several() {
        let lines = br#"
            {"run_name": "eager", "batch_size": 1, "input_len": 8, "output_len": 4, "total_latency": 0.5}
            {"run_name": "graph", "batch_size": 1, "input_len": 8, "output_len": 4, "total_latency": 0.25}
        "#;
        assert_eq!(
            readings(&alone(read, lines).unwrap()),
            vec![
                ("eager/b1-in8-out4/total_latency", Unit::Ns, vec![5e8]),
                ("graph/b1-in8-out4/total_latency", Unit::Ns, vec![2.5e8]),
            ]
        );
    }

    #[test]
    fn names_of_any_length_are_one_short_line() {
        let name = "n".repeat(500);
        let line = |name: &str| {
            format!(
                r#"{{"run_name": "{name}", "batch_size": 1, "input_len": 8, "output_len": 4, "latency": 0.5}}"#
            )
        };
        let lines = [line(&(name.clone() + "1")), line(&(name + "2"))].join("\n");
        let profile = alone(read, lines.as_bytes()).unwrap();
        assert_eq!(profile.readings.len(), 2, "two names");
        for reading in profile.readings {
            assert!(
                reading.id.starts_with(&("n".repeat(199) + "… #")),
                "{}",
                reading.id
            );
            assert!(reading.id.ends_with("/b1-in8-out4/latency"), "{}", reading.id);
        }
    }

    #[test]
    fn a_line_that_is_cut_off_gives_what_was_whole_of_it() {
        let profile = alone(read, CUT).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("b1-in256-out32/prefill_latency", Unit::Ns, vec![1.25e8, 1.5e8]),
                (
                    "b1-in256-out32/median_decode_latency",
                    Unit::Ns,
                    vec![7_812_500.0]
                ),
                ("b1-in256-out32/total_latency", Unit::Ns, vec![3.75e8]),
                ("b1-in256-out32/prefill_throughput", Unit::PerSecond, vec![2048.0]),
                (
                    "b1-in256-out32/median_decode_throughput",
                    Unit::PerSecond,
                    vec![128.0]
                ),
                ("b1-in256-out32/overall_throughput", Unit::PerSecond, vec![768.0]),
            ]
        );
        assert_eq!(
            profile.incidents,
            ["the file is cut off: what is whole before its end was read"]
        );
        for file in [RESULT, SERVER] {
            cut_anywhere(read, file);
        }
    }

    #[test]
    fn what_is_printed_besides_is_passed_over() {
        let text = "Warmup ...\nPrefill. latency: 0.12500 s, throughput:   2048.00 token/s\n\
                    {\"batch_size\": 1, \"input_len\": 8, \"output_len\": 4, \"total_latency\": NaN, \"latency\": 2}\n\
                    {\"batch_size\": 1}\n";
        let profile = alone(read, text.as_bytes()).unwrap();
        assert_eq!(
            readings(&profile),
            vec![("b1-in8-out4/latency", Unit::Ns, vec![2e9])]
        );
        assert_eq!(
            profile.incidents,
            [
                "2 lines that are no JSON were passed over",
                "1 lines without sizes or times were passed over",
                "1 of 1 values of `b1-in8-out4/total_latency` left out: no numbers above zero",
            ]
        );
    }

    #[test]
    fn other_files_are_foreign() {
        assert_eq!(
            alone(read, br#"{"batch_size": 1}"#).unwrap_err().to_string(),
            "this is no sglang: its first JSON object has the keys `batch_size`"
        );
    }
}
