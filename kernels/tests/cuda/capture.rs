//! What is captured, what declines, and what a replay does.

use crate::support::{POISON, any_bits, bits, counts, gpu, is_poison, noise, poisoned};
use half::bf16;
use kernels::capture::{Binding, CapturedStep, Lifecycle, Node, Phase, Piece, Ran, Recorder, Support};
use kernels::device::{Buffer, Counters, Device, DeviceError, DeviceTensor};
use kernels::movement::{Expand, Path, Tile, Transpose};
use kernels::{DType, Tensor, ops};
use std::cell::RefCell;

/// One of the movers with all that it needs.
enum Mover {
    Tile(Tile, Buffer),
    Transpose(Transpose),
    Expand(Expand),
}

impl Mover {
    fn run(&mut self, device: &Device, input: &DeviceTensor, out: &DeviceTensor) -> Result<(), DeviceError> {
        match self {
            Self::Tile(tile, repeats) => tile.run(device, input, repeats, out),
            Self::Transpose(transpose) => transpose.run(device, input, out),
            Self::Expand(expand) => expand.run(device, input, out),
        }
    }

    fn support(&self) -> Support {
        match self {
            Self::Tile(tile, _) => tile.capture_support(),
            Self::Transpose(transpose) => transpose.capture_support(),
            Self::Expand(expand) => expand.capture_support(),
        }
    }
}

/// A mover, its input, and what comes of it; then an input of another shape and the shape that would come of that.
type Case = (Mover, Tensor<bf16>, Tensor<bf16>, [Vec<usize>; 2]);

/// One of each kind.
fn movers(device: &Device, path: Path) -> Vec<Case> {
    let input = any_bits(&[3, 1, 24]);
    let tile = ops::tile::oracle(&input, &[2, 3, 1]).unwrap();
    let transpose = ops::transpose::oracle(&input, &[2, 1, 0]).unwrap();
    let expand = ops::expand::oracle(&input, &[2, 3, 5, 24]).unwrap();
    vec![
        (
            Mover::Tile(Tile::new(path), counts(device, &[2, 3, 1])),
            input.clone(),
            tile,
            [vec![4, 1, 24], vec![8, 3, 24]],
        ),
        (
            Mover::Transpose(Transpose::new(path, &[2, 1, 0])),
            input.clone(),
            transpose,
            [vec![4, 1, 24], vec![24, 1, 4]],
        ),
        (
            Mover::Expand(Expand::new(path)),
            input,
            expand,
            [vec![4, 1, 24], vec![2, 4, 5, 24]],
        ),
    ]
}

#[test]
fn an_unwarmed_kernel_declines_a_warmed_one_is_captured_and_a_replay_writes_every_byte() {
    let name = "an_unwarmed_kernel_declines_a_warmed_one_is_captured_and_a_replay_writes_every_byte";
    let Some(gpu) = gpu(name) else { return };
    let device = &gpu.device;
    device.load_kernels().unwrap();
    for (mut mover, input, wanted, _) in movers(device, Path::Persistent) {
        let from = device.place(&input).unwrap();
        let out = poisoned(device, DType::Bf16, wanted.shape());
        let is_right = || bits(&out.download::<bf16>().unwrap()) == bits(&wanted);
        let mut lifecycle = Lifecycle::new(device.clone());

        assert!(matches!(mover.support(), Support::Unsupported(_)));
        let refused = lifecycle
            .record(|device| mover.run(device, &from, &out))
            .unwrap_err()
            .to_string();
        assert!(refused.contains("warm the exact signature first"), "{refused}");
        assert!(!device.is_capturing() && is_poison(out.buffer()));

        mover.run(device, &from, &out).unwrap();
        assert!(is_right());
        assert_eq!(mover.support(), Support::Supported);

        // Again, with the metadata that is there: not a single call but the launch.
        out.buffer().fill(POISON).unwrap();
        let before = device.counters();
        mover.run(device, &from, &out).unwrap();
        assert_eq!(device.counters(), before);
        assert!(is_right());

        out.buffer().fill(POISON).unwrap();
        let before = device.counters();
        let segment = lifecycle.record(|device| mover.run(device, &from, &out)).unwrap();
        // The fill before it is waited for, and that is all.
        let wanted = Counters {
            syncs: before.syncs + 1,
            ..before
        };
        assert_eq!(
            device.counters(),
            wanted,
            "no allocation and no copy between begin and end"
        );
        assert!(is_poison(out.buffer()), "recording runs nothing");
        let before = device.counters();
        lifecycle.replay(segment).unwrap();
        assert_eq!(device.counters(), before, "nor in a replay");
        assert!(is_right());

        // A replay reads what is there now.
        from.buffer().fill(0x3c).unwrap();
        out.buffer().fill(POISON).unwrap();
        lifecycle.replay(segment).unwrap();
        let bytes: Vec<u8> = out.buffer().download(out.buffer().bytes()).unwrap();
        assert!(bytes.iter().all(|byte| *byte == 0x3c));
        assert!(lifecycle.reset().unwrap());
        device.check_drops().unwrap();
    }
}

