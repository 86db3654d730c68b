//! All changes under each other: a sign for the estimate, a line for its interval, a band for the row's noise.

use super::axis::{Axis, limit, tick};
use super::canvas::{Canvas, Failure, Ink};
use super::{MARGIN, WIDTH, drawable};
use crate::report::format::{change_with_width, optional_value, setting};
use crate::report::label::Labels;
use crate::report::{Change, Finding, Report};
use crate::units::count;
use crate::verdict::Flag;

/// Rows in one picture; beyond that it would be a poster.
const MOST: usize = 120;
const ROW: i32 = 20;
const AXIS: i32 = 30;
const LEGEND: i32 = 68;
/// Room for the label at the left and the numbers at the right.
const LABELS: i32 = 300;
const NUMBERS: i32 = 250;

/// The rows to draw, slowest first.
pub(super) struct Rows<'a> {
    report: &'a Report,
    rows: Vec<(&'a Finding, &'a Change, String)>,
    /// Rows with a change for which there is no room.
    left_out: usize,
}

impl<'a> Rows<'a> {
    /// Chooses the rows: all with a change; if they are too many, flagged ones and then the largest changes.
    pub(super) fn new(report: &'a Report, labels: &Labels) -> Self {
        let mut rows: Vec<(usize, &Finding, &Change)> = report
            .findings
            .iter()
            .enumerate()
            .filter_map(|(position, finding)| Some((position, finding, drawable(finding)?)))
            .collect();
        let left_out = rows.len().saturating_sub(MOST);
        if left_out > 0 {
            let quiet = |flag| !matches!(flag, Flag::Alert | Flag::Warn | Flag::Faster);
            rows.sort_by(|(_, a, x), (_, b, y)| {
                let size = |of: &Change| of.change.abs();
                quiet(a.flag)
                    .cmp(&quiet(b.flag))
                    .then(size(y).total_cmp(&size(x)))
            });
            rows.truncate(MOST);
            rows.sort_by_key(|(position, ..)| *position);
        }
        let rows = rows
            .into_iter()
            .map(|(_, finding, change)| (finding, change, labels.of(finding)))
            .collect();
        Self {
            report,
            rows,
            left_out,
        }
    }

    pub(super) fn height(&self) -> i32 {
        if self.rows.is_empty() {
            ROW
        } else {
            AXIS + self.body() + LEGEND
        }
    }

    fn body(&self) -> i32 {
        ROW * i32::try_from(self.rows.len()).unwrap_or(0)
    }

    pub(super) fn draw(&self, canvas: &Canvas, top: i32) -> Result<(), Failure> {
        if self.rows.is_empty() {
            return canvas.text("No scenario has a change to show.", (MARGIN, top), 12, Ink::Faint);
        }
        let method = &self.report.method;
        let extents = self
            .rows
            .iter()
            .map(|(_, of, _)| of.low.abs().max(of.high.abs()))
            .collect();
        let least = (method.threshold * 1.5).clamp(0.001, 10.0);
        let limit = limit(extents, least);
        let axis = Axis::new((-limit, limit), MARGIN + LABELS, WIDTH - MARGIN - NUMBERS);
        let (from, to) = (top + AXIS, top + AXIS + self.body());
        for (position, row) in self.rows.iter().enumerate() {
            let y = from + ROW * i32::try_from(position).unwrap_or(0);
            band(canvas, &axis, row.1, y)?;
        }
        self.grid(canvas, &axis, from, to)?;
        for (position, (finding, change, label)) in self.rows.iter().enumerate() {
            let y = from + ROW * i32::try_from(position).unwrap_or(0) + ROW / 2;
            row(canvas, &axis, (finding, change, label), y)?;
        }
        self.legend(canvas, to + 22)
    }

    fn grid(&self, canvas: &Canvas, axis: &Axis, from: i32, to: i32) -> Result<(), Failure> {
        for mark in axis.ticks(8) {
            let x = axis.at(mark);
            canvas.line((x, from - 4), (x, to), 1, Ink::Grid)?;
            canvas.text_around(&tick(mark), (x, from - 14), 11, Ink::Faint)?;
        }
        for limit in [-self.report.method.threshold, self.report.method.threshold] {
            if limit.is_finite() && axis.beyond(limit) == 0 {
                canvas.dashes(axis.at(limit), from, to, Ink::Limit)?;
            }
        }
        canvas.line((axis.at(0.0), from - 4), (axis.at(0.0), to), 1, Ink::Zero)
    }

    fn legend(&self, canvas: &Canvas, y: i32) -> Result<(), Failure> {
        let mut x = MARGIN + 8;
        for (flag, word) in [
            (Flag::Alert, "alert"),
            (Flag::Warn, "warn"),
            (Flag::Faster, "faster"),
            (Flag::Ok, "unchanged"),
            (Flag::Unclear, "unclear"),
        ] {
            canvas.marker((x, y), flag)?;
            canvas.text(word, (x + 13, y), 11, Ink::Faint)?;
            x += 13 + canvas.width(word, 11) + 22;
        }
        canvas.bar((x, y - 6), (x + 24, y + 6), Ink::Floor)?;
        canvas.text("noise floor of the row", (x + 30, y), 11, Ink::Faint)?;
        x += 30 + canvas.width("noise floor of the row", 11) + 22;
        canvas.dashes(x, y - 7, y + 7, Ink::Limit)?;
        let threshold = format!("threshold ±{}", setting(self.report.method.threshold));
        canvas.text(&threshold, (x + 7, y), 11, Ink::Faint)?;
        let mut sentence = "Line: interval, corrected for the number of rows.".to_owned();
        let without = self.report.findings.len() - self.rows.len() - self.left_out;
        if self.left_out > 0 {
            sentence.push_str(&format!(
                " {} with the smallest changes not shown.",
                count(self.left_out, "row")
            ));
        }
        if without > 0 {
            sentence.push_str(&format!(" {} without a change not shown.", count(without, "row")));
        }
        canvas.text(&sentence, (MARGIN, y + 22), 11, Ink::Faint)
    }
}

fn band(canvas: &Canvas, axis: &Axis, of: &Change, y: i32) -> Result<(), Failure> {
    let floor = of.floor.abs();
    canvas.bar(
        (axis.at(-floor), y + 2),
        (axis.at(floor), y + ROW - 2),
        Ink::Floor,
    )
}

fn row(canvas: &Canvas, axis: &Axis, row: (&Finding, &Change, &str), y: i32) -> Result<(), Failure> {
    let (finding, of, label) = row;
    let label = canvas.fitted(label, 12, LABELS - 14);
    canvas.text_before(&label, (MARGIN + LABELS - 12, y), 12, Ink::Text)?;
    canvas.line(
        (axis.at(of.low), y),
        (axis.at(of.high), y),
        2,
        Ink::Flag(finding.flag),
    )?;
    match axis.beyond(of.change) {
        0 => canvas.marker((axis.at(of.change), y), finding.flag)?,
        direction => canvas.beyond((axis.at(of.change), y), direction, finding.flag)?,
    }
    let x = WIDTH - MARGIN - NUMBERS + 16;
    canvas.text(&change_with_width(of), (x, y), 12, Ink::Flag(finding.flag))?;
    let values = format!(
        "{} → {}",
        optional_value(finding.base, finding.metric.unit),
        optional_value(finding.head, finding.metric.unit)
    );
    canvas.text_before(&values, (WIDTH - MARGIN, y), 11, Ink::Faint)
}
