//! What a step consists of.

use super::node::{Kernel, Movement, Mover};
use super::parameters::{Placed, PlacedLayer};
use super::room::{LinearRoom, Room};
use crate::capture::{Binding, Node};
use crate::device::{Device, DeviceError, DeviceTensor};
use crate::dtype::DType;
use crate::model::linear::UNIT_EPSILON;
use crate::model::shape::{Mixing, Shape};
use crate::movement::{Expand, Path, Tile, Transpose};
use std::rc::Rc;

/// The kernels of a step in order, and the memory that outlives one.
pub(super) struct Program {
    pub(super) nodes: Vec<Box<dyn Node<Device>>>,
    /// What linear layers remember: `[heads, head, head]` each.
    pub(super) memories: Vec<DeviceTensor>,
    /// What a recorded step is bound to: the same for as long as there is a program, because nothing of it moves.
    pub(super) bindings: Vec<Binding>,
}

impl Program {
    /// Of a model with room for `capacity` positions.
    pub(super) fn new(
        device: &Device,
        shape: &Shape,
        placed: &Placed,
        room: &Rc<Room>,
        capacity: usize,
        path: Path,
    ) -> Result<Self, DeviceError> {
        let mut program = Self {
            nodes: Vec::new(),
            memories: Vec::new(),
            bindings: vec![
                binding("token", None, &[], room.answer.token().address()),
                binding("position", None, &[], room.position.address()),
            ],
        };
        program.bind("logits".to_owned(), &room.logits);
        let (table, to) = (placed.embedding.clone(), Rc::clone(room));
        program.kernel("embed", move |device| {
            device.embed(&table, to.answer.token(), to.answer.latch(), &to.token)
        });
        for (index, layer) in placed.layers.iter().enumerate() {
            program.norm(&layer.mixing_norm, shape.epsilon, room);
            program.inward(&layer.inward, room)?;
            program.head_norms(layer, shape.epsilon, room);
            match shape.mixing(index) {
                Mixing::Attention => program.attention(device, shape, room, capacity, index)?,
                Mixing::Linear => {
                    if let Some(linear) = &room.linear {
                        program.linear(device, shape, room, linear, path, index)?;
                    }
                }
            }
            program.onto(
                "output",
                &layer.output,
                room.mixed.reshaped(&[shape.queries()])?,
                room,
            );
            program.norm(&layer.feed_forward_norm, shape.epsilon, room);
            program.feed_forward(layer, shape, room)?;
        }
        program.norm(&placed.norm, shape.epsilon, room);
        let (head, of) = (placed.head.clone(), Rc::clone(room));
        program.kernel("head", move |device| device.gemv(&head, &of.normed, &of.logits));
        let of = Rc::clone(room);
        program.kernel("argmax", move |device| {
            device.argmax(&of.logits, &of.argmax, of.answer.latch(), of.answer.token())
        });
        let of = Rc::clone(room);
        program.kernel("advance", move |device| device.advance(&of.position));
        Ok(program)
    }

    fn kernel(&mut self, op: &'static str, run: impl FnMut(&Device) -> Result<(), DeviceError> + 'static) {
        self.nodes.push(Box::new(Kernel { op, run }));
    }

    fn movement(&mut self, mover: Mover, input: DeviceTensor, out: &DeviceTensor) {
        let out = out.clone();
        self.nodes.push(Box::new(Movement { mover, input, out }));
    }

    fn bind(&mut self, name: String, tensor: &DeviceTensor) {
        let address = tensor.buffer().address();
        self.bindings
            .push(binding(&name, Some(tensor.dtype()), tensor.shape(), address));
    }

    /// The token's vector, normed.
    fn norm(&mut self, weight: &DeviceTensor, epsilon: f32, room: &Rc<Room>) {
        let (weight, of) = (weight.clone(), Rc::clone(room));
        self.kernel("rms_norm", move |device| {
            device.rms_norm(&of.token, &weight, epsilon, &of.normed)
        });
    }

    /// Queries, keys, values and, of a linear layer, decays.
    fn inward(&mut self, weights: &DeviceTensor, room: &Rc<Room>) -> Result<(), DeviceError> {
        let rows = weights.shape().first().copied().unwrap_or(0);
        let to = room.inward.part(0, &[rows])?;
        let (weights, of) = (weights.clone(), Rc::clone(room));
        self.kernel("inward", move |device| device.gemv(&weights, &of.normed, &to));
        Ok(())
    }

    fn head_norms(&mut self, layer: &PlacedLayer, epsilon: f32, room: &Room) {
        let Some([queries, keys]) = &layer.head_norms else {
            return;
        };
        for (weight, heads) in [(queries, &room.queries), (keys, &room.keys)] {
            let (weight, heads) = (weight.clone(), heads.clone());
            self.kernel("head_norm", move |device| {
                device.rms_norm(&heads, &weight, epsilon, &heads)
            });
        }
    }

