//! The history for a person at a terminal: what changed and is open, what was blessed, what was left out.

use super::{Names, words};
use crate::history::trend::{Change, Series, Trend};
use crate::report::Options;
use crate::report::format::change;
use crate::report::visible;
use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

/// Changes that are listed unless every row is wanted.
const SHOWN: usize = 20;

/// The history as text.
#[must_use]
pub fn render(trend: &Trend, options: &Options) -> String {
    let names = Names::new(trend);
    let mut out = words::headline(trend);
    out.push('\n');
    if trend.series.is_empty() {
        out.push_str("`abreast compare HEAD~1 HEAD --keep` begins one.\n");
    }
    let mut changes = trend.open();
    let blessed = trend
        .series
        .iter()
        .flat_map(|series| series.changes.iter().map(move |change| (series, change)));
    changes.extend(blessed.filter(|(_, change)| change.blessed.is_some()));
    let shown = if options.verbose { changes.len() } else { SHOWN };
    let lines: Vec<[String; 5]> = changes
        .iter()
        .take(shown)
        .map(|(series, change)| line(trend, &names, series, change))
        .collect();
    let width = |column: usize| lines.iter().map(|line| line[column].width()).max().unwrap_or(0);
    let widths = [0, width(1), width(2), width(3), 0];
    if !lines.is_empty() {
        out.push('\n');
    }
    for (line, (_, of)) in lines.iter().zip(&changes) {
        let style = style(of, options);
        let cell = |column: usize| {
            let gap = widths[column].saturating_sub(line[column].width());
            format!("{}{}", line[column], " ".repeat(gap))
        };
        let text = format!(
            "{style}{}{style:#}  {}  {}  {}  {}",
            cell(0),
            cell(1),
            cell(2),
            cell(3),
            line[4]
        );
        let _ = writeln!(out, "{}", text.trim_end());
    }
    if changes.len() > shown {
        let _ = writeln!(out, "and {} more: -v shows all", changes.len() - shown);
    }
    let notes = trend.notes.iter().map(|note| visible::line(note));
    let skipped = trend
        .skipped
        .iter()
        .map(|(path, why)| format!("{} {}", visible::line(path), visible::line(why)));
    for (n, note) in notes.chain(skipped).enumerate() {
        let _ = writeln!(out, "{}- {note}", if n == 0 { "\n" } else { "" });
    }
    out
}

fn style(of: &Change, options: &Options) -> Style {
    if !options.color {
        return Style::new();
    }
    let color = match (&of.blessed, of.worse) {
        (Some(_), _) => return Style::new().dimmed(),
        (None, true) => AnsiColor::Red,
        (None, false) => AnsiColor::Green,
    };
    Style::new().fg_color(Some(color.into()))
}

fn line(trend: &Trend, names: &Names<'_>, series: &Series, of: &Change) -> [String; 5] {
    let sign = match (&of.blessed, of.worse) {
        (Some(_), _) => "blessed",
        (None, true) => "worse  ",
        (None, false) => "better ",
    };
    let class = names
        .class(series)
        .map(|class| format!(" on {class}"))
        .unwrap_or_default();
    let why = match &of.blessed {
        Some(reason) => format!("blessed: {}", visible::line(reason)),
        None => words::subject(trend, of),
    };
    [
        sign.to_owned(),
        change(of.size),
        format!("{}{class}", names.of(series)),
        words::place(trend, of),
        visible::cut_end(&why, 60),
    ]
}
