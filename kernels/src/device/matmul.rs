//! Products of matrices, and of matrices and vectors, on the device.

use super::launch::{Arg, Grid, along_y, narrow, saturated};
use super::tensor::apart;
use super::{Device, DeviceError, DeviceTensor, Source};
use crate::dtype::DType;
use crate::error::OpError;

const THREADS: u32 = 256;
/// Side of the square of the result that a block makes.
const SIDE: usize = 64;
/// Rows that a block multiplies with a vector.
const ROWS: usize = 8;

impl Device {
    /// Writes `a` (`[m, k]`) times `b` (`[k, n]`), all of `f32`. Every number is summed up along `k` from the first
    /// on, from zero, with fused multiply-adds: the same bits as that loop gives on the CPU. `k = 0` gives zeros.
    ///
    /// # Errors
    /// [`OpError::Shape`]; [`OpError::Range`] from 2^31 on along any axis, or for more than 65535 squares of 64 rows;
    /// [`DeviceError::Type`]; [`DeviceError::Aliased`].
    pub fn matmul(&self, a: &DeviceTensor, b: &DeviceTensor, out: &DeviceTensor) -> Result<(), DeviceError> {
        const OP: &str = "matmul";
        for (tensor, what) in [(a, "the first matrix"), (b, "the second matrix"), (out, "output")] {
            tensor.is_of(OP, what, DType::F32)?;
        }
        let (m, k, n) = product_shape(OP, a, b, out)?;
        apart(OP, out.buffer(), &[a.buffer(), b.buffer()])?;
        if out.places() == 0 {
            return Ok(());
        }
        let down = along_y(OP, "the number of rows", m, SIDE)?;
        let args = [
            Arg::Buffer(a.buffer()),
            Arg::Buffer(b.buffer()),
            Arg::Buffer(out.buffer()),
            Arg::U32(narrow(OP, "the number of rows", m)?),
            Arg::U32(narrow(OP, "the number of columns", n)?),
            Arg::U32(narrow(OP, "the inner length", k)?),
        ];
        let grid = Grid {
            blocks: (saturated(n.div_ceil(SIDE)), saturated(down), 1),
            threads: THREADS,
            shared: 0,
        };
        // SAFETY: the kernel reads below `m` and `k` of the first, below `k` and `n` of the second, and writes below
        // `m` and `n`, which are their shapes.
        unsafe { self.enqueue(Source::Matmul, "matmul_f32", grid, &args) }
    }

    /// Writes the product of `weights` (`[rows, width]`, of any type) with each vector of `input` (`[vectors, width]`
    /// or `[width]`, of `f32`) to `out` (`[vectors, rows]` or `[rows]`, of `f32`). Sums in `f32`, in an order that
    /// depends on nothing but width and type: pack `i` of 16 bytes (or number, where packs do not fill a row) goes to
    /// partial sum `i mod 32`, with fused multiply-adds, then halves onto halves.
    ///
    /// # Errors
    /// [`OpError::Shape`]; [`OpError::Range`] from 2^31 on along any axis or for more than 65535 vectors;
    /// [`DeviceError::Type`]; [`DeviceError::Aliased`].
    pub fn gemv(
        &self,
        weights: &DeviceTensor,
        input: &DeviceTensor,
        out: &DeviceTensor,
    ) -> Result<(), DeviceError> {
        self.products(weights, input, Onto::Nothing, out)
    }

    /// Adds the product to what is in `out`, otherwise as [`Device::gemv`].
    ///
    /// # Errors
    /// As [`Device::gemv`].
    pub fn gemv_onto(
        &self,
        weights: &DeviceTensor,
        input: &DeviceTensor,
        out: &DeviceTensor,
    ) -> Result<(), DeviceError> {
        self.products(weights, input, Onto::Output, out)
    }

