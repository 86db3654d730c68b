//! What the picture holds; how it looks is for eyes (`cargo run --example render_sample -- svg`).

use super::render;
use crate::report::{Finding, Report, hostile, sample};
use crate::verdict::Verdict;
use proptest::prelude::*;

fn with_rows(number: usize) -> Report {
    let mut report = sample::empty();
    report.findings = (0..number)
        .map(|row| {
            #[expect(clippy::cast_precision_loss, reason = "a few hundred rows")]
            let change = 0.05 - row as f64 * 1e-4;
            sample::changed(&format!("row {row}"), Verdict::Unchanged, 1e3, change, 0.01)
        })
        .collect();
    report
}

/// All texts of a well-formed document; panics if it is not.
fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    document
        .descendants()
        .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")))
        .map(|node| node.text().unwrap_or_default().trim().to_owned())
        .collect()
}

fn height(svg: &str) -> i32 {
    let document = roxmltree::Document::parse(svg).unwrap();
    document
        .root_element()
        .attribute("height")
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn the_sample_as_a_picture() {
    insta::assert_snapshot!(render(&sample::report()));
}

#[test]
fn every_change_has_a_row_and_the_rest_is_counted() {
    let texts = texts(&render(&sample::report()));
    assert!(texts.contains(&"matmul/f32/8x1024x1024".to_owned()));
    assert!(texts.contains(&"+12.3 % ± 0.6".to_owned()));
    assert!(texts.contains(&"reduce_mean/<script>".to_owned()));
    assert!(
        texts
            .iter()
            .any(|text| text.ends_with("6 rows without a change not shown."))
    );
}

#[test]
fn the_picture_is_its_own_page() {
    let svg = render(&sample::report());
    assert!(
        svg.contains("<rect x=\"0\" y=\"0\" width=\"960\""),
        "a background of its own"
    );
    for foreign in ["href", "url(", "<style", "<script", "<image", "@import"] {
        assert!(!svg.contains(foreign), "{foreign}");
    }
}

#[test]
fn what_stands_in_for_a_picture_is_well_formed() {
    assert_eq!(
        texts(&super::unavailable("<1> & 2")),
        ["<1> & 2 (no plot: the font is broken)"]
    );
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    assert_eq!(render(&sample::report()), render(&sample::report()));
}

#[test]
fn the_height_grows_with_the_rows_up_to_a_poster() {
    let heights = [0, 1, 57, 500].map(|rows| height(&render(&with_rows(rows))));
    assert_eq!(heights[2] - heights[1], 56 * 20);
    assert!(heights[0] < heights[1] && heights[3] < 3_000, "{heights:?}");
}

#[test]
fn too_many_rows_keep_the_flagged_and_the_largest_changes() {
    let mut report = with_rows(500);
    report
        .findings
        .push(sample::changed("flagged", Verdict::Improved, 1e3, -0.021, 0.001));
    let texts = texts(&render(&report));
    for shown in ["row 0", "row 100", "flagged"] {
        assert!(texts.contains(&shown.to_owned()), "{shown}");
    }
    assert!(!texts.contains(&"row 499".to_owned()));
    assert!(
        texts
            .iter()
            .any(|text| text.contains("381 rows with the smallest changes not shown."))
    );
}

#[test]
fn a_report_without_changes_says_so() {
    assert!(texts(&render(&sample::empty())).contains(&"No scenario has a change to show.".to_owned()));
}

#[test]
fn numbers_beyond_all_measure_are_drawn_at_the_edge_or_not_at_all() {
    let mut report = with_rows(3);
    for (position, number) in [f64::MAX, f64::NAN, f64::NEG_INFINITY].into_iter().enumerate() {
        if let Some(change) = &mut report.findings[position].change {
            change.change = number;
            change.per_round = vec![number, 0.0, f64::MIN];
        }
    }
    report.findings[0].flag = crate::verdict::Flag::Alert;
    report.method.threshold = f64::NAN;
    let svg = render(&report);
    assert!(!texts(&svg).is_empty());
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn one_dot_a_round_up_to_what_can_be_seen() {
    let mut finding: Finding = sample::changed("a", Verdict::Regressed, 1e3, 0.2, 0.01);
    if let Some(change) = &mut finding.change {
        change.per_round = vec![0.2; 10_000];
    }
    let mut report = sample::empty();
    report.findings.push(finding);
    let dots = render(&report).matches("<circle").count();
    assert!((300..500).contains(&dots), "{dots}");
}

#[test]
fn each_program_has_a_plot_of_its_tokens_up_to_a_few() {
    let mut report = sample::report();
    let shown = texts(&render(&report));
    assert!(shown.contains(&"qwen3-0.6b".to_owned()), "{shown:?}");
    report.curves = vec![report.curves[0].clone(); 8];
    let shown = texts(&render(&report));
    assert_eq!(shown.iter().filter(|text| *text == "qwen3-0.6b").count(), 6);
    assert!(
        shown
            .iter()
            .any(|text| text.starts_with("(2 more programs not shown)"))
    );
    report.curves.truncate(1);
    report.curves[0].base = vec![f64::NAN, f64::INFINITY, 0.0, f64::MAX];
    report.curves[0].head.clear();
    let svg = render(&report);
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn hostile_and_foreign_ids_are_well_formed() {
    let ids = [
        "]]>",
        "<script>alert(1)</script>",
        "&amp;&#0;",
        "日本語/🦀",
        "\u{0}\u{1b}\u{ffff}\u{fffe}",
        "\"'",
    ];
    let texts_in = ids.map(str::to_owned);
    let shown = texts(&render(&hostile::report(&texts_in)));
    for id in [
        "]]>",
        "<script>alert(1)</script>",
        "&amp;&#0;",
        "日本語/🦀",
        "\\u{0}\\u{1b}\\u{ffff}\\u{fffe}",
        "\"'",
    ] {
        assert!(shown.contains(&id.to_owned()), "{id}: {shown:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_picture_is_well_formed_whatever_a_bench_is_called(ids in hostile::texts()) {
        let svg = render(&hostile::report(&ids));
        prop_assert!(roxmltree::Document::parse(&svg).is_ok(), "{}", svg);
    }
}
