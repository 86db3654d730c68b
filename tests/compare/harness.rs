//! The bench itself changed.

use crate::support::bench::TestBench;
use crate::support::files::Files;
use crate::support::report::Report;
use crate::support::script::{bench, multiplied, suite};

fn with_work(files: Files, work: &str) -> Files {
    files.replaced(
        "benches/scripted.rs",
        "const WORK: f64 = 1.0",
        &format!("const WORK: f64 = {work}"),
    )
}

#[test]
fn a_bench_whose_input_changed_is_not_comparable_unless_both_sides_use_one_harness() {
    let at = TestBench::of_suite();
    let base = at.commit(&suite(&[bench("g/a", 1e5), bench("g/b", 1e5)]));
    let head = at.commit(&with_work(
        suite(&[bench("g/a", 1e5), bench("g/b", 1e5).times(1.3)]),
        "1.5",
    ));

    let ended = at.compare(
        &base,
        &head,
        &["--rounds", "8", "--fail-on", "regression,unclear"],
    );
    let report = ended.expect(0);
    report.all("not_comparable");
    for row in report.rows() {
        row.noted("bench source changed (benches/scripted.rs:");
        assert!(row.change() > 0.4, "{}", report.table());
    }

    for (side, base_ns) in [("head", 1.5e5), ("base", 1e5)] {
        let ended = at.compare(&base, &head, &["--rounds", "8", "--harness", side]);
        let report = ended.expect(0);
        assert_eq!(report.flagged(), ["g/b"], "{side}: {}", report.table());
        assert!(
            (report.row("g/b").change() - 0.3).abs() < 0.05,
            "{side}: {}",
            report.table()
        );
        let measured = report.row("g/a").0["base"].as_f64().unwrap();
        assert!(
            (measured / base_ns - 1.0).abs() < 0.05,
            "{side}: {}",
            report.table()
        );
        report.noted(&format!(
            "both sides were measured with {side}'s bench sources (--harness {side})"
        ));
    }
}

#[test]
fn twice_the_work_declared_as_twice_the_work_is_judged_per_element() {
    let at = TestBench::of_suite();
    let declaring = |work: &str, elements: &str, factor: f64| {
        let files = suite(&[bench("g/a", 1e5), bench("g/b", 1e5).times(factor)]);
        at.commit(&with_work(files, work).replaced(
            "benches/scripted.rs",
            "const ELEMENTS: u64 = 0",
            &format!("const ELEMENTS: u64 = {elements}"),
        ))
    };
    let ended = at.compare(
        &declaring("1.0", "1000", 1.0),
        &declaring("2.0", "2000", 1.3),
        &["--rounds", "16"],
    );
    let report = ended.expect(0);
    assert_eq!(
        report.verdicts(),
        ["g/a unchanged", "g/b regressed"],
        "{}",
        report.table()
    );
    let row = report.row("g/a");
    row.noted("judged per element: throughput changed from 1000 to 2000");
    row.noted("bench source changed");
    assert!(row.change().abs() < 0.03, "{}", report.table());
}

#[test]
fn a_bench_added_to_a_file_leaves_the_others_comparable() {
    let at = TestBench::of_suite();
    let files = suite(&[bench("g/a", 1e5)]);
    let more = files.clone().replaced(
        "benches/scripted.rs",
        "    criterion.final_summary();",
        "    criterion.benchmark_group(\"more\").bench_function(\"x\", |b| b.iter(|| 1));\n    criterion.final_summary();",
    );
    let ended = at.compare(
        &at.commit(&files),
        &at.commit(&more),
        &["--rounds", "8", "--budget", "60s"],
    );
    let report = ended.expect(0);
    assert_eq!(report.row("more/x").verdict(), "new", "{}", report.table());
    assert!(report.row("g/a").0["change"].is_number(), "{}", report.table());
    assert_ne!(
        report.row("g/a").verdict(),
        "not_comparable",
        "{}",
        report.table()
    );
}

#[test]
fn a_bench_that_reads_files_while_it_runs_sees_those_of_its_own_side() {
    let at = TestBench::of_suite();
    let reading = |input: &str, benches: &[crate::support::script::Bench]| {
        let files = suite(benches).with("benches/input.txt", input);
        let read = "std::fs::read_to_string(\"benches/input.txt\").unwrap().parse().unwrap()";
        at.commit(&multiplied(files, read))
    };
    let base = reading("1.0", &[bench("g/a", 1e5)]);
    let head = reading("2.0", &[bench("g/a", 1e5), bench("h/new", 1e5)]);
    let ended = at.compare(&base, &head, &["--rounds", "8"]);
    let report = ended.expect(0);
    let shown_but_not_counted = |report: &Report| {
        assert_eq!(
            report.row("g/a").verdict(),
            "not_comparable",
            "{}",
            report.table()
        );
        assert!(
            (report.row("g/a").change() - 1.0).abs() < 0.05,
            "{}",
            report.table()
        );
        let differences = report.differences().join("\n");
        assert!(
            differences.contains("bench data benches/input.txt"),
            "{differences}"
        );
    };
    shown_but_not_counted(report);

    // The same executables on other data are not the same experiment.
    let ended = at.compare(&base, &reading("2.0", &[bench("g/a", 1e5)]), &["--rounds", "8"]);
    shown_but_not_counted(ended.expect(0));
}
