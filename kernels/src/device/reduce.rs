//! Mean, RMS norm, softmax and argmax of rows, on the device.

use super::launch::{Arg, Grid, along_y, narrow, saturated};
use super::tensor::{apart, in_place};
use super::{Buffer, Device, DeviceError, DeviceTensor, Latch, Source};
use crate::dtype::DType;
use crate::error::OpError;

const THREADS: u32 = 256;
/// Most threads of a block that keeps a row, and the longest row that it keeps.
const THREADS_OF_A_KEPT_ROW: usize = 1024;
const LONGEST_KEPT_ROW: usize = 4096;

/// Parts that the search for the largest number of a row is divided into at most.
const MOST_PARTS: usize = 64;

impl Device {
    /// Writes the mean of each row (`[.., width]` to `[.., 1]`), added up in the order of the CPU: the same bits. The
    /// mean of an empty row is NaN.
    ///
    /// # Errors
    /// [`OpError::Shape`] if `out` is not the shape of `input` with a last axis of 1, or `input` has no axis;
    /// [`OpError::Range`] from 2^31 rows on; [`DeviceError::Type`] for mixed types; [`DeviceError::Aliased`].
    pub fn reduce_mean(&self, input: &DeviceTensor, out: &DeviceTensor) -> Result<(), DeviceError> {
        const OP: &str = "reduce_mean";
        let Some((_, outer)) = input.shape().split_last() else {
            return Err(OpError::shape(OP, "input", format_args!("at least one axis"), input.shape()).into());
        };
        OpError::unless_shape(OP, "output", &[outer, &[1]].concat(), out.shape())?;
        out.is_of(OP, "output", input.dtype())?;
        apart(OP, out.buffer(), &[input.buffer()])?;
        if out.places() == 0 {
            return Ok(());
        }
        let entry = match input.dtype() {
            DType::F32 => "reduce_mean_f32",
            DType::F16 => "reduce_mean_f16",
            DType::Bf16 => "reduce_mean_bf16",
        };
        let args = [
            Arg::Buffer(input.buffer()),
            Arg::Buffer(out.buffer()),
            Arg::U64(input.width() as u64),
        ];
        let grid = Grid::row(narrow(OP, "the number of rows", out.places())?, THREADS);
        // SAFETY: each block reads a row of `width` numbers and writes one; there are as many rows as numbers of the
        // output.
        unsafe { self.enqueue(Source::Reduce, entry, grid, &args) }
    }

    /// Writes `x / sqrt(mean(x * x) + epsilon) * weight` of each row, added up in the order of the CPU: the same
    /// bits. `out` may be `input`.
    ///
    /// # Errors
    /// [`OpError::Shape`] if `weight` is not one axis of the length of the last, or `out` not of the shape of
    /// `input`; [`OpError::Range`] from 2^31 rows on; [`DeviceError::Type`] for mixed types; [`DeviceError::Aliased`]
    /// if `out` has memory in common with `weight`, or with a part of `input`.
    pub fn rms_norm(
        &self,
        input: &DeviceTensor,
        weight: &DeviceTensor,
        epsilon: f32,
        out: &DeviceTensor,
    ) -> Result<(), DeviceError> {
        const OP: &str = "rms_norm";
        let dtype = input.dtype();
        weight.is_of(OP, "weight", dtype)?;
        out.is_of(OP, "output", dtype)?;
        OpError::unless_shape(OP, "weight", &[input.width()], weight.shape())?;
        OpError::unless_shape(OP, "output", input.shape(), out.shape())?;
        apart(OP, out.buffer(), &[weight.buffer()])?;
        in_place(OP, out.buffer(), input.buffer())?;
        if out.places() == 0 {
            return Ok(());
        }
        let is_kept = input.width() <= LONGEST_KEPT_ROW;
        let (entry, width, threads) = if is_kept {
            let threads = input.width().min(THREADS_OF_A_KEPT_ROW).next_multiple_of(32);
            let width = Arg::U32(saturated(input.width()));
            (kept_rms_norm_entry(dtype), width, saturated(threads))
        } else {
            (rms_norm_entry(dtype), Arg::U64(input.width() as u64), THREADS)
        };
        let args = [
            Arg::Buffer(input.buffer()),
            Arg::Buffer(weight.buffer()),
            Arg::Buffer(out.buffer()),
            width,
            Arg::F32(epsilon),
        ];
        let grid = Grid::row(narrow(OP, "the number of rows", rows(input))?, threads);
        // SAFETY: each block reads and writes a row of `width` numbers, of which both tensors have as many as there are
        // blocks; the weight has one row.
        unsafe { self.enqueue(Source::Reduce, entry, grid, &args) }
    }

