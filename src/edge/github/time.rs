//! Time, as far as patience with GitHub needs it.
#![expect(
    clippy::disallowed_methods,
    reason = "when an hour's requests are renewed is told by the clock"
)]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A clock, and waiting. Tests have a clock that stands still, and wait for nothing.
pub struct Time {
    /// Seconds since 1970.
    pub now_s: Box<dyn Fn() -> u64>,
    /// Waits.
    pub wait: Box<dyn Fn(Duration)>,
}

impl Time {
    /// The time that passes.
    #[must_use]
    pub fn real() -> Self {
        let since_1970 = || SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            now_s: Box::new(move || since_1970().map_or(0, |since| since.as_secs())),
            wait: Box::new(std::thread::sleep),
        }
    }
}
