//! The workshop: lays out both sides, base first, builds them in one tree, and keeps what they became.

mod facts;
mod packing;
mod programs;
mod relinking;

use self::facts::{
    bench_changes, changed_sources, foreign_harness, no_benches_note, note_on, program_changes,
    provenance_notes,
};
pub use self::packing::{pack, unpack};

use crate::bench_source::Sources;
use crate::build::{Benches, Built, BuiltFile};
use crate::difference::{Circumstances, differences};
use crate::edge::cargo::{Cargo, CargoError};
use crate::edge::clock::Stopwatch;
use crate::edge::criterion::is_criterion;
use crate::edge::git::{Repo, Snapshot};
use crate::edge::home::{Room, RunFolder};
use crate::edge::process::Runner;
use crate::edge::store;
use crate::edge::tree::{Sides, Tree};
use crate::edge::view::View;
use crate::plan::{Harness, Plan};
use crate::recording::{Build, Event, Executable, Incident, Skipped};
use crate::revision::{Revision, Side};
use crate::run_files::RunFiles;
use std::path::{Path, PathBuf};

/// Names under which packages of criterion's kind are known to a lock file.
const CRITERION_PACKAGES: [&str; 3] = ["criterion", "criterion2", "codspeed-criterion-compat"];

/// Where both sides are built.
#[derive(Debug)]
pub struct Workshop<'a> {
    /// The user's repository.
    pub repo: &'a Repo,
    /// The tool's room for it.
    pub room: &'a Room,
    /// Starts cargo.
    pub runner: &'a Runner,
    /// Who watches.
    pub view: &'a View,
}

/// Both sides, built.
#[derive(Debug)]
pub struct Product {
    /// Facts for the recording, in order.
    pub events: Vec<Event>,
    /// The tree, ready to hold either side.
    pub sides: Sides,
    /// What base's and head's tree was laid out from.
    pub snapshots: [Snapshot; 2],
}

