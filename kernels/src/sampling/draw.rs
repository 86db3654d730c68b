//! A token by chance.

use super::{SamplingError, is_in, peak, weight};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

/// Draws tokens. The same seed and the same logits give the same tokens, on every machine whose `exp` is the same.
#[derive(Debug)]
pub struct Sampler {
    random: ChaCha8Rng,
    /// Tokens that are in, with the weight of all up to and including each; memory that is reused.
    sums: Vec<(f64, u32)>,
}

impl Sampler {
    /// A sampler at the start of the sequence of this seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            sums: Vec::new(),
        }
    }

    /// A token, each with the probability that softmax gives it: in order of ids, the first with which the weights add
    /// up to more than a uniform share of all. Takes one number of the sequence.
    ///
    /// Where logits are plus infinity, those tokens are equally likely and no other is.
    ///
    /// # Errors
    /// [`SamplingError::Nothing`] if every token is out, as with no logits at all; the sequence stays where it is then.
    pub fn draw(&mut self, logits: &[f32]) -> Result<u32, SamplingError> {
        let peak = peak(logits).ok_or(SamplingError::Nothing)?;
        let mut sum = 0.0;
        self.sums.clear();
        for (id, logit) in (0_u32..).zip(logits) {
            if is_in(*logit) {
                sum += weight(*logit, peak);
                self.sums.push((sum, id));
            }
        }
        let at = self.random.random::<f64>() * sum;
        let drawn = self.sums.partition_point(|(upto, _)| *upto <= at);
        self.sums
            .get(drawn)
            .map(|(_, id)| *id)
            .ok_or(SamplingError::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OUT: f32 = f32::NEG_INFINITY;

    #[test]
    fn tokens_come_as_often_as_they_are_likely() {
        let logits = [OUT, 1.0_f32.ln(), f32::NAN, 2.0_f32.ln(), 5.0_f32.ln(), OUT];
        let mut sampler = Sampler::seeded(7);
        let mut counts = [0_u32; 6];
        for _ in 0..8_000 {
            counts[sampler.draw(&logits).unwrap() as usize] += 1;
        }
        // Five standard deviations are below 217 for the likeliest.
        for (count, expected) in counts.into_iter().zip([0_u32, 1_000, 0, 2_000, 5_000, 0]) {
            assert!(
                count.abs_diff(expected) <= if expected == 0 { 0 } else { 220 },
                "{counts:?}"
            );
        }
    }

    #[test]
    fn the_only_token_is_always_drawn_and_none_is_an_error() {
        let mut sampler = Sampler::seeded(1);
        for _ in 0..100 {
            assert_eq!(sampler.draw(&[OUT, -1e30, f32::NAN]), Ok(1));
        }
        assert_eq!(sampler.draw(&[OUT, f32::NAN]), Err(SamplingError::Nothing));
        assert_eq!(sampler.draw(&[]), Err(SamplingError::Nothing));
    }

    #[test]
    fn infinite_logits_share_all_there_is() {
        let mut sampler = Sampler::seeded(3);
        let drawn: Vec<u32> = (0..100)
            .map(|_| sampler.draw(&[f32::INFINITY, 1e30, f32::INFINITY]).unwrap())
            .collect();
        assert!(drawn.contains(&0) && drawn.contains(&2) && !drawn.contains(&1));
    }

    #[test]
    fn a_failed_draw_does_not_move_the_sequence() {
        let (mut one, mut other) = (Sampler::seeded(9), Sampler::seeded(9));
        let logits: Vec<f32> = (0..1_000).map(|i| i as f32 / 1_000.0).collect();
        for _ in 0..50 {
            assert!(one.draw(&[]).is_err());
            assert_eq!(one.draw(&logits), other.draw(&logits));
        }
    }

    proptest! {
        #[test]
        fn what_is_drawn_is_in_and_the_same_for_the_same_seed(
            seed: u64,
            logits in prop::collection::vec(prop_oneof![Just(OUT), Just(f32::NAN), -90.0..90.0_f32], 1..50),
        ) {
            let drawn = Sampler::seeded(seed).draw(&logits);
            prop_assert_eq!(&drawn, &Sampler::seeded(seed).draw(&logits));
            match drawn {
                Ok(id) => prop_assert!(is_in(logits[id as usize])),
                Err(_) => prop_assert!(!logits.iter().any(|logit| is_in(*logit))),
            }
        }
    }
}
