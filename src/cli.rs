//! The command line: what may be typed, and delivering what comes of it.

use crate::config::Settings;
use crate::edge::store;
use crate::edge::terminal::{self, Color};
use crate::edge::view::{Talk, View};
use crate::exit::{Circumstance, Exit, FailOn};
use crate::pipeline::{self, Ask, PipelineError};
use crate::report::{self, Format, Report};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Runs the benchmarks of two commits side by side on one machine and tells a change from noise.
///
/// abreast builds base and head, runs their criterion benchmarks interleaved in many short processes, and writes one
/// table of percentage deltas, each with the noise it was measured against.
#[derive(Debug, Parser)]
#[command(name = "abreast", version, max_term_width = 110, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  abreast compare                        the working tree against where its branch began
  abreast compare main HEAD~1            any two revisions
  abreast compare --filter '^parse/'     only some benchmarks
  abreast compare --format md -o c.md    also write Markdown
  abreast compare --fail-on regression   exit code 1 if a row regressed
  abreast compare HEAD HEAD --measure-identical    the noise of this machine

Exit codes:
    0  measured, nothing that --fail-on names
    1  something that --fail-on names
    2  wrong usage or input
    3  nothing was compared
    4  a side did not check out or build
    5  finished, but some scenarios failed, hung or were not reached
   70  internal error
  130  interrupted";

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare two commits: build both, measure them interleaved, judge, report
    Compare(Compare),
    /// Build and measure two commits into a file, to be judged later or elsewhere
    Record(Record),
    /// Judge one recording, or the shards of one comparison together
    Judge(Judge),
    /// Write a commented abreast.toml at the root of the repository
    Init(Init),
}

#[derive(Debug, Args)]
struct Compare {
    #[command(flatten)]
    revisions: Revisions,
    #[command(flatten)]
    settings: Settings,
    /// Go on with the newest unfinished run of this comparison
    #[arg(long, help_heading = "How it is measured")]
    resume: bool,
    /// Keep the recording in this file [default: in abreast's own folder]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    recording: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    talk: TalkArgs,
}

#[derive(Debug, Args)]
struct Record {
    #[command(flatten)]
    revisions: Revisions,
    #[command(flatten)]
    settings: Settings,
    /// Go on with the unfinished recording in the file named with -o
    #[arg(long, help_heading = "How it is measured")]
    resume: bool,
    /// File to record into
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: PathBuf,
    #[command(flatten)]
    talk: TalkArgs,
}

#[derive(Debug, Args)]
struct Judge {
    /// Recordings made by `abreast record` or `abreast compare --recording`
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    talk: TalkArgs,
}

#[derive(Debug, Args)]
struct Init {
    #[command(flatten)]
    talk: TalkArgs,
}

#[derive(Debug, Args)]
struct Revisions {
    /// What the change is measured against [default: merge base of HEAD with the default branch]
    base: Option<String>,
    /// The change: any revision, or `:worktree` for the files as they are [default: :worktree]
    head: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct Output {
    /// Format of the report (repeatable) [default: term, or what the name of each -o file says]
    #[arg(long, value_name = "FORMAT")]
    format: Vec<Format>,
    /// File for the report in the format at the same position (repeatable) [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct TalkArgs {
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

/// Runs the command line `args` (program name first) and says how to end the process.
#[must_use]
pub fn main(args: impl IntoIterator<Item = OsString>) -> Exit {
    let parsed = command().try_get_matches_from(args);
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage } else { Exit::Ok };
        }
    };
    let run = std::panic::AssertUnwindSafe(|| cli.command.run());
    match std::panic::catch_unwind(run) {
        Ok(Ok(exit)) => exit,
        Ok(Err(error)) => {
            terminal::error(&error.to_string());
            error.exit()
        }
        Err(_) => {
            terminal::error(
                "internal error: this is a defect of abreast; please report it with the message above",
            );
            Exit::Internal
        }
    }
}

/// The command line as documented.
#[must_use]
pub fn command() -> clap::Command {
    // `judge` measures nothing, so it shows only the settings it heeds; it refuses the others.
    Cli::command().mut_subcommand("judge", |judge| {
        judge.mut_args(|argument| {
            let measures = argument
                .get_help_heading()
                .is_some_and(|heading| MEASURING.contains(&heading));
            argument.hide(measures)
        })
    })
}

