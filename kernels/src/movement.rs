//! Tile, Transpose and Expand on the device: what the host does before a launch, in two ways.
//!
//! Their kernels need a small table of lengths and distances in device memory. [`Path::PerCall`] allocates it, copies
//! it, launches, waits and frees it on every call; Tile also reads its counts back. Each of that is slow, and none of
//! it may be captured. [`Path::Persistent`] keeps the table from one call to the next and does nothing at all while
//! the shapes stay the same, so that a call is one launch.

mod plan;
mod slot;

pub use plan::Plan;
pub use slot::{Memory, MetadataSlot};

pub(crate) use plan::Moves;

use crate::capture::Support;
use crate::device::{Buffer, Device, DeviceError, DeviceTensor, Metadata};
use crate::dtype::DType;
use crate::error::OpError;
use crate::ops::{expand, transpose};
use crate::tensor::strides;

/// How metadata comes to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// Anew on every call. Cannot be captured.
    PerCall,
    /// Once for each signature. Can be captured after it ran with the same signature.
    Persistent,
}

impl Path {
    /// `per-call`, `persistent`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PerCall => "per-call",
            Self::Persistent => "persistent",
        }
    }
}

/// What the metadata of a call follows from: a kernel that ran with a signature can run with it again without any
/// call to the device but the launch.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Signature {
    dtype: DType,
    input: Vec<usize>,
    output: Vec<usize>,
    /// The order of the axes, where there is one.
    order: Vec<usize>,
}

impl Signature {
    fn new(input: &DeviceTensor, out: &DeviceTensor, order: &[usize]) -> Self {
        Self {
            dtype: input.dtype(),
            input: input.shape().to_vec(),
            output: out.shape().to_vec(),
            order: order.to_vec(),
        }
    }

    fn is(&self, input: &DeviceTensor, out: &DeviceTensor, order: &[usize]) -> bool {
        self.dtype == input.dtype()
            && self.input == input.shape()
            && self.output == out.shape()
            && self.order == order
    }
}

impl std::fmt::Display for Signature {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {:?} -> {:?}", self.dtype, self.input, self.output)?;
        if self.order.is_empty() {
            return Ok(());
        }
        write!(formatter, " in order {:?}", self.order)
    }
}

/// Repeats a tensor along each axis (ONNX Tile).
#[derive(Debug)]
pub struct Tile {
    movement: Movement,
}

impl Tile {
    /// One that has not run.
    #[must_use]
    pub fn new(path: Path) -> Self {
        let movement = Movement::new("tile", path);
        Self { movement }
    }

    /// Writes `input` repeated `repeats[i]` times along axis `i`, without waiting on the persistent path. `repeats`
    /// are words of 64 bits with a sign in device memory, one for each axis. They are read back and checked on every
    /// call, or on the persistent path only for a new signature: the shapes fix them, and the kernel does not use
    /// them.
    ///
    /// # Errors
    /// [`OpError::Shape`] if there is not one count for each axis, or `out` does not have `shape[i] * repeats[i]`
    /// along each; [`DeviceError::Type`] for mixed types; [`DeviceError::SignatureChanged`] and
    /// [`DeviceError::NotCapturable`] during a capture; [`DeviceError::Aliased`]; what the device answers.
    pub fn run(
        &mut self,
        device: &Device,
        input: &DeviceTensor,
        repeats: &Buffer,
        out: &DeviceTensor,
    ) -> Result<(), DeviceError> {
        self.movement.run(device, input, out, &[], || {
            let rank = input.shape().len();
            let counts = repeats.bytes() / size_of::<i64>();
            OpError::unless_shape("tile", "repeats", &[rank], &[counts])?;
            let counts: Vec<i64> = repeats.download(rank)?;
            tile_plan(input.dtype(), input.shape(), &counts, out.shape()).map_err(DeviceError::from)
        })
    }

    /// Whether it can be captured.
    #[must_use]
    pub fn capture_support(&self) -> Support {
        self.movement.capture_support()
    }
}

/// Puts the axes of a tensor in another order (ONNX Transpose).
#[derive(Debug)]
pub struct Transpose {
    movement: Movement,
    order: Vec<usize>,
}

