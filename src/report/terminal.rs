//! What a person sees after `abreast compare`.
//!
//! The verdict comes first, the table second, how it was measured last. Nothing needs colour, and nothing from a
//! bench reaches the terminal unescaped.

use super::format::{change, half_width, optional_value, size};
use super::label::Labels;
use super::{Finding, Report, format, sentence, status, visible};
use crate::units::count;
use crate::verdict::{Flag, Verdict};
use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// How the terminal report is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Cells of a line. Below about 82 the table keeps a readable id and grows wider than this.
    pub width: usize,
    /// Whether to add colour; whoever prints knows what the terminal can do.
    pub color: bool,
    /// Whether to show every row and every note.
    pub verbose: bool,
    /// Unchanged and identical rows are shown as a count if together they are more than this, unless `verbose`.
    pub fold_above: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            width: 100,
            color: false,
            verbose: false,
            fold_above: 10,
        }
    }
}

/// Rows whose notes are shown unless `verbose`: as many as fit on a screen with the table.
const NOTED_ROWS: usize = 20;
/// Differences between the sides that are shown unless `verbose`; a lock file easily has hundreds.
const DIFFERENCES: usize = 12;
/// Lines of one note that are shown unless `verbose`: the first one and the last ones, where the error is.
const NOTE_LINES: usize = 12;
/// Narrowest id column that still tells rows apart.
const SHORTEST_ID: usize = 16;
/// Cells that left-hand titles (`base`, `method`) take, the gap included.
const TITLE: usize = 14;

/// The report as lines of text with a final newline.
#[must_use]
pub fn render(report: &Report, options: &Options) -> String {
    let labels = Labels::new(report);
    let mut page = Page {
        out: String::new(),
        options,
    };
    head(&mut page, report);
    table(&mut page, report, &labels);
    row_notes(&mut page, report, &labels);
    foot(&mut page, report);
    page.out
}

fn head(page: &mut Page, report: &Report) {
    let headline = sentence::headline(report);
    let text = format!("{} {}", status::terminal_icon(headline.icon()), headline.text);
    let style = verdict_style(headline.verdict, headline.flag).bold();
    page.styled_paragraph(&text, style);
    for (title, revision) in [("base", &report.base), ("head", &report.head)] {
        page.titled(
            title,
            &format!("{} ({})", visible::id(&revision.label), revision.short()),
        );
    }
    let shown = if page.options.verbose {
        usize::MAX
    } else {
        DIFFERENCES
    };
    for (position, difference) in report.differences.iter().take(shown).enumerate() {
        page.titled(
            if position == 0 { "differs" } else { "" },
            &sentence::difference(difference),
        );
    }
    if report.differences.len() > shown {
        let left = report.differences.len() - shown;
        page.titled("", &format!("… and {} (-v)", count(left, "more difference")));
    }
    for note in &report.notes {
        page.titled("note", &page.shortened(note));
    }
}

fn table(page: &mut Page, report: &Report, labels: &Labels) {
    let quiet = |finding: &Finding| matches!(finding.verdict, Verdict::Unchanged | Verdict::Identical);
    let foldable = report.findings.iter().filter(|finding| quiet(finding)).count();
    let fold = !page.options.verbose && foldable > page.options.fold_above;
    let shown: Vec<&Finding> = report
        .findings
        .iter()
        .filter(|finding| !(fold && quiet(finding)))
        .collect();
    if !shown.is_empty() {
        page.blank();
        let lines = table_lines(&shown, labels, page.options.width);
        // The first two lines are the header and its rule; then one line a row.
        for (position, line) in lines.iter().enumerate() {
            let style = match position.checked_sub(2).and_then(|row| shown.get(row)) {
                Some(finding) => row_style(finding),
                None => Style::new().dimmed(),
            };
            page.line(line, style);
        }
    }
    if fold {
        let counts: Vec<String> = [Verdict::Unchanged, Verdict::Identical]
            .into_iter()
            .filter(|&verdict| report.count(verdict) > 0)
            .map(|verdict| format!("{} {}", report.count(verdict), verdict.as_str()))
            .collect();
        page.blank();
        page.paragraph(&format!("{} not listed (-v lists them)", counts.join(" and ")));
    }
}

