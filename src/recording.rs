//! The waist: everything observed in one run, in the order it happened, in one versioned file.
//!
//! A recording holds facts about the run and nothing else. Conclusions (which row regressed, what the noise floor
//! is) are made from it by `comparison`, `verdict` and `judge`, here or years later elsewhere.
//!
//! The file is JSON lines: one [`Event`] a line, appended as it happens, so a killed run loses at most the slot that
//! was running. [`Recording::read`] accepts a last line that was cut off. docs/formats.md describes every key.

use crate::plan::Plan;
use crate::revision::Side;
use crate::scenario::{Scenario, Target};
use serde::{Deserialize, Serialize};
use std::io::BufRead;

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

/// The machine a recording was made on. Absent facts could not be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Processor model.
    pub cpu: Option<String>,
    /// Processors this process may run on.
    pub cores: Option<u32>,
    /// Main memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Operating system and release.
    pub os: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Architecture as Rust names it: `x86_64`, `aarch64`.
    pub arch: Option<String>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// GPUs, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<String>,
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
    /// Seconds cargo ran.
    pub build_s: f64,
    /// `rustc -vV` in this side's tree.
    pub toolchain: Option<String>,
    /// Executables of criterion bench targets.
    pub executables: Vec<Executable>,
    /// Bench targets that were not run, and why.
    pub skipped: Vec<Skipped>,
    /// Present if cargo failed: the last lines of its errors. Executables it made nevertheless are listed.
    pub failure: Option<String>,
}

/// A bench executable, copied out of the target directory.
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
    /// Version of the criterion crate this package resolved to.
    pub criterion: Option<String>,
    /// Package folder relative to the tree: the working directory of its processes.
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
    /// `lock`, `criterion`, `toolchain`, `profile`, `flags`, `build script`, `bench source`, `bench data`, `features`.
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
}

/// Rust sources that differ between the sides, by whether any measured executable was compiled from them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedSources {
    /// Part of an executable on some side; paths relative to the tree.
    pub compiled: Vec<String>,
    /// Part of none.
    pub elsewhere: Vec<String>,
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

/// What a slot is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Fills caches and shows what each scenario costs; never judged.
    Warmup,
    /// The comparison.
    Measure,
    /// Fresh processes for rows that were about to be flagged.
    Confirm,
}

/// One process of one side: when it ran, what it met, what it measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlotRecord {
    /// Purpose.
    pub phase: Phase,
    /// Round within the phase, from 0. Rounds `2k` and `2k + 1` form a pair with opposite orders of the sides.
    pub round: u32,
    /// Side.
    pub side: Side,
    /// Whether this side ran first in its round.
    pub first: bool,
    /// Executable.
    #[serde(flatten)]
    pub target: Target,
    /// Seconds from the start of the run (or of its resumed part) to the start of the process.
    pub at_s: f64,
    /// Seconds the process ran.
    pub wall_s: f64,
    /// What else happened on the machine meanwhile.
    pub contention: Contention,
    /// What was measured, in the order the bench ran it.
    pub observations: Vec<Observation>,
}

/// Raw values of one scenario in one slot, in the order they were measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// [`Entry::ix`].
    pub scenario: u32,
    /// Iterations of each sample, each at least 1.
    pub iters: Vec<u64>,
    /// Total of each sample in the metric's unit; same length as `iters`; finite.
    #[serde(serialize_with = "integral_where_possible")]
    pub totals: Vec<f64>,
    /// Throughput the bench declared for one iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Throughput>,
    /// Seconds from the previous scenario's end (or the process start) to this one's end: what it really costs.
    pub cost_s: f64,
}

/// Work done by one iteration, as declared by the bench.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Throughput {
    /// What is counted.
    pub per: Work,
    /// How many of them one iteration handles; above zero.
    pub amount: f64,
}

/// What a declared throughput counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// Bytes (decimal or binary: the count is the same).
    Bytes,
    /// Bits.
    Bits,
    /// Elements.
    Elements,
}

/// What criterion is asked to spend on one scenario in one slot. A bench may insist on more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Warm-up, in milliseconds.
    pub warm_up_ms: u32,
    /// Measurement, in milliseconds.
    pub measure_ms: u32,
    /// Samples; criterion takes at least 10.
    pub samples: u32,
}

