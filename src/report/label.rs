//! What a row is called: the scenario's id, with as much of its target as the report needs to be unambiguous.

use super::visible;
use super::{Finding, Report};
use crate::metric::Metric;
use crate::scenario::{Kind, Scenario, Target};
use std::collections::{BTreeMap, BTreeSet};

/// Names the rows of one report.
///
/// Rows are sorted by change, so they cannot be grouped by target; the target stands in front instead. A report about
/// a single bench target shows bare ids. With several targets every id gets `target/`, also those that would be
/// unique without, because `--bench` needs it and a mixture reads like part of the id. Where two packages have a
/// bench target of the same name, it is `package/target/`. A program's name always stands in front.
#[derive(Debug)]
pub struct Labels<'a> {
    several_targets: bool,
    shared_names: BTreeSet<&'a str>,
}

impl<'a> Labels<'a> {
    /// The naming rule for this report.
    #[must_use]
    pub fn new(report: &'a Report) -> Self {
        Self::among(report.findings.iter().map(|finding| &finding.target))
    }

    /// The naming rule for rows with these targets.
    pub(super) fn among(targets: impl Iterator<Item = &'a Target>) -> Self {
        let mut packages: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for target in targets {
            packages
                .entry(&target.target)
                .or_default()
                .insert(&target.package);
        }
        Self {
            several_targets: packages.values().map(BTreeSet::len).sum::<usize>() > 1,
            shared_names: packages
                .into_iter()
                .filter_map(|(target, packages)| (packages.len() > 1).then_some(target))
                .collect(),
        }
    }

    /// The label of one row, every character visible. A metric other than time is named at the end.
    #[must_use]
    pub fn of(&self, finding: &Finding) -> String {
        self.name(finding.kind, &finding.target, &finding.scenario, &finding.metric)
    }

    /// The same for a scenario.
    pub(super) fn of_scenario(&self, scenario: &Scenario) -> String {
        self.name(scenario.kind, &scenario.target, &scenario.id, &scenario.metric)
    }

    fn name(&self, kind: Kind, target: &Target, id: &str, metric: &Metric) -> String {
        let mut parts = Vec::with_capacity(4);
        if self.shared_names.contains(target.target.as_str()) {
            parts.push(visible::id(&target.package));
        }
        let is_program = kind == Kind::Program;
        if self.several_targets || is_program {
            parts.push(visible::id(&target.target));
        }
        parts.push(visible::id(id));
        // What a program calls a quantity says what it is.
        if metric.name != "time" && !is_program {
            parts.push(visible::id(&metric.name));
        }
        parts.join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn labels(rows: &[(&str, &str, &str)]) -> Vec<String> {
        let mut report = sample::empty();
        for (package, target, id) in rows {
            let mut finding = sample::unchanged(id);
            finding.target.package = (*package).to_owned();
            finding.target.target = (*target).to_owned();
            report.findings.push(finding);
        }
        let labels = Labels::new(&report);
        report.findings.iter().map(|finding| labels.of(finding)).collect()
    }

    #[test]
    fn one_target_needs_no_prefix() {
        assert_eq!(labels(&[("p", "ops", "a"), ("p", "ops", "b")]), ["a", "b"]);
    }

    #[test]
    fn several_targets_are_told_apart() {
        assert_eq!(labels(&[("p", "ops", "a"), ("p", "io", "a")]), ["ops/a", "io/a"]);
    }

    #[test]
    fn a_target_name_in_two_packages_needs_the_package() {
        assert_eq!(
            labels(&[("p", "ops", "a"), ("q", "ops", "a"), ("q", "io", "a")]),
            ["p/ops/a", "q/ops/a", "io/a"]
        );
    }
}
