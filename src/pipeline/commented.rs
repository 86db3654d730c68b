//! Bringing reports to a pull request: look, decide, write, and look again until there is nothing left to do.

use super::PipelineError;
use crate::comment::{Decision, Edit, LIMIT, Message, Reason, Situation, Told, decide};
use crate::edge::github::{Access, Github, GithubError, Runner, Time};
use crate::edge::store;
use crate::pull_request::{About, Choice, Head, choose};
use crate::report::json::{self, MOST_BYTES};
use crate::report::{Report, markdown, visible};
use crate::verdict::Verdict;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What `comment` is asked for.
#[derive(Debug, Clone)]
pub struct CommentAsk {
    /// Reports as JSON, at least one.
    pub files: Vec<PathBuf>,
    /// Number of the pull request; `None`: the one the event is about.
    pub number: Option<u64>,
    /// Name of the job's section; `None`: the job's id.
    pub job: Option<String>,
    /// Environment variable with the token.
    pub token_env: String,
    /// Login that comments are made with; `None`: that of the token, as far as it tells.
    pub author: Option<String>,
    /// Say nothing where nothing changed, unless something is said already.
    pub on_change: bool,
    /// Write only what the runner shows; ask GitHub nothing.
    pub summary_only: bool,
}

/// What surrounds the command.
pub struct Surroundings {
    /// What the runner says about the job.
    pub runner: Runner,
    /// What the variable [`CommentAsk::token_env`] holds; absent if it is not set.
    pub token: Option<String>,
    /// What is waited with.
    pub time: Time,
}

/// What came of bringing reports to a pull request.
#[derive(Debug, Clone, PartialEq)]
pub struct Commented {
    /// They.
    pub reports: Vec<Report>,
    /// What became of the comment, in one line; absent if none was wanted.
    pub said: Option<String>,
}

/// Whom a message is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient {
    /// Number of the pull request.
    pub number: u64,
    /// Login that comments of this tool are made with.
    pub author: String,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Became {
    /// A comment was made.
    Created,
    /// The comment that was there was changed.
    Updated,
    /// Nothing had to be done.
    Left(Reason),
}

/// Name of a job that has none. Chosen.
const NAMELESS: &str = "benchmarks";
/// Who comments with the token that a workflow is given.
const OF_WORKFLOWS: &str = "github-actions[bot]";
/// How often one looks at most: each time, another job may have written meanwhile. Chosen.
const LOOKS: u32 = 6;
/// Longer than another job takes from reading the comment to having written it, so that the next look shows what that
/// overwrote. Chosen.
const SETTLED: Duration = Duration::from_millis(1_500);

/// Brings reports to a pull request: its comment where that is allowed, the summary of the run in any case.
///
/// # Errors
/// [`PipelineError`] if a file is no report, or GitHub cannot be told; that the token may not write is none.
pub fn comment(ask: &CommentAsk, surroundings: Surroundings) -> Result<Commented, PipelineError> {
    let reports = ask
        .files
        .iter()
        .map(|file| read(file))
        .collect::<Result<Vec<_>, _>>()?;
    let Surroundings { runner, token, time } = surroundings;
    if let About::Upstream { head, .. } = &runner.trigger.about {
        for (file, told) in ask.files.iter().zip(&reports) {
            check_commit(file, &told.report, head)?;
        }
    }
    let message = message(ask, &runner, reports);
    runner.summarize(&message.text(LIMIT))?;
    runner.output(&outputs(&message))?;
    let said = if ask.summary_only {
        None
    } else {
        let access = || access(ask, &runner, token).and_then(|access| Github::new(access, time));
        Some(match deliver(ask, &runner, &message, access) {
            Ok(Delivered::Said(words)) => visible::line(&words),
            Ok(Delivered::Unsaid(words)) => unsaid(&words, &runner)?,
            Err(PipelineError::Github(error @ GithubError::ReadOnly { .. })) => {
                unsaid(&format!("no comment was made: {error}"), &runner)?
            }
            Err(error) => {
                // The error of the comment is the better answer than one of the summary.
                let _ = runner.summarize(&remark(&format!("no comment was made: {error}")));
                return Err(error);
            }
        })
    };
    let reports = message.reports.into_iter().map(|told| told.report).collect();
    Ok(Commented { reports, said })
}

