//! What the layers of a decoder do beside products and norms, against plain loops of the CPU; and parts of memory.

use crate::support::{POISON, any_bits, any_wide_bits, bits, gpu, is_poison, noise, numbers, poisoned};
use half::{bf16, f16};
use kernels::capture::Lifecycle;
use kernels::device::{Device, DeviceError, DeviceTensor, Plain};
use kernels::{DType, Element, OpError, Tensor};

fn placed(device: &Device, shape: &[usize], numbers: &[f32]) -> DeviceTensor {
    let tensor = Tensor::new(shape, numbers.to_vec()).unwrap();
    device.place(&tensor).unwrap()
}

fn assert_shape(outcome: Result<(), DeviceError>) {
    let is_refused = matches!(outcome, Err(DeviceError::Op(OpError::Shape { .. })));
    assert!(is_refused, "{outcome:?}");
}

fn assert_type(outcome: Result<(), DeviceError>) {
    assert!(matches!(outcome, Err(DeviceError::Type { .. })), "{outcome:?}");
}

fn assert_aliased(outcome: Result<(), DeviceError>) {
    assert!(matches!(outcome, Err(DeviceError::Aliased { .. })), "{outcome:?}");
}

/// Each row of the table by itself.
fn embedded<T: Element + Plain>(device: &Device, table: &Tensor<T>) {
    let (width, wide) = (table.width(), table.widened());
    let from = device.place(table).unwrap();
    let out = device.tensor(DType::F32, &[width]).unwrap();
    let (index, latch) = (device.buffer(4).unwrap(), device.latch().unwrap());
    for row in 0..table.shape()[0] {
        out.buffer().fill(POISON).unwrap();
        index.set(row as u32).unwrap();
        device.embed(&from, &index, &latch, &out).unwrap();
        let wanted = wide.data()[row * width..][..width].to_vec();
        assert_eq!(
            numbers(&out.download::<f32>().unwrap()),
            numbers(&Tensor::new(&[width], wanted).unwrap()),
            "row {row} of {} {:?}",
            T::DTYPE,
            table.shape()
        );
    }
    latch.check().unwrap();
}

#[test]
fn every_number_of_a_row_is_widened_without_a_loss() {
    let Some(gpu) = gpu("every_number_of_a_row_is_widened_without_a_loss") else {
        return;
    };
    let device = &gpu.device;
    // Every f16 and every bf16 that there is.
    let all = (0..=u16::MAX).map(f16::from_bits).collect();
    embedded(device, &Tensor::new(&[256, 256], all).unwrap());
    embedded(device, &any_bits(&[256, 256]));
    for width in [0, 1, 3, 8, 33, 64, 100, 2048] {
        embedded::<f16>(device, &noise(&[5, width], 1));
        embedded(device, &any_bits(&[5, width]));
        embedded(device, &any_wide_bits(&[5, width]));
    }
}

#[test]
fn a_token_that_is_no_row_gives_zeros_and_is_reported_once() {
    let Some(gpu) = gpu("a_token_that_is_no_row_gives_zeros_and_is_reported_once") else {
        return;
    };
    let device = &gpu.device;
    let latch = device.latch().unwrap();
    for (rows, token) in [(3, 3), (3, u32::MAX), (0, 0)] {
        let table = device.place(&any_bits(&[rows, 300])).unwrap();
        let out = poisoned(device, DType::F32, &[300]);
        let index = device.upload(&[token]).unwrap();
        device.embed(&table, &index, &latch, &out).unwrap();
        let refused = latch.check().unwrap_err().to_string();
        assert_eq!(
            refused,
            "a kernel reports: an index is no row of its table; the weights or the ids are broken"
        );
        latch.check().unwrap();
        assert_eq!(bits(&out.download::<f32>().unwrap()), [0; 300], "{rows} {token}");
    }
}

