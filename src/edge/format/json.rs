//! One JSON document as a program leaves it: lines around it, numbers that are none, the end cut off between two parts.

use serde_json::Value;

/// A document that was read.
pub(super) struct Document {
    /// All of it, or what was whole of it.
    pub(super) value: Value,
    /// Whether its end is missing.
    pub(super) cut: bool,
    /// What was not as it should be, a sentence each.
    pub(super) incidents: Vec<String>,
}

/// Reads the first document in `bytes`. What stands before a line that begins with `{` is not part of it.
///
/// Not everybody who writes JSON keeps to it: `NaN`, `-inf` and their like become text, which tells them from what is
/// absent. Where the end is missing, the document ends after the last list or object that was whole and is inside of at
/// most `depth` others: nothing is believed that might have gone on. With a depth of 2, `{"results": [{}, {` is cut
/// after its first result, and not within the second.
///
/// # Errors
/// What was found instead of a document, as a part of a sentence.
pub(super) fn read(bytes: &[u8], depth: usize) -> Result<Document, String> {
    let text = String::from_utf8_lossy(bytes);
    let text = from_first_bracket(&text).ok_or("text without JSON in it")?;
    if let Ok(document) = whole(text) {
        return Ok(document);
    }
    let tidied = Tidied::of(text, depth);
    match whole(&tidied.text) {
        Ok(document) => Ok(document),
        Err(error) => tidied
            .mended()
            .and_then(|mended| whole(&mended).ok())
            .map(|document| Document {
                cut: true,
                incidents: vec!["the file is cut off: what is whole before its end was read".to_owned()],
                ..document
            })
            .ok_or_else(|| format!("text that is no JSON ({error})")),
    }
}

fn from_first_bracket(text: &str) -> Option<&str> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with(['{', '[']) {
        return Some(text);
    }
    text.find("\n{").map(|at| &text[at + 1..])
}

/// The document that `text` begins with.
fn whole(text: &str) -> serde_json::Result<Document> {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = documents.next().unwrap_or(Ok(Value::Null))?;
    let after = text.get(documents.byte_offset()..).unwrap_or_default();
    let mut incidents = Vec::new();
    if after.lines().any(|line| line.starts_with('{')) {
        incidents.push("another document follows the first: it was not read".to_owned());
    }
    Ok(Document {
        value,
        cut: false,
        incidents,
    })
}

/// A document without what is no JSON.
struct Tidied {
    text: String,
    /// Where the last part that is whole ends, and the brackets that are still to be closed there.
    whole: Option<(usize, String)>,
    /// Whether brackets are still open at its end.
    open: bool,
}

impl Tidied {
    fn of(text: &str, depth: usize) -> Self {
        let mut tidied = Self {
            text: String::with_capacity(text.len()),
            whole: None,
            open: false,
        };
        let mut owed: Vec<char> = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let (token, after) = rest.split_at(length_of_token(first, rest));
            rest = after;
            if is_no_number(token) {
                tidied.text.push('"');
                tidied.text.push_str(token);
                tidied.text.push('"');
            } else {
                tidied.text.push_str(token);
            }
            match first {
                '{' => owed.push('}'),
                '[' => owed.push(']'),
                '}' | ']' => {
                    owed.pop();
                    if owed.len() <= depth {
                        tidied.whole = Some((tidied.text.len(), owed.iter().rev().collect()));
                    }
                }
                _ => {}
            }
        }
        tidied.open = !owed.is_empty();
        tidied
    }

    /// What was whole, closed; absent if nothing was, or if nothing is missing.
    fn mended(&self) -> Option<String> {
        let (end, owed) = self.whole.as_ref().filter(|_| self.open)?;
        Some(format!("{}{owed}", self.text.get(..*end)?))
    }
}

/// How many bytes belong together at the beginning of `text`, whose first character is `first`: a string, a word or
/// number, or one character.
fn length_of_token(first: char, text: &str) -> usize {
    let in_word = |character: char| character.is_ascii_alphanumeric() || "+-.".contains(character);
    match first {
        '"' => length_of_string(text),
        _ if in_word(first) => text
            .find(|character: char| !in_word(character))
            .unwrap_or(text.len()),
        _ => first.len_utf8(),
    }
}

