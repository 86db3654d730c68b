//! The file of one commit on one class of machines: every measurement of it, in one versioned JSON object.
//!
//! Files are only added to. Two writers of the same file each keep the other's measurement ([`append`] joins them), and
//! the same measurement written twice is there once. A file that cannot be understood is left alone: what it could not
//! take up goes into one beside it.

use crate::metric::{Better, Unit};
use crate::recording::Host;
use crate::scenario::Kind;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};

/// Name and version of the format.
pub const SCHEMA: &str = "abreast/history/1";

/// All that is known of one commit on one class of machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct File {
    /// Always [`SCHEMA`] when written by this build.
    pub schema: String,
    /// Class of machines ([`Host::class`]), or where the numbers were imported from.
    pub class: String,
    /// Full id of the commit.
    pub commit: String,
    /// Oldest first.
    pub measurements: Vec<Measurement>,
}

/// One commit measured beside another, or, if `base` is absent, alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// What it was compared with; absent where a program was measured alone, as imported numbers are.
    pub base: Option<Point>,
    /// The commit.
    pub head: Point,
    /// When, RFC 3339, UTC.
    pub measured_at: String,
    /// Name of the run, or of what the numbers were imported from.
    pub run: String,
    /// Version of the tool that wrote it.
    pub tool: String,
    /// The machine.
    pub host: Host,
    /// What was measured.
    pub groups: Vec<Group>,
}

/// A commit as the history names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Full id of the commit.
    pub sha: String,
    /// Id of its files: a commit that was rebased or squashed without a change keeps it. Absent if unknown.
    pub tree: Option<String>,
    /// What it was called when it was measured.
    pub label: String,
}

/// Rows that share their target and metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Origin.
    pub kind: Kind,
    /// Cargo package; empty for a program.
    pub package: String,
    /// Bench target or program.
    pub target: String,
    /// Name of the quantity.
    pub metric: String,
    /// Unit of `base` and `head`.
    pub unit: Unit,
    /// Good direction.
    pub better: Better,
    /// One for each scenario.
    pub rows: Vec<Row>,
}

/// One scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Full id.
    pub id: String,
    /// Typical value of base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<f64>,
    /// Typical value of head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<f64>,
    /// Head relative to base, minus one; absent if that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<f64>,
    /// Standard error of `ln(head / base)`, of `ln(head)` where there is no base; 0 for exact rows, absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// Rounds behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// What the report said.
    pub verdict: Verdict,
}

/// Why a file is not part of the history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// No JSON object, or one with other keys.
    #[error("is damaged or cut off ({0}); it was left as it is")]
    Damaged(String),
    /// Another version, or another program's.
    #[error("has the schema `{0}`, and this version of abreast reads `{SCHEMA}`; it was left as it is")]
    Schema(String),
    /// Its content is about something else than its name says.
    #[error("says it is about commit {commit} of `{class}`, which its name does not; it was left as it is")]
    Misplaced {
        /// Class in the file.
        class: String,
        /// Commit in the file.
        commit: String,
    },
    /// A number that is none, or an error below zero.
    #[error("holds `{id}` with a number that cannot be ({what}); it was left as it is")]
    Number {
        /// Scenario.
        id: String,
        /// Key and value.
        what: String,
    },
}

/// Where the file of a commit is, relative to the history's folder: `CLASS/SHA.json`; from `attempt` 1 on
/// `CLASS/SHA-1.json`, for the case that the one before cannot be added to.
#[must_use]
pub fn path_of(class: &str, commit: &str, attempt: u32) -> String {
    match attempt {
        0 => format!("{class}/{commit}.json"),
        _ => format!("{class}/{commit}-{attempt}.json"),
    }
}

