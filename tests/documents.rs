//! What the documents say is true: commands run or at least parse, flags and keys exist, codes and icons are the
//! program's, links lead somewhere.
#![expect(
    clippy::disallowed_methods,
    reason = "reads documents and runs what they show"
)]

mod story;

use abreast::cli;
use abreast::config::Settings;
use abreast::exit::Exit;
use abreast::judge::judge;
use abreast::layout::Layout;
use abreast::plan::Shard;
use abreast::program::{Chosen, Program};
use abreast::recording::{Event, Recording, Skipped};
use abreast::report::{Format, Options, render, status};
use abreast::verdict::{Flag, Verdict};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every document with its text, named relative to the repository.
fn documents() -> Vec<(String, String)> {
    let names = |folder: &str| {
        let entries = std::fs::read_dir(root().join(folder)).expect("the folder is there");
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
        entries
            .filter_map(name)
            .filter(|name| name.ends_with(".md"))
            .collect::<BTreeSet<String>>()
    };
    let docs = names("docs").into_iter().map(|name| format!("docs/{name}"));
    names("")
        .into_iter()
        .chain(docs)
        .map(|name| (name.clone(), read(&name)))
        .collect()
}

/// Blocks between fences of one language, line by line.
fn blocks(text: &str, language: &str) -> Vec<Vec<String>> {
    let fence = format!("```{language}\n");
    let inside = |part: &str| {
        part.split("```")
            .next()
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    };
    text.split(fence.as_str()).skip(1).map(inside).collect()
}

/// The commands of a console block, each with what is shown below it. Without a `$`, every line is a command.
fn commands(block: &[String]) -> Vec<(String, Vec<String>)> {
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    let prompts = block.iter().any(|line| line.starts_with("$ "));
    for line in block {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), Vec::new())),
            (None, _) if !prompts => commands.push((line.clone(), Vec::new())),
            (None, Some((_, shown))) => shown.push(line.clone()),
            (None, None) => panic!("output without a command: {line}"),
        }
    }
    commands
}

/// The words of a command, quotes taken off.
fn words(command: &str) -> Vec<String> {
    command
        .split_whitespace()
        .map(|word| word.trim_matches(['\'', '"']).to_owned())
        .collect()
}

/// The arguments that a command gives to abreast; `None` if it calls something else.
fn arguments(command: &str) -> Option<Vec<String>> {
    let words = words(command);
    let start = match words.first()?.as_str() {
        "abreast" => 1,
        "cargo" if words.get(1)? == "abreast" => 2,
        "cargo" if words.get(1)? == "run" => words.iter().position(|word| word == "--")? + 1,
        _ => return None,
    };
    Some(words[start..].to_vec())
}

#[test]
fn every_command_that_is_shown_can_be_typed() {
    let mut seen = 0;
    for (name, text) in documents() {
        for (command, _) in blocks(&text, "console").iter().flat_map(|block| commands(block)) {
            seen += 1;
            let words = words(&command);
            if let Some(arguments) = arguments(&command) {
                let typed = ["abreast".to_owned()].into_iter().chain(arguments);
                if let Err(error) = cli::command().try_get_matches_from(typed) {
                    assert!(!error.use_stderr(), "{name}: `{command}`: {error}");
                }
                continue;
            }
            assert_eq!(words[0], "cargo", "{name}: nobody checks `{command}`");
            let target = |kind: &str| Some(words[words.iter().position(|word| word == kind)? + 1].clone());
            for (folder, target) in [("tests", target("--test")), ("benches", target("--bench"))] {
                let Some(target) = target else { continue };
                let file = root().join(folder).join(&target);
                let there = file.with_extension("rs").is_file() || file.join("main.rs").is_file();
                assert!(there, "{name}: `{command}`: there is no {folder}/{target}");
            }
        }
    }
    assert!(seen > 15, "only {seen} commands found");
}

