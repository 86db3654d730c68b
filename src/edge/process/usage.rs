//! What a child and its descendants used.
#![expect(
    clippy::disallowed_methods,
    reason = "this file is where /proc/PID/schedstat is read"
)]

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
}

pub(super) fn usage(
    before: Option<&nix::sys::resource::Usage>,
    after: Option<&nix::sys::resource::Usage>,
    run_queue_ms: Option<f64>,
) -> Usage {
    let (Some(before), Some(after)) = (before, after) else {
        return Usage {
            run_queue_ms,
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
    }
}

/// Second field of `/proc/PID/schedstat`, nanoseconds spent runnable without a processor.
pub(super) fn run_queue_ms(pid: i32) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    let waited_ns: f64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(waited_ns / 1e6)
}
