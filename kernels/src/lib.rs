//! The reference workload of abreast: what an inference engine does, small enough to read.
//!
//! Nothing here knows that it is measured: no clock, no printing. `benches/` measures it, the tool in `src/` never
//! depends on it. Start with [`Tensor`]; every operator is one file in [`ops`], with the plainest possible code beside
//! it as its oracle.
//!
//! # Tolerance
//!
//! Operators that move bytes ([`ops::tile`], [`ops::transpose`], [`ops::expand`], [`ops::gather`]) and [`ops::add`]
//! equal their oracle bit for bit, in every type. Where the order of additions differs (matmul, means, norms, softmax,
//! attention) a result of `f32` lies within `1e-5` of the oracle relative to the sum of the magnitudes that were added,
//! and one of a narrower type within half a unit in its last place more. NaN is NaN on both sides; its payload is
//! nobody's promise.

pub mod capture;
pub mod device;
pub mod digest;
pub mod dtype;
pub mod error;
pub mod grammar;
pub mod model;
pub mod movement;
pub mod ops;
pub mod pages;
pub mod sampling;
pub mod tensor;
pub mod text;
pub mod weights;

pub use dtype::{DType, Element};
pub use error::OpError;
pub use tensor::Tensor;
