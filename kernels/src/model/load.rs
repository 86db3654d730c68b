//! From the weights of a file to the parameters of a model: what the tensors are called, and where the lengths are
//! said.

use super::matrix::Matrix;
use super::parameters::{Layer, Parameters};
use super::shape::Shape;
use crate::ops::rope::Pairs;
use crate::tensor::Tensor;
use crate::weights::{Format, KindError, Metadata, View, Weights};
use serde::Deserialize;

/// Why weights are no model that can be run here.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A kind of model that is not known here.
    #[error("the model is of the kind {found:?}, and only llama and qwen3 are known here")]
    Kind {
        /// What it says it is.
        found: String,
    },
    /// Something that the file does not say.
    #[error("the file does not say {key:?}, without which the model cannot be run")]
    Unsaid {
        /// The key.
        key: String,
    },
    /// A value of another kind.
    #[error(transparent)]
    Value(#[from] KindError),
    /// A length that no memory has.
    #[error("{key:?} is {found}, more than can be")]
    Length {
        /// The key.
        key: String,
        /// What is said.
        found: u64,
    },
    /// A shape that contradicts itself.
    #[error("the model cannot be run: {0}")]
    Shape(String),
    /// Something that would change what the model says and that is not known here.
    #[error("the model has {what}, which is not known here: it would say something else without it")]
    Unknown {
        /// What.
        what: String,
    },
    /// A tensor that is not there.
    #[error("the file has no tensor {name:?}")]
    Missing {
        /// The tensor.
        name: String,
    },
    /// A tensor of other lengths than the model says.
    #[error("tensor {name:?} must have shape {wanted:?}, and has {found:?}")]
    TensorShape {
        /// The tensor.
        name: String,
        /// What the model says.
        wanted: Vec<usize>,
        /// What it has.
        found: Vec<usize>,
    },
    /// A safetensors file, whose lengths are said elsewhere, without that.
    #[error("safetensors do not say what model they are: the config.json of the model must be beside them")]
    NoConfig,
    /// A config that cannot be read.
    #[error("config.json: {0}")]
    Config(#[from] serde_json::Error),
}

/// Reads a model. `config` is the text of the `config.json` that comes with safetensors; GGUF needs none.
///
/// # Errors
/// [`LoadError`] for a kind of model that is not known here, and for one that contradicts itself.
pub fn load(weights: &Weights, config: Option<&str>) -> Result<Parameters, LoadError> {
    let (shape, names) = match weights.format() {
        Format::Gguf => (of_gguf(weights)?, GGUF),
        Format::Safetensors => (of_config(config.ok_or(LoadError::NoConfig)?)?, HUGGING_FACE),
    };
    if let Some(contradiction) = shape.contradiction() {
        return Err(LoadError::Shape(contradiction));
    }
    let reader = Reader { weights, names };
    let layers = (0..shape.layers)
        .map(|index| reader.layer(&shape, index))
        .collect::<Result<Vec<Layer>, LoadError>>()?;
    let vocabulary = [shape.vocabulary, shape.hidden];
    Ok(Parameters {
        embedding: reader.matrix(names.embedding, vocabulary)?,
        layers,
        norm: reader.vector(names.norm, shape.hidden)?,
        head: match shape.tied {
            true => None,
            false => Some(reader.matrix(names.head, vocabulary)?),
        },
        shape,
    })
}

/// What the tensors of a format are called. `{}` is the number of the layer.
#[derive(Clone, Copy)]
struct Names {
    embedding: &'static str,
    norm: &'static str,
    head: &'static str,
    mixing_norm: &'static str,
    query: &'static str,
    key: &'static str,
    value: &'static str,
    query_norm: &'static str,
    key_norm: &'static str,
    output: &'static str,
    feed_forward_norm: &'static str,
    gate: &'static str,
    up: &'static str,
    down: &'static str,
}

const GGUF: Names = Names {
    embedding: "token_embd.weight",
    norm: "output_norm.weight",
    head: "output.weight",
    mixing_norm: "blk.{}.attn_norm.weight",
    query: "blk.{}.attn_q.weight",
    key: "blk.{}.attn_k.weight",
    value: "blk.{}.attn_v.weight",
    query_norm: "blk.{}.attn_q_norm.weight",
    key_norm: "blk.{}.attn_k_norm.weight",
    output: "blk.{}.attn_output.weight",
    feed_forward_norm: "blk.{}.ffn_norm.weight",
    gate: "blk.{}.ffn_gate.weight",
    up: "blk.{}.ffn_up.weight",
    down: "blk.{}.ffn_down.weight",
};

const HUGGING_FACE: Names = Names {
    embedding: "model.embed_tokens.weight",
    norm: "model.norm.weight",
    head: "lm_head.weight",
    mixing_norm: "model.layers.{}.input_layernorm.weight",
    query: "model.layers.{}.self_attn.q_proj.weight",
    key: "model.layers.{}.self_attn.k_proj.weight",
    value: "model.layers.{}.self_attn.v_proj.weight",
    query_norm: "model.layers.{}.self_attn.q_norm.weight",
    key_norm: "model.layers.{}.self_attn.k_norm.weight",
    output: "model.layers.{}.self_attn.o_proj.weight",
    feed_forward_norm: "model.layers.{}.post_attention_layernorm.weight",
    gate: "model.layers.{}.mlp.gate_proj.weight",
    up: "model.layers.{}.mlp.up_proj.weight",
    down: "model.layers.{}.mlp.down_proj.weight",
};

struct Reader<'a> {
    weights: &'a Weights,
    names: Names,
}

