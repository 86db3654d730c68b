//! Criterion executables: listing their benchmarks, running some of them, reading what they wrote.
//!
//! Criterion's files are private by its own words, so everything known about them is in this file, in structs with a
//! `C` prefix. Read are only `benchmark.json` (the id) and `sample.json` (raw iterations and times), whose layout has
//! been the same from 0.3.6 to 0.8.2; folder names are never interpreted because they are cut and numbered.
#![expect(
    clippy::disallowed_methods,
    reason = "this file is where criterion's files are read"
)]

mod files;

pub use self::files::read;

use crate::edge::process::{Ending, Launch, ProcessError, Runner};
use crate::last_words::last_words;
use crate::recording::{Throughput, Timing};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Text that every criterion executable since 0.3 contains and no libtest or divan executable does.
const FINGERPRINT: &[u8] = b"This executable is a Criterion";

/// More text without the end of a listing line is no title, but a bench that talks. Chosen: criterion itself cuts
/// titles after 100 bytes.
const LONGEST_TITLE: usize = 16 * 1024;

/// An executable ready to be started.
#[derive(Debug, Clone)]
pub struct Bench {
    /// The copied-out executable.
    pub executable: PathBuf,
    /// Working directory: the package's folder in the tree.
    pub cwd: PathBuf,
    /// Environment beyond the inherited one.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Criterion version of its package, if known.
    pub version: Option<String>,
}

/// What one scenario wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Full id; the second scenario of that id in one process gets ` #2`, as criterion does in its titles.
    pub id: String,
    /// The measurement, or what is wrong with it.
    pub sample: Result<Sample, String>,
    /// Seconds from the previous scenario's end, or the process start, to this one's.
    pub cost_s: f64,
}

/// Raw values of one scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Iterations of each sample.
    pub iters: Vec<u64>,
    /// Nanoseconds of each sample.
    pub totals: Vec<f64>,
    /// Declared work of one iteration.
    pub throughput: Option<Throughput>,
}

/// Why an executable's benchmarks are unknown.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// It could not be started or waited for.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// It did not list anything criterion-like.
    #[error("its benchmarks could not be listed ({how}): {tail}")]
    Listing {
        /// How it ended.
        how: String,
        /// Last lines of output.
        tail: String,
    },
    /// Its files could not be read.
    #[error("{path}: {source}")]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

/// Whether these bytes are an executable that links criterion. Nothing is run.
#[must_use]
pub fn is_criterion(executable: &[u8]) -> bool {
    let first = FINGERPRINT[0];
    executable
        .windows(FINGERPRINT.len())
        .any(|window| window[0] == first && window == FINGERPRINT)
}

impl Bench {
    /// Full ids of all benchmarks, in the order they are registered, which is the order they run in.
    ///
    /// `--list` cuts titles after 100 bytes; the full id of a cut one is learnt by running it once as briefly as
    /// criterion allows, with its output in `scratch`.
    ///
    /// # Errors
    /// [`ListError`] if the executable does not behave like criterion.
    pub fn list(&self, runner: &Runner, scratch: &Path, timeout: Duration) -> Result<Vec<String>, ListError> {
        let mut titles = Vec::new();
        let mut launch = self.launch(scratch);
        launch.args = vec!["--bench".into(), "--list".into()];
        launch.timeout = Some(timeout);
        let mut text = String::new();
        let finished = runner.run_lines(&launch, |line| {
            text.push_str(line);
            // An id may itself contain line feeds; a listing line ends in one of two words.
            let title = text
                .strip_suffix(": benchmark")
                .or_else(|| text.strip_suffix(": bench"));
            match title {
                Some(title) if title.len() > LONGEST_TITLE => text.clear(),
                Some(title) => {
                    titles.push(title.to_owned());
                    text.clear();
                }
                None if text.is_empty() => {}
                None if text.len() > LONGEST_TITLE => text.clear(),
                None => text.push('\n'),
            }
        })?;
        if !finished.ending.is_success() {
            let tail = match last_words(&finished.tail) {
                words if words.is_empty() => last_words(&text),
                words => words,
            };
            return Err(ListError::Listing {
                how: describe(finished.ending),
                tail,
            });
        }
        let cut = regex_of_cut_titles();
        let mut ids = Vec::new();
        for title in titles {
            match cut.captures(&title) {
                Some(parts) if title.len() > 100 => {
                    let prefix = &parts[1];
                    if !ids
                        .iter()
                        .any(|id: &String| id.len() > 100 && id.starts_with(prefix))
                    {
                        ids.extend(self.full_ids(runner, scratch, prefix, timeout)?);
                    }
                }
                _ => ids.push(title),
            }
        }
        Ok(ids)
    }

