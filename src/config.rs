//! Settings: what may be written on the command line and, under the same names, in `abreast.toml`.
//!
//! One struct serves both, so a flag and its key cannot drift apart. What is on the command line wins.

mod error;
mod known;
mod template;
mod written;

pub use crate::units::Span;
pub use error::ConfigError;
pub use template::template;
pub use written::{Percent, ShardText};

use crate::claim::Claim;
use crate::exit::FailOn;
use crate::plan::{Harness, MIN_ROUNDS, Measuring, Policy, Selection};
use crate::program::Program;
use crate::run_files::RunFiles;
use crate::units::Fraction;
use known::check_keys;
use serde::Deserialize;

/// Name of the settings file at the root of the repository.
pub const FILE: &str = "abreast.toml";

/// Everything that can be set. `None` and empty mean "not said".
#[derive(Debug, Clone, Default, PartialEq, clap::Args, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Settings {
    /// Measure only benches of this package (repeatable) [default: every workspace member that has benches]
    #[arg(short, long, value_name = "NAME", help_heading = "What is measured")]
    pub package: Vec<String>,
    /// Measure only this bench target, or this program of the settings file (repeatable) [default: all]
    #[arg(long, value_name = "NAME", help_heading = "What is measured")]
    pub bench: Vec<String>,
    /// Measure only benchmark ids that match this regular expression
    #[arg(long, value_name = "REGEX", help_heading = "What is measured")]
    pub filter: Option<String>,
    /// Cargo features to enable, separated by commas (repeatable)
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "What is measured"
    )]
    pub features: Vec<String>,
    /// Enable all cargo features
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true, require_equals = true, help_heading = "What is measured")]
    pub all_features: Option<bool>,
    /// Do not enable the default cargo features
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true, require_equals = true, help_heading = "What is measured")]
    pub no_default_features: Option<bool>,
    /// Cargo profile to build with [default: bench]
    #[arg(long, value_name = "NAME", help_heading = "What is measured")]
    pub profile: Option<String>,
    /// Rustup toolchain for both sides [default: what each side's toolchain file says]
    #[arg(long, value_name = "NAME", help_heading = "What is measured")]
    pub toolchain: Option<String>,
    /// Whose bench sources are compiled: each side's own, or one side's on both [default: own]
    #[arg(long, value_name = "SIDE", help_heading = "What is measured")]
    pub harness: Option<Harness>,
    /// Tracked files that benches read as they run, like `testdata/**` (repeatable) [default: those in benches/]
    #[arg(long, value_name = "GLOB", help_heading = "What is measured")]
    pub run_files: Vec<String>,

    /// Measuring time to spend, builds not counted, like `90s` or `10m` [default: 10m]
    #[arg(long, value_name = "TIME", help_heading = "How it is measured")]
    pub budget: Option<Span>,
    /// Measure exactly this many rounds, an even number from 8 on [default: as many as the decisions need]
    #[arg(long, value_name = "N", help_heading = "How it is measured")]
    pub rounds: Option<u32>,
    /// Kill a benchmark that takes longer than this in one process [default: a sixteenth of the budget, at least 10s]
    #[arg(long, value_name = "TIME", help_heading = "How it is measured")]
    pub timeout: Option<Span>,
    /// Measure benches whose executables are identical too, as a null
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true, require_equals = true, help_heading = "How it is measured")]
    pub measure_identical: Option<bool>,
    /// Do not repeat flagged rows with fresh processes before they count
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true, require_equals = true, help_heading = "How it is measured")]
    pub no_confirm: Option<bool>,
    /// Do not look whether a confirmed change is due to code layout: saves linking its executables anew
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true, require_equals = true, help_heading = "How it is measured")]
    pub no_layout_check: Option<bool>,
    /// Count the instructions of every scenario (needs valgrind): rows of their own, exact
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true, require_equals = true, help_heading = "How it is measured")]
    pub instructions: Option<bool>,
    /// Also measure base with its code in other orders: no change below what that does is flagged
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true, require_equals = true, help_heading = "How it is measured")]
    pub relink_control: Option<bool>,
    /// Seed of all random orders [default: another one each time; the report names it]
    #[arg(long, value_name = "N", help_heading = "How it is measured")]
    pub seed: Option<u64>,
    /// Measure only part I of N of the scenarios; `abreast judge` joins the parts. `auto` takes I and N from Slurm,
    /// GitLab, Buildkite or Kubernetes
    #[arg(long, value_name = "I/N", help_heading = "How it is measured")]
    pub shard: Option<ShardText>,

    /// Smallest change that is flagged [default: 2%]
    #[arg(long, value_name = "PERCENT", help_heading = "How it is judged")]
    pub threshold: Option<Percent>,
    /// Largest change that an `unchanged` row may hide [default: 5%]
    #[arg(long, value_name = "PERCENT", help_heading = "How it is judged")]
    pub margin: Option<Percent>,
    /// From this change on a regression is an alert [default: 10%]
    #[arg(long, value_name = "PERCENT", help_heading = "How it is judged")]
    pub alert: Option<Percent>,
    /// Smallest change in nanoseconds that is flagged [default: 1]
    #[arg(long, value_name = "NS", help_heading = "How it is judged")]
    pub floor_ns: Option<f64>,
    /// What a change is said to be, like `qwen3-0.6b/ms_per_token=-4.0%` (repeatable): the report says whether this run
    /// confirms it, refutes it, or cannot tell
    #[arg(
        long,
        value_name = "ROW=PERCENT",
        allow_hyphen_values = true,
        help_heading = "How it is judged"
    )]
    pub claim: Vec<Claim>,
    /// Results that make the exit code 1, separated by commas [default: never]
    #[arg(
        long,
        value_name = "RESULTS",
        value_delimiter = ',',
        help_heading = "How it is judged"
    )]
    pub fail_on: Vec<FailOn>,

    /// Programs that measure themselves: in the file only, `[[program]]`.
    #[arg(skip)]
    pub program: Vec<Program>,
}

