//! One scenario: its level at each commit with the interval, where it changed, where the chain breaks, which commits are
//! releases.

use super::picture::Plot;
use super::{Names, words};
use crate::history::chain::Stretch;
use crate::history::change::Shape;
use crate::history::trend::{Change, Series, Trend};
use crate::report::format::{change, optional_value};
use crate::report::svg::axis::{Axis, limit, pixel, tick};
use crate::report::svg::canvas::{Broken, Ink, Sheet};
use crate::report::svg::{MARGIN, WIDTH};
use crate::report::visible;
use crate::verdict::Flag;
use plotters::backend::DrawingBackend;

const HEIGHT: i32 = 360;
const LEFT: i32 = 80;
const RIGHT: i32 = WIDTH - MARGIN;
const TOP: i32 = 84;
const BOTTOM: i32 = HEIGHT - 52;
/// Points along the width; of more commits some share one.
const POINTS: usize = 440;

/// The plot of one scenario.
pub(super) struct Chart<'a> {
    trend: &'a Trend,
    series: &'a Series,
    label: String,
    class: String,
}

impl<'a> Chart<'a> {
    pub(super) fn new(trend: &'a Trend, series: &'a Series, names: &Names<'_>) -> Self {
        Self {
            trend,
            series,
            label: names.of(series),
            class: visible::id(&series.class),
        }
    }

    fn scales(&self) -> (Scale, Axis) {
        let commits = || self.series.levels().map(|(_, level)| level.commit);
        let scale = Scale::new(
            (commits().min().unwrap_or(0), commits().max().unwrap_or(0)),
            (LEFT, RIGHT),
        );
        let columns = self
            .series
            .stretches
            .iter()
            .flat_map(|stretch| columns(stretch, POINTS));
        let columns: Vec<Column> = columns.collect();
        let side = |sign: f64| {
            // The band may be far wider than the line; half of its width is enough to see that.
            let extent = |column: &Column| {
                let band = if sign > 0.0 { column.high } else { column.low };
                (sign * (column.level + (band - column.level) / 2.0)).max(0.0)
            };
            limit(columns.iter().map(extent).collect(), 0.01)
        };
        (scale, Axis::new((-side(-1.0), side(1.0)), BOTTOM, TOP))
    }
}

/// From the position of a commit to a pixel.
pub(super) struct Scale {
    first: usize,
    per_commit: f64,
    from: i32,
}

impl Scale {
    pub(super) fn new((first, last): (usize, usize), (from, to): (i32, i32)) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 commits")]
        let span = last.saturating_sub(first).max(1) as f64;
        Self {
            first,
            per_commit: f64::from(to - from) / span,
            from,
        }
    }

    pub(super) fn at(&self, commit: f64) -> i32 {
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 commits")]
        let first = self.first as f64;
        self.from + pixel((commit - first) * self.per_commit)
    }

    pub(super) fn of(&self, commit: usize) -> i32 {
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 commits")]
        let commit = commit as f64;
        self.at(commit)
    }
}

/// What is drawn at one place; fractions.
pub(super) struct Column {
    pub(super) commit: usize,
    pub(super) level: f64,
    low: f64,
    high: f64,
}

/// The levels of a stretch, neighbours joined until there are at most so many. Of joined ones the last counts, and the widest
/// interval: a jump stays as steep as it is.
pub(super) fn columns(stretch: &Stretch, most: usize) -> Vec<Column> {
    let share = stretch.levels.len().div_ceil(most).max(1);
    let column = |levels: &[crate::history::chain::Level]| {
        let last = levels.last()?;
        let width = |level: &crate::history::chain::Level| 1.96 * level.error;
        let low = levels
            .iter()
            .map(|level| level.level - width(level))
            .fold(f64::INFINITY, f64::min);
        let high = levels
            .iter()
            .map(|level| level.level + width(level))
            .fold(f64::NEG_INFINITY, f64::max);
        Some(Column {
            commit: last.commit,
            level: last.level.exp_m1(),
            low: low.exp_m1(),
            high: high.exp_m1(),
        })
    };
    stretch.levels.chunks(share).filter_map(column).collect()
}

/// The sign of a change: that of a row with such a change in a report.
pub(super) fn flag(of: &Change) -> Flag {
    match (&of.blessed, of.worse) {
        (Some(_), _) => Flag::Unclear,
        (None, true) if of.size.abs() >= 0.1 => Flag::Alert,
        (None, true) => Flag::Warn,
        (None, false) => Flag::Faster,
    }
}

impl Plot for Chart<'_> {
    fn title(&self) -> String {
        let since = self.series.since_reference();
        let since = since.map_or_else(String::new, |(at, ..)| {
            format!(
                ": {} since {}",
                change(at),
                words::reference(self.trend, self.series)
            )
        });
        format!("{}{since}", self.label)
    }

    fn height(&self) -> i32 {
        HEIGHT
    }

    fn draw<B: DrawingBackend>(&self, sheet: &Sheet<B>) -> Result<(), Broken<B>> {
        let (scale, axis) = self.scales();
        self.header(sheet)?;
        for mark in axis.ticks(6) {
            let y = axis.at(mark);
            sheet.line((LEFT, y), (RIGHT, y), 1, Ink::Grid)?;
            sheet.text_before(&tick(mark), (LEFT - 8, y), 11, Ink::Faint)?;
        }
        for stretch in &self.series.stretches {
            band(sheet, &scale, &axis, stretch)?;
        }
        sheet.line((LEFT, axis.at(0.0)), (RIGHT, axis.at(0.0)), 1, Ink::Zero)?;
        self.commits(sheet, &scale)?;
        for (n, stretch) in self.series.stretches.iter().enumerate() {
            let points: Vec<(i32, i32)> = columns(stretch, POINTS)
                .iter()
                .map(|column| (scale.of(column.commit), axis.at(column.level)))
                .collect();
            match points[..] {
                [point] => sheet.dot(point, 2, Ink::Text)?,
                _ => sheet.path(&points, 2, Ink::Text)?,
            }
            if let Some(first) = points.first().filter(|_| n > 0) {
                sheet.dashes(first.0 - 4, TOP, BOTTOM, Ink::Limit)?;
                sheet.text(stretch.begins.as_str(), (first.0, BOTTOM - 10), 10, Ink::Faint)?;
            }
        }
        for of in &self.series.changes {
            self.change(sheet, &scale, &axis, of)?;
        }
        Ok(())
    }
}

