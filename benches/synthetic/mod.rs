//! A recording of any size, made of the tool's own types: two sides, ten samples a slot, eight scenarios a process,
//! 1 % noise between processes, every hundredth scenario 10 % slower on head.

use abreast::layout::Layout;
use abreast::metric::Metric;
use abreast::plan::{Measuring, Plan, Policy, Selection};
use abreast::recording::{
    Build, Contention, Entry, Event, Executable, Header, Observation, Phase, SCHEMA, SlotRecord,
};
use abreast::revision::{Revision, Side};
use abreast::scenario::{Kind, Scenario, Target};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng};

const PER_PROCESS: u32 = 8;

/// The file's content.
pub(crate) fn recording(scenarios: u32, rounds: u32) -> Vec<u8> {
    let mut text = Vec::new();
    let mut write = |event: &Event| {
        if serde_json::to_writer(&mut text, event).is_ok() {
            text.push(b'\n');
        }
    };
    write(&Event::Header(Box::new(header())));
    for side in Side::BOTH {
        write(&Event::Build(build(side)));
    }
    for ix in 0..scenarios {
        let scenario = Scenario {
            kind: Kind::Criterion,
            target: target(),
            id: format!("group_{}/function_{}/{ix}", ix / 100, ix / 10 % 10),
            metric: Metric::time(),
        };
        write(&Event::Scenario(Entry {
            ix,
            scenario,
            sides: Side::BOTH.to_vec(),
            assigned: true,
        }));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for round in 0..rounds {
        for first in (0..scenarios).step_by(PER_PROCESS as usize) {
            let base_first = (round + first / PER_PROCESS).is_multiple_of(2);
            let sides = if base_first {
                Side::BOTH
            } else {
                [Side::Head, Side::Base]
            };
            for (place, side) in sides.into_iter().enumerate() {
                let members = first..scenarios.min(first + PER_PROCESS);
                write(&Event::Slot(slot(round, side, place == 0, members, &mut rng)));
            }
        }
    }
    text
}

fn slot(
    round: u32,
    side: Side,
    first: bool,
    members: std::ops::Range<u32>,
    rng: &mut ChaCha8Rng,
) -> SlotRecord {
    let observations = members
        .map(|ix| {
            let slower = if ix % 100 == 7 && side == Side::Head {
                1.1
            } else {
                1.0
            };
            let typical_ns =
                100.0 * f64::from(ix % 50 + 1) * slower * (1.0 + 0.01 * rng.random_range(-1.7..1.7));
            let iters: Vec<u64> = (1..=10).map(|sample| sample * 500).collect();
            let total = |iters: &u64| {
                #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
                let total = *iters as f64 * typical_ns * (1.0 + 0.02 * rng.random_range(0.0..1.0));
                total.round()
            };
            let totals = iters.iter().map(total).collect();
            Observation {
                scenario: ix,
                iters: iters.into(),
                totals,
                throughput: None,
                cost_s: 0.12,
            }
        })
        .collect();
    SlotRecord {
        phase: Phase::Measure,
        round,
        side,
        first,
        target: target(),
        layout: Layout::AS_BUILT,
        at_s: f64::from(round),
        wall_s: 1.0,
        waited_s: Some(0.0),
        contention: Contention {
            run_queue_ms: Some(0.9),
            involuntary_switches: Some(3),
            user_s: Some(0.98),
            system_s: Some(0.01),
            steal_ms: Some(0.0),
            pressure_ms: Some(1.2),
            load1: Some(1.1),
            slowdown: Some([1.0, 1.25]),
        },
        observations,
    }
}

fn target() -> Target {
    Target {
        package: "kernels".to_owned(),
        target: "kernels".to_owned(),
    }
}

fn header() -> Header {
    let revision = |label: &str, digit: &str| Revision {
        label: label.to_owned(),
        sha: digit.repeat(40),
    };
    Header {
        schema: SCHEMA.to_owned(),
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        run: "synthetic".to_owned(),
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        plan: Plan {
            base: revision("main", "a"),
            head: revision("feature", "b"),
            selection: Selection::default(),
            measuring: Measuring {
                budget_s: Some(600.0),
                rounds: None,
                seed: 1,
                shard: None,
                identical: false,
                confirm: false,
                layout_check: true,
                relink_control: false,
                instructions: false,
                elsewhere: false,
                timeout_s: None,
            },
            policy: Policy::default(),
        },
    }
}

fn build(side: Side) -> Build {
    Build {
        side,
        sha: side.to_string(),
        checkout_s: 0.1,
        build_s: 1.0,
        toolchain: None,
        executables: vec![Executable {
            target: target(),
            path: format!("{side}/kernels--kernels"),
            sha256: side.to_string(),
            loaded_sha256: side.to_string(),
            criterion: Some("0.8.2".to_owned()),
            package_dir: String::new(),
        }],
        skipped: Vec::new(),
        failure: None,
    }
}
