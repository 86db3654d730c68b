//! The qualification for a person: the answer first, then every scenario, then what became of injected changes.

use super::{Detection, Glance, Qualification, ScenarioGlance, Share};
use crate::metric::Unit;
use crate::report::format::{NOTHING, change, optional_value, size};
use crate::report::visible;
use crate::units::count;
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// Scenarios that are listed unless all are asked for: the bluntest ones are what a reader can do something about.
const LISTED: usize = 12;

/// Lines of text with a final newline.
#[must_use]
pub fn render(of: &Qualification, all: bool) -> String {
    let mut lines = Vec::new();
    if of.reports.iter().any(|report| !report.rows.is_empty()) {
        lines.push(headline(of.flagged_reports(), "of unchanged code", of.wanted));
        lines.extend(facts(of));
        lines.push(String::new());
        lines.extend(scenarios(&of.scenarios(), all));
    }
    if !of.injected.is_empty() {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(format!(
            "Injected changes, {} of a suite of known work",
            count(of.injected.len(), "report")
        ));
        lines.push(String::new());
        lines.extend(detection(&of.detection()));
    }
    if !of.shifted.is_empty() {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(shifted(of));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn headline(Share { seen, of: all, upper }: Share, what: &str, wanted: usize) -> String {
    let cut = if all < wanted {
        format!(" ({wanted} were asked for)")
    } else {
        String::new()
    };
    format!(
        "{seen} of {} {what} flagged anything{cut}; at 95 % confidence at most {} do",
        count(all, "report"),
        size(upper)
    )
}

fn shifted(of: &Qualification) -> [String; 2] {
    let sum = |figure: fn(&Glance) -> usize| of.shifted.iter().map(figure).sum::<usize>();
    let suspected = match sum(Glance::suspected) {
        0 => String::new(),
        1 => "; 1 row was not flagged because its place may have changed it".to_owned(),
        rows => format!("; {rows} rows were not flagged because their place may have changed them"),
    };
    [
        headline(
            of.flagged_shifted(),
            "with an unrelated function before everything",
            of.wanted,
        ),
        format!(
            "{:<12}{} of {} flagged, {} decided{suspected}",
            "rows",
            sum(Glance::flagged),
            count(sum(|report| report.rows.len()), "row"),
            sum(Glance::decided),
        ),
    ]
}

fn facts(of: &Qualification) -> Vec<String> {
    let rows = of.flagged_rows();
    let (decided, all) = of.decided_rows();
    let mut facts = vec![
        (
            "commit",
            format!("{} ({})", of.revision.short(), visible::id(&of.revision.label)),
        ),
        (
            "rows",
            format!(
                "{} of {} flagged, at most {}; {decided} decided",
                rows.seen,
                count(all, "row"),
                size(rows.upper)
            ),
        ),
    ];
    if let (Some(floor), Some(detectable)) = (of.median_floor(), of.median_detectable()) {
        let (floor, detectable) = (size(floor), size(detectable));
        let text = format!("floor {floor}, smallest detectable {detectable}, medians over all rows");
        facts.push(("noise", text));
    }
    let order = range(of, |report| report.order_effect);
    facts.extend(order.map(|range| ("order", format!("running second costs {range}"))));
    let drift = range(of, |report| report.drift);
    facts.extend(drift.map(|range| {
        (
            "drift",
            format!("base changed {range} from the first quarter of a report to the last"),
        )
    }));
    if let Some(contended) = of.median_of(|report| report.contended) {
        let text = format!(
            "{} of the processes began beside somebody else's work on their core",
            size(contended)
        );
        facts.push(("neighbours", text));
    }
    facts.push(("host", host(of)));
    facts
        .into_iter()
        .map(|(title, text)| format!("{title:<12}{text}"))
        .collect()
}

/// The median of a figure over the reports, and between which values it lies.
fn range(of: &Qualification, figure: fn(&Glance) -> Option<f64>) -> Option<String> {
    let figures = || of.reports.iter().filter_map(figure);
    let (least, most) = (figures().reduce(f64::min)?, figures().reduce(f64::max)?);
    let median = of.median_of(figure)?;
    Some(format!(
        "{} (from {} to {})",
        change(median),
        change(least),
        change(most)
    ))
}

fn host(of: &Qualification) -> String {
    let cores = of.host.cores.map(|cores| count(cores as usize, "core"));
    let parts = [of.host.cpu.clone(), cores, of.host.os.clone()];
    let parts: Vec<String> = parts
        .into_iter()
        .flatten()
        .map(|part| visible::line(&part))
        .collect();
    if parts.is_empty() {
        "unknown machine".to_owned()
    } else {
        parts.join(", ")
    }
}

fn scenarios(scenarios: &[ScenarioGlance], all: bool) -> Vec<String> {
    let shown = if all {
        scenarios.len()
    } else {
        LISTED.min(scenarios.len())
    };
    let optional = |number: Option<f64>| number.map_or_else(|| NOTHING.to_owned(), size);
    let rows = scenarios.iter().take(shown).map(|scenario| {
        vec![
            visible::cut_middle(&visible::id(&scenario.scenario), 40),
            optional_value(scenario.typical, Unit::Ns),
            optional(scenario.floor),
            optional(scenario.detectable),
            optional(scenario.change_p90),
            format!("{} of {}", scenario.decided, scenario.reports),
            scenario.flagged.to_string(),
        ]
    });
    let titles = [
        "Scenario",
        "Typical",
        "Floor",
        "Detectable",
        "|Change| p90",
        "Decided",
        "Flagged",
    ];
    let mut lines = table(&titles, rows.collect());
    if shown < scenarios.len() {
        lines.push(String::new());
        lines.push(format!(
            "{} with smaller figures not listed (-v lists them)",
            count(scenarios.len() - shown, "scenario")
        ));
    }
    lines
}

fn detection(sizes: &[Detection]) -> Vec<String> {
    let rows = sizes.iter().map(|of| {
        let able = if of.percent == 0 || of.able == 0 {
            [NOTHING.to_owned(), NOTHING.to_owned()]
        } else {
            [format!("{} of {}", of.able_found, of.able), size(of.able_lower)]
        };
        let [found, at_least] = able;
        vec![
            if of.percent == 0 {
                "none".to_owned()
            } else {
                format!("+{} %", of.percent)
            },
            of.measured.map_or_else(|| NOTHING.to_owned(), change),
            format!("{} of {}", of.found, of.rows),
            found,
            at_least,
            of.wrong_way.to_string(),
        ]
    });
    let titles = [
        "Injected",
        "Measured",
        "Called slower",
        "of those able to show it",
        "at least",
        "Called faster",
    ];
    table(&titles, rows.collect())
}

/// A table in the manner of the report's: one rule below the titles, numbers to the right.
fn table(titles: &[&str], rows: Vec<Vec<String>>) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    table.set_header(titles.to_vec());
    let last = titles.len() - 1;
    for row in rows {
        table.add_row(row);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index == last { 0 } else { 2 }));
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}
