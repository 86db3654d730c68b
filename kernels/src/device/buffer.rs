//! Device memory.

use super::{Device, DeviceError, Inner};
use cudarc::driver::result;
use cudarc::driver::sys::{self, CUdeviceptr, CUresult};
use half::{bf16, f16};
use std::rc::Rc;

/// Numbers of which every pattern of bits is one, so that any bytes of a device may become some.
///
/// # Safety
/// Every pattern of bits is a valid value, and there is no padding.
pub unsafe trait Plain: Copy + Default + 'static {}

// SAFETY: plain numbers without padding, here and below.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for u16 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for i64 {}
// SAFETY: as above.
unsafe impl Plain for f32 {}
// SAFETY: a transparent `u16`.
unsafe impl Plain for f16 {}
// SAFETY: a transparent `u16`.
unsafe impl Plain for bf16 {}

/// A piece of device memory at a fixed address. Its bytes are whatever they were before until something is written. A
/// clone is the same memory.
///
/// It is freed when all clones and parts of it and every graph that was captured with it are gone, after the stream is
/// done with it.
#[derive(Clone)]
pub struct Buffer {
    allocation: Rc<Allocation>,
    /// Bytes from the beginning of the allocation.
    start: usize,
    bytes: usize,
}

/// Memory that is owned together by its buffers and the graphs that use it.
pub(super) struct Allocation {
    inner: Rc<Inner>,
    pointer: CUdeviceptr,
}

/// Where a part of a buffer may begin: no kernel loads wider words (`Pack` in `cuda/numbers.cuh`).
const ALIGNMENT: usize = 16;

impl std::fmt::Debug for Buffer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Buffer")
            .field("address", &format_args!("{:#x}", self.address()))
            .field("bytes", &self.bytes())
            .finish()
    }
}

impl Device {
    /// Allocates some bytes. They lie at a multiple of 256, so that the widest loads are possible.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`]; [`DeviceError::NotWhileCapturing`]; what else the driver answers.
    pub fn buffer(&self, bytes: usize) -> Result<Buffer, DeviceError> {
        self.inner.not_while_capturing("allocate device memory")?;
        // Zero bytes have no address, and every buffer is to have one.
        // SAFETY: the context is current on this thread, which the device never leaves; what the memory holds is any
        // bytes, and it is only ever read as those.
        let pointer = unsafe { result::malloc_sync(bytes.max(16)) }.map_err(|error| match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => self.out_of_memory(bytes),
            _ => DeviceError::of("allocate device memory")(error),
        })?;
        self.inner.count(|counters| counters.allocations += 1);
        Ok(Buffer {
            allocation: Rc::new(Allocation {
                inner: Rc::clone(&self.inner),
                pointer,
            }),
            start: 0,
            bytes,
        })
    }

    /// Allocates what these numbers need and uploads them.
    ///
    /// # Errors
    /// As [`Device::buffer`] and [`Buffer::upload`].
    pub fn upload<T: Plain>(&self, numbers: &[T]) -> Result<Buffer, DeviceError> {
        let buffer = self.buffer(size_of_val(numbers))?;
        buffer.upload(numbers)?;
        Ok(buffer)
    }

    fn out_of_memory(&self, wanted: usize) -> DeviceError {
        let (free, total) = self.memory().unwrap_or_default();
        DeviceError::OutOfMemory { wanted, free, total }
    }
}