#[test]
fn the_per_call_path_refuses_a_capture_and_says_why() {
    let Some(gpu) = gpu("the_per_call_path_refuses_a_capture_and_says_why") else {
        return;
    };
    let device = &gpu.device;
    for (mut mover, input, wanted, _) in movers(device, Path::PerCall) {
        let from = device.place(&input).unwrap();
        let out = poisoned(device, DType::Bf16, wanted.shape());
        mover.run(device, &from, &out).unwrap();
        assert!(matches!(mover.support(), Support::Unsupported(_)));
        let mut lifecycle = Lifecycle::new(device.clone());
        let refused = lifecycle
            .record(|device| mover.run(device, &from, &out))
            .unwrap_err();
        assert!(matches!(refused, DeviceError::NotCapturable { .. }), "{refused}");
        mover.run(device, &from, &out).unwrap();
        assert_eq!(bits(&out.download::<bf16>().unwrap()), bits(&wanted));
    }
}

#[test]
fn another_signature_during_a_capture_is_an_error_that_says_so() {
    let Some(gpu) = gpu("another_signature_during_a_capture_is_an_error_that_says_so") else {
        return;
    };
    let device = &gpu.device;
    for (mut mover, input, wanted, [shape, into]) in movers(device, Path::Persistent) {
        let from = device.place(&input).unwrap();
        let out = poisoned(device, DType::Bf16, wanted.shape());
        let other = device.place(&any_bits(&shape)).unwrap();
        let elsewhere = poisoned(device, DType::Bf16, &into);
        mover.run(device, &from, &out).unwrap();
        device.wait().unwrap();

        let mut lifecycle = Lifecycle::new(device.clone());
        lifecycle.begin().unwrap();
        mover.run(device, &from, &out).unwrap();
        let refused = mover.run(device, &other, &elsewhere).unwrap_err().to_string();
        assert!(
            refused.contains("came during graph capture, and it was warmed for bf16 [3, 1, 24]"),
            "{refused}"
        );
        // The recording is not harmed: what was refused asked nothing of the device.
        let segment = lifecycle.end().unwrap();
        out.buffer().fill(POISON).unwrap();
        lifecycle.replay(segment).unwrap();
        assert_eq!(bits(&out.download::<bf16>().unwrap()), bits(&wanted));
        assert!(is_poison(elsewhere.buffer()));
    }
}

