//! From facts to pairs: every scenario's observations, one number a slot, base and head side by side.
//!
//! The process is the unit of replication, so a slot gives one number: the *minimum* of total / iterations over its
//! samples, or the median of a program's repetitions. On two busy cores the per-slot minimum recovered a true 2 % where
//! per-slot medians were 3-10 % off (docs/statistics.md). Slots of one round and both sides make a pair. Nothing is
//! estimated here; [`crate::judge::estimate`] does that.

use crate::layout::Layout;
use crate::recording::{Observation, Phase, Recording, SlotRecord, Throughput};
use crate::revision::Side;
use crate::scenario::Kind;
use crate::stats::quantile::median;

/// One scenario's numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Comparison {
    /// Paired rounds of the comparison, in order of rounds.
    pub measured: Vec<Pair>,
    /// Paired rounds of the confirmation, in order of rounds.
    pub confirmed: Vec<Pair>,
    /// Paired rounds of both sides with their code in other orders, in order of rounds.
    pub relaid: Vec<Pair>,
    /// The relink control: rounds in which base was also measured with its code in another order, which takes head's
    /// place in the pair. In order of rounds.
    pub control: Vec<Pair>,
    /// Slots of the comparison that hold a number, paired or not.
    pub base: Reduced,
    /// The same for head.
    pub head: Reduced,
    /// Declared work if both sides declare the same kind in different amounts; the log ratios are then of time per
    /// unit of work.
    pub work: Option<WorkChange>,
}

/// One round with both sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Round within its phase.
    pub round: u32,
    /// Base's number, metric's unit per iteration, above zero.
    pub base: f64,
    /// Head's number, metric's unit per iteration, above zero.
    pub head: f64,
    /// `ln(base)`.
    pub log_base: f64,
    /// `ln(head)` for as much work as base does in one iteration.
    pub log_head: f64,
    /// Which side ran first.
    pub first: Side,
    /// In which order the code lay; in the relink control, that of the one that takes head's place.
    pub layout: Layout,
}

impl Pair {
    /// `ln(head / base)`: 0.0198 is +2 %. Finite.
    #[must_use]
    pub fn log_ratio(&self) -> f64 {
        self.log_head - self.log_base
    }
}

/// All slots of one side in the comparison phase.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reduced {
    /// Median of the slots' numbers, metric's unit per iteration; absent if there is no slot.
    pub typical: Option<f64>,
    /// Step of the clock relative to the total that gave a slot its number, a fraction; absent if the values show no
    /// step: all equal per iteration (a scripted constant) or not whole.
    pub clock_step: Option<ClockStep>,
    /// Number of slots.
    pub slots: u32,
}

/// The smallest step in which the totals of a side came: their greatest common divisor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockStep {
    /// The step, in the metric's unit.
    pub step: f64,
    /// The step over the median total of the samples that gave the slots their numbers: how far off one number may be.
    pub fraction: f64,
}

/// The same bench, declared to do another amount of work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkChange {
    /// Base's declaration.
    pub base: Throughput,
    /// Head's declaration.
    pub head: Throughput,
}

impl Comparison {
    /// What a number of head is multiplied by to be one for as much work as base does in an iteration; 1 unless both
    /// declare work, in different amounts.
    #[must_use]
    pub fn per_work(&self) -> f64 {
        per_work(self.work)
    }
}

fn per_work(work: Option<WorkChange>) -> f64 {
    work.map_or(1.0, |work| work.base.amount / work.head.amount)
}

/// All scenarios of a recording; position equals [`Entry::ix`](crate::recording::Entry::ix). Linear in the number of
/// samples.
///
/// Ignored: warm-up slots, observations of undeclared scenarios, samples that are no positive finite number, and any
/// but the first observation of a scenario in the same phase, round and side.
#[must_use]
pub fn compare(recording: &Recording) -> Vec<Comparison> {
    // Most scenarios have a slot of each side in every round, so this is what they need; it only saves copying.
    let rounds = recording.slots.iter().filter(|slot| slot.phase == Phase::Measure);
    let rounds = rounds.filter(|slot| slot.side == Side::Base).count().min(64);
    let mut gathered: Vec<Gathered> = recording
        .scenarios
        .iter()
        .map(|entry| Gathered {
            reduction: Reduction::of(entry.scenario.kind),
            measured: Vec::with_capacity(rounds),
            ..Gathered::default()
        })
        .collect();
    for slot in &recording.slots {
        for observation in &slot.observations {
            if let Some(of) = gathered.get_mut(observation.scenario as usize) {
                of.take(slot, observation);
            }
        }
    }
    gathered.into_iter().map(Gathered::finish).collect()
}

/// What is known of one scenario while slots are read.
#[derive(Default)]
struct Gathered {
    reduction: Reduction,
    measured: Vec<Cell>,
    confirmed: Vec<Cell>,
    relaid: Vec<Cell>,
    control: Vec<Cell>,
    sides: [SideSoFar; 2],
}

