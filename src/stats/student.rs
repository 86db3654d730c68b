//! Quantiles of Student's t.
//!
//! `statrs` inverts the t distribution through its beta function to about three digits, and misses some table values
//! by 2 % (its own test says so). A family of 300 rows needs levels near 1e-5, so the quantile is made here, and only
//! the distribution function is taken from there.

use statrs::distribution::{Continuous, ContinuousCDF, Normal, StudentsT};

/// The `t` that a Student variable with `freedom` degrees of freedom exceeds in absolute value with probability
/// `alpha`: the two-sided critical value. `freedom` may be fractional.
///
/// Starts from Hill 1970 ("Algorithm 396: Student's t-quantiles", CACM 13), then Newton steps on the tail
/// probability; relative error below 1e-9 for `freedom >= 1` and `1e-12 <= alpha <= 1`.
///
/// `None` unless `freedom >= 1` and `0 < alpha <= 1`.
///
/// ```
/// use abreast::stats::student::two_sided;
/// assert!((two_sided(0.05, 10.0).unwrap() - 2.228_138_851_964_939).abs() < 1e-9);
/// ```
#[must_use]
pub fn two_sided(alpha: f64, freedom: f64) -> Option<f64> {
    if !(freedom >= 1.0 && freedom.is_finite() && alpha > 0.0 && alpha <= 1.0) {
        return None;
    }
    let law = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let mut t = hill(alpha, freedom)?;
    // Newton on ln P(|T| > t), which is nearly straight in the tail: one or two steps, more only below two degrees
    // of freedom, where Hill's start is rough.
    for _ in 0..12 {
        let tail = 2.0 * law.sf(t);
        let density = 2.0 * law.pdf(t);
        if !(tail > 0.0 && density > 0.0) {
            break;
        }
        let step = (tail / alpha).ln() * tail / density;
        t = (t + step).max(0.0);
        if step.abs() <= 1e-11 * t {
            break;
        }
    }
    t.is_finite().then_some(t)
}

/// Hill's approximation, good to about six digits for more than four degrees of freedom and three below.
fn hill(p: f64, n: f64) -> Option<f64> {
    if n < 1.5 {
        // Exact for one degree of freedom (Cauchy).
        let angle = p * std::f64::consts::FRAC_PI_2;
        return Some(angle.cos() / angle.sin());
    }
    let a = 1.0 / (n - 0.5);
    let b = 48.0 / (a * a);
    let c = ((20_700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * (a * std::f64::consts::FRAC_PI_2).sqrt() * n;
    let mut y = (d * p).powf(2.0 / n);
    if y > 0.05 + a {
        let x = Normal::standard().inverse_cdf(0.5 * p);
        y = x * x;
        let c = if n < 5.0 {
            c + 0.3 * (n - 4.5) * (x + 0.6)
        } else {
            c
        };
        let c = (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b + c;
        let y5 = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
        y = (a * y5 * y5).exp_m1();
    } else {
        y = ((1.0 / (((n + 6.0) / (n * y) - 0.089 * d - 0.822) * (n + 2.0) * 3.0) + 0.5 / (n + 4.0)) * y
            - 1.0)
            * (n + 1.0)
            / (n + 2.0)
            + 1.0 / y;
    }
    let t = (n * y).sqrt();
    t.is_finite().then_some(t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_agree_with_scipy() {
        // scipy.stats.t.isf(alpha / 2, freedom)
        for (alpha, freedom, expected) in [
            (0.05, 1.0, 12.706_204_736_174_705),
            (0.05, 2.0, 4.302_652_729_749_464),
            (0.2, 3.0, 1.637_744_353_696_208_9),
            (1e-5, 5.0, 17.896_866_143_409_88),
            (8.3e-5, 10.7, 6.133_865_786_784_641),
            (1e-9, 13.3, 15.023_040_803_590_266),
            (0.5, 4.0, 0.740_697_084_112_682_9),
            (0.9, 7.5, 0.129_980_332_234_148_48),
            (4e-5, 62.0, 4.423_286_568_323_911_5),
            (0.2, 1.3, 2.425_947_410_787_917_8),
            (1e-3, 2.5, 18.277_893_528_130_647),
            (1e-12, 40.0, 10.229_411_387_923_305),
        ] {
            let found = two_sided(alpha, freedom).unwrap();
            assert!(
                (found / expected - 1.0).abs() < 1e-9,
                "t({alpha}, {freedom}) = {found}, expected {expected}"
            );
        }
    }

    #[test]
    fn certainty_needs_no_distance_and_impossible_levels_have_none() {
        assert!(two_sided(1.0, 5.0).unwrap() < 1e-9);
        for (alpha, freedom) in [
            (0.0, 5.0),
            (-0.1, 5.0),
            (1.1, 5.0),
            (0.05, 0.5),
            (f64::NAN, 5.0),
            (0.05, f64::NAN),
            (0.05, f64::INFINITY),
        ] {
            assert_eq!(two_sided(alpha, freedom), None);
        }
    }
}
