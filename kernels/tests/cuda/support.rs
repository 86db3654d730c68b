//! The GPU, for one test at a time, and what results are compared with.

use half::bf16;
use kernels::device::{Availability, Buffer, Device, DeviceTensor, PtxCache, probe};
use kernels::{DType, Element, Tensor};
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is in an output before it is written: nothing may be left of it.
pub(crate) const POISON: u8 = 0xa5;

/// The GPU, for as long as a test has it.
pub(crate) struct Gpu {
    // Given back before another test may take it.
    pub(crate) device: Device,
    _alone: MutexGuard<'static, ()>,
}

/// Waits until no other test has the GPU.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // Another test that failed says nothing about this one.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says why a test did not do anything.
pub(crate) fn skipped(test: &str, reason: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {reason}");
}

/// The GPU; absent if there is none, which is said.
pub(crate) fn gpu(test: &str) -> Option<Gpu> {
    let alone = alone();
    match probe() {
        // What there is must work.
        Availability::Available => Some(Gpu {
            device: Device::open(cache()).unwrap(),
            _alone: alone,
        }),
        other => {
            skipped(test, &other.to_string());
            None
        }
    }
}

/// Compiled kernels are kept between tests and runs.
fn cache() -> PtxCache {
    PtxCache::at(&std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels"))
}

pub(crate) fn bits<T: Element>(tensor: &Tensor<T>) -> Vec<u32> {
    tensor.data().iter().map(|number| number.bits()).collect()
}

/// Bits, but one pattern for all NaN: what is computed may have any.
pub(crate) fn numbers<T: Element>(tensor: &Tensor<T>) -> Vec<u32> {
    let canonical = |number: &T| {
        if number.to_f32().is_nan() {
            u32::MAX
        } else {
            number.bits()
        }
    };
    tensor.data().iter().map(canonical).collect()
}

/// Every number has other bits, NaN among them.
pub(crate) fn any_bits(shape: &[usize]) -> Tensor<bf16> {
    let places = shape.iter().product::<usize>();
    let data = (0..places).map(|i| bf16::from_bits((i * 7919 % 65_536) as u16));
    Tensor::new(shape, data.collect()).unwrap()
}

pub(crate) fn any_wide_bits(shape: &[usize]) -> Tensor<f32> {
    let places = shape.iter().product::<usize>();
    let data = (0..places).map(|i| f32::from_bits((i as u32).wrapping_mul(2_654_435_761)));
    Tensor::new(shape, data.collect()).unwrap()
}

/// Numbers between -1 and 1, the same for the same seed.
pub(crate) fn noise<T: Element>(shape: &[usize], seed: u64) -> Tensor<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    Tensor::from_fn(shape, |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / 8_388_608.0 - 1.0
    })
}

pub(crate) fn rounded<T: Element>(wide: &Tensor<f32>) -> Tensor<T> {
    Tensor::from_fn(wide.shape(), |i| wide.data()[i])
}

pub(crate) fn assert_near(found: &Tensor<f32>, wanted: &Tensor<f32>, tolerance: f32) {
    assert_eq!(found.shape(), wanted.shape());
    for (place, (found, wanted)) in found.data().iter().zip(wanted.data()).enumerate() {
        assert!(
            (found - wanted).abs() <= tolerance,
            "at {place}: {found} instead of {wanted}"
        );
    }
}

/// An output full of poison.
pub(crate) fn poisoned(device: &Device, dtype: DType, shape: &[usize]) -> DeviceTensor {
    let out = device.tensor(dtype, shape).unwrap();
    out.buffer().fill(POISON).unwrap();
    out
}

pub(crate) fn is_poison(buffer: &Buffer) -> bool {
    let bytes: Vec<u8> = buffer.download(buffer.bytes()).unwrap();
    bytes.iter().all(|byte| *byte == POISON)
}

/// Counts of a repetition as the kernel wants them.
pub(crate) fn counts(device: &Device, repeats: &[usize]) -> Buffer {
    let repeats: Vec<i64> = repeats.iter().map(|count| *count as i64).collect();
    device.upload(&repeats).unwrap()
}
