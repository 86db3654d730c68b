//! A real model says what it should: SmolLM2-135M-Instruct, as `.ci/model` fetches it.
//!
//!     SMOLLM2="$(.ci/model)" cargo test --release -p kernels --test smollm2 -- --ignored
#![expect(clippy::disallowed_methods, reason = "a variable says where the model is")]

use kernels::model::{Decoder, load};
use kernels::text::Codec;
use kernels::weights::Weights;

/// What follows, token by token: the arithmetic may be made faster, and must say the same.
const PINNED: [u32; 16] = [
    7042, 30, 198, 198, 504, 2988, 314, 42, 216, 34, 32, 33, 40, 29, 32, 33,
];

#[test]
#[ignore = "reads a model of 98 MB, whose path is in SMOLLM2"]
fn the_capital_of_france_is_paris() {
    let path = std::env::var_os("SMOLLM2").expect("SMOLLM2 is the path that .ci/model prints");
    let weights = Weights::open(path).unwrap();
    let parameters = load(&weights, None).unwrap();
    let codec = Codec::of_gguf(weights.metadata()).unwrap();
    let prompt = codec.encode("The capital of France is").unwrap();
    let mut decoder = Decoder::new(&parameters, prompt.len() + PINNED.len()).unwrap();
    let mut ids = Vec::new();
    decoder.greedy(&prompt, PINNED.len(), |id| ids.push(id)).unwrap();
    let text = codec.decode(&ids).unwrap();
    assert!(text.starts_with(" Paris"), "{text:?}");
    assert_eq!(ids, PINNED, "{text:?}");
}
