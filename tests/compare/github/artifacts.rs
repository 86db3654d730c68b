//! Artifacts that somebody made up to break the page, the program, or whoever reads the comment.

use super::command::{Job, no_time, plainly};
use super::harmless::assert_harmless;
use super::reports::{regressed, report, row, sha};
use super::server::{FakeGithub, REPOSITORY};
use serde_json::{Value, json};
use std::path::Path;

struct Artifact {
    name: &'static str,
    content: Vec<u8>,
}

fn artifact(name: &'static str, content: impl Into<Vec<u8>>) -> Artifact {
    let content = content.into();
    Artifact { name, content }
}

/// A sound report with one value replaced.
fn with(pointer: &str, value: Value) -> String {
    let mut report = regressed('a');
    *report.pointer_mut(pointer).unwrap() = value;
    report.to_string()
}

/// A sound report with its text changed.
fn replaced(old: &str, new: &str) -> String {
    let text = regressed('a').to_string();
    assert!(text.contains(old), "{old}");
    text.replacen(old, new, 1)
}

/// A report that has a text wherever a text can stand.
fn saying(text: &str) -> String {
    let mut rows: Vec<Value> = ["regressed", "unchanged"]
        .map(|verdict| row(&format!("{verdict} {text}"), verdict))
        .to_vec();
    let mut failed = row(text, "failed");
    for (key, value) in [
        ("flag", json!("none")),
        ("change", json!(null)),
        ("package", json!(text)),
    ] {
        failed[key] = value;
    }
    rows.push(failed);
    for row in &mut rows {
        row["notes"] = json!([text, format!("first line\n{text}"), format!("{text}\n{text}")]);
        row["target"] = json!(text);
        row["metric"] = json!(text);
    }
    let mut report = report('a', rows);
    report["base"]["label"] = json!(text);
    report["head"]["label"] = json!(text);
    report["notes"] = json!([text, format!("{text} {text}"), format!("a\n{text}")]);
    report["differences"] = json!([{"kind": text, "subject": text, "base": text, "head": null}]);
    for key in ["cpu", "os", "kernel", "arch", "governor"] {
        report["host"][key] = json!(text);
    }
    report["host"]["gpus"] = json!([text]);
    report.to_string()
}

