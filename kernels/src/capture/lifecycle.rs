//! The graphs of one stream, from the beginning of a capture to the last replay.

use super::{Node, Recorder, audit};
use crate::device::DeviceError;

/// The graphs of one stream, in the order in which they were recorded, and whether another one is being recorded.
///
/// Graphs must not be touched by two threads at a time: whoever wants to do something with these needs them mutably,
/// and the recorder of a device stays on its thread.
pub struct Lifecycle<R: Recorder> {
    recorder: R,
    is_capturing: bool,
    graphs: Vec<R::Graph>,
}

impl<R: Recorder> Lifecycle<R> {
    /// Without graphs, idle.
    pub const fn new(recorder: R) -> Self {
        Self {
            recorder,
            is_capturing: false,
            graphs: Vec::new(),
        }
    }

    /// The stream.
    pub const fn recorder(&self) -> &R {
        &self.recorder
    }

    /// Whether a capture is under way.
    pub const fn is_capturing(&self) -> bool {
        self.is_capturing
    }

    /// How many graphs there are.
    pub const fn segments(&self) -> usize {
        self.graphs.len()
    }

    /// Begins a capture.
    ///
    /// # Errors
    /// [`DeviceError::AlreadyCapturing`]; what the device answers.
    pub fn begin(&mut self) -> Result<(), DeviceError> {
        if self.is_capturing {
            return Err(DeviceError::AlreadyCapturing);
        }
        self.recorder.begin()?;
        self.is_capturing = true;
        Ok(())
    }

    /// Ends the capture and keeps its graph as the last segment, whose number is the answer. Idle afterwards in any
    /// case.
    ///
    /// # Errors
    /// [`DeviceError::NotCapturing`]; [`DeviceError::CaptureBroken`]; what the device answers.
    pub fn end(&mut self) -> Result<usize, DeviceError> {
        if !self.is_capturing {
            return Err(DeviceError::NotCapturing);
        }
        self.is_capturing = false;
        let graph = self.recorder.end()?;
        self.graphs.push(graph);
        Ok(self.graphs.len() - 1)
    }

    /// Throws the capture away, if there is one, whatever state it is in. Idle afterwards.
    pub fn abort(&mut self) {
        if self.is_capturing {
            self.is_capturing = false;
            // Asked for even where the device has already given the capture up: the stream is of no use until then.
            self.recorder.abort();
        }
    }

    /// Records what `work` puts on the stream as the last segment, whose number is the answer. If it fails, or
    /// panics, the capture is thrown away.
    ///
    /// # Errors
    /// What `work` returns; as [`Lifecycle::begin`] and [`Lifecycle::end`].
    pub fn record(&mut self, work: impl FnOnce(&R) -> Result<(), DeviceError>) -> Result<usize, DeviceError> {
        self.begin()?;
        let recording = Recording(self);
        work(&recording.0.recorder)?;
        recording.0.end()
    }

    /// Records all of these nodes as the last segment, whose number is the answer, after it was asked of each whether
    /// it may be recorded.
    ///
    /// # Errors
    /// [`DeviceError::Refused`] with all nodes that may not: nothing has begun then; what a node returns; as
    /// [`Lifecycle::begin`] and [`Lifecycle::end`].
    pub fn record_nodes(&mut self, nodes: &mut [Box<dyn Node<R> + '_>]) -> Result<usize, DeviceError> {
        audit(nodes)?;
        self.record(|recorder| nodes.iter_mut().try_for_each(|node| node.run(recorder)))
    }

    /// Puts one segment on the stream.
    ///
    /// # Errors
    /// [`DeviceError::NoSegment`]; [`DeviceError::NotWhileCapturing`]; what the device answers.
    pub fn replay(&mut self, segment: usize) -> Result<(), DeviceError> {
        if self.is_capturing {
            return Err(DeviceError::NotWhileCapturing { call: "replay" });
        }
        let graph = self.graphs.get(segment).ok_or(DeviceError::NoSegment {
            segment,
            segments: self.graphs.len(),
        })?;
        self.recorder.launch(graph)
    }

    /// Puts all segments on the stream, in order.
    ///
    /// # Errors
    /// [`DeviceError::NoSegment`] if there are none; as [`Lifecycle::replay`].
    pub fn replay_all(&mut self) -> Result<(), DeviceError> {
        // At least once, so that nothing to replay is told.
        for segment in 0..self.graphs.len().max(1) {
            self.replay(segment)?;
        }
        Ok(())
    }

    /// Drops all graphs. Says whether there were any.
    ///
    /// # Errors
    /// [`DeviceError::NotWhileCapturing`]: end or abort the capture first.
    pub fn reset(&mut self) -> Result<bool, DeviceError> {
        if self.is_capturing {
            return Err(DeviceError::NotWhileCapturing { call: "reset" });
        }
        let had_any = !self.graphs.is_empty();
        self.graphs.clear();
        Ok(had_any)
    }
}

impl<R: Recorder> Drop for Lifecycle<R> {
    fn drop(&mut self) {
        self.abort();
    }
}

/// Throws the capture away unless it was ended.
struct Recording<'a, R: Recorder>(&'a mut Lifecycle<R>);

