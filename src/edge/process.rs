//! The only place that starts processes.
//!
//! A child runs in its own process group with nothing on its standard input. It is killed with its whole group when
//! its time is up, when the user interrupts, and - because a killed tool cannot kill anybody - by the next run, which
//! finds the group's number in the leash file. Output is drained into a bounded tail, so a chatty bench fills neither
//! memory nor disk and never blocks.
#![expect(
    clippy::disallowed_methods,
    reason = "this file is where processes are started and /proc/PID is read"
)]

mod capture;
mod placement;
mod usage;

pub use self::capture::MOST_OUTPUT;
pub use self::placement::{on, processors};
pub use self::usage::Usage;

use self::placement::move_to;
use self::usage::{reap, run_queue_ms, usage};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// What to start.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// Program: a path, or a name looked up in `PATH`.
    pub program: OsString,
    /// Arguments.
    pub args: Vec<OsString>,
    /// Working directory.
    pub cwd: PathBuf,
    /// Environment variables to set (`Some`) or to remove (`None`); the rest is inherited.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Killed after this long.
    pub timeout: Option<Duration>,
    /// Processor it starts on; it may move on from there.
    pub processor: Option<usize>,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// Killed because its time was up.
    TimedOut,
    /// Killed because the user interrupted the tool.
    Interrupted,
}

impl Ending {
    /// Whether it ended by itself with status 0.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::Exit(0)
    }
}

/// A child that ended and was reaped.
#[derive(Debug, Clone)]
pub struct Finished {
    /// How.
    pub ending: Ending,
    /// Seconds from start to end.
    pub wall_s: f64,
    /// Last part of what it wrote to standard error (and standard output, unless that was read line by line).
    pub tail: String,
    /// What it used.
    pub usage: Usage,
}

/// A child could not be started.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The program is missing or not executable, or the folder does not exist.
    #[error("`{program}` could not be started in {cwd}: {source}")]
    Start {
        /// Program.
        program: String,
        /// Working directory.
        cwd: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The leash could not be written.
    #[error("{path} could not be written: {source}")]
    Leash {
        /// Leash file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static CURRENT_GROUP: AtomicI32 = AtomicI32::new(0);

/// Whether the user asked the tool to stop (Ctrl-C, SIGTERM, SIGHUP).
#[must_use]
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// A second signal this soon is the same one: `timeout` and some terminals send it to the process and to its group.
const SAME_SIGNAL: Duration = Duration::from_millis(300);

/// From now on a first Ctrl-C kills the running child and makes [`interrupted`] true; a later one ends the tool.
pub fn watch_for_interrupts() {
    let mut first: Option<Instant> = None;
    // Setting a handler fails only if there is one already, which is just as well.
    let _ = ctrlc::set_handler(move || {
        let since = first.get_or_insert_with(Instant::now).elapsed();
        if INTERRUPTED.swap(true, Ordering::SeqCst) && since >= SAME_SIGNAL {
            #[expect(
                clippy::exit,
                reason = "the user insists; nothing buffered is lost, recordings are flushed"
            )]
            std::process::exit(130);
        }
        kill_group(CURRENT_GROUP.load(Ordering::SeqCst));
    });
}

/// Starts children one at a time.
#[derive(Debug)]
pub struct Runner {
    leash: Option<PathBuf>,
}

impl Runner {
    /// A runner whose children are noted in `leash`. A child noted there by a run that was killed is killed now.
    #[must_use]
    pub fn with_leash(leash: PathBuf) -> Self {
        if let Some((pid, start)) = std::fs::read_to_string(&leash)
            .ok()
            .as_deref()
            .and_then(parse_leash)
            && start_time(pid) == Some(start)
        {
            kill_group(pid);
        }
        Self { leash: Some(leash) }
    }

    /// A runner for short queries, which leave nothing behind worth noting.
    #[must_use]
    pub fn unleashed() -> Self {
        Self { leash: None }
    }

    /// Runs to the end; standard output and standard error share one tail.
    ///
    /// # Errors
    /// [`ProcessError`] if it cannot be started. A child that fails, crashes or hangs is not an error but an [`Ending`].
    pub fn run(&self, launch: &Launch) -> Result<Finished, ProcessError> {
        let failed = |source| start_error(launch, source);
        let (reader, writer) = std::io::pipe().map_err(failed)?;
        let mut command = command(launch);
        command.stdout(writer.try_clone().map_err(failed)?).stderr(writer);
        let child = command.spawn().map_err(failed)?;
        move_to(launch.processor, &child);
        drop(command); // holds the pipe's write ends
        self.attend(launch, child, reader, |_| ())
    }

