//! Executables whose code lies in other orders.

use super::{Workshop, WorkshopError};
use crate::edge::cargo::{Cargo, CargoError};
use crate::edge::git::Snapshot;
use crate::edge::home::RunFolder;
use crate::edge::store;
use crate::edge::tree::Sides;
use crate::plan::Plan;
use crate::recording::{Linked, Relaid, RelaidOutcome};
use crate::revision::Side;
use crate::scenario::Target;
use std::collections::BTreeSet;

impl Workshop<'_> {
    /// Links these executables in every shuffled order and keeps them in `run`: base's first, then head's in the same
    /// tree, which is given back as it was.
    ///
    /// # Errors
    /// [`WorkshopError`] if the tree cannot be laid out, or cargo was interrupted. Anything else that keeps an executable
    /// from being linked is an outcome.
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
            match self.relink_side(side, plan, own, run, &targets) {
                Ok(linked) => relaid.extend(linked),
                Err(error @ WorkshopError::Cargo(CargoError::Interrupted)) => return Err(error),
                // The comparison has its numbers; it does without this.
                Err(error) => {
                    let failed =
                        |target: &&Target| Relaid::failed(side, (*target).clone(), error.to_string());
                    relaid.extend(targets.iter().map(failed));
                }
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
        if targets.is_empty() {
            return Ok(Vec::new());
        }
        let benches = cargo.benches()?;
        let resolved = store::read_bytes(&run.lock_file(side)).ok();
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
                    relaid.push(Relaid::failed(side, bench.target.clone(), failure));
                    continue;
                }
            };
            for (layout, path) in executables {
                let name = format!("{}--{name}--{}", bench.target.package, layout.0);
                let (path, digests) = run.keep(side, &name, &path)?;
                relaid.push(Relaid {
                    side,
                    target: bench.target.clone(),
                    outcome: RelaidOutcome::Linked(Linked {
                        layout,
                        path,
                        sha256: digests.file,
                        build_s: relinked.seconds,
                    }),
                });
            }
        }
        Ok(relaid)
    }
}
