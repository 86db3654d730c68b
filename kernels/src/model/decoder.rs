//! A decoder on the CPU: one token in, a score for each possible next one out.

use super::linear;
use super::parameters::{Layer, Parameters};
use super::shape::{Mixing, Shape};
use crate::device::DeviceError;
use crate::error::OpError;
use crate::ops::argmax::argmax;
use crate::ops::attention::attention;
use crate::ops::rms_norm::rms_norm;
use crate::ops::rope::{Angles, rope};
use crate::tensor::{Tensor, places};

/// Why there is no next token.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DecodeError {
    /// A shape that contradicts itself.
    #[error("the model cannot be run: {0}")]
    Shape(String),
    /// A token id that is none.
    #[error("token {token} is not in the vocabulary: its {vocabulary} ids begin at 0")]
    Token {
        /// The id.
        token: u32,
        /// How many there are.
        vocabulary: usize,
    },
    /// More positions than the model was made for.
    #[error(
        "{capacity} positions were asked for, and the model was made for {context}: ask for fewer tokens"
    )]
    Context {
        /// Positions that were asked for.
        capacity: usize,
        /// Positions it was made for.
        context: usize,
    },
    /// More memory than there is.
    #[error("there is no memory for {numbers} numbers: ask for fewer tokens")]
    Memory {
        /// Numbers it was for.
        numbers: usize,
    },
    /// No position is left.
    #[error("all {capacity} positions are taken: ask for a larger capacity or for fewer tokens")]
    Full {
        /// Positions there were.
        capacity: usize,
    },
    /// No token at all to begin with.
    #[error("the prompt has no tokens; one at least is needed")]
    NoPrompt,
    /// Every score is NaN.
    #[error("no score is a number after token {position}: the weights or the arithmetic are broken")]
    NotANumber {
        /// Tokens that were fed.
        position: usize,
    },
    /// An operator that refused its input.
    #[error(transparent)]
    Op(#[from] OpError),
    /// A GPU that cannot go on.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// A model in the middle of a text.
#[derive(Debug, Clone)]
pub struct Decoder<'p> {
    parameters: &'p Parameters,
    capacity: usize,
    position: usize,
    memory: Vec<Memory>,
    angles: Angles,
    room: Room,
}

/// What a layer remembers.
#[derive(Debug, Clone)]
enum Memory {
    /// `[capacity, kv heads, head]` each.
    Cache { keys: Tensor<f32>, values: Tensor<f32> },
    /// `[heads, head, head]`
    Linear(Tensor<f32>),
}

/// Room for what is computed on the way; one for all layers.
#[derive(Debug, Clone)]
struct Room {
    token: Tensor<f32>,
    normed: Tensor<f32>,
    queries: Tensor<f32>,
    keys: Tensor<f32>,
    values: Tensor<f32>,
    mixed: Tensor<f32>,
    back: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
    decays: Vec<f32>,
    /// Absent where no layer is linear: it is large.
    linear: Option<linear::Room>,
    logits: Vec<f32>,
}

impl Room {
    fn new(shape: &Shape) -> Self {
        Self {
            token: Tensor::zeros(&[shape.hidden]),
            normed: Tensor::zeros(&[shape.hidden]),
            queries: Tensor::zeros(&[shape.heads, shape.head]),
            keys: Tensor::zeros(&[shape.kv_heads, shape.head]),
            values: Tensor::zeros(&[shape.kv_heads, shape.head]),
            mixed: Tensor::zeros(&[shape.heads, shape.head]),
            back: vec![0.0; shape.hidden],
            gate: vec![0.0; shape.feed_forward],
            up: vec![0.0; shape.feed_forward],
            decays: vec![0.0; shape.heads],
            linear: shape.has_linear().then(|| linear::Room::new(shape)),
            logits: vec![0.0; shape.vocabulary],
        }
    }
}

