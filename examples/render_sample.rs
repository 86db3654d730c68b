//! Prints the sample report of the renderers' tests: `cargo run --example render_sample -- md`.
//!
//! For whoever changes a renderer and wants to look at the result. Formats: term, md, json, csv, svg; a second
//! argument sets the width of `term`, a third one (any word) turns its colour on.

use abreast::report::{Format, Options, render};
// The sample names its types by `crate::`, which here is this file.
use abreast::{metric, recording, report, revision, scenario, verdict};
use clap::ValueEnum;
use std::io::Write;

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../src/report/sample.rs"]
mod sample;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let format = arguments.first().map_or("term", String::as_str);
    let width = arguments.get(1).map_or(Ok(100), |width| width.parse())?;
    let options = Options {
        width,
        color: arguments.len() > 2,
        ..Options::default()
    };
    let text = render(&sample::report(), Format::from_str(format, true)?, &options);
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}
