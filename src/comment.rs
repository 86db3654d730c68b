//! The comment on a pull request: what it says, and what is to become of the one that is there.
//!
//! A pull request has one comment. Each job has a [`Section`] in it, between marker lines that nobody sees; the marker
//! tells which commit and which run a section is about, so that an older run never replaces what a newer one said.
//! Everything here is decided from texts; nothing is sent.

mod cut;
mod decision;
mod message;
mod room;
#[cfg(test)]
mod sample;
mod section;

pub use self::decision::{Decision, Edit, Reason, Situation, decide};
pub use self::message::{Message, Told};
pub use self::section::{Section, Stamp, compose, sections};

/// Most UTF-16 code units (and so characters) of a comment; GitHub takes 65,536.
pub const LIMIT: usize = 60_000;
