//! The findings as CSV: the columns of the JSON findings, in their order, with a header row.
//!
//! Ids are raw, also those that begin with `=`, `+`, `-` or `@`. A spreadsheet may take such a cell for a formula, and
//! some tools therefore put an apostrophe in front; but then the id no longer equals the one in the JSON, in the
//! bench and in `--filter`, and whoever joins the two files loses exactly these rows. Who opens a file of a stranger
//! in a spreadsheet should import its columns as text.

use super::Report;
use super::row::{COLUMNS, Row};

/// The findings as CSV. Absent values are empty cells; several notes are joined by `; `.
#[must_use]
pub fn render(report: &Report) -> String {
    // Writing records of equal length into memory has no way to fail; see `json::render`.
    table(report).unwrap_or_default()
}

fn table(report: &Report) -> Option<String> {
    // The header is written by hand: serde would leave it out when there are no rows.
    let mut writer = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(Vec::new());
    writer.write_record(COLUMNS).ok()?;
    for finding in &report.findings {
        writer
            .serialize(Row::new(finding, finding.notes.join("; ")))
            .ok()?;
    }
    String::from_utf8(writer.into_inner().ok()?).ok()
}

#[cfg(test)]
mod tests;
