//! The command line: what may be typed, and delivering what comes of it.

mod bisect;
mod build;
mod comment;
mod export;
mod init;
mod keeping;
mod output;
mod qualify;
mod trend;

use self::bisect::Bisect;
use self::build::Build;
use self::comment::Comment;
use self::export::Export;
use self::init::Init;
use self::keeping::Keeping;
use self::output::{Output, TalkArgs};
use self::qualify::Qualify;
use self::trend::Trend;
use crate::config::Settings;
use crate::edge::archive::SUFFIX;
use crate::edge::terminal;
use crate::exit::{Circumstance, Exit};
use crate::pipeline::{self, Ask, BundleAsk, ForeignAsk, Outcome, PipelineError};
use crate::report::{sentence, visible};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

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
  abreast compare HEAD~1 HEAD --keep     remember it; abreast trend -o t.html shows all that is remembered
  abreast qualify --reports 20           how often this machine makes unchanged code look changed
  abreast build main HEAD -o b.tar.zst   build here; elsewhere: abreast record b.tar.zst -o r.jsonl
  abreast comment report.json            in a GitHub workflow: the comment on the pull request

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
    /// Build two commits into a bundle, to be measured on another machine
    Build(Build),
    /// Measure two commits, or a bundle, into a file, to be judged later or elsewhere
    Record(Record),
    /// Judge one recording, or the shards of one comparison together
    Judge(Judge),
    /// Measure one commit against itself, many times: how often this machine makes unchanged code look changed
    Qualify(Qualify),
    /// Show how fast the commits of a branch were: plots, change points and slow drift, from the history that --keep writes
    Trend(Trend),
    /// Find the commit that changed one benchmark, comparing commits between a good and a bad one
    Bisect(Bisect),
    /// Write the history for other programs
    Export(Export),
    /// Bring reports to a GitHub pull request: one comment, kept up to date, and the summary of the job
    Comment(Comment),
    /// Write a commented abreast.toml at the root of the repository, or workflows for GitHub
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
    keeping: Keeping,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    talk: TalkArgs,
}

#[derive(Debug, Args)]
struct Record {
    /// A bundle (a file that ends in .tar.zst), or what the change is measured against [default: merge base of HEAD with
    /// the default branch]
    #[arg(value_name = "BUNDLE|BASE")]
    base: Option<String>,
    /// The change: any revision, or `:worktree` for the files as they are [default: :worktree]
    head: Option<String>,
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
    #[arg(required_unless_present = "base", conflicts_with_all = ["base", "head"], value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Instead of recordings: what a program wrote about itself at base, one file a launch (repeatable); `--format` says in
    /// which format: abreast-decode, profile-native, llama-bench, vllm-latency, vllm-serve, sglang, trtllm, genai,
    /// nvbench, hyperfine, google-benchmark, go-bench
    #[arg(long, value_name = "FILE", requires = "head")]
    base: Vec<PathBuf>,
    /// The same at head
    #[arg(long, value_name = "FILE", requires = "base")]
    head: Vec<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    keeping: Keeping,
    #[command(flatten)]
    output: Output,
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
            terminal::error(&visible(&error.to_string()));
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
    let judge = |judge: clap::Command| {
        judge.mut_args(|argument| {
            let measures = argument
                .get_help_heading()
                .is_some_and(|heading| MEASURING.contains(&heading));
            argument.hide(measures)
        })
    };
    // `qualify` always measures identical executables, and what it finds is no failure.
    let qualify = |qualify: clap::Command| {
        let means_nothing = ["measure_identical", "fail_on", "shard", "instructions"];
        qualify.mut_args(|argument| {
            let hidden = means_nothing.contains(&argument.get_id().as_str());
            argument.hide(hidden)
        })
    };
    Cli::command()
        .mut_subcommand("judge", judge)
        .mut_subcommand("qualify", qualify)
}

/// Headings of settings that a recording has already settled.
const MEASURING: [&str; 2] = ["What is measured", "How it is measured"];

impl Command {
    fn run(&self) -> Result<Exit, PipelineError> {
        match self {
            Self::Compare(compare) => compare.run(),
            Self::Build(build) => build.run(),
            Self::Record(record) => record.run(),
            Self::Judge(judge) => judge.run(),
            Self::Qualify(qualify) => qualify.run(),
            Self::Trend(trend) => trend.run(),
            Self::Bisect(bisect) => bisect.run(),
            Self::Export(export) => export.run(),
            Self::Comment(comment) => comment.run(),
            Self::Init(init) => init.run(),
        }
    }
}

