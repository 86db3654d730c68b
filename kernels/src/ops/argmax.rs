//! Where the largest number is.

use crate::dtype::Element;

/// Index of the largest number, the lowest one on ties; NaN is passed over. Absent if there is no number.
#[must_use]
pub fn argmax<T: Element>(numbers: &[T]) -> Option<usize> {
    const LANES: usize = 64;
    // Which block has the largest first: a vector can be compared at once, a position cannot.
    let mut best: Option<(f32, usize)> = None;
    for (block, chunk) in numbers.chunks(LANES).enumerate() {
        let max = super::lanes::max(chunk);
        let is_better = best.is_none_or(|(so_far, _)| max > so_far);
        if is_better && chunk.iter().any(|number| !number.to_f32().is_nan()) {
            best = Some((max, block * LANES));
        }
    }
    let (max, start) = best?;
    let within = numbers[start..]
        .iter()
        .position(|number| number.to_f32() >= max)?;
    Some(start + within)
}

/// The first number that no other exceeds.
#[must_use]
pub fn oracle(numbers: &[f32]) -> Option<usize> {
    let mut best: Option<usize> = None;
    for i in 0..numbers.len() {
        if !numbers[i].is_nan() && best.is_none_or(|best| numbers[i] > numbers[best]) {
            best = Some(i);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_and_nothing_but_nan_have_no_largest() {
        assert_eq!(argmax::<f32>(&[]), None);
        assert_eq!(argmax(&[f32::NAN; 100]), None);
        assert_eq!(argmax(&[f32::NAN, f32::NEG_INFINITY]), Some(1));
    }

    proptest! {
        #[test]
        fn it_is_the_oracles_with_ties_and_nan(numbers in prop::collection::vec(
            prop_oneof![Just(f32::NAN), Just(f32::INFINITY), Just(-0.0), Just(0.0), (-5_i8..5).prop_map(f32::from)],
            0..200,
        )) {
            prop_assert_eq!(argmax(&numbers), oracle(&numbers));
        }
    }
}
