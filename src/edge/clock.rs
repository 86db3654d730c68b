//! The clock: when something started and how long it took.
#![expect(clippy::disallowed_methods, reason = "this file is where the clock is read")]

use std::time::{Instant, SystemTime};

/// Measures seconds from its making.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Seconds since the start.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// The present moment as file systems stamp it.
#[must_use]
pub fn file_time() -> SystemTime {
    SystemTime::now()
}

/// The present moment as RFC 3339 text in UTC, to the second.
#[must_use]
pub fn timestamp() -> String {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_second(now.as_second())
        .unwrap_or(now)
        .to_string()
}

/// A number nobody chose, for runs that were not given a seed.
#[must_use]
pub fn arbitrary_seed() -> u64 {
    let nanoseconds = jiff::Timestamp::now().as_nanosecond();
    // Only the low digits vary from run to run; six of them can be read aloud and typed again.
    nanoseconds
        .unsigned_abs()
        .try_into()
        .map_or(1, |n: u64| n / 1_000 % 1_000_000)
}
