//! The stories of a bundle: built in one place, measured in another.

use super::{
    Ask, Built, PipelineError, announce, begin, build_sides, header, in_workshop, measure_all, request,
    unfinished, waiting, with_shard,
};
use crate::config::Settings;
use crate::edge::archive;
use crate::edge::clock::{Stopwatch, arbitrary_seed};
use crate::edge::home::Room;
use crate::edge::machine;
use crate::edge::process::{self, Runner};
use crate::edge::store::Journal;
use crate::edge::view::View;
use crate::lab::Laboratory;
use crate::plan::{Measuring, Plan};
use crate::recording::{Event, Host, Recording};
use crate::workshop;
use std::path::{Path, PathBuf};

/// What `record` is asked for with a bundle.
#[derive(Debug, Clone)]
pub struct BundleAsk {
    /// The bundle.
    pub bundle: PathBuf,
    /// Settings from the command line; those the bundle was built with hold where they say nothing.
    pub settings: Settings,
    /// Go on with the unfinished recording.
    pub resume: bool,
    /// File to record into.
    pub recording: PathBuf,
}

/// Builds two commits into a bundle; returns what building recorded.
///
/// # Errors
/// [`PipelineError`] if neither side can be built or the bundle cannot be written.
pub fn build(ask: &Ask, bundle: &Path, view: &View) -> Result<Recording, PipelineError> {
    in_workshop(request(ask)?, view, |workshop, plan| {
        let Built {
            journal,
            run,
            product,
        } = build_sides(ask, plan, workshop)?;
        let manifest = workshop::pack(&journal, &run, &product.snapshots, bundle)?;
        let (digest, bytes) = archive::digest_of(bundle).map_err(workshop::WorkshopError::from)?;
        view.say(&format!(
            "wrote {}: {} files, {}, SHA-256 {digest}",
            bundle.display(),
            manifest.files.len(),
            indicatif::HumanBytes(bytes)
        ));
        Ok(journal.recording)
    })
}

/// Measures what a bundle holds into a recording. Needs neither Rust nor git, and no network.
///
/// # Errors
/// [`PipelineError`] for a bundle that cannot be used here, or if nothing could be measured.
pub fn record_bundle(ask: &BundleAsk, view: &View) -> Result<Recording, PipelineError> {
    let started = Stopwatch::start();
    process::watch_for_interrupts();
    let (digest, _) = archive::digest_of(&ask.bundle).map_err(workshop::WorkshopError::from)?;
    let room = Room::of_bundle(&digest, |holder| waiting(holder, view))?;
    let runner = Runner::with_leash(room.leash());
    // What is in the bundle is known only once it is unpacked, and a run is named after its head.
    let run = room.run(&format!("of-{}", &digest[..16]));
    let (built, sides) = workshop::unpack(&ask.bundle, &room, &run)?;
    let plan = planned(&built, &ask.settings)?;
    announce(&plan, view);
    let journal = if ask.resume {
        unfinished(vec![ask.recording.clone()], &plan, view)?
    } else {
        begin_from(ask, &built, plan, &digest)?
    };
    run.verify(&journal.recording)?;
    let lab = Laboratory::new(&runner, run, &room.tree(), sides, None, &journal.recording);
    measure_all(lab, journal, &started, view)
}

/// The plan of the bundle, changed where the command line says something.
fn planned(built: &Recording, settings: &Settings) -> Result<Plan, PipelineError> {
    let mut plan = built.header.plan.clone();
    plan.selection.filter = settings.filter()?.or(plan.selection.filter);
    plan.measuring = with_shard(settings.clone())?.measuring(Measuring {
        seed: arbitrary_seed(),
        ..plan.measuring
    })?;
    plan.policy = settings.policy(plan.policy)?;
    Ok(plan)
}

/// A recording that says where it was built.
fn begin_from(
    ask: &BundleAsk,
    built: &Recording,
    plan: Plan,
    digest: &str,
) -> Result<Journal, PipelineError> {
    let mut journal = begin(&ask.recording, header(plan), machine::host(), built)?;
    let text = format!(
        "measured from the bundle {}, which was built on {} ({})",
        &digest[..16],
        machine_name(&built.host),
        built.header.started_at
    );
    journal.append(Event::Note { text })?;
    Ok(journal)
}

fn machine_name(host: &Host) -> String {
    let parts = [&host.cpu, &host.os, &host.kernel];
    let known: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    if known.is_empty() {
        "an unknown machine".to_owned()
    } else {
        known.join(", ")
    }
}
