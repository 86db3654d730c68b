//! Where a scenario changed: jumps that stay, and drifts that no single commit would show.
//!
//! A jump counts once a second commit has it too: one that is gone with the next commit is an outlier, and set aside. How
//! likely chance alone makes a jump or a drift as clear is asked by permutation ([`stats::jump`](crate::stats::jump)); that many
//! scenarios are asked is corrected for by whoever asks them all ([`trend`](super::trend)).

use super::chain::{Level, Stretch};
use crate::stats::jump;
use crate::stats::segments::{Series, independent_noise, segments};
use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;

/// Values are never known better than to a hundredth of a percent: exact ones would make every change infinitely clear.
const FINEST: f64 = 1e-4;

/// Fewest steps of a drift: two small steps in a row are two changes.
const FEWEST: usize = 3;

/// What a change looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// From one commit to the next.
    Jump,
    /// In small steps.
    Drift,
}

/// A change of one scenario, before it is known how many were looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// What it looks like.
    pub shape: Shape,
    /// Position in the stretch of the last commit before it.
    pub before: usize,
    /// Position of the commit that ends it: that of a jump.
    pub at: usize,
    /// Size, log scale.
    pub size: f64,
    /// Standard error of that, log scale, above zero.
    pub error: f64,
    /// Probability that chance alone makes one as clear anywhere near.
    pub chance: f64,
}

/// All changes of a stretch, in order of their commits; `seed` makes the same stretch give the same probabilities. What chance
/// makes with a probability above `level` is no change; a drift is looked for across a jump that is none.
#[must_use]
pub fn changes(stretch: &Stretch, level: f64, seed: u64) -> Vec<Candidate> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut kept: Vec<usize> = (0..stretch.levels.len()).collect();
    let mut data = Data::new(&stretch.levels, &kept);
    let mut cuts = segments(&data.series(), data.penalty());
    // Setting one outlier aside may show another; each round takes at least one away.
    while let Some(spikes) = spikes(&cuts, &data.values) {
        let mut position = 0;
        kept.retain(|_| {
            position += 1;
            !spikes.contains(&(position - 1))
        });
        data = Data::new(&stretch.levels, &kept);
        cuts = segments(&data.series(), data.penalty());
    }
    // Whether the newest commit's jump stays is not known yet.
    if cuts.last().is_some_and(|cut| cut + 1 == kept.len()) {
        cuts.pop();
    }
    let mut found = clear(&data.series(), &mut cuts, &kept, level, &mut random);
    let bounds = bounds(&cuts, kept.len());
    for two in bounds.windows(2) {
        let still = data.series().part(two[0]..two[1]);
        let drift = jump::drift(&still, FEWEST, level, &mut random);
        found.extend(
            drift
                .filter(|(_, chance)| *chance <= level)
                .map(|(drift, chance)| Candidate {
                    shape: Shape::Drift,
                    before: kept[two[0] + drift.from],
                    at: kept[two[0] + drift.to],
                    size: drift.size,
                    error: drift.error,
                    chance,
                }),
        );
    }
    found.sort_by_key(|candidate| (candidate.at, candidate.before));
    stairs(found, &stretch.levels)
}

/// Ends of the segments between cuts.
fn bounds(cuts: &[usize], n: usize) -> Vec<usize> {
    [0].into_iter().chain(cuts.iter().copied()).chain([n]).collect()
}

/// The jumps that are clear enough. One by one the least clear cut is given up, since its neighbours may become clearer
/// without it.
fn clear(
    series: &Series<'_>,
    cuts: &mut Vec<usize>,
    kept: &[usize],
    level: f64,
    random: &mut ChaCha8Rng,
) -> Vec<Candidate> {
    let mut asked: Vec<Option<Candidate>> = vec![None; cuts.len()];
    loop {
        let bounds = bounds(cuts, kept.len());
        for (n, candidate) in asked.iter_mut().enumerate() {
            let around = series.part(bounds[n]..bounds[n + 2]);
            let (cut, at) = (cuts[n], cuts[n] - bounds[n]);
            *candidate = candidate.or_else(|| {
                let jump = jump::jump(&around, at)?;
                Some(Candidate {
                    shape: Shape::Jump,
                    before: kept[cut - 1],
                    at: kept[cut],
                    size: jump.size,
                    error: jump.error,
                    chance: jump::chance(&around, at, level, random),
                })
            });
        }
        let chance = |n: &usize| asked[*n].map_or(1.0, |candidate| candidate.chance);
        let least_clear = (0..cuts.len()).max_by(|one, other| chance(one).total_cmp(&chance(other)));
        match least_clear.filter(|n| chance(n) > level) {
            None => return asked.into_iter().flatten().collect(),
            Some(n) => {
                cuts.remove(n);
                asked.remove(n);
                for neighbour in [n.wrapping_sub(1), n] {
                    if let Some(asked) = asked.get_mut(neighbour) {
                        *asked = None;
                    }
                }
            }
        }
    }
}

