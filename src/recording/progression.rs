//! Iteration counts as they stand in the file.
//!
//! Criterion's counts form an arithmetic progression - `500, 1000, 1500, ...` in its linear mode, `3, 3, 3, ...` in its
//! flat one - so three numbers say as much as ten, and a recording is a third smaller and quicker to read. Counts that
//! form none are written as a list; both are read.

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// More samples than any bench takes; a file that claims more would only fill the memory.
const MOST: u64 = 1_000_000;

#[derive(Serialize, Deserialize)]
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

    fn counts(&self) -> Option<Vec<u64>> {
        let last = self
            .step
            .checked_mul(self.count.checked_sub(1)?)?
            .checked_add(self.first)?;
        let sound = self.count <= MOST && last < 1 << 53;
        sound.then(|| (0..self.count).map(|at| self.first + at * self.step).collect())
    }
}

pub(super) fn serialize<S: Serializer>(counts: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
    match Progression::of(counts) {
        Some(progression) => progression.serialize(serializer),
        None => counts.serialize(serializer),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    struct Counts;

    impl<'de> Visitor<'de> for Counts {
        type Value = Vec<u64>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of iteration counts, or `first`, `step` and `count`")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Vec<u64>, A::Error> {
            super::measured::exact_list(list)
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vec<u64>, A::Error> {
            let progression = Progression::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
            progression
                .counts()
                .ok_or_else(|| A::Error::custom("iteration counts beyond any bench"))
        }
    }

    deserializer.deserialize_any(Counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder(#[serde(with = "super")] Vec<u64>);

    fn text(counts: &[u64]) -> String {
        let text = serde_json::to_string(&Holder(counts.to_vec())).unwrap();
        assert_eq!(serde_json::from_str::<Holder>(&text).unwrap().0, counts);
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
        assert_eq!(serde_json::from_str::<Holder>("[1,2,3]").unwrap().0, [1, 2, 3]);
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
            assert!(serde_json::from_str::<Holder>(text).is_err(), "{text}");
        }
    }
}