impl Buffer {
    /// Its length in bytes.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where it is on the device: the same for as long as it lives.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.allocation.pointer + self.start as u64
    }

    /// A part of this memory, `bytes` long, from the byte `start` on, which is a multiple of 16. The memory lives as
    /// long as any part of it.
    ///
    /// # Errors
    /// [`DeviceError::Size`] beyond the end, [`DeviceError::Misaligned`] for another start.
    pub fn part(&self, start: usize, bytes: usize) -> Result<Self, DeviceError> {
        const CALL: &str = "a part of device memory";
        self.fits(CALL, start.saturating_add(bytes))?;
        if !start.is_multiple_of(ALIGNMENT) {
            return Err(DeviceError::Misaligned { start });
        }
        Ok(Self {
            allocation: Rc::clone(&self.allocation),
            start: self.start + start,
            bytes,
        })
    }

    /// Copies numbers to its start, behind all work so far, and waits for that.
    ///
    /// # Errors
    /// [`DeviceError::Size`] if they do not fit; [`DeviceError::NotWhileCapturing`]; what the driver answers.
    pub fn upload<T: Plain>(&self, numbers: &[T]) -> Result<(), DeviceError> {
        self.upload_at(0, numbers)
    }

    /// Copies numbers to its bytes from `start` on, behind all work so far, and waits for that.
    ///
    /// # Errors
    /// As [`Buffer::upload`].
    pub fn upload_at<T: Plain>(&self, start: usize, numbers: &[T]) -> Result<(), DeviceError> {
        const CALL: &str = "copy to the device";
        let bytes = size_of_val(numbers);
        self.fits(CALL, start.saturating_add(bytes))?;
        self.allocation.inner.not_while_capturing(CALL)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: they fit, they are borrowed until after the wait, and there is no capture.
        let copied = unsafe { self.enqueue_upload(start, numbers) };
        // Waited for even after a refusal: nothing may still be read when the numbers go.
        let waited = self.allocation.inner.wait(CALL);
        copied?;
        waited
    }

    /// Puts the copy to its bytes from `start` on on the stream and does not wait.
    ///
    /// # Safety
    /// The numbers fit there, and live until the stream has been waited for. No capture is under way: it would keep their
    /// address, and read it at every replay.
    pub(super) unsafe fn enqueue_upload<T: Plain>(
        &self,
        start: usize,
        numbers: &[T],
    ) -> Result<(), DeviceError> {
        let inner = &self.allocation.inner;
        inner.is_busy.set(true);
        // SAFETY: the caller promises what the copy needs.
        unsafe {
            result::memcpy_htod_async(self.address() + start as u64, numbers, inner.stream.cu_stream())
        }
        .map_err(DeviceError::of("copy to the device"))?;
        inner.count(|counters| {
            counters.h2d_calls += 1;
            counters.h2d_bytes += size_of_val(numbers) as u64;
        });
        Ok(())
    }

    /// Copies this many numbers from its start to the host, behind all work so far, and waits for them.
    ///
    /// # Errors
    /// [`DeviceError::Size`] if there are fewer; [`DeviceError::NotWhileCapturing`]; what the driver answers, an
    /// error of an earlier kernel included.
    pub fn download<T: Plain>(&self, count: usize) -> Result<Vec<T>, DeviceError> {
        const CALL: &str = "copy from the device";
        let bytes = count.saturating_mul(size_of::<T>());
        self.fits(CALL, bytes)?;
        let inner = &self.allocation.inner;
        inner.not_while_capturing(CALL)?;
        let mut numbers = vec![T::default(); count];
        if bytes == 0 {
            return Ok(numbers);
        }
        inner.is_busy.set(true);
        // SAFETY: as many bytes as both sides have, any of which are numbers; the vector lives until the stream is
        // done.
        let copied =
            unsafe { result::memcpy_dtoh_async(&mut numbers, self.address(), inner.stream.cu_stream()) };
        // Waited for even after a refusal: nothing may still be on its way to the vector when it goes.
        let waited = inner.wait(CALL);
        copied.map_err(DeviceError::of(CALL))?;
        waited?;
        inner.count(|counters| {
            counters.d2h_calls += 1;
            counters.d2h_bytes += bytes as u64;
        });
        Ok(numbers)
    }

    /// Sets every byte, behind all work so far, without waiting. May be captured.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn fill(&self, byte: u8) -> Result<(), DeviceError> {
        if self.bytes() == 0 {
            return Ok(());
        }
        let inner = &self.allocation.inner;
        inner.lease(self)?;
        // SAFETY: as many bytes as there are.
        unsafe { result::memset_d8_async(self.address(), byte, self.bytes(), inner.stream.cu_stream()) }
            .map_err(DeviceError::of("fill device memory"))
    }

    /// Sets the first four bytes to a number, behind all work so far, without waiting: no memory of the host is read,
    /// so a token or a position can be written in every step this way.
    ///
    /// # Errors
    /// [`DeviceError::Size`] if there are fewer bytes; [`DeviceError::NotWhileCapturing`], because the number would
    /// be part of the recording; what the driver answers.
    pub fn set(&self, number: u32) -> Result<(), DeviceError> {
        const CALL: &str = "set a number in device memory";
        self.fits(CALL, 4)?;
        let inner = &self.allocation.inner;
        inner.not_while_capturing(CALL)?;
        inner.is_busy.set(true);
        // SAFETY: the four bytes are there, at a multiple of 16.
        unsafe { sys::cuMemsetD32Async(self.address(), number, 1, inner.stream.cu_stream()) }
            .result()
            .map_err(DeviceError::of(CALL))
    }

    /// Copies all bytes of another buffer to its start, behind all work so far, without waiting. May be captured:
    /// this is what changing a shape alone comes down to.
    ///
    /// # Errors
    /// [`DeviceError::Size`] if they do not fit, [`DeviceError::Aliased`] if both have bytes in common,
    /// [`DeviceError::Foreign`]; what the driver answers.
    pub fn copy_from(&self, other: &Self) -> Result<(), DeviceError> {
        const CALL: &str = "copy on the device";
        self.fits(CALL, other.bytes())?;
        if self.overlaps(other) {
            return Err(DeviceError::Aliased { op: CALL });
        }
        if other.bytes() == 0 {
            return Ok(());
        }
        let inner = &self.allocation.inner;
        inner.lease(self)?;
        inner.lease(other)?;
        // SAFETY: both have as many bytes, and none in common.
        unsafe {
            result::memcpy_dtod_async(
                self.address(),
                other.address(),
                other.bytes(),
                inner.stream.cu_stream(),
            )
        }
        .map_err(DeviceError::of(CALL))
    }

    /// Whether both have bytes in common.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let (one, another) = (self.address(), other.address());
        let is_empty = self.bytes == 0 || other.bytes == 0;
        !is_empty && one < another + other.bytes as u64 && another < one + self.bytes as u64
    }

    /// Refuses memory that has no room for a word of 32 bits.
    pub(super) fn is_word(&self, call: &'static str) -> Result<(), DeviceError> {
        self.fits(call, size_of::<u32>())
    }

    fn fits(&self, call: &'static str, wanted: usize) -> Result<(), DeviceError> {
        if wanted > self.bytes() {
            return Err(DeviceError::Size {
                call,
                wanted,
                held: self.bytes(),
            });
        }
        Ok(())
    }
}

