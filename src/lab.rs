//! The real laboratory: slots are processes of the copied-out executables, run in their own side's tree.

mod listing;
mod program;

pub use self::listing::Listing;
use self::program::Ready;

use crate::edge::callgrind;
use crate::edge::clock::{Stopwatch, file_time};
use crate::edge::criterion::{self, Bench, Found};
use crate::edge::home::{self, RunFolder};
use crate::edge::machine::Load;
use crate::edge::process::{Ending, Finished, Launch, ProcessError, Runner};
use crate::edge::quiet::Quiet;
use crate::edge::tree::Sides;
use crate::layout::Layout;
use crate::measure::{Lab, LabError};
use crate::recording::{
    Contention, Entry, Incident, IncidentKind, Observation, Recording, Relaid, SlotRecord, Timing,
};
use crate::revision::Side;
use crate::scenario::Target;
use crate::slot::{Outcome, Slot, SlotEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Everything needed to run slots of one recording.
pub struct Laboratory<'a> {
    runner: &'a Runner,
    run: RunFolder,
    /// Absent while they are elsewhere to be built, or after that was interrupted.
    sides: Option<Sides>,
    relink: Option<Box<Relink<'a>>>,
    benches: BTreeMap<(Side, Target, Layout), Bench>,
    programs: BTreeMap<(Side, Target), Ready>,
    /// Programs of which it was told that something of their output is lost.
    lossy: BTreeSet<(Side, Target)>,
    list_timeout: Duration,
    quiet: Quiet,
    started: Stopwatch,
}

/// Links executables in other orders: takes the tree, and gives it back unless the user interrupted.
pub type Relink<'a> = dyn Fn(&RunFolder, Sides, &BTreeSet<(Side, Target)>) -> Result<Option<(Vec<Relaid>, Sides)>, LabError>
    + 'a;

/// How long an executable may take to list its benchmarks, unless `--timeout` allows more.
const LIST_TIMEOUT: Duration = Duration::from_secs(60);

/// A week: more than any slot, and within what a clock can add.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

impl<'a> Laboratory<'a> {
    /// A laboratory for the executables of a recording, whose packages are in `tree`; without `relink` none can be
    /// linked in another order.
    #[must_use]
    pub fn new(
        runner: &'a Runner,
        run: RunFolder,
        tree: &Path,
        sides: Sides,
        relink: Option<Box<Relink<'a>>>,
        recording: &Recording,
    ) -> Self {
        let mut benches = BTreeMap::new();
        for build in &recording.builds {
            let executables = build.executables.iter();
            for executable in executables.filter(|executable| !executable.target.is_program()) {
                let cwd = tree.join(&executable.package_dir);
                let package = executable.target.package.clone();
                // What `cargo bench` sets for the processes it starts and benches use to find their data.
                let env = vec![
                    ("CARGO_MANIFEST_DIR".into(), Some(cwd.clone().into_os_string())),
                    ("CARGO_PKG_NAME".into(), Some(package.into())),
                ];
                let bench = Bench {
                    executable: run.path(&executable.path),
                    cwd,
                    env,
                    version: executable.criterion.clone(),
                };
                benches.insert((build.side, executable.target.clone(), Layout::AS_BUILT), bench);
            }
        }
        let asked_s = recording.header.plan.measuring.timeout_s;
        let mut lab = Self {
            runner,
            programs: program::ready(recording, &run, tree),
            lossy: BTreeSet::new(),
            run,
            sides: Some(sides),
            relink,
            benches,
            list_timeout: asked_s.map_or(LIST_TIMEOUT, |asked_s| timeout(asked_s).max(LIST_TIMEOUT)),
            quiet: Quiet::new(),
            started: Stopwatch::start(),
        };
        recording.relaid.iter().for_each(|relaid| lab.take(relaid));
        lab
    }

    /// An executable in another order runs like the one it was linked instead of.
    fn take(&mut self, relaid: &Relaid) {
        let key = |layout: Layout| (relaid.side, relaid.target.clone(), layout);
        if let Some(linked) = relaid.linked()
            && let Some(as_built) = self.benches.get(&key(Layout::AS_BUILT))
        {
            let bench = Bench {
                executable: self.run.path(&linked.path),
                ..as_built.clone()
            };
            self.benches.insert(key(linked.layout), bench);
        }
    }

    /// Makes the tree hold that side's files.
    fn activate(&mut self, side: Side) -> Result<(), LabError> {
        match &mut self.sides {
            Some(sides) => sides.activate(side).map_err(lab_error),
            None => Err(LabError("the tree was not given back".into())),
        }
    }

