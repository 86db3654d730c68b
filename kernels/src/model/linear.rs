//! Linear attention of one token (Katharopoulos et al., 2020) with a decay that the token decides (as in Yang et al.,
//! 2024).
//!
//! Written as a graph of separate operators, the way exported models have it: keys are tiled and transposed, values,
//! keys and decays expanded to the size of the memory. That is what makes moving data a good part of such a layer's
//! time.

use super::shape::Shape;
use crate::error::OpError;
use crate::ops::expand::expand;
use crate::ops::rms_norm::rms_norm;
use crate::ops::tile::tile;
use crate::ops::transpose::transpose;
use crate::tensor::Tensor;

/// Room for what is computed on the way; one for all layers.
#[derive(Debug, Clone)]
pub(super) struct Room {
    /// `[1, kv heads, head]`
    unit_keys: Tensor<f32>,
    /// `[heads / kv heads, kv heads, head]`
    tiled: Tensor<f32>,
    /// `[kv heads, heads / kv heads, head]`: each key once for every head that reads it.
    keys: Tensor<f32>,
    /// The same of values.
    values: Tensor<f32>,
    /// `[heads, 1, 1]`
    decays: Tensor<f32>,
    /// `[heads, head, head]` each: keys along the second axis, values along the third, decays.
    wide: [Tensor<f32>; 3],
    /// Weights of the norm that gives keys length one: `[head]`.
    unit: Tensor<f32>,
}

impl Room {
    pub(super) fn new(shape: &Shape) -> Self {
        let (heads, kv_heads, head) = (shape.heads, shape.kv_heads, shape.head);
        let shared = heads / kv_heads;
        let wide = || Tensor::zeros(&[heads, head, head]);
        Self {
            unit_keys: Tensor::zeros(&[1, kv_heads, head]),
            tiled: Tensor::zeros(&[shared, kv_heads, head]),
            keys: Tensor::zeros(&[kv_heads, shared, head]),
            values: Tensor::zeros(&[kv_heads, shared, head]),
            decays: Tensor::zeros(&[heads, 1, 1]),
            wide: [wide(), wide(), wide()],
            unit: Tensor::from_fn(&[head], |_| unit_weight(head)),
        }
    }
}

/// What keeps that norm from dividing by zero.
pub(super) const UNIT_EPSILON: f32 = 1e-6;

/// A row of root mean square one has length `sqrt(n)`.
#[expect(clippy::cast_precision_loss, reason = "a few hundred")]
pub(super) fn unit_weight(length: usize) -> f32 {
    1.0 / (length as f32).sqrt()
}

