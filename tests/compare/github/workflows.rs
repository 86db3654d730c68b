//! The action and the workflows: they use what there is, pin what is somebody else's, and their scripts do what they
//! say.

use super::command::Job;
use super::reports::regressed;
use super::server::FakeGithub;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(super) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// `action.yml`, the templates, and the workflows of this repository.
pub(super) fn files() -> Vec<(String, String)> {
    let in_folder = |folder: &str| -> Vec<String> {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        entries
            .map(|entry| format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap()))
            .filter(|path| path.ends_with(".yml"))
            .collect()
    };
    let mut paths = in_folder("assets/github");
    paths.extend(in_folder(".github/workflows"));
    paths.push("action.yml".to_owned());
    paths
        .into_iter()
        .map(|path| (path.clone(), read(&path)))
        .collect()
}

/// Names of the entries of a block of `action.yml`.
fn entries(block: &str) -> BTreeSet<String> {
    let text = read("action.yml");
    let inside = text
        .lines()
        .skip_while(|line| *line != format!("{block}:"))
        .skip(1)
        .take_while(|line| line.is_empty() || line.starts_with(' '));
    inside
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.trim().strip_suffix(':').map(str::to_owned))
        .collect()
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// For each step that uses the action: the names of its inputs there.
fn uses_of_the_action(text: &str) -> Vec<Vec<String>> {
    let lines: Vec<&str> = text.lines().collect();
    let is_action = |line: &str| line.contains("uses: _OWNER_/abreast@_REF_") || line.contains("uses: ./");
    let of_step = |at: usize| -> Vec<String> {
        let rest = &lines[at + 1..];
        let with = rest.iter().position(|line| line.trim() == "with:");
        let depth = with.map_or(0, |with| indentation(rest[with]));
        rest.iter()
            .skip(with.map_or(rest.len(), |with| with + 1))
            .take_while(|line| indentation(line) > depth)
            .filter(|line| !line.trim_start().starts_with('#'))
            .filter_map(|line| line.trim().split_once(':').map(|(name, _)| name.to_owned()))
            .collect()
    };
    (0..lines.len())
        .filter(|at| is_action(lines[*at]))
        .map(of_step)
        .collect()
}

#[test]
fn workflows_use_inputs_that_the_action_has() {
    let inputs = entries("inputs");
    assert!(
        inputs.contains("base") && inputs.contains("artifact"),
        "{inputs:?}"
    );
    let mut seen = 0;
    for (path, text) in files() {
        for with in uses_of_the_action(&text) {
            seen += 1;
            for name in with {
                assert!(inputs.contains(&name), "{path}: the action has no input `{name}`");
            }
        }
    }
    assert!(seen >= 8, "only {seen} uses found");
}

#[test]
fn the_inputs_and_outputs_in_the_documents_are_those_of_the_action() {
    let document = read("docs/github.md");
    for block in ["inputs", "outputs"] {
        let heading = format!("| {} |", block.trim_end_matches('s'));
        let listed: BTreeSet<String> = document
            .lines()
            .skip_while(|line| !line.starts_with(&heading))
            .take_while(|line| line.starts_with('|'))
            .filter_map(|line| line.strip_prefix("| `")?.split('`').next().map(str::to_owned))
            .collect();
        assert_eq!(listed, entries(block), "{block}");
    }
}

#[test]
fn what_is_somebody_elses_is_pinned_to_a_commit() {
    let mut seen = 0;
    for (path, text) in files() {
        for line in text.lines() {
            let Some((_, used)) = line.split_once("uses: ") else {
                continue;
            };
            if used.starts_with("./") || used == "_OWNER_/abreast@_REF_" {
                continue;
            }
            seen += 1;
            let (name, reference) = used.split_once('@').unwrap();
            let (commit, version) = reference.split_once(" # v").unwrap();
            let digits = commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(
                name.starts_with("actions/") && digits && commit.len() == 40,
                "{path}: {line}"
            );
            assert!(
                version.starts_with(|c: char| c.is_ascii_digit()),
                "{path}: {line}"
            );
        }
    }
    assert!(seen >= 10, "only {seen} found");
}

#[test]
fn workflows_have_no_rights_but_those_of_their_jobs() {
    for (path, text) in files().into_iter().filter(|(path, _)| path != "action.yml") {
        assert!(text.contains("\npermissions: {}\n"), "{path}");
        assert!(!text.contains("pull_request_target"), "{path}");
        let checkouts = text.matches("actions/checkout@").count();
        let without_credentials = text.matches("persist-credentials: false").count();
        // Whoever pushes keeps them, where nothing of the repository is run.
        let pushes = usize::from(text.contains("--push"));
        assert_eq!(checkouts, without_credentials + pushes, "{path}");
        // Whoever may write never sees the code of a pull request.
        if text.contains("workflow_run:") {
            assert!(!text.contains("ref:") && !text.contains("fetch-depth"), "{path}");
        }
        // An expression in a script would be part of it.
        let is_script = |line: &&str| line.trim_start().trim_start_matches("- ").starts_with("run:");
        let mut scripts = text.lines().filter(is_script);
        assert!(!scripts.any(|line| line.contains("${{")), "{path}");
    }
    let measures = read("assets/github/abreast-fork-measure.yml");
    assert!(
        !measures.contains("write"),
        "the workflow that runs a stranger's code has no rights"
    );
    let action = read("action.yml");
    let mut scripts = action
        .lines()
        .filter(|line| line.trim_start().starts_with("run:"));
    assert!(!scripts.any(|line| line.contains("${{")));
}