impl Transpose {
    /// One that has not run. Axis `order[i]` of the input becomes axis `i`.
    #[must_use]
    pub fn new(path: Path, order: &[usize]) -> Self {
        Self {
            movement: Movement::new("transpose", path),
            order: order.to_vec(),
        }
    }

    /// Writes `input` with its axes in the other order, without waiting on the persistent path.
    ///
    /// # Errors
    /// [`OpError::Shape`] if the order does not name each axis once, or `out` does not have the lengths in that
    /// order; the others of [`Tile::run`].
    pub fn run(
        &mut self,
        device: &Device,
        input: &DeviceTensor,
        out: &DeviceTensor,
    ) -> Result<(), DeviceError> {
        let order = &self.order;
        self.movement.run(device, input, out, order, || {
            let shape = transpose::shape(input.shape(), order)?;
            OpError::unless_shape("transpose", "output", &shape, out.shape())?;
            let from = strides(input.shape());
            let distances: Vec<usize> = order.iter().map(|axis| from[*axis]).collect();
            Ok(Plan::new("transpose", input.dtype().bytes(), &shape, &distances)?)
        })
    }

    /// Whether it can be captured.
    #[must_use]
    pub fn capture_support(&self) -> Support {
        self.movement.capture_support()
    }
}

/// Broadcasts a tensor to a larger shape (ONNX Expand).
#[derive(Debug)]
pub struct Expand {
    movement: Movement,
}

impl Expand {
    /// One that has not run.
    #[must_use]
    pub fn new(path: Path) -> Self {
        let movement = Movement::new("expand", path);
        Self { movement }
    }

    /// Writes `input` broadcast to the shape of `out`, without waiting on the persistent path.
    ///
    /// # Errors
    /// [`OpError::Shape`] if an axis of `input` is neither 1 nor as long as that of `out`, or `out` has fewer axes; the
    /// others of [`Tile::run`].
    pub fn run(
        &mut self,
        device: &Device,
        input: &DeviceTensor,
        out: &DeviceTensor,
    ) -> Result<(), DeviceError> {
        self.movement.run(device, input, out, &[], || {
            let distances = expand::distances(input.shape(), out.shape())?;
            Ok(Plan::new(
                "expand",
                input.dtype().bytes(),
                out.shape(),
                &distances,
            )?)
        })
    }

    /// Whether it can be captured.
    #[must_use]
    pub fn capture_support(&self) -> Support {
        self.movement.capture_support()
    }
}

/// Checks counts that came from the device, and plans for them.
fn tile_plan(dtype: DType, input: &[usize], counts: &[i64], out: &[usize]) -> Result<Plan, OpError> {
    const OP: &str = "tile";
    OpError::unless_shape(OP, "repeats", &[input.len()], &[counts.len()])?;
    let wanted: Option<Vec<usize>> = input
        .iter()
        .zip(counts)
        .map(|(length, count)| length.checked_mul(usize::try_from(*count).ok()?))
        .collect();
    match wanted {
        Some(wanted) => OpError::unless_shape(OP, "output", &wanted, out)?,
        None => {
            let wanted = format!("{input:?} times {counts:?}, which must not be negative");
            return Err(OpError::shape(OP, "output", format_args!("{wanted}"), out));
        }
    }
    let from = strides(input);
    // Counts of zero are in the output's shape as well, and nothing is moved then.
    let repeats = |axis: usize| out[axis].checked_div(input[axis]).unwrap_or(0);
    let (shape, distances): (Vec<usize>, Vec<usize>) = (0..input.len())
        .flat_map(|axis| [(repeats(axis), 0), (input[axis], from[axis])])
        .unzip();
    Plan::new(OP, dtype.bytes(), &shape, &distances)
}

/// What the three have in common.
#[derive(Debug)]
struct Movement {
    op: &'static str,
    path: Path,
    slot: MetadataSlot<Metadata>,
    /// What the last successful run outside of a capture was for.
    warmed: Option<Warmed>,
}

#[derive(Debug)]
struct Warmed {
    signature: Signature,
    plan: Plan,
}

impl Movement {
    fn new(op: &'static str, path: Path) -> Self {
        Self {
            op,
            path,
            slot: MetadataSlot::default(),
            warmed: None,
        }
    }

