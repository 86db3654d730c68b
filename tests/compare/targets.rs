//! Which benches a project has, and which of them can be measured.

use crate::support::bench::TestBench;
use crate::support::files::Files;
use crate::support::script::{bench, five, suite};

/// A crate of the suite's kind as a member of a workspace, under another name.
fn member(name: &str, dependencies: &str, script: &[crate::support::script::Bench]) -> Files {
    suite(script)
        .replaced("Cargo.toml", "name = \"suite\"", &format!("name = \"{name}\""))
        .replaced("Cargo.toml", "[workspace]\n", "")
        .replaced("Cargo.toml", "[profile.bench]\nopt-level = 0\n", "")
        .replaced(
            "Cargo.toml",
            "[dependencies]\n",
            &format!("[dependencies]\n{dependencies}"),
        )
        .replaced("Cargo.toml", "[lib]", "[lib]\nname = \"suite\"")
        .replaced(
            "Cargo.toml",
            "name = \"scripted\"",
            &format!("name = \"of-{name}\"\npath = \"benches/scripted.rs\""),
        )
        .without("Cargo.lock")
        .below(name)
}

/// A workspace of these members with the suite's lock file, extended.
fn workspace(members: &[(&str, &[&str])]) -> Files {
    let names: Vec<String> = members.iter().map(|(name, _)| format!("{name:?}")).collect();
    let manifest = format!(
        "[workspace]\nresolver = \"2\"\nmembers = [{}]\n\n[profile.bench]\nopt-level = 0\n",
        names.join(", ")
    );
    let lock = Files::suite().text("Cargo.lock");
    let at = lock.find("[[package]]\nname = \"suite\"").unwrap();
    let end = lock[at..].find("\n\n").map_or(lock.len(), |end| at + end + 2);
    let mut text = format!("{}{}", &lock[..at], &lock[end..]);
    for (name, dependencies) in members {
        let list: Vec<String> = dependencies.iter().map(|name| format!(" {name:?},\n")).collect();
        text.push_str(&format!("\n[[package]]\nname = {name:?}\nversion = \"0.1.0\"\n"));
        if !list.is_empty() {
            text.push_str(&format!("dependencies = [\n{}]\n", list.concat()));
        }
    }
    Files::default()
        .with("Cargo.toml", manifest)
        .with("Cargo.lock", text)
}

#[test]
fn only_criterion_benches_are_measured_and_the_others_are_listed_with_the_reason() {
    let at = TestBench::of_suite();
    let mixed = |factor: f64| {
        let of_mixed = member("mixed", "", &[bench("g/a", 1e5).times(factor)])
            .replaced(
                "mixed/Cargo.toml",
                "[dev-dependencies]\n",
                "[features]\nsimd = []\n\n[dev-dependencies]\ndivan = { path = \"../divan\" }\n",
            )
            .replaced(
                "mixed/Cargo.toml",
                "[[bench]]\nname = \"of-mixed\"",
                "[[bench]]\nname = \"gated\"\nharness = false\nrequired-features = [\"simd\"]\n\n\
                 [[bench]]\nname = \"div\"\nharness = false\n\n[[bench]]\nname = \"of-mixed\"",
            )
            .with("mixed/src/main.rs", "fn main() {}\n#[test]\nfn of_the_bin() {}\n")
            .with("mixed/src/unit.rs", "")
            .replaced("mixed/src/lib.rs", "mod script;", "mod script;\n#[test]\nfn of_the_lib() {}\n")
            .with("mixed/benches/old.rs", "#![feature(test)]\nextern crate test;\n#[bench]\nfn old(b: &mut test::Bencher) { b.iter(|| 1) }\n")
            .with("mixed/benches/div.rs", "fn main() { divan::main(); }\n")
            .with("mixed/benches/gated.rs", "fn main() { compile_error!(\"not without simd\") }\n");
        // Not divan itself, to save its compilation: what counts is its name, and a main function of its own.
        let divan = Files::default()
            .with(
                "divan/Cargo.toml",
                "[package]\nname = \"divan\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
            )
            .with("divan/src/lib.rs", "pub fn main() { println!(\"divan\") }\n");
        workspace(&[("divan", &[]), ("mixed", &["criterion", "divan"])])
            .and(of_mixed)
            .and(divan)
    };
    let ended = at.compare(
        &at.commit(&mixed(1.0)),
        &at.commit(&mixed(2.0)),
        &["--rounds", "8"],
    );
    let report = ended.expect(0);
    assert_eq!(report.verdicts(), ["g/a regressed"], "{}", report.table());
    assert_eq!(report.row("g/a").0["package"], "mixed");
    report.noted("bench target `old` of `mixed` skipped: libtest harness");
    report.noted("bench target `div` of `mixed` skipped: divan harness");
    report.noted("bench target `gated` of `mixed` skipped: needs feature simd");
}

