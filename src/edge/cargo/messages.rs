//! What cargo says while it builds: executables, outputs of build scripts, errors.

use super::files::package_name;
use crate::build::{Built, BuiltFile};
use crate::edge::process::Finished;
use crate::scenario::Target;
use cargo_metadata::TargetKind;
use std::path::Path;

impl Built {
    pub(super) fn take(&mut self, artifact: &cargo_metadata::Artifact) {
        let Some(path) = &artifact.executable else { return };
        if !artifact.target.kind.contains(&TargetKind::Bench) {
            return;
        }
        self.benches.push(BuiltFile {
            target: Target {
                package: package_name(&artifact.package_id.repr, artifact.manifest_path.as_std_path()),
                target: artifact.target.name.clone(),
            },
            path: path.clone().into_std_path_buf(),
            sources: Vec::new(),
        });
    }

    pub(super) fn take_script(&mut self, script: &cargo_metadata::BuildScript, target_dir: &Path) {
        let out_dir = script.out_dir.as_str();
        let neutral = |text: &str| {
            text.replace(out_dir, "$OUT_DIR")
                .replace(&*target_dir.to_string_lossy(), "$TARGET_DIR")
        };
        let mut lines: Vec<String> = Vec::new();
        lines.extend(
            script
                .linked_libs
                .iter()
                .map(|lib| neutral(&format!("link {lib}"))),
        );
        lines.extend(
            script
                .linked_paths
                .iter()
                .map(|path| neutral(&format!("search {path}"))),
        );
        lines.extend(script.cfgs.iter().map(|cfg| neutral(&format!("cfg {cfg}"))));
        lines.extend(
            script
                .env
                .iter()
                .map(|(name, value)| neutral(&format!("env {name}={value}"))),
        );
        if !lines.is_empty() {
            self.scripts
                .insert(script.package_id.repr.clone(), lines.join("\n"));
        }
    }
}

/// Last part of what the compiler said, from its first error on as far as there is room.
pub(super) fn compiler_failure(finished: &Finished) -> Option<String> {
    const LINES: usize = 40;
    if finished.ending.is_success() {
        return None;
    }
    let lines: Vec<&str> = finished
        .tail
        .lines()
        .filter(|line| {
            !line.trim_start().starts_with("Compiling ") && !line.trim_start().starts_with("Downloaded ")
        })
        .collect();
    let first = lines
        .iter()
        .position(|line| line.starts_with("error"))
        .unwrap_or(0);
    let errors = &lines[first..];
    Some(errors[..errors.len().min(LINES)].join("\n").trim().to_owned())
}
