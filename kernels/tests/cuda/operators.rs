//! The other operators beside those of the CPU: bit for bit where both add up in one order, else near.

use crate::support::{
    POISON, any_bits, any_wide_bits, assert_near, bits, gpu, is_poison, noise, numbers, poisoned, rounded,
    skipped,
};
use half::{bf16, f16};
use kernels::device::{Device, DeviceError, Plain};
use kernels::ops::rope::{Angles, Pairs};
use kernels::{DType, Element, Tensor, ops};

fn gathered<T: Element + Plain>(device: &Device, table: &Tensor<T>, indices: &[u32]) {
    let wanted = ops::gather::oracle(table, indices).unwrap();
    let out = poisoned(device, T::DTYPE, wanted.shape());
    let latch = device.latch().unwrap();
    let (table, indices) = (device.place(table).unwrap(), device.upload(indices).unwrap());
    device.gather(&table, &indices, &latch, &out).unwrap();
    assert_eq!(bits(&out.download::<T>().unwrap()), bits(&wanted));
    latch.check().unwrap();
}

#[test]
fn every_byte_of_gather_is_the_oracles() {
    let Some(gpu) = gpu("every_byte_of_gather_is_the_oracles") else {
        return;
    };
    for shape in [[1, 1], [7, 3], [100, 128], [513, 6], [50, 0]] {
        let indices: Vec<u32> = (0..300).map(|i| 97 * i % shape[0] as u32).collect();
        gathered(&gpu.device, &any_bits(&shape), &indices);
        gathered(&gpu.device, &any_wide_bits(&shape), &indices);
        gathered(&gpu.device, &any_bits(&shape), &[]);
    }
}

#[test]
fn an_index_that_is_no_row_gives_zeros_and_is_reported_once() {
    let Some(gpu) = gpu("an_index_that_is_no_row_gives_zeros_and_is_reported_once") else {
        return;
    };
    let device = &gpu.device;
    let table = device.place(&any_bits(&[3, 8])).unwrap();
    let (out, latch) = (poisoned(device, DType::Bf16, &[2, 8]), device.latch().unwrap());
    device
        .gather(&table, &device.upload(&[1_u32, 3]).unwrap(), &latch, &out)
        .unwrap();
    let refused = latch.check().unwrap_err().to_string();
    assert_eq!(
        refused,
        "a kernel reports: an index is no row of its table; the weights or the ids are broken"
    );
    latch.check().unwrap();
    assert_eq!(bits(&out.download::<bf16>().unwrap())[8..], [0; 8]);
}

fn added<T: Element + Plain>(device: &Device, rows: usize, width: usize) {
    let (input, row) = (noise::<T>(&[rows, width], 1), noise::<T>(&[width], 2));
    let wanted = rounded::<T>(&ops::add::oracle(&input.widened(), &row.widened()).unwrap());
    let out = poisoned(device, T::DTYPE, &[rows, width]);
    let (input, row) = (device.place(&input).unwrap(), device.place(&row).unwrap());
    device.add(&input, &row, &out).unwrap();
    assert_eq!(
        numbers(&out.download::<T>().unwrap()),
        numbers(&wanted),
        "{rows} {width}"
    );
    // In its place.
    device.add(&input, &row, &input).unwrap();
    assert_eq!(
        numbers(&input.download::<T>().unwrap()),
        numbers(&wanted),
        "{rows} {width}"
    );
}

#[test]
fn every_bit_of_add_is_the_oracles() {
    let Some(gpu) = gpu("every_bit_of_add_is_the_oracles") else {
        return;
    };
    for (rows, width) in [
        (1, 1),
        (1, 1024),
        (256, 1024),
        (3, 7),
        (17, 12),
        (0, 4),
        (1000, 3),
    ] {
        added::<f32>(&gpu.device, rows, width);
        added::<f16>(&gpu.device, rows, width);
        added::<bf16>(&gpu.device, rows, width);
    }
}

