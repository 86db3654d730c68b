//! Whether a run bears out what somebody says a change is.
//!
//! A claim is *confirmed* if the corrected interval of its row holds the claimed change and not zero, *refuted* if it
//! does not hold the claimed change, and *not resolvable* if it holds both. A claim of no change is confirmed by an
//! unchanged row.

use crate::claim::Claim;
use crate::judge::wording;
use crate::report::{Change, Finding};
use crate::units::count;
use crate::verdict::Verdict;

/// A sentence for a claim.
#[must_use]
pub fn sentence(claim: &Claim, findings: &[Finding]) -> String {
    let claimed = format!("claim `{}` {}", claim.row, wording::signed(claim.change));
    format!("{claimed}: {}", outcome(claim, findings))
}

fn outcome(claim: &Claim, findings: &[Finding]) -> String {
    let mut rows = findings.iter().filter(|finding| is_called(finding, &claim.row));
    let Some(finding) = rows.next() else {
        return "not resolvable, no row is called that".to_owned();
    };
    let others = rows.count();
    if others > 0 {
        return format!(
            "not resolvable, {} are called that: put the target in front, or the package and the target",
            count(1 + others, "row")
        );
    }
    let change = match &finding.change {
        Some(change) if finding.verdict != Verdict::NotComparable => change,
        _ => {
            let why = finding
                .notes
                .first()
                .map_or("it was not compared", String::as_str);
            return format!("not resolvable, {why}");
        }
    };
    let holds = |value: f64| (change.low..=change.high).contains(&value);
    let is_nothing = claim.change.abs() <= 0.0;
    let found = format!(
        "{} ({} to {})",
        wording::signed(change.change),
        wording::signed(change.low),
        wording::signed(change.high)
    );
    if !holds(claim.change) {
        format!("refuted, {found}")
    } else if holds(0.0) && !(is_nothing && finding.verdict == Verdict::Unchanged) {
        format!("not resolvable, {found}{}", needed(claim, change))
    } else {
        format!("confirmed, {found}")
    }
}

fn is_called(finding: &Finding, name: &str) -> bool {
    let with_target = format!("{}/{}", finding.target.target, finding.scenario);
    name == finding.scenario
        || name == with_target
        || name == format!("{}/{with_target}", finding.target.package)
}

/// How many rounds tell the claim from nothing: half widths shrink with the square root of them.
fn needed(claim: &Claim, change: &Change) -> String {
    let half = (change.high - change.low) / 2.0;
    let rounds = f64::from(change.rounds) * (half / claim.change).powi(2);
    // Twice a power of two are the looks; beyond a million nobody waits.
    if !rounds.is_finite() || rounds > 1e6 {
        return String::new();
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "in 0..1e6"
    )]
    let rounds = (rounds.ceil() as u32).next_multiple_of(2);
    format!("; about {rounds} rounds would resolve it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn said(claim: &str, findings: &[Finding]) -> String {
        sentence(&claim.parse().unwrap(), findings)
    }

    #[test]
    fn a_claim_within_an_interval_without_zero_is_confirmed_and_one_beyond_it_refuted() {
        // -4 % plus and minus 0.5.
        let rows = [sample::changed("a", Verdict::Improved, 100.0, -0.04, 0.005)];
        assert_eq!(
            said("a=-4.2%", &rows),
            "claim `a` −4.2 %: confirmed, −4.0 % (−4.5 % to −3.6 %)"
        );
        assert_eq!(
            said("a=-1.9%", &rows),
            "claim `a` −1.9 %: refuted, −4.0 % (−4.5 % to −3.6 %)"
        );
    }

    #[test]
    fn an_interval_with_both_resolves_nothing_and_says_what_would() {
        let rows = [sample::changed("a", Verdict::Unclear, 100.0, -0.01, 0.08)];
        let found = said("a=-4%", &rows);
        assert!(
            found.contains("not resolvable, −1.0 %") && found.contains("rounds would resolve it"),
            "{found}"
        );
    }

    #[test]
    fn a_claim_of_no_change_needs_an_unchanged_row() {
        let unchanged = sample::changed("a", Verdict::Unchanged, 100.0, 0.001, 0.01);
        assert!(said("a=0%", std::slice::from_ref(&unchanged)).contains("confirmed"));
        let unclear = Finding {
            verdict: Verdict::Unclear,
            ..unchanged
        };
        assert!(said("a=0%", &[unclear]).contains("not resolvable"));
    }

    #[test]
    fn a_row_that_is_not_there_or_there_twice_or_was_not_compared_resolves_nothing() {
        let row = sample::changed("a", Verdict::Improved, 100.0, -0.04, 0.005);
        assert!(said("b=1%", std::slice::from_ref(&row)).contains("no row is called that"));
        let mut other = row.clone();
        other.target.target = "elsewhere".to_owned();
        assert!(said("a=1%", &[row.clone(), other.clone()]).contains("2 rows are called that"));
        assert!(said("elsewhere/a=-4%", &[row.clone(), other]).contains("confirmed"));
        let mut barred = row;
        barred.verdict = Verdict::NotComparable;
        barred.notes = vec!["outputs differ".to_owned()];
        assert!(said("a=-4%", &[barred]).contains("not resolvable, outputs differ"));
    }
}
