//! What sampling refuses.

/// Why nothing was processed, or drawn. The logits are as they were.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SamplingError {
    /// A parameter for which a processor has no meaning.
    #[error("{processor}: its parameter is {found}, and must be {wanted}")]
    Parameter {
        /// The processor.
        processor: &'static str,
        /// What it was given.
        found: String,
        /// What it takes.
        wanted: &'static str,
    },
    /// A token of the context for which there is no logit.
    #[error(
        "sampling: token {id} is in the context, and logits are of {tokens} tokens; take both from one vocabulary"
    )]
    Token {
        /// The token.
        id: u32,
        /// How many logits there are.
        tokens: usize,
    },
    /// Every token is out.
    #[error(
        "sampling: no token is left to draw from, all are minus infinity or NaN; keep more, or loosen the mask"
    )]
    Nothing,
}
