//! JSON as benchmark programs leave it: several values in a row, numbers that are none, an end that is missing, lines
//! of a log between.

use super::FormatError;
use super::tally::quoted;
use super::value::{Fields, object};
use crate::profile::Format;
use serde_json::Value;

/// What Python writes for numbers that JSON cannot hold.
const NO_NUMBERS: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];

/// Most keys that are named to say what a file is instead.
const KEYS_NAMED: usize = 5;

/// What a file holds.
pub(super) struct Found {
    /// Its objects, in order; those of a list at the top are told one by one.
    pub(super) objects: Vec<Fields>,
    /// What was cut off or passed over, a sentence each.
    pub(super) incidents: Vec<String>,
}

impl Found {
    /// Reads all there is. `NaN` and the infinities become text, so that [`number`](super::value::number) tells them from what is absent. If
    /// the end is missing, the last value holds what was whole of it: a number that the file ends with is none, since
    /// digits may be missing.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let bytes = in_quotes(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes));
        let mut found = Self {
            objects: Vec::new(),
            incidents: Vec::new(),
        };
        let mut passed_over = 0_usize;
        let mut rest = bytes.trim_ascii_start();
        while let Some(first) = rest.first() {
            let mut stream = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
            let next = if matches!(first, b'{' | b'[') {
                stream.next()
            } else {
                None
            };
            rest = match next {
                Some(Ok(value)) => {
                    found.add(value);
                    &rest[stream.byte_offset()..]
                }
                Some(Err(error)) if error.is_eof() => {
                    if let Some(value) = mended(rest) {
                        found.add(value);
                    }
                    found
                        .incidents
                        .push("the file is cut off: what is whole before its end was read".to_owned());
                    &[]
                }
                Some(Err(_)) | None => {
                    passed_over += 1;
                    let end = rest.iter().position(|byte| *byte == b'\n');
                    &rest[end.unwrap_or(rest.len())..]
                }
            };
            rest = rest.trim_ascii_start();
        }
        if passed_over > 0 {
            found
                .incidents
                .push(format!("{passed_over} lines that are no JSON were passed over"));
        }
        found
    }

    fn add(&mut self, value: Value) {
        match value {
            Value::Object(_) => self.objects.push(object(value)),
            Value::Array(values) => self
                .objects
                .extend(values.into_iter().filter(Value::is_object).map(object)),
            _ => {}
        }
    }

    /// The error for a file that is in another format, with what it looks like.
    pub(super) fn foreign(&self, format: Format) -> FormatError {
        let found = match self.objects.first() {
            None => "there is no JSON object in it".to_owned(),
            Some(first) if first.is_empty() => "its first JSON object is empty".to_owned(),
            Some(first) => {
                let keys: Vec<String> = first
                    .keys()
                    .take(KEYS_NAMED)
                    .map(|key| format!("`{}`", quoted(key).chars().take(40).collect::<String>()))
                    .collect();
                let more = if first.len() > KEYS_NAMED { ", …" } else { "" };
                format!("its first JSON object has the keys {}{more}", keys.join(", "))
            }
        };
        FormatError::Foreign { format, found }
    }
}

/// The same bytes with [`NO_NUMBERS`] in quotation marks. A line's end ends a string, so that one stray quotation mark
/// in a log does not turn all that follows inside out; in JSON no string goes over a line's end.
fn in_quotes(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut inside = false;
    let mut escaped = false;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let within_word = out.last().is_some_and(u8::is_ascii_alphanumeric);
        if !inside
            && !within_word
            && let Some(word) = NO_NUMBERS.iter().find(|word| bytes[at..].starts_with(word))
        {
            out.push(b'"');
            out.extend_from_slice(word);
            out.push(b'"');
            at += word.len();
            continue;
        }
        match byte {
            b'\n' => inside = false,
            b'"' if !escaped => inside = !inside,
            _ => {}
        }
        escaped = inside && !escaped && *byte == b'\\';
        out.push(*byte);
        at += 1;
    }
    out
}

