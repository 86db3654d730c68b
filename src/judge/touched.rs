//! Which scenarios a changed bench source touches.
//!
//! A changed piece of source names benchmarks only through the string literals in it. A scenario is touched if a
//! literal equals its full id or some run of whole segments of it (`fib`, `20` or `fib/20` for `sums/fib/20`). A piece
//! that names none of its target's scenarios may feed all of them (a shared input or function), so it touches all.

use crate::recording::{ChangedPiece, Recording};
use crate::scenario::Target;
use std::collections::HashMap;

/// For each scenario, by position, the first changed piece that touches it.
#[must_use]
pub fn touched(recording: &Recording) -> Vec<Option<&ChangedPiece>> {
    let mut touched = vec![None; recording.scenarios.len()];
    if recording.bench_changes.is_empty() {
        return touched;
    }
    let mut members: HashMap<&Target, Vec<usize>> = HashMap::new();
    for (position, entry) in recording.scenarios.iter().enumerate() {
        members.entry(&entry.scenario.target).or_default().push(position);
    }
    for change in &recording.bench_changes {
        let Some(members) = members.get(&change.target) else {
            continue;
        };
        // Which pieces hold a literal; several may hold the same.
        let mut holders: HashMap<&str, Vec<usize>> = HashMap::new();
        for (piece, of) in change.pieces.iter().enumerate() {
            for literal in &of.literals {
                holders.entry(literal).or_default().push(piece);
            }
        }
        let mut names_some = vec![false; change.pieces.len()];
        for &position in members {
            for name in names(&recording.scenarios[position].scenario.id) {
                for &piece in holders.get(name).into_iter().flatten() {
                    names_some[piece] = true;
                    note(&mut touched[position], &change.pieces, piece);
                }
            }
        }
        if let Some(shared) = names_some.iter().position(|names| !names) {
            for &position in members {
                note(&mut touched[position], &change.pieces, shared);
            }
        }
    }
    touched
}

/// Keeps the piece that comes first in the source, so that the note does not depend on the order of literals.
fn note<'a>(place: &mut Option<&'a ChangedPiece>, pieces: &'a [ChangedPiece], piece: usize) {
    let key = |piece: &ChangedPiece| (piece.file.clone(), piece.line);
    let found = &pieces[piece];
    if place.is_none_or(|known| key(found) < key(known)) {
        *place = Some(found);
    }
}

/// The id and every shorter run of its whole segments. Ids beyond 16 segments give only themselves and their single
/// segments, so that no id costs more than its length.
fn names(id: &str) -> Vec<&str> {
    let mut starts = vec![0];
    starts.extend(id.match_indices('/').map(|(at, _)| at + 1));
    let ends: Vec<usize> = starts
        .iter()
        .skip(1)
        .map(|start| start - 1)
        .chain([id.len()])
        .collect();
    let longest = if starts.len() > 16 { 1 } else { starts.len() };
    let mut names = vec![id];
    for (first, start) in starts.iter().enumerate() {
        for end in ends.iter().skip(first).take(longest) {
            names.extend(id.get(*start..*end).filter(|name| !name.is_empty()));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_named_by_itself_and_by_runs_of_its_segments() {
        let mut of = names("sums/fib/20");
        of.sort_unstable();
        of.dedup();
        assert_eq!(of, ["20", "fib", "fib/20", "sums", "sums/fib", "sums/fib/20"]);
        assert_eq!(names("a//"), ["a//", "a", "a/", "a//", "/"]);
        assert_eq!(names(""), [""]);
    }
}
