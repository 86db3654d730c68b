//! Programs in the laboratory: one launch tells everything that is measured of one.

use super::{Attended, Laboratory, Listing, end_of, lab_error, timeout};
use crate::edge::criterion;
use crate::edge::format::{self, Written};
use crate::edge::home::RunFolder;
use crate::edge::process::{self, Ending, Finished, Launch, MOST_OUTPUT, ProcessError};
use crate::edge::store;
use crate::inside::is_inside;
use crate::last_words::with_last_words;
use crate::launch;
use crate::measure::LabError;
use crate::metric::Metric;
use crate::profile::{Format, Profile, Reading};
use crate::program::{OUTPUT, Program};
use crate::recording::{Entry, Incident, IncidentKind, Recording};
use crate::revision::Side;
use crate::scenario::{Scenario, Target};
use crate::slot::{Outcome, Slot, SlotEnd};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Tells a program which format it is read in, so that one that knows several writes the right one.
const FORMAT: &str = "ABREAST_FORMAT";

/// Most of standard output that is looked through for the last words of a program that says nothing elsewhere.
const TAIL_BYTES: usize = 16 * 1024;

/// Launches that may fail before nothing is known of what a program measures: as often as one that measures may.
const ATTEMPTS: usize = 2;

/// A program that can be launched on one side.
#[derive(Debug, Clone)]
pub(super) struct Ready {
    program: Program,
    launch: Launch,
    /// Seconds one launch may take.
    limit_s: f64,
}

/// Every program of a recording, on each side on which its build did not fail.
pub(super) fn ready(recording: &Recording, run: &RunFolder, tree: &Path) -> BTreeMap<(Side, Target), Ready> {
    let plan = &recording.header.plan;
    let mut all = BTreeMap::new();
    for side in Side::BOTH {
        for program in &plan.selection.programs {
            let target = Target::program(&program.name);
            if recording.unusable(side, &target).is_some() {
                continue;
            }
            let cwd = tree.join(&plan.selection.folder).join(&program.folder);
            let mut words: Vec<OsString> = program.run.iter().map(OsString::from).collect();
            if let Some(at) = program.built() {
                let kept = recording.executable(side, &target);
                let path = kept.map_or_else(|| cwd.join(&words[at]), |kept| run.path(&kept.path));
                words[at] = path.into_os_string();
            }
            let mut words = words.into_iter();
            let format = (FORMAT.into(), Some(program.format.name().into()));
            let own = program.env.iter();
            let own = own.map(|(name, value)| (name.into(), Some(value.into())));
            let launch = Launch {
                program: words.next().unwrap_or_default(),
                args: words.collect(),
                env: [format].into_iter().chain(own).collect(),
                cwd,
                ..Launch::default()
            };
            let limit_s = plan.limit_s(&target);
            let program = program.clone();
            all.insert(
                (side, target),
                Ready {
                    program,
                    launch,
                    limit_s,
                },
            );
        }
    }
    all
}

/// One launch of a program, and where it writes.
struct Started {
    launch: Launch,
    /// The file that it writes, if it does not write to its standard output.
    output: Option<PathBuf>,
}

impl Ready {
    /// A launch that writes into an empty folder, if it writes a file at all.
    fn start(&self, scratch: &Path, limit_s: f64) -> Started {
        let mut launch = Launch {
            timeout: Some(timeout(limit_s)),
            ..self.launch.clone()
        };
        let start = scratch.join("output");
        let output = self.program.output_ending().map(|ending| {
            let place = start.to_string_lossy();
            for word in launch.args.iter_mut().chain([&mut launch.program]) {
                *word = word.to_string_lossy().replace(OUTPUT, &place).into();
            }
            PathBuf::from(format!("{place}{ending}"))
        });
        Started { launch, output }
    }

    /// What a launch told that ended well, or why nothing of it can be used.
    fn read(&self, started: &Started, finished: &Finished, printed: &[u8]) -> Result<Profile, String> {
        if self.program.format == Format::Wall {
            return self.program.choose(wall(finished));
        }
        let written: &[u8] = match &started.output {
            None if printed.len() > MOST_OUTPUT => {
                return Err(format!("it wrote more than {} MiB", MOST_OUTPUT >> 20));
            }
            None => printed,
            Some(path) => &store::read_plain(path, MOST_OUTPUT as u64).map_err(|error| error.to_string())?,
        };
        if written.trim_ascii().is_empty() {
            let place = started
                .output
                .as_ref()
                .map_or("to its standard output", |_| "into `{output}`");
            return Err(with_last_words(
                &format!("it wrote nothing {place}"),
                &tail(finished, printed),
            ));
        }
        // Files that belong to the first one are named from where it is, or from where the program ran.
        let folder = started
            .output
            .as_deref()
            .and_then(Path::parent)
            .unwrap_or(&self.launch.cwd);
        let beside = |name: &str| {
            let path = Path::new(name);
            let path = path.strip_prefix(folder).unwrap_or(path);
            is_inside(path).then(|| store::read_plain(&folder.join(path), MOST_OUTPUT as u64).ok())?
        };
        let written = Written {
            bytes: written,
            beside: &beside,
        };
        let profile = format::read(self.program.format, written).map_err(|error| error.to_string())?;
        self.program.choose(profile)
    }
}

