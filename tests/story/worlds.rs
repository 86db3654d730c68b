//! Hostile worlds: what machines do to unchanged code. Every number comes from a seed.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// A way in which the log time of a slot varies although the code does not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum World {
    /// Independent normal noise of 2 % a slot.
    Gaussian,
    /// Student t with three degrees of freedom: now and then a slot is far off, either way.
    HeavyTailed,
    /// Lognormal delays: a slot is only ever late.
    Skewed,
    /// First-order autoregression over slots with coefficient 0.9.
    Autocorrelated,
    /// Every launch is 1 % slower than the one before, with 1 % of noise.
    Drifting,
    /// Each process falls into one of two modes that differ by 10 %, with 0.3 % of noise; the slow one has this probability.
    Bimodal(f64),
    /// Whichever side runs second takes 3 % longer, with 1 % of noise.
    OrderPenalty,
    /// One slot in ten takes 1.5 times as long.
    Contaminated,
}

impl World {
    pub(crate) const ALL: [Self; 9] = [
        Self::Gaussian,
        Self::HeavyTailed,
        Self::Skewed,
        Self::Autocorrelated,
        Self::Drifting,
        Self::Bimodal(0.5),
        Self::Bimodal(0.1),
        Self::OrderPenalty,
        Self::Contaminated,
    ];

    /// Log time of `slots` slots of one scenario, in the order they run: two a round.
    pub(crate) fn slots(self, rng: &mut ChaCha8Rng, slots: usize) -> Vec<f64> {
        let mut state = normal(rng) * 0.02 / (1.0_f64 - 0.81).sqrt();
        let mut log = Vec::with_capacity(slots);
        for slot in 0..slots {
            #[expect(clippy::cast_precision_loss, reason = "a few hundred slots")]
            let launch = slot as f64;
            log.push(match self {
                Self::Gaussian => 0.02 * normal(rng),
                Self::HeavyTailed => {
                    let chi: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
                    0.015 * normal(rng) / (chi / 3.0).sqrt()
                }
                Self::Skewed => (0.02 * normal(rng).exp()).ln_1p(),
                Self::Autocorrelated => {
                    state = 0.9 * state + 0.02 * normal(rng);
                    state
                }
                Self::Drifting => launch * 0.01_f64.ln_1p() + 0.01 * normal(rng),
                Self::Bimodal(p) => 0.003 * normal(rng) + if rng.random_bool(p) { 0.1 } else { 0.0 },
                Self::OrderPenalty => 0.01 * normal(rng) + if slot % 2 == 1 { 0.03 } else { 0.0 },
                Self::Contaminated => 0.01 * normal(rng) + if rng.random_bool(0.1) { 0.4 } else { 0.0 },
            });
        }
        log
    }
}

/// A standard normal number (Box & Muller 1958).
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (one, other): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}
