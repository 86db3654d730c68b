//! What was typed, and what it means.

use crate::subject::SubjectError;
use clap::{Parser, ValueEnum};
use kernels::DType;
use kernels::model::Launch;
use kernels::model::decoder::DecodeError;
use std::path::PathBuf;

/// Most tokens, runs and warm-ups: what is more is a slip.
const MANY: i64 = 1_000_000;

/// Decodes greedily with a small model and tells when every token was known.
#[derive(Debug, Parser)]
#[command(name = "decode-profile", version)]
pub(crate) struct Options {
    /// A model: GGUF, or safetensors with their config.json beside them
    #[arg(long, value_name = "PATH", conflicts_with_all = ["shape", "dtype"])]
    pub(crate) model: Option<PathBuf>,
    /// A shape that has a name, with numbers that depend on the name alone
    #[arg(long, value_name = "NAME", default_value = "tiny")]
    pub(crate) shape: String,
    /// How the weights are stored
    #[arg(long, value_enum, default_value_t = Dtype::F32)]
    pub(crate) dtype: Dtype,
    /// Where it runs
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    pub(crate) backend: Backend,
    /// How the work of a step reaches the GPU; `captured` if it is not given
    #[arg(long, value_enum)]
    pub(crate) launch: Option<Launching>,
    /// Threads of the CPU; all that there are if it is not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Time each token within a generation, without the first `--decode-skip`, instead of whole generations
    #[arg(long)]
    pub(crate) steady: bool,
    /// Tokens at the beginning of every generation that are outside of the steady window
    #[arg(long, value_name = "K", default_value_t = 8, value_parser = clap::value_parser!(u32).range(..=MANY))]
    pub(crate) decode_skip: u32,
    /// Whole generations before those that are measured
    #[arg(long, value_name = "W", default_value_t = 1, value_parser = clap::value_parser!(u32).range(..=MANY))]
    pub(crate) warmups: u32,
    /// Generations that are measured
    #[arg(long, value_name = "R", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MANY))]
    pub(crate) runs: u32,
    /// Tokens of every generation
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=MANY))]
    pub(crate) tokens: u32,
    /// The prompt; where there is no tokenizer, each byte is one token
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "Hello",
        conflicts_with = "prompt_ids"
    )]
    pub(crate) prompt: String,
    /// File with the token ids of the prompt: whole numbers, with white space, commas and brackets between them
    #[arg(long, value_name = "FILE")]
    pub(crate) prompt_ids: Option<PathBuf>,
    /// Write JSON lines, `abreast/decode/1`
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// On threads of the CPU.
    Cpu,
    /// On the first GPU that the driver shows.
    Cuda,
}

impl Backend {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
        }
    }
}

/// How the work of a step reaches the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Launching {
    /// Kernel after kernel; those that move data upload their metadata every time, and are waited for.
    PerCall,
    /// Kernel after kernel, with metadata that stays on the GPU.
    Persistent,
    /// As one graph: recorded in the second step of a generation, replayed in all that follow.
    Captured,
}

/// How the weights are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dtype {
    /// 32 bits.
    F32,
    /// 16 bits, IEEE 754.
    F16,
    /// 16 bits, the upper half of 32.
    Bf16,
}

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProfileError {
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Subject(#[from] SubjectError),
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("cannot write: {0}")]
    Write(#[from] std::io::Error),
    #[error("cannot start {threads} threads: {source}")]
    Threads {
        threads: usize,
        source: rayon::ThreadPoolBuildError,
    },
    #[error("greedy decode was not deterministic across measured runs: the token ids differ")]
    NotDeterministic,
}

impl ProfileError {
    /// 2 for wrong usage or input, 1 for everything else.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Decode(
                DecodeError::Device(_) | DecodeError::NotANumber { .. } | DecodeError::Memory { .. },
            )
            | Self::Write(_)
            | Self::Threads { .. }
            | Self::NotDeterministic => 1,
            Self::Usage(_) | Self::Read { .. } | Self::Subject(_) | Self::Decode(_) => 2,
        }
    }
}

impl Options {
    /// Refuses flags that contradict each other.
    pub(crate) fn check(&self) -> Result<(), ProfileError> {
        let refused = |text: String| Err(ProfileError::Usage(text));
        if self.backend == Backend::Cpu && self.launch.is_some() {
            return refused(
                "--launch is for --backend cuda: nothing is launched on the CPU, so leave it out".to_owned(),
            );
        }
        // In JSON whoever reads it takes the window.
        let has_window = self.steady || self.json;
        if has_window && self.decode_skip == 0 {
            return refused(
                "--decode-skip must be at least 1: the window begins at the last skipped token".to_owned(),
            );
        }
        if has_window && self.tokens <= self.decode_skip {
            return refused(format!(
                "--tokens {} leaves no steady window after --decode-skip {}: ask for more tokens",
                self.tokens, self.decode_skip
            ));
        }
        Ok(())
    }

