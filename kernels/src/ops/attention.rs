//! Attention of one new token over all positions so far (Vaswani et al., 2017), with fewer heads of keys and values
//! than of queries (Ainslie et al., 2023).

use super::softmax;
use crate::error::OpError;
use crate::tensor::Tensor;

/// Writes, for each head of `queries` (`[heads, length]`), the values weighted by `softmax(query . key / sqrt(length))`
/// over the first `positions` of `keys` and `values` (`[capacity, kv heads, length]`). Head `h` reads the head `h * kv
/// / heads` of keys and values. No positions give zeros.
///
/// # Errors
/// [`OpError::Shape`] if shapes do not fit, or the heads are no multiple of the heads of keys; [`OpError::Range`] if
/// `positions` is beyond the capacity.
pub fn attention(
    queries: &Tensor<f32>,
    keys: &Tensor<f32>,
    values: &Tensor<f32>,
    positions: usize,
    out: &mut Tensor<f32>,
) -> Result<(), OpError> {
    let sizes = Sizes::check(queries, keys, values, positions)?;
    OpError::unless_shape("attention", "output", queries.shape(), out.shape())?;
    let mut weights = vec![0.0; positions];
    for (head, to) in out.data_mut().chunks_exact_mut(sizes.length.max(1)).enumerate() {
        let query = sizes.query(queries, head);
        for (position, weight) in weights.iter_mut().enumerate() {
            let key = sizes.cached(keys, position, head);
            *weight = dot(query, key) * sizes.scale();
        }
        softmax::in_place(&mut weights);
        to.fill(0.0);
        for (position, weight) in weights.iter().enumerate() {
            for (to, value) in to.iter_mut().zip(sizes.cached(values, position, head)) {
                *to += weight * value;
            }
        }
    }
    Ok(())
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

struct Sizes {
    heads: usize,
    kv_heads: usize,
    length: usize,
}

impl Sizes {
    fn check(
        queries: &Tensor<f32>,
        keys: &Tensor<f32>,
        values: &Tensor<f32>,
        positions: usize,
    ) -> Result<Self, OpError> {
        let &[heads, length] = queries.shape() else {
            let wanted = format_args!("[heads, length]");
            return Err(OpError::shape("attention", "queries", wanted, queries.shape()));
        };
        let keys_refused = || {
            let wanted = format!("[capacity, a divisor of {heads}, {length}]");
            OpError::shape("attention", "keys", format_args!("{wanted}"), keys.shape())
        };
        let &[capacity, kv_heads, key_length] = keys.shape() else {
            return Err(keys_refused());
        };
        if key_length != length || kv_heads == 0 || heads % kv_heads != 0 {
            return Err(keys_refused());
        }
        OpError::unless_shape("attention", "values", keys.shape(), values.shape())?;
        if positions > capacity {
            return Err(OpError::Range {
                op: "attention",
                what: "the number of positions",
                found: positions,
                limit: capacity + 1,
            });
        }
        Ok(Self {
            heads,
            kv_heads,
            length,
        })
    }

    fn query<'a>(&self, queries: &'a Tensor<f32>, head: usize) -> &'a [f32] {
        &queries.data()[head * self.length..][..self.length]
    }

    fn cached<'a>(&self, cache: &'a Tensor<f32>, position: usize, head: usize) -> &'a [f32] {
        let kv_head = head * self.kv_heads / self.heads;
        &cache.data()[(position * self.kv_heads + kv_head) * self.length..][..self.length]
    }

    #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
    fn scale(&self) -> f32 {
        1.0 / (self.length as f32).sqrt()
    }
}

/// The definition, one number at a time.
///
/// # Errors
/// As [`attention`].
pub fn oracle(
    queries: &Tensor<f32>,
    keys: &Tensor<f32>,
    values: &Tensor<f32>,
    positions: usize,
) -> Result<Tensor<f32>, OpError> {
    let sizes = Sizes::check(queries, keys, values, positions)?;
    Ok(Tensor::from_fn(queries.shape(), |at| {
        let (head, j) = (at / sizes.length, at % sizes.length);
        let score = |position: usize| {
            let key = sizes.cached(keys, position, head);
            let query = sizes.query(queries, head);
            (0..sizes.length).map(|i| query[i] * key[i]).sum::<f32>() * sizes.scale()
        };
        let max = (0..positions).map(score).fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = (0..positions).map(|position| (score(position) - max).exp()).sum();
        (0..positions)
            .map(|position| (score(position) - max).exp() / sum * sizes.cached(values, position, head)[j])
            .sum()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{assert_near, noise};

    #[test]
    fn it_is_near_the_oracle_with_heads_that_share_keys() {
        let (queries, keys, values) = (noise(&[6, 16], 1), noise(&[20, 2, 16], 2), noise(&[20, 2, 16], 3));
        for positions in [1, 7, 20] {
            let mut out = Tensor::zeros(&[6, 16]);
            attention(&queries, &keys, &values, positions, &mut out).unwrap();
            let wanted = oracle(&queries, &keys, &values, positions).unwrap();
            assert_near(&out, &wanted, 1.0, 1e-5);
        }
    }

    #[test]
    fn one_position_gives_its_value_and_later_ones_are_not_read() {
        let (queries, keys) = (noise(&[2, 4], 1), noise(&[3, 1, 4], 2));
        let mut values = noise(&[3, 1, 4], 3);
        values.data_mut()[4..].fill(f32::NAN);
        let mut out = Tensor::zeros(&[2, 4]);
        attention(&queries, &keys, &values, 1, &mut out).unwrap();
        assert_eq!(out.data(), [&values.data()[..4], &values.data()[..4]].concat());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let cache = || noise(&[3, 2, 4], 2);
        let run = |queries: &[usize], positions| {
            attention(
                &noise(queries, 1),
                &cache(),
                &cache(),
                positions,
                &mut Tensor::zeros(queries),
            )
        };
        assert!(run(&[4, 4], 3).is_ok());
        assert!(
            run(&[3, 4], 3)
                .unwrap_err()
                .to_string()
                .contains("a divisor of 3")
        );
        assert!(run(&[4, 5], 3).is_err());
        assert!(run(&[4, 4], 0).is_ok());
        let beyond = run(&[4, 4], 4).unwrap_err().to_string();
        assert_eq!(
            beyond,
            "attention: the number of positions is 4, and must be below 4"
        );
    }
}
