//! Tensors in device memory.

use super::{Buffer, Device, DeviceError, Plain};
use crate::dtype::{DType, Element};
use crate::error::OpError;
use crate::tensor::Tensor;

/// Numbers in device memory and their shape: dense and contiguous, last axis first, at a fixed address.
#[derive(Debug)]
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

/// Refuses to read what is overwritten.
pub(super) fn apart(op: &'static str, out: &Buffer, inputs: &[&Buffer]) -> Result<(), DeviceError> {
    if inputs.iter().any(|input| input.is_same(out)) {
        return Err(DeviceError::Aliased { op });
    }
    Ok(())
}