#[test]
fn a_row_that_does_not_fit_is_refused_and_nothing_is_written() {
    let Some(gpu) = gpu("a_row_that_does_not_fit_is_refused_and_nothing_is_written") else {
        return;
    };
    let device = &gpu.device;
    let table = device.place(&noise::<f32>(&[4, 8], 1)).unwrap();
    let (index, latch) = (device.upload(&[1_u32]).unwrap(), device.latch().unwrap());
    let out = poisoned(device, DType::F32, &[8]);
    let other = |dtype, shape: &[usize]| poisoned(device, dtype, shape);

    assert_shape(device.embed(&other(DType::F32, &[32]), &index, &latch, &out));
    assert_shape(device.embed(&other(DType::F32, &[4, 7]), &index, &latch, &out));
    assert_shape(device.embed(&table, &index, &latch, &other(DType::F32, &[1, 8])));
    assert_type(device.embed(&table, &index, &latch, &other(DType::F16, &[8])));
    let half_a_word = device.buffer(2).unwrap();
    let refused = device.embed(&table, &half_a_word, &latch, &out);
    assert!(
        matches!(
            refused,
            Err(DeviceError::Size {
                wanted: 4,
                held: 2,
                ..
            })
        ),
        "{refused:?}"
    );
    let of_the_table = table.part(8, &[8]).unwrap();
    assert_aliased(device.embed(&table, &index, &latch, &of_the_table));
    let of_the_output = out.buffer().part(0, 4).unwrap();
    assert_aliased(device.embed(&table, &of_the_output, &latch, &out));
    assert!(is_poison(out.buffer()));
    latch.check().unwrap();
}

fn gated(device: &Device, gates: &[f32], ups: &[f32]) -> Vec<f32> {
    let both = placed(device, &[2, gates.len()], &[gates, ups].concat());
    let out = poisoned(device, DType::F32, &[gates.len()]);
    device.swiglu(&both, &out).unwrap();
    out.download::<f32>().unwrap().into_data()
}

/// Beside the same formula in `f64`.
fn assert_gated(device: &Device, gates: &[f32], ups: &[f32]) {
    let found = gated(device, gates, ups);
    assert_eq!(found.len(), gates.len());
    for ((gate, up), found) in gates.iter().zip(ups).zip(found) {
        let (gate, up) = (f64::from(*gate), f64::from(*up));
        let wanted = gate / (1.0 + (-gate).exp()) * up;
        // The exponential is infinite in f32 where the result is not quite zero yet.
        let tolerance = 2e-6 * wanted.abs() + 1e-36;
        let distance = (f64::from(found) - wanted).abs();
        assert!(distance <= tolerance, "{gate} {up}: {found} instead of {wanted}");
    }
}

#[test]
fn swiglu_is_near_the_formula_for_every_length() {
    let Some(gpu) = gpu("swiglu_is_near_the_formula_for_every_length") else {
        return;
    };
    for width in [0, 1, 3, 31, 128, 257, 5632, 100_003] {
        let gates: Vec<f32> = noise::<f32>(&[width], 1)
            .data()
            .iter()
            .map(|number| 12.0 * number)
            .collect();
        assert_gated(&gpu.device, &gates, noise::<f32>(&[width], 2).data());
    }
}

#[test]
fn a_gate_may_be_as_large_as_it_likes() {
    let Some(gpu) = gpu("a_gate_may_be_as_large_as_it_likes") else {
        return;
    };
    let sizes: [f32; 11] = [
        1e-40, 1e-20, 1.0, 20.0, 80.0, 88.0, 88.8, 89.1, 104.0, 1000.0, 1e30,
    ];
    let gates: Vec<f32> = sizes.into_iter().flat_map(|size| [size, -size]).collect();
    for up in [1.0, -3.0, 1e-3, 0.0] {
        assert_gated(&gpu.device, &gates, &vec![up; gates.len()]);
    }
}