impl<'p> Decoder<'p> {
    /// A decoder with room for `capacity` positions, at the beginning of a text.
    ///
    /// # Errors
    /// [`DecodeError::Shape`] for a shape that contradicts itself, or that the layers are not of;
    /// [`DecodeError::Context`] for more positions than the model was made for; [`DecodeError::Memory`].
    pub fn new(parameters: &'p Parameters, capacity: usize) -> Result<Self, DecodeError> {
        let shape = &parameters.shape;
        check(parameters, capacity)?;
        let memory = (0..shape.layers).map(|layer| {
            Ok(match shape.mixing(layer) {
                Mixing::Attention => {
                    let cache = [capacity, shape.kv_heads, shape.head];
                    Memory::Cache {
                        keys: room_for(&cache)?,
                        values: room_for(&cache)?,
                    }
                }
                Mixing::Linear => Memory::Linear(room_for(&[shape.heads, shape.head, shape.head])?),
            })
        });
        Ok(Self {
            parameters,
            capacity,
            position: 0,
            memory: memory.collect::<Result<_, DecodeError>>()?,
            angles: Angles::new(capacity, shape.head, shape.rope_base),
            room: Room::new(shape),
        })
    }

    /// Tokens that were fed.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.position
    }

    /// Back to the beginning of a text: nothing is remembered.
    pub fn reset(&mut self) {
        self.position = 0;
        for memory in &mut self.memory {
            // What a cache holds beyond the position is never read.
            if let Memory::Linear(memory) = memory {
                memory.data_mut().fill(0.0);
            }
        }
    }

    /// Feeds a token; the score of each possible next one.
    ///
    /// # Errors
    /// [`DecodeError`] for a token outside of the vocabulary, and where no position is left. Nothing was fed then.
    pub fn step(&mut self, token: u32) -> Result<&[f32], DecodeError> {
        let shape = &self.parameters.shape;
        let row = row_of(token, shape.vocabulary)?;
        if self.position >= self.capacity {
            return Err(DecodeError::Full {
                capacity: self.capacity,
            });
        }
        self.parameters.embedding.row(row, self.room.token.data_mut());
        for (layer, memory) in self.parameters.layers.iter().zip(&mut self.memory) {
            self.room.mix(shape, layer, memory, &self.angles, self.position)?;
            self.room.feed_forward(shape, layer)?;
        }
        self.room.norm(&self.parameters.norm, shape.epsilon)?;
        self.parameters
            .head()
            .times(self.room.normed.data(), &mut self.room.logits);
        self.position += 1;
        Ok(&self.room.logits)
    }

    /// Feeds a prompt, then so many tokens, each the one with the highest score so far (the lowest id on ties). `each`
    /// is told every new token as it is known, and the last is not fed.
    ///
    /// # Errors
    /// [`DecodeError`] as [`Self::step`], for a prompt without tokens, and where every score is NaN.
    pub fn greedy(
        &mut self,
        prompt: &[u32],
        tokens: usize,
        mut each: impl FnMut(u32),
    ) -> Result<(), DecodeError> {
        let (last, before) = prompt.split_last().ok_or(DecodeError::NoPrompt)?;
        for token in before {
            self.step(*token)?;
        }
        let mut token = *last;
        for _ in 0..tokens {
            let best = argmax(self.step(token)?);
            let best = best.ok_or(DecodeError::NotANumber {
                position: self.position,
            })?;
            token = u32::try_from(best).unwrap_or(u32::MAX);
            each(token);
        }
        Ok(())
    }
}

