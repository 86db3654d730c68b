//! Single values of JSON, however a program wrote them.

use serde_json::Value;
use std::collections::BTreeMap;

/// The keys of an object with what they hold. Sorted: the order of serde's map depends on what else is built.
pub(super) type Fields = BTreeMap<String, Value>;

/// What is told under some of the keys of an object, which are taken out, as settings are written: each with `path` in
/// front.
pub(super) fn take_texts(
    fields: &mut Fields,
    path: &str,
    keys: &[&str],
    into: &mut BTreeMap<String, String>,
) {
    for key in keys {
        if let Some(told) = fields.remove(*key).as_ref().and_then(text) {
            into.insert(format!("{path}{key}"), told);
        }
    }
}

/// The fields of an object; none of anything else.
pub(super) fn object(value: Value) -> Fields {
    match value {
        Value::Object(fields) => fields.into_iter().collect(),
        _ => Fields::new(),
    }
}

/// The values of a list; none of anything else.
pub(super) fn list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values,
        _ => Vec::new(),
    }
}

/// A number, also where it was written as text: `"0.5"`, `"inf"`, `"NaN"`.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// As a setting is written: text as it is, `16.0` like `16`, the rest as JSON. Absent for `null`.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if number.is_f64() => {
            let whole = number
                .as_f64()
                .filter(|value| value.fract() == 0.0 && value.abs() < 1e15);
            Some(whole.map_or_else(|| number.to_string(), |whole| format!("{whole:.0}")))
        }
        _ => Some(value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_number_may_be_written_as_text() {
        assert!(number(&json!("NaN")).is_some_and(f64::is_nan));
        assert_eq!(number(&json!("-Infinity")), Some(f64::NEG_INFINITY));
        assert_eq!(number(&json!("0.5")), Some(0.5));
        assert_eq!(number(&Value::Null), None);
        assert_eq!(number(&json!("fast")), None);
    }

    #[test]
    fn a_setting_reads_the_same_however_its_number_was_written() {
        assert_eq!(text(&json!(16.0)).as_deref(), Some("16"));
        assert_eq!(text(&json!(16)).as_deref(), Some("16"));
        assert_eq!(text(&json!("16")).as_deref(), Some("16"));
        assert_eq!(text(&json!(0.9)).as_deref(), Some("0.9"));
        assert_eq!(text(&json!(true)).as_deref(), Some("true"));
        assert_eq!(text(&Value::Null), None);
    }
}
