//! Both sides' files at one path: swaps the files that differ, by renaming them.

#![expect(
    clippy::disallowed_methods,
    reason = "moves files between the tool's tree and its store"
)]

use super::error::TreeError;
use super::layout::Tree;
use super::names;
use crate::edge::git::{Snapshot, changed_paths};
use crate::revision::Side;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The tree while it is measured. It holds one side's tracked files, and a store beside it the other side's versions
/// of the files that differ.
///
/// Building is for [`Tree`]; so this takes the tree and gives it back only in head's state. Base's state is for running
/// programs: there, files are older than the build of head, and cargo would call it fresh. A note beside the tree says
/// so to the next [`Tree::open`], should this run be killed.
#[derive(Debug)]
pub struct Sides {
    tree: Tree,
    store: PathBuf,
    /// Paths that differ; the n-th file of a side is `store/<side>/<n>` while it is not in the tree.
    paths: Vec<PathBuf>,
    /// What the note lists: the paths that differ, and the files that head's links among them lead to. Cargo asked
    /// those for their mtimes when it built head.
    noted: Vec<PathBuf>,
    /// Side in the tree; absent after a switch failed.
    active: Option<Side>,
}

impl Sides {
    /// Starts with head active: the tree must hold `head` as [`Tree::lay`] laid it. `store` is emptied; it must be on
    /// the tree's file system, and not inside the tree.
    ///
    /// # Errors
    /// Names that are refused, content that cannot be read, or a file system that refuses.
    pub fn new(tree: Tree, base: &Snapshot, head: &Snapshot, store: PathBuf) -> Result<Self, TreeError> {
        names::check(base)?;
        names::check(head)?;
        let paths = changed_paths(base, head);
        let ends = paths.iter().filter_map(|path| link_end(tree.root(), path));
        let noted = paths.iter().cloned().chain(ends).collect();
        let sides = Self {
            paths,
            noted,
            active: Some(Side::Head),
            tree,
            store,
        };
        match fs::remove_dir_all(&sides.store) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(TreeError::io("empty the store", &sides.store)(error));
            }
            _ => {}
        }
        if sides.paths.is_empty() {
            return Ok(sides);
        }
        for side in Side::BOTH {
            let folder = sides.store.join(side.as_str());
            fs::create_dir_all(&folder).map_err(TreeError::io("create the folder", &folder))?;
        }
        // Base's versions are laid out as a tree of their own, so that they come into being like all other files.
        let shelf = Tree::open(sides.store.join("shelf"))?;
        let differing: Vec<&Path> = sides.paths.iter().map(PathBuf::as_path).collect();
        let nothing = Snapshot::default();
        shelf.lay(
            &nothing.overlay(base, |path| differing.binary_search(&path).is_ok()),
            None,
        )?;
        for (n, path) in sides.paths.iter().enumerate() {
            if let Some(file) = names::find(shelf.root(), path) {
                rename(&file, &sides.stored(Side::Base, n))?;
            }
        }
        fs::remove_dir_all(shelf.root()).map_err(TreeError::io("remove", shelf.root()))?;
        Ok(sides)
    }

    /// The tree's folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.tree.root()
    }

    /// Paths that differ between the sides, sorted.
    #[must_use]
    pub fn differing(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Makes the tree hold that side's tracked files, with the mtimes and the content they had when they were last in
    /// the tree. Free if that side is active or if no file differs.
    ///
    /// # Errors
    /// A file system that refuses. The tree then holds files of both sides and must be laid out again.
    pub fn activate(&mut self, side: Side) -> Result<(), TreeError> {
        if self.paths.is_empty() || self.active == Some(side) {
            return Ok(());
        }
        if self.active.take().is_none() {
            return Err(TreeError::HalfSwitched);
        }
        self.tree.marker().write(&self.noted)?;
        self.take_out(side.other())?;
        self.put_in(side)?;
        if side == Side::Head {
            self.tree.marker().remove()?;
        }
        self.active = Some(side);
        Ok(())
    }

    /// Gives the tree back, with head's files in it, so that something can be built again.
    ///
    /// # Errors
    /// As for [`Sides::activate`].
    pub fn into_tree(mut self) -> Result<Tree, TreeError> {
        self.activate(Side::Head)?;
        Ok(self.tree)
    }

    /// First half of a switch: the active side's files go to the store. What a bench removed is passed over.
    fn take_out(&self, side: Side) -> Result<(), TreeError> {
        for (n, path) in self.paths.iter().enumerate() {
            if let Some(file) = names::find(self.root(), path) {
                rename(&file, &self.stored(side, n))?;
                names::prune(self.root(), path)?;
            }
        }
        Ok(())
    }

    /// Second half: the other side's files come from the store.
    fn put_in(&self, side: Side) -> Result<(), TreeError> {
        for (n, path) in self.paths.iter().enumerate() {
            let stored = self.stored(side, n);
            if stored.symlink_metadata().is_ok() {
                rename(&stored, &names::make_room(self.root(), path)?)?;
            }
        }
        Ok(())
    }

    fn stored(&self, side: Side, n: usize) -> PathBuf {
        self.store.join(side.as_str()).join(n.to_string())
    }
}