fn band<B: DrawingBackend>(
    sheet: &Sheet<B>,
    scale: &Scale,
    axis: &Axis,
    stretch: &Stretch,
) -> Result<(), Broken<B>> {
    let columns = columns(stretch, POINTS);
    let upper = columns
        .iter()
        .map(|column| (scale.of(column.commit), axis.at(column.high)));
    let lower = columns
        .iter()
        .rev()
        .map(|column| (scale.of(column.commit), axis.at(column.low)));
    let points: Vec<(i32, i32)> = upper.chain(lower).collect();
    if columns.len() > 1 {
        sheet.shape(&points, Ink::Floor)
    } else {
        Ok(())
    }
}

impl Chart<'_> {
    fn header<B: DrawingBackend>(&self, sheet: &Sheet<B>) -> Result<(), Broken<B>> {
        let label = sheet.fitted(&self.label, 16, WIDTH - 2 * MARGIN);
        sheet.text(&label, (MARGIN, 26), 16, Ink::Text)?;
        let unit = self.series.scenario.metric.unit;
        let since = self
            .series
            .since_reference()
            .map_or_else(String::new, |(at, low, high)| {
                let reference = words::reference(self.trend, self.series);
                format!(
                    ", {} ({} to {}) since {reference}",
                    change(at),
                    change(low),
                    change(high)
                )
            });
        let text = format!(
            "{}{since} · {}",
            optional_value(self.series.latest, unit),
            self.class
        );
        sheet.text(
            &sheet.fitted(&text, 12, WIDTH - 2 * MARGIN),
            (MARGIN, 50),
            12,
            Ink::Faint,
        )
    }

    /// Days along the bottom, releases along the top.
    fn commits<B: DrawingBackend>(&self, sheet: &Sheet<B>, scale: &Scale) -> Result<(), Broken<B>> {
        let commits: Vec<usize> = self.series.levels().map(|(_, level)| level.commit).collect();
        let (Some(first), Some(last)) = (commits.first(), commits.last()) else {
            return Ok(());
        };
        let parts = 5.min(last - first).max(1);
        for n in 0..=parts {
            let at = first + (last - first) * n / parts;
            let x = scale.of(at);
            let Some(commit) = self.trend.commits.get(at) else {
                continue;
            };
            sheet.line((x, BOTTOM), (x, BOTTOM + 4), 1, Ink::Zero)?;
            let middle = x.clamp(LEFT + 30, RIGHT - 34);
            sheet.text_around(&words::day(commit), (middle, BOTTOM + 16), 11, Ink::Faint)?;
            sheet.text_around(words::short(commit), (middle, BOTTOM + 32), 10, Ink::Faint)?;
        }
        let mut free = LEFT;
        for (at, commit) in self.trend.commits.iter().enumerate().take(last + 1).skip(*first) {
            let Some(tag) = commit.tags.first() else { continue };
            let x = scale.of(at);
            sheet.line((x, TOP), (x, BOTTOM), 1, Ink::Grid)?;
            let tag = sheet.fitted(&visible::id(tag), 10, 90);
            let width = sheet.width(&tag, 10);
            if x >= free && x + width <= RIGHT {
                sheet.text(&tag, (x + 2, TOP - 8), 10, Ink::Faint)?;
                free = x + width + 10;
            }
        }
        Ok(())
    }

    fn change<B: DrawingBackend>(
        &self,
        sheet: &Sheet<B>,
        scale: &Scale,
        axis: &Axis,
        of: &Change,
    ) -> Result<(), Broken<B>> {
        let level = |at: usize| {
            let found = self.series.levels().find(|(_, level)| level.commit == at);
            found.map(|(_, level)| axis.at(level.level.exp_m1()))
        };
        let (Some(before), Some(after)) = (level(of.before), level(of.at)) else {
            return Ok(());
        };
        let flag = flag(of);
        let x = scale.of(of.at);
        match of.shape {
            Shape::Jump => sheet.dashes(x, TOP, BOTTOM, Ink::Flag(flag))?,
            Shape::Drift => sheet.line((scale.of(of.before), before), (x, after), 3, Ink::Flag(flag))?,
        }
        sheet.marker((x, after), flag)?;
        let words = change(of.size);
        let width = sheet.width(&words, 11);
        let above = if after > TOP + 24 { after - 16 } else { after + 16 };
        if x + 10 + width < RIGHT {
            sheet.text(&words, (x + 10, above), 11, Ink::Flag(flag))
        } else {
            sheet.text_before(&words, (x - 10, above), 11, Ink::Flag(flag))
        }
    }
}
