//! Kernels: found, loaded when they are first used, and launched.

use super::{Buffer, Device, DeviceError, Source, translate};
use crate::error::OpError;
use cudarc::driver::sys::CUfunction;
use cudarc::driver::{CudaModule, result};
use cudarc::nvrtc::Ptx;
use std::ffi::c_void;
use std::sync::Arc;

#[cfg(not(target_endian = "little"))]
compile_error!("a parameter of 32 bits is passed by the address of one of 64");

/// A parameter of a kernel.
#[derive(Clone, Copy)]
pub(super) enum Arg<'a> {
    /// Where it begins.
    Buffer(&'a Buffer),
    /// A number of 32 bits.
    U32(u32),
    /// A number of 64 bits.
    U64(u64),
    /// A number with a fraction.
    F32(f32),
}

/// How many threads run a kernel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    /// Blocks along x, y and z.
    pub(super) blocks: (u32, u32, u32),
    /// Threads of a block.
    pub(super) threads: u32,
    /// Bytes of shared memory of a block, beyond what the kernel itself declares.
    pub(super) shared: u32,
}

impl Grid {
    /// Blocks in a row.
    pub(super) const fn row(blocks: u32, threads: u32) -> Self {
        Self {
            blocks: (blocks, 1, 1),
            threads,
            shared: 0,
        }
    }

    /// As many blocks as it takes to give each thread `each` of `count` pieces, at least one; beyond the most, the
    /// kernel's loop takes more than one round.
    pub(super) fn looped(count: usize, threads: u32, each: usize) -> Self {
        let blocks = count.div_ceil(threads as usize * each).clamp(1, MOST_BLOCKS);
        Self::row(saturated(blocks), threads)
    }
}

/// The largest grid along y and z, and the longest along x of kernels that loop.
pub(super) const MOST_BLOCKS: usize = 65_535;

/// Blocks along y for `found` pieces, of which each takes `each`; refuses more than a grid has.
pub(super) fn along_y(
    op: &'static str,
    what: &'static str,
    found: usize,
    each: usize,
) -> Result<usize, DeviceError> {
    let blocks = found.div_ceil(each);
    if blocks > MOST_BLOCKS {
        let limit = MOST_BLOCKS * each + 1;
        return Err(DeviceError::Op(OpError::Range {
            op,
            what,
            found,
            limit,
        }));
    }
    Ok(blocks)
}

/// The number, or the largest there is.
pub(super) fn saturated(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A length that a kernel counts with indices of 32 bits.
pub(super) fn narrow(op: &'static str, what: &'static str, found: usize) -> Result<u32, DeviceError> {
    match u32::try_from(found) {
        Ok(number) if found < super::INDEX_LIMIT => Ok(number),
        _ => Err(DeviceError::Op(OpError::Range {
            op,
            what,
            found,
            limit: super::INDEX_LIMIT,
        })),
    }
}

impl Device {
    /// Loads all kernels now. Otherwise a file is loaded when one of its kernels is first launched, which is not
    /// possible during a capture.
    ///
    /// # Errors
    /// [`DeviceError::Compile`]; [`DeviceError::NotWhileCapturing`]; what the driver answers.
    pub fn load_kernels(&self) -> Result<(), DeviceError> {
        for source in Source::ALL {
            self.load(source)?;
        }
        Ok(())
    }

    fn load(&self, source: Source) -> Result<Arc<CudaModule>, DeviceError> {
        if let Some(module) = self.inner.modules.borrow().get(&source) {
            return Ok(Arc::clone(module));
        }
        // The driver would answer that all is well, and the capture would be dead.
        self.inner.not_while_capturing("load kernels")?;
        let ptx = translate(source, self.inner.capability, &self.inner.cache)?;
        let module = self
            .inner
            .context
            .load_module(Ptx::from_src(ptx))
            .map_err(DeviceError::of("load kernels"))?;
        self.inner
            .modules
            .borrow_mut()
            .insert(source, Arc::clone(&module));
        Ok(module)
    }

    fn function(&self, source: Source, entry: &'static str) -> Result<CUfunction, DeviceError> {
        if let Some(function) = self.inner.functions.borrow().get(entry) {
            return Ok(*function);
        }
        let function = self
            .load(source)?
            .load_function(entry)
            .map_err(DeviceError::of("find a kernel"))?
            .cu_function();
        self.inner.functions.borrow_mut().insert(entry, function);
        Ok(function)
    }

    /// Puts a kernel on the stream and does not wait. May be captured if it was launched before.
    ///
    /// # Safety
    /// `args` are the parameters of `entry`, in order and of its types, and every place it reads or writes with them
    /// lies within the buffers among them.
    pub(super) unsafe fn enqueue<const N: usize>(
        &self,
        source: Source,
        entry: &'static str,
        grid: Grid,
        args: &[Arg<'_>; N],
    ) -> Result<(), DeviceError> {
        let function = self.function(source, entry)?;
        let mut values = [0_u64; N];
        let mut pointers = [std::ptr::null_mut::<c_void>(); N];
        for ((value, pointer), arg) in values.iter_mut().zip(&mut pointers).zip(args) {
            *value = match *arg {
                Arg::Buffer(buffer) => {
                    self.inner.lease(buffer)?;
                    buffer.address()
                }
                Arg::U32(number) => u64::from(number),
                Arg::U64(number) => number,
                Arg::F32(number) => u64::from(number.to_bits()),
            };
            *pointer = std::ptr::from_mut(value).cast();
        }
        // SAFETY: the function is of a module that lives as long as the device; every parameter has an address that
        // is good until the call returns, which copies it; the rest is what the caller promises.
        unsafe {
            result::launch_kernel(
                function,
                grid.blocks,
                (grid.threads, 1, 1),
                grid.shared,
                self.inner.stream.cu_stream(),
                &mut pointers,
            )
        }
        .map_err(DeviceError::of(entry))
    }
}