impl Reader<'_> {
    fn layer(&self, shape: &Shape, index: usize) -> Result<Layer, LoadError> {
        let names = self.names;
        let name = |pattern: &str| pattern.replace("{}", &index.to_string());
        let matrix = |pattern, rows, columns| self.matrix(&name(pattern), [rows, columns]);
        let vector = |pattern, length| self.vector(&name(pattern), length);
        let (hidden, queries, cached) = (shape.hidden, shape.queries(), shape.cached());
        Ok(Layer {
            mixing_norm: vector(names.mixing_norm, hidden)?,
            query: matrix(names.query, queries, hidden)?,
            key: matrix(names.key, cached, hidden)?,
            value: matrix(names.value, cached, hidden)?,
            decay: None,
            head_norms: match shape.head_norms {
                true => Some([
                    vector(names.query_norm, shape.head)?,
                    vector(names.key_norm, shape.head)?,
                ]),
                false => None,
            },
            output: matrix(names.output, hidden, queries)?,
            feed_forward_norm: vector(names.feed_forward_norm, hidden)?,
            gate: matrix(names.gate, shape.feed_forward, hidden)?,
            up: matrix(names.up, shape.feed_forward, hidden)?,
            down: matrix(names.down, hidden, shape.feed_forward)?,
        })
    }

    fn matrix(&self, name: &str, wanted: [usize; 2]) -> Result<Matrix, LoadError> {
        let view = self.tensor(name, &wanted)?;
        Matrix::of(&view).ok_or_else(|| wrong_shape(name, &wanted, &view))
    }

    fn vector(&self, name: &str, length: usize) -> Result<Tensor<f32>, LoadError> {
        Ok(self.tensor(name, &[length])?.tensor())
    }

    fn tensor(&self, name: &str, wanted: &[usize]) -> Result<View<'_>, LoadError> {
        let view = self.weights.get(name).ok_or_else(|| LoadError::Missing {
            name: name.to_owned(),
        })?;
        if view.shape() == wanted {
            Ok(view)
        } else {
            Err(wrong_shape(name, wanted, &view))
        }
    }
}

fn wrong_shape(name: &str, wanted: &[usize], found: &View<'_>) -> LoadError {
    LoadError::TensorShape {
        name: name.to_owned(),
        wanted: wanted.to_vec(),
        found: found.shape().to_vec(),
    }
}

/// What a GGUF file says of its model. The vocabulary is as long as its embedding.
fn of_gguf(weights: &Weights) -> Result<Shape, LoadError> {
    let metadata = weights.metadata();
    let kind = metadata
        .text("general.architecture")?
        .ok_or_else(|| unsaid("general.architecture"))?;
    let family = Family::of(kind)?;
    let number = |key: &str| length(metadata, &format!("{kind}.{key}"));
    let needed = |key: &str| number(key)?.ok_or_else(|| unsaid(&format!("{kind}.{key}")));
    let float = |key: &str| metadata.float(&format!("{kind}.{key}"));
    refuse_unknown(weights, kind)?;
    let (hidden, heads) = (needed("embedding_length")?, needed("attention.head_count")?);
    let embedding = weights.get(GGUF.embedding);
    Ok(Shape {
        name: metadata.text("general.name")?.unwrap_or(kind).to_owned(),
        hidden,
        layers: needed("block_count")?,
        heads,
        kv_heads: number("attention.head_count_kv")?.unwrap_or(heads),
        head: number("attention.key_length")?.unwrap_or_else(|| hidden.checked_div(heads).unwrap_or(0)),
        feed_forward: needed("feed_forward_length")?,
        vocabulary: embedding
            .and_then(|view| view.shape().first().copied())
            .unwrap_or(0),
        context: needed("context_length")?,
        rope_base: float("rope.freq_base")?.unwrap_or(ROPE_BASE),
        pairs: family.pairs_in_gguf(),
        epsilon: narrow(float("attention.layer_norm_rms_epsilon")?.ok_or_else(|| unsaid("an epsilon"))?),
        head_norms: family == Family::Qwen3,
        tied: weights.get(GGUF.head).is_none(),
        attention_every: 1,
    })
}

