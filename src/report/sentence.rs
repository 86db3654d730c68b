//! Sentences about the whole run that the terminal and the pull-request comment share.
//!
//! They are plain text. Words that came from the machine or a bench are passed through untouched: the renderer that
//! prints a sentence escapes all of it for its medium.

use super::format::{change, seconds, setting, setting_ns};
use super::{Finding, Report, status};
use crate::recording::Difference;
use crate::units::count;
use crate::verdict::{Flag, Verdict};

/// The first line: the worst news and the count of every verdict that occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headline {
    /// Verdict that speaks for the whole report.
    pub verdict: Verdict,
    /// Flag that goes with it.
    pub flag: Flag,
    /// `1 regressed, 52 unchanged of 53 scenarios`.
    pub text: String,
}

impl Headline {
    /// Icon of the line.
    #[must_use]
    pub fn icon(&self) -> &'static str {
        status::of(self.verdict, self.flag).0
    }
}

/// The verdict line.
///
/// The icon answers "do I have to look?", worst news first. A report that compared nothing, or in which something
/// failed, never shows the icon of success; neither does one that reached no verdict about half of its rows.
#[must_use]
pub fn headline(report: &Report) -> Headline {
    let counts: Vec<String> = Verdict::ALL
        .into_iter()
        .filter_map(|verdict| match report.count(verdict) {
            0 => None,
            number => Some(format!("{number} {}", status::counted(verdict))),
        })
        .collect();
    let scenarios = count(report.findings.len(), "scenario");
    let text = match counts.as_slice() {
        [] => "Nothing was compared: no scenarios".to_owned(),
        counts if report.compared() == 0 => {
            format!("Nothing was compared: {} of {scenarios}", counts.join(", "))
        }
        counts => format!("{} of {scenarios}", counts.join(", ")),
    };
    let (verdict, flag) = overall(report);
    Headline { verdict, flag, text }
}

fn overall(report: &Report) -> (Verdict, Flag) {
    let any = |verdict| report.count(verdict) > 0;
    let alert = report
        .findings
        .iter()
        .any(|finding| finding.verdict == Verdict::Regressed && finding.flag == Flag::Alert);
    if alert {
        (Verdict::Regressed, Flag::Alert)
    } else if any(Verdict::Regressed) {
        (Verdict::Regressed, Flag::Warn)
    } else if any(Verdict::Failed) {
        (Verdict::Failed, Flag::None)
    } else if report.compared() == 0 || report.judged() * 2 < report.compared() {
        (Verdict::Unclear, Flag::Unclear)
    } else if any(Verdict::Improved) {
        (Verdict::Improved, Flag::Faster)
    } else if report.count(Verdict::Identical) == report.compared() {
        (Verdict::Identical, Flag::None)
    } else {
        (Verdict::Unchanged, Flag::Ok)
    }
}

/// One difference: `lock serde: 1.0.1 → 1.0.2`, `flags added: -C target-cpu=native`.
#[must_use]
pub fn difference(of: &Difference) -> String {
    let subject = if of.subject.is_empty() {
        of.kind.clone()
    } else {
        format!("{} {}", of.kind, of.subject)
    };
    match (&of.base, &of.head) {
        (Some(base), Some(head)) => format!("{subject}: {base} → {head}"),
        (None, Some(head)) => format!("{subject}: only head has it, {head}"),
        (Some(base), None) => format!("{subject}: only base has it, {base}"),
        (None, None) => format!("{subject}: differs"),
    }
}

/// The machine in one line; facts that could not be read are left out.
#[must_use]
pub fn host(report: &Report) -> String {
    let host = &report.host;
    let mut facts: Vec<String> = Vec::new();
    facts.extend(host.cpu.clone());
    facts.extend(host.cores.map(|cores| count(cores as usize, "core")));
    facts.extend(host.memory_bytes.map(memory));
    facts.extend(host.os.clone());
    facts.extend(host.kernel.as_ref().map(|kernel| format!("kernel {kernel}")));
    facts.extend(host.arch.clone());
    facts.extend(
        host.governor
            .as_ref()
            .map(|governor| format!("governor {governor}")),
    );
    facts.extend(host.gpus.iter().map(|gpu| format!("GPU {gpu}")));
    if facts.is_empty() {
        "unknown machine".to_owned()
    } else {
        facts.join(", ")
    }
}

/// Memory in binary gigabytes, as machines are sold.
fn memory(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    let mib = bytes / MIB;
    if mib < 1024 {
        format!("{mib} MiB")
    } else {
        format!("{} GiB", (mib + 512) / 1024)
    }
}

/// How the rows were judged: `16 paired rounds, floor from 32 null pairs, family 5 %, judged 54 of 57, smallest
/// detectable 1.4 % median`.
#[must_use]
pub fn method(report: &Report) -> String {
    let method = &report.method;
    let mut parts = vec![
        count(method.rounds as usize, "paired round"),
        format!("floor from {}", count(method.null_pairs as usize, "null pair")),
        format!("family {}", setting(method.family_alpha)),
        format!("judged {} of {}", report.judged(), report.compared()),
    ];
    parts.extend(
        method
            .median_detectable
            .map(|median| format!("smallest detectable {} median", super::format::size(median))),
    );
    parts.extend(
        method
            .order_effect
            .map(|effect| format!("running second costs {}", change(effect))),
    );
    parts.push(format!("seed {}", method.seed));
    parts.join(", ")
}

