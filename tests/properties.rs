//! Properties of the judging half that hold for any numbers.

mod story;

use abreast::comparison::Pair;
use abreast::judge::estimate::contrast;
use abreast::layout::Layout;
use abreast::plan::Shard;
use abreast::recording::{
    BenchChange, ChangedPiece, Incident, IncidentKind, Observation, Phase, Throughput, Work,
};
use abreast::report::Report;
use abreast::revision::Side;
use abreast::units::Fraction;
use proptest::prelude::*;
use story::{Story, target};

fn side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Base), Just(Side::Head)]
}

fn pair() -> impl Strategy<Value = Pair> {
    (1e-3..1e9_f64, 1e-3..1e9_f64, side()).prop_map(|(base, head, first)| Pair {
        layout: Layout::AS_BUILT,
        round: 0,
        base,
        head,
        log_base: base.ln(),
        log_head: head.ln(),
        first,
    })
}

fn pairs() -> impl Strategy<Value = Vec<Pair>> {
    prop::collection::vec(pair(), 2..40).prop_map(|mut pairs| {
        for (round, pair) in (0..).zip(&mut pairs) {
            pair.round = round;
        }
        pairs
    })
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1.0)
}

proptest! {
    #[test]
    fn permuting_rounds_within_an_order_changes_no_estimate(of in pairs(), seed in any::<u64>()) {
        let mut shuffled = of.clone();
        // Any permutation: sort by a hash of the position. The order of the sides travels with its round.
        shuffled.sort_by_key(|pair| u64::from(pair.round).wrapping_mul(seed | 1).rotate_left(17));
        let (one, other) = (contrast(&of), contrast(&shuffled));
        match (one, other) {
            (Some(one), Some(other)) => {
                prop_assert!(close(one.change.value, other.change.value));
                prop_assert!(close(one.change.standard_error, other.change.standard_error));
            }
            (one, other) => prop_assert_eq!(one.is_some(), other.is_some()),
        }
    }

    #[test]
    fn exchanging_the_sides_negates_the_change_and_keeps_its_precision(of in pairs()) {
        let exchanged: Vec<Pair> = of
            .iter()
            .map(|pair| Pair {
                layout: Layout::AS_BUILT,
                base: pair.head,
                head: pair.base,
                log_base: pair.log_head,
                log_head: pair.log_base,
                first: pair.first.other(),
                ..*pair
            })
            .collect();
        if let (Some(one), Some(other)) = (contrast(&of), contrast(&exchanged)) {
            prop_assert!(close(one.change.value, -other.change.value));
            prop_assert!(close(one.change.standard_error, other.change.standard_error));
            prop_assert!(close(one.floor().unwrap_or(-1.0), other.floor().unwrap_or(-1.0)));
            prop_assert!(close(one.order_effect.unwrap_or(-1.0), other.order_effect.unwrap_or(-1.0)));
        }
    }

    #[test]
    fn scaling_both_sides_changes_nothing(of in pairs(), factor in 1e-3..1e3_f64) {
        let scaled: Vec<Pair> = of
            .iter()
            .map(|pair| Pair {
                layout: Layout::AS_BUILT,
                log_base: pair.log_base + factor.ln(),
                log_head: pair.log_head + factor.ln(),
                ..*pair
            })
            .collect();
        if let (Some(one), Some(other)) = (contrast(&of), contrast(&scaled)) {
            prop_assert!(close(one.change.value, other.change.value));
            prop_assert!(close(one.change.standard_error, other.change.standard_error));
            prop_assert!(close(one.floor().unwrap_or(-1.0), other.floor().unwrap_or(-1.0)));
        }
    }

    #[test]
    fn an_order_effect_of_any_size_cancels(of in prop::collection::vec(-0.1..0.1_f64, 8..40), effect in -0.5..0.5_f64) {
        let with = |effect: f64| -> Vec<Pair> {
            (0..)
                .zip(&of)
                .map(|(round, change)| {
                    let base_first = round % 2 == 0;
                    let late = if base_first { effect } else { -effect };
                    Pair {
                        layout: Layout::AS_BUILT,
                        round,
                        base: 1.0,
                        head: 1.0,
                        log_base: 0.0,
                        log_head: change + late,
                        first: if base_first { Side::Base } else { Side::Head },
                    }
                })
                .collect()
        };
        if let (Some(without), Some(with)) = (contrast(&with(0.0)), contrast(&with(effect))) {
            prop_assert!(close(without.change.value, with.change.value));
            prop_assert!(close(without.change.standard_error, with.change.standard_error));
        }
    }
}

/// Any float, the worst ones often.
fn wild() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        1.0..1e6_f64,
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(0.0),
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
    ]
}

