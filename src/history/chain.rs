//! The level of each commit for one scenario: changes measured on one runner each, added up.
//!
//! A step from a commit to the next one that was measured makes the chain; a direct comparison over several steps, such as
//! with the last release, takes back the error that has added up ([`levels`]). Where nothing
//! measured leads on, or what leads on measured something else, the chain breaks, and says why: levels on both sides of
//! a break have nothing to do with each other.

use crate::stats::levels::{Difference, Levels, levels};
use crate::verdict::Verdict;

/// Standard error of a change whose own is unknown, log scale. Chosen; arbitrary: what eight rounds give on a noisy machine.
const UNKNOWN_ERROR: f64 = 0.02;

/// What one measurement says of the scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Position of the commit it was compared with; absent if it was measured alone.
    pub base: Option<usize>,
    /// Position of the commit.
    pub head: usize,
    /// `ln(head / base)`; absent if that was not measured.
    pub change: Option<f64>,
    /// Its standard error, or that of `ln(head)`; absent if unknown.
    pub error: Option<f64>,
    /// Typical value of head, above zero; absent if unknown.
    pub value: Option<f64>,
    /// What the report said.
    pub verdict: Verdict,
}

/// One commit of a stretch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Position of the commit.
    pub commit: usize,
    /// Level relative to that of the stretch's reference, log scale.
    pub level: f64,
    /// Standard error of that, log scale, `>= 0`; 0 for the reference.
    pub error: f64,
    /// Variance of the level relative to that of the commit before, `>= 0`; of the first commit 0.
    pub walk: f64,
    /// Variance of the commit's own error that it shares with no other, `>= 0`.
    pub own: f64,
}

/// Why a stretch begins where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begins {
    /// With the history.
    First,
    /// Nothing measured leads here from the commits before.
    Gap,
    /// The bench source, or what it measures with, changed.
    NotComparable,
    /// A commit in between could not be measured.
    Failed,
}

impl Begins {
    /// In words, for a reader; empty for the beginning of the history.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::First => "",
            Self::Gap => "no measurement leads here",
            Self::NotComparable => "the bench changed",
            Self::Failed => "a commit could not be measured",
        }
    }
}

/// Commits whose levels can be compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    /// Why it begins.
    pub begins: Begins,
    /// In order of the commits, at least one.
    pub levels: Vec<Level>,
    /// Position in `levels` of the commit that the others are told relative to.
    pub reference: usize,
}

/// The stretches of one scenario, in order of their first commits. Commits for which `is_release` holds are preferred as
/// references, the newest of them; else it is the first commit. Without any number there is no stretch.
#[must_use]
pub fn chain(steps: &[Step], is_release: impl Fn(usize) -> bool) -> Vec<Stretch> {
    let differences: Vec<Difference> = steps.iter().filter_map(difference).collect();
    let mut stretches: Vec<Stretch> = if differences.is_empty() {
        alone(steps, &is_release).into_iter().collect()
    } else {
        levels(&differences)
            .iter()
            .map(|found| stretch(found, &is_release))
            .collect()
    };
    for n in 1..stretches.len() {
        let before = stretches[n - 1].levels.last().map_or(0, |level| level.commit);
        let begins = stretches[n].levels.first().map_or(0, |level| level.commit);
        stretches[n].begins = why(steps, before, begins);
    }
    stretches
}

fn difference(step: &Step) -> Option<Difference> {
    // Where the sides are not the same experiment a number says nothing about the commit.
    if step.verdict == Verdict::NotComparable {
        return None;
    }
    Some(Difference {
        from: step.base?,
        to: step.head,
        value: step.change?,
        variance: step.error.unwrap_or(UNKNOWN_ERROR).powi(2),
    })
}

fn stretch(found: &Levels, is_release: impl Fn(usize) -> bool) -> Stretch {
    let reference = reference(found.nodes(), is_release);
    let errors = found.variances(reference);
    let at = found.values()[reference];
    let level = |n: usize| Level {
        commit: found.nodes()[n],
        level: found.values()[n] - at,
        error: errors[n].sqrt(),
        walk: if n == 0 { 0.0 } else { found.variance(n - 1, n) },
        own: 0.0,
    };
    Stretch {
        begins: Begins::First,
        levels: (0..found.nodes().len()).map(level).collect(),
        reference,
    }
}

fn reference(commits: &[usize], is_release: impl Fn(usize) -> bool) -> usize {
    commits
        .iter()
        .rposition(|commit| is_release(*commit))
        .unwrap_or(0)
}

/// Values that were measured alone, as imported ones are: each has an error of its own.
fn alone(steps: &[Step], is_release: impl Fn(usize) -> bool) -> Option<Stretch> {
    let value = |step: &Step| {
        Some((
            step.head,
            step.value.filter(|value| *value > 0.0)?.ln(),
            step.error,
        ))
    };
    let mut values: Vec<_> = steps.iter().filter_map(value).collect();
    values.sort_by_key(|(head, ..)| *head);
    values.dedup_by_key(|(head, ..)| *head);
    let commits: Vec<usize> = values.iter().map(|(head, ..)| *head).collect();
    let reference = reference(&commits, is_release);
    let own = |error: Option<f64>| error.unwrap_or(0.0).powi(2);
    let (_, at, of_reference) = *values.get(reference)?;
    let level = |(n, (commit, value, error)): (usize, &(usize, f64, Option<f64>))| Level {
        commit: *commit,
        level: value - at,
        error: if n == reference {
            0.0
        } else {
            (own(*error) + own(of_reference)).sqrt()
        },
        walk: 0.0,
        own: own(*error),
    };
    Some(Stretch {
        begins: Begins::First,
        levels: values.iter().enumerate().map(level).collect(),
        reference,
    })
}

