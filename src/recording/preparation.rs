//! What is known of a run before anything is measured, and whether another run may build on it.

use super::{Event, Incident, IncidentKind, Recording};
use crate::plan::Plan;
use crate::revision::Side;
use crate::scenario::Target;

impl Recording {
    /// Everything that building found out, as events: for a run that measures what another one built.
    #[must_use]
    pub fn preparation(&self) -> Vec<Event> {
        let mut events: Vec<Event> = self
            .notes
            .iter()
            .cloned()
            .map(|text| Event::Note { text })
            .collect();
        events.extend(self.builds.iter().cloned().map(Event::Build));
        events.extend(self.differences.iter().cloned().map(Event::Difference));
        events.extend(self.bench_changes.iter().cloned().map(Event::BenchChange));
        events.push(Event::ChangedSources(self.changed_sources.clone()));
        events.extend(self.incidents.iter().cloned().map(Event::Incident));
        events
    }

    /// Why an executable or a program cannot be used at all on a side, if it cannot.
    #[must_use]
    pub fn unusable(&self, side: Side, target: &Target) -> Option<&Incident> {
        self.incidents.iter().find(|incident| {
            incident.what == IncidentKind::Unusable
                && incident.scenario.is_none()
                && incident.side.is_none_or(|of| of == side)
                && &incident.target == target
        })
    }

    /// Whether a run with this plan may go on where this recording stops: it is unfinished, preparation is complete, and
    /// it measures the same part of the same executables. Budget and limits may differ; those of the recording hold.
    #[must_use]
    pub fn can_go_on_as(&self, plan: &Plan) -> bool {
        let own = &self.header.plan;
        (self.killed() || self.interrupted())
            && self.timing.is_some()
            && (&own.base.sha, &own.head.sha, &own.selection)
                == (&plan.base.sha, &plan.head.sha, &plan.selection)
            && own.measuring.shard == plan.measuring.shard
    }
}
