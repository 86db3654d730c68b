//! Values as people write them, on the command line and in the file.

use crate::plan::{Shard, ShardError};
use crate::units::{Fraction, UnitError};
use serde::Deserialize;
use std::str::FromStr;

/// A percentage as written: `2%`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Percent(pub Fraction);

/// A shard as written: `2/4`, or `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum ShardText {
    /// It.
    Given(Shard),
    /// The one that this job is of several equal ones.
    Auto,
}

macro_rules! written {
    ($type:ident, $error:ty, $parse:expr) => {
        impl FromStr for $type {
            type Err = $error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $parse(text).map(Self)
            }
        }

        impl TryFrom<String> for $type {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }
    };
}
written!(Percent, UnitError, Fraction::from_str);

impl FromStr for ShardText {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        if text == "auto" {
            Ok(Self::Auto)
        } else {
            text.parse().map(Self::Given)
        }
    }
}

impl TryFrom<String> for ShardText {
    type Error = ShardError;

    fn try_from(text: String) -> Result<Self, ShardError> {
        text.parse()
    }
}
