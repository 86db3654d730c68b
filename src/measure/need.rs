//! What a recording still needs: which scenarios are to be measured, what they cost, what the budget reaches.

use crate::plan::Plan;
use crate::recording::{Entry, Incident, IncidentKind, Observation, Phase, Recording, Timing};
use crate::revision::Side;
use crate::scenario::Target;
use crate::schedule::Job;
use crate::stats::quantile::median;
use std::collections::{BTreeMap, BTreeSet};

/// Time per scenario and slot: short, because many short slots beat few long ones (docs/statistics.md has the study),
/// but so that the whole suite can have some 64 rounds within the budget.
pub(super) fn timing(plan: &Plan, scenarios: usize) -> Timing {
    const ROUNDS: f64 = 64.0;
    const SHARE_OF_WARM_UP: f64 = 0.25;
    const LONGEST_MS: f64 = 80.0;
    let slots = 2.0 * ROUNDS * f64::from(u32::try_from(scenarios.max(1)).unwrap_or(u32::MAX));
    let each_ms = plan
        .measuring
        .budget_s
        .map_or(LONGEST_MS, |budget_s| budget_s * 1e3 / slots)
        .clamp(20.0, LONGEST_MS);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within 5..80"
    )]
    let ms = |share: f64| (each_ms * share) as u32;
    Timing {
        warm_up_ms: ms(SHARE_OF_WARM_UP),
        measure_ms: ms(1.0 - SHARE_OF_WARM_UP),
        samples: 10,
    }
}

/// Scenarios that are to be measured on both sides: assigned to this run, not identical (unless asked for), and
/// without a record of failing.
pub(super) fn pending(recording: &Recording) -> Vec<&Entry> {
    let hopeless = given_up(recording);
    let identical = recording.header.plan.measuring.identical;
    recording
        .scenarios
        .iter()
        .filter(|entry| entry.assigned && entry.sides.len() == 2 && !hopeless.contains(&entry.ix))
        .filter(|entry| identical || !recording.identical(&entry.scenario.target))
        .collect()
}

/// Scenarios that are not tried again: hung once, failed twice, or not reachable within the budget.
pub(super) fn given_up(recording: &Recording) -> BTreeSet<u32> {
    let mut strikes: BTreeMap<u32, u32> = BTreeMap::new();
    for incident in &recording.incidents {
        let Some(scenario) = incident.scenario else {
            continue;
        };
        *strikes.entry(scenario).or_default() += match incident.what {
            IncidentKind::Timeout | IncidentKind::NotReached | IncidentKind::Unusable => 2,
            _ => 1,
        };
    }
    strikes
        .into_iter()
        .filter_map(|(scenario, strikes)| (strikes >= 2).then_some(scenario))
        .collect()
}

/// Rounds of a phase that a scenario has behind it, on both sides.
pub(super) fn rounds_in(recording: &Recording, phase: Phase, scenario: u32) -> u32 {
    let mut rounds = Side::BOTH.map(|_| BTreeSet::new());
    for slot in recording.slots.iter().filter(|slot| slot.phase == phase) {
        if slot
            .observations
            .iter()
            .any(|observation| observation.scenario == scenario)
        {
            rounds[slot.side as usize].insert(slot.round);
        }
    }
    let [base, head] = rounds;
    u32::try_from(base.intersection(&head).count()).unwrap_or(u32::MAX)
}

/// What one slot of each scenario costs in seconds, its share of starting the process included. What a program counts
/// comes at no cost of its own.
pub(super) fn costs(recording: &Recording) -> BTreeMap<u32, f64> {
    let mut sums: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
    for observation in recording.slots.iter().flat_map(|slot| &slot.observations) {
        let (sum, count) = sums.entry(observation.scenario).or_default();
        *sum += observation.cost_s;
        *count += 1;
    }
    for events in recording.told.iter().flat_map(|told| &told.counts) {
        sums.entry(events.scenario).or_default().1 += 1;
    }
    sums.into_iter()
        .map(|(scenario, (sum, count))| (scenario, sum / f64::from(count)))
        .collect()
}

/// What the scenarios of each target cost, as far as it is known, ascending. Targets without any are absent.
pub(super) fn known_costs(recording: &Recording) -> BTreeMap<Target, Vec<f64>> {
    let mut known: BTreeMap<Target, Vec<f64>> = BTreeMap::new();
    for (scenario, cost_s) in costs(recording) {
        if let Some(entry) = recording.scenarios.get(scenario as usize) {
            let target = entry.scenario.target.clone();
            known.entry(target).or_default().push(cost_s);
        }
    }
    for costs in known.values_mut() {
        costs.sort_by(f64::total_cmp);
    }
    known
}

/// Seconds that a process of each target spends on anything but its scenarios, most of it before the first one: what
/// its benches set up. The first scenario's cost includes it, so it takes slots of several to tell; a target without
/// such slots is absent.
pub(super) fn starts(recording: &Recording) -> BTreeMap<Target, f64> {
    let mut seen: BTreeMap<Target, Vec<f64>> = BTreeMap::new();
    for slot in &recording.slots {
        let costs: Vec<f64> = slot
            .observations
            .iter()
            .map(|observation| observation.cost_s)
            .collect();
        if let [_, later @ ..] = costs.as_slice()
            && let Some(typical_s) = median(later)
        {
            let own_s = slot.wall_s - later.iter().sum::<f64>() - typical_s;
            seen.entry(slot.target.clone()).or_default().push(own_s.max(0.0));
        }
    }
    seen.into_iter()
        .filter_map(|(target, seconds)| Some((target, median(&seconds)?)))
        .collect()
}