impl Inner {
    /// Notes that work on the stream uses this memory: a capture keeps it for as long as its graph lives.
    ///
    /// # Errors
    /// [`DeviceError::Foreign`] for memory of another device, whose stream may be busy with it.
    pub(super) fn lease(&self, buffer: &Buffer) -> Result<(), DeviceError> {
        if !std::ptr::eq(self, Rc::as_ptr(&buffer.allocation.inner)) {
            return Err(DeviceError::Foreign);
        }
        self.is_busy.set(true);
        if self.is_capturing.get() {
            self.leases.borrow_mut().push(Rc::clone(&buffer.allocation));
        }
        Ok(())
    }

    /// Frees what could not be freed during a capture. The capture is over.
    pub(super) fn free_rest(&self) {
        // Taken out first: freeing must not find this borrowed.
        let unfreed = self.unfreed.take();
        for pointer in unfreed {
            self.free(pointer);
        }
    }

    fn free(&self, pointer: CUdeviceptr) {
        if self.is_busy.get()
            && let Err(error) = self.wait("wait before device memory is freed")
        {
            self.park(error);
        }
        // SAFETY: it was allocated by `Device::buffer` and is freed once, when its last owner goes; nothing on the
        // stream uses it any more.
        match unsafe { result::free_sync(pointer) } {
            Ok(()) => self.count(|counters| counters.frees += 1),
            Err(error) => self.park(DeviceError::of("free device memory")(error)),
        }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if self.inner.is_capturing.get() {
            self.inner.unfreed.borrow_mut().push(self.pointer);
        } else {
            self.inner.free(self.pointer);
        }
    }
}