impl Room {
    /// Attention of either kind, added to the token's vector.
    fn mix(
        &mut self,
        shape: &Shape,
        layer: &Layer,
        memory: &mut Memory,
        angles: &Angles,
        position: usize,
    ) -> Result<(), OpError> {
        self.norm(&layer.mixing_norm, shape.epsilon)?;
        let normed = self.normed.data();
        layer.query.times(normed, self.queries.data_mut());
        layer.key.times(normed, self.keys.data_mut());
        layer.value.times(normed, self.values.data_mut());
        if let Some([queries, keys]) = &layer.head_norms {
            norm_heads(&mut self.queries, queries, shape.epsilon)?;
            norm_heads(&mut self.keys, keys, shape.epsilon)?;
        }
        match memory {
            Memory::Cache { keys, values } => {
                rope(&mut self.queries, angles, shape.pairs, position)?;
                rope(&mut self.keys, angles, shape.pairs, position)?;
                let length = shape.cached();
                keys.data_mut()[position * length..][..length].copy_from_slice(self.keys.data());
                values.data_mut()[position * length..][..length].copy_from_slice(self.values.data());
                attention(&self.queries, keys, values, position + 1, &mut self.mixed)?;
            }
            Memory::Linear(memory) => {
                if let Some(decay) = &layer.decay {
                    decay.times(self.normed.data(), &mut self.decays);
                }
                let one = [1, shape.kv_heads, shape.head];
                let (keys, values) = (self.keys.reshaped(&one)?, self.values.reshaped(&one)?);
                if let Some(room) = &mut self.linear {
                    let (queries, decays) = (&self.queries, &self.decays);
                    linear::mix(queries, &keys, &values, decays, memory, room, &mut self.mixed)?;
                }
            }
        }
        layer.output.times(self.mixed.data(), &mut self.back);
        add(self.token.data_mut(), &self.back);
        Ok(())
    }

    /// SwiGLU (Shazeer, 2020), added to the token's vector.
    fn feed_forward(&mut self, shape: &Shape, layer: &Layer) -> Result<(), OpError> {
        self.norm(&layer.feed_forward_norm, shape.epsilon)?;
        layer.gate.times(self.normed.data(), &mut self.gate);
        layer.up.times(self.normed.data(), &mut self.up);
        for (gate, up) in self.gate.iter_mut().zip(&self.up) {
            *gate = *gate / (1.0 + (-*gate).exp()) * up;
        }
        layer.down.times(&self.gate, &mut self.back);
        add(self.token.data_mut(), &self.back);
        Ok(())
    }

    fn norm(&mut self, weight: &Tensor<f32>, epsilon: f32) -> Result<(), OpError> {
        rms_norm(&self.token, weight, epsilon, &mut self.normed)
    }
}

/// Whether there can be a decoder with so many positions.
pub(super) fn check(parameters: &Parameters, capacity: usize) -> Result<(), DecodeError> {
    let shape = &parameters.shape;
    let contradiction = shape.contradiction().or_else(|| parameters.contradiction());
    if let Some(contradiction) = contradiction {
        return Err(DecodeError::Shape(contradiction));
    }
    let context = shape.context;
    if capacity > context {
        return Err(DecodeError::Context { capacity, context });
    }
    Ok(())
}

/// Which row of the embedding a token is.
pub(super) fn row_of(token: u32, vocabulary: usize) -> Result<usize, DecodeError> {
    usize::try_from(token)
        .ok()
        .filter(|row| *row < vocabulary)
        .ok_or(DecodeError::Token { token, vocabulary })
}

/// Zeros, or the news that there is no memory for them.
fn room_for(shape: &[usize]) -> Result<Tensor<f32>, DecodeError> {
    let numbers = places(shape).unwrap_or(usize::MAX);
    let mut data = Vec::new();
    data.try_reserve_exact(numbers)
        .map_err(|_| DecodeError::Memory { numbers })?;
    data.resize(numbers, 0.0);
    Ok(Tensor::new(shape, data)?)
}

fn norm_heads(heads: &mut Tensor<f32>, weight: &Tensor<f32>, epsilon: f32) -> Result<(), OpError> {
    let before = heads.clone();
    rms_norm(&before, weight, epsilon, heads)
}