#[test]
fn what_a_command_prints_is_what_the_documents_show() {
    let mut seen = 0;
    for (name, text) in documents() {
        for (command, shown) in blocks(&text, "console").iter().flat_map(|block| commands(block)) {
            let shown = shown.join("\n");
            if shown.trim().is_empty() {
                continue;
            }
            let arguments =
                arguments(&command).unwrap_or_else(|| panic!("{name}: `{command}` cannot be run"));
            assert_eq!(
                arguments[0], "judge",
                "{name}: `{command}` is too slow to be checked"
            );
            let output = Command::new(env!("CARGO_BIN_EXE_abreast"))
                .args(&arguments)
                .current_dir(root())
                .output()
                .expect("abreast can be started");
            let printed = String::from_utf8(output.stdout).expect("reports are text");
            // Three dots stand for what is left out.
            let mut rest = printed.as_str();
            for part in shown.split("\n...\n").map(|part| part.trim_end_matches("\n...")) {
                let at = rest.find(part.trim_end());
                let at =
                    at.unwrap_or_else(|| panic!("{name}: `{command}` prints\n{printed}\nwithout\n{part}"));
                rest = &rest[at + part.trim_end().len()..];
            }
            seen += 1;
        }
    }
    assert!(seen > 0, "no output is shown anywhere");
}

#[test]
fn init_writes_settings_that_can_be_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    git2::Repository::init(folder.path()).expect("a repository");
    let init = || {
        Command::new(env!("CARGO_BIN_EXE_abreast"))
            .arg("init")
            .current_dir(folder.path())
            .output()
            .expect("abreast can be started")
            .status
            .code()
    };
    assert_eq!(init(), Some(0));
    let text = std::fs::read_to_string(folder.path().join("abreast.toml")).expect("it was written");
    assert_eq!(Settings::parse("abreast.toml", &text), Ok(Settings::default()));
    assert_eq!(init(), Some(2), "a second time it would replace a file");
}

#[test]
fn every_settings_block_is_accepted() {
    for (name, text) in documents() {
        for block in blocks(&text, "toml") {
            let settings = Settings::parse(&name, &block.join("\n"));
            assert!(settings.is_ok(), "{name}: {settings:?}");
        }
    }
}

#[test]
fn every_flag_that_is_named_exists() {
    let command = cli::command();
    let known: BTreeSet<String> = command
        .get_subcommands()
        .flat_map(|subcommand| subcommand.get_arguments())
        .filter_map(|argument| argument.get_long().map(|long| format!("--{long}")))
        .chain(["--help", "--version"].map(str::to_owned))
        .chain(flags_of_decode_profile())
        .collect();
    for (name, text) in documents() {
        for span in text
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|span| !span.contains('\n'))
        {
            // Flags of other programs stand behind the name of those.
            let is_own = ["--", "abreast", "cargo abreast", "decode-profile"]
                .iter()
                .any(|start| span.starts_with(start));
            if !is_own {
                continue;
            }
            for word in span.split_whitespace().filter(|word| word.starts_with("--")) {
                assert!(known.contains(word), "{name}: there is no flag `{word}`");
            }
        }
    }
}

/// They are part of another package, which nothing here depends on: read from its source.
fn flags_of_decode_profile() -> BTreeSet<String> {
    let source = root().join("kernels/src/bin/decode-profile/options.rs");
    let source = std::fs::read_to_string(source).expect("it is there");
    let fields: Vec<&str> = source
        .lines()
        .skip_while(|line| !line.starts_with("pub(crate) struct Options"))
        .take_while(|line| *line != "}")
        .filter_map(|line| line.trim().strip_prefix("pub(crate) ")?.split_once(':'))
        .map(|(field, _)| field)
        .collect();
    assert!(fields.contains(&"json"), "{fields:?}");
    let flag = |field: &str| format!("--{}", field.replace('_', "-"));
    fields.into_iter().map(flag).collect()
}

