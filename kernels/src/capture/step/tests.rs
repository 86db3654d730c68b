//! Steps on a stream without a device.

use super::super::fake::{Fake, FakeNode, Kind};
use super::*;
use crate::capture::audit;
use crate::device::Counters;

fn nodes(kinds: &[(&str, Kind)]) -> Vec<Box<dyn Node<Fake>>> {
    let nodes = kinds
        .iter()
        .map(|(name, kind)| Box::new(FakeNode::new(name, *kind)) as Box<dyn Node<Fake>>);
    nodes.collect()
}

fn bindings(address: u64) -> [Binding; 1] {
    [Binding {
        name: "logits".into(),
        dtype: None,
        shape: vec![1],
        address: Some(address),
    }]
}

fn counted(captures: u64, replays: u64, fallbacks: u64, segments: u64, seams: u64) -> Counters {
    Counters {
        captures,
        replays,
        fallbacks,
        segments,
        seams,
        ..Counters::default()
    }
}

#[test]
fn a_generation_is_one_eager_step_one_capture_and_replays() {
    let mut step = CapturedStep::new(Fake::default());
    let mut nodes = nodes(&[("a", Kind::Warms), ("b", Kind::Fine)]);
    let mut ran = Vec::new();
    for _ in 0..64 {
        ran.push(step.run(&mut nodes, &bindings(16)).unwrap());
        assert_eq!(
            step.recorder().ran(),
            ["a", "b"],
            "every step runs every node once"
        );
    }
    assert_eq!(ran[..3], [Ran::Eagerly, Ran::Recorded, Ran::Replayed]);
    assert_eq!(step.recorder().counters(), counted(1, 62, 0, 1, 0));
}

#[test]
fn a_seam_runs_between_two_segments_and_says_why() {
    let mut step = CapturedStep::new(Fake::default());
    let mut nodes = nodes(&[
        ("a", Kind::Fine),
        ("b", Kind::Fine),
        ("host", Kind::Host),
        ("c", Kind::Fine),
    ]);
    for _ in 0..4 {
        step.run(&mut nodes, &bindings(16)).unwrap();
        assert_eq!(step.recorder().ran(), ["a", "b", "host", "c"]);
    }
    let wanted = [
        Piece::Segment {
            segment: 0,
            nodes: 0..2,
        },
        Piece::Seam {
            node: 2,
            reason: "host: reads the host".into(),
        },
        Piece::Segment {
            segment: 1,
            nodes: 3..4,
        },
    ];
    assert_eq!(step.pieces(), wanted);
    assert_eq!(step.recorder().counters(), counted(1, 2, 0, 2, 1));
}

#[test]
fn a_kind_that_fails_to_be_recorded_is_a_seam_wherever_it_is() {
    let mut step = CapturedStep::new(Fake::default());
    let mut nodes = nodes(&[
        ("a", Kind::Fine),
        ("liar1", Kind::Lies),
        ("b", Kind::Fine),
        ("liar2", Kind::Lies),
    ]);
    for _ in 0..3 {
        step.run(&mut nodes, &bindings(16)).unwrap();
        assert_eq!(
            step.recorder().ran(),
            ["a", "liar1", "b", "liar2"],
            "nothing runs twice"
        );
    }
    assert_eq!(step.recorder().counters(), counted(1, 1, 0, 2, 2));
    assert!(
        matches!(&step.pieces()[1], Piece::Seam { node: 1, reason } if reason.contains("recording it failed"))
    );
}

#[test]
fn a_node_that_breaks_the_capture_without_a_word_is_found() {
    let mut step = CapturedStep::new(Fake::default());
    let mut nodes = nodes(&[
        ("a", Kind::Fine),
        ("bad", Kind::Breaks),
        ("b", Kind::Fine),
        ("c", Kind::Fine),
    ]);
    for _ in 0..3 {
        step.run(&mut nodes, &bindings(16)).unwrap();
        assert_eq!(step.recorder().ran(), ["a", "bad", "b", "c"]);
    }
    // Those beside it were under suspicion as well.
    assert_eq!(step.recorder().counters(), counted(1, 1, 0, 1, 3));
    assert!(matches!(&step.pieces()[3], Piece::Segment { nodes, .. } if *nodes == (3..4)));
}

