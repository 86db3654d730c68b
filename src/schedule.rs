//! In which order slots run: random, balanced, and the same for the same seed.
//!
//! Rounds come in pairs. Within a pair the scenarios of a target are dealt into the same chunks, and in the second
//! round of the pair the sides of each chunk run in the opposite order, so that whatever is due to running first or
//! second cancels. Base and head of a chunk are neighbours in time, so that drift touches both alike.

use crate::recording::Phase;
use crate::revision::Side;
use crate::scenario::Target;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt as _, SeedableRng};

/// A scenario to be measured, and what it costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Position in the run's list of scenarios; within a target this is the order the bench registers them in.
    pub scenario: u32,
    /// Executable.
    pub target: Target,
    /// Seconds one slot spends on it.
    pub cost_s: f64,
}

/// Scenarios that share a process.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// Executable.
    pub target: Target,
    /// Members in the order the bench registers them.
    pub scenarios: Vec<u32>,
    /// Seconds one process spends on them.
    pub cost_s: f64,
    /// Side that runs first.
    pub first: Side,
}

/// The chunks of one round, in the order they run; each is run by both sides, [`Chunk::first`] first.
///
/// `chunk_s` is how long a process of a target should run: long enough that starting it costs little, short enough that
/// both sides of a chunk meet the same machine. A scenario that costs more has a process of its own; everything that a
/// program measures is in one, whatever it costs.
#[must_use]
pub fn round(
    seed: u64,
    phase: Phase,
    round: u32,
    jobs: &[Job],
    chunk_s: impl Fn(&Target) -> f64,
) -> Vec<Chunk> {
    let mut of_pair = generator(seed, phase, u64::from(round / 2) * 2);
    let mut chunks = deal(jobs, chunk_s, &mut of_pair);
    for chunk in &mut chunks {
        let first = if of_pair.random_bool(0.5) {
            Side::Base
        } else {
            Side::Head
        };
        chunk.first = if round.is_multiple_of(2) {
            first
        } else {
            first.other()
        };
    }
    chunks.shuffle(&mut generator(seed, phase, u64::from(round) * 2 + 1));
    chunks
}

fn deal(jobs: &[Job], chunk_s: impl Fn(&Target) -> f64, rng: &mut ChaCha8Rng) -> Vec<Chunk> {
    let mut jobs: Vec<&Job> = jobs.iter().collect();
    jobs.shuffle(rng);
    jobs.sort_by(|a, b| a.target.cmp(&b.target)); // stable: random within a target
    let mut chunks: Vec<Chunk> = Vec::new();
    for job in jobs {
        let fits =
            |chunk: &Chunk| job.target.is_program() || chunk.cost_s + job.cost_s <= chunk_s(&job.target);
        match chunks.last_mut() {
            Some(chunk) if chunk.target == job.target && fits(chunk) => {
                chunk.scenarios.push(job.scenario);
                chunk.cost_s += job.cost_s;
            }
            _ => chunks.push(Chunk {
                target: job.target.clone(),
                scenarios: vec![job.scenario],
                cost_s: job.cost_s,
                first: Side::Base,
            }),
        }
    }
    for chunk in &mut chunks {
        chunk.scenarios.sort_unstable();
    }
    chunks
}

