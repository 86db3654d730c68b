//! Processors one after the other.

use super::processor::Scratch;
use super::{Processor, SamplingError};

/// The tokens so far. Both may be empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// What was given.
    pub prompt: &'a [u32],
    /// What was made of it since.
    pub generated: &'a [u32],
}

impl<'a> Context<'a> {
    pub(super) fn all(self) -> impl Iterator<Item = u32> + Clone + 'a {
        self.prompt.iter().chain(self.generated).copied()
    }

    pub(super) fn generated(self) -> impl Iterator<Item = u32> + Clone + 'a {
        self.generated.iter().copied()
    }
}

/// Processors that are applied in order, with memory that is reused: after logits of some length it allocates nothing
/// for others of that length.
#[derive(Debug, Clone)]
pub struct Chain {
    processors: Vec<Processor>,
    scratch: Scratch,
}

impl Chain {
    /// A chain of these. Without any it changes nothing.
    ///
    /// # Errors
    /// [`SamplingError::Parameter`] if one of them has a parameter without a meaning.
    pub fn new(processors: &[Processor]) -> Result<Self, SamplingError> {
        processors.iter().try_for_each(|processor| processor.check())?;
        Ok(Self {
            processors: processors.to_vec(),
            scratch: Scratch::default(),
        })
    }

    /// The processors, in order.
    #[must_use]
    pub fn processors(&self) -> &[Processor] {
        &self.processors
    }

    /// Reshapes the logits.
    ///
    /// # Errors
    /// [`SamplingError::Token`] if the context has a token without a logit; nothing is changed then.
    pub fn apply(&mut self, logits: &mut [f32], context: Context<'_>) -> Result<(), SamplingError> {
        let tokens = logits.len();
        if let Some(id) = context.all().find(|id| *id as usize >= tokens) {
            return Err(SamplingError::Token { id, tokens });
        }
        for processor in &self.processors {
            processor.apply(logits, context, &mut self.scratch);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{greedy, is_in};
    use super::*;

    fn logits() -> Vec<f32> {
        (0..32_000)
            .map(|i| ((i * 17 % 997) as f32 - 498.0) / 73.0)
            .collect()
    }

    /// What the suite measures.
    fn seven() -> Chain {
        Chain::new(&[
            Processor::Repetition(1.1),
            Processor::Frequency(0.2),
            Processor::Presence(0.1),
            Processor::Temperature(0.8),
            Processor::TopK(50),
            Processor::TopP(0.9),
            Processor::MinP(0.05),
        ])
        .unwrap()
    }

    #[test]
    fn seven_processors_leave_the_tokens_that_were_worked_out_by_hand() {
        let prompt: Vec<u32> = (0..128).map(|i| i % 97).collect();
        let generated: Vec<u32> = (0..64).map(|i| i % 31).collect();
        let context = Context {
            prompt: &prompt,
            generated: &generated,
        };
        // 17 i is 996 modulo 997 for i = 821, and 995 for i = 645: 32 tokens have the largest logit, and as many the
        // next, of which top-k keeps 18. Those weigh exp(-1 / 73 / 0.8) = 0.98302 each beside 1, together 49.694;
        // nine tenths of it, 44.725, are reached with 32 and 13 tokens.
        let mut expected: Vec<usize> = (0..32).map(|j| 821 + 997 * j).collect();
        expected.extend((0..13).map(|j| 645 + 997 * j));
        expected.sort_unstable();
        let mut chain = seven();
        for _ in 0..2 {
            let mut logits = logits();
            assert_eq!(greedy(&logits), Some(821));
            chain.apply(&mut logits, context).unwrap();
            let kept: Vec<usize> = (0..logits.len()).filter(|i| is_in(logits[*i])).collect();
            assert_eq!(kept, expected);
            assert_eq!(greedy(&logits), Some(821));
        }
    }

    #[test]
    fn a_token_without_a_logit_is_refused_before_anything_is_changed() {
        let mut logits = vec![1.0; 4];
        let context = Context {
            prompt: &[3],
            generated: &[4],
        };
        let refused = seven().apply(&mut logits, context).unwrap_err();
        assert_eq!(refused, SamplingError::Token { id: 4, tokens: 4 });
        assert!(logits.iter().all(|logit| logit.to_bits() == 1.0_f32.to_bits()));
    }

    #[test]
    fn one_chain_serves_vocabularies_of_any_size() {
        let mut chain = seven();
        for tokens in [5, 1, 0, 300] {
            let mut logits = vec![1.0; tokens];
            let prompt: &[u32] = if tokens > 0 { &[0] } else { &[] };
            chain
                .apply(
                    &mut logits,
                    Context {
                        prompt,
                        generated: prompt,
                    },
                )
                .unwrap();
            assert_eq!(greedy(&logits).is_some(), tokens > 0);
        }
    }

    #[test]
    fn a_chain_of_nothing_changes_nothing_and_a_bad_one_is_not_made() {
        let mut logits = vec![1.0, 2.0];
        Chain::new(&[])
            .unwrap()
            .apply(&mut logits, Context::default())
            .unwrap();
        let bits: Vec<u32> = logits.iter().map(|logit| logit.to_bits()).collect();
        assert_eq!(bits, [1.0_f32, 2.0].map(f32::to_bits));
        assert!(Chain::new(&[Processor::TopK(1), Processor::TopK(0)]).is_err());
    }
}
