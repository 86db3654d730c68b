//! What other programs write about themselves, read into one shape: a file for each format.
//!
//! Every reader takes what was whole and says what was not: a file that was cut off is no error as long as something of
//! it can be used. Keys that are not known are kept. A unit that is not known is an error: a number without one says
//! nothing.

mod abreast_decode;
mod error;
mod genai;
mod go_bench;
mod google_benchmark;
mod hyperfine;
mod json;
mod llama_bench;
mod nvbench;
mod objects;
mod profile_native;
mod sglang;
mod steady;
mod tally;
mod trtllm;
mod value;
mod vllm_latency;
mod vllm_serve;

pub use error::FormatError;

use crate::profile::{Format, Profile};

/// What a program wrote.
#[derive(Clone, Copy)]
pub struct Written<'a> {
    /// The file, or what came on standard output.
    pub bytes: &'a [u8],
    /// Reads a file that the first one names, by its name as written there; absent if there is none.
    pub beside: &'a dyn Fn(&str) -> Option<Vec<u8>>,
}

/// Reads what a program wrote.
///
/// # Errors
/// [`FormatError`] if nothing of it can be used, or a unit is not known.
pub fn read(format: Format, written: Written<'_>) -> Result<Profile, FormatError> {
    match format {
        Format::AbreastDecode => abreast_decode::read(written),
        Format::ProfileNative => profile_native::read(written),
        Format::LlamaBench => llama_bench::read(written),
        Format::VllmLatency => vllm_latency::read(written),
        Format::VllmServe => vllm_serve::read(written),
        Format::Sglang => sglang::read(written),
        Format::Trtllm => trtllm::read(written),
        Format::Genai => genai::read(written),
        Format::Nvbench => nvbench::read(written),
        Format::Hyperfine => hyperfine::read(written),
        Format::GoogleBenchmark => google_benchmark::read(written),
        Format::GoBench => go_bench::read(written),
        Format::Wall => Err(FormatError::Nothing {
            format,
            why: "it writes nothing, its process is measured".to_owned(),
        }),
    }
}