#[test]
fn a_graph_keeps_the_metadata_that_it_was_recorded_with() {
    let Some(gpu) = gpu("a_graph_keeps_the_metadata_that_it_was_recorded_with") else {
        return;
    };
    let device = &gpu.device;
    for (mut mover, input, wanted, [shape, into]) in movers(device, Path::Persistent) {
        let from = device.place(&input).unwrap();
        let out = poisoned(device, DType::Bf16, wanted.shape());
        mover.run(device, &from, &out).unwrap();
        let mut lifecycle = Lifecycle::new(device.clone());
        let segment = lifecycle.record(|device| mover.run(device, &from, &out)).unwrap();

        // Another shape through the same kernel, which gives its slot other metadata; then the kernel itself goes.
        let before = device.counters();
        let other = device.place(&any_bits(&shape)).unwrap();
        let elsewhere = poisoned(device, DType::Bf16, &into);
        mover.run(device, &other, &elsewhere).unwrap();
        device.wait().unwrap();
        assert_eq!(
            device.counters().since(before).frees,
            0,
            "the graph still has the old metadata"
        );
        drop(mover);
        // Whatever was freed would be given out again, and overwritten.
        let rest: Vec<_> = (0..64).map(|_| device.buffer(256).unwrap()).collect();
        rest.iter().for_each(|buffer| buffer.fill(POISON).unwrap());

        out.buffer().fill(POISON).unwrap();
        lifecycle.replay(segment).unwrap();
        assert_eq!(bits(&out.download::<bf16>().unwrap()), bits(&wanted));
        let before = device.counters();
        lifecycle.reset().unwrap();
        assert_eq!(device.counters().since(before).frees, 1, "and now it is gone");
        device.check_drops().unwrap();
    }
}

#[test]
fn calls_that_would_break_a_capture_are_refused_and_it_goes_on() {
    let Some(gpu) = gpu("calls_that_would_break_a_capture_are_refused_and_it_goes_on") else {
        return;
    };
    let device = &gpu.device;
    let (buffer, spare) = (device.upload(&[0_u8; 64]).unwrap(), device.buffer(64).unwrap());
    let mut lifecycle = Lifecycle::new(device.clone());
    let frees = device.counters().frees;
    lifecycle.begin().unwrap();
    assert!(device.capture_status().unwrap());
    buffer.fill(7).unwrap();
    let refused = [
        device.wait().unwrap_err(),
        device.buffer(1).unwrap_err(),
        buffer.upload(&[1_u8]).unwrap_err(),
        buffer.download::<u8>(1).unwrap_err(),
        buffer.set(1).unwrap_err(),
        lifecycle.reset().unwrap_err(),
        lifecycle.replay(0).unwrap_err(),
    ];
    for error in refused {
        assert!(matches!(error, DeviceError::NotWhileCapturing { .. }), "{error}");
    }
    assert!(device.event().is_err());
    assert_eq!(lifecycle.begin(), Err(DeviceError::AlreadyCapturing));
    // Freed as soon as it is possible, not now.
    drop(spare);
    assert_eq!(device.counters().frees, frees);
    assert!(device.capture_status().unwrap(), "the capture is not broken");
    let segment = lifecycle.end().unwrap();
    assert_eq!(device.counters().frees, frees + 1);
    lifecycle.replay(segment).unwrap();
    assert_eq!(buffer.download::<u8>(64).unwrap(), [7; 64]);
}

#[test]
fn kernels_are_not_loaded_during_a_capture() {
    let Some(gpu) = gpu("kernels_are_not_loaded_during_a_capture") else {
        return;
    };
    let device = &gpu.device;
    let position = device.upload(&[0_u32]).unwrap();
    let mut lifecycle = Lifecycle::new(device.clone());
    let refused = lifecycle.record(|device| device.advance(&position)).unwrap_err();
    assert_eq!(refused, DeviceError::NotWhileCapturing { call: "load kernels" });
    device.load_kernels().unwrap();
    device.advance(&position).unwrap();
    let segment = lifecycle.record(|device| device.advance(&position)).unwrap();
    lifecycle.replay(segment).unwrap();
    assert_eq!(position.download::<u32>(1).unwrap(), [2]);
}