/// An independent stream for each purpose of each round.
fn generator(seed: u64, phase: Phase, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream * 4 + phase as u64);
    rng
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn jobs(targets: &[(&str, u32)]) -> Vec<Job> {
        let names = targets
            .iter()
            .flat_map(|(name, count)| std::iter::repeat_n(*name, *count as usize));
        (0..)
            .zip(names)
            .map(|(scenario, name)| Job {
                scenario,
                target: Target {
                    package: "p".into(),
                    target: name.into(),
                },
                cost_s: 0.1,
            })
            .collect()
    }

    fn text(chunks: &[Chunk]) -> String {
        chunks
            .iter()
            .map(|chunk| {
                let order = if chunk.first == Side::Base { "BH" } else { "HB" };
                format!("{}{:?}{order}", chunk.target.target, chunk.scenarios)
            })
            .collect::<Vec<_>>()
            .join("  ")
    }

    #[test]
    fn a_pair_of_rounds_mirrors_the_sides_of_every_chunk() {
        let jobs = jobs(&[("x", 5), ("y", 2)]);
        for pair in 0..20 {
            let sides = |round_number| -> BTreeMap<Vec<u32>, Side> {
                round(7, Phase::Measure, round_number, &jobs, |_| 0.25)
                    .into_iter()
                    .map(|chunk| (chunk.scenarios, chunk.first))
                    .collect()
            };
            let (first, second) = (sides(2 * pair), sides(2 * pair + 1));
            let mirrored: BTreeMap<_, _> = first
                .into_iter()
                .map(|(chunk, side)| (chunk, side.other()))
                .collect();
            assert_eq!(mirrored, second);
        }
    }

    #[test]
    fn every_scenario_is_in_exactly_one_chunk_and_chunks_keep_to_one_target() {
        let jobs = jobs(&[("x", 13), ("y", 4)]);
        for number in 0..10 {
            let chunks = round(1, Phase::Measure, number, &jobs, |_| 0.35);
            let mut all: Vec<u32> = chunks.iter().flat_map(|chunk| chunk.scenarios.clone()).collect();
            all.sort_unstable();
            assert_eq!(all, (0..17).collect::<Vec<_>>());
            for chunk in &chunks {
                assert!(chunk.scenarios.len() <= 3 && chunk.scenarios.is_sorted());
                let own = |ix: &u32| jobs[*ix as usize].target == chunk.target;
                assert!(chunk.scenarios.iter().all(own));
            }
        }
    }

    #[test]
    fn the_order_follows_from_the_seed_alone() {
        let jobs = jobs(&[("x", 4)]);
        let rounds: Vec<String> = (0..4)
            .map(|number| text(&round(42, Phase::Measure, number, &jobs, |_| 0.2)))
            .collect();
        insta::assert_snapshot!(rounds.join("\n"), @r"
        x[1, 3]BH  x[0, 2]HB
        x[0, 2]BH  x[1, 3]HB
        x[0, 2]HB  x[1, 3]BH
        x[0, 2]BH  x[1, 3]HB
        ");
        assert_ne!(
            round(42, Phase::Confirm, 0, &jobs, |_| 0.2),
            round(42, Phase::Measure, 0, &jobs, |_| 0.2)
        );
    }

    #[test]
    fn which_side_goes_first_is_not_always_the_same() {
        let jobs = jobs(&[("x", 1)]);
        let base_first =
            (0..200).filter(|pair| round(3, Phase::Measure, 2 * pair, &jobs, |_| 1.0)[0].first == Side::Base);
        let count = base_first.count();
        assert!((60..=140).contains(&count), "{count} of 200");
    }

    #[test]
    fn an_expensive_scenario_has_a_process_of_its_own() {
        let mut jobs = jobs(&[("x", 3)]);
        jobs[1].cost_s = 30.0;
        let chunks = round(1, Phase::Measure, 0, &jobs, |_| 1.0);
        assert!(chunks.iter().any(|chunk| chunk.scenarios == [1]));
    }

    #[test]
    fn what_a_program_measures_is_never_split() {
        let mut jobs = jobs(&[("x", 9)]);
        jobs.iter_mut().for_each(|job| job.target.package.clear());
        let chunks = round(1, Phase::Measure, 0, &jobs, |_| 0.25);
        assert_eq!(chunks.len(), 1);
        assert_eq!(chunks[0].scenarios, (0..9).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_to_measure_is_an_empty_round() {
        assert_eq!(round(1, Phase::Measure, 0, &[], |_| 1.0), []);
    }
}
