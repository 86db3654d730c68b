//! One generation, with a clock.

use kernels::model::Decoder;
use kernels::model::decoder::DecodeError;
use std::time::{Duration, Instant};

/// When each token was known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    /// Id, and time since just before the prompt was fed.
    pub(crate) tokens: Vec<(u32, Duration)>,
}

impl Run {
    /// Generates from a clean state: nothing of the run before is reused.
    pub(crate) fn of(decoder: &mut Decoder<'_>, prompt: &[u32], count: usize) -> Result<Self, DecodeError> {
        let mut tokens = Vec::with_capacity(count);
        decoder.reset();
        let start = Instant::now();
        decoder.greedy(prompt, count, |id| tokens.push((id, start.elapsed())))?;
        Ok(Self { tokens })
    }

    pub(crate) fn ids(&self) -> Vec<u32> {
        self.tokens.iter().map(|(id, _)| *id).collect()
    }

    /// Times of the tokens.
    pub(crate) fn times(&self) -> Vec<Duration> {
        self.tokens.iter().map(|(_, time)| *time).collect()
    }
}
