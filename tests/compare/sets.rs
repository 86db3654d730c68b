//! The sides do not have the same benches.

use crate::support::bench::TestBench;
use crate::support::files::Files;
use crate::support::script::bench;

#[test]
fn an_added_bench_is_new_and_one_that_is_gone_is_removed() {
    let at = TestBench::of_suite();
    let of = |ids: &[&str]| at.script(&ids.iter().map(|id| bench(id, 1e5)).collect::<Vec<_>>());
    let (base, head) = (of(&["g/a", "g/b", "g/old"]), of(&["g/a", "g/b", "g/new"]));
    let ended = at.compare(&base, &head, &["--rounds", "8"]);
    let report = ended.expect(0);
    assert_eq!(
        (report.row("g/new").verdict(), report.row("g/new").has_numbers()),
        ("new", (false, true))
    );
    assert_eq!(
        (report.row("g/old").verdict(), report.row("g/old").has_numbers()),
        ("removed", (true, false))
    );
    for id in ["g/a", "g/b"] {
        assert!(report.row(id).0["change"].is_number(), "{}", report.table());
    }
    assert!(report.row("g/new").0["change"].is_null() && report.row("g/old").0["change"].is_null());
    assert!(ended.stdout.contains("removed"), "{}", ended.stdout);

    let ended = at.compare(&base, &head, &["--rounds", "8", "--fail-on", "removed"]);
    ended.expect(1);
}

#[test]
fn a_base_without_benches_makes_every_row_new() {
    let at = TestBench::of_suite();
    let none = Files::suite().without("benches/scripted.rs").replaced(
        "Cargo.toml",
        "[[bench]]\nname = \"scripted\"\nharness = false\n",
        "",
    );
    let base = at.commit(&none);
    let head = at.script(&[bench("g/a", 1e5), bench("g/b", 1e5)]);
    let ended = at.compare(&base, &head, &["--fail-on", "regression,unclear,removed"]);
    let report = ended.expect(0);
    assert_eq!(report.verdicts(), ["g/a new", "g/b new"]);
    assert!(
        report.rows().iter().all(|row| row.has_numbers() == (false, true)),
        "{}",
        report.table()
    );
}
