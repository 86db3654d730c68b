use super::*;
use crate::dtype::DType;
use crate::model::Decoder;
use crate::weights::{GgufWriter, Storage, Value};

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn rows(matrix: &Matrix) -> Vec<Vec<f32>> {
    (0..matrix.rows())
        .map(|row| {
            let mut numbers = vec![0.0; matrix.columns()];
            matrix.row(row, &mut numbers);
            numbers
        })
        .collect()
}

/// Rows of a head as GGUF files of the llama kind have them: what was in the first half comes at even places.
fn interleaved(rows: &[Vec<f32>], head: usize) -> Vec<Vec<f32>> {
    rows.chunks(head)
        .flat_map(|head| {
            let (first, second) = head.split_at(head.len() / 2);
            first
                .iter()
                .zip(second)
                .flat_map(|(one, other)| [one.clone(), other.clone()])
        })
        .collect()
}

struct File {
    writer: GgufWriter,
}

impl File {
    fn of(shape: &Shape, kind: &str) -> Self {
        let key = |name: &str| format!("{kind}.{name}");
        let number = |number: usize| Value::Unsigned(number as u64);
        let writer = GgufWriter::new()
            .value("general.architecture", &Value::Text(kind.to_owned()))
            .value(&key("embedding_length"), &number(shape.hidden))
            .value(&key("block_count"), &number(shape.layers))
            .value(&key("attention.head_count"), &number(shape.heads))
            .value(&key("attention.head_count_kv"), &number(shape.kv_heads))
            .value(&key("attention.key_length"), &number(shape.head))
            .value(&key("feed_forward_length"), &number(shape.feed_forward))
            .value(&key("context_length"), &number(shape.context))
            .value(&key("rope.freq_base"), &Value::Float(shape.rope_base))
            .value(
                &key("attention.layer_norm_rms_epsilon"),
                &Value::Float(f64::from(shape.epsilon)),
            );
        Self { writer }
    }

    fn rows(self, name: &str, rows: &[Vec<f32>]) -> Self {
        let data = bytes(&rows.concat());
        Self {
            writer: self
                .writer
                .tensor(name, &[rows.len(), rows[0].len()], Storage::F32, &data),
        }
    }

    fn vector(self, name: &str, numbers: &[f32]) -> Self {
        Self {
            writer: self
                .writer
                .tensor(name, &[numbers.len()], Storage::F32, &bytes(numbers)),
        }
    }

    /// All tensors, with the rows of queries and keys as `turned` makes them; without the one that is left out.
    fn tensors(
        mut self,
        parameters: &Parameters,
        without: Option<&str>,
        turned: impl Fn(&[Vec<f32>]) -> Vec<Vec<f32>>,
    ) -> Weights {
        self = self
            .rows("token_embd.weight", &rows(&parameters.embedding))
            .vector("output_norm.weight", parameters.norm.data());
        for (index, layer) in parameters.layers.iter().enumerate() {
            let matrices = [
                ("attn_q", turned(&rows(&layer.query))),
                ("attn_k", turned(&rows(&layer.key))),
                ("attn_v", rows(&layer.value)),
                ("attn_output", rows(&layer.output)),
                ("ffn_gate", rows(&layer.gate)),
                ("ffn_up", rows(&layer.up)),
                ("ffn_down", rows(&layer.down)),
            ];
            for (name, rows) in matrices {
                let name = format!("blk.{index}.{name}.weight");
                if without != Some(&name) {
                    self = self.rows(&name, &rows);
                }
            }
            self = self
                .vector(&format!("blk.{index}.attn_norm.weight"), layer.mixing_norm.data())
                .vector(
                    &format!("blk.{index}.ffn_norm.weight"),
                    layer.feed_forward_norm.data(),
                );
            if let Some([query, key]) = &layer.head_norms {
                self = self
                    .vector(&format!("blk.{index}.attn_q_norm.weight"), query.data())
                    .vector(&format!("blk.{index}.attn_k_norm.weight"), key.data());
            }
        }
        Weights::from_bytes(self.writer.finish()).unwrap()
    }
}

fn tiny() -> Parameters {
    Parameters::seeded(&Shape::named("tiny").unwrap(), DType::F32)
}

fn ids(parameters: &Parameters) -> Vec<u32> {
    let mut decoder = Decoder::new(parameters, 40).unwrap();
    let mut ids = Vec::new();
    decoder.greedy(&[1, 2, 3, 4], 24, |id| ids.push(id)).unwrap();
    ids
}

#[test]
fn a_file_of_the_llama_kind_says_the_same_with_its_rows_interleaved() {
    let parameters = tiny();
    let head = parameters.shape.head;
    let file =
        File::of(&parameters.shape, "llama").tensors(&parameters, None, |rows| interleaved(rows, head));
    let loaded = load(&file, None).unwrap();
    assert_eq!(loaded.shape.pairs, Pairs::Neighbours);
    assert_ne!(loaded.layers[0].query, parameters.layers[0].query);
    assert_eq!(ids(&loaded), ids(&parameters));
}

#[test]
fn a_file_of_the_qwen3_kind_has_norms_for_heads() {
    let shape = Shape {
        head_norms: true,
        ..Shape::named("tiny").unwrap()
    };
    let parameters = Parameters::seeded(&shape, DType::F32);
    let file = File::of(&shape, "qwen3").tensors(&parameters, None, <[Vec<f32>]>::to_vec);
    let loaded = load(&file, None).unwrap();
    assert_eq!(loaded.layers, parameters.layers);
    assert_eq!(ids(&loaded), ids(&parameters));
}

