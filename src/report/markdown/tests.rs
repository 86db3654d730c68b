//! What a pull request shows.

use super::{LIMIT, render};
use crate::report::{Finding, Report, hostile, sample};
use crate::verdict::Verdict;
use proptest::prelude::*;

fn rows(number: usize, verdict: Verdict, change: f64) -> Vec<Finding> {
    (0..number)
        .map(|row| {
            let id = format!(
                "{}/group_{row}/a_function_with_a_name/param={row}",
                verdict.as_str()
            );
            sample::changed(&id, verdict, 1e6, change, 0.004)
        })
        .collect()
}

fn of(parts: Vec<Vec<Finding>>) -> Report {
    let mut report = sample::report();
    report.findings = parts.concat();
    report
}

/// Length as a server may count it, whichever is larger.
fn length(text: &str) -> usize {
    text.chars().count().max(text.encode_utf16().count())
}

/// Rows of all tables that start with this status.
fn listed(text: &str, status: &str) -> usize {
    text.lines()
        .filter(|line| line.starts_with(&format!("| {status}")))
        .count()
}

#[test]
fn the_sample_as_a_comment() {
    insta::assert_snapshot!(render(&sample::report()), @r"
    ### 🔴 2 regressed, 1 improved, 2 unchanged, 3 unclear, 1 identical, 1 new, 1 removed, 1 failed, 1 not comparable of 13 scenarios

    Base `main` (1a1a1a1a1a) → head `working tree` (f0f0f0f0f0)

    **The sides differ in more than the code:**

    - lock serde: 1.0.227 → 1.0.228
    - flags RUSTFLAGS: only head has it, -C target-cpu=native

    **About this run:**

    - bench target `kernels/cuda` was not run: needs feature cuda

    | Status | Scenario | Base | Head | Change | ± | Detectable |
    | :-- | :-- | --: | --: | --: | --: | --: |
    | 🔴 alert | `matmul/f32/8x1024x1024` | 1.05 ms | 1.18 ms | +12.3 % | 0.6 % | 1.0 % |
    | ⚠️ warn | ``add\|`f16`/*1_000*`` | 402 ns | 416 ns | +3.4 % | 1.1 % | 1.8 % |
    | 🟢 faster | `logits/penalty` | 1.00 µs | 810 ns | −19.0 % | 1.8 % | 3.2 % |

    - 🔴 `matmul/f32/8x1024x1024`: fresh processes confirm it with +11.8 %; instructions did not change: layout suspected
    - 🟢 `logits/penalty`: fresh processes confirm it with −20.0 %

    <details>
    <summary>Full table (13 scenarios)</summary>

    | Status | Scenario | Base | Head | Change | ± | Detectable |
    | :-- | :-- | --: | --: | --: | --: | --: |
    | 🔴 alert | `matmul/f32/8x1024x1024` | 1.05 ms | 1.18 ms | +12.3 % | 0.6 % | 1.0 % |
    | ❔ unclear | `gather/bf16` | 12.3 µs | 13.0 µs | +5.2 % | 3.1 % | 5.0 % |
    | ⚠️ warn | ``add\|`f16`/*1_000*`` | 402 ns | 416 ns | +3.4 % | 1.1 % | 1.8 % |
    | ❔ unclear | `reduce_mean/<script>` | 88.0 ms | 89.0 ms | +1.1 % | 6.1 % | 9.8 % |
    | ✅ unchanged | `add/f32/a_very_long_parameter_list/with_many_parts/and_another_one/rows=4096,cols=1024` | 1.23 µs | 1.24 µs | +0.3 % | 0.8 % | 1.3 % |
    | ✅ unchanged | `add/f32/1` | 1.50 ns | 1.50 ns | 0.0 % | 0.0 % | 0.0 % |
    | 🟢 faster | `logits/penalty` | 1.00 µs | 810 ns | −19.0 % | 1.8 % | 3.2 % |
    | ⛔ not comparable | `sampling/top_p` | 1.50 µs | 3.10 µs | – | – | – |
    | ❌ failed | `kv_cache/pages\n@everyone` | 0.402 ns | – | – | – | – |
    | ❔ unclear | `matmul/hang` | – | – | – | – | – |
    | 🟰 identical | `tokenize/日本 µ` | 2.00 s | 2.00 s | – | – | – |
    | 🆕 new | `grammar/\u{202e}mask\u{20}` | – | 31.4 ns | – | – | – |
    | 🗑️ removed | `grammar/old` | 30.9 ns | – | – | – | – |

    - ❔ `gather/bf16`: not confirmed: +5.2 % at first, +0.3 % with fresh processes
    - ❔ `reduce_mean/<script>`: needs about 208 rounds to show 2 %

    </details>

    <details>
    <summary>Could not be compared: 1 failed, 1 not comparable</summary>

    - ⛔ `sampling/top_p`: bench source changed: benches/ops.rs:41
    - ❌ `kv_cache/pages\n@everyone`: head crashed in round 3:

      ````text
      thread 'main' panicked at src/kv.rs:12:
        index out of bounds </details> ```
      ````

    </details>

    **Host:** AMD EPYC 7B13, 2 cores, 8 GiB, Debian 12, kernel 6.1.0, x86\_64, governor performance

    **Method:** 16 paired rounds, floor from 32 null pairs, family 5 %, judged 6 of 11, smallest detectable 1.4 % median, running second costs +0.3 %, seed 7. A row is flagged if its interval excludes zero, its change is at least 2 % and 1 ns and above the row's own noise floor, and fresh processes repeat it; alert from 10 %; an unchanged row may hide up to 5 %.

    **What this run cannot catch:**

    - 3 changed files are not reached by any bench: src/io.rs, src/net.rs and 1 more
    - changes below 6.1 % in the 3 unclear rows
    - anything on a GPU: this machine has none

    **Time:** 4 min 12 s: checkout 0.40 s, build base 58 s, build head 0.15 s, measuring 3 min 11 s
    ");
}

#[test]
fn an_empty_report_as_a_comment() {
    insta::assert_snapshot!(render(&sample::empty()), @"
    ### ❔ Nothing was compared: no scenarios

    Base `main` (1a1a1a1a1a) → head `working tree` (f0f0f0f0f0)

    **Host:** unknown machine

    **Method:** 0 paired rounds, floor from 0 null pairs, family 5 %, judged 0 of 0, seed 7. A row is flagged if its interval excludes zero, its change is at least 2 % and 1 ns and above the row's own noise floor, and fresh processes repeat it; alert from 10 %; an unchanged row may hide up to 5 %.
    ");
}

#[test]
fn one_unchanged_row_as_a_comment() {
    let mut report = sample::empty();
    report.findings.push(sample::unchanged("only"));
    insta::assert_snapshot!(render(&report), @"
    ### ✅ 1 unchanged of 1 scenario

    Base `main` (1a1a1a1a1a) → head `working tree` (f0f0f0f0f0)

    <details>
    <summary>Full table (1 scenario)</summary>

    | Status | Scenario | Base | Head | Change | ± | Detectable |
    | :-- | :-- | --: | --: | --: | --: | --: |
    | ✅ unchanged | `only` | 1.23 µs | 1.24 µs | +0.3 % | 0.8 % | 1.3 % |

    </details>

    **Host:** unknown machine

    **Method:** 0 paired rounds, floor from 0 null pairs, family 5 %, judged 1 of 1, seed 7. A row is flagged if its interval excludes zero, its change is at least 2 % and 1 ns and above the row's own noise floor, and fresh processes repeat it; alert from 10 %; an unchanged row may hide up to 5 %.
    ");
}

#[test]
fn two_thousand_rows_keep_every_change_and_count_what_is_cut() {
    let report = of(vec![
        rows(3, Verdict::Regressed, 0.2),
        rows(1957, Verdict::Unchanged, 0.001),
        rows(40, Verdict::Improved, -0.3),
    ]);
    let text = render(&report);
    assert!(length(&text) <= LIMIT, "{}", length(&text));
    // Once among the changes, once in the full table.
    assert_eq!(listed(&text, "🔴"), 6);
    assert_eq!(listed(&text, "🟢"), 80);
    let unchanged = listed(&text, "✅");
    assert!(unchanged > 100, "{unchanged}");
    let cut = 1957 - unchanged;
    assert!(
        text.contains(&format!("_{cut} rows are left out here to keep this comment short ({cut} unchanged); the JSON report has them all._")),
        "{cut}"
    );
    assert!(text.contains(&format!(
        "<summary>Table of {} of 2000 scenarios</summary>",
        43 + unchanged
    )));
    assert!(!text.contains("::group::"));
}

#[test]
fn two_thousand_regressions_fill_the_comment_and_the_rest_is_counted() {
    let mut report = of(vec![rows(2000, Verdict::Regressed, 0.2)]);
    for finding in &mut report.findings {
        finding.notes = vec!["a note about this row".repeat(20)];
    }
    let text = render(&report);
    assert!(length(&text) <= LIMIT, "{}", length(&text));
    let shown = listed(&text, "🔴");
    assert!(shown > 300, "{shown}");
    assert!(!text.contains("a note about"), "regressed rows come before notes");
    assert!(text.contains(&format!("_{} rows are left out", 2000 - shown)));
    assert!(text.contains("**Method:**"));
}

#[test]
fn rows_give_way_in_the_order_they_are_missed_least() {
    let report = of(vec![
        rows(5, Verdict::Regressed, 0.2),
        rows(300, Verdict::Unclear, 0.01),
        rows(400, Verdict::Unchanged, 0.001),
        rows(400, Verdict::Identical, 0.0),
    ]);
    let text = render(&report);
    assert!(length(&text) <= LIMIT);
    assert_eq!(listed(&text, "❔"), 300);
    assert_eq!(listed(&text, "✅"), 0);
    assert!(listed(&text, "🟰") > 0);
}

#[test]
fn everything_long_at_once_still_fits() {
    let long = "ä🔴|`".repeat(500);
    let mut report = of(vec![
        rows(200, Verdict::Failed, 0.0),
        rows(200, Verdict::Regressed, 0.5),
    ]);
    for finding in &mut report.findings {
        finding.scenario.push_str(&long);
        finding.notes = vec![long.clone(), "line\n".repeat(500)];
    }
    report.base.label = long.clone();
    report.head.sha = long.clone();
    report.host.cpu = Some(long.clone());
    report.host.gpus = vec![long.clone(); 8];
    report.notes = vec![long.clone(); 50];
    report.blind_spots = vec![long.clone(); 50];
    for difference in &mut report.differences {
        difference.subject = long.clone();
    }
    let text = render(&report);
    assert!(length(&text) <= LIMIT, "{}", length(&text));
    assert!(listed(&text, "🔴") > 50);
}

#[test]
fn ids_of_three_hundred_characters_are_cut_in_the_middle() {
    let report = of(vec![vec![sample::unchanged(&format!(
        "begin{}end",
        "x".repeat(300)
    ))]]);
    let text = render(&report);
    assert!(text.contains("`beginxxx") && text.contains("xxxend`") && text.contains('…'));
}

#[test]
fn a_list_shows_ten_and_counts_the_rest() {
    let mut report = sample::empty();
    report.notes = (0..13).map(|note| format!("note {note}")).collect();
    let text = render(&report);
    assert!(
        text.contains("- note 9\n- … and 3 more notes, in the JSON report\n"),
        "{text}"
    );
}

#[test]
fn a_block_of_output_cannot_close_the_fold_around_it() {
    let text = render(&sample::report());
    let opened = text.matches("<details>").count();
    let closing_lines = text.lines().filter(|line| *line == "</details>").count();
    assert_eq!((opened, closing_lines), (2, 2));
}

/// Pipes that end a cell: GitHub looks only at the character before.
fn cell_borders(line: &str) -> usize {
    let before = std::iter::once(' ').chain(line.chars());
    before
        .zip(line.chars())
        .filter(|(before, pipe)| *pipe == '|' && *before != '\\')
        .count()
}

fn lines_starting(text: &str, with: &str) -> usize {
    text.lines().filter(|line| line.starts_with(with)).count()
}

proptest! {
    #[test]
    fn every_row_has_seven_cells_whatever_a_bench_is_called(texts in hostile::texts()) {
        let text = render(&hostile::report(&texts));
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        prop_assert!(rows.len() >= texts.len());
        for row in rows {
            prop_assert_eq!(cell_borders(row), 8, "{}", row);
        }
        prop_assert!(length(&text) <= LIMIT);
        let invisible = text.contains(['\u{202e}', '\u{200b}', '\r', '\u{0}']);
        prop_assert!(!invisible, "{}", text);
        prop_assert_eq!(lines_starting(&text, "</details>"), lines_starting(&text, "<details>"));
        prop_assert_eq!(lines_starting(&text, "::"), 0);
    }
}