fn observation() -> impl Strategy<Value = Observation> {
    let throughput = prop::option::of((wild(), any::<bool>()).prop_map(|(amount, bytes)| Throughput {
        per: if bytes { Work::Bytes } else { Work::Elements },
        amount,
    }));
    (
        0..5_u32,
        prop::collection::vec(any::<u64>(), 0..4),
        prop::collection::vec(wild(), 0..4),
        throughput,
        wild(),
    )
        .prop_map(|(scenario, iters, totals, throughput, cost_s)| Observation {
            scenario,
            iters: iters.into(),
            totals,
            throughput,
            cost_s,
        })
}

fn phase() -> impl Strategy<Value = Phase> {
    prop_oneof![
        Just(Phase::Warmup),
        Just(Phase::Measure),
        Just(Phase::Measure),
        Just(Phase::Confirm)
    ]
}

fn incident() -> impl Strategy<Value = Incident> {
    let what = prop_oneof![
        Just(IncidentKind::Timeout),
        Just(IncidentKind::NotReached),
        Just(IncidentKind::Unusable),
        Just(IncidentKind::BadMeasurement),
    ];
    (
        prop::option::of(phase()),
        prop::option::of(any::<u32>()),
        prop::option::of(side()),
        prop::option::of(0..9_u32),
        what,
        ".{0,20}",
    )
        .prop_map(|(phase, round, side, scenario, what, detail)| Incident {
            phase,
            round,
            side,
            target: target(),
            scenario,
            what,
            detail,
        })
}

/// A run whose values, slots and incidents are garbage, over a backbone of rounds that reach a decision.
fn garbage() -> impl Strategy<Value = Story> {
    let slots = prop::collection::vec(
        (
            phase(),
            prop_oneof![any::<u32>(), 0..24_u32],
            side(),
            any::<bool>(),
            prop::collection::vec(observation(), 0..4),
        ),
        0..60,
    );
    let policy = (wild(), wild(), wild(), wild(), wild());
    (
        slots,
        prop::collection::vec(incident(), 0..6),
        policy,
        0..4_u32,
        prop::collection::vec(wild(), 48),
        any::<[bool; 6]>(),
    )
        .prop_map(|(slots, incidents, limits, sides, backbone, options)| {
            let mut story = Story::of(&["a", "b/c", ""]);
            story.scenario("one", if sides < 2 { &[Side::Head] } else { &[] });
            let template = {
                let mut one = Story::of(&["a"]);
                one.measure(24, |at| backbone[at.launch as usize].abs().clamp(1e-300, 1e300));
                one.recording.slots
            };
            story.recording.slots.extend(template.iter().cloned());
            for (phase, round, side, first, observations) in slots {
                let mut slot = template[0].clone();
                (slot.phase, slot.round, slot.side, slot.first, slot.observations) =
                    (phase, round, side, first, observations);
                story.recording.slots.push(slot);
            }
            story.recording.incidents = incidents;
            let [truncated, confirm, identical, fixed, shard, touched] = options;
            story.recording.truncated = truncated;
            let measuring = &mut story.recording.header.plan.measuring;
            measuring.confirm = confirm;
            measuring.identical = identical;
            measuring.rounds = fixed.then_some(12);
            measuring.shard = shard.then_some(Shard { index: 1, count: 2 });
            if touched {
                story.recording.bench_changes.push(BenchChange {
                    target: target(),
                    pieces: vec![ChangedPiece {
                        file: "x".to_owned(),
                        line: 1,
                        literals: vec!["b".to_owned()],
                        run_file: false,
                    }],
                });
            }
            if sides == 3 {
                story.recording.builds.clear();
            }
            let (family_alpha, threshold, margin, alert, floor_ns) = limits;
            story.policy.family_alpha = family_alpha;
            story.policy.threshold = Fraction(threshold);
            story.policy.margin = Fraction(margin);
            story.policy.alert = Fraction(alert);
            story.policy.floor_ns = floor_ns;
            story
        })
}

fn all_finite(report: &Report) -> bool {
    let rows = report.findings.iter().all(|finding| {
        let sides = [finding.base, finding.head]
            .into_iter()
            .flatten()
            .all(f64::is_finite);
        sides
            && finding.change.as_ref().is_none_or(|of| {
                [of.change, of.low, of.high, of.floor, of.detectable]
                    .into_iter()
                    .chain(of.per_round.iter().copied())
                    .chain(of.confirmation)
                    .all(f64::is_finite)
            })
    });
    let method = [report.method.median_detectable, report.method.order_effect];
    rows && method.into_iter().flatten().all(f64::is_finite)
}

proptest! {
    #[test]
    fn no_garbage_makes_the_judge_panic_or_say_nan(mut story in garbage()) {
        for own_policy in [true, false] {
            if !own_policy {
                story.policy = abreast::plan::Policy::default();
            }
            let report = story.judge();
            prop_assert!(all_finite(&report), "{:?}", report.findings);
            // As text, because a NaN in the policy is not equal to itself.
            prop_assert_eq!(format!("{report:?}"), format!("{:?}", story.judge()));
            let _ = abreast::judge::undecided(&story.recording, &story.policy);
            let _ = abreast::judge::candidates(&story.recording, &story.policy);
        }
    }
}
