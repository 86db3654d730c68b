//! Where the level of a series jumps: an exact penalised search.
//!
//! The model of a series `x[0..n]`: `x[k] = level[k] + e[k]` with the variance of `e[k]` known (`noise`), and
//! `level[k] = level[k-1] + w[k]` with the variance of `w[k]` known (`walk`), except where the level jumps to anywhere. With
//! `walk = 0` these are the usual steps with independent noise; levels that were added up from measured differences carry
//! the errors of all of them along, which without `walk` would look like steps.
//!
//! The search minimises the sum of squared standardised errors plus a penalty for each jump, over all numbers and places
//! of jumps: optimal partitioning (Jackson et al. 2005) as Romano, Rigaill, Runge and Fearnhead 2022 do it for levels that
//! wander, with functional pruning (Maidstone, Hocking, Rigaill and Fearnhead 2017). The cost of a segment as a function of its last level
//! is a parabola that a Kalman filter keeps up to date; a segment start whose parabola lies nowhere lowest can never be
//! part of the best solution and is dropped. PELT (Killick, Fearnhead and Eckley 2012) drops less: where nothing jumps it
//! keeps every start.

/// A series with what is known of its errors. All slices are of one length; numbers are finite, variances `>= 0`, and
/// `noise` is above zero.
#[derive(Debug, Clone, Copy)]
pub struct Series<'a> {
    /// The values.
    pub values: &'a [f64],
    /// Variance that the true level gains from the value before; that of the first is not used.
    pub walk: &'a [f64],
    /// Variance of each value around its level.
    pub noise: &'a [f64],
}

impl Series<'_> {
    /// Part of the series.
    #[must_use]
    pub fn part(&self, range: std::ops::Range<usize>) -> Self {
        Self {
            values: &self.values[range.clone()],
            walk: &self.walk[range.clone()],
            noise: &self.noise[range],
        }
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// The best cost of everything so far if the current segment began at `start`, as a function of the current level:
/// `cost + (level - at)^2 / variance`.
#[derive(Debug, Clone, Copy)]
struct Parabola {
    start: usize,
    cost: f64,
    at: f64,
    variance: f64,
}

impl Parabola {
    fn see(&mut self, value: f64, walk: f64, noise: f64) {
        let before = self.variance + walk;
        let spread = before + noise;
        let error = value - self.at;
        self.cost += error * error / spread;
        self.at += before / spread * error;
        self.variance = before * noise / spread;
    }
}

/// First positions of the segments after the first one, ascending, for the cheapest way to cut the series if each cut costs
/// `penalty` (`>= 0`). Empty for fewer than two values.
#[must_use]
pub fn segments(series: &Series<'_>, penalty: f64) -> Vec<usize> {
    let n = series.len();
    let mut alive: Vec<Parabola> = Vec::new();
    // Of everything up to a value: where its last segment begins.
    let mut last = Vec::with_capacity(n);
    let mut best = -penalty;
    let mut enough = 8;
    for k in 0..n {
        let (value, walk, noise) = (series.values[k], series.walk[k], series.noise[k]);
        for each in &mut alive {
            each.see(value, walk, noise);
        }
        alive.push(Parabola {
            start: k,
            cost: best + penalty,
            at: value,
            variance: noise,
        });
        if alive.len() > enough {
            prune(&mut alive, value);
            enough = 2 * alive.len() + 8;
        }
        let lowest = alive.iter().min_by(|one, other| one.cost.total_cmp(&other.cost));
        if let Some(lowest) = lowest {
            best = lowest.cost;
            last.push(lowest.start);
        }
    }
    let mut cuts = Vec::new();
    let mut end = n;
    while let Some(&start) = end.checked_sub(1).and_then(|at| last.get(at)) {
        if start == 0 {
            break;
        }
        cuts.push(start);
        end = start;
    }
    cuts.reverse();
    cuts
}

/// Keeps the parabolas that are lowest somewhere, walking along their lower envelope from the far left. Positions are
/// taken relative to `near`, which keeps the arithmetic exact where it matters.
fn prune(alive: &mut Vec<Parabola>, near: f64) {
    let coefficients: Vec<(f64, f64, f64)> = alive
        .iter()
        .map(|each| {
            let (curve, at) = (1.0 / each.variance, each.at - near);
            (curve, -2.0 * at * curve, each.cost + at * at * curve)
        })
        .collect();
    // At the far left the flattest is lowest, of equally flat ones the leftmost, of those the cheapest.
    let first = (0..alive.len()).min_by(|one, other| {
        let (one, other) = (coefficients[*one], coefficients[*other]);
        one.0
            .total_cmp(&other.0)
            .then(other.1.total_cmp(&one.1))
            .then(one.2.total_cmp(&other.2))
    });
    let Some(mut current) = first else { return };
    let mut keep = vec![false; alive.len()];
    keep[current] = true;
    let mut position = f64::NEG_INFINITY;
    // Two parabolas cross at most twice, so the envelope changes hands at most so often (Davenport and Schinzel 1965).
    for _ in 0..2 * alive.len() {
        let own = coefficients[current];
        let crossings = coefficients
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != current);
        let next = crossings
            .filter_map(|(other, of)| Some((falls_below(*of, own, position)?, other)))
            .min_by(|one, other| one.0.total_cmp(&other.0));
        let Some((at, other)) = next else { break };
        (position, current) = (at, other);
        keep[current] = true;
    }
    let mut kept = keep.into_iter();
    alive.retain(|_| kept.next().unwrap_or(true));
}

