//! A program that measures itself, as it stands in `abreast.toml`: `[[program]]`.

mod chosen;

pub use self::chosen::Chosen;

use crate::inside::{is_inside, is_name};
use crate::profile::{Format, Profile, Reading};
use crate::units::Span;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A program: how each side's is built and run, and what it writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// What it is called: its rows begin with it.
    pub name: String,
    /// Words of the command that builds it; empty: there is nothing to build.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub build: Vec<String>,
    /// Words of the command that runs it, at least one. A path that begins with `target/` is in cargo's target directory,
    /// wherever that is; `{output}` is a file in an empty folder, which it writes.
    pub run: Vec<String>,
    /// Environment of both commands, besides what they inherit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Working directory of both commands, relative to the workspace; empty: the workspace.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// What it writes: into its output file if `run` names one, else to its standard output.
    pub format: Format,
    /// One launch may take this long; absent: as long as one scenario of a bench may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// Readings that are kept; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Chosen>,
    /// Exactly so many launches on each side, rounded up to an even number; absent: as many as the decisions need.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launches: Option<u32>,
}

/// A program that cannot be used as it is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("[[program]] `{name}`: {what}")]
pub struct ProgramError {
    name: String,
    what: String,
}

impl Program {
    /// Its keys in the settings.
    pub const KEYS: [&'static str; 9] = [
        "name", "build", "run", "env", "folder", "format", "timeout", "metrics", "launches",
    ];

    /// Checks what the types of the fields do not.
    ///
    /// # Errors
    /// [`ProgramError`] for the first that cannot be used.
    pub fn check(programs: &[Self]) -> Result<(), ProgramError> {
        for (n, program) in programs.iter().enumerate() {
            if let Some(what) = program.objection(&programs[..n]) {
                return Err(ProgramError {
                    name: program.name.clone(),
                    what,
                });
            }
        }
        Ok(())
    }

    /// What is wrong with it, after those before it.
    fn objection(&self, before: &[Self]) -> Option<String> {
        let is_twice = before.iter().any(|other| other.name == self.name);
        let in_target = self.run.iter().filter(|word| in_target(word).is_some());
        let outputs: usize = self.run.iter().map(|word| word.matches(OUTPUT).count()).sum();
        let what = if !is_name(&self.name) {
            "its name cannot be that of a file: write one without slashes"
        } else if is_twice {
            "another one has the same name, and their rows could not be told apart"
        } else if self.run.iter().all(String::is_empty) {
            "there is nothing to run: write it word by word, like [\"target/release/engine\", \"--json\"]"
        } else if !self.folder.is_empty() && !is_inside(Path::new(&self.folder)) {
            "its folder leads out of the workspace: write it relative to that"
        } else if in_target.count() > 1 {
            "only one word of `run` may be in target/: just one file is kept when the other side is built"
        } else if outputs > 1 {
            "`run` may name `{output}` once: it writes one file"
        } else if outputs > 0 && self.format == Format::Wall {
            "`wall` reads nothing: `{output}` in its `run` is a file of another format"
        } else {
            return None;
        };
        Some(what.to_owned())
    }

    /// Keeps the readings of a launch that are asked for, with the direction that is said to be good. One that is not
    /// told is an incident.
    ///
    /// # Errors
    /// A sentence if none is left, or one is told in another unit than expected.
    pub fn choose(&self, mut profile: Profile) -> Result<Profile, String> {
        if self.metrics.is_empty() {
            return Ok(profile);
        }
        let is_told = |chosen: &Chosen| profile.readings.iter().any(|reading| reading.id == chosen.id);
        let untold: Vec<String> = self
            .metrics
            .iter()
            .filter(|chosen| !is_told(chosen))
            .map(|chosen| format!("`{}`", chosen.id))
            .collect();
        if untold.len() == self.metrics.len() {
            let told: Vec<&str> = profile
                .readings
                .iter()
                .map(|reading| reading.id.as_str())
                .collect();
            return Err(format!(
                "`metrics` names nothing that it tells; that is {}",
                told.join(", ")
            ));
        }
        if !untold.is_empty() {
            let sentence = format!("`metrics` names what it does not tell: {}", untold.join(", "));
            profile.incidents.push(sentence);
        }
        let chosen = |reading: &Reading| self.metrics.iter().find(|chosen| chosen.id == reading.id);
        profile.readings.retain(|reading| chosen(reading).is_some());
        for reading in &mut profile.readings {
            let Some(chosen) = chosen(reading) else { continue };
            let told = reading.metric.unit;
            if let Some(unit) = chosen.unit.filter(|unit| *unit != told) {
                let (id, told, unit) = (&reading.id, told.as_str(), unit.as_str());
                return Err(format!("it tells `{id}` in {told}, and `metrics` says {unit}"));
            }
            reading.metric.better = chosen.better.unwrap_or(reading.metric.better);
        }
        Ok(profile)
    }

