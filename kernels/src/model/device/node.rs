//! Parts of a step: one kernel each.

use crate::capture::{Node, Support};
use crate::device::{Buffer, Device, DeviceError, DeviceTensor};
use crate::movement::{Expand, Tile, Transpose};

/// A kernel that can be recorded from the first time on.
pub(super) struct Kernel<F> {
    pub(super) op: &'static str,
    pub(super) run: F,
}

impl<F: FnMut(&Device) -> Result<(), DeviceError>> Node<Device> for Kernel<F> {
    fn op(&self) -> &str {
        self.op
    }

    fn support(&self) -> Support {
        Support::Supported
    }

    fn run(&mut self, device: &Device) -> Result<(), DeviceError> {
        (self.run)(device)
    }
}

/// A kernel that moves data, with what it moves. Each has its own, so that its metadata stays the same.
pub(super) struct Movement {
    pub(super) mover: Mover,
    pub(super) input: DeviceTensor,
    pub(super) out: DeviceTensor,
}

pub(super) enum Mover {
    /// With its counts.
    Tile(Tile, Buffer),
    Transpose(Transpose),
    Expand(Expand),
}

impl Node<Device> for Movement {
    fn op(&self) -> &str {
        match &self.mover {
            Mover::Tile(..) => "tile",
            Mover::Transpose(_) => "transpose",
            Mover::Expand(_) => "expand",
        }
    }

    fn support(&self) -> Support {
        match &self.mover {
            Mover::Tile(tile, _) => tile.capture_support(),
            Mover::Transpose(transpose) => transpose.capture_support(),
            Mover::Expand(expand) => expand.capture_support(),
        }
    }

    fn run(&mut self, device: &Device) -> Result<(), DeviceError> {
        let Self { mover, input, out } = self;
        match mover {
            Mover::Tile(tile, counts) => tile.run(device, input, counts, out),
            Mover::Transpose(transpose) => transpose.run(device, input, out),
            Mover::Expand(expand) => expand.run(device, input, out),
        }
    }
}
