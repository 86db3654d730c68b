//! One generation, with a clock.

use kernels::device::Counters;
use kernels::model::decoder::DecodeError;
use std::time::{Duration, Instant};

/// When each token was known, and what was counted meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    /// Id, and time since just before the prompt was fed.
    pub(crate) tokens: Vec<(u32, Duration)>,
    /// What the device was asked for from just before the prompt was fed; all 0 on the CPU.
    pub(crate) counters: Counters,
}

impl Run {
    /// Times `generate`, which hands over `count` tokens, each as soon as it is known. `counters` is read before the
    /// clock starts, and again after the last token.
    pub(crate) fn of(
        count: usize,
        counters: impl Fn() -> Counters,
        generate: impl FnOnce(&mut dyn FnMut(u32)) -> Result<(), DecodeError>,
    ) -> Result<Self, DecodeError> {
        let mut tokens = Vec::with_capacity(count);
        let before = counters();
        let start = Instant::now();
        generate(&mut |id| tokens.push((id, start.elapsed())))?;
        let counters = counters().since(before);
        Ok(Self { tokens, counters })
    }

    pub(crate) fn ids(&self) -> Vec<u32> {
        self.tokens.iter().map(|(id, _)| *id).collect()
    }

    /// Times of the tokens.
    pub(crate) fn times(&self) -> Vec<Duration> {
        self.tokens.iter().map(|(_, time)| *time).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_run_has_its_tokens_in_order_and_counts_what_came_after_its_beginning() {
        let replays = Cell::new(10);
        let counters = || Counters {
            replays: replays.get(),
            ..Counters::default()
        };
        let run = Run::of(2, counters, |each| {
            for id in [7, 5] {
                replays.set(replays.get() + 1);
                each(id);
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(run.ids(), [7, 5]);
        assert!(run.times().is_sorted());
        assert_eq!(run.counters.replays, 2);
    }

    #[test]
    fn a_generation_that_breaks_off_is_no_run() {
        let broken = Run::of(2, Counters::default, |each| {
            each(7);
            Err(DecodeError::NotANumber { position: 1 })
        });
        assert_eq!(broken, Err(DecodeError::NotANumber { position: 1 }));
    }
}
