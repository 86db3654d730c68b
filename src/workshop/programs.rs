//! Programs: built on each side as the user says, and what they became kept before the other side's replaces it.

use super::{Kept, Piece, Workshop, WorkshopError};
use crate::edge::cargo::Cargo;
use crate::edge::clock::Stopwatch;
use crate::edge::home::RunFolder;
use crate::plan::Plan;
use crate::program::{Program, in_target};
use crate::recording::{Executable, Incident, IncidentKind};
use crate::scenario::Target;
use std::path::Path;

impl Workshop<'_> {
    /// Builds every program in a side's tree. One that cannot be built is an incident, and the others go on.
    pub(super) fn build_programs(
        &self,
        piece: &mut Piece,
        plan: &Plan,
        run: &RunFolder,
        kept: &mut Kept,
    ) -> Result<(), WorkshopError> {
        let (tree, target_dir) = (self.room.tree(), self.room.target_dir());
        let cargo = Cargo {
            runner: self.runner,
            tree: &tree,
            target_dir: &target_dir,
            selection: &plan.selection,
        };
        for program in &plan.selection.programs {
            self.view
                .step(&format!("building {}: program {}", piece.side, program.name));
            let stopwatch = Stopwatch::start();
            let built = match cargo.build_program(program)? {
                Ok(()) => keep(piece, &cargo, program, run)?,
                Err(why) => Err(format!("its build failed: {why}")),
            };
            piece.built.seconds += stopwatch.seconds();
            match built {
                Ok(executable) => kept.executables.extend(executable),
                Err(detail) => kept.incidents.push(Incident {
                    phase: None,
                    round: None,
                    side: Some(piece.side),
                    target: Target::program(&program.name),
                    scenario: None,
                    what: IncidentKind::Unusable,
                    detail,
                }),
            }
        }
        self.view.clear();
        Ok(())
    }
}

/// Copies out what was built. A tracked file stays where it is: each side's is in the tree while it is measured, and
/// that two scripts are equal says nothing of what they run.
fn keep(
    piece: &mut Piece,
    cargo: &Cargo<'_>,
    program: &Program,
    run: &RunFolder,
) -> Result<Result<Option<Executable>, String>, WorkshopError> {
    let Some(word) = program.built().and_then(|at| program.run.get(at)) else {
        return Ok(Ok(None));
    };
    let folder = Path::new(&cargo.selection.folder).join(&program.folder);
    let path = match in_target(word) {
        Some(inside) => cargo.target_dir.join(inside),
        None => {
            let relative = folder.join(word.strip_prefix("./").unwrap_or(word));
            if piece.snapshot.get(&relative).is_some() {
                return Ok(Ok(None));
            }
            cargo.tree.join(relative)
        }
    };
    if !path.is_file() {
        let what = format!("there is no file `{word}` after its build");
        return Ok(Err(what));
    }
    if in_target(word).is_some() {
        piece.built.compiled.extend(cargo.compiled_for(&path));
    }
    // No package is called nothing, so no bench is kept under such a name.
    let (path, digests) = run.keep(piece.side, &format!("--{}", program.name), &path)?;
    Ok(Ok(Some(Executable {
        target: Target::program(&program.name),
        path,
        sha256: digests.file,
        loaded_sha256: digests.loaded,
        criterion: None,
        package_dir: folder.to_string_lossy().into_owned(),
    })))
}
