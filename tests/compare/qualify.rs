//! One commit against itself, many times.

use crate::support::bench::TestBench;
use crate::support::script::five;
use nix::sys::signal::Signal;
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
        .args(&[file.to_str().unwrap(), "--keep-recordings"])
        .args(&[folder.path().join("kept").to_str().unwrap()])
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
    for n in 1..=3 {
        let kept = folder.path().join(format!("kept/unchanged-{n}.jsonl"));
        let judged = at.tool(&["judge"]).args(&[kept.to_str().unwrap()]).run();
        assert_eq!(judged.code, Some(0), "{}", judged.stderr);
    }
}

#[test]
fn an_interrupt_ends_it_with_130_and_keeps_no_half_of_it() {
    let at = TestBench::of_suite();
    let commit = at.script(&five());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("q.json");
    let mut run = at
        .tool(&[
            "qualify",
            &commit,
            "--reports",
            "50",
            "--rounds",
            "8",
            "--keep",
            "-o",
        ])
        .args(&[file.to_str().unwrap(), "--inject", "10"])
        .start();
    run.until("the first report is written", |_| file.exists());
    run.signal(Signal::SIGINT);
    let ended = run.wait();
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert!(!at.repository.path.join("baselines").exists());
    assert!(ended.stdout.contains("(50 were asked for)"), "{}", ended.stdout);
    let found: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert!(found["summary"]["reports"].as_u64().unwrap() >= 1);
}
