//! From logits to a token: the best one, or one that is drawn after processors have reshaped the logits.
//!
//! There is one logit for each token of the vocabulary, in order of their ids. A token whose logit is minus infinity or
//! NaN is *out*: it is never chosen, and does not count. Processors put tokens out by writing minus infinity, as those
//! of Hugging Face transformers and vLLM do, so they go together in any order.
//!
//! A processor means what it means there; where those two differ, or this one from them, its documentation says so.

mod chain;
mod draw;
mod error;
mod key;
mod processor;

pub use chain::{Chain, Context};
pub use draw::Sampler;
pub use error::SamplingError;
pub use processor::Processor;

use crate::ops::argmax::argmax;

/// The token with the largest logit, on ties the one with the lowest id. Absent if every token is out or there is none.
#[must_use]
pub fn greedy(logits: &[f32]) -> Option<u32> {
    let best = argmax(logits).filter(|best| is_in(logits[*best]))?;
    u32::try_from(best).ok()
}

/// Whether a token with this logit may be chosen.
fn is_in(logit: f32) -> bool {
    // False for NaN as well.
    logit > f32::NEG_INFINITY
}

/// The largest logit; absent if every token is out.
fn peak(logits: &[f32]) -> Option<f32> {
    argmax(logits)
        .map(|best| logits[best])
        .filter(|logit| is_in(*logit))
}

/// `exp(logit - peak)`, the share of a token relative to that of the best one, in `[0, 1]`.
fn weight(logit: f32, peak: f32) -> f64 {
    if logit >= peak {
        // Not by the formula, which is NaN where the peak is infinite.
        1.0
    } else {
        f64::from((logit - peak).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_is_chosen_where_every_token_is_out() {
        assert_eq!(greedy(&[]), None);
        assert_eq!(greedy(&[f32::NEG_INFINITY, f32::NAN]), None);
        assert_eq!(greedy(&[f32::NEG_INFINITY, f32::NAN, f32::MIN]), Some(2));
    }

    #[test]
    fn the_lowest_id_wins_a_tie_and_the_two_zeros_tie() {
        assert_eq!(greedy(&[1.0, 3.0, f32::NAN, 3.0]), Some(1));
        assert_eq!(greedy(&[-0.0, 0.0]), Some(0));
        assert_eq!(greedy(&[f32::INFINITY, f32::INFINITY]), Some(0));
    }

    #[test]
    fn the_best_token_weighs_one_even_where_its_logit_is_infinite() {
        assert_eq!(weight(f32::INFINITY, f32::INFINITY).to_bits(), 1.0_f64.to_bits());
        assert_eq!(weight(3.0, f32::INFINITY).to_bits(), 0.0_f64.to_bits());
        assert!((weight(1.0, 2.0) - (-1.0_f64).exp()).abs() < 1e-7);
    }

    proptest! {
        #[test]
        fn greedy_is_the_first_that_no_other_exceeds(
            logits in prop::collection::vec(prop_oneof![Just(f32::NAN), (-5_i8..5).prop_map(f32::from)], 0..300),
        ) {
            let is_best = |logit: &f32| !logit.is_nan() && !logits.iter().any(|other| other > logit);
            let first = logits.iter().position(is_best);
            prop_assert_eq!(greedy(&logits).map(|id| id as usize), first);
        }
    }
}
