//! Tables of findings that fit into what is left of a comment.

use super::LONGEST_ID;
use super::budget::Budget;
use super::escape::code_cell;
use crate::report::format::{self, change, half_width, optional_value, size};
use crate::report::label::Labels;
use crate::report::{Change, Finding, status, visible};
use crate::verdict::Verdict;

const HEADER: &str = "| Status | Scenario | Base | Head | Change | ± | Detectable |\n\
                      | :-- | :-- | --: | --: | --: | --: | --: |\n";

/// Who keeps its place when room is short, first to last: a row that is missed most comes first.
const PRIORITY: [Verdict; 9] = [
    Verdict::Regressed,
    Verdict::Improved,
    Verdict::Failed,
    Verdict::NotComparable,
    Verdict::Removed,
    Verdict::New,
    Verdict::Unclear,
    Verdict::Identical,
    Verdict::Unchanged,
];

/// A table of as many rows as there was room for.
#[derive(Debug)]
pub(super) struct Fitted<'a> {
    /// The table; empty if there was no room for a header.
    pub(super) text: String,
    /// Rows in it.
    pub(super) shown: Vec<&'a Finding>,
    /// Rows that are not.
    pub(super) left_out: Vec<&'a Finding>,
}

/// Puts as many rows as the budget holds into a table, in the order given.
pub(super) fn fit<'a>(rows: &[&'a Finding], labels: &Labels, budget: &mut Budget) -> Fitted<'a> {
    if !budget.afford(HEADER) {
        return Fitted {
            text: String::new(),
            shown: Vec::new(),
            left_out: rows.to_vec(),
        };
    }
    let mut lines: Vec<Option<String>> = vec![None; rows.len()];
    'fill: for verdict in PRIORITY {
        for (position, finding) in rows.iter().enumerate() {
            if finding.verdict == verdict {
                let line = line(finding, labels);
                if !budget.afford(&line) {
                    // Not one shorter row of less weight instead: the cut would look arbitrary.
                    break 'fill;
                }
                lines[position] = Some(line);
            }
        }
    }
    let mut fitted = Fitted {
        text: HEADER.to_owned(),
        shown: Vec::new(),
        left_out: Vec::new(),
    };
    for (&row, line) in rows.iter().zip(&lines) {
        match line {
            Some(line) => {
                fitted.text.push_str(line);
                fitted.shown.push(row);
            }
            None => fitted.left_out.push(row),
        }
    }
    fitted.text.push('\n');
    fitted
}

/// Says how many rows were left out, by verdict; empty if none was.
pub(super) fn unlisted(left_out: &[&Finding]) -> String {
    if left_out.is_empty() {
        return String::new();
    }
    let counts: Vec<String> = PRIORITY
        .into_iter()
        .map(|verdict| {
            (
                verdict,
                left_out.iter().filter(|row| row.verdict == verdict).count(),
            )
        })
        .filter(|(_, number)| *number > 0)
        .map(|(verdict, number)| format!("{number} {}", status::counted(verdict)))
        .collect();
    let rows = if left_out.len() == 1 { "row is" } else { "rows are" };
    format!(
        "_{} {rows} left out here to keep this comment short ({}); the JSON report has them all._\n\n",
        left_out.len(),
        counts.join(", ")
    )
}

fn line(finding: &Finding, labels: &Labels) -> String {
    let unit = finding.metric.unit;
    let of_change = |text: fn(&Change) -> String| {
        finding
            .change
            .as_ref()
            .map_or_else(|| format::NOTHING.to_owned(), text)
    };
    format!(
        "| {} {} | {} | {} | {} | {} | {} | {} |\n",
        status::icon(finding),
        status::word(finding),
        code_cell(&visible::cut_middle(&labels.of(finding), LONGEST_ID)),
        optional_value(finding.base, unit),
        optional_value(finding.head, unit),
        of_change(|of| change(of.change)),
        of_change(|of| size(half_width(of))),
        of_change(|of| size(of.detectable)),
    )
}