#[test]
fn the_exit_codes_are_those_of_the_program() {
    // A new code is a compile error here.
    let all = |exit: Exit| match exit {
        Exit::Ok | Exit::Failed | Exit::Usage | Exit::Nothing => exit as u8,
        Exit::Build | Exit::Incomplete | Exit::Internal | Exit::Interrupted => exit as u8,
    };
    let codes = [
        Exit::Ok,
        Exit::Failed,
        Exit::Usage,
        Exit::Nothing,
        Exit::Build,
        Exit::Incomplete,
        Exit::Internal,
        Exit::Interrupted,
    ]
    .map(all);
    let readme = read("README.md");
    let listed = table(section(&readme, "In CI"), "code");
    let listed: Vec<u8> = listed
        .iter()
        .map(|row| row[0].parse().expect("a code is a number"))
        .collect();
    assert_eq!(listed, codes);
    let help = cli::command().render_long_help().to_string();
    let helped: Vec<u8> = help
        .split("Exit codes:")
        .nth(1)
        .expect("the help lists them")
        .lines()
        .filter_map(|line| line.split_whitespace().next()?.parse().ok())
        .collect();
    assert_eq!(helped, codes);
}

#[test]
fn the_verdicts_and_icons_are_those_of_the_program() {
    let readme = read("README.md");
    let listed: Vec<(String, String)> = table(section(&readme, "Read a row"), "status")
        .into_iter()
        .map(|row| (row[0].clone(), row[1].replace(' ', "_")))
        .collect();
    let flags = |verdict| match verdict {
        Verdict::Regressed => vec![Flag::Alert, Flag::Warn],
        _ => vec![Flag::None],
    };
    let shown = |verdict: Verdict, flag| {
        let (icon, word) = status::of(verdict, flag);
        (format!("{icon} {word}"), verdict.as_str().to_owned())
    };
    let all: Vec<(String, String)> = Verdict::ALL
        .into_iter()
        .flat_map(|verdict| flags(verdict).into_iter().map(move |flag| shown(verdict, flag)))
        .collect();
    assert_eq!(listed, all);
    let formats = read("docs/formats.md");
    let columns = table(section(&formats, "Report: `abreast/report/1`"), "column");
    let words = |column: &str| {
        let row = columns
            .iter()
            .find(|row| row[0] == format!("`{column}`"))
            .expect("the column is listed");
        keys(&row[2])
    };
    let verdicts: Vec<&str> = Verdict::ALL.iter().map(|verdict| verdict.as_str()).collect();
    assert_eq!(
        words("verdict"),
        BTreeSet::from_iter(verdicts.into_iter().map(str::to_owned))
    );
    let flags = [
        Flag::Alert,
        Flag::Warn,
        Flag::Faster,
        Flag::Ok,
        Flag::Unclear,
        Flag::None,
    ];
    assert_eq!(
        words("flag"),
        flags.iter().map(|flag| flag.as_str().to_owned()).collect()
    );
}

#[test]
fn the_keys_of_a_recording_are_those_that_are_written() {
    let text = read("docs/formats.md");
    let recording = section(&text, "Recording: `abreast/recording/1`");
    for part in recording.split("\n### `").skip(1) {
        let (name, part) = part.split_once('`').expect("a heading names an event");
        let example = blocks(part, "json").concat().concat();
        let event: Event = serde_json::from_str(&example).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            serde_json::to_string(&event).expect("plain data"),
            example,
            "{name}: the example is made up"
        );
        let written = serde_json::to_value(complete(event)).expect("plain data");
        assert_eq!(written["event"], name);
        assert_documented(name, &paths_of(&written), &listed_keys(part, "key"));
    }
    let names: Vec<&str> = recording
        .split("\n### `")
        .skip(1)
        .filter_map(|part| part.split('`').next())
        .collect();
    assert_eq!(
        names,
        [
            "header",
            "host",
            "build",
            "difference",
            "bench_change",
            "changed_sources",
            "scenario",
            "timing",
            "slot",
            "counted",
            "told",
            "relaid",
            "incident",
            "note",
            "end"
        ]
    );
}

