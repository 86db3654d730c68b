//! How far measuring has come, in words.

use crate::measure::{Stage, Status};
use crate::recording::Phase;
use crate::report::format::seconds;

/// `round 12, 31 of 57 decided, 3 min 10 s left`
pub(super) fn words(status: &Status) -> String {
    let stage = match status.stage {
        Stage::Measuring { phase, round } => match phase {
            Phase::Warmup => "warming up".to_owned(),
            Phase::Measure => format!("round {}", round + 1),
            Phase::Confirm => format!("confirming, round {}", round + 1),
            Phase::Relaid => format!("in other layouts, round {}", round + 1),
        },
        Stage::Counting { done, of } => format!("counting instructions, {done} of {of}"),
        Stage::Linking => "linking in other orders".to_owned(),
    };
    let decided = format!("{} of {} decided", status.decided, status.scenarios);
    let left = status
        .budget_s
        .map(|budget_s| format!(", at most {} left", seconds((budget_s - status.spent_s).max(0.0))));
    format!("{stage}, {decided}{}", left.unwrap_or_default())
}
