//! A history on a branch of its own: an orphan branch that no checkout ever has.
//!
//! Each addition is a commit made of objects alone (blob, trees, commit), and the branch moves to it only if it still is where
//! it was when the addition was made; if somebody else was faster, the addition is made again on top of theirs. Nothing is
//! ever forced, the index and the work tree are not touched. The same holds for the remote: what it refuses is joined with what
//! it has.

mod remote;

use super::error::GitError;
use super::repo::Repo;
use crate::history::alias::AliasError;
use crate::history::trend::Known;
use crate::history::{BRANCH, FOLDER, parse};
use git2::build::TreeUpdateBuilder;
use git2::{ErrorCode, FileMode, ObjectType, Oid, Repository, Tree, TreeWalkMode, TreeWalkResult};
use std::path::Path;
use std::time::Duration;

/// Times that an addition is made again before it is given up. Each time some other writer has succeeded.
const ATTEMPTS: u32 = 200;

/// Why the branch could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum BranchError {
    /// Git.
    #[error(transparent)]
    Git(#[from] GitError),
    /// What maintainers say cannot be used.
    #[error(transparent)]
    Aliases(#[from] AliasError),
    /// Others wrote all the time.
    #[error("`{BRANCH}` was moved by others {ATTEMPTS} times while this was added: try again")]
    Busy,
    /// The remote said no for another reason than a race.
    #[error("git could not {what} `{BRANCH}`: {said}")]
    Remote {
        /// `push`, `fetch`.
        what: &'static str,
        /// Its last words.
        said: String,
    },
}

/// The branch of a repository.
#[derive(Debug, Clone, Copy)]
pub struct Branch<'a> {
    repo: &'a Repo,
}

impl Repo {
    /// The branch with the history.
    #[must_use]
    pub fn history_branch(&self) -> Branch<'_> {
        Branch { repo: self }
    }
}

