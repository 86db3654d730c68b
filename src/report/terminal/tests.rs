//! What a person sees.

use super::{Options, render};
use crate::report::{Report, hostile, sample};
use crate::verdict::Verdict;
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

fn plain() -> Options {
    Options {
        width: 100,
        ..Options::default()
    }
}

fn many(number: usize) -> Report {
    let mut report = sample::empty();
    report.findings = (0..number)
        .map(|row| sample::unchanged(&format!("group/{row}")))
        .collect();
    report
}

#[test]
fn the_sample_in_a_terminal() {
    insta::assert_snapshot!(render(&sample::report(), &plain()), @r"
    🔴 2 regressed, 1 improved, 2 unchanged, 3 unclear, 1 identical, 1 new, 1 removed, 1 failed, 1 not
    comparable of 13 scenarios
    base          main (1a1a1a1a1a)
    head          working tree (f0f0f0f0f0)
    differs       lock serde: 1.0.227 → 1.0.228
                  flags RUSTFLAGS: only head has it, -C target-cpu=native
    note          bench target `kernels/cuda` was not run: needs feature cuda

    Status             Scenario                                Base     Head   Change      ±  Detectable
    ────────────────────────────────────────────────────────────────────────────────────────────────────
    🔴 alert           matmul/f32/8x1024x1024               1.05 ms  1.18 ms  +12.3 %  0.6 %       1.0 %
    ❔ unclear         gather/bf16                          12.3 µs  13.0 µs   +5.2 %  3.1 %       5.0 %
    ⚠  warn            add|`f16`/*1_000*                     402 ns   416 ns   +3.4 %  1.1 %       1.8 %
    ❔ unclear         reduce_mean/<script>                 88.0 ms  89.0 ms   +1.1 %  6.1 %       9.8 %
    ✅ unchanged       add/f32/a_very_lo…s=4096,cols=1024   1.23 µs  1.24 µs   +0.3 %  0.8 %       1.3 %
    ✅ unchanged       add/f32/1                            1.50 ns  1.50 ns    0.0 %  0.0 %       0.0 %
    🟢 faster          logits/penalty                       1.00 µs   810 ns  −19.0 %  1.8 %       3.2 %
    ⛔ not comparable  sampling/top_p                       1.50 µs  3.10 µs        –      –           –
    ❌ failed          kv_cache/pages\n@everyone           0.402 ns        –        –      –           –
    ❔ unclear         matmul/hang                                –        –        –      –           –
    🟰 identical       tokenize/日本 µ                       2.00 s   2.00 s        –      –           –
    🆕 new             grammar/\u{202e}mask\u{20}                 –  31.4 ns        –      –           –
    🗑  removed         grammar/old                          30.9 ns        –        –      –           –

    🔴 matmul/f32/8x1024x1024
       fresh processes confirm it with +11.8 %
       instructions did not change: layout suspected
    ❔ gather/bf16
       not confirmed: +5.2 % at first, +0.3 % with fresh processes
    🟢 logits/penalty
       fresh processes confirm it with −20.0 %
    ⛔ sampling/top_p
       bench source changed: benches/ops.rs:41
    ❌ kv_cache/pages\n@everyone
       head crashed in round 3:
       thread 'main' panicked at src/kv.rs:12:
         index out of bounds </details> ```
    ❔ reduce_mean/<script>
       needs about 208 rounds to show 2 %

    host          AMD EPYC 7B13, 2 cores, 8 GiB, Debian 12, kernel 6.1.0, x86_64, governor performance
    method        16 paired rounds, floor from 32 null pairs, family 5 %, judged 6 of 11, smallest
                  detectable 1.4 % median, running second costs +0.3 %, seed 7
    rule          a row is flagged if its interval excludes zero, its change is at least 2 % and 1 ns
                  and above the row's own noise floor, and fresh processes repeat it; alert from 10 %;
                  an unchanged row may hide up to 5 %
    time          4 min 12 s: checkout 0.40 s, build base 58 s, build head 0.15 s, measuring 3 min 11 s
    not covered   3 changed files are not reached by any bench: src/io.rs, src/net.rs and 1 more
                  changes below 6.1 % in the 3 unclear rows
                  anything on a GPU: this machine has none
    ");
}

#[test]
fn an_empty_report_in_a_terminal() {
    insta::assert_snapshot!(render(&sample::empty(), &plain()), @"
    ❔ Nothing was compared: no scenarios
    base          main (1a1a1a1a1a)
    head          working tree (f0f0f0f0f0)

    host          unknown machine
    method        0 paired rounds, floor from 0 null pairs, family 5 %, judged 0 of 0, seed 7
    rule          a row is flagged if its interval excludes zero, its change is at least 2 % and 1 ns
                  and above the row's own noise floor, and fresh processes repeat it; alert from 10 %;
                  an unchanged row may hide up to 5 %
    ");
}

#[test]
fn colour_adds_nothing_but_escapes() {
    let colored = render(
        &sample::report(),
        &Options {
            color: true,
            ..plain()
        },
    );
    assert!(colored.contains('\u{1b}'));
    assert_eq!(
        anstream::adapter::strip_str(&colored).to_string(),
        render(&sample::report(), &plain())
    );
}

#[test]
fn lines_fit_the_terminal() {
    for width in [90, 100, 120, 200] {
        let text = render(&sample::report(), &Options { width, ..plain() });
        let widest = text.lines().map(UnicodeWidthStr::width).max();
        assert!(widest <= Some(width), "{width}: {widest:?}");
    }
}

#[test]
fn a_narrow_terminal_still_tells_rows_apart() {
    let text = render(&sample::report(), &Options { width: 0, ..plain() });
    assert!(text.contains("matmul/f…24x1024"), "{text}");
}

#[test]
fn many_unchanged_rows_are_a_count() {
    let mut report = many(11);
    report.findings.push(sample::bare("same", Verdict::Identical));
    report
        .findings
        .insert(0, sample::changed("slow", Verdict::Regressed, 100.0, 0.2, 0.01));
    let folded = render(&report, &plain());
    assert!(
        folded.contains("11 unchanged and 1 identical not listed (-v lists them)"),
        "{folded}"
    );
    assert!(folded.contains("slow") && !folded.contains("group/0"), "{folded}");

    let verbose = render(
        &report,
        &Options {
            verbose: true,
            ..plain()
        },
    );
    assert!(
        verbose.contains("group/10") && !verbose.contains("not listed"),
        "{verbose}"
    );
    assert!(render(&many(10), &plain()).contains("group/9"));
}

#[test]
fn nothing_but_unchanged_rows_leaves_no_empty_table() {
    assert!(!render(&many(57), &plain()).contains("Detectable"));
}

#[test]
fn long_output_and_many_notes_are_shortened() {
    let mut report = many(0);
    for row in 0..30 {
        let mut finding = sample::bare(&format!("row {row}"), Verdict::Unclear);
        finding.notes.push("too noisy".to_owned());
        report.findings.push(finding);
    }
    let mut failed = sample::bare("crash", Verdict::Failed);
    let output: Vec<String> = (0..50).map(|line| format!("line {line}")).collect();
    failed.notes.push(output.join("\n"));
    report.findings.push(failed);
    let text = render(&report, &plain());
    assert!(text.contains("… and notes about 11 more rows (-v)"), "{text}");
    assert!(
        text.contains("   line 10\n   … 39 lines left out (-v)\n"),
        "{text}"
    );
}

proptest! {
    #[test]
    fn nothing_from_a_bench_controls_the_terminal(texts in hostile::texts()) {
        let report = hostile::report(&texts);
        let text = render(&report, &Options { verbose: true, ..plain() });
        let controls: Vec<char> = text
            .chars()
            .filter(|character| character.is_control() && *character != '\n')
            .collect();
        prop_assert_eq!(controls, Vec::<char>::new());
        let invisible = text.contains(['\u{202e}', '\u{200b}', '\u{2028}', '\u{feff}']);
        prop_assert!(!invisible, "{}", text);
    }
}
