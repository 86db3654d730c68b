//! Histories of other programs, read and written.
//!
//! Those programs keep what one machine measured at one time, alone. So what is read becomes measurements without a base: their
//! levels have noise of their own, and they form a class of machines of their own. What is written are the typical times of
//! commits, without anything that a chain knows.

mod action;
mod asv;
mod bmf;
mod criterion;
mod open_metrics;
mod quantity;

use super::{Group, Measurement, Point, Row};
use crate::history::trend::ALONE;
use crate::metric::Metric;
use crate::recording::Host;
use crate::scenario::Kind;
use std::collections::BTreeMap;

pub use open_metrics::open_metrics;

/// Whose format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, clap::ValueEnum)]
pub enum Foreign {
    /// `data.js` of github-action-benchmark, or its JSON.
    GithubActionBenchmark,
    /// Bencher Metric Format: one JSON object of one commit.
    Bmf,
    /// A folder that criterion wrote, as `target/criterion`, of one commit.
    Criterion,
    /// A results folder of airspeed velocity.
    Asv,
}

/// Why a foreign history cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForeignError {
    /// Not the format it is said to be.
    #[error("{path} is not what {what} writes: {why}")]
    Format {
        /// File.
        path: String,
        /// Whose format.
        what: &'static str,
        /// What is wrong.
        why: String,
    },
    /// A quantity whose direction nobody said.
    #[error(
        "{path}: `{name}` has the unit `{unit}`, which is not known: it is neither a time, a rate, a size nor a count"
    )]
    Unit {
        /// File.
        path: String,
        /// Scenario.
        name: String,
        /// As written.
        unit: String,
    },
    /// Formats of one commit need its name.
    #[error("{what} does not say which commit it measured: add --commit")]
    Commit {
        /// Whose format.
        what: &'static str,
    },
    /// A commit that git would not know by this name.
    #[error("{path} names the commit `{commit}`, which is no full id")]
    Id {
        /// File.
        path: String,
        /// As written.
        commit: String,
    },
    /// Nothing to read.
    #[error("there is nothing of {what} in {path}")]
    Nothing {
        /// Folder.
        path: String,
        /// Whose format.
        what: &'static str,
    },
}

/// What one commit was measured to take, in a program's own words.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Full id of the commit.
    pub commit: String,
    /// When, RFC 3339, UTC; empty if unknown.
    pub at: String,
    /// Name of the machine or suite; becomes the class.
    pub class: String,
    /// Bench target or suite.
    pub target: String,
    /// Scenario.
    pub id: String,
    /// Quantity.
    pub metric: Metric,
    /// Its value in the metric's unit; finite.
    pub value: f64,
    /// Its standard error, in the same unit; absent if unknown.
    pub error: Option<f64>,
}

impl Foreign {
    /// Whose format, in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::GithubActionBenchmark => "github-action-benchmark",
            Self::Bmf => "Bencher",
            Self::Criterion => "criterion",
            Self::Asv => "asv",
        }
    }

    /// Whether it is a folder of files.
    #[must_use]
    pub fn is_folder(self) -> bool {
        matches!(self, Self::Criterion | Self::Asv)
    }

    /// Reads files, each with its path relative to the folder that was named, or one file under its own name. `commit` is the full
    /// id of the commit for formats that hold one commit and do not name it.
    ///
    /// # Errors
    /// [`ForeignError`] if one of them is not of the format.
    pub fn read(
        self,
        files: &[(String, Vec<u8>)],
        commit: Option<&str>,
    ) -> Result<Vec<Reading>, ForeignError> {
        let commit = || commit.ok_or(ForeignError::Commit { what: self.name() });
        let readings = match self {
            Self::GithubActionBenchmark => action::read(files)?,
            Self::Bmf => bmf::read(files, commit()?)?,
            Self::Criterion => criterion::read(files, commit()?)?,
            Self::Asv => asv::read(files)?,
        };
        let path = || files.first().map_or_else(String::new, |(path, _)| path.clone());
        if readings.is_empty() {
            return Err(ForeignError::Nothing {
                path: path(),
                what: self.name(),
            });
        }
        let is_id = |commit: &str| commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        match readings.iter().find(|reading| !is_id(&reading.commit)) {
            Some(reading) => Err(ForeignError::Id {
                path: path(),
                commit: reading.commit.clone(),
            }),
            None => Ok(readings),
        }
    }

    /// Writes readings in this format: paths relative to a folder with contents, or one file without a name.
    #[must_use]
    pub fn write(self, readings: &[Reading]) -> Vec<(String, Vec<u8>)> {
        match self {
            Self::GithubActionBenchmark => action::write(readings),
            Self::Bmf => bmf::write(readings),
            Self::Criterion => criterion::write(readings),
            Self::Asv => asv::write(readings),
        }
    }
}