#[test]
fn rounding_of_add_is_to_nearest_with_ties_to_even_for_every_f16() {
    let Some(gpu) = gpu("rounding_of_add_is_to_nearest_with_ties_to_even_for_every_f16") else {
        return;
    };
    let device = &gpu.device;
    let all = Tensor::new(&[256, 256], (0..=u16::MAX).map(f16::from_bits).collect()).unwrap();
    let row = Tensor::<f16>::from_fn(&[256], |i| (i as f32 - 100.0) / 1024.0);
    let wanted = rounded::<f16>(&ops::add::oracle(&all.widened(), &row.widened()).unwrap());
    let out = poisoned(device, DType::F16, &[256, 256]);
    device
        .add(&device.place(&all).unwrap(), &device.place(&row).unwrap(), &out)
        .unwrap();
    assert_eq!(numbers(&out.download::<f16>().unwrap()), numbers(&wanted));
}

fn reduced<T: Element + Plain>(device: &Device, rows: usize, width: usize) {
    let input = noise::<T>(&[rows, width], 3);
    let weight = noise::<T>(&[width], 4);
    let (from, weights) = (device.place(&input).unwrap(), device.place(&weight).unwrap());

    let mut wanted = Tensor::<T>::zeros(&[rows, 1]);
    ops::reduce_mean::reduce_mean(&input, &mut wanted).unwrap();
    let out = poisoned(device, T::DTYPE, &[rows, 1]);
    device.reduce_mean(&from, &out).unwrap();
    assert_eq!(
        numbers(&out.download::<T>().unwrap()),
        numbers(&wanted),
        "mean {rows} {width}"
    );

    let mut wanted = Tensor::<T>::zeros(&[rows, width]);
    ops::rms_norm::rms_norm(&input, &weight, 1e-5, &mut wanted).unwrap();
    let out = poisoned(device, T::DTYPE, &[rows, width]);
    device.rms_norm(&from, &weights, 1e-5, &out).unwrap();
    assert_eq!(
        numbers(&out.download::<T>().unwrap()),
        numbers(&wanted),
        "norm {rows} {width}"
    );

    // An exponential is in it, which the CPU's library computes otherwise.
    let wanted = ops::softmax::oracle(&input.widened());
    device.softmax(&from, &out).unwrap();
    let tolerance = if T::DTYPE == DType::F32 { 1e-5 } else { 1e-2 };
    assert_near(&out.download::<T>().unwrap().widened(), &wanted, tolerance);
}

#[test]
fn reductions_add_up_in_the_order_of_the_cpu() {
    let Some(gpu) = gpu("reductions_add_up_in_the_order_of_the_cpu") else {
        return;
    };
    for (rows, width) in [
        (1, 1),
        (2, 31),
        (3, 33),
        (32, 128),
        (128, 512),
        (256, 1024),
        (2, 4096),
        (2, 4097),
        (2, 5000),
        (0, 8),
        (3, 0),
    ] {
        reduced::<f32>(&gpu.device, rows, width);
        reduced::<f16>(&gpu.device, rows, width);
        reduced::<bf16>(&gpu.device, rows, width);
    }
}

#[test]
fn a_softmax_of_infinities_or_nan_is_nan() {
    let Some(gpu) = gpu("a_softmax_of_infinities_or_nan_is_nan") else {
        return;
    };
    let device = &gpu.device;
    let (infinity, nan) = (f32::INFINITY, f32::NAN);
    let rows = vec![-infinity, -infinity, infinity, 0.0, nan, 0.0, -infinity, 0.0];
    let input = device.place(&Tensor::new(&[4, 2], rows).unwrap()).unwrap();
    let out = poisoned(device, DType::F32, &[4, 2]);
    device.softmax(&input, &out).unwrap();
    let found = out.download::<f32>().unwrap();
    assert!(found.data()[..2].iter().all(|number| number.is_nan()));
    assert!(found.data()[2].is_nan());
    assert!(found.data()[4..6].iter().all(|number| number.is_nan()));
    assert_eq!(numbers(&found)[6..], [0.0_f32.to_bits(), 1.0_f32.to_bits()]);
}

