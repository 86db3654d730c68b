//! Messages that several tests share.

use super::message::{Message, Told};
use crate::pull_request::Run;
use crate::report::Report;

/// What a job says in run 900 about the commit `f0f0…`, which is the head of the reports' sample.
pub(super) fn message(job: &str, reports: Vec<Report>) -> Message {
    let told = |(n, report)| Told {
        name: format!("part-{n}"),
        report,
    };
    Message {
        job: job.to_owned(),
        head: "f0".repeat(20),
        run: Run {
            id: Some(900),
            number: Some(5),
            attempt: Some(1),
        },
        reports: reports.into_iter().enumerate().map(told).collect(),
        on_change: false,
        files: None,
    }
}
