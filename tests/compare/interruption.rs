//! Runs that are stopped, killed and gone on with, and two runs at a time.

use crate::support::bench::TestBench;
use crate::support::script::{bench, five, suite};
use nix::sys::signal::Signal;

/// A commit and one where the second bench is slower.
fn sides(at: &TestBench) -> [String; 2] {
    let slower = five()
        .into_iter()
        .enumerate()
        .map(|(n, bench)| if n == 1 { bench.times(1.3) } else { bench });
    [at.script(&five()), at.script(&slower.collect::<Vec<_>>())]
}

#[test]
fn a_run_that_was_killed_goes_on_where_it_stopped() {
    let at = TestBench::of_suite();
    let [base, head] = sides(&at);
    let mut run = at.comparing(&base, &head, &["--rounds", "8"]).start();
    run.until_launches(15);
    run.signal(Signal::SIGKILL);
    let ended = run.wait();
    assert_eq!((ended.code, ended.report.is_none()), (None, true));
    let before = ended.launches.len();

    let ended = at.compare(&base, &head, &["--rounds", "8", "--resume"]);
    assert!(
        ended.stderr.contains("going on with the run of"),
        "{}",
        ended.stderr
    );
    let report = ended.expect(0);
    assert_eq!(report.flagged(), ["g/b"], "{}", report.table());
    assert!(
        report
            .rows()
            .iter()
            .all(|row| row.0["rounds"].as_u64() >= Some(8)),
        "{}",
        report.table()
    );
    let resumed = ended.launches.len();
    let ended = at.compare(&base, &head, &["--rounds", "8", "--resume"]);
    assert!(ended.refusal(2).contains("nothing to resume"));

    // The round that was cut short is made up for by a pair of rounds of two processes a side, and so is its
    // confirmation; nothing that was finished is measured again.
    let whole = at.compare(&base, &head, &["--rounds", "8"]).launches.len();
    assert!(
        before + resumed <= whole + 12,
        "{before} and {resumed} instead of {whole}"
    );
}

#[test]
fn a_killed_runs_bench_does_not_outlive_the_next_run() {
    let at = TestBench::of_suite();
    let hangs = at.script(&[bench("g/hangs", 1e5).act("Hang")]);
    let mut run = at
        .comparing(&hangs, &hangs, &["--measure-identical", "--timeout", "600s"])
        .start();
    run.until_launches(1);
    run.signal(Signal::SIGKILL);
    run.wait();
    // What is left of a killed run is one hanging bench, to be ended by whoever works here next.
    let orphans = || {
        let own = |path: &std::path::Path| {
            std::fs::read_link(path.join("exe")).is_ok_and(|exe| exe.starts_with(&at.home))
        };
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes.filter(|entry| own(&entry.path())).count()
    };
    assert_eq!(orphans(), 1, "the tool was killed, its child was not");
    let [base, _] = sides(&at);
    at.compare(&base, &base, &[]).expect(0);
    assert_eq!(orphans(), 0);
}

#[test]
fn an_interrupted_run_says_how_to_go_on_and_leaves_nothing_behind() {
    let at = TestBench::of_suite();
    let [base, head] = sides(&at);
    let mut run = at.comparing(&base, &head, &["--rounds", "8"]).start();
    run.until_launches(9);
    run.signal(Signal::SIGINT);
    let ended = run.wait();
    let report = ended.expect(130);
    report.noted("interrupted");
    assert_eq!(report.rows().len(), 5);
    assert!(ended.stderr.contains("--resume"), "{}", ended.stderr);

    let ended = at.compare(&base, &head, &["--rounds", "8", "--resume"]);
    let report = ended.expect(0);
    assert_eq!(report.flagged(), ["g/b"], "{}", report.table());
    assert!(!report.notes().contains("interrupted"), "{}", report.notes());
}

#[test]
fn a_run_interrupted_while_it_builds_ends_as_interrupted() {
    let at = TestBench::of_suite();
    let slow_build = "fn main() { std::fs::write(std::env::var(\"SUITE_LAUNCHES\").unwrap(), \"building\\n\").unwrap(); \
                      std::thread::sleep(std::time::Duration::from_secs(600)); }\n";
    let commit = at.commit(&suite(&five()).with("build.rs", slow_build));
    let mut run = at.comparing(&commit, &commit, &[]).start();
    run.until_launches(1);
    run.signal(Signal::SIGINT);
    let ended = run.wait();
    ended.expect_code(130);
}

#[test]
fn a_second_run_waits_for_the_first_and_says_so() {
    let at = TestBench::of_suite();
    let hangs = at.script(&[bench("g/hangs", 1e5).act("Hang")]);
    let [base, _] = sides(&at);
    let mut first = at
        .comparing(&hangs, &hangs, &["--measure-identical", "--timeout", "600s"])
        .start();
    first.until_launches(1);
    let mut second = at.comparing(&base, &base, &[]).start();
    let pid = first.pid();
    second.until("a word on waiting", |run| {
        run.said().contains("waiting for it to end")
    });
    assert!(
        second.said().contains(&format!("process {pid}")),
        "{}",
        second.said()
    );
    assert_eq!(second.launches(), 0);
    first.signal(Signal::SIGINT);
    first.wait().expect_code(130);
    second.wait().expect(0).all("identical");
}
