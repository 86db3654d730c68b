//! The resolved request: what is compared, how it is measured, by which rules it is judged.
//!
//! Everything here is meant, nothing is typed: words become these types in `cli` and `config`.

use crate::program::Program;
use crate::revision::Revision;
use crate::scenario::Target;
use crate::units::Fraction;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One comparison, completely specified. It is the head of every recording, so a run can be repeated from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What the change is measured against.
    pub base: Revision,
    /// The change.
    pub head: Revision,
    /// Which benches are built and run.
    pub selection: Selection,
    /// How they are measured.
    pub measuring: Measuring,
    /// How the numbers are judged.
    pub policy: Policy,
}

impl Plan {
    /// Seconds that one scenario of a bench may take in one slot, or a launch of a program: so many that the whole budget
    /// would just hold the smallest number of rounds of it alone, within limits for very small and very large budgets.
    #[must_use]
    pub fn limit_s(&self, target: &Target) -> f64 {
        let own = self.selection.program(target).and_then(|program| program.timeout);
        if let Some(own) = own {
            return own.0.as_secs_f64();
        }
        let derived = self
            .measuring
            .budget_s
            .map_or(300.0, |budget_s| budget_s / f64::from(2 * MIN_ROUNDS));
        self.measuring.timeout_s.unwrap_or(derived.clamp(10.0, 300.0))
    }
}

/// Which packages, bench targets and ids take part, and how they are compiled. Empty lists mean "all".
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// Folder of the workspace or package, relative to the root of the repository; empty: the root itself.
    pub folder: String,
    /// Cargo packages; empty: every workspace member that has bench targets.
    pub packages: Vec<String>,
    /// Bench target names; empty: all of them.
    pub benches: Vec<String>,
    /// Only ids that match this regular expression.
    pub filter: Option<String>,
    /// Cargo features to enable.
    pub features: Vec<String>,
    /// `--all-features`.
    pub all_features: bool,
    /// `--no-default-features`.
    pub no_default_features: bool,
    /// Cargo profile; `None` is cargo's `bench`.
    pub profile: Option<String>,
    /// Rustup toolchain name for both sides; `None` lets each side's toolchain file decide.
    pub toolchain: Option<String>,
    /// Whose bench sources are compiled.
    pub harness: Harness,
    /// Globs of tracked files, outside of bench folders, that benches read as they run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run_files: Vec<String>,
    /// Programs that are built and measured besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<Program>,
}

impl Selection {
    /// What is asked of a program; absent for a bench target.
    #[must_use]
    pub fn program(&self, target: &Target) -> Option<&Program> {
        let mut programs = self.programs.iter().filter(|_| target.is_program());
        programs.find(|program| program.name == target.target)
    }
}

/// Whose bench sources measure which library.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Harness {
    /// Each side's own.
    #[default]
    Own,
    /// Head's bench sources on both sides.
    Head,
    /// Base's bench sources on both sides.
    Base,
}

/// How long and how often.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measuring {
    /// Measuring time that may be spent, in seconds, confirmation included; builds are not counted. `None`: no limit.
    pub budget_s: Option<f64>,
    /// Exactly this many rounds for every scenario (even, at least [`MIN_ROUNDS`]); `None`: as many as decisions need.
    pub rounds: Option<u32>,
    /// Seed of every random order.
    pub seed: u64,
    /// This runner's share of the scenarios.
    pub shard: Option<Shard>,
    /// Measure scenarios whose executables are identical, as a null.
    pub identical: bool,
    /// Repeat flagged rows with fresh processes before they count.
    pub confirm: bool,
    /// Of what was repeated, count the instructions and, where they explain nothing, measure other layouts.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub layout_check: bool,
    /// Also measure base with its code in other orders, which gives each row its layout floor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub relink_control: bool,
    /// Count the instructions of every scenario on both sides, a metric of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub instructions: bool,
    /// Others measured it, who knows in which order; nothing here was run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub elsewhere: bool,
    /// One scenario may take this long in one process before it is killed, in seconds; `None`: derived from the budget.
    pub timeout_s: Option<f64>,
}

impl Measuring {
    /// What holds where nothing is said: ten minutes, as many rounds as the decisions need, confirmation.
    #[must_use]
    pub fn with_seed(seed: u64) -> Self {
        Self {
            budget_s: Some(600.0),
            rounds: None,
            seed,
            shard: None,
            identical: false,
            confirm: true,
            layout_check: true,
            relink_control: false,
            instructions: false,
            elsewhere: false,
            timeout_s: None,
        }
    }
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_yes(value: &bool) -> bool {
    *value
}

/// Fewest rounds a verdict is based on: four pairs of rounds, so that each order of the sides has four members and
/// losing one observation still leaves a variance. Chosen; below it the corrected t quantile exceeds 20.
pub const MIN_ROUNDS: u32 = 8;

/// Part `index` of `count`, `index` counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Numbers")]
pub struct Shard {
    /// From 1 to `count`.
    pub index: u32,
    /// Number of parts, at least 1.
    pub count: u32,
}

impl Shard {
    /// Whether the `n`-th scenario (sorted by key, counted from 0) is measured by this shard.
    #[must_use]
    pub fn holds(self, n: usize) -> bool {
        n % self.count as usize == self.index as usize - 1
    }
}

/// A shard as it stands in a file, which may be anything.
#[derive(Deserialize)]
struct Numbers {
    index: u32,
    count: u32,
}

impl TryFrom<Numbers> for Shard {
    type Error = ShardError;

    fn try_from(numbers: Numbers) -> Result<Self, ShardError> {
        format!("{}/{}", numbers.index, numbers.count).parse()
    }
}

/// A shard that is not `i/n` with `1 <= i <= n`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a shard: write `i/n` with 1 <= i <= n, like `2/4`")]
pub struct ShardError(String);

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let parsed = text.split_once('/').and_then(|(index, count)| {
            Some(Self {
                index: index.trim().parse().ok()?,
                count: count.trim().parse().ok()?,
            })
        });
        match parsed {
            Some(shard) if shard.index >= 1 && shard.index <= shard.count => Ok(shard),
            _ => Err(ShardError(text.to_owned())),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// The limits a verdict is made with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// On unchanged code, the chance that any row of the whole report is flagged.
    pub family_alpha: f64,
    /// Smallest relative change that is flagged.
    pub threshold: Fraction,
    /// Largest relative change that an `unchanged` row may hide.
    pub margin: Fraction,
    /// From this relative change on a regression is an alert.
    pub alert: Fraction,
    /// Smallest change in nanoseconds that is flagged, for metrics in nanoseconds.
    pub floor_ns: f64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            family_alpha: 0.05,
            threshold: Fraction(0.02),
            margin: Fraction(0.05),
            alert: Fraction(0.10),
            floor_ns: 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_count_from_one_and_cover_everything_once() {
        let shards: Vec<Shard> = ["1/3", "2/3", "3/3"]
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
        for n in 0..20 {
            assert_eq!(shards.iter().filter(|shard| shard.holds(n)).count(), 1);
        }
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0", ""] {
            assert_eq!(wrong.parse::<Shard>(), Err(ShardError(wrong.to_owned())));
        }
        for wrong in [r#"{"index":0,"count":0}"#, r#"{"index":5,"count":2}"#] {
            assert!(serde_json::from_str::<Shard>(wrong).is_err(), "{wrong}");
        }
    }
}
