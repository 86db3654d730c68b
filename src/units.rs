//! Numbers with their unit, and how people write them.
//!
//! Types, parsing, and the plural; how a measured number is written is the business of `report::format`.

use serde::{Deserialize, Serialize};
use std::str::FromStr;
use std::time::Duration;

/// A relative size as a fraction: `0.02` is 2 %. Finite, `>= 0`.
///
/// People write it with a percent sign (`2%`, `0.5 %`); a bare number is refused because `2` and `0.02`
/// would otherwise differ by a factor of one hundred without anybody noticing.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fraction(pub f64);

/// A duration above zero; people write it like `10m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(pub Duration);

/// Why a text is not a number with a unit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// The percent sign is missing or the number before it is not one.
    #[error("`{0}` is not a percentage: write it like `2%` or `0.5%`, at least 0 %")]
    Percent(String),
    /// Not a positive duration.
    #[error("`{0}` is not a duration above zero: write it like `90s`, `10m` or `1h 30m`")]
    Duration(String),
}

impl FromStr for Fraction {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || UnitError::Percent(text.to_owned());
        let number = text.trim().strip_suffix('%').ok_or_else(wrong)?;
        let percent: f64 = number.trim().parse().map_err(|_| wrong())?;
        if percent.is_finite() && percent >= 0.0 {
            Ok(Self(percent / 100.0))
        } else {
            Err(wrong())
        }
    }
}

impl FromStr for Span {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_duration(text).map(Self)
    }
}

impl TryFrom<String> for Span {
    type Error = UnitError;

    fn try_from(text: String) -> Result<Self, UnitError> {
        text.parse()
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        format!("{}s", span.0.as_secs_f64())
    }
}

/// Parses `90s`, `10m`, `1h 30m` into a duration above zero.
///
/// # Errors
/// [`UnitError::Duration`] for anything else, zero and negative durations included.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let wrong = || UnitError::Duration(text.to_owned());
    let signed: jiff::SignedDuration = text.trim().parse().map_err(|_| wrong())?;
    let duration = Duration::try_from(signed).map_err(|_| wrong())?;
    if duration.is_zero() {
        Err(wrong())
    } else {
        Ok(duration)
    }
}

/// A number of things: `1 row`, `2 rows`, `0 rows`. For nouns whose plural ends in s.
#[must_use]
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_needs_its_sign() {
        assert_eq!("2%".parse(), Ok(Fraction(0.02)));
        assert_eq!(" 0.5 % ".parse(), Ok(Fraction(0.005)));
        for wrong in ["2", "0.02", "two%", "-1%", "NaN%", "inf%", "%", ""] {
            assert_eq!(
                wrong.parse::<Fraction>(),
                Err(UnitError::Percent(wrong.to_owned()))
            );
        }
    }

    #[test]
    fn a_duration_is_above_zero() {
        assert_eq!(parse_duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(parse_duration("1h 30m"), Ok(Duration::from_secs(5400)));
        for wrong in ["0s", "-1s", "10", "soon", ""] {
            assert_eq!(parse_duration(wrong), Err(UnitError::Duration(wrong.to_owned())));
        }
    }

    #[test]
    fn a_span_that_was_written_is_read_again() {
        for text in ["90s", "1h 30m", "1.5s", "250ms"] {
            let span: Span = text.parse().unwrap();
            assert_eq!(String::from(span).parse(), Ok(span), "{text}");
        }
    }

    #[test]
    fn one_row_is_singular() {
        assert_eq!(
            [0, 1, 2].map(|number| count(number, "row")),
            ["0 rows", "1 row", "2 rows"]
        );
    }
}
