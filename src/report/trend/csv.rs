//! The history as a table: one line for each scenario and measured commit, with the change that ends there if one does.
//!
//! Columns have one type each and absent values are empty, so any reader of columns can take it as it is.

use crate::history::chain::Level;
use crate::history::change::Shape;
use crate::history::trend::{Series, Trend};

const COLUMNS: [&str; 22] = [
    "class",
    "kind",
    "package",
    "target",
    "scenario",
    "metric",
    "unit",
    "better",
    "commit",
    "committed_at",
    "stretch",
    "begins",
    "level",
    "low",
    "high",
    "shape",
    "change",
    "change_low",
    "change_high",
    "chance",
    "worse",
    "blessed",
];

/// The history as CSV. Sizes are fractions; `level` is relative to the reference of its stretch.
#[must_use]
pub(super) fn render(trend: &Trend) -> String {
    // Writing records of equal length into memory has no way to fail.
    table(trend).unwrap_or_default()
}

fn table(trend: &Trend) -> Option<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS).ok()?;
    let times: Vec<String> = trend.commits.iter().map(time).collect();
    for series in &trend.series {
        let mut before = usize::MAX;
        for (stretch, level) in series.levels() {
            let begins = if stretch == before {
                ""
            } else {
                series.stretches[stretch].begins.as_str()
            };
            before = stretch;
            line(&mut writer, trend, series, (stretch, begins, level), &times)?;
        }
    }
    String::from_utf8(writer.into_inner().ok()?).ok()
}

fn line(
    writer: &mut csv::Writer<Vec<u8>>,
    trend: &Trend,
    series: &Series,
    (stretch, begins, level): (usize, &str, &Level),
    times: &[String],
) -> Option<()> {
    let scenario = &series.scenario;
    let number = |value: f64| format!("{value:.6}");
    let at = |difference: f64| number((level.level + difference).exp_m1());
    // 95 % of a normal distribution.
    let width = 1.96 * level.error;
    let better = match scenario.metric.better {
        crate::metric::Better::Lower => "lower",
        crate::metric::Better::Higher => "higher",
    };
    let stretch = stretch.to_string();
    let (middle, low, high) = (at(0.0), at(-width), at(width));
    let start = [
        &series.class,
        scenario.kind.as_str(),
        &scenario.target.package,
        &scenario.target.target,
        &scenario.id,
        &scenario.metric.name,
        scenario.metric.unit.as_str(),
        better,
        &trend.commits[level.commit].sha,
        &times[level.commit],
        &stretch,
        begins,
        &middle,
        &low,
        &high,
    ];
    for cell in start {
        writer.write_field(cell).ok()?;
    }
    match series.changes.iter().find(|change| change.at == level.commit) {
        Some(change) => {
            let shape = match change.shape {
                Shape::Jump => "jump",
                Shape::Drift => "drift",
            };
            let numbers = [change.size, change.low, change.high].map(number);
            writer.write_field(shape).ok()?;
            for cell in numbers {
                writer.write_field(cell).ok()?;
            }
            writer.write_field(format!("{:.3e}", change.chance)).ok()?;
            writer.write_field(change.worse.to_string()).ok()?;
            writer
                .write_field(change.blessed.as_deref().unwrap_or_default())
                .ok()?;
        }
        None => {
            for _ in 0..7 {
                writer.write_field("").ok()?;
            }
        }
    }
    writer.write_record(None::<&[u8]>).ok()
}

fn time(commit: &crate::history::Commit) -> String {
    jiff::Timestamp::from_second(commit.time).map_or_else(|_| String::new(), |time| time.to_string())
}