impl Settings {
    /// Reads settings written in TOML; `file` is named in errors.
    ///
    /// # Errors
    /// [`ConfigError`] for bad TOML, unknown keys and values of the wrong kind.
    pub fn parse(file: &str, text: &str) -> Result<Self, ConfigError> {
        let error = |error: toml::de::Error| ConfigError::Toml {
            file: file.to_owned(),
            message: error.to_string().trim_end().to_owned(),
        };
        let table: toml::Table = toml::from_str(text).map_err(error)?;
        check_keys(file, &table)?;
        toml::from_str(text).map_err(error)
    }

    /// Reads settings from `[workspace.metadata.abreast]` of a manifest; nothing there is nothing said.
    ///
    /// # Errors
    /// As [`Settings::parse`]. A manifest that is not TOML is cargo's to complain about.
    pub fn parse_manifest(file: &str, text: &str) -> Result<Option<Self>, ConfigError> {
        let table = text.parse::<toml::Table>().ok();
        let section = table
            .as_ref()
            .and_then(|table| table.get("workspace")?.get("metadata")?.get("abreast"));
        let Some(toml::Value::Table(section)) = section else {
            return Ok(None);
        };
        let file = format!("{file} [workspace.metadata.abreast]");
        check_keys(&file, section)?;
        let settings = toml::Value::Table(section.clone()).try_into();
        settings
            .map(Some)
            .map_err(|error: toml::de::Error| ConfigError::Toml {
                file,
                message: error.message().to_owned(),
            })
    }

