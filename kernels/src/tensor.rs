//! A dense, contiguous array of numbers, last axis first in memory.

use crate::dtype::{DType, Element};
use crate::error::OpError;

/// Numbers and their shape. A shape without axes is one number; an axis of length zero, none.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor<T> {
    shape: Vec<usize>,
    data: Vec<T>,
}

impl<T: Element> Tensor<T> {
    /// A tensor of these numbers.
    ///
    /// # Errors
    /// [`OpError::Shape`] if there are not as many numbers as the shape has places.
    pub fn new(shape: &[usize], data: Vec<T>) -> Result<Self, OpError> {
        if places(shape) != Some(data.len()) {
            return Err(OpError::shape("tensor", "data", shape, &[data.len()]));
        }
        Ok(Self {
            shape: shape.to_vec(),
            data,
        })
    }

    /// All zero.
    ///
    /// # Panics
    /// For a shape that no memory holds.
    #[must_use]
    pub fn zeros(shape: &[usize]) -> Self {
        Self {
            shape: shape.to_vec(),
            data: vec![T::default(); places(shape).unwrap_or(usize::MAX)],
        }
    }

    /// A number for each place, counted in memory order.
    ///
    /// # Panics
    /// For a shape that no memory holds.
    #[must_use]
    pub fn from_fn(shape: &[usize], number: impl FnMut(usize) -> f32) -> Self {
        let places = places(shape).unwrap_or(usize::MAX);
        Self {
            shape: shape.to_vec(),
            data: (0..places).map(number).map(T::from_f32).collect(),
        }
    }

    /// The numbers that the suite measures with: `((i mod 251) - 125) / 64`, exact in every type.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "below 251")]
    pub fn pattern(shape: &[usize]) -> Self {
        Self::from_fn(shape, |i| ((i % 251) as f32 - 125.0) / 64.0)
    }

    /// Lengths of the axes.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The numbers, in memory order.
    #[must_use]
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// The numbers, to be written.
    pub fn data_mut(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// The numbers, without their shape.
    #[must_use]
    pub fn into_data(self) -> Vec<T> {
        self.data
    }

    /// How an element is stored.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        T::DTYPE
    }

    /// The same numbers in `f32`.
    #[must_use]
    pub fn widened(&self) -> Tensor<f32> {
        let mut data = vec![0.0; self.data.len()];
        T::widen(&self.data, &mut data);
        Tensor {
            shape: self.shape.clone(),
            data,
        }
    }

    /// The same numbers with other axes.
    ///
    /// # Errors
    /// [`OpError::Shape`] if there are not as many numbers as `shape` has places.
    pub fn reshaped(&self, shape: &[usize]) -> Result<Self, OpError> {
        Self::new(shape, self.data.clone())
    }

    /// Length of the last axis; 1 where there is none.
    #[must_use]
    pub fn width(&self) -> usize {
        self.shape.last().copied().unwrap_or(1)
    }
}

/// How many numbers a shape has places for; absent for more than can be counted.
#[must_use]
pub(crate) fn places(shape: &[usize]) -> Option<usize> {
    shape
        .iter()
        .try_fold(1_usize, |places, axis| places.checked_mul(*axis))
}

/// Distance in memory between neighbours along each axis.
#[must_use]
pub fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_and_its_numbers_must_fit() {
        assert!(Tensor::new(&[2, 3], vec![0.0_f32; 6]).is_ok());
        let refused = Tensor::new(&[2, 3], vec![0.0_f32; 5]).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "tensor: data must have shape [2, 3], and has [5]"
        );
        assert!(Tensor::new(&[usize::MAX, 2], vec![0.0_f32]).is_err());
        assert_eq!(Tensor::<f32>::zeros(&[]).data().len(), 1);
        assert_eq!(Tensor::<f32>::zeros(&[3, 0]).data().len(), 0);
    }

    #[test]
    #[should_panic(expected = "capacity overflow")]
    fn a_shape_that_no_memory_holds_is_not_made_smaller() {
        let _ = Tensor::<f32>::zeros(&[usize::MAX / 2 + 1, 2]);
    }

    #[test]
    fn the_pattern_is_the_same_number_in_every_type() {
        let wide = Tensor::<f32>::pattern(&[600]);
        assert_eq!(Tensor::<half::f16>::pattern(&[600]).widened(), wide);
        assert_eq!(Tensor::<half::bf16>::pattern(&[600]).widened(), wide);
    }

    #[test]
    fn the_last_axis_is_the_nearest() {
        assert_eq!(strides(&[2, 3, 4]), [12, 4, 1]);
        assert_eq!(strides(&[]), Vec::<usize>::new());
    }
}
