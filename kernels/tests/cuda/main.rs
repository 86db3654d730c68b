//! The CUDA half on a real GPU. Without one every test says that it was skipped and why, on standard error, and passes;
//! `--include-ignored` demands a GPU.
//!
//! One test has the GPU at a time: a call of another thread that synchronises the device would break a capture.
#![expect(clippy::unwrap_used, reason = "a GPU that fails should stop its test")]

mod capture;
mod decoder;
mod layers;
mod memory;
mod movement;
mod operators;
mod support;

use kernels::device::{Availability, Device, DeviceError, PtxCache, Source, probe, translate};
use support::{alone, skipped};

#[test]
#[ignore = "demands a GPU"]
fn there_is_a_gpu() {
    assert_eq!(probe(), Availability::Available);
}

#[test]
#[ignore = "demands NVRTC"]
fn there_is_a_compiler() {
    assert!(translate(Source::Movement, (9, 0), &PtxCache::none()).is_ok());
}

#[test]
fn every_source_compiles() {
    for source in Source::ALL {
        for capability in [(8, 0), (9, 0)] {
            match translate(source, capability, &PtxCache::none()) {
                Ok(ptx) => assert!(ptx.contains(".entry"), "{}", source.name()),
                Err(DeviceError::Unavailable(reason)) => {
                    return skipped("every_source_compiles", &reason.to_string());
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn without_a_gpu_a_device_is_an_error_and_not_a_panic() {
    let alone = alone();
    match (probe(), Device::open(PtxCache::none())) {
        (Availability::Available, opened) => assert!(opened.is_ok()),
        (missing, opened) => assert_eq!(opened.unwrap_err(), DeviceError::Unavailable(missing)),
    }
    drop(alone);
}
