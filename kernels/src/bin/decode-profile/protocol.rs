//! `abreast/decode/1`: JSON lines, one header, then for each run one line a token and one at its end.

use crate::engine::Engine;
use crate::options::{Options, ProfileError};
use crate::run::Run;
use crate::subject::Subject;
use kernels::device;
use kernels::digest::sha256;
use kernels::model::Launch;
use serde::Serialize;
use std::io::Write;

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line<'a> {
    Header {
        schema: &'static str,
        model: &'a str,
        /// `seeded`, or the digest of the file they are from.
        weights: &'a str,
        /// Of the first matrix; files of mixed types are mostly of this one.
        dtype: &'a str,
        /// Bytes of weights that one step reads.
        weight_bytes: usize,
        backend: &'static str,
        device: &'a str,
        /// How work reaches a GPU; absent on the CPU.
        launch: Option<&'static str>,
        threads: usize,
        prompt_tokens: usize,
        prompt_sha256: String,
        sampling: &'static str,
        tokens: u32,
        decode_skip: u32,
        warmups: u32,
        runs: u32,
    },
    Token {
        run: usize,
        index: usize,
        id: u32,
        t_ns: u64,
    },
    End {
        run: usize,
        stop: &'static str,
        prefix_hit_tokens: usize,
        counters: Counters,
        /// Why steps were not captured that were to be.
        #[serde(skip_serializing_if = "Option::is_none")]
        fallback: Option<&'a str>,
    },
}

/// What happened besides; a CPU has none of it.
#[derive(Serialize)]
struct Counters {
    captures: u64,
    replays: u64,
    fallbacks: u64,
    segments: u64,
    seams: u64,
    syncs: u64,
    allocations: u64,
    h2d_calls: u64,
    h2d_bytes: u64,
    d2h_calls: u64,
    d2h_bytes: u64,
}

impl From<device::Counters> for Counters {
    fn from(counted: device::Counters) -> Self {
        Self {
            captures: counted.captures,
            replays: counted.replays,
            fallbacks: counted.fallbacks,
            segments: counted.segments,
            seams: counted.seams,
            syncs: counted.syncs,
            allocations: counted.allocations,
            h2d_calls: counted.h2d_calls,
            h2d_bytes: counted.h2d_bytes,
            d2h_calls: counted.d2h_calls,
            d2h_bytes: counted.d2h_bytes,
        }
    }
}

pub(crate) fn header(
    options: &Options,
    subject: &Subject,
    engine: &Engine<'_>,
    prompt: &[u32],
    threads: usize,
    to: &mut dyn Write,
) -> Result<(), ProfileError> {
    let ids: Vec<u8> = prompt.iter().flat_map(|id| id.to_le_bytes()).collect();
    let line = Line::Header {
        schema: "abreast/decode/1",
        model: &subject.parameters.shape.name,
        weights: subject.sha256.as_deref().unwrap_or("seeded"),
        dtype: &engine.dtype,
        weight_bytes: engine.weight_bytes,
        backend: options.backend.name(),
        device: &engine.device,
        launch: options.launch().map(Launch::name),
        threads,
        prompt_tokens: prompt.len(),
        prompt_sha256: sha256(&ids),
        sampling: "greedy",
        tokens: options.tokens,
        decode_skip: options.decode_skip,
        warmups: options.warmups,
        runs: options.runs,
    };
    write(&line, to)
}

/// One run, after it is over: nothing is written while it is timed.
pub(crate) fn run(
    run: usize,
    of: &Run,
    fallback: Option<&str>,
    to: &mut dyn Write,
) -> Result<(), ProfileError> {
    for (index, (id, time)) in of.tokens.iter().enumerate() {
        let t_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        write(
            &Line::Token {
                run,
                index,
                id: *id,
                t_ns,
            },
            to,
        )?;
    }
    // An end-of-text token does not stop a generation: both sides decode as many.
    let end = Line::End {
        run,
        stop: "length",
        prefix_hit_tokens: 0,
        counters: of.counters.into(),
        fallback,
    };
    write(&end, to)
}

fn write(line: &Line<'_>, to: &mut dyn Write) -> Result<(), ProfileError> {
    let text = serde_json::to_string(line).map_err(std::io::Error::from)?;
    Ok(writeln!(to, "{text}")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_end_of_a_run_says_what_was_counted_in_it() {
        let of = Run {
            tokens: vec![(17, Duration::from_nanos(1843))],
            counters: device::Counters {
                captures: 1,
                replays: 62,
                fallbacks: 2,
                segments: 3,
                seams: 4,
                syncs: 64,
                allocations: 5,
                frees: 6,
                h2d_calls: 7,
                h2d_bytes: 28,
                d2h_calls: 65,
                d2h_bytes: 260,
            },
        };
        let mut text = Vec::new();
        run(1, &of, Some("not warmed"), &mut text).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            concat!(
                r#"{"event":"token","run":1,"index":0,"id":17,"t_ns":1843}"#,
                "\n",
                r#"{"event":"end","run":1,"stop":"length","prefix_hit_tokens":0,"counters":{"captures":1,"#,
                r#""replays":62,"fallbacks":2,"segments":3,"seams":4,"syncs":64,"allocations":5,"#,
                r#""h2d_calls":7,"h2d_bytes":28,"#,
                r#""d2h_calls":65,"d2h_bytes":260},"fallback":"not warmed"}"#,
                "\n"
            )
        );
    }
}
