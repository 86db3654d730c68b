//! Reports and messages that the tests send.

use abreast::comment::{Message, Told};
use abreast::pull_request::Run;
use abreast::report::json;
use serde_json::{Value, json};

/// Commits by one digit.
pub(crate) fn sha(digit: char) -> String {
    digit.to_string().repeat(40)
}

/// A row of a report as JSON.
pub(crate) fn row(id: &str, verdict: &str) -> Value {
    let (change, flag) = match verdict {
        "regressed" => (0.2, "alert"),
        "improved" => (-0.3, "faster"),
        "unclear" => (0.01, "unclear"),
        _ => (0.001, "ok"),
    };
    json!({
        "scenario": id, "kind": "criterion", "package": "p", "target": "ops", "metric": "time", "unit": "ns",
        "better": "lower", "base": 100.0, "head": 100.0 * (1.0 + change), "change": change, "low": change - 0.01,
        "high": change + 0.01, "floor": 0.005, "detectable": 0.015, "rounds": 16, "confirmed": null,
        "instructions_change": null, "verdict": verdict, "flag": flag, "notes": [],
    })
}

/// A report as JSON, about a head by one digit.
pub(crate) fn report(head: char, rows: Vec<Value>) -> Value {
    json!({
        "schema": "abreast/report/1",
        "base": {"label": "main", "sha": sha('b')},
        "head": {"label": "HEAD", "sha": sha(head)},
        "host": {"cpu": "A processor", "cores": 2, "memory_bytes": 8_000_000_000_u64, "os": "Linux", "kernel": "6.1",
            "arch": "x86_64", "governor": null},
        "differences": [],
        "notes": ["changed Rust files: src/lib.rs"],
        "summary": {},
        "method": {"rounds": 16, "family_alpha": 0.05, "threshold": 0.02, "margin": 0.05, "alert": 0.1,
            "median_detectable": 0.015, "null_pairs": 32, "seed": 7},
        "elapsed": {"checkout_s": 0.1, "build_base_s": 10.0, "build_head_s": 1.0, "measure_s": 60.0, "total_s": 72.0},
        "findings": rows,
    })
}

/// With one regression.
pub(crate) fn regressed(head: char) -> Value {
    report(
        head,
        vec![row("parse/slow", "regressed"), row("parse/same", "unchanged")],
    )
}

/// Without any change.
pub(crate) fn unchanged(head: char) -> Value {
    report(head, vec![row("parse/same", "unchanged")])
}

/// What a job says in some run about some head.
pub(crate) fn message(job: &str, run: u64, head: char) -> Message {
    told(job, run, head, &regressed(head))
}

/// The same with another report.
pub(crate) fn told(job: &str, run: u64, head: char, report: &Value) -> Message {
    Message {
        job: job.to_owned(),
        head: sha(head),
        run: Run {
            id: Some(run),
            number: None,
            attempt: Some(1),
        },
        reports: vec![Told {
            name: "report".to_owned(),
            report: json::read(report.to_string().as_bytes()).unwrap(),
        }],
        on_change: false,
        files: None,
    }
}

/// 2,000 rows with 3 regressions and 40 improvements.
pub(crate) fn many_rows(head: char) -> Value {
    let rows = (0..2_000).map(|n| {
        let verdict = match n {
            0..3 => "regressed",
            1_960.. => "improved",
            _ => "unchanged",
        };
        row(
            &format!("{verdict}/group/a function with a long name/{n}"),
            verdict,
        )
    });
    report(head, rows.collect())
}