#[test]
fn what_is_not_a_number_stays_that_and_its_neighbours_stay_numbers() {
    let Some(gpu) = gpu("what_is_not_a_number_stays_that_and_its_neighbours_stay_numbers") else {
        return;
    };
    let infinite = f32::INFINITY;
    let gates = [1.0, f32::NAN, 1.0, -infinite, infinite, infinite, 1.0];
    let ups = [1.0, 1.0, f32::NAN, 1.0, 0.0, -2.0, 1.0];
    let found = gated(&gpu.device, &gates, &ups);
    let is_nan: Vec<bool> = found.iter().map(|number| number.is_nan()).collect();
    assert_eq!(is_nan, [false, true, true, true, true, false, false], "{found:?}");
    assert_eq!(found[5].to_bits(), f32::NEG_INFINITY.to_bits());
}

#[test]
fn gates_that_do_not_fit_are_refused_and_nothing_is_written() {
    let Some(gpu) = gpu("gates_that_do_not_fit_are_refused_and_nothing_is_written") else {
        return;
    };
    let device = &gpu.device;
    let both = device.place(&noise::<f32>(&[2, 8], 1)).unwrap();
    let out = poisoned(device, DType::F32, &[8]);
    let other = |dtype, shape: &[usize]| poisoned(device, dtype, shape);
    let shapes: [&[usize]; 5] = [&[16], &[3, 8], &[1, 8], &[2, 7], &[2, 1, 8]];
    for shape in shapes {
        assert_shape(device.swiglu(&other(DType::F32, shape), &out));
    }
    assert_shape(device.swiglu(&both, &other(DType::F32, &[1, 8])));
    assert_type(device.swiglu(&other(DType::Bf16, &[2, 8]), &out));
    assert_type(device.swiglu(&both, &other(DType::F16, &[8])));
    // Neither the gates' place nor one that reaches into both.
    for start in [0, 4, 8] {
        assert_aliased(device.swiglu(&both, &both.part(start, &[8]).unwrap()));
    }
    assert!(is_poison(out.buffer()));
}

/// What the heads remember, and the magnitudes that each number of it was added up from.
struct Memory {
    numbers: Vec<f32>,
    magnitudes: Vec<f32>,
}

impl Memory {
    fn step(&mut self, keys: &[f32], values: &[f32], logits: &[f32]) {
        let products = keys.iter().zip(values).map(|(key, value)| key * value);
        let so_far = self.numbers.iter_mut().zip(&mut self.magnitudes);
        for (((number, magnitude), product), logit) in so_far.zip(products).zip(logits) {
            let decay = 1.0 / (1.0 + (-logit).exp());
            *number = *number * decay + product;
            *magnitude = *magnitude * decay + product.abs();
        }
    }

    /// What queries (`[heads, head]`) read, and the magnitudes that it was added up from.
    fn read(&self, queries: &[f32], head: usize) -> [Vec<f32>; 2] {
        let mut read = [vec![0.0; queries.len()], vec![0.0; queries.len()]];
        for (row, query) in queries.iter().enumerate() {
            for column in 0..head {
                let (to, place) = (row / head * head + column, row * head + column);
                read[0][to] += query * self.numbers[place];
                read[1][to] += query.abs() * self.magnitudes[place];
            }
        }
        read
    }
}

/// As the crate promises: relative to what was added up.
fn assert_summed(found: &Tensor<f32>, wanted: &[f32], magnitudes: &[f32], what: &str) {
    assert_eq!(found.data().len(), wanted.len());
    for (place, found) in found.data().iter().enumerate() {
        let (wanted, tolerance) = (wanted[place], 1e-5 * magnitudes[place] + 1e-30);
        assert!(
            (found - wanted).abs() <= tolerance,
            "{what} at {place}: {found} instead of {wanted}"
        );
    }
}

