//! `abreast export`.

use super::keeping::Place;
use super::output::TalkArgs;
use crate::edge::terminal;
use crate::exit::Exit;
use crate::history::foreign::{Foreign, open_metrics};
use crate::pipeline::{self, PipelineError, TrendAsk};
use crate::report::trend::{self, Format};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::sync::LazyLock;

#[derive(Debug, Args)]
pub(super) struct Export {
    /// Newest commit to write: a branch, a tag or any revision
    #[arg(default_value = "HEAD")]
    tip: String,
    /// For whom
    #[arg(long, value_name = "FORMAT")]
    format: Word,
    /// File, or folder for criterion and asv [default: standard output, for csv and open-metrics]
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Write only benchmark ids that match this regular expression
    #[arg(long, value_name = "REGEX", help_heading = "What is written")]
    filter: Option<String>,
    /// Write only this class of machines
    #[arg(long, value_name = "NAME", help_heading = "What is written")]
    class: Option<String>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    talk: TalkArgs,
}

/// What may be typed as a format.
#[derive(Debug, Clone, Copy)]
enum Word {
    /// Levels and changes.
    Csv,
    /// The newest values and levels, for a Prometheus server.
    OpenMetrics,
    /// Values, as another program keeps them.
    Foreign(Foreign),
}

impl ValueEnum for Word {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Word>> = LazyLock::new(|| {
            let foreign = Foreign::value_variants().iter().copied().map(Word::Foreign);
            [Word::Csv, Word::OpenMetrics]
                .into_iter()
                .chain(foreign)
                .collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Csv => Some(PossibleValue::new("csv").help("Every level and change, one type a column")),
            Self::OpenMetrics => {
                Some(PossibleValue::new("open-metrics").help("The newest values and levels, as text"))
            }
            Self::Foreign(foreign) => foreign.to_possible_value(),
        }
    }
}

impl Export {
    pub(super) fn run(&self) -> Result<Exit, PipelineError> {
        let keep = self.place.ask();
        if keep.push.is_some() {
            return Err(PipelineError::Usage(
                "`export` writes nothing that could be pushed".to_owned(),
            ));
        }
        let ask = TrendAsk {
            cwd: terminal::current_dir(),
            tip: self.tip.clone(),
            place: keep.place,
            filter: self.filter.clone(),
            class: self.class.clone(),
            ..TrendAsk::default()
        };
        let view = self.talk.view();
        let text = match self.format {
            Word::Foreign(format) => {
                let Some(to) = &self.output else {
                    return Err(PipelineError::Usage(
                        "name the file, or for criterion and asv the folder, with -o".to_owned(),
                    ));
                };
                pipeline::export(&ask, format, to, &view)?;
                return Ok(Exit::Ok);
            }
            Word::Csv => trend::render(&pipeline::trend(&ask, &view)?, Format::Csv),
            Word::OpenMetrics => open_metrics(&pipeline::trend(&ask, &view)?).into_bytes(),
        };
        match &self.output {
            Some(path) => pipeline::write(path, &text)?,
            None => self.talk.print(|_| String::from_utf8_lossy(&text).into_owned())?,
        }
        Ok(Exit::Ok)
    }
}