/// An event with what may be left out filled in. A new kind of event is a compile error here.
fn complete(mut event: Event) -> Event {
    match &mut event {
        Event::Header(header) => {
            header.plan.measuring.shard = Some(Shard { index: 1, count: 2 });
            header.plan.selection.run_files = vec!["testdata/**".to_owned()];
            header.plan.selection.programs = vec![Program {
                name: "engine".to_owned(),
                build: vec!["make".to_owned()],
                run: vec!["./engine".to_owned()],
                env: [("THREADS".to_owned(), "2".to_owned())].into(),
                folder: "engine".to_owned(),
                format: abreast::profile::Format::Hyperfine,
                timeout: Some("90s".parse().expect("a duration")),
                metrics: vec![Chosen {
                    id: "time".to_owned(),
                    better: None,
                    unit: None,
                }],
                launches: Some(16),
            }];
            header.plan.measuring.layout_check = false;
            header.plan.measuring.relink_control = true;
            header.plan.measuring.instructions = true;
            header.plan.measuring.elsewhere = true;
        }
        Event::Host(host) => host.gpus = vec!["one".to_owned()],
        Event::Build(build) => build.skipped.push(Skipped {
            target: story::target(),
            reason: "libtest harness".to_owned(),
        }),
        Event::BenchChange(change) => change.pieces.iter_mut().for_each(|piece| piece.run_file = true),
        Event::Slot(slot) => {
            slot.waited_s = Some(0.0);
            slot.contention.slowdown = Some([1.0, 1.0]);
            slot.layout = Layout(1);
        }
        Event::ChangedSources(changed) => changed.others = vec!["testdata/x.bin".to_owned()],
        Event::Told(_) => {}
        Event::Counted(counted) => counted.failure = Some("valgrind is not installed".to_owned()),
        Event::Difference(_) | Event::Scenario(_) | Event::Relaid(_) => {}
        Event::Timing(_) | Event::Incident(_) | Event::Note { .. } | Event::End(_) => {}
    }
    event
}

#[test]
fn the_keys_of_a_report_are_those_that_are_written() {
    let file = std::fs::read(root().join("tests/data/recordings/small_sample.jsonl")).expect("it is stored");
    let recording = Recording::read(file.as_slice()).expect("it loads");
    let report = judge(&recording, &recording.header.plan.policy);
    let json: Value =
        serde_json::from_str(&render(&report, Format::Json, &Options::default())).expect("JSON");
    let text = read("docs/formats.md");
    let part = section(&text, "Report: `abreast/report/1`");
    let columns = listed_keys(part, "column");
    let (findings, other): (BTreeSet<String>, BTreeSet<String>) = paths_of(&json)
        .into_iter()
        .partition(|path| path.starts_with("findings[]."));
    let mut listed = listed_keys(part, "key");
    assert!(listed.remove("findings[]"), "the rows are listed");
    assert_documented("report", &other, &listed);
    let findings = findings
        .iter()
        .map(|path| path.trim_start_matches("findings[].").to_owned())
        .collect();
    assert_documented("finding", &findings, &columns);
    let csv = render(&report, Format::Csv, &Options::default());
    let in_order = table(part, "column")
        .iter()
        .flat_map(|row| in_order(&row[0]))
        .collect::<Vec<_>>();
    assert_eq!(csv.lines().next(), Some(in_order.join(",").as_str()));
}

/// Fails unless each written key is listed, itself or a part of it that holds it, and each listed one is written.
fn assert_documented(name: &str, written: &BTreeSet<String>, listed: &BTreeSet<String>) {
    let covers = |listed: &String, path: &String| {
        path.strip_prefix(listed.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    for path in written {
        assert!(
            listed.iter().any(|listed| covers(listed, path)),
            "{name}: `{path}` is not in docs/formats.md"
        );
    }
    for key in listed {
        assert!(
            written.iter().any(|path| covers(key, path)),
            "{name}: nobody writes `{key}`"
        );
    }
}

/// Paths to every value that is no object: `plan.base.sha`, `executables[].path`.
fn paths_of(value: &Value) -> BTreeSet<String> {
    fn walk(value: &Value, path: &str, paths: &mut BTreeSet<String>) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    let dot = if path.is_empty() { "" } else { "." };
                    walk(value, &format!("{path}{dot}{key}"), paths);
                }
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                items
                    .iter()
                    .for_each(|item| walk(item, &format!("{path}[]"), paths));
            }
            _ => {
                paths.insert(path.to_owned());
            }
        }
    }
    let mut paths = BTreeSet::new();
    walk(value, "", &mut paths);
    paths
}

