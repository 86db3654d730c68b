//! Gather: rows of a table (ONNX Gather along axis 0).

use crate::dtype::Element;
use crate::error::OpError;
use crate::tensor::Tensor;

/// Writes row `indices[i]` of `table` (`[rows, width]`) as row `i` of `out` (`[indices, width]`). Copies bits.
///
/// # Errors
/// [`OpError::Shape`] if `table` does not have two axes or `out` is not of that shape, [`OpError::Range`] for an index
/// that is no row.
pub fn gather<T: Element>(table: &Tensor<T>, indices: &[u32], out: &mut Tensor<T>) -> Result<(), OpError> {
    let width = check(table.shape(), indices)?;
    OpError::unless_shape("gather", "output", &[indices.len(), width], out.shape())?;
    if width == 0 {
        return Ok(());
    }
    for (to, index) in out.data_mut().chunks_exact_mut(width).zip(indices) {
        let start = *index as usize * width;
        to.copy_from_slice(&table.data()[start..start + width]);
    }
    Ok(())
}

/// Length of a row.
fn check(table: &[usize], indices: &[u32]) -> Result<usize, OpError> {
    let [rows, width] = table else {
        return Err(OpError::shape(
            "gather",
            "table",
            format_args!("[rows, width]"),
            table,
        ));
    };
    match indices.iter().find(|index| **index as usize >= *rows) {
        Some(index) => Err(OpError::Range {
            op: "gather",
            what: "index",
            found: *index as usize,
            limit: *rows,
        }),
        None => Ok(*width),
    }
}

/// `out[i, j] = table[indices[i], j]`
///
/// # Errors
/// As [`gather`].
pub fn oracle<T: Element>(table: &Tensor<T>, indices: &[u32]) -> Result<Tensor<T>, OpError> {
    let width = check(table.shape(), indices)?;
    let mut data = Vec::new();
    for index in indices {
        for j in 0..width {
            data.push(table.data()[*index as usize * width + j]);
        }
    }
    Tensor::new(&[indices.len(), width], data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{bits, same_bits};

    #[test]
    fn every_bit_is_the_oracles_in_any_order_and_more_than_once() {
        let table = bits(&[17, 33]);
        let indices: Vec<u32> = (0..40).map(|i| i * 97 % 17).collect();
        let mut out = Tensor::zeros(&[40, 33]);
        gather(&table, &indices, &mut out).unwrap();
        assert!(same_bits(&out, &oracle(&table, &indices).unwrap()));
    }

    #[test]
    fn a_row_that_is_not_there_is_named_and_nothing_is_written() {
        let table = Tensor::<f32>::pattern(&[4, 2]);
        let mut out = Tensor::zeros(&[2, 2]);
        let refused = gather(&table, &[0, 4], &mut out).unwrap_err();
        assert_eq!(refused.to_string(), "gather: index is 4, and must be below 4");
        assert_eq!(out, Tensor::zeros(&[2, 2]));
    }

    #[test]
    fn no_indices_give_no_rows() {
        let table = Tensor::<f32>::pattern(&[4, 2]);
        assert!(gather(&table, &[], &mut Tensor::zeros(&[0, 2])).is_ok());
        assert!(
            gather(
                &Tensor::<f32>::pattern(&[4, 0]),
                &[1],
                &mut Tensor::zeros(&[1, 0])
            )
            .is_ok()
        );
        assert!(gather(&Tensor::<f32>::pattern(&[4]), &[1], &mut Tensor::zeros(&[1, 1])).is_err());
    }
}
