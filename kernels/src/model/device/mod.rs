//! A decoder on a GPU: the same step as on the CPU, as a list of kernels that are launched, or recorded and replayed.
//!
//! `parameters` puts the numbers of a model in device memory, `room` what is computed on the way, `program` makes the list
//! of `node`s, and `decoder` runs it for every token.

mod decoder;
mod node;
mod parameters;
mod program;
mod room;

pub use decoder::{DeviceDecoder, Launch};
