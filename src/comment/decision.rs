//! What is to become of the comment that is there, or is not.

use super::message::Message;
use super::room::body_with;
use super::section::{Section, Stamp, compose, sections};
use crate::pull_request::Posted;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// What is known of the pull request.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// Every comment on it.
    pub comments: &'a [Posted],
    /// Login that comments of this tool are made with. What anybody else wrote is left alone, whatever it says.
    pub author: &'a str,
    /// Its newest commit; absent if it could not be asked for.
    pub head: Option<&'a str>,
    /// Whether the message was written already, in an earlier look.
    pub written: bool,
}

/// What is to be done. After it was done, one looks again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Nothing.
    Leave(Reason),
    /// A comment with this body is to be made.
    Create(String),
    /// One is to be changed, or others are to go.
    Edit(Edit),
}

/// A change of comments that are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The comment that stays: the oldest.
    pub id: u64,
    /// Its new body; absent if it stays as it is.
    pub body: Option<String>,
    /// Comments that are to be removed: two jobs made one at the same time.
    pub remove: Vec<u64>,
}

/// Why nothing is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It says this already.
    Said,
    /// It says what a newer run found, or about a newer commit.
    Newer,
    /// Nothing changed, nothing is said yet, and messages were wanted on a change.
    Quiet,
    /// Another job of the same run has the same name; what it said last stands.
    SameName,
}

/// Decides. Several comments become one, the oldest, with the newest section of each job.
///
/// | this job's section | the message | then |
/// |---|---|---|
/// | none | is quiet | leave |
/// | the same | | leave |
/// | outranks the message | | leave |
/// | of the same run, other text, after the message was written | | leave: two jobs have one name |
/// | otherwise | | write |
#[must_use]
pub fn decide(message: &Message, situation: &Situation<'_>) -> Decision {
    let ours = ours(situation);
    let Some(((keeper, kept), duplicates)) = ours.split_first() else {
        return if message.is_quiet() {
            Decision::Leave(Reason::Quiet)
        } else {
            Decision::Create(body_with(message, Vec::new(), situation.head))
        };
    };
    let mut standing = newest(&ours);
    let own = standing.remove(&message.job);
    let reason = reason(message, own.as_ref(), situation);
    let body = match reason {
        None => Some(body_with(
            message,
            standing.into_values().collect(),
            situation.head,
        )),
        Some(_) => {
            standing.extend(own.map(|own| (own.job.clone(), own)));
            let merged: Vec<Section> = standing.into_values().collect();
            (merged != *kept).then(|| compose(&merged, situation.head))
        }
    };
    let remove: Vec<u64> = duplicates.iter().map(|(posted, _)| posted.id).collect();
    match reason {
        Some(reason) if remove.is_empty() => Decision::Leave(reason),
        _ => Decision::Edit(Edit {
            id: keeper.id,
            body,
            remove,
        }),
    }
}

/// Comments of this tool with their sections, oldest first.
fn ours<'a>(situation: &Situation<'a>) -> Vec<(&'a Posted, Vec<Section>)> {
    let by_us = |posted: &&Posted| {
        let author = posted.author.as_deref();
        author.is_some_and(|author| author.eq_ignore_ascii_case(situation.author))
    };
    let mut ours: Vec<(&Posted, Vec<Section>)> = situation
        .comments
        .iter()
        .filter(by_us)
        .filter_map(|posted| Some((posted, sections(&posted.body)?)))
        .collect();
    ours.sort_by_key(|(posted, _)| posted.id);
    ours
}

/// Of each job the section of the newest run, by name.
fn newest(ours: &[(&Posted, Vec<Section>)]) -> BTreeMap<String, Section> {
    let mut newest: BTreeMap<String, Section> = BTreeMap::new();
    for section in ours.iter().flat_map(|(_, sections)| sections) {
        let is_older = newest
            .get(&section.job)
            .is_some_and(|found| section.stamp.run.order(&found.stamp.run) == Ordering::Less);
        if !is_older {
            newest.insert(section.job.clone(), section.clone());
        }
    }
    newest
}

fn reason(message: &Message, own: Option<&Section>, situation: &Situation<'_>) -> Option<Reason> {
    let stamp = message.stamp();
    match own {
        None => message.is_quiet().then_some(Reason::Quiet),
        Some(own) if own.stamp == stamp => Some(Reason::Said),
        Some(own) if situation.written && own.stamp.run == stamp.run => Some(Reason::SameName),
        Some(own) => outranks(&own.stamp, &stamp, situation.head).then_some(Reason::Newer),
    }
}

/// Whether what is said must not give way: it is about the newest commit and the message is not, or, where that does
/// not tell them apart, its run was started later.
fn outranks(said: &Stamp, message: &Stamp, head: Option<&str>) -> bool {
    let is_current = |stamp: &Stamp| head.is_some_and(|head| head == stamp.head);
    match (is_current(said), is_current(message)) {
        (true, false) => true,
        (false, true) => false,
        _ => said.run.order(&message.run) == Ordering::Greater,
    }
}

#[cfg(test)]
mod tests;
