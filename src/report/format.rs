//! Numbers to words: three significant digits, a unit people use, and a sign that can be seen.
//!
//! Everything here is for people. Machines get raw numbers from `json` and `csv`. A number that is not finite, which
//! a [`Report`](super::Report) should not hold, becomes a dash instead of a panic or `NaN`.

use super::Change;
use crate::metric::Unit;

/// Shown where there is no number.
pub const NOTHING: &str = "–";

/// A value with three significant digits and the unit that fits: `12.3 µs`, `0.402 ns`, `2.00 s`.
///
/// The unit is chosen after rounding, so 999.96 ns is `1.00 µs` and never `1000 ns`.
#[must_use]
pub fn value(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Ns => nanoseconds(value),
        Unit::Count => counted(value),
        Unit::Bytes => scaled(value, ["B", "kB", "MB", "GB"]),
        Unit::PerSecond => scaled(value, ["/s", "k/s", "M/s", "G/s"]),
    }
}

/// An optional value; a dash if absent.
#[must_use]
pub fn optional_value(number: Option<f64>, unit: Unit) -> String {
    number.map_or_else(|| NOTHING.to_owned(), |number| value(number, unit))
}

fn nanoseconds(value: f64) -> String {
    scaled(value, ["ns", "µs", "ms", "s"])
}

/// `417`, `4.71 k`, `2.00 M`.
fn counted(value: f64) -> String {
    if value.is_finite() && value.abs() < 1000.0 {
        return format!("{value:.0}");
    }
    scaled(value, ["", "k", "M", "G"])
}

/// Three digits and the unit that fits, each a thousand times the one before it.
fn scaled(value: f64, units: [&str; 4]) -> String {
    let Some(exponent) = exponent(value) else {
        return if value.is_finite() {
            format!("0 {}", units[0])
        } else {
            NOTHING.to_owned()
        };
    };
    let step = usize::try_from(exponent.div_euclid(3))
        .unwrap_or(0)
        .min(units.len() - 1);
    let mut scaled = value;
    for _ in 0..step {
        scaled /= 1000.0;
    }
    format!("{} {}", three_digits(scaled), units[step])
}

/// A relative change with its sign: `+2.1 %`, `−4.0 %`, `0.0 %`, `+120 %`; from elevenfold on the ratio, `×13.4`.
///
/// The minus is U+2212: in a column it is as wide as the plus and no renderer takes it for a list. There is no
/// negative zero. A drop so large that it would read as `−100 %` is written as a ratio too.
#[must_use]
pub fn change(fraction: f64) -> String {
    if !fraction.is_finite() {
        return NOTHING.to_owned();
    }
    let ratio = 1.0 + fraction;
    if fraction >= 10.0 || (fraction <= -0.9995 && ratio > 0.0) {
        return format!("×{}", three_digits(ratio));
    }
    let magnitude = percent_digits(fraction.abs());
    match magnitude.as_str() {
        "0.0" => "0.0 %".to_owned(),
        _ if fraction < 0.0 => format!("−{magnitude} %"),
        _ => format!("+{magnitude} %"),
    }
}

/// A size without direction (half width, floor, detectable change): `0.6 %`, `0.04 %`, `250 %`.
#[must_use]
pub fn size(fraction: f64) -> String {
    let fraction = fraction.abs();
    if !fraction.is_finite() {
        NOTHING.to_owned()
    } else if fraction >= 100.0 {
        "> 9999 %".to_owned()
    } else if fraction >= 0.00095 || fraction <= 0.0 {
        format!("{} %", percent_digits(fraction))
    } else if fraction >= 0.000_05 {
        format!("{:.2} %", fraction * 100.0)
    } else {
        "< 0.01 %".to_owned()
    }
}

/// A setting as people write it: `2 %`, `0.5 %`, `12.5 %`.
#[must_use]
pub fn setting(fraction: f64) -> String {
    if !fraction.is_finite() {
        return NOTHING.to_owned();
    }
    let digits = format!("{:.2}", fraction * 100.0);
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits} %")
}

