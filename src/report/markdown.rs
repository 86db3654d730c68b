//! The report as a pull-request comment in GitHub's Markdown.
//!
//! Order: verdict, what else differs, changed rows, everything else folded, how it was measured. The body stays far
//! below GitHub's limit of 65,536 characters whatever the report holds: rows give way in the order a reader misses
//! them least, unchanged first, and the text says how many are left out. Regressed rows give way last of all.

mod budget;
mod escape;
mod rows;
mod section;

pub use self::budget::units;
pub use self::escape::{code, prose};
pub use self::section::{Place, brief, section};

use super::label::Labels;
use super::{Finding, Report, sentence, status, visible};
use crate::revision::Revision;
use crate::units::count;
use crate::verdict::Verdict;
use budget::Budget;
use escape::fenced;
use rows::{fit, unlisted};

/// Most UTF-16 code units (and so characters) of a body; the rest of GitHub's 65,536 is for what a comment adds.
pub const LIMIT: usize = 60_000;

/// Room for the sentences that say what was left out.
const RESERVE: usize = 1_500;
/// Cells of an id, a branch name or a sentence; longer ones are cut. The JSON has them in full.
const LONGEST_ID: usize = 120;
const LONGEST_NOTE: usize = 500;
/// Lines of a program's output below a row: the last ones, where the error is.
const OUTPUT_LINES: usize = 12;
/// Notes of one row, so that one row cannot take the room of all others.
const NOTES_OF_A_ROW: usize = 6;
/// Sentences of a list about the whole run.
const LONGEST_LIST: usize = 10;

/// The comment's body, at most [`LIMIT`] characters.
#[must_use]
pub fn render(report: &Report) -> String {
    let labels = Labels::new(report);
    let mut budget = Budget::new(LIMIT - RESERVE);
    let head = head(report, None, &mut budget);
    let foot = foot(report, &mut budget);
    let changed = changed(report, &labels, &mut budget);
    let failures = failures(report, &labels, &mut budget);
    let all = all(report, &labels, &mut budget);
    [head, changed, all, failures, foot].concat()
}

fn verdict_line(icon: &str, title: Option<&str>, text: &str) -> String {
    let title = title.map(|title| format!("{title}: ")).unwrap_or_default();
    format!("### {icon} {title}{}\n\n", prose(text))
}

fn sides(report: &Report) -> String {
    let (base, head) = (revision(&report.base), revision(&report.head));
    format!("Base {base} → head {head}\n\n")
}

fn head(report: &Report, title: Option<&str>, budget: &mut Budget) -> String {
    let headline = sentence::headline(report);
    let mut out = verdict_line(headline.icon(), title, &headline.text);
    out.push_str(&sides(report));
    budget.spend(&out);
    let differences: Vec<String> = report.differences.iter().map(sentence::difference).collect();
    if !differences.is_empty() {
        out.push_str("**The sides differ in more than the code:**\n\n");
        out.push_str(&list(&differences, "difference", budget));
    }
    if !report.notes.is_empty() {
        out.push_str("**About this run:**\n\n");
        out.push_str(&list(&report.notes, "note", budget));
    }
    out
}

/// Plain digits: GitHub makes a link of them. Anything else is no object id and gets no such treatment.
fn revision(revision: &Revision) -> String {
    let label = code(&visible::cut_middle(&visible::id(&revision.label), LONGEST_ID));
    let short = revision.short();
    if short.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        format!("{label} ({short})")
    } else {
        format!("{label} ({})", code(&visible::cut_end(&visible::id(short), 40)))
    }
}

fn changed(report: &Report, labels: &Labels, budget: &mut Budget) -> String {
    let regressed = with(report, &[Verdict::Regressed]);
    let improved = with(report, &[Verdict::Improved]);
    let rows: Vec<&Finding> = regressed.into_iter().chain(improved).collect();
    if rows.is_empty() {
        return String::new();
    }
    let fitted = fit(&rows, labels, budget);
    let left_out = unlisted(&fitted.left_out);
    let notes = notes(&fitted.shown, labels, budget, 12_000);
    [fitted.text, left_out, notes].concat()
}

/// What could not be judged, and why.
fn failures(report: &Report, labels: &Labels, budget: &mut Budget) -> String {
    let rows = with(report, &[Verdict::Failed, Verdict::NotComparable]);
    if rows.is_empty() {
        return String::new();
    }
    let counts: Vec<String> = [Verdict::Failed, Verdict::NotComparable]
        .into_iter()
        .filter(|&verdict| report.count(verdict) > 0)
        .map(|verdict| format!("{} {}", report.count(verdict), status::counted(verdict)))
        .collect();
    let body = notes(&rows, labels, budget, 12_000);
    details(&format!("Could not be compared: {}", counts.join(", ")), &body)
}

