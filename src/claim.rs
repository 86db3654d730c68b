//! What somebody says a change is: `qwen3-0.6b/ms_per_token=-4.0%`.

use serde::Deserialize;
use std::str::FromStr;

/// A claim about one row.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Claim {
    /// What the row is called: its id, or its id behind its target, or behind its package and target.
    pub row: String,
    /// Head relative to base, minus one; finite, above -1.
    pub change: f64,
}

/// A text that is no claim.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a claim: write a row and its change in percent, like `qwen3-0.6b/ms_per_token=-4.0%`")]
pub struct ClaimError(String);

impl FromStr for Claim {
    type Err = ClaimError;

    fn from_str(text: &str) -> Result<Self, ClaimError> {
        let parsed = text.rsplit_once('=').and_then(|(row, change)| {
            let percent: f64 = change.trim().strip_suffix('%')?.trim_end().parse().ok()?;
            let is_change = percent.is_finite() && percent > -100.0;
            (is_change && !row.trim().is_empty()).then(|| Self {
                row: row.trim().to_owned(),
                change: percent / 100.0,
            })
        });
        parsed.ok_or_else(|| ClaimError(text.to_owned()))
    }
}

impl TryFrom<String> for Claim {
    type Error = ClaimError;

    fn try_from(text: String) -> Result<Self, ClaimError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_a_row_and_a_change_with_its_sign() {
        let claim: Claim = "q/ms_per_token=-4.0%".parse().unwrap();
        assert_eq!(claim.row, "q/ms_per_token");
        assert!((claim.change + 0.04).abs() < 1e-12);
        let claim: Claim = "size=8/add = +2 %".parse().unwrap();
        assert_eq!(claim.row, "size=8/add");
        for wrong in ["", "a", "a=", "a=2", "=2%", "a=-100%", "a=NaN%", "a=inf%"] {
            assert_eq!(wrong.parse::<Claim>(), Err(ClaimError(wrong.to_owned())));
        }
    }
}