/// Up to and with the second quotation mark, or to the end.
fn length_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Whether a word stands for a number that JSON cannot write.
fn is_no_number(token: &str) -> bool {
    let word = token.trim_start_matches(['+', '-']);
    ["nan", "inf", "infinity"]
        .iter()
        .any(|name| word.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const CUT: &str = "the file is cut off: what is whole before its end was read";

    fn value(text: &str) -> Value {
        let document = read(text.as_bytes(), 2).unwrap();
        assert!(!document.cut, "{text}");
        assert_eq!(document.incidents, [""; 0], "{text}");
        document.value
    }

    #[test]
    fn what_is_no_number_becomes_text() {
        assert_eq!(
            value(r#"{"a": NaN, "b": -Infinity, "c": [nan, -nan, inf, 1.5e-3], "d": "NaN \" nan"}"#),
            json!({"a": "NaN", "b": "-Infinity", "c": ["nan", "-nan", "inf", 0.0015], "d": "NaN \" nan"})
        );
    }

    #[test]
    fn lines_around_a_document_are_not_part_of_it() {
        assert_eq!(value("Running [1/2] {x}\n{\"a\": 1}\nDone.\n"), json!({"a": 1}));
        assert_eq!(value("\u{feff}{\"a\": 1}\r\n"), json!({"a": 1}));
        assert_eq!(value("[1, 2]"), json!([1, 2]));
    }

    #[test]
    fn a_second_document_is_told_of() {
        let document = read(b"{\"a\": 1}\n{\"b\": 2}\n", 2).unwrap();
        assert_eq!(document.value, json!({"a": 1}));
        assert_eq!(
            document.incidents,
            ["another document follows the first: it was not read"]
        );
    }

    #[test]
    fn wherever_a_document_is_cut_only_what_was_whole_is_left() {
        let text = r#"{"context": {"cpus": [1, 2]}, "rows": [{"a": 1, "b": "x}"}, {"a": 22, "b": "y"}]}"#;
        let context = text.find(", \"rows\"").unwrap();
        let first = text.find(", {\"a\"").unwrap();
        let second = text.len() - 2;
        for end in context..text.len() {
            let expected = if end >= second {
                json!({"context": {"cpus": [1, 2]}, "rows": [{"a": 1, "b": "x}"}, {"a": 22, "b": "y"}]})
            } else if end >= first {
                json!({"context": {"cpus": [1, 2]}, "rows": [{"a": 1, "b": "x}"}]})
            } else {
                json!({"context": {"cpus": [1, 2]}})
            };
            let document = read(&text.as_bytes()[..end], 2).unwrap();
            assert_eq!(document.value, expected, "{}", &text[..end]);
            assert_eq!(
                (document.cut, document.incidents.as_slice()),
                (true, &[CUT.to_owned()][..])
            );
        }
    }

    #[test]
    fn a_cut_within_a_character_is_like_any_other() {
        let bytes = "{\"rows\": [{\"a\": 1}, {\"b\": \"µ".as_bytes();
        let document = read(&bytes[..bytes.len() - 1], 2).unwrap();
        assert_eq!(document.value, json!({"rows": [{"a": 1}]}));
    }

    #[test]
    fn what_is_no_json_is_said_to_be_none() {
        let error = |text: &str| read(text.as_bytes(), 2).err().unwrap();
        assert_eq!(error(""), "text without JSON in it");
        assert_eq!(error("Benchmark 1: sleep 0.1"), "text without JSON in it");
        assert!(error("{\"a\": what}").starts_with("text that is no JSON (expected value at line 1"));
        assert!(error("{\"rows\": [{\"a\": 1,").starts_with("text that is no JSON (EOF"));
        assert!(error(&"[".repeat(100_000)).starts_with("text that is no JSON (recursion limit exceeded"));
    }
}
