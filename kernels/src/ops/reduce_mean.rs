//! Mean along the last axis, which is kept with length 1 (ONNX ReduceMean).

use super::lanes;
use crate::dtype::Element;
use crate::error::OpError;
use crate::tensor::Tensor;
use pulp::Arch;

/// Writes the mean of each row. Adds in `f32`, in the fixed order that the module of reductions describes, and rounds
/// once. The mean of an empty row is NaN.
///
/// # Errors
/// [`OpError::Shape`] if `out` is not the shape of `input` with a last axis of 1, or `input` has no axis.
pub fn reduce_mean<T: Element>(input: &Tensor<T>, out: &mut Tensor<T>) -> Result<(), OpError> {
    OpError::unless_shape("reduce_mean", "output", &shape(input.shape())?, out.shape())?;
    let width = input.width();
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for (row, mean) in out.data_mut().iter_mut().enumerate() {
                let numbers = &input.data()[row * width..(row + 1) * width];
                *mean = T::from_f32(mean_of(numbers));
            }
        },
    );
    Ok(())
}

#[inline(always)]
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^24, rounded beyond")]
fn mean_of<T: Element>(numbers: &[T]) -> f32 {
    lanes::sum(numbers, |number| number) / numbers.len() as f32
}

fn shape(input: &[usize]) -> Result<Vec<usize>, OpError> {
    let Some((_, outer)) = input.split_last() else {
        return Err(OpError::shape(
            "reduce_mean",
            "input",
            format_args!("at least one axis"),
            input,
        ));
    };
    Ok([outer, &[1]].concat())
}

/// `out[.., 0] = (input[.., 0] + input[.., 1] + ..) / length`
///
/// # Errors
/// [`OpError::Shape`] if `input` has no axis.
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^24, rounded beyond")]
pub fn oracle(input: &Tensor<f32>) -> Result<Tensor<f32>, OpError> {
    let shape = shape(input.shape())?;
    let width = input.width();
    Ok(Tensor::from_fn(&shape, |row| {
        let mut sum = 0.0;
        for j in 0..width {
            sum += input.data()[row * width + j];
        }
        sum / width as f32
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{assert_near, noise, rounded};
    use half::f16;

    #[test]
    fn it_is_as_near_to_the_oracle_as_the_order_of_additions_allows() {
        for shape in [&[32, 128][..], &[3, 2, 77], &[4, 1]] {
            let input = noise(shape, 3);
            let wanted = oracle(&input).unwrap();
            let mut out = Tensor::zeros(wanted.shape());
            reduce_mean(&input, &mut out).unwrap();
            assert_near(&out, &wanted, 1.0, 1e-5);
            let narrow: Tensor<f16> = rounded(&input);
            let mut out = Tensor::zeros(wanted.shape());
            reduce_mean(&narrow, &mut out).unwrap();
            assert_near(&out, &oracle(&narrow.widened()).unwrap(), 1.0, 1e-3);
        }
    }

    #[test]
    fn an_empty_row_has_no_mean_and_no_rows_have_none_to_write() {
        let mut out = Tensor::zeros(&[2, 1]);
        reduce_mean(&Tensor::<f32>::zeros(&[2, 0]), &mut out).unwrap();
        assert!(out.data().iter().all(|mean| mean.is_nan()));
        assert!(reduce_mean(&Tensor::<f32>::zeros(&[0, 4]), &mut Tensor::zeros(&[0, 1])).is_ok());
        assert!(reduce_mean(&Tensor::<f32>::zeros(&[]), &mut Tensor::zeros(&[1])).is_err());
    }
}
