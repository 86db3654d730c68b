//! The story of making a history smaller.

use super::{History, KeepAsk, KeepError, PipelineError, TrendAsk, may_keep, trend};
use crate::edge::git::Repo;
use crate::edge::view::View;
use crate::history::prune::prune as pruned;
use crate::history::{File, path_of};
use crate::units::count;
use std::collections::{BTreeMap, BTreeSet};

/// Joins the steps of commits older than the newest `newest` measured ones of each class. Those with a tag, a blessing, a change,
/// or on another branch stay; every level that is left is what it was.
///
/// # Errors
/// [`PipelineError`] on behalf of a pull request, or if the history cannot be read or written.
pub fn prune(ask: &TrendAsk, keep: &KeepAsk, newest: usize, view: &View) -> Result<(), PipelineError> {
    may_keep(keep)?;
    let repo = Repo::discover(&ask.cwd)?;
    let history = History::of(&repo, ask.place);
    // Everything is asked, whatever is shown.
    let all = TrendAsk {
        filter: None,
        class: None,
        ..ask.clone()
    };
    let trend = trend(&all, view)?;
    let known = history.read()?;
    let line = repo.line(&ask.tip)?;
    let changed = trend
        .series
        .iter()
        .flat_map(|series| &series.changes)
        .flat_map(|change| [change.before, change.at]);
    let tagged = (0..trend.commits.len()).filter(|at| !trend.commits[*at].tags.is_empty());
    let mut stays: BTreeSet<&str> = changed
        .chain(tagged)
        .map(|at| trend.commits[at].sha.as_str())
        .collect();
    stays.extend(known.blessings.iter().map(|blessing| blessing.commit.as_str()));
    let mut classes: BTreeMap<&str, Vec<File>> = BTreeMap::new();
    for file in &known.files {
        classes.entry(&file.class).or_default().push(file.clone());
    }
    let (mut put, mut remove) = (Vec::new(), Vec::new());
    for (class, mut files) in classes {
        files.sort_by_key(|file| line.position(&file.commit));
        let recent: BTreeSet<String> = files
            .iter()
            .rev()
            .take(newest)
            .map(|file| file.commit.clone())
            .collect();
        let found = pruned(&files, |sha| {
            stays.contains(sha) || recent.contains(sha) || line.position(sha).is_none()
        });
        put.extend(
            found
                .changed
                .iter()
                .map(|file| (path_of(class, &file.commit, 0), file.to_json())),
        );
        remove.extend(found.gone.iter().map(|sha| path_of(class, sha, 0)));
    }
    let before: BTreeMap<String, &File> = known
        .files
        .iter()
        .map(|file| (path_of(&file.class, &file.commit, 0), file))
        .collect();
    let is_known =
        |name: &str, bytes: &[u8]| File::parse(bytes).is_ok_and(|file| before.get(name) == Some(&&file));
    if !history.replace("prune", &put, &remove, is_known)? {
        return Err(KeepError::Busy.into());
    }
    view.say(&format!(
        "joined the steps around {}",
        count(remove.len(), "commit")
    ));
    history.push(keep.push.as_deref())
}
