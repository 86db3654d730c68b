//! Rotary position embedding (Su et al., 2021): pairs of numbers of each head, turned by an angle that grows with the
//! position.

use crate::error::OpError;
use crate::tensor::Tensor;

/// Which numbers of a head are a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairs {
    /// Neighbours, `2 i` and `2 i + 1`: how GGUF files of the llama kind are stored.
    Neighbours,
    /// `i` and `i + length / 2`: how the files of Hugging Face are stored, and GGUF files of the qwen kind.
    Halves,
}

impl Pairs {
    const fn of(self, i: usize, length: usize) -> (usize, usize) {
        match self {
            Self::Neighbours => (2 * i, 2 * i + 1),
            Self::Halves => (i, i + length / 2),
        }
    }
}

/// Cosines and sines of all angles: they are computed once, on the CPU, so that every device turns by the same numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Angles {
    /// `[positions, head / 2]`
    pub cos: Tensor<f32>,
    /// `[positions, head / 2]`
    pub sin: Tensor<f32>,
}

impl Angles {
    /// Angle `position * base^(-2 i / head)` for pair `i`. Computed in `f64`, rounded once.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "rounded once, on purpose"
    )]
    pub fn new(positions: usize, head: usize, base: f64) -> Self {
        let pairs = head / 2;
        let angle = |i: usize| {
            let (position, pair) = (i / pairs, i % pairs);
            position as f64 * base.powf(-2.0 * pair as f64 / head as f64)
        };
        let shape = [positions, pairs];
        Self {
            cos: Tensor::from_fn(&shape, |i| angle(i).cos() as f32),
            sin: Tensor::from_fn(&shape, |i| angle(i).sin() as f32),
        }
    }
}

/// Turns each head of `heads` (`[heads, length]`) by the angles of `position`, in its place.
///
/// # Errors
/// [`OpError::Shape`] if the angles are not those of heads of this length, [`OpError::Range`] for a position they do
/// not reach.
pub fn rope(heads: &mut Tensor<f32>, angles: &Angles, pairs: Pairs, position: usize) -> Result<(), OpError> {
    let half = check(heads.shape(), angles, position)?;
    let length = 2 * half;
    if length == 0 {
        return Ok(());
    }
    let cos = &angles.cos.data()[position * half..][..half];
    let sin = &angles.sin.data()[position * half..][..half];
    for head in heads.data_mut().chunks_exact_mut(length) {
        for i in 0..half {
            let (one, other) = pairs.of(i, length);
            let (x, y) = (head[one], head[other]);
            head[one] = x * cos[i] - y * sin[i];
            head[other] = x * sin[i] + y * cos[i];
        }
    }
    Ok(())
}

fn check(heads: &[usize], angles: &Angles, position: usize) -> Result<usize, OpError> {
    let (&[positions, half], &[_, length]) = (angles.cos.shape(), heads) else {
        return Err(OpError::shape(
            "rope",
            "heads",
            format_args!("[heads, length]"),
            heads,
        ));
    };
    if length != 2 * half || angles.sin.shape() != angles.cos.shape() {
        return Err(OpError::shape(
            "rope",
            "heads",
            format_args!("[heads, {}]", 2 * half),
            heads,
        ));
    }
    if position >= positions {
        return Err(OpError::Range {
            op: "rope",
            what: "position",
            found: position,
            limit: positions,
        });
    }
    Ok(half)
}

/// Each pair as a complex number, times `cos + i sin`.
///
/// # Errors
/// As [`rope`].
pub fn oracle(
    heads: &Tensor<f32>,
    angles: &Angles,
    pairs: Pairs,
    position: usize,
) -> Result<Tensor<f32>, OpError> {
    let half = check(heads.shape(), angles, position)?;
    let length = 2 * half;
    Ok(Tensor::from_fn(heads.shape(), |at| {
        let head = &heads.data()[at / length * length..][..length];
        let (pair, is_real) = match pairs {
            Pairs::Neighbours => (at % length / 2, at % 2 == 0),
            Pairs::Halves => (at % half, at % length < half),
        };
        let (one, other) = pairs.of(pair, length);
        let (cos, sin) = (
            angles.cos.data()[position * half + pair],
            angles.sin.data()[position * half + pair],
        );
        if is_real {
            head[one] * cos - head[other] * sin
        } else {
            head[one] * sin + head[other] * cos
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{noise, same_bits};

    #[test]
    fn every_bit_is_the_oracles_for_both_kinds_of_pairs() {
        let angles = Angles::new(9, 64, 10_000.0);
        for pairs in [Pairs::Neighbours, Pairs::Halves] {
            for position in [0, 1, 8] {
                let mut heads = noise(&[3, 64], 7);
                let wanted = oracle(&heads, &angles, pairs, position).unwrap();
                rope(&mut heads, &angles, pairs, position).unwrap();
                assert!(same_bits(&heads, &wanted), "{pairs:?} {position}");
            }
        }
    }

    #[test]
    fn position_zero_turns_nothing_and_lengths_stay() {
        let angles = Angles::new(100, 8, 10_000.0);
        let mut heads = noise(&[1, 8], 8);
        let before = heads.clone();
        rope(&mut heads, &angles, Pairs::Halves, 0).unwrap();
        assert_eq!(heads, before);
        rope(&mut heads, &angles, Pairs::Halves, 99).unwrap();
        let norm = |heads: &Tensor<f32>| heads.data().iter().map(|x| x * x).sum::<f32>();
        assert!((norm(&heads) - norm(&before)).abs() < 1e-5);
    }

    #[test]
    fn the_first_pair_turns_by_one_radian_a_position() {
        let angles = Angles::new(3, 4, 10_000.0);
        assert!((angles.cos.data()[4] - 2.0_f32.cos()).abs() < 1e-6);
        assert!((angles.sin.data()[5] - 0.02_f32.sin()).abs() < 1e-6);
    }

    #[test]
    fn a_position_beyond_the_angles_is_refused() {
        let angles = Angles::new(4, 8, 10_000.0);
        let refused = rope(&mut noise(&[1, 8], 9), &angles, Pairs::Halves, 4).unwrap_err();
        assert_eq!(refused.to_string(), "rope: position is 4, and must be below 4");
        assert!(rope(&mut noise(&[1, 6], 9), &angles, Pairs::Halves, 0).is_err());
    }
}
