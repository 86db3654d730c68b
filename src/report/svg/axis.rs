//! From numbers to pixels.

use crate::report::format::setting;

/// A linear axis between two pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::report) struct Axis {
    low: f64,
    high: f64,
    from: i32,
    to: i32,
}

impl Axis {
    /// An axis from `low` to `high`, for whatever is not measured from zero.
    pub(in crate::report) fn between((low, high): (f64, f64), from: i32, to: i32) -> Self {
        let low = low.min(high - 1e-6);
        Self { low, high, from, to }
    }

    /// An axis from `low` (at most 0) to `high` (at least 0): it always shows zero.
    pub(in crate::report) fn new((low, high): (f64, f64), from: i32, to: i32) -> Self {
        let high = high.max(0.0);
        // An axis without extent would divide by zero.
        let low = low.min(0.0).min(high - 1e-6);
        Self { low, high, from, to }
    }

    /// Pixel of a fraction, held inside the axis.
    pub(in crate::report) fn at(&self, fraction: f64) -> i32 {
        let share = (fraction.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        self.from + pixel(share * f64::from(self.to - self.from))
    }

    /// Whether a fraction lies beyond an end: -1 low, 1 high, 0 inside.
    pub(in crate::report) fn beyond(&self, fraction: f64) -> i32 {
        if fraction > self.high {
            1
        } else if fraction < self.low {
            -1
        } else {
            0
        }
    }

    /// About `most` round numbers to mark, zero among them where it is shown, ascending.
    pub(in crate::report) fn ticks(&self, most: i32) -> Vec<f64> {
        let step = round_step((self.high - self.low) / f64::from(most));
        let first = (self.low / step).ceil();
        let number = pixel((self.high / step).floor() - first).min(200);
        (0..=number)
            .map(|tick| (first + f64::from(tick)) * step)
            .collect()
    }
}

/// The words of a mark: `+5 %`, `−0.5 %`, `0`.
pub(in crate::report) fn tick(fraction: f64) -> String {
    let size = setting(fraction.abs());
    if fraction > 0.0 {
        format!("+{size}")
    } else if fraction < 0.0 {
        format!("−{size}")
    } else {
        "0".to_owned()
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is not below; at least 0.0001.
fn round_step(rough: f64) -> f64 {
    let rough = rough.max(1e-4);
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough * 0.999_999);
    step.unwrap_or(10.0 * power)
}

/// The limit that shows these extents (each at least 0) well: all of them, unless a few are so far out that they
/// would squeeze the others into a line; those are then drawn at the edge. Never below `least`.
pub(in crate::report) fn limit(mut extents: Vec<f64>, least: f64) -> f64 {
    extents.retain(|extent| extent.is_finite());
    extents.sort_by(f64::total_cmp);
    let most = extents.last().copied().unwrap_or(0.0);
    let common = extents
        .get(extents.len() * 9 / 10)
        .copied()
        .unwrap_or(0.0)
        .max(least);
    if most <= 3.0 * common {
        most.max(least) * 1.05
    } else {
        1.5 * common
    }
}

/// Nearest pixel. The clamp makes the conversion exact for every input.
pub(in crate::report) fn pixel(offset: f64) -> i32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "clamped to a small range; NaN becomes 0"
    )]
    let whole = offset.round().clamp(-100_000.0, 100_000.0) as i32;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_holds_what_is_beyond_it() {
        let axis = Axis::new((-0.1, 0.1), 100, 300);
        assert_eq!(
            [-0.1, 0.0, 0.05, 0.1, 9.0, -9.0].map(|x| axis.at(x)),
            [100, 200, 250, 300, 300, 100]
        );
        assert_eq!([0.1, 9.0, -9.0].map(|x| axis.beyond(x)), [0, 1, -1]);
    }

    #[test]
    fn an_axis_shows_zero_even_if_everything_is_elsewhere() {
        let axis = Axis::new((0.3, 0.4), 0, 100);
        assert_eq!([axis.at(0.0), axis.at(0.4)], [0, 100]);
        assert_eq!(Axis::new((0.0, 0.0), 0, 100).at(0.0), 100);
    }

    #[test]
    fn ticks_are_round_few_and_include_zero() {
        for limit in [0.003, 0.05, 0.12, 0.9, 13.0, 1e6] {
            for range in [(-limit, limit), (0.0, limit), (-limit, 0.0)] {
                let ticks = Axis::new(range, 0, 100).ticks(8);
                assert!((3..=9).contains(&ticks.len()), "{range:?}: {ticks:?}");
                assert!(ticks.contains(&0.0), "{range:?}: {ticks:?}");
            }
        }
        assert_eq!(Axis::new((0.0, 0.0), 0, 100).ticks(8), [0.0]);
        assert_eq!([-0.05, 0.0, 0.005].map(tick), ["−5 %", "0", "+0.5 %"]);
    }

    #[test]
    fn an_axis_between_two_numbers_need_not_show_zero() {
        let axis = Axis::between((1e6, 1.02e6), 100, 0);
        assert_eq!([axis.at(1e6), axis.at(1.02e6), axis.at(0.0)], [100, 0, 100]);
        assert_eq!(axis.ticks(4), [1e6, 1.005e6, 1.01e6, 1.015e6, 1.02e6]);
        assert_eq!(Axis::between((3.0, 3.0), 0, 100).at(3.0), 100);
    }

    #[test]
    fn one_outlier_does_not_squeeze_the_others() {
        let mut extents = vec![0.03; 50];
        assert!((limit(extents.clone(), 0.02) - 0.0315).abs() < 1e-9);
        extents.push(12.0);
        assert!((limit(extents, 0.02) - 0.045).abs() < 1e-9);
        assert!((limit(vec![], 0.02) - 0.021).abs() < 1e-9);
        assert!((limit(vec![f64::NAN], 0.02) - 0.021).abs() < 1e-9);
    }
}
