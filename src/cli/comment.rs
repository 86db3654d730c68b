//! `abreast comment`.

use super::output::TalkArgs;
use crate::edge::github::{Runner, Time};
use crate::exit::{Exit, FailOn};
use crate::pipeline::{self, CommentAsk, PipelineError, Surroundings};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Comment {
    /// Reports that `--format json` wrote; several make one section with a part each
    #[arg(required = true, value_name = "REPORT")]
    files: Vec<PathBuf>,
    /// Number of the pull request [default: the one that the event is about]
    #[arg(long, value_name = "N", help_heading = "Where it is said")]
    pr: Option<u64>,
    /// Name of this job's section in the comment; jobs of a matrix need one each [default: the job's id]
    #[arg(long, value_name = "NAME", help_heading = "Where it is said")]
    job: Option<String>,
    /// Environment variable that holds the token
    #[arg(
        long,
        value_name = "NAME",
        default_value = "GITHUB_TOKEN",
        help_heading = "Where it is said"
    )]
    token_env: String,
    /// Login that the token comments with, needed for the token of an app [default: asked of GitHub]
    #[arg(long, value_name = "LOGIN", help_heading = "Where it is said")]
    author: Option<String>,
    /// Make no comment where nothing changed; one that is there is told so
    #[arg(long, help_heading = "What is said")]
    on_change: bool,
    /// Write the summary and the outputs of the job only, and ask GitHub nothing
    #[arg(long, conflicts_with = "on_change", help_heading = "What is said")]
    summary_only: bool,
    /// Results that make the exit code 1, separated by commas [default: never]
    #[arg(
        long,
        value_name = "RESULTS",
        value_delimiter = ',',
        help_heading = "What is said"
    )]
    fail_on: Vec<FailOn>,
    #[command(flatten)]
    talk: TalkArgs,
}

impl Comment {
    pub(super) fn run(&self) -> Result<Exit, PipelineError> {
        let ask = CommentAsk {
            files: self.files.clone(),
            number: self.pr,
            job: self.job.clone(),
            token_env: self.token_env.clone(),
            author: self.author.clone(),
            on_change: self.on_change,
            summary_only: self.summary_only,
        };
        let surroundings = Surroundings {
            runner: Runner::from_env(),
            token: Runner::secret(&self.token_env),
            time: Time::real(),
        };
        let commented = pipeline::comment(&ask, surroundings)?;
        if let Some(said) = &commented.said {
            self.talk.view().say(said);
        }
        Ok(Exit::of_comment(&commented.reports, &self.fail_on))
    }
}
