//! The story of a command: the only place that knows the order of the stages.
//!
//! `compare` = `build` + measuring = `record` (world to recording), + `judge` (recording to report). Nothing is decided
//! here but what comes next.

mod bisected;
mod bundled;
mod commented;
mod error;
mod foreign;
mod init;
mod outcome;
mod progress;
mod qualified;
mod remembered;

pub use self::bisected::{BisectAsk, Culprit, bisect};
pub use self::bundled::{BundleAsk, build, record_bundle};
pub use self::commented::{Became, CommentAsk, Commented, Recipient, Surroundings, comment, publish};
pub use self::error::PipelineError;
pub use self::foreign::{ForeignAsk, judge_foreign};
pub use self::init::{init, init_github};
pub use self::outcome::Outcome;
pub use self::qualified::{QualifyAsk, qualify};
pub use self::remembered::{
    BlessAsk, ImportAsk, KeepAsk, KeepError, TrendAsk, Where, bless, export, import, keep, may_keep,
    may_keep_sides, prune, trend, write,
};

use crate::config::{FILE, Settings, ShardText};
use crate::edge::cargo::CargoError;
use crate::edge::clock::{Stopwatch, arbitrary_seed, timestamp};
use crate::edge::fleet;
use crate::edge::git::{Ci, Repo};
use crate::edge::home::{HomeError, Room, RunFolder};
use crate::edge::machine;
use crate::edge::process::{self, Runner};
use crate::edge::store::{self, Journal};
use crate::edge::tree::Sides;
use crate::edge::view::View;
use crate::exit::FailOn;
use crate::judge;
use crate::lab::{Laboratory, Relink};
use crate::measure::{LabError, measure};
use crate::plan::{Measuring, Plan, Policy};
use crate::recording::{End, EndReason, Event, Header, Host, Recording, SCHEMA};
use crate::report::visible;
use crate::workshop::{Product, Workshop, WorkshopError};
use std::path::{Path, PathBuf};

/// What `compare` and `record` are asked for.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// Folder the user is in.
    pub cwd: PathBuf,
    /// Base, as typed.
    pub base: Option<String>,
    /// Head, as typed.
    pub head: Option<String>,
    /// Settings from the command line.
    pub settings: Settings,
    /// Go on with the newest unfinished run of this comparison.
    pub resume: bool,
    /// File to record into; `None`: the run's own folder.
    pub recording: Option<PathBuf>,
}

/// Compares two commits: everything from their names to a report.
///
/// # Errors
/// [`PipelineError`] if no report can be made.
pub fn compare(ask: &Ask, view: &View) -> Result<Outcome, PipelineError> {
    let request = request(ask)?;
    let settings = request.settings.clone();
    let recording = carry_out(ask, request, view)?;
    Ok(judge(recording, settings.fail_on.clone()).with_claims(&settings))
}

/// Judges a recording by the limits it was made with.
#[must_use]
pub fn judge(recording: Recording, fail_on: Vec<FailOn>) -> Outcome {
    let report = judge::judge(&recording, &recording.header.plan.policy);
    Outcome {
        recording,
        report,
        fail_on,
    }
}

/// Builds and measures two commits into a recording, which is also left on disk.
///
/// # Errors
/// [`PipelineError`] if nothing could be measured.
pub fn record(ask: &Ask, view: &View) -> Result<Recording, PipelineError> {
    carry_out(ask, request(ask)?, view)
}

fn carry_out(ask: &Ask, request: Request, view: &View) -> Result<Recording, PipelineError> {
    let started = Stopwatch::start();
    in_workshop(request, view, |workshop, plan| {
        let (journal, run, sides) = if ask.resume {
            resume(ask, &plan, workshop)?
        } else {
            let built = build_sides(ask, plan, workshop)?;
            (built.journal, built.run, built.product.sides)
        };
        measure_in(workshop, run, sides, journal, &started)
    })
}

/// Measures what a workshop has built, and can link again.
fn measure_in(
    workshop: &Workshop,
    run: RunFolder,
    sides: Sides,
    journal: Journal,
    started: &Stopwatch,
) -> Result<Recording, PipelineError> {
    let recording = &journal.recording;
    let relink = relinking(workshop, recording.header.plan.clone());
    let tree = workshop.room.tree();
    let lab = Laboratory::new(workshop.runner, run, &tree, sides, Some(relink), recording);
    measure_all(lab, journal, started, workshop.view)
}

/// A recording of what another one built: begins with what building found out.
fn begin(path: &Path, header: Header, host: Host, built: &Recording) -> Result<Journal, PipelineError> {
    let mut journal = Journal::create(path, header)?;
    journal.append(Event::Host(host))?;
    for event in built.preparation() {
        journal.append(event)?;
    }
    Ok(journal)
}

