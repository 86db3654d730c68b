//! Reports full of text that wants to break the page, for the property tests of all renderers.

use super::{Finding, Report, sample};
use crate::verdict::Verdict;
use proptest::prelude::*;

/// A few texts of any characters, spiced with those that mean something to a terminal, Markdown or XML.
pub(crate) fn texts() -> impl Strategy<Value = Vec<String>> {
    let piece = prop_oneof![
        4 => any::<char>().prop_map(String::from),
        4 => "[a-z0-9 /=]{1,4}",
        4 => "[|`\\\\*_<>@#!\\[\\](){}&~$:;\"'/.+-]{1,3}",
        1 => prop::sample::select(SPICE).prop_map(str::to_owned),
    ];
    let text = prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat());
    prop::collection::vec(text, 1..6)
}

const SPICE: &[&str] = &[
    "\n",
    "\r\n",
    "\r",
    "\t",
    "\0",
    "\u{1b}[2J",
    "\u{7}",
    "\u{9b}",
    "\u{85}",
    "\u{2028}",
    "\u{202e}",
    "\u{200b}",
    "\u{feff}",
    "\u{ffff}",
    "\u{fffe}",
    "]]>",
    "<!--",
    "-->",
    "</details>",
    "<script>",
    "\n</details>\n",
    "\n```\n",
    "\n::group::",
    "\\|",
    "``",
    "  ",
    "@here",
    "#1",
    "https://x.example",
    "日本",
    "🦀",
    "e\u{301}\u{301}",
];

/// A report in which every text is one of these, wherever a stranger's text can stand; one row for each.
pub(crate) fn report(texts: &[String]) -> Report {
    let text = |position: usize| {
        texts
            .get(position % texts.len().max(1))
            .cloned()
            .unwrap_or_default()
    };
    let mut report = sample::report();
    report.findings = (0..texts.len())
        .map(|row| {
            let verdict = Verdict::ALL[row % Verdict::ALL.len()];
            let mut finding = sample::changed(&text(row), verdict, 100.0, 0.1, 0.01);
            finding.notes = vec![text(row + 1), text(row + 2)];
            finding
        })
        .collect::<Vec<Finding>>();
    report.base.label = text(0);
    report.head.sha = text(1);
    report.host.cpu = Some(text(2));
    report.differences = vec![sample::difference(&text(3), &text(4), Some(&text(5)), None)];
    for curve in &mut report.curves {
        curve.target.target = text(3);
    }
    report.notes = texts.to_vec();
    report.blind_spots = texts.to_vec();
    report
}