impl Branch<'_> {
    fn git(&self) -> &Repository {
        &self.repo.git
    }

    fn name() -> String {
        format!("refs/heads/{BRANCH}")
    }

    /// Whether there is one, here or as a remote had it.
    #[must_use]
    pub fn exists(&self) -> bool {
        matches!(self.tip(), Ok(Some(_)))
    }

    /// The commit that is read and added to: the local branch, or the remote's (`origin` before others) if that is
    /// further on or the only one.
    fn tip(&self) -> Result<Option<Oid>, GitError> {
        let own = self.reference(&Self::name())?;
        let remotes = self
            .git()
            .remotes()
            .map_err(GitError::doing("list the remotes"))?;
        let names: Vec<&str> = remotes.iter().flatten().flatten().collect();
        let mut names = names.iter().filter(|name| **name == "origin").chain(&names);
        let theirs =
            names.find_map(|remote| self.reference(&format!("refs/remotes/{remote}/{BRANCH}")).ok()?);
        Ok(match (own, theirs) {
            (Some(own), Some(theirs)) if self.git().graph_descendant_of(theirs, own).unwrap_or(false) => {
                Some(theirs)
            }
            (Some(own), _) => Some(own),
            (None, theirs) => theirs,
        })
    }

    fn reference(&self, name: &str) -> Result<Option<Oid>, GitError> {
        match self.git().refname_to_id(name) {
            Ok(id) => Ok(Some(id)),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(GitError::doing(format!("read `{name}`"))(error)),
        }
    }

    /// Everything on the branch; nothing if there is none. Files are read by as many threads as there are processors.
    ///
    /// # Errors
    /// [`BranchError`] if an object is missing or the aliases are wrong. Files with wrong content are no errors but named in
    /// [`Known::skipped`].
    pub fn read(&self) -> Result<Known, BranchError> {
        let Some(tip) = self.tip()? else {
            return Ok(Known::default());
        };
        let tree = self.tree(tip)?;
        let files = files(&tree)?;
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let path = self.git().path();
        let read = |share: &[(String, Oid)]| -> Result<Vec<_>, BranchError> {
            // A handle on a repository belongs to one thread.
            let git = Repository::open(path).map_err(GitError::doing("open the repository"))?;
            let database = git.odb().map_err(GitError::doing("open the objects"))?;
            let mut parsed = Vec::with_capacity(share.len());
            for (name, id) in share {
                let object = database
                    .read(*id)
                    .map_err(GitError::doing(format!("read `{name}`")))?;
                parsed.push((name.clone(), parse(name, object.data())?));
            }
            Ok(parsed)
        };
        let shares = files.chunks(files.len().div_ceil(workers).max(1));
        std::thread::scope(|scope| {
            let workers: Vec<_> = shares.map(|share| scope.spawn(move || read(share))).collect();
            let mut all = Vec::new();
            for worker in workers {
                all.extend(
                    worker
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?,
                );
            }
            Ok(Known::of(all))
        })
    }

    fn tree(&self, commit: Oid) -> Result<Tree<'_>, GitError> {
        let tree = self.git().find_commit(commit).and_then(|commit| commit.tree());
        tree.map_err(GitError::doing(format!("read `{BRANCH}`")))
    }

    /// Replaces the content of one file by what `change` makes of it (`None`: there is no file), in a commit with this message.
    /// It is asked again whenever somebody else was faster. What it refuses is handed back, and nothing is written.
    ///
    /// # Errors
    /// [`BranchError`] if an object or the branch cannot be written.
    pub fn change<E>(
        &self,
        name: &str,
        message: &str,
        change: impl Fn(Option<&[u8]>) -> Result<Vec<u8>, E>,
    ) -> Result<Result<(), E>, BranchError> {
        let path = format!("{FOLDER}/{name}");
        let mut refusal = None;
        self.commit(message, |tree| {
            let old = tree.and_then(|tree| blob(self.git(), tree, &path));
            match change(old.as_deref()) {
                Ok(new) if old.as_ref() == Some(&new) => Ok(None),
                Ok(new) => Ok(Some(vec![(path.clone(), Some(new))])),
                Err(error) => {
                    refusal = Some(error);
                    Ok(None)
                }
            }
        })?;
        Ok(refusal.map_or(Ok(()), Err))
    }

    /// Puts files in place of others, and takes some away, in one commit; false, and nothing is done, if one of them is not as
    /// `is_known` remembers it.
    ///
    /// # Errors
    /// [`BranchError`] if an object or the branch cannot be written.
    pub fn replace(
        &self,
        message: &str,
        put: &[(String, Vec<u8>)],
        remove: &[String],
        is_known: impl Fn(&str, &[u8]) -> bool,
    ) -> Result<bool, BranchError> {
        let path = |name: &String| format!("{FOLDER}/{name}");
        let mut known = true;
        self.commit(message, |tree| {
            let mut names = put.iter().map(|(name, _)| name).chain(remove);
            let old = |name| tree.and_then(|tree| blob(self.git(), tree, &path(name)));
            known = names.all(|name| old(name).is_some_and(|bytes| is_known(name, &bytes)));
            let changed = put
                .iter()
                .map(|(name, content)| (path(name), Some(content.clone())));
            let edits = || {
                changed
                    .chain(remove.iter().map(|name| (path(name), None)))
                    .collect()
            };
            Ok(known.then(edits))
        })?;
        Ok(known)
    }

    /// Commits what `edit` makes of the newest tree, unless it makes nothing of it.
    fn commit(
        &self,
        message: &str,
        mut edit: impl FnMut(Option<&Tree<'_>>) -> Result<Option<Edits>, GitError>,
    ) -> Result<(), BranchError> {
        for attempt in 0..ATTEMPTS {
            let own = self.reference(&Self::name())?;
            let tip = self.tip()?;
            let tree = tip.map(|tip| self.tree(tip)).transpose()?;
            let Some(edits) = edit(tree.as_ref())? else {
                return Ok(());
            };
            let tree = edited(self.git(), tree.as_ref(), &edits)?;
            let parents: Vec<Oid> = tip.into_iter().collect();
            let commit = self.write_commit(message, tree, &parents)?;
            if self.advance(own, commit, message)? {
                return Ok(());
            }
            wait(attempt);
        }
        Err(BranchError::Busy)
    }

    fn write_commit(&self, message: &str, tree: Oid, parents: &[Oid]) -> Result<Oid, GitError> {
        let git = self.git();
        let write = || {
            let tool = || git2::Signature::now("abreast", "abreast@localhost");
            let author = git.signature().or_else(|_| tool())?;
            let tree = git.find_tree(tree)?;
            let parents = parents
                .iter()
                .map(|id| git.find_commit(*id))
                .collect::<Result<Vec<_>, _>>()?;
            let parents: Vec<_> = parents.iter().collect();
            git.commit(None, &author, &author, message, &tree, &parents)
        };
        write().map_err(GitError::doing(format!("commit to `{BRANCH}`")))
    }

    /// Moves the branch if it still is at `from`; false if it is not.
    fn advance(&self, from: Option<Oid>, to: Oid, message: &str) -> Result<bool, GitError> {
        let name = Self::name();
        let moved = match from {
            Some(from) => self.git().reference_matching(&name, to, true, from, message),
            None => self.git().reference(&name, to, false, message),
        };
        match moved {
            Ok(_) => Ok(true),
            Err(error)
                if matches!(
                    error.code(),
                    ErrorCode::Modified | ErrorCode::Exists | ErrorCode::Locked
                ) =>
            {
                Ok(false)
            }
            // While another writer moves it, its file may be absent for the eye of libgit2.
            Err(error) if error.code() == ErrorCode::NotFound => Ok(false),
            Err(error) => Err(GitError::doing(format!("move `{name}`"))(error)),
        }
    }
}

