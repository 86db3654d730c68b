//! What is delivered where: reports in their formats, and how much is said meanwhile.

use crate::edge::store;
use crate::edge::terminal::{self, Color};
use crate::edge::view::{Talk, View};
use crate::pipeline::PipelineError;
use crate::profile;
use crate::report::{self, Format, Report};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Output {
    /// Format of the report (repeatable) [default: term, or what the name of each -o file says]
    #[arg(long, value_name = "FORMAT")]
    format: Vec<Word>,
    /// File for the report in the format at the same position (repeatable) [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Vec<PathBuf>,
}

/// What may be typed as a format: that of a report, or of files that programs wrote.
#[derive(Debug, Clone, Copy)]
enum Word {
    Report(Format),
    Program(profile::Format),
}

impl ValueEnum for Word {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Word>> = LazyLock::new(|| {
            let reports = Format::value_variants().iter().copied().map(Word::Report);
            reports.chain(profile::Format::ALL.map(Word::Program)).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Report(format) => format.to_possible_value(),
            // Only `judge --base --head` reads them, and says so.
            Self::Program(format) => Some(PossibleValue::new(format.name()).hide(true)),
        }
    }
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
        let formats: Vec<Format> = self
            .format
            .iter()
            .filter_map(|word| match word {
                Word::Report(format) => Some(*format),
                Word::Program(_) => None,
            })
            .collect();
        if self.output.len() > formats.len() && !formats.is_empty() {
            let message = format!(
                "{} -o for {} --format: give each file a format",
                self.output.len(),
                formats.len()
            );
            return Err(PipelineError::Usage(message));
        }
        if formats.is_empty() {
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
        let deliveries: Vec<_> = formats
            .into_iter()
            .map(|format| (format, paths.next().map(PathBuf::as_path)))
            .collect();
        if deliveries.iter().filter(|(_, path)| path.is_none()).count() > 1 {
            return Err(PipelineError::Usage(
                "only one format can go to standard output: add -o".to_owned(),
            ));
        }
        Ok(deliveries)
    }

    pub(super) fn check(&self) -> Result<(), PipelineError> {
        self.deliveries()?;
        match self.program()? {
            None => Ok(()),
            Some(format) => Err(PipelineError::Usage(format!(
                "`{}` is no format of a report: `abreast judge --base FILE --head FILE` reads files in it",
                format.name()
            ))),
        }
    }

    /// The format of files that a program wrote, if one was typed.
    pub(super) fn program(&self) -> Result<Option<profile::Format>, PipelineError> {
        let formats = self.format.iter().filter_map(|word| match word {
            Word::Report(_) => None,
            Word::Program(format) => Some(*format),
        });
        match formats.collect::<Vec<_>>()[..] {
            [] => Ok(None),
            [format] => Ok(Some(format)),
            _ => Err(PipelineError::Usage(
                "both sides are read in one format: give one of a program".to_owned(),
            )),
        }
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
