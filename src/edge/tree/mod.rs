//! The tool's one private tree: the folder in which both sides are laid out and built, one after the other.
//!
//! [`Tree::lay`] makes it hold exactly a snapshot's files and rewrites only what differs, so cargo rebuilds only what
//! changed. [`Sides`] then swaps the few files that differ between the sides, for benches that read tracked files while
//! they run. Cargo's target folder does not belong inside: files that are neither the snapshot's nor ignored are removed.
//!
//! A snapshot is not trusted: no name leads out of the tree, and no symlink is followed while writing or removing.

mod error;
mod layout;
mod links;
mod marker;
mod names;
mod sides;
mod strays;

pub use error::TreeError;
pub use layout::Tree;
pub use sides::Sides;
