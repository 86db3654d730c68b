//! Softmax along the last axis.

use super::lanes;
use crate::dtype::Element;
use crate::error::OpError;
use crate::tensor::Tensor;

/// Writes `exp(x - max) / sum(exp(x - max))` of each row: subtracting the largest keeps every exponential at most 1.
///
/// A row of nothing but minus infinity is NaN, as is one that holds NaN or plus infinity.
///
/// # Errors
/// [`OpError::Shape`] if `out` is not of the shape of `input`.
pub fn softmax<T: Element>(input: &Tensor<T>, out: &mut Tensor<T>) -> Result<(), OpError> {
    OpError::unless_shape("softmax", "output", input.shape(), out.shape())?;
    if out.data().is_empty() {
        return Ok(());
    }
    let width = input.width();
    let mut weights = vec![0.0; width];
    let rows = input.data().chunks_exact(width);
    for (from, to) in rows.zip(out.data_mut().chunks_exact_mut(width)) {
        T::widen(from, &mut weights);
        in_place(&mut weights);
        T::narrow(&weights, to);
    }
    Ok(())
}

/// The same for one row, in its place.
pub(super) fn in_place(row: &mut [f32]) {
    let max = lanes::max(row);
    for number in row.iter_mut() {
        *number = (*number - max).exp();
    }
    let sum = lanes::sum(row, |number| number);
    for number in row {
        *number /= sum;
    }
}

/// `out[.., j] = exp(input[.., j] - max) / (exp(input[.., 0] - max) + ..)`
#[must_use]
pub fn oracle(input: &Tensor<f32>) -> Tensor<f32> {
    let width = input.width();
    Tensor::from_fn(input.shape(), |i| {
        let row = &input.data()[i / width * width..][..width];
        let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = row.iter().map(|number| (number - max).exp()).sum();
        (input.data()[i] - max).exp() / sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{assert_near, noise, rounded};
    use half::bf16;

    #[test]
    fn it_is_near_the_oracle_and_each_row_adds_up_to_one() {
        let input = noise(&[5, 3, 130], 4);
        let mut out = Tensor::zeros(input.shape());
        softmax(&input, &mut out).unwrap();
        assert_near(&out, &oracle(&input), 1.0, 1e-6);
        for row in out.data().chunks(130) {
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
        let narrow: Tensor<bf16> = rounded(&input);
        let mut out = Tensor::zeros(input.shape());
        softmax(&narrow, &mut out).unwrap();
        assert_near(&out, &oracle(&narrow.widened()), 0.1, 4e-3);
    }

    #[test]
    fn numbers_far_beyond_the_range_of_exp_are_no_trouble() {
        let input = Tensor::new(&[1, 3], vec![1000.0_f32, 1000.0, f32::NEG_INFINITY]).unwrap();
        let mut out = Tensor::zeros(&[1, 3]);
        softmax(&input, &mut out).unwrap();
        assert_eq!(out.data(), [0.5, 0.5, 0.0]);
    }

    #[test]
    fn a_row_without_a_number_is_nan_and_an_empty_tensor_is_empty() {
        let input = Tensor::new(&[2], vec![f32::NEG_INFINITY; 2]).unwrap();
        let mut out = Tensor::zeros(&[2]);
        softmax(&input, &mut out).unwrap();
        assert!(out.data().iter().all(|number| number.is_nan()));
        assert!(softmax(&Tensor::<f32>::zeros(&[2, 0]), &mut Tensor::zeros(&[2, 0])).is_ok());
    }
}
