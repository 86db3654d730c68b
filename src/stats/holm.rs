//! Many questions that share one level.

/// Probabilities corrected for being `family` many, of which those not given are 1: the chance that any of those at most
/// `alpha` is wrong is at most `alpha` (Holm 1979, "A simple sequentially rejective multiple test procedure"). In the order
/// given; ties stay ties. A family smaller than the number of probabilities counts as that number. NaN counts as 1.
///
/// ```
/// use abreast::stats::holm::holm;
/// assert_eq!(holm(&[0.01, 0.04, 0.02], 4), [0.04, 0.08, 0.06]);
/// ```
#[must_use]
pub fn holm(probabilities: &[f64], family: usize) -> Vec<f64> {
    let family = family.max(probabilities.len());
    let of = |at: usize| {
        if probabilities[at].is_nan() {
            1.0
        } else {
            probabilities[at]
        }
    };
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|one, other| of(*one).total_cmp(&of(*other)));
    let mut corrected = vec![1.0; probabilities.len()];
    let mut least: f64 = 0.0;
    for (rank, at) in order.into_iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 questions")]
        let left = (family - rank) as f64;
        least = least.max((of(at) * left).min(1.0));
        corrected[at] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stays_nothing_and_what_is_no_number_counts_as_one() {
        assert!(holm(&[], 10).is_empty());
        assert_eq!(holm(&[f64::NAN, 0.001], 2), [1.0, 0.002]);
    }

    #[test]
    fn a_larger_probability_never_becomes_the_smaller_one() {
        let corrected = holm(&[0.011, 0.01, 0.5], 3);
        assert_eq!(corrected, [0.03, 0.03, 0.5]);
    }
}