    /// These settings, completed by `file` where they say nothing.
    #[must_use]
    pub fn or(self, file: Self) -> Self {
        fn list<T>(own: Vec<T>, other: Vec<T>) -> Vec<T> {
            if own.is_empty() { other } else { own }
        }
        Self {
            package: list(self.package, file.package),
            bench: list(self.bench, file.bench),
            filter: self.filter.or(file.filter),
            features: list(self.features, file.features),
            all_features: self.all_features.or(file.all_features),
            no_default_features: self.no_default_features.or(file.no_default_features),
            profile: self.profile.or(file.profile),
            toolchain: self.toolchain.or(file.toolchain),
            harness: self.harness.or(file.harness),
            run_files: list(self.run_files, file.run_files),
            budget: self.budget.or(file.budget),
            rounds: self.rounds.or(file.rounds),
            timeout: self.timeout.or(file.timeout),
            measure_identical: self.measure_identical.or(file.measure_identical),
            no_confirm: self.no_confirm.or(file.no_confirm),
            no_layout_check: self.no_layout_check.or(file.no_layout_check),
            instructions: self.instructions.or(file.instructions),
            relink_control: self.relink_control.or(file.relink_control),
            seed: self.seed.or(file.seed),
            shard: self.shard.or(file.shard),
            threshold: self.threshold.or(file.threshold),
            margin: self.margin.or(file.margin),
            alert: self.alert.or(file.alert),
            floor_ns: self.floor_ns.or(file.floor_ns),
            claim: list(self.claim, file.claim),
            fail_on: list(self.fail_on, file.fail_on),
            program: list(self.program, file.program),
        }
    }

    /// Whether nothing is said but how to judge.
    #[must_use]
    pub fn only_judge(&self) -> bool {
        let judging = Self {
            threshold: self.threshold,
            margin: self.margin,
            alert: self.alert,
            floor_ns: self.floor_ns,
            claim: self.claim.clone(),
            fail_on: self.fail_on.clone(),
            ..Self::default()
        };
        *self == judging
    }

    /// Whether nothing is said of what to build: the filter chooses among benchmarks that are built.
    #[must_use]
    pub fn nothing_to_build(&self) -> bool {
        let built = Self {
            package: self.package.clone(),
            bench: self.bench.clone(),
            features: self.features.clone(),
            all_features: self.all_features,
            no_default_features: self.no_default_features,
            profile: self.profile.clone(),
            toolchain: self.toolchain.clone(),
            harness: self.harness,
            run_files: self.run_files.clone(),
            ..Self::default()
        };
        built == Self::default()
    }

    /// Which ids are measured, if that is said.
    ///
    /// # Errors
    /// [`ConfigError::Filter`].
    pub fn filter(&self) -> Result<Option<String>, ConfigError> {
        if let Some(filter) = &self.filter {
            regex::Regex::new(filter).map_err(|error| ConfigError::Filter(error.to_string()))?;
        }
        Ok(self.filter.clone())
    }

    /// What is built and run; `folder` is the workspace relative to the repository.
    ///
    /// # Errors
    /// [`ConfigError::Filter`] and [`ConfigError::RunFiles`] for patterns that are none, [`ConfigError::Program`] and
    /// [`ConfigError::Rounds`] for programs that cannot be used or judged.
    pub fn selection(&self, folder: String) -> Result<Selection, ConfigError> {
        let filter = self.filter()?;
        RunFiles::new(&self.run_files)?;
        Ok(Selection {
            folder,
            packages: self.package.clone(),
            benches: self.bench.clone(),
            filter,
            features: self.features.clone(),
            all_features: self.all_features.unwrap_or_default(),
            no_default_features: self.no_default_features.unwrap_or_default(),
            profile: self.profile.clone(),
            toolchain: self.toolchain.clone(),
            harness: self.harness.unwrap_or_default(),
            run_files: self.run_files.clone(),
            programs: self.programs()?,
        })
    }

    /// The programs that are measured: where a package or bench is named, those that `--bench` names.
    fn programs(&self) -> Result<Vec<Program>, ConfigError> {
        Program::check(&self.program)?;
        let launches = self.program.iter().filter_map(|program| program.launches);
        if let Some(few) = launches.min().filter(|launches| *launches < MIN_ROUNDS) {
            return Err(ConfigError::Rounds(few));
        }
        let are_all_meant = self.bench.is_empty() && self.package.is_empty();
        let is_meant = |program: &&Program| are_all_meant || self.bench.contains(&program.name);
        Ok(self.program.iter().filter(is_meant).cloned().collect())
    }

