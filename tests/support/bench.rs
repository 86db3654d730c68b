//! The place where a test works: the shared fixture repository, or one of its own.

use super::files::Files;
use super::repository::Repository;
use super::script::{Bench, suite};
use super::tool::{Ended, Tool};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A repository, a home for the tool, and the right to use both.
pub(crate) struct TestBench {
    pub(crate) repository: Repository,
    pub(crate) home: PathBuf,
    _lock: Option<File>,
    _folder: Option<tempfile::TempDir>,
}

impl TestBench {
    /// The shared repository, in which criterion is compiled already. Waits for other tests that use it.
    ///
    /// Its user is in the middle of something: there is a stash, a staged and an unstaged change, an untracked file
    /// and a target directory of their own. Tests compare its commits, and nothing of that may change.
    pub(crate) fn of_suite() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("end-to-end");
        std::fs::create_dir_all(&folder).unwrap();
        let lock = File::create(folder.join("lock")).unwrap();
        lock.lock().unwrap();
        let path = folder.join("repository");
        let ready = folder.join("ready");
        if !ready.exists() {
            for stale in [&path, &folder.join("home")] {
                let _ = std::fs::remove_dir_all(stale);
            }
            busy(&path);
            std::fs::write(ready, "").unwrap();
        }
        Self {
            repository: Repository { path },
            home: folder.join("home"),
            _lock: Some(lock),
            _folder: None,
        }
    }

    /// A repository of this test alone, on branch `trunk`.
    pub(crate) fn of_own(files: &Files) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            repository: Repository::new(&folder.path().join("repository"), files),
            home: folder.path().join("home"),
            _lock: None,
            _folder: Some(folder),
        }
    }

    /// The commit with these files.
    pub(crate) fn commit(&self, files: &Files) -> String {
        self.repository.commit(files, &[])
    }

    /// The commit of the suite with this script.
    pub(crate) fn script(&self, benches: &[Bench]) -> String {
        self.commit(&suite(benches))
    }

    /// `abreast ARGS` in the repository.
    pub(crate) fn tool(&self, args: &[&str]) -> Tool {
        Tool::new(&self.repository.path, &self.home, args)
    }

    /// `abreast ARGS` in a linked work tree of the repository with this commit checked out, which shares its home.
    pub(crate) fn tool_at(&self, commit: &str, name: &str, args: &[&str]) -> (Repository, Tool) {
        let path = self.repository.path.with_file_name(format!("worktree-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        self.repository.git(&["worktree", "prune"]);
        self.repository.git(&[
            "worktree",
            "add",
            "--quiet",
            "--detach",
            path.to_str().unwrap(),
            commit,
        ]);
        let tool = Tool::new(&path, &self.home, args).guarding(&self.repository.path);
        (Repository { path }, tool)
    }

    /// `abreast compare BASE HEAD ARGS` with a fixed seed and a JSON report. Scripted times have nothing to do with
    /// layout, so it is not looked at.
    pub(crate) fn comparing(&self, base: &str, head: &str, args: &[&str]) -> Tool {
        self.tool(&["compare", base, head, "--seed", "1", "--no-layout-check"])
            .args(args)
            .json()
    }

    /// The same, with a look at layout.
    pub(crate) fn comparing_layouts(&self, base: &str, head: &str, args: &[&str]) -> Tool {
        self.tool(&["compare", base, head, "--seed", "1"])
            .args(args)
            .json()
    }

    /// Runs [`TestBench::comparing`].
    pub(crate) fn compare(&self, base: &str, head: &str, args: &[&str]) -> Ended {
        self.comparing(base, head, args).run()
    }
}

/// A repository whose user is busy.
fn busy(path: &Path) {
    let files = Files::suite()
        .with(".gitignore", "/target\n")
        .with("README.md", "The suite.\n");
    let repository = Repository::new(path, &files);
    repository.git(&["config", "user.nickname", "busy"]);
    repository.write("README.md", "The suite, stashed.\n");
    repository.git(&["stash", "--quiet"]);
    repository.write("staged.txt", "staged\n");
    repository.git(&["add", "staged.txt"]);
    repository.write("README.md", "The suite, edited.\n");
    repository.write("untracked.txt", "untracked\n");
    repository.write("target/release/own", "an executable of the user's\n");
}
