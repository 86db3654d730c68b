//! A quiet moment: waits until some processor runs at its full speed, and says how far from it the best one is.
//!
//! A virtual processor is often one of two hardware threads of a core, and the other one is somebody else's. While that
//! one works, this one is up to two times slower, and nothing tells: no steal, no run queue, no switch. It can be
//! measured, though: a fixed loop of independent instructions takes a tenth of a millisecond on a core that is ours
//! alone, and longer on one that is shared. On such machines the state lasts for tens of milliseconds to seconds, so a
//! process that starts at a quiet moment is likely to find one.

#![expect(clippy::disallowed_methods, reason = "this file times a loop")]

use crate::edge::process;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Looks for quiet processors. Knows how fast the loop has been.
#[derive(Debug)]
pub struct Quiet {
    /// Processors that may be used, in the order they are tried next.
    processors: Vec<usize>,
    /// Fastest loop so far, in seconds, and when.
    fastest: Option<(f64, Instant)>,
    /// When looking began, and how much of the time since then was spent on it.
    began: Instant,
    spent: Duration,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// The processor that was the quietest; absent where a thread cannot be placed.
    pub processor: Option<usize>,
    /// How many times slower than the fastest the loop was there, at least 1.
    pub slowdown: f64,
}

/// Runs of the loop in one probe; their median counts, so that an interrupt does not.
const RUNS: usize = 3;

/// A loop that is slower by less than this met nobody: a shared core shows as 1.3 to 2.
const TOLERANCE: f64 = 1.1;

/// Processors to try, so that a large machine is not probed from end to end.
const MOST: usize = 8;

/// Part of the fastest time that is forgotten in a minute: clock speeds change.
const FORGOTTEN: f64 = 0.01;

/// Longest wait.
const PATIENCE: Duration = Duration::from_millis(100);

/// Part of all time that may go into looking and waiting, so a machine that is never quiet costs little.
const SHARE: f64 = 0.0125;

impl Quiet {
    /// Knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            processors: process::processors(),
            fastest: None,
            began: Instant::now(),
            spent: Duration::ZERO,
        }
    }

    /// Waits until a processor is quiet, or until its share of the time is spent; then the quietest of the last round
    /// has to do.
    pub fn wait(&mut self) -> Moment {
        let began = Instant::now();
        let saved = self.began.elapsed().mul_f64(SHARE).saturating_sub(self.spent);
        let moment = loop {
            let moment = self.quietest();
            if moment.slowdown < TOLERANCE || began.elapsed() >= saved.min(PATIENCE) {
                break moment;
            }
        };
        self.spent += began.elapsed();
        moment
    }

    /// How slow that processor is now, at least 1.
    pub fn slowdown(&mut self, processor: Option<usize>) -> f64 {
        let seconds = process::on(processor, probe);
        self.compared(seconds)
    }

    /// Tries each processor until one is quiet; another one comes first next time.
    fn quietest(&mut self) -> Moment {
        let mut best = Moment {
            processor: None,
            slowdown: f64::INFINITY,
        };
        let candidates: Vec<usize> = self.processors.iter().copied().take(MOST).collect();
        for processor in candidates {
            let slowdown = self.slowdown(Some(processor));
            if slowdown < best.slowdown {
                best = Moment {
                    processor: Some(processor),
                    slowdown,
                };
            }
            if slowdown < TOLERANCE {
                break;
            }
            self.processors.rotate_left(1);
        }
        if best.processor.is_none() {
            best.slowdown = self.slowdown(None);
        }
        best
    }

    fn compared(&mut self, seconds: f64) -> f64 {
        let remembered = self
            .fastest
            .map(|(fastest, at)| fastest * (1.0 + FORGOTTEN * at.elapsed().as_secs_f64() / 60.0));
        match remembered {
            Some(fastest) if fastest < seconds => seconds / fastest,
            _ => {
                self.fastest = Some((seconds, Instant::now()));
                1.0
            }
        }
    }
}

impl Default for Quiet {
    fn default() -> Self {
        Self::new()
    }
}

/// Median seconds of the loop.
fn probe() -> f64 {
    let mut times = [0.0; RUNS];
    for time in &mut times {
        let began = Instant::now();
        black_box(fixed_work(black_box(40_000)));
        *time = began.elapsed().as_secs_f64();
    }
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

/// Six chains of instructions that do not wait for each other, so that they fill a core that is not shared.
#[inline(never)]
fn fixed_work(rounds: u64) -> u64 {
    let (mut a, mut b, mut c, mut d, mut e, mut f) = (1_u64, 2_u64, 3_u64, 4_u64, 5_u64, 6_u64);
    for i in 0..rounds {
        a = black_box(a ^ i).wrapping_add(3);
        b = b.rotate_left(5) ^ i;
        c = c.wrapping_add(i << 1);
        d = (d ^ (i >> 1)).rotate_left(7);
        e = e.wrapping_add(d & 1);
        f ^= (f << 1) ^ i;
    }
    a ^ b ^ c ^ d ^ e ^ f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slowness_is_told_from_the_fastest_so_far() {
        let mut quiet = Quiet::new();
        let told: Vec<f64> = [2.0, 4.0, 1.0, 1.5]
            .map(|seconds| quiet.compared(seconds))
            .to_vec();
        for (told, expected) in told.iter().zip([1.0, 2.0, 1.0, 1.5]) {
            assert!((told - expected).abs() < 1e-3, "{told:?}");
        }
    }

    #[test]
    fn a_machine_that_is_never_quiet_costs_no_more_than_a_share_of_the_time() {
        let mut quiet = Quiet::new();
        quiet.fastest = Some((1e-12, Instant::now()));
        // An hour ago, and all of its share is spent but what one wait may take.
        let hour = Duration::from_secs(3600);
        let Some(began) = Instant::now().checked_sub(hour) else {
            return;
        };
        quiet.began = began;
        quiet.spent = hour.mul_f64(SHARE).saturating_sub(PATIENCE);
        let before = quiet.spent;
        let moment = quiet.wait();
        assert!(moment.slowdown > TOLERANCE);
        assert_eq!(moment.processor.is_some(), !process::processors().is_empty());
        assert!(quiet.spent >= before + PATIENCE, "it waits as long as it may");
        let saved = |quiet: &Quiet| quiet.began.elapsed().mul_f64(SHARE).saturating_sub(quiet.spent);
        assert!(saved(&quiet) < PATIENCE / 10, "and has spent what it saved");
    }

    #[test]
    fn a_quiet_machine_is_not_waited_for() {
        let mut quiet = Quiet::new();
        // Nothing is slower than what takes a day.
        quiet.fastest = Some((86_400.0, Instant::now()));
        assert!(quiet.wait().slowdown < TOLERANCE);
    }
}
