//! Numbers that are no measurements, and measurements at the edge of what can be decided.

use crate::support::bench::TestBench;
use crate::support::script::{bench, multiplied, source, suite};

#[test]
fn senseless_measurements_are_named_and_leave_the_other_rows_alone() {
    let at = TestBench::of_suite();
    let of = |factor: f64| {
        at.script(&[
            bench("g/ok", 1e5).times(factor),
            bench("g/constant", 1e5).act("Constant"),
            bench("g/zero", 1e5).act("Zero"),
            bench("g/nan", 1e5).act("Damage(\"{\\\"sampling_mode\\\":\\\"Flat\\\",\\\"iters\\\":[1.0,1.0,1.0],\\\"times\\\":[NaN,1.0,1.0]}\")"),
            bench("g/null", 1e5).act("Damage(\"{\\\"iters\\\":[1.0,1.0,1.0],\\\"times\\\":[null,1.0,1.0]}\")"),
            bench("g/single", 1e5).act("Damage(\"{\\\"sampling_mode\\\":\\\"Flat\\\",\\\"iters\\\":[1.0],\\\"times\\\":[10.0]}\")"),
            bench("g/cut", 1e5).act("Damage(\"{\\\"sampling_mo\")"),
            bench("g/outliers", 1e5).act("Outliers"),
        ])
    };
    let (base, head) = (of(1.0), of(2.0));
    let ended = at.compare(&base, &head, &["--rounds", "8"]);
    let report = ended.expect(5);
    assert_eq!(report.flagged(), ["g/ok"], "{}", report.table());
    assert!(
        (report.row("g/constant").change()).abs() < 1e-9,
        "{}",
        report.table()
    );
    assert_eq!(report.row("g/constant").verdict(), "unchanged");
    assert!(
        report.row("g/outliers").change().abs() < 0.05,
        "{}",
        report.table()
    );
    for (id, reason) in [
        ("g/zero", "not measurable"),
        ("g/nan", "sample.json is damaged"),
        ("g/null", "not a finite number"),
        ("g/single", "too few samples: 1"),
        ("g/cut", "sample.json is damaged"),
    ] {
        let row = report.row(id);
        assert_eq!(row.verdict(), "failed", "{}", report.table());
        row.noted(reason);
        assert!(row.0["change"].is_null());
    }
    for text in [&ended.stdout, &report.0.to_string()] {
        assert!(
            !text.contains("inf%") && !text.contains("inf ") && !text.contains("NaN "),
            "{text}"
        );
    }
}

#[test]
fn percent_and_nanoseconds_and_the_clock_must_all_agree_before_a_row_is_flagged() {
    let at = TestBench::of_suite();
    let of = |tiny: f64, short: f64, coarse: f64, limit: f64, below: f64, long: f64| {
        at.script(&[
            bench("g/tiny", tiny).act("Tiny").noise(0.001),
            bench("g/short", short).act("Tiny").noise(0.001),
            bench("g/coarse", coarse).act("Step(50_000)").noise(0.03),
            bench("g/limit", limit).act("Constant"),
            bench("g/below", below).act("Constant"),
            bench("g/long", long),
        ])
    };
    let base = of(0.40, 2.0, 6e5, 1e6, 1e6, 8.5e7);
    let head = of(0.58, 50.0, 7e5, 1_050_400.0, 1_049_600.0, 1.3e8);
    // Sixteen rounds, so that there is something to trim: a process that loses its processor in the warm-up measures
    // next to nothing of an iteration this short.
    let ended = at.compare(
        &base,
        &head,
        &["--rounds", "16", "--threshold", "5%", "--margin", "5%"],
    );
    let report = ended.expect(0);
    assert_eq!(
        report.flagged(),
        ["g/limit", "g/long", "g/short"],
        "{}",
        report.table()
    );
    let tiny = report.row("g/tiny");
    assert!((tiny.change() - 0.45).abs() < 0.05, "{}", report.table());
    tiny.noted("below the absolute floor of 1 ns");
    let coarse = report.row("g/coarse");
    assert!((coarse.change() - 1.0 / 6.0).abs() < 0.05, "{}", report.table());
    coarse.noted("resolution too coarse: the clock steps by 50 µs");
    // Both are printed as five percent; the raw values decide.
    assert!(
        (report.row("g/limit").change() - 0.0504).abs() < 1e-4,
        "{}",
        report.table()
    );
    assert!(
        (report.row("g/below").change() - 0.0496).abs() < 1e-4,
        "{}",
        report.table()
    );

    let ended = at.compare(
        &base,
        &head,
        &["--rounds", "16", "--filter", "tiny", "--floor-ns", "0.1"],
    );
    assert_eq!(ended.expect(0).flagged(), ["g/tiny"]);
}

#[test]
fn a_script_is_valid_rust_whatever_the_id() {
    assert!(source(&[bench("a\"b\\c", 1.0)]).contains(r#"id: "a\"b\\c""#));
}

#[test]
fn benches_see_all_processors_on_both_sides_although_their_processes_are_placed() {
    let at = TestBench::of_suite();
    let counting = |text: &str| {
        let files = suite(&[bench("g/a", 1e5)]).with("src/other.rs", text);
        let processors = "std::thread::available_parallelism().unwrap().get() as f64";
        at.commit(&multiplied(files, processors))
    };
    let args = ["--rounds", "8", "--measure-identical"];
    let ended = at.compare(&counting("// one\n"), &counting("// two\n"), &args);
    let processors = std::thread::available_parallelism().unwrap().get();
    let expected = 1e5 * f64::from(u32::try_from(processors).unwrap());
    let row = ended.expect(0).row("g/a");
    for side in ["base", "head"] {
        let typical = row.0[side].as_f64().unwrap();
        assert!(
            (typical / expected - 1.0).abs() < 0.1,
            "{side}: {typical} instead of {expected}"
        );
    }
}
