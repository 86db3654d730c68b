//! Bounds of a probability of which some successes were seen.

use statrs::distribution::{Beta, ContinuousCDF};

/// The largest probability under which as few as `successes` of `trials` are still seen with probability `alpha`: the
/// one-sided upper bound (Clopper & Pearson 1934). 1 without trials, or if all succeeded.
#[must_use]
pub fn upper(successes: usize, trials: usize, alpha: f64) -> f64 {
    if successes >= trials {
        return 1.0;
    }
    quantile(successes + 1, trials - successes, 1.0 - alpha).unwrap_or(1.0)
}

/// The smallest probability under which as many as `successes` of `trials` are still seen with probability `alpha`: the
/// one-sided lower bound. 0 without successes.
#[must_use]
pub fn lower(successes: usize, trials: usize, alpha: f64) -> f64 {
    if successes == 0 || successes > trials {
        return 0.0;
    }
    quantile(successes, trials - successes + 1, alpha).unwrap_or(0.0)
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 trials")]
fn quantile(a: usize, b: usize, p: f64) -> Option<f64> {
    let quantile = Beta::new(a as f64, b as f64).ok()?.inverse_cdf(p);
    quantile.is_finite().then_some(quantile)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
    }

    #[test]
    fn bounds_agree_with_scipy() {
        // scipy.stats.beta.ppf(0.95, k + 1, n - k) and beta.ppf(0.05, k, n - k + 1)
        assert_close(upper(0, 50, 0.05), 0.058_155_079_1);
        assert_close(upper(2, 50, 0.05), 0.120_614_155_4);
        assert_close(lower(48, 50, 0.05), 0.879_385_844_6);
        assert_close(lower(50, 50, 0.05), 0.941_844_920_9);
    }

    #[test]
    fn nothing_tried_is_nothing_known() {
        assert_close(upper(0, 0, 0.05), 1.0);
        assert_close(lower(0, 0, 0.05), 0.0);
        assert_close(upper(5, 5, 0.05), 1.0);
        assert_close(lower(0, 5, 0.05), 0.0);
    }
}
