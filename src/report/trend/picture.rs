//! A plot as a document or as pixels: the same shapes for both.

use crate::report::svg::canvas::{Broken, Sheet};
use crate::report::svg::{WIDTH, described, register, unavailable};
use plotters::backend::DrawingBackend;
use plotters::prelude::{BitMapBackend, SVGBackend};

/// Something that can be drawn.
pub(super) trait Plot {
    /// What it shows, in a sentence.
    fn title(&self) -> String;
    /// Height in pixels; the width is that of every picture.
    fn height(&self) -> i32;
    /// Draws it.
    fn draw<B: DrawingBackend>(&self, sheet: &Sheet<B>) -> Result<(), Broken<B>>;
}

/// The plot as an SVG document.
pub(super) fn svg(plot: &impl Plot) -> String {
    register();
    let mut text = String::new();
    let size = (WIDTH.unsigned_abs(), plot.height().unsigned_abs());
    let drawn = Sheet::new(SVGBackend::with_string(&mut text, size)).and_then(|sheet| {
        sheet.background(WIDTH, plot.height())?;
        plot.draw(&sheet)?;
        sheet.finish()
    });
    match drawn {
        Ok(()) => described(&text, &plot.title()),
        Err(_) => unavailable(&plot.title()),
    }
}

/// Dots of the image for one pixel of the picture: screens with twice the usual density show letters sharp.
const SCALE: i32 = 2;

/// The plot as a PNG image; empty if it could not be drawn, which takes a broken build of the font.
pub(super) fn png(plot: &impl Plot) -> Vec<u8> {
    register();
    let size = (
        (WIDTH * SCALE).unsigned_abs(),
        (plot.height() * SCALE).unsigned_abs(),
    );
    let mut pixels = vec![0; size.0 as usize * size.1 as usize * 3];
    {
        let backend = BitMapBackend::with_buffer(&mut pixels, size);
        let sheet = Sheet::scaled(backend, SCALE);
        let drawn = sheet
            .background(WIDTH, plot.height())
            .and_then(|()| plot.draw(&sheet));
        if drawn.and_then(|()| sheet.finish()).is_err() {
            return Vec::new();
        }
    }
    encoded(&pixels, size).unwrap_or_default()
}

fn encoded(pixels: &[u8], (width, height): (u32, u32)) -> Option<Vec<u8>> {
    let mut image = Vec::new();
    let mut encoder = png::Encoder::new(&mut image, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    // Hundreds of plots are written at once; better compression takes several times as long for a third less on disk.
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(pixels).ok()?;
    writer.finish().ok()?;
    Some(image)
}
