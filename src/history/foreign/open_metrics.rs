//! OpenMetrics text (1.0): gauges that a Prometheus server takes up, the newest commit of each scenario.

use crate::history::trend::Trend;
use crate::metric::Unit;
use std::fmt::Write as _;

/// The newest value and level of each scenario, and how many changes are open.
#[must_use]
pub fn open_metrics(trend: &Trend) -> String {
    let mut text = String::new();
    for (unit, name) in [
        (Unit::Ns, "seconds"),
        (Unit::Bytes, "bytes"),
        (Unit::PerSecond, "per_second"),
        (Unit::Count, "count"),
    ] {
        let own = || {
            trend
                .series
                .iter()
                .filter(|series| series.scenario.metric.unit == unit && series.latest.is_some())
        };
        if own().next().is_none() {
            continue;
        }
        let _ = writeln!(
            text,
            "# TYPE abreast_value_{name} gauge\n# HELP abreast_value_{name} Typical value in the newest measurement."
        );
        for series in own() {
            let value = series.latest.unwrap_or_default() * if unit == Unit::Ns { 1e-9 } else { 1.0 };
            let _ = writeln!(text, "abreast_value_{name}{{{}}} {value:e}", labels(series));
        }
    }
    let _ = writeln!(
        text,
        "# TYPE abreast_level_ratio gauge\n# HELP abreast_level_ratio Level of the newest commit relative to the reference."
    );
    for series in &trend.series {
        if let Some((level, ..)) = series.since_reference() {
            let _ = writeln!(text, "abreast_level_ratio{{{}}} {}", labels(series), 1.0 + level);
        }
    }
    let open = trend.open().iter().filter(|(_, change)| change.worse).count();
    let _ = writeln!(
        text,
        "# TYPE abreast_open_changes gauge\n# HELP abreast_open_changes Changes for the worse that nobody blessed.\nabreast_open_changes {open}\n# EOF"
    );
    text
}

fn labels(series: &crate::history::trend::Series) -> String {
    let scenario = &series.scenario;
    let of = |name: &str, value: &str| {
        format!(
            "{name}=\"{}\"",
            value
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n")
        )
    };
    [
        of("class", &series.class),
        of("package", &scenario.target.package),
        of("target", &scenario.target.target),
        of("scenario", &scenario.id),
        of("metric", &scenario.metric.name),
    ]
    .join(",")
}
