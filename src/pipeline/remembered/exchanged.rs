//! The story of histories of other programs: taken up, and written for them.

use super::{History, KeepAsk, PipelineError, TrendAsk, add, may_keep, select};
use crate::edge::git::Repo;
use crate::edge::history::json_files;
use crate::edge::view::View;
use crate::history::foreign::{Foreign, measurements, readings};
use crate::units::count;
use std::path::{Path, PathBuf};

/// What is taken up.
#[derive(Debug, Clone)]
pub struct ImportAsk {
    /// The history.
    pub keep: KeepAsk,
    /// File or folder of the other program.
    pub path: PathBuf,
    /// Whose it is.
    pub format: Foreign,
    /// The commit that was measured, as typed, for formats that do not name it.
    pub commit: Option<String>,
}

/// Takes up the history of another program: each commit's values become a measurement without a base.
///
/// # Errors
/// [`PipelineError`] on behalf of a pull request, if a file is not of the format, or if the history cannot be written.
pub fn import(ask: &ImportAsk, view: &View) -> Result<(), PipelineError> {
    may_keep(&ask.keep)?;
    let repo = Repo::discover(&ask.keep.cwd)?;
    let commit = match &ask.commit {
        Some(commit) => Some(repo.commit_id(commit)?.to_string()),
        None => None,
    };
    let files = json_files(&ask.path)?;
    let found = ask.format.read(&files, commit.as_deref())?;
    let history = History::of(&repo, ask.keep.place);
    let kept = measurements(&found, ask.format, env!("CARGO_PKG_VERSION"));
    for (class, mut measurement) in kept.iter().cloned() {
        measurement.head.tree = repo.files_of(&measurement.head.sha);
        add(&history, &class, &measurement, view)?;
    }
    view.say(&format!(
        "took up {} of {}",
        count(found.len(), "value"),
        count(kept.len(), "commit")
    ));
    history.push(ask.keep.push.as_deref())
}

/// Writes a history for another program: into the folder `to`, or to the file `to` where the format has one file.
///
/// # Errors
/// [`PipelineError`] if the history cannot be read or a file not be written.
pub fn export(ask: &TrendAsk, format: Foreign, to: &Path, view: &View) -> Result<(), PipelineError> {
    let repo = Repo::discover(&ask.cwd)?;
    let line = repo.line(&ask.tip)?;
    let mut known = History::of(&repo, ask.place).read()?;
    select(&mut known, ask)?;
    let found = readings(&known.files, line.commits());
    let files = format.write(&found);
    for (name, content) in &files {
        let path = if format.is_folder() {
            to.join(name)
        } else {
            to.to_owned()
        };
        super::write(&path, content)?;
    }
    view.say(&format!(
        "wrote {} into {}",
        count(found.len(), "value"),
        to.display()
    ));
    Ok(())
}
