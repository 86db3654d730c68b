//! Tile, Transpose and Expand on both paths.

use crate::support::{POISON, any_bits, any_wide_bits, bits, counts, gpu, is_poison, poisoned};
use half::bf16;
use kernels::capture::Support;
use kernels::device::{Device, DeviceError, Plain};
use kernels::movement::{Expand, Path, Tile, Transpose};
use kernels::{DType, Element, Tensor, ops};

fn tiled<T: Element + Plain>(device: &Device, path: Path, input: &Tensor<T>, repeats: &[usize]) {
    let wanted = ops::tile::oracle(input, repeats).unwrap();
    let (from, out) = (
        device.place(input).unwrap(),
        poisoned(device, T::DTYPE, wanted.shape()),
    );
    let mut tile = Tile::new(path);
    for _ in 0..2 {
        tile.run(device, &from, &counts(device, repeats), &out).unwrap();
        assert_eq!(
            bits(&out.download::<T>().unwrap()),
            bits(&wanted),
            "{:?} {repeats:?}",
            input.shape()
        );
        out.buffer().fill(POISON).unwrap();
    }
}

fn transposed<T: Element + Plain>(device: &Device, path: Path, input: &Tensor<T>, order: &[usize]) {
    let wanted = ops::transpose::oracle(input, order).unwrap();
    let (from, out) = (
        device.place(input).unwrap(),
        poisoned(device, T::DTYPE, wanted.shape()),
    );
    let mut transpose = Transpose::new(path, order);
    for _ in 0..2 {
        transpose.run(device, &from, &out).unwrap();
        assert_eq!(
            bits(&out.download::<T>().unwrap()),
            bits(&wanted),
            "{:?} {order:?}",
            input.shape()
        );
        out.buffer().fill(POISON).unwrap();
    }
}

fn expanded<T: Element + Plain>(device: &Device, path: Path, input: &Tensor<T>, shape: &[usize]) {
    let wanted = ops::expand::oracle(input, shape).unwrap();
    let (from, out) = (
        device.place(input).unwrap(),
        poisoned(device, T::DTYPE, wanted.shape()),
    );
    let mut expand = Expand::new(path);
    for _ in 0..2 {
        expand.run(device, &from, &out).unwrap();
        assert_eq!(
            bits(&out.download::<T>().unwrap()),
            bits(&wanted),
            "{:?} {shape:?}",
            input.shape()
        );
        out.buffer().fill(POISON).unwrap();
    }
}

#[test]
fn every_byte_of_tile_is_the_oracles_on_both_paths() {
    let Some(gpu) = gpu("every_byte_of_tile_is_the_oracles_on_both_paths") else {
        return;
    };
    let cases: [(&[usize], &[usize]); 10] = [
        (&[], &[]),
        (&[3], &[5]),
        (&[1], &[64]),
        (&[2, 3], &[2, 2]),
        (&[4, 8], &[3, 2]),
        (&[4, 128], &[300, 1]),
        (&[1, 7, 64], &[2, 3, 1]),
        (&[2, 3, 2, 2], &[1, 2, 1, 3]),
        (&[3, 0], &[2, 2]),
        (&[3, 2], &[0, 2]),
    ];
    for path in [Path::PerCall, Path::Persistent] {
        for (shape, repeats) in cases {
            tiled(&gpu.device, path, &any_bits(shape), repeats);
            tiled(&gpu.device, path, &any_wide_bits(shape), repeats);
        }
    }
}

#[test]
fn every_byte_of_transpose_is_the_oracles_on_both_paths() {
    let Some(gpu) = gpu("every_byte_of_transpose_is_the_oracles_on_both_paths") else {
        return;
    };
    let cases: [(&[usize], &[usize]); 13] = [
        (&[], &[]),
        (&[5], &[0]),
        (&[3, 4], &[1, 0]),
        (&[65, 67], &[1, 0]),
        (&[130, 66], &[1, 0]),
        (&[66, 33], &[1, 0]),
        (&[3, 66, 34], &[0, 2, 1]),
        (&[2, 40, 3, 20], &[2, 3, 0, 1]),
        (&[20, 30, 8], &[1, 0, 2]),
        (&[20, 30, 4], &[1, 0, 2]),
        (&[2, 17, 4, 64], &[0, 2, 1, 3]),
        (&[2, 3, 4, 5], &[3, 1, 2, 0]),
        (&[0, 4], &[1, 0]),
    ];
    for path in [Path::PerCall, Path::Persistent] {
        for (shape, order) in cases {
            transposed(&gpu.device, path, &any_bits(shape), order);
            transposed(&gpu.device, path, &any_wide_bits(shape), order);
        }
    }
}

