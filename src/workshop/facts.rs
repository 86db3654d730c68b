//! What the recording is told about two built sides besides their executables.

use super::Piece;
use crate::bench_source;
use crate::build::{BenchTarget, BuiltFile};
use crate::edge::git::changed_paths;
use crate::plan::Plan;
use crate::program::Program;
use crate::recording::{BenchChange, ChangedPiece, ChangedSources, Event};
use crate::revision::Side;
use crate::run_files::RunFiles;
use crate::scenario::Target;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

pub(super) fn bench_changes(base: &Piece, head: &Piece, run_files: &RunFiles) -> Vec<BenchChange> {
    let by_target: BTreeMap<&Target, &BuiltFile> = base
        .built
        .benches
        .iter()
        .map(|file| (&file.target, file))
        .collect();
    let differing = changed_paths(&base.snapshot, &head.snapshot);
    let mut changes = Vec::new();
    for file in &head.built.benches {
        let Some(before) = by_target.get(&file.target) else {
            continue;
        };
        let mut pieces = bench_source::changed_pieces(&base.sources(before), &head.sources(file));
        let compiled_in: Vec<String> = pieces.iter().map(|piece| piece.file.clone()).collect();
        let bench = head
            .benches
            .wanted
            .iter()
            .find(|bench| bench.target == file.target);
        let read = bench.map(|bench| changed_run_files(&differing, bench, run_files));
        let read = read.into_iter().flatten();
        pieces.extend(read.filter(|piece| !compiled_in.contains(&piece.file)));
        if !pieces.is_empty() {
            changes.push(BenchChange {
                target: file.target.clone(),
                pieces,
            });
        }
    }
    changes
}

/// For each program, the files that differ and that it may read: named run files, and what the words behind it name.
/// The same program on other data is another experiment.
pub(super) fn program_changes(
    base: &Piece,
    head: &Piece,
    plan: &Plan,
    run_files: &RunFiles,
) -> Vec<BenchChange> {
    let selection = &plan.selection;
    let folder = Path::new(&selection.folder);
    let differing = changed_paths(&base.snapshot, &head.snapshot);
    let change = |program: &Program| {
        let data: Vec<PathBuf> = program.data().iter().map(|file| folder.join(file)).collect();
        let pieces = those(&differing, |path| {
            run_files.are_named(path) || data.iter().any(|file| file == path)
        });
        (!pieces.is_empty()).then(|| BenchChange {
            target: Target::program(&program.name),
            pieces,
        })
    };
    selection.programs.iter().filter_map(change).collect()
}

/// Of the files that differ, those that benches of this target may read as they run.
fn changed_run_files(differing: &[PathBuf], bench: &BenchTarget, run_files: &RunFiles) -> Vec<ChangedPiece> {
    those(differing, |path| run_files.hold_for(&bench.package_dir, path))
}

fn those(differing: &[PathBuf], are_read: impl Fn(&Path) -> bool) -> Vec<ChangedPiece> {
    differing
        .iter()
        .filter(|path| are_read(path))
        .map(|path| ChangedPiece {
            file: path.to_string_lossy().into_owned(),
            line: 1,
            literals: Vec::new(),
            run_file: true,
        })
        .collect()
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

/// A workspace without bench targets, and where else in the repository there are some.
pub(super) fn no_benches_note(head: &Piece, plan: &Plan) -> Option<Event> {
    let benches = &head.benches;
    let nothing = benches.wanted.is_empty() && benches.skipped.is_empty() && head.built.failure.is_none();
    if !nothing || !plan.selection.programs.is_empty() {
        return None;
    }
    let here = Path::new(&plan.selection.folder);
    let elsewhere: Vec<String> = head
        .snapshot
        .entries()
        .map(|(path, _)| path)
        .filter(|path| path.ends_with("Cargo.toml") && path.parent() != Some(here))
        .filter(|path| head.text(path).is_some_and(|text| text.contains("[[bench]]")))
        .filter_map(|path| path.parent().map(|folder| format!("`{}`", folder.display())))
        .collect();
    let mut text = "there is no bench target in this workspace that the selection includes".to_owned();
    if !elsewhere.is_empty() {
        text.push_str(&format!(
            "; the repository has some in {}: run abreast there",
            elsewhere.join(", ")
        ));
    }
    Some(Event::Note { text })
}

/// Changed Rust sources, by whether a bench can notice.
pub(super) fn changed_sources(base: &Piece, head: &Piece, run_files: &RunFiles) -> ChangedSources {
    let mut changed = ChangedSources::default();
    for path in changed_paths(&base.snapshot, &head.snapshot) {
        if path.extension().is_none_or(|extension| extension != "rs") {
            if !run_files.hold(&path) && may_be_data(&path) {
                changed.others.push(path.to_string_lossy().into_owned());
            }
            continue;
        }
        let compiled = base.built.compiled.contains(&path) || head.built.compiled.contains(&path);
        let list = if compiled {
            &mut changed.compiled
        } else {
            &mut changed.elsewhere
        };
        list.push(path.to_string_lossy().into_owned());
    }
    changed
}

/// Whether a program might read a file as it runs: not what cargo, git, editors and people read.
fn may_be_data(path: &Path) -> bool {
    let is = |names: &[&str], part: Option<&std::ffi::OsStr>| {
        part.and_then(std::ffi::OsStr::to_str)
            .is_some_and(|part| names.contains(&part))
    };
    let hidden = path.iter().any(|part| part.as_encoded_bytes().starts_with(b"."));
    let known =
        is(&["Cargo.toml", "Cargo.lock"], path.file_name()) || is(&["md", "adoc", "rst"], path.extension());
    !hidden && !known
}

pub(super) fn note_on(side: Side, note: &str) -> Event {
    Event::Note {
        text: format!("{side}: {note}"),
    }
}