fn remembered(device: &Device, heads: usize, head: usize) {
    let wide = [heads, head, head];
    let before = noise::<f32>(&wide, 1);
    let memory = device.place(&before).unwrap();
    let out = device.tensor(DType::F32, &[heads, head]).unwrap();
    let mut plain = Memory {
        numbers: before.data().to_vec(),
        magnitudes: before.data().iter().map(|number| number.abs()).collect(),
    };
    for step in 0..6 {
        let queries = noise::<f32>(&[heads, head], 100 + step);
        let (keys, values) = (noise::<f32>(&wide, 200 + step), noise::<f32>(&wide, 300 + step));
        let logits = noise::<f32>(&wide, 400 + step);
        // Some that keep everything, and some that keep nothing.
        let logits = Tensor::<f32>::from_fn(&wide, |place| match place % 50 {
            0 => 200.0,
            1 => -200.0,
            _ => 6.0 * logits.data()[place],
        });
        out.buffer().fill(POISON).unwrap();
        let [q, k, v, d] = [&queries, &keys, &values, &logits].map(|tensor| device.place(tensor).unwrap());
        device.remember(&q, &k, &v, &d, &memory, &out).unwrap();

        plain.step(keys.data(), values.data(), logits.data());
        let what = format!("step {step} of {heads} x {head}");
        assert_summed(
            &memory.download().unwrap(),
            &plain.numbers,
            &plain.magnitudes,
            &what,
        );
        let [wanted, magnitudes] = plain.read(queries.data(), head);
        assert_summed(&out.download().unwrap(), &wanted, &magnitudes, &what);
    }
}

#[test]
fn a_memory_forgets_learns_and_answers_as_on_the_cpu_step_after_step() {
    let Some(gpu) = gpu("a_memory_forgets_learns_and_answers_as_on_the_cpu_step_after_step") else {
        return;
    };
    for (heads, head) in [
        (1, 1),
        (3, 2),
        (4, 16),
        (2, 24),
        (5, 33),
        (3, 40),
        (2, 128),
        (1, 130),
    ] {
        remembered(&gpu.device, heads, head);
    }
}

#[test]
fn a_key_that_is_not_a_number_spoils_one_place_and_what_is_read_from_its_column() {
    let name = "a_key_that_is_not_a_number_spoils_one_place_and_what_is_read_from_its_column";
    let Some(gpu) = gpu(name) else { return };
    let device = &gpu.device;
    let (heads, head) = (2, 8);
    let wide = [heads, head, head];
    let mut keys = noise::<f32>(&wide, 1);
    // Row 1 and column 3 of the first head.
    keys.data_mut()[head + 3] = f32::NAN;
    let queries = device.place(&noise::<f32>(&[heads, head], 2)).unwrap();
    let [values, decays, memory] = [3, 4, 5].map(|seed| device.place(&noise::<f32>(&wide, seed)).unwrap());
    let out = poisoned(device, DType::F32, &[heads, head]);
    let keys = device.place(&keys).unwrap();
    device
        .remember(&queries, &keys, &values, &decays, &memory, &out)
        .unwrap();
    let not_numbers = |tensor: &DeviceTensor| {
        let tensor = tensor.download::<f32>().unwrap();
        let places = tensor.data().iter().enumerate();
        let found = places.filter(|(_, number)| number.is_nan());
        found.map(|(place, _)| place).collect::<Vec<usize>>()
    };
    assert_eq!(not_numbers(&memory), [head + 3]);
    assert_eq!(not_numbers(&out), [3]);
}

