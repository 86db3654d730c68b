//! Why a command did not come to its end, and the exit code of that.

use super::remembered::KeepError;
use crate::config::ConfigError;
use crate::edge::cargo::CargoError;
use crate::edge::fleet::FleetError;
use crate::edge::format::FormatError;
use crate::edge::git::{BranchError, GitError};
use crate::edge::github::GithubError;
use crate::edge::history::HistoryError;
use crate::edge::home::HomeError;
use crate::edge::process;
use crate::edge::store::StoreError;
use crate::exit::Exit;
use crate::history::foreign::ForeignError;
use crate::measure::{LabError, MeasureError};
use crate::recording::RecordingError;
use crate::report::json::ReadError;
use crate::workshop::WorkshopError;
use std::path::PathBuf;

/// Why there is no report. Whatever was measured is in the recording.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// Settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Repository or revision.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Nothing to build.
    #[error(
        "there is no Cargo.toml in {0} or a folder above it, so there is nothing to build: run abreast inside a Rust project"
    )]
    NoManifest(PathBuf),
    /// The tool's folder.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// Checking out or building.
    #[error(transparent)]
    Workshop(#[from] WorkshopError),
    /// Files.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Measuring stopped; with it goes how to continue.
    #[error("{source}\nWhat was measured is in {recording}; go on with --resume.")]
    Measure {
        /// What happened.
        source: MeasureError,
        /// Where the recording is.
        recording: PathBuf,
    },
    /// Listing benchmarks failed.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// Recordings given to `judge` do not fit together.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// A file that a program wrote.
    #[error("{path}: {source}")]
    Format {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        source: FormatError,
    },
    /// A history in the work tree.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// A history on its branch.
    #[error(transparent)]
    Branch(#[from] BranchError),
    /// What is not kept.
    #[error(transparent)]
    Keep(#[from] KeepError),
    /// A history of another program.
    #[error(transparent)]
    Foreign(#[from] ForeignError),
    /// A file that should be a report.
    #[error("{path}: {source}")]
    Report {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        source: ReadError,
    },
    /// A report that the run it comes from cannot have made.
    #[error(
        "{path} is about the commit {found}, and the run that left it was about {expected}: it is not shown. Compare the \
         commit of the pull request, which is the default"
    )]
    OtherCommit {
        /// Which.
        path: PathBuf,
        /// Head that it names.
        found: String,
        /// Head of the pull request.
        expected: String,
    },
    /// GitHub, or its runner.
    #[error(transparent)]
    Github(#[from] GithubError),
    /// `--shard auto` where nothing tells the shard.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// Flags that do not go together.
    #[error("{0}")]
    Usage(String),
    /// `init` would replace a file.
    #[error("{0} exists already; it was left as it is")]
    Exists(PathBuf),
}

impl PipelineError {
    /// The exit code of an error.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Config(_)
            | Self::Git(_)
            | Self::NoManifest(_)
            | Self::Recording(_)
            | Self::Exists(_)
            | Self::Usage(_)
            | Self::Format { .. }
            | Self::Report { .. }
            | Self::OtherCommit { .. }
            | Self::Github(_)
            | Self::Fleet(_)
            | Self::Store(_)
            | Self::History(_)
            | Self::Branch(_)
            | Self::Keep(_)
            | Self::Foreign(_)
            | Self::Home(_) => Exit::Usage,
            Self::Workshop(_) if process::interrupted() => Exit::Interrupted,
            Self::Workshop(
                WorkshopError::Cargo(CargoError::Package { .. })
                | WorkshopError::Bundle(_)
                | WorkshopError::Store(_),
            ) => Exit::Usage,
            Self::Workshop(_) => Exit::Build,
            Self::Measure { .. } | Self::Lab(_) => Exit::Incomplete,
        }
    }
}