/// Paths with their new content; `None` removes.
type Edits = Vec<(String, Option<Vec<u8>>)>;

/// Every file of the history's folder, named relative to it.
fn files(tree: &Tree<'_>) -> Result<Vec<(String, Oid)>, GitError> {
    let mut files = Vec::new();
    tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
        if let (Some(ObjectType::Blob), Ok(name)) = (entry.kind(), entry.name()) {
            let path = format!("{folder}{name}");
            let own = path.strip_prefix(FOLDER).and_then(|path| path.strip_prefix('/'));
            files.extend(own.map(|name| (name.to_owned(), entry.id())));
        }
        TreeWalkResult::Ok
    })
    .map_err(GitError::doing(format!("list `{BRANCH}`")))?;
    Ok(files)
}

fn blob(git: &Repository, tree: &Tree<'_>, path: &str) -> Option<Vec<u8>> {
    let entry = tree.get_path(Path::new(path)).ok()?;
    Some(git.find_blob(entry.id()).ok()?.content().to_vec())
}

fn edited(git: &Repository, tree: Option<&Tree<'_>>, edits: &Edits) -> Result<Oid, GitError> {
    let write = || {
        let empty = git.find_tree(git.treebuilder(None)?.write()?)?;
        let mut builder = TreeUpdateBuilder::new();
        for (path, content) in edits {
            match content {
                Some(content) => builder.upsert(path, git.blob(content)?, FileMode::Blob),
                None => builder.remove(path),
            };
        }
        builder.create_updated(git, tree.unwrap_or(&empty))
    };
    write().map_err(GitError::doing(format!("write a tree for `{BRANCH}`")))
}

/// A moment, longer each time up to a tenth of a second, and not the same for all who wait.
fn wait(attempt: u32) {
    let jitter = std::process::id() % 7 + 1;
    std::thread::sleep(Duration::from_millis(u64::from((attempt + 1).min(12) * jitter)));
}
