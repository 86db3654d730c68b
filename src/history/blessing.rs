//! A change that somebody accepted, with the reason: it stays visible and fails nothing.

use serde::{Deserialize, Serialize};

/// Name and version of the format.
pub const SCHEMA: &str = "abreast/blessing/1";

/// Folder of the blessings in the history's folder.
pub const FOLDER: &str = "blessings";

/// What a commit was accepted for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blessing {
    /// Full id of the commit.
    pub commit: String,
    /// Why its changes are accepted; hostile where others may write the history.
    pub reason: String,
    /// Only scenarios whose id matches this regular expression; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// When, RFC 3339, UTC.
    pub blessed_at: String,
}

/// The file of one commit's blessings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct File {
    schema: String,
    blessings: Vec<Blessing>,
}

/// Why a file of blessings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlessingError {
    /// No JSON, or other keys.
    #[error("is damaged or cut off ({0}); it was left as it is")]
    Damaged(String),
    /// Another version.
    #[error("has the schema `{0}`, and this version of abreast reads `{SCHEMA}`; it was left as it is")]
    Schema(String),
    /// No reason is no acceptance.
    #[error("a blessing needs a reason: add --reason \"...\"")]
    NoReason,
    /// The scenarios cannot be chosen.
    #[error("`{0}` is not a regular expression")]
    Scenario(String),
}

/// Where the blessings of a commit are, relative to the history's folder.
#[must_use]
pub fn path_of(commit: &str) -> String {
    format!("{FOLDER}/{commit}.json")
}

/// Reads what is at `path`; `None` if the name is not that of a file of blessings.
///
/// # Errors
/// [`BlessingError`] if it cannot be understood.
#[must_use]
pub fn at(path: &str, bytes: &[u8]) -> Option<Result<Vec<Blessing>, BlessingError>> {
    let name = path.strip_prefix(FOLDER)?.strip_prefix('/')?;
    name.ends_with(".json")
        .then(|| parse(bytes).map(|file| file.blessings))
}

fn parse(bytes: &[u8]) -> Result<File, BlessingError> {
    let file: File =
        serde_json::from_slice(bytes).map_err(|error| BlessingError::Damaged(error.to_string()))?;
    if file.schema == SCHEMA {
        Ok(file)
    } else {
        Err(BlessingError::Schema(file.schema))
    }
}

/// What the file holds once the blessing is in it.
///
/// # Errors
/// [`BlessingError`] if it has no reason or names no scenarios, or what is there cannot be understood.
pub fn append(old: Option<&[u8]>, blessing: &Blessing) -> Result<Vec<u8>, BlessingError> {
    if blessing.reason.trim().is_empty() {
        return Err(BlessingError::NoReason);
    }
    if let Some(pattern) = blessing
        .scenario
        .as_ref()
        .filter(|pattern| regex::Regex::new(pattern).is_err())
    {
        return Err(BlessingError::Scenario(pattern.clone()));
    }
    let mut file = match old {
        Some(old) => parse(old)?,
        None => File {
            schema: SCHEMA.to_owned(),
            blessings: Vec::new(),
        },
    };
    if !file.blessings.contains(blessing) {
        file.blessings.push(blessing.clone());
    }
    // Plain data with text keys has no way to fail.
    let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
    text.push('\n');
    Ok(text.into_bytes())
}

impl Blessing {
    /// Whether it is about this scenario. A pattern that is none is about nothing.
    #[must_use]
    pub fn is_about(&self, id: &str) -> bool {
        match &self.scenario {
            None => true,
            Some(pattern) => regex::Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blessing(reason: &str, scenario: Option<&str>) -> Blessing {
        Blessing {
            commit: "a".repeat(40),
            reason: reason.to_owned(),
            scenario: scenario.map(str::to_owned),
            blessed_at: "2026-01-02T03:04:05Z".to_owned(),
        }
    }

    #[test]
    fn a_blessing_has_a_reason_and_is_kept_beside_those_before() {
        let (one, two) = (
            blessing("checks bounds now", None),
            blessing("exact sums", Some("^sum/")),
        );
        let first = append(None, &one).unwrap();
        let both = append(Some(&first), &two).unwrap();
        assert_eq!(append(Some(&both), &one).unwrap(), both);
        assert_eq!(at(&path_of(&one.commit), &both), Some(Ok(vec![one, two.clone()])));
        assert!(two.is_about("sum/f32") && !two.is_about("add/f32"));
        assert_eq!(append(None, &blessing(" ", None)), Err(BlessingError::NoReason));
        assert_eq!(
            append(None, &blessing("x", Some("("))),
            Err(BlessingError::Scenario("(".to_owned()))
        );
        assert_eq!(at("class/x.json", &both), None);
    }

    #[test]
    fn a_damaged_or_foreign_file_is_not_written_over() {
        for (text, expected) in [
            ("{\"schema\":\"abreast/bless", "is damaged or cut off"),
            (
                "{\"schema\":\"abreast/blessing/2\",\"blessings\":[]}",
                "has the schema `abreast/blessing/2`",
            ),
        ] {
            let error = append(Some(text.as_bytes()), &blessing("x", None)).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