pub(super) fn job(entry: &Entry, cost_s: f64) -> Job {
    Job {
        scenario: entry.ix,
        target: entry.scenario.target.clone(),
        cost_s,
    }
}

/// Scenarios that only one side lists, with that side.
pub(super) fn one_sided(recording: &Recording) -> impl Iterator<Item = (&Entry, Side)> {
    let hopeless = given_up(recording);
    recording
        .scenarios
        .iter()
        .filter_map(move |entry| match entry.sides[..] {
            [side] if entry.assigned && !hopeless.contains(&entry.ix) => Some((entry, side)),
            _ => None,
        })
}

/// What runs or does not as a whole: a benchmark, or everything that a program measures.
pub(super) struct Whole<'a> {
    pub(super) target: &'a Target,
    pub(super) jobs: Vec<&'a Job>,
    /// Seconds one slot spends on all of it.
    pub(super) cost_s: f64,
}

/// The same jobs, those of a program together.
pub(super) fn wholes(jobs: &[Job]) -> Vec<Whole<'_>> {
    let mut wholes: Vec<Whole<'_>> = Vec::new();
    for job in jobs {
        let mut known = wholes.iter_mut().filter(|_| job.target.is_program());
        if let Some(whole) = known.find(|whole| *whole.target == job.target) {
            whole.jobs.push(job);
            whole.cost_s += job.cost_s;
        } else {
            wholes.push(Whole {
                target: &job.target,
                jobs: vec![job],
                cost_s: job.cost_s,
            });
        }
    }
    wholes
}

/// The cheapest jobs of which so many rounds of both sides fit into `left_s` seconds together.
pub(super) fn cheapest(jobs: &[Job], left_s: f64, rounds: impl Fn(&Target) -> u32) -> BTreeSet<u32> {
    let mut by_cost = wholes(jobs);
    by_cost.sort_by(|a, b| a.cost_s.total_cmp(&b.cost_s));
    let mut spent_s = 0.0;
    by_cost
        .into_iter()
        .take_while(|whole| {
            spent_s += 2.0 * f64::from(rounds(whole.target)) * whole.cost_s;
            spent_s <= left_s
        })
        .flat_map(|whole| whole.jobs)
        .map(|job| job.scenario)
        .collect()
}

/// What scenarios are asked for; all that a program measures for the most that is asked of any of it.
pub(super) fn spread(asked: &BTreeMap<u32, u32>, entries: &[Entry]) -> BTreeMap<u32, u32> {
    let of = |entry: &Entry| asked.get(&entry.ix).copied();
    let most = |entry: &Entry| {
        let target = &entry.scenario.target;
        if !target.is_program() {
            return of(entry);
        }
        let same = entries.iter().filter(|other| other.scenario.target == *target);
        same.filter_map(of).max()
    };
    let spread = entries.iter().filter_map(|entry| Some((entry.ix, most(entry)?)));
    spread.collect()
}

/// Samples of a scenario whose iterations are short. The number of a slot is its fastest sample, and a machine that
/// others share is at its full speed only for moments: many short samples meet one, few long ones seldom do.
const SAMPLES: u32 = 50;

/// Scenarios of which so many samples fit into the time of a slot; the others keep criterion's smallest number.
pub(super) fn brisk(recording: &Recording) -> BTreeSet<u32> {
    let Some(timing) = recording.timing else {
        return BTreeSet::new();
    };
    let longest_ns = f64::from(timing.measure_ms) * 1e6 / f64::from(2 * SAMPLES);
    let fits = |observation: &&Observation| {
        let shortest_ns = observation.per_iteration().fold(f64::INFINITY, f64::min);
        shortest_ns <= longest_ns
    };
    let observations = recording.slots.iter().flat_map(|slot| &slot.observations);
    observations
        .filter(fits)
        .map(|observation| observation.scenario)
        .collect()
}

/// The timing of a process that measures only brisk scenarios, or also others.
pub(super) fn timing_of(timing: Timing, all_brisk: bool) -> Timing {
    Timing {
        samples: if all_brisk { SAMPLES } else { timing.samples },
        ..timing
    }
}

/// That a scenario is given up for lack of budget, and what it would have taken, with all that runs with it; a cost of 0
/// is one nobody saw.
pub(super) fn not_reached(job: &Job, cost_s: f64, rounds: u32) -> Incident {
    let seconds = cost_s * 2.0 * f64::from(rounds);
    let detail = if seconds > 0.0 {
        format!("{rounds} rounds of it take {seconds:.0} s")
    } else {
        "those tried before it fill the budget, or never ended".to_owned()
    };
    Incident {
        phase: None,
        round: None,
        side: None,
        target: job.target.clone(),
        scenario: Some(job.scenario),
        what: IncidentKind::NotReached,
        detail,
    }
}
