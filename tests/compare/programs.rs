//! Programs of `abreast.toml`: built and launched on both sides, in the same table as the benches.

use crate::support::bench::TestBench;
use crate::support::files::Files;
use crate::support::script::{bench, suite};

const SOURCE: &str = "src/bin/engine.rs";
const ENGINE: &str = "[[program]]\nname = \"engine\"\nbuild = [\"cargo\", \"build\", \"--bin\", \"engine\"]\n\
                      run = [\"target/debug/engine\"]\nformat = \"abreast-decode\"\n";

/// A crate without benches, and an engine that measures itself.
fn engine() -> Files {
    Files::fixture("benchless")
        .and(Files::fixture("engine"))
        .with("abreast.toml", ENGINE)
}

/// With one of the engine's constants changed.
fn set(files: Files, constant: &str, value: &str) -> Files {
    let text = files.text(SOURCE);
    let start = format!("const {constant}: ");
    let old = text.lines().find(|line| line.starts_with(&start)).unwrap();
    let declared = old.split_once(" = ").unwrap().0;
    files.replaced(SOURCE, old, &format!("{declared} = {value};"))
}

#[test]
fn a_program_that_takes_longer_is_flagged_and_each_side_runs_its_own() {
    let at = TestBench::of_own(&engine());
    let head = at.commit(&set(engine(), "TOKEN_NS", "1_100_000"));
    let ended = at.compare("HEAD", &head, &["--rounds", "8"]);
    let report = ended.expect(0);
    assert_eq!(
        report.flagged(),
        ["ms_per_token", "p50", "time_to_first_token", "tokens_per_second"],
        "{}",
        report.table()
    );
    let token = report.row("ms_per_token");
    assert_eq!(token.verdict(), "regressed");
    assert!((token.change() - 0.1).abs() < 1e-6, "{}", report.table());
    assert_eq!(
        (token.target(), token.0["kind"].as_str()),
        ("engine", Some("program"))
    );
    assert_eq!(token.0["confirmed"], true);
    let rate = report.row("tokens_per_second");
    assert_eq!(
        (rate.verdict(), rate.0["better"].as_str()),
        ("regressed", Some("higher"))
    );
    let replays = report.row("replays");
    assert_eq!(
        (replays.verdict(), replays.0["head"].as_f64()),
        ("unchanged", Some(3.0))
    );
    for side in ["base", "head"] {
        let own = ended
            .launches
            .iter()
            .filter(|path| path.contains(&format!("/{side}/")));
        // The list, the warm-up, eight rounds, and the sixteen after which a confirmation is first looked at.
        assert_eq!(own.count(), 26, "{:?}", ended.launches);
    }
    assert!(ended.stdout.contains("engine/ms_per_token"), "{}", ended.stdout);
}

#[test]
fn a_program_that_did_not_change_is_not_flagged() {
    let at = TestBench::of_own(&engine());
    let built_alike = at.commit(&engine().with("README.md", "more\n"));
    let ended = at.compare("HEAD", &built_alike, &["--rounds", "8"]);
    ended.expect(0).all("identical");
    assert_eq!(ended.launches.len(), 2, "only to hear what it measures");

    let other_code = engine().replaced(SOURCE, "out of memory", "no memory is left");
    let ended = at.compare("HEAD", &at.commit(&other_code), &["--rounds", "8"]);
    ended.expect(0).all("unchanged");
}

#[test]
fn a_program_that_generates_other_tokens_has_no_rate() {
    let at = TestBench::of_own(&engine());
    let head = set(engine(), "IDS", "[17, 4, 8, 2]");
    let head = at.commit(&set(head, "TOKEN_NS", "500_000"));
    let ended = at.compare("HEAD", &head, &["--rounds", "8"]);
    let row = ended.expect(0).row("ms_per_token");
    assert_eq!(row.verdict(), "not_comparable");
    row.noted("token 2 of generation 1 is 9 on base and 8 on head");
}