    /// How it is measured: `default`, changed where something was said. Who asks for rounds gets them without a budget
    /// unless one is said too.
    ///
    /// # Errors
    /// [`ConfigError::Rounds`] for fewer than [`MIN_ROUNDS`]. An odd number is made even, so that each order of the
    /// sides is as frequent as the other.
    pub fn measuring(&self, default: Measuring) -> Result<Measuring, ConfigError> {
        if let Some(rounds) = self.rounds.filter(|rounds| *rounds < MIN_ROUNDS) {
            return Err(ConfigError::Rounds(rounds));
        }
        let budget_s = self.budget.map(|budget| budget.0.as_secs_f64());
        Ok(Measuring {
            budget_s: match self.rounds {
                Some(_) => budget_s,
                None => budget_s.or(default.budget_s),
            },
            rounds: self
                .rounds
                .map(|rounds| rounds.checked_next_multiple_of(2).unwrap_or(u32::MAX - 1))
                .or(default.rounds),
            seed: self.seed.unwrap_or(default.seed),
            shard: match self.shard {
                Some(ShardText::Given(shard)) => Some(shard),
                // What `auto` is has been settled by whoever sees the environment.
                Some(ShardText::Auto) | None => default.shard,
            },
            identical: self.measure_identical.unwrap_or(default.identical),
            confirm: self.no_confirm.map_or(default.confirm, |not| !not),
            layout_check: self.no_layout_check.map_or(default.layout_check, |not| !not),
            relink_control: self.relink_control.unwrap_or(default.relink_control),
            instructions: self.instructions.unwrap_or(default.instructions),
            elsewhere: default.elsewhere,
            timeout_s: self
                .timeout
                .map(|timeout| timeout.0.as_secs_f64())
                .or(default.timeout_s),
        })
    }

    /// The limits of a verdict: `default`, changed where something was said.
    ///
    /// # Errors
    /// [`ConfigError`] for limits that contradict each other.
    pub fn policy(&self, default: Policy) -> Result<Policy, ConfigError> {
        let of = |said: Option<Percent>, default: Fraction| said.map_or(default, |percent| percent.0);
        let policy = Policy {
            family_alpha: default.family_alpha,
            threshold: of(self.threshold, default.threshold),
            margin: of(self.margin, default.margin),
            alert: of(self.alert, default.alert),
            floor_ns: self.floor_ns.unwrap_or(default.floor_ns),
        };
        if !policy.floor_ns.is_finite() || policy.floor_ns < 0.0 {
            return Err(ConfigError::FloorNs);
        }
        if self.alert.is_some() && policy.alert < policy.threshold {
            let percent = |fraction: Fraction| format!("{}", fraction.0 * 100.0);
            return Err(ConfigError::Alert {
                alert: percent(policy.alert),
                threshold: percent(policy.threshold),
            });
        }
        Ok(policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_template_is_accepted_and_is_the_default_or_an_example() {
        let uncommented: String = template()
            .lines()
            .filter_map(|line| line.strip_prefix("# "))
            .filter(|line| line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' ')))
            .map(|line| format!("{line}\n"))
            .collect();
        let settings = Settings::parse("abreast.toml", &uncommented).unwrap();
        assert_eq!(settings.budget, Some("10m".parse().unwrap()));
        assert_eq!(settings.policy(Policy::default()).unwrap(), Policy::default());
        assert_eq!(uncommented.lines().count(), known::flags().count());
        assert!(
            !uncommented.contains("\"\""),
            "a key without an example: {uncommented}"
        );
    }