#[test]
fn an_aborted_capture_leaves_the_stream_usable() {
    let Some(gpu) = gpu("an_aborted_capture_leaves_the_stream_usable") else {
        return;
    };
    let device = &gpu.device;
    let buffer = device.upload(&[0_u8; 64]).unwrap();
    let mut lifecycle = Lifecycle::new(device.clone());
    lifecycle.begin().unwrap();
    buffer.fill(1).unwrap();
    lifecycle.abort();
    assert!(!device.capture_status().unwrap());
    assert_eq!(buffer.download::<u8>(64).unwrap(), [0; 64], "nothing of it ran");
    buffer.fill(2).unwrap();
    assert_eq!(buffer.download::<u8>(64).unwrap(), [2; 64]);
    let segment = lifecycle.record(|_| buffer.fill(3)).unwrap();
    lifecycle.replay(segment).unwrap();
    assert_eq!(buffer.download::<u8>(64).unwrap(), [3; 64]);
    // What a forgotten capture leaves: the device still says that there is one, and can be told to give it up.
    device.begin().unwrap();
    assert!(device.wait().is_err());
    device.abort();
    device.wait().unwrap();
}

#[test]
fn graphs_are_replayed_in_order() {
    let Some(gpu) = gpu("graphs_are_replayed_in_order") else {
        return;
    };
    let device = &gpu.device;
    let (one, other) = (
        device.upload(&[0_u8; 64]).unwrap(),
        device.upload(&[0_u8; 64]).unwrap(),
    );
    let mut lifecycle = Lifecycle::new(device.clone());
    lifecycle.record(|_| one.fill(5)).unwrap();
    lifecycle.record(|_| other.copy_from(&one)).unwrap();
    lifecycle.replay_all().unwrap();
    assert_eq!(other.download::<u8>(64).unwrap(), [5; 64]);
}

/// A part of a step, as closures.
struct Call<'a> {
    op: &'static str,
    support: Box<dyn Fn() -> Support + 'a>,
    run: Run<'a>,
}

type Run<'a> = Box<dyn FnMut(&Device) -> Result<(), DeviceError> + 'a>;

impl Node<Device> for Call<'_> {
    fn op(&self) -> &str {
        self.op
    }

    fn support(&self) -> Support {
        (self.support)()
    }

    fn run(&mut self, device: &Device) -> Result<(), DeviceError> {
        (self.run)(device)
    }
}

fn call<'a>(
    op: &'static str,
    run: impl FnMut(&Device) -> Result<(), DeviceError> + 'a,
) -> Box<dyn Node<Device> + 'a> {
    Box::new(Call {
        op,
        support: Box::new(|| Support::Supported),
        run: Box::new(run),
    })
}

