//! The 20 % trimmed mean and how well it is known.
//!
//! Slots of a shared machine now and then run beside somebody else: their values are far off, always to the same
//! side. A trimmed mean ignores them; its standard error comes from the *winsorised* values (the trimmed ones are
//! replaced by the nearest that is kept), because the kept values alone are not a random sample.

/// A trimmed mean and its precision. All finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trimmed {
    /// Mean of the values that are left; in their unit.
    pub mean: f64,
    /// Squared standard error of that mean, `>= 0`; 0 if all kept values are equal.
    pub variance: f64,
    /// Degrees of freedom `h - 1`, at least 1.
    pub freedom: f64,
}

/// How many values are cut from each end of `n`: `floor(0.2 n)`, so none below five values.
///
/// 20 % is the choice of Wilcox 2012 ("Introduction to Robust Estimation and Hypothesis Testing", section 3.3) and won
/// here too: docs/statistics.md has the figures for 0, 10, 20 and 25 %.
#[must_use]
pub fn cut(n: usize) -> usize {
    n / 5
}

/// Trimmed mean, its squared standard error `SSW / (h (h - 1))`, and `h - 1` degrees of freedom, where `SSW` is the
/// sum of squares of the winsorised values about their mean (Tukey & McLaughlin 1963, "Less vulnerable confidence and
/// significance procedures for location"; the form of Yuen 1974, "The two-sample trimmed t for unequal population
/// variances", equation 2.1).
///
/// `None` if fewer than two values would be left, or any value is not finite. Ties need no care; if all values are
/// equal the variance is 0.
///
/// ```
/// use abreast::stats::trimmed::trimmed;
/// let of = trimmed(&[1.0, 2.0, 3.0, 4.0, 1000.0]).unwrap();
/// assert!((of.mean - 3.0).abs() < 1e-12);
/// ```
#[must_use]
pub fn trimmed(values: &[f64]) -> Option<Trimmed> {
    let g = cut(values.len());
    let h = values.len() - 2 * g;
    if h < 2 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let kept = sorted.get(g..g + h)?;
    let (low, high) = (*kept.first()?, *kept.last()?);
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 values")]
    let (n, g, h) = (values.len() as f64, g as f64, h as f64);
    // Deviations are taken from a kept value first: values near 1e300 do not overflow and equal ones give exactly 0.
    let mean_offset = kept.iter().map(|value| value - low).sum::<f64>() / h;
    let winsorised_offset = (mean_offset * h + g * (high - low)) / n;
    let squares = |value: f64| (value - low - winsorised_offset).powi(2);
    let sum = kept.iter().copied().map(squares).sum::<f64>() + g * (squares(low) + squares(high));
    let found = Trimmed {
        mean: low + mean_offset,
        variance: sum / (h * (h - 1.0)),
        freedom: h - 1.0,
    };
    (found.mean.is_finite() && found.variance.is_finite()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: [f64; 12] = [
        0.031, -0.012, 0.004, 0.018, 0.022, -0.003, 0.41, 0.009, -0.25, 0.013, 0.027, 0.001,
    ];

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-12 * right.abs().max(1e-3)
    }

    #[test]
    fn the_trimmed_mean_and_its_error_agree_with_scipy() {
        // x = [0.031,-0.012,0.004,0.018,0.022,-0.003,0.41,0.009,-0.25,0.013,0.027,0.001]
        // scipy.stats.trim_mean(x, 0.2)
        // w = scipy.stats.mstats.winsorize(np.array(x), (0.2, 0.2)); ((w-w.mean())**2).sum() / (8*7)
        let of = trimmed(&SAMPLE).unwrap();
        assert!(close(of.mean, 0.011_375), "{of:?}");
        assert!((of.variance - 2.998_065_476_190_477e-5).abs() < 1e-16, "{of:?}");
        assert!(close(of.freedom, 7.0));
    }

    #[test]
    fn outliers_of_any_size_change_nothing() {
        let mut wild = SAMPLE;
        wild[6] = 1e9;
        wild[8] = -1e9;
        assert_eq!(trimmed(&wild), trimmed(&SAMPLE));
    }

    #[test]
    fn equal_values_have_no_variance() {
        let of = trimmed(&[0.1; 9]).unwrap();
        assert!(close(of.mean, 0.1));
        assert!(of.variance <= 0.0);
    }

    #[test]
    fn too_few_and_non_finite_values_have_no_trimmed_mean() {
        assert_eq!(trimmed(&[]), None);
        assert_eq!(trimmed(&[1.0]), None);
        assert_eq!(trimmed(&[1.0, f64::INFINITY, 2.0]), None);
        assert_eq!(trimmed(&[f64::MAX, -f64::MAX, 0.0, 1.0]), None);
        assert!(trimmed(&[1.0, 2.0]).is_some());
    }
}
