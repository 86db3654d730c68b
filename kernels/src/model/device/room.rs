//! Memory for what a step computes on the way, at fixed addresses; one for all layers.

use crate::device::{Answer, Buffer, Device, DeviceAngles, DeviceError, DeviceTensor, Scratch};
use crate::dtype::DType;
use crate::model::linear::unit_weight;
use crate::model::shape::Shape;
use crate::ops::rope::Angles;
use crate::tensor::Tensor;

/// All of it, of `f32`.
pub(super) struct Room {
    /// The token that is fed, then the one that follows from it; and what kernels report.
    pub(super) answer: Answer,
    /// How many tokens were fed before: a word of 32 bits.
    pub(super) position: Buffer,
    pub(super) angles: DeviceAngles,
    /// `[hidden]`: the token's vector.
    pub(super) token: DeviceTensor,
    /// `[hidden]`
    pub(super) normed: DeviceTensor,
    /// What comes of one product with the vector: queries, keys, values, decays.
    pub(super) inward: DeviceTensor,
    /// `[heads, head]`
    pub(super) queries: DeviceTensor,
    /// `[kv heads, head]`
    pub(super) keys: DeviceTensor,
    /// `[kv heads, head]`
    pub(super) values: DeviceTensor,
    /// `[heads, head]`
    pub(super) mixed: DeviceTensor,
    pub(super) attention: Scratch,
    /// `[2 * feed_forward]`: gates, and what they let through.
    pub(super) gate_and_up: DeviceTensor,
    /// `[feed_forward]`
    pub(super) gated: DeviceTensor,
    /// `[vocabulary]`
    pub(super) logits: DeviceTensor,
    pub(super) argmax: Buffer,
    /// Absent where no layer is linear: it is large.
    pub(super) linear: Option<LinearRoom>,
}

/// What linear attention computes on the way, as on the CPU.
pub(super) struct LinearRoom {
    /// Weights of the norm that gives keys length one: `[head]`.
    pub(super) unit: DeviceTensor,
    /// `[kv heads, head]`
    pub(super) unit_keys: DeviceTensor,
    /// How often keys are repeated along each axis: heads that share one, 1, 1.
    pub(super) repeats: Buffer,
    /// `[heads / kv heads, kv heads, head]`
    pub(super) tiled: DeviceTensor,
    /// `[kv heads, heads / kv heads, head]`
    pub(super) keys: DeviceTensor,
    /// `[kv heads, heads / kv heads, head]`
    pub(super) values: DeviceTensor,
    /// `[heads]`
    pub(super) decays: DeviceTensor,
    /// `[heads, head, head]` each: keys along the second axis, values along the third, decays.
    pub(super) wide: [DeviceTensor; 3],
}

impl Room {
    pub(super) fn new(device: &Device, shape: &Shape, capacity: usize) -> Result<Self, DeviceError> {
        let (heads, kv_heads, head) = (shape.heads, shape.kv_heads, shape.head);
        let tensor = |axes: &[usize]| device.tensor(DType::F32, axes);
        let decays = shape.queries() + 2 * shape.cached();
        let inward = tensor(&[decays + heads])?;
        let logits = [shape.vocabulary];
        Ok(Self {
            answer: device.answer()?,
            position: device.upload(&[0_u32])?,
            angles: device.angles(&Angles::new(capacity, head, shape.rope_base))?,
            token: tensor(&[shape.hidden])?,
            normed: tensor(&[shape.hidden])?,
            queries: inward.part(0, &[heads, head])?,
            keys: inward.part(shape.queries(), &[kv_heads, head])?,
            values: inward.part(shape.queries() + shape.cached(), &[kv_heads, head])?,
            mixed: tensor(&[heads, head])?,
            attention: device.attention_scratch(heads, head, capacity)?,
            gate_and_up: tensor(&[2 * shape.feed_forward])?,
            gated: tensor(&[shape.feed_forward])?,
            logits: tensor(&logits)?,
            argmax: device.buffer(Device::argmax_scratch(&logits))?,
            linear: if shape.has_linear() {
                Some(LinearRoom::new(device, shape, inward.part(decays, &[heads])?)?)
            } else {
                None
            },
            inward,
        })
    }
}

impl LinearRoom {
    fn new(device: &Device, shape: &Shape, decays: DeviceTensor) -> Result<Self, DeviceError> {
        let (heads, kv_heads, head) = (shape.heads, shape.kv_heads, shape.head);
        let shared = heads / kv_heads;
        let tensor = |axes: &[usize]| device.tensor(DType::F32, axes);
        let wide = || tensor(&[heads, head, head]);
        Ok(Self {
            unit: device.place(&Tensor::<f32>::from_fn(&[head], |_| unit_weight(head)))?,
            unit_keys: tensor(&[kv_heads, head])?,
            repeats: device.upload(&[shared as u64, 1, 1])?,
            tiled: tensor(&[shared, kv_heads, head])?,
            keys: tensor(&[kv_heads, shared, head])?,
            values: tensor(&[kv_heads, shared, head])?,
            decays,
            wide: [wide()?, wide()?, wide()?],
        })
    }
}
