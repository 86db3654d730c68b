//! Files that programs wrote elsewhere, judged.

use crate::support::tool::{Ended, Tool};
use std::path::Path;

/// Decode profiles of one H200: ten launches of each arm, interleaved. `again` is `persistent` once more.
const PROFILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/decode/h200");
const FORMATS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/formats");

fn judged(folder: &Path, args: &[&str]) -> Ended {
    let home = tempfile::tempdir().unwrap();
    Tool::new(folder, home.path(), &["judge"]).args(args).json().run()
}

/// All launches of two arms.
fn arms(base: &str, head: &str) -> Ended {
    let files: Vec<String> = (0..10)
        .flat_map(|n| {
            let file = |arm: &str| format!("{arm}-{n}.jsonl");
            ["--base".to_owned(), file(base), "--head".to_owned(), file(head)]
        })
        .collect();
    let mut args: Vec<&str> = files.iter().map(String::as_str).collect();
    args.extend(["--format", "abreast-decode"]);
    judged(Path::new(PROFILES), &args)
}

#[test]
fn profiles_of_a_gpu_show_what_persistent_metadata_saves() {
    let ended = arms("per-call", "persistent");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report = ended.report.unwrap();
    let token = report.row("ms_per_token");
    assert_eq!(token.verdict(), "improved");
    let change = token.0["change"].as_f64().unwrap();
    assert!((-0.44..-0.41).contains(&change), "{change}");
    assert_eq!(token.0["kind"], "program");
    let rate = report.row("tokens_per_second");
    assert_eq!(
        (rate.verdict(), rate.0["better"].as_str()),
        ("improved", Some("higher"))
    );
    let allocations = report.row("allocations");
    assert_eq!(allocations.verdict(), "improved");
    let counts = ["base", "head"].map(|side| allocations.0[side].as_f64());
    assert_eq!(counts, [Some(3960.0), Some(0.0)]);
    let notes = report.0["notes"].to_string();
    assert!(notes.contains("not interleaved"), "{notes}");
}

#[test]
fn the_same_launch_path_against_itself_is_not_flagged() {
    let report = arms("persistent", "again").report.unwrap();
    let summary = &report.0["summary"];
    assert_eq!(
        (&summary["regressed"], &summary["improved"]),
        (&0.into(), &0.into())
    );
    assert_eq!(report.row("ms_per_token").verdict(), "unchanged");
}

#[test]
fn other_tokens_have_no_rate() {
    let folder = tempfile::tempdir().unwrap();
    let profile = std::fs::read_to_string(Path::new(PROFILES).join("persistent-0.jsonl")).unwrap();
    std::fs::write(folder.path().join("base.jsonl"), &profile).unwrap();
    let id = profile
        .split("\"index\":5,\"id\":")
        .nth(1)
        .unwrap()
        .split(',')
        .next()
        .unwrap();
    let head = profile.replace(&format!("\"index\":5,\"id\":{id},"), "\"index\":5,\"id\":1,");
    std::fs::write(folder.path().join("head.jsonl"), head).unwrap();
    let args = [
        "--base",
        "base.jsonl",
        "--head",
        "head.jsonl",
        "--format",
        "abreast-decode",
    ];
    let report = judged(folder.path(), &args).report.unwrap();
    let row = report.row("ms_per_token");
    assert_eq!(row.verdict(), "not_comparable");
    let notes = row.0["notes"].to_string();
    assert!(
        notes.contains(&format!("token 5 of generation 1 is {id} on base and 1 on head")),
        "{notes}"
    );
}

#[test]
fn one_launch_of_each_side_is_shown_and_not_judged() {
    let folder = Path::new(FORMATS).join("llama-bench");
    let args = [
        "--base",
        "2025.json",
        "--head",
        "2026.jsonl",
        "--format",
        "llama-bench",
    ];
    let ended = judged(&folder, &args);
    let report = ended.report.unwrap();
    let judged = ["regressed", "improved", "unchanged"].map(|verdict| report.0["summary"][verdict].as_u64());
    assert_eq!(judged, [Some(0); 3]);
}

#[test]
fn a_format_of_a_program_is_for_files_of_programs() {
    let folder = Path::new(PROFILES);
    let sentence = |args: &[&str]| {
        let home = tempfile::tempdir().unwrap();
        let ended = Tool::new(folder, home.path(), args).run();
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        ended.stderr
    };
    let both = ["judge", "--base", "again-0.jsonl", "--head", "again-1.jsonl"];
    assert!(sentence(&both).contains("say which with --format"));
    let wrong = [&both[..], &["--format", "llama-bench"]].concat();
    assert!(sentence(&wrong).contains("again-0.jsonl: this is no llama-bench"));
    let report = ["judge", "again-0.jsonl", "--format", "hyperfine"];
    assert!(sentence(&report).contains("`hyperfine` is no format of a report"));
    let endless = [
        "judge",
        "--base",
        "/dev/zero",
        "--head",
        "again-1.jsonl",
        "--format",
        "hyperfine",
    ];
    assert!(sentence(&endless).contains("/dev/zero could not be read: it is no plain file"));
    let twice = [
        &both[..],
        &["--base", "again-0.jsonl", "--format", "abreast-decode"],
    ]
    .concat();
    assert!(sentence(&twice).contains("holds the same bytes as another file of its side"));
    let lonely = ["judge", "--base", "again-0.jsonl", "--format", "abreast-decode"];
    assert!(sentence(&lonely).contains("--head"));
}
