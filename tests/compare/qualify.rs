//! One commit against itself, many times.

use crate::support::bench::TestBench;
use crate::support::script::five;
use serde_json::Value;

#[test]
fn unchanged_code_is_measured_as_often_as_asked_for_and_everything_is_written_down() {
    let at = TestBench::of_suite();
    let commit = at.script(&five());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("q.json");
    let ended = at
        .tool(&[
            "qualify",
            &commit,
            "--reports",
            "3",
            "--rounds",
            "8",
            "--seed",
            "1",
            "-o",
        ])
        .args(&[file.to_str().unwrap()])
        .run();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stdout
            .contains(" of 3 reports of unchanged code flagged anything"),
        "{}",
        ended.stdout
    );
    let found: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(found["schema"], "abreast/qualify/1");
    assert_eq!(found["summary"]["reports"], 3);
    assert_eq!(found["summary"]["rows"], 15);
    assert_eq!(found["scenarios"].as_array().unwrap().len(), 5);
    assert!(found["summary"]["median_floor"].as_f64().unwrap() > 0.0);
    let seeds: Vec<_> = found["reports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|report| &report["seed"])
        .collect();
    assert_eq!(seeds, [2, 3, 4]);
}