/// A setting in nanoseconds, as typed: `1 ns`, `0.5 ns`.
#[must_use]
pub fn setting_ns(nanoseconds: f64) -> String {
    if nanoseconds.is_finite() {
        format!("{nanoseconds} ns")
    } else {
        NOTHING.to_owned()
    }
}

/// Half the width of the interval around a change. The interval may be lopsided: the larger half is shown, because
/// a reader takes `± x` as a promise for both directions - unless the interval excludes zero, then the half that
/// faces zero, or `± x` would seem to include it.
#[must_use]
pub fn half_width(change: &Change) -> f64 {
    let up = change.high - change.change;
    let down = change.change - change.low;
    let shown = if change.low > 0.0 {
        down
    } else if change.high < 0.0 {
        up
    } else {
        up.max(down)
    };
    shown.max(0.0)
}

/// A change with its half width, for sentences: `+2.1 % ± 0.6`.
#[must_use]
pub fn change_with_width(of: &Change) -> String {
    let width = size(half_width(of));
    format!("{} ± {}", change(of.change), width.trim_end_matches(" %"))
}

/// A time that people wait: `0.15 s`, `2.3 s`, `42 s`, `4 min 12 s`, `2 h 5 min`.
#[must_use]
pub fn seconds(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return NOTHING.to_owned();
    }
    if seconds < 0.995 {
        return format!("{seconds:.2} s");
    }
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    if seconds < 59.5 {
        return format!("{seconds:.0} s");
    }
    if seconds < 3599.5 {
        return two_parts(seconds.round(), 60.0, "min", "s");
    }
    two_parts((seconds / 60.0).round(), 60.0, "h", "min")
}

fn two_parts(total: f64, per: f64, large: &str, small: &str) -> String {
    let whole = (total / per).floor();
    let rest = total - whole * per;
    if rest < 0.5 {
        format!("{whole:.0} {large}")
    } else {
        format!("{whole:.0} {large} {rest:.0} {small}")
    }
}

/// Percent of a size below tenfold or so: one decimal, none from 100 % on.
fn percent_digits(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent >= 99.95 {
        format!("{percent:.0}")
    } else {
        format!("{percent:.1}")
    }
}

/// Three significant digits, without an exponent where that stays readable.
fn three_digits(value: f64) -> String {
    match exponent(value) {
        None => "0".to_owned(),
        Some(exponent @ -6..=5) => {
            let decimals = usize::try_from(2 - exponent).unwrap_or(0);
            format!("{value:.decimals$}")
        }
        Some(_) => format!("{value:.2e}"),
    }
}