    pub(crate) const fn dtype(&self) -> DType {
        match self.dtype {
            Dtype::F32 => DType::F32,
            Dtype::F16 => DType::F16,
            Dtype::Bf16 => DType::Bf16,
        }
    }

    /// How the work of a step reaches the GPU; absent on the CPU.
    pub(crate) fn launch(&self) -> Option<Launch> {
        let launch = match self.launch {
            Some(Launching::PerCall) => Launch::PerCall,
            Some(Launching::Persistent) => Launch::Persistent,
            Some(Launching::Captured) | None => Launch::Captured,
        };
        (self.backend == Backend::Cuda).then_some(launch)
    }

    pub(crate) fn pool(&self) -> Result<rayon::ThreadPool, ProfileError> {
        let threads = usize::from(self.threads.unwrap_or(0));
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|source| ProfileError::Threads { threads, source })
    }

    /// Token ids of the prompt, if they are in a file.
    pub(crate) fn prompt_ids(&self) -> Result<Option<Vec<u32>>, ProfileError> {
        let Some(path) = &self.prompt_ids else {
            return Ok(None);
        };
        let source = |source| ProfileError::Read {
            path: path.clone(),
            source,
        };
        numbers(&std::fs::read_to_string(path).map_err(source)?)
            .map(Some)
            .map_err(|text| ProfileError::Usage(format!("{}: {text}", path.display())))
    }
}

fn numbers(text: &str) -> Result<Vec<u32>, String> {
    text.split(|character: char| character.is_whitespace() || ",[]".contains(character))
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().map_err(|_| format!("{word:?} is not a token id")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::device::{Availability, DeviceError};

    fn options(arguments: &[&str]) -> Options {
        Options::parse_from([&["decode-profile"], arguments].concat())
    }

    #[test]
    fn ids_are_read_from_lists_lines_and_json() {
        assert_eq!(numbers("[1, 2,3]\n4 5\n").unwrap(), [1, 2, 3, 4, 5]);
        assert_eq!(numbers("1 -2").unwrap_err(), "\"-2\" is not a token id");
        assert!(numbers("99999999999").is_err());
        assert_eq!(numbers("[1.5]").unwrap_err(), "\"1.5\" is not a token id");
        assert!(numbers("seventy two").is_err());
    }

    #[test]
    fn a_window_without_a_token_is_refused() {
        let refused = options(&["--steady", "--tokens", "8"]).check().unwrap_err();
        assert!(
            refused.to_string().contains("leaves no steady window"),
            "{refused}"
        );
        assert!(options(&["--steady", "--decode-skip", "0"]).check().is_err());
        assert!(options(&["--json", "--tokens", "8"]).check().is_err());
        assert!(options(&["--tokens", "8"]).check().is_ok());
    }

    #[test]
    fn a_file_of_ids_that_is_not_there_is_named() {
        let refused = options(&["--prompt-ids", "no/such"]).prompt_ids().unwrap_err();
        assert!(
            refused.to_string().starts_with("cannot read no/such"),
            "{refused}"
        );
        assert_eq!(options(&[]).prompt_ids().unwrap(), None);
    }

    #[test]
    fn work_is_launched_on_a_gpu_alone_and_captured_unless_told_otherwise() {
        let launch = |arguments: &[&str]| options(arguments).launch();
        assert_eq!(launch(&[]), None);
        assert_eq!(launch(&["--backend", "cuda"]), Some(Launch::Captured));
        for wanted in [Launch::PerCall, Launch::Persistent, Launch::Captured] {
            let named = options(&["--backend", "cuda", "--launch", wanted.name()]);
            assert_eq!(named.launch(), Some(wanted));
            assert!(named.check().is_ok());
            let refused = options(&["--launch", wanted.name()]).check().unwrap_err();
            assert!(
                refused.to_string().starts_with("--launch is for --backend cuda"),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_gpu_that_cannot_be_used_is_no_mistake_of_who_typed() {
        let gpu = DeviceError::Unavailable(Availability::NoDriver);
        assert_eq!(ProfileError::from(DecodeError::from(gpu)).exit_code(), 1);
        assert_eq!(ProfileError::from(DecodeError::NoPrompt).exit_code(), 2);
    }
}
