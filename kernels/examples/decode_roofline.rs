//! How near decoding comes to what the memory of this GPU can do: the time in which a copy on the device would move as
//! many bytes as a step reads of weights, as a share of the time that a token takes, both measured in one run.
//!
//! ```text
//! cargo run --release -p kernels --example decode_roofline [shape] [f32|f16|bf16]
//! ```
//!
//! Without arguments `hybrid-1b` decodes in `bf16`; the numbers of a shape follow from its name. Steps are captured. Of
//! a step only the bytes of its weights are counted, without which there is no token; of a copy those that are read and
//! those that are written. The exit status is 2 where nothing was measured, except without a GPU.
#![expect(clippy::print_stdout, reason = "prints a table")]
#![expect(clippy::disallowed_methods, reason = "it keeps time")]

use kernels::DType;
use kernels::capture::Piece;
use kernels::device::{Availability, Device, DeviceError, PtxCache, probe};
use kernels::model::decoder::DecodeError;
use kernels::model::{DeviceDecoder, Launch, Parameters, Shape};
use std::process::ExitCode;
use std::time::Instant;

/// Tokens of each generation that are not timed: among them the step that warms the kernels and the one that is
/// recorded.
const SKIPPED: usize = 8;
/// Tokens that are timed, after those.
const TOKENS: usize = 64;
/// Timed generations, after an untimed one; the median counts.
const GENERATIONS: usize = 3;
/// What every generation begins with.
const PROMPT: [u32; 1] = [1];

/// Length of a copy.
const COPY: usize = 1 << 30;
/// Untimed copies before: they raise the clocks.
const WARMUPS: usize = 20;
/// Timed copies, of which the median counts.
const REPEATS: usize = 41;
/// Copies between two events: more than one, so that the distance of a launch does not count.
const BATCH: usize = 4;

/// What was measured.
struct Measured {
    /// Bytes that a copy reads and writes in a second.
    bandwidth: f64,
    /// Bytes of weights that a step reads.
    weights: usize,
    /// Milliseconds a token of each generation.
    milliseconds: Vec<f64>,
    /// How much of a step is recorded.
    segments: usize,
    seams: usize,
    /// Why it is not; absent if it is.
    fallback: Option<String>,
}

fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(1);
    let (shape, dtype) = match subject(arguments.map(|argument| argument.to_string_lossy().into_owned())) {
        Ok(subject) => subject,
        Err(refused) => {
            println!("{refused}");
            return ExitCode::from(2);
        }
    };
    match probe() {
        Availability::Available => {}
        other => {
            println!("skipped: {other}");
            return ExitCode::SUCCESS;
        }
    }
    match measured(&shape, dtype) {
        Ok(measured) => report(&measured),
        Err(error) => {
            println!("{error}");
            ExitCode::from(2)
        }
    }
}

/// What to decode with; a sentence for arguments that do not say.
fn subject(mut arguments: impl Iterator<Item = String>) -> Result<(Shape, DType), String> {
    let name = arguments.next().unwrap_or_else(|| "hybrid-1b".to_owned());
    let Some(shape) = Shape::named(&name) else {
        let names = Shape::NAMES.join(", ");
        return Err(format!("there is no shape {name:?}; there are {names}"));
    };
    let dtype = match arguments.next().as_deref() {
        Some("f32") => DType::F32,
        Some("f16") => DType::F16,
        Some("bf16") | None => DType::Bf16,
        Some(other) => return Err(format!("there is no type {other:?}; there are f32, f16, bf16")),
    };
    match arguments.next() {
        Some(other) => Err(format!(
            "{other:?} is one argument too many; give a shape and a type"
        )),
        None => Ok((shape, dtype)),
    }
}

