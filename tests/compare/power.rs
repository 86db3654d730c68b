//! A known change is found where it is, and nowhere else.

use crate::support::bench::TestBench;
use crate::support::script::five;

#[test]
fn a_slower_bench_is_flagged_and_only_that_one() {
    let bench = TestBench::of_suite();
    let base = bench.script(&five());
    for (factor, flag) in [(1.10, "warn"), (1.25, "alert"), (2.0, "alert")] {
        let mut slower = five();
        slower[2] = slower[2].clone().times(factor);
        let head = bench.script(&slower);
        let ended = bench.compare(&base, &head, &["--rounds", "16", "--fail-on", "regression"]);
        let report = ended.expect(1);
        assert_eq!(report.flagged(), ["g/c"], "{}", report.table());
        let row = report.row("g/c");
        assert!(
            (row.change() / (factor - 1.0) - 1.0).abs() < 0.2,
            "{}",
            report.table()
        );
        assert_eq!(row.0["confirmed"], true);
        if factor > 1.1 {
            assert_eq!(row.0["flag"], flag);
        }
    }
}
