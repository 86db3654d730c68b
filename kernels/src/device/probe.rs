//! Whether there is a GPU that can be used, without ever failing.

use cudarc::driver::result::device;
use cudarc::driver::sys::{self, CUdevice_attribute, CUresult};
use cudarc::driver::{CudaContext, DriverError};
use std::ffi::c_void;
use std::panic::catch_unwind;

/// Oldest generation that the kernels are written for: it has the conversion to bf16.
const OLDEST_CAPABILITY: i32 = 8;

/// What a look at the machine found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// A GPU, a driver for it, and a compiler of kernels.
    Available,
    /// No driver is installed.
    NoDriver,
    /// A driver without a GPU that it can use, and what it says.
    NoDevice(String),
    /// A driver or a GPU of a kind that lacks something, and what that is.
    TooOld(String),
    /// A GPU, but NVRTC, which compiles the kernels at run time, is not found by the loader.
    NoCompiler,
}

impl std::fmt::Display for Availability {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Available => formatter.write_str("a GPU is available"),
            Self::NoDriver => formatter.write_str("no NVIDIA driver is installed (libcuda is not found by the loader)"),
            Self::NoDevice(reason) => write!(formatter, "the driver has no GPU: {reason}"),
            Self::TooOld(reason) => write!(formatter, "too old: {reason}"),
            Self::NoCompiler => formatter.write_str(
                "NVRTC, the compiler of kernels, is not found by the loader; install it, or add its folder to the path \
                 that the loader searches",
            ),
        }
    }
}

/// What the very first questions need.
const TO_ASK: [&str; 5] = [
    "cuInit",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDriverGetVersion",
];

/// All else that is called, so that an old driver is noticed here and not in the middle of something.
const TO_WORK: [&str; 36] = [
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuCtxSetFlags",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime_v2",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuGraphUpload",
    "cuLaunchKernel",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemsetD32Async",
    "cuMemsetD8Async",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuStreamBeginCapture_v2",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamEndCapture",
    "cuStreamIsCapturing",
    "cuStreamSynchronize",
];

/// Looks for a driver, a GPU and a compiler, in this order; the first that is missing is the answer.
///
/// The driver's library is loaded by this, and stays loaded. Nothing is allocated on a GPU.
#[must_use]
pub fn probe() -> Availability {
    // SAFETY: loading a library runs its initialisers; those of the driver and of NVRTC have no requirements.
    if !unsafe { sys::is_culib_present() } {
        return Availability::NoDriver;
    }
    // The functions are looked up one by one when they are first called, and a missing one is a panic then. The lists
    // are the rule; catching is for what they may lack.
    match catch_unwind(ask) {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => refusal(error),
        Err(_) => Availability::TooOld("the driver lacks a function that is needed; update it".into()),
    }
}

fn ask() -> Result<Availability, DriverError> {
    if let Some(name) = missing(&TO_ASK) {
        return Ok(lacks(name));
    }
    let devices = CudaContext::device_count()?;
    if devices == 0 {
        return Ok(Availability::NoDevice("it counts none".into()));
    }
    if let Some(name) = missing(&TO_WORK) {
        return Ok(lacks(name));
    }
    let first = device::get(0)?;
    let major = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
    // SAFETY: the device comes from the driver, just now.
    let capability = unsafe { device::get_attribute(first, major) }?;
    if capability < OLDEST_CAPABILITY {
        return Ok(Availability::TooOld(format!(
            "the GPU is of compute capability {capability}, and {OLDEST_CAPABILITY} is needed"
        )));
    }
    if !super::ptx::is_compiler_present() {
        return Ok(Availability::NoCompiler);
    }
    Ok(Availability::Available)
}

/// The first of these functions that the driver does not have.
fn missing(names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| {
        // SAFETY: the library is there, and what is found is neither called nor kept.
        unsafe { sys::culib().get::<*const c_void>(name.as_bytes()) }.is_err()
    })
}

fn lacks(name: &str) -> Availability {
    Availability::TooOld(format!("the driver lacks {name}; update it"))
}

/// What an error of the first questions means.
fn refusal(error: DriverError) -> Availability {
    let code = format!("{:?}", error.0);
    match error.0 {
        CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
        | CUresult::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
        | CUresult::CUDA_ERROR_STUB_LIBRARY => {
            Availability::TooOld(format!("the driver answers {code}; update it"))
        }
        _ => Availability::NoDevice(format!("it answers {code}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_at_any_machine_gives_an_answer_that_is_a_sentence() {
        let answer = probe();
        assert_eq!(answer, probe());
        assert!(answer.to_string().len() > 10, "{answer}");
    }

    #[test]
    fn errors_of_the_first_questions_tell_no_device_from_an_old_driver() {
        let none = refusal(DriverError(CUresult::CUDA_ERROR_NO_DEVICE));
        assert_eq!(
            none.to_string(),
            "the driver has no GPU: it answers CUDA_ERROR_NO_DEVICE"
        );
        let old = refusal(DriverError(CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH));
        assert!(matches!(old, Availability::TooOld(_)));
    }
}
