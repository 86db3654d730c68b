//! Decodes with a model, again and again, and tells when every token was known.
//!
//! The arithmetic is in `steady.rs`, what is written in `lines.rs` (for people) and `protocol.rs` (`abreast/decode/1`).
#![expect(
    clippy::disallowed_methods,
    reason = "a program: reads its files and its environment, keeps time"
)]

mod cache;
mod engine;
mod lines;
mod options;
mod protocol;
mod run;
mod steady;
mod subject;

use clap::Parser as _;
use engine::{Engine, Gpu};
use options::{Options, ProfileError};
use std::io::Write;
use std::process::ExitCode;
use subject::Subject;

fn main() -> ExitCode {
    let mut options = Options::parse();
    // abreast says what it reads.
    options.json |= std::env::var_os("ABREAST_FORMAT").is_some_and(|format| format == "abreast-decode");
    match profile(&options, &mut std::io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "decode-profile: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn profile(options: &Options, to: &mut dyn Write) -> Result<(), ProfileError> {
    options.check()?;
    // Before the weights are made ready, which takes long: there may be none.
    let gpu = options.launch().map(Gpu::open).transpose()?;
    let pool = options.pool()?;
    let subject = pool.install(|| Subject::of(options))?;
    let prompt = subject.prompt(options)?;
    let tokens = options.tokens as usize;
    let capacity = prompt.len().saturating_add(tokens);
    let mut engine = match gpu {
        Some(gpu) => Engine::on_gpu(&subject.parameters, capacity, gpu)?,
        None => Engine::on_cpu(&subject.parameters, capacity, &pool)?,
    };
    if options.json {
        protocol::header(
            options,
            &subject,
            &engine,
            &prompt,
            pool.current_num_threads(),
            to,
        )?;
    } else {
        lines::header(options, to)?;
    }
    let mut runs = Vec::new();
    for n in 0..options.warmups + options.runs {
        let run = engine.run(&prompt, tokens)?;
        let Some(index) = n.checked_sub(options.warmups) else {
            continue;
        };
        let index = index as usize;
        if options.json {
            protocol::run(index, &run, engine.fallback(), to)?;
        } else {
            if let (0, Some(text)) = (index, subject.text(&run.ids())) {
                writeln!(to, "generated_text: {text:?}")?;
            }
            lines::run(options, index, &run, to)?;
        }
        runs.push(run);
    }
    if !options.json {
        lines::rates(options, &runs, to)?;
        if let Some(launch) = options.launch() {
            lines::device(launch, &runs, engine.counters(), engine.fallback(), to)?;
        }
        lines::ids(&runs, to)?;
    }
    if runs.iter().any(|run| run.ids() != runs[0].ids()) {
        return Err(ProfileError::NotDeterministic);
    }
    Ok(())
}
