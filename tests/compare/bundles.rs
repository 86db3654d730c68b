//! Bundles: built here, measured where there is neither Rust nor git.

use crate::support::bench::TestBench;
use crate::support::files::Files;
use crate::support::script::{bench, five, multiplied, suite};
use crate::support::tool::Tool;
use nix::sys::signal::Signal;
use std::path::{Path, PathBuf};

/// Another machine: an empty folder, a home of its own, nothing to be found on the path.
struct Elsewhere {
    folder: tempfile::TempDir,
}

impl Elsewhere {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("empty")).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn tool(&self, args: &[&str]) -> Tool {
        let empty = self.folder.path().join("empty");
        Tool::new(&empty, &self.folder.path().join("home"), args).env("PATH", "/nonexistent")
    }
}

fn slower() -> Vec<crate::support::script::Bench> {
    five().into_iter().map(|bench| bench.times(1.2)).collect()
}

#[test]
fn a_bundle_is_measured_where_there_is_neither_rust_nor_git() {
    let at = TestBench::of_suite();
    let (base, head) = (at.script(&five()), at.script(&slower()));
    let elsewhere = Elsewhere::new();
    let (bundle, file) = (elsewhere.path("b.tar.zst"), elsewhere.path("r.jsonl"));
    let built = at
        .tool(&["build", &base, &head, "--margin", "30%", "-o", &bundle])
        .run();
    built.expect_code(0);
    assert!(built.stderr.contains("SHA-256"), "{}", built.stderr);
    assert_eq!(built.launches, [""; 0], "building measures nothing");

    let args = [
        "record", &bundle, "--rounds", "8", "--filter", "g/[ab]", "-o", &file,
    ];
    elsewhere.tool(&args).run().expect_code(0);
    let judged = elsewhere.tool(&["judge", &file]).json().run();
    let report = judged.expect(0);
    assert_eq!(report.flagged(), ["g/a", "g/b"]);
    assert_eq!(
        report.0["method"]["margin"], 0.3,
        "what was set while building holds"
    );
    assert_eq!(report.0["base"]["sha"], base.as_str());
    let notes = report.0["notes"].to_string();
    assert!(notes.contains("measured from the bundle"), "{notes}");
}

#[test]
fn benches_of_a_bundle_read_their_own_sides_files() {
    let at = TestBench::of_suite();
    let reading = |input: &str| {
        let files = suite(&[bench("g/a", 1e5), bench("g/b", 1e5)])
            .with("testdata/deep/input.txt", input)
            .with("abreast.toml", "run-files = [\"testdata/**\"]\n");
        let read = "std::fs::read_to_string(\"testdata/deep/input.txt\").unwrap().parse().unwrap()";
        multiplied(files, read)
    };
    let (base, head) = (at.commit(&reading("1.0")), at.commit(&reading("2.0")));
    let elsewhere = Elsewhere::new();
    let (bundle, file) = (elsewhere.path("b.tar.zst"), elsewhere.path("r.jsonl"));
    let (_, build) = at.tool_at(&head, "bundled", &["build", &base, "HEAD", "-o", &bundle]);
    build.run().expect_code(0);
    elsewhere
        .tool(&["record", &bundle, "--rounds", "8", "-o", &file])
        .run()
        .expect_code(0);
    let judged = elsewhere.tool(&["judge", &file]).json().run();
    let row = judged.expect(0).row("g/a");
    // The same executables on other data are not the same experiment.
    assert_eq!(row.verdict(), "not_comparable");
    assert!((row.change() - 1.0).abs() < 0.05, "{}", judged.expect(0).table());
}

#[test]
fn programs_of_a_bundle_are_measured_where_nothing_can_be_built() {
    let engine = |token_ns: &str| {
        let program = "[[program]]\nname = \"engine\"\nbuild = [\"cargo\", \"build\", \"--bin\", \"engine\"]\n\
                       run = [\"target/debug/engine\"]\nformat = \"abreast-decode\"\n";
        Files::fixture("benchless")
            .and(Files::fixture("engine"))
            .replaced("src/bin/engine.rs", "1_000_000", token_ns)
            .with("abreast.toml", program)
    };
    let at = TestBench::of_own(&engine("1_000_000"));
    let head = at.commit(&engine("800_000"));
    let elsewhere = Elsewhere::new();
    let (bundle, file) = (elsewhere.path("b.tar.zst"), elsewhere.path("r.jsonl"));
    let built = at.tool(&["build", "HEAD", &head, "-o", &bundle]).run();
    built.expect_code(0);
    elsewhere
        .tool(&["record", &bundle, "--rounds", "8", "-o", &file])
        .run()
        .expect_code(0);
    let judged = elsewhere.tool(&["judge", &file]).json().run();
    let row = judged.expect(0).row("ms_per_token");
    assert_eq!(row.verdict(), "improved");
    assert!((row.change() + 0.2).abs() < 1e-6, "{}", judged.expect(0).table());
}

