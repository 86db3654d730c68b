//! The numbers of a model.

use super::matrix::Matrix;
use super::shape::{Mixing, Shape};
use crate::dtype::DType;
use crate::tensor::Tensor;

/// All of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// Whose they are.
    pub shape: Shape,
    /// A vector for each token: `[vocabulary, hidden]`.
    pub embedding: Matrix,
    /// The layers, first to last.
    pub layers: Vec<Layer>,
    /// Weights of the last norm: `[hidden]`.
    pub norm: Tensor<f32>,
    /// What reads a token out: `[vocabulary, hidden]`; absent where it is the embedding.
    pub head: Option<Matrix>,
}

/// One layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Weights of the norm before the mixing: `[hidden]`.
    pub mixing_norm: Tensor<f32>,
    /// `[queries, hidden]`
    pub query: Matrix,
    /// `[cached, hidden]`
    pub key: Matrix,
    /// `[cached, hidden]`
    pub value: Matrix,
    /// What tells linear attention how much to forget: `[heads, hidden]`; absent in other layers.
    pub decay: Option<Matrix>,
    /// Weights of the norms of each head of queries and of keys: `[head]` each; absent in shapes without them.
    pub head_norms: Option<[Tensor<f32>; 2]>,
    /// `[hidden, queries]`
    pub output: Matrix,
    /// Weights of the norm before the feed-forward part: `[hidden]`.
    pub feed_forward_norm: Tensor<f32>,
    /// `[feed_forward, hidden]`
    pub gate: Matrix,
    /// `[feed_forward, hidden]`
    pub up: Matrix,
    /// `[hidden, feed_forward]`
    pub down: Matrix,
}

impl Parameters {
    /// Numbers that depend on nothing but the shape's name and a place in it: good for measuring and for comparing
    /// devices, not for talking. Uniform, of a size at which a vector keeps its length through a matrix.
    #[must_use]
    pub fn seeded(shape: &Shape, dtype: DType) -> Self {
        let name = hash(&shape.name);
        let mut tensors = 0;
        let mut matrix = |rows: usize, columns: usize| {
            tensors += 1;
            seeded_matrix(rows, columns, dtype, mix(name ^ mix(tensors)))
        };
        let ones = |length| Tensor::from_fn(&[length], |_| 1.0);
        let embedding = matrix(shape.vocabulary, shape.hidden);
        let layers = (0..shape.layers)
            .map(|index| Layer {
                mixing_norm: ones(shape.hidden),
                query: matrix(shape.queries(), shape.hidden),
                key: matrix(shape.cached(), shape.hidden),
                value: matrix(shape.cached(), shape.hidden),
                decay: (shape.mixing(index) == Mixing::Linear).then(|| matrix(shape.heads, shape.hidden)),
                head_norms: shape.head_norms.then(|| [ones(shape.head), ones(shape.head)]),
                output: matrix(shape.hidden, shape.queries()),
                feed_forward_norm: ones(shape.hidden),
                gate: matrix(shape.feed_forward, shape.hidden),
                up: matrix(shape.feed_forward, shape.hidden),
                down: matrix(shape.hidden, shape.feed_forward),
            })
            .collect();
        let head = (!shape.tied).then(|| matrix(shape.vocabulary, shape.hidden));
        Self {
            shape: shape.clone(),
            embedding,
            layers,
            norm: ones(shape.hidden),
            head,
        }
    }

    /// What reads a token out.
    #[must_use]
    pub fn head(&self) -> &Matrix {
        self.head.as_ref().unwrap_or(&self.embedding)
    }

    /// Bytes of weights that one step reads: all matrices, and of an embedding that is not read out with one row.
    #[must_use]
    pub fn bytes_per_step(&self) -> usize {
        let layers: usize = self.layers.iter().map(Layer::bytes).sum();
        let row = self
            .embedding
            .bytes()
            .checked_div(self.embedding.rows())
            .unwrap_or(0);
        layers + self.head().bytes() + if self.head.is_some() { row } else { 0 }
    }

    /// Where the numbers are not those of the shape; absent for a model that can be run.
    pub(super) fn contradiction(&self) -> Option<String> {
        let shape = &self.shape;
        if self.layers.len() != shape.layers {
            return Some(format!(
                "it has {} layers instead of {}",
                self.layers.len(),
                shape.layers
            ));
        }
        let lacks_decay = |(index, layer): (usize, &Layer)| {
            (shape.mixing(index) == Mixing::Linear && layer.decay.is_none()).then_some(index)
        };
        if let Some(index) = self.layers.iter().enumerate().find_map(lacks_decay) {
            return Some(format!("layer {index} is linear and has no decay"));
        }
        let tokens = [shape.vocabulary, shape.hidden];
        let embedding = other_shape("the embedding", &self.embedding, tokens);
        embedding
            .or_else(|| other_shape("the head", self.head(), tokens))
            .or_else(|| {
                let layers = self.layers.iter().enumerate();
                layers
                    .filter_map(|(index, layer)| {
                        Some(format!("layer {index}: {}", layer.contradiction(shape)?))
                    })
                    .next()
            })
    }
}