    fn full_ids(
        &self,
        runner: &Runner,
        scratch: &Path,
        prefix: &str,
        timeout: Duration,
    ) -> Result<Vec<String>, ListError> {
        let briefly = Timing {
            warm_up_ms: 1,
            measure_ms: 1,
            samples: 10,
        };
        let launch = self.launch_filtered(&format!("^{}", regex::escape(prefix)), briefly, scratch, timeout);
        let started = SystemTime::now();
        let finished = runner.run(&launch)?;
        let found = read(scratch, started)?.into_iter().map(|found| found.id);
        let ids: Vec<String> = found
            .filter(|id| id.len() > 100 && id.starts_with(prefix))
            .collect();
        if ids.is_empty() {
            // Without this its benchmarks would vanish from the report.
            return Err(ListError::Listing {
                how: format!("`{prefix}...` tried once: {}", describe(finished.ending)),
                tail: last_words(&finished.tail),
            });
        }
        Ok(ids)
    }

    /// The process that measures these ids and nothing else, writing below `scratch`, which must be empty.
    #[must_use]
    pub fn launch_ids(&self, ids: &[&str], timing: Timing, scratch: &Path, timeout: Duration) -> Launch {
        let numbered = numbered_title();
        let mut patterns: Vec<String> = Vec::new();
        for id in ids {
            patterns.push(regex::escape(id));
            // The second benchmark of an id can only be reached through the id itself.
            patterns.extend(numbered.captures(id).map(|parts| regex::escape(&parts[1])));
        }
        patterns.sort();
        patterns.dedup();
        self.launch_filtered(&format!("^(?:{})$", patterns.join("|")), timing, scratch, timeout)
    }

    /// The process that runs one iteration of this id, measuring nothing.
    #[must_use]
    pub fn launch_once(&self, id: &str, scratch: &Path, timeout: Duration) -> Launch {
        let mut launch = self.launch(scratch);
        launch.timeout = Some(timeout);
        launch.args = vec![
            "--bench".into(),
            "--test".into(),
            format!("^{}$", regex::escape(id)).into(),
        ];
        launch
    }

    fn launch_filtered(&self, filter: &str, timing: Timing, scratch: &Path, timeout: Duration) -> Launch {
        let mut launch = self.launch(scratch);
        launch.timeout = Some(timeout);
        let seconds = |ms: u32| self.seconds_argument(ms);
        launch.args = [
            "--bench",
            "--noplot",
            "--warm-up-time",
            &seconds(timing.warm_up_ms),
            "--measurement-time",
            &seconds(timing.measure_ms),
            "--sample-size",
            &timing.samples.to_string(),
            // Criterion's own statistics are not used; the default of 100,000 costs more than the measurement.
            "--nresamples",
            "1000",
            filter,
        ]
        .iter()
        .map(OsString::from)
        .collect();
        launch
    }

    fn launch(&self, scratch: &Path) -> Launch {
        let mut env = self.env.clone();
        env.push(("CRITERION_HOME".into(), Some(scratch.into())));
        // Set by cargo-criterion: the bench would talk to it instead of writing files.
        env.push(("CARGO_CRITERION_PORT".into(), None));
        Launch {
            program: self.executable.clone().into_os_string(),
            args: Vec::new(),
            cwd: self.cwd.clone(),
            env,
            timeout: None,
            processor: None,
        }
    }

    /// Criterion 0.3 takes whole seconds only.
    fn seconds_argument(&self, ms: u32) -> String {
        let whole_seconds = self
            .version
            .as_deref()
            .is_some_and(|version| version.starts_with("0.3."));
        if whole_seconds {
            ms.div_ceil(1000).to_string()
        } else {
            format!("{}", f64::from(ms) / 1e3)
        }
    }
}

/// `exit status 101`, `signal 6 (aborted)` ...
#[must_use]
pub fn describe(ending: Ending) -> String {
    match ending {
        Ending::Exit(code) => format!("exit status {code}"),
        Ending::Signal(signal) => {
            let name =
                nix::sys::signal::Signal::try_from(signal).map_or("", nix::sys::signal::Signal::as_str);
            format!("killed by signal {signal} {name}").trim_end().to_owned()
        }
        Ending::TimedOut => "timed out".to_owned(),
        Ending::Interrupted => "interrupted".to_owned(),
    }
}

/// A title criterion cut off, possibly numbered.
fn regex_of_cut_titles() -> regex::Regex {
    #[expect(clippy::unwrap_used, reason = "a constant that a test compiles")]
    regex::Regex::new(r"(?s)^(.*)\.\.\.(?: #\d+)?$").unwrap()
}