/// How the laboratory gets executables in other orders.
fn relinking<'a>(workshop: &'a Workshop<'a>, plan: Plan) -> Box<Relink<'a>> {
    Box::new(
        move |run, sides, wanted| match workshop.relink(&plan, run, sides, wanted) {
            Ok(linked) => Ok(Some(linked)),
            Err(WorkshopError::Cargo(CargoError::Interrupted)) => Ok(None),
            Err(error) => Err(LabError(Box::new(error))),
        },
    )
}

/// Does something with the repository's workshop, once no other run works there.
fn in_workshop<T>(
    request: Request,
    view: &View,
    work: impl FnOnce(&Workshop, Plan) -> Result<T, PipelineError>,
) -> Result<T, PipelineError> {
    let Request { repo, plan, .. } = request;
    process::watch_for_interrupts();
    announce(&plan, view);
    let room = Room::of_repository(repo.common_dir(), |holder| waiting(holder, view))?;
    let runner = Runner::with_leash(room.leash());
    let workshop = Workshop {
        repo: &repo,
        room: &room,
        runner: &runner,
        view,
    };
    work(&workshop, plan)
}

/// From a laboratory to a recording that has ended.
fn measure_all(
    mut lab: Laboratory,
    mut journal: Journal,
    started: &Stopwatch,
    view: &View,
) -> Result<Recording, PipelineError> {
    let measured = list_and_measure(&mut lab, &mut journal, view);
    view.clear();
    // What stopped the measuring may also keep head's files from coming back, and is the better answer.
    let left = lab.leave();
    let reason = measured?;
    left?;
    journal.append(Event::End(End {
        total_s: started.seconds(),
        reason,
    }))?;
    view.detail(&format!("recording: {}", journal.path().display()));
    if reason == EndReason::Interrupted {
        view.say(&format!(
            "interrupted; what was measured is in {}; go on with --resume",
            journal.path().display()
        ));
    } else {
        lab.clear_away();
    }
    Ok(journal.recording)
}

fn announce(plan: &Plan, view: &View) {
    for (side, revision) in [("base", &plan.base), ("head", &plan.head)] {
        let label = visible::line(&revision.label);
        view.say(&format!("{side} {} ({label})", visible::line(revision.short())));
    }
}

fn waiting(holder: &str, view: &View) {
    view.say(&format!(
        "another abreast run (process {holder}) works here; waiting for it to end"
    ));
}

/// Judges recordings: one, or the shards or repetitions of one comparison. The limits they were made with hold unless
/// `settings` say otherwise.
///
/// # Errors
/// [`PipelineError`] if one cannot be read or they do not belong together.
pub fn judge_files(files: &[PathBuf], settings: &Settings) -> Result<Outcome, PipelineError> {
    let recordings = files
        .iter()
        .map(|file| store::read_recording(file))
        .collect::<Result<Vec<_>, _>>()?;
    let recording = Recording::merge(recordings)?;
    let policy = settings.policy(recording.header.plan.policy.clone())?;
    let report = judge::judge(&recording, &policy);
    let outcome = Outcome {
        recording,
        report,
        fail_on: settings.fail_on.clone(),
    };
    Ok(outcome.with_claims(settings))
}

/// A whole request, checked before anything slow starts.
struct Request {
    repo: Repo,
    settings: Settings,
    plan: Plan,
}

fn request(ask: &Ask) -> Result<Request, PipelineError> {
    let repo = Repo::discover(&ask.cwd)?;
    let settings = with_shard(ask.settings.clone().or(settings_of(&repo)?))?;
    let selection = settings.selection(workspace_folder(&repo, &ask.cwd)?)?;
    let measuring = settings.measuring(Measuring::with_seed(arbitrary_seed()))?;
    let policy = settings.policy(Policy::default())?;
    let (base, head) = repo.resolve(ask.base.as_deref(), ask.head.as_deref(), &Ci::from_env())?;
    let plan = Plan {
        base,
        head,
        selection,
        measuring,
        policy,
    };
    Ok(Request { repo, settings, plan })
}

/// The settings, with the shard that only the engine that started this job knows.
fn with_shard(settings: Settings) -> Result<Settings, PipelineError> {
    let shard = match settings.shard {
        Some(ShardText::Auto) => Some(ShardText::Given(fleet::shard()?)),
        other => other,
    };
    Ok(Settings { shard, ..settings })
}

/// Settings of the repository as the working tree has them: `abreast.toml`, else the manifest's metadata.
fn settings_of(repo: &Repo) -> Result<Settings, PipelineError> {
    if let Some(text) = store::read_text(&repo.root().join(FILE))? {
        return Ok(Settings::parse(FILE, &text)?);
    }
    let manifest = store::read_text(&repo.root().join("Cargo.toml"))?.unwrap_or_default();
    Ok(Settings::parse_manifest("Cargo.toml", &manifest)?.unwrap_or_default())
}

