//! The history: comparisons are kept in files or on a branch, by many at once, never from a pull request; `trend` reads them.

use crate::support::files::Files;
use crate::support::repository::{Repository, git};
use crate::support::tool::Tool;
use abreast::history::{File, Group, Measurement, Point, Row, append, path_of};
use abreast::metric::{Better, Unit};
use abreast::recording::Host;
use abreast::scenario::Kind;
use abreast::verdict::Verdict;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Where the recording that tests keep was made.
const CLASS: &str = "intel-r-xeon-r-processor-2-cores";

/// A repository with a line of empty commits.
struct World {
    folder: TempDir,
    repository: Repository,
    /// Oldest first.
    commits: Vec<String>,
}

impl World {
    fn new(commits: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::new(&folder.path().join("work"), &Files::default().with("a", "a"));
        for n in 1..commits {
            repository.git(&["commit", "--quiet", "--allow-empty", "-m", &format!("change {n}")]);
        }
        let commits = repository.git(&["rev-list", "--reverse", "HEAD"]);
        Self {
            commits: commits.lines().map(str::to_owned).collect(),
            folder,
            repository,
        }
    }

    /// A recording of two of the commits.
    fn recording(&self, base: usize, head: usize) -> PathBuf {
        let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recordings/small_sample.jsonl");
        let text = std::fs::read_to_string(stored).unwrap();
        let text = text
            .replace("e8baea026576fcccc1013b54c93ab20382a6eaad", &self.commits[base])
            .replace("9c42fc764d9d8c9b3b8c68cb20b00ed5cfaf61b1", &self.commits[head]);
        let path = self.folder.path().join(format!("{base}-{head}.jsonl"));
        std::fs::write(&path, text).unwrap();
        path
    }

    fn tool(&self, args: &[&str]) -> Tool {
        Tool::new(&self.repository.path, &self.folder.path().join("home"), args)
    }

    fn keep(&self, base: usize, head: usize, more: &[&str]) -> Tool {
        let file = self.recording(base, head);
        let args = ["judge", file.to_str().unwrap(), "--keep"];
        self.tool(&args).args(more).unguarded()
    }

    /// Steps of one scenario from each commit to the next, `change` telling their sizes.
    fn write_steps(&self, change: impl Fn(usize) -> f64) {
        for head in 1..self.commits.len() {
            let point = |n: usize| Point {
                sha: self.commits[n].clone(),
                tree: None,
                label: "main".to_owned(),
            };
            let measurement = Measurement {
                base: Some(point(head - 1)),
                head: point(head),
                measured_at: "2026-01-02T03:04:05Z".to_owned(),
                run: format!("run {head}"),
                tool: "0.1.0".to_owned(),
                host: Host::default(),
                groups: vec![Group {
                    kind: Kind::Criterion,
                    package: "p".to_owned(),
                    target: "ops".to_owned(),
                    metric: "time".to_owned(),
                    unit: Unit::Ns,
                    better: Better::Lower,
                    rows: vec![Row {
                        id: "add".to_owned(),
                        base: None,
                        head: Some(100.0),
                        change: Some(change(head)),
                        error: Some(0.005),
                        rounds: Some(16),
                        verdict: Verdict::Unclear,
                    }],
                }],
            };
            let path = self
                .repository
                .path
                .join("baselines")
                .join(path_of("c", &self.commits[head], 0));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, append(None, "c", &measurement).unwrap()).unwrap();
        }
    }
}

fn measurements(bytes: &[u8]) -> usize {
    File::parse(bytes).unwrap().measurements.len()
}

#[test]
fn a_comparison_is_kept_in_a_file_of_its_machine_and_commit_and_nothing_else_changes() {
    let world = World::new(3);
    let kept = world.keep(0, 1, &[]).run();
    kept.expect_code(0);
    let name = format!("baselines/{}", path_of(CLASS, &world.commits[1], 0));
    assert!(kept.stderr.contains(&name), "{}", kept.stderr);
    assert_eq!(
        world.repository.git(&["status", "--porcelain", "-uall"]),
        format!("?? {name}")
    );
    // The same once more is the same; another base is a second measurement.
    world.keep(0, 1, &[]).run().expect_code(0);
    let read = || std::fs::read(world.repository.path.join(&name)).unwrap();
    assert_eq!(measurements(&read()), 1);
    world.keep(2, 1, &[]).run().expect_code(0);
    assert_eq!(measurements(&read()), 2);
    let trend = world.tool(&["trend"]).run();
    trend.expect_code(0);
    assert!(
        trend.stdout.contains("over 3 measured commits"),
        "{}",
        trend.stdout
    );
}