/// An id that occurs more than once, as criterion numbers it.
fn numbered_title() -> regex::Regex {
    #[expect(clippy::unwrap_used, reason = "a constant that a test compiles")]
    regex::Regex::new(r"(?s)^(.*) #\d+$").unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Work;

    fn bench(version: &str) -> Bench {
        Bench {
            executable: "/x/bench".into(),
            cwd: "/x".into(),
            env: Vec::new(),
            version: Some(version.to_owned()),
        }
    }

    const TIMING: Timing = Timing {
        warm_up_ms: 20,
        measure_ms: 80,
        samples: 10,
    };

    fn write(home: &Path, folder: &str, benchmark: &str, sample: &str) {
        let folder = home.join(folder).join("new");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("benchmark.json"), benchmark).unwrap();
        std::fs::write(folder.join("sample.json"), sample).unwrap();
    }

    fn found(sample: &str) -> Result<Sample, String> {
        let home = tempfile::tempdir().unwrap();
        write(home.path(), "a", r#"{"full_id":"a","throughput":null}"#, sample);
        read(home.path(), SystemTime::now()).unwrap().remove(0).sample
    }

    #[test]
    fn ids_are_matched_whole_and_literally() {
        let launch = bench("0.8.2").launch_ids(
            &["a|b", "g/x (1)"],
            TIMING,
            Path::new("/s"),
            Duration::from_secs(1),
        );
        let filter = launch.args.last().unwrap().to_str().unwrap();
        let regex = regex::Regex::new(filter).unwrap();
        assert!(regex.is_match("a|b") && regex.is_match("g/x (1)"));
        assert!(!regex.is_match("a") && !regex.is_match("g/x (1)2"));
    }

    #[test]
    fn the_second_use_of_an_id_is_reached_through_the_id() {
        let launch = bench("0.8.2").launch_ids(&["a #2"], TIMING, Path::new("/s"), Duration::from_secs(1));
        let regex = regex::Regex::new(launch.args.last().unwrap().to_str().unwrap()).unwrap();
        assert!(regex.is_match("a") && regex.is_match("a #2"));
    }

    #[test]
    fn criterion_0_3_gets_whole_seconds() {
        assert_eq!(bench("0.3.6").seconds_argument(20), "1");
        assert_eq!(bench("0.4.0").seconds_argument(20), "0.02");
    }

    #[test]
    fn samples_are_read_raw() {
        let sample =
            found(r#"{"sampling_mode":"Linear","iters":[1.0,2.0,3.0],"times":[10.0,21.0,30.5]}"#).unwrap();
        assert_eq!(
            (sample.iters, sample.totals),
            (vec![1, 2, 3], vec![10.0, 21.0, 30.5])
        );
    }

    #[test]
    fn senseless_samples_are_refused_with_the_reason() {
        for (text, reason) in [
            (
                r#"{"iters":[1.0],"times":[10.0]}"#,
                "too few samples: 1 (at least 3 are needed)",
            ),
            (
                r#"{"iters":[1,1,1],"times":[1,0,1]}"#,
                "not measurable: a sample took zero time",
            ),
            (
                r#"{"iters":[1,1,1],"times":[1,null,1]}"#,
                "a sample is not a finite number",
            ),
            (
                r#"{"iters":[1,1],"times":[1,1,1]}"#,
                "2 iteration counts but 3 times",
            ),
            (
                r#"{"iters":[0,1,1],"times":[1,1,1]}"#,
                "a sample has 0 iterations",
            ),
        ] {
            assert_eq!(found(text), Err(reason.to_owned()));
        }
        for garbage in ["", "{", r#"{"iters":[1,1,1],"times":[NaN,1,1]}"#, "[]"] {
            assert!(
                found(garbage)
                    .unwrap_err()
                    .starts_with("sample.json is damaged: "),
                "{garbage}"
            );
        }
    }

    #[test]
    fn an_id_used_twice_makes_two_scenarios_and_folders_do_not_matter() {
        let home = tempfile::tempdir().unwrap();
        let sample = r#"{"iters":[1,1,1],"times":[1,1,1]}"#;
        let id = r#"{"full_id":"g/a","throughput":{"Bytes":64}}"#;
        write(home.path(), "g_a", id, sample);
        std::thread::sleep(Duration::from_millis(10));
        write(home.path(), "g_a_2", id, sample);
        std::fs::create_dir_all(home.path().join("report/base")).unwrap();
        let found = read(home.path(), SystemTime::now()).unwrap();
        let ids: Vec<_> = found.iter().map(|found| found.id.as_str()).collect();
        assert_eq!(ids, ["g/a", "g/a #2"]);
        let throughput = found[0].sample.as_ref().unwrap().throughput;
        assert_eq!(
            throughput,
            Some(Throughput {
                per: Work::Bytes,
                amount: 64.0
            })
        );
    }

    #[test]
    fn all_patterns_compile() {
        assert!(regex_of_cut_titles().is_match("abc... #2"));
        assert!(numbered_title().is_match("abc #2"));
    }
}
