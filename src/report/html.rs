//! The report as one self-contained page: every row, searched and sorted; a click shows what single rounds said.
//!
//! The page holds the JSON report as it is, with the rounds beside it, and loads nothing.

use super::format::seconds;
use super::json::Wire;
use super::label::Labels;
use super::page::Page;
use super::{Change, Finding, Report, sentence, status, visible};
use serde::Serialize;

const SCRIPT: &str = include_str!("../../assets/page/report.js");

const BODY: &str = r#"<section class="detail" id="detail" aria-label="One scenario"></section>
<div id="differences-box" hidden><h2>What differs besides the code</h2><ul class="notes" id="differences"></ul></div>
<div class="tools">
<label for="search">Search<input type="search" id="search" placeholder="scenario" autocomplete="off" spellcheck="false"></label>
<label for="verdict">Verdict<select id="verdict"><option value="">all</option></select></label>
<label class="narrow" for="order">Order<select id="order"></select></label>
<span class="count" id="count" aria-live="polite"></span>
</div>
<p class="status" id="status" role="status">Unpacking the report&#8230;</p>
<table id="table" hidden>
<caption class="skip">Scenarios</caption>
<thead><tr id="head"></tr></thead>
<tbody id="body"></tbody>
</table>
<div id="notes-box" hidden><h2>Notes</h2><ul class="notes" id="notes"></ul></div>
<details><summary>Host</summary><ul class="notes" id="host"></ul></details>
<noscript><p>This page draws its table and charts itself and needs JavaScript, which its browser has switched off. It loads nothing.</p></noscript>"#;

#[derive(Serialize)]
struct Data<'a> {
    report: Wire<'a>,
    /// What rows are called, in the order of the findings.
    labels: Vec<String>,
    /// Icon and word of each row's status.
    status: Vec<(&'static str, &'static str)>,
    /// Change of each round, for rows that were compared.
    rounds: Vec<&'a [f64]>,
    /// Base's number in each round.
    base_rounds: Vec<&'a [f64]>,
    /// Change that fresh processes showed.
    confirmations: Vec<Option<f64>>,
}

/// The report as an HTML document.
#[must_use]
pub fn render(report: &Report) -> String {
    let labels = Labels::new(report);
    let changes = || report.findings.iter().map(|finding| finding.change.as_ref());
    let status = |finding: &Finding| (status::icon(finding), status::word(finding));
    let data = Data {
        labels: report.findings.iter().map(|finding| labels.of(finding)).collect(),
        status: report.findings.iter().map(status).collect(),
        rounds: changes()
            .map(|change| change.map_or(&[][..], |change: &Change| change.per_round.as_slice()))
            .collect(),
        base_rounds: changes()
            .map(|change| change.map_or(&[][..], |change: &Change| change.base_per_round.as_slice()))
            .collect(),
        confirmations: changes().map(|change| change?.confirmation).collect(),
        report: Wire::new(report),
    };
    let side = |label: &str, short: &str| format!("{} ({})", visible::id(label), visible::line(short));
    let subtitle = format!(
        "base {} \u{2192} head {}{}",
        side(&report.base.label, report.base.short()),
        side(&report.head.label, report.head.short()),
        report
            .elapsed
            .total_s
            .map_or_else(String::new, |total| format!(", {} in all", seconds(total)))
    );
    let page = Page {
        title: &sentence::headline(report).text,
        subtitle: &subtitle,
        body: BODY,
        footer: &sentence::method(report),
        script: SCRIPT,
    };
    page.render(&data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{hostile, page::unpacked, sample};
    use proptest::prelude::*;

    #[test]
    fn the_page_holds_the_whole_report_and_its_rounds() {
        let report = sample::report();
        let data = unpacked(&render(&report));
        assert_eq!(data["report"]["schema"], "abreast/report/1");
        let findings = data["report"]["findings"].as_array().unwrap();
        assert_eq!(findings.len(), report.findings.len());
        for (n, finding) in report.findings.iter().enumerate() {
            let rounds = finding.change.as_ref().map_or(0, |change| change.per_round.len());
            assert_eq!(data["rounds"][n].as_array().unwrap().len(), rounds);
            assert_eq!(data["base_rounds"][n].as_array().unwrap().len(), rounds);
        }
    }

    #[test]
    fn names_of_commits_are_text() {
        let mut report = sample::report();
        report.base.label = "<script>alert(1)</script>".to_owned();
        report.head.label = "\"><img src=x onerror='alert(1)'>".to_owned();
        let page = render(&report);
        assert_eq!(
            (page.matches("<script").count(), page.matches("<img").count()),
            (3, 0)
        );
    }

    #[test]
    fn a_report_without_rows_has_a_page_too() {
        let data = unpacked(&render(&sample::empty()));
        assert_eq!(data["labels"].as_array().unwrap().len(), 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn nothing_that_a_bench_is_called_becomes_part_of_the_page(ids in hostile::texts()) {
            let page = render(&hostile::report(&ids));
            prop_assert_eq!(page.matches("<script").count(), 3);
            prop_assert_eq!(page.matches("<li>").count(), 0);
            prop_assert_eq!(unpacked(&page)["labels"].as_array().unwrap().len(), ids.len());
        }
    }
}
