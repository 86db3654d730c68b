//! How the numbers of a tensor are stored.

use super::error::{Fault, short};
use super::quant::BLOCK;

/// How the numbers of a tensor are stored; all little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Storage {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of a binary32.
    Bf16,
    /// Blocks of 32: a scale in binary16, then signed bytes.
    Q8_0,
    /// Blocks of 32: a scale in binary16, then four bits each, less 8.
    Q4_0,
    /// Blocks of 32: a scale and a least number in binary16, then four bits each.
    Q4_1,
}

impl Storage {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::F32,
        Self::F16,
        Self::Bf16,
        Self::Q8_0,
        Self::Q4_0,
        Self::Q4_1,
    ];

    /// Numbers that are stored together: a row must be a multiple of it.
    #[must_use]
    pub const fn block(self) -> usize {
        match self {
            Self::F32 | Self::F16 | Self::Bf16 => 1,
            Self::Q8_0 | Self::Q4_0 | Self::Q4_1 => BLOCK,
        }
    }

    /// Bytes of a block.
    #[must_use]
    pub const fn block_bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::Q8_0 => 2 + BLOCK,
            Self::Q4_0 => 2 + BLOCK / 2,
            Self::Q4_1 => 2 + 2 + BLOCK / 2,
        }
    }

    /// Bytes of so many numbers; `None` if they are not whole blocks, or more than can be counted.
    #[must_use]
    pub const fn bytes(self, numbers: usize) -> Option<usize> {
        if numbers.is_multiple_of(self.block()) {
            (numbers / self.block()).checked_mul(self.block_bytes())
        } else {
            None
        }
    }

    /// `F32`, `F16`, `BF16`, `Q8_0`, `Q4_0`, `Q4_1`: as both formats spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::Bf16 => "BF16",
            Self::Q8_0 => "Q8_0",
            Self::Q4_0 => "Q4_0",
            Self::Q4_1 => "Q4_1",
        }
    }

    /// The number that stands for it in GGUF (`enum ggml_type` of ggml).
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::F32 => 0,
            Self::F16 => 1,
            Self::Q4_0 => 2,
            Self::Q4_1 => 3,
            Self::Q8_0 => 8,
            Self::Bf16 => 30,
        }
    }

    /// Lengths of the axes as this machine counts them, last axis nearest, and the bytes that a tensor of them takes.
    pub(super) fn measured(self, tensor: &str, axes: &[u64]) -> Result<(Vec<usize>, usize), Fault> {
        let uncountable = || Fault::Elements {
            tensor: short(tensor),
        };
        let shape: Vec<usize> = axes
            .iter()
            .map(|axis| usize::try_from(*axis))
            .collect::<Result<_, _>>()
            .map_err(|_| uncountable())?;
        // From the first axis on, as everybody multiplies later: then no product of some of them overflows either.
        let elements = shape
            .iter()
            .try_fold(1_usize, |elements, axis| elements.checked_mul(*axis))
            .ok_or_else(uncountable)?;
        let width = shape.last().copied().unwrap_or(1);
        if !width.is_multiple_of(self.block()) {
            return Err(Fault::Block {
                tensor: short(tensor),
                storage: self,
                width,
            });
        }
        let bytes = self.bytes(elements).ok_or_else(uncountable)?;
        Ok((shape, bytes))
    }
}

impl std::fmt::Display for Storage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_takes_what_ggml_says() {
        let bytes = Storage::ALL.map(|storage| storage.bytes(64));
        assert_eq!(bytes, [256, 128, 128, 68, 36, 40].map(Some));
        assert_eq!(Storage::Q4_0.bytes(33), None);
        assert_eq!(Storage::F32.bytes(usize::MAX / 2), None);
        assert_eq!(Storage::Q8_0.bytes(0), Some(0));
    }

    #[test]
    fn a_tensor_is_measured_by_its_axes() {
        assert_eq!(Storage::Q8_0.measured("w", &[3, 64]), Ok((vec![3, 64], 204)));
        assert_eq!(Storage::F32.measured("w", &[]), Ok((vec![], 4)));
        assert_eq!(Storage::F16.measured("w", &[3, 0]), Ok((vec![3, 0], 0)));
    }

    #[test]
    fn a_row_must_consist_of_whole_blocks_even_if_the_tensor_does() {
        assert_eq!(
            Storage::Q4_1.measured("w", &[32, 2]),
            Err(Fault::Block {
                tensor: "w".into(),
                storage: Storage::Q4_1,
                width: 2
            })
        );
        // A single number is a row of one.
        assert!(Storage::Q4_1.measured("w", &[]).is_err());
    }

    #[test]
    fn elements_that_cannot_be_counted_are_refused_even_where_an_axis_is_empty() {
        for axes in [
            &[1 << 32, 1 << 32][..],
            &[u64::MAX, 2],
            &[u64::MAX, u64::MAX, 0],
            &[1 << 62, 1],
        ] {
            let refused = Storage::F32.measured("w", axes);
            assert_eq!(refused, Err(Fault::Elements { tensor: "w".into() }), "{axes:?}");
        }
        assert!(Storage::F32.measured("w", &[0, u64::MAX, u64::MAX]).is_ok());
    }
}
