//! What one launch of a program told about itself, in whatever format.

use crate::metric::Metric;
use std::collections::BTreeMap;

/// Everything one launch told. Facts only: what may be compared with what is decided elsewhere.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    /// What was measured, in the order it was told. Ids are unique.
    pub readings: Vec<Reading>,
    /// What has to be the same on both sides for these numbers to mean the same: model, prompt, threads, device.
    pub settings: BTreeMap<String, String>,
    /// Texts that were generated, token by token; none in formats that do not tell them.
    pub generations: Vec<Generation>,
    /// Keys that this build does not know, with what they held; the first value where a key came again.
    pub unknown: BTreeMap<String, serde_json::Value>,
    /// What was cut off or could not be used, a sentence each; everything else is whole.
    pub incidents: Vec<String>,
}

/// One quantity of one launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Which one, unique in a profile: `ms_per_token`, `pp512/tokens_per_second`.
    pub id: String,
    /// Its name, unit and good direction.
    pub metric: Metric,
    /// A value for each repetition, in the order they were made: at least one, all finite. Times, rates and amounts of
    /// memory are above zero; counts may be zero.
    pub values: Vec<f64>,
}

/// One generated text.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Generation {
    /// Token ids, in order; empty where only times are told.
    pub ids: Vec<u32>,
    /// When each token was known, in nanoseconds since the request; never falls. Empty where only ids are told.
    pub t_ns: Vec<u64>,
    /// Why it ended.
    pub stop: Option<String>,
    /// Tokens of the prompt that were remembered from before.
    pub prefix_hit_tokens: Option<u64>,
    /// Events that were counted meanwhile.
    pub counters: BTreeMap<String, u64>,
}

/// What programs write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `abreast/decode/1`, docs/decode.md.
    AbreastDecode,
    /// The lines for people of the same program.
    ProfileNative,
    /// llama.cpp's `llama-bench`.
    LlamaBench,
    /// `vllm bench latency`.
    VllmLatency,
    /// `vllm bench serve`.
    VllmServe,
    /// SGLang's `bench_one_batch`.
    Sglang,
    /// `trtllm-bench`.
    Trtllm,
    /// onnxruntime-genai's benchmarks.
    Genai,
    /// NVIDIA NVBench.
    Nvbench,
    /// `hyperfine --export-json`.
    Hyperfine,
    /// Google Benchmark's JSON.
    GoogleBenchmark,
    /// `go test -bench`.
    GoBench,
    /// Nothing: the process itself is measured.
    Wall,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::AbreastDecode,
        Self::ProfileNative,
        Self::LlamaBench,
        Self::VllmLatency,
        Self::VllmServe,
        Self::Sglang,
        Self::Trtllm,
        Self::Genai,
        Self::Nvbench,
        Self::Hyperfine,
        Self::GoogleBenchmark,
        Self::GoBench,
        Self::Wall,
    ];

    /// Its name in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AbreastDecode => "abreast-decode",
            Self::ProfileNative => "profile-native",
            Self::LlamaBench => "llama-bench",
            Self::VllmLatency => "vllm-latency",
            Self::VllmServe => "vllm-serve",
            Self::Sglang => "sglang",
            Self::Trtllm => "trtllm",
            Self::Genai => "genai",
            Self::Nvbench => "nvbench",
            Self::Hyperfine => "hyperfine",
            Self::GoogleBenchmark => "google-benchmark",
            Self::GoBench => "go-bench",
            Self::Wall => "wall",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_written_as_it_is_called() {
        for format in Format::ALL {
            let written = serde_json::to_string(&format).unwrap();
            assert_eq!(written, format!("\"{}\"", format.name()));
        }
    }
}
