//! Reductions in a fixed order: 32 partial results, then halves onto halves. The order depends on nothing but the
//! length, so a result is the same on every machine, and the same tree can be walked on a GPU.

use crate::dtype::Element;

/// Partial results; a multiple of the lanes of every vector unit there is.
const LANES: usize = 32;

/// Sums on the way: place `i` of what is added goes to partial sum `i mod 32`, in order.
pub(crate) struct Sums([f32; LANES]);

impl Default for Sums {
    #[inline(always)]
    fn default() -> Self {
        Self([0.0; LANES])
    }
}

impl Sums {
    /// Adds what `term` makes of each number. All calls but the last add a multiple of 32 numbers.
    #[inline(always)]
    fn add<T: Element>(&mut self, numbers: &[T], term: impl Fn(f32) -> f32) {
        let (whole, rest) = numbers.as_chunks::<LANES>();
        for chunk in whole {
            for (sum, number) in self.0.iter_mut().zip(chunk) {
                *sum += term(number.to_f32());
            }
        }
        for (sum, number) in self.0.iter_mut().zip(rest) {
            *sum += term(number.to_f32());
        }
    }

    /// Adds the product of each pair, rounded before it is added. All calls but the last add a multiple of 32 products.
    #[inline(always)]
    pub(crate) fn add_products(&mut self, one: &[f32], other: &[f32]) {
        let (ones, ones_rest) = one.as_chunks::<LANES>();
        let (others, others_rest) = other.as_chunks::<LANES>();
        for (one, other) in ones.iter().zip(others) {
            for ((sum, one), other) in self.0.iter_mut().zip(one).zip(other) {
                *sum += one * other;
            }
        }
        for ((sum, one), other) in self.0.iter_mut().zip(ones_rest).zip(others_rest) {
            *sum += one * other;
        }
    }

    /// The upper half of the partial sums is added to the lower half until one is left.
    #[inline(always)]
    pub(crate) fn total(self) -> f32 {
        halves(self.0, |one, other| one + other)
    }
}

/// Adds up what `term` makes of each number; 0 for none.
#[inline(always)]
pub(super) fn sum<T: Element>(numbers: &[T], term: impl Fn(f32) -> f32) -> f32 {
    let mut sums = Sums::default();
    sums.add(numbers, term);
    sums.total()
}

/// The largest number; minus infinity for none. NaN is passed over.
#[inline(always)]
pub(super) fn max<T: Element>(numbers: &[T]) -> f32 {
    let mut partial = [f32::NEG_INFINITY; LANES];
    let (whole, rest) = numbers.as_chunks::<LANES>();
    for chunk in whole {
        for (max, number) in partial.iter_mut().zip(chunk) {
            *max = max.max(number.to_f32());
        }
    }
    for (max, number) in partial.iter_mut().zip(rest) {
        *max = max.max(number.to_f32());
    }
    halves(partial, f32::max)
}

#[inline(always)]
fn halves(mut partial: [f32; LANES], join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        let (low, high) = partial.split_at_mut(half);
        for (one, other) in low.iter_mut().zip(high) {
            *one = join(*one, *other);
        }
        half /= 2;
    }
    partial[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_the_one_that_is_written_down() {
        let numbers: Vec<f32> = (0..77).map(|i| 1.0 / (i as f32 + 1.0)).collect();
        let mut partial = [0.0_f32; 32];
        for (i, number) in numbers.iter().enumerate() {
            partial[i % 32] += number;
        }
        for half in [16, 8, 4, 2, 1] {
            for i in 0..half {
                partial[i] += partial[i + half];
            }
        }
        assert_eq!(sum(&numbers, |number| number).to_bits(), partial[0].to_bits());
    }

    #[test]
    fn nothing_adds_up_to_zero_and_has_no_largest() {
        assert_eq!(sum::<f32>(&[], |number| number).to_bits(), 0);
        assert_eq!(max::<f32>(&[]).to_bits(), f32::NEG_INFINITY.to_bits());
        assert_eq!(max(&[f32::NAN, -2.0, 1.0]).to_bits(), 1.0_f32.to_bits());
    }
}
