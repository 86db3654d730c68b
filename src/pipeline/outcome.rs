//! What a command came to.

use crate::config::Settings;
use crate::exit::FailOn;
use crate::judge;
use crate::recording::Recording;
use crate::report::Report;

/// What a command came to.
#[derive(Debug)]
pub struct Outcome {
    /// Everything observed.
    pub recording: Recording,
    /// What it means.
    pub report: Report,
    /// Results that make the exit code 1.
    pub fail_on: Vec<FailOn>,
}

impl Outcome {
    /// With what becomes of the claims in front of the notes.
    pub(super) fn with_claims(mut self, settings: &Settings) -> Self {
        let claims = settings.claim.iter();
        let sentences = claims.map(|claim| judge::claims::sentence(claim, &self.report.findings));
        let notes = sentences.chain(self.report.notes.iter().cloned()).collect();
        self.report.notes = notes;
        self
    }
}
