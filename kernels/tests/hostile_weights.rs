//! Files of weights, damaged on purpose: whatever their bytes are, reading them ends with weights or with one line.
//!
//! The damage is the same in every run. How much a reader allocates is not measured, as an allocator of one's own is
//! unsafe; that what it returns lies within the file, and that no count is believed, is.

#![expect(
    clippy::unwrap_used,
    reason = "a file that cannot be read on must stop its test"
)]

use kernels::weights::{Format, GgufWriter, List, Storage, Value, Weights};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

/// Numbers that a length, a count or an offset would rather not be.
const NUMBERS: [u64; 12] = [
    0,
    1,
    0x7f,
    u16::MAX as u64,
    i32::MAX as u64,
    u32::MAX as u64,
    1 << 32,
    (1 << 61) - 8,
    1 << 61,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
];

/// Pieces of a header in JSON that change what it means.
const PIECES: [&str; 16] = [
    "18446744073709551615",
    "9223372036854775808",
    "-1",
    "1e999",
    "null",
    "\"F64\"",
    "\"F16\"",
    "[",
    "]",
    "{",
    "}",
    ",",
    "\"",
    "\\u0000",
    "\"a\":",
    "\"__metadata__\":{},",
];

/// How often each file is damaged at random: with the systematic damage, this takes about two seconds.
const ROUNDS: u64 = if cfg!(debug_assertions) { 20_000 } else { 800_000 };

/// A GGUF file with every storage and every kind of value.
fn gguf() -> Vec<u8> {
    let texts = ["<s>", "", "grün"].map(str::to_owned).to_vec();
    GgufWriter::new()
        .alignment(8)
        .value("general.architecture", &Value::Text("llama".into()))
        .value("blocks", &Value::Unsigned(30))
        .value("shift", &Value::Signed(-3))
        .value("epsilon", &Value::Float(1e-5))
        .value("tied", &Value::Flag(true))
        .value("tokens", &Value::List(List::Text(texts)))
        .value("scores", &Value::List(List::Float(vec![0.5, -1.0])))
        .value(
            "lists",
            &Value::List(List::List(vec![List::Unsigned(vec![1, 2])])),
        )
        .raw_value("bytes", 9, &[0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 7, 8, 9])
        .tensor("a", &[2, 3], Storage::F32, &[0x3f; 24])
        .tensor("b", &[2, 1, 2], Storage::F16, &[0x3c; 8])
        .tensor("c", &[3], Storage::Bf16, &[0x3f; 6])
        .tensor("d", &[1, 32], Storage::Q8_0, &[0x21; 34])
        .tensor("e", &[2, 32], Storage::Q4_0, &[0x21; 36])
        .tensor("f", &[32], Storage::Q4_1, &[0x21; 20])
        .tensor("none", &[4, 0], Storage::F32, &[])
        .finish()
}

/// A safetensors file with every storage, as the reference writes it, and the length of its data.
fn safe() -> (Vec<u8>, usize) {
    let data = [0x3c; 42];
    let tensor = |dtype, shape: &[usize], bytes| TensorView::new(dtype, shape.to_vec(), bytes).unwrap();
    let tensors = [
        ("single", tensor(Dtype::F32, &[2, 3], &data[..24])),
        ("half", tensor(Dtype::F16, &[2, 2, 1], &data[24..32])),
        ("brain", tensor(Dtype::BF16, &[5], &data[32..42])),
        ("none", tensor(Dtype::F32, &[0, 7], &[])),
    ];
    let about = [("format".to_owned(), "pt".to_owned())].into();
    (safetensors::serialize(tensors, Some(about)).unwrap(), data.len())
}

/// How often files were taken and refused.
#[derive(Debug, Default)]
struct Tally {
    taken: u32,
    refused: u32,
}

impl Tally {
    /// Reads a file, and everything that it gives.
    fn read(&mut self, file: Vec<u8>, damage: impl std::fmt::Display) {
        let bytes = file.clone();
        let Ok(result) = std::panic::catch_unwind(move || Weights::from_bytes(bytes)) else {
            panic!("{damage}: the reader panicked");
        };
        match result {
            Ok(weights) => {
                self.taken += 1;
                whole(&weights);
                if weights.format() == Format::Safetensors {
                    same_as_reference(&weights);
                }
            }
            Err(refusal) => {
                self.refused += 1;
                let line = refusal.to_string();
                assert!(!line.is_empty() && line.len() < 2000, "{damage}: {line}");
                assert!(!line.chars().any(char::is_control), "{damage}: {line:?}");
            }
        }
    }

    /// Both must have happened, or the damage was none, or nothing else.
    fn assert_both(&self) {
        assert!(self.taken > 100 && self.refused > 100, "{self:?}");
    }
}

