//! The side-by-side table in docs/statistics.md: the same executables, known changes, the same minutes.
//!
//! `cargo bench --bench rivals -- REPORTS [BUDGET]` makes a suite in which some rows of head do 2, 5 or 10 % more work
//! and the others do none. abreast compares its two commits; then the very executables that it built are run as people do
//! without it: all of base, then all of head, in as much time as abreast measured. From that one pair of runs come
//! criterion's own verdict (`--save-baseline`, `--baseline`), the ratio of means beyond 5 % (critcmp) and beyond 15 and
//! 30 % (a CI job).
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a program of its own that runs other programs and prints what it finds"
)]

use abreast::edge::git::scaffold;
use abreast::injection::{Injection, LANES};
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const SIZES: [u32; 3] = [2, 5, 10];

/// What a tool says of a row: slower, faster, or nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Slower,
    Faster,
    Nothing,
}

/// What a tool says of each row, by id.
type Verdicts = BTreeMap<String, Said>;

/// What each way of reading one pair of runs says, by its name.
type Readings = BTreeMap<&'static str, Verdicts>;

/// Rows by what was injected, in percent, and what was said of them.
#[derive(Default)]
struct Tally {
    rows: BTreeMap<u32, Vec<Said>>,
    /// Reports in which a row without a change was flagged.
    crying_wolf: u32,
    seconds: f64,
}

impl Tally {
    fn take(&mut self, injection: &Injection, ids: &[String], said: &Verdicts, seconds: f64) {
        let mut wolf = false;
        for (lane, id) in ids.iter().enumerate() {
            let said = said.get(id).copied().unwrap_or(Said::Nothing);
            let percent = injection.percent(lane);
            wolf |= percent == 0 && said != Said::Nothing;
            self.rows.entry(percent).or_default().push(said);
        }
        self.crying_wolf += u32::from(wolf);
        self.seconds += seconds;
    }

    fn count(&self, percent: u32, what: Said) -> String {
        let rows = self.rows.get(&percent).map_or(&[][..], Vec::as_slice);
        format!(
            "{} of {}",
            rows.iter().filter(|said| **said == what).count(),
            rows.len()
        )
    }

    fn line(&self, name: &str, reports: u32) {
        let flagged = |rows: &Vec<Said>| rows.iter().filter(|said| **said != Said::Nothing).count();
        let unchanged = self.rows.get(&0).map_or(0, flagged);
        let faster: usize = SIZES
            .iter()
            .filter_map(|size| self.rows.get(size))
            .map(|rows| rows.iter().filter(|said| **said == Said::Faster).count())
            .sum();
        println!(
            "| {name} | {:.1} | {} of {reports} | {} | {} | {} | {faster} | {:.1} |",
            unchanged as f64 / f64::from(reports),
            self.crying_wolf,
            self.count(2, Said::Slower),
            self.count(5, Said::Slower),
            self.count(10, Said::Slower),
            self.seconds / 60.0 / f64::from(reports)
        );
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let Some(reports) = words.first().and_then(|word| word.parse().ok()) else {
        println!("usage: cargo bench --bench rivals -- REPORTS [BUDGET]");
        return Ok(());
    };
    let budget = words.get(1).map_or("3m", String::as_str);
    let folder = tempfile::tempdir()?;
    let suite = folder.path().join("suite");
    std::fs::create_dir_all(&suite)?;
    let base = scaffold(&suite, &Injection::none().files())?;
    let names = [
        "abreast",
        "criterion, its baselines",
        "critcmp, 5 %",
        "base then head, 15 %",
        "base then head, 30 %",
    ];
    let mut tallies: BTreeMap<&str, Tally> = names.iter().map(|name| (*name, Tally::default())).collect();
    for seed in 1..=reports {
        let injection = Injection::of(&SIZES, u64::from(seed));
        let head = scaffold(&suite, &injection.files())?;
        let run = Run::of_abreast(folder.path(), &suite, &base, &head, budget)?;
        tallies
            .entry("abreast")
            .or_default()
            .take(&injection, &run.ids, &run.said, run.seconds);
        let (rivals, seconds) = run.of_criterion(folder.path())?;
        for (name, said) in rivals {
            tallies
                .entry(name)
                .or_default()
                .take(&injection, &run.ids, &said, seconds);
        }
        eprintln!("report {seed} of {reports}");
    }
    println!(
        "| tool | false flags a report | reports with any | +2 % found | +5 % found | +10 % found | slower called faster | minutes |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for name in names {
        if let Some(tally) = tallies.get(name) {
            tally.line(name, reports);
        }
    }
    Ok(())
}

/// What abreast made of two commits, and the executables that it built of them.
struct Run {
    ids: Vec<String>,
    said: Verdicts,
    executables: [PathBuf; 2],
    seconds: f64,
}

impl Run {
    fn of_abreast(
        folder: &Path,
        suite: &Path,
        base: &str,
        head: &str,
        budget: &str,
    ) -> Result<Self, Box<dyn Error>> {
        let (report, recording, home) = (folder.join("r.json"), folder.join("r.jsonl"), folder.join("home"));
        let status = Command::new(env!("CARGO_BIN_EXE_abreast"))
            .current_dir(suite)
            .env("ABREAST_HOME", &home)
            .args([
                "compare", base, head, "-q", "--budget", budget, "--format", "json", "-o",
            ])
            .arg(&report)
            .arg("--recording")
            .arg(&recording)
            .status()?;
        let report: Value = serde_json::from_slice(&std::fs::read(&report)?)?;
        let mut said = BTreeMap::new();
        for row in report["findings"].as_array().into_iter().flatten() {
            let verdict = match row["verdict"].as_str() {
                Some("regressed") => Said::Slower,
                Some("improved") => Said::Faster,
                _ => Said::Nothing,
            };
            said.insert(row["scenario"].as_str().unwrap_or_default().to_owned(), verdict);
        }
        let text = std::fs::read_to_string(&recording)?;
        let events: Vec<Value> = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let of = |kind: &'static str| events.iter().filter(move |event| event["event"] == kind);
        let ids: Vec<String> = of("scenario")
            .filter_map(|event| Some(event["id"].as_str()?.to_owned()))
            .collect();
        assert_eq!(ids.len(), LANES, "abreast ended with {status}");
        let run = of("header")
            .find_map(|event| event["run"].as_str())
            .ok_or("no header")?;
        let room = std::fs::read_dir(&home)?
            .filter_map(|entry| Some(entry.ok()?.path().join("runs").join(run)))
            .find(|path| path.is_dir())
            .ok_or("no run folder")?;
        let paths: Vec<PathBuf> = of("build")
            .filter_map(|event| Some(room.join(event["executables"][0]["path"].as_str()?)))
            .collect();
        Ok(Self {
            ids,
            said,
            executables: paths.try_into().map_err(|_| "not two builds")?,
            seconds: report["elapsed"]["measure_s"]
                .as_f64()
                .ok_or("nothing measured")?,
        })
    }