    fn bench(&self, side: Side, target: &Target, layout: Layout) -> Result<&Bench, LabError> {
        let key = (side, target.clone(), layout);
        self.benches
            .get(&key)
            .ok_or_else(|| LabError(format!("there is no {side} executable of `{}`", target.target).into()))
    }

    /// Lists the scenarios of all executables and programs: an [`Event::Scenario`](crate::recording::Event) for each, an
    /// incident for what cannot be listed. `chosen` says whether an id takes part.
    ///
    /// # Errors
    /// [`LabError`] if nothing can be run at all.
    pub fn list(&mut self, chosen: impl Fn(&str) -> bool) -> Result<Listing, LabError> {
        let mut listing = Listing::default();
        let as_built = self
            .benches
            .iter()
            .filter(|((_, _, layout), _)| layout.is_as_built());
        for ((side, target, _), bench) in as_built {
            if let Some(sides) = &mut self.sides {
                sides.activate(*side).map_err(lab_error)?;
            }
            let scratch = self.run.fresh_scratch().map_err(lab_error)?;
            // Twice, because an id may hold a time or a random number and be another one in each process.
            let twice = bench
                .list(self.runner, &scratch, self.list_timeout)
                .and_then(|ids| {
                    let again = bench.list(self.runner, &scratch, self.list_timeout)?;
                    Ok((ids, again))
                });
            match twice {
                Ok((ids, again)) => listing.add(*side, target, ids, &again, &chosen),
                Err(error) => listing.incidents.push(Incident {
                    phase: None,
                    round: None,
                    side: Some(*side),
                    target: target.clone(),
                    scenario: None,
                    what: IncidentKind::Unusable,
                    detail: error.to_string(),
                }),
            }
        }
        self.list_programs(&mut listing, chosen)?;
        Ok(listing)
    }

    /// Runs a slot's process at a quiet moment, and looks at the machine before and after it.
    fn attend<T>(
        &mut self,
        slot: &Slot,
        mut launch: Launch,
        run: impl FnOnce(&Runner, &Launch) -> Result<(Finished, T), ProcessError>,
    ) -> Result<Attended<T>, LabError> {
        let waiting = Stopwatch::start();
        let moment = self.quiet.wait();
        launch.processor = moment.processor;
        let waited_s = waiting.seconds();
        let at_s = self.started.seconds();
        let before = Load::now();
        let began = file_time();
        let (finished, output) = run(self.runner, &launch).map_err(lab_error)?;
        let after = Load::now();
        let slowdown = [moment.slowdown, self.quiet.slowdown(moment.processor)];
        let record = SlotRecord {
            phase: slot.phase,
            round: slot.round,
            side: slot.side,
            first: slot.first,
            target: slot.target.clone(),
            layout: slot.layout,
            at_s,
            wall_s: finished.wall_s,
            waited_s: Some(waited_s),
            contention: contention(&finished, &before, &after, slowdown),
            observations: Vec::new(),
        };
        Ok(Attended {
            record,
            finished,
            began,
            output,
        })
    }

    /// Puts head's files back into the tree, as they were when head was built.
    ///
    /// # Errors
    /// [`LabError`] if a file cannot be moved.
    pub fn leave(&mut self) -> Result<(), LabError> {
        match self.sides {
            Some(_) => self.activate(Side::Head),
            // Linking was interrupted; the next run lays the tree out anew.
            None => Ok(()),
        }
    }

    /// Removes the executables in other orders, which nobody needs once a run has ended.
    pub fn clear_away(&self) {
        let relaid = self
            .benches
            .iter()
            .filter(|((_, _, layout), _)| !layout.is_as_built());
        relaid.for_each(|(_, bench)| home::discard(&bench.executable));
    }
}

