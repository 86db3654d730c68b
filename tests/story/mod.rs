//! Recordings made up in memory: a story says what each slot of each scenario measures, and the judge hears it.

#![allow(dead_code, reason = "every test crate uses another part of it")]

pub(crate) mod worlds;

use abreast::layout::Layout;
use abreast::plan::{Measuring, Plan, Policy, Selection};
use abreast::recording::{
    Build, Contention, End, EndReason, Entry, Executable, Header, Incident, IncidentKind, Observation, Phase,
    Recording, SCHEMA, SlotRecord, Throughput,
};
use abreast::report::{Finding, Report};
use abreast::revision::{Revision, Side};
use abreast::scenario::{Kind, Scenario, Target};
use abreast::units::Fraction;

/// A recording that is being made up.
#[derive(Debug)]
pub(crate) struct Story {
    pub(crate) recording: Recording,
    pub(crate) policy: Policy,
    launch: u32,
}

/// Where one number is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At {
    pub(crate) phase: Phase,
    pub(crate) round: u32,
    pub(crate) side: Side,
    /// Whether this side runs first in its round.
    pub(crate) first: bool,
    /// Processes launched before this one, over all phases.
    pub(crate) launch: u32,
    pub(crate) scenario: u32,
}

/// What one slot measures for one scenario.
#[derive(Debug, Clone)]
pub(crate) struct Samples {
    pub(crate) iters: Vec<u64>,
    pub(crate) totals: Vec<f64>,
    pub(crate) throughput: Option<Throughput>,
}

impl From<f64> for Samples {
    /// One sample of one iteration.
    fn from(ns: f64) -> Self {
        Self {
            iters: vec![1],
            totals: vec![ns],
            throughput: None,
        }
    }
}

/// In which order the sides run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Schedule {
    /// Rounds of both sides; the order is turned round inside each pair of rounds, and which comes first in a pair
    /// alternates in a fixed irregular pattern.
    Paired,
    /// All of base, then all of head: what abreast never does.
    Blocks,
}

impl Story {
    /// A run of these scenarios, which both sides have in one bench target called `kernels`.
    pub(crate) fn of(ids: &[&str]) -> Self {
        let header = Header {
            schema: SCHEMA.to_owned(),
            tool: "0.1.0".to_owned(),
            run: "run".to_owned(),
            started_at: "2026-01-01T00:00:00Z".to_owned(),
            plan: Plan {
                base: revision("main", 'a'),
                head: revision("feature", 'b'),
                selection: Selection::default(),
                measuring: Measuring {
                    budget_s: Some(600.0),
                    rounds: None,
                    seed: 7,
                    shard: None,
                    identical: false,
                    confirm: true,
                    layout_check: true,
                    relink_control: false,
                    instructions: false,
                    elsewhere: false,
                    timeout_s: None,
                },
                policy: Policy::default(),
            },
        };
        let mut recording = Recording::new(header);
        for side in Side::BOTH {
            recording.builds.push(build(side));
        }
        recording.ends.push(End {
            total_s: 75.0,
            reason: EndReason::Decided,
        });
        let mut story = Self {
            recording,
            policy: Policy::default(),
            launch: 0,
        };
        for id in ids {
            story.scenario(id, &Side::BOTH);
        }
        story
    }

    /// One more scenario.
    pub(crate) fn scenario(&mut self, id: &str, sides: &[Side]) -> &mut Self {
        self.recording.scenarios.push(Entry {
            ix: u32::try_from(self.recording.scenarios.len()).unwrap_or(u32::MAX),
            scenario: Scenario {
                kind: Kind::Criterion,
                target: target(),
                id: id.to_owned(),
                metric: abreast::metric::Metric::time(),
            },
            sides: sides.to_vec(),
            assigned: true,
        });
        self
    }

    pub(crate) fn without_confirmation(&mut self) -> &mut Self {
        self.recording.header.plan.measuring.confirm = false;
        self
    }

    pub(crate) fn threshold(&mut self, threshold: f64) -> &mut Self {
        self.policy.threshold = Fraction(threshold);
        self
    }