#[test]
fn a_memory_that_does_not_fit_is_refused_and_nothing_is_written() {
    let Some(gpu) = gpu("a_memory_that_does_not_fit_is_refused_and_nothing_is_written") else {
        return;
    };
    let device = &gpu.device;
    let queries = device.place(&noise::<f32>(&[2, 8], 1)).unwrap();
    let [keys, values, decays] = [2, 3, 4].map(|seed| device.place(&noise::<f32>(&[2, 8, 8], seed)).unwrap());
    let memory = poisoned(device, DType::F32, &[2, 8, 8]);
    let out = poisoned(device, DType::F32, &[2, 8]);
    let (k, v, d) = (&keys, &values, &decays);
    let other = |dtype, shape: &[usize]| poisoned(device, dtype, shape);

    let flat = other(DType::F32, &[2, 64]);
    assert_shape(device.remember(&other(DType::F32, &[16]), k, v, d, &memory, &out));
    assert_shape(device.remember(&other(DType::F32, &[1, 8]), k, v, d, &memory, &out));
    assert_shape(device.remember(&queries, &flat, v, d, &memory, &out));
    assert_shape(device.remember(&queries, k, &flat, d, &memory, &out));
    assert_shape(device.remember(&queries, k, v, &flat, &memory, &out));
    assert_shape(device.remember(&queries, k, v, d, &flat, &out));
    assert_shape(device.remember(&queries, k, v, d, &memory, &other(DType::F32, &[8, 2])));

    let narrow = other(DType::Bf16, &[2, 8, 8]);
    assert_type(device.remember(&other(DType::F16, &[2, 8]), k, v, d, &memory, &out));
    assert_type(device.remember(&queries, &narrow, v, d, &memory, &out));
    assert_type(device.remember(&queries, k, &narrow, d, &memory, &out));
    assert_type(device.remember(&queries, k, v, &narrow, &memory, &out));
    assert_type(device.remember(&queries, k, v, d, &narrow, &out));
    assert_type(device.remember(&queries, k, v, d, &memory, &other(DType::F16, &[2, 8])));

    assert_aliased(device.remember(&queries, k, v, d, &memory, &queries));
    assert_aliased(device.remember(&queries, k, v, d, k, &out));
    for whole in [&memory, k, v, d] {
        let part = whole.part(64, &[2, 8]).unwrap();
        assert_aliased(device.remember(&queries, k, v, d, &memory, &part));
    }
    assert!(is_poison(memory.buffer()) && is_poison(out.buffer()));
}

/// `outer` is empty for one vector without an axis of its own.
fn added_onto<T: Element + Plain>(device: &Device, rows: usize, width: usize, outer: &[usize]) {
    let weights = device.place(&noise::<T>(&[rows, width], 7)).unwrap();
    let input = device
        .place(&noise::<f32>(&[outer, &[width]].concat(), 8))
        .unwrap();
    let shape = [outer, &[rows]].concat();
    let before = noise::<f32>(&shape, 9);
    let (product, onto) = (
        poisoned(device, DType::F32, &shape),
        device.place(&before).unwrap(),
    );
    device.gemv(&weights, &input, &product).unwrap();
    let product = product.download::<f32>().unwrap();
    let mut wanted = before;
    // It is added up again and again, as the layers of a decoder do.
    for _ in 0..2 {
        device.gemv_onto(&weights, &input, &onto).unwrap();
        wanted = Tensor::from_fn(&shape, |place| wanted.data()[place] + product.data()[place]);
        assert_eq!(
            bits(&onto.download::<f32>().unwrap()),
            bits(&wanted),
            "{} {rows} {width} {outer:?}",
            T::DTYPE
        );
    }
}

#[test]
fn a_product_onto_something_is_the_product_and_then_a_sum_bit_for_bit() {
    let Some(gpu) = gpu("a_product_onto_something_is_the_product_and_then_a_sum_bit_for_bit") else {
        return;
    };
    let cases: [(usize, usize, &[usize]); 9] = [
        (1, 8, &[]),
        (9, 576, &[]),
        (100, 2048, &[1]),
        (17, 33, &[2]),
        (64, 1536, &[3]),
        (3, 7, &[]),
        (4, 1, &[2]),
        (5, 0, &[]),
        (0, 8, &[]),
    ];
    for (rows, width, outer) in cases {
        added_onto::<f32>(&gpu.device, rows, width, outer);
        added_onto::<f16>(&gpu.device, rows, width, outer);
        added_onto::<bf16>(&gpu.device, rows, width, outer);
    }
}

