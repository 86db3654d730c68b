//! Beginning: the files that `abreast init` writes, and never over one that is there.

use super::PipelineError;
use crate::config::{self, FILE};
use crate::edge::git::Repo;
use crate::edge::store;
use crate::workflows::{self, Kind};
use std::path::{Path, PathBuf};

/// Writes a commented settings file at the root of the repository; returns its path.
///
/// # Errors
/// [`PipelineError::Exists`] if there is one.
pub fn init(cwd: &Path) -> Result<PathBuf, PipelineError> {
    let path = Repo::discover(cwd)?.root().join(FILE);
    write_new(vec![(path.clone(), config::template())])?;
    Ok(path)
}

/// Writes the workflows of some kinds, which use `action` (`owner/name@ref`); returns their paths.
///
/// # Errors
/// [`PipelineError::Exists`] if one of them is there; then none is written.
pub fn init_github(cwd: &Path, kinds: &[Kind], action: &str) -> Result<Vec<PathBuf>, PipelineError> {
    let root = Repo::discover(cwd)?.root().to_owned();
    let files: Vec<(PathBuf, String)> = workflows::files(kinds, action)
        .into_iter()
        .map(|(path, text)| (root.join(path), text))
        .collect();
    let paths = files.iter().map(|(path, _)| path.clone()).collect();
    write_new(files)?;
    Ok(paths)
}

fn write_new(files: Vec<(PathBuf, String)>) -> Result<(), PipelineError> {
    if let Some((path, _)) = files.iter().find(|(path, _)| path.exists()) {
        return Err(PipelineError::Exists(path.clone()));
    }
    for (path, text) in files {
        store::write(&path, text.as_bytes())?;
    }
    Ok(())
}
