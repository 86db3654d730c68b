//! Movers of bytes on the device: what a plan says, and gather.

use super::launch::{Arg, Grid, MOST_BLOCKS, narrow, saturated};
use super::tensor::apart;
use super::{Buffer, Device, DeviceError, DeviceTensor, Latch, Source, magic};
use crate::error::OpError;
use crate::movement::{Memory, Moves, Plan};

const THREADS: u32 = 256;
/// Threads of a transposition.
const TILE_THREADS: u32 = 512;
/// Words that a thread has under way at a time.
const UNROLL: usize = 4;
/// Blocks that keep every GPU there is busy: where there are fewer, copies are shared out among more.
const ENOUGH_BLOCKS: u32 = 4096;
/// What a plan tells its kernel, in device memory.
#[derive(Debug)]
pub struct Metadata {
    // First, because it is freed first: until then the words may still be on their way.
    buffer: Buffer,
    words: Vec<u64>,
}

impl Device {
    /// Puts metadata on the device, behind all work so far, without waiting. No words become one, so that there
    /// always is an address.
    ///
    /// # Errors
    /// As [`Device::buffer`].
    pub fn metadata(&self, words: &[u64]) -> Result<Metadata, DeviceError> {
        let words = words.to_vec();
        let source: &[u64] = if words.is_empty() { &[0] } else { &words };
        let buffer = self.buffer(size_of_val(source))?;
        // SAFETY: the buffer was made for them, which it is not during a capture; they live in the metadata, whose
        // buffer is dropped first, and waits for the stream then.
        unsafe { buffer.enqueue_upload(0, source) }?;
        Ok(Metadata { buffer, words })
    }

    /// Moves bytes as `plan` says, without waiting.
    ///
    /// # Errors
    /// [`DeviceError::ForeignMetadata`] if `metadata` is not of this plan; [`DeviceError::Size`] for buffers that are
    /// shorter than the plan reaches; [`DeviceError::Aliased`].
    pub fn move_bytes(
        &self,
        plan: &Plan,
        metadata: &Metadata,
        input: &Buffer,
        out: &Buffer,
    ) -> Result<(), DeviceError> {
        const OP: &str = "move";
        if metadata.words != plan.words() {
            return Err(DeviceError::ForeignMetadata);
        }
        let (reads, writes) = plan.reach();
        for (buffer, wanted) in [(input, reads), (out, writes)] {
            if buffer.bytes() < wanted {
                return Err(DeviceError::Size {
                    call: OP,
                    wanted,
                    held: buffer.bytes(),
                });
            }
        }
        apart(OP, out, &[input, &metadata.buffer])?;
        let rank = saturated(plan.axes().len());
        let [input, out, metadata] = [input, out, &metadata.buffer].map(Arg::Buffer);
        let walk = |entry, grid, count: usize, copies: usize, copy_distance: usize| {
            let args = [
                input,
                out,
                metadata,
                Arg::U32(rank),
                Arg::U64(count as u64),
                Arg::U64(copies as u64),
                Arg::U64(copy_distance as u64),
            ];
            // SAFETY: the plan reaches no further than both buffers, and the metadata is its own.
            unsafe { self.enqueue(Source::Movement, entry, grid, &args) }
        };
        match *plan.moves() {
            Moves::Nothing => Ok(()),
            Moves::Strided {
                word,
                is_wide,
                count,
                copies,
                copy_distance,
            } => {
                let grid = shared_out(count, copies);
                walk(strided_entry(word, is_wide), grid, count, copies, copy_distance)
            }
            Moves::Spread { word, count } => {
                let grid = Grid::looped(count, THREADS, UNROLL);
                walk(spread_entry(word), grid, count, 1, 0)
            }
            Moves::Tiles {
                word,
                is_pairs,
                batches,
                a,
                b,
                b_from,
                a_to,
            } => {
                let (entry, side_a, side_b) = tiles_entry(word, is_pairs);
                let args = [
                    input,
                    out,
                    metadata,
                    Arg::U32(rank),
                    Arg::U64(batches as u64),
                    Arg::U64(a as u64),
                    Arg::U64(b as u64),
                    Arg::U64(b_from as u64),
                    Arg::U64(a_to as u64),
                ];
                let grid = Grid {
                    blocks: (
                        saturated(a.div_ceil(side_a)),
                        saturated(b.div_ceil(side_b).min(MOST_BLOCKS)),
                        saturated(batches.min(MOST_BLOCKS)),
                    ),
                    threads: TILE_THREADS,
                    shared: 0,
                };
                // SAFETY: as above.
                unsafe { self.enqueue(Source::Movement, entry, grid, &args) }
            }
        }
    }

