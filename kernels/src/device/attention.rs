//! Rotary embedding, the cache of keys and values, and attention of one new token, on the device.
//!
//! The position is a word of 32 bits in device memory, so that a captured step serves every position.

use super::launch::{Arg, Grid, narrow, saturated};
use super::tensor::{apart, in_place};
use super::{Buffer, Device, DeviceError, DeviceTensor, Latch, Source};
use crate::dtype::DType;
use crate::error::OpError;
use crate::ops::rope::{Angles, Pairs};

const THREADS: u32 = 128;
/// Positions that a block attends to.
const CHUNK: usize = 32;
/// The longest head that a block keeps.
pub(crate) const LONGEST_HEAD: usize = 256;

/// Cosines and sines of all angles, on the device.
#[derive(Debug)]
pub struct DeviceAngles {
    cos: DeviceTensor,
    sin: DeviceTensor,
    positions: usize,
    half: usize,
}

/// Memory that attention keeps its chunks in between its two kernels.
#[derive(Debug)]
pub struct Scratch {
    sums: Buffer,
    peaks: Buffer,
}

impl Device {
    /// Puts a table of angles on the device.
    ///
    /// # Errors
    /// [`OpError::Shape`] if cosines and sines are not both `[positions, head / 2]`; as [`Device::place`].
    pub fn angles(&self, angles: &Angles) -> Result<DeviceAngles, DeviceError> {
        const OP: &str = "rope";
        let &[positions, half] = angles.cos.shape() else {
            let wanted = format_args!("[positions, head / 2]");
            return Err(OpError::shape(OP, "cosines", wanted, angles.cos.shape()).into());
        };
        OpError::unless_shape(OP, "sines", angles.cos.shape(), angles.sin.shape())?;
        Ok(DeviceAngles {
            cos: self.place(&angles.cos)?,
            sin: self.place(&angles.sin)?,
            positions,
            half,
        })
    }

    /// Writes each head of `input` (`[heads, length]`, of `f32`) turned by the angles of `position`: the CPU's result
    /// bit for bit. `out` may be `input`. A position beyond the table is reported in `latch`, and nothing is written.
    ///
    /// # Errors
    /// [`OpError::Shape`] if `input` is not `[heads, length]` with the length of the angles, or `out` not of its
    /// shape; [`OpError::Range`] from 2^31 pairs or positions on; [`DeviceError::Type`]; [`DeviceError::Size`] for a
    /// `position` of less than a word; [`DeviceError::Aliased`].
    pub fn rope(
        &self,
        input: &DeviceTensor,
        angles: &DeviceAngles,
        pairs: Pairs,
        position: &Buffer,
        latch: &Latch,
        out: &DeviceTensor,
    ) -> Result<(), DeviceError> {
        const OP: &str = "rope";
        input.is_of(OP, "heads", DType::F32)?;
        out.is_of(OP, "output", DType::F32)?;
        let length = 2 * angles.half;
        let heads = match input.shape() {
            [heads, found] if *found == length => *heads,
            found => {
                let wanted = format!("[heads, {length}]");
                return Err(OpError::shape(OP, "heads", format_args!("{wanted}"), found).into());
            }
        };
        OpError::unless_shape(OP, "output", input.shape(), out.shape())?;
        position.is_word(OP)?;
        apart(
            OP,
            out.buffer(),
            &[angles.cos.buffer(), angles.sin.buffer(), position, latch.word()],
        )?;
        in_place(OP, out.buffer(), input.buffer())?;
        let count = heads * angles.half;
        if count == 0 {
            return Ok(());
        }
        let args = [
            Arg::Buffer(input.buffer()),
            Arg::Buffer(out.buffer()),
            Arg::Buffer(angles.cos.buffer()),
            Arg::Buffer(angles.sin.buffer()),
            Arg::Buffer(position),
            Arg::Buffer(latch.word()),
            Arg::U32(narrow(OP, "the number of pairs", count)?),
            Arg::U32(narrow(OP, "half a head", angles.half)?),
            Arg::U32(narrow(OP, "the number of positions", angles.positions)?),
            Arg::U32(u32::from(pairs == Pairs::Halves)),
        ];
        let grid = Grid::row(saturated(count).div_ceil(THREADS), THREADS);
        // SAFETY: `count` pairs are what both tensors have; the angles of a position below `positions` are in their
        // tables.
        unsafe { self.enqueue(Source::Attention, "rope", grid, &args) }
    }