    /// Writes `exp(x - max) / sum(exp(x - max))` of each row. A row of nothing but minus infinity is NaN, as is one
    /// that holds NaN or plus infinity. `out` may be `input`.
    ///
    /// # Errors
    /// [`OpError::Shape`] if `out` is not of the shape of `input`; [`OpError::Range`] from 2^31 rows on;
    /// [`DeviceError::Type`] for mixed types; [`DeviceError::Aliased`] if `out` has memory in common with a part of
    /// `input`.
    pub fn softmax(&self, input: &DeviceTensor, out: &DeviceTensor) -> Result<(), DeviceError> {
        const OP: &str = "softmax";
        out.is_of(OP, "output", input.dtype())?;
        OpError::unless_shape(OP, "output", input.shape(), out.shape())?;
        in_place(OP, out.buffer(), input.buffer())?;
        if out.places() == 0 {
            return Ok(());
        }
        let entry = match input.dtype() {
            DType::F32 => "softmax_f32",
            DType::F16 => "softmax_f16",
            DType::Bf16 => "softmax_bf16",
        };
        let args = [
            Arg::Buffer(input.buffer()),
            Arg::Buffer(out.buffer()),
            Arg::U64(input.width() as u64),
        ];
        let grid = Grid::row(narrow(OP, "the number of rows", rows(input))?, THREADS);
        // SAFETY: each block reads and writes a row of `width` numbers, of which both tensors have as many as there are
        // blocks.
        unsafe { self.enqueue(Source::Reduce, entry, grid, &args) }
    }

    /// Bytes that [`Device::argmax`] needs between its two kernels for this shape.
    #[must_use]
    pub fn argmax_scratch(shape: &[usize]) -> usize {
        let width = shape.last().copied().unwrap_or(1);
        let rows: usize = shape.split_last().map_or(1, |(_, outer)| outer.iter().product());
        rows * parts(width) * size_of::<u64>()
    }

    /// Writes the index of the largest number of each row (one `u32` each), the lowest on ties; NaN is passed over. A
    /// row without a number gives 0 and is reported in `latch`.
    ///
    /// # Errors
    /// [`OpError::Range`] for rows from 2^31 numbers on or more than 65535 of them; [`DeviceError::Size`] for a
    /// `scratch` below [`Device::argmax_scratch`] or an `out` of fewer words than rows.
    pub fn argmax(
        &self,
        input: &DeviceTensor,
        scratch: &Buffer,
        latch: &Latch,
        out: &Buffer,
    ) -> Result<(), DeviceError> {
        const OP: &str = "argmax";
        let rows = input
            .shape()
            .split_last()
            .map_or(1, |(_, outer)| outer.iter().product::<usize>());
        if rows == 0 {
            return Ok(());
        }
        along_y(OP, "the number of rows", rows, 1)?;
        let parts = parts(input.width());
        for (buffer, wanted) in [
            (scratch, rows * parts * size_of::<u64>()),
            (out, rows * size_of::<u32>()),
        ] {
            if buffer.bytes() < wanted {
                return Err(DeviceError::Size {
                    call: OP,
                    wanted,
                    held: buffer.bytes(),
                });
            }
        }
        apart(OP, scratch, &[input.buffer(), out, latch.word()])?;
        apart(OP, out, &[input.buffer(), latch.word()])?;
        let entry = match input.dtype() {
            DType::F32 => "argmax_of_parts_f32",
            DType::F16 => "argmax_of_parts_f16",
            DType::Bf16 => "argmax_of_parts_bf16",
        };
        let (rows, parts) = (saturated(rows), saturated(parts));
        let args = [
            Arg::Buffer(input.buffer()),
            Arg::Buffer(scratch),
            Arg::U32(narrow(OP, "the width", input.width())?),
        ];
        let grid = Grid {
            blocks: (parts, rows, 1),
            threads: THREADS,
            shared: 0,
        };
        // SAFETY: a column of blocks reads a row of `width` numbers, and each writes one word; both were checked above.
        unsafe { self.enqueue(Source::Reduce, entry, grid, &args) }?;
        let args = [
            Arg::Buffer(scratch),
            Arg::Buffer(out),
            Arg::Buffer(latch.word()),
            Arg::U32(parts),
        ];
        // SAFETY: each block reads the words of a row's parts and writes one of `out`; the latch has a word.
        unsafe { self.enqueue(Source::Reduce, "argmax", Grid::row(rows, THREADS), &args) }
    }
}

const fn rms_norm_entry(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "rms_norm_f32",
        DType::F16 => "rms_norm_f16",
        DType::Bf16 => "rms_norm_bf16",
    }
}

const fn kept_rms_norm_entry(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "rms_norm_kept_f32",
        DType::F16 => "rms_norm_kept_f16",
        DType::Bf16 => "rms_norm_kept_bf16",
    }
}

/// How many rows there are; the tensor is not empty.
fn rows(tensor: &DeviceTensor) -> usize {
    tensor.places() / tensor.width().max(1)
}

fn parts(width: usize) -> usize {
    // A part that is shorter than what one block looks at in a few rounds is not worth a block.
    width.div_ceil(4 * THREADS as usize).clamp(1, MOST_PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vocabulary_is_divided_and_a_short_row_is_not() {
        assert_eq!(parts(1), 1);
        assert_eq!(parts(1024), 1);
        assert_eq!(parts(1025), 2);
        assert_eq!(parts(151_936), MOST_PARTS);
        assert_eq!(Device::argmax_scratch(&[2, 1025]), 32);
        assert_eq!(Device::argmax_scratch(&[]), 8);
    }
}
