//! Cargo: which bench targets a tree has, and building them.
#![expect(
    clippy::disallowed_methods,
    reason = "this file is where cargo's environment is decided"
)]

mod files;
mod messages;
mod program;
mod relinking;

pub use self::relinking::Relinked;

use self::files::{compiled_files, default_harness_targets, dep_info, read_lock};
use self::messages::compiler_failure;
use crate::build::{BenchTarget, Benches, Built};
use crate::edge::process::{Ending, Launch, ProcessError, Runner};
use crate::plan::Selection;
use crate::recording::Skipped;
use crate::scenario::Target;
use cargo_metadata::{Message, Metadata, TargetKind};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Cargo in one side's tree.
#[derive(Debug)]
pub struct Cargo<'a> {
    /// Starts cargo.
    pub runner: &'a Runner,
    /// Root of the side's tree.
    pub tree: &'a Path,
    /// Where cargo puts what it makes.
    pub target_dir: &'a Path,
    /// What is selected, and how it is compiled.
    pub selection: &'a Selection,
}

/// Why cargo could not answer.
#[derive(Debug, thiserror::Error)]
pub enum CargoError {
    /// There is no manifest where one should be.
    #[error(
        "there is no {0}, so there is nothing to build: run abreast in a folder with a Cargo.toml, or below one"
    )]
    NoManifest(PathBuf),
    /// Cargo is not installed, or could not be started.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// Cargo rejected the manifest, lock or toolchain.
    #[error("cargo could not read the workspace:\n{0}")]
    Metadata(String),
    /// Cargo's answer is not understood.
    #[error("cargo's metadata is not understood: {0}")]
    Answer(#[from] cargo_metadata::Error),
    /// A package named with `-p` does not exist.
    #[error("no package `{name}` in this workspace; it has {known}")]
    Package {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The user interrupted cargo.
    #[error("interrupted")]
    Interrupted,
}

/// How far a build has come.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Packages compiled or found fresh.
    pub done: usize,
    /// Packages there are; an upper estimate from the lock file.
    pub of: Option<usize>,
    /// Package that was finished last.
    pub package: &'a str,
}

impl<'a> Cargo<'a> {
    /// `rustc -vV` as this tree's toolchain file (or `--toolchain`) selects it.
    #[must_use]
    pub fn toolchain(&self) -> Option<String> {
        let mut text = String::new();
        let launch = self.launch("rustc", &["-vV"]);
        let finished = self
            .runner
            .run_lines(&launch, |line| text.push_str(&format!("{line}\n")))
            .ok()?;
        (finished.ending.is_success() && !text.is_empty()).then(|| text.trim_end().to_owned())
    }

    /// The bench targets of this tree, sorted into those to build and those to skip.
    ///
    /// # Errors
    /// [`CargoError`] if there is no workspace here, a selected package does not exist, or cargo was interrupted.
    pub fn benches(&self) -> Result<Benches, CargoError> {
        let manifest = Path::new(&self.selection.folder).join("Cargo.toml");
        if !self.tree.join(&manifest).is_file() {
            return Err(CargoError::NoManifest(manifest));
        }
        let metadata = self.metadata()?;
        let packages = self.packages(&metadata)?;
        let lock_file = metadata.workspace_root.as_std_path().join("Cargo.lock");
        let mut benches = Benches {
            lock_file,
            ..Benches::default()
        };
        for package in packages {
            let package_dir = package
                .manifest_path
                .parent()
                .map_or(self.tree, |dir| dir.as_std_path());
            let harnessed = default_harness_targets(package.manifest_path.as_std_path());
            for target in package
                .targets
                .iter()
                .filter(|target| target.kind.contains(&TargetKind::Bench))
            {
                if !self.selection.benches.is_empty() && !self.selection.benches.contains(&target.name) {
                    continue;
                }
                let key = Target {
                    package: package.name.to_string(),
                    target: target.name.clone(),
                };
                let missing = self.missing_features(package, &target.required_features);
                if harnessed.contains(&target.name) {
                    let reason = "libtest harness (no `harness = false` in its manifest)".to_owned();
                    benches.skipped.push(Skipped { target: key, reason });
                } else if missing.is_empty() {
                    benches.wanted.push(BenchTarget {
                        target: key,
                        package_id: package.id.repr.clone(),
                        package_dir: relative(package_dir, self.tree),
                        source: relative(target.src_path.as_std_path(), self.tree),
                        features: self.features_of(package),
                    });
                } else {
                    let reason = format!("needs feature {}", missing.join(", "));
                    benches.skipped.push(Skipped { target: key, reason });
                }
            }
        }
        Ok(benches)
    }