    /// Writes `fresh` (`[kv heads, length]`, of `f32`) to the row `position` of `cache` (`[capacity, kv heads,
    /// length]`, of any type), rounded once. A position beyond the capacity is reported in `latch`, and nothing is
    /// written.
    ///
    /// # Errors
    /// [`OpError::Shape`]; [`OpError::Range`] from 2^31 numbers of a row or positions on; [`DeviceError::Type`];
    /// [`DeviceError::Size`] for a `position` of less than a word; [`DeviceError::Aliased`].
    pub fn append(
        &self,
        fresh: &DeviceTensor,
        cache: &DeviceTensor,
        position: &Buffer,
        latch: &Latch,
    ) -> Result<(), DeviceError> {
        const OP: &str = "append";
        fresh.is_of(OP, "fresh row", DType::F32)?;
        let &[capacity, kv_heads, length] = cache.shape() else {
            let wanted = format_args!("[capacity, kv heads, length]");
            return Err(OpError::shape(OP, "cache", wanted, cache.shape()).into());
        };
        OpError::unless_shape(OP, "fresh row", &[kv_heads, length], fresh.shape())?;
        position.is_word(OP)?;
        apart(OP, cache.buffer(), &[fresh.buffer(), position, latch.word()])?;
        let width = fresh.places();
        if width == 0 {
            return Ok(());
        }
        let entry = match cache.dtype() {
            DType::F32 => "append_f32",
            DType::F16 => "append_f16",
            DType::Bf16 => "append_bf16",
        };
        let args = [
            Arg::Buffer(fresh.buffer()),
            Arg::Buffer(cache.buffer()),
            Arg::Buffer(position),
            Arg::Buffer(latch.word()),
            Arg::U32(narrow(OP, "a row", width)?),
            Arg::U32(narrow(OP, "the capacity", capacity)?),
        ];
        let grid = Grid::row(saturated(width).div_ceil(THREADS), THREADS);
        // SAFETY: rows of `width` numbers are what the fresh one is, and the cache has as many of them as its capacity.
        unsafe { self.enqueue(Source::Attention, entry, grid, &args) }
    }

    /// Adds one to `position`.
    ///
    /// # Errors
    /// [`DeviceError::Size`] for less than a word; what the driver answers.
    pub fn advance(&self, position: &Buffer) -> Result<(), DeviceError> {
        position.is_word("advance")?;
        // SAFETY: the word is there.
        unsafe {
            self.enqueue(
                Source::Attention,
                "advance",
                Grid::row(1, 1),
                &[Arg::Buffer(position)],
            )
        }
    }

    /// Memory for attention of `heads` heads of queries of `length` numbers over a cache of `capacity` positions.
    ///
    /// # Errors
    /// As [`Device::buffer`].
    pub fn attention_scratch(
        &self,
        heads: usize,
        length: usize,
        capacity: usize,
    ) -> Result<Scratch, DeviceError> {
        let (sums, peaks) = scratch_bytes(heads, length, capacity);
        Ok(Scratch {
            sums: self.buffer(sums)?,
            peaks: self.buffer(peaks)?,
        })
    }

    /// Writes, for each head of `queries` (`[heads, length]`, of `f32`), the values weighted by `softmax(query . key
    /// / sqrt(length))` over the positions up to and including `position` of `keys` and `values` (`[capacity, kv
    /// heads, length]`, both of one type). Head `h` reads the head `h * kv / heads` of keys and values. Everything is
    /// summed in a fixed order. A position beyond the capacity is reported in `latch`, and nothing is written.
    ///
    /// # Errors
    /// [`OpError::Shape`] if shapes do not fit, or the heads are no multiple of the heads of keys; [`OpError::Range`]
    /// for heads of more than 256 numbers, more than 65535 of them, or from 2^31 positions on; [`DeviceError::Type`];
    /// [`DeviceError::Size`] for a `scratch` that was made for less; [`DeviceError::Aliased`].
    #[expect(
        clippy::too_many_arguments,
        reason = "each is one thing that attention is about"
    )]
    pub fn attention(
        &self,
        queries: &DeviceTensor,
        keys: &DeviceTensor,
        values: &DeviceTensor,
        position: &Buffer,
        scratch: &Scratch,
        latch: &Latch,
        out: &DeviceTensor,
    ) -> Result<(), DeviceError> {
        const OP: &str = "attention";
        let sizes = Sizes::check(queries, keys, values, out)?;
        position.is_word(OP)?;
        let (sums, peaks) = scratch_bytes(sizes.heads, sizes.length, sizes.capacity);
        for (buffer, wanted) in [(&scratch.sums, sums), (&scratch.peaks, peaks)] {
            if buffer.bytes() < wanted {
                return Err(DeviceError::Size {
                    call: OP,
                    wanted,
                    held: buffer.bytes(),
                });
            }
            apart(
                OP,
                buffer,
                &[position, latch.word(), queries.buffer(), out.buffer()],
            )?;
        }
        apart(
            OP,
            out.buffer(),
            &[
                queries.buffer(),
                keys.buffer(),
                values.buffer(),
                position,
                latch.word(),
            ],
        )?;
        if out.places() == 0 || sizes.capacity == 0 {
            return Ok(());
        }
        let chunks = saturated(sizes.capacity.div_ceil(CHUNK));
        let (length, capacity) = (
            narrow(OP, "the length of a head", sizes.length)?,
            narrow(OP, "the capacity", sizes.capacity)?,
        );
        let args = [
            Arg::Buffer(queries.buffer()),
            Arg::Buffer(keys.buffer()),
            Arg::Buffer(values.buffer()),
            Arg::Buffer(position),
            Arg::Buffer(&scratch.sums),
            Arg::Buffer(&scratch.peaks),
            Arg::Buffer(latch.word()),
            Arg::U32(narrow(OP, "the number of heads of keys", sizes.kv_heads)?),
            Arg::U32(length),
            Arg::U32(capacity),
            Arg::F32(sizes.scale()),
        ];
        let heads = saturated(sizes.heads);
        let grid = Grid {
            blocks: (chunks, heads, 1),
            threads: THREADS,
            shared: saturated(CHUNK * sizes.length * keys.dtype().bytes()),
        };
        // SAFETY: a head reads its query, and keys and values of its head up to a position that is below the
        // capacity; a block writes its part of the scratch, which was checked to have one for each head and chunk; a
        // head is no longer than what the kernel keeps of it.
        unsafe {
            self.enqueue(
                Source::Attention,
                attend_entry(keys.dtype(), sizes.length),
                grid,
                &args,
            )
        }?;
        let args = [
            Arg::Buffer(&scratch.sums),
            Arg::Buffer(&scratch.peaks),
            Arg::Buffer(position),
            Arg::Buffer(out.buffer()),
            Arg::U32(chunks),
            Arg::U32(length),
            Arg::U32(capacity),
        ];
        // SAFETY: a block reads a head's parts of the scratch up to a position below the capacity, and writes its head.
        unsafe { self.enqueue(Source::Attention, "attention", Grid::row(heads, THREADS), &args) }
    }
}

