//! The waist: everything observed in one run, in the order it happened, in one versioned file.
//!
//! A recording holds facts about the run and nothing else. Conclusions (which row regressed, what the noise floor
//! is) are made from it by `comparison`, `verdict` and `judge`, here or years later elsewhere.
//!
//! The file is JSON lines: one [`Event`] a line, appended as it happens, so a killed run loses at most the slot that
//! was running. [`Recording::read`] accepts a last line that was cut off. docs/formats.md describes every key.

mod host;
mod iterations;
mod layouts;
mod measured;
mod merge;
mod preparation;
mod read;
mod told;

pub use host::Host;
pub use iterations::Iterations;
pub use layouts::{Counted, Linked, Relaid, RelaidOutcome};
pub use measured::{
    Contention, Incident, IncidentKind, Observation, Phase, SlotRecord, Throughput, Timing, Work,
};
pub use read::RecordingError;
pub use told::{Events, Told};

use crate::plan::Plan;
use crate::revision::Side;
use crate::scenario::{Scenario, Target};
use serde::{Deserialize, Serialize};

/// Name and version of the format this build writes.
pub const SCHEMA: &str = "abreast/recording/1";

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// First line: what was asked for.
    Header(Box<Header>),
    /// The machine.
    Host(Host),
    /// One side's build.
    Build(Build),
    /// Something other than the code under test that differs between the sides.
    Difference(Difference),
    /// The bench sources of one target differ.
    BenchChange(BenchChange),
    /// Rust sources that differ.
    ChangedSources(ChangedSources),
    /// A scenario that exists on at least one side.
    Scenario(Entry),
    /// What criterion is asked to spend on one scenario in one slot.
    Timing(Timing),
    /// One process and what it measured.
    Slot(SlotRecord),
    /// An executable in another order.
    Relaid(Relaid),
    /// Instructions of one scenario on one side.
    Counted(Counted),
    /// What a program told in one launch besides times and rates.
    Told(Told),
    /// Something that went wrong.
    Incident(Incident),
    /// Something a reader should know that is neither a difference nor an incident.
    Note {
        /// One sentence.
        text: String,
    },
    /// The run (or a resumed part of it) came to an end by itself.
    End(End),
}

/// First event of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Always [`SCHEMA`] when written by this build.
    pub schema: String,
    /// Version of the tool that wrote it.
    pub tool: String,
    /// Name of the run's folder, where its executables are.
    pub run: String,
    /// Start of the run, RFC 3339, UTC.
    pub started_at: String,
    /// What was asked for.
    pub plan: Plan,
}

/// What cargo made of one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Build {
    /// Side it belongs to.
    pub side: Side,
    /// Object id that was checked out.
    pub sha: String,
    /// Seconds to lay out the tree.
    pub checkout_s: f64,
    /// Seconds cargo ran, and the build commands of programs.
    pub build_s: f64,
    /// `rustc -vV` in this side's tree.
    pub toolchain: Option<String>,
    /// Executables of criterion bench targets, and of programs.
    pub executables: Vec<Executable>,
    /// Bench targets that were not run, and why.
    pub skipped: Vec<Skipped>,
    /// Present if cargo failed: the last lines of its errors. Executables it made nevertheless are listed.
    pub failure: Option<String>,
}

/// An executable of a bench or a program, copied out of where it was built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Executable {
    /// Target it was built from.
    #[serde(flatten)]
    pub target: Target,
    /// Path relative to the run's folder.
    pub path: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// SHA-256 of what is loaded to run it (code and data, not build id, symbols or debug tables).
    pub loaded_sha256: String,
    /// Version of the criterion crate this package resolved to; absent for a program.
    pub criterion: Option<String>,
    /// Package folder, or a program's, relative to the tree: the working directory of its processes.
    pub package_dir: String,
}

/// A bench target that cannot be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Which.
    #[serde(flatten)]
    pub target: Target,
    /// `libtest harness`, `needs feature simd`, ...
    pub reason: String,
}

/// Something that differs between the sides besides the code under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// `lock`, `criterion`, `toolchain`, `profile`, `flags`, `build script` or `bench data`.
    pub kind: String,
    /// What it is about: a package, a target, a file.
    pub subject: String,
    /// Base's value; absent if base has none.
    pub base: Option<String>,
    /// Head's value; absent if head has none.
    pub head: Option<String>,
}

/// How the bench sources of one target differ: the pieces (items, statements) that are not the same on both sides.
/// Comments, white space and purely added or removed items do not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BenchChange {
    /// Which target.
    #[serde(flatten)]
    pub target: Target,
    /// Every piece that differs.
    pub pieces: Vec<ChangedPiece>,
}

/// A changed item or statement of a bench source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedPiece {
    /// File relative to the tree.
    pub file: String,
    /// First line, on head where it exists there, else on base.
    pub line: u32,
    /// String literals in it, which name the benchmarks it registers.
    pub literals: Vec<String>,
    /// Whether it is a file that benches may read as they run, instead of a part of their source.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub run_file: bool,
}

/// Files that differ between the sides: Rust sources by whether any measured executable was compiled from them, others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedSources {
    /// Part of an executable on some side; paths relative to the tree.
    pub compiled: Vec<String>,
    /// Part of none.
    pub elsewhere: Vec<String>,
    /// Files of other kinds that differ, are no run files and no documents: benches that read one measure something else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

/// One scenario of this run; slots refer to it by [`Entry::ix`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Position in the run's list of scenarios, from 0.
    pub ix: u32,
    /// The key.
    #[serde(flatten)]
    pub scenario: Scenario,
    /// Sides whose executable lists it.
    pub sides: Vec<Side>,
    /// Whether this run was to measure it (false: another shard does).
    pub assigned: bool,
}

