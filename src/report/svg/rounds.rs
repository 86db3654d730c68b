//! What single rounds said about each flagged row: one small plot a row, one dot a round.
//!
//! A change that is real shows as a cloud around the estimate; one that a few rounds made shows as outliers; one
//! that came during the run shows as a step.

use super::axis::{Axis, limit, pixel, tick};
use super::canvas::{Canvas, Failure, Ink};
use super::{MARGIN, WIDTH, drawable};
use crate::report::format::change_with_width;
use crate::report::label::Labels;
use crate::report::{Change, Finding, Report};
use crate::units::count;
use crate::verdict::Flag;

/// Plots in one picture.
const MOST: usize = 12;
const COLUMNS: usize = 3;
const GAP: i32 = 16;
const HEIGHT: i32 = 150;
const TITLE: i32 = 34;
/// Dots in one plot; of more rounds every second, third ... is drawn.
const DOTS: usize = 400;

/// The flagged rows, in report order.
pub(super) struct Panels<'a> {
    panels: Vec<(&'a Finding, &'a Change, String)>,
    left_out: usize,
}

impl<'a> Panels<'a> {
    pub(super) fn new(report: &'a Report, labels: &Labels) -> Self {
        let flagged: Vec<(&Finding, &Change)> = report
            .findings
            .iter()
            .filter(|finding| matches!(finding.flag, Flag::Alert | Flag::Warn | Flag::Faster))
            .filter_map(|finding| Some((finding, drawable(finding)?)))
            .filter(|(_, change)| !change.per_round.is_empty())
            .collect();
        let left_out = flagged.len().saturating_sub(MOST);
        let panels = flagged
            .into_iter()
            .take(MOST)
            .map(|(finding, change)| (finding, change, labels.of(finding)))
            .collect();
        Self { panels, left_out }
    }

    pub(super) fn height(&self) -> i32 {
        let rows = i32::try_from(self.panels.len().div_ceil(COLUMNS)).unwrap_or(0);
        if rows == 0 {
            0
        } else {
            TITLE + rows * (HEIGHT + GAP)
        }
    }

    pub(super) fn draw(&self, canvas: &Canvas, top: i32) -> Result<(), Failure> {
        if self.panels.is_empty() {
            return Ok(());
        }
        let mut title = "Change of each round (dots) with the interval of the estimate (band)".to_owned();
        if self.left_out > 0 {
            title.push_str(&format!(
                "; {} not shown",
                count(self.left_out, "more flagged row")
            ));
        }
        canvas.text(&title, (MARGIN, top + 10), 12, Ink::Faint)?;
        let width = (WIDTH - 2 * MARGIN - 2 * GAP) / 3;
        for (position, panel) in self.panels.iter().enumerate() {
            let column = i32::try_from(position % COLUMNS).unwrap_or(0);
            let line = i32::try_from(position / COLUMNS).unwrap_or(0);
            let corner = (
                MARGIN + column * (width + GAP),
                top + TITLE + line * (HEIGHT + GAP),
            );
            draw(canvas, panel, corner, width)?;
        }
        Ok(())
    }
}

fn draw(
    canvas: &Canvas,
    (finding, of, label): &(&Finding, &Change, String),
    (left, top): (i32, i32),
    width: i32,
) -> Result<(), Failure> {
    let ink = Ink::Flag(finding.flag);
    canvas.marker((left + 7, top + 6), finding.flag)?;
    let number = change_with_width(of);
    let room = width - canvas.width(&number, 11) - 30;
    canvas.text(
        &canvas.fitted(label, 11, room),
        (left + 20, top + 6),
        11,
        Ink::Text,
    )?;
    canvas.text_before(&number, (left + width, top + 6), 11, ink)?;

    let (from, to) = (top + 20, top + HEIGHT - 6);
    let (begin, end) = (left + 52, left + width);
    let values = || of.per_round.iter().copied().chain([of.low, of.high]);
    let range = (
        -limit(values().map(|value| (-value).max(0.0)).collect(), 0.000_5),
        limit(values().map(|value| value.max(0.0)).collect(), 0.000_5),
    );
    // The axis points up, pixels count down.
    let axis = Axis::new(range, to, from);
    canvas.bar(
        (begin, axis.at(of.high)),
        (end, axis.at(of.low).max(axis.at(of.high) + 2)),
        Ink::Floor,
    )?;
    canvas.line((begin, axis.at(0.0)), (end, axis.at(0.0)), 1, Ink::Zero)?;
    canvas.line((begin, axis.at(of.change)), (end, axis.at(of.change)), 1, ink)?;
    canvas.line((begin, from), (begin, to), 1, Ink::Grid)?;
    for mark in axis.ticks(5) {
        canvas.text_before(&tick(mark), (begin - 6, axis.at(mark)), 10, Ink::Faint)?;
    }
    let step = of.per_round.len().div_ceil(DOTS).max(1);
    #[expect(clippy::cast_precision_loss, reason = "a pixel position")]
    let share = |round: usize| (round as f64 + 0.5) / of.per_round.len() as f64;
    for (round, value) in of.per_round.iter().enumerate().step_by(step) {
        if value.is_finite() {
            let x = begin + pixel(share(round) * f64::from(end - begin));
            match axis.beyond(*value) {
                0 => canvas.dot((x, axis.at(*value)), 3, ink)?,
                _ => canvas.line((x - 3, axis.at(*value)), (x + 3, axis.at(*value)), 2, ink)?,
            }
        }
    }
    Ok(())
}