fn measured(shape: &Shape, dtype: DType) -> Result<Measured, DecodeError> {
    let device = Device::open(PtxCache::none())?;
    let (major, minor) = device.capability();
    println!("{}, compute capability {major}.{minor}", device.name()?);
    println!("{} in {dtype}, captured", shape.name);
    // The prompt and all tokens but the last are fed.
    let positions = PROMPT.len() + SKIPPED + TOKENS - 1;
    let parameters = Parameters::seeded(shape, dtype);
    let mut decoder = DeviceDecoder::new(&device, &parameters, positions, Launch::Captured)?;
    drop(parameters);

    let bandwidth = 2.0 * COPY as f64 / copy(&device)?;
    generation(&mut decoder)?;
    let mut milliseconds = Vec::with_capacity(GENERATIONS);
    for _ in 0..GENERATIONS {
        milliseconds.push(1e3 * generation(&mut decoder)?);
    }
    let pieces = decoder.pieces();
    let segments = pieces
        .iter()
        .filter(|piece| matches!(piece, Piece::Segment { .. }))
        .count();
    Ok(Measured {
        bandwidth,
        weights: decoder.bytes_per_step(),
        milliseconds,
        segments,
        seams: pieces.len() - segments,
        fallback: decoder.fallback().map(str::to_owned),
    })
}

/// Seconds of one copy: the median of all batches. Events are read when everything is over, so that the host never
/// stands in the way.
fn copy(device: &Device) -> Result<f64, DeviceError> {
    let (from, into) = (device.buffer(COPY)?, device.buffer(COPY)?);
    from.fill(1)?;
    for _ in 0..WARMUPS {
        into.copy_from(&from)?;
    }
    device.wait()?;
    let mut events = vec![device.event()?];
    for _ in 0..REPEATS {
        for _ in 0..BATCH {
            into.copy_from(&from)?;
        }
        events.push(device.event()?);
    }
    let mut seconds = Vec::with_capacity(REPEATS);
    for pair in events.windows(2) {
        seconds.push(f64::from(pair[0].until(&pair[1])?) / 1e3 / BATCH as f64);
    }
    Ok(median(seconds))
}

/// Seconds a token, from the beginning of a text: the time from the last of the skipped tokens to the last of all.
fn generation(decoder: &mut DeviceDecoder) -> Result<f64, DecodeError> {
    decoder.reset()?;
    let mut known = Vec::with_capacity(SKIPPED + TOKENS);
    decoder.greedy(&PROMPT, SKIPPED + TOKENS, |_| known.push(Instant::now()))?;
    let window = known[SKIPPED + TOKENS - 1] - known[SKIPPED - 1];
    Ok(window.as_secs_f64() / TOKENS as f64)
}

fn report(measured: &Measured) -> ExitCode {
    for (index, milliseconds) in measured.milliseconds.iter().enumerate() {
        println!("generation {:<6} {milliseconds:>12.4} ms/token", index + 1);
    }
    if let Some(reason) = &measured.fallback {
        println!("the steps were not captured: {reason}");
        return ExitCode::from(2);
    }
    let milliseconds = median(measured.milliseconds.clone());
    let wanted = 1e3 * measured.weights as f64 / measured.bandwidth;
    let (segments, seams) = (measured.segments, measured.seams);
    println!("{:<17} {segments:>12} and {seams} seams", "segments");
    println!("{:<17} {:>12} bytes a step", "weights", measured.weights);
    println!(
        "{:<17} {:>12.1} GB/s, read and written",
        "copy",
        measured.bandwidth / 1e9
    );
    println!("{:<17} {wanted:>12.4} ms at the speed of the copy", "weights");
    println!("{:<17} {milliseconds:>12.4} ms", "median token");
    println!("{:<17} {:>12.3}", "share", wanted / milliseconds);
    println!(
        "median of {REPEATS} batches of {BATCH} copies of {COPY} bytes; {GENERATIONS} generations of {TOKENS} tokens \
         after {SKIPPED}, after one untimed"
    );
    ExitCode::SUCCESS
}

/// The middle one; the upper of two.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