/// One round, as far as it is known.
struct Cell {
    round: u32,
    numbers: [Option<Number>; 2],
    first: Side,
    layout: Layout,
}

/// What a slot measured.
#[derive(Clone, Copy)]
struct Number {
    /// Per iteration.
    value: f64,
    /// The total of the sample it is from.
    total: f64,
}

/// What one number stands for the samples of a slot.
#[derive(Debug, Clone, Copy, Default)]
enum Reduction {
    /// The fastest sample of a benchmark.
    #[default]
    Fastest,
    /// The median of a program's repetitions: it has warmed up by itself, and one that broke off early or met no
    /// neighbour does not stand for the others.
    Median,
}

#[derive(Default)]
struct SideSoFar {
    clock: Clock,
    work: Option<Throughput>,
    /// Numbers of warm-up slots: all there is of a scenario that only one side has or that failed soon after.
    warm_up: Vec<f64>,
}

impl Gathered {
    fn take(&mut self, slot: &SlotRecord, observation: &Observation) {
        let side = &mut self.sides[slot.side as usize];
        let number = self.reduction.number(observation);
        side.work = side.work.or(observation.throughput.filter(is_work));
        let cells = match slot.phase {
            Phase::Warmup => {
                side.warm_up.extend(number.map(|number| number.value));
                return;
            }
            Phase::Measure if slot.layout.is_as_built() => &mut self.measured,
            Phase::Measure => &mut self.control,
            Phase::Confirm => &mut self.confirmed,
            Phase::Relaid => &mut self.relaid,
        };
        let Some(number) = number else {
            return;
        };
        let cell = cell_of(cells, slot);
        let place = &mut cell.numbers[slot.side as usize];
        if place.is_some() {
            return;
        }
        *place = Some(number);
        if slot.phase == Phase::Measure && slot.layout.is_as_built() {
            side.clock.take(observation);
        }
    }

    fn finish(self) -> Comparison {
        let [base, head] = &self.sides;
        let work = match (base.work, head.work) {
            (Some(base), Some(head)) if base.per == head.per && (base.amount - head.amount).abs() > 0.0 => {
                Some(WorkChange { base, head })
            }
            _ => None,
        };
        let per_work = per_work(work).ln();
        Comparison {
            base: base.reduce(&self.measured, Side::Base),
            head: head.reduce(&self.measured, Side::Head),
            measured: pairs(&self.measured, per_work),
            confirmed: pairs(&self.confirmed, per_work),
            relaid: pairs(&self.relaid, per_work),
            control: pairs(&self.controlled(), 0.0),
            work,
        }
    }
}

impl Gathered {
    /// Cells of the relink control, completed by what base measured in the same rounds.
    fn controlled(&self) -> Vec<Cell> {
        let with_base = |cell: &Cell| {
            let at = self
                .measured
                .binary_search_by_key(&cell.round, |measured| measured.round);
            let base = self.measured.get(at.ok()?)?.numbers[Side::Base as usize];
            let relinked = cell.numbers[Side::Base as usize];
            Some(Cell {
                numbers: [base, relinked],
                first: cell.first.other(),
                ..*cell
            })
        };
        self.control.iter().filter_map(with_base).collect()
    }
}

impl SideSoFar {
    fn reduce(&self, cells: &[Cell], side: Side) -> Reduced {
        let numbers = || cells.iter().filter_map(|cell| cell.numbers[side as usize]);
        let values: Vec<f64> = numbers().map(|number| number.value).collect();
        let clock_step = self.clock.step().and_then(|step| {
            let totals: Vec<f64> = numbers().map(|number| number.total).collect();
            let fraction = step / median(&totals)?;
            Some(ClockStep { step, fraction })
        });
        Reduced {
            typical: median(&values).or_else(|| median(&self.warm_up)),
            clock_step,
            slots: u32::try_from(values.len()).unwrap_or(u32::MAX),
        }
    }
}

/// The cell of this slot's round, made if need be; cells stay sorted by round. Slots come in order of rounds, so the
/// search nearly always ends at the last cell.
fn cell_of<'a>(cells: &'a mut Vec<Cell>, slot: &SlotRecord) -> &'a mut Cell {
    let at = match cells.last() {
        Some(last) if last.round < slot.round => cells.len(),
        Some(last) if last.round == slot.round => cells.len() - 1,
        _ => cells.partition_point(|cell| cell.round < slot.round),
    };
    if cells.get(at).is_none_or(|cell| cell.round != slot.round) {
        let first = if slot.first { slot.side } else { slot.side.other() };
        cells.insert(
            at,
            Cell {
                round: slot.round,
                numbers: [None; 2],
                first,
                layout: slot.layout,
            },
        );
    }
    &mut cells[at]
}