    /// Runs rounds of all scenarios; `None` is a slot that measures nothing.
    pub(crate) fn run<S: Into<Samples>>(
        &mut self,
        phase: Phase,
        rounds: u32,
        schedule: Schedule,
        mut measure: impl FnMut(At) -> Option<S>,
    ) -> &mut Self {
        let start = self.recording.next_round(phase);
        let mut order: Vec<(u32, Side, bool)> = Vec::new();
        match schedule {
            Schedule::Paired => {
                for round in start..start + rounds {
                    let (pair, turned) = (round / 2, round % 2 == 1);
                    // An irregular but balanced pattern (Thue-Morse), as a seeded shuffle would give.
                    let base_first = (pair.count_ones() % 2 == 0) != turned;
                    let first = if base_first { Side::Base } else { Side::Head };
                    order.push((round, first, true));
                    order.push((round, first.other(), false));
                }
            }
            Schedule::Blocks => {
                for side in Side::BOTH {
                    order.extend((start..start + rounds).map(|round| (round, side, side == Side::Base)));
                }
            }
        }
        for (round, side, first) in order {
            let launch = self.launch;
            self.launch += 1;
            let observations = self
                .recording
                .scenarios
                .iter()
                .filter(|entry| entry.sides.contains(&side))
                .filter_map(|entry| {
                    let at = At {
                        phase,
                        round,
                        side,
                        first,
                        launch,
                        scenario: entry.ix,
                    };
                    let samples: Samples = measure(at)?.into();
                    Some(Observation {
                        scenario: entry.ix,
                        iters: samples.iters.into(),
                        totals: samples.totals,
                        throughput: samples.throughput,
                        cost_s: 0.1,
                    })
                })
                .collect();
            self.recording.slots.push(SlotRecord {
                phase,
                round,
                side,
                first,
                target: target(),
                layout: Layout::AS_BUILT,
                at_s: f64::from(launch),
                wall_s: 1.0,
                waited_s: None,
                contention: Contention::default(),
                observations,
            });
        }
        self
    }

    pub(crate) fn measure(&mut self, rounds: u32, mut ns: impl FnMut(At) -> f64) -> &mut Self {
        self.run(Phase::Measure, rounds, Schedule::Paired, |at| Some(ns(at)))
    }

    pub(crate) fn confirm(&mut self, rounds: u32, ns: impl FnMut(At) -> Option<f64>) -> &mut Self {
        self.run(Phase::Confirm, rounds, Schedule::Paired, ns)
    }

    pub(crate) fn incident(
        &mut self,
        phase: Phase,
        side: Side,
        scenario: u32,
        what: IncidentKind,
        detail: &str,
    ) -> &mut Self {
        self.recording.incidents.push(Incident {
            phase: Some(phase),
            round: Some(0),
            side: Some(side),
            target: target(),
            scenario: Some(scenario),
            what,
            detail: detail.to_owned(),
        });
        self
    }

    pub(crate) fn judge(&self) -> Report {
        abreast::judge::judge(&self.recording, &self.policy)
    }
}

/// The row of one scenario; the tests name only scenarios that exist.
pub(crate) fn row<'a>(report: &'a Report, id: &str) -> &'a Finding {
    match report.findings.iter().find(|finding| finding.scenario == id) {
        Some(finding) => finding,
        None => panic!("no row `{id}` in {:?}", report.findings),
    }
}

/// The change of one scenario as a fraction.
pub(crate) fn change(report: &Report, id: &str) -> f64 {
    row(report, id)
        .change
        .as_ref()
        .map_or(f64::NAN, |change| change.change)
}

pub(crate) fn target() -> Target {
    Target {
        package: "engine".to_owned(),
        target: "kernels".to_owned(),
    }
}

fn revision(label: &str, digit: char) -> Revision {
    Revision {
        label: label.to_owned(),
        sha: digit.to_string().repeat(40),
    }
}

fn build(side: Side) -> Build {
    Build {
        side,
        sha: "c".repeat(40),
        checkout_s: 0.1,
        build_s: 10.0,
        toolchain: None,
        executables: vec![Executable {
            target: target(),
            path: format!("{side}/kernels"),
            sha256: side.as_str().repeat(10),
            loaded_sha256: side.as_str().repeat(10),
            criterion: Some("0.8.2".to_owned()),
            package_dir: ".".to_owned(),
        }],
        skipped: Vec::new(),
        failure: None,
    }
}
