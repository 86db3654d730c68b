//! Git repositories that tests own.

use super::files::Files;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository at a place that somebody else keeps.
#[derive(Clone)]
pub(crate) struct Repository {
    pub(crate) path: PathBuf,
}

impl Repository {
    /// A new repository on branch `trunk` with these files committed and checked out.
    pub(crate) fn new(path: &Path, files: &Files) -> Self {
        std::fs::create_dir_all(path).unwrap();
        git(path, &["init", "--quiet", "--initial-branch=trunk"]);
        let repository = Self {
            path: path.to_owned(),
        };
        files.write(path);
        repository.git(&["add", "--all"]);
        repository.git(&["commit", "--quiet", "--allow-empty", "-m", "start"]);
        repository
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(&self.path, args)
    }

    /// A commit with exactly these files and this parent, made without the work tree and the index. Its id depends on
    /// nothing else, so making it again makes nothing.
    pub(crate) fn commit(&self, files: &Files, parents: &[&str]) -> String {
        let repository = git2::Repository::open(&self.path).unwrap();
        let mut index = git2::Index::new().unwrap();
        for (path, content) in &files.0 {
            let id = repository.blob(content).unwrap();
            index
                .add(&git2::IndexEntry {
                    ctime: git2::IndexTime::new(0, 0),
                    mtime: git2::IndexTime::new(0, 0),
                    dev: 0,
                    ino: 0,
                    mode: 0o100_644,
                    uid: 0,
                    gid: 0,
                    file_size: 0,
                    id,
                    flags: 0,
                    flags_extended: 0,
                    path: path.clone().into_bytes(),
                })
                .unwrap();
        }
        let tree = repository
            .find_tree(index.write_tree_to(&repository).unwrap())
            .unwrap();
        let author = git2::Signature::new("A", "a@example.org", &git2::Time::new(1_700_000_000, 0)).unwrap();
        let parents: Vec<git2::Commit> = parents
            .iter()
            .map(|id| repository.find_commit(git2::Oid::from_str(id).unwrap()).unwrap())
            .collect();
        let parents: Vec<&git2::Commit> = parents.iter().collect();
        let id = repository
            .commit(None, &author, &author, "situation", &tree, &parents)
            .unwrap();
        id.to_string()
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        Files::default().with(path, content).write(&self.path);
    }
}

/// Runs git without any configuration of the user.
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
        .env("GIT_AUTHOR_DATE", "1700000000 +0000")
        .env("GIT_COMMITTER_DATE", "1700000000 +0000")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}
