//! On which processor a thread or a child starts.

use nix::unistd::Pid;
use std::process::{Child, Command};

/// Starts a child on a processor, and then lets it move: a child that is running is not moved without a reason, and
/// its own threads go where they want.
pub(super) fn spawn_on(processor: Option<usize>, command: &mut Command) -> std::io::Result<Child> {
    let before = affinity::get();
    let child = on(processor, || command.spawn());
    if let (Some(_), Some(before), Ok(child)) = (processor, before, &child) {
        let pid = i32::try_from(child.id()).unwrap_or(0);
        affinity::set(Pid::from_raw(pid), &before);
    }
    child
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
    fn a_child_starts_on_its_processor_and_may_leave_it() {
        let all = processors();
        let Some(last) = all.last().copied() else { return };
        let mut child = spawn_on(Some(last), Command::new("sleep").arg("5")).unwrap();
        let path = format!("/proc/{}/status", child.id());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let _ = child.kill();
        let _ = child.wait();
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed:"));
        let own = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let own = own.lines().find_map(|line| line.strip_prefix("Cpus_allowed:"));
        assert_eq!(allowed, own);
        assert_eq!(processors(), all);
    }

    #[test]
    fn a_processor_that_is_not_there_places_nothing() {
        let all = processors();
        assert_eq!(on(Some(usize::MAX), processors), all);
    }
}
