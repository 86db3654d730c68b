//! What is done to logits before a token is drawn.

use super::chain::Context;
use super::{SamplingError, key, peak, weight};

/// One step of reshaping logits. Penalties change the logits of tokens that have been there, the temperature those of
/// all, and the others put tokens out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Processor {
    /// Of tokens that are in the prompt or were generated, divides the logits that are positive and multiplies the
    /// others, once however often a token is there (Keskar et al., 2019). Finite and above 0; 1 changes nothing.
    Repetition(f32),
    /// Subtracts this for each time that a token was generated; the prompt does not count (OpenAI, vLLM). Finite.
    Frequency(f32),
    /// Subtracts this from tokens that were generated, once; the prompt does not count (OpenAI, vLLM). Finite.
    Presence(f32),
    /// Divides all logits. Finite and above 0; towards 0 the draw becomes [`greedy`](super::greedy).
    Temperature(f32),
    /// Keeps this many tokens, those with the largest logits (Fan et al., 2018). At least 1; where fewer are in, all
    /// stay.
    ///
    /// Of equal logits those with the lowest ids are kept, exactly as many as fit. Transformers and vLLM keep all that
    /// are equal to the last one.
    TopK(usize),
    /// Keeps the fewest tokens, the likeliest ones, whose probabilities add up to this (Holtzman et al., 2020). Above 0
    /// and at most 1, which keeps all. One token is always kept; among equal ones the lowest ids come first.
    ///
    /// Probabilities are added up in `f64` from the likeliest down; transformers and vLLM add `f32` from the least
    /// likely up, so a token at the very edge may fall on the other side there.
    TopP(f32),
    /// Keeps the tokens that are at least this fraction as likely as the likeliest one (Nguyen et al., 2024). From 0,
    /// which keeps all, to 1, which keeps the likeliest one and its equals.
    ///
    /// Logits are compared, with the logarithm of the fraction; transformers and vLLM compare probabilities.
    MinP(f32),
}

/// Memory that processors reuse from one call to the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    keys: Vec<u64>,
    /// How often a token was there; all zero between calls.
    counts: Vec<u32>,
}

impl Processor {
    /// What it is called in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Repetition(_) => "repetition penalty",
            Self::Frequency(_) => "frequency penalty",
            Self::Presence(_) => "presence penalty",
            Self::Temperature(_) => "temperature",
            Self::TopK(_) => "top-k",
            Self::TopP(_) => "top-p",
            Self::MinP(_) => "min-p",
        }
    }

    /// Whether its parameter has a meaning.
    ///
    /// # Errors
    /// [`SamplingError::Parameter`] if not.
    pub fn check(self) -> Result<(), SamplingError> {
        let (is_good, found, wanted) = match self {
            Self::Repetition(by) | Self::Temperature(by) => {
                (by.is_finite() && by > 0.0, by.to_string(), "finite and above 0")
            }
            Self::Frequency(by) | Self::Presence(by) => (by.is_finite(), by.to_string(), "finite"),
            Self::TopK(tokens) => (tokens > 0, tokens.to_string(), "at least 1"),
            Self::TopP(mass) => (
                mass > 0.0 && mass <= 1.0,
                mass.to_string(),
                "above 0 and at most 1",
            ),
            Self::MinP(share) => ((0.0..=1.0).contains(&share), share.to_string(), "from 0 to 1"),
        };
        if is_good {
            Ok(())
        } else {
            let processor = self.name();
            Err(SamplingError::Parameter {
                processor,
                found,
                wanted,
            })
        }
    }

    /// Reshapes the logits. The parameter has been checked, and all tokens of the context have a logit.
    #[expect(clippy::cast_precision_loss, reason = "no context has 16 million tokens")]
    pub(super) fn apply(self, logits: &mut [f32], context: Context<'_>, scratch: &mut Scratch) {
        let Scratch { keys, counts } = scratch;
        counts.resize(logits.len().max(counts.len()), 0);
        match self {
            Self::Repetition(by) => each_token(context.all(), counts, |id, _| {
                let logit = &mut logits[id];
                *logit = if *logit > 0.0 { *logit / by } else { *logit * by };
            }),
            Self::Frequency(by) => each_token(context.generated(), counts, |id, count| {
                logits[id] -= by * count as f32;
            }),
            Self::Presence(by) => each_token(context.generated(), counts, |id, _| logits[id] -= by),
            Self::Temperature(by) => temperature(by, logits),
            Self::TopK(tokens) => top_k(tokens, logits, keys),
            Self::TopP(mass) => top_p(mass, logits, keys),
            Self::MinP(share) => min_p(share, logits),
        }
    }
}

