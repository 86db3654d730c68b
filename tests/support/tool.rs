//! Running the tool as a user would.

use super::guard::Guard;
use super::report::Report;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// One command line, to be run in a folder with a home for the tool.
pub(crate) struct Tool {
    pub(crate) command: Command,
    /// Folders that must be the same afterwards.
    guarded: Vec<PathBuf>,
    /// Removed when the run is over: its reports and counters.
    scratch: tempfile::TempDir,
}

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The JSON report, if the command line asked for one with [`Tool::json`] and there is one.
    pub(crate) report: Option<Report>,
    /// Executables of the processes that measured, in order.
    pub(crate) launches: Vec<String>,
}

/// A run that is still going on.
pub(crate) struct Running {
    child: Child,
    tool: Tool,
    guard: Guard,
}

impl Tool {
    /// `abreast ARGS` in `folder`, in an environment without what a test runner or a CI service put there.
    pub(crate) fn new(folder: &Path, home: &Path, args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_abreast"));
        let foreign = |name: &str| {
            ["CARGO", "RUSTUP_TOOLCHAIN", "RUSTFLAGS", "RUSTC", "RUSTDOC", "CI"].contains(&name)
                || [
                    "GITHUB_",
                    "CARGO_PKG_",
                    "CARGO_BIN_",
                    "CARGO_MANIFEST_",
                    "CARGO_TARGET_",
                    "NEXTEST",
                    // What `--shard auto` reads.
                    "ABREAST_SHARD_",
                    "SLURM_",
                    "CI_NODE_",
                    "BUILDKITE_",
                    "JOB_COMPLETION_INDEX",
                ]
                .iter()
                .any(|start| name.starts_with(start))
        };
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(foreign) {
                command.env_remove(name);
            }
        }
        let scratch = tempfile::tempdir().unwrap();
        command
            .args(args)
            .current_dir(folder)
            .env("ABREAST_HOME", home)
            .env("SUITE_LAUNCHES", scratch.path().join("launches"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdin(Stdio::null())
            .stdout(File::create(scratch.path().join("stdout")).unwrap())
            .stderr(File::create(scratch.path().join("stderr")).unwrap());
        Self {
            command,
            guarded: vec![folder.to_owned()],
            scratch,
        }
    }

    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.command.env(name, value.into());
        self
    }

    /// Another folder that must be the same afterwards.
    pub(crate) fn guarding(mut self, folder: &Path) -> Self {
        self.guarded.push(folder.to_owned());
        self
    }

    /// The run may change the folder; for `abreast init`.
    pub(crate) fn unguarded(mut self) -> Self {
        self.guarded.clear();
        self
    }

    /// Asks for a JSON report, to be found in [`Ended::report`].
    pub(crate) fn json(mut self) -> Self {
        let path = self.json_path();
        self.command.args(["--format", "json", "-o"]).arg(path);
        self
    }

    /// Runs to the end. The guarded folders must be what they were.
    pub(crate) fn run(self) -> Ended {
        self.start().wait()
    }

    pub(crate) fn start(mut self) -> Running {
        let guard = Guard::of(&self.folders());
        let child = self.command.spawn().unwrap();
        Running {
            child,
            tool: self,
            guard,
        }
    }

    fn folders(&self) -> Vec<&Path> {
        self.guarded.iter().map(PathBuf::as_path).collect()
    }

    fn json_path(&self) -> PathBuf {
        self.scratch.path().join("report.json")
    }

    fn launches(&self) -> Vec<String> {
        self.read("launches").lines().map(str::to_owned).collect()
    }

    fn read(&self, name: &str) -> String {
        let bytes = std::fs::read(self.scratch.path().join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Running {
    /// Waits until so many processes have begun to measure.
    pub(crate) fn until_launches(&mut self, count: usize) {
        self.until(&format!("{count} launches"), |running| {
            running.tool.launches().len() >= count
        });
    }

    /// Waits until something holds while the tool runs; gives up, and fails the test, after two minutes.
    pub(crate) fn until(&mut self, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(120);
        while !holds(self) {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("the run ended ({status}) before {what}: {}", self.said());
            }
            assert!(Instant::now() < deadline, "no {what} within two minutes");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends a signal to the tool alone.
    pub(crate) fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(pid, signal).unwrap();
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What the tool said on standard error so far.
    pub(crate) fn said(&self) -> String {
        self.tool.read("stderr")
    }

    pub(crate) fn launches(&self) -> usize {
        self.tool.launches().len()
    }

    pub(crate) fn wait(self) -> Ended {
        let Self {
            mut child,
            tool,
            guard,
        } = self;
        let status = child.wait().unwrap();
        guard.assert_unchanged(&tool.folders());
        let ended = Ended {
            code: status.code(),
            stdout: tool.read("stdout"),
            stderr: tool.read("stderr"),
            report: std::fs::read_to_string(tool.json_path())
                .ok()
                .map(|text| Report::parse(&text)),
            launches: tool.launches(),
        };
        assert_ne!(ended.code, Some(70), "internal error: {}", ended.stderr);
        assert!(!ended.stderr.contains("panicked at"), "{}", ended.stderr);
        ended
    }
}

impl Ended {
    /// The report of a run that must have ended with this code.
    #[track_caller]
    pub(crate) fn expect(&self, code: i32) -> &Report {
        self.expect_code(code);
        self.report.as_ref().expect("a JSON report")
    }

    #[track_caller]
    pub(crate) fn expect_code(&self, code: i32) -> &Self {
        assert_eq!(
            self.code,
            Some(code),
            "stderr:\n{}\nreport:\n{}",
            self.stderr,
            self.report.as_ref().map(Report::table).unwrap_or_default()
        );
        self
    }

    /// What a run says that fails with this code. It must not have delivered a report.
    #[track_caller]
    pub(crate) fn refusal(&self, code: i32) -> &str {
        self.expect_code(code);
        assert!(self.report.is_none(), "a refused run wrote a report");
        &self.stderr
    }
}