/// Angles that are scaled, and numbers that are added, are not known here.
fn refuse_unknown(weights: &Weights, kind: &str) -> Result<(), LoadError> {
    let scaling = format!("{kind}.rope.scaling.type");
    let is_scaled = weights
        .metadata()
        .text(&scaling)?
        .is_some_and(|kind| kind != "none");
    let is_unknown = |name: &&str| *name == "rope_freqs.weight" || name.ends_with(".bias");
    let unknown = match weights.names().find(is_unknown) {
        Some(name) => Some(format!("a tensor {name:?}")),
        None => is_scaled.then(|| format!("{scaling:?}")),
    };
    unknown.map_or(Ok(()), |what| Err(LoadError::Unknown { what }))
}

/// Where nothing else is said.
const ROPE_BASE: f64 = 10_000.0;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Llama,
    Qwen3,
}

impl Family {
    fn of(kind: &str) -> Result<Self, LoadError> {
        match kind {
            "llama" => Ok(Self::Llama),
            "qwen3" => Ok(Self::Qwen3),
            _ => Err(LoadError::Kind {
                found: kind.chars().take(64).collect(),
            }),
        }
    }

    /// Whoever writes GGUF files of the llama kind interleaves the rows of queries and keys.
    const fn pairs_in_gguf(self) -> Pairs {
        match self {
            Self::Llama => Pairs::Neighbours,
            Self::Qwen3 => Pairs::Halves,
        }
    }
}

fn unsaid(key: &str) -> LoadError {
    LoadError::Unsaid { key: key.to_owned() }
}

fn length(metadata: &Metadata, key: &str) -> Result<Option<usize>, LoadError> {
    let Some(found) = metadata.unsigned(key)? else {
        return Ok(None);
    };
    // Products of two lengths are computed before any tensor is compared with them.
    match u32::try_from(found)
        .ok()
        .and_then(|found| usize::try_from(found).ok())
    {
        Some(length) => Ok(Some(length)),
        None => Err(LoadError::Length {
            key: key.to_owned(),
            found,
        }),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "it was a single in the first place"
)]
fn narrow(number: f64) -> f32 {
    number as f32
}

/// The `config.json` of a model of Hugging Face, as far as it matters here.
#[derive(Deserialize)]
struct Config {
    model_type: String,
    hidden_size: u32,
    num_hidden_layers: u32,
    num_attention_heads: u32,
    num_key_value_heads: Option<u32>,
    head_dim: Option<u32>,
    intermediate_size: u32,
    vocab_size: u32,
    max_position_embeddings: u32,
    rope_theta: Option<f64>,
    rms_norm_eps: f64,
    #[serde(default)]
    tie_word_embeddings: bool,
    // What is not known here must not be there.
    rope_scaling: Option<serde_json::Value>,
    rope_parameters: Option<serde_json::Value>,
    #[serde(default)]
    attention_bias: bool,
    hidden_act: Option<String>,
}

fn of_config(text: &str) -> Result<Shape, LoadError> {
    let config: Config = serde_json::from_str(text)?;
    let family = Family::of(&config.model_type)?;
    let unknown = [
        ("rope_scaling", config.rope_scaling.is_some()),
        ("rope_parameters", config.rope_parameters.is_some()),
        ("attention_bias", config.attention_bias),
        (
            "another hidden_act than silu",
            config.hidden_act.is_some_and(|act| act != "silu"),
        ),
    ];
    if let Some((what, _)) = unknown.into_iter().find(|(_, is_there)| *is_there) {
        let what = what.to_owned();
        return Err(LoadError::Unknown { what });
    }
    let heads = config.num_attention_heads;
    let head = config
        .head_dim
        .unwrap_or_else(|| config.hidden_size.checked_div(heads).unwrap_or(0));
    Ok(Shape {
        name: config.model_type,
        hidden: config.hidden_size as usize,
        layers: config.num_hidden_layers as usize,
        heads: heads as usize,
        kv_heads: config.num_key_value_heads.unwrap_or(heads) as usize,
        head: head as usize,
        feed_forward: config.intermediate_size as usize,
        vocabulary: config.vocab_size as usize,
        context: config.max_position_embeddings as usize,
        rope_base: config.rope_theta.unwrap_or(ROPE_BASE),
        pairs: Pairs::Halves,
        epsilon: narrow(config.rms_norm_eps),
        head_norms: family == Family::Qwen3,
        tied: config.tie_word_embeddings,
        attention_every: 1,
    })
}

#[cfg(test)]
mod tests;
