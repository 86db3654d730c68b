//! The text of a comment as sections between markers.
//!
//! A marker is a line of its own that begins at the margin. Nothing that a report says can be one: its lines begin with
//! Markdown of the renderer's, or are indented.

use crate::pull_request::Run;
use crate::report::markdown::code;

const COMMENT: &str = "<!-- abreast:comment -->";
const BEGIN: &str = "<!-- abreast:section ";
const CLOSE: &str = " -->";
const END: &str = "<!-- abreast:end -->";
/// Stands for a number that was not told.
const UNKNOWN: &str = "-";

/// What one job says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Name of the job.
    pub job: String,
    /// What it is about.
    pub stamp: Stamp,
    /// Markdown.
    pub text: String,
}

/// What a section is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// Head of the pull request when it was measured: full object id.
    pub head: String,
    /// The run that measured it.
    pub run: Run,
    /// Digest of what was said, however much of it was shown.
    pub digest: String,
}

/// The sections of a comment; `None` if it is not one of abreast's. A section whose end is missing was edited by
/// somebody and is left out.
#[must_use]
pub fn sections(body: &str) -> Option<Vec<Section>> {
    let mut lines = body.lines();
    lines.find(|line| *line == COMMENT)?;
    let mut sections = Vec::new();
    let mut open: Option<Section> = None;
    for line in lines {
        if let Some(section) = begun(line) {
            open = Some(section);
        } else if line == END {
            sections.extend(open.take());
        } else if let Some(section) = &mut open {
            section.text.push_str(line);
            section.text.push('\n');
        }
    }
    for section in &mut sections {
        section.text = section.text.trim().to_owned();
    }
    Some(sections)
}

/// The body of a comment. `head` is the pull request's newest commit, if it is known: sections about another one say
/// so.
#[must_use]
pub fn compose(sections: &[Section], head: Option<&str>) -> String {
    let mut body = format!("{COMMENT}\n");
    for section in sections {
        if head.is_some_and(|head| head != section.stamp.head) {
            body.push_str(&stale(&section.stamp.head));
        }
        body.push_str(&marker(section));
        body.push_str("\n\n");
        body.push_str(section.text.trim());
        body.push_str("\n\n");
        body.push_str(END);
        body.push('\n');
    }
    body
}

fn stale(head: &str) -> String {
    let short = code(head.get(..10).unwrap_or(head));
    format!("\n> ⚠️ The following is about {short}, which is not the newest commit of this pull request.\n\n")
}

fn marker(section: &Section) -> String {
    let Stamp { head, run, digest } = &section.stamp;
    let number = |number: Option<u64>| number.map_or_else(|| UNKNOWN.to_owned(), |number| number.to_string());
    format!(
        "{BEGIN}job={} head={} run={} number={} attempt={} digest={}{CLOSE}",
        encoded(&section.job),
        encoded(head),
        number(run.id),
        number(run.number),
        number(run.attempt),
        encoded(digest),
    )
}

/// The section that a marker begins, still without text.
fn begun(line: &str) -> Option<Section> {
    let words = line.strip_prefix(BEGIN)?.strip_suffix(CLOSE)?;
    let value = |name: &str| {
        words
            .split(' ')
            .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    };
    let number = |name: &str| -> Option<u64> { value(name)?.parse().ok() };
    Some(Section {
        job: decoded(value("job")?)?,
        stamp: Stamp {
            head: decoded(value("head")?)?,
            run: Run {
                id: number("run"),
                number: number("number"),
                attempt: number("attempt"),
            },
            digest: decoded(value("digest")?)?,
        },
        text: String::new(),
    })
}

/// A text as one word that cannot end an HTML comment: letters, digits, `.` and `_`; every other byte as `%XX`.
fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn decoded(word: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(job: &str, text: &str) -> Section {
        Section {
            job: job.to_owned(),
            stamp: Stamp {
                head: "a1".repeat(20),
                run: Run {
                    id: Some(900),
                    number: None,
                    attempt: Some(2),
                },
                digest: "0123456789ab".to_owned(),
            },
            text: text.to_owned(),
        }
    }

    #[test]
    fn what_is_composed_is_read_back() {
        let all = [
            section("bench", "### ✅ fine\n\n| a |\n| - |"),
            section("ünï --> <!-- abreast:end -->\n%41 \"", "two"),
            section("", ""),
        ];
        let body = compose(&all, None);
        assert_eq!(sections(&body).as_deref(), Some(&all[..]));
        // As GitHub may hand it back.
        let returned = body.replace('\n', "\r\n");
        assert_eq!(sections(&returned).as_deref(), Some(&all[..]));
    }

    #[test]
    fn a_comment_shows_nothing_of_its_markers() {
        insta::assert_snapshot!(compose(&[section("bench (1/2)", "text")], None), @r"
        <!-- abreast:comment -->
        <!-- abreast:section job=bench%20%281%2F2%29 head=a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1 run=900 number=- attempt=2 digest=0123456789ab -->

        text

        <!-- abreast:end -->
        ");
    }

    #[test]
    fn other_comments_are_not_of_abreast() {
        for body in [
            "",
            "benchmark",
            "see `<!-- abreast:comment -->`",
            "> <!-- abreast:comment -->",
            " <!-- abreast:comment -->",
        ] {
            assert_eq!(sections(body), None, "{body}");
        }
    }

    #[test]
    fn a_section_about_another_commit_says_so_and_is_read_back_without_that() {
        let all = [section("a", "text")];
        let body = compose(&all, Some("another"));
        assert!(body.contains("about `a1a1a1a1a1`, which is not the newest commit"));
        assert_eq!(sections(&body).as_deref(), Some(&all[..]));
        assert!(!compose(&all, Some(&"a1".repeat(20))).contains("newest"));
    }

    #[test]
    fn a_section_that_was_damaged_is_left_out_and_the_others_stay() {
        let body = compose(&[section("a", "one"), section("b", "two")], None);
        let damaged = body.replacen(&format!("\n{END}"), "", 1);
        assert_eq!(sections(&damaged), Some(vec![section("b", "two")]));
        let damaged = body.replacen("job=a", "job=%zz", 1);
        assert_eq!(sections(&damaged), Some(vec![section("b", "two")]));
        let damaged = body.replace("head=", "tail=");
        assert_eq!(sections(&damaged), Some(vec![]));
    }

    #[test]
    fn text_that_looks_like_a_marker_does_not_begin_at_the_margin() {
        use crate::report::{hostile, markdown};
        let texts = [
            format!("\n{END}\n"),
            format!("\n{BEGIN}job=x{CLOSE}\n"),
            COMMENT.to_owned(),
        ];
        let text = markdown::render(&hostile::report(&texts));
        assert!(text.contains("abreast:end"), "{text}");
        let all = [section("a", text.trim())];
        assert_eq!(sections(&compose(&all, None)).as_deref(), Some(&all[..]));
    }
}
