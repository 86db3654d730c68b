//! Whether fresh processes repeat a change that is about to be flagged.
//!
//! The comparison has already spent the family's level. The confirmation guards against what no level covers: a state
//! of the machine that lasted for the whole comparison. So it is a test of its own, of each candidate by itself, at the
//! family's level: the chance that noise alone repeats one in the same direction is half of that level a look. They do
//! not share it, because what noise may flag was bounded before, and a stricter test would lose real changes that the
//! comparison could just show.

use crate::judge::assessment::{Assessment, Row};
use crate::judge::estimate::contrast;
use crate::judge::incidents::sentence;
use crate::plan::MIN_ROUNDS;

/// Part of the first change that fresh processes must show at least. Chosen: a chance pick is larger than the truth,
/// but not twofold; and with very quiet rows +0.2 % can be real without repeating +3 %.
const AT_LEAST: f64 = 0.5;

/// What fresh processes say about one candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum Confirmation {
    /// They show it too: `ln(head / base)`.
    Repeated(f64),
    /// They do not: `ln(head / base)`.
    NotRepeated {
        /// What they show, `ln(head / base)`.
        log: f64,
        /// Half the width of its interval.
        half_width: f64,
        /// Whether they exclude half of the first change, so that more of them would not repeat it.
        refuted: bool,
    },
    /// It was not asked for, or its processes failed: the flag stands without it. The reason, a sentence.
    Impossible(String),
    /// It was asked for and has not taken place (yet).
    Pending,
}

/// Looks at the confirmation rounds of a candidate.
#[must_use]
pub fn confirm(assessment: &Assessment<'_>, row: &Row<'_>) -> Confirmation {
    let rounds = &row.comparison.confirmed;
    let first = row
        .decided
        .as_ref()
        .map_or(0.0, |decided| decided.decision.log_change);
    if rounds.len() >= MIN_ROUNDS as usize
        && let Some(change) = contrast(rounds).map(|contrast| contrast.change)
        && let Some(half_width) = change.half_width(assessment.policy.family_alpha)
    {
        let log = change.value;
        // In the direction of the first change.
        let again = log * first.signum();
        let enough = AT_LEAST * first.abs();
        return if again > half_width && again >= enough {
            Confirmation::Repeated(log)
        } else {
            Confirmation::NotRepeated {
                log,
                half_width,
                refuted: again + half_width < enough,
            }
        };
    }
    let measuring = &assessment.recording.header.plan.measuring;
    if !measuring.confirm {
        let why = if measuring.elsewhere {
            "it was measured elsewhere"
        } else {
            "the confirmation is switched off"
        };
        return Confirmation::Impossible(format!("not repeated: {why}"));
    }
    match assessment.incidents.failed_confirmation(row.position) {
        Some(incident) => Confirmation::Impossible(format!(
            "warning: not repeated, the confirmation failed: {}",
            sentence(incident)
        )),
        None => Confirmation::Pending,
    }
}
