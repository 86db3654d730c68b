//! What comes back from JSON, and what does not.

use super::*;
use crate::report::{Format, Options, hostile, json, render, sample};
use proptest::prelude::*;
use serde_json::{Value, json};

fn written(report: &Report) -> Value {
    serde_json::from_str(&json::render(report)).unwrap()
}

fn reread(value: &Value) -> Result<Report, ReadError> {
    read(value.to_string().as_bytes())
}

/// A report without what its JSON does not have.
fn without_what_json_lacks(mut report: Report) -> Report {
    report.method.floor_ns = None;
    report.method.order_effect = None;
    report.curves.clear();
    for change in report.findings.iter_mut().filter_map(|row| row.change.as_mut()) {
        change.per_round.clear();
        change.base_per_round.clear();
        change.confirmation = None;
    }
    report
}

#[track_caller]
fn assert_damaged(value: &Value, words: &str) {
    match reread(value) {
        Err(ReadError::Damaged { what }) => assert!(what.contains(words), "{what}"),
        other => panic!("{words}: {other:?}"),
    }
}

#[test]
fn what_was_written_is_read_back() {
    for report in [sample::report(), sample::empty()] {
        let read = reread(&written(&report)).unwrap();
        assert_eq!(read, without_what_json_lacks(report));
    }
}

#[test]
fn a_report_that_was_read_is_shown_like_the_one_that_was_written() {
    let report = without_what_json_lacks(sample::report());
    let read = reread(&written(&report)).unwrap();
    for format in [Format::Term, Format::Md, Format::Csv, Format::Json] {
        let shown = |report: &Report| render(report, format, &Options::default());
        assert_eq!(shown(&read), shown(&report));
    }
    assert!(!render(&read, Format::Md, &Options::default()).contains("1 ns and"));
}

#[test]
fn keys_of_a_later_version_are_passed_over() {
    let mut value = written(&sample::report());
    value["later"] = json!({"a": [1, {"b": null}]});
    value["findings"][0]["later"] = json!("x");
    value["method"]["later"] = json!(1);
    assert_eq!(reread(&value), Ok(without_what_json_lacks(sample::report())));
}

#[test]
fn another_schema_is_named_and_no_schema_is_no_report() {
    let mut value = written(&sample::empty());
    value["schema"] = json!("abreast/report/2");
    let error = reread(&value).unwrap_err().to_string();
    assert!(error.contains("`abreast/report/2`"), "{error}");
    value["schema"] = json!("abreast/report/\n::error::x");
    let error = reread(&value).unwrap_err().to_string();
    assert!(!error.contains('\n'), "{error}");
    for foreign in [
        json!({}),
        json!([]),
        json!(1),
        json!({"schema": 1}),
        json!({"schema": "x"}),
    ] {
        assert_eq!(reread(&foreign), Err(ReadError::Foreign));
    }
}

#[test]
fn a_value_of_the_wrong_type_is_refused() {
    for (pointer, wrong) in [
        ("/base/sha", json!(7)),
        ("/base", json!(null)),
        ("/notes", json!("one")),
        ("/notes/0", json!(["one"])),
        ("/host/cores", json!(-1)),
        ("/method/rounds", json!(1.5)),
        ("/method/threshold", json!(null)),
        ("/findings", json!({})),
        ("/findings/0/verdict", json!("fine")),
        ("/findings/0/unit", json!("parsecs")),
        ("/findings/0/change", json!("0.1")),
        ("/findings/0/confirmed", json!(1)),
        ("/findings/0/notes", json!(null)),
    ] {
        let mut value = written(&sample::report());
        *value.pointer_mut(pointer).unwrap() = wrong;
        assert!(
            matches!(reread(&value), Err(ReadError::Damaged { .. })),
            "{pointer}"
        );
    }
}

