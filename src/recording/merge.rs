//! Joining recordings of one comparison: shards of it, or repetitions.

use super::{Counted, Entry, Phase, Recording, RecordingError};
use crate::plan::Plan;
use crate::revision::Side;

impl Recording {
    /// Joins recordings of one comparison: shards of it, or repetitions. Rounds of the later ones are renumbered to
    /// follow those of the earlier ones, so a pair of slots never spans two recordings.
    ///
    /// # Errors
    /// [`RecordingError::Mixed`] if they compare other commits or were selected or compiled differently;
    /// [`RecordingError::Empty`] for none.
    pub fn merge(recordings: Vec<Self>) -> Result<Self, RecordingError> {
        for (n, one) in recordings.iter().enumerate() {
            if recordings[..n].contains(one) {
                return Err(RecordingError::Mixed(
                    "the same recording is given twice, and would count double".to_owned(),
                ));
            }
        }
        let mut recordings = recordings.into_iter();
        let mut all = recordings.next().ok_or(RecordingError::Empty)?;
        for next in recordings {
            all.absorb(next)?;
        }
        Ok(all)
    }

    fn absorb(&mut self, other: Self) -> Result<(), RecordingError> {
        self.check_same_comparison(&other)?;
        let mut ix_here = Vec::with_capacity(other.scenarios.len());
        for entry in other.scenarios {
            ix_here.push(self.adopt(entry));
        }
        let offsets = Phase::ALL.map(|phase| self.next_round(phase));
        let offset = |phase: Phase| offsets[phase as usize];
        self.slots.extend(other.slots.into_iter().map(|mut slot| {
            slot.round += offset(slot.phase);
            for observation in &mut slot.observations {
                observation.scenario = ix_here[observation.scenario as usize];
            }
            slot
        }));
        self.incidents
            .extend(other.incidents.into_iter().map(|mut incident| {
                incident.scenario = incident.scenario.map(|scenario| ix_here[scenario as usize]);
                incident.round = incident
                    .round
                    .zip(incident.phase)
                    .map(|(round, phase)| round + offset(phase));
                incident
            }));
        self.relaid.extend(other.relaid);
        self.counted
            .extend(other.counted.into_iter().map(|counted| Counted {
                scenario: ix_here[counted.scenario as usize],
                ..counted
            }));
        self.told.extend(other.told.into_iter().map(|mut told| {
            told.round += offset(told.phase);
            for events in &mut told.counts {
                events.scenario = ix_here[events.scenario as usize];
            }
            told
        }));
        for note in other.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        if other.host != self.host {
            self.notes.push(format!(
                "part of the scenarios was measured on another machine: {}",
                other.host.cpu.as_deref().unwrap_or("unknown processor")
            ));
        }
        self.header.plan.measuring.identical |= other.header.plan.measuring.identical;
        self.ends.extend(other.ends);
        self.parts += other.parts;
        self.truncated |= other.truncated;
        Ok(())
    }

    fn adopt(&mut self, entry: Entry) -> u32 {
        if let Some(known) = self
            .scenarios
            .iter_mut()
            .find(|known| known.scenario == entry.scenario)
        {
            known.assigned |= entry.assigned;
            // One run may have failed to list a side that the other listed and measured.
            known.sides.extend(entry.sides);
            known.sides.sort_unstable();
            known.sides.dedup();
            return known.ix;
        }
        let ix = u32::try_from(self.scenarios.len()).unwrap_or(u32::MAX);
        self.scenarios.push(Entry { ix, ..entry });
        ix
    }

    fn check_same_comparison(&self, other: &Self) -> Result<(), RecordingError> {
        let (here, there) = (&self.header.plan, &other.header.plan);
        let commits = |plan: &Plan| format!("{} against {}", plan.base.short(), plan.head.short());
        if (&here.base.sha, &here.head.sha) != (&there.base.sha, &there.head.sha) {
            return Err(RecordingError::Mixed(format!(
                "one compares {}, another {}",
                commits(here),
                commits(there)
            )));
        }
        if here.selection != there.selection {
            return Err(RecordingError::Mixed(
                "they select or compile benches differently".to_owned(),
            ));
        }
        for side in Side::BOTH {
            for executable in self.build(side).into_iter().flat_map(|build| &build.executables) {
                let twin = other.executable(side, &executable.target);
                if twin.is_some_and(|twin| twin.loaded_sha256 != executable.loaded_sha256) {
                    return Err(RecordingError::Mixed(format!(
                        "their {side} executables of `{}` differ, so they were not built alike",
                        executable.target.target
                    )));
                }
            }
        }
        Ok(())
    }
}
