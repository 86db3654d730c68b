//! A repository of the tool's own, for a suite that it makes up.

use super::GitError;
use std::path::Path;

/// Commits exactly these files on top of whatever the repository in `folder` has, which is made if there is none.
/// Returns the commit.
///
/// # Errors
/// [`GitError`] if the folder cannot be written.
pub fn commit(folder: &Path, files: &[(&str, String)]) -> Result<String, GitError> {
    committed(folder, files).map_err(GitError::doing(format!("commit in {}", folder.display())))
}

fn committed(folder: &Path, files: &[(&str, String)]) -> Result<String, git2::Error> {
    let repository = git2::Repository::open(folder).or_else(|_| git2::Repository::init(folder))?;
    let mut index = git2::Index::new()?;
    for (path, text) in files {
        let id = repository.blob(text.as_bytes())?;
        index.add(&git2::IndexEntry {
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
            path: path.as_bytes().to_vec(),
        })?;
    }
    let tree = repository.find_tree(index.write_tree_to(&repository)?)?;
    let tool = git2::Signature::new("abreast", "abreast@localhost", &git2::Time::new(0, 0))?;
    let parent = repository.head().and_then(|head| head.peel_to_commit()).ok();
    let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
    let id = repository.commit(Some("HEAD"), &tool, &tool, "suite", &tree, &parents)?;
    Ok(id.to_string())
}
