//! How large a jump is, how well that is known, and how likely chance alone makes one as clear.
//!
//! The model is that of [`segments`](super::segments). A jump between two values is the level right of it, told by the
//! values from there on, less the level left of it: two Kalman filters that run towards each other.
//!
//! Chance is asked by permutation: what the model does not predict of the values, once the jump is allowed for, is shuffled, its
//! signs are drawn anew, and a series without any jump is made of it (permutation of residuals: Anderson and ter Braak 2003).
//! Each such series tells how clear its clearest jump is. Far out, where shuffling as often as needed would take too long,
//! half the square of that follows a Gumbel distribution, which is fitted by moments (Abrams, Kulldorff and Kleinman 2010).

use super::segments::Series;
use rand::RngExt as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;

/// Shuffled series behind each probability. Their half squares have a standard deviation of 1.3, so the mean is known to 0.1
/// and the fitted tail to about a factor of two.
const SHUFFLES: usize = 199;

/// So many shuffled series as clear as what was found end the asking: it is nothing.
const ENOUGH: usize = 10;

/// A jump and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jump {
    /// Level from there on less the level before.
    pub size: f64,
    /// Its standard error, above zero.
    pub error: f64,
}

/// What a filter needs that does not depend on the values: gain and spread of every step, forwards or backwards.
struct Gains {
    gain: Vec<f64>,
    spread: Vec<f64>,
    /// Variance of the level once the value is known.
    after: Vec<f64>,
}

impl Gains {
    /// `walk(k)` is what the level gains on the way to the k-th value in the filter's own order.
    fn new(noise: impl Iterator<Item = f64>, walk: impl Fn(usize) -> f64) -> Self {
        let mut gains = Self {
            gain: Vec::new(),
            spread: Vec::new(),
            after: Vec::new(),
        };
        for (k, noise) in noise.enumerate() {
            match gains.after.last() {
                None => gains.push(1.0, noise, noise),
                Some(after) => {
                    let before = after + walk(k);
                    let spread = before + noise;
                    gains.push(before / spread, spread, before * noise / spread);
                }
            }
        }
        gains
    }

    fn push(&mut self, gain: f64, spread: f64, after: f64) {
        self.gain.push(gain);
        self.spread.push(spread);
        self.after.push(after);
    }
}

/// Both filters of one stretch.
struct Filters<'a> {
    series: Series<'a>,
    forward: Gains,
    /// In order of the values: at `k` what the values from `k` on tell.
    backward: Gains,
}

impl<'a> Filters<'a> {
    fn new(series: Series<'a>) -> Self {
        let n = series.len();
        let forward = Gains::new(series.noise.iter().copied(), |k| series.walk[k]);
        let mut backward = Gains::new(series.noise.iter().rev().copied(), |k| series.walk[n - k]);
        backward.gain.reverse();
        backward.spread.reverse();
        backward.after.reverse();
        Self {
            series,
            forward,
            backward,
        }
    }

    /// Calls `on` with each position and the jump in front of it.
    fn jumps(&self, values: &[f64], right: &mut Vec<f64>, mut on: impl FnMut(usize, Jump)) {
        let n = values.len();
        right.clear();
        right.resize(n, 0.0);
        let mut level = 0.0;
        for k in (0..n).rev() {
            level += self.backward.gain[k] * (values[k] - level);
            right[k] = level;
        }
        level = 0.0;
        for k in 0..n {
            if k > 0 {
                let variance = self.forward.after[k - 1] + self.backward.after[k] + self.series.walk[k];
                on(
                    k,
                    Jump {
                        size: right[k] - level,
                        error: variance.sqrt(),
                    },
                );
            }
            level += self.forward.gain[k] * (values[k] - level);
        }
    }

    fn clearest(&self, values: &[f64], right: &mut Vec<f64>) -> f64 {
        let mut most: f64 = 0.0;
        self.jumps(values, right, |_, jump| {
            most = most.max((jump.size / jump.error).abs())
        });
        most
    }
}

/// The jump in front of position `at` of a stretch that holds no other. `None` unless values lie on both sides.
#[must_use]
pub fn jump(series: &Series<'_>, at: usize) -> Option<Jump> {
    let mut found = None;
    Filters::new(*series).jumps(series.values, &mut Vec::new(), |k, jump| {
        if k == at {
            found = Some(jump);
        }
    });
    found
}

