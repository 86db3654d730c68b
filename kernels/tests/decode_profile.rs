//! `decode-profile` as it is used: what it writes, and what it says of what it cannot do.
#![expect(
    clippy::disallowed_methods,
    reason = "runs the program, and makes files for it"
)]

use serde_json::Value;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_decode-profile"))
        .args(arguments)
        .output()
        .expect("it runs, and writes UTF-8 and JSON")
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
    let output = run(arguments);
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