impl Compare {
    fn run(&self) -> Result<Exit, PipelineError> {
        let ask = self.revisions.ask(&self.settings);
        let ask = Ask {
            resume: self.resume,
            recording: self.recording.clone(),
            ..ask
        };
        self.output.check()?;
        self.keeping.check_sides(&ask)?;
        let outcome = pipeline::compare(&ask, &self.talk.view())?;
        self.output.deliver(&outcome.report, &self.talk)?;
        self.keeping.keep(&outcome, &self.talk)?;
        Ok(exit(&outcome))
    }
}

impl Record {
    fn run(&self) -> Result<Exit, PipelineError> {
        let view = self.talk.view();
        let recording = match (&self.base, &self.head) {
            (Some(bundle), None) if is_bundle(bundle) => {
                if !self.settings.nothing_to_build() {
                    let message =
                        "a bundle is built already: of what is measured, `record` can choose only --filter";
                    return Err(PipelineError::Usage(message.to_owned()));
                }
                let ask = BundleAsk {
                    bundle: PathBuf::from(bundle),
                    settings: self.settings.clone(),
                    resume: self.resume,
                    recording: self.output.clone(),
                };
                pipeline::record_bundle(&ask, &view)?
            }
            (Some(bundle), Some(_)) if is_bundle(bundle) => {
                let message = "a bundle holds both sides: leave HEAD out";
                return Err(PipelineError::Usage(message.to_owned()));
            }
            (base, head) => {
                let revisions = Revisions {
                    base: base.clone(),
                    head: head.clone(),
                };
                let ask = Ask {
                    resume: self.resume,
                    recording: Some(self.output.clone()),
                    ..revisions.ask(&self.settings)
                };
                pipeline::record(&ask, &view)?
            }
        };
        // The recording is the result; verdicts, and so --fail-on, are the business of `judge`.
        let outcome = pipeline::judge(recording, Vec::new());
        let code = exit(&outcome);
        if code != Exit::Interrupted {
            let headline = sentence::headline(&outcome.report).text;
            let file = self.output.display();
            view.say(&format!(
                "wrote {file}: {headline}; `abreast judge {file}` tells more"
            ));
        }
        Ok(code)
    }
}

impl Judge {
    fn run(&self) -> Result<Exit, PipelineError> {
        if !self.settings.only_judge() {
            return Err(PipelineError::Usage(
                "a recording is measured already: `judge` takes --threshold, --margin, --alert, --floor-ns, --claim and \
                 --fail-on only"
                    .to_owned(),
            ));
        }
        for files in [&self.files, &self.base, &self.head] {
            self.output.spare(files)?;
        }
        self.keeping.check()?;
        let outcome = self.outcome()?;
        self.output.deliver(&outcome.report, &self.talk)?;
        self.keeping.keep(&outcome, &self.talk)?;
        // Who judges an interrupted run was not interrupted.
        let circumstance = Circumstance {
            interrupted: false,
            ..Circumstance::of(&outcome.recording)
        };
        let exit = Exit::of(&outcome.report, &outcome.fail_on, circumstance);
        // The process ends here; giving back a million small pieces of memory one by one would take a tenth as long as
        // all the rest.
        std::mem::forget(outcome);
        Ok(exit)
    }
}

impl Judge {
    /// Of recordings, or of files that a program wrote.
    fn outcome(&self) -> Result<Outcome, PipelineError> {
        if self.base.is_empty() {
            self.output.check()?;
            return pipeline::judge_files(&self.files, &self.settings);
        }
        let Some(format) = self.output.program()? else {
            return Err(PipelineError::Usage(
                "--base and --head are read in the format of a program: say which with --format".to_owned(),
            ));
        };
        pipeline::judge_foreign(ForeignAsk {
            base: &self.base,
            head: &self.head,
            format,
            settings: &self.settings,
        })
    }
}

impl Revisions {
    fn ask(&self, settings: &Settings) -> Ask {
        Ask {
            cwd: terminal::current_dir(),
            base: self.base.clone(),
            head: self.head.clone(),
            settings: settings.clone(),
            resume: false,
            recording: None,
        }
    }
}

/// What came from a repository or a file may hold terminal escapes.
fn visible(text: &str) -> String {
    visible::lines(text).join("\n")
}

fn is_bundle(name: &str) -> bool {
    name.ends_with(SUFFIX)
}

fn exit(outcome: &Outcome) -> Exit {
    Exit::of(
        &outcome.report,
        &outcome.fail_on,
        Circumstance::of(&outcome.recording),
    )
}
