//! The action in the workflows that `abreast init --github` writes, run by [act](https://nektosact.com) as GitHub would
//! run them, on a project of two commits. Other people's actions have stand-ins (`tests/fixtures/actions`).
//!
//! `.ci/github` fetches act and runs these tests; `ACT` is where it is.

use super::server::{FakeGithub, REPOSITORY, TOKEN};
use crate::support::files::Files;
use crate::support::repository::Repository;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A project on a branch `fix`, whose `parse/slow` takes a fifth longer than on `main`.
struct Project {
    repository: Repository,
    folder: tempfile::TempDir,
    head: String,
}

struct Ended {
    succeeded: bool,
    text: String,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::fixture("quick")
            // Scripted times have nothing to do with layout.
            .with("abreast.toml", "rounds = 8\nno-layout-check = true\n");
        let repository = Repository::new(&folder.path().join("repository"), &files);
        let program = Path::new(env!("CARGO_BIN_EXE_abreast"));
        let init = Command::new(program)
            .args(["init", "--github", "--action", ACTION])
            .current_dir(&repository.path)
            .output()
            .unwrap();
        assert!(init.status.success(), "{init:?}");
        repository.git(&["add", "--all"]);
        repository.git(&["commit", "--quiet", "-m", "workflows"]);
        repository.git(&[
            "remote",
            "add",
            "origin",
            &format!("https://github.com/{REPOSITORY}.git"),
        ]);
        repository.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
        repository.git(&["checkout", "--quiet", "-b", "fix"]);
        let mut project = Self {
            repository,
            folder,
            head: String::new(),
        };
        project.push("slower", "1_000.0", "1_200.0");
        project
    }

    /// A commit that changes the library.
    fn push(&mut self, message: &str, old: &str, new: &str) {
        let path = self.repository.path.join("src/lib.rs");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{text}");
        std::fs::write(path, text.replace(old, new)).unwrap();
        self.repository
            .git(&["commit", "--quiet", "--all", "-m", message]);
        self.head = self.repository.git(&["rev-parse", "HEAD"]);
    }

    /// What a pull request's event says, if the branch is in this repository.
    fn pull_request(&self, repository: &str) -> Value {
        json!({
            "number": 7,
            "pull_request": {
                "number": 7,
                "head": {"ref": "fix", "sha": self.head, "repo": {"full_name": repository}},
                "base": {"ref": "main"},
            },
            "repository": {"default_branch": "main", "full_name": REPOSITORY},
        })
    }

    /// Makes the newest commit one of yesterday, and `origin` a folder that can be pushed to.
    fn of_yesterday(&mut self) {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let noon = now.unwrap().as_secs() / 86_400 * 86_400 - 43_200;
        let amended = Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
            .args(["commit", "--quiet", "--amend", "--no-edit"])
            .current_dir(&self.repository.path)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_COMMITTER_DATE", format!("@{noon} +0000"))
            .status();
        assert!(amended.unwrap().success());
        self.head = self.repository.git(&["rev-parse", "HEAD"]);
        let remote = self.path("remote.git");
        let place = remote.to_str().unwrap();
        self.repository.git(&["init", "--quiet", "--bare", place]);
        let alias = format!("url.{place}.insteadOf");
        let public = format!("https://github.com/{REPOSITORY}.git");
        self.repository.git(&["config", &alias, &public]);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a workflow on an event.
    fn run(&self, github: &FakeGithub, workflow: &str, name: &str, event: &Value) -> Ended {
        let act = std::env::var_os("ACT").expect("ACT says where act is");
        std::fs::write(self.path("event.json"), event.to_string()).unwrap();
        std::fs::create_dir_all(self.path("artifacts")).unwrap();
        let tools = Path::new(env!("CARGO_BIN_EXE_abreast")).parent().unwrap();
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(act);
        command
            .arg(name)
            .args(["--workflows", &format!(".github/workflows/{workflow}")])
            .arg("--eventpath")
            .arg(self.path("event.json"))
            .args(["--platform", "ubuntu-latest=-self-hosted", "--secret"])
            .arg(format!("GITHUB_TOKEN={TOKEN}"));
        for (name, value) in [
            ("GITHUB_API_URL", github.api.clone()),
            ("ARTIFACTS", self.path("artifacts").display().to_string()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
        ] {
            command.args(["--env", &format!("{name}={value}")]);
        }
        for (action, folder) in self.stand_ins() {
            command.args(["--local-repository", &format!("{action}={}", folder.display())]);
        }
        let output = command
            .current_dir(&self.repository.path)
            .env("HOME", self.path("home-of-act"))
            .env("CARGO_HOME", cargo_home())
            .env("RUSTUP_HOME", rustup_home())
            .env("PATH", path)
            .env_remove("CARGO_TARGET_DIR")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ended {
            succeeded: output.status.success(),
            text: text(&output.stdout) + &text(&output.stderr),
        }
    }

    /// Where act finds actions: this one, and those of others as they are pinned.
    fn stand_ins(&self) -> Vec<(String, PathBuf)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        // What of this repository the action needs; act copies all that is there.
        let own = self.path("action");
        let mut files = Files::default();
        for entry in ["action.yml", "Cargo.toml", "Cargo.lock", "assets", "src"] {
            for file in walkdir::WalkDir::new(root.join(entry)) {
                let file = file.unwrap();
                if file.file_type().is_file() {
                    let path = file.path().strip_prefix(root).unwrap().to_str().unwrap();
                    files = files.with(path, std::fs::read(file.path()).unwrap());
                }
            }
        }
        files.write(&own);
        let mut found = vec![(ACTION.to_owned(), own)];
        for (_, text) in super::workflows::files() {
            for line in text.lines() {
                let Some((_, used)) = line.split_once("uses: actions/") else {
                    continue;
                };
                let pinned = used.split_whitespace().next().unwrap();
                let name = pinned.split('@').next().unwrap();
                let folder = root.join("tests/fixtures/actions").join(name);
                if folder.is_dir() {
                    found.push((format!("actions/{pinned}"), folder));
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }

    fn artifact(&self, name: &str, file: &str) -> String {
        let path = self.path("artifacts").join(name).join(file);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

impl Ended {
    #[track_caller]
    fn expect(&self, succeeded: bool) {
        assert_eq!(self.succeeded, succeeded, "{}", self.text);
    }
}

/// What stands for this repository in workflows.
const ACTION: &str = "an-owner/abreast@v0.0.0";

/// Where cargo and rustup are although `HOME` is another one.
fn cargo_home() -> PathBuf {
    std::env::var_os("CARGO_HOME").map_or_else(|| home().join(".cargo"), PathBuf::from)
}

fn rustup_home() -> PathBuf {
    std::env::var_os("RUSTUP_HOME").map_or_else(|| home().join(".rustup"), PathBuf::from)
}

fn home() -> PathBuf {
    std::env::home_dir().unwrap()
}

#[test]
#[ignore = "needs act: .ci/github"]
fn one_step_measures_a_pull_request_and_keeps_its_comment() {
    let github = FakeGithub::new();
    let mut project = Project::new();
    github.open(7, REPOSITORY, "fix", &project.head);
    let ended = project.run(
        &github,
        "abreast.yml",
        "pull_request",
        &project.pull_request(REPOSITORY),
    );
    // The template fails for a regression, after everything else.
    ended.expect(false);
    let body = github.body();
    assert!(
        body.contains("### 🔴 `benchmarks`: 1 regressed, 3 unchanged of 4 scenarios"),
        "{body}"
    );
    assert!(body.contains(&project.head[..10]), "{body}");
    assert!(
        project
            .artifact("abreast", "report.json")
            .contains("\"regressed\": 1")
    );
    assert!(
        project
            .artifact("abreast", "recording.jsonl")
            .contains("abreast/recording/1")
    );
    assert!(project.artifact("abreast", "report.md").contains("parse/slow"));

    project.push("as before", "1_200.0", "1_000.0");
    github.state().pulls.clear();
    github.open(7, REPOSITORY, "fix", &project.head);
    let ended = project.run(
        &github,
        "abreast.yml",
        "pull_request",
        &project.pull_request(REPOSITORY),
    );
    ended.expect(true);
    let body = github.body();
    assert!(body.contains("`benchmarks`: ") && !body.contains("🔴"), "{body}");
    assert!(body.contains(&project.head[..10]), "{body}");
}

#[test]
#[ignore = "needs act: .ci/github"]
fn a_pull_request_from_a_fork_is_measured_without_rights_and_told_of_without_its_code() {
    let github = FakeGithub::new();
    let project = Project::new();
    github.open(7, "guest/project", "fix", &project.head);
    let event = project.pull_request("guest/project");
    let own = project.run(&github, "abreast.yml", "pull_request", &event);
    own.expect(true);
    assert!(
        github.state().asked.is_empty(),
        "it is not for forks: {}",
        own.text
    );

    let measured = project.run(&github, "abreast-fork-measure.yml", "pull_request", &event);
    measured.expect(false);
    assert!(
        github.state().asked.is_empty(),
        "it has no rights: {}",
        measured.text
    );

    let event = json!({"workflow_run": {
        "id": 800, "run_number": 4, "run_attempt": 1, "event": "pull_request", "conclusion": "failure",
        "head_branch": "fix", "head_sha": project.head,
        "head_repository": {"id": 5, "full_name": "guest/project"}, "pull_requests": [],
    }});
    let told = project.run(&github, "abreast-fork-comment.yml", "workflow_run", &event);
    told.expect(true);
    let body = github.body();
    assert!(body.contains("### 🔴 `benchmarks`: 1 regressed"), "{body}");
    assert!(body.contains("/actions/runs/800)"), "{body}");
}

#[test]
#[ignore = "needs act: .ci/github"]
fn a_matrix_of_shards_is_judged_as_one() {
    let github = FakeGithub::new();
    let project = Project::new();
    let event = json!({"inputs": {"base": "HEAD~1", "head": "HEAD"}});
    let ended = project.run(&github, "abreast-shards.yml", "workflow_dispatch", &event);
    ended.expect(false);
    for shard in 1..=4 {
        let recording = project.artifact(&format!("abreast-shard-{shard}"), "recording.jsonl");
        assert!(
            recording.contains(&format!(r#""shard":{{"index":{shard},"count":4}}"#)),
            "{shard}"
        );
    }
    let report: Value = serde_json::from_str(&project.artifact("abreast", "report.json")).unwrap();
    assert_eq!(report["summary"]["judged"], 4, "{report:#}");
    assert_eq!(report["summary"]["regressed"], 1, "{report:#}");
    assert!(github.bodies().is_empty(), "no pull request started it");
}

#[test]
#[ignore = "needs act: .ci/github"]
fn a_night_is_remembered_on_the_branch_of_the_history() {
    let github = FakeGithub::new();
    let mut project = Project::new();
    project.of_yesterday();
    let ended = project.run(&github, "abreast-nightly.yml", "schedule", &json!({}));
    ended.expect(true);
    let remote = project.path("remote.git");
    let kept = crate::support::repository::git(&remote, &["ls-tree", "-r", "--name-only", "abreast-history"]);
    assert!(kept.contains(&project.head), "{kept}");
    let page = project.artifact("abreast-trend", "trend.html");
    // Its rows are packed; that they are shown is looked at in a browser.
    assert!(
        page.contains("This page draws its charts itself"),
        "no page of a trend"
    );
    assert!(
        project
            .artifact("abreast-qualify", "qualify.json")
            .contains("abreast/")
    );
    assert!(github.state().asked.is_empty());
}