/// The folder with the manifest that cargo would take, relative to the repository: the nearest one above the user.
fn workspace_folder(repo: &Repo, cwd: &Path) -> Result<String, PipelineError> {
    let mut folders = cwd
        .ancestors()
        .take_while(|folder| folder.starts_with(repo.root()));
    let folder = folders
        .find(|folder| folder.join("Cargo.toml").is_file())
        .ok_or_else(|| PipelineError::NoManifest(cwd.to_owned()))?;
    Ok(folder
        .strip_prefix(repo.root())
        .unwrap_or(folder)
        .to_string_lossy()
        .into_owned())
}

/// A new run, built.
struct Built {
    journal: Journal,
    run: RunFolder,
    product: Product,
}

/// Both sides built, everything known about them recorded.
fn build_sides(ask: &Ask, plan: Plan, workshop: &Workshop) -> Result<Built, PipelineError> {
    let header = header(plan);
    let run = workshop.room.new_run(&header.run)?;
    let path = ask.recording.clone().unwrap_or_else(|| run.recording());
    let mut journal = Journal::create(&path, header)?;
    let host = machine::host();
    if let Some(text) = qualified::kept_noise(workshop.repo, &host) {
        journal.append(Event::Note { text })?;
    }
    journal.append(Event::Host(host))?;
    let mut product = workshop.build(&journal.recording.header.plan, &run)?;
    for event in product.events.drain(..) {
        journal.append(event)?;
    }
    Ok(Built {
        journal,
        run,
        product,
    })
}

/// A run that begins now; its name is that of its folder.
fn header(plan: Plan) -> Header {
    let started_at = timestamp();
    Header {
        schema: SCHEMA.to_owned(),
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        run: format!("{}-{}", started_at.replace(':', ""), plan.head.short()),
        started_at,
        plan,
    }
}

/// An interrupted run of the same comparison, as it was left.
fn resume(ask: &Ask, plan: &Plan, workshop: &Workshop) -> Result<(Journal, RunFolder, Sides), PipelineError> {
    let candidates = match &ask.recording {
        Some(path) => vec![path.clone()],
        None => workshop.room.recordings(),
    };
    let journal = unfinished(candidates, plan, workshop.view)?;
    let run = workshop.room.run(&journal.recording.header.run);
    run.verify(&journal.recording)?;
    let sides = workshop.lay_again(&journal.recording.header.plan)?;
    Ok((journal, run, sides))
}

/// The first of these recordings that can go on as planned.
fn unfinished(candidates: Vec<PathBuf>, plan: &Plan, view: &View) -> Result<Journal, PipelineError> {
    let path = candidates
        .into_iter()
        .find(|path| store::read_recording(path).is_ok_and(|recording| recording.can_go_on_as(plan)))
        .ok_or(HomeError::NothingToResume)?;
    let journal = Journal::resume(&path)?;
    view.say(&format!(
        "going on with the run of {}: {} slots are measured",
        journal.recording.header.started_at,
        journal.recording.slots.len()
    ));
    Ok(journal)
}

/// Finds out which scenarios there are, unless the recording knows, and measures them.
fn list_and_measure(
    lab: &mut Laboratory,
    journal: &mut Journal,
    view: &View,
) -> Result<EndReason, PipelineError> {
    if journal.recording.scenarios.is_empty() {
        let plan = &journal.recording.header.plan;
        let filter = plan.selection.filter.clone();
        let pattern = filter
            .as_deref()
            .and_then(|filter| regex::Regex::new(filter).ok());
        let shard = plan.measuring.shard;
        view.step("listing benchmarks");
        let listing = lab.list(|id| pattern.as_ref().is_none_or(|pattern| pattern.is_match(id)))?;
        // What was listed by then is not all there is; a resumed run lists again.
        if process::interrupted() {
            return Ok(EndReason::Interrupted);
        }
        let events = listing.events(shard);
        let found_none = !events.iter().any(|event| matches!(event, Event::Scenario(_)));
        for event in events {
            journal.append(event)?;
        }
        if let Some(filter) = filter.filter(|_| found_none) {
            let text = format!("no benchmark id matches --filter `{filter}`");
            journal.append(Event::Note { text })?;
        }
    }
    let path = journal.path().to_owned();
    let stopwatch = Stopwatch::start();
    measure(lab, journal, &mut |status| {
        view.measuring(status.spent_s, status.budget_s, &progress::words(status));
    })
    .map_err(|source| PipelineError::Measure {
        source,
        recording: path,
    })
    .inspect(|_| view.detail(&format!("measured for {:.1} s", stopwatch.seconds())))
}