/// The numbers of a stretch without its outliers.
struct Data {
    values: Vec<f64>,
    walk: Vec<f64>,
    noise: Vec<f64>,
}

impl Data {
    fn new(levels: &[Level], kept: &[usize]) -> Self {
        let values: Vec<f64> = kept.iter().map(|at| levels[*at].level).collect();
        let mut next = 0;
        let walk: Vec<f64> = kept
            .iter()
            .map(|at| {
                let since = levels[next..=*at].iter().map(|level| level.walk).sum();
                next = at + 1;
                since
            })
            .collect();
        let own: Vec<f64> = kept.iter().map(|at| levels[*at].own).collect();
        let known: Vec<f64> = (0..kept.len())
            .map(|n| walk[n] + own[n] + if n == 0 { 0.0 } else { own[n - 1] })
            .collect();
        let more = independent_noise(&values, &known) + FINEST * FINEST;
        Self {
            noise: own.iter().map(|own| own + more).collect(),
            values,
            walk,
        }
    }

    fn series(&self) -> Series<'_> {
        Series {
            values: &self.values,
            walk: &self.walk,
            noise: &self.noise,
        }
    }

    /// What a further jump must explain: three times the logarithm of the number of commits. With twice that, Schwarz 1978,
    /// most long series without a jump would get candidates, and each costs a permutation test.
    fn penalty(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 commits")]
        let commits = self.values.len().max(3) as f64;
        3.0 * commits.ln()
    }
}

/// Positions of single values that stand out from both sides in the same direction, and by more than the sides differ; `None`
/// if there are none. A single value between two jumps of one direction is a step of a staircase.
fn spikes(cuts: &[usize], values: &[f64]) -> Option<Vec<usize>> {
    let ends = cuts.iter().skip(1).copied().chain([values.len()]);
    let alone = cuts
        .iter()
        .copied()
        .zip(ends)
        .filter(|(cut, end)| cut + 1 == *end && *end < values.len());
    let stands_out = |cut: &usize| {
        let (up, down) = (values[*cut] - values[cut - 1], values[*cut] - values[cut + 1]);
        up * down > 0.0 && (up - down).abs() < up.abs().max(down.abs())
    };
    let spikes: Vec<usize> = alone.map(|(cut, _)| cut).filter(stands_out).collect();
    (!spikes.is_empty()).then_some(spikes)
}

/// Steps of a staircase lie at most so many commits apart. Chosen; arbitrary.
const STAIR: usize = 4;

/// Three or more jumps in one direction, close to each other, are one drift, and so is a drift with what goes on before and
/// after it: no reader wants twelve changes of 2 %.
fn stairs(changes: Vec<Candidate>, levels: &[Level]) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut run: Vec<Candidate> = Vec::new();
    for next in changes.into_iter().map(Some).chain([None]) {
        let goes_on = match (run.last(), &next) {
            (Some(last), Some(next)) => next.before <= last.at + STAIR && next.size * last.size > 0.0,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        if !goes_on {
            found.extend(joined(&run, levels));
            run.clear();
        }
        run.extend(next);
    }
    found
}

