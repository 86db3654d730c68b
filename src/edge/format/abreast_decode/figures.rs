//! The figures that follow from the tokens of a decode profile, and its counters.

use super::super::steady::{Steady, p99_ns};
use super::super::tally::{Incidents, label};
use crate::metric::Metric;
use crate::profile::{Generation, Reading};
use std::collections::BTreeMap;

const MS_PER_TOKEN: &str = "ms_per_token";
const P50: &str = "p50";
const P99: &str = "p99";
const FIRST: &str = "time_to_first_token";
const RATE: &str = "tokens_per_second";

/// A value for each run.
#[derive(Default)]
pub(super) struct Figures {
    ms_per_token: Vec<f64>,
    p50: Vec<f64>,
    /// Of all runs together, in nanoseconds.
    intervals: Vec<u64>,
    first: Vec<f64>,
    rate: Vec<f64>,
    counters: BTreeMap<String, Vec<f64>>,
}

impl Figures {
    /// Takes a run; what it lacks is an incident.
    #[expect(clippy::cast_precision_loss, reason = "far less than 2^53 of anything")]
    pub(super) fn add(&mut self, run: u64, of: &Generation, skip: Option<usize>, incidents: &mut Incidents) {
        let mut keep = |values: &mut Vec<f64>, id: &str, value: f64| {
            if value > 0.0 {
                values.push(value);
            } else {
                incidents.push(format!("{id} of run {run} is zero and left out"));
            }
        };
        let window = skip.map(|skip| (skip, Steady::of(&of.t_ns, skip)));
        if let Some((_, Some(steady))) = &window {
            keep(&mut self.ms_per_token, MS_PER_TOKEN, steady.token_ns);
            keep(&mut self.p50, P50, steady.p50_ns);
            keep(&mut self.rate, RATE, steady.rate());
            self.intervals.extend(&steady.intervals);
        }
        if let Some(first) = of.t_ns.first() {
            keep(&mut self.first, FIRST, *first as f64);
        }
        for (name, count) in &of.counters {
            self.counters.entry(name.clone()).or_default().push(*count as f64);
        }
        if let Some((skip, None)) = window {
            let tokens = of.t_ns.len();
            incidents.push(if tokens > skip {
                format!("run {run} has no steady window: all of it took no time")
            } else {
                format!("run {run} has no steady window: it has {tokens} tokens, and {skip} are skipped")
            });
        }
    }

    /// The readings, in a fixed order.
    pub(super) fn into_readings(self, incidents: &mut Incidents) -> Vec<Reading> {
        let p99 = p99_ns(self.intervals).filter(|ns| *ns > 0.0);
        let mut readings: Vec<Reading> = [
            (MS_PER_TOKEN, Metric::time(), self.ms_per_token),
            (P50, Metric::time(), self.p50),
            (P99, Metric::time(), p99.into_iter().collect()),
            (FIRST, Metric::time(), self.first),
            (RATE, Metric::rate(), self.rate),
        ]
        .into_iter()
        .filter(|(_, _, values)| !values.is_empty())
        .map(|(id, metric, values)| Reading {
            id: id.to_owned(),
            metric,
            values,
        })
        .collect();
        for (name, values) in self.counters {
            let id = label(&name);
            if [MS_PER_TOKEN, P50, P99, FIRST, RATE].contains(&id.as_str()) {
                incidents.push(format!(
                    "the counter `{id}` is left out: it is called like a figure"
                ));
                continue;
            }
            readings.push(Reading {
                id,
                metric: Metric::count(),
                values,
            });
        }
        readings
    }
}
