//! What the recording is told about two built sides besides their executables.

use super::Piece;
use crate::bench_source;
use crate::build::{BenchTarget, BuiltFile};
use crate::edge::git::changed_paths;
use crate::recording::{BenchChange, Event};
use crate::revision::Side;
use crate::scenario::Target;
use std::collections::BTreeMap;

/// Which harness a bench executable without criterion most likely has, for people.
pub(super) fn foreign_harness(piece: &Piece, bench: &BenchTarget) -> String {
    let known = [
        "divan",
        "iai-callgrind",
        "gungraun",
        "iai",
        "tango-bench",
        "easybench",
        "brunch",
        "microbench",
    ];
    let lock = piece.built.lock.as_ref();
    let found = known.iter().find(|name| {
        lock.is_some_and(|lock| lock.version_for(&bench.target.package, name).is_some())
            && piece
                .text(&bench.source)
                .is_some_and(|text| text.contains(&name.replace('-', "_")))
    });
    match found {
        Some(name) => format!("{name} harness: only criterion is supported"),
        None => "its own harness: only criterion is supported".to_owned(),
    }
}

pub(super) fn bench_changes(base: &Piece, head: &Piece) -> Vec<BenchChange> {
    let by_target: BTreeMap<&Target, &BuiltFile> = base
        .built
        .benches
        .iter()
        .map(|file| (&file.target, file))
        .collect();
    let mut changes = Vec::new();
    for file in &head.built.benches {
        let Some(before) = by_target.get(&file.target) else {
            continue;
        };
        let pieces = bench_source::changed_pieces(&base.sources(before), &head.sources(file));
        if !pieces.is_empty() {
            changes.push(BenchChange {
                target: file.target.clone(),
                pieces,
            });
        }
    }
    changes
}

/// Without a committed lock file nobody can say later which dependencies were measured.
pub(super) fn provenance_notes(base: &Piece, head: &Piece) -> Vec<Event> {
    let sides: Vec<&str> = [base, head]
        .iter()
        .filter(|piece| {
            let built = piece.benches.lock_file.file_name().is_some();
            built
                && !piece
                    .snapshot
                    .entries()
                    .any(|(path, _)| path.ends_with("Cargo.lock"))
        })
        .map(|piece| piece.side.as_str())
        .collect();
    if sides.is_empty() {
        return Vec::new();
    }
    let text = format!(
        "dependency provenance unavailable: no Cargo.lock is committed on {}; both sides used the same resolution",
        sides.join(" and ")
    );
    vec![Event::Note { text }]
}

/// Says so if sources changed but every executable is the same.
pub(super) fn unbenched_note(base: &Piece, head: &Piece) -> Option<Event> {
    let changed: Vec<String> = changed_paths(&base.snapshot, &head.snapshot)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    if changed.is_empty() {
        return None;
    }
    const SHOWN: usize = 5;
    let more = changed.len().saturating_sub(SHOWN);
    let names = changed.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    let rest = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    Some(Event::Note {
        text: format!("changed Rust files: {names}{rest}"),
    })
}

pub(super) fn note_on(side: Side, note: &str) -> Event {
    Event::Note {
        text: format!("{side}: {note}"),
    }
}
