//! Many scenarios under each other, each as one small line: those that got worse first.

use super::chart::{Scale, columns, flag};
use super::picture::Plot;
use super::{Names, words};
use crate::history::trend::{Series, Trend};
use crate::report::format::change;
use crate::report::svg::axis::{Axis, limit};
use crate::report::svg::canvas::{Broken, Ink, Sheet};
use crate::report::svg::{MARGIN, WIDTH};
use crate::units::count;
use plotters::backend::DrawingBackend;

/// Rows in one picture; beyond that it would be a poster.
const MOST: usize = 40;
const ROW: i32 = 34;
const TOP: i32 = 96;
const LABELS: i32 = 270;
const NUMBERS: i32 = 260;
/// Points of one line.
const POINTS: usize = 190;

/// The plot of a whole history.
pub(super) struct Overview<'a> {
    trend: &'a Trend,
    rows: Vec<(&'a Series, String)>,
}

impl<'a> Overview<'a> {
    pub(super) fn new(trend: &'a Trend, names: &Names<'_>) -> Self {
        let mut series: Vec<&Series> = trend.series.iter().collect();
        let largest = |series: &Series| {
            let changes = series.changes.iter().map(|change| change.size.abs());
            changes.fold(
                series.since_reference().map_or(0.0, |(at, ..)| at.abs() / 1e3),
                f64::max,
            )
        };
        series.sort_by(|one, other| {
            let key = |series: &Series| (!series.is_open(), series.changes.is_empty());
            key(one)
                .cmp(&key(other))
                .then(largest(other).total_cmp(&largest(one)))
        });
        let label = |series: &'a Series| {
            let class = names
                .class(series)
                .map(|class| format!(" · {class}"))
                .unwrap_or_default();
            (series, format!("{}{class}", names.of(series)))
        };
        Self {
            trend,
            rows: series.into_iter().take(MOST).map(label).collect(),
        }
    }
}

impl Plot for Overview<'_> {
    fn title(&self) -> String {
        words::headline(self.trend)
    }

    fn height(&self) -> i32 {
        TOP + ROW * i32::try_from(self.rows.len()).unwrap_or(0) + 36
    }

    fn draw<B: DrawingBackend>(&self, sheet: &Sheet<B>) -> Result<(), Broken<B>> {
        sheet.text(
            &sheet.fitted(&self.title(), 16, WIDTH - 2 * MARGIN),
            (MARGIN, 28),
            16,
            Ink::Text,
        )?;
        if let (Some(first), Some(last)) = (self.trend.commits.first(), self.trend.commits.last()) {
            let span = format!(
                "{} from {} ({}) to {} ({})",
                crate::report::visible::id(&self.trend.branch),
                words::short(first),
                words::day(first),
                words::short(last),
                words::day(last)
            );
            sheet.text(
                &sheet.fitted(&span, 12, WIDTH - 2 * MARGIN),
                (MARGIN, 52),
                12,
                Ink::Faint,
            )?;
        }
        let (from, to) = (MARGIN + LABELS, WIDTH - MARGIN - NUMBERS);
        sheet.text_before("since the reference", (to + 92, TOP - 16), 10, Ink::Faint)?;
        sheet.text("last change", (to + 110, TOP - 16), 10, Ink::Faint)?;
        let last = self.trend.commits.len().saturating_sub(1);
        let scale = Scale::new((0, last), (from, to));
        for (n, (series, label)) in self.rows.iter().enumerate() {
            let y = TOP + ROW * i32::try_from(n).unwrap_or(0);
            sheet.line((MARGIN, y), (WIDTH - MARGIN, y), 1, Ink::Grid)?;
            sheet.text(
                &sheet.fitted(label, 12, LABELS - 12),
                (MARGIN, y + ROW / 2),
                12,
                Ink::Text,
            )?;
            line(sheet, &scale, series, (y + 4, y + ROW - 4))?;
            self.numbers(sheet, series, (to, y + ROW / 2))?;
        }
        let y = TOP + ROW * i32::try_from(self.rows.len()).unwrap_or(0);
        let hidden = self.trend.series.len() - self.rows.len();
        let more = if hidden > 0 {
            format!(" {} not shown.", count(hidden, "more scenario"))
        } else {
            String::new()
        };
        sheet.text(
            &sheet.fitted(
                &format!("{}{more}", words::method(self.trend)),
                10,
                WIDTH - 2 * MARGIN,
            ),
            (MARGIN, y + 18),
            10,
            Ink::Faint,
        )
    }
}

impl Overview<'_> {
    fn numbers<B: DrawingBackend>(
        &self,
        sheet: &Sheet<B>,
        series: &Series,
        (x, y): (i32, i32),
    ) -> Result<(), Broken<B>> {
        if let Some((at, ..)) = series.since_reference() {
            sheet.text_before(&change(at), (x + 92, y), 12, Ink::Text)?;
        }
        if let Some(last) = series.changes.last() {
            let ink = Ink::Flag(flag(last));
            sheet.marker((x + 116, y), flag(last))?;
            let commit = self.trend.commits.get(last.at).map_or("", words::short);
            let words = format!("{}  {commit}", change(last.size));
            sheet.text(&sheet.fitted(&words, 10, NUMBERS - 130), (x + 130, y), 10, ink)?;
        }
        Ok(())
    }
}

/// One row's line with its changes; each row has a scale of its own, at least 5 % high so that noise stays small.
fn line<B: DrawingBackend>(
    sheet: &Sheet<B>,
    scale: &Scale,
    series: &Series,
    (top, bottom): (i32, i32),
) -> Result<(), Broken<B>> {
    let stretches: Vec<_> = series
        .stretches
        .iter()
        .map(|stretch| columns(stretch, POINTS))
        .collect();
    let extents = |sign: f64| {
        stretches
            .iter()
            .flatten()
            .map(|column| (sign * column.level).max(0.0))
            .collect()
    };
    let axis = Axis::new(
        (-limit(extents(-1.0), 0.025), limit(extents(1.0), 0.025)),
        bottom,
        top,
    );
    for columns in &stretches {
        let points: Vec<(i32, i32)> = columns
            .iter()
            .map(|column| (scale.of(column.commit), axis.at(column.level)))
            .collect();
        match points[..] {
            [point] => sheet.dot(point, 2, Ink::Faint)?,
            _ => sheet.path(&points, 1, Ink::Faint)?,
        }
    }
    for of in &series.changes {
        let level = series.levels().find(|(_, level)| level.commit == of.at);
        if let Some((_, level)) = level {
            sheet.marker((scale.of(of.at), axis.at(level.level.exp_m1())), flag(of))?;
        }
    }
    Ok(())
}
