//! The real laboratory: slots are processes of the copied-out executables, run in their own side's tree.

use crate::edge::clock::{Stopwatch, file_time};
use crate::edge::criterion::{self, Bench, Found};
use crate::edge::home::RunFolder;
use crate::edge::machine::Load;
use crate::edge::process::{Ending, Finished, Runner};
use crate::edge::quiet::Quiet;
use crate::edge::tree::Sides;
use crate::measure::{Lab, LabError};
use crate::metric::Metric;
use crate::recording::{
    Contention, Entry, Event, Incident, IncidentKind, Observation, Recording, SlotRecord, Timing,
};
use crate::revision::Side;
use crate::scenario::{Kind, Scenario, Target};
use crate::slot::{Outcome, Slot, SlotEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// Everything needed to run slots of one recording.
#[derive(Debug)]
pub struct Laboratory<'a> {
    runner: &'a Runner,
    run: RunFolder,
    sides: Sides,
    benches: BTreeMap<(Side, Target), Bench>,
    list_timeout: Duration,
    quiet: Quiet,
    started: Stopwatch,
}

/// How long an executable may take to list its benchmarks, unless `--timeout` allows more.
const LIST_TIMEOUT: Duration = Duration::from_secs(60);

/// A week: more than any slot, and within what a clock can add.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

impl<'a> Laboratory<'a> {
    /// A laboratory for the executables of a recording, whose packages are in `tree`.
    #[must_use]
    pub fn new(runner: &'a Runner, run: RunFolder, tree: &Path, sides: Sides, recording: &Recording) -> Self {
        let mut benches = BTreeMap::new();
        for build in &recording.builds {
            for executable in &build.executables {
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
                benches.insert((build.side, executable.target.clone()), bench);
            }
        }
        let asked_s = recording.header.plan.measuring.timeout_s;
        Self {
            runner,
            run,
            sides,
            benches,
            list_timeout: asked_s.map_or(LIST_TIMEOUT, |asked_s| timeout(asked_s).max(LIST_TIMEOUT)),
            quiet: Quiet::new(),
            started: Stopwatch::start(),
        }
    }

    /// Lists the scenarios of all executables: an [`Event::Scenario`] for each, an [`Event::Incident`] for an
    /// executable that cannot be listed. `chosen` says whether an id takes part.
    ///
    /// # Errors
    /// [`LabError`] if nothing can be run at all.
    pub fn list(&mut self, chosen: impl Fn(&str) -> bool) -> Result<Listing, LabError> {
        let mut listing = Listing::default();
        for ((side, target), bench) in &self.benches {
            self.sides.activate(*side).map_err(lab_error)?;
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
        Ok(listing)
    }

    /// Puts head's files back into the tree, as they were when head was built.
    ///
    /// # Errors
    /// [`LabError`] if a file cannot be moved.
    pub fn leave(&mut self) -> Result<(), LabError> {
        self.sides.activate(Side::Head).map_err(lab_error)
    }
}

impl Lab for Laboratory<'_> {
    fn run(&mut self, slot: &Slot, entries: &[Entry], timing: Timing) -> Result<Outcome, LabError> {
        let bench = self
            .benches
            .get(&(slot.side, slot.target.clone()))
            .ok_or_else(|| {
                LabError(format!("there is no {} executable of `{}`", slot.side, slot.target.target).into())
            })?;
        self.sides.activate(slot.side).map_err(lab_error)?;
        let scratch = self.run.fresh_scratch().map_err(lab_error)?;
        let wanted: BTreeMap<&str, u32> = slot
            .scenarios
            .iter()
            .filter_map(|ix| Some((entries.get(*ix as usize)?.scenario.id.as_str(), *ix)))
            .collect();
        let ids: Vec<&str> = wanted.keys().copied().collect();
        let mut launch = bench.launch_ids(&ids, timing, &scratch, timeout(slot.timeout_s));
        let waiting = Stopwatch::start();
        let moment = self.quiet.wait();
        launch.processor = moment.processor;
        let waited_s = waiting.seconds();
        let at_s = self.started.seconds();
        let before = Load::now();
        let began = file_time();
        let finished = self.runner.run(&launch).map_err(lab_error)?;
        let after = Load::now();
        let slowdown = [moment.slowdown, self.quiet.slowdown(moment.processor)];
        let found = criterion::read(&scratch, began).map_err(lab_error)?;
        let (observations, bad) = sorted_out(found, &wanted);
        let record = SlotRecord {
            phase: slot.phase,
            round: slot.round,
            side: slot.side,
            first: slot.first,
            target: slot.target.clone(),
            at_s,
            wall_s: finished.wall_s,
            waited_s: Some(waited_s),
            contention: contention(&finished, &before, &after, slowdown),
            observations,
        };
        let end = match finished.ending {
            Ending::Exit(0) => SlotEnd::Well,
            Ending::TimedOut => SlotEnd::TimedOut,
            Ending::Interrupted => SlotEnd::Interrupted,
            ending => SlotEnd::Badly(criterion::describe(ending)),
        };
        Ok(Outcome {
            record,
            end,
            bad,
            tail: finished.tail,
        })
    }
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

/// What the executables of both sides list.
#[derive(Debug, Default)]
pub struct Listing {
    /// Ids by target, in the order base registers them; those only head has come last.
    ids: BTreeMap<Target, Vec<Listed>>,
    /// Executables that could not be listed.
    pub incidents: Vec<Incident>,
}

/// One id and where it is.
#[derive(Debug)]
struct Listed {
    id: String,
    sides: BTreeSet<Side>,
    /// An id that was another one in the same executable's next process, which then is its value.
    unstable: Option<String>,
}

impl Listing {
    fn add(
        &mut self,
        side: Side,
        target: &Target,
        ids: Vec<String>,
        again: &[String],
        chosen: impl Fn(&str) -> bool,
    ) {
        let listed = self.ids.entry(target.clone()).or_default();
        for (at, id) in ids.into_iter().enumerate().filter(|(_, id)| chosen(id)) {
            let stable = again.contains(&id);
            let unstable = (!stable).then(|| again.get(at).cloned().unwrap_or_default());
            let id = if stable { id } else { without_numbers(&id) };
            match listed.iter_mut().find(|known| known.id == id) {
                Some(known) => {
                    known.sides.insert(side);
                }
                None => listed.push(Listed {
                    id,
                    sides: BTreeSet::from([side]),
                    unstable,
                }),
            }
        }
    }

