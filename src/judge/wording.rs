//! The few numbers that appear inside notes, as words. Tables and everything else people read belong to
//! [`crate::report`]; notes are part of the report's data, so they are written here, right where they are decided.

/// A change with its sign: `+3.1 %`, `−0.2 %`, `0.0 %`. The minus is U+2212, as in the tables.
#[must_use]
pub fn signed(fraction: f64) -> String {
    let percent = (fraction * 1000.0).round() / 10.0;
    if percent > 0.0 {
        format!("+{percent:.1} %")
    } else if percent < 0.0 {
        format!("−{:.1} %", -percent)
    } else {
        "0.0 %".to_owned()
    }
}

/// A size or a setting with at most two significant decimals: `5 %`, `0.25 %`, `8.3 %`.
#[must_use]
pub fn size(fraction: f64) -> String {
    let percent = fraction.abs() * 100.0;
    let digits = if percent < 1.0 { 2 } else { 1 };
    format!("{} %", trim_zeros(&format!("{percent:.digits$}")))
}

/// A time given in nanoseconds, in the unit that fits: `0.18 ns`, `50 µs`.
#[must_use]
pub fn nanoseconds(ns: f64) -> String {
    let (scaled, unit) = match ns.abs() {
        size if size < 1e3 => (ns, "ns"),
        size if size < 1e6 => (ns / 1e3, "µs"),
        size if size < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    let digits = if scaled.abs() < 10.0 { 2 } else { 1 };
    format!("{} {unit}", trim_zeros(&format!("{scaled:.digits$}")))
}

/// The first few of a list: `a, b, c and 4 more`.
#[must_use]
pub fn some(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The first line that says something, trimmed; empty if none does.
#[must_use]
pub fn first_line(text: &str) -> &str {
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_notes_are_short_and_have_their_unit() {
        assert_eq!(signed(0.0312), "+3.1 %");
        assert_eq!(signed(-0.002), "−0.2 %");
        assert_eq!(signed(-0.0001), "0.0 %");
        assert_eq!(
            [size(0.05), size(0.0025), size(0.0833)],
            ["5 %", "0.25 %", "8.3 %"]
        );
        assert_eq!(nanoseconds(0.18), "0.18 ns");
        assert_eq!(nanoseconds(50_000.0), "50 µs");
        assert_eq!(nanoseconds(1.0), "1 ns");
    }
}