#[test]
fn what_is_missing_or_of_another_shape_is_named() {
    let parameters = tiny();
    let missing = "blk.1.ffn_up.weight";
    let file = File::of(&parameters.shape, "llama").tensors(&parameters, Some(missing), <[Vec<f32>]>::to_vec);
    let refused = load(&file, None).unwrap_err().to_string();
    assert_eq!(refused, "the file has no tensor \"blk.1.ffn_up.weight\"");

    let other = Shape {
        feed_forward: 64,
        ..parameters.shape.clone()
    };
    let file = File::of(&other, "llama").tensors(&parameters, None, <[Vec<f32>]>::to_vec);
    let refused = load(&file, None).unwrap_err().to_string();
    assert_eq!(
        refused,
        "tensor \"blk.0.ffn_gate.weight\" must have shape [64, 64], and has [128, 64]"
    );
}

#[test]
fn a_kind_that_is_not_known_and_a_length_that_is_not_said_are_refused() {
    let parameters = tiny();
    let file = File::of(&parameters.shape, "mamba").tensors(&parameters, None, <[Vec<f32>]>::to_vec);
    let refused = load(&file, None).unwrap_err().to_string();
    assert_eq!(
        refused,
        "the model is of the kind \"mamba\", and only llama and qwen3 are known here"
    );
    let file = GgufWriter::new()
        .value("general.architecture", &Value::Text("llama".to_owned()))
        .finish();
    let refused = load(&Weights::from_bytes(file).unwrap(), None)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("\"llama.embedding_length\""), "{refused}");
}

#[test]
fn lengths_that_contradict_each_other_are_refused_before_anything_is_allocated() {
    let parameters = tiny();
    for (shape, word) in [
        (
            Shape {
                kv_heads: 3,
                ..parameters.shape.clone()
            },
            "do not share",
        ),
        (
            Shape {
                heads: 0,
                ..parameters.shape.clone()
            },
            "heads is 0",
        ),
    ] {
        let file = File::of(&shape, "llama").tensors(&parameters, None, <[Vec<f32>]>::to_vec);
        let refused = load(&file, None).unwrap_err().to_string();
        assert!(refused.contains(word), "{refused}");
    }
}

/// The same numbers in safetensors, whose lengths are in another file.
#[test]
fn safetensors_need_their_config() {
    let parameters = tiny();
    let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    let mut matrix = |name: String, matrix: &Matrix| {
        let data = bytes(&rows(matrix).concat());
        tensors.push((name, vec![matrix.rows(), matrix.columns()], data));
    };
    matrix("model.embed_tokens.weight".to_owned(), &parameters.embedding);
    for (index, layer) in parameters.layers.iter().enumerate() {
        let name = |part: &str| format!("model.layers.{index}.{part}.weight");
        matrix(name("self_attn.q_proj"), &layer.query);
        matrix(name("self_attn.k_proj"), &layer.key);
        matrix(name("self_attn.v_proj"), &layer.value);
        matrix(name("self_attn.o_proj"), &layer.output);
        matrix(name("mlp.gate_proj"), &layer.gate);
        matrix(name("mlp.up_proj"), &layer.up);
        matrix(name("mlp.down_proj"), &layer.down);
    }
    let mut vector =
        |name: String, numbers: &[f32]| tensors.push((name, vec![numbers.len()], bytes(numbers)));
    vector("model.norm.weight".to_owned(), parameters.norm.data());
    for (index, layer) in parameters.layers.iter().enumerate() {
        let name = |part: &str| format!("model.layers.{index}.{part}.weight");
        vector(name("input_layernorm"), layer.mixing_norm.data());
        vector(name("post_attention_layernorm"), layer.feed_forward_norm.data());
    }
    let views = tensors.iter().map(|(name, shape, data)| {
        let view = safetensors::tensor::TensorView::new(safetensors::Dtype::F32, shape.clone(), data);
        (name.clone(), view.unwrap())
    });
    let file = safetensors::serialize(views, None).unwrap();
    let weights = Weights::from_bytes(file).unwrap();

    let refused = load(&weights, None).unwrap_err().to_string();
    assert!(refused.contains("config.json"), "{refused}");
    let config = r#"{"model_type":"llama","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,
        "num_key_value_heads":2,"intermediate_size":128,"vocab_size":256,"max_position_embeddings":512,
        "rope_theta":10000.0,"rms_norm_eps":1e-5,"tie_word_embeddings":true}"#;
    let loaded = load(&weights, Some(config)).unwrap();
    assert_eq!(loaded.layers, parameters.layers);
    assert_eq!(ids(&loaded), ids(&parameters));
    let refused = load(&weights, Some("{}")).unwrap_err().to_string();
    assert!(refused.starts_with("config.json: missing field"), "{refused}");
}

#[test]
fn what_would_change_what_the_model_says_is_refused_by_name() {
    let parameters = tiny();
    let file = File::of(&parameters.shape, "llama")
        .vector("rope_freqs.weight", &[1.0; 8])
        .tensors(&parameters, None, <[Vec<f32>]>::to_vec);
    let refused = load(&file, None).unwrap_err().to_string();
    assert!(refused.contains("a tensor \"rope_freqs.weight\""), "{refused}");

    let mut file = File::of(&parameters.shape, "llama");
    file.writer = file
        .writer
        .value("llama.rope.scaling.type", &Value::Text("yarn".to_owned()));
    let file = file.tensors(&parameters, None, <[Vec<f32>]>::to_vec);
    let refused = load(&file, None).unwrap_err().to_string();
    assert!(refused.contains("llama.rope.scaling.type"), "{refused}");
}
