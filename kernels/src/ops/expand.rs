//! Expand: a tensor broadcast to a larger shape (ONNX Expand, the rules of NumPy broadcasting).

use super::strided;
use crate::dtype::Element;
use crate::error::OpError;
use crate::tensor::{Tensor, strides};

/// Writes `input` broadcast to the shape of `out`: axes are matched from the last, one of length 1 is repeated, and
/// missing ones come first. Copies bits.
///
/// # Errors
/// [`OpError::Shape`] if an axis of `input` is neither 1 nor as long as that of `out`, or `out` has fewer axes.
pub fn expand<T: Element>(input: &Tensor<T>, out: &mut Tensor<T>) -> Result<(), OpError> {
    let distances = distances(input.shape(), out.shape())?;
    let shape = out.shape().to_vec();
    if out.data().is_empty() {
        return Ok(());
    }
    strided::copy(input.data(), &shape, &distances, out.data_mut());
    Ok(())
}

/// How far apart in `input` the neighbours along each axis of `shape` are; 0 where one is repeated.
///
/// # Errors
/// As [`expand`].
pub fn distances(input: &[usize], shape: &[usize]) -> Result<Vec<usize>, OpError> {
    let refused = || {
        OpError::shape(
            "expand",
            "input",
            format_args!("what broadcasts to {shape:?}"),
            input,
        )
    };
    let missing = shape.len().checked_sub(input.len()).ok_or_else(refused)?;
    let mut distances = vec![0; shape.len()];
    for (axis, stride) in strides(input).into_iter().enumerate() {
        match input[axis] {
            length if length == shape[missing + axis] => distances[missing + axis] = stride,
            1 => {}
            _ => return Err(refused()),
        }
    }
    Ok(distances)
}

/// `out[.., i, ..] = input[.., 0 if its axis is 1 else i, ..]`
///
/// # Errors
/// As [`expand`].
pub fn oracle<T: Element>(input: &Tensor<T>, shape: &[usize]) -> Result<Tensor<T>, OpError> {
    distances(input.shape(), shape)?;
    let (into, from) = (strides(shape), strides(input.shape()));
    let missing = shape.len() - input.shape().len();
    let places: usize = shape.iter().product();
    let data = (0..places)
        .map(|place| {
            let source: usize = (0..input.shape().len())
                .filter(|axis| input.shape()[*axis] > 1)
                .map(|axis| place / into[missing + axis] % shape[missing + axis] * from[axis])
                .sum();
            input.data()[source]
        })
        .collect();
    Tensor::new(shape, data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{self, same_bits};
    use proptest::prelude::*;

    #[test]
    fn an_axis_of_one_is_repeated_and_missing_axes_come_first() {
        let input = Tensor::new(&[2, 1], vec![1.0_f32, 2.0]).unwrap();
        let mut out = Tensor::zeros(&[2, 2, 3]);
        expand(&input, &mut out).unwrap();
        assert_eq!(
            out.data(),
            [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0]
        );
    }

    #[test]
    fn what_does_not_broadcast_is_refused() {
        let input = Tensor::<f32>::pattern(&[2, 3]);
        for shape in [&[2, 4][..], &[3], &[3, 2]] {
            let refused = expand(&input, &mut Tensor::zeros(shape)).unwrap_err();
            assert!(refused.to_string().contains("what broadcasts to"), "{refused}");
        }
    }

    proptest! {
        #[test]
        fn every_bit_is_the_oracles(
            shape in check::shape(),
            ones in prop::collection::vec(any::<bool>(), 4),
            dropped in 0_usize..3,
        ) {
            let from: Vec<usize> = shape
                .iter()
                .zip(&ones)
                .map(|(length, one)| if *one { 1 } else { *length })
                .skip(dropped)
                .collect();
            let input = check::bits(&from);
            let wanted = oracle(&input, &shape).unwrap();
            let mut out = Tensor::zeros(&shape);
            expand(&input, &mut out).unwrap();
            prop_assert!(same_bits(&out, &wanted));
        }
    }
}