impl<R: Recorder> Drop for Recording<'_, R> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;

    fn put(what: &'static str) -> impl FnOnce(&Fake) -> Result<(), DeviceError> {
        move |stream| stream.put(what)
    }

    #[test]
    fn segments_are_numbered_and_replayed_in_order() {
        let mut lifecycle = Lifecycle::new(Fake::default());
        assert_eq!(lifecycle.record(put("a")).unwrap(), 0);
        assert_eq!(lifecycle.record(put("b")).unwrap(), 1);
        assert!(lifecycle.recorder().ran().is_empty(), "recording runs nothing");
        lifecycle.replay_all().unwrap();
        lifecycle.replay(0).unwrap();
        assert_eq!(lifecycle.recorder().ran(), ["a", "b", "a"]);
        assert_eq!(lifecycle.segments(), 2);
        assert!(lifecycle.reset().unwrap());
        assert!(!lifecycle.reset().unwrap());
        assert_eq!(
            lifecycle.replay_all().unwrap_err().to_string(),
            "replay: there is no segment 0, only 0; capture first"
        );
    }

    #[test]
    fn what_fails_while_it_is_recorded_leaves_the_stream_usable() {
        let mut lifecycle = Lifecycle::new(Fake::default());
        let failed = lifecycle.record(|stream| {
            stream.put("a")?;
            Err(DeviceError::MetadataChanged)
        });
        assert_eq!(failed, Err(DeviceError::MetadataChanged));
        assert!(!lifecycle.is_capturing());
        lifecycle.recorder().put("b").unwrap();
        assert_eq!(lifecycle.recorder().ran(), ["b"]);
        assert_eq!(lifecycle.record(put("c")).unwrap(), 0);
    }

    #[test]
    fn a_panic_while_something_is_recorded_leaves_the_stream_usable() {
        let mut lifecycle = Lifecycle::new(Fake::default());
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = lifecycle.record(|_| panic!("on purpose"));
        }));
        assert!(caught.is_err());
        assert!(!lifecycle.is_capturing());
        lifecycle.recorder().put("b").unwrap();
        assert_eq!(lifecycle.recorder().ran(), ["b"]);
    }

    #[test]
    fn a_capture_that_the_device_gave_up_is_ended_and_forgotten() {
        let mut lifecycle = Lifecycle::new(Fake::default());
        lifecycle.begin().unwrap();
        lifecycle.recorder().break_capture();
        assert!(matches!(lifecycle.end(), Err(DeviceError::CaptureBroken { .. })));
        assert!(!lifecycle.is_capturing());
        assert_eq!(lifecycle.segments(), 0);
        assert_eq!(lifecycle.record(put("a")).unwrap(), 0);
    }

    #[test]
    fn during_a_capture_nothing_is_reset_replayed_or_begun() {
        let mut lifecycle = Lifecycle::new(Fake::default());
        lifecycle.record(put("a")).unwrap();
        lifecycle.begin().unwrap();
        assert!(matches!(
            lifecycle.reset(),
            Err(DeviceError::NotWhileCapturing { call: "reset" })
        ));
        assert!(matches!(
            lifecycle.replay(0),
            Err(DeviceError::NotWhileCapturing { call: "replay" })
        ));
        assert_eq!(lifecycle.begin(), Err(DeviceError::AlreadyCapturing));
        assert_eq!(lifecycle.segments(), 1);
        lifecycle.abort();
        lifecycle.abort();
        assert_eq!(lifecycle.end(), Err(DeviceError::NotCapturing));
        lifecycle.replay(0).unwrap();
        assert_eq!(lifecycle.recorder().ran(), ["a"]);
    }

    #[test]
    fn a_lifecycle_that_goes_during_a_capture_ends_it() {
        let stream = Fake::default();
        let mut lifecycle = Lifecycle::new(stream.clone());
        lifecycle.begin().unwrap();
        drop(lifecycle);
        stream.put("a").unwrap();
        assert_eq!(stream.ran(), ["a"]);
    }
}