/// Every tensor can be read, and together they are no more than the file.
fn whole(weights: &Weights) {
    let mut bytes = 0;
    for name in weights.names() {
        let view = weights.get(name).unwrap();
        bytes += view.bytes().len();
        assert_eq!(
            view.storage().bytes(view.len()),
            Some(view.bytes().len()),
            "{name}"
        );
        let mut numbers = vec![0.0; view.len()];
        view.to_f32(&mut numbers).unwrap();
        if view.rows() > 0 {
            let row = vec![1.0; view.width()];
            view.dot(view.rows() - 1, &row).unwrap();
        }
        assert_eq!(view.tensor::<half::bf16>().data().len(), numbers.len());
    }
    assert!(bytes <= weights.bytes().len());
    // Every item of a list has taken at least a byte.
    let items = |value: &Value| match value {
        Value::List(List::Unsigned(items)) => items.capacity(),
        Value::List(List::Signed(items)) => items.capacity(),
        Value::List(List::Float(items)) => items.capacity(),
        Value::List(List::Flag(items)) => items.capacity(),
        Value::List(List::Text(items)) => items.capacity(),
        Value::List(List::List(items)) => items.capacity(),
        _ => 0,
    };
    let items: usize = weights.metadata().iter().map(|(_, value)| items(value)).sum();
    assert!(items <= weights.bytes().len());
}

/// What this reader takes, the reference takes, and sees the same tensors.
fn same_as_reference(weights: &Weights) {
    let reference = SafeTensors::deserialize(weights.bytes()).unwrap();
    assert_eq!(reference.len(), weights.names().len());
    for (name, tensor) in reference.iter() {
        let view = weights.get(name).unwrap();
        assert_eq!((view.shape(), view.bytes()), (tensor.shape(), tensor.data()));
        assert_eq!(view.storage().name(), tensor.dtype().to_string());
    }
}

/// Damages a file in up to four places.
fn damaged(file: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..random.random_range(1..=4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.random_range(0..bytes.len());
        let end = bytes.len().min(at + random.random_range(1..=64));
        match random.random_range(0..9) {
            0 | 1 => bytes[at] ^= 1 << random.random_range(0..8),
            2 => bytes[at] = random.random(),
            3 => bytes.truncate(at),
            4 => overwrite(
                &mut bytes,
                at,
                &NUMBERS[random.random_range(0..NUMBERS.len())].to_le_bytes(),
            ),
            5 => overwrite(
                &mut bytes,
                at,
                &NUMBERS[random.random_range(0..NUMBERS.len())].to_le_bytes()[..4],
            ),
            6 => drop(bytes.drain(at..end)),
            // A piece of the file once more: names, entries, lengths.
            7 => {
                let piece = bytes[at..end].to_vec();
                let to = random.random_range(0..=bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => {
                let piece = PIECES[random.random_range(0..PIECES.len())];
                let end = bytes.len().min(at + random.random_range(0..4));
                bytes.splice(at..end, piece.bytes());
            }
        }
    }
    bytes
}

fn overwrite(bytes: &mut [u8], at: usize, with: &[u8]) {
    for (place, byte) in bytes[at..].iter_mut().zip(with) {
        *place = *byte;
    }
}

/// One bit, one length, one end: each place of the file in turn.
fn damage_each_place(file: &[u8], tally: &mut Tally) {
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut bytes = file.to_vec();
            bytes[at] ^= 1 << bit;
            tally.read(bytes, format_args!("bit {bit} of byte {at}"));
        }
        for number in NUMBERS {
            let mut bytes = file.to_vec();
            overwrite(&mut bytes, at, &number.to_le_bytes());
            tally.read(bytes, format_args!("{number} at byte {at}"));
        }
        tally.read(file[..at].to_vec(), format_args!("cut at byte {at}"));
    }
}

#[test]
fn a_gguf_file_with_damage_in_one_place_is_read_or_refused() {
    let mut tally = Tally::default();
    damage_each_place(&gguf(), &mut tally);
    tally.assert_both();
}

#[test]
fn a_gguf_file_with_random_damage_is_read_or_refused() {
    let (file, mut tally) = (gguf(), Tally::default());
    for seed in 0..ROUNDS {
        let bytes = damaged(&file, &mut ChaCha8Rng::seed_from_u64(seed));
        tally.read(bytes, format_args!("seed {seed}"));
    }
    tally.assert_both();
}

#[test]
fn a_safetensors_file_with_damage_in_one_place_is_read_or_refused() {
    let mut tally = Tally::default();
    damage_each_place(&safe().0, &mut tally);
    tally.assert_both();
}

#[test]
fn a_safetensors_file_with_random_damage_is_read_or_refused() {
    let ((file, data), mut tally) = (safe(), Tally::default());
    for seed in 0..ROUNDS {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut bytes = damaged(&file, &mut random);
        // Half of them say where their header ends, as far as it is still there: what is in it matters then.
        if let Some(header) = bytes.len().checked_sub(8 + data)
            && random.random_bool(0.5)
        {
            bytes[..8].copy_from_slice(&(header as u64).to_le_bytes());
        }
        tally.read(bytes, format_args!("seed {seed}"));
    }
    tally.assert_both();
}

#[test]
fn the_files_that_are_damaged_are_sound() {
    let mut tally = Tally::default();
    tally.read(gguf(), "GGUF");
    tally.read(safe().0, "safetensors");
    assert_eq!((tally.taken, tally.refused), (2, 0));
}