#[test]
fn values_that_contradict_each_other_are_refused() {
    let with = |pointer: &str, wrong: Value| {
        let mut value = written(&sample::report());
        *value.pointer_mut(pointer).unwrap() = wrong;
        value
    };
    assert_damaged(
        &with("/findings/0/low", json!(null)),
        "row 1 has `change` without `low`",
    );
    assert_damaged(
        &with("/findings/0/rounds", json!(null)),
        "`change` without `rounds`",
    );
    assert_damaged(&with("/findings/4/flag", json!("alert")), "flag `alert`");
    assert_damaged(&with("/findings/0/base", json!(1e300)), "`base` is out of range");
    assert_damaged(&with("/method/alert", json!(-1)), "`method.alert`");
    assert_damaged(&with("/elapsed/total_s", json!(-1)), "`elapsed`");
    for sha in ["", "main", "1a1a1a1a1a", &"G".repeat(40), &"é".repeat(20)] {
        assert_damaged(&with("/head/sha", json!(sha)), "`head.sha`");
    }
}

#[test]
fn numbers_that_are_none_are_refused() {
    let text = json::render(&sample::report());
    for number in ["NaN", "Infinity", "-Infinity", "1e999", "0x1", "01"] {
        let damaged = text.replacen("\"threshold\": 0.02", &format!("\"threshold\": {number}"), 1);
        assert_ne!(damaged, text);
        let error = read(damaged.as_bytes());
        assert!(
            matches!(error, Err(ReadError::Damaged { .. })),
            "{number}: {error:?}"
        );
    }
}

#[test]
fn a_key_that_is_there_twice_is_refused() {
    let text = json::render(&sample::report());
    let twice = text.replacen("\"notes\":", "\"notes\": [], \"notes\":", 1);
    let error = read(twice.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("duplicate field `notes`"), "{error}");
}

#[test]
fn what_is_too_large_or_too_deep_is_not_parsed() {
    assert!(matches!(
        read(&vec![0; MOST_BYTES + 1]),
        Err(ReadError::TooMuch { what: "bytes", .. })
    ));
    for opening in ["[", "{\"a\":"] {
        assert_eq!(read(opening.repeat(100_000).as_bytes()), Err(ReadError::TooDeep));
    }
    // Brackets in a text are text.
    let mut value = written(&sample::empty());
    value["notes"] = json!(["[[[[[[[[[[[[[[[[[[[[\\\"[[[[[[[[[["]);
    assert!(reread(&value).is_ok());
    let mut value = written(&sample::report());
    let row = value["findings"][0].clone();
    value["findings"] = json!(vec![row; MOST_ROWS + 1]);
    let error = reread(&value).unwrap_err();
    assert!(
        matches!(error, ReadError::TooMuch { what: "rows", .. }),
        "{error}"
    );
}

#[test]
fn what_a_message_quotes_is_one_visible_line() {
    let mut value = written(&sample::report());
    value["findings"][0]["verdict"] = json!("x\n::add-mask::y\u{202e}\u{1b}[31m");
    let error = reread(&value).unwrap_err().to_string();
    let hidden = |c: char| c.is_control() || c == '\u{202e}';
    assert!(!error.contains(hidden), "{error:?}");
}

proptest! {
    #[test]
    fn hostile_texts_come_back_as_they_were(texts in hostile::texts()) {
        let mut report = hostile::report(&texts);
        // A commit is no text.
        report.head.sha = "f0".repeat(20);
        let read = reread(&written(&report));
        prop_assert_eq!(read, Ok(without_what_json_lacks(report)));
    }

    #[test]
    fn no_bytes_make_it_panic(
        at in 0_usize..8_000,
        bytes in prop::collection::vec(any::<u8>(), 0..8),
        cut in any::<bool>(),
    ) {
        let mut text = json::render(&sample::report()).into_bytes();
        let at = at.min(text.len());
        let end = if cut { text.len() } else { (at + bytes.len()).min(text.len()) };
        drop(text.splice(at..end, bytes));
        let _ = read(&text);
    }
}