/// Decimal exponent of a number *after* rounding to three digits; absent for zero and what is not finite.
fn exponent(value: f64) -> Option<i32> {
    if !value.is_finite() || value == 0.0 {
        return None;
    }
    let text = format!("{value:.2e}");
    text.split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(number: f64) -> String {
        value(number, Unit::Ns)
    }

    #[test]
    fn counts_are_whole_until_a_thousand() {
        let shown = [0.0, 7.0, 999.0, 4711.0, 2e6, 1.5e13, f64::NAN].map(|number| value(number, Unit::Count));
        assert_eq!(shown, ["0", "7", "999", "4.71 k", "2.00 M", "15000 G", NOTHING]);
    }

    #[test]
    fn values_have_three_significant_digits_and_the_unit_that_fits() {
        let shown: Vec<String> = [
            0.402,
            1.0,
            12.345,
            12_345.0,
            1_049_000.0,
            2e9,
            1.234e12,
            9.9e17,
            4e-4,
            4e-9,
        ]
        .map(ns)
        .to_vec();
        assert_eq!(
            shown,
            [
                "0.402 ns",
                "1.00 ns",
                "12.3 ns",
                "12.3 µs",
                "1.05 ms",
                "2.00 s",
                "1234 s",
                "9.90e8 s",
                "0.000400 ns",
                "4.00e-9 ns"
            ]
        );
    }

    #[test]
    fn rounding_that_crosses_a_unit_moves_to_the_next_unit() {
        assert_eq!(ns(999.96), "1.00 µs");
        assert_eq!(ns(999.4), "999 ns");
        assert_eq!(ns(999_500.0), "1.00 ms");
        assert_eq!(ns(9.996), "10.0 ns");
        assert_eq!(ns(99.96), "100 ns");
        assert_eq!(ns(0.99999), "1.00 ns");
    }

    #[test]
    fn nothing_is_shown_as_a_dash_and_zero_as_zero() {
        assert_eq!(ns(f64::NAN), "–");
        assert_eq!(ns(f64::INFINITY), "–");
        assert_eq!(ns(0.0), "0 ns");
        assert_eq!(ns(-0.0), "0 ns");
        assert_eq!(ns(-12.0), "-12.0 ns");
        assert_eq!(optional_value(None, Unit::Ns), "–");
    }

    #[test]
    fn a_change_has_a_sign_unless_it_is_zero() {
        let shown: Vec<String> = [0.021, -0.04, 0.0, -0.0, -0.0004, 0.0006, 0.9996, 1.2, 9.99, 12.4]
            .map(change)
            .to_vec();
        assert_eq!(
            shown,
            [
                "+2.1 %", "−4.0 %", "0.0 %", "0.0 %", "0.0 %", "+0.1 %", "+100 %", "+120 %", "+999 %",
                "×13.4"
            ]
        );
    }

    #[test]
    fn a_drop_never_reads_as_minus_one_hundred_percent_unless_it_is() {
        assert_eq!(change(-0.999), "−99.9 %");
        assert_eq!(change(-0.9999), "×0.000100");
        assert_eq!(change(-1.0), "−100 %");
        assert_eq!(change(f64::NEG_INFINITY), "–");
    }

    #[test]
    fn small_sizes_keep_a_digit_that_says_something() {
        let shown: Vec<String> = [0.0, 0.000_01, 0.0004, 0.006, 0.9999, 2.5, 1e9, f64::NAN]
            .map(size)
            .to_vec();
        assert_eq!(
            shown,
            [
                "0.0 %", "< 0.01 %", "0.04 %", "0.6 %", "100 %", "250 %", "> 9999 %", "–"
            ]
        );
    }

    #[test]
    fn a_lopsided_interval_shows_its_larger_half_or_the_one_that_faces_zero() {
        let around_zero = Change {
            change: 0.01,
            low: -0.002,
            high: 0.03,
            floor: 0.01,
            detectable: 0.01,
            rounds: 16,
            per_round: vec![],
            base_per_round: vec![],
            confirmation: None,
        };
        let above = Change {
            change: 0.061,
            low: 0.001,
            high: 0.124,
            ..around_zero.clone()
        };
        let below = Change {
            change: -0.061,
            low: -0.2,
            high: -0.001,
            ..around_zero.clone()
        };
        assert_eq!(change_with_width(&around_zero), "+1.0 % ± 2.0");
        assert_eq!(change_with_width(&above), "+6.1 % ± 6.0");
        assert_eq!(change_with_width(&below), "−6.1 % ± 6.0");
    }

    #[test]
    fn settings_are_written_as_people_write_them() {
        assert_eq!(
            [0.02, 0.005, 0.125, 0.0].map(setting),
            ["2 %", "0.5 %", "12.5 %", "0 %"]
        );
    }

    #[test]
    fn waiting_times_have_at_most_two_parts() {
        let shown: Vec<String> = [0.0, 0.15, 0.996, 2.34, 42.4, 59.7, 252.0, 3600.0, 7500.0, -1.0]
            .map(seconds)
            .to_vec();
        assert_eq!(
            shown,
            [
                "0.00 s",
                "0.15 s",
                "1.0 s",
                "2.3 s",
                "42 s",
                "1 min",
                "4 min 12 s",
                "1 h",
                "2 h 5 min",
                "–"
            ]
        );
    }
}