/// The first place right of `position` where one polynomial falls below another.
fn falls_below(one: (f64, f64, f64), other: (f64, f64, f64), position: f64) -> Option<f64> {
    let (a, b, c) = (one.0 - other.0, one.1 - other.1, one.2 - other.2);
    let at = if a.abs() <= 1e-12 * one.0.max(other.0) {
        if b >= 0.0 {
            return None;
        }
        -c / b
    } else {
        let inside = b * b - 4.0 * a * c;
        if inside < 0.0 {
            return None;
        }
        // Below between its roots if it is the steeper one, outside of them if it is the flatter one.
        let half = -0.5 * (b + inside.sqrt().copysign(b));
        let roots = (half / a, if half.abs() > 0.0 { c / half } else { half / a });
        if a > 0.0 {
            roots.0.min(roots.1)
        } else {
            roots.0.max(roots.1)
        }
    };
    (at > position).then_some(at)
}

/// What the values do not share with their neighbours: the variance of independent noise that, beside `walk`, explains how
/// far each value is from the one before. Robust: half of the differences may be jumps, and a steady slope does not count.
/// 0 if `walk` explains them, or for fewer than three values.
#[must_use]
pub fn independent_noise(values: &[f64], walk: &[f64]) -> f64 {
    let mut differences: Vec<f64> = values.windows(2).map(|two| two[1] - two[0]).collect();
    if differences.len() < 2 {
        return 0.0;
    }
    let middle = median(&mut differences.clone());
    for each in &mut differences {
        *each = (*each - middle).powi(2);
    }
    // Median of the chi-squared distribution with one degree of freedom: qchisq(0.5, 1) in R.
    const HALF: f64 = 0.454_936_423_119_572_8;
    let excess = |noise: f64| {
        let mut shares: Vec<f64> = differences
            .iter()
            .zip(&walk[1..])
            .map(|(square, walk)| square / (walk + 2.0 * noise).max(f64::MIN_POSITIVE))
            .collect();
        median(&mut shares) - HALF
    };
    if excess(0.0) <= 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (
        0.0,
        median(&mut differences.clone()).max(f64::MIN_POSITIVE) / HALF,
    );
    // A thousandth of the variance is finer than a few values can tell.
    for _ in 0..16 {
        let middle = f64::midpoint(low, high);
        if excess(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Median, the upper one of two; 0 for nothing. Reorders.
fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt as _;
    use rand::SeedableRng as _;
    use rand::rngs::ChaCha8Rng;

    /// Standard normal numbers (Box and Muller 1958).
    pub(crate) fn normal(random: &mut ChaCha8Rng) -> f64 {
        let (one, two): (f64, f64) = (random.random(), random.random());
        (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * two).cos()
    }

    fn cost_of(series: &Series<'_>, cuts: &[usize], penalty: f64) -> f64 {
        let ends = cuts.iter().copied().chain([series.len()]);
        let mut start = 0;
        let mut cost = -penalty;
        for end in ends {
            let mut all = Parabola {
                start,
                cost: 0.0,
                at: series.values[start],
                variance: series.noise[start],
            };
            for k in start + 1..end {
                all.see(series.values[k], series.walk[k], series.noise[k]);
            }
            cost += all.cost + penalty;
            start = end;
        }
        cost
    }

    /// The same search without any pruning.
    fn exhaustive(series: &Series<'_>, penalty: f64) -> f64 {
        let n = series.len();
        let mut best = vec![-penalty];
        for end in 1..=n {
            let cost = |start: usize| best[start] + penalty + cost_of(&series.part(start..end), &[], penalty);
            best.push((0..end).map(cost).fold(f64::INFINITY, f64::min));
        }
        best[n]
    }

    #[test]
    fn the_search_finds_the_cheapest_cuts_there_are() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        for case in 0..60 {
            let n = 3 + case;
            let (walk_sd, noise_sd) = [(0.0, 1.0), (1.0, 0.1), (0.5, 0.5)][case % 3];
            let mut level = 0.0;
            let walk: Vec<f64> = (0..n)
                .map(|_| f64::powi(walk_sd * (0.5 + random.random::<f64>()), 2))
                .collect();
            let noise: Vec<f64> = (0..n)
                .map(|_| f64::powi(noise_sd * (0.5 + random.random::<f64>()), 2))
                .collect();
            let values: Vec<f64> = (0..n)
                .map(|k| {
                    level += walk[k].sqrt() * normal(&mut random);
                    if random.random_bool(0.1) {
                        level += 6.0 * normal(&mut random);
                    }
                    level + noise[k].sqrt() * normal(&mut random)
                })
                .collect();
            let series = Series {
                values: &values,
                walk: &walk,
                noise: &noise,
            };
            for penalty in [2.0, 10.0] {
                let cuts = segments(&series, penalty);
                let (found, best) = (cost_of(&series, &cuts, penalty), exhaustive(&series, penalty));
                assert!(
                    (found - best).abs() < 1e-6,
                    "case {case}: {found} {best} {cuts:?}"
                );
            }
        }
    }

    #[test]
    fn few_starts_stay_alive_where_nothing_jumps() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let values: Vec<f64> = (0..3000).map(|_| normal(&mut random)).collect();
        let mut alive: Vec<Parabola> = Vec::new();
        for (k, value) in values.iter().enumerate() {
            for each in &mut alive {
                each.see(*value, 0.0, 1.0);
            }
            let best = alive.iter().map(|each| each.cost).fold(f64::INFINITY, f64::min);
            let cost = if k == 0 { 0.0 } else { best + 20.0 };
            alive.push(Parabola {
                start: k,
                cost,
                at: *value,
                variance: 1.0,
            });
            if k % 16 == 0 {
                prune(&mut alive, *value);
            }
        }
        prune(&mut alive, 0.0);
        assert!(alive.len() < 60, "{}", alive.len());
    }

    #[test]
    fn independent_noise_is_told_from_a_walk_and_from_jumps() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let walk = vec![0.01; 400];
        let mut level = 0.0;
        let values: Vec<f64> = (0..400)
            .map(|k| {
                level += 0.1 * normal(&mut random) + if k % 40 == 0 { 3.0 } else { 0.0 };
                level + 0.2 * normal(&mut random)
            })
            .collect();
        let found = independent_noise(&values, &walk);
        assert!((0.02..0.06).contains(&found), "{found}");
        let slope: Vec<f64> = (0..50).map(|k| 0.02 * f64::from(k)).collect();
        assert!(independent_noise(&slope, &[0.01; 50]) < 1e-12);
        assert!(independent_noise(&[1.0, 2.0], &[0.0; 2]) < 1e-12);
    }

    #[test]
    fn nothing_and_one_value_have_no_cuts() {
        for n in 0..2 {
            let series = Series {
                values: &[1.0][..n],
                walk: &[0.0][..n],
                noise: &[1.0][..n],
            };
            assert!(segments(&series, 1.0).is_empty());
        }
    }
}
