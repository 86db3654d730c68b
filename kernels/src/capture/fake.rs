//! A stream without a device: it writes down what it runs.

use super::{Node, Recorder, Support};
use crate::device::{Counters, DeviceError};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A stream, and all clones of it.
#[derive(Clone, Default)]
pub(super) struct Fake {
    inner: Rc<Inner>,
}

#[derive(Default)]
struct Inner {
    ran: RefCell<Vec<String>>,
    recording: RefCell<Option<Vec<String>>>,
    is_broken: Cell<bool>,
    counters: Cell<Counters>,
}

impl Fake {
    /// Runs it, or records it.
    pub(super) fn put(&self, what: &str) -> Result<(), DeviceError> {
        if self.inner.is_broken.get() {
            return Err(broken("launch"));
        }
        match &mut *self.inner.recording.borrow_mut() {
            Some(recording) => recording.push(what.to_owned()),
            None => self.inner.ran.borrow_mut().push(what.to_owned()),
        }
        Ok(())
    }

    /// Does what a forbidden call during a capture does.
    pub(super) fn break_capture(&self) {
        self.inner.is_broken.set(self.inner.recording.borrow().is_some());
    }

    pub(super) fn is_recording(&self) -> bool {
        self.inner.recording.borrow().is_some()
    }

    /// What ran since the last time.
    pub(super) fn ran(&self) -> Vec<String> {
        self.inner.ran.take()
    }

    pub(super) fn counters(&self) -> Counters {
        self.inner.counters.get()
    }

    fn over(&self) -> (Option<Vec<String>>, bool) {
        (self.inner.recording.take(), self.inner.is_broken.replace(false))
    }
}

fn broken(call: &'static str) -> DeviceError {
    DeviceError::CaptureBroken {
        call,
        code: "INVALIDATED".into(),
    }
}

impl Recorder for Fake {
    type Graph = Vec<String>;

    fn begin(&self) -> Result<(), DeviceError> {
        let old = self.inner.recording.replace(Some(Vec::new()));
        assert!(old.is_none(), "the stream is being captured");
        Ok(())
    }

    fn end(&self) -> Result<Vec<String>, DeviceError> {
        match self.over() {
            (_, true) => Err(broken("end of capture")),
            (recording, false) => recording.ok_or(DeviceError::NotCapturing),
        }
    }

    fn abort(&self) {
        self.over();
    }

    fn launch(&self, graph: &Vec<String>) -> Result<(), DeviceError> {
        assert!(!self.is_recording(), "the stream is being captured");
        self.inner.ran.borrow_mut().extend(graph.iter().cloned());
        Ok(())
    }

    fn count(&self, change: impl FnOnce(&mut Counters)) {
        let mut counters = self.inner.counters.get();
        change(&mut counters);
        self.inner.counters.set(counters);
    }
}

/// How a node behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// May be recorded.
    Fine,
    /// May be recorded after it ran once.
    Warms,
    /// May not be recorded.
    Host,
    /// Says that it may be recorded, and fails when it is.
    Lies,
    /// Breaks the capture without a word.
    Breaks,
}

/// A node that puts its name on the stream.
pub(super) struct FakeNode {
    name: String,
    kind: Kind,
    is_warm: bool,
}

impl FakeNode {
    pub(super) fn new(name: &str, kind: Kind) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            is_warm: false,
        }
    }
}

impl Node<Fake> for FakeNode {
    fn op(&self) -> &str {
        // Numbers tell nodes of one kind apart.
        self.name.trim_end_matches(|letter: char| letter.is_ascii_digit())
    }

    fn support(&self) -> Support {
        match self.kind {
            Kind::Host => Support::Unsupported("reads the host".into()),
            Kind::Warms if !self.is_warm => Support::Unsupported("not warmed".into()),
            _ => Support::Supported,
        }
    }

    fn run(&mut self, stream: &Fake) -> Result<(), DeviceError> {
        if stream.is_recording() {
            match self.kind {
                Kind::Lies => return Err(DeviceError::MetadataChanged),
                Kind::Breaks => stream.break_capture(),
                _ => {}
            }
            if self.kind == Kind::Breaks {
                return Ok(());
            }
        }
        self.is_warm = true;
        stream.put(&self.name)
    }
}
