//! A side does not build, or the sides are not built alike.

use crate::support::bench::TestBench;
use crate::support::files::Files;
use crate::support::script::{bench, five, suite};

#[test]
fn a_side_that_does_not_compile_is_named_with_the_compilers_words_and_the_other_one_has_numbers() {
    let at = TestBench::of_suite();
    let well = suite(&five());
    let broken = well.clone().replaced(
        "src/lib.rs",
        "mod script;",
        "mod script;\nfn broken() -> u8 { not_there() }",
    );
    let (well, broken) = (at.commit(&well), at.commit(&broken));
    for (base, head, side, numbers) in [
        (&broken, &well, "base", (false, true)),
        (&well, &broken, "head", (true, false)),
    ] {
        let ended = at.compare(base, head, &["--rounds", "8"]);
        let report = ended.expect(4);
        report.noted(&format!("{side} did not build"));
        report.noted("not_there");
        report.noted("error[E0425]");
        assert!(!report.notes().contains("also fails"), "{}", report.notes());
        report.all("failed");
        for row in report.rows() {
            row.noted(&format!("{side} did not build"));
            assert_eq!(row.has_numbers(), numbers, "{}", report.table());
            assert!(row.0["change"].is_null());
        }
        assert_eq!(report.rows().len(), 5);
        assert!(ended.stdout.contains("did not build"), "{}", ended.stdout);
    }
}

#[test]
fn two_sides_that_do_not_compile_are_both_named() {
    let at = TestBench::of_suite();
    let broken = |what: &str| {
        at.commit(&Files::suite().replaced(
            "src/lib.rs",
            "mod script;",
            &format!("mod script;\nfn broken() {{ {what}() }}"),
        ))
    };
    let ended = at.compare(&broken("missing_one"), &broken("missing_two"), &[]);
    let report = ended.expect(4);
    report.noted("missing_one");
    report.noted("missing_two");
}

#[test]
fn a_dependency_that_moved_is_listed_and_the_change_is_judged() {
    let at = TestBench::of_suite();
    let with = |version: &str, factor: f64| {
        let manifest = format!("[package]\nname = \"part\"\nversion = \"{version}\"\nedition = \"2021\"\n");
        let locked = format!(
            "[[package]]\nname = \"part\"\nversion = \"{version}\"\n\n[[package]]\nname = \"plotters\""
        );
        let files = suite(&[bench("g/a", 1e5).times(factor)])
            .with("part/Cargo.toml", manifest)
            .with("part/src/lib.rs", "")
            .replaced(
                "Cargo.toml",
                "[dependencies]\n",
                "[dependencies]\npart = { path = \"part\" }\n",
            )
            .replaced("Cargo.lock", " \"criterion\",\n", " \"criterion\",\n \"part\",\n");
        let files = if files.text("Cargo.lock").contains("name = \"plotters\"") {
            files.replaced("Cargo.lock", "[[package]]\nname = \"plotters\"", &locked)
        } else {
            let lock = files.text("Cargo.lock");
            files.with(
                "Cargo.lock",
                format!("{lock}\n[[package]]\nname = \"part\"\nversion = \"{version}\"\n"),
            )
        };
        at.commit(&files)
    };
    let ended = at.compare(&with("0.1.0", 1.0), &with("0.1.1", 2.0), &["--rounds", "8"]);
    let report = ended.expect(0);
    assert_eq!(report.differences(), ["lock part 0.1.0 -> 0.1.1"]);
    assert_eq!(report.row("g/a").verdict(), "regressed");
    assert!(ended.stdout.contains("part"), "{}", ended.stdout);
}

#[test]
fn a_profile_that_changed_is_listed() {
    let at = TestBench::of_suite();
    let files = suite(&five());
    let base = at.commit(&files);
    let head = at.commit(&files.replaced("Cargo.toml", "opt-level = 0", "opt-level = 0\nstrip = true"));
    let ended = at.compare(&base, &head, &["--rounds", "8"]);
    let report = ended.expect(0);
    let differences = report.differences().join("\n");
    assert!(differences.starts_with("profile Cargo.toml"), "{differences}");
    assert!(report.flagged().is_empty());
}

#[test]
fn a_toolchain_that_is_not_installed_is_a_build_failure_that_names_it() {
    if std::process::Command::new("rustup")
        .arg("--version")
        .output()
        .is_err()
    {
        return; // cargo without rustup knows no toolchain files
    }
    let at = TestBench::of_suite();
    let files = suite(&five());
    let base = at.commit(&files);
    let head = at.commit(&files.with(
        "rust-toolchain.toml",
        "[toolchain]\nchannel = \"abreast-has-no-such\"\n",
    ));
    let ended = at.compare(&base, &head, &["--rounds", "8"]);
    let report = ended.expect(4);
    report.noted("head did not build");
    report.noted("abreast-has-no-such");
    report.all("failed");
    assert!(
        report.rows().iter().all(|row| row.has_numbers() == (true, false)),
        "{}",
        report.table()
    );
}

#[test]
fn an_ignored_lock_file_leaves_dependencies_without_provenance() {
    let at = TestBench::of_suite();
    let files = suite(&five())
        .without("Cargo.lock")
        .with(".gitignore", "Cargo.lock\n/target\n");
    let head = files.clone().with("README.md", "more\n");
    let base = at.commit(&files);
    let (worktree, tool) = at.tool_at(&at.commit(&head), "unlocked", &["compare", &base, "HEAD"]);
    worktree.write("Cargo.lock", &Files::suite().text("Cargo.lock"));
    let ended = tool.json().run();
    let report = ended.expect(0);
    report.noted("dependency provenance unavailable: no Cargo.lock is committed on base and head");
    report.all("identical");
}

#[test]
fn the_environment_of_another_cargo_changes_nothing() {
    let at = TestBench::of_suite();
    let files = suite(&five());
    let base = at.commit(&files);
    let head = at.commit(&files.with("README.md", "more\n"));
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("target");
    // As under `cargo abreast`: cargo tells its children where it is, and rustup's proxy which toolchain it chose.
    let ended = at
        .comparing(&base, &head, &[])
        .env("CARGO", "/nowhere/cargo")
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_BUILD_TARGET_DIR", &target)
        .env("RUSTUP_TOOLCHAIN", "abreast-has-no-such")
        .env("CARGO_MANIFEST_DIR", "/nowhere")
        .env("CRITERION_HOME", elsewhere.path().join("criterion"))
        .guarding(elsewhere.path())
        .run();
    ended.expect(0).all("identical");
}