    /// What the name of its output file ends with, if it writes one: whatever follows [`OUTPUT`] in its word.
    #[must_use]
    pub fn output_ending(&self) -> Option<&str> {
        self.run.iter().find_map(|word| Some(word.split_once(OUTPUT)?.1))
    }

    /// Files that its run command may name, relative to the workspace: each word, and what follows `=` in one.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        self.run.iter().flat_map(|word| self.files_in(word)).collect()
    }

    /// Those of them that the program reads and are not the program itself; none where nobody knows which word that is.
    #[must_use]
    pub fn data(&self) -> Vec<PathBuf> {
        let Some(built) = self.built() else {
            return Vec::new();
        };
        let others = self.run.iter().enumerate().filter(|(at, _)| *at != built);
        others.flat_map(|(_, word)| self.files_in(word)).collect()
    }

    fn files_in(&self, word: &str) -> impl Iterator<Item = PathBuf> {
        let value = word.split_once('=').map(|(_, value)| value);
        let inside = |word: &str| {
            let path = Path::new(word.strip_prefix("./").unwrap_or(word));
            is_inside(path).then(|| Path::new(&self.folder).join(path))
        };
        [Some(word), value]
            .into_iter()
            .flatten()
            .filter_map(inside)
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// Which word of [`Program::run`] names what may be built anew for each side: one in cargo's target directory, else
    /// the first, if it is a relative path. Absent for what is found through `PATH`, or at an absolute path.
    #[must_use]
    pub fn built(&self) -> Option<usize> {
        let is_path = |word: &&String| word.contains('/') && !word.starts_with('/');
        let first = || self.run.first().filter(is_path).map(|_| 0);
        let in_target = self.run.iter().position(|word| in_target(word).is_some());
        in_target.or_else(first)
    }
}

/// Stands in [`Program::run`] for the file that the program writes.
pub const OUTPUT: &str = "{output}";

