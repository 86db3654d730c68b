//! Executables whose code lies in other orders.

use super::{Workshop, WorkshopError};
use crate::edge::cargo::{Cargo, CargoError};
use crate::edge::git::Snapshot;
use crate::edge::home::RunFolder;
use crate::edge::store;
use crate::edge::tree::Sides;
use crate::layout::Layout;
use crate::plan::Plan;
use crate::recording::{Relaid, RelaidOutcome};
use crate::revision::Side;
use crate::scenario::Target;
use std::collections::BTreeSet;

impl Workshop<'_> {
    /// Links these executables in every shuffled order and keeps them in `run`: base's first, then head's in the same
    /// tree, which is given back as it was.
    ///
    /// # Errors
    /// [`WorkshopError`] if the tree cannot be laid out, or cargo cannot be used or was interrupted. An executable that
    /// cannot be linked is an outcome.
    pub fn relink(
        &self,
        plan: &Plan,
        run: &RunFolder,
        sides: Sides,
        wanted: &BTreeSet<(Side, Target)>,
    ) -> Result<(Vec<Relaid>, Sides), WorkshopError> {
        let [base, head] = self.snapshots(plan)?;
        let tree = sides.into_tree()?;
        let mut relaid = Vec::new();
        for (side, own, other) in [(Side::Base, &base, &head), (Side::Head, &head, &base)] {
            let targets: BTreeSet<&Target> = wanted
                .iter()
                .filter_map(|(of, target)| (*of == side).then_some(target))
                .collect();
            if targets.is_empty() && side == Side::Base {
                continue;
            }
            tree.lay(own, Some(other))?;
            if !targets.is_empty() {
                relaid.extend(self.relink_side(side, plan, own, run, &targets)?);
            }
        }
        self.view.clear();
        let sides = Sides::new(tree, &base, &head, self.room.sides())?;
        Ok((relaid, sides))
    }

    fn relink_side(
        &self,
        side: Side,
        plan: &Plan,
        snapshot: &Snapshot,
        run: &RunFolder,
        targets: &BTreeSet<&Target>,
    ) -> Result<Vec<Relaid>, WorkshopError> {
        let (tree, target_dir) = (self.room.tree(), self.room.target_dir());
        let cargo = Cargo {
            runner: self.runner,
            tree: &tree,
            target_dir: &target_dir,
            selection: &plan.selection,
        };
        let benches = match cargo.benches() {
            Ok(benches) => benches,
            Err(error @ (CargoError::Interrupted | CargoError::Process(_))) => return Err(error.into()),
            Err(error) => {
                let failed = |target: &&Target| unlinked(side, target, error.to_string());
                return Ok(targets.iter().map(failed).collect());
            }
        };
        let resolved = store::read_bytes(&benches.lock_file).ok();
        let locked = self.lend_lock_file(snapshot, &benches.lock_file, resolved.as_deref());
        let mut relaid = Vec::new();
        for bench in benches
            .wanted
            .iter()
            .filter(|bench| targets.contains(&bench.target))
        {
            let name = &bench.target.target;
            self.view
                .step(&format!("linking {side}'s {name} in other orders"));
            let workbench = run.workbench()?;
            let relinked = cargo.relink(bench, workbench.path(), locked)?;
            let executables = match relinked.executables {
                Ok(executables) => executables,
                Err(failure) => {
                    relaid.push(unlinked(side, &bench.target, failure));
                    continue;
                }
            };
            for (layout, path) in executables {
                let name = format!("{}--{name}--{}", bench.target.package, layout.0);
                let (path, digests) = run.keep(side, &name, &path)?;
                let sha256 = digests.file;
                relaid.push(Relaid {
                    side,
                    target: bench.target.clone(),
                    layout,
                    build_s: relinked.seconds,
                    outcome: RelaidOutcome::Linked { path, sha256 },
                });
            }
        }
        Ok(relaid)
    }
}

fn unlinked(side: Side, target: &Target, why: String) -> Relaid {
    Relaid {
        side,
        target: target.clone(),
        layout: Layout(1),
        build_s: 0.0,
        outcome: RelaidOutcome::Failure(why),
    }
}
