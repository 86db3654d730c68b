//! Which rule for a whole report: how often each flags anything on unchanged code, and how often it finds a change of one
//! row. Behind a table of docs/statistics.md:
//!
//! ```console
//! cargo test --release --test rules -- --ignored --nocapture
//! ```

mod story;

use abreast::stats::interval::of_one;
use rand::RngExt as _;
use rand::rngs::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, StudentsT};
use story::worlds::{World, rng};

const ALPHA: f64 = 0.05;
const ROWS: usize = 57;

/// A rule: of rows of paired log ratios, those it flags.
struct Rule {
    name: &'static str,
    flags: fn(&[Vec<f64>], &mut ChaCha8Rng) -> Vec<bool>,
    /// Reports of the study; flipping signs takes long.
    reports: u64,
}

const RULES: [Rule; 6] = [
    Rule {
        reports: 1000,
        name: "20 % trimmed t, Bonferroni",
        flags: |rows, _| bonferroni(&rows.iter().map(|row| p_of_trimmed(row)).collect::<Vec<_>>()),
    },
    Rule {
        reports: 1000,
        name: "20 % trimmed t, Holm",
        flags: |rows, _| holm(&rows.iter().map(|row| p_of_trimmed(row)).collect::<Vec<_>>()),
    },
    Rule {
        reports: 1000,
        name: "paired t, Holm",
        flags: |rows, _| holm(&rows.iter().map(|row| p_of_mean(row)).collect::<Vec<_>>()),
    },
    Rule {
        reports: 1000,
        name: "moderated t, Holm",
        flags: |rows, _| holm(&p_of_moderated(rows)),
    },
    Rule {
        reports: 100,
        name: "sign-flip of each row, Bonferroni",
        flags: |rows, random| bonferroni(&rows.iter().map(|row| p_of_flips(row, random)).collect::<Vec<_>>()),
    },
    Rule {
        reports: 100,
        name: "sign-flip of all rows, largest trimmed t",
        flags: largest_of_flips,
    },
];

fn bonferroni(p: &[f64]) -> Vec<bool> {
    p.iter().map(|each| each * count(p.len()) <= ALPHA).collect()
}

/// Holm 1979, "A simple sequentially rejective multiple test procedure".
fn holm(p: &[f64]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|one, other| p[*one].total_cmp(&p[*other]));
    let mut flags = vec![false; p.len()];
    for (rank, row) in order.into_iter().enumerate() {
        if p[row] * count(p.len() - rank) > ALPHA {
            break;
        }
        flags[row] = true;
    }
    flags
}

fn p_of_trimmed(row: &[f64]) -> f64 {
    of_one(row).map_or(1.0, |of| p_of_t(of.value / of.standard_error, of.freedom))
}

fn p_of_mean(row: &[f64]) -> f64 {
    let (mean, variance) = moments(row);
    p_of_t(mean / (variance / count(row.len())).sqrt(), count(row.len() - 1))
}

/// Variances shrunk towards a common one (Smyth 2004, "Linear models and empirical Bayes methods", section 6.2).
fn p_of_moderated(rows: &[Vec<f64>]) -> Vec<f64> {
    let freedom = count(rows[0].len() - 1);
    let logs: Vec<f64> = rows.iter().map(|row| moments(row).1.ln()).collect();
    let shifted: Vec<f64> = logs
        .iter()
        .map(|log| log - digamma(freedom / 2.0) + (freedom / 2.0).ln())
        .collect();
    let (mean, spread) = moments(&shifted);
    let excess = spread - trigamma(freedom / 2.0);
    // Nothing to tell the variances apart: all rows share one, known exactly.
    let prior = if excess > 0.0 {
        2.0 * trigamma_inverse(excess)
    } else {
        1e6
    };
    let common = (mean + digamma(prior / 2.0) - (prior / 2.0).ln()).exp();
    rows.iter()
        .map(|row| {
            let (mean, variance) = moments(row);
            let variance = (prior * common + freedom * variance) / (prior + freedom);
            p_of_t(mean / (variance / count(row.len())).sqrt(), prior + freedom)
        })
        .collect()
}

/// Fisher 1935: under the null each pair might as well have had the other sign. All flips up to 11 rounds, else 4,000.
fn p_of_flips(row: &[f64], random: &mut ChaCha8Rng) -> f64 {
    let sum = row.iter().sum::<f64>().abs() * (1.0 - 1e-12);
    let all = row.len() <= 11;
    let flips = if all { 1_u32 << row.len() } else { 4_000 };
    let as_extreme = (0..flips)
        .filter(|flip| {
            let signs = if all { *flip } else { random.random::<u32>() };
            let signed = |(at, ratio): (usize, &f64)| {
                if signs >> (at % 32) & 1 == 1 {
                    -ratio
                } else {
                    *ratio
                }
            };
            row.iter().enumerate().map(signed).sum::<f64>().abs() >= sum
        })
        .count();
    let seen = if all { as_extreme } else { as_extreme + 1 };
    count(seen) / f64::from(if all { flips } else { flips + 1 })
}

