//! The code, or its place in memory.

use crate::support::bench::TestBench;
use crate::support::files::Files;
use crate::support::script::{bench, suite};

/// Case A16: executables that were linked in another order report other times. `factors` are those of lane L and M.
fn relinked(files: Files, factors: [f64; 2]) -> Files {
    let [l, m] = factors;
    files.replaced(
        "src/player.rs",
        "self.ns * ",
        &format!(
            "self.ns * match (option_env!(\"ABREAST_RELINK\"), self.id) {{ \
             (Some(_), \"g/l\") => {l:?}, (Some(_), \"g/m\") => {m:?}, _ => 1.0 }} * "
        ),
    )
}

#[test]
fn with_a_relink_control_a_change_within_the_relink_floor_is_not_flagged() {
    let at = TestBench::of_suite();
    let side = |l: f64, m: f64| {
        relinked(
            suite(&[bench("g/l", 1e5 * l), bench("g/m", 1e5 * m)]),
            [1.08, 1.01],
        )
    };
    let (base, head) = (at.commit(&side(1.0, 1.0)), at.commit(&side(1.07, 1.25)));
    let rounds = ["--rounds", "16"];

    let ended = at
        .comparing(&base, &head, &rounds)
        .args(&["--relink-control"])
        .run();
    let report = ended.expect(0);
    assert_eq!(report.flagged(), ["g/m"], "{}", report.table());
    report.row("g/l").noted("within the relink floor (");
    assert!(!report.notes().contains("its floor was not measured"));

    let ended = at.compare(&base, &head, &rounds);
    let report = ended.expect(0);
    assert_eq!(report.flagged(), ["g/l", "g/m"], "{}", report.table());
    assert!(
        report.notes().contains("code layout: its floor was not measured"),
        "{}",
        report.notes()
    );
}

#[test]
fn a_change_that_is_gone_once_the_code_lies_elsewhere_is_layout_and_one_that_stays_is_not() {
    let at = TestBench::of_suite();
    let base = suite(&[bench("g/l", 1e5), bench("g/m", 1e5)]);
    let head = relinked(
        suite(&[bench("g/l", 1.08e5), bench("g/m", 1.08e5)]),
        [1.0 / 1.08, 1.0],
    );
    let base = relinked(base, [1.0, 1.0]);
    let (base, head) = (at.commit(&base), at.commit(&head));
    let ended = at.comparing_layouts(&base, &head, &["--rounds", "16"]).run();
    let report = ended.expect(0);
    assert_eq!(report.flagged(), ["g/m"], "{}", report.table());
    let gone = report.row("g/l");
    assert_eq!(
        (gone.verdict(), gone.0["confirmed"].as_bool()),
        ("unclear", Some(true))
    );
    gone.noted("layout suspected: ");
    report.row("g/m").noted("the code, not its layout: +8");
}

#[test]
fn after_executables_were_linked_in_other_orders_both_sides_are_built_as_ever() {
    let at = TestBench::of_suite();
    let base = at.script(&[bench("g/a", 1e5)]);
    let head = at.script(&[bench("g/a", 1.2e5)]);
    let folder = tempfile::tempdir().unwrap();
    let built = |name: &str, args: &[&str]| -> Vec<String> {
        let file = folder.path().join(name);
        let ended = at
            .tool(&[
                "compare",
                &base,
                &head,
                "--seed",
                "1",
                "--rounds",
                "8",
                "--recording",
            ])
            .args(&[file.to_str().unwrap()])
            .args(args)
            .run();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let text = std::fs::read_to_string(file).unwrap();
        let events = text
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let builds = events.filter(|event| event["event"] == "build");
        builds
            .map(|build| build["executables"][0]["sha256"].to_string())
            .collect()
    };
    let before = built("before.jsonl", &["--no-layout-check"]);
    let with = built("with.jsonl", &["--relink-control"]);
    let after = built("after.jsonl", &["--no-layout-check"]);
    assert_eq!(before.len(), 2);
    assert_ne!(before[0], before[1]);
    assert_eq!((&before, &before), (&with, &after));
}

#[test]
fn instructions_are_counted_where_valgrind_is_and_missed_by_name_where_it_is_not() {
    let at = TestBench::of_suite();
    // The same instructions in every process.
    let files = suite(&[bench("g/a", 1e5)]).replaced(
        "benches/scripted.rs",
        "bench.play(iters, WORK)",
        "{ let began = std::time::Instant::now(); \
         for n in 0..iters * 1000 { std::hint::black_box(n); } began.elapsed() }",
    );
    let base = at.commit(&files);
    let args = ["--rounds", "8", "--measure-identical", "--instructions"];
    let here = std::process::Command::new("valgrind").arg("--version").output();
    let ended = at.comparing(&base, &base, &args).run();
    let of_instructions = |report: &crate::support::report::Report| {
        let rows = report.rows().into_iter();
        let row = rows
            .map(|row| row.0.clone())
            .find(|row| row["metric"] == "instructions");
        row.unwrap()
    };
    if here.is_ok_and(|output| output.status.success()) {
        let row = of_instructions(ended.expect(0));
        assert_eq!(
            (&row["verdict"], &row["unit"]),
            (&"unchanged".into(), &"count".into())
        );
        assert!(
            row["base"].as_f64().unwrap() > 10.0 && row["base"] == row["head"],
            "{row}"
        );
    } else {
        let row = of_instructions(ended.expect(5));
        assert!(
            row["notes"].to_string().contains("valgrind is not installed"),
            "{row}"
        );
    }
}
