//! A known change is found where it is, and nowhere else.

use crate::support::bench::TestBench;
use crate::support::script::{bench, five};

#[test]
fn a_slower_bench_is_flagged_at_default_settings_and_only_that_one() {
    let at = TestBench::of_suite();
    let noisy = || five().into_iter().map(|bench| bench.noise(0.02));
    let base = at.script(&noisy().collect::<Vec<_>>());
    for factor in [1.10, 1.25, 2.0] {
        let slower = noisy()
            .enumerate()
            .map(|(n, bench)| if n == 2 { bench.times(factor) } else { bench });
        let head = at.script(&slower.collect::<Vec<_>>());
        let ended = at.compare(&base, &head, &["--fail-on", "regression"]);
        let report = ended.expect(1);
        assert_eq!(report.flagged(), ["g/c"], "{}", report.table());
        let row = report.row("g/c");
        assert!(
            (row.change() / (factor - 1.0) - 1.0).abs() < 0.3,
            "{}",
            report.table()
        );
        assert_eq!(
            (row.verdict(), row.0["confirmed"].as_bool()),
            ("regressed", Some(true))
        );
        if factor > 1.2 {
            assert_eq!(row.0["flag"], "alert");
        }
        assert!(report.0["method"]["median_detectable"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn a_faster_bench_is_an_improvement_and_no_failure() {
    let at = TestBench::of_suite();
    let base = at.script(&[bench("g/a", 2e5), bench("g/b", 1e5)]);
    let head = at.script(&[bench("g/a", 1e5), bench("g/b", 1e5)]);
    let ended = at.compare(&base, &head, &["--rounds", "8", "--fail-on", "regression"]);
    let report = ended.expect(0);
    assert_eq!(report.row("g/a").verdict(), "improved", "{}", report.table());
    assert_eq!(report.row("g/a").0["flag"], "faster");
    assert_eq!(report.flagged(), ["g/a"]);
}

#[test]
fn too_few_rounds_for_any_verdict_are_refused_with_the_number_that_is_needed() {
    let at = TestBench::of_suite();
    let base = at.script(&five());
    let ended = at.compare(&base, &base, &["--rounds", "3"]);
    let said = ended.refusal(2);
    assert!(
        said.contains("cannot reach a verdict with 3 rounds") && said.contains("at least 8"),
        "{said}"
    );
}

#[test]
fn a_drift_from_process_to_process_is_no_change() {
    let at = TestBench::of_suite();
    let drifting = [
        bench("g/a", 1e5).drift(0.01).noise(0.0),
        bench("g/b", 1e6).drift(0.01).noise(0.002),
    ];
    let base = at.script(&drifting);
    // Another executable that reports the same times: only one more bench tells the sides apart.
    let head = at.script(&[drifting.to_vec(), vec![bench("h/new", 1e5)]].concat());
    let ended = at.compare(&base, &head, &["--rounds", "16"]);
    let report = ended.expect(0);
    for id in ["g/a", "g/b"] {
        assert!(report.row(id).change().abs() <= 0.01, "{}", report.table());
    }
    // Whichever side runs second in a round is slower by the drift of one process; over a pair of rounds that cancels.
    assert!(report.row("g/a").change().abs() <= 1e-3, "{}", report.table());
    assert!(report.flagged().is_empty());
    // The sides alternate: never more than two processes of one side in a row, once both are being measured.
    let sides: Vec<bool> = ended
        .launches
        .iter()
        .map(|path| path.contains("/base/"))
        .collect();
    let compared = &sides[sides.len() - 32..];
    assert!(
        compared
            .windows(3)
            .all(|three| three.iter().any(|side| *side != three[0])),
        "{sides:?}"
    );
    assert_eq!(compared.iter().filter(|is_base| **is_base).count(), 16);
}

#[test]
fn what_fresh_processes_do_not_repeat_is_shown_and_not_counted() {
    let at = TestBench::of_suite();
    let quiet = |bench: crate::support::script::Bench| bench.noise(0.002);
    let base = at.script(&five().into_iter().map(quiet).collect::<Vec<_>>());
    // Two launches of the warm-up and 32 of the comparison are slow on head; those of the confirmation are not.
    let passing = |(n, bench): (usize, crate::support::script::Bench)| match n {
        1 => quiet(bench).at_first(34, 1.2),
        3 => quiet(bench).times(1.2),
        _ => quiet(bench),
    };
    let head = at.script(&five().into_iter().enumerate().map(passing).collect::<Vec<_>>());
    let ended = at.compare(&base, &head, &["--rounds", "16", "--fail-on", "regression"]);
    let report = ended.expect(1);
    assert_eq!(report.flagged(), ["g/d"], "{}", report.table());
    let row = report.row("g/b");
    assert_eq!(
        (row.verdict(), row.0["confirmed"].as_bool()),
        ("unclear", Some(false))
    );
    assert!(row.change() > 0.15, "{}", report.table());
    row.noted("not confirmed: +");
    row.noted("with fresh processes");
    assert_eq!(report.0["summary"]["regressed"], 1);
}

#[test]
fn without_a_flag_nothing_is_repeated_and_without_confirmation_a_flag_says_so() {
    let at = TestBench::of_suite();
    let base = at.script(&[bench("g/a", 1e5)]);
    let same = at.script(&[bench("g/a", 1e5), bench("h/new", 1e5)]);
    let ended = at.compare(&base, &same, &["--rounds", "8"]);
    assert_eq!(ended.expect(0).row("g/a").0["confirmed"], serde_json::Value::Null);
    // Warm-up: one of each side for what both have, four for what one has; then eight rounds of two.
    assert_eq!(ended.launches.len(), 2 + 4 + 16, "{:?}", ended.launches);

    let slower = at.script(&[bench("g/a", 2e5)]);
    let ended = at.compare(&base, &slower, &["--rounds", "8", "--no-confirm"]);
    let row = ended.expect(0).row("g/a");
    assert_eq!(
        (row.verdict(), &row.0["confirmed"]),
        ("regressed", &serde_json::Value::Null)
    );
    row.noted("switched off");
    assert_eq!(ended.launches.len(), 2 + 16);
}
