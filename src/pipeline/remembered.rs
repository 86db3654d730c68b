//! The story of the history: a comparison is kept, a blessing is given, and all of it is read again as a trend.

mod exchanged;
mod pruned;

pub use self::exchanged::{ImportAsk, export, import};
pub use self::pruned::prune;

use super::{Ask, Outcome, PipelineError, settings_of};
use crate::edge::clock::timestamp;
use crate::edge::git::{self, Repo};
use crate::edge::history::Folder;
use crate::edge::view::View;
use crate::history::blessing::{self, Blessing, BlessingError};
use crate::history::trend::{Known, Question, Trend};
use crate::history::{FOLDER, FileError, Measurement, append, path_of};
use crate::kept;
use crate::plan::Policy;
use crate::revision::{Revision, Side};
use crate::units::{Fraction, count};
use std::path::{Path, PathBuf};

/// Where the history of a repository is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Where {
    /// In `baselines/` of the work tree, to be committed like any other file.
    Files,
    /// On the branch `abreast-history`, which no checkout has.
    Branch,
}

/// What is asked of the history when a comparison is kept.
#[derive(Debug, Clone, Default)]
pub struct KeepAsk {
    /// Folder the user is in.
    pub cwd: PathBuf,
    /// Where the history is; `None`: on the branch if there is one, else in files.
    pub place: Option<Where>,
    /// Remote that the branch is sent to.
    pub push: Option<String>,
}

/// Why a comparison or a blessing is not kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// Anybody can propose anything.
    #[error("the history is not written on behalf of a pull request ({0}): leave --keep out here")]
    Proposed(String),
    /// The working tree, or another tree without a commit.
    #[error(
        "{side} ({label}) is no commit, and the history holds commits: commit it, and compare the commit"
    )]
    NotACommit {
        /// Which side.
        side: Side,
        /// What it was called.
        label: String,
    },
    /// What a stopped run measured is not what was asked for.
    #[error("the run was interrupted and is not kept: go on with --resume")]
    Interrupted,
    /// `--push` without the branch.
    #[error("only the branch can be pushed: --history branch; files are committed and pushed like any other")]
    NothingToPush,
    /// Somebody wrote while the history was made smaller.
    #[error("the history was added to while it was pruned, and is as it was: try again")]
    Busy,
    /// A blessing that cannot be given.
    #[error("{path}: {source}")]
    Blessing {
        /// File of the history.
        path: String,
        /// What is wrong.
        source: BlessingError,
    },
}

/// A history at one of its places.
enum History<'a> {
    Files(Folder),
    Branch(git::Branch<'a>),
}

impl<'a> History<'a> {
    fn of(repo: &'a Repo, place: Option<Where>) -> Self {
        let branch = repo.history_branch();
        let place = place.unwrap_or_else(|| {
            if branch.exists() {
                Where::Branch
            } else {
                Where::Files
            }
        });
        match place {
            Where::Files => Self::Files(Folder::new(repo.root().join(FOLDER))),
            Where::Branch => Self::Branch(branch),
        }
    }

    fn read(&self) -> Result<Known, PipelineError> {
        match self {
            Self::Files(folder) => Ok(folder.read()?),
            Self::Branch(branch) => Ok(branch.read()?),
        }
    }

    fn change<E>(
        &self,
        name: &str,
        message: &str,
        change: impl Fn(Option<&[u8]>) -> Result<Vec<u8>, E>,
    ) -> Result<Result<(), E>, PipelineError> {
        match self {
            Self::Files(folder) => Ok(folder.change(name, change)?),
            Self::Branch(branch) => Ok(branch.change(name, message, change)?),
        }
    }

    fn shown(&self, name: &str) -> String {
        match self {
            Self::Files(folder) => folder.path().join(name).display().to_string(),
            Self::Branch(_) => format!("{}:{FOLDER}/{name}", crate::history::BRANCH),
        }
    }

    fn replace(
        &self,
        message: &str,
        put: &[(String, Vec<u8>)],
        remove: &[String],
        is_known: impl Fn(&str, &[u8]) -> bool,
    ) -> Result<bool, PipelineError> {
        match self {
            Self::Files(folder) => Ok(folder.replace(put, remove, is_known)?),
            Self::Branch(branch) => Ok(branch.replace(message, put, remove, is_known)?),
        }
    }

