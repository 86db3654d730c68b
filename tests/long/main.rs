//! End to end, what takes long: situations that compile another criterion, or measure a hundred times.
//!
//! `cargo test --test long -- --ignored`, or `cargo nextest run --test long --run-ignored only`.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests are users, who have files and processes; a test that cannot go on panics"
)]

mod pages;
#[path = "../support/mod.rs"]
mod support;

use object::{Object as _, ObjectSymbol as _, SymbolKind};
use std::collections::BTreeMap;
use std::path::Path;
use support::bench::TestBench;
use support::files::Files;
use support::script::{bench, five, suite};

#[test]
#[ignore = "compiles criterion 0.7; some 20 s"]
fn rows_measured_by_different_criterions_are_not_comparable() {
    let at = TestBench::of_suite();
    let files = suite(&five());
    let older = files
        .clone()
        .replaced("Cargo.toml", "version = \"0.8.2\"", "version = \"0.7.0\"")
        .and(Files::fixture("criterion-0.7"));
    let ended = at.compare(
        &at.commit(&older),
        &at.commit(&files),
        &["--rounds", "8", "--fail-on", "regression"],
    );
    let report = ended.expect(0);
    report.all("not_comparable");
    for row in report.rows() {
        row.noted("measuring library changed (criterion 0.7.0 -> 0.8.2)");
    }
    let differences = report.differences();
    assert!(
        differences.contains(&"criterion criterion 0.7.0 -> 0.8.2".to_owned()),
        "{differences:?}"
    );
}

#[test]
#[ignore = "ten comparisons; some two minutes"]
fn a_change_of_a_tenth_is_found_again_and_again_and_nothing_else_is() {
    let at = TestBench::of_suite();
    let mut missed = Vec::new();
    for run in 0..10 {
        // Another id is another stream of noise.
        let id = |n: usize| format!("run{run}/{n}");
        let of = |slower: Option<usize>| {
            let one = |n: usize| {
                bench(&id(n), 1e5)
                    .noise(0.02)
                    .times(if slower == Some(n) { 1.1 } else { 1.0 })
            };
            at.script(&(0..5).map(one).collect::<Vec<_>>())
        };
        let ended = at.compare(&of(None), &of(Some(run % 5)), &[]);
        let report = ended.expect(0);
        if report.flagged() != [id(run % 5)] {
            missed.push(report.table());
        }
    }
    assert!(
        missed.len() <= 1,
        "{} of 10 runs were wrong:\n{}",
        missed.len(),
        missed.join("\n\n")
    );
}

#[test]
#[ignore = "builds with the nightly toolchain, if there is one; some 40 s"]
fn each_side_is_built_with_its_own_toolchain() {
    let toolchains = std::process::Command::new("rustup")
        .args(["toolchain", "list"])
        .output();
    let has_nightly =
        toolchains.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("nightly-"));
    if !has_nightly {
        return;
    }
    let at = TestBench::of_suite();
    let files = suite(&five());
    let head = files
        .clone()
        .with("rust-toolchain.toml", "[toolchain]\nchannel = \"nightly\"\n");
    let ended = at.compare(&at.commit(&files), &at.commit(&head), &["--rounds", "8"]);
    let report = ended.expect(0);
    let differences = report.differences().join("\n");
    assert!(
        differences.contains("toolchain rustc -vV") && differences.contains("-nightly"),
        "{differences}"
    );
    assert!(report.flagged().is_empty(), "{}", report.table());
    assert!(
        report.rows().iter().all(|row| row.0["rounds"] == 8),
        "{}",
        report.table()
    );
}

#[test]
#[ignore = "waits for the time a listing may take, one minute"]
fn a_bench_that_never_stops_talking_while_it_is_listed_is_killed_and_its_rows_fail() {
    let at = TestBench::of_suite();
    let files = suite(&five());
    // Neither an end of the line nor an end of the text, faster than a memory can be had for.
    let babble = "fn main() {\n    use std::io::Write as _;\n    let text = [b'x'; 1 << 16];\n    \
                  while std::io::stdout().write_all(&text).is_ok() {}\n";
    let head = files
        .clone()
        .replaced("benches/scripted.rs", "fn main() {\n", babble);
    let ended = at.compare(&at.commit(&files), &at.commit(&head), &["--rounds", "8"]);
    let report = ended.expect(5);
    report.all("failed");
    for row in report.rows() {
        row.noted("head could not be listed");
        row.noted("timed out");
        assert_eq!(row.has_numbers(), (true, false), "{}", report.table());
    }
    assert!(
        !report.table().contains("xxxxxxxxxx".repeat(200).as_str()),
        "the noise is not repeated"
    );
}

