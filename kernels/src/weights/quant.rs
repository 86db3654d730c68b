//! Numbers in blocks of 32, and what is done with a row of them.
//!
//! The quantised formats are those of ggml (`ggml-common.h` for the layout, `dequantize_row_q8_0` and its neighbours in
//! `ggml-quants.c` for the meaning; G. Gerganov and others, 2023). The plain formats are read 32 at a time as well, so
//! that there is one loop for all. Scales are not judged: one that is infinite or NaN gives such numbers.

use super::storage::Storage;
use crate::dtype::Element;
use crate::ops::lanes::Sums;
use half::{bf16, f16};

/// Numbers that share a scale.
pub const BLOCK: usize = 32;

/// Dequantises numbers. `row` must be what [`Storage::bytes`] says `out` takes; what is longer is not looked at.
///
/// A product of a scale (11 significant bits) and a quantised number (at most 8) is exact in `f32`, so that only Q4_1
/// rounds, once, where it adds.
pub(crate) fn widen(storage: Storage, row: &[u8], out: &mut [f32]) {
    match storage {
        Storage::F32 => widen_blocks(row, out, f32s),
        Storage::F16 => widen_blocks(row, out, f16s),
        Storage::Bf16 => widen_blocks(row, out, bf16s),
        Storage::Q8_0 => widen_blocks(row, out, q8_0),
        Storage::Q4_0 => widen_blocks(row, out, q4_0),
        Storage::Q4_1 => widen_blocks(row, out, q4_1),
    }
}

/// Sum of the products with `other`, which is as long as the row; 0 for none.
///
/// Each product and each sum is rounded to `f32`, in this order: lane `j` of 32 adds numbers `j`, `j + 32`, ...; then
/// the upper half of the lanes is added to the lower one until one is left. ggml would round `other` to eight bits
/// first; this does not.
#[inline(always)]
pub(crate) fn dot(storage: Storage, row: &[u8], other: &[f32]) -> f32 {
    match storage {
        Storage::F32 => dot_blocks(row, other, f32s),
        Storage::F16 => dot_blocks(row, other, f16s),
        Storage::Bf16 => dot_blocks(row, other, bf16s),
        Storage::Q8_0 => dot_blocks(row, other, q8_0),
        Storage::Q4_0 => dot_blocks(row, other, q4_0),
        Storage::Q4_1 => dot_blocks(row, other, q4_1),
    }
}

/// `N` bytes are a block. Less than a block, which only plain formats have, is filled up with zeros.
fn widen_blocks<const N: usize>(row: &[u8], out: &mut [f32], numbers: impl Fn(&[u8; N]) -> [f32; BLOCK]) {
    let (blocks, rest) = row.as_chunks::<N>();
    let (wide, wide_rest) = out.as_chunks_mut::<BLOCK>();
    for (block, wide) in blocks.iter().zip(wide) {
        *wide = numbers(block);
    }
    if !wide_rest.is_empty() {
        for (wide, number) in wide_rest.iter_mut().zip(numbers(&filled(rest))) {
            *wide = number;
        }
    }
}

#[inline(always)]
fn dot_blocks<const N: usize>(row: &[u8], other: &[f32], numbers: impl Fn(&[u8; N]) -> [f32; BLOCK]) -> f32 {
    let (blocks, rest) = row.as_chunks::<N>();
    let (others, other_rest) = other.as_chunks::<BLOCK>();
    let mut sums = Sums::default();
    for (block, other) in blocks.iter().zip(others) {
        sums.add_products(&numbers(block), other);
    }
    if !other_rest.is_empty() {
        sums.add_products(&numbers(&filled(rest))[..other_rest.len()], other_rest);
    }
    sums.total()
}

/// These bytes, and zeros up to `N`.
fn filled<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut block = [0; N];
    for (place, byte) in block.iter_mut().zip(bytes) {
        *place = *byte;
    }
    block
}

fn f32s(block: &[u8; 4 * BLOCK]) -> [f32; BLOCK] {
    let mut numbers = [0.0; BLOCK];
    for (number, bytes) in numbers.iter_mut().zip(block.as_chunks().0) {
        *number = f32::from_le_bytes(*bytes);
    }
    numbers
}

