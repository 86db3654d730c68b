//! A qualification that was kept, in one sentence: a reader should know it, and no verdict depends on it.

use super::json::SCHEMA;
use crate::report::format::size;
use serde::Deserialize;

#[derive(Deserialize)]
struct Kept {
    schema: String,
    started_at: String,
    summary: Summary,
}

#[derive(Deserialize)]
struct Summary {
    reports: usize,
    flagged_reports: usize,
    median_floor: Option<f64>,
    median_detectable: Option<f64>,
}

/// `on machines like this one 1 of 50 reports of unchanged code flagged anything, ...`; absent for a text that is no
/// qualification, or one without reports.
#[must_use]
pub fn quote(text: &str) -> Option<String> {
    let kept: Kept = serde_json::from_str(text).ok()?;
    let Summary {
        reports,
        flagged_reports,
        median_floor,
        median_detectable,
    } = kept.summary;
    if kept.schema != SCHEMA || reports == 0 {
        return None;
    }
    let mut parts = vec![format!(
        "on machines like this one {flagged_reports} of {reports} reports of unchanged code flagged anything"
    )];
    parts.extend(median_floor.map(|floor| format!("the median floor was {}", size(floor))));
    parts.extend(
        median_detectable.map(|detectable| format!("the smallest detectable change {}", size(detectable))),
    );
    let day: String = kept.started_at.chars().take(10).collect();
    Some(format!("{} (abreast qualify, {day})", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_qualification_is_quoted_and_anything_else_is_not() {
        let text = |schema: &str, reports: usize| {
            format!(
                r#"{{"schema":"{schema}","started_at":"2026-11-30T10:00:00Z","summary":{{"reports":{reports},
                "flagged_reports":1,"median_floor":0.012,"median_detectable":null}}}}"#
            )
        };
        assert_eq!(
            quote(&text(SCHEMA, 50)).as_deref(),
            Some(
                "on machines like this one 1 of 50 reports of unchanged code flagged anything, the median floor was \
                 1.2 % (abreast qualify, 2026-11-30)"
            )
        );
        assert_eq!(quote(&text(SCHEMA, 0)), None);
        assert_eq!(quote(&text("abreast/report/1", 50)), None);
        assert_eq!(quote("{"), None);
    }
}
