//! How the room of one comment is shared among the sections of several jobs.

use super::LIMIT;
use super::cut::cut;
use super::message::Message;
use super::section::{Section, compose};
use crate::report::markdown::units;

/// Most jobs in one comment; beyond, the oldest runs give way. Chosen: each then has room for its verdict and some
/// rows.
const MOST_JOBS: usize = 16;

/// The body in which `message` stands among the sections of other jobs, by name.
///
/// Each job is sure of an equal share. What the others leave over is the message's; where they hold more than the rest,
/// the longest of them are cut.
pub(super) fn body_with(message: &Message, mut others: Vec<Section>, head: Option<&str>) -> String {
    others.sort_by_key(|section| std::cmp::Reverse(section.stamp.run));
    others.truncate(MOST_JOBS - 1);
    let room = LIMIT.saturating_sub(frame(message, &others));
    let lengths: Vec<usize> = others.iter().map(|section| units(&section.text)).collect();
    let left_over = room.saturating_sub(lengths.iter().sum());
    let share = room / (others.len() + 1);
    let own = message.section(share.max(left_over));
    let most = level(lengths, room.saturating_sub(units(&own.text)));
    for section in &mut others {
        section.text = cut(&section.text, most);
    }
    others.push(own);
    others.sort_by(|one, other| one.job.cmp(&other.job));
    compose(&others, head)
}

/// Units of everything but the texts: markers, and the remark that each section may get.
fn frame(message: &Message, others: &[Section]) -> usize {
    let empty = |section: &Section| Section {
        text: String::new(),
        ..section.clone()
    };
    let own = Section {
        job: message.job.clone(),
        stamp: message.stamp(),
        text: String::new(),
    };
    let all: Vec<Section> = others.iter().map(empty).chain([own]).collect();
    // No commit has an empty id, so every section gets the remark.
    units(&compose(&all, Some("")))
}

/// The length to which the longest must be cut so that all together fit; those below it keep theirs.
fn level(mut lengths: Vec<usize>, room: usize) -> usize {
    lengths.sort_unstable();
    let mut left = room;
    for (n, length) in lengths.iter().enumerate() {
        let share = left / (lengths.len() - n);
        if *length > share {
            return share;
        }
        left -= length;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comment::sample::message;
    use crate::comment::section::{Stamp, sections};
    use crate::pull_request::Run;
    use crate::report::sample;
    use crate::verdict::Verdict;

    fn other(job: &str, run: u64, length: usize) -> Section {
        Section {
            job: job.to_owned(),
            stamp: Stamp {
                head: "a".repeat(40),
                run: Run {
                    id: Some(run),
                    ..Run::default()
                },
                digest: "0".repeat(12),
            },
            text: format!("{}\n", "y".repeat(79))
                .repeat(length / 80)
                .trim()
                .to_owned(),
        }
    }

    /// A message that would fill any comment.
    fn long(job: &str) -> Message {
        let mut report = sample::report();
        let slow = |row| sample::changed(&format!("slow/{row}"), Verdict::Regressed, 1e6, 0.2, 0.01);
        let same = |row| sample::unchanged(&format!("group/function with a long name/{row}"));
        report.findings = (0..3).map(slow).chain((3..2_000).map(same)).collect();
        message(job, vec![report])
    }

    #[track_caller]
    fn lengths(body: &str) -> Vec<(String, usize)> {
        assert!(units(body) <= LIMIT, "{}", units(body));
        let sections = sections(body).unwrap();
        sections
            .into_iter()
            .map(|section| (section.job, units(&section.text)))
            .collect()
    }

    #[test]
    fn who_is_alone_has_all_the_room() {
        let all = lengths(&body_with(&long("a"), vec![], None));
        assert!(all[0].1 > 50_000, "{all:?}");
    }

    #[test]
    fn short_sections_stay_whole_and_leave_the_rest_to_the_long_one() {
        let short = other("z", 1, 400);
        let body = body_with(&long("a"), vec![short.clone()], Some("b"));
        let all = lengths(&body);
        assert!(all[0].1 > 50_000, "{all:?}");
        assert_eq!(sections(&body).unwrap()[1], short);
    }

    #[test]
    fn two_long_sections_have_half_of_it_each() {
        let first = sections(&body_with(&long("a"), vec![], None)).unwrap();
        let body = body_with(&long("b"), first, None);
        let all = lengths(&body);
        assert_eq!(all.len(), 2);
        for (job, length) in &all {
            assert!((20_000..31_000).contains(length), "{job}: {length}");
        }
        // Nobody loses a regression.
        for section in sections(&body).unwrap() {
            assert_eq!(section.text.matches("| 🔴\u{a0}").count(), 6, "{}", section.text);
        }
    }

    #[test]
    fn a_crowd_of_jobs_fits_and_the_oldest_give_way() {
        let others = (0..40).map(|n| other(&format!("job-{n:02}"), n, 9_000)).collect();
        let all = lengths(&body_with(&long("mine"), others, Some("b")));
        assert_eq!(all.len(), MOST_JOBS);
        let jobs: Vec<&str> = all.iter().map(|(job, _)| job.as_str()).collect();
        assert!(jobs.contains(&"job-39") && !jobs.contains(&"job-24") && jobs.contains(&"mine"));
        assert!(all.iter().all(|(_, length)| *length > 1_500), "{all:?}");
    }

    #[test]
    fn the_level_cuts_only_what_is_above_it() {
        assert_eq!(level(vec![10, 20, 30], 60), usize::MAX);
        assert_eq!(level(vec![30, 10, 20], 50), 20);
        assert_eq!(level(vec![30, 10, 30], 50), 20);
        assert_eq!(level(vec![5, 5], 4), 2);
        assert_eq!(level(vec![], 0), usize::MAX);
    }
}
