//! What a file says about its tensors: names and typed values.

use super::error::short;
use std::collections::BTreeMap;

/// A value. Widths are those of the widest of a kind, which hold every narrower number exactly.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// GGUF's `u8`, `u16`, `u32`, `u64`.
    Unsigned(u64),
    /// GGUF's `i8`, `i16`, `i32`, `i64`.
    Signed(i64),
    /// GGUF's `f32`, `f64`; may be infinite or NaN.
    Float(f64),
    /// False or true.
    Flag(bool),
    /// UTF-8; the only kind that safetensors has.
    Text(String),
    /// Several values of one kind.
    List(List),
}

/// Values of one kind, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub enum List {
    /// As [`Value::Unsigned`].
    Unsigned(Vec<u64>),
    /// As [`Value::Signed`].
    Signed(Vec<i64>),
    /// As [`Value::Float`].
    Float(Vec<f64>),
    /// As [`Value::Flag`].
    Flag(Vec<bool>),
    /// As [`Value::Text`].
    Text(Vec<String>),
    /// Lists, each of a kind of its own.
    List(Vec<Self>),
}

impl Value {
    /// What it is, in words.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Unsigned(_) => "a number without sign",
            Self::Signed(_) => "a number with sign",
            Self::Float(_) => "a floating-point number",
            Self::Flag(_) => "a truth value",
            Self::Text(_) => "text",
            Self::List(List::Unsigned(_)) => "a list of numbers without sign",
            Self::List(List::Signed(_)) => "a list of numbers with sign",
            Self::List(List::Float(_)) => "a list of floating-point numbers",
            Self::List(List::Flag(_)) => "a list of truth values",
            Self::List(List::Text(_)) => "a list of texts",
            Self::List(List::List(_)) => "a list of lists",
        }
    }
}

/// A value of another kind than the one that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("metadata {key:?} is {found}, and must be {wanted}; the model is of a kind that is not known here")]
pub struct KindError {
    /// The key, cut short where it is long.
    pub key: String,
    /// What was asked for.
    pub wanted: &'static str,
    /// What the file has.
    pub found: &'static str,
}

/// Values by their keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metadata(BTreeMap<String, Value>);

impl Metadata {
    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Keys and values, by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// A whole number that is not negative; `None` if the key is not there.
    ///
    /// # Errors
    /// If the value is something else.
    pub fn unsigned(&self, key: &str) -> Result<Option<u64>, KindError> {
        self.typed(key, "a whole number, not negative", |value| match value {
            Value::Unsigned(number) => Some(*number),
            // Converters differ in which of the two they write.
            Value::Signed(number) => u64::try_from(*number).ok(),
            _ => None,
        })
    }

    /// A floating-point number; `None` if the key is not there.
    ///
    /// # Errors
    /// If the value is something else.
    pub fn float(&self, key: &str) -> Result<Option<f64>, KindError> {
        self.typed(key, "a floating-point number", |value| match value {
            Value::Float(number) => Some(*number),
            _ => None,
        })
    }

    /// A truth value; `None` if the key is not there.
    ///
    /// # Errors
    /// If the value is something else.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, KindError> {
        self.typed(key, "a truth value", |value| match value {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        })
    }

    /// A text; `None` if the key is not there.
    ///
    /// # Errors
    /// If the value is something else.
    pub fn text(&self, key: &str) -> Result<Option<&str>, KindError> {
        self.typed(key, "text", |value| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// A list of texts, such as a vocabulary; `None` if the key is not there.
    ///
    /// # Errors
    /// If the value is something else.
    pub fn texts(&self, key: &str) -> Result<Option<&[String]>, KindError> {
        self.typed(key, "a list of texts", |value| match value {
            Value::List(List::Text(texts)) => Some(texts.as_slice()),
            _ => None,
        })
    }

    fn typed<'a, T>(
        &'a self,
        key: &str,
        wanted: &'static str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, KindError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        match read(value) {
            Some(read) => Ok(Some(read)),
            None => Err(KindError {
                key: short(key),
                wanted,
                found: value.kind(),
            }),
        }
    }

    /// Adds a value; `false`, and nothing is changed, if the key is there already.
    pub(super) fn add(&mut self, key: &str, value: Value) -> bool {
        if self.0.contains_key(key) {
            return false;
        }
        self.0.insert(key.to_owned(), value);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata() -> Metadata {
        let mut metadata = Metadata::default();
        assert!(metadata.add("blocks", Value::Unsigned(30)));
        assert!(metadata.add("heads", Value::Signed(9)));
        assert!(metadata.add("shift", Value::Signed(-1)));
        assert!(metadata.add("epsilon", Value::Float(1e-5)));
        assert!(metadata.add("tied", Value::Flag(true)));
        assert!(metadata.add("name", Value::Text("smol".into())));
        assert!(metadata.add("tokens", Value::List(List::Text(vec!["a".into()]))));
        metadata
    }

    #[test]
    fn values_are_read_as_what_they_are() {
        let metadata = metadata();
        assert_eq!(metadata.unsigned("blocks"), Ok(Some(30)));
        assert_eq!(metadata.unsigned("heads"), Ok(Some(9)));
        assert_eq!(metadata.float("epsilon"), Ok(Some(1e-5)));
        assert_eq!(metadata.flag("tied"), Ok(Some(true)));
        assert_eq!(metadata.text("name"), Ok(Some("smol")));
        assert_eq!(metadata.texts("tokens"), Ok(Some(&["a".to_owned()][..])));
        assert_eq!(metadata.iter().len(), 7);
    }

    #[test]
    fn a_missing_key_is_none_and_one_of_another_kind_an_error_that_says_which() {
        let metadata = metadata();
        assert_eq!(metadata.unsigned("rope"), Ok(None));
        assert_eq!(metadata.texts("rope"), Ok(None));
        let refused = metadata.unsigned("shift").unwrap_err();
        assert_eq!(
            refused.to_string(),
            "metadata \"shift\" is a number with sign, and must be a whole number, not negative; the model is of a \
             kind that is not known here"
        );
        assert!(metadata.float("blocks").is_err());
        assert!(metadata.text("tokens").is_err());
        assert!(metadata.texts("name").is_err());
        assert!(metadata.flag("heads").is_err());
    }

    #[test]
    fn a_key_keeps_its_first_value() {
        let mut metadata = metadata();
        assert!(!metadata.add("blocks", Value::Unsigned(31)));
        assert_eq!(metadata.unsigned("blocks"), Ok(Some(30)));
    }
}
