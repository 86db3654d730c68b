//! Steps that are recorded once and replayed: what may be recorded, when, and until when a recording is good.
//!
//! The device is behind [`Recorder`], so everything here is decided, and tested, without one. A [`Lifecycle`] holds
//! the graphs of one stream; a [`CapturedStep`] runs one step of a decoder again and again: first eagerly, so that
//! its kernels are warm, then recording it, then replaying it.
//!
//! What cannot be recorded is a seam: it runs eagerly between two segments that are replayed. For `S` steps without a
//! reset, `captures = 1`, `replays = S - 2` and `fallbacks = 0`, and `segments` and `seams` say how much of the step
//! that is.

mod bindings;
mod lifecycle;
mod step;

pub use bindings::{Binding, Fingerprint};
pub use lifecycle::Lifecycle;
pub use step::{CapturedStep, Phase, Piece, Ran};

use crate::device::{Counters, DeviceError};

/// Whether something may be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Support {
    /// It may.
    Supported,
    /// It may not, and why.
    Unsupported(String),
}

/// A stream that can be captured, as the device has one.
pub trait Recorder {
    /// What was recorded, ready to be replayed. What it uses lives as long as it does.
    type Graph;

    /// Begins to record what is put on the stream, which is not run then.
    ///
    /// # Errors
    /// [`DeviceError::AlreadyCapturing`]; what the device answers.
    fn begin(&self) -> Result<(), DeviceError>;

    /// Ends the recording, in any case, and makes a graph of it.
    ///
    /// # Errors
    /// [`DeviceError::NotCapturing`]; [`DeviceError::CaptureBroken`]; what the device answers.
    fn end(&self) -> Result<Self::Graph, DeviceError>;

    /// Ends a recording, if there is one, and throws it away, whatever state it is in: the stream can be used
    /// afterwards.
    fn abort(&self);

    /// Puts everything that was recorded on the stream, without waiting.
    ///
    /// # Errors
    /// [`DeviceError::NotWhileCapturing`]; what the device answers.
    fn launch(&self, graph: &Self::Graph) -> Result<(), DeviceError>;

    /// Changes the counters.
    fn count(&self, change: impl FnOnce(&mut Counters));
}

/// A part of a step: usually one kernel.
pub trait Node<R> {
    /// The kind of operator. A kind that failed to be recorded is not tried again.
    fn op(&self) -> &str;

    /// Whether it may be recorded now.
    fn support(&self) -> Support;

    /// Puts it on the stream, whether that is recorded or not.
    ///
    /// # Errors
    /// Whatever goes wrong.
    fn run(&mut self, recorder: &R) -> Result<(), DeviceError>;
}

/// Whether all of these nodes may be recorded: asked before a capture of all of them begins, so that none begins in
/// vain.
///
/// # Errors
/// [`DeviceError::Refused`] with all that may not.
pub fn audit<R>(nodes: &[Box<dyn Node<R> + '_>]) -> Result<(), DeviceError> {
    let reasons: Vec<_> = nodes
        .iter()
        .enumerate()
        .filter_map(|(number, node)| match node.support() {
            Support::Supported => None,
            Support::Unsupported(reason) => Some((number, format!("{}: {reason}", node.op()))),
        })
        .collect();
    if reasons.is_empty() {
        return Ok(());
    }
    Err(DeviceError::Refused { reasons })
}

#[cfg(test)]
mod fake;
