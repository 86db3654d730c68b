//! What can go wrong in the tool's own tree.

use crate::edge::git::GitError;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A snapshot that may not be laid out, or a file system that does not let it be.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// A name that leads out of the tree, or into a repository's own files.
    #[error(
        "the file name `{}` is refused, as git refuses it: absolute, or with a part `..` or `.git`; \
         remove it from the commit",
        path.display()
    )]
    Refused {
        /// The name as committed.
        path: PathBuf,
    },
    /// A name that is a file and a folder at once.
    #[error(
        "`{}` is both a file and a folder in the same commit: the commit is damaged, `git fsck` tells more",
        path.display()
    )]
    FileAndFolder {
        /// The name as committed.
        path: PathBuf,
    },
    /// The content of a file could not be had.
    #[error(transparent)]
    Content(#[from] GitError),
    /// An earlier switch of sides failed half-way.
    #[error("the tree holds files of both sides since a switch failed: lay it out again before going on")]
    HalfSwitched,
    /// The file system refused.
    #[error("cannot {doing} `{}`: {source}{}", path.display(), advice(source))]
    Io {
        /// A verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
}

impl TreeError {
    /// For `map_err`: a refusal of the file system while `doing` something with `path`.
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            " (free some space, or set ABREAST_HOME to a folder on a larger disk)"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            " (the folder must be writable; ABREAST_HOME chooses another)"
        }
        ErrorKind::CrossesDevices => " (the tree and its store must be on one file system)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_a_refusal_name_the_file_and_a_way_out() {
        let text = |kind: ErrorKind| TreeError::io("write", Path::new("/t/a.rs"))(kind.into()).to_string();
        for kind in [ErrorKind::StorageFull, ErrorKind::PermissionDenied] {
            let text = text(kind);
            assert!(text.starts_with("cannot write `/t/a.rs`: "), "{text}");
            assert!(text.contains("ABREAST_HOME"), "{text}");
        }
    }
}
