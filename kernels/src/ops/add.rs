//! Add: one row added to every row.

use crate::dtype::{DType, Element};
use crate::error::OpError;
use crate::tensor::Tensor;
use pulp::Arch;

/// Numbers that are widened at a time: they stay in the first level of cache.
const BLOCK: usize = 512;

/// Writes `input + row`, where `row` has the length of the last axis of `input` and is added along it everywhere. Adds
/// in
/// `f32` and rounds once.
///
/// # Errors
/// [`OpError::Shape`] if `row` is not one axis of that length, or `out` is not of the shape of `input`.
pub fn add<T: Element>(input: &Tensor<T>, row: &Tensor<T>, out: &mut Tensor<T>) -> Result<(), OpError> {
    check(input.shape(), row.shape(), out.shape())?;
    if out.data().is_empty() {
        return Ok(());
    }
    let width = input.width();
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let rows = input.data().chunks_exact(width);
            for (from, to) in rows.zip(out.data_mut().chunks_exact_mut(width)) {
                add_row(from, row.data(), to);
            }
        },
    );
    Ok(())
}

fn check(input: &[usize], row: &[usize], out: &[usize]) -> Result<(), OpError> {
    let width = input.last().copied().unwrap_or(1);
    OpError::unless_shape("add", "row", &[width], row)?;
    OpError::unless_shape("add", "output", input, out)
}

#[inline(always)]
fn add_row<T: Element>(from: &[T], row: &[T], to: &mut [T]) {
    if T::DTYPE == DType::F32 {
        for ((to, one), other) in to.iter_mut().zip(from).zip(row) {
            *to = T::from_f32(one.to_f32() + other.to_f32());
        }
        return;
    }
    let mut one = [0.0_f32; BLOCK];
    let mut other = [0.0_f32; BLOCK];
    let blocks = from
        .chunks(BLOCK)
        .zip(row.chunks(BLOCK))
        .zip(to.chunks_mut(BLOCK));
    for ((from, row), to) in blocks {
        let (one, other) = (&mut one[..from.len()], &mut other[..row.len()]);
        T::widen(from, one);
        T::widen(row, other);
        for (one, other) in one.iter_mut().zip(other) {
            *one += *other;
        }
        T::narrow(one, to);
    }
}

/// `out[.., j] = input[.., j] + row[j]`
///
/// # Errors
/// As [`add`].
pub fn oracle(input: &Tensor<f32>, row: &Tensor<f32>) -> Result<Tensor<f32>, OpError> {
    check(input.shape(), row.shape(), input.shape())?;
    Ok(Tensor::from_fn(input.shape(), |i| {
        input.data()[i] + row.data()[i % input.width()]
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{noise, rounded, same_bits};
    use half::{bf16, f16};

    fn equals_its_oracle<T: Element>(shape: &[usize]) {
        let input: Tensor<T> = rounded(&noise(shape, 1));
        let row: Tensor<T> = rounded(&noise(&[input.width()], 2));
        let mut out = Tensor::zeros(shape);
        add(&input, &row, &mut out).unwrap();
        let wanted = rounded(&oracle(&input.widened(), &row.widened()).unwrap());
        assert!(same_bits(&out, &wanted), "{} {shape:?}", T::DTYPE);
    }

    #[test]
    fn every_bit_is_the_oracles_in_every_type_and_length() {
        for shape in [&[1024][..], &[3, 513], &[2, 3, 7], &[4, 1], &[0, 5], &[5, 0], &[]] {
            equals_its_oracle::<f32>(shape);
            equals_its_oracle::<f16>(shape);
            equals_its_oracle::<bf16>(shape);
        }
    }

    #[test]
    fn a_row_of_another_length_is_refused() {
        let input = Tensor::<f32>::pattern(&[2, 3]);
        let refused = add(&input, &Tensor::pattern(&[2]), &mut Tensor::zeros(&[2, 3])).unwrap_err();
        assert_eq!(refused.to_string(), "add: row must have shape [3], and has [2]");
        assert!(add(&input, &Tensor::pattern(&[3]), &mut Tensor::zeros(&[3, 2])).is_err());
    }
}
