//! Whether fresh processes repeat a change that is about to be flagged.
//!
//! The comparison has already spent the family's level. The confirmation guards against what no level covers: a state
//! of the machine or a placement of code that lasted for the whole comparison. So it is a test of its own, of the rows
//! that were picked, at the family's level shared by them: the chance that noise alone repeats any of them in the same
//! direction is at most half of that level.

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
    NotRepeated(f64),
    /// It was not asked for, or its processes failed: the flag stands without it. The reason, a sentence.
    Impossible(String),
    /// It was asked for and has not taken place (yet).
    Pending,
}

/// Looks at the confirmation rounds of a candidate, one of `candidates` (at least 1).
#[must_use]
pub fn confirm(assessment: &Assessment<'_>, row: &Row<'_>, candidates: usize) -> Confirmation {
    let rounds = &row.comparison.confirmed;
    let first = row
        .decided
        .as_ref()
        .map_or(0.0, |decided| decided.decision.log_change);
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 scenarios")]
    let alpha = assessment.policy.family_alpha / candidates.max(1) as f64;
    if rounds.len() >= MIN_ROUNDS as usize
        && let Some(change) = contrast(rounds).map(|contrast| contrast.change)
        && let Some(half_width) = change.half_width(alpha)
    {
        let again = change.value;
        let same_way = again.signum() * first.signum() > 0.0;
        return if same_way && again.abs() > half_width && again.abs() >= AT_LEAST * first.abs() {
            Confirmation::Repeated(again)
        } else {
            Confirmation::NotRepeated(again)
        };
    }
    if !assessment.recording.header.plan.measuring.confirm {
        return Confirmation::Impossible("not repeated: the confirmation is switched off".to_owned());
    }
    match assessment.incidents.failed_confirmation(row.position) {
        Some(incident) => Confirmation::Impossible(format!(
            "warning: not repeated, the confirmation failed: {}",
            sentence(incident)
        )),
        None => Confirmation::Pending,
    }
}
