//! `abreast trend`.

use super::keeping::Place;
use super::output::TalkArgs;
use crate::config::Percent;
use crate::edge::terminal;
use crate::exit::Exit;
use crate::history::foreign::Foreign;
use crate::history::trend::Trend as History;
use crate::pipeline::{self, BlessAsk, ImportAsk, PipelineError, TrendAsk};
use crate::report::trend::{self, Format};
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct Trend {
    /// Newest commit to show: a branch, a tag or any revision
    #[arg(default_value = "HEAD")]
    tip: String,
    /// Show only benchmark ids that match this regular expression
    #[arg(long, value_name = "REGEX", help_heading = "What is shown")]
    filter: Option<String>,
    /// Show only this class of machines
    #[arg(long, value_name = "NAME", help_heading = "What is shown")]
    class: Option<String>,
    /// Commit that levels are told relative to [default: the newest release tag that was measured, else the first commit]
    #[arg(long, value_name = "REVISION", help_heading = "What is shown")]
    anchor: Option<String>,
    /// Smallest change that is reported [default: 2%]
    #[arg(long, value_name = "PERCENT", help_heading = "What is shown")]
    threshold: Option<Percent>,
    /// Results that make the exit code 1
    #[arg(
        long,
        value_name = "RESULT",
        default_value = "never",
        help_heading = "What is shown"
    )]
    fail_on: FailOn,
    /// Accept the changes of this commit: they stay visible and fail nothing
    #[arg(long, value_name = "COMMIT", requires = "reason", help_heading = "Blessing")]
    bless: Option<String>,
    /// Why they are accepted
    #[arg(long, value_name = "TEXT", requires = "bless", help_heading = "Blessing")]
    reason: Option<String>,
    /// Accept only those of scenarios whose id matches this regular expression
    #[arg(long, value_name = "REGEX", requires = "bless", help_heading = "Blessing")]
    scenario: Option<String>,
    /// Make the history smaller: join the steps of commits before the newest N of each class, but for releases, changes and
    /// blessed commits; every level that is left stays what it was
    #[arg(long, value_name = "N", conflicts_with_all = ["bless", "import"], help_heading = "History")]
    prune: Option<usize>,
    /// Take up the history of another program first: its file, or its folder for criterion and asv
    #[arg(
        long,
        value_name = "PATH",
        requires = "from",
        conflicts_with = "bless",
        help_heading = "History"
    )]
    import: Option<PathBuf>,
    /// Whose it is
    #[arg(long, value_name = "FORMAT", requires = "import", help_heading = "History")]
    from: Option<Foreign>,
    /// The commit that was measured, where the format does not name it
    #[arg(long, value_name = "COMMIT", requires = "import", help_heading = "History")]
    commit: Option<String>,
    #[command(flatten)]
    place: Place,
    /// Format (repeatable) [default: term, or what the name of each -o file says]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    format: Vec<Format>,
    /// File in the format at the same position, or a folder (a name without an extension) for all of them and a plot of each
    /// scenario (repeatable) [default: standard output]
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    output: Vec<PathBuf>,
    #[command(flatten)]
    talk: TalkArgs,
}

/// Results that make the exit code 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    /// None
    Never,
    /// A change for the worse that nobody blessed
    Regression,
}

/// Where something goes, and what.
enum Delivery<'a> {
    File(Format, &'a Path),
    Folder(&'a Path),
    Print(Format),
}

impl Trend {
    pub(super) fn run(&self) -> Result<Exit, PipelineError> {
        let deliveries = self.deliveries()?;
        let view = self.talk.view();
        let keep = self.place.ask();
        let ask = TrendAsk {
            cwd: terminal::current_dir(),
            tip: self.tip.clone(),
            place: keep.place,
            threshold: self.threshold.map(|percent| percent.0),
            anchor: self.anchor.clone(),
            filter: self.filter.clone(),
            class: self.class.clone(),
        };
        if let (Some(commit), Some(reason)) = (&self.bless, &self.reason) {
            let ask = BlessAsk {
                keep: keep.clone(),
                commit: commit.clone(),
                reason: reason.clone(),
                scenario: self.scenario.clone(),
            };
            pipeline::bless(&ask, &view)?;
        } else if let (Some(path), Some(format)) = (&self.import, self.from) {
            let ask = ImportAsk {
                keep: keep.clone(),
                path: path.clone(),
                format,
                commit: self.commit.clone(),
            };
            pipeline::import(&ask, &view)?;
        } else if let Some(newest) = self.prune {
            pipeline::prune(&ask, &keep, newest, &view)?;
        } else if keep.push.is_some() {
            let message =
                "`trend` only writes with --bless, --import and --prune: there is nothing to --push";
            return Err(PipelineError::Usage(message.to_owned()));
        }
        let trend = pipeline::trend(&ask, &view)?;
        for delivery in &deliveries {
            match delivery {
                Delivery::File(format, path) => pipeline::write(path, &trend::render(&trend, *format))?,
                Delivery::Folder(path) => {
                    trend::folder(&trend, |name, content| pipeline::write(&path.join(name), content))?;
                    view.say(&format!("wrote {}", path.join(trend::PAGE).display()));
                }
                Delivery::Print(format) => {
                    let text = trend::render(&trend, *format);
                    self.talk.print(|_| String::from_utf8_lossy(&text).into_owned())?;
                }
            }
        }
        if !deliveries
            .iter()
            .any(|delivery| matches!(delivery, Delivery::Print(_)))
        {
            self.talk.print(|options| trend::text::render(&trend, options))?;
        }
        Ok(exit(&trend, self.fail_on))
    }

    fn deliveries(&self) -> Result<Vec<Delivery<'_>>, PipelineError> {
        let mut formats = self.format.iter().copied();
        let mut deliveries = Vec::new();
        for path in &self.output {
            let is_folder = path.is_dir() || path.to_string_lossy().ends_with('/');
            deliveries.push(match (formats.next(), is_folder) {
                (Some(format), false) => Delivery::File(format, path),
                (None, false) if path.extension().is_none() => Delivery::Folder(path),
                (None, true) => Delivery::Folder(path),
                (None, false) => match Format::of_file(path) {
                    Some(format) => Delivery::File(format, path),
                    None => {
                        return Err(PipelineError::Usage(format!(
                            "the name `{}` does not tell a format: add --format, or name a folder for all of them",
                            path.display()
                        )));
                    }
                },
                (Some(_), true) => {
                    return Err(PipelineError::Usage(format!(
                        "{} is a folder, which gets every format: leave --format out",
                        path.display()
                    )));
                }
            });
        }
        let printed: Vec<Format> = formats.collect();
        match printed[..] {
            [] => {}
            [Format::Png] => {
                return Err(PipelineError::Usage(
                    "a picture is no text: name a file with -o".to_owned(),
                ));
            }
            [format] => deliveries.push(Delivery::Print(format)),
            _ => {
                return Err(PipelineError::Usage(
                    "only one format can go to standard output: add -o".to_owned(),
                ));
            }
        }
        Ok(deliveries)
    }
}

fn exit(trend: &History, fail_on: FailOn) -> Exit {
    match fail_on {
        _ if trend.series.is_empty() => Exit::Nothing,
        FailOn::Regression if trend.series.iter().any(|series| series.is_open()) => Exit::Failed,
        _ => Exit::Ok,
    }
}
