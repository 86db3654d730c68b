//! How large a model is, and of which kind.

use crate::ops::rope::Pairs;

/// How a layer mixes what came before into a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mixing {
    /// Over a cache of keys and values.
    Attention,
    /// Over one decaying matrix a head.
    Linear,
}

/// Everything about a model but its numbers. All lengths are in numbers, not bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// What it is called.
    pub name: String,
    /// Length of a token's vector between layers.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// Heads of queries.
    pub heads: usize,
    /// Heads of keys and values; a divisor of `heads`.
    pub kv_heads: usize,
    /// Length of a head; even.
    pub head: usize,
    /// Length between the two halves of the feed-forward part.
    pub feed_forward: usize,
    /// Number of token ids.
    pub vocabulary: usize,
    /// Most positions that it was made for.
    pub context: usize,
    /// Base of the angles of the rotary embedding.
    pub rope_base: f64,
    /// Which numbers of a head the rotary embedding turns together.
    pub pairs: Pairs,
    /// What keeps a norm from dividing by zero.
    pub epsilon: f32,
    /// Whether queries and keys are normed by head before they are turned.
    pub head_norms: bool,
    /// Whether the matrix that reads token vectors out is the one that reads them in.
    pub tied: bool,
    /// Every so manyth layer is attention and the others linear; 1 where all are attention.
    pub attention_every: usize,
}

impl Shape {
    /// Names that [`Self::named`] knows.
    pub const NAMES: [&str; 6] = [
        "tiny",
        "tiny-hybrid",
        "smollm2-135m",
        "qwen3-0.6b",
        "hybrid-1b",
        "llama3-8b",
    ];

    /// A shape that has a name. `tiny` ones are for tests; `smollm2-135m`, `qwen3-0.6b` and `llama3-8b` are those of the
    /// published models; `hybrid-1b` is nobody's model, of a billion parameters, with the layers that move data in
    /// every step.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let llama = Self {
            name: name.to_owned(),
            hidden: 64,
            layers: 2,
            heads: 4,
            kv_heads: 2,
            head: 16,
            feed_forward: 128,
            vocabulary: 256,
            context: 512,
            rope_base: 10_000.0,
            pairs: Pairs::Halves,
            epsilon: 1e-5,
            head_norms: false,
            tied: true,
            attention_every: 1,
        };
        match name {
            "tiny" => Some(llama),
            "tiny-hybrid" => Some(Self {
                layers: 4,
                attention_every: 4,
                ..llama
            }),
            "smollm2-135m" => Some(Self {
                hidden: 576,
                layers: 30,
                heads: 9,
                kv_heads: 3,
                head: 64,
                feed_forward: 1536,
                vocabulary: 49_152,
                context: 8192,
                rope_base: 100_000.0,
                ..llama
            }),
            "qwen3-0.6b" => Some(Self {
                hidden: 1024,
                layers: 28,
                heads: 16,
                kv_heads: 8,
                head: 128,
                feed_forward: 3072,
                vocabulary: 151_936,
                context: 40_960,
                rope_base: 1_000_000.0,
                epsilon: 1e-6,
                head_norms: true,
                ..llama
            }),
            "hybrid-1b" => Some(Self {
                hidden: 2048,
                layers: 20,
                heads: 16,
                kv_heads: 4,
                head: 128,
                feed_forward: 5632,
                vocabulary: 32_000,
                context: 8192,
                attention_every: 4,
                tied: false,
                ..llama
            }),
            "llama3-8b" => Some(Self {
                hidden: 4096,
                layers: 32,
                heads: 32,
                kv_heads: 8,
                head: 128,
                feed_forward: 14_336,
                vocabulary: 128_256,
                context: 8192,
                rope_base: 500_000.0,
                tied: false,
                ..llama
            }),
            _ => None,
        }
    }

    /// How this layer mixes.
    #[must_use]
    pub const fn mixing(&self, layer: usize) -> Mixing {
        if (layer + 1).is_multiple_of(self.attention_every) {
            Mixing::Attention
        } else {
            Mixing::Linear
        }
    }

    /// Whether any layer is linear.
    #[must_use]
    pub const fn has_linear(&self) -> bool {
        self.attention_every > 1
    }

    /// Length of all queries of a token.
    #[must_use]
    pub const fn queries(&self) -> usize {
        self.heads * self.head
    }

    /// Length of all keys, or values, of a token.
    #[must_use]
    pub const fn cached(&self) -> usize {
        self.kv_heads * self.head
    }

    /// What of it contradicts itself; absent for a shape that can be run.
    #[must_use]
    pub fn contradiction(&self) -> Option<String> {
        let lengths = [
            ("hidden", self.hidden),
            ("layers", self.layers),
            ("heads", self.heads),
            ("kv_heads", self.kv_heads),
            ("head", self.head),
            ("feed_forward", self.feed_forward),
            ("vocabulary", self.vocabulary),
            ("context", self.context),
            ("attention_every", self.attention_every),
        ];
        if let Some((name, _)) = lengths.iter().find(|(_, length)| *length == 0) {
            return Some(format!("{name} is 0"));
        }
        if !self.heads.is_multiple_of(self.kv_heads) {
            return Some(format!(
                "{} heads do not share {} heads of keys",
                self.heads, self.kv_heads
            ));
        }
        if !self.head.is_multiple_of(2) {
            return Some(format!("a head of {} numbers has no pairs", self.head));
        }
        let memory = self.heads.saturating_mul(self.head).saturating_mul(self.head);
        if self.has_linear() && memory > LARGEST_MEMORY {
            return Some(format!(
                "{} heads of {} numbers have too large a memory",
                self.heads, self.head
            ));
        }
        None
    }
}

/// Numbers that a linear layer may remember: far more than any that was published.
const LARGEST_MEMORY: usize = 1 << 28;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_shape_that_can_be_run() {
        for name in Shape::NAMES {
            let shape = Shape::named(name).unwrap();
            assert_eq!(shape.contradiction(), None, "{name}");
        }
        assert_eq!(Shape::named("gpt-5"), None);
    }

    #[test]
    fn a_hybrid_has_three_linear_layers_for_each_attention() {
        let shape = Shape::named("tiny-hybrid").unwrap();
        let kinds: Vec<Mixing> = (0..4).map(|layer| shape.mixing(layer)).collect();
        assert_eq!(
            kinds,
            [Mixing::Linear, Mixing::Linear, Mixing::Linear, Mixing::Attention]
        );
    }

    #[test]
    fn heads_that_cannot_share_keys_are_a_contradiction() {
        let shape = Shape {
            kv_heads: 3,
            ..Shape::named("tiny").unwrap()
        };
        assert_eq!(
            shape.contradiction().unwrap(),
            "4 heads do not share 3 heads of keys"
        );
    }
}