#[test]
fn what_waits_for_a_workflow_names_one_that_there_is() {
    let files = files();
    let names: BTreeSet<&str> = files
        .iter()
        .filter_map(|(_, text)| text.lines().find_map(|line| line.strip_prefix("name: ")))
        .collect();
    let mut seen = 0;
    for (path, text) in &files {
        for line in text.lines() {
            let Some(waited) = line.trim().strip_prefix("workflows: [") else {
                continue;
            };
            seen += 1;
            assert!(names.contains(waited.trim_end_matches(']')), "{path}: {waited}");
        }
    }
    assert_eq!(seen, 2);
}

fn init(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_abreast"))
        .arg("init")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn written(folder: &Path) -> Vec<String> {
    let workflows = folder.join(".github/workflows");
    let mut names: Vec<String> = std::fs::read_dir(workflows)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn init_writes_the_workflows_and_keeps_those_there_are() {
    let folder = tempfile::tempdir().unwrap();
    git2::Repository::init(folder.path()).unwrap();
    let one = init(
        folder.path(),
        &["--github", "--workflow", "nightly", "--action", "o/n@v1"],
    );
    assert_eq!(one.status.code(), Some(0), "{one:?}");
    assert_eq!(written(folder.path()), ["abreast-nightly.yml"]);
    let again = init(folder.path(), &["--github"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("abreast-nightly.yml exists already"));
    assert_eq!(
        written(folder.path()),
        ["abreast-nightly.yml"],
        "none of the others was written"
    );
    std::fs::remove_dir_all(folder.path().join(".github")).unwrap();
    let all = init(folder.path(), &["--github", "--action", "o/n@v1"]);
    assert_eq!(all.status.code(), Some(0), "{all:?}");
    assert_eq!(
        written(folder.path()),
        [
            "abreast-fork-comment.yml",
            "abreast-fork-measure.yml",
            "abreast-nightly.yml",
            "abreast-shards.yml",
            "abreast.yml"
        ]
    );
    let text = std::fs::read_to_string(folder.path().join(".github/workflows/abreast.yml")).unwrap();
    assert!(text.contains("uses: o/n@v1\n"), "{text}");
}

#[test]
fn init_refuses_what_is_no_action_and_flags_that_mean_nothing() {
    let folder = tempfile::tempdir().unwrap();
    git2::Repository::init(folder.path()).unwrap();
    for arguments in [
        &["--github", "--action", "o/n@v1\n  run: x"][..],
        &["--github", "--workflow", "weekly"],
        &["--action", "o/n@v1"],
    ] {
        assert_eq!(
            init(folder.path(), arguments).status.code(),
            Some(2),
            "{arguments:?}"
        );
    }
    assert!(written(folder.path()).is_empty());
}

/// A script of the action in a folder of its own, with abreast on the path; `said` is what it wrote for later steps.
fn script(name: &str, folder: &Path, environment: &[(&str, &str)]) -> (Option<i32>, String) {
    let output = folder.join("github-output");
    std::fs::write(&output, "").unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_abreast")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let ended = Command::new("bash")
        .arg(root().join("assets/github").join(name))
        .current_dir(folder)
        .env("PATH", path)
        .env("GITHUB_OUTPUT", &output)
        .env("GITHUB_ACTION_PATH", root())
        .env("RUNNER_TEMP", folder)
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let said = std::fs::read_to_string(output).unwrap();
    let shown = String::from_utf8_lossy(&ended.stderr).into_owned();
    (ended.status.code(), format!("{said}{shown}"))
}

/// Inputs of the action that say nothing.
const SILENT: [(&str, &str); 9] = [
    ("BASE", ""),
    ("HEAD", ""),
    ("ARGS", ""),
    ("BUDGET", ""),
    ("THRESHOLD", ""),
    ("FAIL_ON", ""),
    ("SHARD", ""),
    ("JUDGE", ""),
    ("REPORT", ""),
];

fn measure(folder: &Path, inputs: &[(&str, &str)]) -> (Option<i32>, String) {
    let reports = folder.to_str().unwrap();
    let environment = [&SILENT[..], &[("REPORTS", reports)][..], inputs].concat();
    script("measure.sh", folder, &environment)
}

#[test]
fn the_script_judges_shards_and_ends_well_whatever_the_verdict() {
    let folder = tempfile::tempdir().unwrap();
    for (shard, name) in [("1", "readme"), ("2", "hung")] {
        let to = folder.path().join(format!("shards/abreast shard {shard}"));
        std::fs::create_dir_all(&to).unwrap();
        let recording = root().join(format!("tests/data/recordings/{name}.jsonl"));
        std::fs::copy(recording, to.join("recording.jsonl")).unwrap();
    }
    let one = ("JUDGE", "shards/*1/recording.jsonl");
    let extra = ("ARGS", " --margin 6%\n --alert  20% ");
    let (code, said) = measure(
        folder.path(),
        &[one, extra, ("FAIL_ON", "regression"), ("THRESHOLD", "3%")],
    );
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("status=1\n") && said.contains("report.json\n"),
        "{said}"
    );
    let report = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
    for limit in ["\"threshold\": 0.03", "\"margin\": 0.06", "\"alert\": 0.2"] {
        assert!(report.contains(limit), "{limit}: {report}");
    }
    // Recordings of different comparisons: the program says so, and there is nothing to tell.
    std::fs::remove_file(folder.path().join("report.json")).unwrap();
    let (code, said) = measure(folder.path(), &[("JUDGE", "shards/*/recording.jsonl")]);
    assert_eq!(code, Some(2), "{said}");
    let (code, said) = measure(folder.path(), &[("JUDGE", "none/*")]);
    assert!(
        code == Some(2) && said.contains("there is no file like none/*"),
        "{said}"
    );
}

#[test]
fn inputs_are_words_and_never_commands() {
    let folder = tempfile::tempdir().unwrap();
    for inputs in [
        [
            ("ARGS", "--filter $(touch owned) `touch owned` ; touch owned"),
            ("BUDGET", "1s"),
        ],
        [("BASE", "$(touch owned)"), ("HEAD", "; touch owned")],
        [("JUDGE", "$(touch owned)"), ("THRESHOLD", "`touch owned`")],
    ] {
        let (code, said) = measure(folder.path(), &inputs);
        assert_eq!(code, Some(2), "{said}");
        assert!(!folder.path().join("owned").exists(), "{inputs:?}");
    }
    let (code, said) = measure(folder.path(), &[("HEAD", "HEAD")]);
    assert!(code == Some(2) && said.contains("needs the input base"), "{said}");
}

#[test]
fn a_report_that_exists_is_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let (code, said) = measure(folder.path(), &[("REPORT", "artifact/report.json")]);
    assert_eq!((code, said.as_str()), (Some(0), "report=artifact/report.json\n"));
}

#[test]
fn the_script_comments_as_the_input_says() {
    let github = FakeGithub::new();
    let job = Job::of_pull_request(&github, 1, 'a');
    let report = job.file("report.json", regressed('a').to_string());
    let comment = |how: &str, measured: &str, fail_on: &str| {
        let mut all = job.environment();
        all.extend([
            ("REPORT", report.to_str().unwrap()),
            ("JOB", "bench"),
            ("COMMENT", how),
            ("MEASURED", measured),
            ("FAIL_ON", fail_on),
        ]);
        script("comment.sh", job.folder.path(), &all)
    };
    let (code, said) = comment("never", "1", "regression");
    assert_eq!((code, github.bodies().len()), (Some(0), 0), "{said}");
    let (code, said) = comment("always", "1", "regression");
    assert_eq!((code, github.bodies().len()), (Some(0), 1), "{said}");
    // Where nothing was measured, the verdict is the end of the step.
    let (code, said) = comment("on-change", "", "regression");
    assert_eq!(code, Some(1), "{said}");
    let (code, said) = comment("sometimes", "", "");
    assert!(
        code == Some(2) && said.contains("always, on-change or never"),
        "{said}"
    );
    // A comment that cannot be made does not hide how measuring ended.
    github.fail("GET", 401, "Bad credentials");
    let (code, said) = comment("always", "0", "");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Bad credentials"), "{said}");
}

#[test]
fn the_paths_of_two_uses_are_apart_and_the_sources_have_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let paths = || {
        let (code, said) = script("paths.sh", folder.path(), &[]);
        assert_eq!(code, Some(0), "{said}");
        let value = |name: &str| {
            let found = said
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            found
                .map(str::to_owned)
                .unwrap_or_else(|| panic!("no {name}: {said}"))
        };
        ["installed", "tool", "home", "reports", "sources"].map(value)
    };
    let (one, two) = (paths(), paths());
    assert!(one[0].ends_with("/abreast"), "{one:?}");
    assert_ne!(one[3], two[3]);
    assert!(PathBuf::from(&one[3]).is_dir() && PathBuf::from(&two[3]).is_dir());
    assert!(one[4] == two[4] && one[4].len() == 16, "{one:?}");
}
