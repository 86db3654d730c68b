use super::*;

fn row(id: &str, verdict: Verdict, change: f64, detectable: f64) -> RowGlance {
    RowGlance {
        scenario: id.to_owned(),
        target: Target {
            package: "p".to_owned(),
            target: "t".to_owned(),
        },
        base: Some(100.0),
        change: Some(change),
        floor: Some(detectable / 2.0),
        detectable: Some(detectable),
        verdict,
        suspected: false,
    }
}

fn report(rows: Vec<RowGlance>) -> Glance {
    Glance {
        seed: 1,
        rows,
        order_effect: Some(0.001),
        drift: None,
        contended: Some(0.25),
        measured_s: 60.0,
    }
}

fn qualification(reports: Vec<Glance>, injected: Vec<InjectedGlance>) -> Qualification {
    Qualification {
        revision: Revision {
            label: "HEAD".to_owned(),
            sha: "0123456789".repeat(4),
        },
        host: Host::default(),
        started_at: "2026-11-30T10:00:00Z".to_owned(),
        wanted: reports.len(),
        interrupted: false,
        reports,
        injected,
        shifted: Vec::new(),
    }
}

fn sample() -> Qualification {
    let quiet = || {
        report(vec![
            row("a", Verdict::Unchanged, 0.001, 0.02),
            row("b", Verdict::Unclear, -0.03, 0.12),
        ])
    };
    let wolf = report(vec![
        row("a", Verdict::Unchanged, -0.004, 0.03),
        row("b", Verdict::Regressed, 0.09, 0.08),
    ]);
    let injected = |percent: u32, verdict: Verdict, change: f64, detectable: f64| InjectedRow {
        percent,
        found: row("x", verdict, change, detectable),
    };
    let known = InjectedGlance {
        seed: 1,
        rows: vec![
            injected(0, Verdict::Unchanged, 0.001, 0.03),
            injected(5, Verdict::Regressed, 0.051, 0.03),
            injected(5, Verdict::Unclear, 0.049, 0.04),
            injected(5, Verdict::Improved, -0.2, 0.30),
        ],
    };
    qualification(vec![quiet(), wolf, quiet()], vec![known])
}

#[test]
fn a_report_counts_once_however_many_rows_it_flags() {
    let found = sample();
    let (reports, rows) = (found.flagged_reports(), found.flagged_rows());
    assert_eq!((reports.seen, reports.of), (1, 3));
    assert_eq!((rows.seen, rows.of), (1, 6));
    assert!(reports.upper > 0.8 && rows.upper < reports.upper);
    assert_eq!(found.decided_rows(), (4, 6));
}

#[test]
fn scenarios_come_bluntest_first_with_medians_over_the_reports() {
    let scenarios = sample().scenarios();
    let ids: Vec<&str> = scenarios
        .iter()
        .map(|scenario| scenario.scenario.as_str())
        .collect();
    assert_eq!(ids, ["b", "a"]);
    let blunt = &scenarios[0];
    assert_eq!((blunt.detectable, blunt.floor), (Some(0.12), Some(0.06)));
    assert_eq!((blunt.decided, blunt.flagged, blunt.reports), (1, 1, 3));
}

#[test]
fn a_change_counts_as_missed_only_where_the_row_said_it_could_show_it() {
    let detection = sample().detection();
    assert_eq!(detection.iter().map(|of| of.percent).collect::<Vec<_>>(), [0, 5]);
    let five = &detection[1];
    assert_eq!(
        (five.rows, five.found, five.able, five.able_found, five.wrong_way),
        (3, 1, 2, 1, 1)
    );
    assert_eq!(five.measured, Some(0.049));
}

#[test]
fn moved_code_is_told_apart_from_changed_code() {
    let mut found = qualification(Vec::new(), Vec::new());
    let quiet = || row("a", Verdict::Unchanged, 0.001, 0.02);
    let moved = RowGlance {
        suspected: true,
        ..row("b", Verdict::Unclear, 0.09, 0.02)
    };
    found.shifted = vec![
        report(vec![quiet(), moved]),
        report(vec![quiet(), row("b", Verdict::Regressed, 0.09, 0.02)]),
    ];
    let share = found.flagged_shifted();
    assert_eq!((share.seen, share.of), (1, 2));
    insta::assert_snapshot!(text::render(&found, false), @r"
    1 of 2 reports with an unrelated function before everything flagged anything; at 95 % confidence at most 97.5 % do
    rows        1 of 4 rows flagged, 3 decided; 1 row was not flagged because its place may have changed it
    ");
}

#[test]
fn nothing_measured_is_nothing_known() {
    let nothing = qualification(Vec::new(), Vec::new());
    assert!((nothing.flagged_reports().upper - 1.0).abs() < 1e-12);
    assert_eq!((nothing.median_floor(), nothing.scenarios().len()), (None, 0));
    let text = json::render(&nothing);
    assert!(
        text.contains("\"median_floor\": null") && !text.contains("NaN"),
        "{text}"
    );
}

#[test]
fn a_person_reads_the_answer_first() {
    insta::assert_snapshot!(text::render(&sample(), false), @r"
    1 of 3 reports of unchanged code flagged anything; at 95 % confidence at most 86.5 % do
    commit      0123456789 (HEAD)
    rows        1 of 6 rows flagged, at most 58.2 %; 4 decided
    noise       floor 2.8 %, smallest detectable 5.5 %, medians over all rows
    order       running second costs +0.1 % (from +0.1 % to +0.1 %)
    neighbours  25.0 % of the processes began beside somebody else's work on their core
    host        unknown machine

    Scenario   Typical   Floor   Detectable   |Change| p90   Decided   Flagged
    ──────────────────────────────────────────────────────────────────────────
    b           100 ns   6.0 %       12.0 %          7.8 %    1 of 3         1
    a           100 ns   1.0 %        2.0 %          0.3 %    3 of 3         0

    Injected changes, 1 report of a suite of known work

    Injected   Measured   Called slower   of those able to show it   at least   Called faster
    ─────────────────────────────────────────────────────────────────────────────────────────
    none         +0.1 %          0 of 1                          –          –               0
    +5 %         +4.9 %          1 of 3                     1 of 2      2.5 %               1
    ");
}