    /// Writes row `indices[i]` of `table` (`[rows, width]`) as row `i` of `out` (`[count, width]`); `indices` are
    /// `count` words of 32 bits. Copies bits. An index that is no row gives zeros and is reported in `latch`.
    ///
    /// # Errors
    /// [`OpError::Shape`]; [`OpError::Range`] from 2^31 rows or words on; [`DeviceError::Type`];
    /// [`DeviceError::Size`] for fewer indices; [`DeviceError::Aliased`].
    pub fn gather(
        &self,
        table: &DeviceTensor,
        indices: &Buffer,
        latch: &Latch,
        out: &DeviceTensor,
    ) -> Result<(), DeviceError> {
        const OP: &str = "gather";
        let &[rows, width] = table.shape() else {
            return Err(OpError::shape(OP, "table", format_args!("[rows, width]"), table.shape()).into());
        };
        let count = out.shape().first().copied().unwrap_or(0);
        OpError::unless_shape(OP, "output", &[count, width], out.shape())?;
        out.is_of(OP, "output", table.dtype())?;
        let wanted = count.saturating_mul(size_of::<u32>());
        if indices.bytes() < wanted {
            return Err(DeviceError::Size {
                call: OP,
                wanted,
                held: indices.bytes(),
            });
        }
        apart(OP, out.buffer(), &[table.buffer(), indices, latch.word()])?;
        if out.places() == 0 {
            return Ok(());
        }
        let bytes = width * table.dtype().bytes();
        let (word, entry) = gather_entry(bytes);
        let width = bytes / word;
        let words = narrow(OP, "the number of words", count.saturating_mul(width))?;
        let args = [
            Arg::Buffer(table.buffer()),
            Arg::Buffer(indices),
            Arg::Buffer(out.buffer()),
            Arg::Buffer(latch.word()),
            Arg::U32(narrow(OP, "the number of rows", rows)?),
            Arg::U32(words),
            Arg::U32(narrow(OP, "the width", width)?),
            Arg::U64(magic(width)),
        ];
        let grid = Grid::looped(words as usize, THREADS, UNROLL);
        // SAFETY: only rows of the table are read, only `words` words of the output written, and one index for each
        // of its rows read.
        unsafe { self.enqueue(Source::Movement, entry, grid, &args) }
    }
}

impl Memory for Device {
    type Block = Metadata;

    fn is_capturing(&self) -> bool {
        Self::is_capturing(self)
    }

    fn wait(&self) -> Result<(), DeviceError> {
        Self::wait(self)
    }

    fn place(&self, words: &[u64]) -> Result<Metadata, DeviceError> {
        let metadata = self.metadata(words)?;
        Self::wait(self)?;
        Ok(metadata)
    }
}

/// Blocks for `count` words, and rows of them for copies where one row would not keep the GPU busy.
fn shared_out(count: usize, copies: usize) -> Grid {
    let row = Grid::looped(count, THREADS, UNROLL);
    let rows = ENOUGH_BLOCKS
        .div_ceil(row.blocks.0)
        .min(saturated(copies.clamp(1, MOST_BLOCKS)));
    Grid {
        blocks: (row.blocks.0, rows, 1),
        ..row
    }
}

fn strided_entry(word: usize, is_wide: bool) -> &'static str {
    match (word, is_wide) {
        (16, false) => "strided_16",
        (8, false) => "strided_8",
        (4, false) => "strided_4",
        (2, false) => "strided_2",
        (_, false) => "strided_1",
        (16, true) => "strided_wide_16",
        (8, true) => "strided_wide_8",
        (4, true) => "strided_wide_4",
        (2, true) => "strided_wide_2",
        (_, true) => "strided_wide_1",
    }
}

fn spread_entry(word: usize) -> &'static str {
    match word {
        8 => "spread_8",
        4 => "spread_4",
        2 => "spread_2",
        _ => "spread_1",
    }
}

/// A kernel and the sides of its tiles along `a` and `b`, in what it counts: words, or pairs of them.
fn tiles_entry(word: usize, is_pairs: bool) -> (&'static str, usize, usize) {
    match (word, is_pairs) {
        (_, true) => ("tiles_of_pairs", 32, 64),
        (16, _) => ("tiles_16", 32, 32),
        (8, _) => ("tiles_8", 32, 32),
        (4, _) => ("tiles_4", 64, 64),
        (2, _) => ("tiles_2", 64, 64),
        _ => ("tiles_1", 64, 64),
    }
}

/// The widest word that rows of this many bytes consist of, and its kernel.
fn gather_entry(bytes: usize) -> (usize, &'static str) {
    let entries = [
        (16, "gather_16"),
        (8, "gather_8"),
        (4, "gather_4"),
        (2, "gather_2"),
    ];
    let fits = entries.into_iter().find(|(word, _)| bytes.is_multiple_of(*word));
    fits.unwrap_or((1, "gather_1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_words_with_many_copies_are_shared_out_among_blocks() {
        assert_eq!(shared_out(1024, 32_768).blocks, (1, 4096, 1));
        assert_eq!(shared_out(1024, 3).blocks, (1, 3, 1));
        assert_eq!(shared_out(1 << 24, 8).blocks, (16_384, 1, 1));
        assert_eq!(shared_out(1 << 20, 8).blocks, (1024, 4, 1));
        assert_eq!(shared_out(1, 1).blocks, (1, 1, 1));
    }

    #[test]
    fn rows_are_gathered_in_the_widest_words_they_consist_of() {
        assert_eq!(gather_entry(2048), (16, "gather_16"));
        assert_eq!(gather_entry(24), (8, "gather_8"));
        assert_eq!(gather_entry(6), (2, "gather_2"));
        assert_eq!(gather_entry(7), (1, "gather_1"));
    }
}