#[test]
fn a_product_that_does_not_fit_what_it_is_added_to_is_refused_and_nothing_is_written() {
    let name = "a_product_that_does_not_fit_what_it_is_added_to_is_refused_and_nothing_is_written";
    let Some(gpu) = gpu(name) else { return };
    let device = &gpu.device;
    let weights = device.place(&noise::<f32>(&[8, 8], 1)).unwrap();
    let input = device.place(&noise::<f32>(&[8], 2)).unwrap();
    let out = poisoned(device, DType::F32, &[8]);
    let other = |dtype, shape: &[usize]| poisoned(device, dtype, shape);
    assert_shape(device.gemv_onto(&other(DType::F32, &[64]), &input, &out));
    assert_shape(device.gemv_onto(&weights, &other(DType::F32, &[7]), &out));
    assert_shape(device.gemv_onto(&weights, &input, &other(DType::F32, &[7])));
    assert_shape(device.gemv_onto(&weights, &input, &other(DType::F32, &[1, 8])));
    assert_type(device.gemv_onto(&weights, &other(DType::Bf16, &[8]), &out));
    assert_type(device.gemv_onto(&weights, &input, &other(DType::F16, &[8])));
    assert_aliased(device.gemv_onto(&weights, &input, &input));
    assert_aliased(device.gemv_onto(&weights, &input, &weights.part(16, &[8]).unwrap()));
    assert!(is_poison(out.buffer()));
}

#[test]
fn a_part_is_read_and_written_in_its_own_range() {
    let Some(gpu) = gpu("a_part_is_read_and_written_in_its_own_range") else {
        return;
    };
    let mut wanted: Vec<u8> = (0..64).collect();
    let whole = gpu.device.upload(&wanted).unwrap();
    let part = whole.part(16, 20).unwrap();
    assert_eq!((part.address(), part.bytes()), (whole.address() + 16, 20));
    assert_eq!(part.download::<u8>(20).unwrap(), wanted[16..36]);
    assert!(matches!(part.download::<u8>(21), Err(DeviceError::Size { .. })));

    part.fill(7).unwrap();
    wanted[16..36].fill(7);
    assert_eq!(whole.download::<u8>(64).unwrap(), wanted);
    part.upload(&[8_u8; 3]).unwrap();
    wanted[16..19].fill(8);
    assert_eq!(whole.download::<u8>(64).unwrap(), wanted);
    assert!(matches!(part.upload(&[8_u8; 21]), Err(DeviceError::Size { .. })));

    let of_the_part = part.part(16, 4).unwrap();
    assert_eq!(of_the_part.address(), whole.address() + 32);
    of_the_part.set(0x0403_0201).unwrap();
    wanted[32..36].copy_from_slice(&[1, 2, 3, 4]);
    assert_eq!(whole.download::<u8>(64).unwrap(), wanted);
    assert!(matches!(part.part(16, 5), Err(DeviceError::Size { .. })));
}

#[test]
fn a_part_of_a_tensor_has_the_same_numbers_in_another_shape() {
    let Some(gpu) = gpu("a_part_of_a_tensor_has_the_same_numbers_in_another_shape") else {
        return;
    };
    let device = &gpu.device;
    let all = noise::<f32>(&[4, 8], 1);
    let whole = device.place(&all).unwrap();
    let part = whole.part(8, &[2, 4]).unwrap();
    assert_eq!(
        (part.shape(), part.dtype(), part.places()),
        (&[2, 4][..], DType::F32, 8)
    );
    let wanted = Tensor::new(&[2, 4], all.data()[8..16].to_vec()).unwrap();
    assert_eq!(bits(&part.download::<f32>().unwrap()), bits(&wanted));
    // All of it, none of it, and one number.
    assert_eq!(whole.part(0, &[32]).unwrap().places(), 32);
    assert_eq!(whole.part(32, &[3, 0]).unwrap().places(), 0);
    assert_eq!(whole.part(28, &[]).unwrap().places(), 1);

    assert!(matches!(whole.part(24, &[9]), Err(DeviceError::Size { .. })));
    assert!(whole.part(0, &[usize::MAX, 2]).is_err());
    assert!(whole.part(usize::MAX, &[1]).is_err());
    let misaligned = |part: Result<DeviceTensor, DeviceError>| {
        assert!(matches!(part, Err(DeviceError::Misaligned { .. })), "{part:?}");
    };
    misaligned(whole.part(1, &[1]));
    let narrow = device.place(&any_bits(&[16])).unwrap();
    misaligned(narrow.part(4, &[1]));
    assert_eq!(narrow.part(8, &[8]).unwrap().dtype(), DType::Bf16);
}

