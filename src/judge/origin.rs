//! Whether a change is the code's or its place's.
//!
//! The same instructions at another address can take a fifth more or less time, the same way in every process of an
//! executable, so neither rounds nor fresh processes tell such a change from a real one. Two things do: counted
//! instructions, which an address does not change, and the same code in other orders, where its luck is drawn again
//! (Mytkowicz et al. 2009, "Producing wrong data without doing anything obviously wrong!"; Curtsinger & Berger 2013,
//! "Stabilizer"). An order is one replication, whatever was measured in it.

use crate::comparison::Pair;
use crate::judge::assessment::{Assessment, Row};
use crate::judge::wording;
use crate::layout::LAYOUTS;
use crate::metric::Unit;
use crate::recording::{Counted, Recording, Relaid};
use crate::scenario::Target;
use crate::stats::interval;
use crate::stats::quantile::median;
use std::collections::BTreeMap;

/// What is known of a change that fresh processes repeated.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    /// It is the code's: the reason, for the reader.
    Code(String),
    /// It may be the place's.
    Place {
        /// What speaks for it.
        seen: String,
        /// Whether all other orders together exclude what must be left of the change, so that more rounds in them would
        /// not find it.
        settled: bool,
    },
    /// Nobody looked, or nobody could: why, if there is more to say than that.
    Unknown(Option<String>),
}

/// Part of a change in time that the counted instructions must change by, the same way, to explain it. Chosen: a real
/// change in work changes both alike, and half leaves room for what surrounds the iteration.
const EXPLAINS: f64 = 0.5;

/// Instructions for each added nanosecond from which on they explain it whatever part of the count they are: a batched
/// bench counts what it sets up as well, so a real change may be a small part of it. Chosen: a third of an instruction a
/// cycle at 3 GHz. Code that runs slower waits for something, and then its place may be what it waits for.
const PER_NANOSECOND: f64 = 1.0;

/// Part of the change that must be left in other orders.
const LEFT: f64 = 0.5;

/// Fewest orders that say something: an interval of two has one degree of freedom.
const MIN_ORDERS: usize = 3;

/// Two-sided level at which the change must show in other orders, at each look: all looks are at the same orders, so what
/// luck draws for them is drawn once. The family's level is spent already; this decides about rows that noise alone seldom
/// brings here.
const ALPHA: f64 = 0.05;

/// Where the change of a candidate comes from.
#[must_use]
pub fn origin(assessment: &Assessment<'_>, row: &Row<'_>) -> Origin {
    let first = row
        .decided
        .as_ref()
        .map_or(0.0, |decided| decided.decision.log_change);
    let counted = assessment.instructions_change(row).map(|change| match change {
        0.0 => "instructions equal".to_owned(),
        _ => format!("instructions {}", wording::signed(change)),
    });
    if let Some(reason) = explained(assessment, row, first) {
        return Origin::Code(reason);
    }
    let orders = by_order(&row.comparison.relaid);
    let elsewhere = (orders.len() >= MIN_ORDERS)
        .then(|| interval::of_one(&orders))
        .flatten();
    if let Some(estimate) = elsewhere
        && let Some(half_width) = estimate.half_width(ALPHA)
    {
        // In the direction of the first change.
        let elsewhere = estimate.value * first.signum();
        let enough = LEFT * first.abs();
        let seen = format!(
            "{} ± {} with the code of both sides in {} other orders",
            wording::signed(estimate.value.exp_m1()),
            wording::size(half_width.exp_m1()).trim_end_matches(" %"),
            orders.len()
        );
        let is_left = elsewhere > half_width && elsewhere >= enough;
        let settled = orders.len() == LAYOUTS as usize && elsewhere + half_width < enough;
        let doubt = (!is_left && !settled).then(|| "too noisy to tell".to_owned());
        let seen = [Some(seen), counted, doubt]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>();
        let seen = seen.join(", ");
        return if is_left {
            Origin::Code(seen)
        } else {
            Origin::Place { seen, settled }
        };
    }
    let why = why_no_other_order(assessment.recording, &row.entry.scenario.target);
    let known: Vec<String> = [counted, why].into_iter().flatten().collect();
    Origin::Unknown((!known.is_empty()).then(|| known.join(", and ")))
}