    /// Runs to the end and hands every line of standard output to `on_line`; standard error goes to the tail.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub fn run_lines(
        &self,
        launch: &Launch,
        mut on_line: impl FnMut(&str) + Send,
    ) -> Result<Finished, ProcessError> {
        let mut command = command(launch);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| start_error(launch, e))?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(start_error(
                launch,
                std::io::Error::other("its output is not connected"),
            ));
        };
        let lines = lines(stdout);
        self.attend(launch, child, stderr, move |ended| {
            loop {
                match lines.recv_timeout(AFTERMATH) {
                    Ok(line) => on_line(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r'])),
                    Err(RecvTimeoutError::Timeout) if !ended.load(Ordering::SeqCst) => {}
                    Err(_) => break,
                }
            }
        })
    }

    fn attend(
        &self,
        launch: &Launch,
        mut child: Child,
        noise: impl Read + Send + 'static,
        meanwhile: impl FnOnce(&AtomicBool) + Send,
    ) -> Result<Finished, ProcessError> {
        let started = Instant::now();
        let before = getrusage(UsageWho::RUSAGE_CHILDREN).ok();
        let group = i32::try_from(child.id()).unwrap_or(0);
        CURRENT_GROUP.store(group, Ordering::SeqCst);
        if interrupted() {
            kill_group(group); // the signal came between the last check and the start
        }
        let leashed = self.note(group);
        let tail = drain(noise);
        let ended = AtomicBool::new(false);
        let (timed_out, wall, run_queue_ms) = std::thread::scope(|scope| {
            scope.spawn(|| meanwhile(&ended));
            let timed_out = !ended_within(group, &mut child, launch.timeout);
            if timed_out {
                kill_group(group);
                ended_within(group, &mut child, None);
            }
            let wall = started.elapsed();
            let run_queue_ms = run_queue_ms(group);
            kill_group(group); // descendants that outlived it would disturb the next slot
            ended.store(true, Ordering::SeqCst);
            (timed_out, wall, run_queue_ms)
        });
        let (status, memory_bytes) = reap(&mut child);
        CURRENT_GROUP.store(0, Ordering::SeqCst);
        if let Some(leash) = &self.leash {
            let _ = std::fs::write(leash, "");
        }
        leashed?;
        let after = getrusage(UsageWho::RUSAGE_CHILDREN).ok();
        let tail = tail.recv_timeout(AFTERMATH).unwrap_or_default();
        Ok(Finished {
            ending: ending(status, timed_out),
            wall_s: wall.as_secs_f64(),
            tail: String::from_utf8_lossy(&tail).into_owned(),
            usage: usage(before.as_ref(), after.as_ref(), run_queue_ms, memory_bytes),
        })
    }

    fn note(&self, group: i32) -> Result<(), ProcessError> {
        let (Some(path), Some(start)) = (&self.leash, start_time(group)) else {
            return Ok(());
        };
        std::fs::write(path, format!("{group} {start}")).map_err(|source| ProcessError::Leash {
            path: path.clone(),
            source,
        })
    }
}

fn command(launch: &Launch) -> Command {
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.args)
        .current_dir(&launch.cwd)
        .stdin(Stdio::null())
        .process_group(0);
    for (name, value) in &launch.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

fn start_error(launch: &Launch, source: std::io::Error) -> ProcessError {
    ProcessError::Start {
        program: launch.program.to_string_lossy().into_owned(),
        cwd: launch.cwd.clone(),
        source,
    }
}

/// A longer line comes in pieces, so that a child that never ends its line does not fill the memory. Far more than
/// cargo's metadata of the largest workspaces, which is one line.
const LINE_BYTES: u64 = 64 << 20;

/// How long output is waited for after the child has ended: a descendant in a group of its own may hold the pipe for
/// ever. What the child itself wrote is in the pipe by then.
const AFTERMATH: Duration = Duration::from_secs(1);

/// Reads line by line, for whoever listens.
fn lines(source: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::sync_channel(16);
    std::thread::spawn(move || {
        let mut source = BufReader::new(source);
        loop {
            let mut line = Vec::new();
            let read = (&mut source).take(LINE_BYTES).read_until(b'\n', &mut line);
            if !read.is_ok_and(|n| n > 0) || sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Reads everything, keeps the last [`TAIL_BYTES`].
fn drain(mut source: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    const TAIL_BYTES: usize = 16 * 1024;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut tail = VecDeque::with_capacity(TAIL_BYTES);
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = source.read(&mut buffer) {
            tail.drain(..(tail.len() + n).saturating_sub(TAIL_BYTES).min(tail.len()));
            tail.extend(&buffer[..n]);
        }
        let _ = sender.send(tail.into());
    });
    receiver
}

/// Waits until the child has ended, without reaping it, so that its `/proc` entry can still be read. A thread blocks
/// in the kernel meanwhile: a poll would wake up inside the measurement.
#[cfg(target_os = "linux")]
fn ended_within(group: i32, _child: &mut Child, timeout: Option<Duration>) -> bool {
    use nix::sys::wait::{Id, WaitPidFlag, waitid};
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        while waitid(Id::Pid(Pid::from_raw(group)), flags) == Err(nix::errno::Errno::EINTR) {}
        let _ = sender.send(());
    });
    match timeout {
        Some(timeout) => receiver.recv_timeout(timeout).is_ok(),
        None => receiver.recv().is_ok(),
    }
}