#[test]
fn every_byte_of_expand_is_the_oracles_on_both_paths() {
    let Some(gpu) = gpu("every_byte_of_expand_is_the_oracles_on_both_paths") else {
        return;
    };
    let cases: [(&[usize], &[usize]); 11] = [
        (&[], &[7]),
        (&[], &[2, 64]),
        (&[1, 8], &[700, 8]),
        (&[5], &[3, 5]),
        (&[3, 1], &[3, 64]),
        (&[3, 1], &[3, 7]),
        (&[4, 1, 16], &[4, 9, 16]),
        (&[1, 3, 1], &[5, 3, 16]),
        (&[2, 1, 3, 1], &[2, 4, 3, 5]),
        (&[1], &[0]),
        (&[2, 3], &[2, 3]),
    ];
    for path in [Path::PerCall, Path::Persistent] {
        for (from, shape) in cases {
            expanded(&gpu.device, path, &any_bits(from), shape);
            expanded(&gpu.device, path, &any_wide_bits(from), shape);
        }
    }
}

#[test]
#[ignore = "takes 4 GiB on both sides"]
fn what_32_bits_do_not_reach_is_moved_too() {
    let Some(gpu) = gpu("what_32_bits_do_not_reach_is_moved_too") else {
        return;
    };
    let rows = (1 << 15) + 1;
    let column = any_bits(&[rows, 1]);
    let out = poisoned(&gpu.device, DType::Bf16, &[rows, 1 << 16]);
    let from = gpu.device.place(&column).unwrap();
    Expand::new(Path::Persistent)
        .run(&gpu.device, &from, &out)
        .unwrap();
    let found = out.download::<bf16>().unwrap();
    for (row, number) in found.data().chunks_exact(1 << 16).zip(column.data()) {
        assert!(row.iter().all(|found| found.to_bits() == number.to_bits()));
    }
}

#[test]
fn the_two_paths_ask_the_device_for_what_they_say() {
    let Some(gpu) = gpu("the_two_paths_ask_the_device_for_what_they_say") else {
        return;
    };
    let device = &gpu.device;
    let from = device.place(&any_bits(&[2, 8])).unwrap();
    let (repeats, out) = (counts(device, &[3, 1]), poisoned(device, DType::Bf16, &[6, 8]));
    let mut per_call = Tile::new(Path::PerCall);
    let mut persistent = Tile::new(Path::Persistent);
    per_call.run(device, &from, &repeats, &out).unwrap();
    persistent.run(device, &from, &repeats, &out).unwrap();
    device.wait().unwrap();

    let before = device.counters();
    per_call.run(device, &from, &repeats, &out).unwrap();
    let asked = device.counters().since(before);
    assert_eq!(
        (asked.allocations, asked.frees, asked.h2d_calls, asked.d2h_calls),
        (1, 1, 1, 1)
    );
    assert_eq!(
        asked.syncs, 2,
        "one with the counts, one so that the metadata may be freed"
    );

    let before = device.counters();
    persistent.run(device, &from, &repeats, &out).unwrap();
    assert_eq!(device.counters(), before);

    // Another shape: the counts are read, the old metadata is waited for and freed, the new placed.
    let (wider, out) = (counts(device, &[3, 2]), poisoned(device, DType::Bf16, &[6, 16]));
    let before = device.counters();
    persistent.run(device, &from, &wider, &out).unwrap();
    let asked = device.counters().since(before);
    assert_eq!(
        (asked.allocations, asked.frees, asked.h2d_calls, asked.d2h_calls),
        (1, 1, 1, 1)
    );
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_launched() {
    let Some(gpu) = gpu("what_does_not_fit_is_refused_before_anything_is_launched") else {
        return;
    };
    let device = &gpu.device;
    let from = device.place(&any_bits(&[2, 8])).unwrap();
    let out = poisoned(device, DType::Bf16, &[6, 8]);
    for path in [Path::PerCall, Path::Persistent] {
        let mut tile = Tile::new(path);
        assert!(tile.run(device, &from, &counts(device, &[3, 2]), &out).is_err());
        assert!(tile.run(device, &from, &counts(device, &[3]), &out).is_err());
        assert!(
            tile.run(device, &from, &device.upload(&[-3_i64, 1]).unwrap(), &out)
                .is_err()
        );
        assert!(Transpose::new(path, &[0, 0]).run(device, &from, &out).is_err());
        assert!(
            Expand::new(path)
                .run(device, &from, &poisoned(device, DType::Bf16, &[3, 8]))
                .is_err()
        );
        let wide = poisoned(device, DType::F32, &[6, 8]);
        let refused = tile
            .run(device, &from, &counts(device, &[3, 1]), &wide)
            .unwrap_err();
        assert!(matches!(refused, DeviceError::Type { .. }), "{refused}");
        let same = Expand::new(path).run(device, &from, &from);
        assert!(matches!(same, Err(DeviceError::Aliased { .. })));
        assert!(
            matches!(tile.capture_support(), Support::Unsupported(_)),
            "no run of it was successful"
        );
    }
    assert!(is_poison(out.buffer()));
}