fn joined(run: &[Candidate], levels: &[Level]) -> Vec<Candidate> {
    let (Some(first), Some(last)) = (run.first(), run.last()) else {
        return Vec::new();
    };
    let drifts = run.iter().any(|each| each.shape == Shape::Drift);
    if run.len() < if drifts { 2 } else { FEWEST } {
        return run.to_vec();
    }
    let least = run.iter().map(|each| each.chance).fold(1.0, f64::min);
    vec![Candidate {
        shape: Shape::Drift,
        before: first.before,
        at: last.at,
        size: levels[last.at].level - levels[first.before].level,
        // Errors of the steps are independent of each other but for what both share of the level between them.
        error: run.iter().map(|each| each.error.powi(2)).sum::<f64>().sqrt(),
        chance: least,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::chain::{Step, chain};
    use crate::verdict::Verdict;
    use rand::RngExt as _;

    fn normal(random: &mut ChaCha8Rng) -> f64 {
        let (one, two): (f64, f64) = (random.random(), random.random());
        (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * two).cos()
    }

    /// What a runner measures of commits that truly have these levels: each beside the one before.
    fn measured(levels: &[f64], error: f64, random: &mut ChaCha8Rng) -> Stretch {
        let steps: Vec<Step> = (1..levels.len())
            .map(|head| Step {
                base: Some(head - 1),
                head,
                change: Some(levels[head] - levels[head - 1] + error * normal(random)),
                error: Some(error),
                value: None,
                verdict: Verdict::Unchanged,
            })
            .collect();
        chain(&steps, |_| false).remove(0)
    }

    fn sure(stretch: &Stretch) -> Vec<Candidate> {
        changes(stretch, 0.001, 1)
            .into_iter()
            .filter(|candidate| candidate.chance < 0.001)
            .collect()
    }

    #[test]
    fn a_step_is_placed_within_one_commit_of_the_truth_in_nine_of_ten_series() {
        let mut random = ChaCha8Rng::seed_from_u64(2026);
        let (mut close, mut found) = (0, 0);
        for case in 0..200 {
            let (n, at) = (40 + case % 60, 10 + case % 23);
            let levels: Vec<f64> = (0..n).map(|k| if k < at { 0.0 } else { 0.06 }).collect();
            let sure = sure(&measured(&levels, 0.01, &mut random));
            found += usize::from(!sure.is_empty());
            close += usize::from(
                sure.iter()
                    .any(|each| each.shape == Shape::Jump && each.at.abs_diff(at) <= 1),
            );
        }
        assert!(close >= 180, "{close} of {found} found in 200");
    }

    #[test]
    fn a_step_among_values_measured_alone_is_placed_as_well() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut close = 0;
        for case in 0..200 {
            let at = 10 + case % 23;
            let steps: Vec<Step> = (0..60)
                .map(|head| Step {
                    base: None,
                    head,
                    change: None,
                    error: None,
                    value: Some((if head < at { 5.0 } else { 5.06 } + 0.02 * normal(&mut random)).exp()),
                    verdict: Verdict::Unclear,
                })
                .collect();
            let sure = sure(&chain(&steps, |_| false)[0]);
            close += usize::from(
                sure.iter()
                    .any(|each| each.shape == Shape::Jump && each.at.abs_diff(at) <= 1),
            );
        }
        assert!(close >= 180, "{close} of 200");
    }

    #[test]
    fn twelve_steps_of_two_percent_are_one_drift() {
        let mut random = ChaCha8Rng::seed_from_u64(12);
        let mut found = 0;
        for _ in 0..50 {
            let levels: Vec<f64> = (0..50)
                .map(|k: i32| 0.02 * f64::from((k - 20).clamp(0, 12)))
                .collect();
            let sure = sure(&measured(&levels, 0.01, &mut random));
            let total: f64 = sure.iter().map(|each| each.size).sum();
            found += usize::from(!sure.is_empty() && (0.14..0.34).contains(&total));
        }
        assert!(found >= 45, "{found} of 50");
    }

    #[test]
    fn steps_that_are_clear_one_by_one_are_one_drift_too() {
        let mut random = ChaCha8Rng::seed_from_u64(13);
        for _ in 0..20 {
            let levels: Vec<f64> = (0..50)
                .map(|k: i32| 0.02 * f64::from((k - 20).clamp(0, 12)))
                .collect();
            let sure = sure(&measured(&levels, 0.002, &mut random));
            assert!(sure.len() == 1 && sure[0].shape == Shape::Drift, "{sure:?}");
            assert!(
                (sure[0].size - 0.24).abs() < 0.03
                    && sure[0].before.abs_diff(20) + sure[0].at.abs_diff(32) <= 1,
                "{sure:?}"
            );
        }
    }

    #[test]
    fn one_spike_is_no_change() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..30 {
            let levels: Vec<f64> = (0..50).map(|k| if k == 25 { 0.2 } else { 0.0 }).collect();
            let sure = sure(&measured(&levels, 0.01, &mut random));
            assert!(sure.is_empty(), "{sure:?}");
        }
    }

    #[test]
    fn a_jump_of_the_newest_commit_waits_for_a_second_one() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for (more, expected) in [(1, 0), (2, 1)] {
            let levels: Vec<f64> = (0..30 + more).map(|k| if k < 30 { 0.0 } else { 0.2 }).collect();
            assert_eq!(sure(&measured(&levels, 0.01, &mut random)).len(), expected);
        }
    }

    #[test]
    fn unchanged_code_makes_no_changes_however_far_its_errors_add_up() {
        let mut random = ChaCha8Rng::seed_from_u64(33);
        let mut wrong = 0;
        for _ in 0..100 {
            let n = 100;
            wrong += sure(&measured(&vec![0.0; n], 0.02, &mut random)).len();
        }
        // A thousandth each for jumps and drifts would be 0.2.
        assert!(wrong <= 3, "{wrong}");
    }

    #[test]
    fn exact_rows_show_every_change() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let levels: Vec<f64> = (0..30).map(|k| if k < 12 { 0.0 } else { 0.004 }).collect();
        let sure = sure(&measured(&levels, 0.0, &mut random));
        assert!(sure.len() == 1 && sure[0].at == 12, "{sure:?}");
    }
}
