//! Reading a recording: line by line, each event checked against those before it.

use super::{Event, Header, Observation, Recording, SCHEMA};
use crate::inside::{is_inside, is_name};
use serde::Deserialize;
use std::io::BufRead;
use std::path::Path;

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file holds no complete line.
    #[error("the recording is empty: nothing was written before the run ended")]
    Empty,
    /// The first line is no header of ours.
    #[error("this is not a recording: its first line has no \"schema\":\"abreast/recording/1\"")]
    Foreign,
    /// Another version of the format.
    #[error(
        "the recording has format `{found}`; this abreast reads `{SCHEMA}`: use the abreast that wrote it, or record again"
    )]
    Version {
        /// Schema named in the file.
        found: String,
    },
    /// A complete line is not a valid event.
    #[error("line {line} of the recording is damaged: {source}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// Scenarios, slots or values contradict each other.
    #[error("line {line} of the recording contradicts the lines before it: {what}")]
    Inconsistent {
        /// Counted from 1.
        line: usize,
        /// What does not fit.
        what: String,
    },
    /// Recordings of different comparisons cannot be judged together.
    #[error("the recordings do not belong together: {0}")]
    Mixed(String),
    /// Reading failed.
    #[error("reading the recording failed: {0}")]
    Io(#[from] std::io::Error),
}

impl Recording {
    /// Reads a recording. A last line without its line feed that does not parse is dropped and
    /// [`Recording::truncated`] set.
    ///
    /// # Errors
    /// See [`RecordingError`]; nothing panics on any input.
    pub fn read(mut reader: impl BufRead) -> Result<Self, RecordingError> {
        let mut text = Vec::new();
        if reader.read_until(b'\n', &mut text)? == 0 {
            return Err(RecordingError::Empty);
        }
        let mut recording = Self::new(read_header(&text)?);
        for line in 2.. {
            text.clear();
            if reader.read_until(b'\n', &mut text)? == 0 {
                break;
            }
            match event(&text) {
                Ok(event) => {
                    recording
                        .check(&event)
                        .map_err(|what| RecordingError::Inconsistent { line, what })?;
                    recording.push(event);
                }
                Err(_) if text.last() != Some(&b'\n') => recording.truncated = true,
                Err(_) if text.iter().all(u8::is_ascii_whitespace) => {}
                Err(source) => return Err(RecordingError::Line { line, source }),
            }
        }
        Ok(recording)
    }

    /// What makes an event impossible after the events so far, in words.
    fn check(&self, event: &Event) -> Result<(), String> {
        let known = |scenario: u32| {
            if (scenario as usize) < self.scenarios.len() {
                Ok(())
            } else {
                Err(format!("scenario {scenario} is not declared"))
            }
        };
        let in_any_run = |round: u32| {
            if round <= LAST_ROUND {
                Ok(())
            } else {
                Err(format!("round {round} is beyond any run"))
            }
        };
        match event {
            Event::Build(build) => build.executables.iter().try_for_each(|executable| {
                let folder = Path::new(&executable.package_dir);
                let is_root = folder.as_os_str().is_empty() || folder == Path::new(".");
                let in_tree = is_root || is_inside(folder);
                if in_tree && is_inside(Path::new(&executable.path)) {
                    Ok(())
                } else {
                    Err(format!("`{}` leads out of the run", executable.path))
                }
            }),
            Event::Scenario(entry) if entry.ix as usize != self.scenarios.len() => Err(format!(
                "scenario {} follows scenario {}",
                entry.ix,
                self.scenarios.len()
            )),
            Event::Slot(slot) => {
                in_any_run(slot.round)?;
                slot.observations.iter().try_for_each(|observation| {
                    known(observation.scenario)?;
                    observation.check()
                })
            }
            Event::Relaid(relaid) => match relaid.linked() {
                Some(linked) if !is_inside(Path::new(&linked.path)) => {
                    Err(format!("`{}` leads out of the run", linked.path))
                }
                _ => Ok(()),
            },
            Event::Counted(counted) if counted.instructions.len() > MOST_COUNTS => Err(format!(
                "{} counts of one scenario on one side",
                counted.instructions.len()
            )),
            Event::Counted(counted) => known(counted.scenario),
            Event::Told(told) => {
                in_any_run(told.round)?;
                told.counts.iter().try_for_each(|events| known(events.scenario))
            }
            Event::Incident(incident) => {
                in_any_run(incident.round.unwrap_or(0))?;
                incident.scenario.map_or(Ok(()), known)
            }
            _ => Ok(()),
        }
    }
}

/// No scenario is counted so often. Chosen.
const MOST_COUNTS: usize = 16;

/// No run has so many rounds; rounds of joined recordings are added up and must not overflow. Chosen.
const LAST_ROUND: u32 = 1 << 24;

/// Nearly every line is a slot. Serde reads a tagged enum by way of a tree of values, which takes several times as long
/// as reading the struct itself; so a slot, whose tag this tool writes first, is read directly.
fn event(line: &[u8]) -> Result<Event, serde_json::Error> {
    // Checked once as a whole, text needs no check word by word. What is not UTF-8 is left to the parser to refuse.
    let Ok(text) = std::str::from_utf8(line) else {
        return serde_json::from_slice(line);
    };
    if text.starts_with(r#"{"event":"slot","#) {
        return serde_json::from_str(text).map(Event::Slot);
    }
    serde_json::from_str(text)
}

impl Observation {
    fn check(&self) -> Result<(), String> {
        let sound = self.iters.len() == self.totals.len()
            && !self.iters.is_empty()
            && self.iters.iter().all(|iters| iters > 0)
            && self.totals.iter().all(|total| total.is_finite() && *total > 0.0);
        if sound {
            Ok(())
        } else {
            Err(format!(
                "the values of scenario {} are no measurement",
                self.scenario
            ))
        }
    }
}

fn read_header(line: &[u8]) -> Result<Header, RecordingError> {
    #[derive(Deserialize)]
    struct Probe {
        schema: String,
    }
    let probe: Probe = serde_json::from_slice(line).map_err(|_| RecordingError::Foreign)?;
    if !probe.schema.starts_with("abreast/recording/") {
        return Err(RecordingError::Foreign);
    }
    if probe.schema != SCHEMA {
        return Err(RecordingError::Version { found: probe.schema });
    }
    match serde_json::from_slice(line) {
        Ok(Event::Header(header)) if !is_name(&header.run) => Err(RecordingError::Inconsistent {
            line: 1,
            what: "the name of its run is no plain name".to_owned(),
        }),
        Ok(Event::Header(header)) => Ok(*header),
        Ok(_) => Err(RecordingError::Foreign),
        Err(source) => Err(RecordingError::Line { line: 1, source }),
    }
}