#[test]
fn a_killed_recording_of_a_bundle_goes_on() {
    let at = TestBench::of_suite();
    let (base, head) = (at.script(&five()), at.script(&slower()));
    let elsewhere = Elsewhere::new();
    let (bundle, file) = (elsewhere.path("b.tar.zst"), elsewhere.path("r.jsonl"));
    at.tool(&["build", &base, &head, "-o", &bundle])
        .run()
        .expect_code(0);
    let args = ["record", &bundle, "--rounds", "8", "-o", &file];
    let mut running = elsewhere.tool(&args).start();
    running.until_launches(6);
    running.signal(Signal::SIGKILL);
    let _ = running.wait();
    let ended = elsewhere.tool(&args).args(&["--resume"]).run();
    ended.expect_code(0);
    assert!(
        ended.stderr.contains("going on with the run of"),
        "{}",
        ended.stderr
    );
    let judged = elsewhere.tool(&["judge", &file]).json().run();
    assert_eq!(judged.expect(0).flagged(), ["g/a", "g/b", "g/c", "g/d", "g/e"]);
}

#[test]
fn a_side_that_does_not_build_is_in_the_bundle_as_such() {
    let at = TestBench::of_suite();
    let base = at.script(&five());
    let head =
        at.commit(&suite(&five()).replaced("benches/scripted.rs", "fn main() {\n", "fn main() { broken\n"));
    let elsewhere = Elsewhere::new();
    let (bundle, file) = (elsewhere.path("b.tar.zst"), elsewhere.path("r.jsonl"));
    let built = at.tool(&["build", &base, &head, "-o", &bundle]).run();
    built.expect_code(4);
    assert!(built.stderr.contains("head did not build"), "{}", built.stderr);
    let recorded = elsewhere
        .tool(&["record", &bundle, "--rounds", "8", "-o", &file])
        .run();
    recorded.expect_code(4);
    let judged = elsewhere.tool(&["judge", &file]).json().run();
    let row = judged.expect(4).row("g/a");
    assert!(row.0["base"].as_f64().is_some() && row.0["head"].is_null());
}

#[test]
fn what_is_no_bundle_for_here_is_refused_and_nothing_is_left_behind() {
    let elsewhere = Elsewhere::new();
    let path = elsewhere.path("b.tar.zst");
    let refusal = |content: Option<Vec<u8>>| {
        match content {
            Some(content) => std::fs::write(&path, content).unwrap(),
            None => drop(std::fs::remove_file(&path)),
        }
        let ended = elsewhere
            .tool(&["record", &path, "-o", &elsewhere.path("r.jsonl")])
            .run();
        let said = ended.refusal(2).to_owned();
        assert!(!Path::new(&elsewhere.path("r.jsonl")).exists());
        said
    };
    assert!(refusal(None).contains("could not be read"));
    assert!(refusal(Some(b"no archive".to_vec())).contains("damaged or was tampered with"));
    let escaping = archive(&[("manifest.json", manifest("../../escaped", "x86_64").as_bytes())]);
    assert!(refusal(Some(escaping)).contains("leads out of it"));
    let foreign = archive(&[("manifest.json", manifest("build.jsonl", "z80").as_bytes())]);
    assert!(refusal(Some(foreign)).contains("its executables are for linux z80"));
    let bomb = bomb();
    assert!(bomb.len() < 100_000);
    assert!(refusal(Some(bomb)).contains("does not belong in it"));
    let content = archive(&[
        (
            "manifest.json",
            manifest("build.jsonl", std::env::consts::ARCH).as_bytes(),
        ),
        (&"0".repeat(64), b"evil!"),
    ]);
    assert!(refusal(Some(content)).contains("has another content"));
    assert!(!elsewhere.folder.path().join("escaped").exists());
}

#[test]
fn a_bundle_is_built_once_and_named_so_that_it_is_known() {
    let at = TestBench::of_own(&Files::fixture("benchless"));
    let ended = at.tool(&["build", "HEAD", "HEAD", "-o", "bundle.tgz"]).run();
    assert!(ended.refusal(2).contains("ends in .tar.zst"), "{}", ended.stderr);
    let ended = at
        .tool(&["record", "x.tar.zst", "--features", "simd", "-o", "r.jsonl"])
        .run();
    assert!(ended.refusal(2).contains("built already"), "{}", ended.stderr);
    let bundle = PathBuf::from(tempfile::tempdir().unwrap().path()).join("b.tar.zst");
    let ended = at
        .tool(&["build", "HEAD", "HEAD", "-o", bundle.to_str().unwrap()])
        .run();
    ended.expect_code(3);
}

/// A member that gives the next one a name of 64 MB.
fn bomb() -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let manifest = manifest("build.jsonl", std::env::consts::ARCH);
    let mut header = tar::Header::new_gnu();
    header.set_size(manifest.len() as u64);
    builder
        .append_data(&mut header, "manifest.json", manifest.as_bytes())
        .unwrap();
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_size(64 << 20);
    builder
        .append_data(
            &mut header,
            "././@LongLink",
            std::io::Read::take(std::io::repeat(b'a'), 64 << 20),
        )
        .unwrap();
    zstd::encode_all(builder.into_inner().unwrap().as_slice(), 3).unwrap()
}

fn manifest(path: &str, arch: &str) -> String {
    let digest = "0".repeat(64);
    format!(
        r#"{{"schema":"abreast/bundle/1","tool":"0.1.0","os":"linux","arch":"{arch}",
            "files":[{{"path":"{path}","sha256":"{digest}","bytes":5,"kind":"file"}}]}}"#
    )
}

fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        builder.append_data(&mut header, name, *content).unwrap();
    }
    zstd::encode_all(builder.into_inner().unwrap().as_slice(), 3).unwrap()
}
