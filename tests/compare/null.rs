//! Nothing changed, and nothing is flagged.

use crate::support::bench::TestBench;
use crate::support::script::{bench, five, suite};

#[test]
fn a_commit_against_itself_shows_noise_and_flags_nothing() {
    let at = TestBench::of_suite();
    let mut benches: Vec<_> = (0..16)
        .map(|n| bench(&format!("scripted/{n}"), 10f64.powi(3 + n % 5)).noise(0.02))
        .collect();
    benches.extend((0..4).map(|n| bench(&format!("real/{n}"), 0.0).act(&format!("Sort({})", 10 << (3 * n)))));
    let commit = at.script(&benches);
    let ended = at.compare(
        &commit,
        &commit,
        &["--measure-identical", "--rounds", "16", "--fail-on", "regression"],
    );
    let report = ended.expect(0);
    assert!(report.flagged().is_empty(), "{}", report.table());
    report.noted("base and head are the same commit: this run measures the noise floor");
    assert_eq!(report.rows().len(), 20);
    for row in report.rows() {
        assert!(row.0["floor"].as_f64().unwrap() > 0.0, "{}", report.table());
        row.noted("identical executables");
    }
    assert!(ended.stdout.contains("noise floor"), "{}", ended.stdout);
}

#[test]
fn a_change_that_leaves_the_executables_as_they_were_is_identical_and_costs_no_measuring() {
    let at = TestBench::of_suite();
    let files = suite(&five());
    let base = at.commit(&files);
    let readme = files.clone().with("README.md", "Now with a paragraph more.\n");
    let test = format!(
        "{}\n#[test]\nfn added() {{ assert_eq!(1, 1); }}\n",
        files.text("src/lib.rs")
    );
    let test = files.with("src/lib.rs", test);
    for (head, names_the_file) in [(readme, false), (test, true)] {
        let ended = at.compare(
            &base,
            &at.commit(&head),
            &["--fail-on", "regression,unclear,removed"],
        );
        let report = ended.expect(0);
        report.all("identical");
        assert_eq!(report.rows().len(), 5);
        for row in report.rows() {
            assert!(
                row.0["change"].is_null() && row.0["rounds"].is_null(),
                "{}",
                report.table()
            );
        }
        assert_eq!(ended.launches, [""; 0]);
        assert_eq!(
            report.notes().contains("src/lib.rs"),
            names_the_file,
            "{}",
            report.notes()
        );
    }
}

#[test]
fn an_executable_that_embeds_its_commit_is_measured_and_nothing_is_flagged() {
    let at = TestBench::of_suite();
    let embedding = |commit: &str| {
        suite(&five())
            .with("COMMIT", commit)
            .with(
                "build.rs",
                "fn main() { println!(\"cargo:rerun-if-changed=COMMIT\"); \
                 println!(\"cargo:rustc-env=SUITE_COMMIT={}\", std::fs::read_to_string(\"COMMIT\").unwrap()); }\n",
            )
            .replaced("src/lib.rs", "mod script;", "mod script;\n/// Which commit this is.\npub const COMMIT: &str = env!(\"SUITE_COMMIT\");")
            .replaced("benches/scripted.rs", "    let mut criterion", "    std::hint::black_box(suite::COMMIT);\n    let mut criterion")
    };
    let base = at.commit(&embedding("0123abc"));
    let head = at.commit(&embedding("4567def"));
    let ended = at.compare(&base, &head, &["--rounds", "8"]);
    let report = ended.expect(0);
    assert!(report.flagged().is_empty(), "{}", report.table());
    assert!(
        report.rows().iter().all(|row| row.0["rounds"] == 8),
        "{}",
        report.table()
    );
    let differences = report.differences().join("\n");
    assert!(differences.contains("build script"), "{differences}");
    assert!(
        differences.contains("0123abc") && differences.contains("4567def"),
        "{differences}"
    );
}
