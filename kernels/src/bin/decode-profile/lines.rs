//! The lines for people. Tools read them too, so their form is fixed.

use crate::options::{Backend, Options};
use crate::run::Run;
use crate::steady::{Steady, ms, upper_median};
use kernels::device::Counters;
use kernels::model::Launch;
use std::io::{self, Write};

pub(crate) fn header(options: &Options, to: &mut dyn Write) -> io::Result<()> {
    let model = options.model.as_ref().map(|path| path.display().to_string());
    writeln!(
        to,
        "profile_native: sampling: OFF (greedy, byte-identical fast path)"
    )?;
    let place = match options.backend {
        Backend::Cpu => "Cpu",
        Backend::Cuda => "Cuda",
    };
    writeln!(
        to,
        "profile_native: model={} ep={place} backend=native",
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
pub(crate) fn rates(options: &Options, runs: &[Run], to: &mut dyn Write) -> io::Result<()> {
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
        )
    } else {
        whole(runs, to)
    }
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

/// What a GPU did: since it was opened (`total`), and in the measured runs; and why it did not capture what it was to.
pub(crate) fn device(
    launch: Launch,
    runs: &[Run],
    total: Counters,
    fallback: Option<&str>,
    to: &mut dyn Write,
) -> io::Result<()> {
    let measured = |count: fn(&Counters) -> u64| runs.iter().map(|run| count(&run.counters)).sum::<u64>();
    writeln!(
        to,
        "cuda_graph: enabled={} captures={} replays={} fallbacks={}",
        launch == Launch::Captured,
        total.captures,
        total.replays,
        total.fallbacks
    )?;
    writeln!(
        to,
        "cuda_graph_measured: captures={} replays={} fallbacks={}",
        measured(|counters| counters.captures),
        measured(|counters| counters.replays),
        measured(|counters| counters.fallbacks)
    )?;
    writeln!(
        to,
        "device_measured: syncs={} allocations={} h2d_calls={} h2d_bytes={} d2h_calls={} d2h_bytes={}",
        measured(|counters| counters.syncs),
        measured(|counters| counters.allocations),
        measured(|counters| counters.h2d_calls),
        measured(|counters| counters.h2d_bytes),
        measured(|counters| counters.d2h_calls),
        measured(|counters| counters.d2h_bytes)
    )?;
    match fallback {
        Some(reason) => writeln!(to, "cuda_graph_fallback_reason: {reason}"),
        None => Ok(()),
    }
}

/// The tokens: those of the first run, which are those of every run.
pub(crate) fn ids(runs: &[Run], to: &mut dyn Write) -> io::Result<()> {
    let ids = runs.first().map(Run::ids).unwrap_or_default();
    writeln!(to, "generated_token_ids: {ids:?}")
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

    fn options(arguments: &[&str]) -> Options {
        Options::parse_from([&["decode-profile"], arguments].concat())
    }

    /// Four tokens, the first after 100 ms.
    fn run_of(step_ms: u64, counters: Counters) -> Run {
        Run {
            tokens: (0..4)
                .map(|n| (n, Duration::from_millis(100 + u64::from(n) * step_ms)))
                .collect(),
            counters,
        }
    }

    fn written(arguments: &[&str]) -> String {
        let options = options(arguments);
        let runs = [10, 20].map(|step_ms| run_of(step_ms, Counters::default()));
        let mut text = Vec::new();
        for (index, one) in runs.iter().enumerate() {
            super::run(&options, index, one, &mut text).unwrap();
        }
        rates(&options, &runs, &mut text).unwrap();
        ids(&runs, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn written_of_device(launch: Launch, fallback: Option<&str>) -> String {
        let counters = Counters {
            captures: 1,
            replays: 62,
            segments: 1,
            syncs: 64,
            allocations: 3,
            h2d_calls: 2,
            h2d_bytes: 8,
            d2h_calls: 64,
            d2h_bytes: 256,
            ..Counters::default()
        };
        let total = Counters {
            captures: 3,
            replays: 186,
            ..counters
        };
        let mut text = Vec::new();
        let runs = [10, 20].map(|step_ms| run_of(step_ms, counters));
        device(launch, &runs, total, fallback, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn the_place_is_in_the_header() {
        for (backend, place) in [("cpu", "ep=Cpu"), ("cuda", "ep=Cuda")] {
            let mut text = Vec::new();
            header(&options(&["--backend", backend]), &mut text).unwrap();
            let wanted = format!("profile_native: model=tiny {place} backend=native");
            let text = String::from_utf8(text).unwrap();
            assert_eq!(text.lines().last(), Some(wanted.as_str()));
        }
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

    #[test]
    fn lines_of_a_gpu_tell_all_that_it_did_from_what_it_did_in_measured_runs() {
        let text = written_of_device(Launch::Captured, None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "cuda_graph: enabled=true captures=3 replays=186 fallbacks=0",
                "cuda_graph_measured: captures=2 replays=124 fallbacks=0",
                "device_measured: syncs=128 allocations=6 h2d_calls=4 h2d_bytes=16 d2h_calls=128 d2h_bytes=512",
            ]
        );
    }

    #[test]
    fn a_reason_not_to_capture_has_a_line_of_its_own() {
        let text = written_of_device(Launch::Persistent, Some("not captured: 1: not warmed"));
        assert!(text.starts_with("cuda_graph: enabled=false "), "{text}");
        assert_eq!(
            text.lines().last(),
            Some("cuda_graph_fallback_reason: not captured: 1: not warmed")
        );
    }
}