impl File {
    /// A file with one measurement.
    #[must_use]
    pub fn new(class: String, measurement: Measurement) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            class,
            commit: measurement.head.sha.clone(),
            measurements: vec![measurement],
        }
    }

    /// Reads what is at `path` (relative to the history's folder); `None` if the name is not that of a commit's file.
    ///
    /// # Errors
    /// [`FileError`] if it cannot be understood.
    #[must_use]
    pub fn at(path: &str, bytes: &[u8]) -> Option<Result<Self, FileError>> {
        let (class, commit) = named(path)?;
        Some(Self::parse(bytes).and_then(|file| {
            if file.class == class && file.commit == commit {
                Ok(file)
            } else {
                Err(FileError::Misplaced {
                    class: file.class,
                    commit: file.commit,
                })
            }
        }))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`FileError`] if it cannot be understood.
    pub fn parse(bytes: &[u8]) -> Result<Self, FileError> {
        let file: Self = match serde_json::from_slice(bytes) {
            Ok(file) => file,
            Err(error) => {
                return Err(of_another_schema(bytes).unwrap_or(FileError::Damaged(error.to_string())));
            }
        };
        if file.schema != SCHEMA {
            return Err(FileError::Schema(file.schema));
        }
        let impossible = file.rows().find_map(Row::impossible);
        impossible.map_or(Ok(file), Err)
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        let groups = self
            .measurements
            .iter()
            .flat_map(|measurement| &measurement.groups);
        groups.flat_map(|group| &group.rows)
    }

    /// The file as it is written: one line a row, so that a difference of two versions can be read.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        // Plain data with text keys has no way to fail.
        let text = serde_json::to_string(self).unwrap_or_default();
        let mut lines = text
            .replace("{\"id\":", "\n{\"id\":")
            .replace("{\"base\":{", "\n{\"base\":{");
        lines.push('\n');
        lines.into_bytes()
    }
}

impl Row {
    /// Why this row cannot be.
    fn impossible(&self) -> Option<FileError> {
        let wrong = |what: String| {
            Some(FileError::Number {
                id: self.id.clone(),
                what,
            })
        };
        match (self.change, self.error, self.head) {
            (Some(change), ..) if !(change > -1.0 && change.is_finite()) => wrong(format!("change {change}")),
            (_, Some(error), _) if !(error >= 0.0 && error.is_finite()) => wrong(format!("error {error}")),
            (.., Some(head)) if !head.is_finite() => wrong(format!("head {head}")),
            _ => None,
        }
    }
}

/// What a file that is no history says it is, if it says so.
fn of_another_schema(bytes: &[u8]) -> Option<FileError> {
    #[derive(Deserialize)]
    struct Any {
        schema: String,
    }
    let any: Any = serde_json::from_slice(bytes).ok()?;
    (any.schema != SCHEMA).then_some(FileError::Schema(any.schema))
}

/// Class and commit that a path names: `CLASS/SHA.json`, `CLASS/SHA-1.json`.
fn named(path: &str) -> Option<(&str, &str)> {
    let (class, name) = path.rsplit_once('/')?;
    let stem = name.strip_suffix(".json")?;
    let commit = stem.split_once('-').map_or(stem, |(commit, _)| commit);
    let is_id = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then_some((class, commit))
}

