//! The whole history of a branch as a reader wants it: for each scenario its levels, where it changed, what was accepted.

mod gathered;

use self::gathered::{Gathered, Key, Steps};
use super::alias::Aliases;
use super::blessing::Blessing;
use super::chain::{Stretch, chain};
use super::change::{Candidate, Shape, changes};
use super::{Commit, File, Line};
use crate::metric::Better;
use crate::scenario::Scenario;
use crate::stats::holm::holm;
use crate::units::Fraction;
use crate::verdict::Verdict;

/// The chance that any change is reported of scenarios that never changed.
pub const FAMILY_ALPHA: f64 = 0.05;

/// What is known about a branch.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Every file of the history that can be read.
    pub files: Vec<File>,
    /// Every blessing that can be read.
    pub blessings: Vec<Blessing>,
    /// Files that cannot be read: path and why.
    pub skipped: Vec<(String, String)>,
    /// What maintainers say.
    pub aliases: Aliases,
}

/// What is asked of a history.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// What the branch is called.
    pub branch: String,
    /// Smallest change that is reported.
    pub threshold: Fraction,
    /// Full id of the commit that levels are told relative to, where it was measured; absent: the newest release.
    pub anchor: Option<String>,
    /// Address of a commit's page, without the commit's id: `https://github.com/o/r/commit/`.
    pub link: Option<String>,
}

/// The history of a branch.
#[derive(Debug, Clone, PartialEq)]
pub struct Trend {
    /// What the branch is called.
    pub branch: String,
    /// Smallest change that is reported.
    pub threshold: Fraction,
    /// Commits that were measured, oldest first; positions everywhere below are positions in this list.
    pub commits: Vec<Commit>,
    /// One for each scenario and class of machines, by class, target, id and metric.
    pub series: Vec<Series>,
    /// Sentences about the whole.
    pub notes: Vec<String>,
    /// Files that were not read: path and why.
    pub skipped: Vec<(String, String)>,
    /// Address of a commit's page, without the commit's id.
    pub link: Option<String>,
}

/// One scenario on one class of machines.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Class of machines.
    pub class: String,
    /// The scenario under its newest name.
    pub scenario: Scenario,
    /// Typical value in the newest measurement that has one.
    pub latest: Option<f64>,
    /// Commits whose levels can be compared with each other, one stretch after another.
    pub stretches: Vec<Stretch>,
    /// What changed, in order of the commits.
    pub changes: Vec<Change>,
}

/// A change that is reported.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Jump or drift.
    pub shape: Shape,
    /// Last commit before it.
    pub before: usize,
    /// Commit that ends it; of a jump the first one that has it.
    pub at: usize,
    /// Relative size; a fraction, 0.02 is +2 %.
    pub size: f64,
    /// Lower end of its 95 % interval, a fraction.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Probability that chance alone makes one as clear, corrected for all that was looked for.
    pub chance: f64,
    /// Whether it is bad news.
    pub worse: bool,
    /// Reason for which it was accepted.
    pub blessed: Option<String>,
}

impl Trend {
    /// Makes the history of the branch with these commits.
    #[must_use]
    pub fn new(line: &Line, known: &Known, question: &Question) -> Self {
        let mut gathered = Gathered::new(line, &known.aliases);
        for file in &known.files {
            gathered.take(file);
        }
        let notes = gathered.notes();
        let positions: Vec<usize> = gathered.measured.iter().copied().collect();
        let place = |position: usize| positions.binary_search(&position).unwrap_or(0);
        let commits: Vec<Commit> = positions
            .iter()
            .map(|position| line.commits()[*position].clone())
            .collect();
        let anchor = question.anchor.as_deref();
        let is_anchor = |at: usize| match anchor {
            Some(sha) => commits[at].sha == sha,
            None => commits[at].tags.iter().any(|tag| is_release(tag)),
        };
        let series = gathered.into_series();
        // Each series is asked for jumps and for drifts.
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 scenarios")]
        let level = FAMILY_ALPHA / (2 * series.len()).max(1) as f64;
        let of = |(seed, ((class, scenario), mut of)): (usize, (Key, Steps))| {
            for step in &mut of.steps {
                step.head = place(step.head);
                step.base = step.base.map(place);
            }
            let stretches = chain(&of.steps, is_anchor);
            let candidates: Vec<Candidate> = stretches
                .iter()
                .flat_map(|stretch| {
                    let commit = |at: usize| stretch.levels[at].commit;
                    let moved = move |candidate: Candidate| Candidate {
                        before: commit(candidate.before),
                        at: commit(candidate.at),
                        ..candidate
                    };
                    changes(stretch, level, seed as u64).into_iter().map(moved)
                })
                .collect();
            let series = Series {
                class,
                scenario,
                latest: of.latest.map(|(_, value)| value),
                stretches,
                changes: Vec::new(),
            };
            (series, candidates)
        };
        let found: Vec<(Series, Vec<Candidate>)> = series.into_iter().enumerate().map(of).collect();
        let found = found
            .into_iter()
            .filter(|(series, _)| !series.stretches.is_empty())
            .collect();
        Self {
            branch: question.branch.clone(),
            threshold: question.threshold,
            series: reported(found, question.threshold, &known.blessings, line, &positions),
            commits,
            notes,
            skipped: known.skipped.clone(),
            link: question.link.clone(),
        }
    }