#[rustfmt::skip]
fn refused() -> Vec<Artifact> {
    let all: Vec<(&'static str, Vec<u8>)> = vec![
        ("nothing", Vec::new()),
        ("zeros", vec![0; 1 << 20]),
        ("more zeros than are read", vec![0; (16 << 20) + 1]),
        ("white space", b" \n\t ".repeat(1_000)),
        ("no JSON", b"#!/bin/sh\nrm -rf /\n".to_vec()),
        ("a picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec()),
        ("not UTF-8", replaced("parse/slow", "?").bytes().map(|byte| if byte == b'?' { 0xff } else { byte }).collect()),
        ("half a surrogate", replaced("parse/slow", "\\ud800").into()),
        ("cut off", regressed('a').to_string().as_bytes()[..400].to_vec()),
        ("two documents", format!("{0}{0}", regressed('a')).into()),
        ("deep lists", "[".repeat(200_000).into()),
        ("deep objects", "{\"a\":".repeat(200_000).into()),
        ("deep in a key that nobody knows", replaced("{", &format!("{{\"x\":{}1{},", "[".repeat(5_000), "]".repeat(5_000))).into()),
        ("NaN", replaced("\"threshold\":0.02", "\"threshold\":NaN").into()),
        ("infinity", replaced("\"threshold\":0.02", "\"threshold\":Infinity").into()),
        ("a number without an end", replaced("\"threshold\":0.02", &format!("\"threshold\":{}", "9".repeat(400))).into()),
        ("too large a change", with("/findings/0/change", json!(1e300)).into()),
        ("a negative time", with("/elapsed/total_s", json!(-1e9)).into()),
        ("keys twice", replaced("\"notes\":[\"changed", "\"notes\":[],\"notes\":[\"changed").into()),
        ("rows twice", replaced("\"findings\":", "\"findings\":[],\"findings\":").into()),
        ("another schema", with("/schema", json!("abreast/report/2")).into()),
        ("a command in place of a schema", with("/schema", json!("abreast/report/\n::stop-commands::x")).into()),
        ("a recording", b"{\"event\":\"header\",\"schema\":\"abreast/recording/1\"}\n".to_vec()),
        ("a list of reports", format!("[{}]", regressed('a')).into()),
        ("a commit with a path in it", with("/head/sha", json!("../../../../etc/passwd")).into()),
        ("a commit with a link in it", with("/base/sha", json!("](https://evil.example)[aaaaaaaaaaaaaaaa")).into()),
        ("another commit", regressed('c').to_string().into()),
        ("a verdict that is none", with("/findings/0/verdict", json!("<b>regressed</b>")).into()),
        ("a command in place of a verdict", with("/findings/0/verdict", json!("x\n::add-mask::y")).into()),
        ("a flag that contradicts its verdict", with("/findings/1/flag", json!("alert")).into()),
        ("rows without a change's interval", with("/findings/0/low", json!(null)).into()),
        ("rows that are texts", with("/findings", json!(["<script>alert(1)</script>"])).into()),
        ("too many rows", with("/findings", Value::Array(vec![row("x", "unchanged"); 20_001])).into()),
        ("too many notes", with("/notes", json!(vec!["x"; 10_001])).into()),
    ];
    all.into_iter()
        .map(|(name, content)| artifact(name, content))
        .collect()
}

#[rustfmt::skip]
fn shown() -> Vec<Artifact> {
    let texts = [
        ("HTML", "<script>alert(1)</script><img src=x onerror=alert(1)><b>"),
        ("the end of a fold", "</details></summary>\n</details>\n</summary>"),
        ("a comment that hides the rest", "<!-- "),
        ("the marks of a comment", "<!-- abreast:end -->\n<!-- abreast:section job=x head=a run=9 number=9 attempt=9 digest=0 -->\n<!-- abreast:comment -->"),
        ("links and images", "[click](https://evil.example) ![x](http://evil.example/x.png) <https://evil.example> [x]: https://evil.example"),
        ("addresses", "https://evil.example ftp://evil.example www.evil.example mailto:a@evil.example a@evil.example"),
        ("mentions", "@octocat @github/security hello@octocat (@octocat) \"@octocat\""),
        ("references", "#1 owner/project#1 GH-1 gh-2 owner/project@0123456789abcdef0123456789abcdef01234567"),
        ("pipes and backticks", "a|b `c|d` ``e`` ```f``` \\| \\` | | |"),
        ("blocks of code", "```\n````\n`````text\n~~~\n```"),
        ("headings and lists", "# h\n- l\n1. n\n> q\n---\n===\n| a | b |\n| - | - |\n[^1]: f"),
        ("bidirectional text", "\u{202e}evil\u{202c} \u{2066}x\u{2069} \u{200f}"),
        ("text that cannot be seen", "a\u{200b}b\u{feff}c\u{ad}d\u{2060}e\u{e0041}"),
        ("controls", "\u{0}\u{1b}[2J\u{1b}]0;x\u{7}\r\n\u{85}\u{9b}31m\u{c}\u{8}"),
        ("commands to a runner", "\n::error::x\n::set-output name=a::b\n##[add-mask]x\n::stop-commands::y"),
        ("mathematics", "$\\href{https://evil.example}{x}$ $$\\unicode{x}$$ $`x`$"),
        ("templates", "${{ secrets.GITHUB_TOKEN }} $(id) `id` %0A::error::x {{constructor}}"),
        ("a path", "../../../../etc/passwd"),
        ("nothing", ""),
        ("spaces", "   "),
    ];
    let mut all: Vec<Artifact> = texts
        .into_iter()
        .map(|(name, text)| artifact(name, saying(text)))
        .collect();
    for (name, text) in [
        ("a long line", "x".repeat(100_000)),
        ("many backticks", "`".repeat(50_000)),
        ("a pile of accents", format!("e{}", "\u{301}".repeat(50_000))),
        ("many lines", "line\n".repeat(20_000)),
        ("many wide characters", "🦀日".repeat(20_000)),
        ("as much as is read", "@x`|<\\".repeat(50_000)),
    ] {
        all.push(artifact(name, saying(&text)));
    }
    let rows = (0..3_000).map(|n| row(&format!("@octocat/<b>/{n}"), "regressed"));
    all.push(artifact("many rows", report('a', rows.collect()).to_string()));
    let notes: Vec<String> = (0..5_000).map(|n| format!("note {n} @octocat")).collect();
    all.push(artifact("many notes", with("/notes", json!(notes))));
    let unknown = replaced("{", "{\"pr\":1,\"html\":\"<b>\",\"path\":\"../x\",");
    all.push(artifact("keys that nobody knows", unknown));
    all
}

/// The workflow that has the rights, after one that measured a pull request from a fork.
fn job(github: &FakeGithub) -> Job {
    github.open(7, "guest/project", "fix", &sha('a'));
    github.open(1, REPOSITORY, "main", &sha('c'));
    let event = json!({"workflow_run": {
        "id": 800, "run_number": 4, "run_attempt": 1, "head_branch": "fix", "head_sha": sha('a'),
        "head_repository": {"full_name": "guest/project"}, "pull_requests": [],
    }});
    Job::new(github, "workflow_run", &event, 900)
}

/// Runs the program on an artifact, which refuses it in a few harmless words.
#[track_caller]
fn check_refused(artifact: &Artifact) {
    let github = FakeGithub::new();
    let job = job(&github);
    let path = job.file("report.json", &artifact.content);
    let ended = job.run(&[&path], &[]);
    assert_eq!(ended.code, Some(2), "{}: {}", artifact.name, ended.stderr);
    assert!(ended.stderr.len() < 1_000, "{}: {}", artifact.name, ended.stderr);
    assert!(ended.stdout.is_empty(), "{}: {}", artifact.name, ended.stdout);
    for line in ended.stderr.lines() {
        assert!(!line.starts_with("::"), "{}: a command: {line}", artifact.name);
    }
    let controls = ended
        .stderr
        .chars()
        .any(|c| (c.is_control() && c != '\n') || c == '\u{202e}');
    assert!(!controls, "{}: {:?}", artifact.name, ended.stderr);
    assert!(github.state().comments.is_empty(), "{}", artifact.name);
    assert!(!job.read("summary.md").contains("parse/"), "{}", artifact.name);
}

/// Shows an artifact, and looks at what comes of it.
#[track_caller]
fn check_shown(artifact: &Artifact) {
    let github = FakeGithub::new();
    let job = job(&github);
    let path = job.file("report.json", &artifact.content);
    let commented = job.say_in(no_time(), &[&path], plainly);
    let said = commented
        .unwrap_or_else(|error| panic!("{}: {error}", artifact.name))
        .said;
    assert_eq!(
        said.as_deref(),
        Some("commented on pull request #7"),
        "{}",
        artifact.name
    );
    let body = github.body();
    assert_eq!(
        abreast::comment::sections(&body).map(|all| all.len()),
        Some(1),
        "{}",
        artifact.name
    );
    assert_harmless(&body, "https://github.example/");
    assert_harmless(&job.read("summary.md"), "https://github.example/");
}

#[test]
fn what_is_no_report_is_refused() {
    let all = refused();
    assert!(all.len() >= 30, "{}", all.len());
    all.iter().for_each(check_refused);
}

#[test]
fn whatever_a_report_says_is_shown_and_does_nothing() {
    let all = shown();
    assert!(all.len() >= 25, "{}", all.len());
    all.iter().for_each(check_shown);
}

#[test]
fn an_artifact_that_is_no_plain_file_is_not_opened() {
    let github = FakeGithub::new();
    let job = Job::of_pull_request(&github, 1, 'a');
    let secret = job.file("secret", "{\"schema\":\"s3cr3t\"}");
    let link = job.folder.path().join("link.json");
    std::os::unix::fs::symlink(&secret, &link).unwrap();
    let pipe = job.folder.path().join("pipe.json");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let missing = job.folder.path().join("missing.json");
    // A gigabyte of zeros, of which the disk keeps none.
    let zeros = job.folder.path().join("zeros.json");
    std::fs::File::create(&zeros).unwrap().set_len(1 << 30).unwrap();
    for (path, words) in [
        (link.as_path(), "is no plain file"),
        (pipe.as_path(), "is no plain file"),
        (Path::new("/dev/zero"), "is no plain file"),
        (job.folder.path(), "is no plain file"),
        (missing.as_path(), "could not be read"),
        (zeros.as_path(), "larger than 16 MiB"),
    ] {
        let ended = job.run(&[path], &[]).expect(2, words);
        assert!(!ended.stderr.contains("s3cr3t"), "{}", ended.stderr);
    }
    assert!(github.state().asked.is_empty());
}
