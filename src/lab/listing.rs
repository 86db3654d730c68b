//! What the executables of both sides list: which scenarios there are, and on which sides.

use crate::metric::Metric;
use crate::plan::Shard;
use crate::recording::{Entry, Event, Incident, IncidentKind};
use crate::revision::Side;
use crate::scenario::{Kind, Scenario, Target};
use std::collections::{BTreeMap, BTreeSet};

/// What the executables of both sides list.
#[derive(Debug, Default)]
pub struct Listing {
    /// Ids by target, in the order base registers them; those only head has come last.
    ids: BTreeMap<Target, Vec<Listed>>,
    /// Executables that could not be listed.
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

    /// The scenarios as events, those of this shard marked as assigned. Shards are dealt over the sorted keys, which
    /// are the same on every machine.
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
        let mut keys: Vec<&Scenario> = scenarios.iter().map(|(scenario, _)| scenario).collect();
        keys.sort();
        let mine: BTreeSet<&Scenario> = keys
            .iter()
            .enumerate()
            .filter(|(n, _)| shard.is_none_or(|shard| shard.holds(*n)))
            .map(|(_, key)| *key)
            .collect();
        let assigned: Vec<bool> = scenarios
            .iter()
            .map(|(scenario, _)| mine.contains(scenario))
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