/// That a matrix has other lengths.
fn other_shape(name: &str, matrix: &Matrix, wanted: [usize; 2]) -> Option<String> {
    let found = [matrix.rows(), matrix.columns()];
    (found != wanted).then(|| format!("{name} has shape {found:?} instead of {wanted:?}"))
}

impl Layer {
    /// The first matrix that has other lengths.
    fn contradiction(&self, shape: &Shape) -> Option<String> {
        let matrices = [
            ("queries", &self.query, [shape.queries(), shape.hidden]),
            ("keys", &self.key, [shape.cached(), shape.hidden]),
            ("values", &self.value, [shape.cached(), shape.hidden]),
            ("output", &self.output, [shape.hidden, shape.queries()]),
            ("gate", &self.gate, [shape.feed_forward, shape.hidden]),
            ("up", &self.up, [shape.feed_forward, shape.hidden]),
            ("down", &self.down, [shape.hidden, shape.feed_forward]),
        ];
        let decay = self
            .decay
            .iter()
            .map(|decay| ("decay", decay, [shape.heads, shape.hidden]));
        matrices
            .into_iter()
            .chain(decay)
            .find_map(|(name, matrix, wanted)| other_shape(name, matrix, wanted))
    }

    fn bytes(&self) -> usize {
        let Self {
            query,
            key,
            value,
            decay,
            output,
            gate,
            up,
            down,
            mixing_norm: _,
            head_norms: _,
            feed_forward_norm: _,
        } = self;
        let matrices = [query, key, value, output, gate, up, down];
        matrices.into_iter().chain(decay).map(Matrix::bytes).sum()
    }
}

#[expect(clippy::cast_precision_loss, reason = "24 bits, and lengths far below that")]
fn seeded_matrix(rows: usize, columns: usize, dtype: DType, seed: u64) -> Matrix {
    let size = (3.0 / columns as f32).sqrt();
    Matrix::from_fn(rows, columns, dtype, |place| {
        let unit = (mix(seed.wrapping_add(place as u64)) >> 40) as f32 / 8_388_608.0 - 1.0;
        unit * size
    })
}

/// The finaliser of `SplitMix64` (Steele, Lea and Flood, 2014): any place's number at once, in any order.
const fn mix(mut state: u64) -> u64 {
    state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// FNV-1a.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeded_numbers_depend_on_the_name_alone_and_differ_between_matrices() {
        let shape = Shape::named("tiny-hybrid").unwrap();
        let one = Parameters::seeded(&shape, DType::F32);
        assert_eq!(one, Parameters::seeded(&shape, DType::F32));
        assert_ne!(one.layers[0].key, one.layers[0].value);
        assert_ne!(one.layers[0].query, one.layers[1].query);
        assert!(one.layers[0].decay.is_some() && one.layers[3].decay.is_none());
    }

    #[test]
    fn a_step_reads_all_matrices_and_one_row_of_an_embedding_that_is_not_the_head() {
        // tiny: 2 x (queries and output 64 x 64, keys and values 32 x 64, three of 128 x 64), 256 tokens of 64.
        let layers = 2 * (2 * 64 * 64 + 2 * 32 * 64 + 3 * 128 * 64);
        let shape = Shape::named("tiny").unwrap();
        let tied = Parameters::seeded(&shape, DType::Bf16);
        assert_eq!(tied.bytes_per_step(), 2 * (layers + 256 * 64));
        let untied = Parameters::seeded(&Shape { tied: false, ..shape }, DType::Bf16);
        assert_eq!(untied.bytes_per_step(), 2 * (layers + 256 * 64 + 64));
    }

    #[test]
    fn a_matrix_of_other_lengths_is_named() {
        let shape = Shape::named("tiny-hybrid").unwrap();
        let whole = Parameters::seeded(&shape, DType::F32);
        assert_eq!(whole.contradiction(), None);
        let mut broken = whole.clone();
        broken.layers[2].down = broken.layers[2].up.clone();
        assert_eq!(
            broken.contradiction().unwrap(),
            "layer 2: down has shape [128, 64] instead of [64, 128]"
        );
        let mut broken = whole;
        broken.embedding = broken.layers[0].up.clone();
        assert!(
            broken
                .contradiction()
                .unwrap()
                .starts_with("the embedding has shape")
        );
    }

    #[test]
    fn the_named_shapes_have_as_many_parameters_as_their_names_say() {
        let millions = |name: &str| {
            let shape = Shape::named(name).unwrap();
            let layer = 2 * shape.queries() * shape.hidden
                + 2 * shape.cached() * shape.hidden
                + 3 * shape.feed_forward * shape.hidden;
            let heads = if shape.tied { 1 } else { 2 };
            (shape.layers * layer + heads * shape.vocabulary * shape.hidden) / 1_000_000
        };
        assert_eq!(millions("smollm2-135m"), 134);
        assert_eq!(millions("qwen3-0.6b"), 595);
        assert_eq!(millions("llama3-8b"), 8029);
        assert!(
            (1_000..1_200).contains(&millions("hybrid-1b")),
            "{}",
            millions("hybrid-1b")
        );
    }
}
