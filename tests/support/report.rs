//! The JSON report, as other programs read it: by the names of design section 7.

use serde_json::Value;

/// A parsed report.
pub(crate) struct Report(pub(crate) Value);

/// One finding of it.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a>(pub(crate) &'a Value);

impl Report {
    /// Parses, and checks what holds for every report: the schema, and that no number stands for an absent one.
    pub(crate) fn parse(text: &str) -> Self {
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(value["schema"], "abreast/report/1");
        assert!(
            !text.contains("NaN") || text.contains("\"NaN"),
            "a NaN in the report"
        );
        let report = Self(value);
        for row in report.rows() {
            let (change, floor) = (row.0["change"].as_f64(), row.0["floor"].as_f64());
            assert!(change.is_none_or(f64::is_finite) && floor.is_none_or(f64::is_finite));
        }
        let summary = &report.0["summary"];
        assert_eq!(summary["scenarios"], report.rows().len());
        for verdict in [
            "regressed",
            "improved",
            "unchanged",
            "unclear",
            "identical",
            "new",
            "removed",
            "failed",
            "not_comparable",
        ] {
            let count = report
                .rows()
                .iter()
                .filter(|row| row.verdict() == verdict)
                .count();
            assert_eq!(summary[verdict], count, "summary of {verdict}");
        }
        report
    }

    pub(crate) fn rows(&self) -> Vec<Row<'_>> {
        self.0["findings"].as_array().unwrap().iter().map(Row).collect()
    }

    /// The only row of this id.
    #[track_caller]
    pub(crate) fn row(&self, id: &str) -> Row<'_> {
        let found: Vec<Row> = self.rows().into_iter().filter(|row| row.id() == id).collect();
        assert_eq!(found.len(), 1, "rows of `{id}` in:\n{}", self.table());
        found[0]
    }

    /// `id verdict`, sorted by id.
    pub(crate) fn verdicts(&self) -> Vec<String> {
        let mut all: Vec<String> = self
            .rows()
            .iter()
            .map(|row| format!("{} {}", row.id(), row.verdict()))
            .collect();
        all.sort();
        all
    }

    /// Ids of rows that are flagged in either direction, sorted.
    pub(crate) fn flagged(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self
            .rows()
            .iter()
            .filter(|row| ["regressed", "improved"].contains(&row.verdict()))
            .map(Row::id)
            .collect();
        ids.sort_unstable();
        ids
    }

    #[track_caller]
    pub(crate) fn all(&self, verdict: &str) {
        assert!(!self.rows().is_empty(), "no rows");
        assert!(
            self.rows().iter().all(|row| row.verdict() == verdict),
            "not all {verdict}:\n{}",
            self.table()
        );
    }

    /// All notes on the run, one a line.
    pub(crate) fn notes(&self) -> String {
        strings(&self.0["notes"])
    }

    #[track_caller]
    pub(crate) fn noted(&self, text: &str) {
        assert!(
            self.notes().contains(text),
            "no note has `{text}`:\n{}",
            self.notes()
        );
    }

    /// `kind subject base -> head` of each difference.
    pub(crate) fn differences(&self) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let all = self.0["differences"].as_array().unwrap().iter();
        all.map(|of| {
            let [kind, subject, base, head] = ["kind", "subject", "base", "head"].map(|key| text(&of[key]));
            format!("{kind} {subject} {base} -> {head}")
        })
        .collect()
    }

    /// What a failed assertion shows.
    pub(crate) fn table(&self) -> String {
        let mut text = String::new();
        for row in self.rows() {
            text.push_str(&format!(
                "{} {} change {} low {} high {} floor {} rounds {} confirmed {} {}\n",
                row.id(),
                row.verdict(),
                row.0["change"],
                row.0["low"],
                row.0["high"],
                row.0["floor"],
                row.0["rounds"],
                row.0["confirmed"],
                row.notes()
            ));
        }
        text + &self.notes()
    }
}

impl<'a> Row<'a> {
    pub(crate) fn id(&self) -> &'a str {
        self.0["scenario"].as_str().unwrap()
    }

    pub(crate) fn verdict(&self) -> &'a str {
        self.0["verdict"].as_str().unwrap()
    }

    pub(crate) fn target(&self) -> &'a str {
        self.0["target"].as_str().unwrap()
    }

    #[track_caller]
    pub(crate) fn change(&self) -> f64 {
        self.0["change"].as_f64().expect("a change")
    }

    pub(crate) fn notes(&self) -> String {
        strings(&self.0["notes"])
    }

    #[track_caller]
    pub(crate) fn noted(&self, text: &str) {
        assert!(
            self.notes().contains(text),
            "{}: no note has `{text}`:\n{}",
            self.id(),
            self.notes()
        );
    }

    /// Whether base's and head's absolute numbers are there.
    pub(crate) fn has_numbers(&self) -> (bool, bool) {
        (self.0["base"].is_number(), self.0["head"].is_number())
    }
}

fn strings(list: &Value) -> String {
    let texts: Vec<&str> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap())
        .collect();
    texts.join("\n")
}
