//! The numbers of a model in device memory.

use crate::device::{Device, DeviceError, DeviceTensor};
use crate::dtype::DType;
use crate::error::OpError;
use crate::model::matrix::{Matrix, Numbers};
use crate::model::parameters::{Layer, Parameters};

/// All of them. Matrices that multiply the same vector are one, rows below rows; numbers that are stored in blocks are
/// widened.
pub(super) struct Placed {
    /// `[vocabulary, hidden]`
    pub(super) embedding: DeviceTensor,
    pub(super) layers: Vec<PlacedLayer>,
    /// `[hidden]`, of `f32`, as all norms.
    pub(super) norm: DeviceTensor,
    /// `[vocabulary, hidden]`: the embedding where both are one.
    pub(super) head: DeviceTensor,
    /// Bytes that a step reads.
    pub(super) bytes_per_step: usize,
}

pub(super) struct PlacedLayer {
    pub(super) mixing_norm: DeviceTensor,
    /// Queries, keys, values and, of a linear layer, decays: `[.., hidden]`.
    pub(super) inward: DeviceTensor,
    pub(super) head_norms: Option<[DeviceTensor; 2]>,
    /// `[hidden, queries]`
    pub(super) output: DeviceTensor,
    pub(super) feed_forward_norm: DeviceTensor,
    /// Gates, and what they let through: `[2 * feed_forward, hidden]`.
    pub(super) gate_and_up: DeviceTensor,
    /// `[hidden, feed_forward]`
    pub(super) down: DeviceTensor,
}

impl Placed {
    pub(super) fn new(device: &Device, parameters: &Parameters) -> Result<Self, DeviceError> {
        let embedding = stacked(device, &[&parameters.embedding])?;
        let head = match &parameters.head {
            Some(head) => stacked(device, &[head])?,
            None => embedding.clone(),
        };
        let layers: Vec<PlacedLayer> = parameters
            .layers
            .iter()
            .map(|layer| PlacedLayer::new(device, layer))
            .collect::<Result<_, _>>()?;
        // Of an embedding that is not read out, one row.
        let row = match parameters.head {
            Some(_) => parameters.embedding.columns() * embedding.dtype().bytes(),
            None => 0,
        };
        let bytes: usize = layers.iter().map(PlacedLayer::bytes).sum();
        Ok(Self {
            norm: device.place(&parameters.norm)?,
            bytes_per_step: bytes + head.buffer().bytes() + row,
            embedding,
            layers,
            head,
        })
    }
}

impl PlacedLayer {
    fn new(device: &Device, layer: &Layer) -> Result<Self, DeviceError> {
        let Layer {
            mixing_norm,
            query,
            key,
            value,
            decay,
            head_norms,
            output,
            feed_forward_norm,
            gate,
            up,
            down,
        } = layer;
        let inward: Vec<&Matrix> = [query, key, value].into_iter().chain(decay).collect();
        let head_norms = match head_norms {
            Some([queries, keys]) => Some([device.place(queries)?, device.place(keys)?]),
            None => None,
        };
        Ok(Self {
            mixing_norm: device.place(mixing_norm)?,
            inward: stacked(device, &inward)?,
            head_norms,
            output: stacked(device, &[output])?,
            feed_forward_norm: device.place(feed_forward_norm)?,
            gate_and_up: stacked(device, &[gate, up])?,
            down: stacked(device, &[down])?,
        })
    }

    fn bytes(&self) -> usize {
        [&self.inward, &self.output, &self.gate_and_up, &self.down]
            .map(|matrix| matrix.buffer().bytes())
            .iter()
            .sum()
    }
}

/// These matrices as one, rows below rows, in the type that all of them are stored in, or in `f32` if they differ.
fn stacked(device: &Device, matrices: &[&Matrix]) -> Result<DeviceTensor, DeviceError> {
    let columns = matrices.first().map_or(0, |matrix| matrix.columns());
    let mut dtypes = matrices.iter().map(|matrix| matrix.dtype());
    let first = dtypes.next().unwrap_or(DType::F32);
    let dtype = if dtypes.all(|dtype| dtype == first) {
        first
    } else {
        DType::F32
    };
    let rows = matrices.iter().map(|matrix| matrix.rows()).sum();
    let to = device.tensor(dtype, &[rows, columns])?;
    let mut start = 0;
    for matrix in matrices {
        if matrix.columns() != columns {
            let wanted = format!("[rows, {columns}]");
            let found = [matrix.rows(), matrix.columns()];
            return Err(OpError::shape("stack", "a matrix", format_args!("{wanted}"), &found).into());
        }
        match matrix.numbers(dtype) {
            Numbers::F32(numbers) => to.buffer().upload_at(start, &numbers[..])?,
            Numbers::F16(numbers) => to.buffer().upload_at(start, numbers)?,
            Numbers::Bf16(numbers) => to.buffer().upload_at(start, numbers)?,
        }
        start += matrix.rows() * columns * dtype.bytes();
    }
    Ok(to)
}