/// The path inside cargo's target directory, if a word of a command is one.
#[must_use]
pub fn in_target(word: &str) -> Option<&str> {
    word.strip_prefix("./").unwrap_or(word).strip_prefix("target/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{Better, Metric};
    use std::collections::BTreeSet;

    fn running(run: &[&str]) -> Program {
        Program {
            name: "engine".to_owned(),
            build: Vec::new(),
            run: run.iter().map(|word| (*word).to_owned()).collect(),
            env: BTreeMap::new(),
            folder: String::new(),
            format: Format::Wall,
            timeout: None,
            metrics: Vec::new(),
            launches: None,
        }
    }

    fn only(id: &str) -> Chosen {
        Chosen {
            id: id.to_owned(),
            better: None,
            unit: None,
        }
    }

    #[test]
    fn what_is_built_for_each_side_is_in_the_target_directory_or_a_path_of_the_tree() {
        for (run, built) in [
            (&["target/release/engine", "--json"][..], Some(0)),
            (&["./target/release/engine"], Some(0)),
            (&["python3", "drive.py", "target/release/engine"], Some(2)),
            (&["scripts/engine.sh"], Some(0)),
            (&["python3", "scripts/engine.py"], None),
            (&["/usr/bin/env", "true"], None),
            (&["hyperfine"], None),
        ] {
            assert_eq!(running(run).built(), built, "{run:?}");
        }
    }

    #[test]
    fn a_program_that_cannot_be_used_says_why() {
        let well = running(&["true"]);
        let objection = |change: fn(&mut Program)| {
            let mut program = well.clone();
            change(&mut program);
            Program::check(&[program]).unwrap_err().to_string()
        };
        assert_eq!(Program::check(std::slice::from_ref(&well)), Ok(()));
        let said = objection(|program| program.name = "../x".to_owned());
        assert!(said.starts_with("[[program]] `../x`: its name"), "{said}");
        let said = objection(|program| program.run.clear());
        assert!(said.contains("nothing to run"), "{said}");
        let said = objection(|program| program.folder = "../other".to_owned());
        assert!(said.contains("leads out of the workspace"), "{said}");
        let said = objection(|program| program.run = ["target/a", "target/b"].map(str::to_owned).to_vec());
        assert!(said.contains("only one word"), "{said}");
        let said = objection(|program| program.run.push("{output}".to_owned()));
        assert!(said.contains("`wall` reads nothing"), "{said}");
        let said = objection(|program| program.run.push("-o={output},{output}".to_owned()));
        assert!(said.contains("may name `{output}` once"), "{said}");
        let twice = [well.clone(), well.clone()];
        let said = Program::check(&twice).unwrap_err().to_string();
        assert!(said.contains("another one has the same name"), "{said}");
    }

    #[test]
    fn the_keys_are_those_of_the_settings_and_only_what_is_said_is_recorded() {
        let program = Program {
            build: vec!["make".to_owned()],
            env: BTreeMap::from([("THREADS".to_owned(), "2".to_owned())]),
            folder: "engine".to_owned(),
            timeout: Some("90s".parse().unwrap()),
            metrics: vec![only("time")],
            launches: Some(8),
            ..running(&["./engine"])
        };
        let keys = |program: &Program| {
            let written = serde_json::to_value(program).unwrap();
            assert_eq!(
                serde_json::from_value::<Program>(written.clone()).unwrap(),
                *program
            );
            let keys = written.as_object().unwrap().keys().cloned();
            keys.collect::<BTreeSet<String>>()
        };
        assert_eq!(keys(&program), BTreeSet::from(Program::KEYS.map(str::to_owned)));
        let least = ["format", "name", "run"].map(str::to_owned);
        assert_eq!(keys(&running(&["true"])), BTreeSet::from(least));
    }

    #[test]
    fn what_is_kept_is_named_and_has_the_direction_that_is_said() {
        let reading = |id: &str, metric| Reading {
            id: id.to_owned(),
            metric,
            values: vec![1.0],
        };
        let profile = Profile {
            readings: vec![
                reading("time", Metric::time()),
                reading("replays", Metric::count()),
                reading("rest", Metric::count()),
            ],
            ..Profile::default()
        };
        let choosing = |metrics: &str| {
            let metrics: BTreeMap<String, Vec<Chosen>> = toml::from_str(metrics).unwrap();
            let program = Program {
                metrics: metrics["metrics"].clone(),
                ..running(&["true"])
            };
            program.choose(profile.clone())
        };
        let all = running(&["true"]).choose(profile.clone()).unwrap();
        assert_eq!(all, profile);
        let kept = choosing(r#"metrics = ["time", { id = "replays", better = "higher" }, "p99"]"#).unwrap();
        let told = kept.readings.iter();
        let told: Vec<_> = told
            .map(|reading| (reading.id.as_str(), reading.metric.better))
            .collect();
        assert_eq!(told, [("time", Better::Lower), ("replays", Better::Higher)]);
        assert_eq!(kept.incidents, ["`metrics` names what it does not tell: `p99`"]);
        let why = choosing(r#"metrics = ["p50", "p99"]"#).unwrap_err();
        assert_eq!(
            why,
            "`metrics` names nothing that it tells; that is time, replays, rest"
        );
        let why = choosing(r#"metrics = [{ id = "replays", unit = "bytes" }]"#).unwrap_err();
        assert_eq!(why, "it tells `replays` in count, and `metrics` says bytes");
    }

    #[test]
    fn what_is_beside_the_program_may_be_files_that_it_reads() {
        let shown = |paths: Vec<PathBuf>| {
            let shown = paths.iter().map(|path| path.display().to_string());
            shown.collect::<Vec<String>>()
        };
        let driven = Program {
            folder: "scripts".to_owned(),
            ..running(&[
                "python3",
                "./drive.py",
                "target/release/engine",
                "--in=data.json",
                "../x",
                "/etc/y",
            ])
        };
        let data = [
            "scripts/python3",
            "scripts/drive.py",
            "scripts/--in=data.json",
            "scripts/data.json",
        ];
        assert_eq!(shown(driven.data()), data);
        let script = running(&["python3", "engine.py"]);
        assert_eq!(shown(script.data()), [""; 0], "the script is the program");
        assert_eq!(shown(script.files()), ["python3", "engine.py"]);
    }

    #[test]
    fn an_output_file_ends_as_its_word_does() {
        let engine = running(&["target/release/engine", "--json={output}.json"]);
        assert_eq!(engine.output_ending(), Some(".json"));
        assert_eq!(running(&["true"]).output_ending(), None);
    }
}
