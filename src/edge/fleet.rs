//! Which of several equal jobs this one is, as the engine that started them says in the environment.
//!
//! GitHub says nothing there: its action passes the job's place in the matrix on as [`INDEX`] and [`COUNT`]. Kubernetes
//! says the place and not how many there are, so the manifest repeats that as [`COUNT`].
#![expect(
    clippy::disallowed_methods,
    reason = "engines speak through environment variables"
)]

use crate::plan::Shard;

/// Place of this job among its equals, from 0; wins over what an engine says.
pub const INDEX: &str = "ABREAST_SHARD_INDEX";
/// How many of them there are.
pub const COUNT: &str = "ABREAST_SHARD_COUNT";

/// Why it cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// Nobody said it.
    #[error(
        "--shard auto: nothing here says which of several jobs this is (Slurm arrays, GitLab `parallel`, Buildkite \
         `parallelism`, indexed jobs of Kubernetes, or {INDEX} and {COUNT}): write --shard I/N"
    )]
    Alone,
    /// The place is told, but not among how many.
    #[error("--shard auto: {index} says which job this is, and nothing says of how many: set {count}")]
    Count {
        /// Variable that is set.
        index: &'static str,
        /// Variable that is not, or is no number.
        count: &'static str,
    },
    /// The numbers are no place among so many.
    #[error(
        "--shard auto: {index}={place} is no place among {count}: number the jobs without gaps, or write --shard I/N"
    )]
    Place {
        /// Variable with the place.
        index: &'static str,
        /// What it holds.
        place: String,
        /// How many there are.
        count: u32,
    },
}

/// An engine: which variables hold the place and the number of jobs, and from where the place is counted.
struct Engine {
    index: &'static str,
    count: &'static str,
    first: First,
}

enum First {
    Number(u32),
    /// Slurm: arrays may begin anywhere and go in steps.
    Told {
        first: &'static str,
        step: &'static str,
    },
}

const ENGINES: [Engine; 5] = [
    Engine {
        index: INDEX,
        count: COUNT,
        first: First::Number(0),
    },
    Engine {
        index: "SLURM_ARRAY_TASK_ID",
        count: "SLURM_ARRAY_TASK_COUNT",
        first: First::Told {
            first: "SLURM_ARRAY_TASK_MIN",
            step: "SLURM_ARRAY_TASK_STEP",
        },
    },
    Engine {
        index: "CI_NODE_INDEX",
        count: "CI_NODE_TOTAL",
        first: First::Number(1),
    },
    Engine {
        index: "BUILDKITE_PARALLEL_JOB",
        count: "BUILDKITE_PARALLEL_JOB_COUNT",
        first: First::Number(0),
    },
    Engine {
        index: "JOB_COMPLETION_INDEX",
        count: COUNT,
        first: First::Number(0),
    },
];

/// The shard of this process.
///
/// # Errors
/// [`FleetError`] if the environment does not tell, or tells nonsense.
pub fn shard() -> Result<Shard, FleetError> {
    told(|name| std::env::var(name).ok())
}

