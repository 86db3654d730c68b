//! A reading of a program that is kept, as people choose it.

use crate::metric::{Better, Unit};
use serde::{Deserialize, Serialize};

/// A reading that is kept, by its id. People write the id alone, or a table with these keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Chosen {
    /// Its id.
    pub id: String,
    /// Which direction is good; absent: what its format says.
    pub better: Option<Better>,
    /// The unit that it is expected in; in another one it is not what was meant. Absent: whichever it is.
    pub unit: Option<Unit>,
}

#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "write the id of a reading, or like { id = \"replays\", better = \"higher\", unit = \"count\" }: better \
                 is lower or higher, unit is ns, count, bytes or per_s"
)]
enum Written {
    Id(String),
    Table(Table),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    better: Option<Better>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unit: Option<Unit>,
}

impl From<Written> for Chosen {
    fn from(written: Written) -> Self {
        match written {
            Written::Id(id) => Self {
                id,
                better: None,
                unit: None,
            },
            Written::Table(Table { id, better, unit }) => Self { id, better, unit },
        }
    }
}

impl From<Chosen> for Written {
    fn from(Chosen { id, better, unit }: Chosen) -> Self {
        match (better, unit) {
            (None, None) => Self::Id(id),
            _ => Self::Table(Table { id, better, unit }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_written_as_it_was_read() {
        for written in [
            r#""time""#,
            r#"{"id":"replays","better":"higher","unit":"count"}"#,
        ] {
            let chosen: Chosen = serde_json::from_str(written).unwrap();
            assert_eq!(serde_json::to_string(&chosen).unwrap(), written);
        }
        let strange = serde_json::from_str::<Chosen>(r#"{"id":"x","unit":"furlongs"}"#);
        let said = strange.unwrap_err().to_string();
        assert!(said.contains("unit is ns, count, bytes or per_s"), "{said}");
    }
}