#[test]
fn a_step_is_eager_then_captured_then_replayed_around_a_seam_with_the_same_results() {
    let name = "a_step_is_eager_then_captured_then_replayed_around_a_seam_with_the_same_results";
    let Some(gpu) = gpu(name) else { return };
    let device = &gpu.device;
    const STEPS: usize = 10;
    let (table, row) = (noise::<f32>(&[STEPS, 8], 1), noise::<f32>(&[8], 2));
    let (from, bias) = (device.place(&table).unwrap(), device.place(&row).unwrap());
    let (position, latch) = (device.upload(&[0_u32]).unwrap(), device.latch().unwrap());
    let fresh = poisoned(device, DType::F32, &[1, 8]);
    let seen = poisoned(device, DType::F32, &[1, 8]);
    let sum = poisoned(device, DType::F32, &[1, 8]);
    let out = poisoned(device, DType::F32, &[4, 8]);
    let (repeats, tile) = (counts(device, &[4, 1]), RefCell::new(Tile::new(Path::Persistent)));
    let mut nodes = [
        call("gather", |device| device.gather(&from, &position, &latch, &fresh)),
        Box::new(Call {
            op: "host",
            support: Box::new(|| Support::Unsupported("goes through the host".into())),
            run: Box::new(|_| seen.buffer().upload(fresh.download::<f32>()?.data())),
        }) as Box<dyn Node<Device> + '_>,
        call("add", |device| device.add(&seen, &bias, &sum)),
        Box::new(Call {
            op: "tile",
            support: Box::new(|| tile.borrow().capture_support()),
            run: Box::new(|device| tile.borrow_mut().run(device, &sum, &repeats, &out)),
        }),
        call("advance", |device| device.advance(&position)),
    ];
    let bindings = [("position", &position), ("out", out.buffer())].map(|(name, buffer)| Binding {
        name: name.to_owned(),
        dtype: None,
        shape: Vec::new(),
        address: Some(buffer.address()),
    });
    let mut step = CapturedStep::new(device.clone());
    let before = device.counters();
    for at in 0..STEPS {
        out.buffer().fill(POISON).unwrap();
        let ran = step.run(&mut nodes, &bindings).unwrap();
        let wanted = match at {
            0 => Ran::Eagerly,
            1 => Ran::Recorded,
            _ => Ran::Replayed,
        };
        assert_eq!(ran, wanted);
        let found = out.download::<f32>().unwrap();
        for row in found.data().chunks_exact(8) {
            let wanted = table.data()[at * 8..]
                .iter()
                .zip(bias_of(&bias))
                .map(|(one, other)| one + other);
            assert!(
                row.iter()
                    .zip(wanted)
                    .all(|(found, wanted)| found.to_bits() == wanted.to_bits()),
                "step {at}"
            );
        }
        latch.check().unwrap();
    }
    let counted = device.counters().since(before);
    assert_eq!(
        (counted.captures, counted.replays, counted.fallbacks),
        (1, STEPS as u64 - 2, 0)
    );
    assert_eq!((counted.segments, counted.seams), (2, 1));
    assert!(
        matches!(&step.pieces()[1], Piece::Seam { node: 1, reason } if reason == "host: goes through the host")
    );

    let elsewhere = [Binding {
        address: Some(1),
        ..bindings[0].clone()
    }];
    assert!(matches!(
        step.run(&mut nodes, &elsewhere),
        Err(DeviceError::BindingsChanged { .. })
    ));
    assert_eq!(*step.phase(), Phase::NeedsWarmup);
}

fn bias_of(row: &DeviceTensor) -> Vec<f32> {
    row.download::<f32>().unwrap().data().to_vec()
}

#[test]
fn a_step_that_cannot_be_captured_stays_eager_and_is_right() {
    let Some(gpu) = gpu("a_step_that_cannot_be_captured_stays_eager_and_is_right") else {
        return;
    };
    let device = &gpu.device;
    let input = any_bits(&[2, 8]);
    let wanted = ops::tile::oracle(&input, &[3, 1]).unwrap();
    let (from, out) = (
        device.place(&input).unwrap(),
        poisoned(device, DType::Bf16, wanted.shape()),
    );
    let (repeats, tile) = (counts(device, &[3, 1]), RefCell::new(Tile::new(Path::PerCall)));
    let mut nodes = [Box::new(Call {
        op: "tile",
        support: Box::new(|| tile.borrow().capture_support()),
        run: Box::new(|device| tile.borrow_mut().run(device, &from, &repeats, &out)),
    }) as Box<dyn Node<Device> + '_>];
    let mut step = CapturedStep::new(device.clone());
    let before = device.counters();
    for _ in 0..4 {
        out.buffer().fill(POISON).unwrap();
        assert_eq!(step.run(&mut nodes, &[]).unwrap(), Ran::Eagerly);
        assert_eq!(bits(&out.download::<bf16>().unwrap()), bits(&wanted));
    }
    let counted = device.counters().since(before);
    assert_eq!((counted.captures, counted.replays, counted.fallbacks), (0, 0, 1));
    assert!(matches!(step.phase(), Phase::Unsupported(reason) if reason.contains("allocates")));
}
