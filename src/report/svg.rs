//! The report as a picture: every change with its interval, the rounds behind the flagged ones, and the times of tokens
//! by their position.
//!
//! The file is self-contained and deterministic: the same report gives the same bytes on every machine. Text stays
//! text (`<text>`, any sans-serif font); where it must fit, it is measured in a subset of DejaVu Sans that is built
//! into the program, so no font has to be installed. The picture brings its own light background and so reads the
//! same on a dark page. Flags differ in shape as well as in colour.

pub(super) mod axis;
pub(super) mod canvas;
mod curves;
mod overview;
mod rounds;

use super::label::Labels;
use super::{Change, Finding, Report, sentence, visible};
use crate::revision::Revision;
use canvas::{Canvas, Failure, Ink};
use plotters::prelude::SVGBackend;
use plotters::style::{FontStyle, register_font};
use std::sync::OnceLock;

/// DejaVu Sans, reduced to what reports use: see `assets/subset-font.sh` and `assets/DejaVuSans-LICENSE.txt`.
static FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");

/// Width of the picture: what GitHub shows of an image without scaling it down.
pub(super) const WIDTH: i32 = 960;
/// Room between the picture's edge and everything in it.
pub(super) const MARGIN: i32 = 20;

/// The report as an SVG document.
#[must_use]
pub fn render(report: &Report) -> String {
    let labels = Labels::new(report);
    let rows = overview::Rows::new(report, &labels);
    let panels = rounds::Panels::new(report, &labels);
    let curves = curves::Curves::new(report);
    let title = sentence::headline(report).text;
    draw(report, &rows, &panels, &curves).map_or_else(|_| unavailable(&title), |svg| described(&svg, &title))
}

fn draw(
    report: &Report,
    rows: &overview::Rows,
    panels: &rounds::Panels,
    curves: &curves::Curves,
) -> Result<String, Failure> {
    register();
    let header = Header::new(report);
    let heights = [header.height(), rows.height(), panels.height(), curves.height()];
    let [rows_top, panels_top, curves_top, end] = below(heights);
    let height = end + MARGIN;
    let mut svg = String::new();
    {
        let size = (WIDTH.unsigned_abs(), height.unsigned_abs());
        let canvas = Canvas::new(SVGBackend::with_string(&mut svg, size))?;
        canvas.background(WIDTH, height)?;
        header.draw(&canvas)?;
        rows.draw(&canvas, rows_top)?;
        panels.draw(&canvas, panels_top)?;
        curves.draw(&canvas, curves_top)?;
        canvas.finish()?;
    }
    Ok(svg)
}

/// Where each of these heights ends if they are put under each other.
fn below<const N: usize>(heights: [i32; N]) -> [i32; N] {
    let mut end = 0;
    heights.map(|height| {
        end += height;
        end
    })
}

/// The verdict line, broken where it is too long, and the two sides.
struct Header {
    title: Vec<String>,
    sides: String,
}

impl Header {
    /// Letters of the title in one line; its words are ours, so their width is known well enough.
    const LETTERS: usize = 100;
    const LINE: i32 = 22;

    fn new(report: &Report) -> Self {
        let side = |revision: &Revision| {
            let label = visible::cut_middle(&visible::id(&revision.label), 40);
            format!(
                "{label} ({})",
                visible::line(&visible::cut_end(revision.short(), 40))
            )
        };
        Self {
            title: textwrap::wrap(&sentence::headline(report).text, Self::LETTERS)
                .into_iter()
                .map(std::borrow::Cow::into_owned)
                .collect(),
            sides: format!("base {} → head {}", side(&report.base), side(&report.head)),
        }
    }

    fn height(&self) -> i32 {
        56 + Self::LINE * i32::try_from(self.title.len()).unwrap_or(0)
    }

    fn draw(&self, canvas: &Canvas) -> Result<(), Failure> {
        let mut y = MARGIN + 10;
        for line in &self.title {
            canvas.text(line, (MARGIN, y), 16, Ink::Text)?;
            y += Self::LINE;
        }
        let sides = canvas.fitted(&self.sides, 12, WIDTH - 2 * MARGIN);
        canvas.text(&sides, (MARGIN, y + 1), 12, Ink::Faint)
    }
}

/// The change of a row that can be placed on an axis.
fn drawable(finding: &Finding) -> Option<&Change> {
    finding.change.as_ref().filter(|of| {
        [of.change, of.low, of.high, of.floor]
            .iter()
            .all(|number| number.is_finite())
    })
}

/// Makes the built-in font known to plotters.
pub(super) fn register() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        // Fails only for bytes that are no font; drawing then reports it.
        let _ = register_font("sans-serif", FontStyle::Normal, FONT);
    });
}

/// Puts the title into the document for screen readers and tooltips, right after the opening tag.
pub(super) fn described(svg: &str, title: &str) -> String {
    match svg.split_once('\n') {
        Some((open, rest)) => format!("{open}\n<title>{}</title>\n{rest}", escaped(title)),
        None => svg.to_owned(),
    }
}

/// What stands in for a picture that could not be drawn, which takes a broken build of the font.
pub(super) fn unavailable(title: &str) -> String {
    format!(
        "<svg width=\"{WIDTH}\" height=\"60\" xmlns=\"http://www.w3.org/2000/svg\">\
         <text x=\"20\" y=\"35\" font-family=\"sans-serif\" font-size=\"14\">{} (no plot: the font is broken)</text></svg>\n",
        escaped(title)
    )
}

fn escaped(text: &str) -> String {
    visible::line(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests;
