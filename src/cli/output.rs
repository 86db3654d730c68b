//! What is delivered where: reports in their formats, and how much is said meanwhile.

use crate::edge::store;
use crate::edge::terminal::{self, Color};
use crate::edge::view::{Talk, View};
use crate::pipeline::PipelineError;
use crate::report::{self, Format, Report};
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Output {
    /// Format of the report (repeatable) [default: term, or what the name of each -o file says]
    #[arg(long, value_name = "FORMAT")]
    format: Vec<Format>,
    /// File for the report in the format at the same position (repeatable) [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct TalkArgs {
    /// Say nothing but errors, and no report on standard output that was not asked for
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more, and show every row
    #[arg(short, long)]
    verbose: bool,
    /// When to use colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Draw no progress bars
    #[arg(long)]
    no_progress: bool,
}

impl TalkArgs {
    fn talk(&self) -> Talk {
        match (self.quiet, self.verbose) {
            (true, _) => Talk::Quiet,
            (_, true) => Talk::Verbose,
            _ => Talk::Normal,
        }
    }

    /// Prints a text on standard output, unless nothing is to be said.
    pub(super) fn print(&self, text: impl Fn(&report::Options) -> String) -> Result<(), PipelineError> {
        if self.quiet {
            return Ok(());
        }
        let options = terminal::options(self.color, self.verbose);
        Ok(store::printed(terminal::print(&text(&options)))?)
    }

    pub(super) fn view(&self) -> View {
        View::new(self.talk(), !self.no_progress)
    }
}

impl Output {
    /// Each format with where it goes; `None` is standard output.
    fn deliveries(&self) -> Result<Vec<(Format, Option<&Path>)>, PipelineError> {
        if self.output.len() > self.format.len() && !self.format.is_empty() {
            let message = format!(
                "{} -o for {} --format: give each file a format",
                self.output.len(),
                self.format.len()
            );
            return Err(PipelineError::Usage(message));
        }
        if self.format.is_empty() {
            let by_name = |path: &PathBuf| {
                let what = format!(
                    "the name `{}` does not tell a format: add --format",
                    path.display()
                );
                Format::of_file(path).ok_or(PipelineError::Usage(what))
            };
            return self
                .output
                .iter()
                .map(|path| Ok((by_name(path)?, Some(path.as_path()))))
                .collect();
        }
        let mut paths = self.output.iter();
        let deliveries: Vec<_> = self
            .format
            .iter()
            .map(|format| (*format, paths.next().map(PathBuf::as_path)))
            .collect();
        if deliveries.iter().filter(|(_, path)| path.is_none()).count() > 1 {
            return Err(PipelineError::Usage(
                "only one format can go to standard output: add -o".to_owned(),
            ));
        }
        Ok(deliveries)
    }

    pub(super) fn check(&self) -> Result<(), PipelineError> {
        self.deliveries().map(|_| ())
    }

    /// Refuses to write a report over what it is made from.
    pub(super) fn spare(&self, inputs: &[PathBuf]) -> Result<(), PipelineError> {
        let lost = self
            .output
            .iter()
            .find(|output| inputs.iter().any(|input| store::is_same_file(input, output)));
        match lost {
            None => Ok(()),
            Some(path) => Err(PipelineError::Usage(format!(
                "the report would replace the recording {}: name another file with -o",
                path.display()
            ))),
        }
    }

    /// Writes every format, the others also if one file cannot be written: measuring took long. A person also gets the
    /// terminal report unless something else goes to standard output.
    pub(super) fn deliver(&self, report: &Report, talk: &TalkArgs) -> Result<(), PipelineError> {
        let mut printed = talk.quiet;
        let mut written = Ok(());
        for (format, path) in self.deliveries()? {
            let text = |options: &_| report::render(report, format, options);
            match path {
                Some(path) => written = written.and(store::write(path, text(&terminal::plain()).as_bytes())),
                None => {
                    let text = text(&terminal::options(talk.color, talk.verbose));
                    written = written.and(store::printed(terminal::print(&text)));
                    printed = true;
                }
            }
        }
        if !printed {
            let options = terminal::options(talk.color, talk.verbose);
            let text = report::render(report, Format::Term, &options);
            written = written.and(store::printed(terminal::print(&text)));
        }
        Ok(written?)
    }
}