/// What is whole of a value whose end is missing: everything before the last comma or bracket, closed.
fn mended(cut: &[u8]) -> Option<Value> {
    let mut open = Vec::new();
    let mut whole = 0;
    let mut inside = false;
    let mut escaped = false;
    for (at, byte) in cut.iter().enumerate() {
        if inside {
            inside = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            continue;
        }
        match byte {
            b'"' => inside = true,
            b',' => whole = at,
            b'{' | b'[' => {
                open.push(if *byte == b'{' { b'}' } else { b']' });
                whole = at + 1;
            }
            b'}' | b']' => {
                open.pop();
                whole = at + 1;
            }
            _ => {}
        }
    }
    let mut text = cut[..whole].to_vec();
    text.extend(open.iter().rev());
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn objects(text: &str) -> (Vec<Value>, Vec<String>) {
        let found = Found::read(text.as_bytes());
        let objects = found
            .objects
            .into_iter()
            .map(|fields| Value::Object(fields.into_iter().collect()));
        (objects.collect(), found.incidents)
    }

    #[test]
    fn objects_in_a_row_are_read_with_and_without_lines_between() {
        let expected = vec![json!({"a": 1}), json!({"a": 2}), json!({"a": 3}), json!({"a": 4})];
        let text = "\u{feff}{\"a\": 1}\n{\"a\": 2}{\n \"a\": 3}\n\n[{\"a\": 4}, 5]\n";
        assert_eq!(objects(text), (expected, vec![]));
    }

    #[test]
    fn lines_of_a_log_are_passed_over() {
        let text = "Warmup ...\n[12:00:01] don\"t\n{\"a\": NaN}\n10 steps\n{'b': 1}\n";
        let (found, incidents) = objects(text);
        assert_eq!(found, [json!({"a": "NaN"})]);
        assert_eq!(incidents, ["4 lines that are no JSON were passed over"]);
    }

    #[test]
    fn numbers_that_are_none_are_told_from_null_and_from_text() {
        let text = r#"{"a": [NaN, -Infinity, Infinity, null, "a \"NaN\" \\", NaN]}"#;
        let values = json!({"a": ["NaN", "-Infinity", "Infinity", null, "a \"NaN\" \\", "NaN"]});
        assert_eq!(objects(text), (vec![values], vec![]));
    }

    #[test]
    fn of_a_value_that_is_cut_off_the_whole_parts_stay() {
        for (text, whole) in [
            (r#"{"a": 1, "b": [1.5, 2.2"#, json!({"a": 1, "b": [1.5]})),
            (r#"{"a": 1, "b": {"c": "x, y"#, json!({"a": 1, "b": {}})),
            (r#"{"a": {"b": [1, 2]}, "c"#, json!({"a": {"b": [1, 2]}})),
            (r#"{"a": "\\\"}", "b": 12"#, json!({"a": "\\\"}"})),
        ] {
            let incidents = vec!["the file is cut off: what is whole before its end was read".to_owned()];
            assert_eq!(objects(text), (vec![whole], incidents), "{text}");
        }
    }

    #[test]
    fn nothing_at_all_and_endless_brackets_are_no_objects() {
        assert_eq!(objects(""), (vec![], vec![]));
        assert_eq!(objects(&"[".repeat(100_000)).0, Vec::<Value>::new());
        assert_eq!(objects(&"[\n".repeat(3_000)).0, Vec::<Value>::new());
        assert_eq!(objects(&"{\"a\":".repeat(10_000)).0, Vec::<Value>::new());
    }

    #[test]
    fn a_foreign_file_is_told_by_its_keys() {
        let found = Found::read(br#"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}"#);
        assert_eq!(
            found.foreign(Format::Trtllm).to_string(),
            "this is no trtllm: its first JSON object has the keys `a`, `b`, `c`, `d`, `e`, …"
        );
        assert_eq!(
            Found::read(b"hello").foreign(Format::Trtllm).to_string(),
            "this is no trtllm: there is no JSON object in it"
        );
    }
}
