//! Files of other programs, damaged on purpose: whatever their bytes are, reading them ends with a profile that holds what
//! it promises, or with one line that says why not.
//!
//! The damage is the same in every run, and a failure names the file and the number with which it comes again.

use abreast::edge::format::{Written, read};
use abreast::metric::Unit;
use abreast::profile::{Format, Profile};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How often each file is damaged: two or three seconds for all of them.
const ROUNDS: u64 = if cfg!(debug_assertions) { 100 } else { 1_000 };

/// What a number, a text or a bracket would rather not be.
const PIECES: [&str; 24] = [
    "0",
    "-1",
    "2.5",
    "1e999",
    "-1e-999",
    "18446744073709551616",
    "4294967296",
    "NaN",
    "-Infinity",
    "null",
    "true",
    "\"\"",
    "\"0.5\"",
    "\"\\u0000\\u2028\"",
    "[",
    "]",
    "{",
    "}",
    ",",
    "\n",
    "\"",
    "\\",
    "'",
    "\u{feff}µ|",
];

/// Longest sentence about a file: two foreign texts of two hundred characters, and the words around them.
const LONGEST: usize = 1_000;

/// Every stored file, with what reads it.
fn files() -> Vec<(Format, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats");
    let mut files = Vec::new();
    for format in Format::ALL.into_iter().filter(|format| *format != Format::Wall) {
        let entries = std::fs::read_dir(folder.join(format.name())).expect("every format has fixtures");
        let paths = entries.map(|entry| entry.expect("it can be listed").path());
        files.extend(paths.filter(|path| path.is_file()).map(|path| (format, path)));
    }
    files.sort();
    files
}

/// The same bytes with something wrong with them.
fn damaged(bytes: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..rng.random_range(1..4) {
        if bytes.is_empty() {
            break;
        }
        let at = rng.random_range(0..bytes.len());
        let end = (at + rng.random_range(1..60)).min(bytes.len());
        let piece = PIECES[rng.random_range(0..PIECES.len())].as_bytes();
        match rng.random_range(0..7) {
            0 => bytes.truncate(at),
            1 => bytes[at] = rng.random(),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let again = bytes[at..end].to_vec();
                let to = rng.random_range(0..bytes.len());
                bytes.splice(to..to, again);
            }
            4 => drop(bytes.splice(at..at, piece.iter().copied())),
            // A whole token, so that what surrounds it stays as it should be.
            _ => {
                let in_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
                let length = bytes[at..].iter().take_while(|byte| in_token(byte)).count();
                bytes.splice(at..at + length, piece.iter().copied());
            }
        }
    }
    bytes
}

fn is_one_line(text: &str) -> bool {
    !text.chars().any(char::is_control) && text.chars().count() <= LONGEST
}

/// What every profile promises, whatever it was read from.
fn broken_promise(profile: &Profile) -> Option<String> {
    let ids: BTreeSet<&str> = profile
        .readings
        .iter()
        .map(|reading| reading.id.as_str())
        .collect();
    if ids.len() != profile.readings.len() || profile.readings.is_empty() {
        return Some(format!(
            "{} ids of {} readings",
            ids.len(),
            profile.readings.len()
        ));
    }
    for reading in &profile.readings {
        let may_be = |value: &f64| match reading.metric.unit {
            Unit::Count => value.is_finite() && *value >= 0.0,
            _ => value.is_finite() && *value > 0.0,
        };
        if reading.values.is_empty() || !reading.values.iter().all(may_be) {
            return Some(format!("{reading:?}"));
        }
    }
    for generation in &profile.generations {
        if generation.t_ns.windows(2).any(|pair| pair[1] < pair[0]) {
            return Some(format!("{generation:?}"));
        }
    }
    let ids = ids.into_iter().find(|id| !is_one_line(id)).map(str::to_owned);
    ids.or_else(|| profile.incidents.iter().find(|line| !is_one_line(line)).cloned())
}

#[test]
fn no_damage_makes_a_reader_panic_or_promise_what_is_not_so() {
    for (n, (format, path)) in (0_u64..).zip(files()) {
        let whole = std::fs::read(&path).expect("it can be read");
        for round in 0..ROUNDS {
            let mut rng = ChaCha8Rng::seed_from_u64(n << 32 | round);
            let bytes = damaged(&whole, &mut rng);
            let seed = rng.random();
            let beside = |name: &str| {
                let bytes = std::fs::read(path.with_file_name(name)).ok()?;
                Some(damaged(&bytes, &mut ChaCha8Rng::seed_from_u64(seed)))
            };
            let written = Written {
                bytes: &bytes,
                beside: &beside,
            };
            let wrong = match read(format, written) {
                Ok(profile) => broken_promise(&profile),
                Err(error) => Some(error.to_string()).filter(|line| !is_one_line(line)),
            };
            assert!(wrong.is_none(), "{}, round {round}: {wrong:?}", path.display());
        }
    }
}

#[test]
fn what_is_no_file_of_any_program_is_refused_in_one_line() {
    let hostile = [
        Vec::new(),
        vec![0; 100_000],
        vec![0xff; 10_000],
        b"[".repeat(100_000),
        b"{\"a\":".repeat(20_000),
        b"\"".repeat(100_000),
        b"|".repeat(100_000),
        b"INSERT INTO ".repeat(10_000),
        b"{}\n".repeat(50_000),
        b"[{}]".repeat(20_000),
        b"Benchmark".repeat(20_000),
    ];
    for format in Format::ALL {
        for bytes in &hostile {
            let written = Written {
                bytes,
                beside: &|_: &str| None,
            };
            let error = read(format, written)
                .expect_err("nothing was measured in it")
                .to_string();
            assert!(is_one_line(&error), "{}: {error}", format.name());
        }
    }
}