/// Visits each token once, with how often it is there.
fn each_token(
    tokens: impl Iterator<Item = u32> + Clone,
    counts: &mut [u32],
    mut visit: impl FnMut(usize, u32),
) {
    for id in tokens.clone() {
        counts[id as usize] += 1;
    }
    for id in tokens {
        // Taking the count leaves the zero that the next call wants to find.
        let count = std::mem::take(&mut counts[id as usize]);
        if count > 0 {
            visit(id as usize, count);
        }
    }
}

fn temperature(by: f32, logits: &mut [f32]) {
    // Where the best quotient is too large to be a number, logits relative to the best one: the same shares.
    let shift = peak(logits).filter(|peak| peak.is_finite() && !(peak / by).is_finite());
    for logit in logits {
        *logit = (*logit - shift.unwrap_or(0.0)) / by;
    }
}

fn top_k(tokens: usize, logits: &mut [f32], keys: &mut Vec<u64>) {
    key::collect(logits, keys);
    if tokens < keys.len() {
        keys.select_nth_unstable(tokens);
        key::keep(&keys[..tokens], logits);
    }
}

fn top_p(mass: f32, logits: &mut [f32], keys: &mut Vec<u64>) {
    let Some(peak) = peak(logits) else { return };
    if mass >= 1.0 {
        // Rounding must not cost a token that is to be kept.
        return;
    }
    key::collect(logits, keys);
    let total: f64 = keys.iter().map(|one| weight(key::logit(*one), peak)).sum();
    let kept = key::shortest_prefix(keys, f64::from(mass) * total, |logit| weight(logit, peak));
    key::keep(&keys[..kept], logits);
}

