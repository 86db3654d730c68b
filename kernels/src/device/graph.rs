//! Capture of what is put on the stream, and its replay.

use super::buffer::Allocation;
use super::{Counters, Device, DeviceError, Inner};
use crate::capture::Recorder;
use cudarc::driver::CudaGraph;
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode, CUstreamCaptureStatus_enum};
use std::rc::Rc;

/// What was put on the stream between the beginning and the end of a capture. It keeps all device memory alive that
/// it was recorded with: a replay writes to and reads from the same addresses.
pub struct Graph {
    graph: Option<CudaGraph>,
    device: Device,
    /// Held, not read; freed last.
    _leases: Vec<Rc<Allocation>>,
}

impl Device {
    /// Asks the driver whether the stream is being captured: `Ok(false)` if not, an error if a capture is broken.
    ///
    /// # Errors
    /// [`DeviceError::CaptureBroken`]; what the driver answers.
    pub fn capture_status(&self) -> Result<bool, DeviceError> {
        const CALL: &str = "ask for the capture";
        match self
            .inner
            .stream
            .capture_status()
            .map_err(DeviceError::of(CALL))?
        {
            CUstreamCaptureStatus_enum::CU_STREAM_CAPTURE_STATUS_NONE => Ok(false),
            CUstreamCaptureStatus_enum::CU_STREAM_CAPTURE_STATUS_ACTIVE => Ok(true),
            CUstreamCaptureStatus_enum::CU_STREAM_CAPTURE_STATUS_INVALIDATED => {
                Err(DeviceError::CaptureBroken {
                    call: CALL,
                    code: "CU_STREAM_CAPTURE_STATUS_INVALIDATED".to_owned(),
                })
            }
        }
    }
}

impl Recorder for Device {
    type Graph = Graph;

    fn begin(&self) -> Result<(), DeviceError> {
        if self.inner.is_capturing.get() {
            return Err(DeviceError::AlreadyCapturing);
        }
        // What is still being copied must not depend on anything that may be dropped during the capture.
        if self.inner.is_busy.get() {
            self.inner.wait("wait before a capture")?;
        }
        // Of this thread alone: what other libraries of the process do elsewhere is not judged.
        self.inner
            .stream
            .begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
            .map_err(DeviceError::of("begin of capture"))?;
        self.inner.is_capturing.set(true);
        Ok(())
    }

    fn end(&self) -> Result<Graph, DeviceError> {
        const CALL: &str = "end of capture";
        if !self.inner.is_capturing.get() {
            return Err(DeviceError::NotCapturing);
        }
        let ended = self.inner.stream.end_capture(CUgraphInstantiate_flags(0));
        // Over in any case: a stream whose capture could not be ended well is not captured any more.
        let leases = self.inner.capture_is_over();
        let graph = ended
            .map_err(DeviceError::of(CALL))?
            .ok_or(DeviceError::EmptyGraph)?;
        self.inner.is_busy.set(true);
        graph.upload().map_err(DeviceError::of("upload of a graph"))?;
        Ok(Graph {
            graph: Some(graph),
            device: self.clone(),
            _leases: leases,
        })
    }

    fn abort(&self) {
        if !self.inner.is_capturing.get() {
            return;
        }
        // Always asked for, and what it answers is known: without it every later launch on the stream would fail.
        drop(self.inner.stream.end_capture(CUgraphInstantiate_flags(0)));
        drop(self.inner.capture_is_over());
        // What was parked is about what was just thrown away.
        let _ = self.inner.context.check_err();
    }

    fn launch(&self, graph: &Graph) -> Result<(), DeviceError> {
        const CALL: &str = "replay of a graph";
        self.inner.not_while_capturing(CALL)?;
        // It would run on the stream of its own device, which would not know that it is busy.
        if !Rc::ptr_eq(&self.inner, &graph.device.inner) {
            return Err(DeviceError::Foreign);
        }
        self.inner.is_busy.set(true);
        match &graph.graph {
            Some(graph) => graph.launch().map_err(DeviceError::of(CALL)),
            None => Err(DeviceError::EmptyGraph),
        }
    }

    fn count(&self, change: impl FnOnce(&mut Counters)) {
        self.inner.count(change);
    }
}

impl Inner {
    /// Gives what the capture was recorded with, and frees what could not be freed during it.
    fn capture_is_over(&self) -> Vec<Rc<Allocation>> {
        self.is_capturing.set(false);
        let leases = self.leases.take();
        self.free_rest();
        leases
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let inner = &self.device.inner;
        // It may still be running.
        if inner.is_busy.get()
            && !inner.is_capturing.get()
            && let Err(error) = inner.wait("wait before a graph is dropped")
        {
            inner.park(error);
        }
        drop(self.graph.take());
        inner.collect_drop_error();
    }
}
