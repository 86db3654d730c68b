//! The machine: what it is, and what else it is doing.
#![expect(
    clippy::disallowed_methods,
    reason = "this file is where /proc and /sys are read"
)]

use crate::recording::Host;
use std::fs::read_to_string;

/// Facts about this machine; what cannot be read is absent.
#[must_use]
pub fn host() -> Host {
    Host {
        cpu: cpu_model(),
        cores: std::thread::available_parallelism()
            .ok()
            .and_then(|n| u32::try_from(n.get()).ok()),
        memory_bytes: field("/proc/meminfo", "MemTotal").and_then(|text| {
            let kib: u64 = text.split_whitespace().next()?.parse().ok()?;
            Some(kib * 1024)
        }),
        os: field_of(
            &read_to_string("/etc/os-release").unwrap_or_default(),
            "PRETTY_NAME",
            '=',
        )
        .map(|name| name.trim_matches('"').to_owned())
        .or_else(|| Some(std::env::consts::OS.to_owned())),
        kernel: line("/proc/sys/kernel/osrelease"),
        arch: Some(std::env::consts::ARCH.to_owned()),
        governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        gpus: gpus(),
    }
}

/// Models of the GPUs that the NVIDIA driver knows.
fn gpus() -> Vec<String> {
    let found = std::fs::read_dir("/proc/driver/nvidia/gpus")
        .into_iter()
        .flatten()
        .flatten();
    let model = |gpu: std::fs::DirEntry| field(&gpu.path().join("information").to_string_lossy(), "Model");
    let mut models: Vec<String> = found.filter_map(model).collect();
    models.sort();
    models
}

/// Running totals of the whole machine; two of them bracket a slot.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Load {
    /// Time taken by the hypervisor for others, in milliseconds since boot, all processors.
    pub steal_ms: Option<f64>,
    /// Time some task waited for a processor, in milliseconds since boot.
    pub pressure_ms: Option<f64>,
    /// Load average over one minute.
    pub load1: Option<f64>,
}

impl Load {
    /// The totals at this moment.
    #[must_use]
    pub fn now() -> Self {
        Self {
            steal_ms: read_to_string("/proc/stat").ok().as_deref().and_then(steal_ms),
            pressure_ms: read_to_string("/proc/pressure/cpu")
                .ok()
                .as_deref()
                .and_then(pressure_ms),
            load1: line("/proc/loadavg").and_then(|text| text.split_whitespace().next()?.parse().ok()),
        }
    }
}

fn cpu_model() -> Option<String> {
    // x86 says "model name"; Arm has only numbers, of which the part is the most telling.
    field("/proc/cpuinfo", "model name")
        .or_else(|| field("/proc/cpuinfo", "CPU part").map(|part| format!("Arm part {part}")))
}

/// Eighth number of the `cpu` line, in hundredths of a second (USER_HZ is 100 on every Linux Rust runs on).
fn steal_ms(stat: &str) -> Option<f64> {
    let ticks: f64 = stat.lines().next()?.split_whitespace().nth(8)?.parse().ok()?;
    Some(ticks * 10.0)
}

/// `some ... total=MICROSECONDS`
fn pressure_ms(pressure: &str) -> Option<f64> {
    let total: f64 = pressure
        .lines()
        .next()?
        .rsplit_once("total=")?
        .1
        .trim()
        .parse()
        .ok()?;
    Some(total / 1e3)
}

fn line(path: &str) -> Option<String> {
    let text = read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn field(path: &str, name: &str) -> Option<String> {
    field_of(&read_to_string(path).ok()?, name, ':')
}

fn field_of(text: &str, name: &str, separator: char) -> Option<String> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(separator)?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_and_pressure_are_found_in_the_kernels_own_words() {
        assert_eq!(steal_ms("cpu  1 2 3 4 5 6 7 114 0 0\ncpu0 ..."), Some(1140.0));
        assert_eq!(steal_ms(""), None);
        let some = "some avg10=26.00 avg60=1.00 avg300=0.00 total=123456\nfull avg10=0.00";
        assert_eq!(pressure_ms(some), Some(123.456));
        assert_eq!(pressure_ms("some avg10=1"), None);
    }
}
