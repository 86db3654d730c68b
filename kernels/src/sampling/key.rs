//! A logit and its token in one integer, so that the order of tokens is the order of integers.
//!
//! Smaller is better: the larger logit comes first, and the lower id among equal logits. No two keys are equal, so that
//! selecting and sorting unstably still give one answer.

use super::is_in;

/// The key of a token; its logit is not NaN.
pub(super) fn key(logit: f32, id: u32) -> u64 {
    // Adding zero turns a negative zero into a positive one: the two tie.
    let bits = (logit + 0.0).to_bits();
    // Bits of floats order like integers once all of a negative one are flipped, and the sign of others (Herf, 2001).
    let ascending = if bits >> 31 == 1 { !bits } else { bits | SIGN };
    (u64::from(!ascending) << 32) | u64::from(id)
}

const SIGN: u32 = 1 << 31;

/// The token of a key.
#[expect(clippy::cast_possible_truncation, reason = "the lower half")]
pub(super) fn id(key: u64) -> u32 {
    key as u32
}

/// The logit of a key.
pub(super) fn logit(key: u64) -> f32 {
    let ascending = !((key >> 32) as u32);
    f32::from_bits(if ascending & SIGN == 0 {
        !ascending
    } else {
        ascending ^ SIGN
    })
}

/// Replaces `keys` by those of all tokens that are not out, in order of their ids.
pub(super) fn collect(logits: &[f32], keys: &mut Vec<u64>) {
    keys.clear();
    keys.reserve(logits.len());
    let tokens = (0_u32..).zip(logits).filter(|(_, logit)| is_in(**logit));
    keys.extend(tokens.map(|(id, logit)| key(*logit, id)));
}

/// Puts all tokens out but those of `keys`.
pub(super) fn keep(keys: &[u64], logits: &mut [f32]) {
    logits.fill(f32::NEG_INFINITY);
    for key in keys {
        logits[id(*key) as usize] = logit(*key);
    }
}

/// How many of the best keys it takes until what they weigh adds up to `mass`; all, if it never does. Those are at the
/// front then, best first; the others are in no order.
///
/// Sorts only as far as it has to: a few of the best, then four times as many of the next, and so on.
pub(super) fn shortest_prefix(keys: &mut [u64], mass: f64, weight: impl Fn(f32) -> f64) -> usize {
    let mut sum = 0.0;
    let mut sorted = 0;
    let mut block = 64;
    while sorted < keys.len() {
        let rest = &mut keys[sorted..];
        let length = block.min(rest.len());
        if length < rest.len() {
            rest.select_nth_unstable(length);
        }
        rest[..length].sort_unstable();
        for (at, key) in rest[..length].iter().enumerate() {
            sum += weight(logit(*key));
            if sum >= mass {
                return sorted + at + 1;
            }
        }
        sorted += length;
        block *= 4;
    }
    keys.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn infinities_are_at_the_ends_and_zeros_tie() {
        let logits = [
            f32::INFINITY,
            f32::MAX,
            1.0,
            1e-40,
            0.0,
            -1e-40,
            -1.0,
            f32::MIN,
            f32::NEG_INFINITY,
        ];
        let keys = logits.map(|logit| key(logit, 7));
        assert!(keys.is_sorted());
        assert_eq!(key(-0.0, 7), key(0.0, 7));
        assert!(key(0.0, 7) < key(-0.0, 8));
    }

    #[test]
    fn what_is_out_is_not_collected_and_what_is_not_kept_is_out() {
        let mut logits = [2.0, f32::NAN, f32::NEG_INFINITY, -3.0];
        let mut keys = vec![1, 2, 3];
        collect(&logits, &mut keys);
        assert_eq!(keys, [key(2.0, 0), key(-3.0, 3)]);
        keep(&keys[1..], &mut logits);
        let bits = [f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY, -3.0].map(f32::to_bits);
        assert_eq!(logits.map(f32::to_bits), bits);
    }

    #[test]
    fn a_mass_that_is_never_reached_takes_all() {
        let mut keys: Vec<u64> = (0..1000).map(|id| key(0.0, id)).collect();
        assert_eq!(shortest_prefix(&mut keys, 1e9, |_| 1.0), 1000);
        assert_eq!(shortest_prefix(&mut [], 1.0, |_| 1.0), 0);
    }

    proptest! {
        #[test]
        fn a_key_orders_like_its_logit_and_gives_back_what_went_in(
            one in prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL,
            other in prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL,
            id: u32,
        ) {
            prop_assert_eq!(one > other, key(one, id) < key(other, id));
            prop_assert_eq!(logit(key(one, id)).to_bits(), one.to_bits());
            prop_assert_eq!(super::id(key(one, id)), id);
        }

        #[test]
        fn the_prefix_is_that_of_a_full_sort(ids in 1_u32..2_000, mass in 0.5..2_500.0_f64) {
            let mut keys: Vec<u64> = (0..ids).map(|id| key((id * 7919 % 101) as f32, id)).collect();
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            let taken = shortest_prefix(&mut keys, mass, |_| 1.0);
            prop_assert_eq!(taken, sorted.len().min(mass.ceil() as usize));
            prop_assert_eq!(&keys[..taken], &sorted[..taken]);
        }
    }
}