fn listed_keys(text: &str, heading: &str) -> BTreeSet<String> {
    table(text, heading)
        .iter()
        .flat_map(|row| in_order(&row[0]))
        .collect()
}

/// Everything between backticks.
fn in_order(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn keys(cell: &str) -> BTreeSet<String> {
    in_order(cell).into_iter().collect()
}

/// The text from a heading to the next one of its rank.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let start = format!("\n## {heading}\n");
    let from = text
        .find(&start)
        .unwrap_or_else(|| panic!("no section `{heading}`"))
        + start.len();
    let length = text[from..].find("\n## ").unwrap_or(text.len() - from);
    &text[from..from + length]
}

/// The rows of every table whose first column has this heading, cells trimmed.
fn table(text: &str, heading: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        line.trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let row: Vec<String> = if line.starts_with('|') {
            cells(line)
        } else {
            Vec::new()
        };
        match row.first() {
            None => inside = false,
            Some(first) if first == heading => inside = true,
            Some(first) if inside && !first.starts_with("---") => rows.push(row),
            Some(_) => {}
        }
    }
    rows
}

#[test]
fn every_link_and_every_file_that_is_named_exists() {
    for (name, text) in documents() {
        let here = Path::new(&name).parent().unwrap_or(Path::new(""));
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path = if file.is_empty() {
                PathBuf::from(&name)
            } else {
                here.join(file)
            };
            assert!(
                root().join(&path).exists(),
                "{name}: the link to {link} leads nowhere"
            );
            if !anchor.is_empty() {
                let target = read(&path.to_string_lossy());
                let found = target
                    .lines()
                    .any(|line| line.starts_with('#') && slug(line) == anchor);
                assert!(found, "{name}: {link} has no such heading");
            }
        }
        let spans = text.split('`').skip(1).step_by(2);
        let roots = [
            "src/",
            "tests/",
            "docs/",
            "benches/",
            "examples/",
            "assets/",
            ".ci/",
            ".github/",
            "kernels/",
        ];
        for span in spans.filter(|span| roots.iter().any(|root| span.starts_with(root))) {
            assert!(root().join(span).exists(), "{name}: there is no `{span}`");
        }
    }
}

/// A heading as GitHub names it in links.
fn slug(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_room_is_in_the_house_plan() {
    let plan = read("ARCHITECTURE.md");
    for folder in ["src", "src/edge"] {
        for entry in std::fs::read_dir(root().join(folder)).expect("the folder is there") {
            let name = entry
                .expect("it can be read")
                .file_name()
                .into_string()
                .expect("a plain name");
            if ["lib.rs", "mod.rs", "bin"].contains(&name.as_str()) {
                continue;
            }
            let named =
                plan.contains(&format!("`{folder}/{name}`")) || plan.contains(&format!("`{folder}/{name}/"));
            let part =
                root().join(folder).join(&name).with_extension("rs").is_file() && !name.ends_with(".rs");
            assert!(named || part, "ARCHITECTURE.md does not name `{folder}/{name}`");
        }
    }
}

#[test]
fn the_check_script_calls_what_the_readme_says() {
    let script = read(".ci/run");
    let readme = read("README.md");
    let shown = blocks(section(&readme, "Try it"), "console").concat();
    assert_eq!(shown.len(), 2, "two commands are enough to begin");
    for line in shown {
        let command = line.trim_start_matches("$ ");
        assert!(script.contains(command), ".ci/run does not call `{command}`");
    }
}
