//! The incidents of a recording, by scenario.

use crate::judge::wording::first_line;
use crate::recording::{Incident, IncidentKind, Phase, Recording};

/// Incidents, found by scenario without a search.
#[derive(Debug)]
pub struct Incidents<'a> {
    recording: &'a Recording,
    by_scenario: Vec<Vec<&'a Incident>>,
    whole_targets: Vec<&'a Incident>,
}

impl<'a> Incidents<'a> {
    /// Sorts a recording's incidents.
    #[must_use]
    pub fn of(recording: &'a Recording) -> Self {
        let mut by_scenario = vec![Vec::new(); recording.scenarios.len()];
        let mut whole_targets = Vec::new();
        for incident in &recording.incidents {
            match incident.scenario {
                Some(scenario) => {
                    if let Some(of) = by_scenario.get_mut(scenario as usize) {
                        of.push(incident);
                    }
                }
                None => whole_targets.push(incident),
            }
        }
        Self {
            recording,
            by_scenario,
            whole_targets,
        }
    }

    /// Incidents of the scenario at this position, its own before those of its whole executable, in order.
    pub fn on(&self, position: usize) -> impl Iterator<Item = &'a Incident> + '_ {
        let target = self
            .recording
            .scenarios
            .get(position)
            .map(|entry| &entry.scenario.target);
        let own = self.by_scenario.get(position).into_iter().flatten().copied();
        let whole = self
            .whole_targets
            .iter()
            .copied()
            .filter(move |incident| Some(&incident.target) == target);
        own.chain(whole)
    }

    /// Incidents up to the end of the comparison that say the scenario cannot be measured.
    pub fn failures(&self, position: usize) -> impl Iterator<Item = &'a Incident> + '_ {
        self.on(position)
            .filter(|incident| !comes_later(incident) && incident.what != IncidentKind::NotReached)
    }

    /// Incidents of the confirmation that say the scenario could not be measured.
    pub fn failed_confirmation(&self, position: usize) -> Option<&'a Incident> {
        self.on(position).find(|incident| {
            incident.phase == Some(Phase::Confirm) && incident.what != IncidentKind::NotReached
        })
    }

    /// The incident that says the budget ended before the scenario was measured.
    #[must_use]
    pub fn not_reached(&self, position: usize) -> Option<&'a Incident> {
        self.on(position)
            .find(|incident| !comes_later(incident) && incident.what == IncidentKind::NotReached)
    }
}

/// Whether it happened after the comparison, to a row that had its numbers by then.
fn comes_later(incident: &Incident) -> bool {
    matches!(incident.phase, Some(Phase::Confirm | Phase::Relaid))
}

/// `head timed out in round 3: ...`, one line.
#[must_use]
pub fn sentence(incident: &Incident) -> String {
    let side = incident.side.map_or("both sides", |side| side.as_str());
    let what = match incident.what {
        IncidentKind::Timeout => "timed out",
        IncidentKind::Crash => "crashed",
        IncidentKind::NoMeasurement => "wrote no measurement",
        IncidentKind::BadMeasurement => "wrote no usable measurement",
        IncidentKind::NotReached => "not reached",
        IncidentKind::Unusable => "could not be used",
    };
    let when = match (incident.phase, incident.round) {
        (Some(Phase::Warmup), _) => " in the warm-up".to_owned(),
        (Some(Phase::Measure), Some(round)) => format!(" in round {round}"),
        (Some(Phase::Confirm), _) => " in the confirmation".to_owned(),
        (Some(Phase::Relaid), _) => " in another layout".to_owned(),
        _ => String::new(),
    };
    let detail = first_line(&incident.detail);
    let colon = if detail.is_empty() { "" } else { ": " };
    format!("{side} {what}{when}{colon}{detail}")
}
