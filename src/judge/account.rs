//! What is said about the run as a whole: notes that explain it, and what it cannot catch.

use crate::judge::assessment::Assessment;
use crate::judge::ruling::CODE;
use crate::judge::wording;
use crate::metric::{Better, Metric};
use crate::plan::Harness;
use crate::recording::{Recording, Relaid};
use crate::report::{Change, Finding};
use crate::revision::Side;
use crate::stats::quantile::median;
use crate::stats::trimmed::trimmed;
use crate::units::count;
use crate::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// Sentences about the run, in order of importance.
#[must_use]
pub fn notes(assessment: &Assessment<'_>, findings: &[Finding]) -> Vec<String> {
    let recording = assessment.recording;
    let plan = &recording.header.plan;
    let mut notes = Vec::new();
    for side in Side::BOTH {
        if let Some(failure) = recording.build(side).and_then(|build| build.failure.as_ref()) {
            notes.push(format!("{side} did not build:\n{}", failure.trim_end()));
        }
    }
    if plan.base.sha == plan.head.sha && !recording.slots.is_empty() {
        notes.push(if plan.measuring.elsewhere {
            "base and head are the same files: nothing is compared with anything".to_owned()
        } else {
            "base and head are the same commit: this run measures the noise floor".to_owned()
        });
    }
    let harness = match plan.selection.harness {
        Harness::Own => None,
        Harness::Base => Some(Side::Base),
        Harness::Head => Some(Side::Head),
    };
    if let Some(side) = harness {
        notes.push(format!(
            "both sides were measured with {side}'s bench sources (--harness {side})"
        ));
    }
    notes.extend(uniform_shift(findings));
    notes.extend(busy_neighbour(recording));
    if recording.truncated {
        notes.push(
            "the recording was cut off: the run did not end by itself, and its last slot is lost".to_owned(),
        );
    } else if recording.killed() {
        notes.push("the run did not end by itself: what it had measured by then is judged".to_owned());
    }
    if recording.interrupted() {
        notes.push("the run was interrupted before every scenario was decided".to_owned());
    }
    let not_reached = assessment
        .rows
        .iter()
        .filter(|row| assessment.incidents.not_reached(row.position).is_some())
        .count();
    if not_reached > 0 {
        notes.push(format!(
            "not measured for lack of budget: {}",
            count(not_reached, "scenario")
        ));
    }
    let elsewhere = assessment.rows.len() - findings.len();
    if elsewhere > 0 {
        notes.push(format!(
            "{} measured by other shards: join the recordings with `abreast judge FILE...`",
            count(elsewhere, "scenario")
        ));
    }
    notes.extend(skipped(recording));
    notes.extend(changed_without_effect(recording, findings));
    let mut said: BTreeSet<String> = notes.iter().cloned().collect();
    for note in &recording.notes {
        if said.insert(note.clone()) {
            notes.push(note.clone());
        }
    }
    notes
}

/// From here on a fixed loop was slowed by somebody else: a core that is shared shows as 1.3 to 2. Chosen.
pub const SLOWED: f64 = 1.2;
/// Part of the slots that must have met that to be worth a sentence. Chosen.
const OFTEN: f64 = 0.2;

/// That somebody else's work, which no counter shows, slowed the processors often.
fn busy_neighbour(recording: &Recording) -> Option<String> {
    let told: Vec<[f64; 2]> = recording
        .slots
        .iter()
        .filter_map(|slot| slot.contention.slowdown)
        .collect();
    let slowed = |at: usize| told.iter().filter(|slowdown| slowdown[at] >= SLOWED).count();
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 slots")]
    let part = |count: usize| count as f64 / told.len() as f64;
    (!told.is_empty() && part(slowed(1)) >= OFTEN).then(|| {
        format!(
            "somebody else's work slowed this machine's processors: a fixed loop took {SLOWED} times as long or more \
             after {:.0} % of the processes; they were started at quiet moments ({:.0} % were not), but not all ended so",
            part(slowed(1)) * 100.0,
            part(slowed(0)) * 100.0
        )
    })
}

/// Fewest rows that can move together: below, a few related benchmarks are no pattern. Chosen.
const UNIFORM_ROWS: usize = 8;
/// Smallest common shift worth a sentence: below 1 % the order of magnitude of a row's own noise is reached. Chosen.
const UNIFORM_SHIFT: f64 = 0.01;
/// Part of the rows that must have moved the same way. Chosen.
const UNIFORM_PART: f64 = 0.8;

/// A change that all rows share is no function's.
fn uniform_shift(findings: &[Finding]) -> Option<String> {
    let logs: Vec<f64> = findings
        .iter()
        .filter(|finding| finding.verdict != Verdict::NotComparable)
        .filter_map(|finding| Some((finding.change.as_ref()?, finding.metric.better)))
        .map(|(change, better)| match better {
            Better::Lower => change.change.ln_1p(),
            Better::Higher => -change.change.ln_1p(),
        })
        .filter(|log| log.is_finite())
        .collect();
    if logs.len() < UNIFORM_ROWS {
        return None;
    }
    let common = trimmed(&logs)?.mean;
    let same_way = logs.iter().filter(|log| *log * common > 0.0).count();
    // Median distance of a row from the common shift: below half of it, most rows share the shift, not just its sign.
    let spread = median(&logs.iter().map(|log| (log - common).abs()).collect::<Vec<f64>>())?;
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 rows")]
    let most = same_way as f64 >= UNIFORM_PART * logs.len() as f64;
    let uniform = common.exp_m1().abs() > UNIFORM_SHIFT && most && spread < common.abs() / 2.0;
    uniform.then(|| {
        format!(
            "all rows moved together by {}: that is the machine or the build, not one function",
            wording::signed(common.exp_m1())
        )
    })
}

