//! The types of an element.

use half::{bf16, f16};

/// How an element is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DType {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of a binary32.
    Bf16,
}

impl DType {
    /// Bytes of an element.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    /// `f32`, `f16`, `bf16`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
        }
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.name())
    }
}

/// A number that a tensor is made of. Arithmetic is done in `f32`, and what it gives is rounded once, to nearest, ties
/// to even.
pub trait Element: Copy + Default + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// How it is stored.
    const DTYPE: DType;

    /// The same number: exact.
    fn to_f32(self) -> f32;

    /// The nearest number of this type; infinite where `number` is beyond its range.
    fn from_f32(number: f32) -> Self;

    /// Its bits, in the lowest bits of the answer: tells apart what `==` does not, such as the two zeros.
    fn bits(self) -> u32;

    /// Converts all of them.
    ///
    /// # Panics
    /// If the slices differ in length.
    fn widen(from: &[Self], to: &mut [f32]);

    /// All of them in `f32`: in their own place if they are, else in `room`, which is as long.
    ///
    /// # Panics
    /// If the slices differ in length.
    fn wide<'a>(from: &'a [Self], room: &'a mut [f32]) -> &'a [f32] {
        Self::widen(from, room);
        room
    }

    /// Rounds all of them.
    ///
    /// # Panics
    /// If the slices differ in length.
    fn narrow(from: &[f32], to: &mut [Self]);
}

impl Element for f32 {
    const DTYPE: DType = DType::F32;

    fn to_f32(self) -> f32 {
        self
    }

    fn from_f32(number: f32) -> Self {
        number
    }

    fn bits(self) -> u32 {
        self.to_bits()
    }

    fn widen(from: &[Self], to: &mut [f32]) {
        to.copy_from_slice(from);
    }

    fn wide<'a>(from: &'a [Self], _: &'a mut [f32]) -> &'a [f32] {
        from
    }

    fn narrow(from: &[f32], to: &mut [Self]) {
        to.copy_from_slice(from);
    }
}

impl Element for f16 {
    const DTYPE: DType = DType::F16;

    fn to_f32(self) -> f32 {
        Self::to_f32(self)
    }

    fn from_f32(number: f32) -> Self {
        Self::from_f32(number)
    }

    fn bits(self) -> u32 {
        u32::from(self.to_bits())
    }

    fn widen(from: &[Self], to: &mut [f32]) {
        half::slice::HalfFloatSliceExt::convert_to_f32_slice(from, to);
    }

    fn narrow(from: &[f32], to: &mut [Self]) {
        half::slice::HalfFloatSliceExt::convert_from_f32_slice(to, from);
    }
}

impl Element for bf16 {
    const DTYPE: DType = DType::Bf16;

    fn to_f32(self) -> f32 {
        Self::to_f32(self)
    }

    fn from_f32(number: f32) -> Self {
        Self::from_f32(number)
    }

    fn bits(self) -> u32 {
        u32::from(self.to_bits())
    }

    fn widen(from: &[Self], to: &mut [f32]) {
        assert_eq!(from.len(), to.len(), "lengths of a conversion");
        for (to, from) in to.iter_mut().zip(from) {
            *to = f32::from_bits(u32::from(from.to_bits()) << 16);
        }
    }

    fn narrow(from: &[f32], to: &mut [Self]) {
        assert_eq!(from.len(), to.len(), "lengths of a conversion");
        for (to, from) in to.iter_mut().zip(from) {
            *to = nearest_bf16(*from);
        }
    }
}

/// Without a branch, so that many are converted at once: half of the last place that stays is added, a little less for
/// an even one. What is NaN stays NaN.
#[inline(always)]
fn nearest_bf16(number: f32) -> bf16 {
    let bits = number.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
    let quiet = (bits >> 16) | 0x40;
    let is_nan = bits & 0x7fff_ffff > 0x7f80_0000;
    bf16::from_bits(if is_nan { quiet } else { rounded } as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrowing_rounds_to_nearest_with_ties_to_even() {
        // Between 1 and 1 + 2^-10 of f16, and 1 and 1 + 2^-7 of bf16.
        assert_eq!(<f16 as Element>::from_f32(1.0 + 0.5_f32.powi(11)), f16::ONE);
        assert_eq!(<bf16 as Element>::from_f32(1.0 + 0.5_f32.powi(8)), bf16::ONE);
        let mut many = [f16::ZERO; 3];
        f16::narrow(
            &[1.0 + 0.5_f32.powi(11), 1.0 + 3.0 * 0.5_f32.powi(11), 1e9],
            &mut many,
        );
        let wanted = [1.0, 1.0 + 2.0 * 0.5_f32.powi(10), f32::INFINITY];
        assert_eq!(many, wanted.map(f16::from_f32));
    }

    #[test]
    fn many_bf16_are_rounded_as_one_is() {
        let numbers: Vec<f32> = (0..=u16::MAX)
            .flat_map(|high| [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff].map(|low| (u32::from(high) << 16) | low))
            .map(f32::from_bits)
            .collect();
        let mut many = vec![bf16::ZERO; numbers.len()];
        bf16::narrow(&numbers, &mut many);
        for (number, found) in numbers.iter().zip(&many) {
            let wanted = bf16::from_f32(*number);
            assert!(
                found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan(),
                "{number}"
            );
        }
        let mut wide = vec![0.0; many.len()];
        bf16::widen(&many, &mut wide);
        assert!(
            many.iter()
                .zip(&wide)
                .all(|(one, wide)| one.to_f32().to_bits() == wide.to_bits())
        );
    }

    #[test]
    fn slices_convert_like_single_numbers_nan_and_subnormal_ones_included() {
        let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        let mut wide = vec![0.0; all.len()];
        f16::widen(&all, &mut wide);
        for (one, wide) in all.iter().zip(&wide) {
            let same = Element::to_f32(*one).to_bits() == wide.to_bits();
            assert!(same || one.is_nan() && wide.is_nan(), "{one:?} {wide}");
        }
    }
}
