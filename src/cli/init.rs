//! `abreast init`.

use super::output::TalkArgs;
use crate::edge::terminal;
use crate::exit::Exit;
use crate::pipeline::{self, PipelineError};
use crate::workflows::{self, Kind};
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct Init {
    /// Write GitHub workflows instead, into .github/workflows
    #[arg(long)]
    github: bool,
    /// Write only the workflows for this (repeatable) [default: all]
    #[arg(long, value_name = "KIND", requires = "github")]
    workflow: Vec<Kind>,
    /// The action that the workflows use, like `owner/name@ref` [default: that of this version]
    #[arg(long, value_name = "ACTION", requires = "github")]
    action: Option<String>,
    #[command(flatten)]
    talk: TalkArgs,
}

impl Init {
    pub(super) fn run(&self) -> Result<Exit, PipelineError> {
        let (view, cwd) = (self.talk.view(), terminal::current_dir());
        if !self.github {
            let path = pipeline::init(&cwd)?;
            view.say(&format!("wrote {}", path.display()));
            return Ok(Exit::Ok);
        }
        let action = self.action.clone().or_else(workflows::released_action);
        let open = workflows::open_action();
        let named = action.as_deref().unwrap_or(open);
        if !workflows::is_action(named) {
            let message = format!("--action `{named}` is no action: write it like `owner/abreast@v1`");
            return Err(PipelineError::Usage(message));
        }
        let kinds = if self.workflow.is_empty() {
            &Kind::ALL[..]
        } else {
            self.workflow.as_slice()
        };
        for path in pipeline::init_github(&cwd, kinds, named)? {
            view.say(&format!("wrote {}", path.display()));
        }
        if named == open {
            view.say(&format!(
                "put the place of the action where the workflows say `{open}`; --action does so at once"
            ));
        }
        Ok(Exit::Ok)
    }
}