fn read(path: &Path) -> Result<Told, PipelineError> {
    let bytes = store::read_artifact(path, MOST_BYTES as u64)?;
    let report = json::read(&bytes).map_err(|source| PipelineError::Report {
        path: path.to_owned(),
        source,
    })?;
    let name = path.file_stem().unwrap_or_default();
    Ok(Told {
        name: name.to_string_lossy().into_owned(),
        report,
    })
}

fn message(ask: &CommentAsk, runner: &Runner, reports: Vec<Told>) -> Message {
    // What GitHub says of the head is believed before what the report says.
    let head = match &runner.trigger.about {
        About::Upstream { head, .. } => Some(head.sha.clone()),
        About::Number { sha, .. } => sha.clone(),
        About::Nothing => None,
    };
    let measured = || reports.first().map(|told| told.report.head.sha.clone());
    Message {
        job: ask
            .job
            .clone()
            .or_else(|| runner.job.clone())
            .unwrap_or_else(|| NAMELESS.to_owned()),
        head: head.or_else(measured).unwrap_or_default(),
        run: runner.trigger.run,
        on_change: ask.on_change,
        files: runner.page(),
        reports,
    }
}

/// What later steps of a workflow may ask for.
fn outputs(message: &Message) -> [(&'static str, String); 3] {
    [
        ("verdict", message.verdict().as_str().to_owned()),
        ("regressed", message.count(Verdict::Regressed).to_string()),
        ("improved", message.count(Verdict::Improved).to_string()),
    ]
}

/// Says why there is no comment, also where the reports are shown.
fn unsaid(words: &str, runner: &Runner) -> Result<String, PipelineError> {
    let shown = runner.summarize(&remark(words))?;
    let instead = if shown {
        "; the report is in the summary of the run"
    } else {
        ""
    };
    Ok(format!("{}{instead}", visible::line(words)))
}

fn remark(words: &str) -> String {
    format!("> ℹ️ {}", markdown::prose(words))
}

/// A message that reached its pull request, or the reason why it did not have to; in words.
enum Delivered {
    Said(String),
    Unsaid(String),
}

fn deliver(
    ask: &CommentAsk,
    runner: &Runner,
    message: &Message,
    access: impl FnOnce() -> Result<Github, GithubError>,
) -> Result<Delivered, PipelineError> {
    let about = &runner.trigger.about;
    let named = match about {
        About::Number { number, .. } => Some(*number),
        _ => None,
    };
    let (github, number) = match (ask.number.or(named), about) {
        (Some(number), _) => (access()?, number),
        (None, About::Upstream { head, numbers }) => {
            let github = access()?;
            match choose(&github.pull_requests_from(head)?, head, numbers) {
                Choice::One(it) => (github, it.number),
                other => return Ok(Delivered::Unsaid(no_recipient(&other, head))),
            }
        }
        (None, _) => {
            let words = "no comment was made: this event is about no pull request; name one with --pr";
            return Ok(Delivered::Unsaid(words.to_owned()));
        }
    };
    let author = match &ask.author {
        Some(author) => author.clone(),
        None => github.login()?.unwrap_or_else(|| OF_WORKFLOWS.to_owned()),
    };
    let became = publish(&github, message, &Recipient { number, author })?;
    Ok(Delivered::Said(in_words(became, number, &message.job)))
}

fn access(ask: &CommentAsk, runner: &Runner, token: Option<String>) -> Result<Access, GithubError> {
    Ok(Access {
        api: runner.api.clone(),
        token: token.ok_or_else(|| GithubError::NoToken {
            variable: ask.token_env.clone(),
        })?,
        repository: runner.repository.clone().ok_or_else(|| GithubError::Setting {
            name: "GITHUB_REPOSITORY".to_owned(),
            wrong: "is not set",
        })?,
        roots: runner.roots()?,
    })
}

/// A report from somebody else's run may claim anything; that it is about another commit than the run can be seen.
fn check_commit(file: &Path, report: &Report, head: &Head) -> Result<(), PipelineError> {
    if report.head.sha == head.sha {
        return Ok(());
    }
    Err(PipelineError::OtherCommit {
        path: file.to_owned(),
        found: report.head.short().to_owned(),
        expected: head.sha.get(..10).unwrap_or(&head.sha).to_owned(),
    })
}

fn no_recipient(choice: &Choice, head: &Head) -> String {
    let reason = match choice {
        Choice::Moved(it) => format!(
            "pull request #{} has a newer commit by now, whose own run will tell",
            it.number
        ),
        Choice::Several(numbers) => {
            let numbers: Vec<String> = numbers.iter().map(|number| format!("#{number}")).collect();
            format!(
                "the pull requests {} all have this head; name one with --pr",
                numbers.join(", ")
            )
        }
        Choice::One(_) | Choice::None => format!(
            "no open pull request has the head `{}` of {}",
            head.branch,
            head.repository.as_deref().unwrap_or("a repository that is gone")
        ),
    };
    format!("no comment was made: {reason}")
}

fn in_words(became: Became, number: u64, job: &str) -> String {
    match became {
        Became::Created => format!("commented on pull request #{number}"),
        Became::Updated => format!("updated the comment on pull request #{number}"),
        Became::Left(Reason::Said) => format!("the comment on pull request #{number} says this already"),
        Became::Left(Reason::Newer) => {
            format!("pull request #{number} shows what a newer run found already; it was left as it is")
        }
        Became::Left(Reason::Quiet) => {
            format!("nothing changed, so nothing was said on pull request #{number}")
        }
        Became::Left(Reason::SameName) => format!(
            "two jobs of this run are called `{job}`, and only one of them is shown on pull request #{number}: name \
             each with --job"
        ),
    }
}

/// Makes a pull request's comment say this message. Two jobs that write at once may each overwrite the other: so every
/// change is looked at once more after a while, and made again if it is gone. What failed is not made again without
/// another look either.
///
/// # Errors
/// [`GithubError`], if GitHub does not answer or does not allow it.
pub fn publish(github: &Github, message: &Message, to: &Recipient) -> Result<Became, GithubError> {
    let mut author = to.author.clone();
    let mut became: Option<Became> = None;
    let (mut look, mut failures) = (0, 0);
    loop {
        look += 1;
        let comments = github.comments(to.number)?;
        // Read after the comments, so that it is no older than the newest commit that one of them is about.
        let head = github.pull_request(to.number)?.map(|it| it.head.sha);
        let situation = Situation {
            comments: &comments,
            author: &author,
            head: head.as_deref(),
            written: became.is_some(),
        };
        let written = match decide(message, &situation) {
            // That only one of two jobs is shown is news even to the one that wrote.
            Decision::Leave(reason @ Reason::SameName) => return Ok(Became::Left(reason)),
            Decision::Leave(reason) => return Ok(became.unwrap_or(Became::Left(reason))),
            Decision::Create(body) => github.create(to.number, &body).map(|posted| {
                // Who an app is, it learns from what it wrote.
                author = posted.author.unwrap_or(author.clone());
                became.unwrap_or(Became::Created)
            }),
            Decision::Edit(edit) => carry_out(github, &edit).map(|()| match became {
                Some(Became::Created) if edit.remove.is_empty() => Became::Created,
                _ => Became::Updated,
            }),
        };
        match written {
            Ok(now) if look >= LOOKS => return Ok(now),
            Ok(now) => {
                became = Some(now);
                github.pause(SETTLED);
            }
            Err(failure) if look >= LOOKS => return Err(failure),
            Err(failure) => {
                failures += 1;
                github.wait_out(failure, failures)?;
            }
        }
    }
}

fn carry_out(github: &Github, edit: &Edit) -> Result<(), GithubError> {
    if let Some(body) = &edit.body {
        // If it is gone, the next look makes another one.
        github.edit(edit.id, body)?;
    }
    for id in &edit.remove {
        github.delete(*id)?;
    }
    Ok(())
}
