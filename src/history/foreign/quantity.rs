//! Units as other programs write them.

use crate::metric::{Better, Metric, Unit};

/// The metric that a unit belongs to, and what a value must be multiplied by. `None` for a unit whose direction nobody
/// can know.
#[must_use]
pub(super) fn quantity(unit: &str) -> Option<(Metric, f64)> {
    let word = unit.trim();
    let per_iteration = ["/iter", "/op", "/iteration", "/loop", "/call"];
    let bare = per_iteration
        .iter()
        .find_map(|end| word.strip_suffix(end))
        .unwrap_or(word)
        .trim();
    let factor = match bare {
        "ns" | "nanosecond" | "nanoseconds" => 1.0,
        "us" | "\u{b5}s" | "\u{3bc}s" | "microseconds" => 1e3,
        "ms" | "milliseconds" | "msec" => 1e6,
        "s" | "sec" | "secs" | "second" | "seconds" => 1e9,
        _ => return other(word, bare),
    };
    Some((Metric::time(), factor))
}

fn other(word: &str, bare: &str) -> Option<(Metric, f64)> {
    let lower = word.to_ascii_lowercase();
    let per_second = ["/s", "/sec", "/second", " per second", "hz", "qps", "ops"];
    if per_second.iter().any(|end| lower.ends_with(end)) {
        return Some((Metric::rate(), 1.0));
    }
    let factor = match bare {
        "B" | "bytes" | "byte" => 1.0,
        "kB" | "KB" | "kb" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" | "k" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        _ => {
            let counts = [
                "",
                "count",
                "instructions",
                "allocs",
                "cycles",
                "events",
                "loops",
                "allocations",
            ];
            return counts.contains(&bare).then(|| (Metric::count(), 1.0));
        }
    };
    Some((Metric::memory(), factor))
}

/// The unit of a metric as other programs read it.
#[must_use]
pub(super) fn written(metric: &Metric) -> &'static str {
    match (metric.unit, metric.better) {
        (Unit::Ns, _) => "ns",
        (Unit::Bytes, _) => "bytes",
        (Unit::PerSecond, _) | (Unit::Count, Better::Higher) => "ops/sec",
        (Unit::Count, Better::Lower) => "count",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_a_direction_and_a_size_or_are_refused() {
        let of = |unit: &str| quantity(unit).map(|(metric, factor)| (metric.unit.as_str(), factor));
        for (unit, expected) in [
            ("ns/iter", Some(("ns", 1.0))),
            ("\u{3bc}s", Some(("ns", 1e3))),
            ("ms", Some(("ns", 1e6))),
            ("seconds", Some(("ns", 1e9))),
            ("ops/sec", Some(("per_s", 1.0))),
            ("tokens/s", Some(("per_s", 1.0))),
            ("MiB", Some(("bytes", 1_048_576.0))),
            ("allocs", Some(("count", 1.0))),
            ("points", None),
            ("%", None),
        ] {
            assert_eq!(of(unit), expected, "{unit}");
        }
    }
}