fn min_p(share: f32, logits: &mut [f32]) {
    let Some(peak) = peak(logits) else { return };
    let floor = peak + share.ln();
    for logit in logits {
        if *logit < floor {
            *logit = f32::NEG_INFINITY;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::is_in;
    use super::*;
    use proptest::prelude::*;

    const OUT: f32 = f32::NEG_INFINITY;

    fn apply(processor: Processor, logits: &[f32], prompt: &[u32], generated: &[u32]) -> Vec<f32> {
        let mut logits = logits.to_vec();
        let mut scratch = Scratch::default();
        processor.check().unwrap();
        processor.apply(&mut logits, Context { prompt, generated }, &mut scratch);
        assert!(scratch.counts.iter().all(|count| *count == 0));
        logits
    }

    fn kept(processor: Processor, logits: &[f32]) -> Vec<u32> {
        those_in(&apply(processor, logits, &[], &[]))
    }

    fn those_in(logits: &[f32]) -> Vec<u32> {
        let tokens = (0..).zip(logits).filter(|(_, logit)| is_in(**logit));
        tokens.map(|(id, _)| id).collect()
    }

    fn bits(logits: &[f32]) -> Vec<u32> {
        logits.iter().map(|logit| logit.to_bits()).collect()
    }

    #[test]
    fn the_coldest_temperature_leaves_the_best_token_alone() {
        let coldest = Processor::Temperature(f32::MIN_POSITIVE);
        for (logits, best) in [
            ([8.0, 9.0, OUT, 7.5], vec![1]),
            ([-8.0, -9.0, -8.0, OUT], vec![0, 2]),
        ] {
            let after = apply(coldest, &logits, &[], &[]);
            let shares = (0..).zip(&after).filter(|(_, logit)| logit.exp() > 0.0);
            assert_eq!(shares.map(|(id, _)| id).collect::<Vec<u32>>(), best, "{after:?}");
        }
        let warm = apply(Processor::Temperature(0.5), &[1.0, -2.0], &[], &[]);
        assert_eq!(bits(&warm), bits(&[2.0, -4.0]));
    }

    #[test]
    fn repetition_divides_what_is_positive_and_multiplies_what_is_not_once_a_token() {
        let after = apply(
            Processor::Repetition(2.0),
            &[2.0, -2.0, 0.0, 1.0, OUT],
            &[0, 1, 2, 4],
            &[0, 0],
        );
        assert_eq!(bits(&after), bits(&[1.0, -4.0, 0.0, 1.0, OUT]));
    }

    #[test]
    fn frequency_and_presence_count_what_was_generated_and_not_the_prompt() {
        let after = apply(Processor::Frequency(0.5), &[1.0; 5], &[0, 0], &[3, 1, 3]);
        assert_eq!(bits(&after), bits(&[1.0, 0.5, 1.0, 0.0, 1.0]));
        let after = apply(Processor::Presence(0.5), &[1.0; 5], &[0, 0], &[3, 1, 3]);
        assert_eq!(bits(&after), bits(&[1.0, 0.5, 1.0, 0.5, 1.0]));
        let after = apply(Processor::Frequency(-0.5), &[1.0, OUT], &[], &[0, 1]);
        assert_eq!(bits(&after), bits(&[1.5, OUT]));
    }

    #[test]
    fn temperature_divides_all_and_what_is_out_stays_out() {
        let after = apply(Processor::Temperature(0.5), &[1.0, -3.0, OUT], &[], &[]);
        assert_eq!(bits(&after), bits(&[2.0, -6.0, OUT]));
    }

    #[test]
    fn top_k_keeps_exactly_k_the_lowest_ids_of_equal_ones() {
        assert_eq!(kept(Processor::TopK(3), &[1.0, 2.0, 1.0, 5.0, 1.0]), [0, 1, 3]);
        assert_eq!(kept(Processor::TopK(1), &[-0.0, 0.0]), [0]);
        assert_eq!(kept(Processor::TopK(9), &[1.0, OUT, f32::NAN, 5.0]), [0, 3]);
        assert!(kept(Processor::TopK(1), &[]).is_empty());
    }

    #[test]
    fn top_p_keeps_the_fewest_that_reach_the_mass() {
        // Probabilities of 1/2, 1/4, 1/8 and 1/8, not in order of ids.
        let logits = [0.125_f32, 0.5, 0.125, 0.25].map(f32::ln);
        assert_eq!(kept(Processor::TopP(1e-30), &logits), [1]);
        assert_eq!(kept(Processor::TopP(0.49), &logits), [1]);
        assert_eq!(kept(Processor::TopP(0.6), &logits), [1, 3]);
        assert_eq!(kept(Processor::TopP(0.8), &logits), [0, 1, 3]);
        assert_eq!(kept(Processor::TopP(0.9), &logits), [0, 1, 2, 3]);
        assert_eq!(kept(Processor::TopP(1.0), &logits), [0, 1, 2, 3]);
    }

    #[test]
    fn top_p_of_an_infinite_logit_keeps_that_one() {
        assert_eq!(kept(Processor::TopP(0.9), &[0.0, f32::INFINITY, 3.0]), [1]);
        assert_eq!(kept(Processor::TopP(0.4), &[f32::INFINITY, f32::INFINITY]), [0]);
    }

    #[test]
    fn min_p_keeps_what_is_likely_enough_beside_the_likeliest() {
        // The logarithm of 1/2 is -0.693.
        assert_eq!(
            kept(Processor::MinP(0.5), &[0.0, -0.6, -0.7, OUT, f32::NAN]),
            [0, 1]
        );
        assert_eq!(kept(Processor::MinP(1.0), &[2.0, 1.9, 2.0]), [0, 2]);
        assert_eq!(kept(Processor::MinP(0.0), &[2.0, -1e30, OUT]), [0, 1]);
    }

    #[test]
    fn all_tokens_out_is_left_as_it_is() {
        for processor in [Processor::TopK(1), Processor::TopP(0.5), Processor::MinP(0.5)] {
            assert!(kept(processor, &[OUT, f32::NAN, OUT]).is_empty());
        }
    }

    #[test]
    fn a_parameter_without_a_meaning_is_refused_by_name() {
        use Processor::{Frequency, MinP, Presence, Repetition, Temperature, TopK, TopP};
        let bad = [
            Repetition(0.0),
            Repetition(f32::INFINITY),
            Frequency(f32::NAN),
            Presence(f32::INFINITY),
            Temperature(0.0),
            Temperature(-1.0),
            TopK(0),
            TopP(0.0),
            TopP(1.5),
            MinP(-0.1),
            MinP(f32::NAN),
        ];
        for processor in bad {
            let refused = processor.check().unwrap_err().to_string();
            assert!(refused.starts_with(processor.name()), "{refused}");
        }
        assert_eq!(
            TopP(1.5).check().unwrap_err().to_string(),
            "top-p: its parameter is 1.5, and must be above 0 and at most 1"
        );
    }

    /// Few different numbers, so that there are ties.
    fn logits() -> impl Strategy<Value = Vec<f32>> {
        let number = (-8_i8..8).prop_map(|quarters| f32::from(quarters) / 4.0);
        let logit = prop_oneof![8 => number, 1 => Just(OUT), 1 => Just(f32::NAN)];
        prop::collection::vec(logit, 0..400)
    }

    /// All that are in, best first, by a full sort.
    fn ranked(logits: &[f32]) -> Vec<u32> {
        let mut ids = those_in(logits);
        ids.sort_by(|one, other| logits[*other as usize].total_cmp(&logits[*one as usize]));
        ids
    }

    proptest! {
        #[test]
        fn top_k_keeps_the_first_k_of_a_stable_sort(logits in logits(), tokens in 1_usize..450) {
            let mut best = ranked(&logits);
            best.truncate(tokens);
            best.sort_unstable();
            prop_assert_eq!(kept(Processor::TopK(tokens), &logits), best);
        }

        #[test]
        fn top_p_keeps_the_smallest_set_whose_mass_reaches_p(logits in logits(), percent in 1_u8..=100) {
            let mass = f32::from(percent) / 100.0;
            let kept = kept(Processor::TopP(mass), &logits);
            let ranked = ranked(&logits);
            let mut best = ranked[..kept.len()].to_vec();
            let share = |ids: &[u32]| ids.iter().map(|id| f64::from(logits[*id as usize]).exp()).sum::<f64>();
            let wanted = f64::from(mass) * share(&ranked);
            if let Some((_, all_but_the_last)) = best.split_last() {
                prop_assert!(share(&best) >= wanted * (1.0 - 1e-6));
                prop_assert!(percent == 100 || share(all_but_the_last) <= wanted * (1.0 + 1e-6));
            }
            prop_assert_eq!(kept.is_empty(), ranked.is_empty());
            best.sort_unstable();
            prop_assert_eq!(kept, best);
        }

        #[test]
        fn min_p_keeps_what_no_less_likely_token_is_kept_with(logits in logits(), percent in 0_u8..=100) {
            let share = f32::from(percent) / 100.0;
            let kept = kept(Processor::MinP(share), &logits);
            let ranked = ranked(&logits);
            let mut best = ranked[..kept.len()].to_vec();
            for (at, id) in ranked.iter().enumerate() {
                let ratio = f64::from(logits[*id as usize] - logits[ranked[0] as usize]).exp();
                let is_clear = (ratio - f64::from(share)).abs() > 1e-6;
                prop_assert!(!is_clear || (ratio > f64::from(share)) == (at < kept.len()));
            }
            best.sort_unstable();
            prop_assert_eq!(kept, best);
        }
    }
}
