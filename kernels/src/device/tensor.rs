//! Tensors in device memory.

use super::{Buffer, Device, DeviceError, Plain};
use crate::dtype::{DType, Element};
use crate::error::OpError;
use crate::tensor::{Tensor, places};

/// Numbers in device memory and their shape: dense and contiguous, last axis first, at a fixed address. A clone is the
/// same memory.
#[derive(Debug, Clone)]
pub struct DeviceTensor {
    shape: Vec<usize>,
    dtype: DType,
    buffer: Buffer,
}

impl Device {
    /// A tensor whose numbers are whatever the memory held before.
    ///
    /// # Errors
    /// [`OpError::Shape`] for a shape that no memory holds; as [`Device::buffer`].
    pub fn tensor(&self, dtype: DType, shape: &[usize]) -> Result<DeviceTensor, DeviceError> {
        let bytes = shape
            .iter()
            .try_fold(dtype.bytes(), |bytes, axis| bytes.checked_mul(*axis))
            .ok_or_else(|| OpError::shape("tensor", "shape", format_args!("fewer places"), shape))?;
        Ok(DeviceTensor {
            shape: shape.to_vec(),
            dtype,
            buffer: self.buffer(bytes)?,
        })
    }

    /// The same tensor on the device.
    ///
    /// # Errors
    /// As [`Device::upload`].
    pub fn place<T: Element + Plain>(&self, tensor: &Tensor<T>) -> Result<DeviceTensor, DeviceError> {
        Ok(DeviceTensor {
            shape: tensor.shape().to_vec(),
            dtype: T::DTYPE,
            buffer: self.upload(tensor.data())?,
        })
    }
}

impl DeviceTensor {
    /// Lengths of the axes.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// How an element is stored.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// How many numbers there are.
    #[must_use]
    pub fn places(&self) -> usize {
        self.buffer.bytes() / self.dtype.bytes()
    }

    /// Length of the last axis; 1 where there is none.
    #[must_use]
    pub fn width(&self) -> usize {
        self.shape.last().copied().unwrap_or(1)
    }

    /// The memory.
    #[must_use]
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The numbers from place `start` on as a tensor of another shape, in the same memory.
    ///
    /// # Errors
    /// As [`Buffer::part`].
    pub fn part(&self, start: usize, shape: &[usize]) -> Result<Self, DeviceError> {
        let bytes = self.dtype.bytes();
        let places = places(shape).unwrap_or(usize::MAX);
        let buffer = self
            .buffer
            .part(start.saturating_mul(bytes), places.saturating_mul(bytes))?;
        Ok(Self {
            shape: shape.to_vec(),
            dtype: self.dtype,
            buffer,
        })
    }

    /// The same numbers, in the same memory, with other axes.
    ///
    /// # Errors
    /// [`OpError::Shape`] if there are not as many numbers as `shape` has places.
    pub fn reshaped(&self, shape: &[usize]) -> Result<Self, DeviceError> {
        if places(shape) != Some(self.places()) {
            let wanted = format_args!("{} places", self.places());
            return Err(OpError::shape("reshape", "tensor", wanted, shape).into());
        }
        self.part(0, shape)
    }

    /// The same tensor on the host, behind all work so far.
    ///
    /// # Errors
    /// [`DeviceError::Type`] if it is not made of `T`; as [`Buffer::download`].
    pub fn download<T: Element + Plain>(&self) -> Result<Tensor<T>, DeviceError> {
        self.is_of("download", "tensor", T::DTYPE)?;
        let numbers = self.buffer.download(self.places())?;
        Ok(Tensor::new(&self.shape, numbers)?)
    }

    pub(super) fn is_of(
        &self,
        op: &'static str,
        what: &'static str,
        wanted: DType,
    ) -> Result<(), DeviceError> {
        if self.dtype == wanted {
            return Ok(());
        }
        Err(DeviceError::Type {
            op,
            what,
            wanted,
            found: self.dtype,
        })
    }
}

/// Refuses an input that is neither the output itself nor apart from it.
pub(super) fn in_place(op: &'static str, out: &Buffer, input: &Buffer) -> Result<(), DeviceError> {
    if (out.address(), out.bytes()) == (input.address(), input.bytes()) {
        return Ok(());
    }
    apart(op, out, &[input])
}

/// Refuses to read what is overwritten.
pub(super) fn apart(op: &'static str, out: &Buffer, inputs: &[&Buffer]) -> Result<(), DeviceError> {
    if inputs.iter().any(|input| input.overlaps(out)) {
        return Err(DeviceError::Aliased { op });
    }
    Ok(())
}