/// The measurements that readings make: one for each class and commit, each with the class. Readings whose value is not
/// finite are left out.
#[must_use]
pub fn measurements(readings: &[Reading], of: Foreign, tool: &str) -> Vec<(String, Measurement)> {
    type Key<'a> = (&'a str, &'a Metric);
    /// When, and what.
    type Found<'a> = (&'a str, BTreeMap<Key<'a>, Vec<Row>>);
    let mut found: BTreeMap<(&str, &str), Found<'_>> = BTreeMap::new();
    for reading in readings.iter().filter(|reading| reading.value.is_finite()) {
        let (_, groups) = found
            .entry((&reading.class, &reading.commit))
            .or_insert((&reading.at, BTreeMap::new()));
        let relative = |error: f64| (reading.value > 0.0).then(|| error / reading.value);
        groups
            .entry((&reading.target, &reading.metric))
            .or_default()
            .push(Row {
                id: reading.id.clone(),
                base: None,
                head: Some(reading.value),
                change: None,
                error: reading.error.and_then(relative).filter(|error| error.is_finite()),
                rounds: None,
                verdict: ALONE,
            });
    }
    let measurement = |((class, commit), (at, groups)): ((&str, &str), Found<'_>)| {
        let group = |((target, metric), rows): (Key<'_>, Vec<Row>)| Group {
            kind: Kind::Program,
            package: String::new(),
            target: target.to_owned(),
            metric: metric.name.clone(),
            unit: metric.unit,
            better: metric.better,
            rows,
        };
        let measurement = Measurement {
            base: None,
            head: Point {
                sha: commit.to_owned(),
                tree: None,
                label: commit.to_owned(),
            },
            measured_at: at.to_owned(),
            run: format!("imported from {}", of.name()),
            tool: tool.to_owned(),
            host: Host::default(),
            groups: groups.into_iter().map(group).collect(),
        };
        (folder(class), measurement)
    };
    found.into_iter().map(measurement).collect()
}

/// A class as the name of a folder.
fn folder(class: &str) -> String {
    let words = class
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let name = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-");
    if name.is_empty() {
        "imported".to_owned()
    } else {
        name
    }
}

/// What files of a history hold, as other programs keep it: typical values of heads, in the order of `commits`.
#[must_use]
pub fn readings(files: &[super::File], commits: &[super::Commit]) -> Vec<Reading> {
    let order: BTreeMap<&str, usize> = commits
        .iter()
        .enumerate()
        .map(|(at, commit)| (commit.sha.as_str(), at))
        .collect();
    let mut found: Vec<(usize, Reading)> = Vec::new();
    for file in files {
        let Some(at) = order.get(file.commit.as_str()) else {
            continue;
        };
        let time = jiff::Timestamp::from_second(commits[*at].time)
            .map_or_else(|_| String::new(), |time| time.to_string());
        // Of several measurements of a commit the newest one counts.
        let Some(measurement) = file.measurements.last() else {
            continue;
        };
        for group in &measurement.groups {
            let metric = Metric {
                name: group.metric.clone(),
                unit: group.unit,
                better: group.better,
            };
            for row in &group.rows {
                let Some(value) = row.head else { continue };
                let reading = Reading {
                    commit: file.commit.clone(),
                    at: time.clone(),
                    class: file.class.clone(),
                    target: group.target.clone(),
                    id: row.id.clone(),
                    metric: metric.clone(),
                    value,
                    error: row.error.map(|error| error * value),
                };
                found.push((*at, reading));
            }
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, reading)| reading).collect()
}

#[cfg(test)]
mod tests;
