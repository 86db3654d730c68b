//! `abreast qualify`.

use super::output::TalkArgs;
use crate::config::Settings;
use crate::edge::terminal;
use crate::exit::Exit;
use crate::pipeline::{self, PipelineError, QualifyAsk};
use crate::qualification::text;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Qualify {
    /// The commit: any revision, or `:worktree` for the files as they are
    #[arg(default_value = "HEAD")]
    revision: String,
    /// How many reports of unchanged code to make
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10,
        help_heading = "How it is measured"
    )]
    reports: usize,
    /// Also make as many reports of a suite in which some rows are slower by these whole numbers of percent
    #[arg(
        long,
        value_name = "PERCENTS",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..=100),
        help_heading = "How it is measured"
    )]
    inject: Vec<u32>,
    /// Also make as many reports of that suite in which nothing is slower, but all code is at another place
    #[arg(long, help_heading = "How it is measured")]
    shift: bool,
    #[command(flatten)]
    settings: Settings,
    /// File for everything that was found, as JSON; written anew after each report
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Folder that keeps the recording of each report, to be judged again
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    keep_recordings: Option<PathBuf>,
    /// Keep it in baselines/ too, for reports of this repository on machines like this one to quote
    #[arg(long, help_heading = "Output")]
    keep: bool,
    #[command(flatten)]
    talk: TalkArgs,
}

impl Qualify {
    pub(super) fn run(&self) -> Result<Exit, PipelineError> {
        let ask = QualifyAsk {
            cwd: terminal::current_dir(),
            revision: self.revision.clone(),
            settings: self.settings.clone(),
            reports: self.reports,
            inject: self.inject.clone(),
            shift: self.shift,
            output: self.output.clone(),
            recordings: self.keep_recordings.clone(),
            keep: self.keep,
        };
        let found = pipeline::qualify(&ask, &self.talk.view())?;
        self.talk.print(|options| text::render(&found, options.verbose))?;
        Ok(Exit::of_qualification(&found))
    }
}