    /// Changes that nobody accepted, with their series: bad news first, then the newest.
    #[must_use]
    pub fn open(&self) -> Vec<(&Series, &Change)> {
        let all = self
            .series
            .iter()
            .flat_map(|series| series.changes.iter().map(move |change| (series, change)));
        let mut open: Vec<_> = all.filter(|(_, change)| change.blessed.is_none()).collect();
        open.sort_by(|(_, one), (_, other)| {
            other
                .worse
                .cmp(&one.worse)
                .then(other.at.cmp(&one.at))
                .then(other.size.abs().total_cmp(&one.size.abs()))
        });
        open
    }
}

/// Whether a tag names a release: digits with a dot between them, whatever is in front.
fn is_release(tag: &str) -> bool {
    let digits = tag.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.split_once('.').is_some_and(|(major, rest)| {
        !major.is_empty()
            && major.bytes().all(|byte| byte.is_ascii_digit())
            && rest.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Keeps the candidates that are clear beside all that were looked for, and large enough to matter.
fn reported(
    mut found: Vec<(Series, Vec<Candidate>)>,
    threshold: Fraction,
    blessings: &[Blessing],
    line: &Line,
    positions: &[usize],
) -> Vec<Series> {
    let chances: Vec<f64> = found
        .iter()
        .flat_map(|(_, own)| own)
        .map(|candidate| candidate.chance)
        .collect();
    // Each series was asked for jumps and for drifts.
    let corrected = holm(&chances, 2 * found.len());
    let mut next = corrected.into_iter();
    for (series, candidates) in &mut found {
        let better = series.scenario.metric.better;
        for candidate in candidates.drain(..) {
            let chance = next.next().unwrap_or(1.0);
            let size = candidate.size.exp_m1();
            if chance > FAMILY_ALPHA || size.abs() < threshold.0 {
                continue;
            }
            // 95 % of a normal distribution, qnorm(0.975) in R.
            let width = 1.959_963_984_540_054 * candidate.error;
            let range = (
                positions[candidate.before.saturating_sub(1)],
                positions[(candidate.at + 1).min(positions.len() - 1)],
            );
            series.changes.push(Change {
                shape: candidate.shape,
                before: candidate.before,
                at: candidate.at,
                size,
                low: (candidate.size - width).exp_m1(),
                high: (candidate.size + width).exp_m1(),
                chance,
                worse: (size > 0.0) == (better == Better::Lower),
                blessed: blessed(blessings, &series.scenario.id, line, range),
            });
        }
    }
    found.into_iter().map(|(series, _)| series).collect()
}

/// The reason given for a commit of this range; both ends may be one measured commit off, as the place of a change may be.
fn blessed(blessings: &[Blessing], id: &str, line: &Line, (after, to): (usize, usize)) -> Option<String> {
    let own = blessings.iter().filter(|blessing| {
        let position = line.position(&blessing.commit);
        position.is_some_and(|position| position > after && position <= to) && blessing.is_about(id)
    });
    let reasons: Vec<&str> = own.map(|blessing| blessing.reason.as_str()).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

impl Series {
    /// Every level with its stretch's number, in order.
    pub fn levels(&self) -> impl Iterator<Item = (usize, &super::chain::Level)> {
        let numbered = self.stretches.iter().enumerate();
        numbered.flat_map(|(n, stretch)| stretch.levels.iter().map(move |level| (n, level)))
    }

    /// Level of the newest commit relative to the reference of its stretch, with the ends of its 95 % interval; fractions.
    #[must_use]
    pub fn since_reference(&self) -> Option<(f64, f64, f64)> {
        let newest = self.stretches.last()?.levels.last()?;
        let width = 1.959_963_984_540_054 * newest.error;
        Some((
            newest.level.exp_m1(),
            (newest.level - width).exp_m1(),
            (newest.level + width).exp_m1(),
        ))
    }

    /// Whether a row with this verdict, or none, is worth a look first: something bad that nobody accepted.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.changes
            .iter()
            .any(|change| change.worse && change.blessed.is_none())
    }
}

/// The verdict of a row that was measured alone: nothing was compared.
pub const ALONE: Verdict = Verdict::Unclear;

#[cfg(test)]
mod tests;
