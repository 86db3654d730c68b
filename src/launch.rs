//! One launch of a program as a recording tells it: what it measured becomes observations, what it counted events.

use crate::metric::Unit;
use crate::profile::{Profile, Reading};
use crate::recording::{Entry, Events, Observation, SlotRecord, Told};
use crate::revision::Side;
use crate::scenario::{Kind, Scenario, Target};
use std::collections::HashMap;

/// The scenario that a reading of a program belongs to.
#[must_use]
pub fn scenario(program: &Target, reading: &Reading) -> Scenario {
    Scenario {
        kind: Kind::Program,
        target: program.clone(),
        id: reading.id.clone(),
        metric: reading.metric.clone(),
    }
}

/// Scenarios that readings belong to, numbered from 0 in the order they came.
#[derive(Debug, Clone, Default)]
pub struct Declared {
    entries: Vec<Entry>,
    places: HashMap<Scenario, usize>,
}

impl Declared {
    /// Adds a reading's scenario to those that are known, or a side to the one it belongs to.
    pub fn add(&mut self, program: &Target, side: Side, reading: &Reading) {
        let scenario = scenario(program, reading);
        let known = self.places.get(&scenario);
        if let Some(entry) = known.and_then(|at| self.entries.get_mut(*at)) {
            if !entry.sides.contains(&side) {
                entry.sides.push(side);
            }
            return;
        }
        self.places.insert(scenario.clone(), self.entries.len());
        self.entries.push(Entry {
            ix: u32::try_from(self.entries.len()).unwrap_or(u32::MAX),
            scenario,
            sides: vec![side],
            assigned: true,
        });
    }

    /// The scenarios.
    #[must_use]
    pub fn into_entries(self) -> Vec<Entry> {
        self.entries
    }
}

/// Fills a launch's slot with what was measured, each observation with its share of the time, and tells the rest, with a
/// sentence for each thing that was lost. Readings whose scenario has no number are left out.
#[must_use]
pub fn take(
    slot: &mut SlotRecord,
    profile: Profile,
    number: impl Fn(&Scenario) -> Option<u32>,
) -> (Told, Vec<String>) {
    let mut counts = Vec::new();
    let mut lost = profile.incidents;
    for reading in profile.readings {
        let Some(scenario) = number(&scenario(&slot.target, &reading)) else {
            continue;
        };
        if reading.metric.unit == Unit::Count {
            let values: Option<Vec<u64>> = reading.values.iter().copied().map(whole).collect();
            match values {
                Some(values) => counts.push(Events { scenario, values }),
                None => lost.push(format!("`{}` is no whole number, and was left out", reading.id)),
            }
        } else {
            slot.observations.push(Observation {
                scenario,
                iters: vec![1; reading.values.len()].into(),
                totals: reading.values,
                throughput: None,
                cost_s: 0.0,
            });
        }
    }
    let sharing = u32::try_from(slot.observations.len()).unwrap_or(u32::MAX);
    for observation in &mut slot.observations {
        observation.cost_s = slot.wall_s / f64::from(sharing);
    }
    let told = Told {
        phase: slot.phase,
        round: slot.round,
        side: slot.side,
        target: slot.target.clone(),
        settings: profile.settings,
        generations: profile.generations,
        counts,
        unknown: profile.unknown,
    };
    (told, lost)
}

/// A count; what is none is left out.
fn whole(value: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, in 0..2^53"
    )]
    (value.fract().abs() <= 0.0 && (0.0..9_007_199_254_740_992.0).contains(&value)).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;
    use crate::metric::Metric;
    use crate::recording::{Contention, Phase};

    #[test]
    fn half_an_event_is_none() {
        assert_eq!(whole(2.5), None);
        assert_eq!(whole(-1.0), None);
        assert_eq!(whole(f64::NAN), None);
        assert_eq!(whole(0.0), Some(0));
    }

    #[test]
    fn what_was_measured_shares_the_time_and_what_was_counted_is_told() {
        let program = Target::program("engine");
        let reading = |id: &str, metric, values: &[f64]| Reading {
            id: id.to_owned(),
            metric,
            values: values.to_vec(),
        };
        let profile = Profile {
            readings: vec![
                reading("token", Metric::time(), &[10.0, 11.0]),
                reading("rate", Metric::rate(), &[90.0]),
                reading("replays", Metric::count(), &[62.0]),
                reading("halves", Metric::count(), &[0.5]),
                reading("unknown", Metric::time(), &[1.0]),
            ],
            ..Profile::default()
        };
        let mut declared = Declared::default();
        for reading in &profile.readings[..4] {
            declared.add(&program, Side::Base, reading);
            declared.add(&program, Side::Base, reading);
        }
        declared.add(&program, Side::Head, &profile.readings[0]);
        let entries = declared.into_entries();
        let sides: Vec<usize> = entries.iter().map(|entry| entry.sides.len()).collect();
        assert_eq!(sides, [2, 1, 1, 1]);

        let mut slot = SlotRecord {
            phase: Phase::Measure,
            round: 3,
            side: Side::Head,
            first: true,
            target: program,
            layout: Layout::AS_BUILT,
            at_s: 0.0,
            wall_s: 4.0,
            waited_s: None,
            contention: Contention::default(),
            observations: Vec::new(),
        };
        let number = |scenario: &Scenario| {
            let mut known = entries.iter();
            known
                .find(|entry| entry.scenario == *scenario)
                .map(|entry| entry.ix)
        };
        let (told, lost) = take(&mut slot, profile, number);
        let measured: Vec<_> = slot
            .observations
            .iter()
            .map(|observation| (observation.scenario, &observation.totals[..], observation.cost_s))
            .collect();
        assert_eq!(measured, [(0, &[10.0, 11.0][..], 2.0), (1, &[90.0][..], 2.0)]);
        assert_eq!((told.round, told.side), (3, Side::Head));
        assert_eq!(
            (told.counts[0].scenario, &told.counts[0].values[..]),
            (2, &[62][..])
        );
        assert_eq!(told.counts.len(), 1);
        assert_eq!(lost, ["`halves` is no whole number, and was left out"]);
    }
}