/// What the model does not predict, in standard deviations, if the level may jump in front of each of `cuts`. To allow for
/// a change takes the largest residuals away; so that nothing becomes clearer by that, what is left is stretched to the
/// variance that the model knows of.
fn residuals(series: &Series<'_>, cuts: &[usize]) -> Vec<f64> {
    let mut residuals = Vec::with_capacity(series.len());
    let ends = cuts.iter().copied().chain([series.len()]);
    let mut start = 0;
    for end in ends {
        let part = series.part(start..end);
        let gains = Gains::new(part.noise.iter().copied(), |k| part.walk[k]);
        let mut level = part.values.first().copied().unwrap_or(0.0);
        for k in 1..part.len() {
            let error = part.values[k] - level;
            residuals.push(error / gains.spread[k].sqrt());
            level += gains.gain[k] * error;
        }
        start = end;
    }
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 values")]
    let count = residuals.len().max(1) as f64;
    let square = residuals.iter().map(|each| each * each).sum::<f64>() / count;
    if square > 0.0 && square < 1.0 {
        let stretch = square.sqrt();
        residuals.iter_mut().for_each(|each| *each /= stretch);
    }
    residuals
}

/// Probability of a statistic at least this large if the series had no change: made of shuffled residuals, `statistic` is asked
/// about each. Once [`ENOUGH`] of them reach it the answer is near enough (Besag and Clifford 1991).
fn permuted(
    found: f64,
    forward: &Gains,
    residuals: &[f64],
    random: &mut ChaCha8Rng,
    mut statistic: impl FnMut(&[f64]) -> f64,
) -> f64 {
    let mut residuals = residuals.to_vec();
    let mut values = vec![0.0; forward.gain.len()];
    let mut of_chance = Vec::with_capacity(SHUFFLES);
    let mut above = 0;
    while of_chance.len() < SHUFFLES && above < ENOUGH {
        residuals.shuffle(random);
        let mut level = 0.0;
        for k in 1..values.len() {
            let sign = if random.random::<bool>() { 1.0 } else { -1.0 };
            let error = sign * residuals[k % residuals.len()] * forward.spread[k].sqrt();
            values[k] = level + error;
            level += forward.gain[k] * error;
        }
        let one = statistic(&values);
        above += usize::from(one >= found);
        of_chance.push(one);
    }
    tail(found, &of_chance)
}

/// Probability of a statistic at least this large, from what shuffled series gave: the share of those, or where that is too
/// coarse the fitted tail.
fn tail(statistic: f64, of_chance: &[f64]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a few hundred shuffles")]
    let count = of_chance.len() as f64;
    #[expect(clippy::cast_precision_loss, reason = "a few hundred shuffles")]
    let above = of_chance.iter().filter(|each| **each >= statistic).count() as f64;
    if above >= 5.0 || count < 30.0 {
        return (above + 1.0) / (count + 1.0);
    }
    let half_square = |value: f64| value * value / 2.0;
    let mean = of_chance.iter().map(|each| half_square(*each)).sum::<f64>() / count;
    let spread = of_chance
        .iter()
        .map(|each| (half_square(*each) - mean).powi(2))
        .sum::<f64>()
        / (count - 1.0);
    // Gumbel: standard deviation pi/sqrt(6) times the scale, mean Euler's constant times the scale above the location.
    // Residuals that happen to be tame must not promise a lighter tail than the model's own, whose scale is 1.
    let scale = (spread.sqrt() * 6.0_f64.sqrt() / std::f64::consts::PI).max(1.0);
    let location = mean - 0.577_215_664_901_532_9 * scale;
    let above = (-(half_square(statistic) - location) / scale).exp();
    -(-above).exp_m1()
}

/// Values on either side of a jump, or around a drift, that its probability is asked of. Those further away tell little
/// of the level there, and shuffling them takes time.
const NEAR: usize = 150;

/// Probability that a single standard normal number is so far from 0. What was looked for at many places is likelier.
fn alone(clarity: f64) -> f64 {
    statrs::function::erf::erfc(clarity / std::f64::consts::SQRT_2)
}

/// Probability that the clearest jump anywhere in the stretch is as clear as the one in front of `at` although there is none.
/// 1 if there are fewer than four values or no values on both sides, and if it is certain to be above `level`.
#[must_use]
pub fn chance(series: &Series<'_>, at: usize, level: f64, random: &mut ChaCha8Rng) -> f64 {
    let from = at.saturating_sub(NEAR);
    let near = series.part(from..series.len().min(at + NEAR));
    let at = at - from;
    let residuals = residuals(&near, &[at]);
    let filters = Filters::new(near);
    let mut right = Vec::new();
    let mut found = None;
    filters.jumps(near.values, &mut right, |k, jump| {
        if k == at {
            found = Some(jump);
        }
    });
    let Some(found) = found.filter(|_| residuals.len() >= 2) else {
        return 1.0;
    };
    let clarity = (found.size / found.error).abs();
    if alone(clarity) > level {
        return 1.0;
    }
    permuted(clarity, &filters.forward, &residuals, random, |values| {
        filters.clearest(values, &mut right)
    })
}

