//! RMS norm (Zhang and Sennrich, 2019): rows scaled to a root mean square of one, then by a weight for each column.

use super::lanes;
use crate::dtype::Element;
use crate::error::OpError;
use crate::tensor::Tensor;
use pulp::Arch;

/// Writes `x / sqrt(mean(x * x) + epsilon) * weight` of each row. Computes in `f32`, adds in a fixed order, rounds
/// once.
///
/// # Errors
/// [`OpError::Shape`] if `weight` is not one axis of the length of the last, or `out` not of the shape of `input`.
pub fn rms_norm<T: Element>(
    input: &Tensor<T>,
    weight: &Tensor<T>,
    epsilon: f32,
    out: &mut Tensor<T>,
) -> Result<(), OpError> {
    let width = input.width();
    OpError::unless_shape("rms_norm", "weight", &[width], weight.shape())?;
    OpError::unless_shape("rms_norm", "output", input.shape(), out.shape())?;
    if out.data().is_empty() {
        return Ok(());
    }
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let rows = input.data().chunks_exact(width);
            for (from, to) in rows.zip(out.data_mut().chunks_exact_mut(width)) {
                let scale = scale(from, epsilon);
                for ((to, number), weight) in to.iter_mut().zip(from).zip(weight.data()) {
                    *to = T::from_f32(number.to_f32() * scale * weight.to_f32());
                }
            }
        },
    );
    Ok(())
}

#[inline(always)]
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^24, rounded beyond")]
fn scale<T: Element>(row: &[T], epsilon: f32) -> f32 {
    1.0 / (lanes::sum(row, |number| number * number) / row.len() as f32 + epsilon).sqrt()
}

/// `out[.., j] = input[.., j] / sqrt((input[.., 0]^2 + ..) / length + epsilon) * weight[j]`
///
/// # Panics
/// If `weight` has fewer numbers than a row.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^24, rounded beyond")]
pub fn oracle(input: &Tensor<f32>, weight: &Tensor<f32>, epsilon: f32) -> Tensor<f32> {
    let width = input.width();
    Tensor::from_fn(input.shape(), |i| {
        let row = &input.data()[i / width * width..][..width];
        let squares: f32 = row.iter().map(|number| number * number).sum();
        input.data()[i] / (squares / width as f32 + epsilon).sqrt() * weight.data()[i % width]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{assert_near, noise};

    #[test]
    fn it_is_near_the_oracle() {
        let (input, weight) = (noise(&[3, 576], 5), noise(&[576], 6));
        let mut out = Tensor::zeros(input.shape());
        rms_norm(&input, &weight, 1e-5, &mut out).unwrap();
        assert_near(&out, &oracle(&input, &weight, 1e-5), 2.0, 1e-6);
    }

    #[test]
    fn a_row_of_zeros_stays_zero_thanks_to_epsilon() {
        let mut out = Tensor::pattern(&[1, 4]);
        rms_norm(
            &Tensor::<f32>::zeros(&[1, 4]),
            &Tensor::pattern(&[4]),
            1e-6,
            &mut out,
        )
        .unwrap();
        assert_eq!(out, Tensor::zeros(&[1, 4]));
    }

    #[test]
    fn a_weight_of_another_length_is_refused() {
        let input = Tensor::<f32>::pattern(&[1, 4]);
        assert!(rms_norm(&input, &Tensor::pattern(&[3]), 1e-6, &mut Tensor::zeros(&[1, 4])).is_err());
    }
}
