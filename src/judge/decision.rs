//! The rule from an estimate to a decision, for one scenario and one look.
//!
//! | excludes 0 | ≥ threshold | > floor | ≥ absolute floor | survives the clock | within ±margin | outcome |
//! |---|---|---|---|---|---|---|
//! | yes | yes | yes | yes | yes | any | candidate |
//! | yes | yes | yes | one of them no | | no | blocked: more rounds change nothing |
//! | any other | | | | a step hides nothing of the margin | yes | unchanged |
//! | all of these, but within the relink floor | | | | | no | open: the floor falls with more rounds |
//! | any other | | | | a step may hide the margin | yes | blocked |
//! | any other | | | | | no | open: more rounds may decide |
//!
//! Percent **and** absolute **and** above the floor, on raw values: nothing is rounded before it is compared. An
//! `unchanged` row never has an interval beyond the margin, also where the absolute floor would hide it.

use crate::comparison::{ClockStep, Comparison};
use crate::judge::estimate::Contrast;
use crate::judge::looks::next_look;
use crate::judge::wording;
use crate::metric::{Metric, Unit};
use crate::plan::Policy;
use crate::stats::interval::Estimate;
use crate::stats::student;

/// What one look says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A change, to be confirmed.
    Candidate,
    /// No change beyond the margin.
    Unchanged,
    /// Nothing can be said, and more rounds would not help.
    Blocked,
    /// Nothing can be said yet.
    Open,
}

/// A decided look with all numbers behind it. Sizes are fractions; finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Conclusion.
    pub outcome: Outcome,
    /// `ln(head / base)`.
    pub log_change: f64,
    /// Head relative to base, minus one.
    pub change: f64,
    /// Lower end of the corrected interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// See [`crate::report::Change::floor`].
    pub floor: f64,
    /// See [`crate::report::Change::detectable`].
    pub detectable: f64,
    /// Why a row is blocked or open, for the reader; empty otherwise.
    pub reasons: Vec<String>,
}

/// Everything a decision is made from.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The scenario's numbers.
    pub comparison: &'a Comparison,
    /// Its quantity.
    pub metric: &'a Metric,
    /// What this look sees.
    pub contrast: &'a Contrast,
    /// How much linking base in other orders changed it, log scale; absent without a relink control.
    pub layout_floor: Option<f64>,
    /// Two-sided level of this row at this look.
    pub alpha: f64,
    /// The limits.
    pub policy: &'a Policy,
}

/// Applies the table above. `None` if the estimate is not finite, which no recording that was read from a file causes.
#[must_use]
pub fn decide(question: Question<'_>) -> Option<Decision> {
    let Question {
        contrast,
        alpha,
        policy,
        ..
    } = question;
    let log_change = contrast.change.value;
    let half_width = contrast.change.half_width(alpha)?;
    let log_floor = contrast.floor()?;
    let limits = Limits::of(question);

    let decision = Decision {
        outcome: Outcome::Open,
        log_change,
        change: log_change.exp_m1(),
        low: (log_change - half_width).exp_m1(),
        high: (log_change + half_width).exp_m1(),
        floor: log_floor.exp_m1(),
        detectable: detectable(contrast, half_width, log_floor, limits.smallest_log())?,
        reasons: Vec::new(),
    };
    let numbers = [
        decision.change,
        decision.low,
        decision.high,
        decision.floor,
        decision.detectable,
    ];
    if !numbers.iter().all(|number| number.is_finite()) {
        return None;
    }
    let size = decision.change.abs();
    let significant = log_change.abs() > half_width;
    let relevant = significant && size >= policy.threshold.0 && log_change.abs() > log_floor;
    let absolute = size >= limits.floor;
    let survives = log_change.abs() - limits.clock >= policy.threshold.0.ln_1p() || limits.clock <= 0.0;
    let beyond_layout = limits.layout.is_none_or(|layout| log_change.abs() > layout);
    let within = decision.low >= -policy.margin.0 && decision.high <= policy.margin.0;

    let (outcome, reasons) = if relevant && absolute && survives && beyond_layout {
        (Outcome::Candidate, Vec::new())
    } else if within && limits.clock <= policy.margin.0 {
        (Outcome::Unchanged, Vec::new())
    } else if within || (relevant && !(absolute && survives)) {
        (Outcome::Blocked, limits.obstacles(question, size, absolute))
    } else if relevant {
        // The floor of few rounds is noise for the larger part, and falls with more of them.
        (Outcome::Open, vec![limits.layout_obstacle()])
    } else {
        let reason = open_reason(question, &decision, half_width, significant);
        (Outcome::Open, vec![reason])
    };
    Some(Decision {
        outcome,
        reasons,
        ..decision
    })
}