/// A drift: the level moves from one value to a later one, in small steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Last position before it.
    pub from: usize,
    /// Last position of it.
    pub to: usize,
    /// Value at `to` less that at `from`.
    pub size: f64,
    /// Standard error of that, above zero.
    pub error: f64,
}

/// Sums of `walk`, so that any stretch of it costs one subtraction.
fn sums(walk: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    walk.iter()
        .enumerate()
        .map(|(k, walk)| {
            sum += if k == 0 { 0.0 } else { *walk };
            sum
        })
        .collect()
}

fn between(series: &Series<'_>, values: &[f64], sums: &[f64], (from, to): (usize, usize)) -> Drift {
    let variance = sums[to] - sums[from] + series.noise[from] + series.noise[to];
    Drift {
        from,
        to,
        size: values[to] - values[from],
        error: variance.sqrt(),
    }
}

/// The clearest difference between two values of a stretch that are at least `least` steps apart, among distances that
/// are powers of two: `O(n log n)`.
fn clearest_drift(series: &Series<'_>, values: &[f64], sums: &[f64], least: usize) -> Option<Drift> {
    let mut best: Option<Drift> = None;
    let clarity = |of: &Drift| (of.size / of.error).abs();
    let mut distance = least.max(1);
    while distance < values.len() {
        for from in 0..values.len() - distance {
            let drift = between(series, values, sums, (from, from + distance));
            if best.as_ref().is_none_or(|best| clarity(&drift) > clarity(best)) {
                best = Some(drift);
            }
        }
        distance *= 2;
    }
    best
}

/// The values if the drift between two positions had not been.
fn without(values: &[f64], (from, to): (usize, usize), size: f64) -> Vec<f64> {
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 values")]
    let share = |k: usize| (k.clamp(from, to) - from) as f64 / (to - from).max(1) as f64;
    values
        .iter()
        .enumerate()
        .map(|(k, value)| value - size * share(k))
        .collect()
}