/// Regular end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Seconds from start (or resumption) to end.
    pub total_s: f64,
    /// Why measuring stopped.
    pub reason: EndReason,
}

/// Why measuring stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// Every scenario is decided, or had the rounds that were asked for.
    Decided,
    /// The budget is spent.
    Budget,
    /// The user stopped it.
    Interrupted,
}

/// A whole run in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// First line.
    pub header: Header,
    /// The machine.
    pub host: Host,
    /// One or two builds, base first.
    pub builds: Vec<Build>,
    /// What else differs.
    pub differences: Vec<Difference>,
    /// Changed bench sources.
    pub bench_changes: Vec<BenchChange>,
    /// Changed Rust sources.
    pub changed_sources: ChangedSources,
    /// All scenarios; position equals [`Entry::ix`].
    pub scenarios: Vec<Entry>,
    /// Time given to one scenario in one slot; absent until measuring begins.
    pub timing: Option<Timing>,
    /// All slots in the order they ran.
    pub slots: Vec<SlotRecord>,
    /// Executables in other orders.
    pub relaid: Vec<Relaid>,
    /// Counted instructions.
    pub counted: Vec<Counted>,
    /// What programs told, launch by launch.
    pub told: Vec<Told>,
    /// All incidents in the order they happened.
    pub incidents: Vec<Incident>,
    /// All notes.
    pub notes: Vec<String>,
    /// How each of the joined recordings ended; a run that was resumed counts once, with all its seconds.
    pub ends: Vec<End>,
    /// Number of joined recordings: above the number of ends if one was killed.
    pub parts: usize,
    /// Whether the last line of the file was cut off.
    pub truncated: bool,
}

impl Recording {
    /// An empty recording of a run that starts now.
    #[must_use]
    pub fn new(header: Header) -> Self {
        Self {
            header,
            host: Host::default(),
            builds: Vec::new(),
            differences: Vec::new(),
            bench_changes: Vec::new(),
            changed_sources: ChangedSources::default(),
            scenarios: Vec::new(),
            timing: None,
            slots: Vec::new(),
            relaid: Vec::new(),
            counted: Vec::new(),
            told: Vec::new(),
            incidents: Vec::new(),
            notes: Vec::new(),
            ends: Vec::new(),
            parts: 1,
            truncated: false,
        }
    }

    /// Takes up one more event. A second header is ignored: a resumed run repeats nothing.
    pub fn push(&mut self, event: Event) {
        match event {
            Event::Header(_) => {}
            Event::Host(host) => self.host = host,
            Event::Build(build) => self.builds.push(build),
            Event::Difference(difference) => self.differences.push(difference),
            Event::BenchChange(change) => self.bench_changes.push(change),
            Event::ChangedSources(changed) => self.changed_sources = changed,
            Event::Scenario(entry) => self.scenarios.push(entry),
            Event::Timing(timing) => self.timing = Some(timing),
            Event::Slot(slot) => self.slots.push(slot),
            Event::Relaid(relaid) => self.relaid.push(relaid),
            Event::Counted(counted) => self.counted.push(counted),
            Event::Told(told) => self.told.push(told),
            Event::Incident(incident) => self.incidents.push(incident),
            Event::Note { text } => self.notes.push(text),
            Event::End(end) => {
                let before_s: f64 = self.ends.drain(..).map(|end| end.total_s).sum();
                self.ends.push(End {
                    total_s: before_s + end.total_s,
                    ..end
                });
            }
        }
    }

    /// Whether the user stopped the run, or one of the joined ones, and did not go on with it.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        self.ends.iter().any(|end| end.reason == EndReason::Interrupted)
    }

    /// Whether the run, or one of the joined ones, did not end by itself and did not go on.
    #[must_use]
    pub fn killed(&self) -> bool {
        self.ends.len() < self.parts
    }

    /// The build of one side, if there was one.
    #[must_use]
    pub fn build(&self, side: Side) -> Option<&Build> {
        self.builds.iter().find(|build| build.side == side)
    }

    /// One side's executable of a target, if it was built.
    #[must_use]
    pub fn executable(&self, side: Side, target: &Target) -> Option<&Executable> {
        self.build(side)?
            .executables
            .iter()
            .find(|executable| &executable.target == target)
    }

    /// Whether both sides run the same thing for this target: they load the same code and data, and no file that it may
    /// read as it runs differs.
    #[must_use]
    pub fn identical(&self, target: &Target) -> bool {
        match (
            self.executable(Side::Base, target),
            self.executable(Side::Head, target),
        ) {
            (Some(base), Some(head)) => {
                base.loaded_sha256 == head.loaded_sha256 && !self.run_files_differ(target)
            }
            _ => false,
        }
    }

    fn run_files_differ(&self, target: &Target) -> bool {
        let own = self
            .bench_changes
            .iter()
            .filter(|change| &change.target == target);
        own.flat_map(|change| &change.pieces).any(|piece| piece.run_file)
    }

    /// Seconds spent on measuring: in measured processes, and waiting for a quiet moment to start them.
    #[must_use]
    pub fn measured_s(&self) -> f64 {
        self.slots
            .iter()
            .map(|slot| slot.wall_s + slot.waited_s.unwrap_or(0.0))
            .sum()
    }

    /// First unused round of a phase, even so that pairs of rounds stay together.
    #[must_use]
    pub fn next_round(&self, phase: Phase) -> u32 {
        let used = self
            .slots
            .iter()
            .filter(|slot| slot.phase == phase)
            .map(|slot| slot.round + 1)
            .max();
        used.unwrap_or(0).next_multiple_of(2)
    }
}