    /// `plan` checks the shapes, and whatever else the metadata follows from.
    fn run(
        &mut self,
        device: &Device,
        input: &DeviceTensor,
        out: &DeviceTensor,
        order: &[usize],
        plan: impl FnOnce() -> Result<Plan, DeviceError>,
    ) -> Result<(), DeviceError> {
        if input.dtype() != out.dtype() {
            return Err(DeviceError::Type {
                op: self.op,
                what: "output",
                wanted: input.dtype(),
                found: out.dtype(),
            });
        }
        match self.path {
            Path::PerCall => self.per_call(device, input, out, plan),
            Path::Persistent => self.persistent(device, input, out, order, plan),
        }
    }

    fn per_call(
        &self,
        device: &Device,
        input: &DeviceTensor,
        out: &DeviceTensor,
        plan: impl FnOnce() -> Result<Plan, DeviceError>,
    ) -> Result<(), DeviceError> {
        if device.is_capturing() {
            return Err(DeviceError::NotCapturable {
                op: self.op,
                reason: PER_CALL.to_owned(),
            });
        }
        let plan = plan()?;
        let metadata = device.metadata(plan.words())?;
        device.move_bytes(&plan, &metadata, input.buffer(), out.buffer())?;
        // For nothing but this: the metadata may be freed afterwards.
        device.wait()
    }

    fn persistent(
        &mut self,
        device: &Device,
        input: &DeviceTensor,
        out: &DeviceTensor,
        order: &[usize],
        plan: impl FnOnce() -> Result<Plan, DeviceError>,
    ) -> Result<(), DeviceError> {
        let is_capturing = device.is_capturing();
        let warmed = self
            .warmed
            .as_ref()
            .filter(|warmed| warmed.signature.is(input, out, order));
        if is_capturing && warmed.is_none() {
            return Err(DeviceError::SignatureChanged {
                op: self.op,
                found: Signature::new(input, out, order).to_string(),
                warmed: match &self.warmed {
                    Some(warmed) => format!("it was warmed for {}", warmed.signature),
                    None => "nothing was warmed".to_owned(),
                },
            });
        }
        let fresh;
        let plan = match warmed {
            Some(warmed) => &warmed.plan,
            None => {
                fresh = plan()?;
                &fresh
            }
        };
        let metadata = self.slot.prepare(device, plan.words())?;
        device.move_bytes(plan, metadata, input.buffer(), out.buffer())?;
        if warmed.is_none() {
            self.warmed = Some(Warmed {
                signature: Signature::new(input, out, order),
                plan: plan.clone(),
            });
        }
        Ok(())
    }

    fn capture_support(&self) -> Support {
        match (self.path, &self.warmed) {
            (Path::PerCall, _) => Support::Unsupported(PER_CALL.to_owned()),
            (Path::Persistent, None) => {
                Support::Unsupported(format!("{} must be warmed before capture", self.op))
            }
            (Path::Persistent, Some(_)) => Support::Supported,
        }
    }
}

/// Why the per-call path cannot be captured.
const PER_CALL: &str = "it allocates, copies, waits and frees on every call";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_repetition_are_checked_against_both_shapes() {
        let plan = |counts: &[i64], out: &[usize]| tile_plan(DType::F16, &[2, 3], counts, out);
        assert!(plan(&[2, 1], &[4, 3]).is_ok());
        assert!(plan(&[0, 1], &[0, 3]).is_ok());
        let refused: [(&[i64], &[usize]); 3] = [(&[2, 2], &[4, 3]), (&[2], &[4]), (&[2, 1, 1], &[4, 3, 1])];
        for (counts, out) in refused {
            assert!(plan(counts, out).is_err(), "{counts:?} {out:?}");
        }
        let negative = plan(&[-1, 1], &[2, 3]).unwrap_err().to_string();
        assert!(negative.contains("must not be negative"), "{negative}");
        assert!(plan(&[i64::MAX, 3], &[4, 3]).is_err());
    }

    #[test]
    fn a_path_that_allocates_cannot_be_captured_and_the_other_must_run_first() {
        let per_call = Tile::new(Path::PerCall).capture_support();
        assert!(matches!(per_call, Support::Unsupported(reason) if reason.contains("allocates")));
        let persistent = Expand::new(Path::Persistent).capture_support();
        assert!(
            matches!(persistent, Support::Unsupported(reason) if reason.contains("expand must be warmed"))
        );
    }
}