#[test]
fn a_part_that_is_too_long_or_misaligned_is_refused() {
    let Some(gpu) = gpu("a_part_that_is_too_long_or_misaligned_is_refused") else {
        return;
    };
    let whole = gpu.device.buffer(64).unwrap();
    assert_eq!(whole.part(0, 64).unwrap().bytes(), 64);
    assert_eq!(whole.part(64, 0).unwrap().bytes(), 0);
    let last = usize::MAX - 15;
    for (start, bytes) in [(0, 65), (48, 17), (64, 1), (80, 0), (last, 16), (16, usize::MAX)] {
        let refused = whole.part(start, bytes);
        assert!(
            matches!(refused, Err(DeviceError::Size { held: 64, .. })),
            "{refused:?}"
        );
    }
    for start in [1, 4, 8, 15, 17, 40] {
        let refused = whole.part(start, 4).unwrap_err();
        assert!(
            matches!(refused, DeviceError::Misaligned { start: found, .. } if found == start),
            "{refused}"
        );
        assert!(refused.to_string().contains("a multiple of 16"), "{refused}");
    }
}

#[test]
fn parts_that_do_not_overlap_are_apart_and_others_are_not() {
    let Some(gpu) = gpu("parts_that_do_not_overlap_are_apart_and_others_are_not") else {
        return;
    };
    let device = &gpu.device;
    let bytes: Vec<u8> = (0..64).collect();
    let whole = device.upload(&bytes).unwrap();
    let [left, middle, right] = [0, 16, 32].map(|start| whole.part(start, 32).unwrap());
    let last = whole.part(48, 16).unwrap();
    for (to, from) in [
        (&left, &middle),
        (&middle, &left),
        (&right, &last),
        (&whole, &right),
        (&whole, &left),
        (&left, &left),
        (&left, &whole.part(0, 16).unwrap()),
    ] {
        assert_aliased(to.copy_from(from));
    }
    assert_eq!(whole.download::<u8>(64).unwrap(), bytes);
    left.copy_from(&right).unwrap();
    assert_eq!(left.download::<u8>(32).unwrap(), bytes[32..]);

    // The same is asked of operators.
    let mut wanted = noise::<f32>(&[48], 1).into_data();
    let all = placed(device, &[48], &wanted);
    let (row, input) = (all.part(0, &[8]).unwrap(), all.part(8, &[2, 8]).unwrap());
    for start in [0, 4] {
        assert_aliased(device.add(&input, &row, &all.part(start, &[2, 8]).unwrap()));
    }
    device.add(&input, &row, &all.part(24, &[2, 8]).unwrap()).unwrap();
    for place in 0..16 {
        wanted[24 + place] = wanted[8 + place] + wanted[place % 8];
    }
    let wanted = Tensor::new(&[48], wanted).unwrap();
    assert_eq!(bits(&all.download::<f32>().unwrap()), bits(&wanted));
}

