//! Build commands of programs: the user's words, in the surroundings that cargo has here.

use super::files::compiled_files;
use super::messages::compiler_failure;
use super::{Cargo, CargoError};
use crate::edge::process::{Ending, ProcessError};
use crate::last_words::with_last_words;
use crate::program::Program;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

impl Cargo<'_> {
    /// Runs a program's build command, if it has one. Cargo inside of it uses the toolchain and the target directory of
    /// the benches. A command that fails is no error: what it said.
    ///
    /// # Errors
    /// [`CargoError`] if it was interrupted.
    pub fn build_program(&self, program: &Program) -> Result<Result<(), String>, CargoError> {
        let words: Vec<&str> = program.build.iter().map(String::as_str).collect();
        let Some((command, args)) = words.split_first() else {
            return Ok(Ok(()));
        };
        let mut launch = self.launch(command, args);
        launch.cwd.push(&program.folder);
        // What comes last wins, and that is the tool's.
        let own = program.env.iter();
        let mut env: Vec<(OsString, Option<OsString>)> = own
            .map(|(name, value)| (name.into(), Some(value.into())))
            .collect();
        env.append(&mut launch.env);
        env.push(("CARGO_TARGET_DIR".into(), Some(self.target_dir.into())));
        launch.env = env;
        let finished = match self.runner.run(&launch) {
            Ok(finished) => finished,
            Err(error @ ProcessError::Start { .. }) => return Ok(Err(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        if finished.ending == Ending::Interrupted {
            return Err(CargoError::Interrupted);
        }
        let compiler = compiler_failure(&finished);
        Ok(match compiler {
            None => Ok(()),
            Some(errors) if errors.starts_with("error") => Err(errors),
            Some(_) => Err(with_last_words(
                &format!("`{}` failed", program.build.join(" ")),
                &finished.tail,
            )),
        })
    }

    /// Files of the tree that an executable in the target directory may be compiled from, relative to the tree.
    #[must_use]
    pub fn compiled_for(&self, executable: &Path) -> BTreeSet<PathBuf> {
        compiled_files(&executable.with_file_name("deps"), self.tree)
    }
}
