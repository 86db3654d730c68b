//! On which processor a thread or a child starts.

use nix::unistd::Pid;
use std::process::Child;

/// Moves a child that has just started to a processor, and lets it move on from there: a process that runs is not moved
/// without a reason, and its threads go where they want.
///
/// A child must never find itself on one processor only, or a pool in it would have one thread. It inherits nothing; it
/// is restricted for the microseconds between two calls, while the dynamic loader has it. (Restricting this thread
/// around the start instead, so that the child inherits the place, showed one processor to every third child that asked
/// at once.) In between this thread must not wait for a processor: it leaves the one that the child is to have, which is
/// often where it was probing, and nothing is moved where others want to run.
pub(super) fn move_to(processor: Option<usize>, child: &Child) {
    let own = Pid::from_raw(0);
    let free = affinity::get();
    let only = processor.and_then(affinity::only);
    let aside = processor
        .zip(free.as_ref())
        .and_then(|(of, free)| affinity::without(free, of));
    if let (Some(free), Some(only), Some(aside), Ok(pid)) = (free, only, aside, i32::try_from(child.id()))
        && nobody_else_runs()
    {
        let pid = Pid::from_raw(pid);
        if affinity::set(own, &aside) {
            affinity::set(pid, &only);
            affinity::set(pid, &free);
            affinity::set(own, &free);
        }
    }
}

/// Whether this thread and the child are all that wants to run now.
fn nobody_else_runs() -> bool {
    const OWN: u32 = 2;
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    running(&load).is_some_and(|running| running <= OWN)
}

/// The fourth word of `/proc/loadavg`: `RUNNING/ALL`.
fn running(load: &str) -> Option<u32> {
    let (running, _) = load.split_whitespace().nth(3)?.split_once('/')?;
    running.parse().ok()
}

/// Does something on one processor, and then lets the thread move as before. Where a thread cannot be placed, it is
/// done wherever it is.
pub fn on<T>(processor: Option<usize>, what: impl FnOnce() -> T) -> T {
    let own = Pid::from_raw(0);
    let before = processor.and_then(|processor| {
        let before = affinity::get()?;
        affinity::set(own, &affinity::only(processor)?).then_some(before)
    });
    let done = what();
    if let Some(before) = before {
        affinity::set(own, &before);
    }
    done
}

/// Processors this thread may run on; empty where that cannot be told.
#[must_use]
pub fn processors() -> Vec<usize> {
    affinity::get().as_ref().map_or_else(Vec::new, affinity::members)
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
mod affinity {
    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::unistd::Pid;

    pub(super) fn get() -> Option<CpuSet> {
        sched_getaffinity(Pid::from_raw(0)).ok()
    }

    pub(super) fn set(pid: Pid, set: &CpuSet) -> bool {
        sched_setaffinity(pid, set).is_ok()
    }

    pub(super) fn only(processor: usize) -> Option<CpuSet> {
        let mut set = CpuSet::new();
        set.set(processor).ok().map(|()| set)
    }

    /// The others of a set; absent if there are none.
    pub(super) fn without(set: &CpuSet, processor: usize) -> Option<CpuSet> {
        let mut rest = *set;
        rest.unset(processor).ok()?;
        (!members(&rest).is_empty()).then_some(rest)
    }

    pub(super) fn members(set: &CpuSet) -> Vec<usize> {
        let is_in = |processor: &usize| set.is_set(*processor).unwrap_or(false);
        (0..CpuSet::count()).filter(is_in).collect()
    }
}

/// Threads cannot be placed on this system.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
mod affinity {
    use nix::unistd::Pid;

    pub(super) fn get() -> Option<()> {
        None
    }

    pub(super) fn set(_: Pid, _: &()) -> bool {
        false
    }

    pub(super) fn only(_: usize) -> Option<()> {
        None
    }

    pub(super) fn without(_: &(), _: usize) -> Option<()> {
        None
    }

    pub(super) fn members(_: &()) -> Vec<usize> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_was_placed_moves_freely_afterwards() {
        let all = processors();
        let Some(last) = all.last().copied() else { return };
        assert_eq!(on(Some(last), processors), [last]);
        assert_eq!(processors(), all);
    }

    #[test]
    fn a_child_that_was_moved_may_go_where_its_parent_may() {
        let all = processors();
        let Some(last) = all.last().copied() else { return };
        let mut child = std::process::Command::new("sleep").arg("5").spawn().unwrap();
        move_to(Some(last), &child);
        let allowed = |pid: &str| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let line = status.lines().find(|line| line.starts_with("Cpus_allowed:"));
            line.map(str::to_owned)
        };
        let (of_child, own) = (allowed(&child.id().to_string()), allowed("self"));
        let _ = child.kill();
        let _ = child.wait();
        assert_eq!(of_child, own);
    }

    #[test]
    fn how_many_run_is_found_in_the_kernels_own_words() {
        assert_eq!(running("0.35 0.90 1.32 2/311 24226\n"), Some(2));
        assert_eq!(running(""), None);
    }

    #[test]
    fn a_processor_that_is_not_there_places_nothing() {
        let all = processors();
        assert_eq!(on(Some(usize::MAX), processors), all);
    }
}
