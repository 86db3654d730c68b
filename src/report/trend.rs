//! A history as characters and pictures: for a terminal, as CSV, as SVG and PNG, and as one self-contained page.

mod chart;
mod csv;
mod overview;
mod page;
mod picture;
pub mod text;
mod words;

use super::label::Labels;
use crate::history::trend::{Series, Trend};
use crate::report::Options;

/// Name of the page in a folder with everything.
pub const PAGE: &str = "index.html";

/// The formats a history can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, clap::ValueEnum)]
pub enum Format {
    /// For a person at a terminal.
    Term,
    /// Every level and change, for tables.
    Csv,
    /// One self-contained page.
    Html,
    /// A plot of the scenarios that changed most.
    Svg,
    /// The same as pixels.
    Png,
}

impl Format {
    /// The format that the name of a file stands for, by its extension; `None` if it stands for none.
    #[must_use]
    pub fn of_file(path: &std::path::Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "txt" => Some(Self::Term),
            "csv" => Some(Self::Csv),
            "html" | "htm" => Some(Self::Html),
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            _ => None,
        }
    }
}

/// The history in one format.
#[must_use]
pub fn render(trend: &Trend, format: Format) -> Vec<u8> {
    let names = Names::new(trend);
    match format {
        Format::Term => text::render(trend, &Options::default()).into_bytes(),
        Format::Csv => csv::render(trend).into_bytes(),
        Format::Html => page::render(trend, &names).into_bytes(),
        Format::Svg => picture::svg(&overview::Overview::new(trend, &names)).into_bytes(),
        Format::Png => picture::png(&overview::Overview::new(trend, &names)),
    }
}

/// Everything at once: the page, the table, the overview, and a plot of each scenario, as pixels too if it changed: those
/// are what somebody puts into a message. `write` gets each file's name and
/// content.
///
/// # Errors
/// What `write` says.
pub fn folder<E>(trend: &Trend, mut write: impl FnMut(&str, &[u8]) -> Result<(), E>) -> Result<(), E> {
    let names = Names::new(trend);
    write(PAGE, &render(trend, Format::Html))?;
    write("trend.csv", &render(trend, Format::Csv))?;
    write("overview.svg", &render(trend, Format::Svg))?;
    write("overview.png", &render(trend, Format::Png))?;
    let width = trend.series.len().max(1).ilog10() as usize + 1;
    for (n, series) in trend.series.iter().enumerate() {
        let name = file_name(&names.of(series));
        let chart = chart::Chart::new(trend, series, &names);
        write(
            &format!("scenarios/{n:0width$}-{name}.svg"),
            picture::svg(&chart).as_bytes(),
        )?;
        if !series.changes.is_empty() {
            write(
                &format!("scenarios/{n:0width$}-{name}.png"),
                &picture::png(&chart),
            )?;
        }
    }
    Ok(())
}

/// What is left of a label in the name of a file: a stranger's id must not choose a folder.
fn file_name(label: &str) -> String {
    let fit = |c: char| {
        if c.is_ascii_alphanumeric() || c == '.' {
            c
        } else {
            '-'
        }
    };
    let name: String = label.chars().map(fit).take(60).collect();
    name.trim_matches(['-', '.']).to_owned()
}

/// What scenarios are called where several classes of machines may have them.
struct Names<'a> {
    labels: Labels<'a>,
    several_classes: bool,
}

impl<'a> Names<'a> {
    fn new(trend: &'a Trend) -> Self {
        let several = |two: &[Series]| two[0].class != two[1].class;
        Self {
            labels: Labels::among(trend.series.iter().map(|series| &series.scenario.target)),
            several_classes: trend.series.windows(2).any(several),
        }
    }

    fn of(&self, series: &Series) -> String {
        self.labels.of_scenario(&series.scenario)
    }

    /// Class of machines, if that is not the same for all; made visible.
    fn class(&self, series: &Series) -> Option<String> {
        self.several_classes.then(|| super::visible::id(&series.class))
    }
}

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
