//! `decode-profile` as it is used: what it writes, and what it says of what it cannot do.
//!
//! What needs a GPU says that it was skipped, and why, where there is none.
#![expect(
    clippy::disallowed_methods,
    reason = "runs the program, and makes files for it"
)]

use kernels::device::{Availability, probe};
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output};

fn program(arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_decode-profile"));
    program.args(arguments).env_remove("ABREAST_FORMAT");
    program
}

fn run(arguments: &[&str]) -> Output {
    program(arguments)
        .output()
        .expect("it runs, and writes UTF-8 and JSON")
}

/// On a GPU; compiled kernels are kept below `cache`.
fn run_on_gpu(arguments: &[&str], cache: &Path) -> Output {
    program(&[&["--backend", "cuda"], arguments].concat())
        .env("XDG_CACHE_HOME", cache)
        .output()
        .expect("it runs, and writes UTF-8 and JSON")
}

fn skipped(test: &str, reason: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {reason}");
}

/// Whether there is a GPU; if there is none, that is said.
fn has_gpu(test: &str) -> bool {
    let found = probe();
    if found != Availability::Available {
        skipped(test, &found.to_string());
    }
    found == Availability::Available
}

/// It ends with 2 and one line that begins with its name; that line.
fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    let said = String::from_utf8(output.stderr).expect("it runs, and writes UTF-8 and JSON");
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(output.stdout.is_empty());
    assert!(
        said.starts_with("decode-profile: ") && said.lines().count() == 1,
        "{said}"
    );
    said
}

fn lines(arguments: &[&str]) -> Vec<Value> {
    lines_of(run(arguments))
}

fn lines_of(output: Output) -> Vec<Value> {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("it runs, and writes UTF-8 and JSON");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("it runs, and writes UTF-8 and JSON"))
        .collect()
}

#[test]
fn who_reads_json_need_not_ask_for_it() {
    let written = |format: &str| {
        let mut program = program(&["--steady", "--tokens", "9"]);
        let output = program.env("ABREAST_FORMAT", format).output();
        String::from_utf8(output.expect("it runs").stdout).expect("it writes UTF-8")
    };
    assert!(written("abreast-decode").starts_with("{\"event\":\"header\""));
    assert!(written("profile-native").starts_with("profile_native: "));
}

#[test]
fn json_has_one_header_and_a_line_for_each_token_and_end() {
    for shape in ["tiny", "tiny-hybrid"] {
        let lines = lines(&[
            "--shape",
            shape,
            "--tokens",
            "12",
            "--runs",
            "2",
            "--warmups",
            "0",
            "--json",
        ]);
        assert_eq!(lines.len(), 1 + 2 * (12 + 1));
        assert_eq!(lines[0]["schema"], "abreast/decode/1");
        assert_eq!(
            (&lines[0]["model"], &lines[0]["weights"]),
            (&shape.into(), &"seeded".into())
        );
        assert_eq!(lines[0]["prompt_tokens"], 5);
        let tokens = |run: u64| -> Vec<(u64, u64)> {
            let of_run = lines
                .iter()
                .filter(|line| line["event"] == "token" && line["run"] == run);
            of_run
                .map(|line| (line["id"].as_u64().unwrap(), line["t_ns"].as_u64().unwrap()))
                .collect()
        };
        let (first, second) = (tokens(0), tokens(1));
        assert!(first.is_sorted_by_key(|(_, t_ns)| *t_ns));
        let ids = |tokens: &[(u64, u64)]| tokens.iter().map(|(id, _)| *id).collect::<Vec<u64>>();
        assert_eq!(ids(&first), ids(&second));
        let end = lines.last().unwrap();
        assert_eq!((&end["event"], &end["stop"]), (&"end".into(), &"length".into()));
        assert_eq!(end["counters"]["captures"], 0);
    }
}