/// Elsewhere: looks every few milliseconds.
#[cfg(not(target_os = "linux"))]
fn ended_within(_group: i32, child: &mut Child, timeout: Option<Duration>) -> bool {
    let started = Instant::now();
    loop {
        if !matches!(child.try_wait(), Ok(None)) {
            return true;
        }
        if timeout.is_some_and(|timeout| started.elapsed() >= timeout) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn kill_group(group: i32) {
    if group > 1 {
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

fn ending(status: Option<ExitStatus>, timed_out: bool) -> Ending {
    if interrupted() {
        return Ending::Interrupted;
    }
    if timed_out {
        return Ending::TimedOut;
    }
    match status {
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => Ending::Exit(code),
            (None, signal) => Ending::Signal(signal.unwrap_or(0)),
        },
        None => Ending::Signal(0),
    }
}

/// When a process started, in clock ticks since boot: with its number, its identity.
fn start_time(pid: i32) -> Option<u64> {
    let text = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    // The second field is the program's name in parentheses and may hold anything.
    text.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

fn parse_leash(text: &str) -> Option<(i32, u64)> {
    let (pid, start) = text.split_once(' ')?;
    Some((pid.parse().ok()?, start.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Launch {
        Launch {
            program: "sh".into(),
            args: vec!["-c".into(), script.into()],
            cwd: "/".into(),
            ..Launch::default()
        }
    }

    #[test]
    fn a_child_that_fails_or_dies_is_an_ending_not_an_error() {
        let runner = Runner::unleashed();
        assert_eq!(runner.run(&shell("exit 3")).unwrap().ending, Ending::Exit(3));
        assert_eq!(
            runner.run(&shell("kill -9 $$")).unwrap().ending,
            Ending::Signal(9)
        );
        assert!(runner.run(&shell("true")).unwrap().ending.is_success());
    }

    #[test]
    fn a_program_that_does_not_exist_is_named() {
        let launch = Launch {
            program: "/no/such/bench".into(),
            cwd: "/".into(),
            ..Launch::default()
        };
        let error = Runner::unleashed().run(&launch).unwrap_err().to_string();
        assert!(
            error.starts_with("`/no/such/bench` could not be started in /: "),
            "{error}"
        );
    }

    #[test]
    fn only_the_end_of_endless_output_is_kept() {
        let finished = Runner::unleashed()
            .run(&shell("yes line | head -c 1000000; echo end >&2"))
            .unwrap();
        assert_eq!(finished.tail.len(), 16 * 1024);
        assert!(finished.tail.ends_with("line\nend\n") || finished.tail.ends_with("end\n"));
    }

    #[test]
    fn a_hanging_child_is_killed_with_its_descendants() {
        let marker = tempfile::NamedTempFile::new().unwrap();
        let path = marker.path().display();
        let mut launch = shell(&format!("sleep 600 & echo $! > {path}; wait"));
        launch.timeout = Some(Duration::from_millis(300));
        assert_eq!(Runner::unleashed().run(&launch).unwrap().ending, Ending::TimedOut);
        let descendant: i32 = std::fs::read_to_string(marker.path())
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        let gone = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            let state = std::fs::read_to_string(format!("/proc/{descendant}/stat"));
            !state.is_ok_and(|text| !text.contains(") Z"))
        });
        assert!(gone, "process {descendant} is still running");
    }

    #[test]
    fn lines_arrive_one_by_one_and_errors_in_the_tail() {
        let mut lines = Vec::new();
        let finished = Runner::unleashed()
            .run_lines(&shell("echo one; echo oops >&2; printf 'two'"), |line| {
                lines.push(line.to_owned())
            })
            .unwrap();
        assert_eq!(lines, ["one", "two"]);
        assert_eq!(finished.tail, "oops\n");
    }

    #[test]
    fn a_descendant_that_keeps_the_output_open_is_not_waited_for() {
        let mut lines = Vec::new();
        let started = Instant::now();
        Runner::unleashed()
            .run_lines(&shell("setsid sleep 20 & echo one"), |line| {
                lines.push(line.to_owned())
            })
            .unwrap();
        assert_eq!(lines, ["one"]);
        assert!(started.elapsed() < Duration::from_secs(15));
    }

    #[test]
    fn a_child_left_over_from_a_killed_run_is_killed_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let leash = folder.path().join("leash");
        let mut orphan = command(&shell("exec sleep 600")).spawn().unwrap();
        let pid = i32::try_from(orphan.id()).unwrap();
        std::fs::write(&leash, format!("{pid} {}", start_time(pid).unwrap())).unwrap();
        let _runner = Runner::with_leash(leash.clone());
        assert_eq!(orphan.wait().unwrap().signal(), Some(9));

        // A number that was given to another process in the meantime is left alone.
        let mut bystander = command(&shell("exec sleep 0.2")).spawn().unwrap();
        std::fs::write(&leash, format!("{} 1", bystander.id())).unwrap();
        let _runner = Runner::with_leash(leash);
        assert!(bystander.wait().unwrap().success());
    }

    #[test]
    fn usage_belongs_to_the_child() {
        let finished = Runner::unleashed()
            .run(&shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"))
            .unwrap();
        assert!(finished.usage.user_s.unwrap() > 0.0);
        assert!(finished.usage.run_queue_ms.is_some());
    }
}
