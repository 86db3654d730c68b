//! A small decoder: what its numbers are, and one step of it on the CPU, and on a GPU.
//!
//! Two kinds of layer mix what came before into a token: attention over a cache of keys and values, and linear
//! attention, whose memory is one matrix a head that decays and is added to. A model of the llama kind has the first
//! only; a hybrid one has three of the second for each of the first.

pub mod decoder;
mod device;
mod linear;
pub mod load;
pub mod matrix;
pub mod parameters;
pub mod shape;

pub use decoder::Decoder;
pub use device::{DeviceDecoder, Launch};
pub use load::load;
pub use matrix::Matrix;
pub use parameters::Parameters;
pub use shape::{Mixing, Shape};
