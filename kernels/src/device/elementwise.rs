//! Add, on the device.

use super::launch::{Arg, Grid, narrow};
use super::tensor::{apart, in_place};
use super::{Device, DeviceError, DeviceTensor, Source, magic};
use crate::dtype::DType;
use crate::error::OpError;

const THREADS: u32 = 256;
/// Packs that a thread has under way at a time.
const UNROLL: usize = 4;

impl Device {
    /// Writes `input + row`, where `row` has the length of the last axis and is added along it everywhere. Adds in
    /// `f32` and rounds once: the CPU's result bit for bit, except for the payload of NaN. `out` may be `input`.
    ///
    /// # Errors
    /// [`OpError::Shape`] as on the CPU; [`OpError::Range`] from 2^31 packs of 16 bytes on; [`DeviceError::Type`] for
    /// mixed types; [`DeviceError::Aliased`] if `out` has memory in
    /// common with `row`, or a part of `input`.
    pub fn add(
        &self,
        input: &DeviceTensor,
        row: &DeviceTensor,
        out: &DeviceTensor,
    ) -> Result<(), DeviceError> {
        const OP: &str = "add";
        let dtype = input.dtype();
        row.is_of(OP, "row", dtype)?;
        out.is_of(OP, "output", dtype)?;
        OpError::unless_shape(OP, "row", &[input.width()], row.shape())?;
        OpError::unless_shape(OP, "output", input.shape(), out.shape())?;
        apart(OP, out.buffer(), &[row.buffer()])?;
        in_place(OP, out.buffer(), input.buffer())?;
        if out.places() == 0 {
            return Ok(());
        }
        let pack = 16 / dtype.bytes();
        let is_packed = input.width().is_multiple_of(pack);
        let pack = if is_packed { pack } else { 1 };
        let entry = match (dtype, is_packed) {
            (DType::F32, true) => "add_f32",
            (DType::F16, true) => "add_f16",
            (DType::Bf16, true) => "add_bf16",
            (DType::F32, false) => "add_single_f32",
            (DType::F16, false) => "add_single_f16",
            (DType::Bf16, false) => "add_single_bf16",
        };
        let packs = narrow(OP, "the number of packs", input.places() / pack)?;
        let width = input.width() / pack;
        let args = [
            Arg::Buffer(input.buffer()),
            Arg::Buffer(row.buffer()),
            Arg::Buffer(out.buffer()),
            Arg::U32(packs),
            Arg::U32(narrow(OP, "the width", width)?),
            Arg::U64(magic(width)),
        ];
        let grid = Grid::looped(packs as usize, THREADS, UNROLL);
        // SAFETY: input and output have `packs` packs, and the row has `width` of them, which a place modulo it stays
        // below.
        unsafe { self.enqueue(Source::Elementwise, entry, grid, &args) }
    }
}
