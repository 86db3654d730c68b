//! The operators, one file each: the one that is fast, and its oracle, which is the plainest code that says what it
//! means.

pub mod add;
pub mod argmax;
pub mod attention;
pub mod expand;
pub mod gather;
pub mod matmul;
pub mod reduce_mean;
pub mod rms_norm;
pub mod rope;
pub mod softmax;
pub mod tile;
pub mod transpose;

pub(crate) mod lanes;
mod strided;

#[cfg(test)]
mod check;
