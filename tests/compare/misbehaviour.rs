//! Benches that hang, panic, leave or never stop talking.

use crate::support::bench::TestBench;
use crate::support::files::Files;
use crate::support::script::{bench, suite};

#[test]
fn a_bench_that_fails_is_named_and_the_others_are_measured() {
    let at = TestBench::of_suite();
    let of = |factor: f64| {
        at.script(&[
            bench("g/first", 1e5),
            bench("g/panics", 1e5).act("Panic"),
            bench("g/second", 1e5),
            bench("g/leaves", 1e5).act("Exit(3)"),
            bench("g/third", 1e5).times(factor),
            bench("g/leaves-well", 1e5).act("Exit(0)"),
            bench("g/fourth", 1e5),
        ])
    };
    let ended = at.compare(&of(1.0), &of(2.0), &["--rounds", "8"]);
    let report = ended.expect(5);
    for (id, reason) in [
        ("g/panics", "exit status 101"),
        ("g/panics", "the script says so"),
        ("g/leaves", "exit status 3"),
        ("g/leaves-well", "ended well but wrote no measurement"),
    ] {
        assert_eq!(report.row(id).verdict(), "failed", "{}", report.table());
        report.row(id).noted(reason);
    }
    for id in ["g/first", "g/second", "g/third", "g/fourth"] {
        assert_eq!(report.row(id).0["rounds"], 8, "{}", report.table());
    }
    assert_eq!(report.flagged(), ["g/third"]);
    assert!(ended.stdout.contains("g/panics"), "{}", ended.stdout);
}

#[test]
fn a_bench_that_hangs_or_babbles_for_ever_is_killed_and_named() {
    let at = TestBench::of_suite();
    let of = |factor: f64| {
        at.script(&[
            bench("g/before", 1e5),
            bench("g/hangs", 1e5).act("Hang"),
            bench("g/between", 1e5).times(factor),
            bench("g/babbles", 1e5).act("Babble"),
            bench("g/after", 1e5),
        ])
    };
    let ended = at.compare(&of(1.0), &of(2.0), &["--rounds", "8", "--timeout", "2s"]);
    let report = ended.expect(5);
    for id in ["g/hangs", "g/babbles"] {
        assert_eq!(report.row(id).verdict(), "failed", "{}", report.table());
        report.row(id).noted("killed after");
    }
    for id in ["g/before", "g/between", "g/after"] {
        assert_eq!(report.row(id).0["rounds"], 8, "{}", report.table());
    }
    assert_eq!(report.flagged(), ["g/between"]);
}

#[test]
fn what_the_budget_cannot_reach_is_named_and_the_rest_is_measured() {
    let at = TestBench::of_suite();
    // A slot of the slow one is a dozen naps of a quarter of a second: eight rounds of it do not fit into the budget.
    let of = |factor: f64| {
        at.script(&[
            bench("g/quick", 1e5).times(factor),
            bench("g/slow", 1e5).act("Nap(250)"),
            bench("g/other", 1e5),
        ])
    };
    let ended = at.compare(&of(1.0), &of(2.0), &["--budget", "12s", "--timeout", "60s"]);
    let report = ended.expect(5);
    let row = report.row("g/slow");
    assert_eq!(row.verdict(), "failed", "{}", report.table());
    row.noted("budget");
    report.noted("not measured for lack of budget: 1 scenario");
    assert_eq!(report.flagged(), ["g/quick"], "{}", report.table());
    let elapsed = &report.0["elapsed"];
    for key in ["build_base_s", "build_head_s", "measure_s", "total_s"] {
        assert!(elapsed[key].is_number(), "{elapsed}");
    }
}

#[test]
fn a_bench_executable_that_cannot_be_listed_fails_its_rows_and_no_others() {
    let at = TestBench::of_suite();
    let two = |main: &str| {
        let files = suite(&[bench("g/a", 1e5)]).and(Files::fixture("ids")).replaced(
            "Cargo.toml",
            "[[bench]]\nname = \"scripted\"",
            "[[bench]]\nname = \"ids\"\nharness = false\n\n[[bench]]\nname = \"scripted\"",
        );
        at.commit(&files.replaced(
            "benches/ids.rs",
            "fn main() {",
            &format!("fn main() {{\n    {main}"),
        ))
    };
    let ended = at.compare(
        &two(""),
        &two("assert!(std::env::var_os(\"SUITE_LAUNCHES\").is_none(), \"no data\");"),
        &["--rounds", "8"],
    );
    let report = ended.expect(5);
    let mut rows: Vec<String> = report
        .rows()
        .iter()
        .map(|row| format!("{} {}", row.target(), row.verdict()))
        .collect();
    rows.sort();
    assert_eq!(rows, ["ids failed", "scripted identical"], "{}", report.table());
    let failed = report
        .rows()
        .into_iter()
        .find(|row| row.target() == "ids")
        .unwrap();
    failed.noted("head could not be listed");
    failed.noted("no data");
    assert_eq!(failed.has_numbers(), (true, false));

    // On both sides: there is not one scenario of it, and it must not vanish.
    let main = "assert!(std::env::var_os(\"SUITE_LAUNCHES\").is_none(), \"no data\");";
    let ended = at.compare(
        &two(main),
        &two(&format!("// Other.\n    {main}")),
        &["--rounds", "8"],
    );
    let report = ended.expect(5);
    let lost = report
        .rows()
        .into_iter()
        .find(|row| row.target() == "ids")
        .unwrap();
    assert_eq!(lost.verdict(), "failed");
    lost.noted("base could not be used");
    lost.noted("head could not be used");
}