#[test]
fn a_pull_request_keeps_nothing_and_neither_does_what_is_no_commit() {
    let world = World::new(2);
    for (name, value) in [
        ("GITHUB_EVENT_NAME", "pull_request_target"),
        ("CI_MERGE_REQUEST_IID", "7"),
    ] {
        let refused = world.keep(0, 1, &[]).env(name, value).run();
        assert!(
            refused
                .refusal(2)
                .contains(&format!("on behalf of a pull request ({name} is {value})"))
        );
        let bless = ["trend", "--bless", "HEAD", "--reason", "mine"];
        world.tool(&bless).env(name, value).run().expect_code(2);
    }
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recordings/small_sample.jsonl");
    let foreign = world.tool(&["judge", stored.to_str().unwrap(), "--keep"]).run();
    assert!(
        foreign.expect_code(2).stderr.contains("is no commit"),
        "{}",
        foreign.stderr
    );
    world.repository.write("a", "not committed");
    let working = world.tool(&["compare", "HEAD~1", "--keep"]).run();
    assert!(working.refusal(2).contains("head (working tree) is no commit"));
    world.repository.git(&["checkout", "--quiet", "a"]);
    let nothing = world
        .tool(&["judge", stored.to_str().unwrap(), "--history", "branch"])
        .run();
    assert!(nothing.refusal(2).contains("add --keep"));
    assert_eq!(world.repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn the_branch_is_written_without_touching_the_checkout() {
    let world = World::new(3);
    world.repository.write("a", "changed and not committed");
    let state = || {
        ["status --porcelain", "rev-parse HEAD", "diff", "stash list"]
            .map(|args| world.repository.git(&args.split(' ').collect::<Vec<_>>()))
    };
    let before = state();
    world.keep(0, 1, &["--history", "branch"]).run().expect_code(0);
    // From now on the branch is found by itself.
    world.keep(1, 2, &[]).run().expect_code(0);
    assert_eq!(state(), before);
    let branch = |args: &[&str]| world.repository.git(args);
    assert_eq!(branch(&["rev-list", "--count", "abreast-history"]), "2");
    let files = branch(&["ls-tree", "-r", "--name-only", "abreast-history"]);
    assert_eq!(files.lines().count(), 2, "{files}");
    let trend = world.tool(&["trend"]).run();
    assert!(
        trend.expect_code(0).stdout.contains("over 3 measured commits"),
        "{}",
        trend.stdout
    );
}

#[test]
fn twenty_writers_at_once_lose_nothing() {
    let world = World::new(21);
    for place in ["files", "branch"] {
        let running: Vec<_> = (0..20)
            .map(|base| world.keep(base, 20, &["--history", place]).start())
            .collect();
        for each in running {
            each.wait().expect_code(0);
        }
        let name = format!("baselines/{}", path_of(CLASS, &world.commits[20], 0));
        let bytes = match place {
            "files" => std::fs::read(world.repository.path.join(&name)).unwrap(),
            _ => world
                .repository
                .git(&["show", &format!("abreast-history:{name}")])
                .into_bytes(),
        };
        assert_eq!(measurements(&bytes), 20, "{place}");
    }
    world.repository.git(&["fsck", "--strict"]);
}

#[test]
fn two_clones_that_push_at_once_both_keep_their_measurements() {
    let world = World::new(4);
    let remote = world.folder.path().join("remote.git");
    git(
        world.folder.path(),
        &["clone", "--quiet", "--bare", "work", "remote.git"],
    );
    let clones = ["one", "two"].map(|name| {
        git(world.folder.path(), &["clone", "--quiet", "remote.git", name]);
        world.folder.path().join(name)
    });
    let keep = |clone: &Path, base: usize| {
        let file = world.recording(base, 3);
        let args = [
            "judge",
            file.to_str().unwrap(),
            "--keep",
            "--history",
            "branch",
            "--push",
        ];
        Tool::new(clone, &world.folder.path().join("home"), &args).unguarded()
    };
    // Neither knows of the other's.
    keep(&clones[0], 0).run().expect_code(0);
    keep(&clones[1], 1).run().expect_code(0);
    let running = [keep(&clones[0], 2).start(), keep(&clones[1], 0).start()];
    for each in running {
        each.wait().expect_code(0);
    }
    let name = path_of(CLASS, &world.commits[3], 0);
    let text = git(&remote, &["show", &format!("abreast-history:baselines/{name}")]);
    assert_eq!(measurements(text.as_bytes()), 3);
    let refused = keep(&clones[0], 1).args(&["--push=nowhere"]).run();
    refused.expect_code(2);
}

#[test]
fn damaged_and_foreign_files_are_named_skipped_and_left_as_they_are() {
    let world = World::new(3);
    world.keep(0, 1, &[]).run().expect_code(0);
    let path = |n: usize, attempt| {
        world
            .repository
            .path
            .join("baselines")
            .join(path_of(CLASS, &world.commits[n], attempt))
    };
    let whole = std::fs::read(path(1, 0)).unwrap();
    std::fs::write(path(2, 0), &whole[..whole.len() / 2]).unwrap();
    let foreign = "{\"schema\":\"abreast/history/9\"}";
    std::fs::write(path(0, 0), foreign).unwrap();
    let trend = world.tool(&["trend"]).run();
    let shown = &trend.expect_code(0).stdout;
    assert!(
        shown.contains("is damaged or cut off") && shown.contains("has the schema `abreast/history/9`"),
        "{shown}"
    );
    assert!(shown.contains("over 2 measured commits"), "{shown}");
    // What comes next does not write over it.
    world.keep(1, 2, &[]).run().expect_code(0);
    assert_eq!(std::fs::read(path(2, 0)).unwrap(), &whole[..whole.len() / 2]);
    assert_eq!(measurements(&std::fs::read(path(2, 1)).unwrap()), 1);
    assert_eq!(std::fs::read_to_string(path(0, 0)).unwrap(), foreign);
}

#[test]
fn a_change_fails_the_trend_until_it_is_blessed_with_a_reason() {
    let world = World::new(40);
    let wobble = [0.003, -0.004, 0.001, -0.002];
    world.write_steps(|head| wobble[head % 4] + if head == 20 { 0.08 } else { 0.0 });
    let fail = ["trend", "--fail-on", "regression"];
    let failed = world.tool(&fail).run();
    let shown = &failed.expect_code(1).stdout;
    assert!(
        shown.contains("worse") && shown.contains(&world.commits[20][..10]),
        "{shown}"
    );
    world
        .tool(&["trend", "--fail-on", "regression", "--threshold", "20%"])
        .run()
        .expect_code(0);
    world.tool(&["trend", "--bless", "HEAD"]).run().expect_code(2);
    world
        .tool(&["trend", "--bless", &world.commits[20], "--reason", " "])
        .run()
        .expect_code(2);
    let bless = [
        "trend",
        "--bless",
        &world.commits[20][..12],
        "--reason",
        "checks bounds",
    ];
    world.tool(&bless).unguarded().run().expect_code(0);
    let passed = world.tool(&fail).run();
    assert!(
        passed.expect_code(0).stdout.contains("blessed: checks bounds"),
        "{}",
        passed.stdout
    );
}

#[test]
fn a_folder_gets_a_page_a_table_and_a_plot_of_each_scenario() {
    let world = World::new(12);
    world.write_steps(|_| 0.001);
    let nothing = World::new(2);
    assert!(
        nothing
            .tool(&["trend"])
            .run()
            .expect_code(3)
            .stdout
            .contains("begins one")
    );
    let out = world.folder.path().join("deep/pages");
    let trend = world.tool(&["trend", "-q", "-o", out.to_str().unwrap()]).run();
    assert_eq!(trend.expect_code(0).stdout, "");
    for name in [
        "index.html",
        "trend.csv",
        "overview.svg",
        "overview.png",
        "scenarios/0-add.svg",
    ] {
        assert!(out.join(name).is_file(), "{name}");
    }
    let printed = world.tool(&["trend", "--format", "csv"]).run();
    assert_eq!(printed.expect_code(0).stdout.lines().count(), 13);
    for (args, expected) in [
        (&["--format", "png"][..], "name a file"),
        (&["--format", "csv", "--format", "svg"], "only one format"),
        (&["-o", "x.pdf"], "does not tell a format"),
        (&["nowhere"], "find the commit `nowhere`"),
    ] {
        let refused = world.tool(&["trend"]).args(args).run();
        assert!(refused.refusal(2).contains(expected), "{}", refused.stderr);
    }
}

#[test]
fn pruning_joins_old_steps_and_leaves_every_level_that_is_left_as_it_was() {
    let world = World::new(30);
    world.write_steps(|head| {
        if head == 12 {
            0.08
        } else {
            [0.004, -0.003][head % 2]
        }
    });
    let level_of = |commit: &str| {
        let table = world.tool(&["trend", "--format", "csv"]).run();
        let line = table
            .stdout
            .lines()
            .find(|line| line.contains(commit))
            .unwrap()
            .to_owned();
        line.split(',')
            .skip(12)
            .take(3)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let newest = &world.commits[29];
    let before = level_of(newest);
    let pruned = world.tool(&["trend", "--prune", "10"]).unguarded().run();
    assert!(
        pruned
            .expect_code(0)
            .stderr
            .contains("joined the steps around 17 commits"),
        "{}",
        pruned.stderr
    );
    assert_eq!(level_of(newest), before);
    let files = std::fs::read_dir(world.repository.path.join("baselines/c"))
        .unwrap()
        .count();
    assert_eq!(files, 12);
    assert!(
        pruned.stdout.contains(&world.commits[12][..10]),
        "the change is still there: {}",
        pruned.stdout
    );
    world.tool(&["trend", "--prune", "10"]).run().expect_code(0);
}

#[test]
fn histories_of_other_programs_are_taken_up_and_written() {
    let world = World::new(3);
    let path = |name: &str| world.folder.path().join(name).to_str().unwrap().to_owned();
    let benches = |value: u32| format!(r#"{{"name":"add","value":{value},"range":"± 2","unit":"ns/iter"}}"#);
    let entry = |n: usize, value| {
        format!(
            r#"{{"commit":{{"id":"{}"}},"date":1700000000000,"benches":[{}]}}"#,
            world.commits[n],
            benches(value)
        )
    };
    let data = format!(
        r#"window.BENCHMARK_DATA = {{"entries":{{"Rust":[{},{}]}}}}"#,
        entry(0, 100),
        entry(1, 120)
    );
    std::fs::write(path("data.js"), data).unwrap();
    let import = [
        "trend",
        "--import",
        &path("data.js"),
        "--from",
        "github-action-benchmark",
    ];
    let taken = world.tool(&import).unguarded().run();
    assert!(
        taken
            .expect_code(0)
            .stderr
            .contains("took up 2 values of 2 commits"),
        "{}",
        taken.stderr
    );
    world
        .tool(&import)
        .env("GITHUB_EVENT_NAME", "pull_request")
        .run()
        .expect_code(2);
    for (format, name) in [
        ("github-action-benchmark", "again.js"),
        ("bmf", "bmf.json"),
        ("criterion", "tree"),
        ("asv", "asv"),
        ("open-metrics", "metrics.txt"),
        ("csv", "levels.csv"),
    ] {
        world
            .tool(&["export", "--format", format, "-o", &path(name)])
            .run()
            .expect_code(0);
    }
    let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
    assert!(read("again.js").contains(&world.commits[1]) && read("bmf.json").contains("120"));
    assert!(read("metrics.txt").ends_with("# EOF\n") && read("metrics.txt").contains("abreast_level_ratio"));
    assert_eq!(read("levels.csv").lines().count(), 3);
    // A program whose format names no commit.
    let bmf = ["trend", "--import", &path("bmf.json"), "--from", "bmf"];
    assert!(
        world
            .tool(&bmf)
            .run()
            .expect_code(2)
            .stderr
            .contains("add --commit")
    );
    world
        .tool(&bmf)
        .args(&["--commit", "HEAD"])
        .unguarded()
        .run()
        .expect_code(0);
}

#[test]
fn the_ends_of_a_bisection_must_be_on_one_line() {
    let world = World::new(3);
    let bisect = |good: &str, bad: &str| {
        let refused = world.tool(&["bisect", good, bad, "--scenario", "add"]).run();
        refused.expect_code(2).stderr.clone()
    };
    assert!(bisect("HEAD", "HEAD~1").contains("is not a first-parent ancestor"));
    assert!(bisect("HEAD", "HEAD").contains("is not a first-parent ancestor"));
    assert!(bisect("nowhere", "HEAD").contains("find the commit `nowhere`"));
}