/// The file inside the tree that a symlink leads to, relative to the tree.
fn link_end(root: &Path, path: &Path) -> Option<PathBuf> {
    let link = root.join(path);
    let is_link = link.symlink_metadata().ok()?.is_symlink();
    let end = is_link.then(|| link.canonicalize().ok()).flatten()?;
    Some(end.strip_prefix(root.canonicalize().ok()?).ok()?.to_owned())
}

fn rename(from: &Path, to: &Path) -> Result<(), TreeError> {
    fs::rename(from, to).map_err(TreeError::io("move a file of one side to", to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::git::{Ci, Repo};
    use std::time::{Duration, SystemTime};

    /// A commit with these files, as a snapshot.
    fn snapshot(folder: &Path, files: &[(&str, &str)]) -> Snapshot {
        let git = git2::Repository::init(folder).unwrap();
        let mut tree = git.treebuilder(None).unwrap();
        for (name, content) in files {
            let blob = git.blob(content.as_bytes()).unwrap();
            tree.insert(name, blob, 0o100_644).unwrap();
        }
        let tree = git.find_tree(tree.write().unwrap()).unwrap();
        let someone = git2::Signature::new("A", "a@example.org", &git2::Time::new(1, 0)).unwrap();
        git.commit(Some("HEAD"), &someone, &someone, "x", &tree, &[])
            .unwrap();
        let repo = Repo::discover(folder).unwrap();
        let (base, _) = repo.resolve(Some("HEAD"), Some("HEAD"), &Ci::default()).unwrap();
        repo.snapshot(&base).unwrap()
    }

    /// Sides with head's files laid out and looking old: `a` is changed, `b` is head's alone, `c` base's, `d` equal.
    fn old_sides(folder: &Path) -> (Sides, Snapshot) {
        let base = snapshot(
            &folder.join("one"),
            &[("a", "base"), ("c", "base"), ("d", "same")],
        );
        let head = snapshot(
            &folder.join("two"),
            &[("a", "head"), ("b", "head"), ("d", "same")],
        );
        let tree = Tree::open(folder.join("tree")).unwrap();
        tree.lay(&head, None).unwrap();
        let sides = Sides::new(tree, &base, &head, folder.join("store")).unwrap();
        for file in ["tree/a", "tree/b", "tree/d", "store/base/0", "store/base/2"] {
            let file = fs::File::open(folder.join(file)).unwrap();
            file.set_modified(long_ago()).unwrap();
        }
        (sides, head)
    }

    fn long_ago() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)
    }

    fn is_new(path: &Path) -> bool {
        path.metadata().unwrap().modified().unwrap() > long_ago()
    }

    /// Runs a part of a switch, drops everything as a kill would, and starts again.
    fn after_kill(part: impl FnOnce(&mut Sides)) {
        let folder = tempfile::tempdir().unwrap();
        let (mut sides, head) = old_sides(folder.path());
        part(&mut sides);
        drop(sides);
        let root = folder.path().join("tree");
        let tree = Tree::open(root.clone()).unwrap();
        assert!(!folder.path().join("switched.json").exists());
        tree.lay(&head, None).unwrap();
        for name in ["a", "b"] {
            assert_eq!(fs::read_to_string(root.join(name)).unwrap(), "head");
            assert!(is_new(&root.join(name)), "cargo must see `{name}` as changed");
        }
        assert!(!root.join("c").exists());
        assert!(!is_new(&root.join("d")), "a file that is equal needs no build");
    }

    #[test]
    fn a_kill_before_any_file_moved_makes_the_switched_files_look_new() {
        after_kill(|sides| sides.tree.marker().write(&sides.noted).unwrap());
    }

    #[test]
    fn a_kill_between_the_halves_of_a_switch_makes_the_switched_files_look_new() {
        after_kill(|sides| {
            sides.tree.marker().write(&sides.noted).unwrap();
            sides.take_out(Side::Head).unwrap();
        });
    }

    #[test]
    fn a_kill_on_the_way_back_makes_the_switched_files_look_new() {
        after_kill(|sides| {
            sides.activate(Side::Base).unwrap();
            sides.take_out(Side::Base).unwrap();
            sides.put_in(Side::Head).unwrap();
        });
    }

    #[test]
    fn after_a_failed_switch_nothing_is_switched_until_the_tree_is_laid_out_again() {
        let folder = tempfile::tempdir().unwrap();
        let (mut sides, _) = old_sides(folder.path());
        fs::remove_dir_all(folder.path().join("store/head")).unwrap();
        let said = sides.activate(Side::Base).unwrap_err().to_string();
        assert!(said.contains("store/head/0"), "{said}");
        let again = sides.activate(Side::Head).unwrap_err();
        assert!(matches!(again, TreeError::HalfSwitched), "{again}");
        assert!(folder.path().join("switched.json").exists());
    }
}
