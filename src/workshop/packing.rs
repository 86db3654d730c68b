//! A bundle: what was built, in one file, and back again where there is neither Rust nor git.

use super::WorkshopError;
use crate::bundle::{Manifest, Packed, PackedKind, SCHEMA};
use crate::edge::archive::{self, ArchiveError};
use crate::edge::git::{Mode, Snapshot};
use crate::edge::home::{Room, RunFolder};
use crate::edge::store::{self, Journal};
use crate::edge::tree::{Sides, Tree};
use crate::program::Program;
use crate::recording::Recording;
use crate::revision::Side;
use crate::run_files::RunFiles;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Member that holds what building recorded.
const FACTS: &str = "build.jsonl";

/// Writes everything that measuring needs into one file: executables, the files they may read as they run, and what
/// building recorded.
///
/// # Errors
/// [`WorkshopError`] if something cannot be read or written.
pub fn pack(
    journal: &Journal,
    run: &RunFolder,
    snapshots: &[Snapshot; 2],
    to: &Path,
) -> Result<Manifest, WorkshopError> {
    let recording = &journal.recording;
    let run_files = RunFiles::new(&recording.header.plan.selection.run_files)?;
    let facts = journal.path().to_owned();
    let mut items = vec![(FACTS.to_owned(), PackedKind::File, facts)];
    for executable in recording.builds.iter().flat_map(|build| &build.executables) {
        let file = run.path(&executable.path);
        items.push((executable.path.clone(), PackedKind::Executable, file));
    }
    // A package's manifest marks the folder that its benches run in.
    let manifests = recording
        .builds
        .iter()
        .flat_map(|build| &build.executables)
        .map(|executable| Path::new(&executable.package_dir).join("Cargo.toml"));
    let selection = &recording.header.plan.selection;
    let of_programs = selection.programs.iter().flat_map(Program::files);
    let named: BTreeSet<PathBuf> = of_programs
        .map(|file| Path::new(&selection.folder).join(file))
        .chain(manifests)
        .collect();
    for (side, snapshot) in Side::BOTH.into_iter().zip(snapshots) {
        let needed = |path: &Path| run_files.hold(path) || named.contains(path);
        for (path, entry) in snapshot.entries().filter(|(path, _)| needed(path)) {
            let name = path.to_str().ok_or_else(|| ArchiveError::Name(path.to_owned()))?;
            // Through a file each: together they may not fit into memory.
            let staged = run.path(&format!("packing/{}", entry.id));
            store::write(&staged, &snapshot.read(path)?.unwrap_or_default())?;
            items.push((format!("files/{side}/{name}"), kind(entry.mode), staged));
        }
    }
    let (os, arch) = archive::here();
    let mut manifest = Manifest {
        schema: SCHEMA.to_owned(),
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        os: os.to_owned(),
        arch: arch.to_owned(),
        files: Vec::new(),
    };
    let mut contents = BTreeMap::new();
    for (path, kind, file) in items {
        let (sha256, bytes) = archive::digest_of(&file)?;
        contents.insert(sha256.clone(), file);
        manifest.files.push(Packed {
            path,
            sha256,
            bytes,
            kind,
        });
    }
    store::write_with(to, |file| archive::write(file, &manifest, &contents))?;
    Ok(manifest)
}

/// Unpacks a bundle into a run's folder: its executables where the recording expects them, the files they may read in
/// the room's tree. Returns what building recorded.
///
/// # Errors
/// [`WorkshopError`] for a bundle that cannot be used here, or that does not hold together.
pub fn unpack(bundle: &Path, room: &Room, run: &RunFolder) -> Result<(Recording, Sides), WorkshopError> {
    let folder = run.unpacked();
    let manifest = archive::unpack(bundle, &folder)?;
    let content = |packed: &Packed| folder.join(&packed.sha256);
    let foreign = |what: &str| ArchiveError::Bundle {
        path: bundle.to_owned(),
        source: crate::bundle::BundleError::Name(what.to_owned()),
    };
    let facts = manifest
        .get(FACTS)
        .ok_or_else(|| foreign("it has no `build.jsonl`"))?;
    let built = store::read_recording(&content(facts))?;
    Program::check(&built.header.plan.selection.programs).map_err(|error| foreign(&error.to_string()))?;
    for executable in built.builds.iter().flat_map(|build| &build.executables) {
        let packed = manifest
            .get(&executable.path)
            .filter(|packed| packed.kind == PackedKind::Executable && packed.sha256 == executable.sha256)
            .ok_or_else(|| {
                foreign(&format!(
                    "its executable of `{}` is another one",
                    executable.target.target
                ))
            })?;
        run.place(&packed.path, &content(packed))?;
    }
    let snapshot = |side: Side| {
        let start = format!("files/{side}/");
        let of_side = manifest.files.iter().filter_map(|packed| {
            let path = PathBuf::from(packed.path.strip_prefix(&start)?);
            Some((path, mode(packed.kind), content(packed)))
        });
        Snapshot::of_files(of_side)
    };
    let (base, head) = (snapshot(Side::Base)?, snapshot(Side::Head)?);
    let tree = Tree::open(room.tree())?;
    tree.lay(&head, Some(&base))?;
    Ok((built, Sides::new(tree, &base, &head, room.sides())?))
}

fn kind(mode: Mode) -> PackedKind {
    match mode {
        Mode::File => PackedKind::File,
        Mode::Executable => PackedKind::Executable,
        Mode::Symlink => PackedKind::Symlink,
    }
}

fn mode(kind: PackedKind) -> Mode {
    match kind {
        PackedKind::File => Mode::File,
        PackedKind::Executable => Mode::Executable,
        PackedKind::Symlink => Mode::Symlink,
    }
}
