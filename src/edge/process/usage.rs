//! What a child and its descendants used.
#![expect(
    clippy::disallowed_methods,
    reason = "this file is where /proc/PID/schedstat is read"
)]

use nix::sys::resource::{UsageWho, getrusage};
use std::process::{Child, ExitStatus};
use wait4::Wait4 as _;

/// Resources one child and its descendants used. Absent facts could not be read.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Seconds in user mode.
    pub user_s: Option<f64>,
    /// Seconds in the kernel.
    pub system_s: Option<f64>,
    /// Times it was taken off a processor.
    pub involuntary_switches: Option<u64>,
    /// Milliseconds its main thread was runnable but had no processor.
    pub run_queue_ms: Option<f64>,
    /// Most bytes of memory that one of its processes held at once. Absent where this tool held more than that: a
    /// child begins as a copy of it, and the system does not tell the two apart.
    pub memory_bytes: Option<u64>,
}

pub(super) fn usage(
    before: Option<&nix::sys::resource::Usage>,
    after: Option<&nix::sys::resource::Usage>,
    run_queue_ms: Option<f64>,
    memory_bytes: Option<u64>,
) -> Usage {
    let (Some(before), Some(after)) = (before, after) else {
        return Usage {
            run_queue_ms,
            memory_bytes,
            ..Usage::default()
        };
    };
    #[expect(clippy::cast_precision_loss, reason = "seconds and microseconds are small")]
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Usage {
        user_s: Some(seconds(after.user_time()) - seconds(before.user_time())),
        system_s: Some(seconds(after.system_time()) - seconds(before.system_time())),
        involuntary_switches: u64::try_from(
            after.involuntary_context_switches() - before.involuntary_context_switches(),
        )
        .ok(),
        run_queue_ms,
        memory_bytes,
    }
}

/// Takes the status of a child that has ended, or ends now, and [`Usage::memory_bytes`].
pub(super) fn reap(child: &mut Child) -> (Option<ExitStatus>, Option<u64>) {
    match child.wait4() {
        Ok(used) => (
            Some(used.status),
            Some(used.rusage.maxrss).filter(|bytes| *bytes > own_peak_bytes()),
        ),
        // It was reaped while it was waited for.
        Err(_) => (child.wait().ok(), None),
    }
}

/// Most bytes of memory that this process held at once.
fn own_peak_bytes() -> u64 {
    // Linux counts kibibytes, others bytes.
    const UNIT: u64 = if cfg!(target_os = "macos") { 1 } else { 1024 };
    let usage = getrusage(UsageWho::RUSAGE_SELF);
    let peak = usage.map_or(i64::MAX, |usage| usage.max_rss());
    u64::try_from(peak).unwrap_or(u64::MAX).saturating_mul(UNIT)
}

/// Second field of `/proc/PID/schedstat`, nanoseconds spent runnable without a processor.
pub(super) fn run_queue_ms(pid: i32) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    let waited_ns: f64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(waited_ns / 1e6)
}

#[cfg(test)]
mod tests {
    use super::super::{Launch, Runner};
    use super::*;

    fn memory_of(script: &str) -> Option<u64> {
        let launch = Launch {
            program: "sh".into(),
            args: vec!["-c".into(), script.into()],
            cwd: "/".into(),
            ..Launch::default()
        };
        Runner::unleashed().run(&launch).unwrap().usage.memory_bytes
    }

    #[test]
    fn memory_is_what_the_child_held_or_unknown_where_this_process_held_more() {
        // A text of so many letters in a variable of the shell.
        let text = |letters: u64| format!("x=$(head -c {letters} /dev/zero | tr '\\0' x)");
        let mine = own_peak_bytes();
        assert_eq!(memory_of("true"), None);
        let theirs = memory_of(&text(mine)).unwrap();
        assert!((mine..20 * mine).contains(&theirs), "{theirs} of {mine}");
        assert_eq!(memory_of("true"), None, "it is not that of an earlier child");
    }
}
