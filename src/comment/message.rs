//! What one job has to say about a pull request.

use super::LIMIT;
use super::cut::cut;
use super::section::{Section, Stamp};
use crate::digest::sha256;
use crate::pull_request::Run;
use crate::report::markdown::{Place, brief, code, section, units};
use crate::report::{Report, sentence, visible};
use crate::verdict::Verdict;

/// Cells of a name in a verdict line.
const LONGEST_NAME: usize = 60;
/// Digits of a digest: enough to tell two reports of one run apart. Chosen.
const DIGEST_DIGITS: usize = 12;

/// The reports of one job, and where they come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Name of the job, which is that of its section.
    pub job: String,
    /// Newest commit of the pull request when it was measured: full object id.
    pub head: String,
    /// The run that measured.
    pub run: Run,
    /// At least one.
    pub reports: Vec<Told>,
    /// Say nothing where nothing changed, unless something is said already.
    pub on_change: bool,
    /// Web page with the files of the run; absent if it is not known.
    pub files: Option<String>,
}

/// One report, and what it is called where there are several.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// Its name.
    pub name: String,
    /// It.
    pub report: Report,
}

impl Message {
    /// What the message is about.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        let mut digest = sha256(self.text(LIMIT).as_bytes());
        digest.truncate(DIGEST_DIGITS);
        Stamp {
            head: self.head.clone(),
            run: self.run,
            digest,
        }
    }

    /// The section with as much as `room` units hold.
    #[must_use]
    pub fn section(&self, room: usize) -> Section {
        Section {
            job: self.job.clone(),
            stamp: self.stamp(),
            text: self.text(room),
        }
    }

    /// The verdict that speaks for all reports: the worst news.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let verdicts = self
            .reports
            .iter()
            .map(|told| sentence::headline(&told.report).verdict);
        verdicts
            .min_by_key(|verdict| rank(*verdict))
            .unwrap_or(Verdict::Unclear)
    }

    /// Rows with this verdict, all reports together.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.reports.iter().map(|told| told.report.count(verdict)).sum()
    }

    /// Whether there is nothing that anybody must hear: messages were wanted on a change, and none was shown.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.on_change && self.reports.iter().all(|told| is_without_change(&told.report))
    }

    /// The Markdown, at most `room` units: reports share the room, and what one does not need the next ones have.
    #[must_use]
    pub fn text(&self, room: usize) -> String {
        let foot = self.foot();
        let mut left = room.saturating_sub(units(&foot));
        let mut out = String::new();
        for (n, told) in self.reports.iter().enumerate() {
            let share = left / (self.reports.len() - n);
            let title = self.title(told);
            let again = again(&told.report);
            let text = if self.is_quiet() {
                brief(&told.report, &title)
            } else {
                let place = Place {
                    title: &title,
                    again: Some(&again),
                    room: share,
                };
                section(&told.report, &place)
            };
            // Two for the line feeds between reports.
            let text = cut(text.trim_end(), share.saturating_sub(2));
            left = left.saturating_sub(units(&text) + 2);
            out.push_str(text.trim_end());
            out.push_str("\n\n");
        }
        out.push_str(&foot);
        out.truncate(out.trim_end().len());
        out
    }

    fn title(&self, told: &Told) -> String {
        let name = |name: &str| code(&visible::cut_middle(&visible::id(name), LONGEST_NAME));
        if self.reports.len() == 1 {
            name(&self.job)
        } else {
            format!("{} {}", name(&self.job), name(&told.name))
        }
    }

    /// Where all that was written is.
    fn foot(&self) -> String {
        let files = self.files.as_ref();
        files.map_or_else(String::new, |files| {
            format!("[Report and recording of this run]({files})\n")
        })
    }
}

/// The command that compares the same elsewhere.
fn again(report: &Report) -> String {
    let command = format!("abreast compare {} {}", report.base.short(), report.head.short());
    code(&visible::line(&command))
}

/// Worst news first.
fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Regressed => 0,
        Verdict::Failed => 1,
        Verdict::Unclear | Verdict::NotComparable | Verdict::New | Verdict::Removed => 2,
        Verdict::Improved => 3,
        Verdict::Unchanged => 4,
        Verdict::Identical => 5,
    }
}

