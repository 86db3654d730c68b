//! What the files of a history say, brought to the names and commits of today.

use crate::history::alias::Aliases;
use crate::history::chain::Step;
use crate::history::{File, Group, Line, Measurement, Point};
use crate::metric::{Better, Metric, Unit};
use crate::scenario::{Kind, Scenario, Target};
use crate::units::count;
use std::collections::{BTreeSet, HashMap};

/// What identifies a series.
pub(super) type Key = (String, Scenario);

/// The steps of one scenario, with the newest value.
#[derive(Default)]
pub(super) struct Steps {
    pub(super) steps: Vec<Step>,
    pub(super) latest: Option<(usize, f64)>,
}

/// Rows of one class that share their target and metric, as files have them.
#[derive(PartialEq, Eq, Hash)]
struct Shared<'a> {
    class: &'a str,
    kind: Kind,
    target: (&'a str, &'a str),
    metric: (&'a str, Unit, Better),
}

/// What files say, brought to the names and commits of today.
pub(super) struct Gathered<'a> {
    line: &'a Line,
    aliases: &'a Aliases,
    series: Vec<(Key, Steps)>,
    /// Positions in `series`; asked once for each name that files use.
    by_key: HashMap<Key, usize>,
    groups: HashMap<Shared<'a>, usize>,
    /// Positions in `series` by group and id as files have them: millions of rows are looked up without copying a letter.
    by_id: HashMap<(usize, &'a str), usize>,
    pub(super) measured: BTreeSet<usize>,
    /// Commits of measurements that are not on this branch.
    elsewhere: BTreeSet<String>,
    /// Commits that were found by their files.
    rewritten: BTreeSet<String>,
    bridged: BTreeSet<(String, String, String)>,
}

impl<'a> Gathered<'a> {
    pub(super) fn new(line: &'a Line, aliases: &'a Aliases) -> Self {
        Self {
            line,
            aliases,
            series: Vec::new(),
            by_key: HashMap::new(),
            groups: HashMap::new(),
            by_id: HashMap::new(),
            measured: BTreeSet::new(),
            elsewhere: BTreeSet::new(),
            rewritten: BTreeSet::new(),
            bridged: BTreeSet::new(),
        }
    }

    pub(super) fn take(&mut self, file: &'a File) {
        let (class, reason) = self.aliases.class(&file.class);
        if let Some(reason) = reason {
            let bridge = (file.class.clone(), class.to_owned(), reason.to_owned());
            self.bridged.insert(bridge);
        }
        for measurement in &file.measurements {
            self.take_measurement(class, measurement);
        }
    }

    fn take_measurement(&mut self, class: &'a str, measurement: &'a Measurement) {
        let Some(head) = self.position(&measurement.head) else {
            return;
        };
        let base = match &measurement.base {
            None => None,
            Some(base) => match self.position(base) {
                // A commit beside itself says something about the machine only.
                Some(base) if base == head => return,
                Some(base) => Some(base),
                None => return,
            },
        };
        self.measured.extend(base);
        self.measured.insert(head);
        for group in &measurement.groups {
            let shared = Shared {
                class,
                kind: group.kind,
                target: (&group.package, &group.target),
                metric: (&group.metric, group.unit, group.better),
            };
            let next = self.groups.len();
            let number = *self.groups.entry(shared).or_insert(next);
            for row in &group.rows {
                let at = match self.by_id.get(&(number, row.id.as_str())) {
                    Some(at) => *at,
                    None => self.begin(class, group, number, &row.id),
                };
                let (_, of) = &mut self.series[at];
                of.steps.push(Step {
                    base,
                    head,
                    change: row.change.map(f64::ln_1p),
                    error: row.error,
                    value: row.head,
                    verdict: row.verdict,
                });
                let newest = of.latest.is_none_or(|(newest, _)| newest <= head);
                if let Some(value) = row.head.filter(|_| newest) {
                    of.latest = Some((head, value));
                }
            }
        }
    }

    /// Where the steps of an id that was not met before belong: with those of another name, if it was renamed.
    fn begin(&mut self, class: &str, group: &'a Group, number: usize, id: &'a str) -> usize {
        let (target, name) = self.aliases.renamed(&group.target, id);
        let scenario = Scenario {
            kind: group.kind,
            target: Target {
                package: group.package.clone(),
                target,
            },
            id: name,
            metric: Metric {
                name: group.metric.clone(),
                unit: group.unit,
                better: group.better,
            },
        };
        let key = (class.to_owned(), scenario);
        let next = self.series.len();
        let at = *self.by_key.entry(key.clone()).or_insert(next);
        if at == next {
            self.series.push((key, Steps::default()));
        }
        self.by_id.insert((number, id), at);
        at
    }

    /// The steps of every scenario, by class, target, id and metric.
    pub(super) fn into_series(self) -> Vec<(Key, Steps)> {
        let mut series = self.series;
        series.sort_by(|(one, _), (other, _)| one.cmp(other));
        series
    }

    /// Where a commit is now: under its id, the one it was given since, or that of a commit with the same files.
    fn position(&mut self, point: &Point) -> Option<usize> {
        let sha = self.aliases.commit(&point.sha);
        if let Some(position) = self.line.position(sha) {
            return Some(position);
        }
        match point.tree.as_deref().and_then(|tree| self.line.same_files(tree)) {
            Some(position) => {
                self.rewritten.insert(point.sha.clone());
                Some(position)
            }
            None => {
                self.elsewhere.insert(point.sha.clone());
                None
            }
        }
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.rewritten.is_empty() {
            notes.push(format!(
                "{} was written anew with the same files and is read as what it became",
                count(self.rewritten.len(), "measured commit")
            ));
        }
        if !self.elsewhere.is_empty() {
            notes.push(format!(
                "{} of other branches, or of history that this clone does not have, left out: {}",
                count(self.elsewhere.len(), "measured commit"),
                named(&self.elsewhere)
            ));
        }
        for (from, to, reason) in &self.bridged {
            notes.push(format!(
                "measurements of `{from}` are read as those of `{to}`: {reason}"
            ));
        }
        notes
    }
}

/// A few ids, shortened.
fn named(ids: &BTreeSet<String>) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = ids
        .iter()
        .take(SHOWN)
        .map(|id| id.get(..10).unwrap_or(id))
        .collect();
    match ids.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