/// Sources changed, and the compiler made the same code of them.
fn changed_without_effect(recording: &Recording, findings: &[Finding]) -> Option<String> {
    let compiled = &recording.changed_sources.compiled;
    let all_identical = !findings.is_empty()
        && findings
            .iter()
            .all(|finding| recording.identical(&finding.target));
    let others = &recording.changed_sources.others;
    match (all_identical, compiled.is_empty(), others.is_empty()) {
        (true, false, _) => Some(format!(
            "sources of the benches changed ({}), but all their executables are identical",
            wording::some(compiled)
        )),
        (true, true, false) => Some(format!(
            "all executables are identical, but other files changed ({}): if a bench reads one as it runs, name it with \
             --run-files",
            wording::some(others)
        )),
        _ => None,
    }
}

/// Bench targets that were not run, each once, with the sides it concerns.
fn skipped(recording: &Recording) -> Vec<String> {
    let mut sides: BTreeMap<(&str, &str, &str), Vec<Side>> = BTreeMap::new();
    for build in &recording.builds {
        for skipped in &build.skipped {
            let key = (
                skipped.target.package.as_str(),
                skipped.target.target.as_str(),
                skipped.reason.as_str(),
            );
            sides.entry(key).or_default().push(build.side);
        }
    }
    let sentence = |((package, target, reason), sides): ((&str, &str, &str), Vec<Side>)| {
        let only = match sides.as_slice() {
            [side] if recording.builds.len() > 1 => format!(" on {side}"),
            _ => String::new(),
        };
        format!("bench target `{target}` of `{package}` skipped{only}: {reason}")
    };
    sides.into_iter().map(sentence).collect()
}

/// What this run cannot catch, computed from the run.
#[must_use]
pub fn blind_spots(assessment: &Assessment<'_>, findings: &[Finding]) -> Vec<String> {
    let recording = assessment.recording;
    let rows = |verdict: Verdict| {
        findings
            .iter()
            .filter(|finding| finding.verdict == verdict)
            .count()
    };
    let mut spots = Vec::new();
    let unclear = rows(Verdict::Unclear);
    if unclear > 0 {
        spots.push(format!(
            "{} unclear: a change there may have gone unseen",
            count(unclear, "row")
        ));
    }
    let failed = rows(Verdict::Failed);
    if failed > 0 {
        spots.push(format!("{} could not be measured", count(failed, "scenario")));
    }
    let not_comparable = rows(Verdict::NotComparable);
    if not_comparable > 0 {
        spots.push(format!(
            "{} not comparable: the sides run different experiments there",
            count(not_comparable, "row")
        ));
    }
    let elsewhere = &recording.changed_sources.elsewhere;
    if !elsewhere.is_empty() {
        spots.push(format!(
            "{} in no measured bench: {}",
            count(elsewhere.len(), "changed Rust file"),
            wording::some(elsewhere)
        ));
    }
    let skipped = skipped(recording).len();
    if skipped > 0 {
        spots.push(format!("{} skipped", count(skipped, "bench target")));
    }
    let blunt = findings
        .iter()
        .filter(|finding| is_blunt(finding, assessment.policy.margin.0))
        .count();
    if blunt > 0 {
        spots.push(format!(
            "{} could only have shown changes beyond the {} margin",
            count(blunt, "row"),
            wording::size(assessment.policy.margin.0)
        ));
    }
    if !recording.header.plan.measuring.elsewhere {
        spots.extend(layout(assessment, findings));
        if recording.host.gpus.is_empty() {
            spots.push("no GPU was seen: code that runs on one was not measured".to_owned());
        }
    }
    if !recording.header.plan.measuring.confirm {
        spots.push("flagged rows were not repeated with fresh processes".to_owned());
    }
    spots
}

/// What is not known of code layout: how much it alone does, and whether it made a flagged change.
fn layout(assessment: &Assessment<'_>, findings: &[Finding]) -> Option<String> {
    let recording = assessment.recording;
    let compared = || assessment.rows.iter().filter(|row| row.decided.is_some());
    let without = compared().filter(|row| row.comparison.control.is_empty()).count();
    let failure = recording
        .relaid
        .iter()
        .find_map(Relaid::failure)
        .map(wording::first_line);
    let floor = match (without, recording.header.plan.measuring.relink_control) {
        (0, _) => None,
        (_, false) => Some("its floor was not measured (--relink-control does)".to_owned()),
        (rows, true) => Some(format!(
            "the floor of {} was not measured: {}",
            count(rows, "row"),
            failure.unwrap_or("base was not linked in another order")
        )),
    };
    let untold = findings
        .iter()
        .filter(|finding| finding.verdict.is_change())
        .filter(|finding| finding.metric == Metric::time())
        .filter(|finding| !finding.notes.iter().any(|note| note.starts_with(CODE)))
        .count();
    let untold = (untold > 0).then(|| format!("{} not told from it", count(untold, "flagged row")));
    let parts: Vec<String> = [floor, untold].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("code layout: {}", parts.join("; ")))
}

fn is_blunt(finding: &Finding, margin: f64) -> bool {
    let beyond = |change: &Change| change.detectable > margin;
    finding.verdict != Verdict::Unclear && finding.change.as_ref().is_some_and(beyond)
}