    fn push(&self, remote: Option<&str>) -> Result<(), PipelineError> {
        match (self, remote) {
            (_, None) => Ok(()),
            (Self::Branch(branch), Some(remote)) => Ok(branch.push(remote)?),
            (Self::Files(_), Some(_)) => Err(KeepError::NothingToPush.into()),
        }
    }
}

/// Refuses what cannot be kept, before anything is measured.
///
/// # Errors
/// [`KeepError`] on behalf of a pull request, and where there is nothing that `--push` could mean.
pub fn may_keep(ask: &KeepAsk) -> Result<(), PipelineError> {
    if let Some(sign) = git::proposed() {
        return Err(KeepError::Proposed(sign).into());
    }
    let repo = Repo::discover(&ask.cwd)?;
    if ask.push.is_some() && matches!(History::of(&repo, ask.place), History::Files(_)) {
        return Err(KeepError::NothingToPush.into());
    }
    Ok(())
}

/// Refuses a comparison that could not be kept because a side is no commit, before it is made.
///
/// # Errors
/// [`KeepError::NotACommit`]; [`PipelineError`] if a side cannot be found at all.
pub fn may_keep_sides(ask: &Ask) -> Result<(), PipelineError> {
    let repo = Repo::discover(&ask.cwd)?;
    let (base, head) = repo.resolve(ask.base.as_deref(), ask.head.as_deref(), &git::Ci::from_env())?;
    commits(&repo, &base, &head)
}

fn commits(repo: &Repo, base: &Revision, head: &Revision) -> Result<(), PipelineError> {
    for (side, revision) in [(Side::Base, base), (Side::Head, head)] {
        if repo.files_of(&revision.sha).is_none() {
            let label = revision.label.clone();
            return Err(KeepError::NotACommit { side, label }.into());
        }
    }
    Ok(())
}

/// Keeps a comparison in the history of the repository.
///
/// # Errors
/// [`KeepError`] for what is no comparison of two commits; [`PipelineError`] if the history cannot be written.
pub fn keep(ask: &KeepAsk, outcome: &Outcome, view: &View) -> Result<(), PipelineError> {
    may_keep(ask)?;
    if outcome.recording.interrupted() {
        return Err(KeepError::Interrupted.into());
    }
    let repo = Repo::discover(&ask.cwd)?;
    let report = &outcome.report;
    commits(&repo, &report.base, &report.head)?;
    let tree = |revision: &Revision| repo.files_of(&revision.sha);
    let measurement = kept::measurement(&outcome.recording, report, tree);
    let history = History::of(&repo, ask.place);
    let path = add(&history, &report.host.class(), &measurement, view)?;
    view.say(&format!("kept in {}", history.shown(&path)));
    history.push(ask.push.as_deref())
}

/// Adds a measurement to the file of its commit, or, if that cannot be understood, to one beside it. Returns its name.
fn add(
    history: &History<'_>,
    class: &str,
    measurement: &Measurement,
    view: &View,
) -> Result<String, PipelineError> {
    let message = format!(
        "{} on {class}",
        measurement.head.sha.get(..10).unwrap_or_default()
    );
    let mut attempt = 0;
    loop {
        let path = path_of(class, &measurement.head.sha, attempt);
        let added: Result<(), FileError> =
            history.change(&path, &message, |old| append(old, class, measurement))?;
        match added {
            Ok(()) => return Ok(path),
            Err(error) => view.say(&format!("{} {error}", history.shown(&path))),
        }
        attempt += 1;
    }
}

/// What `trend` is asked for.
#[derive(Debug, Clone, Default)]
pub struct TrendAsk {
    /// Folder the user is in.
    pub cwd: PathBuf,
    /// Newest commit, as typed.
    pub tip: String,
    /// Where the history is; `None`: on the branch if there is one, else in files.
    pub place: Option<Where>,
    /// Smallest change that is reported; `None`: that of the settings.
    pub threshold: Option<Fraction>,
    /// Commit that levels are told relative to, as typed.
    pub anchor: Option<String>,
    /// Only scenarios whose id matches.
    pub filter: Option<String>,
    /// Only this class of machines.
    pub class: Option<String>,
}

