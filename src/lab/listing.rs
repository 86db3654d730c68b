//! What the executables of both sides list: which scenarios there are, and on which sides.

use crate::launch::Declared;
use crate::metric::Metric;
use crate::plan::Shard;
use crate::profile::Reading;
use crate::recording::{Entry, Event, Incident, IncidentKind};
use crate::revision::Side;
use crate::scenario::{Kind, Scenario, Target};
use std::collections::{BTreeMap, BTreeSet};

/// What the executables of both sides list.
#[derive(Debug, Default)]
pub struct Listing {
    /// Ids by target, in the order base registers them; those only head has come last.
    ids: BTreeMap<Target, Vec<Listed>>,
    /// What programs tell.
    programs: Declared,
    /// Programs of which something was lost: they may measure more than they told, on that side.
    lossy: BTreeSet<(Side, Target)>,
    /// Executables and programs that could not be listed.
    pub incidents: Vec<Incident>,
}

/// One id and where it is.
#[derive(Debug)]
struct Listed {
    id: String,
    sides: BTreeSet<Side>,
    /// An id that was another one in the same executable's next process, which then is its value.
    unstable: Option<String>,
}

impl Listing {
    pub(super) fn add(
        &mut self,
        side: Side,
        target: &Target,
        ids: Vec<String>,
        again: &[String],
        chosen: impl Fn(&str) -> bool,
    ) {
        let listed = self.ids.entry(target.clone()).or_default();
        for (at, id) in ids.into_iter().enumerate().filter(|(_, id)| chosen(id)) {
            let stable = again.contains(&id);
            let unstable = (!stable).then(|| again.get(at).cloned().unwrap_or_default());
            let id = if stable { id } else { without_numbers(&id) };
            match listed.iter_mut().find(|known| known.id == id) {
                Some(known) => {
                    known.sides.insert(side);
                }
                None => listed.push(Listed {
                    id,
                    sides: BTreeSet::from([side]),
                    unstable,
                }),
            }
        }
    }

    /// What a launch of a program told; not `is_whole` if something of it was lost.
    pub(super) fn add_program(
        &mut self,
        side: Side,
        target: &Target,
        readings: Vec<Reading>,
        is_whole: bool,
    ) {
        for reading in &readings {
            self.programs.add(target, side, reading);
        }
        if !is_whole {
            self.lossy.insert((side, target.clone()));
        }
    }

    /// The scenarios as events, those of this shard marked as assigned. Shards are dealt over the sorted keys, which
    /// are the same on every machine; all that a program measures is in one.
    #[must_use]
    pub fn events(self, shard: Option<Shard>) -> Vec<Event> {
        let mut scenarios: Vec<(Scenario, Listed)> = Vec::new();
        for (target, ids) in self.ids {
            scenarios.extend(ids.into_iter().map(|listed| {
                let (target, id) = (target.clone(), listed.id.clone());
                (
                    Scenario {
                        kind: Kind::Criterion,
                        target,
                        id,
                        metric: Metric::time(),
                    },
                    listed,
                )
            }));
        }
        let lossy = self.lossy;
        scenarios.extend(self.programs.into_entries().into_iter().map(|entry| {
            let may_have = |side: &Side| lossy.contains(&(*side, entry.scenario.target.clone()));
            let listed = Listed {
                id: entry.scenario.id.clone(),
                sides: entry
                    .sides
                    .into_iter()
                    .chain(Side::BOTH.into_iter().filter(may_have))
                    .collect(),
                unstable: None,
            };
            (entry.scenario, listed)
        }));
        let keys: BTreeSet<Key<'_>> = scenarios.iter().map(|(scenario, _)| key(scenario)).collect();
        let mine: BTreeSet<Key<'_>> = keys
            .into_iter()
            .enumerate()
            .filter(|(n, _)| shard.is_none_or(|shard| shard.holds(*n)))
            .map(|(_, key)| key)
            .collect();
        let assigned: Vec<bool> = scenarios
            .iter()
            .map(|(scenario, _)| mine.contains(&key(scenario)))
            .collect();
        let mut incidents = self.incidents;
        let mut events = Vec::new();
        for (ix, ((scenario, listed), assigned)) in (0..).zip(scenarios.into_iter().zip(assigned)) {
            incidents.extend(listed.unstable.map(|other| unstable(ix, &scenario, &other)));
            let sides = listed.sides.into_iter().collect();
            events.push(Event::Scenario(Entry {
                ix,
                scenario,
                sides,
                assigned,
            }));
        }
        events.extend(incidents.into_iter().map(Event::Incident));
        events
    }
}

/// What is dealt to a shard: a benchmark, or a program with all that it measures.
type Key<'a> = (Kind, &'a Target, Option<&'a str>);

fn key(scenario: &Scenario) -> Key<'_> {
    let id = (scenario.kind == Kind::Criterion).then_some(scenario.id.as_str());
    (scenario.kind, &scenario.target, id)
}

fn unstable(ix: u32, scenario: &Scenario, other: &str) -> Incident {
    Incident {
        phase: None,
        round: None,
        side: None,
        target: scenario.target.clone(),
        scenario: Some(ix),
        what: IncidentKind::Unusable,
        detail: format!(
            "its id is another one in each process (once `{other}`), so base and head cannot be matched: \
             give it an id without a time or a random number"
        ),
    }
}

/// An id with each number replaced by `#`: the same in every process, unlike the id.
fn without_numbers(id: &str) -> String {
    let mut text = String::new();
    for c in id.chars() {
        match c {
            '0'..='9' if text.ends_with('#') => {}
            '0'..='9' => text.push('#'),
            other => text.push(other),
        }
    }
    text
}