    #[test]
    fn an_unknown_key_names_the_nearest() {
        let error = Settings::parse("abreast.toml", "treshold = '3%'").unwrap_err();
        assert_eq!(
            error.to_string(),
            "abreast.toml: unknown key `treshold`; did you mean `threshold`?"
        );
        let error = Settings::parse("abreast.toml", "zzz = 1").unwrap_err();
        assert_eq!(error.to_string(), "abreast.toml: unknown key `zzz`");
    }

    const PROGRAM: &str = "[[program]]\nname = 'e'\nrun = ['e']\nformat = 'wall'\n";

    #[test]
    fn programs_are_in_the_file_and_bench_names_those_that_are_measured() {
        let text = format!("{PROGRAM}timeout = '90s'\n{}", PROGRAM.replace("'e'", "'f'"));
        let mut settings = Settings::parse("abreast.toml", &text).unwrap();
        let names = |settings: &Settings| {
            let programs = settings.selection(String::new()).unwrap().programs;
            programs
                .into_iter()
                .map(|program| program.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(settings.program[0].timeout, Some("90s".parse().unwrap()));
        assert_eq!(names(&settings), ["e", "f"]);
        settings.bench = vec!["f".to_owned()];
        assert_eq!(names(&settings), ["f"]);
        assert_eq!(Settings::default().or(settings.clone()), settings);
        settings.program[0].launches = Some(4);
        assert_eq!(settings.selection(String::new()), Err(ConfigError::Rounds(4)));
    }

    #[test]
    fn an_unknown_key_or_format_of_a_program_is_named() {
        let error = Settings::parse("f", &format!("{PROGRAM}launchs = 9")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "f [[program]]: unknown key `launchs`; did you mean `launches`?"
        );
        let error = Settings::parse("f", &PROGRAM.replace("wall", "walls")).unwrap_err();
        assert!(error.to_string().contains("unknown variant `walls`"), "{error}");
        let error = Settings::parse("f", "[[progam]]\nname = 'e'").unwrap_err();
        assert!(error.to_string().contains("did you mean `program`?"), "{error}");
    }

    #[test]
    fn a_value_of_the_wrong_kind_says_where_and_why() {
        let error = Settings::parse("abreast.toml", "threshold = '3'")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 1") && error.contains("write it like `2%`"),
            "{error}"
        );
    }

    #[test]
    fn the_command_line_wins_over_the_file() {
        let file = Settings::parse("f", "threshold = '3%'\nmargin = '9%'\npackage = ['a', 'b']").unwrap();
        let line = Settings {
            threshold: Some("1%".parse().unwrap()),
            package: vec!["c".to_owned()],
            ..Settings::default()
        };
        let both = line.or(file);
        let policy = both.policy(Policy::default()).unwrap();
        assert_eq!(
            (policy.threshold, policy.margin),
            (Fraction(0.01), Fraction(0.09))
        );
        assert_eq!(both.package, ["c"]);
    }

    #[test]
    fn too_few_rounds_are_refused_and_odd_ones_made_even() {
        let with = |rounds| {
            Settings {
                rounds: Some(rounds),
                ..Settings::default()
            }
            .measuring(Measuring::with_seed(1))
        };
        assert_eq!(with(3), Err(ConfigError::Rounds(3)));
        let measuring = with(9).unwrap();
        assert_eq!((measuring.rounds, measuring.budget_s), (Some(10), None));
    }

    #[test]
    fn settings_may_live_in_the_manifest() {
        let manifest = "[workspace.metadata.abreast]\nbudget = '2m'";
        let settings = Settings::parse_manifest("Cargo.toml", manifest).unwrap().unwrap();
        assert_eq!(settings.budget, Some("2m".parse().unwrap()));
        assert_eq!(Settings::parse_manifest("Cargo.toml", "[workspace]"), Ok(None));
        let error =
            Settings::parse_manifest("Cargo.toml", "[workspace.metadata.abreast]\nbudgt = 1").unwrap_err();
        assert!(error.to_string().contains("did you mean `budget`?"), "{error}");
    }
}