fn all(report: &Report, labels: &Labels, budget: &mut Budget) -> String {
    if report.findings.is_empty() {
        return String::new();
    }
    let rows: Vec<&Finding> = report.findings.iter().collect();
    let fitted = fit(&rows, labels, budget);
    let noted = with(
        report,
        &[
            Verdict::Unclear,
            Verdict::New,
            Verdict::Removed,
            Verdict::Identical,
            Verdict::Unchanged,
        ],
    );
    let notes = notes(&noted, labels, budget, 10_000);
    let scenarios = count(rows.len(), "scenario");
    let title = if fitted.left_out.is_empty() {
        format!("Full table ({scenarios})")
    } else {
        format!("Table of {} of {scenarios}", fitted.shown.len())
    };
    details(&title, &[fitted.text, unlisted(&fitted.left_out), notes].concat())
}

fn foot(report: &Report, budget: &mut Budget) -> String {
    let (method, time) = (method(report), time(report));
    budget.spend(&time);
    budget.spend(&method);
    [method, blind_spots(report, budget), time].concat()
}

fn method(report: &Report) -> String {
    format!(
        "**Host:** {}\n\n**Method:** {}. {}.\n\n",
        prose(&visible::cut_end(&sentence::host(report), LONGEST_NOTE)),
        prose(&sentence::method(report)),
        prose(&capitalised(&sentence::rule(report))),
    )
}

fn time(report: &Report) -> String {
    sentence::elapsed(report)
        .map(|elapsed| format!("**Time:** {}\n\n", prose(&elapsed)))
        .unwrap_or_default()
}

fn blind_spots(report: &Report, budget: &mut Budget) -> String {
    if report.blind_spots.is_empty() {
        return String::new();
    }
    format!(
        "**What this run cannot catch:**\n\n{}",
        list(&report.blind_spots, "sentence", budget)
    )
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map(|first| first.to_uppercase().chain(characters).collect())
        .unwrap_or_default()
}

fn with<'a>(report: &'a Report, verdicts: &[Verdict]) -> Vec<&'a Finding> {
    report
        .findings
        .iter()
        .filter(|finding| verdicts.contains(&finding.verdict))
        .collect()
}

fn details(title: &str, body: &str) -> String {
    format!(
        "<details>\n<summary>{title}</summary>\n\n{}\n\n</details>\n\n",
        body.trim_end()
    )
}

/// Notes below a table, one item a row, as many as `most` units of the budget hold.
fn notes(rows: &[&Finding], labels: &Labels, budget: &mut Budget, most: usize) -> String {
    let noted: Vec<&Finding> = rows
        .iter()
        .copied()
        .filter(|row| !row.notes.is_empty() || sentence::confirmation(row).is_some())
        .collect();
    let items = noted.iter().map(|row| {
        let label = code(&visible::cut_middle(&labels.of(row), LONGEST_ID));
        format!(
            "- {} {label}: {}",
            status::icon(row),
            item(&sentence::row_notes(row))
        )
    });
    fitting(
        items,
        noted.len(),
        ["row with notes", "rows with notes"],
        budget,
        most,
    )
}

/// Several notes of one row: their first lines in a sentence, further lines as a block.
fn item(notes: &[String]) -> String {
    let mut sentences: Vec<String> = Vec::new();
    let mut output: Vec<String> = Vec::new();
    for note in notes.iter().take(NOTES_OF_A_ROW) {
        let mut lines = visible::lines(note);
        if lines.is_empty() {
            continue;
        }
        sentences.push(prose(&visible::cut_end(&lines.remove(0), LONGEST_NOTE)));
        output.extend(lines);
    }
    if notes.len() > NOTES_OF_A_ROW {
        sentences.push("…".to_owned());
    }
    let mut out = sentences.join("; ");
    out.push('\n');
    if !output.is_empty() {
        let first = output.len().saturating_sub(OUTPUT_LINES);
        out.push_str(&fenced(&output[first..], LONGEST_ID));
    }
    out
}

/// A bullet list of sentences. It is short: it stands in front of the rows or below them, where a lock file with
/// two hundred changes would bury the verdict.
fn list(sentences: &[String], noun: &str, budget: &mut Budget) -> String {
    let items = sentences
        .iter()
        .take(LONGEST_LIST)
        .map(|sentence| format!("- {}", item(std::slice::from_ref(sentence))));
    fitting(items, sentences.len(), [noun, &format!("{noun}s")], budget, 5_000)
}

/// As many items as `most` units of the budget hold, then a line that counts the others of `total`. Items are made
/// one by one: of a hostile report's megabytes only what is shown is looked at.
fn fitting(
    items: impl Iterator<Item = String>,
    total: usize,
    [one, many]: [&str; 2],
    budget: &mut Budget,
    most: usize,
) -> String {
    let mut part = budget.split(most);
    let mut shown = 0;
    let mut out = String::new();
    for text in items {
        if !part.afford(&text) {
            break;
        }
        out.push_str(&text);
        shown += 1;
    }
    budget.merge(part);
    match total - shown {
        0 => {}
        1 => out.push_str(&format!("- … and 1 more {one}, in the JSON report\n")),
        left => out.push_str(&format!("- … and {left} more {many}, in the JSON report\n")),
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests;
