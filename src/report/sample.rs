//! One small report that every renderer's tests share: all nine verdicts, hostile ids, absent values.

use crate::metric::Metric;
use crate::recording::{Difference, Host};
use crate::report::{Change, Curve, Elapsed, Finding, Method, Report};
use crate::revision::Revision;
use crate::scenario::{Kind, Target};
use crate::verdict::Verdict;

/// The sample.
pub(crate) fn report() -> Report {
    let mut report = empty();
    report.host = Host {
        cpu: Some("AMD EPYC 7B13".to_owned()),
        cores: Some(2),
        memory_bytes: Some(8_345_000_000),
        os: Some("Debian 12".to_owned()),
        kernel: Some("6.1.0".to_owned()),
        arch: Some("x86_64".to_owned()),
        governor: Some("performance".to_owned()),
        gpus: Vec::new(),
    };
    report.differences = vec![
        difference("lock", "serde", Some("1.0.227"), Some("1.0.228")),
        difference("flags", "RUSTFLAGS", None, Some("-C target-cpu=native")),
    ];
    report.notes = vec!["bench target `kernels/cuda` was not run: needs feature cuda".to_owned()];
    report.blind_spots = vec![
        "3 changed files are not reached by any bench: src/io.rs, src/net.rs and 1 more".to_owned(),
        "changes below 6.1 % in the 3 unclear rows".to_owned(),
        "anything on a GPU: this machine has none".to_owned(),
    ];
    report.method.rounds = 16;
    report.method.median_detectable = Some(0.014);
    report.method.null_pairs = 32;
    report.method.order_effect = Some(0.0031);
    report.elapsed = Elapsed {
        checkout_s: Some(0.4),
        build_base_s: Some(58.2),
        build_head_s: Some(0.15),
        measure_s: Some(191.4),
        total_s: Some(252.0),
    };
    report.findings = findings();
    report.curves = vec![curve()];
    report
}

/// Tokens that take longer the more there are before them; on head those from the twentieth on a little more.
fn curve() -> Curve {
    let times = |late: f64| {
        let time = |position: u32| {
            let late = if position < 20 { 0.0 } else { late };
            1.1e6 + f64::from(position) * 1.5e3 + late
        };
        (0..63).map(time).collect()
    };
    Curve {
        target: Target::program("qwen3-0.6b"),
        base: times(0.0),
        head: times(3e4),
    }
}

/// A report without rows and without a single known fact.
pub(crate) fn empty() -> Report {
    let revision = |label: &str, digit: &str| Revision {
        label: label.to_owned(),
        sha: digit.repeat(20),
    };
    Report {
        base: revision("main", "1a"),
        head: revision("working tree", "f0"),
        host: Host::default(),
        differences: Vec::new(),
        notes: Vec::new(),
        blind_spots: Vec::new(),
        method: Method {
            rounds: 0,
            family_alpha: 0.05,
            threshold: 0.02,
            margin: 0.05,
            alert: 0.1,
            floor_ns: Some(1.0),
            median_detectable: None,
            null_pairs: 0,
            seed: 7,
            order_effect: None,
        },
        elapsed: Elapsed::default(),
        findings: Vec::new(),
        curves: Vec::new(),
    }
}

/// A row without a change of speed to show.
pub(crate) fn bare(id: &str, verdict: Verdict) -> Finding {
    Finding {
        scenario: id.to_owned(),
        kind: Kind::Criterion,
        target: Target {
            package: "kernels".to_owned(),
            target: "ops".to_owned(),
        },
        metric: Metric::time(),
        base: None,
        head: None,
        change: None,
        confirmed: None,
        instructions_change: None,
        verdict,
        flag: verdict.flag(None, 0.1),
        notes: Vec::new(),
    }
}

