//! The figures in docs/performance.md: whole commands, timed from outside.
//!
//! `cargo bench --bench figures -- judge` times `abreast judge` on recordings of growing size.
//! `cargo bench --bench figures -- null` compares the spread of an unchanged suite between base-block-then-head-block
//! and abreast's own schedule, both from the same executable, in the same run, with the same measuring time.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program of its own that times other programs and prints what it finds"
)]

mod synthetic;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let what: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    match what.first().map(String::as_str) {
        Some("judge") => judge(),
        Some("null") => null(what.get(1).map_or("4m", String::as_str)),
        _ => {
            println!("usage: cargo bench --bench figures -- judge | null [BUDGET]");
            Ok(())
        }
    }
}

/// Seconds and peak memory of `abreast judge`, by size; linear in both if the last column is constant.
fn judge() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    println!(
        "{:>9} {:>6} {:>8} {:>8} {:>8} {:>22}",
        "scenarios", "rounds", "file MB", "s", "peak MB", "µs/(scenario·round)"
    );
    for (scenarios, rounds) in [
        (1_000, 40),
        (10_000, 10),
        (10_000, 20),
        (10_000, 40),
        (20_000, 40),
        (10_000, 80),
    ] {
        let file = folder.path().join("recording.jsonl");
        let text = synthetic::recording(scenarios, rounds);
        std::fs::write(&file, &text)?;
        let mut seconds: Vec<f64> = Vec::new();
        let mut peak_mb = 0.0_f64;
        for _ in 0..5 {
            let started = Instant::now();
            let (status, peak) = run_and_measure(&file, folder.path())?;
            seconds.push(started.elapsed().as_secs_f64());
            peak_mb = peak_mb.max(peak);
            assert!(status, "abreast judge failed");
        }
        seconds.sort_by(f64::total_cmp);
        let (median, work) = (
            seconds[seconds.len() / 2],
            f64::from(scenarios) * f64::from(rounds),
        );
        println!(
            "{scenarios:>9} {rounds:>6} {:>8.1} {median:>8.2} {peak_mb:>8.0} {:>22.2}",
            text.len() as f64 / 1e6,
            median / work * 1e6
        );
    }
    Ok(())
}

/// Runs `abreast judge` and returns whether it succeeded, and its peak memory as the kernel counted it.
fn run_and_measure(file: &Path, folder: &Path) -> Result<(bool, f64), Box<dyn Error>> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_abreast"))
        .args(["judge", "-q", "--format", "json", "-o"])
        .arg(folder.join("report.json"))
        .arg(file)
        .spawn()?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak_kb = 0.0_f64;
    loop {
        if let Ok(text) = std::fs::read_to_string(&status_file) {
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
            peak_kb = peak_kb.max(kb.unwrap_or(0.0));
        }
        if let Some(status) = child.try_wait()? {
            return Ok((status.success(), peak_kb / 1024.0));
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// |change| of an executable against itself, both ways of measuring it.
fn null(budget: &str) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let recording = folder.path().join("null.jsonl");
    let report = folder.path().join("null.json");
    let status = Command::new(env!("CARGO_BIN_EXE_abreast"))
        .args([
            "compare",
            "HEAD",
            "HEAD",
            "--measure-identical",
            "--no-confirm",
            "--bench",
            "primitives",
        ])
        .args(["--budget", budget, "--format", "json", "-o"])
        .arg(&report)
        .arg("--recording")
        .arg(&recording)
        .status()?;
    println!("abreast ended with {status}");
    let paired = changes_of_report(&report)?;
    let (executable, slots_s) = executable_and_time(&recording)?;
    let scenarios = paired.len();

    // The usual script: everything on base, then everything on head, criterion's own settings scaled to the same time.
    let each_s = slots_s / 2.0 / scenarios as f64;
    let mut blocks: Vec<BTreeMap<String, f64>> = Vec::new();
    for side in ["base", "head"] {
        let home = folder.path().join(side);
        let (warm_up, measure) = (format!("{:.3}", each_s * 0.375), format!("{:.3}", each_s * 0.625));
        let status = Command::new(&executable)
            .args([
                "--bench",
                "--noplot",
                "--warm-up-time",
                &warm_up,
                "--measurement-time",
                &measure,
            ])
            .env("CRITERION_HOME", &home)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status()?;
        println!("{side} block ended with {status}");
        blocks.push(estimates(&home)?);
    }
    let blocked: Vec<f64> = blocks[0]
        .iter()
        .filter_map(|(id, base)| Some((blocks[1].get(id)? / base - 1.0).abs()))
        .collect();

    println!("\n{scenarios} scenarios, {slots_s:.0} s of measuring each way, |change| in %");
    println!(
        "{:>28} {:>8} {:>8} {:>8} {:>8}",
        "", "median", "p90", "worst", "over 15"
    );
    print_spread("base block, then head block", &blocked);
    print_spread("paired rounds", &paired);
    println!(
        "p90 ratio: {:.1}",
        quantile(&blocked, 0.9) / quantile(&paired, 0.9)
    );
    Ok(())
}

fn print_spread(name: &str, changes: &[f64]) {
    let over = changes.iter().filter(|change| **change > 0.15).count();
    println!(
        "{name:>28} {:>8.2} {:>8.2} {:>8.2} {over:>8}",
        quantile(changes, 0.5) * 100.0,
        quantile(changes, 0.9) * 100.0,
        quantile(changes, 1.0) * 100.0
    );
}

fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within the slice"
    )]
    let at = ((sorted.len() - 1) as f64 * q).round() as usize;
    sorted[at]
}

fn changes_of_report(report: &Path) -> Result<Vec<f64>, Box<dyn Error>> {
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(report)?)?;
    let findings = report["findings"].as_array().ok_or("no findings")?;
    Ok(findings
        .iter()
        .filter_map(|finding| finding["change"].as_f64())
        .map(f64::abs)
        .collect())
}

/// Base's executable of a run, and the seconds its slots took.
fn executable_and_time(recording: &Path) -> Result<(PathBuf, f64), Box<dyn Error>> {
    use abreast::revision::Side;
    let recording = abreast::edge::store::read_recording(recording)?;
    let kept = recording
        .build(Side::Base)
        .and_then(|build| build.executables.first())
        .ok_or("no executable")?;
    let repo = abreast::edge::git::Repo::discover(&std::env::current_dir()?)?;
    let room = abreast::edge::home::Room::of_repository(repo.common_dir(), |_| ())?;
    Ok((
        room.run(&recording.header.run).path(&kept.path),
        recording.measured_s(),
    ))
}

/// What criterion itself reports of each scenario: the slope where it has one, else the mean.
fn estimates(home: &Path) -> Result<BTreeMap<String, f64>, Box<dyn Error>> {
    let mut all = BTreeMap::new();
    for entry in walkdir::WalkDir::new(home) {
        let entry = entry?;
        let in_new = entry
            .path()
            .parent()
            .and_then(Path::file_name)
            .is_some_and(|name| name == "new");
        if entry.file_name() != "estimates.json" || !in_new {
            continue;
        }
        let read = |path: &Path| -> Result<serde_json::Value, Box<dyn Error>> {
            Ok(serde_json::from_slice(&std::fs::read(path)?)?)
        };
        let estimates = read(entry.path())?;
        let id = read(&entry.path().with_file_name("benchmark.json"))?["full_id"]
            .as_str()
            .ok_or("no id")?
            .to_owned();
        let point = |name: &str| estimates[name]["point_estimate"].as_f64();
        all.extend(point("slope").or_else(|| point("mean")).map(|ns| (id, ns)));
    }
    Ok(all)
}