    fn attention(
        &mut self,
        device: &Device,
        shape: &Shape,
        room: &Rc<Room>,
        capacity: usize,
        index: usize,
    ) -> Result<(), DeviceError> {
        for heads in [&room.queries, &room.keys] {
            let (heads, pairs, of) = (heads.clone(), shape.pairs, Rc::clone(room));
            self.kernel("rope", move |device| {
                device.rope(&heads, &of.angles, pairs, &of.position, of.answer.latch(), &heads)
            });
        }
        let cache = || device.tensor(DType::F32, &[capacity, shape.kv_heads, shape.head]);
        let (keys, values) = (cache()?, cache()?);
        for (name, fresh, cache) in [("keys", &room.keys, &keys), ("values", &room.values, &values)] {
            self.bind(format!("{name} of layer {index}"), cache);
            let (fresh, cache, of) = (fresh.clone(), cache.clone(), Rc::clone(room));
            self.kernel("append", move |device| {
                device.append(&fresh, &cache, &of.position, of.answer.latch())
            });
        }
        let of = Rc::clone(room);
        self.kernel("attention", move |device| {
            let (queries, latch) = (&of.queries, of.answer.latch());
            device.attention(
                queries,
                &keys,
                &values,
                &of.position,
                &of.attention,
                latch,
                &of.mixed,
            )
        });
        Ok(())
    }

    /// As a graph of separate operators, the way exported models have it.
    fn linear(
        &mut self,
        device: &Device,
        shape: &Shape,
        room: &Rc<Room>,
        linear: &LinearRoom,
        path: Path,
        index: usize,
    ) -> Result<(), DeviceError> {
        let (heads, kv_heads, head) = (shape.heads, shape.kv_heads, shape.head);
        let (keys, unit, unit_keys) = (room.keys.clone(), linear.unit.clone(), linear.unit_keys.clone());
        self.kernel("unit_keys", move |device| {
            device.rms_norm(&keys, &unit, UNIT_EPSILON, &unit_keys)
        });
        let [wide_keys, wide_values, wide_decays] = &linear.wide;
        let expand = || Mover::Expand(Expand::new(path));
        self.movement(
            Mover::Tile(Tile::new(path), linear.repeats.clone()),
            linear.unit_keys.reshaped(&[1, kv_heads, head])?,
            &linear.tiled,
        );
        self.movement(
            Mover::Transpose(Transpose::new(path, &[1, 0, 2])),
            linear.tiled.clone(),
            &linear.keys,
        );
        self.movement(
            expand(),
            room.values.reshaped(&[kv_heads, 1, head])?,
            &linear.values,
        );
        self.movement(expand(), linear.keys.reshaped(&[heads, head, 1])?, wide_keys);
        self.movement(expand(), linear.values.reshaped(&[heads, 1, head])?, wide_values);
        self.movement(expand(), linear.decays.reshaped(&[heads, 1, 1])?, wide_decays);

        let memory = device.tensor(DType::F32, &[heads, head, head])?;
        self.bind(format!("memory of layer {index}"), &memory);
        self.memories.push(memory.clone());
        let (wide, of) = (linear.wide.clone(), Rc::clone(room));
        self.kernel("remember", move |device| {
            let [keys, values, decays] = &wide;
            device.remember(&of.queries, keys, values, decays, &memory, &of.mixed)
        });
        Ok(())
    }

    fn feed_forward(
        &mut self,
        layer: &PlacedLayer,
        shape: &Shape,
        room: &Rc<Room>,
    ) -> Result<(), DeviceError> {
        let (weights, of) = (layer.gate_and_up.clone(), Rc::clone(room));
        self.kernel("gate_and_up", move |device| {
            device.gemv(&weights, &of.normed, &of.gate_and_up)
        });
        let both = room.gate_and_up.reshaped(&[2, shape.feed_forward])?;
        let of = Rc::clone(room);
        self.kernel("swiglu", move |device| device.swiglu(&both, &of.gated));
        self.onto("down", &layer.down, room.gated.clone(), room);
        Ok(())
    }

    /// A product that is added to the token's vector.
    fn onto(&mut self, op: &'static str, weights: &DeviceTensor, input: DeviceTensor, room: &Rc<Room>) {
        let (weights, of) = (weights.clone(), Rc::clone(room));
        self.kernel(op, move |device| device.gemv_onto(&weights, &input, &of.token));
    }
}

fn binding(name: &str, dtype: Option<DType>, shape: &[usize], address: u64) -> Binding {
    Binding {
        name: name.to_owned(),
        dtype,
        shape: shape.to_vec(),
        address: Some(address),
    }
}