fn table_lines(findings: &[&Finding], labels: &Labels, width: usize) -> Vec<String> {
    let rows: Vec<[String; 7]> = findings.iter().map(|finding| cells(finding, labels)).collect();
    let build = |id_width: usize| {
        let mut table = Table::new();
        table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
        table.set_header(["Status", "Scenario", "Base", "Head", "Change", "±", "Detectable"]);
        for row in &rows {
            let mut row = row.clone();
            row[1] = visible::cut_middle(&row[1], id_width);
            table.add_row(row);
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if index == 6 { 0 } else { 1 }));
            if index > 1 {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
    };
    // What the six other columns take is the width of a line without the id column.
    let line = build(1).lines().next().unwrap_or_default();
    let others = line.width().saturating_sub("Scenario".len());
    let table = build(width.saturating_sub(others).max(SHORTEST_ID));
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

fn cells(finding: &Finding, labels: &Labels) -> [String; 7] {
    let unit = finding.metric.unit;
    let of_change = |text: fn(&super::Change) -> String| {
        finding
            .change
            .as_ref()
            .map_or_else(|| format::NOTHING.to_owned(), text)
    };
    [
        format!(
            "{} {}",
            status::terminal_icon(status::icon(finding)),
            status::word(finding)
        ),
        labels.of(finding),
        optional_value(finding.base, unit),
        optional_value(finding.head, unit),
        of_change(|of| change(of.change)),
        of_change(|of| size(half_width(of))),
        of_change(|of| size(of.detectable)),
    ]
}

fn row_notes(page: &mut Page, report: &Report, labels: &Labels) {
    let quiet = |finding: &Finding| matches!(finding.verdict, Verdict::Unchanged | Verdict::Identical);
    let mut noted: Vec<(&Finding, Vec<String>)> = report
        .findings
        .iter()
        .filter(|finding| page.options.verbose || !quiet(finding))
        .map(|finding| (finding, sentence::row_notes(finding)))
        .filter(|(_, notes)| !notes.is_empty())
        .collect();
    // Notes about unclear rows are many and alike; when there is not room for all, they give way first.
    noted.sort_by_key(|(finding, _)| finding.verdict == Verdict::Unclear && finding.confirmed.is_none());
    if noted.is_empty() {
        return;
    }
    let shown = if page.options.verbose {
        usize::MAX
    } else {
        NOTED_ROWS
    };
    page.blank();
    for (finding, notes) in noted.iter().take(shown) {
        let icon = status::terminal_icon(status::icon(finding));
        page.paragraph(&format!("{icon} {}", labels.of(finding)));
        for note in notes {
            page.indented(&page.shortened(note), 3);
        }
    }
    if noted.len() > shown {
        let left = count(noted.len() - shown, "more row");
        page.paragraph(&format!("… and notes about {left} (-v)"));
    }
}

fn foot(page: &mut Page, report: &Report) {
    page.blank();
    page.titled("host", &sentence::host(report));
    page.titled("method", &sentence::method(report));
    page.titled("rule", &sentence::rule(report));
    if let Some(elapsed) = sentence::elapsed(report) {
        page.titled("time", &elapsed);
    }
    for (position, blind_spot) in report.blind_spots.iter().enumerate() {
        page.titled(if position == 0 { "not covered" } else { "" }, blind_spot);
    }
}

fn verdict_style(verdict: Verdict, flag: Flag) -> Style {
    match (verdict, flag) {
        (Verdict::Failed, _) | (_, Flag::Alert) => AnsiColor::Red.on_default(),
        (Verdict::Unclear, _) | (_, Flag::Warn) => AnsiColor::Yellow.on_default(),
        _ => AnsiColor::Green.on_default(),
    }
}

fn row_style(finding: &Finding) -> Style {
    match (finding.verdict, finding.flag) {
        (_, Flag::Alert) | (Verdict::Failed, _) => AnsiColor::Red.on_default(),
        (_, Flag::Warn) => AnsiColor::Yellow.on_default(),
        (_, Flag::Faster) => AnsiColor::Green.on_default(),
        _ => Style::new(),
    }
}

/// Lines under construction. Every text that enters is made visible here, once.
struct Page<'a> {
    out: String,
    options: &'a Options,
}

impl Page<'_> {
    fn blank(&mut self) {
        self.out.push('\n');
    }

    /// One line that is already visible and cut.
    fn line(&mut self, text: &str, style: Style) {
        // Writing to a string has no way to fail.
        let _ = if self.options.color {
            writeln!(self.out, "{style}{text}{style:#}")
        } else {
            writeln!(self.out, "{text}")
        };
    }

    fn paragraph(&mut self, text: &str) {
        self.styled_paragraph(text, Style::new());
    }

    fn styled_paragraph(&mut self, text: &str, style: Style) {
        for line in self.wrapped(text, 0) {
            self.line(&line, style);
        }
    }

    /// A long note (a compiler's output) without its end: the first error is what the others follow from.
    fn shortened(&self, note: &str) -> String {
        let lines: Vec<&str> = note.trim().lines().collect();
        if self.options.verbose || lines.len() <= NOTE_LINES {
            return note.to_owned();
        }
        let left_out = lines.len() - NOTE_LINES + 1;
        let end = format!("… {} left out (-v)", count(left_out, "line"));
        let first = &lines[..NOTE_LINES - 1];
        [first, &[end.as_str()]].concat().join("\n")
    }

    fn indented(&mut self, text: &str, indent: usize) {
        for line in self.wrapped(text, indent) {
            self.line(&format!("{:indent$}{line}", ""), Style::new());
        }
    }

    /// A title in the left margin, its text wrapped beside it.
    fn titled(&mut self, title: &str, text: &str) {
        for (position, line) in self.wrapped(text, TITLE).iter().enumerate() {
            let title = if position == 0 { title } else { "" };
            self.line(&format!("{title:TITLE$}{line}"), Style::new());
        }
    }

    /// Visible lines that fit beside an indentation.
    fn wrapped(&self, text: &str, indent: usize) -> Vec<String> {
        let room = self.options.width.saturating_sub(indent).max(SHORTEST_ID);
        // No breaks at hyphens: `-C target-cpu=native` must stay fit for copying.
        let options = textwrap::Options::new(room).word_splitter(textwrap::WordSplitter::NoHyphenation);
        let lines = visible::lines(text);
        let wrapped = lines.iter().flat_map(|line| textwrap::wrap(line, &options));
        let wrapped: Vec<String> = wrapped.map(std::borrow::Cow::into_owned).collect();
        if wrapped.is_empty() {
            vec![String::new()]
        } else {
            wrapped
        }
    }
}

#[cfg(test)]
mod tests;