    /// Compiles the wanted targets, with the lock file as it is if `locked`. A failure of the compiler is part of the
    /// result, not an error: executables that were made nevertheless are there.
    ///
    /// # Errors
    /// [`CargoError`] if cargo cannot be started or was interrupted.
    pub fn build(
        &self,
        benches: &Benches,
        locked: bool,
        mut progress: impl FnMut(Progress) + Send,
    ) -> Result<Built, CargoError> {
        let lock = read_lock(&benches.lock_file);
        let of = lock.as_ref().map(|lock| {
            lock.closure(benches.wanted.iter().map(|bench| bench.target.package.as_str()))
                .len()
        });
        let mut built = Built {
            lock,
            ..Built::default()
        };
        let mut packages = BTreeSet::new();
        let finished = self
            .runner
            .run_lines(&self.build_launch(benches, locked), |line| {
                let Ok(message) = serde_json::from_str::<Message>(line) else {
                    return;
                };
                match message {
                    Message::CompilerArtifact(artifact) => {
                        packages.insert(artifact.package_id.repr.clone());
                        progress(Progress {
                            done: packages.len(),
                            of,
                            package: &artifact.target.name,
                        });
                        built.take(&artifact);
                    }
                    Message::BuildScriptExecuted(script) => built.take_script(&script, self.target_dir),
                    _ => {}
                }
            })?;
        if finished.ending == Ending::Interrupted {
            return Err(CargoError::Interrupted);
        }
        built.seconds = finished.wall_s;
        built.failure = compiler_failure(&finished);
        // A lock file that cargo has just made tells what was resolved.
        built.lock = built.lock.take().or_else(|| read_lock(&benches.lock_file));
        for file in &mut built.benches {
            file.sources = dep_info(&file.path, self.tree);
        }
        if let Some(folder) = built.benches.first().and_then(|file| file.path.parent()) {
            built.compiled = compiled_files(folder, self.tree);
        }
        Ok(built)
    }

    fn metadata(&self) -> Result<Metadata, CargoError> {
        let mut json = String::new();
        let launch = self.launch("cargo", &["metadata", "--format-version", "1", "--no-deps"]);
        let finished = self.runner.run_lines(&launch, |line| json.push_str(line))?;
        if finished.ending == Ending::Interrupted {
            return Err(CargoError::Interrupted);
        }
        if !finished.ending.is_success() {
            return Err(CargoError::Metadata(finished.tail.trim().to_owned()));
        }
        Ok(cargo_metadata::MetadataCommand::parse(json)?)
    }