#[test]
fn argmax_is_the_lowest_index_of_the_largest_number() {
    let Some(gpu) = gpu("argmax_is_the_lowest_index_of_the_largest_number") else {
        return;
    };
    let device = &gpu.device;
    let mut rows: Vec<Vec<f32>> = (0..6)
        .map(|seed| noise::<f32>(&[3000], seed).data().to_vec())
        .collect();
    rows[0][1000..].fill(2.0);
    rows[1].fill(f32::NAN);
    rows[1][2999] = f32::NEG_INFINITY;
    rows[2].fill(-0.0);
    rows[2][5..].fill(0.0);
    rows[3].fill(-5.0);
    rows[4][7] = f32::INFINITY;
    rows[4][6] = f32::NAN;
    let wanted: Vec<u32> = rows
        .iter()
        .map(|row| ops::argmax::oracle(row).unwrap() as u32)
        .collect();
    assert_eq!(wanted[..5], [1000, 2999, 0, 0, 7]);
    let shape = [6, 3000];
    let input = device
        .place(&Tensor::new(&shape, rows.concat()).unwrap())
        .unwrap();
    let scratch = device.buffer(Device::argmax_scratch(&shape)).unwrap();
    let (out, latch) = (device.buffer(6 * 4).unwrap(), device.latch().unwrap());
    device.argmax(&input, &scratch, &latch, &out).unwrap();
    assert_eq!(out.download::<u32>(6).unwrap(), wanted);
    latch.check().unwrap();
}

#[test]
fn a_row_without_a_number_is_reported() {
    let Some(gpu) = gpu("a_row_without_a_number_is_reported") else {
        return;
    };
    let device = &gpu.device;
    let input = device
        .place(&Tensor::new(&[1, 3], vec![f16::NAN; 3]).unwrap())
        .unwrap();
    let scratch = device.buffer(Device::argmax_scratch(&[1, 3])).unwrap();
    let (out, latch) = (device.buffer(4).unwrap(), device.latch().unwrap());
    device.argmax(&input, &scratch, &latch, &out).unwrap();
    assert_eq!(out.download::<u32>(1).unwrap(), [0]);
    let refused = latch.check().unwrap_err().to_string();
    assert!(refused.contains("a row has no number"), "{refused}");
}

#[test]
fn matmul_is_a_loop_of_fused_multiply_adds_bit_for_bit() {
    let Some(gpu) = gpu("matmul_is_a_loop_of_fused_multiply_adds_bit_for_bit") else {
        return;
    };
    let device = &gpu.device;
    for (m, k, n) in [
        (1, 1, 1),
        (1, 256, 256),
        (32, 512, 512),
        (65, 17, 130),
        (3, 0, 4),
        (70, 100, 1),
        (0, 3, 4),
    ] {
        let (a, b) = (noise::<f32>(&[m, k], 5), noise::<f32>(&[k, n], 6));
        let wanted = Tensor::<f32>::from_fn(&[m, n], |place| {
            let (row, column) = (place / n, place % n);
            (0..k).fold(0.0_f32, |sum, i| {
                a.data()[row * k + i].mul_add(b.data()[i * n + column], sum)
            })
        });
        let out = poisoned(device, DType::F32, &[m, n]);
        device
            .matmul(&device.place(&a).unwrap(), &device.place(&b).unwrap(), &out)
            .unwrap();
        assert_eq!(
            bits(&out.download::<f32>().unwrap()),
            bits(&wanted),
            "{m} {k} {n}"
        );
    }
}

