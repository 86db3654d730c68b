//! `abreast build`.

use super::output::TalkArgs;
use super::{Revisions, is_bundle, visible};
use crate::config::Settings;
use crate::edge::archive::SUFFIX;
use crate::edge::terminal;
use crate::exit::Exit;
use crate::pipeline::{self, PipelineError};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Build {
    #[command(flatten)]
    revisions: Revisions,
    #[command(flatten)]
    settings: Settings,
    /// File for the bundle; its name must end in .tar.zst
    #[arg(short, long, value_name = "BUNDLE", help_heading = "Output")]
    output: PathBuf,
    #[command(flatten)]
    talk: TalkArgs,
}

impl Build {
    pub(super) fn run(&self) -> Result<Exit, PipelineError> {
        if !is_bundle(&self.output.to_string_lossy()) {
            let message = format!(
                "`{}` is no name for a bundle: `record` knows bundles by a name that ends in {SUFFIX}",
                self.output.display()
            );
            return Err(PipelineError::Usage(message));
        }
        let ask = self.revisions.ask(&self.settings);
        let recording = pipeline::build(&ask, &self.output, &self.talk.view())?;
        for build in &recording.builds {
            if let Some(failure) = &build.failure {
                terminal::error(&visible(&format!("{} did not build: {failure}", build.side)));
            }
        }
        Ok(Exit::of_build(&recording))
    }
}
