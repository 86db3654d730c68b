//! What is decoded with: a model and, if it brings one along, its tokenizer.

use crate::options::{Options, ProfileError};
use kernels::model::decoder::DecodeError;
use kernels::model::load::LoadError;
use kernels::model::{Parameters, Shape, load};
use kernels::text::{Codec, TextError};
use kernels::weights::{Format, OpenError, Weights};
use std::path::Path;

/// Why there is nothing to decode with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SubjectError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Text(#[from] TextError),
    #[error("there is no shape {found:?}; there are {}", Shape::NAMES.join(", "))]
    NoShape { found: String },
}

/// A model that is ready.
pub(crate) struct Subject {
    pub(crate) parameters: Parameters,
    /// SHA-256 of the file the weights are from; absent where they follow from a name.
    pub(crate) sha256: Option<String>,
    codec: Result<Codec, TextError>,
}

impl Subject {
    pub(crate) fn of(options: &Options) -> Result<Self, SubjectError> {
        match &options.model {
            Some(path) => Self::of_file(path),
            None => Self::seeded(options),
        }
    }

    fn seeded(options: &Options) -> Result<Self, SubjectError> {
        let shape = Shape::named(&options.shape).ok_or_else(|| SubjectError::NoShape {
            found: options.shape.clone(),
        })?;
        Ok(Self {
            parameters: Parameters::seeded(&shape, options.dtype()),
            sha256: None,
            codec: Err(TextError::None {
                found: "none".to_owned(),
            }),
        })
    }

    fn of_file(path: &Path) -> Result<Self, SubjectError> {
        let weights = Weights::open(path)?;
        let config = match weights.format() {
            Format::Gguf => None,
            Format::Safetensors => std::fs::read_to_string(path.with_file_name("config.json")).ok(),
        };
        Ok(Self {
            parameters: load(&weights, config.as_deref())?,
            sha256: Some(weights.sha256()),
            codec: Codec::of_gguf(weights.metadata()),
        })
    }

    /// Token ids of the prompt: those that are fed, whatever they came from.
    pub(crate) fn prompt(&self, options: &Options) -> Result<Vec<u32>, ProfileError> {
        let ids = match (options.prompt_ids()?, &self.codec) {
            (Some(ids), _) => ids,
            (None, Ok(codec)) => codec.encode(&options.prompt).map_err(SubjectError::from)?,
            // A made-up model has nothing to say, so any ids will do.
            (None, Err(_)) if self.sha256.is_none() => options.prompt.bytes().map(u32::from).collect(),
            (None, Err(error)) => return Err(ProfileError::Usage(error.to_string())),
        };
        if ids.is_empty() {
            return Err(DecodeError::NoPrompt.into());
        }
        let vocabulary = self.parameters.shape.vocabulary;
        match ids.iter().find(|id| **id as usize >= vocabulary) {
            Some(token) => Err(DecodeError::Token {
                token: *token,
                vocabulary,
            }
            .into()),
            None => Ok(ids),
        }
    }

    /// The text of ids; absent without a tokenizer.
    pub(crate) fn text(&self, ids: &[u32]) -> Option<String> {
        self.codec.as_ref().ok()?.decode(ids).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    fn options(arguments: &[&str]) -> Options {
        Options::parse_from([&["decode-profile"], arguments].concat())
    }

    #[test]
    fn what_is_not_there_is_refused_with_what_is() {
        let refused = Subject::of(&options(&["--shape", "gpt"]))
            .err()
            .unwrap()
            .to_string();
        assert!(refused.contains("tiny, tiny-hybrid, smollm2-135m"), "{refused}");
        let refused = Subject::of(&options(&["--model", "no/such.gguf"]))
            .err()
            .unwrap()
            .to_string();
        assert!(refused.contains("no/such.gguf"), "{refused}");
    }

    #[test]
    fn a_made_up_model_reads_bytes_and_a_prompt_has_one_token_at_least() {
        let subject = Subject::of(&options(&[])).unwrap();
        assert_eq!(subject.prompt(&options(&["--prompt", "Hi"])).unwrap(), [72, 105]);
        assert!(subject.prompt(&options(&["--prompt", ""])).is_err());
        assert_eq!(subject.text(&[72]), None);
    }
}