/// What happened after one commit and up to another.
fn why(steps: &[Step], before: usize, begins: usize) -> Begins {
    let between = |verdict| {
        let mut steps = steps.iter();
        steps.any(|step| step.verdict == verdict && step.head > before && step.head <= begins)
    };
    if between(Verdict::NotComparable) {
        Begins::NotComparable
    } else if between(Verdict::Failed) {
        Begins::Failed
    } else {
        Begins::Gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(base: usize, head: usize, change: f64, error: f64) -> Step {
        Step {
            base: Some(base),
            head,
            change: Some(change),
            error: Some(error),
            value: None,
            verdict: Verdict::Unchanged,
        }
    }

    fn levels_of(stretch: &Stretch) -> Vec<(usize, f64, f64)> {
        let rounded = |number: f64| (number * 1e6).round() / 1e6;
        let each = |level: &Level| (level.commit, rounded(level.level), rounded(level.error));
        stretch.levels.iter().map(each).collect()
    }

    #[test]
    fn changes_and_their_errors_add_up_from_the_first_commit() {
        let found = chain(&[step(0, 2, 0.02, 0.03), step(2, 3, 0.02, 0.04)], |_| false);
        assert_eq!(found.len(), 1);
        assert_eq!(
            levels_of(&found[0]),
            [(0, 0.0, 0.0), (2, 0.02, 0.03), (3, 0.04, 0.05)]
        );
        assert_eq!(found[0].begins, Begins::First);
    }

    #[test]
    fn a_direct_comparison_with_a_release_takes_the_added_errors_back() {
        let mut steps: Vec<Step> = (0..16).map(|n| step(n, n + 1, 0.01, 0.01)).collect();
        let free = chain(&steps, |commit| commit == 0);
        assert_eq!(levels_of(&free[0])[16], (16, 0.16, 0.04));
        steps.push(step(0, 16, 0.08, 0.01));
        let anchored = chain(&steps, |commit| commit == 0);
        let (_, level, error) = levels_of(&anchored[0])[16];
        // 0.16 is known to 0.04, 0.08 to 0.01: weights 1 and 16.
        assert!(
            (level - (0.16 + 16.0 * 0.08) / 17.0).abs() < 1e-5 && error < 0.01,
            "{level} {error}"
        );
        // And no commit looks like the one that took it back.
        let steps: Vec<f64> = anchored[0]
            .levels
            .windows(2)
            .map(|two| two[1].level - two[0].level)
            .collect();
        assert!(
            steps.iter().all(|step| (step - steps[0]).abs() < 1e-12),
            "{steps:?}"
        );
        assert_eq!(anchored[0].reference, 0);
    }

    #[test]
    fn a_chain_breaks_where_nothing_leads_on_and_says_why() {
        let failed = Step {
            change: None,
            error: None,
            verdict: Verdict::Failed,
            ..step(1, 2, 0.0, 0.0)
        };
        let other = Step {
            verdict: Verdict::NotComparable,
            ..step(3, 4, 0.5, 0.01)
        };
        let steps = [
            step(0, 1, 0.1, 0.01),
            failed,
            step(2, 3, 0.1, 0.01),
            other,
            step(4, 5, 0.1, 0.01),
            step(7, 8, 0.1, 0.01),
        ];
        let begins: Vec<Begins> = chain(&steps, |_| false)
            .iter()
            .map(|stretch| stretch.begins)
            .collect();
        assert_eq!(
            begins,
            [Begins::First, Begins::Failed, Begins::NotComparable, Begins::Gap]
        );
    }

    #[test]
    fn a_direct_comparison_bridges_a_gap() {
        let steps = [
            step(0, 1, 0.1, 0.01),
            step(3, 4, 0.1, 0.01),
            step(1, 4, 0.3, 0.01),
        ];
        let found = chain(&steps, |_| false);
        assert_eq!(found.len(), 1);
        assert_eq!(
            levels_of(&found[0])[2..],
            [(3, 0.3, 0.017321), (4, 0.4, 0.014142)]
        );
    }

    #[test]
    fn values_that_were_measured_alone_each_have_an_error_of_their_own() {
        let alone = |head: usize, value: f64| Step {
            base: None,
            change: None,
            value: Some(value),
            error: Some(0.03),
            ..step(0, head, 0.0, 0.0)
        };
        let found = chain(&[alone(4, 300.0), alone(1, 100.0), alone(2, 0.0)], |_| false);
        assert_eq!(levels_of(&found[0]), [(1, 0.0, 0.0), (4, 1.098612, 0.042426)]);
        assert!(chain(&[], |_| false).is_empty());
    }
}