/// What the file at this path holds once the measurement is in it: `old` is what it holds now, if it is there.
///
/// # Errors
/// [`FileError`] if what is there cannot be understood: it must not be written over.
pub fn append(old: Option<&[u8]>, class: &str, measurement: &Measurement) -> Result<Vec<u8>, FileError> {
    let Some(old) = old else {
        return Ok(File::new(class.to_owned(), measurement.clone()).to_json());
    };
    let mut file = File::parse(old)?;
    if file.class != class || file.commit != measurement.head.sha {
        return Err(FileError::Misplaced {
            class: file.class,
            commit: file.commit,
        });
    }
    if !file.measurements.contains(measurement) {
        file.measurements.push(measurement.clone());
    }
    Ok(file.to_json())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn point(digit: &str) -> Point {
        Point {
            sha: digit.repeat(40 / digit.len()),
            tree: None,
            label: "main".to_owned(),
        }
    }

    pub(crate) fn measurement(base: Option<&str>, head: &str, rows: &[(&str, f64, f64)]) -> Measurement {
        Measurement {
            base: base.map(point),
            head: point(head),
            measured_at: "2026-01-02T03:04:05Z".to_owned(),
            run: format!("run of {head}"),
            tool: "0.1.0".to_owned(),
            host: Host::default(),
            groups: vec![Group {
                kind: Kind::Criterion,
                package: "p".to_owned(),
                target: "ops".to_owned(),
                metric: "time".to_owned(),
                unit: Unit::Ns,
                better: Better::Lower,
                rows: rows
                    .iter()
                    .map(|(id, change, error)| Row {
                        id: (*id).to_owned(),
                        base: Some(100.0),
                        head: Some(100.0 * (1.0 + change)),
                        change: Some(*change),
                        error: Some(*error),
                        rounds: Some(16),
                        verdict: Verdict::Unchanged,
                    })
                    .collect(),
            }],
        }
    }

    #[test]
    fn a_file_reads_what_it_wrote_and_has_a_line_for_each_row() {
        let rows = [("add", 0.02, 0.004), ("a\n{\"id\":\"b", -0.1, 0.0)];
        let file = File::new("c".to_owned(), measurement(Some("a"), "b", &rows));
        let text = file.to_json();
        assert_eq!(File::parse(&text), Ok(file));
        insta::assert_snapshot!(String::from_utf8(text).unwrap());
    }

    #[test]
    fn two_writers_keep_both_measurements_and_the_same_one_is_kept_once() {
        let (one, two) = (
            measurement(Some("a"), "b", &[("add", 0.02, 0.004)]),
            measurement(Some("c"), "b", &[("add", 0.05, 0.004)]),
        );
        let first = append(None, "class", &one).unwrap();
        let both = append(Some(&first), "class", &two).unwrap();
        assert_eq!(append(Some(&both), "class", &one).unwrap(), both);
        assert_eq!(File::parse(&both).unwrap().measurements, [one, two]);
    }

    #[test]
    fn what_cannot_be_understood_is_refused_with_a_reason_and_not_written_over() {
        let whole = append(None, "c", &measurement(Some("a"), "b", &[("add", 0.02, 0.004)])).unwrap();
        let text = String::from_utf8(whole.clone()).unwrap();
        let cases: [(Vec<u8>, &str); 6] = [
            (whole[..whole.len() / 2].to_vec(), "is damaged or cut off (EOF"),
            (Vec::new(), "is damaged or cut off (EOF"),
            (b"\xff\xfe".to_vec(), "is damaged or cut off"),
            (
                text.replace("history/1", "history/2").into_bytes(),
                "has the schema `abreast/history/2`",
            ),
            (
                text.replace("0.02", "-1").into_bytes(),
                "`add` with a number that cannot be (change -1)",
            ),
            (text.replace("0.004", "-0.004").into_bytes(), "(error -0.004)"),
        ];
        for (bytes, expected) in cases {
            let error = append(Some(&bytes), "c", &measurement(Some("a"), "b", &[])).unwrap_err();
            assert!(
                error.to_string().contains(expected),
                "{error} instead of {expected}"
            );
        }
        let later = b"{\"schema\":\"abreast/history/9\",\"rows\":7}";
        assert_eq!(
            File::parse(later),
            Err(FileError::Schema("abreast/history/9".to_owned()))
        );
        let elsewhere = File::at(&path_of("d", &"b".repeat(40), 0), &whole).unwrap();
        assert!(
            matches!(elsewhere, Err(FileError::Misplaced { .. })),
            "{elsewhere:?}"
        );
    }

    #[test]
    fn only_names_of_commits_are_files_of_the_history() {
        let sha = "b".repeat(40);
        let is = |path: &str| File::at(path, b"").is_some();
        assert!(is(&path_of("c", &sha, 0)) && is(&path_of("c", &sha, 3)));
        for other in [
            "c/qualify.json",
            "aliases.toml",
            "c/bbbb.json",
            &format!("{sha}.json"),
            &format!("c/{sha}.txt"),
        ] {
            assert!(!is(other), "{other}");
        }
    }
}