/// The order that the kernel promises.
fn gemv_sum<T: Element>(weights: &[T], input: &[f32]) -> f32 {
    let pack = 16 / T::DTYPE.bytes();
    let pack = if input.len().is_multiple_of(pack) { pack } else { 1 };
    let mut partial = [0.0_f32; 32];
    for (i, (weights, input)) in weights.chunks(pack).zip(input.chunks(pack)).enumerate() {
        for (weight, number) in weights.iter().zip(input) {
            partial[i % 32] = weight.to_f32().mul_add(*number, partial[i % 32]);
        }
    }
    for half in [16, 8, 4, 2, 1] {
        for i in 0..half {
            partial[i] += partial[i + half];
        }
    }
    partial[0]
}

fn multiplied<T: Element + Plain>(device: &Device, rows: usize, width: usize, vectors: usize) {
    let (weights, input) = (noise::<T>(&[rows, width], 7), noise::<f32>(&[vectors, width], 8));
    let wanted = Tensor::<f32>::from_fn(&[vectors, rows], |place| {
        let (vector, row) = (place / rows, place % rows);
        gemv_sum(
            &weights.data()[row * width..][..width],
            &input.data()[vector * width..][..width],
        )
    });
    let out = poisoned(device, DType::F32, &[vectors, rows]);
    device
        .gemv(
            &device.place(&weights).unwrap(),
            &device.place(&input).unwrap(),
            &out,
        )
        .unwrap();
    assert_eq!(
        bits(&out.download::<f32>().unwrap()),
        bits(&wanted),
        "{rows} {width} {vectors}"
    );
}

#[test]
fn a_matrix_times_vectors_adds_up_in_the_promised_order() {
    let Some(gpu) = gpu("a_matrix_times_vectors_adds_up_in_the_promised_order") else {
        return;
    };
    for (rows, width, vectors) in [
        (1, 8, 1),
        (9, 576, 1),
        (100, 2048, 1),
        (17, 33, 2),
        (64, 1536, 3),
        (5, 0, 1),
    ] {
        multiplied::<f32>(&gpu.device, rows, width, vectors);
        multiplied::<f16>(&gpu.device, rows, width, vectors);
        multiplied::<bf16>(&gpu.device, rows, width, vectors);
    }
}

#[test]
fn the_vendors_product_is_near_the_own_one() {
    let Some(gpu) = gpu("the_vendors_product_is_near_the_own_one") else {
        return;
    };
    let device = &gpu.device;
    let blas = match device.blas() {
        Ok(blas) => blas,
        Err(error @ DeviceError::NoLibrary { .. }) => {
            return skipped("the_vendors_product_is_near_the_own_one", &error.to_string());
        }
        Err(error) => panic!("{error}"),
    };
    for (m, k, n) in [(1, 256, 256), (33, 100, 65), (2, 0, 3), (0, 2, 3)] {
        let (a, b) = (noise::<f32>(&[m, k], 5), noise::<f32>(&[k, n], 6));
        let (a, b) = (device.place(&a).unwrap(), device.place(&b).unwrap());
        let (own, vendors) = (
            poisoned(device, DType::F32, &[m, n]),
            poisoned(device, DType::F32, &[m, n]),
        );
        device.matmul(&a, &b, &own).unwrap();
        blas.matmul(&a, &b, &vendors).unwrap();
        assert_near(&vendors.download().unwrap(), &own.download().unwrap(), 1e-4);
    }
}