/// What the process itself took. A time below the step of the clock that tells it is one step.
fn wall(finished: &Finished) -> Profile {
    const STEP_NS: f64 = 1e3;
    let usage = &finished.usage;
    let times = [
        ("time", Some(finished.wall_s)),
        ("user", usage.user_s),
        ("system", usage.system_s),
    ];
    let times = times.into_iter().filter_map(|(id, seconds)| {
        let ns = (seconds? * 1e9).round().max(STEP_NS);
        Some((id, Metric::time(), ns))
    });
    #[expect(clippy::cast_precision_loss, reason = "less than 2^53 bytes")]
    let memory = usage
        .memory_bytes
        .map(|bytes| ("memory", Metric::memory(), bytes as f64));
    let readings = times.chain(memory).map(|(id, metric, value)| Reading {
        id: id.to_owned(),
        metric,
        values: vec![value],
    });
    Profile {
        readings: readings.collect(),
        ..Profile::default()
    }
}

impl Laboratory<'_> {
    /// Launches each program on each side: what it tells are its scenarios, as far as they are chosen.
    pub(super) fn list_programs(
        &mut self,
        listing: &mut Listing,
        chosen: impl Fn(&str) -> bool,
    ) -> Result<(), LabError> {
        for ((side, target), ready) in self.programs.clone() {
            self.activate(side)?;
            let mut told = Err(String::new());
            for _ in 0..ATTEMPTS {
                if process::interrupted() {
                    return Ok(());
                }
                let (ending, heard) = self.hear(&ready)?;
                told = heard;
                // A program that hangs is not asked to hang again.
                if told.is_ok() || ending == Some(Ending::TimedOut) {
                    break;
                }
            }
            match told {
                Ok(profile) => {
                    let is_whole = profile.incidents.is_empty();
                    let readings = profile.readings.into_iter();
                    let readings = readings.filter(|reading| chosen(&reading.id)).collect();
                    listing.add_program(side, &target, readings, is_whole);
                }
                Err(detail) => listing.incidents.push(Incident {
                    phase: None,
                    round: None,
                    side: Some(side),
                    target,
                    scenario: None,
                    what: IncidentKind::Unusable,
                    detail,
                }),
            }
        }
        Ok(())
    }

    /// One launch whose times do not count. How it ended, if it began.
    fn hear(&self, ready: &Ready) -> Result<(Option<Ending>, Result<Profile, String>), LabError> {
        let scratch = self.run.fresh_scratch().map_err(lab_error)?;
        let started = ready.start(&scratch, ready.limit_s);
        let (finished, printed) = match self.runner.run_captured(&started.launch) {
            Ok(ended) => ended,
            Err(error @ ProcessError::Start { .. }) => return Ok((None, Err(error.to_string()))),
            Err(error) => return Err(lab_error(error)),
        };
        let told = match finished.ending {
            Ending::Exit(0) => ready.read(&started, &finished, &printed),
            Ending::TimedOut => Err(format!("killed after {:.0} s without a result", finished.wall_s)),
            other => {
                let how = criterion::describe(other);
                Err(with_last_words(&how, &tail(&finished, &printed)))
            }
        };
        Ok((Some(finished.ending), told))
    }

    /// One slot of a program.
    pub(super) fn launch_program(&mut self, slot: &Slot, entries: &[Entry]) -> Result<Outcome, LabError> {
        let key = (slot.side, slot.target.clone());
        let Some(ready) = self.programs.get(&key).cloned() else {
            let what = format!("there is no program `{}` on {}", slot.target.target, slot.side);
            return Err(LabError(what.into()));
        };
        let scratch = self.run.fresh_scratch().map_err(lab_error)?;
        let started = ready.start(&scratch, slot.timeout_s);
        let Attended {
            record,
            finished,
            output: printed,
            ..
        } = self.attend(slot, started.launch.clone(), |runner, launch| {
            runner.run_captured(launch)
        })?;
        let mut outcome = Outcome {
            record,
            told: None,
            end: end_of(finished.ending),
            bad: Vec::new(),
            notes: Vec::new(),
            tail: tail(&finished, &printed),
        };
        if outcome.end != SlotEnd::Well {
            return Ok(outcome);
        }
        match ready.read(&started, &finished, &printed) {
            Ok(profile) => self.take_profile(&mut outcome, slot, entries, profile),
            Err(why) => outcome.bad = slot.scenarios.iter().map(|ix| (*ix, why.clone())).collect(),
        }
        Ok(outcome)
    }

    /// Fills in what a launch told.
    fn take_profile(&mut self, outcome: &mut Outcome, slot: &Slot, entries: &[Entry], profile: Profile) {
        // All that it tells, also of rows that this slot is not about: a launch is looked at as a whole.
        let is_own = |entry: &&Entry| {
            entry.assigned && entry.scenario.target == slot.target && entry.sides.contains(&slot.side)
        };
        let wanted = entries.iter().filter(is_own);
        let wanted: HashMap<&Scenario, u32> = wanted.map(|entry| (&entry.scenario, entry.ix)).collect();
        let number = |scenario: &Scenario| wanted.get(scenario).copied();
        let (told, lost) = launch::take(&mut outcome.record, profile, number);
        outcome.told = Some(told);
        if let Some(first) = lost.first() {
            let missing = slot.scenarios.iter().filter(|ix| !outcome.holds(**ix));
            outcome.bad = missing.map(|ix| (*ix, first.clone())).collect();
        }
        // Each launch of a side is likely to lose the same, and once is enough to know.
        if !lost.is_empty() && self.lossy.insert((slot.side, slot.target.clone())) {
            let name = &slot.target.target;
            let note = |what| format!("{name} on {}: {what}", slot.side);
            outcome.notes = lost.into_iter().map(note).collect();
        }
    }
}

/// What a program wrote last: on standard error, or if that is empty, on standard output.
fn tail(finished: &Finished, printed: &[u8]) -> String {
    if finished.tail.trim().is_empty() {
        let from = printed.len().saturating_sub(TAIL_BYTES);
        String::from_utf8_lossy(&printed[from..]).into_owned()
    } else {
        finished.tail.clone()
    }
}
