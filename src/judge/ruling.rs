//! From an assessed row to its finding: the verdict, the flag, and the notes that explain them.
//!
//! A verdict starts as unclear and must be earned.

use crate::judge::assessment::{Assessment, Row, Until};
use crate::judge::confirmation::{Confirmation, confirm};
use crate::judge::decision::Outcome;
use crate::judge::exact;
use crate::judge::incidents::sentence;
use crate::judge::origin::{Origin, origin};
use crate::judge::standing::Standing;
use crate::judge::wording::{self, first_line};
use crate::metric::Better;
use crate::plan::MIN_ROUNDS;
use crate::report::{Change, Finding};
use crate::units::count;
use crate::verdict::Verdict;

/// The finding of a row.
#[must_use]
pub fn finding(assessment: &Assessment<'_>, row: &Row<'_>) -> Finding {
    let scenario = &row.entry.scenario;
    let decided = row.decided.as_ref();
    let change = decided.map(|decided| {
        let rounds = row
            .comparison
            .measured
            .iter()
            .take(decided.contrast.rounds as usize);
        let rounds = rounds.map(|pair| (pair.log_ratio().exp_m1(), pair.base));
        let (per_round, base_per_round) = rounds.filter(|(change, _)| change.is_finite()).unzip();
        Change {
            change: decided.decision.change,
            low: decided.decision.low,
            high: decided.decision.high,
            floor: decided.decision.floor,
            detectable: decided.decision.detectable,
            rounds: decided.contrast.rounds,
            per_round,
            base_per_round,
            confirmation: None,
        }
    });
    let mut finding = Finding {
        scenario: scenario.id.clone(),
        kind: scenario.kind,
        target: scenario.target.clone(),
        metric: scenario.metric.clone(),
        base: decided.map_or(row.comparison.base.typical, |decided| Some(decided.contrast.base)),
        head: decided.map_or(row.comparison.head.typical, |decided| Some(decided.contrast.head)),
        change,
        confirmed: None,
        instructions_change: assessment.instructions_change(row),
        verdict: Verdict::Unclear,
        flag: Verdict::Unclear.flag(None, assessment.policy.alert.0),
        notes: Vec::new(),
    };
    match &row.standing {
        Standing::Identical => finding.verdict = Verdict::Identical,
        Standing::Exact => {
            if exact::count(&mut finding, assessment, row)
                || !fail_if_unmeasured(&mut finding, assessment, row)
            {
                note_losses(&mut finding, assessment, row);
            }
        }
        Standing::OneSided(verdict, notes) => {
            finding.verdict = *verdict;
            finding.notes.clone_from(notes);
            // A benchmark that never measured anything has not arrived (or gone): it is broken.
            let measured = finding.base.or(finding.head).is_some();
            if measured || !fail_if_unmeasured(&mut finding, assessment, row) {
                note_losses(&mut finding, assessment, row);
            }
        }
        Standing::Failed(reason) => {
            finding.verdict = Verdict::Failed;
            finding.notes.push(reason.clone());
        }
        Standing::Barred(reason) => {
            finding.notes.push(reason.clone());
            if row.decided.is_some() || !fail_if_unmeasured(&mut finding, assessment, row) {
                finding.verdict = Verdict::NotComparable;
                note_losses(&mut finding, assessment, row);
            }
        }
        Standing::Compared(notes) => {
            finding.notes.clone_from(notes);
            compared(&mut finding, assessment, row);
        }
    }
    let size = finding.change.as_ref().map(|change| change.change);
    finding.flag = finding.verdict.flag(size, assessment.policy.alert.0);
    finding
}

/// The verdict of a row that both sides have.
fn compared(finding: &mut Finding, assessment: &Assessment<'_>, row: &Row<'_>) {
    let Some(decided) = &row.decided else {
        if !fail_if_unmeasured(finding, assessment, row) {
            let rounds = count(row.comparison.measured.len(), "paired round");
            finding.notes.push(if row.rounds() < MIN_ROUNDS {
                format!("{rounds}: a verdict needs at least {MIN_ROUNDS}")
            } else {
                format!("{rounds}, but no finite estimate")
            });
            note_losses(finding, assessment, row);
        }
        return;
    };
    match decided.decision.outcome {
        Outcome::Candidate => {
            let confirmation = confirm(assessment, row, Until::TheEnd);
            let repeated = matches!(confirmation, Confirmation::Repeated(_));
            apply(finding, confirmation, decided.decision.change);
            if repeated {
                tell_origin(finding, origin(assessment, row));
            }
        }
        Outcome::Unchanged => finding.verdict = Verdict::Unchanged,
        Outcome::Blocked | Outcome::Open => finding.notes.extend(decided.decision.reasons.iter().cloned()),
    }
    note_losses(finding, assessment, row);
}