fn pairs(cells: &[Cell], per_work: f64) -> Vec<Pair> {
    let pair = |cell: &Cell| {
        let (base, head) = (cell.numbers[0]?.value, cell.numbers[1]?.value);
        let pair = Pair {
            round: cell.round,
            base,
            head,
            log_base: base.ln(),
            log_head: head.ln() + per_work,
            first: cell.first,
            layout: cell.layout,
        };
        pair.log_ratio().is_finite().then_some(pair)
    };
    cells.iter().filter_map(pair).collect()
}

impl Reduction {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Criterion => Self::Fastest,
            Kind::Program => Self::Median,
        }
    }

    /// `None` if no sample is a positive finite number.
    fn number(self, observation: &Observation) -> Option<Number> {
        let numbers = observation
            .per_iteration()
            .zip(&observation.totals)
            .map(|(value, &total)| Number { value, total })
            .filter(|number| is_positive(number.value) && is_positive(number.total));
        match self {
            Self::Fastest => numbers.min_by(|one, other| one.value.total_cmp(&other.value)),
            Self::Median => {
                let values: Vec<f64> = numbers.map(|number| number.value).collect();
                median(&values).map(|value| Number { value, total: value })
            }
        }
    }
}

fn is_positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

fn is_work(work: &Throughput) -> bool {
    is_positive(work.amount)
}

/// Finds the step of a clock in the totals it gave.
#[derive(Default)]
struct Clock {
    /// Greatest common divisor so far; 0 before the first total. From 1 on nothing more can be learned.
    divisor: u64,
    /// Value per iteration of the first sample.
    one: Option<f64>,
    varies: bool,
    not_whole: bool,
}

impl Clock {
    fn take(&mut self, observation: &Observation) {
        // Beyond 2^53 a float has no units digit.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if self.not_whole || (self.divisor == 1 && self.varies) {
            return;
        }
        for (value, total) in observation.per_iteration().zip(&observation.totals) {
            if total.fract().abs() > 0.0 || !(1.0..EXACT).contains(total) {
                self.not_whole = true;
                return;
            }
            let one = *self.one.get_or_insert(value);
            // Equal up to rounding: total / iters of the same constant may differ in the last bit.
            self.varies |= (value - one).abs() > one.abs() * 1e-12;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole, in 1..2^53"
            )]
            let whole = *total as u64;
            self.divisor = greatest_common_divisor(self.divisor, whole);
        }
    }

    fn step(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a divisor of numbers below 2^53")]
        (self.varies && !self.not_whole && self.divisor > 0).then_some(self.divisor as f64)
    }
}

fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observation(iters: &[u64], totals: &[f64]) -> Observation {
        Observation {
            scenario: 0,
            iters: iters.to_vec().into(),
            totals: totals.to_vec(),
            throughput: None,
            cost_s: 0.0,
        }
    }

    fn step(observations: &[Observation]) -> Option<f64> {
        let mut clock = Clock::default();
        for observation in observations {
            clock.take(observation);
        }
        clock.step()
    }

    #[test]
    fn a_slot_is_its_fastest_sample() {
        let of = observation(&[10, 20, 30], &[1000.0, 1900.0, 3600.0]);
        let fastest = |of| {
            let number = Reduction::Fastest.number(&of);
            number.map(|number| (number.value, number.total))
        };
        assert_eq!(fastest(of), Some((95.0, 1900.0)));
        let spoiled = observation(&[1, 0, 1, 1], &[f64::NAN, 5.0, -1.0, 7.0]);
        assert_eq!(fastest(spoiled), Some((7.0, 7.0)));
        assert_eq!(fastest(observation(&[], &[])), None);
    }

    #[test]
    fn a_launch_of_a_program_is_the_median_of_its_repetitions() {
        let of = observation(&[1, 1, 1, 1], &[100.0, 3.0, 104.0, 102.0]);
        let median = Reduction::Median.number(&of).map(|number| number.value);
        assert_eq!(median, Some(101.0));
        assert!(
            Reduction::Median
                .number(&observation(&[1], &[f64::NAN]))
                .is_none()
        );
    }

    #[test]
    fn the_step_of_a_clock_is_the_divisor_of_its_totals() {
        let coarse = observation(&[1, 1, 1], &[600e3, 650e3, 700e3]);
        assert_eq!(step(std::slice::from_ref(&coarse)), Some(50e3));
        assert_eq!(step(&[coarse, observation(&[1], &[600_001.0])]), Some(1.0));
    }

    #[test]
    fn scripted_constants_and_fractional_totals_show_no_step() {
        assert_eq!(
            step(&[observation(&[10, 20, 30], &[1000.0, 2000.0, 3000.0])]),
            None
        );
        assert_eq!(step(&[observation(&[1, 1], &[10.5, 11.0])]), None);
        assert_eq!(step(&[observation(&[1, 1], &[f64::NAN, 11.0])]), None);
        assert_eq!(step(&[]), None);
    }
}