    /// The scenarios as events, those of this shard marked as assigned. Shards are dealt over the sorted keys, which
    /// are the same on every machine.
    #[must_use]
    pub fn events(self, shard: Option<crate::plan::Shard>) -> Vec<Event> {
        let mut scenarios: Vec<(Scenario, Listed)> = Vec::new();
        for (target, ids) in self.ids {
            scenarios.extend(ids.into_iter().map(|listed| {
                let (target, id) = (target.clone(), listed.id.clone());
                (
                    Scenario {
                        kind: Kind::Criterion,
                        target,
                        id,
                        metric: Metric::time(),
                    },
                    listed,
                )
            }));
        }
        let mut keys: Vec<&Scenario> = scenarios.iter().map(|(scenario, _)| scenario).collect();
        keys.sort();
        let mine: BTreeSet<&Scenario> = keys
            .iter()
            .enumerate()
            .filter(|(n, _)| shard.is_none_or(|shard| shard.holds(*n)))
            .map(|(_, key)| *key)
            .collect();
        let assigned: Vec<bool> = scenarios
            .iter()
            .map(|(scenario, _)| mine.contains(scenario))
            .collect();
        let mut incidents = self.incidents;
        let mut events = Vec::new();
        for (ix, ((scenario, listed), assigned)) in (0..).zip(scenarios.into_iter().zip(assigned)) {
            incidents.extend(listed.unstable.map(|other| unstable(ix, &scenario, &other)));
            let sides = listed.sides.into_iter().collect();
            events.push(Event::Scenario(Entry {
                ix,
                scenario,
                sides,
                assigned,
            }));
        }
        events.extend(incidents.into_iter().map(Event::Incident));
        events
    }
}

fn unstable(ix: u32, scenario: &Scenario, other: &str) -> Incident {
    Incident {
        phase: None,
        round: None,
        side: None,
        target: scenario.target.clone(),
        scenario: Some(ix),
        what: IncidentKind::Unusable,
        detail: format!(
            "its id is another one in each process (once `{other}`), so base and head cannot be matched: \
             give it an id without a time or a random number"
        ),
    }
}

/// An id with each number replaced by `#`: the same in every process, unlike the id.
fn without_numbers(id: &str) -> String {
    let mut text = String::new();
    for c in id.chars() {
        match c {
            '0'..='9' if text.ends_with('#') => {}
            '0'..='9' => text.push('#'),
            other => text.push(other),
        }
    }
    text
}

/// A limit that may come from a file: whatever it is, it is one.
fn timeout(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).map_or(LONGEST, |timeout| timeout.min(LONGEST))
}

fn lab_error(error: impl std::error::Error + Send + Sync + 'static) -> LabError {
    LabError(Box::new(error))
}