fn apply(finding: &mut Finding, confirmation: Confirmation, first: f64) {
    let worse = match finding.metric.better {
        Better::Lower => first > 0.0,
        Better::Higher => first < 0.0,
    };
    let flagged = if worse {
        Verdict::Regressed
    } else {
        Verdict::Improved
    };
    let again = match &confirmation {
        Confirmation::Repeated(log) | Confirmation::NotRepeated { log, .. } => Some(log.exp_m1()),
        Confirmation::Impossible(_) | Confirmation::Pending => None,
    };
    let again = again.filter(|again| again.is_finite());
    if let Some(change) = &mut finding.change {
        change.confirmation = again;
    }
    match confirmation {
        Confirmation::Repeated(_) => {
            finding.confirmed = Some(true);
            finding.verdict = flagged;
        }
        Confirmation::NotRepeated {
            log,
            half_width,
            refuted,
        } => {
            finding.confirmed = Some(false);
            let first = wording::signed(first);
            let again = again.map_or_else(|| "nothing finite".to_owned(), wording::signed);
            let known = wording::size(half_width.exp_m1());
            finding.notes.push(if refuted {
                format!("not confirmed: {first} at first, {again} with fresh processes")
            } else if log.abs() <= half_width {
                format!("not confirmed: {first} at first, {again} ± {known} with fresh processes, too noisy to tell")
            } else {
                format!("not confirmed: {first} at first, {again} ± {known} with fresh processes")
            });
        }
        Confirmation::Impossible(reason) => {
            finding.verdict = flagged;
            finding.notes.push(reason);
        }
        Confirmation::Pending => finding.notes.push(format!(
            "not confirmed: {} at first, and no fresh processes measured it again",
            wording::signed(first)
        )),
    }
}

/// Begins the note of a flagged row whose change is not due to the place of its code.
pub const CODE: &str = "the code, not its layout";
/// Begins the note of one that may be, and is not flagged.
pub const PLACE: &str = "layout suspected";

/// A change that the place of the code may have made is not flagged.
fn tell_origin(finding: &mut Finding, origin: Origin) {
    match origin {
        Origin::Code(reason) => finding.notes.push(format!("{CODE}: {reason}")),
        Origin::Place { seen, .. } => {
            finding.verdict = Verdict::Unclear;
            finding.notes.push(format!("{PLACE}: {seen}"));
        }
        Origin::Unknown(reason) => finding
            .notes
            .extend(reason.map(|reason| format!("not told from code layout: {reason}"))),
    }
}

/// Turns a row with too few rounds into a failed one if something is to blame. Whether it did.
fn fail_if_unmeasured(finding: &mut Finding, assessment: &Assessment<'_>, row: &Row<'_>) -> bool {
    if let Some(incident) = assessment.incidents.failures(row.position).next() {
        finding.verdict = Verdict::Failed;
        finding.notes.push(sentence(incident));
        return true;
    }
    if let Some(incident) = assessment.incidents.not_reached(row.position)
        && row.slots() == 0
    {
        finding.verdict = Verdict::Failed;
        let detail = first_line(&incident.detail);
        finding.notes.push(if detail.is_empty() {
            "not measured: the budget did not suffice".to_owned()
        } else {
            format!("the budget did not suffice: {detail}")
        });
        return true;
    }
    false
}

/// Says if some slots of a row that has a verdict were lost.
fn note_losses(finding: &mut Finding, assessment: &Assessment<'_>, row: &Row<'_>) {
    let mut lost = assessment.incidents.failures(row.position);
    if let Some(first) = lost.next() {
        finding.notes.push(format!(
            "{} lost, the first: {}",
            count(1 + lost.count(), "slot"),
            sentence(first)
        ));
    }
}
