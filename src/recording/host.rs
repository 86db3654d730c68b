//! The machine a recording was made on.

use serde::{Deserialize, Serialize};

/// The machine a recording was made on. Absent facts could not be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Processor model.
    pub cpu: Option<String>,
    /// Processors this process may run on.
    pub cores: Option<u32>,
    /// Main memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Operating system and release.
    pub os: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Architecture as Rust names it: `x86_64`, `aarch64`.
    pub arch: Option<String>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// GPUs, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<String>,
}

impl Host {
    /// A name for machines like this one, fit for a folder: `intel-r-xeon-r-processor-2-cores`.
    #[must_use]
    pub fn class(&self) -> String {
        let model = self.cpu.as_deref().or(self.arch.as_deref()).unwrap_or("unknown");
        let words: Vec<String> = model
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        let cores = self
            .cores
            .map(|cores| format!("-{cores}-cores"))
            .unwrap_or_default();
        format!("{}{cores}", words.join("-"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_of_machines_is_fit_for_a_folder() {
        let host = |cpu: Option<&str>, cores: Option<u32>| Host {
            cpu: cpu.map(str::to_owned),
            cores,
            ..Host::default()
        };
        let xeon = host(Some("Intel(R) Xeon(R) Processor"), Some(2));
        assert_eq!(xeon.class(), "intel-r-xeon-r-processor-2-cores");
        assert_eq!(host(Some("../../etc"), None).class(), "etc");
        assert_eq!(host(None, None).class(), "unknown");
    }
}
