//! `abreast/decode/1`: JSON lines, one header, then for each run one line a token and one at its end.

use crate::options::{Options, ProfileError};
use crate::run::Run;
use crate::subject::Subject;
use kernels::digest::sha256;
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
        dtype: String,
        /// Bytes of weights that one step reads.
        weight_bytes: usize,
        backend: &'static str,
        device: String,
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
    },
}

/// What happened besides; a CPU has none of it.
#[derive(Serialize, Default)]
struct Counters {
    captures: u64,
    replays: u64,
    fallbacks: u64,
    segments: u64,
    seams: u64,
    syncs: u64,
    allocations: u64,
}

pub(crate) fn header(
    options: &Options,
    subject: &Subject,
    prompt: &[u32],
    threads: usize,
    to: &mut dyn Write,
) -> Result<(), ProfileError> {
    let ids: Vec<u8> = prompt.iter().flat_map(|id| id.to_le_bytes()).collect();
    let line = Line::Header {
        schema: "abreast/decode/1",
        model: &subject.parameters.shape.name,
        weights: subject.sha256.as_deref().unwrap_or("seeded"),
        dtype: subject.parameters.layers[0].query.storage().name().to_lowercase(),
        weight_bytes: subject.parameters.bytes_per_step(),
        backend: options.backend.name(),
        device: "cpu".to_owned(),
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
pub(crate) fn run(run: usize, of: &Run, to: &mut dyn Write) -> Result<(), ProfileError> {
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
        counters: Counters::default(),
    };
    write(&end, to)
}

fn write(line: &Line<'_>, to: &mut dyn Write) -> Result<(), ProfileError> {
    let text = serde_json::to_string(line).map_err(std::io::Error::from)?;
    Ok(writeln!(to, "{text}")?)
}
