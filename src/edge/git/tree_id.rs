//! The id that git would give the tree of some files, computed without making it.
//!
//! libgit2 can only write trees, and refuses those whose files it does not have; here they are in two databases.

use super::collect::Item;
use super::error::GitError;
use git2::{ObjectType, Oid};
use std::collections::BTreeMap;

/// A folder's entries by name. Git sorts a folder as if its name ended with `/`, so that is how it is kept.
#[derive(Default)]
struct Folder(BTreeMap<Vec<u8>, Node>);

enum Node {
    Leaf { mode: u32, id: Oid },
    Folder(Folder),
}

/// The id of the tree that holds exactly these items, whose modes must be git's.
pub(super) fn tree_id(items: &[Item]) -> Result<Oid, GitError> {
    let mut root = Folder::default();
    for item in items {
        root.insert(&item.path, item);
    }
    root.id()
        .map_err(GitError::doing("compute the tree of the working files"))
}

impl Folder {
    fn insert(&mut self, path: &[u8], item: &Item) {
        let leaf = Node::Leaf {
            mode: item.mode,
            id: item.id,
        };
        match path.iter().position(|byte| *byte == b'/') {
            None => {
                self.0.insert(path.to_owned(), leaf);
            }
            Some(slash) => {
                let (name, rest) = path.split_at(slash + 1);
                let folder = self
                    .0
                    .entry(name.to_owned())
                    .or_insert_with(|| Node::Folder(Self::default()));
                // A key that ends with `/` is always a folder.
                if let Node::Folder(folder) = folder {
                    folder.insert(rest, item);
                }
            }
        }
    }

    fn id(&self) -> Result<Oid, git2::Error> {
        let mut bytes = Vec::new();
        for (name, node) in &self.0 {
            let (mode, name, id) = match node {
                Node::Leaf { mode, id } => (*mode, name.as_slice(), *id),
                Node::Folder(folder) => (0o40_000, name.strip_suffix(b"/").unwrap_or(name), folder.id()?),
            };
            bytes.extend_from_slice(format!("{mode:o} ").as_bytes());
            bytes.extend_from_slice(name);
            bytes.push(0);
            bytes.extend_from_slice(id.as_bytes());
        }
        Oid::hash_object(ObjectType::Tree, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_the_one_that_git_gives_also_where_its_order_is_odd() {
        let folder = tempfile::tempdir().unwrap();
        let repo = git2::Repository::init(folder.path()).unwrap();
        let blob = repo.blob(b"x").unwrap();
        let mut index = repo.index().unwrap();
        let mut items = Vec::new();
        // `a-b` < `a/` < `a0`, though `a` alone would come first.
        for (path, mode) in [
            ("a/x", 0o100_644),
            ("a-b", 0o100_755),
            ("a0", 0o120_000),
            ("z/y/x", 0o100_644),
        ] {
            let item = Item {
                path: path.as_bytes().to_vec(),
                mode,
                id: blob,
            };
            let never = git2::IndexTime::new(0, 0);
            index
                .add(&git2::IndexEntry {
                    ctime: never,
                    mtime: never,
                    dev: 0,
                    ino: 0,
                    mode,
                    uid: 0,
                    gid: 0,
                    file_size: 0,
                    id: blob,
                    flags: 0,
                    flags_extended: 0,
                    path: item.path.clone(),
                })
                .unwrap();
            items.push(item);
        }
        assert_eq!(tree_id(&items).unwrap(), index.write_tree().unwrap());
        let empty = tree_id(&[]).unwrap().to_string();
        assert_eq!(empty, "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    }
}
