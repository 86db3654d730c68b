//! What the tests of several operators ask.

use crate::dtype::Element;
use crate::tensor::Tensor;
use proptest::prelude::*;

/// Shapes of up to four axes, axes of length zero and one among them.
pub(super) fn shape() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0_usize..6, 0..=4)
}

/// A tensor in which every number has other bits, NaN and both zeros among them.
pub(super) fn bits(shape: &[usize]) -> Tensor<half::bf16> {
    let places = shape.iter().product::<usize>();
    let data = (0..places).map(|i| half::bf16::from_bits((i * 7919 % 65_536) as u16));
    Tensor::new(shape, data.collect()).unwrap()
}

/// Whether shape and every bit agree.
pub(super) fn same_bits<T: Element>(one: &Tensor<T>, other: &Tensor<T>) -> bool {
    let bits = |tensor: &Tensor<T>| {
        tensor
            .data()
            .iter()
            .map(|number| number.bits())
            .collect::<Vec<_>>()
    };
    one.shape() == other.shape() && bits(one) == bits(other)
}

/// The oracle's answer in this type, rounded once.
pub(super) fn rounded<T: Element>(oracle: &Tensor<f32>) -> Tensor<T> {
    Tensor::from_fn(oracle.shape(), |i| oracle.data()[i])
}

/// Numbers around zero, the same for the same seed.
pub(super) fn noise(shape: &[usize], seed: u64) -> Tensor<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    Tensor::from_fn(shape, |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / 8_388_608.0 - 1.0
    })
}

/// Fails with the first place at which two results are further apart than `relative` of `scale`.
pub(super) fn assert_near<T: Element>(found: &Tensor<T>, wanted: &Tensor<f32>, scale: f32, relative: f32) {
    assert_eq!(found.shape(), wanted.shape());
    for (place, (found, wanted)) in found.data().iter().zip(wanted.data()).enumerate() {
        let found = found.to_f32();
        assert!(
            (found - wanted).abs() <= relative * scale,
            "at {place}: {found} instead of {wanted}"
        );
    }
}
