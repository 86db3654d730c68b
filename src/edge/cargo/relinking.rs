//! Linking a bench executable again and again, with the same code in other orders.
//!
//! Only the bench crate itself gets other arguments (`cargo rustc`), so what it is linked from stays as it was built
//! (unless other packages, which are not built here, had switched on features of a dependency), and it is compiled once:
//! what looks like the linker is a script that links it once for each order. An order is a shuffle of the sections, one
//! function each, by LLVM's linker, which Rust brings along.
#![expect(
    clippy::disallowed_methods,
    reason = "this file is where the script that links is written"
)]

use super::messages::compiler_failure;
use super::{Cargo, CargoError};
use crate::build::{BenchTarget, Built};
use crate::edge::process::Ending;
use crate::layout::Layout;
use cargo_metadata::Message;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Set while a bench is compiled for this: `option_env!("ABREAST_RELINK")` tells it.
const VARIABLE: &str = "ABREAST_RELINK";

/// Name of the script. A compiler that is told to use the linker of this name looks for it in the folders it is given
/// first. No toolchain brings one of this name along, as Rust does with `ld.lld`.
const SCRIPT: &str = "ld.gold";

/// What linking in other orders came to.
#[derive(Debug)]
pub struct Relinked {
    /// The executables, or the last words of the compiler.
    pub executables: Result<Vec<(Layout, PathBuf)>, String>,
    /// Seconds cargo ran.
    pub seconds: f64,
}

impl Cargo<'_> {
    /// Links a bench target in every shuffled order, into `folder`, which must be empty. It must have been built before.
    ///
    /// # Errors
    /// [`CargoError`] if cargo cannot be started or was interrupted.
    pub fn relink(&self, bench: &BenchTarget, folder: &Path, locked: bool) -> Result<Relinked, CargoError> {
        if let Err(error) = self.write_script(folder) {
            return Ok(Relinked {
                executables: Err(format!("{}: {error}", folder.display())),
                seconds: 0.0,
            });
        }
        let mut args: Vec<String> = ["rustc", "--message-format=json-render-diagnostics"]
            .map(str::to_owned)
            .into();
        args.extend(["--package".to_owned(), bench.package_id.clone()]);
        args.extend(["--bench".to_owned(), bench.target.target.clone()]);
        if self.selection.profile.is_none() {
            args.extend(["--profile".to_owned(), "bench".to_owned()]);
        }
        args.extend(self.common_args(locked, &bench.features));
        args.push("--".to_owned());
        args.push(format!("-Clink-arg=-B{}", folder.display()));
        args.push("-Clink-arg=-fuse-ld=gold".to_owned());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut launch = self.launch("cargo", &args);
        launch.env.push((VARIABLE.into(), Some("1".into())));
        let mut built = Built::default();
        let finished = self.runner.run_lines(&launch, |line| {
            if let Ok(Message::CompilerArtifact(artifact)) = serde_json::from_str::<Message>(line) {
                built.take(&artifact);
            }
        })?;
        if finished.ending == Ending::Interrupted {
            return Err(CargoError::Interrupted);
        }
        // Its name has the arguments in it, so nobody would ever use it again.
        for file in &built.benches {
            let _ = std::fs::remove_file(&file.path);
            let _ = std::fs::remove_file(file.path.with_extension("d"));
        }
        let file = |layout: Layout| (layout, folder.join(layout.0.to_string()));
        let files: Vec<_> = Layout::shuffled().map(file).collect();
        let executables = match compiler_failure(&finished) {
            Some(failure) => Err(failure),
            None if files.iter().all(|(_, path)| path.is_file()) => Ok(files),
            None => Err("the linker of this toolchain was not called".to_owned()),
        };
        Ok(Relinked {
            executables,
            seconds: finished.wall_s,
        })
    }

    fn write_script(&self, folder: &Path) -> std::io::Result<()> {
        let script = folder.join(SCRIPT);
        std::fs::write(&script, text_of_script(&self.lld(), folder))?;
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))
    }

    /// LLVM's linker: the toolchain's own, else the system's.
    fn lld(&self) -> PathBuf {
        let mut libraries = String::new();
        let launch = self.launch("rustc", &["--print", "target-libdir"]);
        let _ = self
            .runner
            .run_lines(&launch, |line| line.clone_into(&mut libraries));
        let own = Path::new(&libraries)
            .parent()
            .map(|target| target.join("bin").join("gcc-ld").join("ld.lld"));
        own.filter(|path| path.is_file())
            .unwrap_or_else(|| "ld.lld".into())
    }
}

/// Links as asked, and once more for each order.
fn text_of_script(lld: &Path, folder: &Path) -> String {
    let quoted = |path: &Path| format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"));
    let (lld, folder) = (quoted(lld), quoted(folder));
    let orders: Vec<String> = Layout::shuffled().map(|layout| layout.0.to_string()).collect();
    format!(
        "#!/bin/sh\nset -e\n{lld} \"$@\"\nfor order in {}; do\n    {lld} \"$@\" \"--shuffle-sections=.text*=$order\" \
         \"--shuffle-sections=.rodata*=$order\" -o {folder}/$order\ndone\n",
        orders.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_survives_any_folder() {
        let text = text_of_script(Path::new("/x/ld.lld"), Path::new("/it's; rm -rf $HOME"));
        assert!(text.contains(r"-o '/it'\''s; rm -rf $HOME'/$order"), "{text}");
        assert!(text.contains("for order in 1 2 3 4 5 6 7 8; do"), "{text}");
    }
}
