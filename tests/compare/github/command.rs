//! `abreast comment` as a workflow runs it: in this process, where nobody waits, or as the program.

use super::harmless::assert_harmless;
use super::reports::{regressed, report, row, sha, unchanged};
use super::server::{ENTERPRISE, FakeGithub, REPOSITORY, TOKEN};
use super::turnstile::Turnstile;
use abreast::edge::github::{Runner, Time};
use abreast::pipeline::{CommentAsk, Commented, PipelineError, Surroundings};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// Where a job runs: a runner with its files, and a GitHub.
pub(crate) struct Job {
    pub(crate) folder: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Time in which nothing passes.
pub(crate) fn no_time() -> Time {
    Time {
        now_s: Box::new(|| 0),
        wait: Box::new(|_| ()),
    }
}

/// What is asked for if nothing is said.
pub(crate) fn plainly(_: &mut CommentAsk) {}

fn on_change(ask: &mut CommentAsk) {
    ask.on_change = true;
}

impl Job {
    /// A job of run `run` that was started by an event.
    pub(crate) fn new(github: &FakeGithub, name: &str, event: &Value, run: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(path("event.json"), event.to_string()).unwrap();
        let environment = [
            ("GITHUB_ACTIONS", "true".to_owned()),
            ("GITHUB_API_URL", github.api.clone()),
            ("GITHUB_SERVER_URL", "https://github.example".to_owned()),
            ("GITHUB_REPOSITORY", REPOSITORY.to_owned()),
            ("GITHUB_EVENT_NAME", name.to_owned()),
            ("GITHUB_EVENT_PATH", path("event.json")),
            ("GITHUB_JOB", "bench".to_owned()),
            ("GITHUB_RUN_ID", run.to_string()),
            ("GITHUB_RUN_NUMBER", run.to_string()),
            ("GITHUB_RUN_ATTEMPT", "1".to_owned()),
            ("GITHUB_STEP_SUMMARY", path("summary.md")),
            ("GITHUB_OUTPUT", path("output")),
            ("GITHUB_TOKEN", TOKEN.to_owned()),
        ];
        Self {
            environment: environment.map(|(name, value)| (name.to_owned(), value)).to_vec(),
            folder,
        }
    }

    /// A job for pull request 7 with this newest commit.
    pub(crate) fn of_pull_request(github: &FakeGithub, run: u64, head: char) -> Self {
        let event = json!({"pull_request": {"number": 7, "head": {"sha": sha(head)}}});
        Self::new(github, "pull_request", &event, run)
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.environment.retain(|(there, _)| there != name);
        self
    }

    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        let mut job = self.without(name);
        job.environment.push((name.to_owned(), value.to_owned()));
        job
    }

    /// What the runner puts into the environment.
    pub(crate) fn environment(&self) -> Vec<(&str, &str)> {
        self.environment
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }

    fn variable(&self, name: &str) -> Option<String> {
        let found = self.environment.iter().find(|(there, _)| there == name);
        found.map(|(_, value)| value.clone())
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// `abreast comment FILES` in this process, in some time.
    pub(crate) fn say_in(
        &self,
        time: Time,
        files: &[&Path],
        asked: impl FnOnce(&mut CommentAsk),
    ) -> Result<Commented, PipelineError> {
        let mut ask = CommentAsk {
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            number: None,
            job: None,
            token_env: "GITHUB_TOKEN".to_owned(),
            author: None,
            on_change: false,
            summary_only: false,
        };
        asked(&mut ask);
        let surroundings = Surroundings {
            runner: Runner::read(|name| self.variable(name)),
            token: self.variable(&ask.token_env),
            time,
        };
        let commented = abreast::pipeline::comment(&ask, surroundings);
        let words = match &commented {
            Ok(commented) => commented.said.clone().unwrap_or_default(),
            Err(error) => format!("{error} {error:?}"),
        };
        for shown in [&words, &self.read("summary.md"), &self.read("output")] {
            assert!(!shown.contains(TOKEN), "the token is shown: {shown}");
        }
        commented
    }

    /// The same with one report, without waiting; what was said, or what went wrong.
    pub(crate) fn say(&self, report: &Value, asked: impl FnOnce(&mut CommentAsk)) -> Result<String, String> {
        let path = self.file("report.json", report.to_string());
        match self.say_in(no_time(), &[&path], asked) {
            Ok(commented) => Ok(commented.said.unwrap_or_default()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The same, which says these words.
    #[track_caller]
    pub(crate) fn says(&self, report: &Value, asked: impl FnOnce(&mut CommentAsk), words: &str) {
        match self.say(report, asked) {
            Ok(said) => assert!(said.contains(words), "no `{words}`: {said}"),
            Err(error) => panic!("no `{words}`: {error}"),
        }
    }

    /// `abreast comment FILES ARGUMENTS`, the program.
    pub(crate) fn run(&self, files: &[&Path], arguments: &[&str]) -> Ended {
        let output = Command::new(env!("CARGO_BIN_EXE_abreast"))
            .arg("comment")
            .args(files)
            .args(arguments)
            .env_clear()
            .envs(self.environment.clone())
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let ended = Ended {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        for shown in [
            &ended.stdout,
            &ended.stderr,
            &self.read("summary.md"),
            &self.read("output"),
        ] {
            assert!(!shown.contains(TOKEN), "the token is shown: {shown}");
        }
        assert!(
            !ended.stderr.contains("panicked") && ended.code.is_some_and(|code| code != 70),
            "{:?} {}",
            ended.code,
            ended.stderr
        );
        ended
    }

    /// The same with one report.
    fn run_on(&self, report: &Value, arguments: &[&str]) -> Ended {
        let path = self.file("report.json", report.to_string());
        self.run(&[&path], arguments)
    }
}

impl Ended {
    #[track_caller]
    pub(crate) fn expect(self, code: i32, words: &str) -> Self {
        assert!(
            self.code == Some(code) && self.stderr.contains(words),
            "{:?} instead of {code}, or no `{words}`: {}",
            self.code,
            self.stderr
        );
        self
    }
}

#[test]
fn a_pull_request_gets_a_comment_a_summary_and_outputs() {
    let github = FakeGithub::new();
    github.open(7, REPOSITORY, "fix", &sha('a'));
    let job = Job::of_pull_request(&github, 1, 'a');
    let ended = job.run_on(&regressed('a'), &[]);
    ended.expect(0, "commented on pull request #7");
    let body = github.body();
    assert!(
        body.contains("### 🔴 `bench`: 1 regressed, 1 unchanged of 2 scenarios"),
        "{body}"
    );
    assert!(
        body.contains(
            "[Report and recording of this run](https://github.example/owner/project/actions/runs/1)"
        ),
        "{body}"
    );
    assert!(!body.contains("which is not the newest commit"), "{body}");
    assert_harmless(&body, "https://github.example/");
    assert!(job.read("summary.md").starts_with("### 🔴 `bench`: 1 regressed"));
    assert_eq!(job.read("output"), "verdict=regressed\nregressed=1\nimproved=0\n");
}

#[test]
fn the_exit_code_is_that_of_the_verdict_where_one_is_asked_for() {
    let github = FakeGithub::new();
    let job = Job::of_pull_request(&github, 1, 'a');
    let fail_on = ["--summary-only", "--fail-on", "regression,unclear"];
    job.run_on(&regressed('a'), &fail_on[..1]).expect(0, "");
    job.run_on(&regressed('a'), &fail_on).expect(1, "");
    job.run_on(&unchanged('a'), &fail_on).expect(0, "");
}

#[test]
fn a_read_only_token_leaves_the_summary_and_the_exit_code_of_the_verdict() {
    let github = FakeGithub::new();
    github.state().read_only = true;
    let job = Job::of_pull_request(&github, 1, 'a');
    let ended = job.run_on(&regressed('a'), &["--fail-on", "regression"]);
    let ended = ended.expect(1, "no comment was made");
    assert!(
        ended.stderr.contains("Resource not accessible by integration"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("the report is in the summary of the run"),
        "{}",
        ended.stderr
    );
    let summary = job.read("summary.md");
    assert!(summary.contains("| 🔴\u{a0}alert | `parse/slow` |"), "{summary}");
    assert!(summary.contains("> ℹ️ no comment was made"), "{summary}");
    job.run_on(&unchanged('a'), &["--fail-on", "regression"])
        .expect(0, "");
    assert!(github.bodies().is_empty());
}

#[test]
fn the_summary_alone_asks_github_nothing() {
    let github = FakeGithub::new();
    let job = Job::of_pull_request(&github, 1, 'a').without("GITHUB_TOKEN");
    let arguments = ["--summary-only", "--fail-on", "regression"];
    job.run_on(&regressed('a'), &arguments).expect(1, "");
    assert!(job.read("summary.md").contains("parse/slow"));
    assert!(github.state().asked.is_empty());
}

#[test]
fn what_is_missing_is_named_with_what_to_do() {
    let github = FakeGithub::new();
    github.state().read_only = true;
    let job = || Job::of_pull_request(&github, 1, 'a');
    let refused = |job: Job, words: &str| {
        job.run_on(&regressed('a'), &[]).expect(2, words);
    };
    refused(job().without("GITHUB_TOKEN"), "there is no token in GITHUB_TOKEN");
    refused(job().without("GITHUB_REPOSITORY"), "GITHUB_REPOSITORY is not set");
    refused(
        job().with("GITHUB_API_URL", "github"),
        "GITHUB_API_URL begins neither",
    );
    let other = job().with("MY_TOKEN", TOKEN).without("GITHUB_TOKEN");
    let known = "Resource not accessible by integration";
    other
        .run_on(&regressed('a'), &["--token-env", "MY_TOKEN"])
        .expect(0, known);
}

#[test]
fn a_refusal_is_an_error_and_leaves_the_report_in_the_summary() {
    let github = FakeGithub::new();
    github.fail("POST", 422, "Validation Failed");
    let job = Job::of_pull_request(&github, 1, 'a');
    job.run_on(&regressed('a'), &[]).expect(2, "Validation Failed");
    let summary = job.read("summary.md");
    assert!(
        summary.contains("parse/slow") && summary.contains("no comment was made"),
        "{summary}"
    );
}

#[test]
fn several_files_are_parts_of_one_section() {
    let github = FakeGithub::new();
    let job = Job::of_pull_request(&github, 1, 'a');
    let linux = job.file("linux.json", regressed('a').to_string());
    let arm = job.file("arm.json", unchanged('a').to_string());
    let named = |ask: &mut CommentAsk| ask.job = Some("all of them".to_owned());
    let commented = job.say_in(no_time(), &[&linux, &arm], named).unwrap();
    assert_eq!(commented.reports.len(), 2);
    let body = github.body();
    assert!(
        body.contains("### 🔴 `all of them` `linux`: 1 regressed"),
        "{body}"
    );
    assert!(body.contains("### ✅ `all of them` `arm`: 1 unchanged"), "{body}");
}

#[test]
fn a_job_whose_pull_request_moved_on_says_what_it_is_about() {
    let github = FakeGithub::new();
    github.open(7, REPOSITORY, "fix", &sha('c'));
    let job = Job::of_pull_request(&github, 1, 'a');
    job.says(&regressed('a'), plainly, "commented");
    let body = github.body();
    assert!(
        body.contains("about `aaaaaaaaaa`, which is not the newest commit"),
        "{body}"
    );
    let newer = Job::of_pull_request(&github, 2, 'c');
    newer.says(&unchanged('c'), plainly, "updated");
    assert!(!github.body().contains("which is not the newest commit"));
    let older = Job::of_pull_request(&github, 1, 'a');
    older.says(&regressed('a'), plainly, "left as it is");
}

#[test]
fn nothing_is_said_where_nothing_changed_if_that_was_asked_for() {
    let github = FakeGithub::new();
    let job = Job::of_pull_request(&github, 1, 'a');
    job.says(&unchanged('a'), on_change, "nothing changed");
    assert!(github.bodies().is_empty());
    assert!(job.read("summary.md").contains("no change"));
    job.says(&report('a', vec![]), on_change, "commented");
    assert!(github.body().contains("Nothing was compared"));
}

#[test]
fn an_event_about_no_pull_request_gets_the_summary() {
    let github = FakeGithub::new();
    let job = Job::new(&github, "push", &json!({"ref": "refs/heads/main"}), 1);
    job.says(&regressed('a'), plainly, "this event is about no pull request");
    assert!(job.read("summary.md").contains("parse/slow"));
    let named = |ask: &mut CommentAsk| ask.number = Some(7);
    job.says(&regressed('a'), named, "commented on pull request #7");
}

#[test]
fn the_user_of_a_token_is_asked_for_and_can_be_named() {
    let github = FakeGithub::new();
    {
        let mut state = github.state();
        state.login = Some("a-person".to_owned());
        state.tells_login = true;
    }
    for (run, head) in [(1, 'a'), (2, 'c')] {
        let job = Job::of_pull_request(&github, run, head);
        job.says(&regressed(head), plainly, "");
    }
    assert_eq!(github.asked("POST"), 1);
    github.state().tells_login = false;
    let job = Job::of_pull_request(&github, 3, 'd');
    let named = |ask: &mut CommentAsk| ask.author = Some("a-person".to_owned());
    job.says(&regressed('d'), named, "updated");
    assert_eq!(github.asked("POST"), 1);
}

#[test]
fn a_server_of_ones_own_has_its_api_below_a_path_and_its_pages_elsewhere() {
    let github = FakeGithub::new();
    let job = Job::of_pull_request(&github, 1, 'a')
        .with("GITHUB_API_URL", &format!("{}{ENTERPRISE}/", github.api))
        .with("GITHUB_SERVER_URL", "https://git.company.example");
    job.says(&regressed('a'), plainly, "commented on pull request #7");
    let body = github.body();
    assert!(
        body.contains("(https://git.company.example/owner/project/actions/runs/1)"),
        "{body}"
    );
    assert_harmless(&body, "https://git.company.example/");
}

#[test]
fn jobs_that_end_at_once_leave_one_comment_with_all_their_sections() {
    let github = FakeGithub::new();
    let names = ["linux", "arm", "mac"];
    let turnstile = Arc::new(Turnstile::new(names.len()));
    std::thread::scope(|scope| {
        for name in names {
            let (github, turnstile) = (&github, Arc::clone(&turnstile));
            scope.spawn(move || {
                let job = Job::of_pull_request(github, 1, 'a');
                let path = job.file("report.json", regressed('a').to_string());
                let named = |ask: &mut CommentAsk| ask.job = Some(name.to_owned());
                let passer = turnstile.passer();
                let time = Time {
                    now_s: Box::new(|| 0),
                    wait: Box::new(move |_| passer.wait()),
                };
                job.say_in(time, &[&path], named).unwrap();
            });
        }
    });
    let body = github.body();
    for name in names {
        assert!(body.contains(&format!("### 🔴 `{name}`: 1 regressed")), "{body}");
    }
}

#[test]
fn a_row_of_every_kind_is_shown_harmlessly() {
    let github = FakeGithub::new();
    let job = Job::of_pull_request(&github, 1, 'a');
    let rows = ["regressed", "improved", "unclear", "unchanged"].map(|verdict| row(verdict, verdict));
    job.says(&report('a', rows.to_vec()), plainly, "commented");
    assert_harmless(&github.body(), "https://github.example/");
}
