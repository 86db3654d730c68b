//! What can go wrong with a device, as sentences.

use super::probe::Availability;
use crate::dtype::DType;
use crate::error::OpError;
use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;

/// Why something was not done on the device.
///
/// No variant holds an error of the driver itself: to format one calls into the driver, which may not be there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// There is nothing to do it on.
    #[error("no GPU can be used: {0}")]
    Unavailable(Availability),
    /// A library that only some operators need.
    #[error(
        "{library} is not found by the loader; install it, or add its folder to the path that the loader searches"
    )]
    NoLibrary {
        /// Its name.
        library: &'static str,
    },
    /// Shapes or numbers that do not fit.
    #[error(transparent)]
    Op(#[from] OpError),
    /// Tensors of different types, or of one that the operator does not have.
    #[error("{op}: {what} must be {wanted}, and is {found}")]
    Type {
        /// The operator.
        op: &'static str,
        /// Which of its tensors.
        what: &'static str,
        /// The type that fits.
        wanted: DType,
        /// The type that it has.
        found: DType,
    },
    /// An operator that would overwrite something else that it uses.
    #[error("{op}: what it writes overlaps something else that it uses; give it memory of its own")]
    Aliased {
        /// The operator.
        op: &'static str,
    },
    /// More bytes than a buffer holds.
    #[error("{call}: {wanted} bytes do not fit a buffer of {held}")]
    Size {
        /// What was asked.
        call: &'static str,
        /// Bytes that it takes.
        wanted: usize,
        /// Bytes that there are.
        held: usize,
    },
    /// Memory or a graph of another [`Device`](super::Device).
    #[error("memory, or a graph, is of another device; open one device, and clone it")]
    Foreign,
    /// A part of device memory that no wide load could read.
    #[error("a part of device memory begins at byte {start}; it must be a multiple of 16")]
    Misaligned {
        /// Where it was to begin.
        start: usize,
    },
    /// No device memory left.
    #[error(
        "out of device memory: {wanted} bytes were asked for, {free} of {total} are free; choose a smaller shape, or \
         end other programs that use the GPU"
    )]
    OutOfMemory {
        /// Bytes that were asked for.
        wanted: usize,
        /// Bytes that are free, as far as the driver says.
        free: usize,
        /// Bytes that the device has.
        total: usize,
    },
    /// The device does not answer this process any more.
    #[error(
        "{call}: the device is lost to this process ({code}); start it again, and look at the kernel log for Xid \
         lines"
    )]
    Lost {
        /// What was asked.
        call: &'static str,
        /// Name of the driver's error.
        code: String,
    },
    /// The driver ended a capture because of something that may not be captured.
    #[error("{call}: the graph capture is broken ({code}); abort it and capture again without that call")]
    CaptureBroken {
        /// What was asked.
        call: &'static str,
        /// Name of the driver's error.
        code: String,
    },
    /// Any other refusal of the driver.
    #[error("{call}: the driver answers {code}{}", advice(.code))]
    Driver {
        /// What was asked.
        call: &'static str,
        /// Name of the driver's error.
        code: String,
    },
    /// A kernel that the compiler refuses.
    #[error("{source_name} does not compile for {arch}: {log}")]
    Compile {
        /// The file.
        source_name: &'static str,
        /// The architecture.
        arch: String,
        /// What the compiler says.
        log: String,
    },
    /// A call that would break the capture under way, and was not made.
    #[error("{call}: not possible during graph capture; do it before, or after")]
    NotWhileCapturing {
        /// What was asked.
        call: &'static str,
    },
    /// There is no capture to end.
    #[error("end of capture: none is under way; begin one first")]
    NotCapturing,
    /// A capture within a capture.
    #[error("begin of capture: one is under way already; end or abort it first")]
    AlreadyCapturing,
    /// The driver captured nothing.
    #[error("end of capture: nothing was launched in between, so there is no graph")]
    EmptyGraph,
    /// The audit before a capture found nodes that cannot be captured; the stream was not touched.
    #[error("not captured: {}", listed(.reasons))]
    Refused {
        /// Number of each such node and what it says.
        reasons: Vec<(usize, String)>,
    },
    /// A kernel that cannot be captured was run during a capture.
    #[error("{op}: cannot be captured: {reason}")]
    NotCapturable {
        /// The operator.
        op: &'static str,
        /// Why.
        reason: String,
    },
    /// A kernel that was warmed for something else.
    #[error("{op}: {found} came during graph capture, and {warmed}; warm the exact signature first")]
    SignatureChanged {
        /// The operator.
        op: &'static str,
        /// What it was asked to do.
        found: String,
        /// What it was warmed for.
        warmed: String,
    },
    /// Metadata that is not yet on the device.
    #[error("the shape changed during graph capture; warm the exact shape first")]
    MetadataChanged,
    /// Metadata that was made for another plan.
    #[error("move: the metadata is that of another plan; make it of this one")]
    ForeignMetadata,
    /// A graph that is not there.
    #[error("replay: there is no segment {segment}, only {segments}; capture first")]
    NoSegment {
        /// Which was asked for.
        segment: usize,
        /// How many there are.
        segments: usize,
    },
    /// What a graph was captured with is not what it would be replayed with. The graph is gone.
    #[error("replay: {changed} since the capture; the graphs were dropped, the next step begins anew")]
    BindingsChanged {
        /// What changed.
        changed: String,
    },
    /// What kernels found wrong while they could tell nobody.
    #[error("a kernel reports: {}; the weights or the ids are broken", .violations.join(", "))]
    Violated {
        /// What it was.
        violations: Vec<&'static str>,
    },
    /// Something that was freed earlier gave an error that nobody could be told.
    #[error("while something was freed earlier: {0}")]
    Dropped(Box<DeviceError>),
}

