//! A few shapes in a few inks, on top of plotters. Positions are whole pixels from the upper left corner.

use crate::report::visible;
use crate::verdict::Flag;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::prelude::{Circle, DrawingBackend, PathElement, Polygon, Rectangle, SVGBackend, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBAColor, RGBColor, ShapeStyle, TextStyle};
use unicode_width::UnicodeWidthStr;

/// Why a picture could not be drawn.
pub(in crate::report) type Failure = Broken<SVGBackend<'static>>;

/// Why a picture could not be drawn with some backend.
pub(in crate::report) type Broken<B> = DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>;

/// A picture under construction that becomes text.
pub(super) type Canvas<'a> = Sheet<SVGBackend<'a>>;

/// Colours by meaning. All text has a contrast of at least 4.5 on the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Ink {
    /// What is to be read.
    Text,
    /// What may be read: axes, legend.
    Faint,
    /// Grid and frames.
    Grid,
    /// The line of no change.
    Zero,
    /// The noise of a row.
    Floor,
    /// The threshold.
    Limit,
    /// The line of base.
    Base,
    /// The line of head.
    Head,
    /// A row with this flag.
    Flag(Flag),
}

impl Ink {
    fn color(self) -> RGBAColor {
        let (red, green, blue) = match self {
            Self::Text => (0x1f, 0x23, 0x28),
            Self::Faint => (0x59, 0x63, 0x6e),
            Self::Grid => (0xe6, 0xe9, 0xec),
            Self::Zero => (0x59, 0x63, 0x6e),
            Self::Floor => (0xdd, 0xe3, 0xea),
            Self::Limit => (0xbf, 0x87, 0x00),
            Self::Base => (0x6e, 0x77, 0x81),
            Self::Head => (0x09, 0x69, 0xda),
            Self::Flag(Flag::Alert) => (0xcf, 0x22, 0x2e),
            Self::Flag(Flag::Warn) => (0xbc, 0x4c, 0x00),
            Self::Flag(Flag::Faster) => (0x1a, 0x7f, 0x37),
            Self::Flag(Flag::Ok | Flag::Unclear | Flag::None) => (0x57, 0x60, 0x6a),
        };
        RGBColor(red, green, blue).to_rgba()
    }

    fn filled(self) -> ShapeStyle {
        self.color().filled()
    }

    fn stroked(self, width: u32) -> ShapeStyle {
        self.color().stroke_width(width)
    }
}

/// A picture under construction.
pub(in crate::report) struct Sheet<B: DrawingBackend> {
    area: DrawingArea<B, Shift>,
    /// Dots of the backend for one of the picture's pixels.
    scale: i32,
}

impl<B: DrawingBackend> Sheet<B> {
    pub(in crate::report) fn new(backend: B) -> Result<Self, Broken<B>> {
        Ok(Self::scaled(backend, 1))
    }

    /// A picture with so many dots of the backend for each of its pixels.
    pub(in crate::report) fn scaled(backend: B, scale: i32) -> Self {
        Self {
            area: backend.into_drawing_area(),
            scale,
        }
    }

    fn dots(&self, (x, y): (i32, i32)) -> (i32, i32) {
        (x * self.scale, y * self.scale)
    }

    fn stroked(&self, ink: Ink, width: u32) -> ShapeStyle {
        ink.stroked(width * self.scale.unsigned_abs())
    }

    pub(in crate::report) fn finish(&self) -> Result<(), Broken<B>> {
        self.area.present()
    }

    /// Paper with a thin edge: on a white page the edge, on a dark page the paper shows where the picture ends.
    pub(in crate::report) fn background(&self, width: i32, height: i32) -> Result<(), Broken<B>> {
        let all = [(0, 0), self.dots((width, height))];
        self.area
            .draw(&Rectangle::new(all, RGBColor(0xff, 0xff, 0xff).filled()))?;
        self.area.draw(&Rectangle::new(
            [(0, 0), self.dots((width - 1, height - 1))],
            self.stroked(Ink::Grid, 1),
        ))
    }

    /// Text that begins at a point, centred on its height.
    pub(in crate::report) fn text(
        &self,
        text: &str,
        at: (i32, i32),
        size: i32,
        ink: Ink,
    ) -> Result<(), Broken<B>> {
        self.anchored(text, at, size, ink, HPos::Left)
    }

    /// Text that ends at a point.
    pub(in crate::report) fn text_before(
        &self,
        text: &str,
        at: (i32, i32),
        size: i32,
        ink: Ink,
    ) -> Result<(), Broken<B>> {
        self.anchored(text, at, size, ink, HPos::Right)
    }

    /// Text around a point.
    pub(in crate::report) fn text_around(
        &self,
        text: &str,
        at: (i32, i32),
        size: i32,
        ink: Ink,
    ) -> Result<(), Broken<B>> {
        self.anchored(text, at, size, ink, HPos::Center)
    }

    fn anchored(&self, text: &str, at: (i32, i32), size: i32, ink: Ink, side: HPos) -> Result<(), Broken<B>> {
        let style = style(size * self.scale, ink).pos(Pos::new(side, VPos::Center));
        self.area.draw(&Text::new(text.to_owned(), self.dots(at), style))
    }