/// Evidence of other load while a slot ran. Absent facts could not be read on this system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Contention {
    /// Time the process' main thread was ready to run but had no processor, in milliseconds.
    pub run_queue_ms: Option<f64>,
    /// Times a thread of the process was taken off its processor.
    pub involuntary_switches: Option<u64>,
    /// Processor time of the process, user, in seconds.
    pub user_s: Option<f64>,
    /// Processor time of the process, system, in seconds.
    pub system_s: Option<f64>,
    /// Time the hypervisor ran somebody else, all processors, in milliseconds.
    pub steal_ms: Option<f64>,
    /// Time in which some task on the machine waited for a processor, in milliseconds.
    pub pressure_ms: Option<f64>,
    /// Load average over one minute at the end of the slot.
    pub load1: Option<f64>,
}

/// Something that went wrong and what it hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// Phase it happened in; absent before measuring.
    pub phase: Option<Phase>,
    /// Round it happened in; absent before measuring.
    pub round: Option<u32>,
    /// Side it happened on; absent if it concerns both.
    pub side: Option<Side>,
    /// Executable it happened in.
    #[serde(flatten)]
    pub target: Target,
    /// Scenario it is blamed on; absent if it is the whole executable.
    pub scenario: Option<u32>,
    /// What happened.
    pub what: IncidentKind,
    /// A sentence with what was found, last lines of output included.
    pub detail: String,
}

/// Kinds of incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IncidentKind {
    /// Killed after its time was up.
    Timeout,
    /// Ended with a non-zero status or by a signal.
    Crash,
    /// Ended well but wrote no measurement.
    NoMeasurement,
    /// Wrote something that is no measurement: cut off, not finite, zero time, too few samples.
    BadMeasurement,
    /// The budget did not suffice.
    NotReached,
    /// The executable could not be started or its benchmarks could not be listed.
    Unusable,
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
    /// All incidents in the order they happened.
    pub incidents: Vec<Incident>,
    /// All notes.
    pub notes: Vec<String>,
    /// One for each part of the run that came to an end by itself.
    pub ends: Vec<End>,
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
            incidents: Vec::new(),
            notes: Vec::new(),
            ends: Vec::new(),
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
            Event::Incident(incident) => self.incidents.push(incident),
            Event::Note { text } => self.notes.push(text),
            Event::End(end) => self.ends.push(end),
        }
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

    /// Whether both sides load the same code and data for this target.
    #[must_use]
    pub fn identical(&self, target: &Target) -> bool {
        match (
            self.executable(Side::Base, target),
            self.executable(Side::Head, target),
        ) {
            (Some(base), Some(head)) => base.loaded_sha256 == head.loaded_sha256,
            _ => false,
        }
    }

    /// Whether a run with this plan may go on where this recording stops: it is unfinished, both sides are built, and
    /// it measures the same executables. Budget and limits may differ; those of the recording hold.
    #[must_use]
    pub fn can_go_on_as(&self, plan: &Plan) -> bool {
        let own = &self.header.plan;
        let finished = self
            .ends
            .last()
            .is_some_and(|end| end.reason != EndReason::Interrupted);
        !finished
            && self.builds.len() == 2
            && (&own.base.sha, &own.head.sha, &own.selection)
                == (&plan.base.sha, &plan.head.sha, &plan.selection)
    }

    /// Seconds spent in measured processes.
    #[must_use]
    pub fn measured_s(&self) -> f64 {
        self.slots.iter().map(|slot| slot.wall_s).sum()
    }
}

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
            match serde_json::from_slice::<Event>(&text) {
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
        match event {
            Event::Scenario(entry) if entry.ix as usize != self.scenarios.len() => Err(format!(
                "scenario {} follows scenario {}",
                entry.ix,
                self.scenarios.len()
            )),
            Event::Slot(slot) => slot.observations.iter().try_for_each(|observation| {
                known(observation.scenario)?;
                observation.check()
            }),
            Event::Incident(Incident {
                scenario: Some(scenario),
                ..
            }) => known(*scenario),
            _ => Ok(()),
        }
    }

    /// Joins recordings of one comparison: shards of it, or repetitions. Rounds of the later ones are renumbered to
    /// follow those of the earlier ones, so a pair of slots never spans two recordings.
    ///
    /// # Errors
    /// [`RecordingError::Mixed`] if they compare other commits or were selected or compiled differently;
    /// [`RecordingError::Empty`] for none.
    pub fn merge(recordings: Vec<Self>) -> Result<Self, RecordingError> {
        let mut recordings = recordings.into_iter();
        let mut all = recordings.next().ok_or(RecordingError::Empty)?;
        for next in recordings {
            all.absorb(next)?;
        }
        Ok(all)
    }

    fn absorb(&mut self, other: Self) -> Result<(), RecordingError> {
        self.check_same_comparison(&other)?;
        let mut ix_here = Vec::with_capacity(other.scenarios.len());
        for entry in other.scenarios {
            ix_here.push(self.adopt(entry));
        }
        let offsets = [Phase::Warmup, Phase::Measure, Phase::Confirm].map(|phase| self.next_round(phase));
        let offset = |phase: Phase| offsets[phase as usize];
        self.slots.extend(other.slots.into_iter().map(|mut slot| {
            slot.round += offset(slot.phase);
            for observation in &mut slot.observations {
                observation.scenario = ix_here[observation.scenario as usize];
            }
            slot
        }));
        self.incidents
            .extend(other.incidents.into_iter().map(|mut incident| {
                incident.scenario = incident.scenario.map(|scenario| ix_here[scenario as usize]);
                incident.round = incident
                    .round
                    .zip(incident.phase)
                    .map(|(round, phase)| round + offset(phase));
                incident
            }));
        for note in other.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        if other.host != self.host {
            self.notes.push(format!(
                "part of the scenarios was measured on another machine: {}",
                other.host.cpu.as_deref().unwrap_or("unknown processor")
            ));
        }
        self.ends.extend(other.ends);
        self.truncated |= other.truncated;
        Ok(())
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

    fn adopt(&mut self, entry: Entry) -> u32 {
        if let Some(known) = self
            .scenarios
            .iter_mut()
            .find(|known| known.scenario == entry.scenario)
        {
            known.assigned |= entry.assigned;
            return known.ix;
        }
        let ix = u32::try_from(self.scenarios.len()).unwrap_or(u32::MAX);
        self.scenarios.push(Entry { ix, ..entry });
        ix
    }

    fn check_same_comparison(&self, other: &Self) -> Result<(), RecordingError> {
        let (here, there) = (&self.header.plan, &other.header.plan);
        let commits = |plan: &Plan| format!("{} against {}", plan.base.short(), plan.head.short());
        if (&here.base.sha, &here.head.sha) != (&there.base.sha, &there.head.sha) {
            return Err(RecordingError::Mixed(format!(
                "one compares {}, another {}",
                commits(here),
                commits(there)
            )));
        }
        if here.selection != there.selection {
            return Err(RecordingError::Mixed(
                "they select or compile benches differently".to_owned(),
            ));
        }
        for side in Side::BOTH {
            for executable in self.build(side).into_iter().flat_map(|build| &build.executables) {
                let twin = other.executable(side, &executable.target);
                if twin.is_some_and(|twin| twin.loaded_sha256 != executable.loaded_sha256) {
                    return Err(RecordingError::Mixed(format!(
                        "their {side} executables of `{}` differ, so they were not built alike",
                        executable.target.target
                    )));
                }
            }
        }
        Ok(())
    }
}