#[test]
fn every_bit_of_rope_is_the_cpus_at_a_position_in_device_memory() {
    let Some(gpu) = gpu("every_bit_of_rope_is_the_cpus_at_a_position_in_device_memory") else {
        return;
    };
    let device = &gpu.device;
    let angles = Angles::new(40, 64, 10_000.0);
    let table = device.angles(&angles).unwrap();
    let (position, latch) = (device.upload(&[0_u32]).unwrap(), device.latch().unwrap());
    for pairs in [Pairs::Neighbours, Pairs::Halves] {
        for at in [0, 1, 39] {
            let mut heads = noise::<f32>(&[9, 64], 9);
            let (input, out) = (
                device.place(&heads).unwrap(),
                poisoned(device, DType::F32, &[9, 64]),
            );
            position.set(at).unwrap();
            device
                .rope(&input, &table, pairs, &position, &latch, &out)
                .unwrap();
            ops::rope::rope(&mut heads, &angles, pairs, at as usize).unwrap();
            assert_eq!(
                bits(&out.download::<f32>().unwrap()),
                bits(&heads),
                "{pairs:?} {at}"
            );
        }
    }
    latch.check().unwrap();
    position.set(40).unwrap();
    let out = poisoned(device, DType::F32, &[9, 64]);
    device
        .rope(
            &device.tensor(DType::F32, &[9, 64]).unwrap(),
            &table,
            Pairs::Halves,
            &position,
            &latch,
            &out,
        )
        .unwrap();
    assert!(
        latch
            .check()
            .unwrap_err()
            .to_string()
            .contains("a position is beyond")
    );
    assert!(is_poison(out.buffer()));
}

fn attended<T: Element + Plain>(
    device: &Device,
    heads: usize,
    kv_heads: usize,
    length: usize,
    capacity: usize,
) {
    let cache_shape = [capacity, kv_heads, length];
    let (keys, values) = (noise::<T>(&cache_shape, 10), noise::<T>(&cache_shape, 11));
    let queries = noise::<f32>(&[heads, length], 12);
    let (q, k, v) = (
        device.place(&queries).unwrap(),
        poisoned(device, T::DTYPE, &cache_shape),
        poisoned(device, T::DTYPE, &cache_shape),
    );
    // NaN, which nothing that reads it could hide.
    k.buffer().fill(0xff).unwrap();
    v.buffer().fill(0xff).unwrap();
    let scratch = device.attention_scratch(heads, length, capacity).unwrap();
    let (position, latch) = (device.upload(&[0_u32]).unwrap(), device.latch().unwrap());
    let out = poisoned(device, DType::F32, &[heads, length]);
    // The cache is filled row by row, as a decoder does: what is beyond the position must not be read.
    for at in 0..capacity {
        let row = |cache: &Tensor<T>| {
            let width = kv_heads * length;
            let row = cache.widened().data()[at * width..][..width].to_vec();
            device
                .place(&Tensor::new(&[kv_heads, length], row).unwrap())
                .unwrap()
        };
        device.append(&row(&keys), &k, &position, &latch).unwrap();
        device.append(&row(&values), &v, &position, &latch).unwrap();
        if [0, 1, 31, 32, 33, capacity - 1].contains(&at) {
            device
                .attention(&q, &k, &v, &position, &scratch, &latch, &out)
                .unwrap();
            let wanted =
                ops::attention::oracle(&queries, &keys.widened(), &values.widened(), at + 1).unwrap();
            assert_near(&out.download().unwrap(), &wanted, 1e-5);
        }
        device.advance(&position).unwrap();
    }
    assert_eq!(bits(&k.download::<T>().unwrap()), bits(&keys));
    latch.check().unwrap();
    // Beyond the capacity nothing is read or written.
    out.buffer().fill(POISON).unwrap();
    device
        .attention(&q, &k, &v, &position, &scratch, &latch, &out)
        .unwrap();
    assert!(latch.check().is_err());
    assert!(is_poison(out.buffer()));
}

#[test]
fn attention_is_near_the_oracle_at_every_position_with_heads_that_share_keys() {
    let Some(gpu) = gpu("attention_is_near_the_oracle_at_every_position_with_heads_that_share_keys") else {
        return;
    };
    for (heads, kv_heads, length, capacity) in [(9, 3, 64, 70), (4, 4, 128, 33), (2, 1, 6, 40)] {
        attended::<f32>(&gpu.device, heads, kv_heads, length, capacity);
        attended::<f16>(&gpu.device, heads, kv_heads, length, capacity);
        attended::<bf16>(&gpu.device, heads, kv_heads, length, capacity);
    }
}