/// Reads the history of a branch.
///
/// # Errors
/// [`PipelineError`] if there is no such branch or the history cannot be read. Files with wrong content are named in the trend.
pub fn trend(ask: &TrendAsk, view: &View) -> Result<Trend, PipelineError> {
    let repo = Repo::discover(&ask.cwd)?;
    let threshold = match ask.threshold {
        Some(threshold) => threshold,
        None => settings_of(&repo)?.policy(Policy::default())?.threshold,
    };
    let anchor = match &ask.anchor {
        Some(anchor) => Some(repo.commit_id(anchor)?.to_string()),
        None => None,
    };
    let line = repo.line(&ask.tip)?;
    let history = History::of(&repo, ask.place);
    let mut known = history.read()?;
    view.detail(&format!("read {}", count(known.files.len(), "file")));
    select(&mut known, ask)?;
    let question = Question {
        branch: repo.name_of(&ask.tip),
        threshold,
        anchor,
        link: repo.commit_pages(),
    };
    let mut trend = Trend::new(&line, &known, &question);
    if repo.is_shallow() {
        trend.notes.push(
            "this clone is shallow, so older commits are unknown here: check out with `fetch-depth: 0`, or run `git fetch --unshallow`"
                .to_owned(),
        );
    }
    for (path, _) in &mut trend.skipped {
        *path = history.shown(path);
    }
    Ok(trend)
}

/// Leaves out what was not asked for.
fn select(known: &mut Known, ask: &TrendAsk) -> Result<(), PipelineError> {
    if let Some(class) = &ask.class {
        let aliases = &known.aliases;
        known
            .files
            .retain(|file| file.class == *class || aliases.class(&file.class).0 == class);
    }
    let Some(filter) = &ask.filter else { return Ok(()) };
    let filter = regex::Regex::new(filter)
        .map_err(|error| PipelineError::Usage(format!("--filter is not a regular expression: {error}")))?;
    let aliases = known.aliases.clone();
    let groups = known
        .files
        .iter_mut()
        .flat_map(|file| &mut file.measurements)
        .flat_map(|each| &mut each.groups);
    for group in groups {
        let target = &group.target;
        group
            .rows
            .retain(|row| filter.is_match(&aliases.renamed(target, &row.id).1));
    }
    Ok(())
}

/// What `trend --bless` is asked for.
#[derive(Debug, Clone)]
pub struct BlessAsk {
    /// The history.
    pub keep: KeepAsk,
    /// Commit, as typed.
    pub commit: String,
    /// Why.
    pub reason: String,
    /// Only scenarios whose id matches.
    pub scenario: Option<String>,
}

/// Accepts the changes of a commit. Returns its full id.
///
/// # Errors
/// [`KeepError`] on behalf of a pull request or without a reason; [`PipelineError`] if the history cannot be written.
pub fn bless(ask: &BlessAsk, view: &View) -> Result<String, PipelineError> {
    may_keep(&ask.keep)?;
    let repo = Repo::discover(&ask.keep.cwd)?;
    let commit = repo.commit_id(&ask.commit)?.to_string();
    let history = History::of(&repo, ask.keep.place);
    let blessing = Blessing {
        commit: commit.clone(),
        reason: ask.reason.clone(),
        scenario: ask.scenario.clone(),
        blessed_at: timestamp(),
    };
    let path = blessing::path_of(&commit);
    let refused = |source| KeepError::Blessing {
        path: history.shown(&path),
        source,
    };
    // What is refused whatever the file holds must not leave a folder behind.
    blessing::append(None, &blessing).map_err(refused)?;
    let message = format!("bless {}", &commit[..10]);
    history
        .change(&path, &message, |old| blessing::append(old, &blessing))?
        .map_err(refused)?;
    view.say(&format!("blessed in {}", history.shown(&path)));
    history.push(ask.keep.push.as_deref())?;
    Ok(commit)
}

/// Writes what a trend is rendered to.
///
/// # Errors
/// [`PipelineError`] if a file cannot be written.
pub fn write(path: &Path, content: &[u8]) -> Result<(), PipelineError> {
    Ok(crate::edge::store::write(path, content)?)
}