/// The clearest drift over at least `least` steps in a stretch without jumps, and the probability that chance alone makes one as
/// clear; 1 if that is certain to be above `level`. `None` if the stretch is too short.
#[must_use]
pub fn drift(series: &Series<'_>, least: usize, level: f64, random: &mut ChaCha8Rng) -> Option<(Drift, f64)> {
    let sums_of_all = sums(series.walk);
    let mut found = clearest_drift(series, series.values, &sums_of_all, least)?;
    let clarity = |of: &Drift| (of.size / of.error).abs();
    // Distances were powers of two: move the ends while that makes it clearer.
    loop {
        let ends = [
            (found.from.checked_sub(1), Some(found.to)),
            (Some(found.from + 1), Some(found.to)),
            (Some(found.from), found.to.checked_sub(1)),
            (
                Some(found.from),
                Some(found.to + 1).filter(|to| *to < series.len()),
            ),
        ];
        let better = ends
            .into_iter()
            .filter_map(|(from, to)| Some((from?, to?)))
            .filter(|(from, to)| from + least <= *to)
            .map(|ends| between(series, series.values, &sums_of_all, ends))
            .max_by(|one, other| clarity(one).total_cmp(&clarity(other)))
            .filter(|better| clarity(better) > clarity(&found));
        match better {
            Some(better) => found = better,
            None => break,
        }
    }
    if alone(clarity(&found)) > level {
        return Some((found, 1.0));
    }
    let from = found.from.saturating_sub(NEAR);
    let near = series.part(from..series.len().min(found.to + 1 + NEAR));
    let flat = without(near.values, (found.from - from, found.to - from), found.size);
    let residuals = residuals(
        &Series {
            values: &flat,
            ..near
        },
        &[],
    );
    let forward = Gains::new(near.noise.iter().copied(), |k| near.walk[k]);
    let sums_near = sums(near.walk);
    let chance = permuted(clarity(&found), &forward, &residuals, random, |values| {
        clearest_drift(&near, values, &sums_near, least).map_or(0.0, |drift| clarity(&drift))
    });
    Some((found, chance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    fn normal(random: &mut ChaCha8Rng) -> f64 {
        let (one, two): (f64, f64) = (random.random(), random.random());
        (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * two).cos()
    }

    #[test]
    fn without_a_walk_a_jump_is_the_difference_of_two_means() {
        let values = [1.0, 2.0, 3.0, 7.0, 9.0];
        let series = Series {
            values: &values,
            walk: &[0.0; 5],
            noise: &[1.0; 5],
        };
        let found = jump(&series, 3).unwrap();
        assert!((found.size - 6.0).abs() < 1e-12, "{found:?}");
        assert!(
            (found.error - (1.0_f64 / 3.0 + 0.5).sqrt()).abs() < 1e-12,
            "{found:?}"
        );
        assert_eq!(jump(&series, 0), None);
    }

    #[test]
    fn where_errors_add_up_a_jump_is_the_step_alone() {
        let values = [1.0, 2.0, 3.0, 7.0, 9.0];
        let series = Series {
            values: &values,
            walk: &[1.0; 5],
            noise: &[1e-9; 5],
        };
        let found = jump(&series, 3).unwrap();
        assert!(
            (found.size - 4.0).abs() < 1e-6 && (found.error - 1.0).abs() < 1e-6,
            "{found:?}"
        );
    }

    /// Half of all series are below 1/2, a tenth below 1/10: probabilities mean what they say.
    #[test]
    fn probabilities_of_series_without_a_jump_are_spread_evenly() {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let mut below = [0, 0];
        for case in 0..200 {
            let (walk, noise) = [(0.0, 1.0), (1.0, 0.25)][case % 2];
            let mut level = 0.0;
            let values: Vec<f64> = (0..60)
                .map(|_| {
                    level += f64::sqrt(walk) * normal(&mut random);
                    level + f64::sqrt(noise) * normal(&mut random)
                })
                .collect();
            let series = Series {
                values: &values,
                walk: &[walk; 60],
                noise: &[noise; 60],
            };
            let mut clearest = (0, 0.0);
            Filters::new(series).jumps(&values, &mut Vec::new(), |k, jump| {
                if (jump.size / jump.error).abs() > clearest.1 {
                    clearest = (k, (jump.size / jump.error).abs());
                }
            });
            let p = chance(&series, clearest.0, 1.0, &mut random);
            below[0] += usize::from(p < 0.5);
            below[1] += usize::from(p < 0.1);
        }
        // The jump is allowed for before residuals are shuffled, which costs the largest of them.
        assert!(
            (80..=140).contains(&below[0]) && (8..=44).contains(&below[1]),
            "{below:?}"
        );
    }

    #[test]
    fn the_fitted_tail_goes_on_where_counting_ends() {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let of_chance: Vec<f64> = (0..SHUFFLES)
            .map(|_| (0..50).map(|_| normal(&mut random).abs()).fold(0.0, f64::max))
            .collect();
        // 50 chances of a standard normal number beyond 4, 5, 6: 3.2e-3, 2.9e-5, 9.9e-8.
        for (z, truth) in [(4.0, 3.2e-3), (5.0, 2.9e-5), (6.0, 9.9e-8)] {
            let p = tail(z, &of_chance);
            assert!(p > truth / 2.0 && p < truth * 12.0, "{z}: {p} instead of {truth}");
        }
        assert!(tail(0.1, &of_chance) > 0.99);
    }

    #[test]
    fn twelve_small_steps_are_a_drift_and_no_steps_are_none() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut series_of = |step: f64| {
            let mut level = 0.0;
            let values: Vec<f64> = (0..60)
                .map(|k| {
                    level += 0.009 * normal(&mut random) + if (30..42).contains(&k) { step } else { 0.0 };
                    level
                })
                .collect();
            values
        };
        let (drifting, still) = (series_of(0.02), series_of(0.0));
        let of = |values: &[f64]| {
            let series = Series {
                values,
                walk: &[8.1e-5; 60],
                noise: &[1e-8; 60],
            };
            drift(&series, 3, 0.5, &mut ChaCha8Rng::seed_from_u64(1)).unwrap()
        };
        let (found, p) = of(&drifting);
        assert!(
            p < 1e-3 && (25..33).contains(&found.from) && (38..46).contains(&found.to),
            "{found:?} {p}"
        );
        assert!((found.size - 0.24).abs() < 0.08, "{found:?}");
        assert!(of(&still).1 > 0.05);
    }
}
