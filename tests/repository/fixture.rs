//! A repository in a temporary folder, and short words for what tests do with it.

use abreast::edge::git::{Ci, GitError, Repo, Snapshot};
use abreast::revision::Revision;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A folder with a repository. Removed when dropped.
pub(crate) struct Fixture {
    _folder: Option<TempDir>,
    pub(crate) path: PathBuf,
}

impl Fixture {
    /// An empty repository on branch `trunk`.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("work");
        git(
            folder.path(),
            &["init", "--quiet", "--initial-branch=trunk", "work"],
        );
        Self {
            _folder: Some(folder),
            path,
        }
    }

    /// A clone of `self` with `git clone` options, over the file protocol so that depth and filters count.
    pub(crate) fn cloned(&self, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clone");
        let url = format!("file://{}", self.path.display());
        let mut args = vec!["clone", "--quiet"];
        args.extend(options);
        args.extend([url.as_str(), "clone"]);
        git(folder.path(), &args);
        Self {
            _folder: Some(folder),
            path,
        }
    }

    /// A repository at a place that something else owns.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { _folder: None, path }
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(&self.path, args)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        std::fs::remove_file(self.path.join(path)).unwrap();
    }

    /// Commits everything, and returns the id.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
        self.head()
    }

    /// Writes one file and commits it.
    pub(crate) fn commit_file(&self, path: &str, content: &str) -> String {
        self.write(path, content);
        self.commit(&format!("{path}: {content}"))
    }

    pub(crate) fn head(&self) -> String {
        self.id("HEAD")
    }

    pub(crate) fn id(&self, spec: &str) -> String {
        self.git(&["rev-parse", "--verify", spec])
    }

    pub(crate) fn repo(&self) -> Repo {
        Repo::discover(&self.path).unwrap()
    }

    pub(crate) fn resolve(
        &self,
        base: Option<&str>,
        head: Option<&str>,
    ) -> Result<(Revision, Revision), GitError> {
        self.repo().resolve(base, head, &Ci::default())
    }

    /// The files of the working tree, and its revision.
    pub(crate) fn working(&self) -> (Revision, Snapshot) {
        let repo = self.repo();
        let (_, head) = repo.resolve(Some("HEAD"), None, &Ci::default()).unwrap();
        let snapshot = repo.snapshot(&head).unwrap();
        (head, snapshot)
    }

    /// The files of a commit.
    pub(crate) fn snapshot(&self, spec: &str) -> Snapshot {
        let repo = self.repo();
        let (revision, _) = repo.resolve(Some(spec), Some("HEAD"), &Ci::default()).unwrap();
        repo.snapshot(&revision).unwrap()
    }
}

pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "protocol.file.allow=always",
            "-c",
            "advice.detachedHead=false",
        ])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "A")
        .env("GIT_AUTHOR_EMAIL", "a@example.org")
        .env("GIT_COMMITTER_NAME", "A")
        .env("GIT_COMMITTER_EMAIL", "a@example.org")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// The bytes of a file as text.
pub(crate) fn text(snapshot: &Snapshot, path: &str) -> Option<String> {
    let bytes = snapshot.read(Path::new(path)).unwrap()?;
    Some(String::from_utf8(bytes).unwrap())
}

/// All paths, lossily as text.
pub(crate) fn paths(snapshot: &Snapshot) -> Vec<String> {
    snapshot
        .entries()
        .map(|(path, _)| path.to_string_lossy().into_owned())
        .collect()
}

/// The sentence of an outcome that must be an error.
pub(crate) fn sentence<T>(outcome: Result<T, GitError>) -> String {
    outcome.err().unwrap().to_string()
}