fn f16s(block: &[u8; 2 * BLOCK]) -> [f32; BLOCK] {
    halves(block, f16::from_le_bytes)
}

fn bf16s(block: &[u8; 2 * BLOCK]) -> [f32; BLOCK] {
    halves(block, bf16::from_le_bytes)
}

fn halves<T: Element>(block: &[u8; 2 * BLOCK], half: impl Fn([u8; 2]) -> T) -> [f32; BLOCK] {
    let mut halves = [T::default(); BLOCK];
    for (place, bytes) in halves.iter_mut().zip(block.as_chunks().0) {
        *place = half(*bytes);
    }
    let mut numbers = [0.0; BLOCK];
    T::widen(&halves, &mut numbers);
    numbers
}

/// `d * q`, of signed bytes.
#[inline(always)]
fn q8_0([d0, d1, quants @ ..]: &[u8; 34]) -> [f32; BLOCK] {
    let d = scale(*d0, *d1);
    quants.map(|q| d * f32::from(q.cast_signed()))
}

/// `d * (q - 8)`, of four bits.
#[inline(always)]
fn q4_0([d0, d1, quants @ ..]: &[u8; 18]) -> [f32; BLOCK] {
    let d = scale(*d0, *d1);
    nibbles(quants, |q| d * (f32::from(q) - 8.0))
}

/// `d * q + m`, of four bits.
#[inline(always)]
fn q4_1([d0, d1, m0, m1, quants @ ..]: &[u8; 20]) -> [f32; BLOCK] {
    let (d, m) = (scale(*d0, *d1), scale(*m0, *m1));
    nibbles(quants, |q| d * f32::from(q) + m)
}

#[inline(always)]
fn scale(low: u8, high: u8) -> f32 {
    f16::from_le_bytes([low, high]).to_f32()
}