    /// Pixels that a text takes. Characters the font lacks (emoji, CJK) have no width in it but will have one in
    /// the reader's font: the number of terminal cells bounds them.
    pub(in crate::report) fn width(&self, text: &str, size: i32) -> i32 {
        let measured = self
            .area
            .estimate_text_size(text, &style(size, Ink::Text))
            .map_or(0, |(width, _)| i32::try_from(width).unwrap_or(i32::MAX));
        let cells = i32::try_from(text.width()).unwrap_or(i32::MAX / 100);
        measured.max(cells * size / 2)
    }

    /// A text with its middle cut out until it fits.
    pub(in crate::report) fn fitted(&self, text: &str, size: i32, room: i32) -> String {
        // No text in the picture is longer than this; it bounds the work for absurd ones.
        let mut cells = text.width().min(200);
        let mut cut = visible::cut_middle(text, cells);
        while self.width(&cut, size) > room && cells > 4 {
            cells -= 1;
            cut = visible::cut_middle(text, cells);
        }
        cut
    }

    pub(in crate::report) fn line(
        &self,
        from: (i32, i32),
        to: (i32, i32),
        width: u32,
        ink: Ink,
    ) -> Result<(), Broken<B>> {
        self.area.draw(&PathElement::new(
            vec![self.dots(from), self.dots(to)],
            self.stroked(ink, width),
        ))
    }

    /// A vertical line of dashes.
    pub(in crate::report) fn dashes(&self, x: i32, from: i32, to: i32, ink: Ink) -> Result<(), Broken<B>> {
        (from..to)
            .step_by(8)
            .try_for_each(|y| self.line((x, y), (x, (y + 4).min(to)), 1, ink))
    }

    pub(in crate::report) fn bar(&self, from: (i32, i32), to: (i32, i32), ink: Ink) -> Result<(), Broken<B>> {
        self.area
            .draw(&Rectangle::new([self.dots(from), self.dots(to)], ink.filled()))
    }

    pub(in crate::report) fn dot(&self, at: (i32, i32), radius: i32, ink: Ink) -> Result<(), Broken<B>> {
        self.area
            .draw(&Circle::new(self.dots(at), radius * self.scale, ink.filled()))
    }

    /// The sign of a flag: diamond alert, triangle up warn, triangle down faster, dot unchanged, ring unclear.
    pub(in crate::report) fn marker(&self, (x, y): (i32, i32), flag: Flag) -> Result<(), Broken<B>> {
        let ink = Ink::Flag(flag);
        let shape = |points: &[(i32, i32)]| {
            let points: Vec<(i32, i32)> = points
                .iter()
                .map(|(dx, dy)| self.dots((x + dx, y + dy)))
                .collect();
            self.area.draw(&Polygon::new(points, ink.filled()))
        };
        match flag {
            Flag::Alert => shape(&[(0, -7), (7, 0), (0, 7), (-7, 0)]),
            Flag::Warn => shape(&[(0, -6), (6, 5), (-6, 5)]),
            Flag::Faster => shape(&[(0, 6), (6, -5), (-6, -5)]),
            Flag::Ok | Flag::None => self.dot((x, y), 4, ink),
            Flag::Unclear => {
                let (at, radius) = (self.dots((x, y)), 4 * self.scale);
                let paper = RGBColor(0xff, 0xff, 0xff).filled();
                self.area.draw(&Circle::new(at, radius, paper))?;
                self.area.draw(&Circle::new(at, radius, self.stroked(ink, 2)))
            }
        }
    }

    /// An arrow head that says "further on": to the right for a positive direction.
    pub(in crate::report) fn beyond(
        &self,
        (x, y): (i32, i32),
        direction: i32,
        flag: Flag,
    ) -> Result<(), Broken<B>> {
        let points = [(x + 8 * direction, y), (x, y - 5), (x, y + 5)].map(|point| self.dots(point));
        self.area
            .draw(&Polygon::new(points.to_vec(), Ink::Flag(flag).filled()))
    }

    /// A line through points.
    pub(in crate::report) fn path(
        &self,
        points: &[(i32, i32)],
        width: u32,
        ink: Ink,
    ) -> Result<(), Broken<B>> {
        let points: Vec<(i32, i32)> = points.iter().map(|point| self.dots(*point)).collect();
        self.area
            .draw(&PathElement::new(points, self.stroked(ink, width)))
    }

    /// A filled shape between points.
    pub(in crate::report) fn shape(&self, points: &[(i32, i32)], ink: Ink) -> Result<(), Broken<B>> {
        let points: Vec<(i32, i32)> = points.iter().map(|point| self.dots(*point)).collect();
        self.area.draw(&Polygon::new(points, ink.filled()))
    }
}

fn style(size: i32, ink: Ink) -> TextStyle<'static> {
    // plotters writes its size divided by 1.24 into the file.
    let font = ("sans-serif", f64::from(size) * 1.24).into_font();
    TextStyle {
        color: ink.color().to_backend_color(),
        ..TextStyle::from(font)
    }
}