/// Forgets a part of the memory (`[heads, head, head]`), adds `key x value`, and writes `query . memory` of each head
/// (`[heads, head]`). `keys` and `values` are `[1, kv heads, head]`, `decay_logits` one number a head: the memory is
/// multiplied by their sigmoid.
pub(super) fn mix(
    queries: &Tensor<f32>,
    keys: &Tensor<f32>,
    values: &Tensor<f32>,
    decay_logits: &[f32],
    memory: &mut Tensor<f32>,
    room: &mut Room,
    out: &mut Tensor<f32>,
) -> Result<(), OpError> {
    let &[heads, head] = queries.shape() else {
        return Err(OpError::shape(
            "linear attention",
            "queries",
            format_args!("[heads, head]"),
            queries.shape(),
        ));
    };
    rms_norm(keys, &room.unit, UNIT_EPSILON, &mut room.unit_keys)?;
    let shared = room.tiled.shape()[0];
    tile(&room.unit_keys, &[shared, 1, 1], &mut room.tiled)?;
    transpose(&room.tiled, &[1, 0, 2], &mut room.keys)?;
    let kv_heads = room.keys.shape()[0];
    expand(&values.reshaped(&[kv_heads, 1, head])?, &mut room.values)?;
    for (decay, logit) in room.decays.data_mut().iter_mut().zip(decay_logits) {
        *decay = 1.0 / (1.0 + (-logit).exp());
    }
    let [wide_keys, wide_values, wide_decays] = &mut room.wide;
    expand(&room.keys.reshaped(&[heads, head, 1])?, wide_keys)?;
    expand(&room.values.reshaped(&[heads, 1, head])?, wide_values)?;
    expand(&room.decays, wide_decays)?;

    let products = wide_keys.data().iter().zip(wide_values.data());
    let decayed = memory.data_mut().iter_mut().zip(wide_decays.data());
    for ((memory, decay), (key, value)) in decayed.zip(products) {
        *memory = *memory * decay + key * value;
    }
    out.data_mut().fill(0.0);
    for h in 0..heads {
        let query = &queries.data()[h * head..][..head];
        let to = &mut out.data_mut()[h * head..][..head];
        for (x, row) in query
            .iter()
            .zip(memory.data()[h * head * head..].chunks_exact(head))
        {
            for (to, number) in to.iter_mut().zip(row) {
                *to += x * number;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_under_a_key_is_read_with_it_and_fades() {
        let shape = Shape {
            heads: 2,
            kv_heads: 1,
            head: 2,
            ..Shape::named("tiny").unwrap()
        };
        let mut room = Room::new(&shape);
        let mut memory = Tensor::zeros(&[2, 2, 2]);
        let mut out = Tensor::zeros(&[2, 2]);
        let tensor = |shape: &[usize], data: &[f32]| Tensor::new(shape, data.to_vec()).unwrap();
        let queries = tensor(&[2, 2], &[1.0, 0.0, 0.0, 1.0]);
        let (key, value) = (tensor(&[1, 1, 2], &[3.0, 0.0]), tensor(&[1, 1, 2], &[5.0, 7.0]));
        let mut step = |key: &Tensor<f32>, value: &Tensor<f32>, logits: &[f32]| {
            mix(&queries, key, value, logits, &mut memory, &mut room, &mut out).unwrap();
            out.data().to_vec()
        };
        let near = |found: &[f32], wanted: &[f32]| {
            let is_near = found
                .iter()
                .zip(wanted)
                .all(|(found, wanted)| (found - wanted).abs() < 1e-4);
            assert!(is_near, "{found:?} instead of {wanted:?}");
        };
        // The key has length one whatever it was; only the first head asks for it.
        near(&step(&key, &value, &[0.0, 0.0]), &[5.0, 7.0, 0.0, 0.0]);
        // Half is forgotten, nothing is added.
        let nothing = tensor(&[1, 1, 2], &[0.0, 0.0]);
        near(&step(&key, &nothing, &[0.0, 0.0]), &[2.5, 3.5, 0.0, 0.0]);
        // A large logit forgets nothing.
        near(&step(&key, &nothing, &[50.0, 0.0]), &[2.5, 3.5, 0.0, 0.0]);
    }

    #[test]
    fn heads_that_share_a_key_are_neighbours() {
        let shape = Shape {
            heads: 4,
            kv_heads: 2,
            head: 2,
            ..Shape::named("tiny").unwrap()
        };
        let mut room = Room::new(&shape);
        let (mut memory, mut out) = (Tensor::zeros(&[4, 2, 2]), Tensor::zeros(&[4, 2]));
        let queries = Tensor::from_fn(&[4, 2], |_| 1.0);
        let keys = Tensor::from_fn(&[1, 2, 2], |_| 1.0);
        let values = Tensor::new(&[1, 2, 2], vec![1.0, 1.0, 2.0, 2.0]).unwrap();
        mix(
            &queries,
            &keys,
            &values,
            &[0.0; 4],
            &mut memory,
            &mut room,
            &mut out,
        )
        .unwrap();
        let first_of_each: Vec<f32> = out.data().chunks(2).map(|head| head[0].round()).collect();
        assert_eq!(first_of_each[0].to_bits(), first_of_each[1].to_bits());
        assert!(first_of_each[2] > first_of_each[1], "{first_of_each:?}");
    }
}
