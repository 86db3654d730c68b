//! One token in, the next one out, on a GPU.

use super::parameters::Placed;
use super::program::Program;
use super::room::Room;
use crate::capture::{CapturedStep, Phase, Piece};
use crate::device::{Device, LONGEST_HEAD};
use crate::dtype::DType;
use crate::model::decoder::{DecodeError, check, row_of};
use crate::model::parameters::Parameters;
use crate::model::shape::Shape;
use crate::movement::Path;
use std::rc::Rc;

/// How the kernels of a step come to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launch {
    /// One by one; those that move data bring their metadata along every time.
    PerCall,
    /// One by one, with metadata that stays on the device.
    Persistent,
    /// Recorded once, and replayed as one graph.
    Captured,
}

impl Launch {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::PerCall, Self::Persistent, Self::Captured];

    /// `per-call`, `persistent`, `captured`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PerCall => "per-call",
            Self::Persistent => "persistent",
            Self::Captured => "captured",
        }
    }

    const fn path(self) -> Path {
        match self {
            Self::PerCall => Path::PerCall,
            Self::Persistent | Self::Captured => Path::Persistent,
        }
    }
}

/// A model in the middle of a text, on a GPU. What it computes with, remembers and answers stays at fixed addresses, and
/// the position and the token are read from there, so that one recording serves every step.
pub struct DeviceDecoder {
    device: Device,
    program: Program,
    room: Rc<Room>,
    /// Absent where steps are launched kernel by kernel.
    captured: Option<CapturedStep<Device>>,
    vocabulary: usize,
    capacity: usize,
    position: usize,
    bytes_per_step: usize,
    dtype: DType,
}

impl DeviceDecoder {
    /// A decoder with room for `capacity` positions, at the beginning of a text. The parameters are copied to the
    /// device.
    ///
    /// # Errors
    /// [`DecodeError::Shape`] and [`DecodeError::Context`] as on the CPU; [`DecodeError::Device`], if there is not enough
    /// memory for example.
    pub fn new(
        device: &Device,
        parameters: &Parameters,
        capacity: usize,
        launch: Launch,
    ) -> Result<Self, DecodeError> {
        let shape = &parameters.shape;
        check(parameters, capacity)?;
        if let Some(limit) = beyond_limits(shape) {
            return Err(DecodeError::Shape(limit));
        }
        device.load_kernels()?;
        let room = Rc::new(Room::new(device, shape, capacity)?);
        let placed = Placed::new(device, parameters)?;
        let program = Program::new(device, shape, &placed, &room, capacity, launch.path())?;
        let mut decoder = Self {
            device: device.clone(),
            program,
            room,
            captured: (launch == Launch::Captured).then(|| CapturedStep::new(device.clone())),
            vocabulary: shape.vocabulary,
            capacity,
            position: 0,
            bytes_per_step: placed.bytes_per_step,
            dtype: placed
                .layers
                .first()
                .map_or(placed.embedding.dtype(), |layer| layer.inward.dtype()),
        };
        decoder.reset()?;
        Ok(decoder)
    }