/// Westfall & Young 1993: the same signs for all rows keep what they have in common; the largest |t| of each flip.
fn largest_of_flips(rows: &[Vec<f64>], random: &mut ChaCha8Rng) -> Vec<bool> {
    const FLIPS: usize = 400;
    let t = |row: &[f64]| of_one(row).map_or(0.0, |of| (of.value / of.standard_error).abs());
    let mut largest: Vec<f64> = (0..FLIPS)
        .map(|_| {
            let signs: Vec<f64> = rows[0]
                .iter()
                .map(|_| if random.random_bool(0.5) { 1.0 } else { -1.0 })
                .collect();
            let flipped = |row: &Vec<f64>| {
                row.iter()
                    .zip(&signs)
                    .map(|(ratio, sign)| ratio * sign)
                    .collect::<Vec<_>>()
            };
            rows.iter().map(|row| t(&flipped(row))).fold(0.0, f64::max)
        })
        .collect();
    largest.sort_by(f64::total_cmp);
    let limit = largest[FLIPS - 1 - FLIPS / 20];
    rows.iter().map(|row| t(row) > limit).collect()
}

fn p_of_t(t: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |law| 2.0 * law.sf(t.abs()))
}

fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / count(values.len());
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / count(values.len() - 1))
}

fn digamma(x: f64) -> f64 {
    statrs::function::gamma::digamma(x)
}

/// Recurrence up to 6, then the asymptotic series (Abramowitz & Stegun 6.4.12).
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 6.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum + 1.0 / x + square / 2.0 + square / x * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0))
}

fn trigamma_inverse(y: f64) -> f64 {
    let (mut low, mut high) = (1e-6_f64, 1e7_f64);
    for _ in 0..200 {
        let middle = (low * high).sqrt();
        if trigamma(middle) > y {
            low = middle
        } else {
            high = middle
        }
    }
    low
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn count(number: usize) -> f64 {
    number as f64
}

/// Paired log ratios of all rows of one report; the first row is slower by `effect` (log).
fn report(world: World, rounds: usize, effect: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut random = rng(seed);
    (0..ROWS)
        .map(|row| {
            let slots = world.slots(&mut random, rounds * 2);
            let added = if row == 0 { effect } else { 0.0 };
            // The order of the sides is balanced, and these rules do not look at it.
            let ratio = |(round, slots): (usize, &[f64])| {
                let difference = slots[1] - slots[0];
                (if round % 2 == 0 { difference } else { -difference }) + added
            };
            slots.chunks(2).enumerate().map(ratio).collect()
        })
        .collect()
}

#[test]
fn trigamma_and_its_inverse_agree_with_scipy() {
    // scipy.special.polygamma(1, [0.5, 3, 7.5])
    for (x, expected) in [
        (0.5, 4.934_802_200_5),
        (3.0, 0.394_934_066_8),
        (7.5, 0.142_615_897_0),
    ] {
        assert!((trigamma(x) - expected).abs() < 1e-6, "{x}: {}", trigamma(x));
        assert!((trigamma_inverse(expected) - x).abs() < 1e-4);
    }
}

#[test]
fn every_rule_is_quiet_on_normal_noise_and_finds_what_cannot_be_missed() {
    let mut random = rng(1);
    for rule in &RULES {
        let flagged = |effect: f64, random: &mut ChaCha8Rng| {
            let of = |seed| report(World::Gaussian, 16, effect, seed);
            (0..20)
                .filter(|seed| (rule.flags)(&of(*seed), random).contains(&true))
                .count()
        };
        let (quiet, loud) = (flagged(0.0, &mut random), flagged(0.5, &mut random));
        assert!(quiet <= 5, "{}: {quiet} of 20", rule.name);
        // 16 rounds have 65,536 flips: enough for the corrected level.
        assert!(loud >= 18, "{}: {loud} of 20", rule.name);
    }
}

#[test]
#[ignore = "the figures of docs/statistics.md: minutes, in release"]
#[expect(clippy::print_stderr, reason = "a study prints its table")]
fn study_of_rules() {
    for rounds in [8, 16, 32] {
        for world in [
            World::Gaussian,
            World::HeavyTailed,
            World::Bimodal(0.5),
            World::Contaminated,
        ] {
            eprintln!(
                "\n{world:?}, {rounds} rounds: reports of unchanged code that flag anything; +5 % found; +10 %"
            );
            for rule in &RULES {
                let mut random = rng(7);
                let share = |effect: f64, random: &mut ChaCha8Rng| {
                    let hits = (0..rule.reports).filter(|seed| {
                        let flags = (rule.flags)(&report(world, rounds, effect, 9000 + *seed), random);
                        if effect > 0.0 {
                            flags[0]
                        } else {
                            flags.contains(&true)
                        }
                    });
                    count(hits.count()) / count(usize::try_from(rule.reports).unwrap_or(1))
                };
                let unchanged = share(0.0, &mut random);
                let (five, ten) = (share(0.05, &mut random), share(0.1, &mut random));
                eprintln!(
                    "  {:42} {:5.1} %  {five:.2}  {ten:.2}",
                    rule.name,
                    unchanged * 100.0
                );
            }
        }
    }
}