#[test]
fn a_program_that_dies_fails_with_its_last_words_and_the_benches_go_on() {
    let at = TestBench::of_suite();
    let of = |factor: f64, act: &str| {
        let files = suite(&[bench("g/a", 1e5).times(factor)])
            .and(Files::fixture("engine"))
            .with("abreast.toml", ENGINE);
        at.commit(&set(set(files, "ACT", act), "FROM", "2"))
    };
    let (base, head) = (of(1.0, "Act::Nothing"), of(1.2, "Act::Dies"));
    let args = [
        "compare",
        &base,
        "HEAD",
        "--rounds",
        "8",
        "--seed",
        "1",
        "--no-layout-check",
    ];
    let (_, tool) = at.tool_at(&head, "programs", &args);
    let ended = tool.json().run();
    let report = ended.expect(5);
    for id in ["ms_per_token", "tokens_per_second"] {
        let row = report.row(id);
        assert_eq!(row.verdict(), "failed", "{}", report.table());
        row.noted("exit status 3");
        row.noted("out of memory");
    }
    assert_eq!(report.flagged(), ["g/a"], "{}", report.table());
    assert!(ended.stdout.contains("scripted/g/a"), "{}", ended.stdout);
    let on_head = ended
        .launches
        .iter()
        .filter(|path| path.contains("/head/--engine"));
    assert_eq!(
        on_head.count(),
        4,
        "the list, the warm-up, and given up after two deaths"
    );
}

#[test]
fn a_program_that_does_not_build_fails_on_that_side_only() {
    let script = "[[program]]\nname = \"engine\"\nbuild = [\"sh\", \"build.sh\"]\nrun = [\"target/debug/engine\"]\n\
                  format = \"abreast-decode\"\n";
    let built_by = |text: &str| engine().with("abreast.toml", script).with("build.sh", text);
    let at = TestBench::of_own(&built_by("exec cargo build --bin engine\n"));
    let head = at.commit(&built_by(
        "echo compiling >&2\necho no compiler here >&2\nexit 1\n",
    ));
    let ended = at.compare("HEAD", &head, &["--rounds", "8"]);
    let report = ended.expect(5);
    let row = report.row("ms_per_token");
    assert_eq!((row.verdict(), row.has_numbers()), ("failed", (true, false)));
    row.noted("head could not be used: its build failed: `sh build.sh` failed: compiling | no compiler here");

    let at = TestBench::of_own(&built_by("exit 7\n"));
    let ended = at.compare("HEAD", "HEAD", &["--rounds", "8"]);
    let row = ended.expect(5).row("(all of them)");
    assert_eq!((row.verdict(), row.target()), ("failed", "engine"));
    row.noted("base could not be used: its build failed");
    row.noted("head could not be used: its build failed");
}

#[test]
fn output_that_is_cut_off_gives_what_was_whole_and_silence_gives_nothing() {
    let at = TestBench::of_own(&engine());
    let cut = at.commit(&set(engine(), "ACT", "Act::IsCutOff"));
    let ended = at.compare("HEAD", &cut, &["--rounds", "8"]);
    let report = ended.expect(0);
    assert_eq!(
        report.row("ms_per_token").verdict(),
        "unchanged",
        "{}",
        report.table()
    );
    report.noted("engine on head: run 1 is left out: it was cut off after token 0");

    let silent = at.commit(&set(engine(), "ACT", "Act::IsSilent"));
    let ended = at.compare("HEAD", &silent, &["--rounds", "8"]);
    let row = ended.expect(5).row("ms_per_token");
    assert_eq!(row.verdict(), "failed");
    row.noted("head could not be used: it wrote nothing to its standard output");
}

#[test]
fn scripts_run_where_they_lie_and_any_command_can_be_timed() {
    let programs = "[[program]]\nname = \"script\"\nrun = [\"sh\", \"search.sh\"]\nfolder = \"scripts\"\n\
                    env = { COMMAND = \"search\" }\nformat = \"hyperfine\"\nmetrics = [\"search/time\"]\n\
                    [[program]]\nname = \"start\"\nrun = [\"true\"]\nformat = \"wall\"\n";
    let taking = |seconds: f64| {
        let json =
            format!("{{\"results\":[{{\"command\":\"'$COMMAND'\",\"times\":[{seconds}],\"user\":0.1}}]}}");
        Files::fixture("benchless")
            .with("abreast.toml", programs)
            .with("scripts/search.sh", format!("echo '{json}'\n"))
    };
    let at = TestBench::of_own(&taking(0.5));
    let ended = at.compare("HEAD", &at.commit(&taking(0.6)), &["--rounds", "8"]);
    let report = ended.expect(0);
    let row = report.row("search/time");
    assert_eq!(row.verdict(), "regressed", "{}", report.table());
    assert!((row.change() - 0.2).abs() < 1e-6);
    assert_eq!(row.0["base"].as_f64(), Some(5e8));
    let mut of_start: Vec<&str> = report
        .rows()
        .iter()
        .filter(|row| row.target() == "start" && row.has_numbers() == (true, true))
        .map(|row| row.id())
        .collect();
    of_start.sort_unstable();
    assert_eq!(of_start, ["system", "time", "user"]);
    assert_eq!(report.rows().len(), 4, "`metrics` names one of two");
}

