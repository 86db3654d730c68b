//! Division by a number that stays the same, as the kernels do it (Granlund and Montgomery, 1994).

/// First number that is too large to be divided, and to be divided by.
pub(crate) const INDEX_LIMIT: usize = 1 << 31;

/// What a kernel needs to divide by `length`: the multiplier in the lower half, the shift in the upper. Right for
/// dividends below 2^31. Zero for a length of zero or beyond 2^31, by which nothing is to be divided.
#[must_use]
pub(crate) fn magic(length: usize) -> u64 {
    if length == 0 || length >= INDEX_LIMIT {
        return 0;
    }
    let length = length as u64;
    let shift = u64::from(length.next_power_of_two().trailing_zeros());
    let multiplier = (((1_u64 << shift) - length) << 32) / length + 1;
    multiplier | (shift << 32)
}

/// What a kernel makes of it.
#[cfg(test)]
pub(crate) fn divide(number: u32, magic: u64) -> u32 {
    let (multiplier, shift) = (magic as u32, (magic >> 32) as u32);
    let high = ((u64::from(number) * u64::from(multiplier)) >> 32) as u32;
    (high + number) >> shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_small_length_divides_every_small_number_and_the_largest() {
        for length in 1..300_usize {
            let magic = magic(length);
            for number in (0..1000).chain([i32::MAX as u32 - 1, i32::MAX as u32]) {
                assert_eq!(
                    divide(number, magic),
                    number / length as u32,
                    "{number} / {length}"
                );
            }
        }
        assert_eq!(magic(0), 0);
        assert_eq!(magic(INDEX_LIMIT), 0);
    }

    proptest! {
        #[test]
        fn it_is_division(number in 0_u32..1 << 31, length in 1_usize..1 << 31) {
            prop_assert_eq!(divide(number, magic(length)), number / length as u32);
        }

        #[test]
        fn it_is_division_around_multiples(times in 0_u32..70_000, length in 1_u32..30_000, off in 0_u32..3) {
            let number = (times * length + off).saturating_sub(1);
            prop_assume!(number < 1 << 31);
            prop_assert_eq!(divide(number, magic(length as usize)), number / length);
        }
    }
}
