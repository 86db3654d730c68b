//! What programs read, to the letter.

use super::render;
use crate::report::row::COLUMNS;
use crate::report::sample;
use serde_json::Value;

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .map(|object| object.keys().map(String::as_str).collect())
        .unwrap_or_default()
}

#[test]
fn the_sample_as_json() {
    // A right-to-left override would reverse this file in an editor.
    let text = render(&sample::report()).replace('\u{202e}', "<RLO>");
    insta::assert_snapshot!(text, @r#"
    {
      "schema": "abreast/report/1",
      "base": {
        "label": "main",
        "sha": "1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a"
      },
      "head": {
        "label": "working tree",
        "sha": "f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0"
      },
      "host": {
        "cpu": "AMD EPYC 7B13",
        "cores": 2,
        "memory_bytes": 8345000000,
        "os": "Debian 12",
        "kernel": "6.1.0",
        "arch": "x86_64",
        "governor": "performance"
      },
      "differences": [
        {
          "kind": "lock",
          "subject": "serde",
          "base": "1.0.227",
          "head": "1.0.228"
        },
        {
          "kind": "flags",
          "subject": "RUSTFLAGS",
          "base": null,
          "head": "-C target-cpu=native"
        }
      ],
      "notes": [
        "bench target `kernels/cuda` was not run: needs feature cuda",
        "blind spot: 3 changed files are not reached by any bench: src/io.rs, src/net.rs and 1 more",
        "blind spot: changes below 6.1 % in the 3 unclear rows",
        "blind spot: anything on a GPU: this machine has none"
      ],
      "summary": {
        "scenarios": 13,
        "compared": 11,
        "judged": 6,
        "regressed": 2,
        "improved": 1,
        "unchanged": 2,
        "unclear": 3,
        "identical": 1,
        "new": 1,
        "removed": 1,
        "failed": 1,
        "not_comparable": 1
      },
      "method": {
        "rounds": 16,
        "family_alpha": 0.05,
        "threshold": 0.02,
        "margin": 0.05,
        "alert": 0.1,
        "median_detectable": 0.014,
        "null_pairs": 32,
        "seed": 7
      },
      "elapsed": {
        "checkout_s": 0.4,
        "build_base_s": 58.2,
        "build_head_s": 0.15,
        "measure_s": 191.4,
        "total_s": 252.0
      },
      "findings": [
        {
          "scenario": "matmul/f32/8x1024x1024",
          "kind": "criterion",
          "package": "kernels",
          "target": "ops",
          "metric": "time",
          "unit": "ns",
          "better": "lower",
          "base": 1049000.0,
          "head": 1178027.0,
          "change": 0.123,
          "low": 0.11699999999999999,
          "high": 0.1284,
          "floor": 0.0048000000000000004,
          "detectable": 0.009600000000000001,
          "rounds": 16,
          "confirmed": true,
          "instructions_change": null,
          "verdict": "regressed",
          "flag": "alert",
          "notes": [
            "instructions did not change: layout suspected"
          ]
        },
        {
          "scenario": "gather/bf16",
          "kind": "criterion",
          "package": "kernels",
          "target": "ops",
          "metric": "time",
          "unit": "ns",
          "better": "lower",
          "base": 12340.0,
          "head": 12981.68,
          "change": 0.052,
          "low": 0.020999999999999998,
          "high": 0.0799,
          "floor": 0.024800000000000003,
          "detectable": 0.049600000000000005,
          "rounds": 16,
          "confirmed": false,
          "instructions_change": null,
          "verdict": "unclear",
          "flag": "unclear",
          "notes": [
            "not confirmed: +5.2 % at first, +0.3 % with fresh processes"
          ]
        },
        {
          "scenario": "add|`f16`/*1_000*",
          "kind": "criterion",
          "package": "kernels",
          "target": "ops",
          "metric": "time",
          "unit": "ns",
          "better": "lower",
          "base": 402.0,
          "head": 415.668,
          "change": 0.034,
          "low": 0.023000000000000003,
          "high": 0.0439,
          "floor": 0.0088,
          "detectable": 0.0176,
          "rounds": 16,
          "confirmed": true,
          "instructions_change": null,
          "verdict": "regressed",
          "flag": "warn",
          "notes": []
        },
        {
          "scenario": "reduce_mean/<script>",
          "kind": "criterion",
          "package": "kernels",
          "target": "ops",
          "metric": "time",
          "unit": "ns",
          "better": "lower",
          "base": 88000000.0,
          "head": 88967999.99999999,
          "change": 0.011,
          "low": -0.05,
          "high": 0.0659,
          "floor": 0.0488,
          "detectable": 0.0976,
          "rounds": 16,
          "confirmed": null,
          "instructions_change": null,
          "verdict": "unclear",
          "flag": "unclear",
          "notes": [
            "needs about 208 rounds to show 2 %"
          ]
        },
        {
          "scenario": "add/f32/a_very_long_parameter_list/with_many_parts/and_another_one/rows=4096,cols=1024",
          "kind": "criterion",
          "package": "kernels",
          "target": "ops",
          "metric": "time",
          "unit": "ns",
          "better": "lower",
          "base": 1234.5,
          "head": 1238.3269500000001,
          "change": 0.0031,
          "low": -0.0049,
          "high": 0.0103,
          "floor": 0.0064,
          "detectable": 0.0128,
          "rounds": 16,
          "confirmed": null,
          "instructions_change": null,
          "verdict": "unchanged",
          "flag": "ok",
          "notes": []
        },
        {
          "scenario": "add/f32/1",
          "kind": "criterion",
          "package": "kernels",
          "target": "ops",
          "metric": "time",
          "unit": "ns",
          "better": "lower",
          "base": 1.5,
          "head": 1.5,
          "change": 0.0,
          "low": 0.0,
          "high": 0.0,
          "floor": 0.0,
          "detectable": 0.0,
          "rounds": 16,
          "confirmed": null,
          "instructions_change": null,
          "verdict": "unchanged",
          "flag": "ok",
          "notes": []
        },
        {
          "scenario": "logits/penalty",
          "kind": "criterion",
          "package": "kernels",
          "target": "ops",
          "metric": "time",
          "unit": "ns",
          "better": "lower",
          "base": 999.96,
          "head": 809.9676000000001,
          "change": -0.19,
          "low": -0.21,
          "high": -0.172,
          "floor": 0.016,
          "detectable": 0.032,
          "rounds": 16,
          "confirmed": true,
          "instructions_change": null,
          "verdict": "improved",
          "flag": "faster",
          "notes": []
        },
        {
          "scenario": "sampling/top_p",
          "kind": "criterion",
          "package": "kernels",
          "target": "ops",
          "metric": "time",
          "unit": "ns",
          "better": "lower",
          "base": 1500.0,
          "head": 3100.0,
          "change": null,
          "low": null,
          "high": null,
          "floor": null,
          "detectable": null,
          "rounds": null,
          "confirmed": null,
          "instructions_change": null,
          "verdict": "not_comparable",
          "flag": "none",
          "notes": [
            "bench source changed: benches/ops.rs:41"
          ]
        },
        {
          "scenario": "kv_cache/pages\n@everyone",
          "kind": "criterion",
          "package": "kernels",
          "target": "ops",
          "metric": "time",
          "unit": "ns",
          "better": "lower",
          "base": 0.402,
          "head": null,
          "change": null,
          "low": null,
          "high": null,
          "floor": null,
          "detectable": null,
          "rounds": null,
          "confirmed": null,
          "instructions_change": null,
          "verdict": "failed",
          "flag": "none",
          "notes": [
            "head crashed in round 3:\nthread 'main' panicked at src/kv.rs:12:\n  index out of bounds </details> ```"
          ]
        },
        {
          "scenario": "matmul/hang",
          "kind": "criterion",
          "package": "kernels",
          "target": "ops",
          "metric": "time",
          "unit": "ns",
          "better": "lower",
          "base": null,
          "head": null,
          "change": null,
          "low": null,
          "high": null,
          "floor": null,
          "detectable": null,
          "rounds": null,
          "confirmed": null,
          "instructions_change": null,
          "verdict": "unclear",
          "flag": "unclear",
          "notes": []
        },
        {
          "scenario": "tokenize/日本 µ",
          "kind": "criterion",
          "package": "kernels",
          "target": "ops",
          "metric": "time",
          "unit": "ns",
          "better": "lower",
          "base": 2000000000.0,
          "head": 2000000000.0,
          "change": null,
          "low": null,
          "high": null,
          "floor": null,
          "detectable": null,
          "rounds": null,
          "confirmed": null,
          "instructions_change": null,
          "verdict": "identical",
          "flag": "none",
          "notes": []
        },
        {
          "scenario": "grammar/<RLO>mask ",
          "kind": "criterion",
          "package": "kernels",
          "target": "ops",
          "metric": "time",
          "unit": "ns",
          "better": "lower",
          "base": null,
          "head": 31.4,
          "change": null,
          "low": null,
          "high": null,
          "floor": null,
          "detectable": null,
          "rounds": null,
          "confirmed": null,
          "instructions_change": null,
          "verdict": "new",
          "flag": "none",
          "notes": []
        },
        {
          "scenario": "grammar/old",
          "kind": "criterion",
          "package": "kernels",
          "target": "ops",
          "metric": "time",
          "unit": "ns",
          "better": "lower",
          "base": 30.9,
          "head": null,
          "change": null,
          "low": null,
          "high": null,
          "floor": null,
          "detectable": null,
          "rounds": null,
          "confirmed": null,
          "instructions_change": null,
          "verdict": "removed",
          "flag": "none",
          "notes": []
        }
      ]
    }
    "#);
}

#[test]
fn every_key_of_the_schema_is_present_and_no_other() {
    for report in [sample::empty(), sample::report()] {
        let json: Value = serde_json::from_str(&render(&report)).unwrap();
        let sorted = |mut names: Vec<&str>| {
            names.sort_unstable();
            names.join(" ")
        };
        assert_eq!(
            sorted(keys(&json)),
            "base differences elapsed findings head host method notes schema summary"
        );
        assert_eq!(sorted(keys(&json["base"])), "label sha");
        assert_eq!(
            sorted(keys(&json["summary"])),
            "compared failed identical improved judged new not_comparable regressed removed scenarios unchanged unclear"
        );
        assert_eq!(
            sorted(keys(&json["method"])),
            "alert family_alpha margin median_detectable null_pairs rounds seed threshold"
        );
        assert_eq!(
            sorted(keys(&json["elapsed"])),
            "build_base_s build_head_s checkout_s measure_s total_s"
        );
        for finding in json["findings"].as_array().unwrap() {
            assert_eq!(sorted(keys(finding)), sorted(COLUMNS.to_vec()));
        }
    }
}

#[test]
fn the_summary_adds_up() {
    let json: Value = serde_json::from_str(&render(&sample::report())).unwrap();
    let count = |key: &str| json["summary"][key].as_u64().unwrap();
    let by_verdict: u64 = [
        "regressed",
        "improved",
        "unchanged",
        "unclear",
        "identical",
        "new",
        "removed",
        "failed",
        "not_comparable",
    ]
    .map(count)
    .iter()
    .sum();
    assert_eq!(count("scenarios"), by_verdict);
    assert_eq!(
        count("scenarios"),
        count("compared") + count("new") + count("removed")
    );
}

#[test]
fn a_number_that_is_not_finite_is_null() {
    let mut report = sample::empty();
    report.method.median_detectable = Some(f64::NAN);
    report.method.alert = f64::INFINITY;
    report.elapsed.total_s = Some(f64::NEG_INFINITY);
    let mut finding = sample::unchanged("a");
    finding.base = Some(f64::INFINITY);
    if let Some(change) = &mut finding.change {
        change.low = f64::NEG_INFINITY;
        change.change = f64::NAN;
    }
    report.findings.push(finding);
    let json: Value = serde_json::from_str(&render(&report)).unwrap();
    assert_eq!(json["method"]["median_detectable"], Value::Null);
    assert_eq!(json["method"]["alert"], Value::Null);
    assert_eq!(json["elapsed"]["total_s"], Value::Null);
    for key in ["base", "change", "low"] {
        assert_eq!(json["findings"][0][key], Value::Null);
    }
}

#[test]
fn ids_are_raw() {
    let id = "a|`b`\n\u{202e}\u{1b}[0m </details>";
    let mut report = sample::empty();
    report.findings.push(sample::unchanged(id));
    let json: Value = serde_json::from_str(&render(&report)).unwrap();
    assert_eq!(json["findings"][0]["scenario"], id);
}
