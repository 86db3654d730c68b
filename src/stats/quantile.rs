//! Median and quantiles.

/// Median: the middle value, or the mean of the two middle ones. `None` for no values or any that is NaN.
///
/// The order of `values` does not matter and is left alone; the unit is that of the values; ties need no care.
///
/// ```
/// use abreast::stats::quantile::median;
/// assert_eq!(median(&[3.0, 1.0, 10.0, 2.0]), Some(2.5));
/// assert_eq!(median(&[]), None);
/// ```
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The `p`-quantile by linear interpolation between order statistics at position `(n - 1) p`, counted from 0:
/// definition 7 of Hyndman & Fan 1996, "Sample quantiles in statistical packages", the default of R and NumPy.
///
/// `None` for no values, any NaN, or `p` outside `0..=1`. One value is its own every quantile.
#[must_use]
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    if values.is_empty() || values.iter().any(|value| value.is_nan()) || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let mut copy = values.to_vec();
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 values")]
    let position = (copy.len() - 1) as f64 * p;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 <= position <= n - 1"
    )]
    let below = (position.floor() as usize).min(copy.len() - 1);
    let weight = position - position.floor();
    let (_, &mut low, above) = copy.select_nth_unstable_by(below, f64::total_cmp);
    if weight <= 0.0 {
        return Some(low);
    }
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    Some(low + weight * (high - low))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: Option<f64>, right: f64) -> bool {
        left.is_some_and(|left| (left - right).abs() < 1e-12)
    }

    #[test]
    fn quantiles_agree_with_numpy() {
        let values = [15.0, 20.0, 35.0, 40.0, 50.0, 2.5];
        // numpy.quantile([15,20,35,40,50,2.5], [0, .1, .25, .5, .9, 1])
        for (p, expected) in [
            (0.0, 2.5),
            (0.1, 8.75),
            (0.25, 16.25),
            (0.5, 27.5),
            (0.9, 45.0),
            (1.0, 50.0),
        ] {
            assert!(
                close(quantile(&values, p), expected),
                "{p}: {:?}",
                quantile(&values, p)
            );
        }
    }

    #[test]
    fn nothing_and_nan_have_no_quantile_and_one_value_is_its_own() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
        assert_eq!(quantile(&[1.0], 1.5), None);
        assert!(close(quantile(&[7.0], 0.3), 7.0));
        assert!(close(median(&[2.0, 2.0, 2.0, 9.0]), 2.0));
    }
}