    fn products(
        &self,
        weights: &DeviceTensor,
        input: &DeviceTensor,
        onto: Onto,
        out: &DeviceTensor,
    ) -> Result<(), DeviceError> {
        const OP: &str = "gemv";
        input.is_of(OP, "input", DType::F32)?;
        out.is_of(OP, "output", DType::F32)?;
        let &[rows, width] = weights.shape() else {
            return Err(OpError::shape(OP, "weights", format_args!("[rows, width]"), weights.shape()).into());
        };
        let outer = match input.shape() {
            [outer @ .., last] if *last == width && outer.len() <= 1 => outer,
            found => {
                let wanted = format!("[{width}] or [vectors, {width}]");
                return Err(OpError::shape(OP, "input", format_args!("{wanted}"), found).into());
            }
        };
        OpError::unless_shape(OP, "output", &[outer, &[rows]].concat(), out.shape())?;
        apart(OP, out.buffer(), &[weights.buffer(), input.buffer()])?;
        if out.places() == 0 {
            return Ok(());
        }
        let vectors = outer.first().copied().unwrap_or(1);
        along_y(OP, "the number of vectors", vectors, 1)?;
        let pack = 16 / weights.dtype().bytes();
        let is_packed = width.is_multiple_of(pack);
        let entry = gemv_entry(weights.dtype(), is_packed, onto);
        let packs = if is_packed { width / pack } else { width };
        let args = [
            Arg::Buffer(weights.buffer()),
            Arg::Buffer(input.buffer()),
            Arg::Buffer(out.buffer()),
            Arg::U32(narrow(OP, "the number of rows", rows)?),
            Arg::U32(narrow(OP, "the width", packs)?),
        ];
        let grid = Grid {
            blocks: (saturated(rows.div_ceil(ROWS)), saturated(vectors), 1),
            threads: THREADS,
            shared: 0,
        };
        // SAFETY: a warp reads one row of `packs` packs of the weights and of a vector, and writes one number; there
        // are `rows` of them for each of `vectors`, which are the shapes.
        unsafe { self.enqueue(Source::Matmul, entry, grid, &args) }
    }
}

/// What a product is added to.
#[derive(Clone, Copy)]
enum Onto {
    /// Nothing: it takes the place of what was there.
    Nothing,
    /// What is in the output.
    Output,
}

const fn gemv_entry(dtype: DType, is_packed: bool, onto: Onto) -> &'static str {
    match (dtype, is_packed, onto) {
        (DType::F32, true, Onto::Nothing) => "gemv_f32",
        (DType::F16, true, Onto::Nothing) => "gemv_f16",
        (DType::Bf16, true, Onto::Nothing) => "gemv_bf16",
        (DType::F32, false, Onto::Nothing) => "gemv_single_f32",
        (DType::F16, false, Onto::Nothing) => "gemv_single_f16",
        (DType::Bf16, false, Onto::Nothing) => "gemv_single_bf16",
        (DType::F32, true, Onto::Output) => "gemv_f32_onto",
        (DType::F16, true, Onto::Output) => "gemv_f16_onto",
        (DType::Bf16, true, Onto::Output) => "gemv_bf16_onto",
        (DType::F32, false, Onto::Output) => "gemv_single_f32_onto",
        (DType::F16, false, Onto::Output) => "gemv_single_f16_onto",
        (DType::Bf16, false, Onto::Output) => "gemv_single_bf16_onto",
    }
}

/// `m`, `k` and `n` of a product `[m, k]` times `[k, n]`.
pub(super) fn product_shape(
    op: &'static str,
    a: &DeviceTensor,
    b: &DeviceTensor,
    out: &DeviceTensor,
) -> Result<(usize, usize, usize), OpError> {
    let &[m, k] = a.shape() else {
        return Err(OpError::shape(
            op,
            "the first matrix",
            format_args!("[m, k]"),
            a.shape(),
        ));
    };
    let n = match b.shape() {
        [rows, n] if *rows == k => *n,
        found => {
            let wanted = format!("[{k}, n]");
            return Err(OpError::shape(
                op,
                "the second matrix",
                format_args!("{wanted}"),
                found,
            ));
        }
    };
    OpError::unless_shape(op, "output", &[m, n], out.shape())?;
    Ok((m, k, n))
}
