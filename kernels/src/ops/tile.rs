//! Tile: a tensor repeated along each axis (ONNX Tile).

use super::strided;
use crate::dtype::Element;
use crate::error::OpError;
use crate::tensor::{Tensor, strides};

/// Writes `input` repeated `repeats[i]` times along axis `i`. Copies bits; zero repeats give an empty tensor.
///
/// # Errors
/// [`OpError::Shape`] if there is not one count for each axis, or `out` does not have `shape[i] * repeats[i]` along
/// each.
pub fn tile<T: Element>(input: &Tensor<T>, repeats: &[usize], out: &mut Tensor<T>) -> Result<(), OpError> {
    OpError::unless_shape("tile", "output", &shape(input.shape(), repeats)?, out.shape())?;
    if out.data().is_empty() {
        return Ok(());
    }
    // An axis is two: over the repetitions, which do not move the source, and within one.
    let mut axes = Vec::with_capacity(2 * repeats.len());
    let mut distances = Vec::with_capacity(2 * repeats.len());
    for ((length, times), stride) in input.shape().iter().zip(repeats).zip(strides(input.shape())) {
        axes.extend([*times, *length]);
        distances.extend([0, stride]);
    }
    strided::copy(input.data(), &axes, &distances, out.data_mut());
    Ok(())
}

/// The shape that comes out.
///
/// # Errors
/// [`OpError::Shape`] if there is not one count for each axis, or an axis would be longer than can be counted.
pub fn shape(input: &[usize], repeats: &[usize]) -> Result<Vec<usize>, OpError> {
    OpError::unless_shape("tile", "repeats", &[input.len()], &[repeats.len()])?;
    input
        .iter()
        .zip(repeats)
        .map(|(length, times)| length.checked_mul(*times))
        .collect::<Option<_>>()
        .ok_or_else(|| OpError::shape("tile", "repeats", format_args!("smaller counts"), repeats))
}

/// `out[i, j, ..] = input[i mod n0, j mod n1, ..]`
///
/// # Errors
/// As [`tile`].
pub fn oracle<T: Element>(input: &Tensor<T>, repeats: &[usize]) -> Result<Tensor<T>, OpError> {
    let shape = shape(input.shape(), repeats)?;
    let (into, from) = (strides(&shape), strides(input.shape()));
    let places: usize = shape.iter().product();
    let data = (0..places)
        .map(|place| {
            let source: usize = (0..shape.len())
                .map(|axis| place / into[axis] % shape[axis] % input.shape()[axis] * from[axis])
                .sum();
            input.data()[source]
        })
        .collect();
    Tensor::new(&shape, data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{self, same_bits};
    use proptest::prelude::*;

    #[test]
    fn each_axis_is_repeated_as_a_whole() {
        let input = Tensor::new(&[2, 2], vec![1.0_f32, 2.0, 3.0, 4.0]).unwrap();
        let mut out = Tensor::zeros(&[2, 4]);
        tile(&input, &[1, 2], &mut out).unwrap();
        assert_eq!(out.data(), [1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0]);
    }

    #[test]
    fn a_number_without_axes_is_tiled_into_itself_and_no_repeats_into_nothing() {
        let one = Tensor::new(&[], vec![7.0_f32]).unwrap();
        let mut out = Tensor::zeros(&[]);
        tile(&one, &[], &mut out).unwrap();
        assert_eq!(out.data(), [7.0]);
        let mut none = Tensor::zeros(&[0, 2]);
        tile(&Tensor::<f32>::pattern(&[3, 2]), &[0, 1], &mut none).unwrap();
        assert!(none.data().is_empty());
    }

    #[test]
    fn counts_that_do_not_fit_are_refused() {
        let input = Tensor::<f32>::pattern(&[2, 2]);
        assert!(tile(&input, &[2], &mut Tensor::zeros(&[4, 2])).is_err());
        assert!(tile(&input, &[2, 1], &mut Tensor::zeros(&[2, 2])).is_err());
    }

    proptest! {
        #[test]
        fn every_bit_is_the_oracles(shape in check::shape(), repeats in prop::collection::vec(0_usize..4, 4)) {
            let input = check::bits(&shape);
            let repeats = &repeats[..shape.len()];
            let wanted = oracle(&input, repeats).unwrap();
            let mut out = Tensor::zeros(wanted.shape());
            tile(&input, repeats, &mut out).unwrap();
            prop_assert!(same_bits(&out, &wanted));
        }
    }
}
