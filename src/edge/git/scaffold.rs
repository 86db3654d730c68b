//! A repository of the tool's own, for a suite that it makes up.
#![expect(clippy::disallowed_methods, reason = "writes the tool's own files")]

use super::GitError;
use std::path::Path;

/// Commits these files, on top of whatever the repository in `folder` has, which is made if there is none; they are
/// then its work tree. Returns the commit.
///
/// # Errors
/// [`GitError`] if the folder cannot be written.
pub fn commit(folder: &Path, files: &[(&str, String)]) -> Result<String, GitError> {
    for (name, text) in files {
        let path = folder.join(name);
        let written = std::fs::create_dir_all(path.parent().unwrap_or(folder))
            .and_then(|()| std::fs::write(&path, text));
        written.map_err(|source| GitError::Io {
            doing: "write",
            path,
            source,
        })?;
    }
    committed(folder, files).map_err(GitError::doing(format!("commit in {}", folder.display())))
}

fn committed(folder: &Path, files: &[(&str, String)]) -> Result<String, git2::Error> {
    let repository = git2::Repository::open(folder).or_else(|_| git2::Repository::init(folder))?;
    let mut index = repository.index()?;
    index.clear()?;
    for (name, _) in files {
        index.add_path(Path::new(name))?;
    }
    index.write()?;
    let tree = repository.find_tree(index.write_tree()?)?;
    let tool = git2::Signature::new("abreast", "abreast@localhost", &git2::Time::new(0, 0))?;
    let parent = repository.head().and_then(|head| head.peel_to_commit()).ok();
    let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
    let id = repository.commit(Some("HEAD"), &tool, &tool, "suite", &tree, &parents)?;
    Ok(id.to_string())
}
