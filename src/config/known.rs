//! The keys that mean something.

use super::{ConfigError, Settings};
use crate::program::Program;
use clap::CommandFactory as _;

/// Key of the programs, which have no flag.
const PROGRAM: &str = "program";

/// Refuses the first key that means nothing.
pub(super) fn check_keys(file: &str, table: &toml::Table) -> Result<(), ConfigError> {
    let known: Vec<String> = flags()
        .filter_map(|flag| flag.get_long().map(str::to_owned))
        .chain([PROGRAM.to_owned()])
        .collect();
    check(file, table, &known)?;
    let programs = table.get(PROGRAM).and_then(toml::Value::as_array);
    let mut programs = programs.into_iter().flatten().filter_map(toml::Value::as_table);
    let of_program = Program::KEYS.map(str::to_owned);
    programs.try_for_each(|program| check(&format!("{file} [[program]]"), program, &of_program))
}

fn check(file: &str, table: &toml::Table, known: &[String]) -> Result<(), ConfigError> {
    match table.keys().find(|key| !known.contains(key)) {
        None => Ok(()),
        Some(key) => {
            let nearest = known
                .iter()
                .map(|known| (strsim::jaro_winkler(known, key), known))
                .filter(|(similarity, _)| *similarity > 0.7)
                .max_by(|a, b| a.0.total_cmp(&b.0))
                .map(|(_, known)| known.clone());
            Err(ConfigError::UnknownKey {
                file: file.to_owned(),
                key: key.clone(),
                nearest,
            })
        }
    }
}

/// The flags that [`Settings`] defines.
pub(super) fn flags() -> impl Iterator<Item = clap::Arg> {
    #[derive(clap::Parser)]
    struct Only {
        #[command(flatten)]
        _settings: Settings,
    }
    let command = Only::command();
    let arguments: Vec<clap::Arg> = command.get_arguments().cloned().collect();
    arguments.into_iter()
}