/// Whether a report was about something, and showed no change and no trouble. That most rows are unclear is no change.
fn is_without_change(report: &Report) -> bool {
    let any = |verdict| report.count(verdict) > 0;
    match sentence::headline(report).verdict {
        Verdict::Unchanged | Verdict::Identical => true,
        Verdict::Unclear => report.compared() > 0 && !any(Verdict::Improved),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comment::sample::message;
    use crate::report::{Finding, sample};

    fn report(findings: Vec<Finding>) -> Report {
        Report {
            findings,
            ..sample::empty()
        }
    }

    fn quiet(findings: Vec<Finding>) -> bool {
        let message = Message {
            on_change: true,
            ..message("a", vec![report(findings)])
        };
        message.is_quiet()
    }

    fn changed(verdict: Verdict) -> Finding {
        sample::changed("c", verdict, 100.0, 0.2, 0.01)
    }

    #[test]
    fn one_report_is_called_like_its_job_and_several_also_like_themselves() {
        let fine = || report(vec![sample::unchanged("a")]);
        let one = message("bench", vec![fine()]).text(LIMIT);
        assert!(
            one.starts_with("### ✅ `bench`: 1 unchanged of 1 scenario\n"),
            "{one}"
        );
        assert!(
            one.contains("**On another machine:** `abreast compare 1a1a1a1a1a f0f0f0f0f0`"),
            "{one}"
        );
        let two = message("bench", vec![fine(), fine()]).text(LIMIT);
        assert!(two.contains("### ✅ `bench` `part-0`: 1 unchanged"), "{two}");
        assert!(two.contains("\n\n### ✅ `bench` `part-1`: 1 unchanged"), "{two}");
    }

    #[test]
    fn where_the_files_are_is_the_last_line() {
        let with = Message {
            files: Some("https://github.example/o/r/actions/runs/900".to_owned()),
            ..message("a", vec![sample::empty()])
        };
        let text = with.text(LIMIT);
        assert!(
            text.ends_with(
                "\n\n[Report and recording of this run](https://github.example/o/r/actions/runs/900)"
            ),
            "{text}"
        );
    }

    #[test]
    fn several_reports_share_the_room() {
        let long = report(
            (0..900)
                .map(|row| sample::unchanged(&format!("group/{row}")))
                .collect(),
        );
        let short = report(vec![sample::unchanged("a")]);
        for room in [4_000, 20_000, LIMIT] {
            let text = message("a", vec![long.clone(), short.clone(), long.clone()]).text(room);
            assert!(units(&text) <= room, "{} > {room}", units(&text));
            let verdicts = text.lines().filter(|line| line.starts_with("### ✅ `a` `part-"));
            assert_eq!(verdicts.count(), 3, "{text}");
        }
    }

    #[test]
    fn only_a_report_about_something_without_change_and_trouble_is_quiet() {
        assert!(quiet(vec![sample::unchanged("a")]));
        assert!(quiet(vec![sample::bare("a", Verdict::Identical)]));
        assert!(quiet(vec![
            sample::unchanged("a"),
            sample::bare("b", Verdict::New)
        ]));
        assert!(quiet(vec![sample::bare("a", Verdict::Unclear)]));
        assert!(!quiet(vec![]));
        assert!(!quiet(vec![sample::bare("a", Verdict::New)]));
        assert!(!quiet(vec![
            sample::unchanged("a"),
            sample::bare("b", Verdict::Failed)
        ]));
        for verdict in [Verdict::Regressed, Verdict::Improved] {
            let unclear = sample::bare("b", Verdict::Unclear);
            assert!(!quiet(vec![changed(verdict), unclear.clone(), unclear]));
        }
        let asked_for_all = message("a", vec![report(vec![sample::unchanged("a")])]);
        assert!(!asked_for_all.is_quiet());
    }

    #[test]
    fn a_quiet_message_has_two_lines() {
        let message = Message {
            on_change: true,
            ..message("a", vec![report(vec![sample::unchanged("x")])])
        };
        assert_eq!(
            message.text(LIMIT),
            "### ✅ `a`: no change\n\n1 unchanged of 1 scenario. Base `main` (1a1a1a1a1a) → head `working tree` (f0f0f0f0f0)"
        );
    }

    #[test]
    fn the_worst_news_speaks_for_all() {
        let verdict = |verdicts: &[Verdict]| {
            let reports = verdicts.iter().map(|verdict| report(vec![changed(*verdict)]));
            message("a", reports.collect()).verdict()
        };
        assert_eq!(
            verdict(&[Verdict::Unchanged, Verdict::Improved]),
            Verdict::Improved
        );
        assert_eq!(
            verdict(&[Verdict::Failed, Verdict::Regressed]),
            Verdict::Regressed
        );
        assert_eq!(verdict(&[Verdict::Identical, Verdict::Unclear]), Verdict::Unclear);
        assert_eq!(verdict(&[Verdict::Identical]), Verdict::Identical);
    }

    #[test]
    fn the_digest_is_that_of_what_was_said_and_not_of_how_much_was_shown() {
        let long = report(
            (0..900)
                .map(|row| sample::unchanged(&format!("group/{row}")))
                .collect(),
        );
        let one = message("a", vec![long.clone()]);
        assert_eq!(one.section(4_000).stamp, one.section(LIMIT).stamp);
        assert_ne!(one.section(4_000).text, one.section(LIMIT).text);
        let other = message("a", vec![report(vec![changed(Verdict::Regressed)])]);
        assert_ne!(one.stamp().digest, other.stamp().digest);
        assert_eq!(one.stamp().digest.len(), DIGEST_DIGITS);
    }

    #[test]
    fn a_name_cannot_break_out_of_the_verdict_line() {
        let text = message("a`](x)\n@here <b>", vec![sample::empty()]).text(LIMIT);
        let first = text.lines().next().unwrap_or_default();
        assert!(first.starts_with("### ❔ ``a`](x)\\n@here <b>``: "), "{first}");
    }
}
