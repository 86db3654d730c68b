//! Text as GitHub's Markdown, so that it reads as it was written and does nothing else.
//!
//! Hostile text must not break a table, close a `<details>`, hide what follows in a comment, run HTML, link
//! somewhere, refer to an issue, or notify anybody.

use crate::report::visible;

/// An id or a name as a code span, for use outside of tables. `text` is already visible.
#[must_use]
pub fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text, '`') + 1);
    // Without the space the fence and a backtick of the text would be one run.
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A code span for a table cell: GitHub splits cells before it looks at code, so pipes are escaped even there.
#[must_use]
pub(super) fn code_cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// A sentence in one line. What it has between backticks becomes code, as its author meant it.
#[must_use]
pub fn prose(text: &str) -> String {
    let text = visible::line(&text.trim().replace("\r\n", " ").replace('\n', " "));
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('`') {
        plain(&mut out, before);
        match after.split_once('`') {
            Some((inner, after)) if !inner.trim().is_empty() => {
                out.push_str(&code(inner));
                rest = after;
            }
            _ => {
                out.push_str("\\`");
                rest = after;
            }
        }
    }
    plain(&mut out, rest);
    out
}

/// Text without backticks.
///
/// An escaped `@` would still notify and an escaped `#1` would still refer, because GitHub looks for both in the
/// finished HTML; only code is spared. So exactly these signs become code. The same goes for what starts a link.
fn plain(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if let Some(sign) = acting_sign(rest) {
            out.push_str(&code(sign));
            rest = &rest[sign.len()..];
            continue;
        }
        let escape = match character {
            '\\' | '*' | '_' | '[' | ']' | '!' | '#' | '|' | '~' | '$' => true,
            // At the start of a line these would begin a list, a heading's underline or a rule.
            '-' | '+' | '=' | ':' => out.is_empty(),
            '.' | ')' => !out.is_empty() && out.bytes().all(|byte| byte.is_ascii_digit()),
            _ => false,
        };
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            other => out.extend(escape.then_some('\\').into_iter().chain([other])),
        }
        rest = &rest[character.len_utf8()..];
    }
}

/// The sign at the start of `rest` that GitHub would act upon, if there is one.
fn acting_sign(rest: &str) -> Option<&str> {
    let word = |character: char| character.is_alphanumeric() || character == '_' || character == '-';
    let digit = |character: char| character.is_ascii_digit();
    if rest
        .strip_prefix('@')
        .is_some_and(|after| after.starts_with(word))
    {
        Some("@")
    } else if rest
        .strip_prefix('#')
        .is_some_and(|after| after.starts_with(digit))
    {
        Some("#")
    } else if let Some(sign) = rest.get(..3).filter(|sign| sign.eq_ignore_ascii_case("GH-"))
        && rest[3..].starts_with(digit)
    {
        Some(sign)
    } else if rest.starts_with("://") {
        Some("://")
    } else if rest.starts_with("www.") {
        Some("www.")
    } else {
        None
    }
}

/// Lines as a fenced block inside a list item; every line is visible and at most `width` cells.
#[must_use]
pub(super) fn fenced(lines: &[String], width: usize) -> String {
    let lines: Vec<String> = lines.iter().map(|line| visible::cut_end(line, width)).collect();
    let longest = lines.iter().map(|line| longest_run(line, '`')).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    let mut out = format!("\n  {fence}text\n");
    for line in &lines {
        out.push_str("  ");
        out.push_str(line);
        out.push('\n');
    }
    out.push_str("  ");
    out.push_str(&fence);
    out.push('\n');
    out
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|character| character != of)
        .map(|run| run.len() / of.len_utf8())
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_outlasts_the_backticks_in_it() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`a`"), "`` `a` ``");
        assert_eq!(code_cell("a|b\\|"), "`a\\|b\\\\|`");
    }

    #[test]
    fn prose_does_nothing_but_read() {
        assert_eq!(
            prose("a|b `c|*d*` ` *d* _e_ [f](g) !h <!-- </details> &amp;"),
            "a\\|b `c|*d*` \\` \\*d\\* \\_e\\_ \\[f\\](g) \\!h &lt;\\!-- &lt;/details&gt; &amp;amp;"
        );
        assert_eq!(
            prose("ping @octocat, see #12, GH-3 and gh-4, C# a @ b"),
            "ping `@`octocat, see `#`12, `GH-`3 and `gh-`4, C\\# a @ b"
        );
        assert_eq!(
            prose("https://evil.example www.evil.example"),
            "https`://`evil.example `www.`evil.example"
        );
        assert_eq!(prose("- a\r\n# b"), "\\- a \\# b");
        assert_eq!(prose("1. a 2. b"), "1\\. a 2. b");
        assert_eq!(prose("\u{202e}\u{200b}"), "\\\\u{202e}\\\\u{200b}");
    }

    #[test]
    fn a_fence_outlasts_the_fences_in_it() {
        let lines = ["```".to_owned(), "</details>".to_owned()];
        assert_eq!(fenced(&lines, 80), "\n  ````text\n  ```\n  </details>\n  ````\n");
    }
}