/// A row with a change; the rounds scatter around it in a fixed pattern.
pub(crate) fn changed(id: &str, verdict: Verdict, base: f64, change: f64, half: f64) -> Finding {
    let scatter = [
        0.2, -0.5, 0.9, -1.1, 0.4, -0.3, 1.3, -0.8, 0.1, 0.6, -0.7, -0.2, 0.5, -0.9, 0.8, -0.3,
    ];
    Finding {
        base: Some(base),
        head: Some(base * (1.0 + change)),
        change: Some(Change {
            change,
            low: change - half,
            high: change + half * 0.9,
            floor: half * 0.8,
            detectable: half * 1.6,
            rounds: 16,
            per_round: scatter.iter().map(|z| change + z * half).collect(),
            base_per_round: scatter.iter().rev().map(|z| base * (1.0 + z * half)).collect(),
            confirmation: None,
        }),
        flag: verdict.flag(Some(change), 0.1),
        ..bare(id, verdict)
    }
}

/// An unchanged row.
pub(crate) fn unchanged(id: &str) -> Finding {
    changed(id, Verdict::Unchanged, 1234.5, 0.0031, 0.008)
}

fn findings() -> Vec<Finding> {
    let mut alert = confirmed(
        "matmul/f32/8x1024x1024",
        Verdict::Regressed,
        1_049_000.0,
        0.123,
        0.006,
        Some(0.118),
    );
    alert.notes = vec!["instructions did not change: layout suspected".to_owned()];
    let warn = confirmed("add|`f16`/*1_000*", Verdict::Regressed, 402.0, 0.034, 0.011, None);

    let mut unconfirmed = changed("gather/bf16", Verdict::Unclear, 12_340.0, 0.052, 0.031);
    unconfirmed.confirmed = Some(false);
    unconfirmed
        .notes
        .push("not confirmed: +5.2 % at first, +0.3 % with fresh processes".to_owned());
    if let Some(change) = &mut unconfirmed.change {
        change.confirmation = Some(0.003);
    }
    let mut noisy = changed(
        "reduce_mean/<script>",
        Verdict::Unclear,
        88_000_000.0,
        0.011,
        0.061,
    );
    noisy.notes = vec!["needs about 208 rounds to show 2 %".to_owned()];

    let mut failed = bare("kv_cache/pages\n@everyone", Verdict::Failed);
    failed.base = Some(0.402);
    failed.notes = vec![
        "head crashed in round 3:\nthread 'main' panicked at src/kv.rs:12:\n  index out of bounds </details> ```".to_owned(),
    ];
    let mut incomparable = bare("sampling/top_p", Verdict::NotComparable);
    incomparable.base = Some(1500.0);
    incomparable.head = Some(3100.0);
    incomparable.notes = vec!["bench source changed: benches/ops.rs:41".to_owned()];
    let mut identical = bare("tokenize/日本 µ", Verdict::Identical);
    identical.base = Some(2.0e9);
    identical.head = Some(2.0e9);
    let mut new = bare("grammar/\u{202e}mask ", Verdict::New);
    new.head = Some(31.4);
    let mut removed = bare("grammar/old", Verdict::Removed);
    removed.base = Some(30.9);

    vec![
        alert,
        unconfirmed,
        warn,
        noisy,
        unchanged("add/f32/a_very_long_parameter_list/with_many_parts/and_another_one/rows=4096,cols=1024"),
        changed("add/f32/1", Verdict::Unchanged, 1.5, 0.0, 0.0),
        confirmed(
            "logits/penalty",
            Verdict::Improved,
            999.96,
            -0.19,
            0.02,
            Some(-0.2),
        ),
        incomparable,
        failed,
        bare("matmul/hang", Verdict::Unclear),
        identical,
        new,
        removed,
    ]
}

fn confirmed(id: &str, verdict: Verdict, base: f64, change: f64, half: f64, again: Option<f64>) -> Finding {
    let mut finding = changed(id, verdict, base, change, half);
    finding.confirmed = Some(true);
    if let Some(change) = &mut finding.change {
        change.confirmation = again;
    }
    finding
}

/// A difference between the sides.
pub(crate) fn difference(kind: &str, subject: &str, base: Option<&str>, head: Option<&str>) -> Difference {
    Difference {
        kind: kind.to_owned(),
        subject: subject.to_owned(),
        base: base.map(str::to_owned),
        head: head.map(str::to_owned),
    }
}