/// The smallest change that is flagged with probability 0.9, a fraction.
///
/// Fixed limits are passed if the estimate exceeds them: `fixed + t(0.9) SE`. The interval's half width `c SE` is an
/// estimate too and differs from run to run, so its reserve is larger by `sqrt(1 + c^2 / 2 freedom)`: the normal
/// approximation of the noncentral t (Johnson & Welch 1940, "Applications of the non-central t-distribution"). So does
/// the row's floor, which is the half width of another interval.
fn detectable(contrast: &Contrast, half_width: f64, log_floor: f64, fixed: f64) -> Option<f64> {
    let Estimate {
        standard_error,
        freedom,
        ..
    } = contrast.change;
    // Two-sided level 0.2 is the one-sided quantile 0.9.
    let reserve = student::two_sided(0.2, freedom)? * standard_error;
    let varying = |half_width: f64, standard_error: f64, freedom: f64| {
        let critical = if standard_error > 0.0 {
            half_width / standard_error
        } else {
            0.0
        };
        half_width + reserve * (1.0 + critical.powi(2) / (2.0 * freedom)).sqrt()
    };
    let of_interval = varying(half_width, standard_error, freedom);
    let of_floor = contrast.null.map_or(log_floor + reserve, |null| {
        varying(log_floor, null.standard_error, null.freedom)
    });
    Some(of_interval.max(of_floor).max(fixed + reserve).exp_m1())
}

/// What a change must reach whatever the noise.
struct Limits {
    /// Relative threshold, log scale.
    threshold: f64,
    /// Absolute floor relative to base, a fraction.
    floor: f64,
    /// How far off `ln(head / base)` may be because both clocks step; log scale, 0 without steps.
    clock: f64,
    /// What another order of the code does; log scale, absent if that was not measured.
    layout: Option<f64>,
}

impl Limits {
    fn of(question: Question<'_>) -> Self {
        let Question {
            comparison,
            metric,
            contrast,
            policy,
            ..
        } = question;
        let floor = match metric.unit {
            Unit::Ns => policy.floor_ns / contrast.base,
            Unit::Count | Unit::Bytes | Unit::PerSecond => 0.0,
        };
        // What is not a time is not read from a clock.
        let step = |step: Option<ClockStep>| match metric.unit {
            Unit::Ns => step.map_or(0.0, |step| step.fraction),
            Unit::Count | Unit::Bytes | Unit::PerSecond => 0.0,
        };
        Self {
            threshold: policy.threshold.0.ln_1p(),
            floor,
            clock: step(comparison.base.clock_step) + step(comparison.head.clock_step),
            layout: question.layout_floor,
        }
    }

    /// Smallest `ln(head / base)` that could be flagged without any noise.
    fn smallest_log(&self) -> f64 {
        (self.threshold + self.clock)
            .max(self.floor.ln_1p())
            .max(self.layout.unwrap_or(0.0))
    }

    fn layout_obstacle(&self) -> String {
        format!(
            "within the relink floor ({}): base changed that much when only the order of its code did",
            wording::size(self.layout.unwrap_or(0.0).exp_m1())
        )
    }

    /// Why a row is blocked; at least one sentence.
    fn obstacles(&self, question: Question<'_>, size: f64, absolute: bool) -> Vec<String> {
        let mut reasons = Vec::new();
        if !absolute {
            reasons.push(format!(
                "{} is below the absolute floor of {}",
                wording::nanoseconds(size * question.contrast.base),
                wording::nanoseconds(question.policy.floor_ns)
            ));
        }
        let sides = [
            question.comparison.base.clock_step,
            question.comparison.head.clock_step,
        ];
        let coarsest = sides
            .into_iter()
            .flatten()
            .max_by(|one, other| one.fraction.total_cmp(&other.fraction));
        if let Some(clock) = coarsest
            && (reasons.is_empty() || self.clock > self.threshold)
        {
            reasons.push(format!(
                "resolution too coarse: the clock steps by {}, {} of a sample",
                wording::nanoseconds(clock.step),
                wording::size(clock.fraction)
            ));
        }
        reasons
    }
}

/// Rounds beyond which a note stops counting: a hundred times the first look.
const MANY_ROUNDS: f64 = 1600.0;

