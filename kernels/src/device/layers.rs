//! A token's vector, SwiGLU, and linear attention, on the device: what a decoder's layers do beside products, norms and
//! attention.

use super::launch::{Arg, Grid, along_y, narrow, saturated};
use super::tensor::apart;
use super::{Buffer, Device, DeviceError, DeviceTensor, Latch, Source};
use crate::dtype::DType;
use crate::error::OpError;

const THREADS: u32 = 256;
/// Columns of a head that a block reads the memory of, and its threads.
const COLUMNS: usize = 32;
const THREADS_OF_MEMORY: u32 = 1024;

impl Device {
    /// Writes row `index` (a word of 32 bits in device memory) of `table` (`[rows, width]`, of any type) to `out`
    /// (`[width]`, of `f32`). An index that is no row gives zeros and is reported in `latch`.
    ///
    /// # Errors
    /// [`OpError::Shape`]; [`OpError::Range`] from 2^31 rows or numbers of one on; [`DeviceError::Type`];
    /// [`DeviceError::Size`] for an `index` of less than a word; [`DeviceError::Aliased`].
    pub fn embed(
        &self,
        table: &DeviceTensor,
        index: &Buffer,
        latch: &Latch,
        out: &DeviceTensor,
    ) -> Result<(), DeviceError> {
        const OP: &str = "embed";
        let &[rows, width] = table.shape() else {
            return Err(OpError::shape(OP, "table", format_args!("[rows, width]"), table.shape()).into());
        };
        OpError::unless_shape(OP, "output", &[width], out.shape())?;
        out.is_of(OP, "output", DType::F32)?;
        index.is_word(OP)?;
        apart(OP, out.buffer(), &[table.buffer(), index, latch.word()])?;
        if width == 0 {
            return Ok(());
        }
        let entry = match table.dtype() {
            DType::F32 => "embed_f32",
            DType::F16 => "embed_f16",
            DType::Bf16 => "embed_bf16",
        };
        let args = [
            Arg::Buffer(table.buffer()),
            Arg::Buffer(index),
            Arg::Buffer(out.buffer()),
            Arg::Buffer(latch.word()),
            Arg::U32(narrow(OP, "the number of rows", rows)?),
            Arg::U32(narrow(OP, "the width", width)?),
        ];
        let grid = Grid::row(saturated(width).div_ceil(THREADS), THREADS);
        // SAFETY: only rows of the table are read, `width` numbers are written, and the index and the latch have a word.
        unsafe { self.enqueue(Source::Layers, entry, grid, &args) }
    }

    /// Writes `gate / (1 + exp(-gate)) * up` (`SwiGLU`; Shazeer, 2020), where `both` (`[2, width]`, of `f32`) holds all
    /// gates and then all of what they let through, to `out` (`[width]`, of `f32`).
    ///
    /// # Errors
    /// [`OpError::Shape`]; [`OpError::Range`] from 2^31 numbers on; [`DeviceError::Type`]; [`DeviceError::Aliased`].
    pub fn swiglu(&self, both: &DeviceTensor, out: &DeviceTensor) -> Result<(), DeviceError> {
        const OP: &str = "swiglu";
        both.is_of(OP, "input", DType::F32)?;
        out.is_of(OP, "output", DType::F32)?;
        let &[2, width] = both.shape() else {
            return Err(OpError::shape(OP, "input", format_args!("[2, width]"), both.shape()).into());
        };
        OpError::unless_shape(OP, "output", &[width], out.shape())?;
        apart(OP, out.buffer(), &[both.buffer()])?;
        if width == 0 {
            return Ok(());
        }
        let args = [
            Arg::Buffer(both.buffer()),
            Arg::Buffer(out.buffer()),
            Arg::U32(narrow(OP, "the width", 2 * width)? / 2),
        ];
        let grid = Grid::row(saturated(width).div_ceil(THREADS), THREADS);
        // SAFETY: twice `width` numbers are read and `width` written, which are the shapes.
        unsafe { self.enqueue(Source::Layers, "swiglu", grid, &args) }
    }

    /// Linear attention of one token over what each head remembers (`memory`, `[heads, head, head]`): every number is
    /// multiplied by the sigmoid of its place in `decays`, the product of its places in `keys` and `values` is added
    /// (all of that shape), and `query . memory` of each head of `queries` is written to `out` (both `[heads, head]`).
    /// All of `f32`; summed in an order that depends on nothing but the length of a head.
    ///
    /// # Errors
    /// [`OpError::Shape`]; [`OpError::Range`] from 2^31 numbers of a head or 65536 heads on; [`DeviceError::Type`];
    /// [`DeviceError::Aliased`].
    pub fn remember(
        &self,
        queries: &DeviceTensor,
        keys: &DeviceTensor,
        values: &DeviceTensor,
        decays: &DeviceTensor,
        memory: &DeviceTensor,
        out: &DeviceTensor,
    ) -> Result<(), DeviceError> {
        const OP: &str = "linear attention";
        let &[heads, length] = queries.shape() else {
            let wanted = format_args!("[heads, head]");
            return Err(OpError::shape(OP, "queries", wanted, queries.shape()).into());
        };
        OpError::unless_shape(OP, "output", queries.shape(), out.shape())?;
        for (what, tensor) in [
            ("keys", keys),
            ("values", values),
            ("decays", decays),
            ("memory", memory),
        ] {
            tensor.is_of(OP, what, DType::F32)?;
            OpError::unless_shape(OP, what, &[heads, length, length], tensor.shape())?;
        }
        queries.is_of(OP, "queries", DType::F32)?;
        out.is_of(OP, "output", DType::F32)?;
        let inputs = [queries, keys, values, decays].map(DeviceTensor::buffer);
        apart(OP, memory.buffer(), &inputs)?;
        apart(OP, out.buffer(), &inputs)?;
        apart(OP, out.buffer(), &[memory.buffer()])?;
        if out.places() == 0 {
            return Ok(());
        }
        let [queries, keys, values, decays] = inputs.map(Arg::Buffer);
        let args = [
            queries,
            keys,
            values,
            decays,
            Arg::Buffer(memory.buffer()),
            Arg::Buffer(out.buffer()),
            Arg::U32(narrow(OP, "the length of a head", length)?),
        ];
        let grid = Grid {
            blocks: (
                saturated(length.div_ceil(COLUMNS)),
                saturated(along_y(OP, "the number of heads", heads, 1)?),
                1,
            ),
            threads: THREADS_OF_MEMORY,
            shared: 0,
        };
        // SAFETY: a block reads and writes columns below `length` of one head, of which there are as many as rows of
        // blocks; those are the shapes.
        unsafe { self.enqueue(Source::Layers, "remember", grid, &args) }
    }
}