impl DeviceError {
    /// Tells apart what the driver answered to `call`.
    pub(super) fn of(call: &'static str) -> impl Fn(DriverError) -> Self {
        move |error| {
            // The name of the code comes from this program, not from the driver.
            let code = format!("{:?}", error.0);
            match error.0 {
                CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
                | CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE
                | CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
                | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
                | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
                | CUresult::CUDA_ERROR_ASSERT
                | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
                | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
                | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
                | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
                | CUresult::CUDA_ERROR_INVALID_PC
                | CUresult::CUDA_ERROR_LAUNCH_FAILED => Self::Lost { call, code },
                CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                | CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                | CUresult::CUDA_ERROR_STREAM_CAPTURE_MERGE
                | CUresult::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED
                | CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED
                | CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION
                | CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
                | CUresult::CUDA_ERROR_CAPTURED_EVENT
                | CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD => Self::CaptureBroken { call, code },
                _ => Self::Driver { call, code },
            }
        }
    }
}

/// What to do about codes that have a usual cause.
fn advice(code: &str) -> &'static str {
    match code {
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" => {
            "; the kernel compiler is newer than the driver: update the driver, or let the loader find an older NVRTC"
        }
        "CUDA_ERROR_NO_BINARY_FOR_GPU" | "CUDA_ERROR_INVALID_PTX" => {
            "; the compiled kernels do not fit this GPU: empty the folder in which they are kept"
        }
        "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" | "CUDA_ERROR_SYSTEM_NOT_READY" => {
            "; the driver and its libraries do not belong together: restart the machine, or install the driver anew"
        }
        _ => "",
    }
}

fn listed(reasons: &[(usize, String)]) -> String {
    let listed: Vec<_> = reasons
        .iter()
        .map(|(node, reason)| format!("{node}: {reason}"))
        .collect();
    listed.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_sentences_without_a_driver() {
        let told = |code| DeviceError::of("launch")(DriverError(code));
        assert!(matches!(
            told(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS),
            DeviceError::Lost { .. }
        ));
        assert!(matches!(
            told(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED),
            DeviceError::CaptureBroken { .. }
        ));
        let other = told(CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION).to_string();
        let wanted = "launch: the driver answers CUDA_ERROR_UNSUPPORTED_PTX_VERSION; the kernel";
        assert!(other.starts_with(wanted), "{other}");
        assert_eq!(
            told(CUresult::CUDA_ERROR_INVALID_VALUE).to_string(),
            "launch: the driver answers CUDA_ERROR_INVALID_VALUE"
        );
    }

    #[test]
    fn a_refusal_names_every_node() {
        let refused = DeviceError::Refused {
            reasons: vec![(1, "not warmed".into()), (4, "reads the host".into())],
        };
        assert_eq!(
            refused.to_string(),
            "not captured: 1: not warmed; 4: reads the host"
        );
    }
}
