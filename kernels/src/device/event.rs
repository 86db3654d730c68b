//! Points in time on the stream.

use super::{Device, DeviceError};
use cudarc::driver::CudaEvent;
use cudarc::driver::sys::CUevent_flags;

/// A point in time: when the stream came to where it was recorded.
pub struct Event {
    event: CudaEvent,
    device: Device,
}

impl Device {
    /// Records an event behind all work so far.
    ///
    /// # Errors
    /// [`DeviceError::NotWhileCapturing`]; what the driver answers.
    pub fn event(&self) -> Result<Event, DeviceError> {
        const CALL: &str = "record an event";
        self.inner.not_while_capturing(CALL)?;
        self.inner.is_busy.set(true);
        // With the default flags of a new event there would be no time in it.
        let event = self
            .inner
            .stream
            .record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))
            .map_err(DeviceError::of(CALL))?;
        Ok(Event {
            event,
            device: self.clone(),
        })
    }
}

impl Event {
    /// Milliseconds until a later event, to about half a microsecond. Waits for both: a loop that is measured records
    /// first and asks when it is over.
    ///
    /// # Errors
    /// What the driver answers, an error of an earlier kernel included.
    pub fn until(&self, later: &Self) -> Result<f32, DeviceError> {
        self.device.inner.not_while_capturing("wait for an event")?;
        self.device.inner.count(|counters| counters.syncs += 1);
        self.event
            .elapsed_ms(&later.event)
            .map_err(DeviceError::of("ask for the time between two events"))
    }
}