fn add(to: &mut [f32], other: &[f32]) {
    for (to, other) in to.iter_mut().zip(other) {
        *to += other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;

    fn ids(parameters: &Parameters, prompt: &[u32], tokens: usize) -> Vec<u32> {
        let mut decoder = Decoder::new(parameters, prompt.len() + tokens).unwrap();
        let mut ids = Vec::new();
        decoder.greedy(prompt, tokens, |id| ids.push(id)).unwrap();
        ids
    }

    #[test]
    fn the_same_prompt_gives_the_same_ids_again_after_a_reset() {
        for name in ["tiny", "tiny-hybrid"] {
            let parameters = Parameters::seeded(&Shape::named(name).unwrap(), DType::F32);
            let mut decoder = Decoder::new(&parameters, 40).unwrap();
            let mut run = || {
                let mut ids = Vec::new();
                decoder.reset();
                decoder.greedy(&[1, 2, 3], 32, |id| ids.push(id)).unwrap();
                ids
            };
            let first = run();
            assert_eq!(first.len(), 32);
            assert_eq!(run(), first, "{name}");
        }
    }

    #[test]
    fn what_came_before_matters() {
        for name in ["tiny", "tiny-hybrid"] {
            let parameters = Parameters::seeded(&Shape::named(name).unwrap(), DType::F32);
            let scores = |prompt: &[u32]| {
                let mut decoder = Decoder::new(&parameters, 8).unwrap();
                let (last, before) = prompt.split_last().unwrap();
                for id in before {
                    decoder.step(*id).unwrap();
                }
                decoder.step(*last).unwrap().to_vec()
            };
            assert_ne!(scores(&[1, 2, 9]), scores(&[2, 1, 9]), "{name}");
        }
    }

    #[test]
    fn threads_change_no_id() {
        let parameters = Parameters::seeded(&Shape::named("tiny").unwrap(), DType::Bf16);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| ids(&parameters, &[7], 16))
        };
        assert_eq!(run(1), run(4));
    }

    #[test]
    fn what_cannot_go_on_says_why() {
        let parameters = Parameters::seeded(&Shape::named("tiny").unwrap(), DType::F32);
        let mut decoder = Decoder::new(&parameters, 1).unwrap();
        let text = decoder.step(256).unwrap_err().to_string();
        assert_eq!(text, "token 256 is not in the vocabulary: its 256 ids begin at 0");
        assert_eq!(decoder.greedy(&[], 1, |_| {}), Err(DecodeError::NoPrompt));
        decoder.step(0).unwrap();
        assert_eq!(decoder.step(0), Err(DecodeError::Full { capacity: 1 }));
        let mut broken = parameters.clone();
        broken.norm.data_mut().fill(f32::NAN);
        let mut decoder = Decoder::new(&broken, 4).unwrap();
        assert_eq!(
            decoder.greedy(&[1], 1, |_| {}),
            Err(DecodeError::NotANumber { position: 1 })
        );
    }

    #[test]
    fn a_shape_that_contradicts_itself_is_refused() {
        let mut parameters = Parameters::seeded(&Shape::named("tiny").unwrap(), DType::F32);
        parameters.shape.head = 15;
        let refused = Decoder::new(&parameters, 4).unwrap_err();
        assert!(refused.to_string().contains("has no pairs"), "{refused}");
        let whole = Parameters::seeded(&Shape::named("tiny-hybrid").unwrap(), DType::F32);
        let mut parameters = whole.clone();
        parameters.layers.pop();
        let refused = Decoder::new(&parameters, 4).unwrap_err();
        assert!(refused.to_string().contains("3 layers instead of 4"), "{refused}");
        let mut parameters = whole;
        parameters.layers[0].decay = None;
        let refused = Decoder::new(&parameters, 4).unwrap_err();
        assert!(
            refused.to_string().contains("layer 0 is linear and has no decay"),
            "{refused}"
        );
    }

    #[test]
    fn more_than_the_model_was_made_for_or_memory_can_hold_is_refused() {
        let mut parameters = Parameters::seeded(&Shape::named("tiny").unwrap(), DType::F32);
        let refused = Decoder::new(&parameters, 513).unwrap_err();
        let wanted = DecodeError::Context {
            capacity: 513,
            context: 512,
        };
        assert_eq!(refused, wanted);
        parameters.shape.context = usize::MAX;
        let refused = Decoder::new(&parameters, usize::MAX / 64).unwrap_err();
        assert!(matches!(refused, DecodeError::Memory { .. }), "{refused}");
    }
}
