//! What programs measured elsewhere, as a recording: each file is one launch.
//!
//! Nothing says that the launches of the sides alternated, so nothing protects a comparison from what changed between
//! them; the recording says so. Launch `n` of base is paired with launch `n` of head.

use crate::launch::{self, Declared};
use crate::layout::Layout;
use crate::profile::Profile;
use crate::recording::{Build, Contention, End, EndReason, Event, Header, Phase, Recording, SlotRecord};
use crate::revision::Side;
use crate::scenario::{Scenario, Target};
use crate::units::count;
use std::collections::HashMap;

/// The recording of these launches, base's and head's, each in order; `program` is what they are called.
#[must_use]
pub fn recording(header: Header, program: &str, launches: [Vec<Profile>; 2]) -> Recording {
    let target = Target::program(program);
    let shas = [header.plan.base.sha.clone(), header.plan.head.sha.clone()];
    let mut recording = Recording::new(header);
    for (side, sha) in Side::BOTH.into_iter().zip(shas) {
        recording.push(Event::Build(nothing_built(side, sha)));
    }
    let mut declared = Declared::default();
    for (side, launches) in Side::BOTH.into_iter().zip(&launches) {
        for reading in launches.iter().flat_map(|profile| &profile.readings) {
            declared.add(&target, side, reading);
        }
    }
    let entries = declared.into_entries();
    let places = entries
        .iter()
        .map(|entry| (entry.scenario.clone(), entry.ix))
        .collect();
    for entry in entries {
        recording.push(Event::Scenario(entry));
    }
    // In front of what may be many: nobody must miss it.
    recording.push(Event::Note {
        text: "not interleaved: the sides were measured elsewhere, each by itself, so whatever changed between them \
               counts as a change"
            .to_owned(),
    });
    let [base, head] = launches;
    if base.len() != head.len() {
        let text = format!(
            "base has {} and head has {}: those without a partner are not compared",
            count(base.len(), "file"),
            count(head.len(), "file")
        );
        recording.push(Event::Note { text });
    }
    let most = base.len().max(head.len());
    let mut launches = [base.into_iter(), head.into_iter()];
    for round in (0..).take(most) {
        for (side, launches) in Side::BOTH.into_iter().zip(&mut launches) {
            if let Some(profile) = launches.next() {
                take(&mut recording, &places, &target, (side, round), profile);
            }
        }
    }
    recording.push(Event::End(End {
        total_s: 0.0,
        reason: EndReason::Decided,
    }));
    recording
}

fn nothing_built(side: Side, sha: String) -> Build {
    Build {
        side,
        sha,
        checkout_s: 0.0,
        build_s: 0.0,
        toolchain: None,
        executables: Vec::new(),
        skipped: Vec::new(),
        failure: None,
    }
}

/// Records a launch: what it measured, what it told, what was wrong with it.
fn take(
    recording: &mut Recording,
    places: &HashMap<Scenario, u32>,
    target: &Target,
    (side, round): (Side, u32),
    profile: Profile,
) {
    let mut slot = SlotRecord {
        phase: Phase::Measure,
        round,
        side,
        first: side == Side::Base,
        target: target.clone(),
        layout: Layout::AS_BUILT,
        at_s: 0.0,
        wall_s: 0.0,
        waited_s: None,
        contention: Contention::default(),
        observations: Vec::new(),
    };
    let (told, lost) = launch::take(&mut slot, profile, |scenario| places.get(scenario).copied());
    recording.push(Event::Slot(slot));
    recording.push(Event::Told(told));
    for detail in lost {
        recording.push(Event::Note {
            text: format!("{side}, launch {}: {detail}", round + 1),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Metric;
    use crate::plan::{Measuring, Plan, Policy, Selection};
    use crate::profile::Reading;
    use crate::recording::SCHEMA;
    use crate::revision::Revision;

    fn header() -> Header {
        let revision = |label: &str| Revision {
            label: label.to_owned(),
            sha: label.repeat(40),
        };
        Header {
            schema: SCHEMA.to_owned(),
            tool: "0".to_owned(),
            run: "r".to_owned(),
            started_at: String::new(),
            plan: Plan {
                base: revision("a"),
                head: revision("b"),
                selection: Selection::default(),
                measuring: Measuring::with_seed(1),
                policy: Policy::default(),
            },
        }
    }

    fn profile(token_ns: f64, replays: f64) -> Profile {
        let reading = |id: &str, metric, value| Reading {
            id: id.to_owned(),
            metric,
            values: vec![value],
        };
        Profile {
            readings: vec![
                reading("ms_per_token", Metric::time(), token_ns),
                reading("replays", Metric::count(), replays),
            ],
            incidents: vec!["cut off".to_owned()],
            ..Profile::default()
        }
    }

    #[test]
    fn each_file_is_a_launch_and_launches_of_the_sides_are_pairs() {
        let recording = recording(
            header(),
            "p",
            [
                vec![profile(10.0, 62.0), profile(11.0, 62.0)],
                vec![profile(9.0, 0.0)],
            ],
        );
        let slots: Vec<_> = recording
            .slots
            .iter()
            .map(|slot| (slot.round, slot.side))
            .collect();
        assert_eq!(slots, [(0, Side::Base), (0, Side::Head), (1, Side::Base)]);
        let ids: Vec<_> = recording
            .scenarios
            .iter()
            .map(|entry| entry.scenario.id.as_str())
            .collect();
        assert_eq!(ids, ["ms_per_token", "replays"]);
        assert_eq!(recording.scenarios[0].sides, Side::BOTH);
        assert_eq!(
            recording.slots[0].observations.len(),
            1,
            "counts are no observations"
        );
        assert_eq!(recording.told[1].counts[0].values, [0]);
        assert!(recording.notes[0].starts_with("not interleaved"));
        assert!(
            recording.notes[1].starts_with("base has 2 files and head has 1 file:"),
            "{:?}",
            recording.notes
        );
        assert!(
            recording
                .notes
                .iter()
                .any(|note| note == "head, launch 1: cut off")
        );
    }

    #[test]
    fn what_one_side_has_is_on_one_side() {
        let mut base = profile(10.0, 1.0);
        base.readings.pop();
        let recording = recording(header(), "p", [vec![base], vec![profile(10.0, 1.0)]]);
        assert_eq!(recording.scenarios[1].sides, [Side::Head]);
    }
}
