//! Access to a GPU: the one room of this crate with unsafe code in it.
//!
//! What leaves this room is safe to call: a launch is made by a function that has checked that every place its kernel
//! touches lies within the buffers it is given; memory is freed after the stream is done with it, and not while a graph
//! that was captured with it is alive. A [`Device`] stays on its thread: there is one stream, and everything happens in
//! order on it.
#![allow(
    unsafe_code,
    reason = "the driver is called from here, and every call says why it may be"
)]

mod attention;
mod blas;
mod buffer;
mod counters;
mod division;
mod elementwise;
mod error;
mod event;
mod graph;
mod latch;
mod launch;
mod layers;
mod matmul;
mod movement;
mod probe;
mod ptx;
mod reduce;
mod tensor;

pub use attention::{DeviceAngles, Scratch};
pub use blas::Blas;
pub use buffer::{Buffer, Plain};
pub use counters::Counters;
pub use error::DeviceError;
pub use event::Event;
pub use graph::Graph;
pub use latch::{Answer, Latch};
pub use movement::Metadata;
pub use probe::{Availability, probe};
pub use ptx::{PtxCache, Source, translate};
pub use tensor::DeviceTensor;

pub(crate) use attention::LONGEST_HEAD;
#[cfg(test)]
pub(crate) use division::divide;
pub(crate) use division::{INDEX_LIMIT, magic};

use buffer::Allocation;
use cudarc::driver::sys::{CUctx_flags, CUdeviceptr, CUfunction};
use cudarc::driver::{CudaContext, CudaModule, CudaStream};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The first GPU that the driver shows, and one stream on it. Clones are the same device.
#[derive(Clone)]
pub struct Device {
    inner: Rc<Inner>,
}

struct Inner {
    cache: PtxCache,
    capability: (i32, i32),
    counters: Cell<Counters>,
    /// Whether work was put on the stream since the host last waited for it.
    is_busy: Cell<bool>,
    is_capturing: Cell<bool>,
    /// Memory that the capture under way was recorded with.
    leases: RefCell<Vec<Rc<Allocation>>>,
    /// Memory that was to be freed during the capture under way: freeing would break it.
    unfreed: RefCell<Vec<CUdeviceptr>>,
    /// What went wrong while something was freed.
    drop_error: RefCell<Option<DeviceError>>,
    functions: RefCell<HashMap<&'static str, CUfunction>>,
    // In this order: each needs those below it for as long as it lives.
    modules: RefCell<HashMap<Source, Arc<CudaModule>>>,
    stream: Arc<CudaStream>,
    context: Arc<CudaContext>,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Device")
            .field("capability", &self.inner.capability)
            .field("counters", &self.inner.counters.get())
            .finish_non_exhaustive()
    }
}

impl Device {
    /// Opens the first GPU. Kernels that are compiled are kept in `cache`.
    ///
    /// # Errors
    /// [`DeviceError::Unavailable`] with what [`probe`] found, or what the driver answers.
    pub fn open(cache: PtxCache) -> Result<Self, DeviceError> {
        match probe() {
            Availability::Available => {}
            other => return Err(DeviceError::Unavailable(other)),
        }
        let context = CudaContext::new(0).map_err(DeviceError::of("open the device"))?;
        // SAFETY: all work goes to one stream, so nothing has to be ordered between streams. Before the first
        // allocation, because a capture may not wait for an event that was recorded outside of it.
        unsafe { context.disable_event_tracking() };
        // Waiting by spinning, on machines with few cores as on those with many: results stay comparable.
        context
            .set_flags(CUctx_flags::CU_CTX_SCHED_SPIN)
            .map_err(DeviceError::of("choose how to wait"))?;
        let stream = context
            .new_stream()
            .map_err(DeviceError::of("create the stream"))?;
        let capability = context
            .compute_capability()
            .map_err(DeviceError::of("ask for the compute capability"))?;
        let inner = Rc::new(Inner {
            cache,
            capability,
            counters: Cell::default(),
            is_busy: Cell::new(false),
            is_capturing: Cell::new(false),
            leases: RefCell::default(),
            unfreed: RefCell::default(),
            drop_error: RefCell::default(),
            functions: RefCell::default(),
            modules: RefCell::default(),
            stream,
            context,
        });
        Ok(Self { inner })
    }

    /// Name of the GPU.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn name(&self) -> Result<String, DeviceError> {
        self.inner
            .context
            .name()
            .map_err(DeviceError::of("ask for the name"))
    }

    /// Bytes of memory: those that are free, and all.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn memory(&self) -> Result<(usize, usize), DeviceError> {
        self.inner
            .context
            .mem_get_info()
            .map_err(DeviceError::of("ask for the free memory"))
    }

    /// Compute capability: major and minor.
    #[must_use]
    pub fn capability(&self) -> (i32, i32) {
        self.inner.capability
    }

    /// What was asked of the device so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.inner.counters.get()
    }

    /// Whether the stream is being captured.
    #[must_use]
    pub fn is_capturing(&self) -> bool {
        self.inner.is_capturing.get()
    }

    /// Waits until all work on the stream is done.
    ///
    /// # Errors
    /// [`DeviceError::NotWhileCapturing`]; what the driver answers, an error of an earlier kernel included; or
    /// [`DeviceError::Dropped`] with what went wrong when something was freed earlier.
    pub fn wait(&self) -> Result<(), DeviceError> {
        self.inner.not_while_capturing("wait for the stream")?;
        self.inner.wait("wait for the stream")?;
        self.check_drops()
    }

    /// Says whether anything went wrong while memory, graphs or events were freed, which nobody could be told then.
    /// Says it once.
    ///
    /// # Errors
    /// [`DeviceError::Dropped`]
    pub fn check_drops(&self) -> Result<(), DeviceError> {
        self.inner.collect_drop_error();
        match self.inner.drop_error.take() {
            Some(error) => Err(DeviceError::Dropped(Box::new(error))),
            None => Ok(()),
        }
    }
}

impl Inner {
    fn count(&self, change: impl FnOnce(&mut Counters)) {
        let mut counters = self.counters.get();
        change(&mut counters);
        self.counters.set(counters);
    }

    fn not_while_capturing(&self, call: &'static str) -> Result<(), DeviceError> {
        if self.is_capturing.get() {
            return Err(DeviceError::NotWhileCapturing { call });
        }
        Ok(())
    }

    /// Waits even where nothing is known to be under way: who calls this is to be counted as who waits.
    fn wait(&self, call: &'static str) -> Result<(), DeviceError> {
        self.count(|counters| counters.syncs += 1);
        self.stream.synchronize().map_err(DeviceError::of(call))?;
        self.is_busy.set(false);
        Ok(())
    }

    /// The context parks errors of what it frees and gives them to whoever calls next; this takes them before that.
    fn collect_drop_error(&self) {
        if let Err(error) = self.context.check_err() {
            self.park(DeviceError::of("free")(error));
        }
    }

    /// Keeps the first error: later ones follow from it.
    fn park(&self, error: DeviceError) {
        let mut parked = self.drop_error.borrow_mut();
        if parked.is_none() {
            *parked = Some(error);
        }
    }
}
