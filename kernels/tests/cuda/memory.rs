//! Memory, time, errors.

use crate::support::{POISON, gpu};
use kernels::DType;
use kernels::capture::Recorder as _;
use kernels::device::{Device, DeviceError, PtxCache};

#[test]
fn what_is_uploaded_comes_back_and_is_counted() {
    let Some(gpu) = gpu("what_is_uploaded_comes_back_and_is_counted") else {
        return;
    };
    let before = gpu.device.counters();
    let buffer = gpu.device.upload(&[1_u32, 2, 3]).unwrap();
    assert_eq!(buffer.download::<u32>(3).unwrap(), [1, 2, 3]);
    buffer.set(7).unwrap();
    assert_eq!(buffer.download::<u32>(2).unwrap(), [7, 2]);
    let other = gpu.device.buffer(16).unwrap();
    other.fill(POISON).unwrap();
    other.copy_from(&buffer).unwrap();
    assert_eq!(other.download::<u32>(4).unwrap(), [7, 2, 3, 0xa5a5_a5a5]);
    drop((buffer, other));
    let counted = gpu.device.counters().since(before);
    assert_eq!((counted.allocations, counted.frees), (2, 2));
    assert_eq!((counted.h2d_calls, counted.h2d_bytes), (1, 12));
    assert_eq!((counted.d2h_calls, counted.d2h_bytes), (3, 12 + 8 + 16));
    gpu.device.check_drops().unwrap();
}

#[test]
fn empty_buffers_have_an_address_and_no_bytes() {
    let Some(gpu) = gpu("empty_buffers_have_an_address_and_no_bytes") else {
        return;
    };
    let empty = gpu.device.upload::<f32>(&[]).unwrap();
    assert!(empty.address() != 0 && empty.bytes() == 0);
    assert!(empty.download::<f32>(0).unwrap().is_empty());
    empty.fill(0).unwrap();
    assert!(matches!(
        empty.set(1),
        Err(DeviceError::Size {
            wanted: 4,
            held: 0,
            ..
        })
    ));
    assert!(matches!(empty.download::<u8>(1), Err(DeviceError::Size { .. })));
    assert!(matches!(empty.upload(&[1_u8]), Err(DeviceError::Size { .. })));
}

#[test]
fn more_memory_than_there_is_says_how_much_there_is_and_breaks_nothing() {
    let Some(gpu) = gpu("more_memory_than_there_is_says_how_much_there_is_and_breaks_nothing") else {
        return;
    };
    let (_, total) = gpu.device.memory().unwrap();
    let refused = gpu.device.buffer(2 * total).unwrap_err();
    assert!(
        matches!(refused, DeviceError::OutOfMemory { total: found, .. } if found == total),
        "{refused}"
    );
    assert!(gpu.device.tensor(DType::F32, &[usize::MAX, 2]).is_err());
    assert_eq!(
        gpu.device.upload(&[5_u8]).unwrap().download::<u8>(1).unwrap(),
        [5]
    );
}

#[test]
fn memory_of_another_device_is_refused() {
    let Some(gpu) = gpu("memory_of_another_device_is_refused") else {
        return;
    };
    let other = Device::open(PtxCache::none()).unwrap();
    let (own, foreign) = (gpu.device.buffer(16).unwrap(), other.buffer(16).unwrap());
    assert_eq!(own.copy_from(&foreign), Err(DeviceError::Foreign));
    assert_eq!(gpu.device.advance(&foreign), Err(DeviceError::Foreign));
    other.begin().unwrap();
    foreign.fill(1).unwrap();
    let graph = other.end().unwrap();
    assert_eq!(gpu.device.launch(&graph), Err(DeviceError::Foreign));
    other.launch(&graph).unwrap();
    assert_eq!(foreign.download::<u8>(1).unwrap(), [1]);
}

#[test]
fn there_is_time_between_events() {
    let Some(gpu) = gpu("there_is_time_between_events") else {
        return;
    };
    let buffer = gpu.device.buffer(64 << 20).unwrap();
    let start = gpu.device.event().unwrap();
    buffer.fill(1).unwrap();
    let end = gpu.device.event().unwrap();
    let milliseconds = start.until(&end).unwrap();
    assert!(milliseconds.is_finite() && milliseconds > 0.0, "{milliseconds}");
}
