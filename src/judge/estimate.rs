//! From pairs to an estimate: how much head differs from base, how well that is known, and how noisy the estimator is
//! without any change.
//!
//! Everything is on the scale of `ln(head / base)`, where a change and its undoing are of equal size.
//!
//! Rounds are split by which side ran first. Running second may cost a few percent; with the strata weighted equally
//! that effect cancels exactly, however large it is, and its size is known as a by-product.

use crate::comparison::Pair;
use crate::revision::Side;
use crate::stats::interval::{self, Estimate};
use crate::stats::quantile::median;
use crate::stats::student;

/// Smallest stratum that is used: below three members a variance has one degree of freedom or none. With
/// [`MIN_ROUNDS`](crate::plan::MIN_ROUNDS) balanced rounds each stratum has four and may lose one.
const MIN_STRATUM: usize = 3;

/// What a number of paired rounds says about one scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contrast {
    /// `ln(head / base)`.
    pub change: Estimate,
    /// Extra log time of whichever side ran second; absent if one order is missing.
    pub order_effect: Option<f64>,
    /// Rounds behind it.
    pub rounds: u32,
    /// Median of base's numbers in these rounds, metric's unit per iteration, above zero.
    pub base: f64,
    /// Median of head's.
    pub head: f64,
    /// Scale of the estimator without any change, from same-side contrasts; absent if there are too few of them.
    pub null: Option<Null>,
}

/// The estimator applied where nothing changed: the same side in both rounds of a pair of rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Null {
    /// Standard error that the estimator would have over as many rounds, from the spread of the null contrasts.
    pub standard_error: f64,
    /// Its degrees of freedom.
    pub freedom: f64,
    /// Number of null contrasts.
    pub contrasts: u32,
}

/// Estimates the change from these rounds. `None` if there are fewer than two pairs.
///
/// Permuting rounds within an order of the sides changes nothing but the null contrasts; exchanging the sides negates
/// the change; scaling both sides changes nothing.
#[must_use]
pub fn contrast(pairs: &[Pair]) -> Option<Contrast> {
    let ratios_where = |first: Side| -> Vec<f64> {
        pairs
            .iter()
            .filter(|pair| pair.first == first)
            .map(Pair::log_ratio)
            .collect()
    };
    let (base_first, head_first) = (ratios_where(Side::Base), ratios_where(Side::Head));
    let stratified = (base_first.len().min(head_first.len()) >= MIN_STRATUM)
        .then(|| interval::of_two(&base_first, &head_first))
        .flatten();
    let change = match stratified {
        Some(stratified) => stratified,
        None => interval::of_one(&pairs.iter().map(Pair::log_ratio).collect::<Vec<f64>>())?,
    };
    let order_effect = stratified.and_then(|_| {
        let (one, other) = (interval::of_one(&base_first)?, interval::of_one(&head_first)?);
        Some((one.value - other.value) / 2.0)
    });
    Some(Contrast {
        change,
        order_effect,
        rounds: u32::try_from(pairs.len()).unwrap_or(u32::MAX),
        base: median(&pairs.iter().map(|pair| pair.base).collect::<Vec<f64>>())?,
        head: median(&pairs.iter().map(|pair| pair.head).collect::<Vec<f64>>())?,
        null: null(pairs),
    })
}

/// Null contrasts of both sides: `ln(b[2k+1] / b[2k])` and `ln(h[2k+1] / h[2k])`.
///
/// They are not compared with zero but split into two strata as the estimator's rounds are, by whether the side went
/// from running first to running second or back: within a stratum the order of the sides and a steady drift add the
/// same to every contrast, and both are things that the estimator does not suffer from. Each contrast has the variance
/// of two slots, as `ln(head / base)` has, so the standard error is that of the estimator over as many rounds; to
/// another number of rounds it scales with the square root.
fn null(pairs: &[Pair]) -> Option<Null> {
    let (mut later, mut earlier) = (Vec::with_capacity(pairs.len()), Vec::with_capacity(pairs.len()));
    for two in pairs.windows(2) {
        let [even, odd] = two else { continue };
        if even.round % 2 == 0 && odd.round == even.round | 1 {
            let of_base = odd.log_base - even.log_base;
            let of_head = odd.log_head - even.log_head;
            let (of_first, of_second) = match even.first {
                Side::Base => (of_base, of_head),
                Side::Head => (of_head, of_base),
            };
            later.push(of_first);
            earlier.push(of_second);
        }
    }
    let own = interval::of_two(&later, &earlier)?;
    let contrasts = later.len() + earlier.len();
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 rounds")]
    let scale = (contrasts as f64 / pairs.len() as f64).sqrt();
    Some(Null {
        standard_error: own.standard_error * scale,
        freedom: own.freedom,
        contrasts: u32::try_from(contrasts).unwrap_or(u32::MAX),
    })
}

impl Contrast {
    /// Noise of this estimator on this row without any change: the two-sided 95 % bound, log scale, `>= 0`. Without
    /// null contrasts the estimator's own standard error stands in.
    #[must_use]
    pub fn floor(&self) -> Option<f64> {
        // 95 % is the customary level for "typical noise"; the family is guarded by the corrected interval.
        let (error, freedom) = self
            .null
            .map_or((self.change.standard_error, self.change.freedom), |null| {
                (null.standard_error, null.freedom)
            });
        let floor = student::two_sided(0.05, freedom)? * error;
        floor.is_finite().then_some(floor)
    }
}
