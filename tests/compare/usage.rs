//! What may be typed and written into settings, and what is delivered.

use crate::support::bench::TestBench;
use crate::support::files::Files;
use crate::support::script::{five, suite};
use crate::support::tool::Tool;
use std::process::Command;

#[test]
fn what_is_typed_wrongly_is_refused_with_what_to_type() {
    let at = TestBench::of_own(&Files::fixture("benchless"));
    for (args, expected) in [
        (&["--treshold", "2%"][..], "--threshold"),
        (&["--filter", "a("], "--filter is not a regular expression"),
        (&["--threshold", "2"], "2%"),
        (&["--budget", "soon"], "10m"),
        (&["--shard", "3/2"], "1 <= i <= n"),
        (
            &["--shard", "auto"],
            "nothing here says which of several jobs this is",
        ),
        (&["--rounds", "7"], "at least 8"),
        (&["--harness", "mine"], "own"),
        (&["--fail-on", "regressions"], "regression"),
        (&["--alert", "1%"], "below --threshold"),
        (&["--format", "xml"], "json"),
        (&["-o", "report.docx"], "add --format"),
        (&["--floor-ns=-1"], "from 0 on"),
    ] {
        let ended = at.tool(&["compare", "HEAD", "HEAD"]).args(args).run();
        ended.expect_code(2);
        assert!(ended.stderr.contains(expected), "{args:?}: {}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
}

#[test]
fn a_key_of_the_settings_that_is_none_is_refused_with_the_nearest() {
    for (file, text) in [
        ("abreast.toml", "treshold = \"3%\"\n"),
        (
            "Cargo.toml",
            "\n[workspace.metadata.abreast]\ntreshold = \"3%\"\n",
        ),
    ] {
        let files = Files::fixture("benchless");
        let before = if file == "Cargo.toml" {
            files.text(file)
        } else {
            String::new()
        };
        let at = TestBench::of_own(&files.with(file, format!("{before}{text}")));
        let ended = at.compare("HEAD", "HEAD", &[]);
        let said = ended.refusal(2);
        assert!(
            said.contains(file) && said.contains("unknown key `treshold`; did you mean `threshold`?"),
            "{said}"
        );
    }
}

#[test]
fn settings_of_the_repository_hold_and_a_flag_wins() {
    let at = TestBench::of_suite();
    let slower = suite(
        &five()
            .into_iter()
            .map(|bench| bench.times(1.2))
            .collect::<Vec<_>>(),
    );
    let base = at.commit(&suite(&five()));
    let head = at.commit(&slower.with(
        "abreast.toml",
        "threshold = \"50%\"\nfail-on = [\"regression\"]\nrounds = 8\nfilter = \"a$\"\n",
    ));
    let (_, tool) = at.tool_at(&head, "settings", &["compare", &base, "HEAD", "--seed", "1"]);
    let ended = tool.json().run();
    let report = ended.expect(0);
    assert_eq!(report.rows().len(), 1);
    assert_eq!(report.0["method"]["threshold"], 0.5);
    assert_eq!(report.flagged(), [""; 0]);
    let (_, tool) = at.tool_at(&head, "settings", &["compare", &base, "HEAD", "--seed", "1"]);
    let ended = tool.args(&["--threshold", "5%"]).json().run();
    assert_eq!(ended.expect(1).flagged(), ["g/a"]);
}

#[test]
fn init_writes_settings_that_compare_accepts_and_keeps_those_there_are() {
    let at = TestBench::of_suite();
    let commit = at.commit(&suite(&five()));
    let (worktree, init) = at.tool_at(&commit, "init", &["init"]);
    init.unguarded().run().expect_code(0);
    let text = std::fs::read_to_string(worktree.path.join("abreast.toml")).unwrap();
    assert!(text.contains("# threshold = \"2%\""), "{text}");

    let again = || Tool::new(&worktree.path, &at.home, &["init"]);
    let ended = again().run();
    ended.expect_code(2);
    assert!(ended.stderr.contains("exists already"), "{}", ended.stderr);

    let ended = Tool::new(&worktree.path, &at.home, &["compare", "HEAD"])
        .json()
        .run();
    ended.expect(0).all("identical");
}

#[test]
fn every_format_is_written_to_its_file() {
    let at = TestBench::of_suite();
    let base = at.commit(&suite(&five()));
    let head = at.commit(&suite(&five()).with("README.md", "more\n"));
    let folder = tempfile::tempdir().unwrap();
    let path = |format: &str| {
        folder
            .path()
            .join(format!("deep/report-{format}"))
            .to_str()
            .unwrap()
            .to_owned()
    };
    let formats = ["md", "csv", "svg", "json", "term"];
    let mut tool = at.tool(&["compare", &base, &head, "-q"]);
    for format in formats {
        tool = tool.args(&["--format", format, "-o", &path(format)]);
    }
    let ended = tool.run();
    ended.expect_code(0);
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
    let text = |format: &str| std::fs::read_to_string(path(format)).unwrap();
    for format in formats {
        assert!(
            text(format).contains("g/a") || format == "svg",
            "{format}: {}",
            text(format)
        );
    }
    assert!(text("md").contains("🟰") && text("md").contains(&head[..10]));
    assert_eq!(text("csv").lines().count(), 6);
    assert!(text("csv").starts_with("scenario,kind,package,target,metric,unit,better,base,head,change,"));
    roxmltree::Document::parse(&text("svg")).unwrap();
    crate::support::report::Report::parse(&text("json")).all("identical");
    assert!(!text("term").contains('\u{1b}'), "no colours in a file");
}

#[test]
fn the_report_can_go_to_standard_output_where_nothing_else_is() {
    let at = TestBench::of_suite();
    let base = at.commit(&suite(&five()));
    let ended = at.tool(&["compare", &base, &base, "--format", "json"]).run();
    ended.expect_code(0);
    crate::support::report::Report::parse(&ended.stdout).all("identical");
}

#[test]
fn cargo_finds_the_tool_as_its_own_command() {
    let program = env!("CARGO_BIN_EXE_cargo-abreast");
    let output = Command::new(program)
        .args(["abreast", "compare", "--help"])
        .output()
        .unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && help.contains("--measure-identical"),
        "{help}"
    );

    let folder = std::path::Path::new(program).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let output = Command::new("cargo")
        .args(["abreast", "compare", "--help"])
        .env("PATH", path)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), help);
}