#[derive(Clone, Copy)]
struct Sizes {
    heads: usize,
    kv_heads: usize,
    length: usize,
    capacity: usize,
}

impl Sizes {
    fn check(
        queries: &DeviceTensor,
        keys: &DeviceTensor,
        values: &DeviceTensor,
        out: &DeviceTensor,
    ) -> Result<Self, DeviceError> {
        const OP: &str = "attention";
        queries.is_of(OP, "queries", DType::F32)?;
        out.is_of(OP, "output", DType::F32)?;
        values.is_of(OP, "values", keys.dtype())?;
        let &[heads, length] = queries.shape() else {
            return Err(
                OpError::shape(OP, "queries", format_args!("[heads, length]"), queries.shape()).into(),
            );
        };
        let (capacity, kv_heads) = match keys.shape() {
            [capacity, kv_heads, found]
                if *found == length && *kv_heads > 0 && heads.is_multiple_of(*kv_heads) =>
            {
                (*capacity, *kv_heads)
            }
            found => {
                let wanted = format!("[capacity, a divisor of {heads}, {length}]");
                return Err(OpError::shape(OP, "keys", format_args!("{wanted}"), found).into());
            }
        };
        OpError::unless_shape(OP, "values", keys.shape(), values.shape())?;
        OpError::unless_shape(OP, "output", queries.shape(), out.shape())?;
        for (what, found, limit) in [
            ("the length of a head", length, LONGEST_HEAD + 1),
            ("the number of heads", heads, 65_536),
        ] {
            if found >= limit {
                let op = OP;
                return Err(OpError::Range {
                    op,
                    what,
                    found,
                    limit,
                }
                .into());
            }
        }
        Ok(Self {
            heads,
            kv_heads,
            length,
            capacity,
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "at most 256")]
    fn scale(self) -> f32 {
        1.0 / (self.length as f32).sqrt()
    }
}

/// Bytes of both parts of the scratch: a head of sums, and a largest score and a sum of weights, for each head and
/// chunk.
fn scratch_bytes(heads: usize, length: usize, capacity: usize) -> (usize, usize) {
    let parts = heads.saturating_mul(capacity.div_ceil(CHUNK));
    (
        parts.saturating_mul(length).saturating_mul(size_of::<f32>()),
        parts.saturating_mul(2 * size_of::<f32>()),
    )
}

fn attend_entry(dtype: DType, length: usize) -> &'static str {
    match (dtype, length.is_multiple_of(16 / dtype.bytes())) {
        (DType::F32, true) => "attend_f32",
        (DType::F16, true) => "attend_f16",
        (DType::Bf16, true) => "attend_bf16",
        (DType::F32, false) => "attend_single_f32",
        (DType::F16, false) => "attend_single_f16",
        (DType::Bf16, false) => "attend_single_bf16",
    }
}
