//! The page of a history: every scenario with a small line, searched and sorted; a click shows its chart with interval,
//! changes, commits and blessings.
//!
//! Levels are written as differences in units of 0.01 %, which is finer than anything measured: a thousand scenarios over
//! two thousand commits then fit into a few megabytes.

use super::{Names, words};
use crate::history::chain::Stretch;
use crate::history::change::Shape;
use crate::history::trend::{Change, Series, Trend};
use crate::metric::Better;
use crate::report::format::setting;
use crate::report::page::Page;
use crate::report::visible;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const SCRIPT: &str = include_str!("../../../assets/page/trend.js");

const BODY: &str = r#"<section class="detail" id="detail" aria-label="Chart of one scenario"></section>
<div class="tools">
<label for="search">Search<input type="search" id="search" placeholder="scenario" autocomplete="off" spellcheck="false"></label>
<label for="class">Machines<select id="class"><option value="">all</option></select></label>
<label class="tick" for="only"><input type="checkbox" id="only">only what changed</label>
<label class="narrow" for="order">Order<select id="order"></select></label>
<span class="count" id="count" aria-live="polite"></span>
</div>
<p class="status" id="status" role="status">Unpacking the history&#8230;</p>
<table id="table" hidden>
<caption class="skip">Scenarios</caption>
<thead><tr id="head"></tr></thead>
<tbody id="body"></tbody>
</table>
<details id="notes-box" hidden><summary id="notes-count"></summary><ul class="notes" id="notes"></ul></details>
<noscript><p>This page draws its charts itself and needs JavaScript, which its browser has switched off. It loads nothing.</p></noscript>"#;

#[derive(Serialize)]
struct Data<'a> {
    link: Option<&'a str>,
    commits: Vec<WireCommit<'a>>,
    classes: Vec<String>,
    series: Vec<WireSeries<'a>>,
    notes: Vec<String>,
    skipped: Vec<(String, String)>,
}

#[derive(Serialize)]
struct WireCommit<'a> {
    sha: &'a str,
    time: i64,
    subject: String,
    tags: Vec<String>,
}

#[derive(Serialize)]
struct WireSeries<'a> {
    name: String,
    class: usize,
    unit: &'static str,
    better: Better,
    latest: Option<f64>,
    since: Option<(f64, f64, f64)>,
    stretches: Vec<WireStretch>,
    changes: Vec<WireChange<'a>>,
}

/// Columns of numbers, each the difference to the one before, with spaces between.
#[derive(Serialize)]
struct WireStretch {
    begins: &'static str,
    reference: usize,
    commits: String,
    level: String,
    error: String,
}

#[derive(Serialize)]
struct WireChange<'a> {
    shape: &'static str,
    before: usize,
    at: usize,
    size: f64,
    low: f64,
    high: f64,
    chance: f64,
    worse: bool,
    blessed: Option<&'a str>,
}

/// The page.
#[must_use]
pub(super) fn render(trend: &Trend, names: &Names<'_>) -> String {
    let classes: Vec<&str> = trend
        .series
        .iter()
        .map(|series| series.class.as_str())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let data = Data {
        link: trend.link.as_deref(),
        commits: trend
            .commits
            .iter()
            .map(|commit| WireCommit {
                sha: &commit.sha,
                time: commit.time,
                subject: visible::cut_end(&visible::line(&commit.subject), 100),
                tags: commit.tags.iter().map(|tag| visible::id(tag)).collect(),
            })
            .collect(),
        series: trend
            .series
            .iter()
            .map(|series| WireSeries::new(series, &classes, names))
            .collect(),
        classes: classes.iter().map(|class| visible::id(class)).collect(),
        notes: trend.notes.iter().map(|note| visible::line(note)).collect(),
        skipped: trend
            .skipped
            .iter()
            .map(|(path, why)| (visible::line(path), visible::line(why)))
            .collect(),
    };
    let span = match (trend.commits.first(), trend.commits.last()) {
        (Some(first), Some(last)) => format!(
            "{} from {} ({}) to {} ({}); changes from {} on",
            trend.branch,
            words::short(first),
            words::day(first),
            words::short(last),
            words::day(last),
            setting(trend.threshold.0)
        ),
        _ => "abreast compare BASE HEAD --keep begins a history".to_owned(),
    };
    let page = Page {
        title: &words::headline(trend),
        subtitle: &span,
        body: BODY,
        footer: &words::method(trend),
        script: SCRIPT,
    };
    page.render(&data)
}

impl<'a> WireSeries<'a> {
    fn new(series: &'a Series, classes: &[&str], names: &Names<'_>) -> Self {
        Self {
            name: names.of(series),
            class: classes.binary_search(&series.class.as_str()).unwrap_or(0),
            unit: series.scenario.metric.unit.as_str(),
            better: series.scenario.metric.better,
            latest: series.latest,
            since: series.since_reference(),
            stretches: series.stretches.iter().map(WireStretch::new).collect(),
            changes: series.changes.iter().map(WireChange::new).collect(),
        }
    }
}

impl WireStretch {
    fn new(stretch: &Stretch) -> Self {
        let levels = || stretch.levels.iter();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a log level in units of 0.01 %: saturates far out"
        )]
        let hundredths = |number: f64| (number * 1e4).round() as i64;
        #[expect(clippy::cast_possible_wrap, reason = "far fewer than 2^63 commits")]
        let commit = |at: usize| at as i64;
        Self {
            begins: stretch.begins.as_str(),
            reference: stretch.reference,
            commits: differences(levels().map(|level| commit(level.commit))),
            level: differences(levels().map(|level| hundredths(level.level))),
            error: differences(levels().map(|level| hundredths(level.error))),
        }
    }
}

fn differences(numbers: impl Iterator<Item = i64>) -> String {
    let mut text = String::new();
    let mut before = 0;
    for (n, number) in numbers.enumerate() {
        // Writing into a text does not fail.
        let _ = write!(text, "{}{}", if n > 0 { " " } else { "" }, number - before);
        before = number;
    }
    text
}

impl<'a> WireChange<'a> {
    fn new(of: &'a Change) -> Self {
        Self {
            shape: match of.shape {
                Shape::Jump => "jump",
                Shape::Drift => "drift",
            },
            before: of.before,
            at: of.at,
            size: of.size,
            low: of.low,
            high: of.high,
            chance: of.chance,
            worse: of.worse,
            blessed: of.blessed.as_deref(),
        }
    }
}
