//! The time of a token against its position in the text: one plot a program, one line a side.
//!
//! The axis of times does not begin at zero, because what matters is how the lines lie to each other and whether they
//! rise; the first tokens, which may take a hundred times as long as the others, leave the plot at its edge.

use super::axis::Axis;
use super::canvas::{Canvas, Failure, Ink};
use super::{MARGIN, WIDTH};
use crate::metric::Unit;
use crate::report::format::value;
use crate::report::{Curve, Report, visible};
use crate::units::count;

/// Plots in one picture.
const MOST: usize = 6;
const HEIGHT: i32 = 180;
const TITLE: i32 = 30;
const GAP: i32 = 16;
/// Room for the times at the left, and for the positions below.
const TIMES: i32 = 80;
const POSITIONS: i32 = 34;
/// Points of one line: of longer texts each is the mean of its neighbours.
const POINTS: usize = 400;
/// Part of the times that must be inside the plot, at either end.
const SHOWN: usize = 50;

/// The programs that told when their tokens were known.
pub(super) struct Curves<'a> {
    curves: Vec<&'a Curve>,
    left_out: usize,
}

impl<'a> Curves<'a> {
    /// Chooses the curves: those with a line to draw.
    pub(super) fn new(report: &'a Report) -> Self {
        let mut curves: Vec<&Curve> = report
            .curves
            .iter()
            .filter(|curve| curve.base.len().max(curve.head.len()) > 1)
            .collect();
        let left_out = curves.len().saturating_sub(MOST);
        curves.truncate(MOST);
        Self { curves, left_out }
    }

    pub(super) fn height(&self) -> i32 {
        match i32::try_from(self.curves.len()).unwrap_or(0) {
            0 => 0,
            plots => TITLE + plots * (HEIGHT + GAP),
        }
    }

    pub(super) fn draw(&self, canvas: &Canvas, top: i32) -> Result<(), Failure> {
        if self.curves.is_empty() {
            return Ok(());
        }
        let mut title = "Time of a token against its position, median of the launches of".to_owned();
        if self.left_out > 0 {
            let more = count(self.left_out, "more program");
            title = format!("({more} not shown) {title}");
        }
        canvas.text(&title, (MARGIN, top + 10), 12, Ink::Faint)?;
        let mut x = MARGIN + canvas.width(&title, 12) + 10;
        for (side, ink, width) in [("base", Ink::Base, 1), ("head", Ink::Head, 2)] {
            canvas.line((x, top + 10), (x + 18, top + 10), width, ink)?;
            canvas.text(side, (x + 23, top + 10), 12, Ink::Faint)?;
            x += 23 + canvas.width(side, 12) + 14;
        }
        for (place, curve) in self.curves.iter().enumerate() {
            let place = i32::try_from(place).unwrap_or(0);
            draw(canvas, curve, top + TITLE + place * (HEIGHT + GAP))?;
        }
        Ok(())
    }
}

fn draw(canvas: &Canvas, curve: &Curve, top: i32) -> Result<(), Failure> {
    let name = canvas.fitted(&visible::id(&curve.target.target), 12, WIDTH - 2 * MARGIN);
    canvas.text(&name, (MARGIN, top + 6), 12, Ink::Text)?;
    let (from, to) = (top + 20, top + HEIGHT - POSITIONS);
    let (begin, end) = (MARGIN + TIMES, WIDTH - MARGIN);
    // The axis points up, pixels count down.
    let times = Axis::between(range(curve), to, from);
    let last = curve.base.len().max(curve.head.len());
    #[expect(clippy::cast_precision_loss, reason = "positions of tokens")]
    let positions = Axis::between((1.0, last as f64), begin, end);
    for mark in times.ticks(5) {
        canvas.line((begin, times.at(mark)), (end, times.at(mark)), 1, Ink::Grid)?;
        canvas.text_before(
            &value(mark, Unit::Ns),
            (begin - 6, times.at(mark)),
            10,
            Ink::Faint,
        )?;
    }
    for mark in positions
        .ticks(10)
        .into_iter()
        .filter(|mark| mark.fract().abs() < 1e-9)
    {
        canvas.line(
            (positions.at(mark), to),
            (positions.at(mark), to + 4),
            1,
            Ink::Zero,
        )?;
        canvas.text_around(
            &format!("{mark:.0}"),
            (positions.at(mark), to + 13),
            10,
            Ink::Faint,
        )?;
    }
    canvas.line((begin, to), (end, to), 1, Ink::Zero)?;
    for (side, ink, width) in [(&curve.base, Ink::Base, 1), (&curve.head, Ink::Head, 2)] {
        let points = points(side).into_iter();
        let points: Vec<(i32, i32)> = points
            .map(|(position, time)| (positions.at(position), times.at(time)))
            .collect();
        canvas.path(&points, width, ink)?;
    }
    Ok(())
}

/// What a line goes through: the first token has the position 0, and the first interval ends with the token after it.
fn points(times: &[f64]) -> Vec<(f64, f64)> {
    let width = times.len().div_ceil(POINTS).max(1);
    #[expect(clippy::cast_precision_loss, reason = "positions of tokens")]
    let mean = |(piece, times): (usize, &[f64])| {
        let middle = (piece * width) as f64 + (times.len() as f64 + 1.0) / 2.0;
        (middle, times.iter().sum::<f64>() / times.len() as f64)
    };
    let points = times.chunks(width).enumerate().map(mean);
    points.filter(|(_, time)| time.is_finite()).collect()
}

/// The times to show: all but one in fifty at either end, and some room around them.
fn range(curve: &Curve) -> (f64, f64) {
    let mut times: Vec<f64> = curve.base.iter().chain(&curve.head).copied().collect();
    times.retain(|time| time.is_finite());
    times.sort_by(f64::total_cmp);
    let hidden = times.len() / SHOWN;
    let low = times.get(hidden).copied().unwrap_or(0.0);
    let high = times.iter().rev().nth(hidden).copied().unwrap_or(0.0);
    let room = ((high - low) * 0.1).max(low.abs() * 0.01);
    (low - room, high + room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_has_a_few_points_and_a_short_one_all() {
        assert_eq!(points(&[5.0, 7.0]), [(1.0, 5.0), (2.0, 7.0)]);
        let long = points(&vec![3.0; 4000]);
        assert_eq!(long.len(), POINTS);
        assert_eq!((long[0], long[399]), ((5.5, 3.0), (3995.5, 3.0)));
        assert_eq!(points(&[]), []);
    }

    #[test]
    fn a_stall_at_the_beginning_does_not_squeeze_the_others() {
        let mut base = vec![1e6; 100];
        base[0] = 5e8;
        let curve = Curve {
            target: crate::scenario::Target::program("engine"),
            base,
            head: vec![1.1e6; 100],
        };
        let (low, high) = range(&curve);
        assert!(low > 9.8e5 && high < 1.2e6, "{low} {high}");
    }
}
