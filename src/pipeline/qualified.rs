//! The story of `qualify`: one commit against itself, many times, and a suite with known changes in it.

use super::{
    Ask, Outcome, PipelineError, begin, build_sides, compare, header, in_workshop, judge, measure_in,
    request, waiting,
};
use crate::config::Settings;
use crate::edge::clock::{Stopwatch, arbitrary_seed};
use crate::edge::git::{self, Repo};
use crate::edge::home::Room;
use crate::edge::store;
use crate::edge::view::View;
use crate::injection::Injection;
use crate::plan::{Measuring, Plan};
use crate::qualification::quote::quote;
use crate::qualification::{Glance, InjectedGlance, Qualification, json};
use crate::recording::{Host, Recording};
use crate::units::count;
use crate::verdict::Verdict;
use std::path::{Path, PathBuf};

/// What `qualify` is asked for.
#[derive(Debug, Clone)]
pub struct QualifyAsk {
    /// Folder the user is in.
    pub cwd: PathBuf,
    /// The commit, as typed.
    pub revision: String,
    /// Settings from the command line.
    pub settings: Settings,
    /// Reports of unchanged code, and of a suite with injected changes if there are any.
    pub reports: usize,
    /// Changes to inject, in percent.
    pub inject: Vec<u32>,
    /// Whether as many reports are made in which only the place of the code changes.
    pub shift: bool,
    /// File that is written anew after each report.
    pub output: Option<PathBuf>,
    /// Folder that keeps the recording of each report, to be judged again.
    pub recordings: Option<PathBuf>,
    /// Keep what was found in the repository, for reports on machines like this one to quote.
    pub keep: bool,
}

/// Measures a commit against itself again and again. What was found so far is in the output file at any time; a user
/// who interrupts gets what there is.
///
/// # Errors
/// [`PipelineError`] if the commit cannot be built or measured, or the file cannot be written.
pub fn qualify(ask: &QualifyAsk, view: &View) -> Result<Qualification, PipelineError> {
    let settings = Settings {
        measure_identical: Some(true),
        seed: Some(ask.settings.seed.unwrap_or_else(arbitrary_seed)),
        ..ask.settings.clone()
    };
    let against_itself = Ask {
        cwd: ask.cwd.clone(),
        base: Some(ask.revision.clone()),
        head: Some(ask.revision.clone()),
        settings: settings.clone(),
        ..Ask::default()
    };
    let mut found = unchanged(ask, &against_itself, view)?;
    if !ask.inject.is_empty() && !found.interrupted {
        injected(ask, &settings, &mut found, view)?;
    }
    if ask.shift && !found.interrupted {
        shifted(ask, &settings, &mut found, view)?;
    }
    if ask.keep && !found.interrupted && !found.reports.is_empty() {
        let path = Repo::discover(&ask.cwd)?.root().join(baseline(&found.host));
        store::write(&path, json::render(&found).as_bytes())?;
        view.say(&format!("kept in {}", path.display()));
    }
    Ok(found)
}

/// Reports of unchanged code: built once, recorded as often as was asked for.
fn unchanged(ask: &QualifyAsk, against_itself: &Ask, view: &View) -> Result<Qualification, PipelineError> {
    in_workshop(request(against_itself)?, view, |workshop, plan| {
        let seed = plan.measuring.seed;
        let built = build_sides(against_itself, plan, workshop)?;
        let prepared = built.journal.recording;
        let mut found = Qualification {
            revision: prepared.header.plan.head.clone(),
            host: prepared.host.clone(),
            started_at: prepared.header.started_at.clone(),
            wanted: ask.reports,
            interrupted: false,
            reports: Vec::new(),
            injected: Vec::new(),
            shifted: Vec::new(),
        };
        let mut sides = Some(built.product.sides);
        for n in 1..=ask.reports {
            let started = Stopwatch::start();
            let plan = reseeded(&prepared, seed, n);
            let in_run = || built.run.path(&format!("report-{n}.jsonl"));
            let path = kept_recording(ask, "unchanged", n).unwrap_or_else(in_run);
            let mut header = header(plan.clone());
            header.run.clone_from(&prepared.header.run);
            let journal = begin(&path, header, prepared.host.clone(), &prepared)?;
            let sides = match sides.take() {
                Some(sides) => sides,
                None => workshop.lay_again(&plan)?,
            };
            let recording = measure_in(workshop, built.run.clone(), sides, journal, &started)?;
            let outcome = judge(recording, Vec::new());
            if outcome.recording.interrupted() {
                found.interrupted = true;
                break;
            }
            found
                .reports
                .push(Glance::of(&outcome.recording, &outcome.report));
            announce(
                &format!("report {n} of {}", ask.reports),
                found.reports.last(),
                view,
            );
            save(ask, &found)?;
        }
        Ok(found)
    })
}