impl Observation {
    /// Values per iteration, in measured order. Never empty, all finite and above zero for an observation that was
    /// read from a file or made by `edge::criterion`.
    pub fn per_iteration(&self) -> impl Iterator<Item = f64> + '_ {
        #[expect(clippy::cast_precision_loss, reason = "iteration counts stay far below 2^53")]
        self.iters
            .iter()
            .zip(&self.totals)
            .map(|(iters, total)| total / *iters as f64)
    }

    fn check(&self) -> Result<(), String> {
        let sound = self.iters.len() == self.totals.len()
            && !self.iters.is_empty()
            && self.iters.iter().all(|iters| *iters > 0)
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
        Ok(Event::Header(header)) => Ok(*header),
        Ok(_) => Err(RecordingError::Foreign),
        Err(source) => Err(RecordingError::Line { line: 1, source }),
    }
}

/// Criterion's totals are whole nanoseconds; `1234` instead of `1234.0` keeps the file small and quick to read.
fn integral_where_possible<S: serde::Serializer>(totals: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Number {
        Whole(u64),
        Real(f64),
    }
    serializer.collect_seq(totals.iter().map(|total| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, in 0..2^53"
        )]
        if total.trunc().to_bits() == total.to_bits() && (0.0..EXACT).contains(total) {
            Number::Whole(*total as u64)
        } else {
            Number::Real(*total)
        }
    }))
}
