//! What is remembered of a comparison.

use super::output::TalkArgs;
use crate::edge::terminal;
use crate::pipeline::{self, Ask, KeepAsk, Outcome, PipelineError, Where};
use clap::Args;

#[derive(Debug, Args)]
#[command(next_help_heading = "History")]
pub(super) struct Keeping {
    /// Keep what was measured in the history, for `abreast trend`; both sides must be commits
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    place: Place,
}

/// Where the history is.
#[derive(Debug, Args)]
#[command(next_help_heading = "History")]
pub(super) struct Place {
    /// Where the history is: `files` in baselines/, or the `branch` abreast-history [default: the branch if there is one]
    #[arg(long, value_name = "PLACE", hide_possible_values = true)]
    history: Option<Where>,
    /// Send the branch to this remote, joined with what others sent meanwhile [default remote: origin]
    #[arg(long, value_name = "REMOTE", num_args = 0..=1, default_missing_value = "origin", require_equals = true)]
    push: Option<String>,
}

impl Place {
    pub(super) fn ask(&self) -> KeepAsk {
        KeepAsk {
            cwd: terminal::current_dir(),
            place: self.history,
            push: self.push.clone(),
        }
    }
}

impl Keeping {
    /// Refuses what could not be kept, before anything is measured.
    pub(super) fn check(&self) -> Result<(), PipelineError> {
        if self.keep {
            return pipeline::may_keep(&self.place.ask());
        }
        let ask = self.place.ask();
        if ask.place.is_some() || ask.push.is_some() {
            let message = "--history and --push say where --keep keeps what was measured: add --keep";
            return Err(PipelineError::Usage(message.to_owned()));
        }
        Ok(())
    }

    /// The same for sides that are known by their names only.
    pub(super) fn check_sides(&self, ask: &Ask) -> Result<(), PipelineError> {
        self.check()?;
        if self.keep {
            pipeline::may_keep_sides(ask)?;
        }
        Ok(())
    }

    pub(super) fn keep(&self, outcome: &Outcome, talk: &TalkArgs) -> Result<(), PipelineError> {
        if self.keep {
            pipeline::keep(&self.place.ask(), outcome, &talk.view())?;
        }
        Ok(())
    }
}
