//! The lines for people. Tools read them too, so their form is fixed.

use crate::options::Options;
use crate::run::Run;
use crate::steady::{Steady, ms, upper_median};
use std::io::{self, Write};

pub(crate) fn header(options: &Options, to: &mut dyn Write) -> io::Result<()> {
    let model = options.model.as_ref().map(|path| path.display().to_string());
    writeln!(
        to,
        "profile_native: sampling: OFF (greedy, byte-identical fast path)"
    )?;
    writeln!(
        to,
        "profile_native: model={} ep=Cpu backend=native",
        model.unwrap_or_else(|| options.shape.clone())
    )
}

/// One run, as soon as it is over.
pub(crate) fn run(options: &Options, index: usize, run: &Run, to: &mut dyn Write) -> io::Result<()> {
    let Some(steady) = steady(options, run) else {
        return Ok(());
    };
    writeln!(
        to,
        "steady_run {}: prefill={:.3} ms decode_tokens={} decode_wall={:.3} ms decode={:.3} ms/token throughput={:.2} tok/s",
        index + 1,
        steady.prefill_ms,
        steady.decode_tokens,
        steady.decode_wall_ms,
        steady.ms_per_token(),
        steady.tokens_per_second()
    )
}

/// All runs together.
pub(crate) fn summary(options: &Options, runs: &[Run], to: &mut dyn Write) -> io::Result<()> {
    let windows: Vec<Steady> = runs.iter().filter_map(|run| steady(options, run)).collect();
    let median =
        |figure: fn(Steady) -> f64| upper_median(windows.iter().map(|window| figure(*window)).collect());
    if let (Some(prefill), Some(decode), Some(throughput)) = (
        median(|window| window.prefill_ms),
        median(Steady::ms_per_token),
        median(Steady::tokens_per_second),
    ) {
        writeln!(
            to,
            "steady_median: backend=native prefill={prefill:.3} ms decode={decode:.3} ms/token throughput={throughput:.2} tok/s \
             (runs={} warmups={} decode_skip={})",
            options.runs, options.warmups, options.decode_skip
        )?;
    } else {
        whole(runs, to)?;
    }
    let ids = runs.first().map(Run::ids).unwrap_or_default();
    writeln!(to, "generated_token_ids: {ids:?}")
}

/// Whole generations, prompts included.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 tokens")]
fn whole(runs: &[Run], to: &mut dyn Write) -> io::Result<()> {
    let tokens: usize = runs.iter().map(|run| run.tokens.len()).sum();
    let total_ms: f64 = runs
        .iter()
        .filter_map(|run| run.tokens.last())
        .map(|(_, time)| ms(*time))
        .sum();
    let step_ms = total_ms / tokens as f64;
    writeln!(
        to,
        "throughput: {:.2} tok/s, {step_ms:.3} ms/step ({tokens} generated tokens in {total_ms:.3} ms)",
        1e3 / step_ms
    )
}

fn steady(options: &Options, run: &Run) -> Option<Steady> {
    options
        .steady
        .then(|| Steady::of(&run.times(), options.decode_skip as usize))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;
    use std::time::Duration;

    fn written(arguments: &[&str]) -> String {
        let options = Options::parse_from([&["decode-profile"], arguments].concat());
        let run = |step: u64| Run {
            tokens: (0..4)
                .map(|n| (n, Duration::from_millis(100 + u64::from(n) * step)))
                .collect(),
        };
        let runs = [run(10), run(20)];
        let mut text = Vec::new();
        for (index, one) in runs.iter().enumerate() {
            super::run(&options, index, one, &mut text).unwrap();
        }
        summary(&options, &runs, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn steady_lines_have_their_fixed_form() {
        let text = written(&["--steady", "--decode-skip", "2", "--tokens", "4", "--runs", "2"]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "steady_run 1: prefill=100.000 ms decode_tokens=2 decode_wall=20.000 ms decode=10.000 ms/token \
                 throughput=100.00 tok/s",
                "steady_run 2: prefill=100.000 ms decode_tokens=2 decode_wall=40.000 ms decode=20.000 ms/token \
                 throughput=50.00 tok/s",
                "steady_median: backend=native prefill=100.000 ms decode=20.000 ms/token throughput=100.00 tok/s \
                 (runs=2 warmups=1 decode_skip=2)",
                "generated_token_ids: [0, 1, 2, 3]",
            ]
        );
    }

    #[test]
    fn without_a_window_whole_generations_are_timed() {
        let text = written(&["--tokens", "4", "--runs", "2"]);
        assert_eq!(
            text.lines().next().unwrap(),
            "throughput: 27.59 tok/s, 36.250 ms/step (8 generated tokens in 290.000 ms)"
        );
    }
}