/// What an open row needs.
fn open_reason(question: Question<'_>, decision: &Decision, half_width: f64, significant: bool) -> String {
    let Question { contrast, policy, .. } = question;
    let size = decision.change.abs();
    if significant && size < policy.threshold.0 && size > policy.margin.0 {
        return format!(
            "{} is below the threshold of {} and beyond the margin of {}",
            wording::signed(decision.change),
            wording::size(policy.threshold.0),
            wording::size(policy.margin.0)
        );
    }
    // Half widths shrink with the square root of the rounds. A row is decided once its interval fits between the
    // estimate and the margin, or between the estimate and zero, whichever comes first.
    let to_margin = policy.margin.0.ln_1p() - decision.log_change.abs();
    let to_zero = if size >= policy.threshold.0 {
        decision.log_change.abs()
    } else {
        0.0
    };
    let room = to_margin.max(to_zero);
    let rounds = f64::from(contrast.rounds) * (half_width / room).powi(2);
    if !(room > 0.0 && rounds <= MANY_ROUNDS) {
        return format!("too noisy for a {} margin", wording::size(policy.margin.0));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 <= rounds <= MANY_ROUNDS"
    )]
    let rounds = next_look((rounds.ceil() as u32).max(contrast.rounds + 1) - 1);
    let purpose = if to_zero > to_margin {
        "to be told from noise".to_owned()
    } else {
        format!("for a {} margin", wording::size(policy.margin.0))
    };
    format!("needs about {rounds} rounds {purpose}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Reduced;
    use crate::judge::estimate::Null;
    use crate::units::Fraction;

    /// `+5 %` (log), with each condition of the table made true or false by its own number.
    fn outcome([excludes, relevant, above_floor, absolute, survives, within]: [bool; 6]) -> Decision {
        let error = |wanted: bool, small: f64, large: f64| if wanted { small } else { large };
        let contrast = Contrast {
            change: Estimate {
                value: 0.05,
                standard_error: error(excludes, 0.002, 0.04),
                freedom: 30.0,
            },
            order_effect: None,
            rounds: 16,
            base: 100.0,
            head: 105.0,
            null: Some(Null {
                standard_error: error(above_floor, 0.002, 0.04),
                freedom: 30.0,
                contrasts: 16,
            }),
        };
        let step = (!survives).then_some(ClockStep {
            step: 35.0,
            fraction: 0.35,
        });
        let side = Reduced {
            clock_step: step,
            ..Reduced::default()
        };
        let comparison = Comparison {
            base: side.clone(),
            head: side,
            ..Comparison::default()
        };
        let policy = Policy {
            threshold: Fraction(if relevant { 0.02 } else { 0.06 }),
            margin: Fraction(if within { 0.5 } else { 0.04 }),
            floor_ns: if absolute { 1.0 } else { 6.0 },
            ..Policy::default()
        };
        decide(Question {
            comparison: &comparison,
            metric: &Metric::time(),
            contrast: &contrast,
            layout_floor: None,
            alpha: 0.05,
            policy: &policy,
        })
        .unwrap()
    }

    #[test]
    fn every_row_of_the_decision_table_holds() {
        for bits in 0..64_u32 {
            let conditions = [0, 1, 2, 3, 4, 5].map(|bit| bits >> bit & 1 == 1);
            let [excludes, relevant, above_floor, absolute, survives, within] = conditions;
            let change = excludes && relevant && above_floor;
            let expected = match (change, absolute, survives, within) {
                (true, true, true, _) => Outcome::Candidate,
                (true, false, true, false) | (true, _, false, false) => Outcome::Blocked,
                (_, _, true, true) => Outcome::Unchanged,
                // The steps of this clock hide more than either margin.
                (_, _, false, true) => Outcome::Blocked,
                (false, _, _, false) => Outcome::Open,
            };
            let decision = outcome(conditions);
            assert_eq!(decision.outcome, expected, "{conditions:?}");
            let explained = matches!(decision.outcome, Outcome::Blocked | Outcome::Open);
            assert_eq!(!decision.reasons.is_empty(), explained, "{conditions:?}");
            if decision.outcome == Outcome::Unchanged {
                assert!(decision.low >= -0.5 && decision.high <= 0.5);
            }
        }
    }

    #[test]
    fn a_row_that_is_open_says_what_it_needs() {
        let decision = outcome([false, true, true, true, true, false]);
        assert_eq!(decision.reasons, ["needs about 64 rounds to be told from noise"]);
        let decision = outcome([true, false, true, true, true, false]);
        assert_eq!(
            decision.reasons,
            ["+5.1 % is below the threshold of 6 % and beyond the margin of 4 %"]
        );
    }
}
