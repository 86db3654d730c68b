//! Whether fresh processes repeat a change that is about to be flagged.
//!
//! The comparison has already spent the family's level. The confirmation guards against what no level covers: a state
//! of the machine that lasted for the whole comparison. So it is a test of its own, of each candidate by itself, at the
//! family's level: the chance that noise alone repeats one in the same direction is half of that level a look. They do
//! not share it, because what noise may flag was bounded before, and a stricter test would lose real changes that the
//! comparison could just show.

use crate::comparison::Pair;
use crate::judge::assessment::{Assessment, Row, Until};
use crate::judge::estimate::contrast;
use crate::judge::incidents::sentence;
use crate::plan::MIN_ROUNDS;

/// Rounds after which a confirmation is looked at. The first look that can tell is final, as in the comparison; it is
/// looked at again after as many as there are when all measuring has ended.
pub const LOOKS: [u32; 3] = [16, 32, 64];

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

impl Confirmation {
    /// Whether more fresh processes would change nothing of it.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        !matches!(self, Self::Pending | Self::NotRepeated { refuted: false, .. })
    }
}

/// Looks at the confirmation rounds of a candidate: at the planned numbers of them and, at the end, at all.
#[must_use]
pub fn confirm(assessment: &Assessment<'_>, row: &Row<'_>, until: Until) -> Confirmation {
    let rounds = &row.comparison.confirmed;
    let first = row
        .decided
        .as_ref()
        .map_or(0.0, |decided| decided.decision.log_change);
    let planned = LOOKS.map(|rounds| rounds as usize);
    let at_the_end = (until == Until::TheEnd).then_some(rounds.len());
    let looks = planned.into_iter().filter(|look| *look <= rounds.len());
    let mut last = None;
    for look in looks.chain(at_the_end) {
        last = look_at(&rounds[..look], first, assessment.policy.family_alpha).or(last);
        if last.as_ref().is_some_and(Confirmation::is_settled) {
            break;
        }
    }
    if let Some(seen) = last {
        return seen;
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

/// What these rounds say of a first change; absent with too few of them.
fn look_at(rounds: &[Pair], first: f64, alpha: f64) -> Option<Confirmation> {
    if rounds.len() < MIN_ROUNDS as usize {
        return None;
    }
    let change = contrast(rounds)?.change;
    let half_width = change.half_width(alpha)?;
    let log = change.value;
    // In the direction of the first change.
    let again = log * first.signum();
    let enough = AT_LEAST * first.abs();
    Some(if again > half_width && again >= enough {
        Confirmation::Repeated(log)
    } else {
        Confirmation::NotRepeated {
            log,
            half_width,
            refuted: again + half_width < enough,
        }
    })
}
