//! The time of a token by its position in the text: what one number for a whole generation hides.

use crate::recording::{Phase, Recording, Told};
use crate::report::Curve;
use crate::revision::Side;
use crate::scenario::Target;
use crate::stats::quantile::median;

/// A curve for each program that told when its tokens were known, in the order in which they were launched first.
/// Whether the sides may be compared is said beside their rows; a curve shows what was seen of each.
#[must_use]
pub fn curves(recording: &Recording) -> Vec<Curve> {
    let mut targets: Vec<&Target> = Vec::new();
    for told in &recording.told {
        if !targets.contains(&&told.target) {
            targets.push(&told.target);
        }
    }
    let curve = |target: &Target| {
        let [base, head] = Side::BOTH.map(|side| typical(recording, side, target));
        let target = target.clone();
        (!base.is_empty() || !head.is_empty()).then_some(Curve { target, base, head })
    };
    targets.into_iter().filter_map(curve).collect()
}

/// Typical nanoseconds from each token to the next: of a launch the median of its generations, of a side the median of
/// its launches, so that each launch counts once.
fn typical(recording: &Recording, side: Side, target: &Target) -> Vec<f64> {
    let is_meant = |told: &&Told| told.phase == Phase::Measure && told.side == side && told.target == *target;
    let mut launches = Columns::default();
    for told in recording.told.iter().filter(is_meant) {
        let mut generations = Columns::default();
        for generation in &told.generations {
            #[expect(clippy::cast_precision_loss, reason = "no token takes three months")]
            let interval = |pair: &[u64]| pair[1].saturating_sub(pair[0]) as f64;
            generations.add(generation.t_ns.windows(2).map(interval));
        }
        launches.add(generations.medians().into_iter());
    }
    launches.medians()
}

/// Lists of numbers, which need not be equally long, by position.
#[derive(Default)]
struct Columns(Vec<Vec<f64>>);

impl Columns {
    fn add(&mut self, row: impl Iterator<Item = f64>) {
        for (position, value) in row.enumerate() {
            match self.0.get_mut(position) {
                Some(column) => column.push(value),
                None => self.0.push(vec![value]),
            }
        }
    }

    fn medians(&self) -> Vec<f64> {
        self.0.iter().filter_map(|column| median(column)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Measuring, Plan, Policy, Selection};
    use crate::profile::Generation;
    use crate::recording::{Event, Header, SCHEMA};
    use crate::revision::Revision;
    use std::collections::BTreeMap;

    fn told(side: Side, phase: Phase, t_ns: &[&[u64]]) -> Event {
        let generation = |t_ns: &&[u64]| Generation {
            t_ns: t_ns.to_vec(),
            ..Generation::default()
        };
        Event::Told(Told {
            phase,
            round: 0,
            side,
            target: Target::program("engine"),
            settings: BTreeMap::new(),
            generations: t_ns.iter().map(generation).collect(),
            counts: Vec::new(),
            unknown: BTreeMap::new(),
        })
    }

    fn recording(events: Vec<Event>) -> Recording {
        let revision = Revision {
            label: "a".to_owned(),
            sha: "a".repeat(40),
        };
        let mut recording = Recording::new(Header {
            schema: SCHEMA.to_owned(),
            tool: "0".to_owned(),
            run: "r".to_owned(),
            started_at: String::new(),
            plan: Plan {
                base: revision.clone(),
                head: revision,
                selection: Selection::default(),
                measuring: Measuring::with_seed(1),
                policy: Policy::default(),
            },
        });
        events.into_iter().for_each(|event| recording.push(event));
        recording
    }

    #[test]
    fn each_launch_counts_once_and_the_warm_up_not_at_all() {
        let found = curves(&recording(vec![
            told(Side::Base, Phase::Warmup, &[&[0, 900, 1800]]),
            // Typical of this launch are 10 and 20, however many generations it has.
            told(
                Side::Base,
                Phase::Measure,
                &[&[5, 15, 35], &[0, 10, 30], &[0, 90, 100], &[0, 10, 30]],
            ),
            told(Side::Base, Phase::Measure, &[&[0, 12, 34]]),
            told(Side::Base, Phase::Measure, &[&[0, 14, 38, 50]]),
            told(Side::Head, Phase::Measure, &[&[7, 8]]),
        ]));
        let [curve] = &found[..] else { panic!("{found:?}") };
        assert_eq!(curve.target, Target::program("engine"));
        assert_eq!(curve.base, [12.0, 22.0, 12.0]);
        assert_eq!(curve.head, [1.0]);
    }

    #[test]
    fn who_tells_no_times_has_no_curve() {
        let events = vec![
            told(Side::Base, Phase::Measure, &[&[]]),
            told(Side::Head, Phase::Measure, &[&[3]]),
        ];
        assert_eq!(curves(&recording(events)), []);
    }
}
