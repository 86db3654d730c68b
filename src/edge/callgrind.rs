//! Valgrind's callgrind: counts the instructions of one benchmark in an executable that knows nothing of it.
//!
//! In criterion's test mode a benchmark runs once. Counted is what happens inside of `Bencher::iter` and its like: one
//! iteration, what a batched bench sets up for it, and a few dozen instructions of criterion's own, on the thread that
//! calls it and in user space.

use crate::edge::criterion::{Bench, describe};
use crate::edge::process::{Ending, Launch, ProcessError, Runner};
use crate::last_words::last_words;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Functions between whose begin and end instructions count. Callgrind switches at each of them, so none may call
/// another one: these four are what all others (`iter_with_setup`, ...) call, and a closure's name does not end so.
const COUNTED: [&str; 4] = ["iter", "iter_custom", "iter_batched", "iter_batched_ref"];

/// Counts the instructions of one benchmark, or says why that cannot be done. Absent if the user stopped it.
pub fn count(
    runner: &Runner,
    bench: &Bench,
    id: &str,
    scratch: &Path,
    timeout: Duration,
) -> Option<Result<u64, String>> {
    match runner.run(&launch(bench, id, scratch, timeout)) {
        Ok(finished) => match finished.ending {
            Ending::Interrupted => None,
            Ending::Exit(0) => Some(collected(&finished.tail)),
            ending => Some(Err(format!(
                "under valgrind it ended with {}: {}",
                describe(ending),
                last_words(&finished.tail)
            ))),
        },
        Err(ProcessError::Start { .. }) => Some(Err("valgrind is not installed".to_owned())),
        Err(error) => Some(Err(error.to_string())),
    }
}

fn launch(bench: &Bench, id: &str, scratch: &Path, timeout: Duration) -> Launch {
    let mut launch = bench.launch_once(id, scratch, timeout);
    let executable = std::mem::replace(&mut launch.program, "valgrind".into());
    let mut args: Vec<OsString> = vec!["--tool=callgrind".into(), "--callgrind-out-file=/dev/null".into()];
    // As the older and the newer mangling of names show them. Callgrind does not try the next pattern where the first
    // characters match one with a star, so there are no stars but at the end.
    args.extend(COUNTED.iter().flat_map(|name| {
        [
            format!("--toggle-collect=criterion::bencher::Bencher<M>::{name}").into(),
            format!("--toggle-collect=criterion::bencher::AsyncBencher<A,M>::{name}").into(),
            format!("--toggle-collect=<criterion::bencher::Bencher>::{name}::<*>").into(),
        ]
    }));
    args.push(executable);
    args.append(&mut launch.args);
    launch.args = args;
    launch
}

/// The last count in valgrind's output: earlier ones are of processes that the executable started.
fn collected(output: &str) -> Result<u64, String> {
    let count = output
        .lines()
        .filter(|line| line.starts_with("=="))
        .filter_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
        .next_back();
    match count {
        Some(0) => Err("valgrind saw no `Bencher::iter`: the executable has no symbols".to_owned()),
        Some(count) => Ok(count),
        None => Err(format!("valgrind told no count: {}", last_words(output))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_count_is_the_benchs() {
        let output =
            "==7== Collected : 12\n==7==\nTesting a\nSuccess\n==6== Events    : Ir\n==6== Collected : 4711\n";
        assert_eq!(collected(output), Ok(4711));
        assert!(
            collected("==6== Collected : 0\n")
                .unwrap_err()
                .contains("no symbols")
        );
        assert!(collected("Collected : 5\nhello").unwrap_err().contains("hello"));
    }
}