#[test]
fn where_nothing_can_be_recorded_the_step_stays_eager_and_says_why() {
    let mut step = CapturedStep::new(Fake::default());
    let mut nodes = nodes(&[("host1", Kind::Host), ("liar", Kind::Lies)]);
    for _ in 0..5 {
        assert_eq!(step.run(&mut nodes, &bindings(16)).unwrap(), Ran::Eagerly);
        assert_eq!(step.recorder().ran(), ["host1", "liar"]);
    }
    assert_eq!(
        step.recorder().counters(),
        counted(0, 0, 1, 0, 0),
        "declined once, not with every step"
    );
    assert!(matches!(step.phase(), Phase::Unsupported(reason) if reason.contains("reads the host")));
    let mut empty = CapturedStep::new(Fake::default());
    for _ in 0..2 {
        empty.run(&mut [], &[]).unwrap();
    }
    assert!(matches!(empty.phase(), Phase::Unsupported(reason) if reason.contains("no nodes")));
}

#[test]
fn a_result_that_moves_is_not_recorded() {
    let mut step = CapturedStep::new(Fake::default());
    let mut nodes = nodes(&[("a", Kind::Fine)]);
    let anywhere = [Binding {
        address: None,
        ..bindings(0)[0].clone()
    }];
    for _ in 0..3 {
        assert_eq!(step.run(&mut nodes, &anywhere).unwrap(), Ran::Eagerly);
    }
    assert_eq!(step.recorder().counters(), counted(0, 0, 1, 0, 0));
    assert_eq!(
        *step.phase(),
        Phase::Unsupported("logits has no fixed address".into())
    );
}

#[test]
fn other_memory_drops_the_recording_and_the_next_step_begins_anew() {
    let mut step = CapturedStep::new(Fake::default());
    let mut nodes = nodes(&[("a", Kind::Fine)]);
    for _ in 0..3 {
        step.run(&mut nodes, &bindings(16)).unwrap();
    }
    step.recorder().ran();
    let refused = step.run(&mut nodes, &bindings(32)).unwrap_err().to_string();
    assert!(
        refused.starts_with("replay: logits was indices [1] at 0x10 and is indices [1] at 0x20"),
        "{refused}"
    );
    assert!(
        step.recorder().ran().is_empty(),
        "nothing ran with the wrong memory"
    );
    let then: Vec<_> = (0..3)
        .map(|_| step.run(&mut nodes, &bindings(32)).unwrap())
        .collect();
    assert_eq!(then, [Ran::Eagerly, Ran::Recorded, Ran::Replayed]);
    assert_eq!(step.recorder().counters(), counted(2, 2, 0, 2, 0));
}

#[test]
fn another_number_of_nodes_is_not_replayed() {
    let mut step = CapturedStep::new(Fake::default());
    let mut two = nodes(&[("a", Kind::Fine), ("b", Kind::Fine)]);
    for _ in 0..2 {
        step.run(&mut two, &bindings(16)).unwrap();
    }
    let refused = step.run(&mut two[..1], &bindings(16)).unwrap_err().to_string();
    assert!(refused.contains("the step had 2 nodes and has 1"), "{refused}");
}

#[test]
fn a_reset_begins_anew_and_lifts_a_refusal() {
    let mut step = CapturedStep::new(Fake::default());
    let mut nodes = nodes(&[("a", Kind::Fine)]);
    assert!(!step.reset().unwrap());
    for _ in 0..3 {
        step.run(&mut nodes, &bindings(16)).unwrap();
    }
    assert!(step.reset().unwrap());
    assert!(step.pieces().is_empty());
    assert_eq!(*step.phase(), Phase::NeedsWarmup);
    let then: Vec<_> = (0..3)
        .map(|_| step.run(&mut nodes, &bindings(16)).unwrap())
        .collect();
    assert_eq!(then, [Ran::Eagerly, Ran::Recorded, Ran::Replayed]);
}

#[test]
fn an_audit_names_every_node_that_stands_in_the_way_and_touches_nothing() {
    let mut lifecycle = Lifecycle::new(Fake::default());
    let mut some = nodes(&[("a", Kind::Fine), ("tile", Kind::Warms), ("host", Kind::Host)]);
    let refused = lifecycle.record_nodes(&mut some).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "not captured: 1: tile: not warmed; 2: host: reads the host"
    );
    assert!(!lifecycle.is_capturing() && lifecycle.segments() == 0);
    assert!(!lifecycle.recorder().is_recording());
    let mut all = nodes(&[("a", Kind::Fine), ("b", Kind::Fine)]);
    assert!(audit(&all).is_ok());
    let segment = lifecycle.record_nodes(&mut all).unwrap();
    lifecycle.replay(segment).unwrap();
    assert_eq!(lifecycle.recorder().ran(), ["a", "b"]);
}