impl Lab for Laboratory<'_> {
    fn run(&mut self, slot: &Slot, entries: &[Entry], timing: Timing) -> Result<Outcome, LabError> {
        self.activate(slot.side)?;
        if slot.target.is_program() {
            return self.launch_program(slot, entries);
        }
        let bench = self.bench(slot.side, &slot.target, slot.layout)?;
        let scratch = self.run.fresh_scratch().map_err(lab_error)?;
        let wanted: BTreeMap<&str, u32> = slot
            .scenarios
            .iter()
            .filter_map(|ix| Some((entries.get(*ix as usize)?.scenario.id.as_str(), *ix)))
            .collect();
        let ids: Vec<&str> = wanted.keys().copied().collect();
        let launch = bench.launch_ids(&ids, timing, &scratch, timeout(slot.timeout_s));
        let attended = self.attend(slot, launch, |runner, launch| Ok((runner.run(launch)?, ())))?;
        let found = criterion::read(&scratch, attended.began).map_err(lab_error)?;
        let (observations, bad) = sorted_out(found, &wanted);
        Ok(Outcome {
            record: SlotRecord {
                observations,
                ..attended.record
            },
            told: None,
            end: end_of(attended.finished.ending),
            bad,
            notes: Vec::new(),
            tail: attended.finished.tail,
        })
    }

    fn count(&mut self, side: Side, entry: &Entry) -> Result<Option<Result<u64, String>>, LabError> {
        self.activate(side)?;
        let scratch = self.run.fresh_scratch().map_err(lab_error)?;
        let bench = self.bench(side, &entry.scenario.target, Layout::AS_BUILT)?;
        let id = &entry.scenario.id;
        Ok(callgrind::count(
            self.runner,
            bench,
            id,
            &scratch,
            self.list_timeout,
        ))
    }

    fn relay(&mut self, wanted: &BTreeSet<(Side, Target)>) -> Result<Option<Vec<Relaid>>, LabError> {
        let Some(relink) = &self.relink else {
            return Ok(Some(failed_to_relink(wanted)));
        };
        let Some(sides) = self.sides.take() else {
            return Ok(None);
        };
        let Some((relaid, sides)) = relink(&self.run, sides, wanted)? else {
            return Ok(None);
        };
        self.sides = Some(sides);
        relaid.iter().for_each(|relaid| self.take(relaid));
        Ok(Some(relaid))
    }
}

/// A process that ran in a slot, and what was seen of it.
struct Attended<T> {
    /// What is recorded of it, still without what it measured.
    record: SlotRecord,
    finished: Finished,
    /// When it was started, as file systems stamp it.
    began: SystemTime,
    output: T,
}

fn end_of(ending: Ending) -> SlotEnd {
    match ending {
        Ending::Exit(0) => SlotEnd::Well,
        Ending::TimedOut => SlotEnd::TimedOut,
        Ending::Interrupted => SlotEnd::Interrupted,
        ending => SlotEnd::Badly(criterion::describe(ending)),
    }
}

/// What is built elsewhere cannot be linked here.
fn failed_to_relink(wanted: &BTreeSet<(Side, Target)>) -> Vec<Relaid> {
    let why = "a bundle is measured without its sources";
    let failed = |(side, target): &(Side, Target)| Relaid::failed(*side, target.clone(), why.to_owned());
    wanted.iter().map(failed).collect()
}

/// What was found of the scenarios that were wanted: their measurements, and what is wrong with the others.
fn sorted_out(found: Vec<Found>, wanted: &BTreeMap<&str, u32>) -> (Vec<Observation>, Vec<(u32, String)>) {
    let mut observations = Vec::new();
    let mut bad = Vec::new();
    for found in found {
        let Some(scenario) = wanted.get(found.id.as_str()).copied() else {
            continue;
        };
        match found.sample {
            Ok(sample) => observations.push(Observation {
                scenario,
                iters: sample.iters.into(),
                totals: sample.totals,
                throughput: sample.throughput,
                cost_s: found.cost_s,
            }),
            Err(what) => bad.push((scenario, what)),
        }
    }
    (observations, bad)
}

fn contention(finished: &Finished, before: &Load, after: &Load, slowdown: [f64; 2]) -> Contention {
    let grown =
        |before: Option<f64>, after: Option<f64>| before.zip(after).map(|(before, after)| after - before);
    Contention {
        run_queue_ms: finished.usage.run_queue_ms,
        involuntary_switches: finished.usage.involuntary_switches,
        user_s: finished.usage.user_s,
        system_s: finished.usage.system_s,
        steal_ms: grown(before.steal_ms, after.steal_ms),
        pressure_ms: grown(before.pressure_ms, after.pressure_ms),
        load1: after.load1,
        slowdown: Some(slowdown),
    }
}

/// A limit that may come from a file: whatever it is, it is one.
fn timeout(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).map_or(LONGEST, |timeout| timeout.min(LONGEST))
}

fn lab_error(error: impl std::error::Error + Send + Sync + 'static) -> LabError {
    LabError(Box::new(error))
}
