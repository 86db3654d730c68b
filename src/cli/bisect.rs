//! `abreast bisect`.

use super::output::TalkArgs;
use super::visible;
use crate::config::Settings;
use crate::edge::terminal;
use crate::exit::Exit;
use crate::history::Commit;
use crate::pipeline::{self, BisectAsk, Culprit, PipelineError};
use crate::report::format::change_with_width;
use clap::Args;
use std::fmt::Write as _;

#[derive(Debug, Args)]
pub(super) struct Bisect {
    /// A commit before the change
    good: String,
    /// A commit that has it [default: HEAD]
    #[arg(default_value = "HEAD")]
    bad: String,
    /// Full id of the benchmark
    #[arg(long, value_name = "ID")]
    scenario: String,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    talk: TalkArgs,
}

impl Bisect {
    pub(super) fn run(&self) -> Result<Exit, PipelineError> {
        if self.settings.filter.is_some() {
            let message = "--scenario names the one benchmark that is measured: leave --filter out";
            return Err(PipelineError::Usage(message.to_owned()));
        }
        let ask = BisectAsk {
            cwd: terminal::current_dir(),
            good: self.good.clone(),
            bad: self.bad.clone(),
            scenario: self.scenario.clone(),
            settings: self.settings.clone(),
        };
        let found = pipeline::bisect(&ask, &self.talk.view())?;
        self.talk.print(|_| text(&found, &self.scenario))?;
        Ok(match found {
            Culprit::Commit { .. } => Exit::Ok,
            Culprit::Range { .. } => Exit::Incomplete,
            Culprit::NoChange { .. } => Exit::Nothing,
            Culprit::Interrupted => Exit::Interrupted,
        })
    }
}

/// The answer in words.
fn text(found: &Culprit, scenario: &str) -> String {
    let scenario = visible(scenario);
    let named = |commit: &Commit| format!("{} {}", commit.sha, visible(&commit.subject));
    match found {
        Culprit::Interrupted => "interrupted before the commit was found\n".to_owned(),
        Culprit::NoChange { said } => {
            format!(
                "{scenario}: no confirmed change between the ends: {}\n",
                visible(said)
            )
        }
        Culprit::Commit { commit, own, ends } => {
            let own = own
                .as_ref()
                .map_or_else(|| "could not be measured alone".to_owned(), change_with_width);
            format!(
                "{}\n{scenario}: {own} against its predecessor, {} between the ends\n",
                named(commit),
                change_with_width(ends)
            )
        }
        Culprit::Range {
            after,
            by,
            unknown,
            ends,
        } => {
            let mut text = format!(
                "{scenario}: {} somewhere after {} and by {}\n",
                change_with_width(ends),
                named(after),
                named(by)
            );
            for commit in unknown {
                let _ = writeln!(text, "  could not tell: {}", named(commit));
            }
            text
        }
    }
}
