//! Makes hostile text harmless to look at: nothing invisible, nothing that moves the cursor, nothing too long.
//!
//! Ids, notes and branch names come from benches, compilers and artifacts of forks. They may hold terminal escapes,
//! right-to-left overrides that reverse the rest of a line, or characters that cannot be seen. Each such character
//! is shown as its escape (`\u{202e}`, `\n`). Data formats keep the raw text.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// One line of text in which every character can be seen. Plain spaces stay.
#[must_use]
pub fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        push(&mut out, character);
    }
    out
}

/// An id in which every character can be seen, spaces included: a space at an end or next to another one would be
/// swallowed by HTML and could make two ids look the same, so it is shown as `\u{20}`.
#[must_use]
pub fn id(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        if character == ' ' && (before == ' ' || characters.peek().is_none()) {
            out.push_str("\\u{20}");
        } else {
            push(&mut out, character);
        }
        before = character;
    }
    if out.is_empty() { "\"\"".to_owned() } else { out }
}

/// The lines of a longer text (compiler output), each made visible; tabs become spaces, outer blank lines go.
#[must_use]
pub fn lines(text: &str) -> Vec<String> {
    text.trim_matches(['\n', '\r'])
        .lines()
        .map(|each| line(&each.trim_end().replace('\t', "    ")))
        .collect()
}

fn push(out: &mut String, character: char) {
    if hidden(character) {
        out.extend(character.escape_default());
    } else {
        out.push(character);
    }
}

/// Characters without a shape of their own: controls, other white space, format characters (bidirectional marks,
/// zero-width characters, tags), fillers, and the code points XML forbids.
fn hidden(character: char) -> bool {
    character.is_control()
        || (character.is_whitespace() && character != ' ')
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{fffe}' | '\u{ffff}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Cuts the middle out of a text that is wider than `width` cells. Ids differ at their ends: the group comes first,
/// the parameter last.
#[must_use]
pub fn cut_middle(text: &str, width: usize) -> String {
    if fits(text, width) {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let tail_room = room / 2;
    let head = prefix(text.chars(), room - tail_room);
    let tail = prefix(text.chars().rev(), tail_room);
    let tail: String = tail.chars().rev().collect();
    format!("{head}…{tail}")
}

/// Cuts the end off a text that is wider than `width` cells.
#[must_use]
pub fn cut_end(text: &str, width: usize) -> String {
    if fits(text, width) {
        return text.to_owned();
    }
    format!("{}…", prefix(text.chars(), width.saturating_sub(1)))
}

/// A character counts as at least one cell, so that a pile of combining marks cannot hide a megabyte in one cell.
fn cells(character: char) -> usize {
    character.width().unwrap_or(1).max(1)
}

fn fits(text: &str, width: usize) -> bool {
    text.width() <= width && text.chars().map(cells).sum::<usize>() <= width
}

fn prefix(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut left = width;
    characters
        .take_while(|&character| {
            let fits = cells(character) <= left;
            left = left.saturating_sub(cells(character));
            fits
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown_as_its_escape() {
        assert_eq!(line("a\nb\r\t\u{1b}[31m"), "a\\nb\\r\\t\\u{1b}[31m");
        assert_eq!(
            line("\u{202e}x\u{200b}\u{feff}\u{a0}\u{85}"),
            "\\u{202e}x\\u{200b}\\u{feff}\\u{a0}\\u{85}"
        );
        assert_eq!(line("µ ± 日本 🦀 é"), "µ ± 日本 🦀 é");
    }

    #[test]
    fn spaces_that_html_would_swallow_are_visible_in_ids() {
        assert_eq!(id("a b"), "a b");
        assert_eq!(id(" a  b "), "\\u{20}a \\u{20}b\\u{20}");
        assert_eq!(id(" "), "\\u{20}");
        assert_eq!(id(""), "\"\"");
    }

    #[test]
    fn a_cut_keeps_both_ends_and_the_width() {
        assert_eq!(cut_middle("group/function/1024", 11), "group…/1024");
        assert_eq!(cut_middle("short", 11), "short");
        assert_eq!(cut_middle("日本語日本語", 5), "日…語");
        assert_eq!(cut_end("group/function", 6), "group…");
        assert_eq!(cut_middle("abc", 0), "…");
    }

    #[test]
    fn combining_marks_cannot_pile_up() {
        let pile = format!("e{}", "\u{301}".repeat(5_000));
        assert!(cut_middle(&pile, 20).chars().count() <= 20);
    }

    #[test]
    fn compiler_output_keeps_its_lines_and_its_indentation() {
        assert_eq!(
            lines("\nerror:\r\n\tx\n  \u{1b}[0m\n"),
            ["error:", "    x", "  \\u{1b}[0m"]
        );
    }
}