/// Headings of settings that a recording has already settled.
const MEASURING: [&str; 2] = ["What is measured", "How it is measured"];

impl Command {
    fn run(&self) -> Result<Exit, PipelineError> {
        match self {
            Self::Compare(compare) => compare.run(),
            Self::Record(record) => record.run(),
            Self::Judge(judge) => judge.run(),
            Self::Init(init) => init.run(),
        }
    }
}

impl Compare {
    fn run(&self) -> Result<Exit, PipelineError> {
        let view = self.talk.view();
        let ask = ask(
            &self.revisions,
            &self.settings,
            self.resume,
            self.recording.clone(),
        );
        self.output.check()?;
        let fail_on = fail_on(&ask)?;
        let (recording, report) = pipeline::compare(&ask, &view)?;
        self.output.deliver(&report, &self.talk)?;
        Ok(Exit::of(&report, &fail_on, Circumstance::of(&recording)))
    }
}

impl Record {
    fn run(&self) -> Result<Exit, PipelineError> {
        let ask = ask(
            &self.revisions,
            &self.settings,
            self.resume,
            Some(self.output.clone()),
        );
        let (recording, report) = pipeline::compare(&ask, &self.talk.view())?;
        // The recording is the result; verdicts, and so --fail-on, are the business of `judge`.
        Ok(Exit::of(&report, &[], Circumstance::of(&recording)))
    }
}

impl Judge {
    fn run(&self) -> Result<Exit, PipelineError> {
        self.output.check()?;
        if !self.settings.only_judge() {
            return Err(PipelineError::Usage(
                "a recording is measured already: `judge` takes --threshold, --margin, --alert, --floor-ns and \
                 --fail-on only"
                    .to_owned(),
            ));
        }
        let (recording, report) = pipeline::judge_files(&self.files, &self.settings)?;
        self.output.deliver(&report, &self.talk)?;
        Ok(Exit::of(
            &report,
            &self.settings.fail_on,
            Circumstance::of(&recording),
        ))
    }
}

impl Init {
    fn run(&self) -> Result<Exit, PipelineError> {
        let path = pipeline::init(&terminal::current_dir())?;
        self.talk.view().say(&format!("wrote {}", path.display()));
        Ok(Exit::Ok)
    }
}

impl TalkArgs {
    fn talk(&self) -> Talk {
        match (self.quiet, self.verbose) {
            (true, _) => Talk::Quiet,
            (_, true) => Talk::Verbose,
            _ => Talk::Normal,
        }
    }

    fn view(&self) -> View {
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

    fn check(&self) -> Result<(), PipelineError> {
        self.deliveries().map(|_| ())
    }

    /// Writes every format, the others also if one file cannot be written: measuring took long. A person also gets the
    /// terminal report unless something else goes to standard output.
    fn deliver(&self, report: &Report, talk: &TalkArgs) -> Result<(), PipelineError> {
        let mut printed = talk.quiet;
        let mut written = Ok(());
        for (format, path) in self.deliveries()? {
            let text = |options: &_| report::render(report, format, options);
            match path {
                Some(path) => written = written.and(store::write(path, text(&terminal::plain()).as_bytes())),
                None => {
                    terminal::print(&text(&terminal::options(talk.color, talk.verbose)));
                    printed = true;
                }
            }
        }
        if !printed {
            let options = terminal::options(talk.color, talk.verbose);
            terminal::print(&report::render(report, Format::Term, &options));
        }
        Ok(written?)
    }
}

fn ask(revisions: &Revisions, settings: &Settings, resume: bool, recording: Option<PathBuf>) -> Ask {
    Ask {
        cwd: terminal::current_dir(),
        base: revisions.base.clone(),
        head: revisions.head.clone(),
        settings: settings.clone(),
        resume,
        recording,
    }
}

/// What the exit code depends on may also be set in the repository.
fn fail_on(ask: &Ask) -> Result<Vec<FailOn>, PipelineError> {
    let repo = crate::edge::git::Repo::discover(&ask.cwd)?;
    Ok(ask.settings.clone().or(pipeline::settings_of(&repo)?).fail_on)
}