    /// Tokens that were fed.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.position
    }

    /// Bytes of weights that one step reads.
    #[must_use]
    pub const fn bytes_per_step(&self) -> usize {
        self.bytes_per_step
    }

    /// How the weights of the first layer lie on the device.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// What a recorded step consists of; nothing where none is.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        self.captured.as_ref().map_or(&[], CapturedStep::pieces)
    }

    /// Why steps are not recorded although they were to be; absent where they are, and where they were not to be.
    #[must_use]
    pub fn fallback(&self) -> Option<&str> {
        match self.captured.as_ref()?.phase() {
            Phase::Unsupported(reason) => Some(reason),
            _ => None,
        }
    }

    /// Back to the beginning of a text: nothing is remembered, and the next steps are recorded anew. Waits.
    ///
    /// # Errors
    /// [`DecodeError::Device`]
    pub fn reset(&mut self) -> Result<(), DecodeError> {
        if let Some(captured) = &mut self.captured {
            captured.reset()?;
        }
        for memory in &self.program.memories {
            memory.buffer().fill(0)?;
        }
        self.room.position.set(0)?;
        self.room.answer.clear()?;
        // No scores are not numbers: nobody takes those of another text for them.
        self.room.logits.buffer().fill(0xff)?;
        self.device.wait()?;
        self.position = 0;
        Ok(())
    }

    /// Feeds a token, and does not wait for what follows from it.
    ///
    /// # Errors
    /// [`DecodeError`] for a token outside of the vocabulary, and where no position is left: nothing was fed then.
    /// [`DecodeError::Device`]
    pub fn step(&mut self, token: u32) -> Result<(), DecodeError> {
        row_of(token, self.vocabulary)?;
        self.check_position()?;
        self.room.answer.token().set(token)?;
        self.follow()
    }

    /// Scores of each possible token after the last step; waits for it. NaN where there was none.
    ///
    /// # Errors
    /// [`DecodeError::Device`], if a kernel reported anything for example.
    pub fn logits(&self) -> Result<Vec<f32>, DecodeError> {
        self.room.answer.latch().check()?;
        Ok(self.room.logits.download::<f32>()?.into_data())
    }

    /// Feeds a prompt, then so many tokens, each the one with the highest score so far (the lowest id on ties). `each`
    /// is told every new token as it is known, and the last is not fed.
    ///
    /// # Errors
    /// [`DecodeError`] as [`Self::step`], and for a prompt without tokens; [`DecodeError::Device`] where every score is
    /// NaN.
    pub fn greedy(
        &mut self,
        prompt: &[u32],
        tokens: usize,
        mut each: impl FnMut(u32),
    ) -> Result<(), DecodeError> {
        let (last, before) = prompt.split_last().ok_or(DecodeError::NoPrompt)?;
        for token in before {
            self.step(*token)?;
        }
        for n in 0..tokens {
            if n == 0 {
                self.step(*last)?;
            } else {
                self.follow()?;
            }
            each(self.room.answer.read()?);
        }
        Ok(())
    }

    /// Feeds the token that lies on the device: the one that was set, or that followed from the last step.
    fn follow(&mut self) -> Result<(), DecodeError> {
        self.check_position()?;
        let Program { nodes, bindings, .. } = &mut self.program;
        match &mut self.captured {
            Some(captured) => {
                captured.run(nodes, bindings)?;
            }
            None => nodes.iter_mut().try_for_each(|node| node.run(&self.device))?,
        }
        self.position += 1;
        Ok(())
    }

    fn check_position(&self) -> Result<(), DecodeError> {
        let capacity = self.capacity;
        if self.position >= capacity {
            return Err(DecodeError::Full { capacity });
        }
        Ok(())
    }
}

/// What of a shape the kernels cannot do, as a sentence.
fn beyond_limits(shape: &Shape) -> Option<String> {
    if shape.head > LONGEST_HEAD {
        return Some(format!(
            "a head has {} numbers, and {LONGEST_HEAD} are the most on a GPU: decode on the CPU",
            shape.head
        ));
    }
    // Queries, keys and values are parts of one tensor, and parts begin at multiples of 16 bytes.
    let parts = [("queries", shape.queries()), ("keys", shape.cached())];
    let (name, length) = parts.into_iter().find(|(_, length)| !length.is_multiple_of(4))?;
    Some(format!(
        "a token's {name} are {length} numbers, and on a GPU they must be a multiple of 4: decode on the CPU"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_gpu_cannot_do_is_told_before_anything_is_copied() {
        let tiny = Shape::named("tiny").unwrap();
        assert_eq!(beyond_limits(&tiny), None);
        let long = Shape {
            head: 258,
            ..tiny.clone()
        };
        assert!(
            beyond_limits(&long)
                .unwrap()
                .contains("258 numbers, and 256 are the most")
        );
        let odd = Shape {
            heads: 1,
            kv_heads: 1,
            head: 6,
            ..tiny
        };
        assert!(beyond_limits(&odd).unwrap().contains("queries are 6 numbers"));
    }
}