#[test]
fn only_crates_that_the_change_reaches_are_measured() {
    let at = TestBench::of_suite();
    // Each crate's lib is called `suite` so that they share a bench source; b uses a under another name.
    let of = |factor: f64| {
        let a = member("a", "", &[bench("g/a", 1e5).times(factor)]);
        let b = member(
            "b",
            "below = { package = \"a\", path = \"../a\" }\n",
            &[bench("g/b", 1e5)],
        )
        .replaced(
            "b/benches/scripted.rs",
            "fn main() {",
            "fn main() {\n    std::hint::black_box(below::SCRIPT[0].ns);",
        );
        let b = b.replaced("b/Cargo.toml", "[dev-dependencies]\n", "[dev-dependencies]\n");
        let c = member("c", "", &[bench("g/c", 1e5)]);
        workspace(&[
            ("a", &["criterion"]),
            ("b", &["a", "criterion"]),
            ("c", &["criterion"]),
        ])
        .and(a)
        .and(b)
        .and(c)
    };
    let ended = at.compare(&at.commit(&of(1.0)), &at.commit(&of(2.0)), &["--rounds", "8"]);
    let report = ended.expect(0);
    assert_eq!(report.row("g/a").verdict(), "regressed", "{}", report.table());
    assert!(report.row("g/b").0["rounds"] == 8, "{}", report.table());
    assert_eq!(report.flagged(), ["g/a"]);
    assert_eq!(report.row("g/c").verdict(), "identical", "{}", report.table());
    assert!(
        !ended.launches.iter().any(|path| path.contains("of-c")),
        "{:?}",
        ended.launches
    );
}

#[test]
fn a_project_without_benches_has_nothing_to_compare() {
    let at = TestBench::of_own(&Files::fixture("benchless"));
    let ended = at.compare("HEAD", "HEAD", &[]);
    let report = ended.expect(3);
    assert!(report.rows().is_empty());
    assert!(!ended.stdout.contains("no regression"), "{}", ended.stdout);
}

#[test]
fn benches_without_criterion_have_nothing_to_compare_and_are_listed() {
    let files = Files::fixture("benchless")
        .with("benches/own.rs", "fn main() { println!(\"0.1 s\") }\n")
        .with("benches/old.rs", "fn main() {}\n");
    let manifest = format!(
        "{}\n[[bench]]\nname = \"own\"\nharness = false\n",
        files.text("Cargo.toml")
    );
    let at = TestBench::of_own(&files.with("Cargo.toml", manifest));
    let ended = at.compare("HEAD", "HEAD", &[]);
    let report = ended.expect(3);
    report.noted("bench target `own` of `benchless` skipped: its own harness: only criterion is supported");
    report.noted("bench target `old` of `benchless` skipped: libtest harness");
    assert!(
        ended.stdout.contains("only criterion is supported"),
        "{}",
        ended.stdout
    );
}

#[test]
fn a_filter_that_matches_nothing_compares_nothing_and_one_that_matches_some_only_those() {
    let at = TestBench::of_suite();
    let base = at.script(&five());
    let head = at.script(
        &five()
            .into_iter()
            .map(|bench| bench.times(2.0))
            .collect::<Vec<_>>(),
    );
    let ended = at.compare(&base, &head, &["--filter", "^no-such/", "--rounds", "8"]);
    assert!(ended.expect(3).rows().is_empty());
    assert_eq!(ended.launches, [""; 0]);

    let ended = at.compare(&base, &head, &["--filter", "/[ab]$", "--rounds", "8"]);
    assert_eq!(ended.expect(0).verdicts(), ["g/a regressed", "g/b regressed"]);
}

#[test]
fn a_package_or_bench_that_is_not_there_is_named() {
    let at = TestBench::of_own(&Files::fixture("benchless"));
    let ended = at.compare("HEAD", "HEAD", &["-p", "benchles"]);
    let said = ended.refusal(2);
    assert!(
        said.contains("no package `benchles`") && said.contains("`benchless`"),
        "{said}"
    );
    let ended = at.compare("HEAD", "HEAD", &["--bench", "nope"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
}
