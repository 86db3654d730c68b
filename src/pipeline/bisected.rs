//! The story of `bisect`: the ends are compared, then commits between them, each beside the good end, then the one that is
//! left beside its predecessor.

use super::{Ask, PipelineError, compare};
use crate::bisection::{Answer, Bisection};
use crate::config::Settings;
use crate::edge::git::Repo;
use crate::edge::process;
use crate::edge::view::View;
use crate::history::Commit;
use crate::report::format::{change, change_with_width};
use crate::report::{Change, Finding, visible};
use crate::units::count;
use crate::verdict::Verdict;
use std::path::PathBuf;

/// What `bisect` is asked for.
#[derive(Debug, Clone)]
pub struct BisectAsk {
    /// Folder the user is in.
    pub cwd: PathBuf,
    /// A commit before the change, as typed.
    pub good: String,
    /// A commit that has it, as typed.
    pub bad: String,
    /// Id of the scenario.
    pub scenario: String,
    /// Settings from the command line.
    pub settings: Settings,
}

/// What `bisect` found.
#[derive(Debug, Clone, PartialEq)]
pub enum Culprit {
    /// The ends do not differ, as far as can be told.
    NoChange {
        /// What was measured between them, in words.
        said: String,
    },
    /// One commit.
    Commit {
        /// It.
        commit: Commit,
        /// Its change against its predecessor; absent if that could not be measured.
        own: Option<Change>,
        /// What separates the ends.
        ends: Change,
    },
    /// The smallest range that could be proved.
    Range {
        /// Last commit known to be good.
        after: Commit,
        /// First commit known to be bad.
        by: Commit,
        /// Commits between them that do not build, or could not be told.
        unknown: Vec<Commit>,
        /// What separates the ends.
        ends: Change,
    },
    /// The user stopped it.
    Interrupted,
}

/// Finds the commit that changed a scenario.
///
/// # Errors
/// [`PipelineError`] if the ends are no commits of one line, do not build, or do not have the scenario.
pub fn bisect(ask: &BisectAsk, view: &View) -> Result<Culprit, PipelineError> {
    let repo = Repo::discover(&ask.cwd)?;
    let commits = repo.first_parents(&ask.good, &ask.bad)?;
    let sha = |at: usize| commits[at].sha.clone();
    let last = commits.len() - 1;
    let step = |base: usize, head: usize| measured(ask, sha(base), sha(head), view);
    let ends = step(0, last)?;
    let Some(ends) = ends.changed() else {
        return Ok(if process::interrupted() {
            Culprit::Interrupted
        } else {
            Culprit::NoChange { said: ends.words() }
        });
    };
    view.say(&format!(
        "{} between the ends, {} between them",
        change_with_width(&ends),
        count(last - 1, "commit")
    ));
    let mut search = Bisection::new(commits.len());
    while let Some(at) = search.next() {
        let found = step(0, at)?;
        if process::interrupted() {
            return Ok(Culprit::Interrupted);
        }
        let answer = Answer::of(found.interval(), ends.change);
        view.say(&format!(
            "{} {}: {}",
            &commits[at].sha[..10],
            said(answer),
            found.words()
        ));
        search.tell(at, answer);
    }
    let range = search.range();
    if !range.is_one_commit() {
        return Ok(Culprit::Range {
            after: commits[range.after].clone(),
            by: commits[range.by].clone(),
            unknown: search
                .unknown()
                .into_iter()
                .map(|at| commits[at].clone())
                .collect(),
            ends,
        });
    }
    let own = if (range.after, range.by) == (0, last) {
        Some(ends.clone())
    } else {
        step(range.after, range.by)?.change
    };
    Ok(Culprit::Commit {
        commit: commits[range.by].clone(),
        own,
        ends,
    })
}

fn said(answer: Answer) -> &'static str {
    match answer {
        Answer::Good => "is good",
        Answer::Bad => "is bad",
        Answer::Unknown => "says nothing",
    }
}

/// What one comparison says of the scenario.
struct Step {
    change: Option<Change>,
    verdict: Option<Verdict>,
    /// Why there is no change.
    why: String,
}

/// Compares two commits as to the scenario alone. A side that does not build is no error but says nothing.
fn measured(ask: &BisectAsk, base: String, head: String, view: &View) -> Result<Step, PipelineError> {
    let one = Ask {
        cwd: ask.cwd.clone(),
        base: Some(base),
        head: Some(head),
        settings: Settings {
            filter: Some(format!("^{}$", regex::escape(&ask.scenario))),
            ..ask.settings.clone()
        },
        ..Ask::default()
    };
    let outcome = compare(&one, view)?;
    let failed = outcome
        .recording
        .builds
        .iter()
        .find(|build| build.failure.is_some());
    let finding = |finding: &&Finding| finding.scenario == ask.scenario;
    let finding = outcome.report.findings.iter().find(finding);
    let why = match (failed, finding) {
        (Some(build), _) => format!("{} does not build", build.side),
        (None, None) => format!("it has no scenario `{}`", visible::id(&ask.scenario)),
        (None, Some(finding)) => finding
            .notes
            .first()
            .map_or_else(|| finding.verdict.as_str().to_owned(), |note| visible::line(note)),
    };
    Ok(Step {
        change: finding.and_then(|finding| finding.change.clone()),
        verdict: finding.map(|finding| finding.verdict),
        why,
    })
}

impl Step {
    /// The change between the ends, if there is one.
    fn changed(&self) -> Option<Change> {
        self.change
            .clone()
            .filter(|_| self.verdict.is_some_and(Verdict::is_change))
    }

    fn interval(&self) -> Option<(f64, f64)> {
        match (&self.change, self.verdict) {
            // The same code as the good end.
            (_, Some(Verdict::Identical)) => Some((0.0, 0.0)),
            (_, Some(Verdict::NotComparable)) => None,
            (Some(change), _) => Some((change.low, change.high)),
            (None, _) => None,
        }
    }

    fn words(&self) -> String {
        match (&self.change, self.verdict) {
            (_, Some(Verdict::Identical)) => "the same code".to_owned(),
            (Some(of), _) => format!(
                "{} ({} to {})",
                change(of.change),
                change(of.low),
                change(of.high)
            ),
            (None, _) => self.why.clone(),
        }
    }
}