#[test]
#[ignore = "compiles the suite of known work and measures it; some three minutes"]
fn injected_changes_are_real_work_and_are_found() {
    let at = TestBench::of_suite();
    let commit = at.script(&five());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("q.json");
    let ended = at
        .tool(&[
            "qualify",
            &commit,
            "--reports",
            "1",
            "--inject",
            "50",
            "--rounds",
            "8",
            "--seed",
            "1",
            "-o",
        ])
        .args(&[file.to_str().unwrap(), "--no-layout-check", "--shift"])
        .run();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let found: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let of = |size: f64| {
        let rows = found["injected"].as_array().unwrap().iter();
        rows.into_iter().find(|row| row["size"] == size).unwrap().clone()
    };
    let (none, half) = (of(0.0), of(0.5));
    assert_eq!((&none["rows"], &half["rows"]), (&24.into(), &24.into()));
    assert_eq!(half["wrong_way"], 0, "{half}");
    assert!(
        (0.4..=0.6).contains(&half["measured"].as_f64().unwrap()),
        "{half}"
    );
    assert!(none["measured"].as_f64().unwrap().abs() < 0.05, "{none}");
    assert_eq!(found["shifted"][0]["rows"], 48);
    let (base, head) = shifted_functions(&at.home);
    assert!(base.len() > 5 && !base.contains_key("pad"), "{base:?}");
    for (name, (address, size)) in &base {
        let moved = head[name];
        assert_eq!(moved.1, *size, "{name} is another function");
        assert_ne!(moved.0, *address, "{name} did not move");
    }
    // Eight rounds of 48 rows show little on a busy machine; what could show it must.
    let number = |key: &str| half[key].as_u64().unwrap();
    assert!(
        number("found") > 0 && number("able_found") * 10 >= number("able") * 8,
        "{half}"
    );
}

type Functions = BTreeMap<String, (u64, u64)>;

/// Address and size of the suite's own functions on both sides of the run in which only their place changed.
fn shifted_functions(home: &Path) -> (Functions, Functions) {
    let executables = walkdir::WalkDir::new(home).into_iter().filter_map(Result::ok);
    let mut heads = executables.filter(|entry| entry.path().ends_with("head/injected--injected"));
    let shifted = heads.find_map(|entry| {
        let head = functions(entry.path());
        let run = entry.path().parent()?.parent()?;
        head.contains_key("pad")
            .then(|| (functions(&run.join("base/injected--injected")), head))
    });
    shifted.expect("a head has the function that moves the others")
}

fn functions(path: &Path) -> Functions {
    let bytes = std::fs::read(path).expect("the executable is kept");
    let file = object::File::parse(&*bytes).expect("it is one");
    file.symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text)
        .filter_map(|symbol| {
            let name = symbol.name().ok()?.strip_prefix("_ZN8injected")?;
            let name = if name.starts_with("3pad3pad") { "pad" } else { name };
            Some((name.to_owned(), (symbol.address(), symbol.size())))
        })
        .collect()
}

#[test]
#[ignore = "six comparisons; some half a minute"]
fn a_bisection_steps_around_what_does_not_build_and_ends_with_the_commit() {
    let at = TestBench::of_suite();
    let of = |n: usize, factor: f64| {
        let benches: Vec<_> = five().into_iter().map(|bench| bench.times(factor)).collect();
        suite(&benches).with("place", format!("{n}"))
    };
    let broken = of(2, 1.0).with("src/script.rs", "this is no Rust");
    let line = [of(0, 1.0), of(1, 1.0), broken, of(3, 1.0), of(4, 1.2), of(5, 1.2)];
    let mut commits: Vec<String> = Vec::new();
    for files in &line {
        let parents: Vec<&str> = commits.last().map(String::as_str).into_iter().collect();
        let commit = at.repository.commit(files, &parents);
        commits.push(commit);
    }
    let bisect = [
        "bisect",
        &commits[0],
        &commits[5],
        "--scenario",
        "g/c",
        "--rounds",
        "8",
        "--seed",
        "1",
        "--no-layout-check",
    ];
    let found = at.tool(&bisect).run();
    let shown = &found.expect_code(0).stdout;
    assert!(
        shown.starts_with(&commits[4])
            && shown.contains("g/c: +")
            && shown.contains(" against its predecessor"),
        "{shown}{}",
        found.stderr
    );
    assert!(found.stderr.contains("head does not build"), "{}", found.stderr);
    let nothing = [
        "bisect",
        &commits[0],
        &commits[3],
        "--scenario",
        "g/c",
        "--rounds",
        "8",
        "--seed",
        "1",
    ];
    assert!(
        at.tool(&nothing)
            .run()
            .expect_code(3)
            .stdout
            .contains("g/c: no confirmed change")
    );
}