/// How the counted instructions explain a change, if they do. Where the processes of a side count differently, as a map
/// with a seed of its own in each makes them, those two counts are taken that speak least for it.
fn explained(assessment: &Assessment<'_>, row: &Row<'_>, first: f64) -> Option<String> {
    let [base, head] = assessment.counts.least_for(row.entry.ix, first)?;
    let change = (head / base * row.comparison.per_work() - 1.0).max(-1.0);
    let agree = assessment.instructions_change(row).is_some();
    let least = if agree { "" } else { " at least" };
    let changed = || format!("instructions{least} {}", wording::signed(change));
    if change.ln_1p() * first.signum() >= EXPLAINS * first.abs() {
        return Some(changed());
    }
    if row.entry.scenario.metric.unit != Unit::Ns || row.comparison.work.is_some() {
        return None;
    }
    let decided = row.decided.as_ref()?;
    // The change is judged in pairs; of the two typical values only base's is taken, so that both agree.
    let longer_ns = decided.contrast.base * decided.decision.change;
    let per_ns = (head - base) / longer_ns;
    let enough = per_ns.is_finite() && per_ns >= PER_NANOSECOND;
    enough.then(|| format!("{}, {per_ns:.1} for each nanosecond", changed()))
}

fn why_no_other_order(recording: &Recording, target: &Target) -> Option<String> {
    let mut of_target = recording.relaid.iter().filter(|relaid| &relaid.target == target);
    let failure = of_target.find_map(Relaid::failure).map(wording::first_line);
    failure.map(|why| format!("its code could not be linked in another order: {why}"))
}

/// How much linking base in other orders changed it, the most that any order did, noise included: log scale, `>= 0`.
/// Absent if there is no relink control. Sees the rounds up to `last`.
#[must_use]
pub fn layout_floor(control: &[Pair], last: u32) -> Option<f64> {
    let seen = control.partition_point(|pair| pair.round <= last);
    by_order(&control[..seen])
        .into_iter()
        .map(f64::abs)
        .reduce(f64::max)
}

/// `ln(head / base)` of each order that has a round of each order of the sides, ascending by order.
fn by_order(pairs: &[Pair]) -> Vec<f64> {
    let mut logs: BTreeMap<_, [Vec<f64>; 2]> = BTreeMap::new();
    for pair in pairs {
        logs.entry(pair.layout).or_default()[pair.first as usize].push(pair.log_ratio());
    }
    // Equal weights cancel what running second costs.
    let middle = |[one, other]: &[Vec<f64>; 2]| Some(f64::midpoint(median(one)?, median(other)?));
    logs.values().filter_map(middle).collect()
}

/// Counted instructions, by scenario and side.
#[derive(Debug, Default)]
pub struct Counts<'a>(BTreeMap<u32, [Option<&'a Counted>; 2]>);

impl<'a> Counts<'a> {
    /// Sorts a recording's counts; of repeated ones the first on which processes agree.
    #[must_use]
    pub fn of(recording: &'a Recording) -> Self {
        let mut counts = Self::default();
        for counted in &recording.counted {
            let place = &mut counts.0.entry(counted.scenario).or_default()[counted.side as usize];
            if place.is_none_or(|known| known.agreed().is_none()) {
                *place = Some(counted);
            }
        }
        counts
    }

    /// Base's and head's counts of a scenario; absent if it was not to be counted.
    #[must_use]
    pub fn sides(&self, scenario: u32) -> Option<[Option<&'a Counted>; 2]> {
        self.0.get(&scenario).copied()
    }

    /// Head's instructions relative to base's, minus one; absent unless both are known.
    #[must_use]
    pub fn change(&self, scenario: u32) -> Option<f64> {
        let [base, head] = self.agreed(scenario)?;
        relative(base, head)
    }

    /// Of the counts of both sides those two that speak least for a change of this sign: base's highest and head's lowest
    /// for a positive one. Absent unless both sides were counted twice, if base counts none, or if processes of one side
    /// differ by more than half of that: three of a kind can lie on one side of three others by chance.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a count of 2^53 instructions takes weeks"
    )]
    pub fn least_for(&self, scenario: u32, change: f64) -> Option<[f64; 2]> {
        let [base, head] = self
            .sides(scenario)?
            .map(|counted| counted.and_then(Counted::range));
        let ([low_base, high_base], [low_head, high_head]) = (base?, head?);
        let [base, head] = if change > 0.0 {
            [high_base, low_head]
        } else {
            [low_base, high_head]
        };
        let spread = (high_base - low_base).max(high_head - low_head);
        (base > 0 && 2 * spread <= base.abs_diff(head)).then_some([base as f64, head as f64])
    }

    fn agreed(&self, scenario: u32) -> Option<[u64; 2]> {
        let [base, head] = self
            .sides(scenario)?
            .map(|counted| counted.and_then(Counted::agreed));
        Some([base?, head?])
    }
}

/// `head / base - 1`; absent if base is zero.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "a count of 2^53 instructions takes weeks"
)]
fn relative(base: u64, head: u64) -> Option<f64> {
    (base > 0).then(|| head as f64 / base as f64 - 1.0)
}