/// Neither side can be built or measured.
#[derive(Debug, thiserror::Error)]
pub enum WorkshopError {
    /// The repository could not be read.
    #[error(transparent)]
    Git(#[from] crate::edge::git::GitError),
    /// The private tree could not be laid out.
    #[error(transparent)]
    Tree(#[from] crate::edge::tree::TreeError),
    /// The tool's folder could not be used.
    #[error(transparent)]
    Home(#[from] crate::edge::home::HomeError),
    /// A source or lock file could not be read.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// Cargo could not be used.
    #[error(transparent)]
    Cargo(#[from] CargoError),
    /// A bundle could not be written or read.
    #[error(transparent)]
    Bundle(#[from] crate::edge::archive::ArchiveError),
    /// A pattern for run files is none.
    #[error(transparent)]
    RunFiles(#[from] crate::run_files::GlobError),
}

/// One side on its way through the workshop.
struct Piece {
    side: Side,
    snapshot: Snapshot,
    checkout_s: f64,
    toolchain: Option<String>,
    benches: Benches,
    built: Built,
}

/// What a side's builds became.
#[derive(Default)]
struct Kept {
    executables: Vec<Executable>,
    /// Bench targets that turned out to be something else than criterion.
    foreign: Vec<Skipped>,
    /// Programs that cannot be used.
    incidents: Vec<Incident>,
}

impl Workshop<'_> {
    /// Lays out and builds base, then head in the same tree, and keeps their executables in `run`.
    ///
    /// A side that cannot be built is a [`Build`] with a failure, unless neither can.
    ///
    /// # Errors
    /// [`WorkshopError`] if there is nothing to go on with.
    pub fn build(&self, plan: &Plan, run: &RunFolder) -> Result<Product, WorkshopError> {
        let [base_snapshot, head_snapshot] = self.snapshots(plan)?;
        let tree = Tree::open(self.room.tree())?;
        let mut base = self.piece(Side::Base, plan, base_snapshot, None, &tree)?;
        let base_kept = self.keep(&mut base, plan, run)?;
        let mut head = self.piece(Side::Head, plan, head_snapshot, Some(&base), &tree)?;
        let head_kept = self.keep(&mut head, plan, run)?;

        let run_files = RunFiles::new(&plan.selection.run_files)?;
        let mut events = Vec::new();
        let mut incidents = Vec::new();
        for (piece, revision, mut kept) in [(&base, &plan.base, base_kept), (&head, &plan.head, head_kept)] {
            incidents.append(&mut kept.incidents);
            events.extend(piece.snapshot.notes.iter().map(|note| note_on(piece.side, note)));
            events.push(Event::Build(piece.record(revision, kept)));
        }
        let (before, after) = (circumstances(&base, &run_files), circumstances(&head, &run_files));
        events.extend(differences(&before, &after).into_iter().map(Event::Difference));
        if plan.selection.harness == Harness::Own {
            events.extend(
                bench_changes(&base, &head, &run_files)
                    .into_iter()
                    .map(Event::BenchChange),
            );
            let programs = program_changes(&base, &head, plan, &run_files);
            events.extend(programs.into_iter().map(Event::BenchChange));
        }
        events.extend(no_benches_note(&head, plan));
        events.extend(provenance_notes(&base, &head));
        events.push(Event::ChangedSources(changed_sources(&base, &head, &run_files)));
        events.extend(incidents.into_iter().map(Event::Incident));
        let sides = Sides::new(tree, &base.snapshot, &head.snapshot, self.room.sides())?;
        let snapshots = [base.snapshot, head.snapshot];
        Ok(Product {
            events,
            sides,
            snapshots,
        })
    }

    /// Lays out both sides again for a run that goes on, without building.
    ///
    /// # Errors
    /// [`WorkshopError`] if the repository no longer has what the run began with.
    pub fn lay_again(&self, plan: &Plan) -> Result<Sides, WorkshopError> {
        let [base, head] = self.snapshots(plan)?;
        let tree = Tree::open(self.room.tree())?;
        tree.lay(&head, Some(&base))?;
        Ok(Sides::new(tree, &base, &head, self.room.sides())?)
    }

    /// What each side's tree holds: its commit, with the other side's bench folders if the harness says so.
    fn snapshots(&self, plan: &Plan) -> Result<[Snapshot; 2], WorkshopError> {
        let base = self.repo.snapshot(&plan.base)?;
        let head = self.repo.snapshot(&plan.head)?;
        let run_files = RunFiles::new(&plan.selection.run_files)?;
        let harness = |path: &Path| run_files.are_harness(path);
        Ok(match plan.selection.harness {
            Harness::Own => [base, head],
            Harness::Head => [base.overlay(&head, harness), head],
            Harness::Base => {
                let head = head.overlay(&base, harness);
                [base, head]
            }
        })
    }

    fn piece(
        &self,
        side: Side,
        plan: &Plan,
        snapshot: Snapshot,
        previous: Option<&Piece>,
        tree: &Tree,
    ) -> Result<Piece, WorkshopError> {
        let resolved = previous.and_then(|piece| store::read_bytes(&piece.benches.lock_file).ok());
        let previous = previous.map(|piece| &piece.snapshot);
        self.view.step(&format!("laying out {side}"));
        let stopwatch = Stopwatch::start();
        tree.lay(&snapshot, previous)?;
        let checkout_s = stopwatch.seconds();
        let (tree, target_dir) = (self.room.tree(), self.room.target_dir());
        let cargo = Cargo {
            runner: self.runner,
            tree: &tree,
            target_dir: &target_dir,
            selection: &plan.selection,
        };
        let toolchain = cargo.toolchain();
        let stopwatch = Stopwatch::start();
        let attempt = cargo.benches().and_then(|benches| {
            let locked = self.lend_lock_file(&snapshot, &benches.lock_file, resolved.as_deref());
            if benches.wanted.is_empty() {
                return Ok((benches, Built::default()));
            }
            let built = cargo.build(&benches, locked, |progress| {
                self.view
                    .building(side.as_str(), progress.done, progress.of, progress.package);
            })?;
            Ok((benches, built))
        });
        self.view.clear();
        let (benches, built) = match attempt {
            Ok(pair) => pair,
            // These concern the tool or the request, not one side's code.
            Err(error @ (CargoError::Interrupted | CargoError::Process(_) | CargoError::Package { .. })) => {
                return Err(error.into());
            }
            Err(error) => {
                let built = Built {
                    failure: Some(error.to_string()),
                    seconds: stopwatch.seconds(),
                    ..Built::default()
                };
                (Benches::default(), built)
            }
        };
        self.view.detail(&format!(
            "{side}: laid out in {checkout_s:.2} s, built in {:.2} s, {} bench executables",
            built.seconds,
            built.benches.len()
        ));
        Ok(Piece {
            side,
            snapshot,
            checkout_s,
            toolchain,
            benches,
            built,
        })
    }

    /// Whether the lock file is committed and so must be obeyed. Where it is not, the other side's resolution is used,
    /// else the user's own, so that both sides have the same dependencies and nothing is resolved anew.
    /// If it cannot be lent, cargo resolves, and the differences tell what came of it.
    fn lend_lock_file(&self, snapshot: &Snapshot, lock_file: &Path, resolved: Option<&[u8]>) -> bool {
        let relative = lock_file.strip_prefix(self.room.tree()).unwrap_or(lock_file);
        if snapshot.get(relative).is_some() {
            return true;
        }
        let own = || store::read_bytes(&self.repo.root().join(relative)).ok();
        if let Some(text) = resolved.map(<[u8]>::to_vec).or_else(own) {
            let _ = store::write(lock_file, &text);
        }
        false
    }

    /// Keeps the lock file that a side was built with, so that it can be built again; one that is committed is kept by
    /// git. If it cannot be kept, cargo resolves again, which differs only once something new is published.
    fn keep_lock_file(&self, piece: &Piece, run: &RunFolder) {
        let lock_file = &piece.benches.lock_file;
        let relative = lock_file.strip_prefix(self.room.tree()).unwrap_or(lock_file);
        if piece.snapshot.get(relative).is_none()
            && let Ok(text) = store::read_bytes(lock_file)
        {
            let _ = store::write(&run.lock_file(piece.side), &text);
        }
    }

    /// Copies the criterion executables out, and whatever the programs become that are built now.
    fn keep(&self, piece: &mut Piece, plan: &Plan, run: &RunFolder) -> Result<Kept, WorkshopError> {
        let mut kept = Kept::default();
        for file in &piece.built.benches {
            let Some(bench) = piece
                .benches
                .wanted
                .iter()
                .find(|bench| bench.target == file.target)
            else {
                continue;
            };
            if !is_criterion(&store::read_bytes(&file.path)?) {
                kept.foreign.push(Skipped {
                    target: file.target.clone(),
                    reason: foreign_harness(piece, bench),
                });
                continue;
            }
            let name = format!("{}--{}", file.target.package, file.target.target);
            let (path, digests) = run.keep(piece.side, &name, &file.path)?;
            kept.executables.push(Executable {
                target: file.target.clone(),
                path,
                sha256: digests.file,
                loaded_sha256: digests.loaded,
                criterion: piece.criterion(&file.target.package),
                package_dir: bench.package_dir.to_string_lossy().into_owned(),
            });
        }
        self.build_programs(piece, plan, run, &mut kept)?;
        self.keep_lock_file(piece, run);
        Ok(kept)
    }
}

impl Piece {
    fn record(&self, revision: &Revision, kept: Kept) -> Build {
        let mut skipped = self.benches.skipped.clone();
        skipped.extend(kept.foreign);
        Build {
            side: self.side,
            sha: revision.sha.clone(),
            checkout_s: self.checkout_s,
            build_s: self.built.seconds,
            toolchain: self.toolchain.clone(),
            executables: kept.executables,
            skipped,
            failure: self.built.failure.clone(),
        }
    }

    fn criterion(&self, package: &str) -> Option<String> {
        let lock = self.built.lock.as_ref()?;
        CRITERION_PACKAGES
            .iter()
            .find_map(|name| lock.version_for(package, name))
            .map(str::to_owned)
    }

    /// Texts of the files one bench's own crate consists of.
    fn sources(&self, file: &BuiltFile) -> Sources {
        let named = |path: &PathBuf| Some((path.to_string_lossy().into_owned(), self.text(path)?));
        file.sources.iter().filter_map(named).collect()
    }

    /// A file of this side as text. It was laid out before, so what cannot be read now is what the tree lacks too.
    fn text(&self, path: &Path) -> Option<String> {
        let bytes = self.snapshot.read(path).ok().flatten()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// What differs between sides is found in these facts of each.
fn circumstances(piece: &Piece, run_files: &RunFiles) -> Circumstances {
    let mut circumstances = Circumstances {
        lock: piece.built.lock.clone(),
        toolchain: piece.toolchain.clone(),
        scripts: piece.built.scripts.clone(),
        ..Circumstances::default()
    };
    for (path, _) in piece.snapshot.entries() {
        let text = || piece.text(path);
        let key = path.to_string_lossy().into_owned();
        if path.file_name().is_some_and(|name| name == "Cargo.toml") {
            circumstances.manifests.extend(text().map(|text| (key, text)));
        } else if path.ends_with(".cargo/config.toml") || path.ends_with(".cargo/config") {
            circumstances.configs.extend(text().map(|text| (key, text)));
        } else if run_files.hold(path) {
            circumstances
                .bench_data
                .extend(piece.snapshot.content_id(path).map(|id| (key, id.to_string())));
        }
    }
    circumstances
}