#[test]
fn people_get_a_line_for_each_run_a_median_and_the_ids() {
    let output = run(&["--steady", "--tokens", "12", "--runs", "2"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "steady_run 1: prefill=",
        "steady_run 2: ",
        "(runs=2 warmups=1 decode_skip=8)",
        "generated_token_ids: [",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn the_ids_of_a_prompt_may_come_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids");
    std::fs::write(&path, "[72, 101, 108, 108, 111]").unwrap();
    let path = path.to_str().unwrap();
    let header = |arguments: &[&str]| lines(arguments)[0]["prompt_sha256"].clone();
    let same = header(&["--prompt-ids", path, "--tokens", "9", "--json"]);
    assert_eq!(same, header(&["--prompt", "Hello", "--tokens", "9", "--json"]));
    assert_ne!(same, header(&["--prompt", "Hallo", "--tokens", "9", "--json"]));
    std::fs::write(path, "[72, 256]").unwrap();
    assert!(refused(&["--prompt-ids", path]).contains("token 256 is not in the vocabulary"));
    std::fs::write(path, "seventy-two").unwrap();
    assert!(refused(&["--prompt-ids", path]).contains("is not a token id"));
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    assert!(refused(&["--steady", "--tokens", "8"]).contains("leaves no steady window"));
    for absurd in [
        ["--tokens", "0"],
        ["--tokens", "18446744073709551615"],
        ["--threads", "0"],
    ] {
        let output = run(&absurd);
        assert_eq!(output.status.code(), Some(2), "{absurd:?}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("invalid value"),
            "{absurd:?}"
        );
    }
    assert!(refused(&["--tokens", "600"]).contains("the model was made for 512"));
    assert!(refused(&["--shape", "enormous"]).contains("there is no shape \"enormous\""));
    assert!(refused(&["--prompt", ""]).contains("the prompt has no tokens"));
    assert!(refused(&["--model", "no/such/model.gguf"]).contains("no/such/model.gguf"));
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("empty", &b""[..]),
        ("text", b"not a model"),
        ("cut", b"GGUF\x03\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"),
        ("huge", b"\xff\xff\xff\xff\xff\xff\xff\x7f{}"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let said = refused(&["--model", path.to_str().unwrap()]);
        assert!(said.contains(name), "{said}");
    }
    assert!(refused(&["--model", folder.path().to_str().unwrap()]).contains("decode-profile: "));
}

#[test]
fn a_way_to_launch_is_refused_on_the_cpu() {
    for launch in ["per-call", "persistent", "captured"] {
        assert!(refused(&["--launch", launch]).contains("--launch is for --backend cuda"));
    }
}

#[test]
fn on_the_cpu_nothing_is_launched() {
    let lines = lines(&["--tokens", "9", "--json"]);
    assert_eq!(
        (&lines[0]["backend"], &lines[0]["device"]),
        (&"cpu".into(), &"cpu".into())
    );
    assert_eq!(lines[0]["launch"], Value::Null);
    let counters = lines.last().unwrap()["counters"].as_object().unwrap().clone();
    assert!(counters.values().all(|count| *count == 0), "{counters:?}");
}

#[test]
fn without_a_gpu_cuda_is_one_sentence_and_the_cpu_does_not_take_its_place() {
    let test = "without_a_gpu_cuda_is_one_sentence_and_the_cpu_does_not_take_its_place";
    let found = probe();
    if found == Availability::Available {
        return skipped(test, "there is a GPU");
    }
    for more in [&["--json"][..], &["--launch", "per-call"], &[]] {
        let output = run(&[&["--backend", "cuda"], more].concat());
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            format!("decode-profile: no GPU can be used: {found}\n")
        );
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn however_steps_are_launched_the_ids_are_those_of_the_cpu() {
    let test = "however_steps_are_launched_the_ids_are_those_of_the_cpu";
    if !has_gpu(test) {
        return;
    }
    let arguments = [
        "--shape",
        "tiny-hybrid",
        "--dtype",
        "f32",
        "--tokens",
        "64",
        "--runs",
        "2",
        "--json",
    ];
    let ids = |lines: &[Value]| -> Vec<u64> {
        let tokens = lines.iter().filter(|line| line["event"] == "token");
        tokens.map(|line| line["id"].as_u64().unwrap()).collect()
    };
    let wanted = ids(&lines(&arguments));
    assert_eq!(wanted.len(), 2 * 64);
    let cache = tempfile::tempdir().unwrap();
    // The prompt has five tokens, and the last one that is generated is not fed. Of these steps the first is run as it
    // is, the second recorded, and the others are replayed.
    let replays = 5 + 64 - 1 - 2;
    for (launch, captures, replays) in [("per-call", 0, 0), ("persistent", 0, 0), ("captured", 1, replays)] {
        let output = run_on_gpu(&[&arguments[..], &["--launch", launch]].concat(), cache.path());
        let lines = lines_of(output);
        let header = &lines[0];
        assert_eq!(
            (&header["backend"], &header["launch"]),
            (&"cuda".into(), &launch.into())
        );
        assert_eq!(header["dtype"], "f32");
        assert_ne!(header["device"], "cpu");
        assert!(header["weight_bytes"].as_u64() > Some(0));
        assert_eq!(ids(&lines), wanted, "{launch}");
        let ends: Vec<&Value> = lines.iter().filter(|line| line["event"] == "end").collect();
        assert_eq!(ends.len(), 2);
        for end in ends {
            let counters = &end["counters"];
            let found = ["captures", "replays", "fallbacks"].map(|name| counters[name].as_u64());
            assert_eq!(found, [captures, replays, 0].map(Some), "{launch}: {counters}");
            // Every token is waited for, and comes from the device.
            assert!(counters["syncs"].as_u64() >= Some(64), "{launch}: {counters}");
            assert!(counters["d2h_calls"].as_u64() >= Some(64), "{launch}: {counters}");
        }
    }
}

#[test]
fn what_was_compiled_is_kept_for_the_next_process() {
    let test = "what_was_compiled_is_kept_for_the_next_process";
    if !has_gpu(test) {
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    let kept = || {
        let arguments = ["--tokens", "2", "--warmups", "0"];
        assert!(run_on_gpu(&arguments, cache.path()).status.success());
        let folder = std::fs::read_dir(cache.path().join("abreast/kernels")).unwrap();
        let mut files: Vec<_> = folder
            .map(|file| {
                let file = file.unwrap();
                (file.file_name(), file.metadata().unwrap().modified().unwrap())
            })
            .collect();
        files.sort();
        files
    };
    let first = kept();
    assert!(!first.is_empty());
    assert!(
        first
            .iter()
            .all(|(name, _)| Path::new(name).extension() == Some("ptx".as_ref())),
        "{first:?}"
    );
    assert_eq!(kept(), first);
}

#[test]
fn people_are_told_what_a_gpu_did_in_all_and_in_measured_runs() {
    let test = "people_are_told_what_a_gpu_did_in_all_and_in_measured_runs";
    if !has_gpu(test) {
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    for form in [&["--steady"][..], &[]] {
        let output = run_on_gpu(&[&["--tokens", "12"], form].concat(), cache.path());
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        for part in [
            "profile_native: model=tiny ep=Cuda backend=native\n",
            "\ncuda_graph: enabled=true captures=2 replays=28 fallbacks=0\n\
             cuda_graph_measured: captures=1 replays=14 fallbacks=0\n\
             device_measured: syncs=",
            "\ngenerated_token_ids: [",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("cuda_graph_fallback_reason"), "{text}");
    }
}
