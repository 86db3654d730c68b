//! What a comment must not do, whatever it is made from. A parser of Markdown that is not ours reads it.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Fails if a comment does anything but read: HTML of somebody else's, a link that `allowed` does not begin, an image, a
/// formula, somebody notified, another issue referred to, or text that cannot be seen.
#[track_caller]
pub(crate) fn assert_harmless(body: &str, allowed: &str) {
    assert!(
        body.chars().count() < 65_536,
        "{} characters",
        body.chars().count()
    );
    if let Some(hidden) = body.chars().find(|character| is_hidden(*character)) {
        panic!("{hidden:?} cannot be seen in {body}");
    }
    if let Some(command) = body.lines().find(|line| line.starts_with("::")) {
        panic!("a command to the runner: {command}");
    }
    let mut tags: Vec<String> = Vec::new();
    // What is beside each other in the finished page: GitHub looks there for whom to notify.
    let mut text = String::new();
    let mut code = false;
    for event in Parser::new_ext(body, Options::all()) {
        match event {
            Event::Text(part) if !code => text.push_str(&part),
            Event::Text(_) => {}
            other => {
                assert_silent(&std::mem::take(&mut text));
                match other {
                    Event::Html(html) | Event::InlineHtml(html) => {
                        tags.extend(html.lines().map(str::to_owned))
                    }
                    Event::Start(Tag::CodeBlock(_)) => code = true,
                    Event::End(TagEnd::CodeBlock) => code = false,
                    Event::Start(Tag::Link { dest_url, .. }) => {
                        assert!(dest_url.starts_with(allowed), "a link to {dest_url}");
                    }
                    Event::Start(Tag::Image { .. } | Tag::FootnoteDefinition(_))
                    | Event::InlineMath(_)
                    | Event::DisplayMath(_)
                    | Event::FootnoteReference(_)
                    | Event::TaskListMarker(_) => panic!("{other:?} in {body}"),
                    _ => {}
                }
            }
        }
    }
    assert_silent(&text);
    for tag in &tags {
        assert!(is_ours(tag), "HTML: {tag:?}");
    }
    let count = |tag: &str| tags.iter().filter(|found| *found == tag).count();
    assert_eq!(count("<details>"), count("</details>"), "{body}");
}

/// Text as it stands in the page.
#[track_caller]
fn assert_silent(text: &str) {
    for sign in ["://", "www."] {
        assert!(!text.contains(sign), "`{sign}` in {text}");
    }
    let mut mentions = text.split('@').skip(1);
    assert!(
        !mentions.any(|after| after.starts_with(char::is_alphanumeric)),
        "a mention in {text}"
    );
    let is_number = |after: &str| after.starts_with(|c: char| c.is_ascii_digit());
    let lower = text.to_ascii_lowercase();
    let mut references = lower.split('#').skip(1).chain(lower.split("gh-").skip(1));
    assert!(!references.any(is_number), "a reference in {text}");
}

fn is_hidden(character: char) -> bool {
    (character.is_control() && character != '\n')
        || matches!(character,
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{ad}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a line of HTML is one of the renderer's: folds, whose titles are its own words and numbers, and marks.
fn is_ours(line: &str) -> bool {
    let inside = |begin: &str, end: &str| line.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
    let plain = |title: &str| {
        title
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || " (),:".contains(c))
    };
    let word = |mark: &str| {
        mark.chars()
            .all(|c| c.is_ascii_alphanumeric() || " =%._:-".contains(c))
    };
    matches!(line, "<details>" | "</details>" | "")
        || inside("<summary>", "</summary>").is_some_and(plain)
        || inside("<!-- abreast:", " -->").is_some_and(word)
}

#[test]
fn what_acts_is_noticed() {
    let noticed = |body: &str| {
        let body = body.to_owned();
        std::panic::catch_unwind(move || assert_harmless(&body, "https://github.example/")).is_err()
    };
    for harmful in [
        "<b>",
        "<!-- b",
        "a <!-- b --> c",
        "[a](https://evil.example)",
        "[a][b]\n\n[b]: https://evil.example",
        "<https://evil.example>",
        "![a](b)",
        "https://evil.example",
        "www.evil.example",
        "@octocat",
        "\\@octocat",
        "see #12",
        "see \\#12 and gh-3",
        "$x$",
        "\u{202e}",
        "a\u{200b}b",
        "::error::x",
        "<details>",
        "  ```\n  ```\n\n<b>",
        "<summary><b></summary>",
    ] {
        assert!(noticed(harmful), "{harmful:?}");
    }
    for harmless in [
        "`<b> @octocat #12`",
        "``a`<b>``",
        "a \\<b \\![x",
        "`@`octocat",
        "[a](https://github.example/o/r)",
        "  ```text\n  <b>\n  ```",
        "<details>\n<summary>Full table (3 scenarios)</summary>\n\ntext\n\n</details>",
        "a @ b, C# and # x",
    ] {
        assert!(!noticed(harmless), "{harmless:?}");
    }
}