    /// All of base, then all of head, in as much time; what each way of reading the result says, and the seconds.
    fn of_criterion(&self, folder: &Path) -> Result<(Readings, f64), Box<dyn Error>> {
        let home = folder.join("criterion");
        let _ = std::fs::remove_dir_all(&home);
        // Analysis and start-up take about a fifth of a second a scenario.
        let each_s = (self.seconds / 2.0 / self.ids.len() as f64 - 0.2).max(0.3);
        let started = Instant::now();
        let mut output = String::new();
        for (executable, baseline) in self.executables.iter().zip(["--save-baseline", "--baseline"]) {
            let ran = Command::new(executable)
                .args(["--bench", "--noplot", baseline, "base"])
                .args(["--warm-up-time", &format!("{:.3}", each_s * 0.375)])
                .args(["--measurement-time", &format!("{:.3}", each_s * 0.625)])
                .env("CRITERION_HOME", &home)
                .current_dir(folder)
                .output()?;
            output = String::from_utf8_lossy(&ran.stdout).into_owned();
        }
        let seconds = started.elapsed().as_secs_f64();
        let mut said: Readings = BTreeMap::new();
        for id in &self.ids {
            // As criterion names folders.
            let of = home.join(id.replace('/', "_"));
            let mean = |which: &str| -> Result<f64, Box<dyn Error>> {
                let text = std::fs::read(of.join(which).join("estimates.json"))?;
                let estimates: Value = serde_json::from_slice(&text)?;
                Ok(estimates["mean"]["point_estimate"].as_f64().ok_or("no mean")?)
            };
            let change = mean("new")? / mean("base")? - 1.0;
            let beyond = |limit: f64| match change {
                _ if change > limit => Said::Slower,
                _ if change < -limit => Said::Faster,
                _ => Said::Nothing,
            };
            let mut tell =
                |name: &'static str, what: Said| said.entry(name).or_default().insert(id.clone(), what);
            tell("critcmp, 5 %", beyond(0.05));
            tell("base then head, 15 %", beyond(0.15));
            tell("base then head, 30 %", beyond(0.30));
            tell("criterion, its baselines", verdict_of_criterion(&output, id));
        }
        Ok((said, seconds))
    }
}

/// The sentence below the line that begins with the id.
fn verdict_of_criterion(output: &str, id: &str) -> Said {
    let mut lines = output
        .lines()
        .skip_while(|line| line.split_whitespace().next() != Some(id))
        .skip(1)
        .take_while(|line| line.starts_with(' ') || line.is_empty());
    lines
        .find_map(|line| match line.trim() {
            "Performance has regressed." => Some(Said::Slower),
            "Performance has improved." => Some(Said::Faster),
            _ => None,
        })
        .unwrap_or(Said::Nothing)
}
