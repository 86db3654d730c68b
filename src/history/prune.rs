//! A smaller history with the same chains: the two steps around a commit become one, and its file goes.
//!
//! Changes multiply and squared errors add up, so every commit that stays has the level and the error that it had. A commit
//! can go only if nothing else hangs on it: one measurement leads to it, one leads away, and both measured the same scenarios.

use super::{File, Measurement, Row};
use crate::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of a class's files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pruned {
    /// Files with other content than before.
    pub changed: Vec<File>,
    /// Commits whose files go.
    pub gone: Vec<String>,
}

/// Joins the steps around every commit that may go. `files` are all of one class; `stays` says which commits must be kept.
#[must_use]
pub fn prune(files: &[File], stays: impl Fn(&str) -> bool) -> Pruned {
    let mut own: BTreeMap<&str, File> = BTreeMap::new();
    let mut twice: BTreeSet<&str> = BTreeSet::new();
    let mut after: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for file in files {
        if own.insert(&file.commit, file.clone()).is_some() {
            twice.insert(&file.commit);
        }
        for base in file
            .measurements
            .iter()
            .filter_map(|measurement| measurement.base.as_ref())
        {
            after.entry(base.sha.clone()).or_default().push(&file.commit);
        }
    }
    let mut pruned = Pruned::default();
    let mut changed: BTreeSet<&str> = BTreeSet::new();
    for file in files {
        let commit = file.commit.as_str();
        let next = match after.get(commit).map(Vec::as_slice) {
            Some([next]) if !twice.contains(next) && *next != commit => *next,
            _ => continue,
        };
        if stays(commit) || twice.contains(commit) {
            continue;
        }
        let joined = own
            .get(commit)
            .zip(own.get(next))
            .and_then(|(to, from)| bridged(to, from, commit));
        let Some((at, measurement)) = joined else { continue };
        let Some(base) = measurement.base.as_ref().map(|base| base.sha.clone()) else {
            continue;
        };
        if let Some(next) = own.get_mut(next) {
            next.measurements[at] = measurement;
        }
        own.remove(commit);
        changed.remove(commit);
        changed.insert(next);
        after.remove(commit);
        for led in after.entry(base).or_default() {
            if *led == commit {
                *led = next;
            }
        }
        pruned.gone.push(commit.to_owned());
    }
    pruned.changed = changed
        .into_iter()
        .filter_map(|commit| own.get(commit).cloned())
        .collect();
    pruned
}

/// The step over `commit`, and which measurement of the next file it replaces; `None` if the two steps cannot be joined.
fn bridged(to: &File, from: &File, commit: &str) -> Option<(usize, Measurement)> {
    let [first] = to.measurements.as_slice() else {
        return None;
    };
    first.base.as_ref()?;
    let leads = |measurement: &Measurement| measurement.base.as_ref().is_some_and(|base| base.sha == commit);
    let at = from.measurements.iter().position(leads)?;
    let second = &from.measurements[at];
    if first.groups.len() != second.groups.len() {
        return None;
    }
    let mut joined = second.clone();
    joined.base.clone_from(&first.base);
    "joined".clone_into(&mut joined.run);
    for (one, two) in first.groups.iter().zip(&mut joined.groups) {
        let key = |group: &super::Group| {
            (
                group.kind,
                group.package.clone(),
                group.target.clone(),
                group.metric.clone(),
            )
        };
        if key(one) != key(two) || one.rows.len() != two.rows.len() {
            return None;
        }
        for (one, two) in one.rows.iter().zip(&mut two.rows) {
            *two = over(one, two)?;
        }
    }
    Some((at, joined))
}

fn over(one: &Row, two: &Row) -> Option<Row> {
    let usable = |row: &Row| row.change.is_some() && row.verdict != Verdict::NotComparable;
    if one.id != two.id || !usable(one) || !usable(two) {
        return None;
    }
    let error = one.error.zip(two.error).map(|(one, two)| one.hypot(two));
    // An error that is unknown stays unknown; it must not look smaller than it was.
    (error.is_some() || one.error.is_none() && two.error.is_none()).then(|| Row {
        base: one.base,
        change: one
            .change
            .zip(two.change)
            .map(|(one, two)| (1.0 + one) * (1.0 + two) - 1.0),
        error,
        rounds: one.rounds.min(two.rounds),
        verdict: Verdict::Unclear,
        ..two.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::file::tests::measurement;

    fn file(base: &str, head: &str, rows: &[(&str, f64, f64)]) -> File {
        File::new("c".to_owned(), measurement(Some(base), head, rows))
    }

    fn sha(digit: &str) -> String {
        digit.repeat(40)
    }

    #[test]
    fn joined_steps_have_the_change_and_the_error_of_both() {
        let files = [
            file("0", "1", &[("add", 0.1, 0.03), ("sum", 0.0, 0.0)]),
            file("1", "2", &[("add", 0.2, 0.04), ("sum", 0.5, 0.0)]),
            file("2", "3", &[("add", 0.0, 0.12), ("sum", 0.0, 0.0)]),
        ];
        let pruned = prune(&files, |commit| commit == sha("3"));
        assert_eq!(pruned.gone, [sha("1"), sha("2")]);
        let [left] = &pruned.changed[..] else {
            panic!("{pruned:?}")
        };
        assert_eq!(left.commit, sha("3"));
        let measured = &left.measurements[0];
        assert_eq!(
            measured.base.as_ref().map(|base| base.sha.clone()),
            Some(sha("0"))
        );
        let rows: Vec<(f64, f64)> = measured.groups[0]
            .rows
            .iter()
            .map(|row| (row.change.unwrap(), row.error.unwrap()))
            .collect();
        assert!(
            (rows[0].0 - 0.32).abs() < 1e-12 && (rows[0].1 - 0.13).abs() < 1e-12,
            "{rows:?}"
        );
        assert!(
            (rows[1].0 - 0.5).abs() < 1e-12 && rows[1].1.abs() < 1e-12,
            "{rows:?}"
        );
    }

    #[test]
    fn a_commit_on_which_something_else_hangs_stays() {
        let steps = |more: &[File]| {
            let mut files = vec![
                file("0", "1", &[("add", 0.1, 0.03)]),
                file("1", "2", &[("add", 0.2, 0.04)]),
            ];
            files.extend_from_slice(more);
            prune(&files, |commit| commit == sha("2")).gone
        };
        assert_eq!(steps(&[]), [sha("1")]);
        // A direct comparison with it; a second file of it; nothing that leads on.
        assert!(steps(&[file("1", "3", &[("add", 0.1, 0.1)])]).is_empty());
        assert!(steps(&[file("0", "1", &[("add", 0.1, 0.1)])]).is_empty());
        assert!(
            prune(&[file("0", "1", &[("add", 0.1, 0.03)])], |_| false)
                .gone
                .is_empty()
        );
        // Scenarios that only one of the steps has.
        let begins = [
            file("0", "1", &[("add", 0.1, 0.03)]),
            file("1", "2", &[("sum", 0.2, 0.04)]),
        ];
        assert!(prune(&begins, |_| false).gone.is_empty());
    }
}
