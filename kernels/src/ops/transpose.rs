//! Transpose: the axes of a tensor in another order (ONNX Transpose).

use super::strided;
use crate::dtype::Element;
use crate::error::OpError;
use crate::tensor::{Tensor, strides};

/// Writes `input` with its axis `order[i]` as axis `i`. Copies bits.
///
/// # Errors
/// [`OpError::Shape`] if `order` does not name each axis once, or `out` does not have the lengths in that order.
pub fn transpose<T: Element>(input: &Tensor<T>, order: &[usize], out: &mut Tensor<T>) -> Result<(), OpError> {
    let shape = shape(input.shape(), order)?;
    OpError::unless_shape("transpose", "output", &shape, out.shape())?;
    if out.data().is_empty() {
        return Ok(());
    }
    let from = strides(input.shape());
    let distances: Vec<usize> = order.iter().map(|axis| from[*axis]).collect();
    strided::copy(input.data(), &shape, &distances, out.data_mut());
    Ok(())
}

/// The shape that comes out.
///
/// # Errors
/// [`OpError::Shape`] if `order` does not name each axis once.
pub fn shape(input: &[usize], order: &[usize]) -> Result<Vec<usize>, OpError> {
    let mut named = order.to_vec();
    named.sort_unstable();
    if named.iter().copied().ne(0..input.len()) {
        return Err(OpError::shape(
            "transpose",
            "order",
            format_args!("an order of {} axes", input.len()),
            order,
        ));
    }
    Ok(order.iter().map(|axis| input[*axis]).collect())
}

/// `out[.., i, ..] = input[.., i, ..]` with each index at the place of its axis.
///
/// # Errors
/// As [`transpose`].
pub fn oracle<T: Element>(input: &Tensor<T>, order: &[usize]) -> Result<Tensor<T>, OpError> {
    let shape = shape(input.shape(), order)?;
    let (into, from) = (strides(&shape), strides(input.shape()));
    let places: usize = shape.iter().product();
    let data = (0..places)
        .map(|place| {
            let source: usize = (0..shape.len())
                .map(|axis| place / into[axis] % shape[axis] * from[order[axis]])
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
    fn rows_become_columns() {
        let input = Tensor::new(&[2, 3], vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let mut out = Tensor::zeros(&[3, 2]);
        transpose(&input, &[1, 0], &mut out).unwrap();
        assert_eq!(out.data(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }

    #[test]
    fn an_order_names_each_axis_once() {
        let input = Tensor::<f32>::pattern(&[2, 2]);
        for order in [&[0, 0][..], &[0], &[0, 2], &[0, 1, 2]] {
            let refused = transpose(&input, order, &mut Tensor::zeros(&[2, 2])).unwrap_err();
            assert!(refused.to_string().contains("an order of 2 axes"), "{refused}");
        }
    }

    proptest! {
        #[test]
        fn every_bit_is_the_oracles(shape in check::shape(), turn in 0_usize..4, swap in any::<bool>()) {
            let input = check::bits(&shape);
            let mut order: Vec<usize> = (0..shape.len()).collect();
            order.rotate_left(turn % shape.len().max(1));
            if swap && shape.len() > 1 {
                order.swap(0, 1);
            }
            let wanted = oracle(&input, &order).unwrap();
            let mut out = Tensor::zeros(wanted.shape());
            transpose(&input, &order, &mut out).unwrap();
            prop_assert!(same_bits(&out, &wanted));
        }
    }
}