/// What it takes to be flagged, all conditions: they hold together, so a reader can check any row.
#[must_use]
pub fn rule(report: &Report) -> String {
    let method = &report.method;
    let floor = method.floor_ns.map(|floor| format!(" and {}", setting_ns(floor)));
    format!(
        "a row is flagged if its interval excludes zero, its change is at least {}{} and above the row's own \
         noise floor, and fresh processes repeat it; alert from {}; an unchanged row may hide up to {}",
        setting(method.threshold),
        floor.unwrap_or_default(),
        setting(method.alert),
        setting(method.margin),
    )
}

/// Where the time went: `4 min 12 s: checkout 0.40 s, build base 58 s, measuring 3 min`. Absent if nothing is known.
#[must_use]
pub fn elapsed(report: &Report) -> Option<String> {
    let elapsed = &report.elapsed;
    let stages: Vec<String> = [
        ("checkout", elapsed.checkout_s),
        ("build base", elapsed.build_base_s),
        ("build head", elapsed.build_head_s),
        ("measuring", elapsed.measure_s),
    ]
    .into_iter()
    .filter_map(|(stage, time)| time.map(|time| format!("{stage} {}", seconds(time))))
    .collect();
    match (elapsed.total_s, stages.is_empty()) {
        (Some(total), true) => Some(seconds(total)),
        (Some(total), false) => Some(format!("{}: {}", seconds(total), stages.join(", "))),
        (None, true) => None,
        (None, false) => Some(stages.join(", ")),
    }
}

/// What the confirmation pass showed of a row that it confirmed. What it did not confirm is among the row's own notes.
#[must_use]
pub fn confirmation(finding: &Finding) -> Option<String> {
    let again = finding.change.as_ref()?.confirmation?;
    (finding.confirmed == Some(true)).then(|| format!("fresh processes confirm it with {}", change(again)))
}

/// Everything said about one row below a table: the confirmation, then the row's own notes.
#[must_use]
pub fn row_notes(finding: &Finding) -> Vec<String> {
    confirmation(finding)
        .into_iter()
        .chain(finding.notes.iter().cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    /// Icon and text of the line.
    fn line(report: &Report) -> (&'static str, String) {
        let headline = headline(report);
        (headline.icon(), headline.text)
    }

    #[test]
    fn the_verdict_line_counts_what_occurs_in_a_fixed_order() {
        let counts = "2 regressed, 1 improved, 2 unchanged, 3 unclear, 1 identical, 1 new, 1 removed, 1 failed, \
                      1 not comparable of 13 scenarios";
        assert_eq!(line(&sample::report()), ("🔴", counts.to_owned()));
    }

    #[test]
    fn a_report_about_nothing_is_not_green() {
        let mut report = sample::empty();
        assert_eq!(
            line(&report),
            ("❔", "Nothing was compared: no scenarios".to_owned())
        );
        report.findings.push(sample::bare("a", Verdict::New));
        assert_eq!(
            line(&report),
            ("❔", "Nothing was compared: 1 new of 1 scenario".to_owned())
        );
    }

    #[test]
    fn failed_and_mostly_unclear_reports_are_not_green() {
        let mut report = sample::empty();
        let mut with = |finding| {
            report.findings.push(finding);
            line(&report).0
        };
        assert_eq!(with(sample::bare("a", Verdict::Identical)), "🟰");
        assert_eq!(with(sample::unchanged("b")), "✅");
        assert_eq!(with(sample::bare("c", Verdict::Unclear)), "✅");
        assert_eq!(with(sample::bare("d", Verdict::NotComparable)), "✅");
        assert_eq!(with(sample::bare("e", Verdict::Unclear)), "❔");
        assert_eq!(with(sample::bare("f", Verdict::Failed)), "❌");
        assert_eq!(
            with(sample::changed("g", Verdict::Regressed, 1.0, 0.03, 0.01)),
            "⚠️"
        );
    }

    #[test]
    fn a_difference_says_which_side_has_it() {
        let shown = |base: Option<&str>, head: Option<&str>| {
            difference(&Difference {
                kind: "lock".to_owned(),
                subject: "serde".to_owned(),
                base: base.map(str::to_owned),
                head: head.map(str::to_owned),
            })
        };
        assert_eq!(shown(Some("1.0.1"), Some("1.0.2")), "lock serde: 1.0.1 → 1.0.2");
        assert_eq!(shown(None, Some("1.0.2")), "lock serde: only head has it, 1.0.2");
        assert_eq!(shown(Some("1.0.1"), None), "lock serde: only base has it, 1.0.1");
        assert_eq!(shown(None, None), "lock serde: differs");
    }

    #[test]
    fn what_is_unknown_is_left_out() {
        let report = sample::empty();
        assert_eq!(host(&report), "unknown machine");
        assert_eq!(elapsed(&report), None);
        assert_eq!(
            method(&report),
            "0 paired rounds, floor from 0 null pairs, family 5 %, judged 0 of 0, seed 7"
        );
    }

    #[test]
    fn a_full_sentence_names_everything() {
        let report = sample::report();
        assert_eq!(
            host(&report),
            "AMD EPYC 7B13, 2 cores, 8 GiB, Debian 12, kernel 6.1.0, x86_64, governor performance"
        );
        assert_eq!(
            elapsed(&report).as_deref(),
            Some("4 min 12 s: checkout 0.40 s, build base 58 s, build head 0.15 s, measuring 3 min 11 s")
        );
    }
}