/// The lower four bits of the bytes are numbers 0 to 15, the upper ones 16 to 31.
#[inline(always)]
fn nibbles(quants: &[u8; BLOCK / 2], number: impl Fn(u8) -> f32) -> [f32; BLOCK] {
    let mut numbers = [0.0; BLOCK];
    let (low, high) = numbers.split_at_mut(BLOCK / 2);
    for ((low, high), quant) in low.iter_mut().zip(high).zip(quants) {
        *low = number(quant & 0xf);
        *high = number(quant >> 4);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(storage: Storage, row: &[u8], numbers: usize) -> Vec<f32> {
        let mut out = vec![f32::NAN; numbers];
        widen(storage, row, &mut out);
        out
    }

    /// Two blocks with this head and so many bytes of other content each.
    fn blocks(head: &[u8], quants: u8) -> Vec<u8> {
        let block = |first: u8| {
            head.iter()
                .copied()
                .chain((0..quants).map(move |i| i.wrapping_mul(37) ^ first))
        };
        block(0).chain(block(0x5a)).collect()
    }

    /// Half of binary16 is 0x3800, minus two 0xc000, a quarter 0x3400, three 0x4200.
    #[test]
    fn q8_0_is_a_scale_times_signed_bytes() {
        let mut block = vec![0x00, 0x38];
        block.extend((0_u8..32).map(|i| match i {
            0 => 127,
            1 => 0x80,
            2 => 0xff,
            i => i,
        }));
        let mut wanted: Vec<f32> = (0_u8..32).map(|i| f32::from(i) / 2.0).collect();
        wanted[..3].copy_from_slice(&[63.5, -64.0, -0.5]);
        assert_eq!(wide(Storage::Q8_0, &block, 32), wanted);
    }

    #[test]
    fn q4_0_counts_from_minus_eight_and_its_low_halves_come_first() {
        // Byte i: low half i, high half 15 - i.
        let mut block = vec![0x00, 0xc0];
        block.extend((0_u8..16).map(|i| i | ((15 - i) << 4)));
        let low = (0_u8..16).map(|i| (f32::from(i) - 8.0) * -2.0);
        let high = (0_u8..16).map(|i| (7.0 - f32::from(i)) * -2.0);
        let wanted: Vec<f32> = low.chain(high).collect();
        assert_eq!(wanted[0].to_bits(), 16.0_f32.to_bits());
        assert_eq!(wanted[16].to_bits(), (-14.0_f32).to_bits());
        assert_eq!(wide(Storage::Q4_0, &block, 32), wanted);
    }

    #[test]
    fn q4_1_counts_from_its_least_number() {
        let mut block = vec![0x00, 0x34, 0x00, 0x42];
        block.extend((0_u8..16).map(|i| i | ((15 - i) << 4)));
        let low = (0_u8..16).map(|i| f32::from(i) / 4.0 + 3.0);
        let high = (0_u8..16).map(|i| f32::from(15 - i) / 4.0 + 3.0);
        let wanted: Vec<f32> = low.chain(high).collect();
        assert_eq!(wanted[15].to_bits(), 6.75_f32.to_bits());
        assert_eq!(wide(Storage::Q4_1, &block, 32), wanted);
    }

    #[test]
    fn each_block_has_its_own_scale() {
        let mut row = vec![0x00, 0x38];
        row.extend([2; 32]);
        row.extend([0x00, 0xc0]);
        row.extend([3; 32]);
        let wanted: Vec<f32> = [[1.0; 32], [-6.0; 32]].concat();
        assert_eq!(wide(Storage::Q8_0, &row, 64), wanted);
    }

    #[test]
    fn plain_numbers_of_any_count_are_what_they_were() {
        for count in [0_u16, 1, 31, 32, 33, 100] {
            let numbers: Vec<f32> = (0..count).map(|i| f32::from(i) / 8.0 - 2.0).collect();
            let singles: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            let halves: Vec<u8> = numbers
                .iter()
                .flat_map(|number| f16::from_f32(*number).to_le_bytes())
                .collect();
            let bfloats: Vec<u8> = numbers
                .iter()
                .flat_map(|number| bf16::from_f32(*number).to_le_bytes())
                .collect();
            assert_eq!(wide(Storage::F32, &singles, numbers.len()), numbers);
            assert_eq!(wide(Storage::F16, &halves, numbers.len()), numbers);
            assert_eq!(wide(Storage::Bf16, &bfloats, numbers.len()), numbers);
        }
    }

    #[test]
    fn a_scale_that_is_no_number_gives_none() {
        let mut block = vec![0x00, 0x7e];
        block.extend([0; 32]);
        assert!(
            wide(Storage::Q8_0, &block, 32)
                .iter()
                .all(|number| number.is_nan())
        );
    }

    #[test]
    fn a_dot_is_the_sum_of_products_of_every_format() {
        // Small whole numbers: every sum is exact, in whatever order.
        let other: Vec<f32> = (0_u8..64).map(|i| f32::from(i % 5) - 2.0).collect();
        let whole = (0_u8..64).map(|i| f32::from(i) - 30.0);
        for storage in Storage::ALL {
            let row: Vec<u8> = match storage {
                Storage::F32 => whole.clone().flat_map(f32::to_le_bytes).collect(),
                Storage::F16 => whole
                    .clone()
                    .flat_map(|n| f16::from_f32(n).to_le_bytes())
                    .collect(),
                Storage::Bf16 => whole
                    .clone()
                    .flat_map(|n| bf16::from_f32(n).to_le_bytes())
                    .collect(),
                // Scale and least number are one.
                Storage::Q8_0 => blocks(&[0x00, 0x3c], 32),
                Storage::Q4_0 => blocks(&[0x00, 0x3c], 16),
                Storage::Q4_1 => blocks(&[0x00, 0x3c, 0x00, 0x3c], 16),
            };
            let wide = wide(storage, &row, 64);
            let wanted: f32 = wide.iter().zip(&other).map(|(one, other)| one * other).sum();
            assert_eq!(
                dot(storage, &row, &other).to_bits(),
                wanted.to_bits(),
                "{storage}"
            );
        }
    }

    #[test]
    fn a_dot_of_a_row_that_is_no_whole_block_takes_its_rest_too() {
        let row: Vec<u8> = [1.0_f32; 35]
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect();
        assert_eq!(dot(Storage::F32, &row, &[2.0; 35]).to_bits(), 70.0_f32.to_bits());
        assert_eq!(dot(Storage::F32, &[], &[]).to_bits(), 0.0_f32.to_bits());
    }
}