#[test]
fn a_program_that_hangs_is_killed_with_all_that_it_started_and_one_that_cannot_run_says_why() {
    let programs = "[[program]]\nname = \"stuck\"\nrun = [\"sh\", \"stuck.sh\"]\nformat = \"wall\"\ntimeout = \"1s\"\n\
                    [[program]]\nname = \"gpu\"\nrun = [\"sh\", \"gpu.sh\"]\nformat = \"abreast-decode\"\n\
                    [[program]]\nname = \"absent\"\nrun = [\"no-such-program\"]\nformat = \"wall\"\n";
    let files = Files::fixture("benchless")
        .with("abreast.toml", programs)
        .with("stuck.sh", "sleep 1000 &\necho $! >> \"$SUITE_LAUNCHES\"\nwait\n")
        .with(
            "gpu.sh",
            "echo '{\"event\":\"skipped\",\"reason\":\"no CUDA device\"}'\n",
        );
    let at = TestBench::of_own(&files);
    let ended = at.compare("HEAD", "HEAD", &["--rounds", "8"]);
    let report = ended.expect(5);
    report.all("failed");
    for (program, why) in [
        ("stuck", "killed after 1 s without a result"),
        ("gpu", "skipped: no CUDA device"),
        ("absent", "`no-such-program` could not be started"),
    ] {
        let rows = report.rows().into_iter();
        let row = rows.filter(|row| row.target() == program).collect::<Vec<_>>()[0];
        row.noted(why);
        assert_eq!(row.has_numbers(), (false, false));
    }
    assert_eq!(ended.launches.len(), 2, "who hangs is asked once on each side");
    for sleeper in &ended.launches {
        // Of a process that was killed and that nobody has reaped yet, nothing is told.
        let command = std::fs::read_to_string(format!("/proc/{sleeper}/cmdline")).unwrap_or_default();
        assert!(!command.starts_with("sleep"), "{sleeper} lives");
    }
}

#[test]
fn a_program_may_write_a_file_and_the_settings_say_what_is_good() {
    let programs = "[[program]]\nname = \"search\"\nrun = [\"sh\", \"search.sh\", \"{output}.json\"]\n\
                    format = \"hyperfine\"\nmetrics = [{ id = \"search/time\", better = \"higher\", unit = \"ns\" }]\n";
    let taking = |seconds: f64| {
        let json = format!("{{\"results\":[{{\"command\":\"search\",\"times\":[{seconds}]}}]}}");
        let script = format!("[ ! -e \"$1\" ] || exit 9\necho talk\necho '{json}' > \"$1\"\n");
        Files::fixture("benchless")
            .with("abreast.toml", programs)
            .with("search.sh", script)
    };
    let at = TestBench::of_own(&taking(0.5));
    let ended = at.compare("HEAD", &at.commit(&taking(0.6)), &["--rounds", "8"]);
    let row = ended.expect(0).row("search/time");
    assert_eq!(
        (row.verdict(), row.0["better"].as_str()),
        ("improved", Some("higher"))
    );
    assert_eq!(ended.expect(0).rows().len(), 1);
}

#[test]
fn the_same_program_on_other_data_is_not_compared() {
    let programs = "[[program]]\nname = \"engine\"\nbuild = [\"cargo\", \"build\", \"--bin\", \"engine\"]\n\
                    run = [\"target/debug/engine\", \"--in=data.txt\"]\nformat = \"abreast-decode\"\n";
    let of = |data: &str| engine().with("abreast.toml", programs).with("data.txt", data);
    let at = TestBench::of_own(&of("one"));
    let ended = at.compare("HEAD", &at.commit(&of("two")), &["--rounds", "8"]);
    let row = ended.expect(0).row("ms_per_token");
    assert_eq!(row.verdict(), "not_comparable", "{}", ended.expect(0).table());
    row.noted("data.txt");
}