/// The shard that variables tell; of several engines the first of the table.
fn told(environment: impl Fn(&str) -> Option<String>) -> Result<Shard, FleetError> {
    let variable = |name: &str| environment(name).filter(|value| !value.trim().is_empty());
    let number = |name: &str| -> Option<u32> { variable(name)?.trim().parse().ok() };
    let found = ENGINES
        .iter()
        .find_map(|engine| Some((engine, variable(engine.index)?)));
    let (engine, place) = found.ok_or(FleetError::Alone)?;
    let (index, count) = (engine.index, engine.count);
    let count = number(count).ok_or(FleetError::Count { index, count })?;
    let (first, step) = match engine.first {
        First::Number(first) => (first, 1),
        First::Told { first, step } => (number(first).unwrap_or(0), number(step).unwrap_or(1).max(1)),
    };
    let steps = |place: u32| {
        let beyond = place.checked_sub(first)?;
        (beyond % step == 0).then_some(beyond / step)
    };
    let from_zero = place.trim().parse().ok().and_then(steps);
    match from_zero {
        Some(from_zero) if from_zero < count => Ok(Shard {
            index: from_zero + 1,
            count,
        }),
        _ => Err(FleetError::Place { index, place, count }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard_of(variables: &[(&str, &str)]) -> Result<String, FleetError> {
        let found = |name: &str| variables.iter().find(|(there, _)| *there == name);
        told(|name| found(name).map(|(_, value)| (*value).to_owned())).map(|shard| shard.to_string())
    }

    #[test]
    fn each_engine_says_it_in_its_own_way() {
        let slurm = |id: &'static str, step: &'static str| {
            [
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_COUNT", "3"),
                ("SLURM_ARRAY_TASK_MIN", "5"),
                ("SLURM_ARRAY_TASK_MAX", "9"),
                ("SLURM_ARRAY_TASK_STEP", step),
            ]
        };
        for (variables, expected) in [
            (&slurm("5", "2")[..], "1/3"),
            (&slurm("9", "2"), "3/3"),
            (&slurm("6", "1"), "2/3"),
            (&[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "4")], "1/4"),
            (&[("CI_NODE_INDEX", "4"), ("CI_NODE_TOTAL", "4")], "4/4"),
            (
                &[
                    ("BUILDKITE_PARALLEL_JOB", "0"),
                    ("BUILDKITE_PARALLEL_JOB_COUNT", "2"),
                ],
                "1/2",
            ),
            (&[("JOB_COMPLETION_INDEX", "1"), (COUNT, "2")], "2/2"),
            (&[(INDEX, "3"), (COUNT, "4")], "4/4"),
            // What is said on purpose counts, wherever it runs.
            (
                &[
                    ("CI_NODE_INDEX", "1"),
                    ("CI_NODE_TOTAL", "4"),
                    (INDEX, "1"),
                    (COUNT, "2"),
                ],
                "2/2",
            ),
            (
                &[(INDEX, " "), ("CI_NODE_INDEX", " 1 "), ("CI_NODE_TOTAL", "1")],
                "1/1",
            ),
        ] {
            assert_eq!(shard_of(variables).as_deref(), Ok(expected), "{variables:?}");
        }
    }

    #[test]
    fn who_was_told_nothing_or_nonsense_does_not_measure_everything() {
        assert_eq!(shard_of(&[]), Err(FleetError::Alone));
        assert_eq!(shard_of(&[("GITHUB_ACTIONS", "true")]), Err(FleetError::Alone));
        let message = shard_of(&[("JOB_COMPLETION_INDEX", "0")])
            .unwrap_err()
            .to_string();
        assert!(message.contains("set ABREAST_SHARD_COUNT"), "{message}");
        for (place, count) in [("4", "4"), ("0", "0"), ("x", "2"), ("-1", "2"), ("1.5", "2")] {
            let wrong = shard_of(&[(INDEX, place), (COUNT, count)]);
            assert!(
                matches!(wrong, Err(FleetError::Place { .. })),
                "{place} of {count}: {wrong:?}"
            );
        }
        // An array with gaps: 1, 3 and 7.
        let gaps = [
            ("SLURM_ARRAY_TASK_ID", "7"),
            ("SLURM_ARRAY_TASK_COUNT", "3"),
            ("SLURM_ARRAY_TASK_MIN", "1"),
            ("SLURM_ARRAY_TASK_STEP", "1"),
        ];
        let message = shard_of(&gaps).unwrap_err().to_string();
        assert!(
            message.contains("SLURM_ARRAY_TASK_ID=7 is no place among 3"),
            "{message}"
        );
        let first_of_gitlab = shard_of(&[("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "2")]);
        assert!(matches!(first_of_gitlab, Err(FleetError::Place { .. })));
    }
}