#[test]
fn memory_lives_as_long_as_a_part_of_it() {
    let Some(gpu) = gpu("memory_lives_as_long_as_a_part_of_it") else {
        return;
    };
    let device = &gpu.device;
    let before = device.counters();
    let whole = device.upload(&[7_u8; 512]).unwrap();
    let part = whole.part(256, 64).unwrap();
    let of_the_part = part.part(32, 16).unwrap();
    drop((whole, part));
    // Whatever was freed would be given out again, and overwritten.
    let rest: Vec<_> = (0..64).map(|_| device.buffer(512).unwrap()).collect();
    rest.iter().for_each(|buffer| buffer.fill(POISON).unwrap());
    let counted = device.counters().since(before);
    assert_eq!(
        (counted.allocations, counted.frees),
        (65, 0),
        "a part is not allocated"
    );
    assert_eq!(of_the_part.download::<u8>(16).unwrap(), [7; 16]);
    drop(of_the_part);
    assert_eq!(device.counters().since(before).frees, 1);

    let tensor = device.place(&noise::<f32>(&[8], 1)).unwrap();
    let part = tensor.part(4, &[4]).unwrap();
    drop(tensor);
    assert_eq!(device.counters().since(before).frees, 1);
    drop(part);
    assert_eq!(device.counters().since(before).frees, 2);
    device.check_drops().unwrap();
}

#[test]
fn a_graph_keeps_the_memory_of_a_part_that_it_was_recorded_with() {
    let Some(gpu) = gpu("a_graph_keeps_the_memory_of_a_part_that_it_was_recorded_with") else {
        return;
    };
    let device = &gpu.device;
    let whole = device.upload(&[7_u8; 512]).unwrap();
    let part = whole.part(256, 64).unwrap();
    let out = device.buffer(64).unwrap();
    let mut lifecycle = Lifecycle::new(device.clone());
    let segment = lifecycle.record(|_| out.copy_from(&part)).unwrap();
    let before = device.counters();
    drop((whole, part));
    let rest: Vec<_> = (0..64).map(|_| device.buffer(512).unwrap()).collect();
    rest.iter().for_each(|buffer| buffer.fill(POISON).unwrap());
    assert_eq!(device.counters().since(before).frees, 0);

    out.fill(POISON).unwrap();
    lifecycle.replay(segment).unwrap();
    assert_eq!(out.download::<u8>(64).unwrap(), [7; 64]);
    lifecycle.reset().unwrap();
    assert_eq!(device.counters().since(before).frees, 1, "and now it is gone");
    device.check_drops().unwrap();
}

#[test]
fn an_upload_into_the_middle_writes_nothing_else() {
    let Some(gpu) = gpu("an_upload_into_the_middle_writes_nothing_else") else {
        return;
    };
    let device = &gpu.device;
    let whole = device.buffer(64).unwrap();
    whole.fill(POISON).unwrap();
    let before = device.counters();
    whole.upload_at(16, &[1_u32, 2, 3]).unwrap();
    let counted = device.counters().since(before);
    assert_eq!((counted.h2d_calls, counted.h2d_bytes), (1, 12));
    let mut wanted = [POISON; 64];
    wanted[16..28].copy_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
    assert_eq!(whole.download::<u8>(64).unwrap(), wanted);

    // Counted from the beginning of the part, up to the last byte of the whole.
    whole.part(32, 32).unwrap().upload_at(16, &[9_u8; 16]).unwrap();
    wanted[48..].fill(9);
    assert_eq!(whole.download::<u8>(64).unwrap(), wanted);

    whole.upload_at::<u32>(64, &[]).unwrap();
    let last = usize::MAX - 15;
    for start in [64, 80, last] {
        assert!(whole.upload_at(start, &[1_u8; 16]).is_err(), "{start}");
    }
    let refused = whole.upload_at(48, &[1_u8; 17]);
    assert!(matches!(refused, Err(DeviceError::Size { .. })), "{refused:?}");
    let mut lifecycle = Lifecycle::new(device.clone());
    let refused = lifecycle.record(|_| whole.upload_at(0, &[1_u8])).unwrap_err();
    assert!(
        matches!(refused, DeviceError::NotWhileCapturing { .. }),
        "{refused}"
    );
    assert_eq!(whole.download::<u8>(64).unwrap(), wanted);
}
