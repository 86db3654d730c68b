//! An estimate with its standard error, from one stratum or as the mean of two.
//!
//! Two strata make an effect vanish that has opposite signs in them: if one holds `change + effect` and the other
//! `change - effect`, the mean of their locations holds no effect at all, whatever its size.

use super::student;
use super::trimmed::{Trimmed, trimmed};

/// A number and how well it is known. All finite; an interval needs no distribution beyond Student's t.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate, in the unit of the values.
    pub value: f64,
    /// Its standard error, `>= 0`.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error, at least 1, fractional where two strata were joined.
    pub freedom: f64,
}

/// Trimmed mean of one stratum. `None` under the conditions of [`trimmed`].
#[must_use]
pub fn of_one(values: &[f64]) -> Option<Estimate> {
    trimmed(values).map(Estimate::from)
}

/// Mean of the trimmed means of two strata, each counting half whatever its size.
///
/// The squared standard error is a quarter of the sum of both; its degrees of freedom are those of Welch 1947 and
/// Satterthwaite 1946, as Yuen 1974 uses them for trimmed means. `None` if either stratum has no trimmed mean. If
/// neither has any variance the smaller of both degrees of freedom is taken: it then changes nothing.
#[must_use]
pub fn of_two(one: &[f64], other: &[f64]) -> Option<Estimate> {
    let (one, other) = (trimmed(one)?, trimmed(other)?);
    let sum = one.variance + other.variance;
    let spread = one.variance.powi(2) / one.freedom + other.variance.powi(2) / other.freedom;
    let welch = sum.powi(2) / spread;
    // Bounds of the Welch-Satterthwaite value; they also replace 0/0.
    let (least, most) = (one.freedom.min(other.freedom), one.freedom + other.freedom);
    let freedom = if welch.is_finite() {
        welch.clamp(least, most)
    } else {
        least
    };
    let found = Estimate {
        value: one.mean / 2.0 + other.mean / 2.0,
        standard_error: (sum / 4.0).sqrt(),
        freedom,
    };
    (found.value.is_finite() && found.standard_error.is_finite()).then_some(found)
}

impl Estimate {
    /// Half the width of the two-sided interval at level `alpha`. `None` unless `0 < alpha <= 1` and the result is
    /// finite.
    ///
    /// ```
    /// use abreast::stats::interval::Estimate;
    /// let of = Estimate { value: 0.1, standard_error: 0.01, freedom: 10.0 };
    /// assert!((of.half_width(0.05).unwrap() - 0.022_281_388).abs() < 1e-8);
    /// ```
    #[must_use]
    pub fn half_width(&self, alpha: f64) -> Option<f64> {
        let width = student::two_sided(alpha, self.freedom)? * self.standard_error;
        width.is_finite().then_some(width)
    }
}

impl From<Trimmed> for Estimate {
    fn from(of: Trimmed) -> Self {
        Self {
            value: of.mean,
            standard_error: of.variance.sqrt(),
            freedom: of.freedom,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: [f64; 8] = [0.051, 0.032, 0.044, 0.038, 0.062, 0.047, 0.41, 0.029];
    const OTHER: [f64; 8] = [0.011, -0.002, 0.004, -0.25, 0.018, 0.007, 0.001, -0.013];

    fn close(left: f64, right: f64) -> bool {
        (left / right - 1.0).abs() < 1e-9
    }

    #[test]
    fn the_mean_of_two_strata_is_yuens_test_with_one_sign_turned() {
        // a = [0.051,0.032,0.044,0.038,0.062,0.047,0.41,0.029]; b = [0.011,-0.002,0.004,-0.25,0.018,0.007,0.001,-0.013]
        // r = scipy.stats.ttest_ind(a, [-v for v in b], trim=0.2, equal_var=False)
        // r.statistic, r.df, r.confidence_interval(0.99); the interval is one of a sum, twice ours.
        let of = of_two(&ONE, &OTHER).unwrap();
        assert!(
            close(of.value / of.standard_error, 6.349_998_622_586_082_5),
            "{of:?}"
        );
        assert!(close(of.freedom, 9.560_209_121_104_883), "{of:?}");
        let half = of.half_width(0.01).unwrap();
        assert!(
            close(2.0 * (of.value - half), 0.023_298_520_160_097_525),
            "{of:?}"
        );
        assert!(close(2.0 * (of.value + half), 0.070_701_479_839_902_46), "{of:?}");
    }

    #[test]
    fn an_effect_of_opposite_sign_in_the_strata_vanishes() {
        let plain = of_two(&ONE, &OTHER).unwrap();
        let shifted = of_two(&ONE.map(|value| value + 0.5), &OTHER.map(|value| value - 0.5)).unwrap();
        assert!((plain.value - shifted.value).abs() < 1e-15);
        assert!(close(shifted.standard_error, plain.standard_error));
    }

    #[test]
    fn strata_without_variance_are_certain() {
        let of = of_two(&[0.1; 4], &[0.1; 4]).unwrap();
        assert!(close(of.value, 0.1));
        assert!(of.half_width(1e-9).unwrap() <= 0.0);
    }

    #[test]
    fn a_stratum_of_one_gives_no_estimate() {
        assert_eq!(of_two(&ONE, &[0.1]), None);
        assert_eq!(of_two(&[], &[]), None);
        assert_eq!(of_one(&[]), None);
    }
}