/// Where the recording of a report is kept, if it is.
fn kept_recording(ask: &QualifyAsk, what: &str, n: usize) -> Option<PathBuf> {
    let folder = ask.recordings.as_ref()?;
    Some(folder.join(format!("{what}-{n}.jsonl")))
}

fn reseeded(prepared: &Recording, seed: u64, n: usize) -> Plan {
    let plan = prepared.header.plan.clone();
    Plan {
        measuring: Measuring {
            seed: seed.wrapping_add(n as u64),
            ..plan.measuring
        },
        ..plan
    }
}

/// Reports of the suite with injected changes: other lanes are slower in each.
fn injected(
    ask: &QualifyAsk,
    settings: &Settings,
    found: &mut Qualification,
    view: &View,
) -> Result<(), PipelineError> {
    let deal = |seed| Injection::of(&ask.inject, seed);
    of_suite(
        "injected",
        ask,
        settings,
        found,
        view,
        deal,
        |n, injection, outcome, found| {
            let glance = InjectedGlance::of(&outcome.recording, &outcome.report, |lane| {
                injection.percent(lane)
            });
            let slower = outcome.report.count(Verdict::Regressed);
            view.say(&format!(
                "injected changes, report {n} of {}: {} called slower of {}",
                ask.reports,
                count(slower, "row"),
                glance.rows.len()
            ));
            found.injected.push(glance);
        },
    )
}

/// Reports of the suite in which only the place of the code changes: it moves by another distance in each.
fn shifted(
    ask: &QualifyAsk,
    settings: &Settings,
    found: &mut Qualification,
    view: &View,
) -> Result<(), PipelineError> {
    of_suite(
        "shifted",
        ask,
        settings,
        found,
        view,
        Injection::shift,
        |n, _, outcome, found| {
            found
                .shifted
                .push(Glance::of(&outcome.recording, &outcome.report));
            let what = format!("unrelated function, report {n} of {}", ask.reports);
            announce(&what, found.shifted.last(), view);
        },
    )
}

/// As many reports of the suite as were asked for, each of another head against the suite with nothing in it.
fn of_suite(
    what: &str,
    ask: &QualifyAsk,
    settings: &Settings,
    found: &mut Qualification,
    view: &View,
    deal: impl Fn(u64) -> Injection,
    keep: impl Fn(usize, &Injection, &Outcome, &mut Qualification),
) -> Result<(), PipelineError> {
    let room = Room::of_suite(|holder| waiting(holder, view))?;
    let folder = room.repository();
    let base = git::scaffold(&folder, &Injection::none().files())?;
    let seed = settings.seed.unwrap_or_default();
    for n in 1..=ask.reports {
        let seed = seed.wrapping_add(n as u64);
        let injection = deal(seed);
        let head = git::scaffold(&folder, &injection.files())?;
        let ask_one = Ask {
            cwd: folder.clone(),
            base: Some(base.clone()),
            head: Some(head),
            recording: kept_recording(ask, what, n),
            settings: Settings {
                seed: Some(seed),
                ..measuring_only(settings)
            },
            ..Ask::default()
        };
        let outcome = compare(&ask_one, view)?;
        if outcome.recording.interrupted() {
            found.interrupted = true;
            break;
        }
        keep(n, &injection, &outcome, found);
        save(ask, found)?;
    }
    Ok(())
}

/// What is said of the user's own suite means nothing to another one.
fn measuring_only(settings: &Settings) -> Settings {
    Settings {
        package: Vec::new(),
        bench: Vec::new(),
        filter: None,
        features: Vec::new(),
        all_features: None,
        no_default_features: None,
        profile: None,
        run_files: Vec::new(),
        shard: None,
        ..settings.clone()
    }
}

fn announce(what: &str, glance: Option<&Glance>, view: &View) {
    if let Some(glance) = glance {
        let flagged = match glance.flagged() {
            0 => "nothing flagged".to_owned(),
            rows => format!("{} flagged", count(rows, "row")),
        };
        view.say(&format!(
            "{what}: {flagged}, {} of {} decided",
            glance.decided(),
            count(glance.rows.len(), "row")
        ));
    }
}

fn save(ask: &QualifyAsk, found: &Qualification) -> Result<(), PipelineError> {
    match &ask.output {
        Some(path) => Ok(store::write(path, json::render(found).as_bytes())?),
        None => Ok(()),
    }
}

/// What `qualify --keep` found on machines like this one.
pub(super) fn kept_noise(repo: &Repo, host: &Host) -> Option<String> {
    let text = store::read_text(&repo.root().join(baseline(host))).ok()??;
    quote(&text)
}

/// Where the noise of machines like this one is kept, relative to the repository.
fn baseline(host: &Host) -> PathBuf {
    Path::new("baselines").join(host.class()).join("qualify.json")
}
