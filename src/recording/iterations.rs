//! Iteration counts of a slot's samples.
//!
//! Criterion's counts form an arithmetic progression - `500, 1000, 1500, ...` in its linear mode, `3, 3, 3, ...` in its
//! flat one - so three numbers say as much as ten, and a recording is a third smaller and quicker to read. Counts that
//! form none are kept and written as a list; both are read.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// More samples than any bench takes; a file that claims more would only fill the memory.
const MOST: u64 = 1_000_000;

/// How often each sample of a slot repeated the routine, in measured order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Iterations(Counts);

/// Always the shorter form, so that equal counts are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Counts {
    Progression(Progression),
    List(Vec<u64>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Progression {
    first: u64,
    step: u64,
    count: u64,
}

impl Progression {
    fn of(counts: &[u64]) -> Option<Self> {
        let [first, second, _, ..] = counts else {
            return None;
        };
        let step = second.checked_sub(*first)?;
        let even = counts
            .windows(2)
            .all(|pair| pair[1].checked_sub(pair[0]) == Some(step));
        even.then_some(Self {
            first: *first,
            step,
            count: counts.len() as u64,
        })
    }

    /// Whether its counts are those of a bench: some, and all exact as numbers of any program.
    fn is_sound(&self) -> bool {
        let steps = self.count.checked_sub(1);
        let last = steps
            .and_then(|steps| self.step.checked_mul(steps))
            .and_then(|sum| sum.checked_add(self.first));
        self.count <= MOST && last.is_some_and(|last| last < 1 << 53)
    }
}

impl Iterations {
    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Counts::Progression(progression) => usize::try_from(progression.count).unwrap_or(usize::MAX),
            Counts::List(counts) => counts.len(),
        }
    }

    /// Whether there is no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The counts, in measured order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let (progression, list): (Option<Progression>, &[u64]) = match &self.0 {
            Counts::Progression(progression) => (Some(*progression), &[]),
            Counts::List(counts) => (None, counts),
        };
        let even = progression
            .into_iter()
            .flat_map(|of| (0..of.count).map(move |at| of.first + at * of.step));
        even.chain(list.iter().copied())
    }
}

impl From<Vec<u64>> for Iterations {
    fn from(counts: Vec<u64>) -> Self {
        Self(match Progression::of(&counts) {
            Some(progression) => Counts::Progression(progression),
            None => Counts::List(counts),
        })
    }
}

impl Serialize for Iterations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Counts::Progression(progression) => progression.serialize(serializer),
            Counts::List(counts) => counts.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Iterations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Iterations;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of iteration counts, or `first`, `step` and `count`")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Iterations, A::Error> {
                super::measured::exact_list(list).map(|counts: Vec<u64>| counts.into())
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Iterations, A::Error> {
                let progression = Progression::deserialize(MapAccessDeserializer::new(map))?;
                if progression.is_sound() {
                    Ok(Iterations(Counts::Progression(progression)))
                } else {
                    Err(A::Error::custom("iteration counts beyond any bench"))
                }
            }
        }

        deserializer.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(counts: &[u64]) -> String {
        let iterations = Iterations::from(counts.to_vec());
        assert_eq!(iterations.iter().collect::<Vec<u64>>(), counts);
        assert_eq!(iterations.len(), counts.len());
        let text = serde_json::to_string(&iterations).unwrap();
        assert_eq!(serde_json::from_str::<Iterations>(&text).unwrap(), iterations);
        text
    }

    #[test]
    fn progressions_are_written_as_three_numbers_and_anything_else_as_a_list() {
        assert_eq!(text(&[500, 1000, 1500]), r#"{"first":500,"step":500,"count":3}"#);
        assert_eq!(text(&[3, 3, 3, 3]), r#"{"first":3,"step":0,"count":4}"#);
        assert_eq!(text(&[1, 2, 4]), "[1,2,4]");
        assert_eq!(text(&[3, 2, 1]), "[3,2,1]");
        assert_eq!(text(&[7, 7]), "[7,7]");
        assert_eq!(text(&[]), "[]");
    }

    #[test]
    fn a_list_of_a_progression_is_read_too() {
        let list: Iterations = serde_json::from_str("[1,2,3]").unwrap();
        assert_eq!(list, vec![1, 2, 3].into());
    }

    #[test]
    fn a_file_cannot_claim_more_than_fits() {
        for text in [
            r#"{"first":1,"step":0,"count":18446744073709551615}"#,
            r#"{"first":1,"step":18446744073709551615,"count":3}"#,
            r#"{"first":18446744073709551615,"step":1,"count":2}"#,
            r#"{"first":1,"step":1,"count":0}"#,
            r#"{"first":1,"step":1}"#,
            r#"{"first":-1,"step":1,"count":2}"#,
            "3",
        ] {
            assert!(serde_json::from_str::<Iterations>(text).is_err(), "{text}");
        }
    }
}