    fn packages<'m>(&self, metadata: &'m Metadata) -> Result<Vec<&'m cargo_metadata::Package>, CargoError> {
        let members = metadata.workspace_packages();
        for name in &self.selection.packages {
            if !members.iter().any(|package| package.name.as_str() == name) {
                let known: Vec<String> = members
                    .iter()
                    .map(|package| format!("`{}`", package.name))
                    .collect();
                return Err(CargoError::Package {
                    name: name.clone(),
                    known: known.join(", "),
                });
            }
        }
        let all = self.selection.packages.is_empty();
        let wanted = |package: &&cargo_metadata::Package| {
            all || self
                .selection
                .packages
                .iter()
                .any(|name| name == package.name.as_str())
        };
        Ok(members.into_iter().filter(wanted).collect())
    }

    /// Selected features that the package has.
    fn features_of(&self, package: &cargo_metadata::Package) -> Vec<String> {
        let own = |feature: &String| match feature.split_once('/') {
            Some((of, name)) => (of == package.name.as_str()).then(|| name.to_owned()),
            None => package.features.contains_key(feature).then(|| feature.clone()),
        };
        self.selection.features.iter().filter_map(own).collect()
    }

    /// Required features that this selection does not enable.
    fn missing_features(&self, package: &cargo_metadata::Package, required: &[String]) -> Vec<String> {
        if self.selection.all_features || required.is_empty() {
            return Vec::new();
        }
        let mut enabled: BTreeSet<String> = BTreeSet::new();
        let mut queue: Vec<String> = self
            .selection
            .features
            .iter()
            .map(|feature| {
                feature
                    .strip_prefix(&format!("{}/", package.name))
                    .unwrap_or(feature)
                    .to_owned()
            })
            .collect();
        if !self.selection.no_default_features {
            queue.push("default".to_owned());
        }
        while let Some(feature) = queue.pop() {
            if enabled.insert(feature.clone()) {
                queue.extend(package.features.get(&feature).into_iter().flatten().cloned());
            }
        }
        required
            .iter()
            .filter(|feature| !enabled.contains(*feature))
            .cloned()
            .collect()
    }

    fn build_launch(&self, benches: &Benches, locked: bool) -> Launch {
        let selection = self.selection;
        let mut args: Vec<String> = [
            "bench",
            "--no-run",
            "--no-fail-fast",
            "--message-format=json-render-diagnostics",
        ]
        .map(str::to_owned)
        .into();
        let packages: BTreeSet<&str> = benches
            .wanted
            .iter()
            .map(|bench| bench.package_id.as_str())
            .collect();
        let targets: BTreeSet<&str> = benches
            .wanted
            .iter()
            .map(|bench| bench.target.target.as_str())
            .collect();
        args.extend(
            packages
                .iter()
                .flat_map(|name| ["--package".to_owned(), (*name).to_owned()]),
        );
        args.extend(
            targets
                .iter()
                .flat_map(|name| ["--bench".to_owned(), (*name).to_owned()]),
        );
        args.extend(self.common_args(locked, &selection.features));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        self.launch("cargo", &args)
    }

    /// Arguments that building and linking again share.
    fn common_args(&self, locked: bool, features: &[String]) -> Vec<String> {
        let selection = self.selection;
        let mut args = Vec::new();
        if locked {
            args.push("--locked".to_owned());
        }
        if !features.is_empty() {
            args.extend(["--features".to_owned(), features.join(",")]);
        }
        if selection.all_features {
            args.push("--all-features".to_owned());
        }
        if selection.no_default_features {
            args.push("--no-default-features".to_owned());
        }
        if let Some(profile) = &selection.profile {
            args.extend(["--profile".to_owned(), profile.clone()]);
        }
        args.extend([
            "--target-dir".to_owned(),
            self.target_dir.to_string_lossy().into_owned(),
        ]);
        args
    }

    fn launch(&self, program: &str, args: &[&str]) -> Launch {
        Launch {
            program: program.into(),
            args: args.iter().map(OsString::from).collect(),
            cwd: self.tree.join(&self.selection.folder),
            env: environment(self.selection.toolchain.as_deref(), self.target_dir),
            timeout: None,
            processor: None,
        }
    }
}

/// What the user's own cargo (of `cargo run`, `cargo abreast`) left in the environment would choose the toolchain and
/// the target directory for us; the tree decides instead.
fn environment(toolchain: Option<&str>, target_dir: &Path) -> Vec<(OsString, Option<OsString>)> {
    let mut env: Vec<(OsString, Option<OsString>)> = [
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_TARGET_DIR",
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_PATH",
        "CARGO",
        "RUSTC",
        "RUSTDOC",
    ]
    .iter()
    .map(|name| (OsString::from(name), None))
    .collect();
    env.push(("CARGO_BUILD_BUILD_DIR".into(), Some(target_dir.into())));
    // Incremental objects make two builds of one source differ.
    env.push(("CARGO_INCREMENTAL".into(), Some("0".into())));
    env.push(("CARGO_TERM_COLOR".into(), Some("never".into())));
    let started_by_cargo = std::env::var_os("CARGO").is_some();
    match toolchain {
        Some(name) => env.push(("RUSTUP_TOOLCHAIN".into(), Some(name.into()))),
        // A rustup proxy exports the toolchain it chose to whatever it starts.
        None if started_by_cargo => env.push(("RUSTUP_TOOLCHAIN".into(), None)),
        None => {}
    }
    env
}

fn relative(path: &Path, tree: &Path) -> PathBuf {
    path.strip_prefix(tree).unwrap_or(path).to_owned()
}
