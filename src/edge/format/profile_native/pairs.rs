//! `name=value` in lines for people, and numbers with their units.

use super::super::FormatError;
use super::super::tally::quoted;

/// `a=1 ms b=x y` is `a` with `1 ms` and `b` with `x y`: a value goes on up to the next word that has a name and `=`.
pub(super) fn pairs(text: &str) -> Vec<(&str, &str)> {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    let mut value_from = 0;
    let mut at = 0;
    for word in text.split(' ') {
        let end = at + word.len();
        match word.split_once('=') {
            Some((name, value)) if is_name(name) => {
                value_from = at + name.len() + 1;
                pairs.push((name, value));
            }
            None if word.is_empty() => {}
            _ => {
                if let Some((_, value)) = pairs.last_mut() {
                    *value = text.get(value_from..end).unwrap_or_default();
                }
            }
        }
        at = end + 1;
    }
    pairs
}

/// What is under a name, the first time it comes.
pub(super) fn value<'a>(pairs: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    pairs
        .iter()
        .find(|(key, _)| *key == name)
        .map(|(_, value)| *value)
}

/// The number under a name, absent if it is not there; and as [`in_unit`] says.
pub(super) fn quantity(
    pairs: &[(&str, &str)],
    name: &str,
    unit: &'static str,
) -> Result<Option<f64>, FormatError> {
    value(pairs, name).map_or(Ok(None), |text| in_unit(name, text, unit))
}

/// `4.021 ms` as 4.021, absent if that is no number.
///
/// # Errors
/// [`FormatError::UnknownUnit`] for any other unit, and for none.
pub(super) fn in_unit(of: &str, text: &str, unit: &'static str) -> Result<Option<f64>, FormatError> {
    let (number, found) = text.split_once(' ').unwrap_or((text, ""));
    if found == unit {
        Ok(number.parse().ok())
    } else {
        Err(FormatError::UnknownUnit {
            of: of.to_owned(),
            unit: quoted(found),
            known: unit,
        })
    }
}

/// Whether a word could be the name of something: letters, digits and `_`.
pub(super) fn is_name(word: &str) -> bool {
    !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_goes_on_to_the_next_name() {
        assert_eq!(
            pairs("a run: model=my models/x=1.gguf ids=[1, 2] ms=4.0 ms  none="),
            [
                ("model", "my models/x=1.gguf"),
                ("ids", "[1, 2]"),
                ("ms", "4.0 ms"),
                ("none", ""),
            ]
        );
        assert!(pairs("nothing here, = at all").is_empty());
        assert!(pairs("").is_empty());
    }

    #[test]
    fn a_number_has_the_unit_that_is_known() {
        let told = pairs("a=4.5 ms b=4.5 s c=x ms d=4.5");
        assert_eq!(quantity(&told, "a", "ms").unwrap(), Some(4.5));
        assert_eq!(quantity(&told, "c", "ms").unwrap(), None);
        assert_eq!(quantity(&told, "e", "ms").unwrap(), None);
        for (name, unit) in [("b", "s"), ("d", "")] {
            assert_eq!(
                quantity(&told, name, "ms"),
                Err(FormatError::UnknownUnit {
                    of: name.to_owned(),
                    unit: unit.to_owned(),
                    known: "ms",
                })
            );
        }
    }
}
