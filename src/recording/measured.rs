//! What was measured and what went wrong: slots, their observations, incidents.

use super::Iterations;
use crate::layout::Layout;
use crate::revision::Side;
use crate::scenario::Target;
use serde::{Deserialize, Serialize};

/// What a slot is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Fills caches and shows what each scenario costs; never judged.
    Warmup,
    /// The comparison.
    Measure,
    /// Fresh processes for rows that were about to be flagged.
    Confirm,
    /// Executables of both sides with their code in other orders, for rows that fresh processes confirmed.
    Relaid,
}

impl Phase {
    /// All phases, in the order they come.
    pub const ALL: [Self; 4] = [Self::Warmup, Self::Measure, Self::Confirm, Self::Relaid];
}

/// One process of one side: when it ran, what it met, what it measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlotRecord {
    /// Purpose.
    pub phase: Phase,
    /// Round within the phase, from 0. Rounds `2k` and `2k + 1` form a pair with opposite orders of the sides.
    pub round: u32,
    /// Side.
    pub side: Side,
    /// Whether this side ran first in its round.
    pub first: bool,
    /// Executable.
    #[serde(flatten)]
    pub target: Target,
    /// In which order its code lies; absent means as cargo built it.
    #[serde(default, skip_serializing_if = "Layout::is_as_built")]
    pub layout: Layout,
    /// Seconds from the start of the run (or of its resumed part) to the start of the process.
    pub at_s: f64,
    /// Seconds the process ran.
    pub wall_s: f64,
    /// Seconds spent before it, waiting for a processor that nobody slows down; absent in older recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_s: Option<f64>,
    /// What else happened on the machine meanwhile.
    pub contention: Contention,
    /// What was measured, in the order the bench ran it.
    pub observations: Vec<Observation>,
}

/// Raw values of one scenario in one slot, in the order they were measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// [`Entry::ix`](super::Entry::ix).
    pub scenario: u32,
    /// Iterations of each sample, each at least 1.
    pub iters: Iterations,
    /// Total of each sample in the metric's unit; same length as `iters`; finite.
    #[serde(serialize_with = "integral_where_possible", deserialize_with = "exact")]
    pub totals: Vec<f64>,
    /// Throughput the bench declared for one iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Throughput>,
    /// Seconds from the previous scenario's end (or the process start) to this one's end: what it really costs.
    pub cost_s: f64,
}

/// Work done by one iteration, as declared by the bench.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Throughput {
    /// What is counted.
    pub per: Work,
    /// How many of them one iteration handles; above zero.
    pub amount: f64,
}

/// What a declared throughput counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// Bytes (decimal or binary: the count is the same).
    Bytes,
    /// Bits.
    Bits,
    /// Elements.
    Elements,
}

/// What criterion is asked to spend on one scenario in one slot. A bench may insist on more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Warm-up, in milliseconds.
    pub warm_up_ms: u32,
    /// Measurement, in milliseconds.
    pub measure_ms: u32,
    /// Samples; criterion takes at least 10.
    pub samples: u32,
}

/// Evidence of other load while a slot ran. Absent facts could not be read on this system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Contention {
    /// Time the process' main thread was ready to run but had no processor, in milliseconds.
    pub run_queue_ms: Option<f64>,
    /// Times a thread of the process was taken off its processor.
    pub involuntary_switches: Option<u64>,
    /// Processor time of the process, user, in seconds.
    pub user_s: Option<f64>,
    /// Processor time of the process, system, in seconds.
    pub system_s: Option<f64>,
    /// Time the hypervisor ran somebody else, all processors, in milliseconds.
    pub steal_ms: Option<f64>,
    /// Time in which some task on the machine waited for a processor, in milliseconds.
    pub pressure_ms: Option<f64>,
    /// Load average over one minute at the end of the slot.
    pub load1: Option<f64>,
    /// How many times slower than the fastest a fixed loop was on the slot's processor just before and just after it,
    /// each at least 1. A core whose other hardware thread works for somebody else shows as 1.3 to 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<[f64; 2]>,
}

/// Something that went wrong and what it hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// Phase it happened in; absent before measuring.
    pub phase: Option<Phase>,
    /// Round it happened in; absent before measuring.
    pub round: Option<u32>,
    /// Side it happened on; absent if it concerns both.
    pub side: Option<Side>,
    /// Executable it happened in.
    #[serde(flatten)]
    pub target: Target,
    /// Scenario it is blamed on; absent if it is the whole executable.
    pub scenario: Option<u32>,
    /// What happened.
    pub what: IncidentKind,
    /// A sentence with what was found, last lines of output included.
    pub detail: String,
}

/// Kinds of incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IncidentKind {
    /// Killed after its time was up.
    Timeout,
    /// Ended with a non-zero status or by a signal.
    Crash,
    /// Ended well but wrote no measurement.
    NoMeasurement,
    /// Wrote something that is no measurement: cut off, not finite, zero time, too few samples.
    BadMeasurement,
    /// The budget did not suffice.
    NotReached,
    /// The executable could not be started or its benchmarks could not be listed.
    Unusable,
}

impl Observation {
    /// Values per iteration, in measured order. Never empty, all finite and above zero for an observation that was
    /// read from a file or made by `edge::criterion`.
    pub fn per_iteration(&self) -> impl Iterator<Item = f64> + '_ {
        #[expect(clippy::cast_precision_loss, reason = "iteration counts stay far below 2^53")]
        self.iters
            .iter()
            .zip(&self.totals)
            .map(|(iters, total)| total / iters as f64)
    }
}

/// Criterion's totals are whole nanoseconds; `1234` instead of `1234.0` keeps the file small and quick to read.
fn integral_where_possible<S: serde::Serializer>(totals: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Number {
        Whole(u64),
        Real(f64),
    }
    serializer.collect_seq(totals.iter().map(|total| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, in 0..2^53"
        )]
        if total.trunc().to_bits() == total.to_bits() && (0.0..EXACT).contains(total) {
            Number::Whole(*total as u64)
        } else {
            Number::Real(*total)
        }
    }))
}

/// Reads a list into a vector of exactly its length. A recording holds a million lists of ten numbers; growing each by
/// doubling would take two thirds more memory and several allocations a list.
fn exact<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    struct Exact<T>(std::marker::PhantomData<T>);

    impl<'de, T: Deserialize<'de>> serde::de::Visitor<'de> for Exact<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of numbers")
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, list: A) -> Result<Vec<T>, A::Error> {
            exact_list(list)
        }
    }

    deserializer.deserialize_seq(Exact(std::marker::PhantomData))
}

pub(super) fn exact_list<'de, T, A>(mut list: A) -> Result<Vec<T>, A::Error>
where
    T: Deserialize<'de>,
    A: serde::de::SeqAccess<'de>,
{
    let mut values = smallvec::SmallVec::<[T; 32]>::new();
    while let Some(value) = list.next_element()? {
        values.push(value);
    }
    Ok(values.into_vec())
}
