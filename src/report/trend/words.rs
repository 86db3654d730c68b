//! What is said about a history and its changes.

use crate::history::Commit;
use crate::history::change::Shape;
use crate::history::trend::{Change, Series, Trend};
use crate::report::format::setting;
use crate::report::visible;
use crate::units::count;

/// The most important sentence.
pub(super) fn headline(trend: &Trend) -> String {
    if trend.series.is_empty() {
        return format!(
            "The history holds no measured commit of {}.",
            visible::id(&trend.branch)
        );
    }
    let all = || trend.series.iter().flat_map(|series| &series.changes);
    let open = all()
        .filter(|change| change.worse && change.blessed.is_none())
        .count();
    let blessed = all().filter(|change| change.blessed.is_some()).count();
    let better = all()
        .filter(|change| !change.worse && change.blessed.is_none())
        .count();
    let mut said = vec![match open {
        0 => "Nothing got worse".to_owned(),
        _ => format!("{} for the worse", count(open, "change")),
    }];
    if better > 0 {
        said.push(format!("{better} for the better"));
    }
    if blessed > 0 {
        said.push(format!("{blessed} blessed"));
    }
    format!(
        "{} in {} over {}.",
        said.join(", "),
        count(trend.series.len(), "scenario"),
        count(trend.commits.len(), "measured commit")
    )
}

/// How changes were found.
pub(super) fn method(trend: &Trend) -> String {
    format!(
        "Levels are sums of changes, each measured side by side on one machine; bands are 95 % intervals relative to the \
         reference. Changes from {} on, family-wise 5 %.",
        setting(trend.threshold.0)
    )
}

/// `at 0123456789` or `from 0123456789 to 9876543210`, by the first commit that has it.
pub(super) fn place(trend: &Trend, of: &Change) -> String {
    let id = |at: usize| trend.commits.get(at).map_or("?", short);
    match of.shape {
        Shape::Jump => format!("at {}", id(of.at)),
        Shape::Drift => format!("drifting from {} to {}", id(of.before), id(of.at)),
    }
}

/// First ten digits of a commit.
pub(super) fn short(commit: &Commit) -> &str {
    commit.sha.get(..10).unwrap_or(&commit.sha)
}

/// The day of a commit: `2026-03-01`, UTC.
pub(super) fn day(commit: &Commit) -> String {
    jiff::Timestamp::from_second(commit.time)
        .map_or_else(|_| "?".to_owned(), |time| time.strftime("%Y-%m-%d").to_string())
}

/// What the commit of a change says it is, every character visible.
pub(super) fn subject(trend: &Trend, of: &Change) -> String {
    trend
        .commits
        .get(of.at)
        .map(|commit| visible::line(&commit.subject))
        .unwrap_or_default()
}

/// What levels are told relative to: `v1.2.0`, or the first commit's digits.
pub(super) fn reference(trend: &Trend, series: &Series) -> String {
    let stretch = series.stretches.last();
    let commit = stretch.and_then(|stretch| trend.commits.get(stretch.levels.get(stretch.reference)?.commit));
    commit.map_or_else(String::new, |commit| match commit.tags.first() {
        Some(tag) => visible::id(tag),
        None => short(commit).to_owned(),
    })
}
