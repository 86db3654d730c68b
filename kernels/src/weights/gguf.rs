//! Reader for GGUF, versions 2 and 3, little-endian.
//!
//! The layout is that of `docs/gguf.md` of ggml, and so are the limits: up to four axes, alignments up to 2^20. Unlike
//! ggml, this reads lists within lists (the layout allows them; four deep), and tensors in any order, with any space
//! between them and with names of any length. Bytes between tensors and after them are not looked at.

mod cursor;
mod value;

use super::error::{Fault, Format, WeightsError, duplicate, short};
use super::metadata::{Metadata, Value};
use super::storage::Storage;
use super::{Contents, Place};
use cursor::Cursor;
use std::collections::{BTreeMap, BTreeSet};

/// How every file begins.
pub(super) const MAGIC: &[u8; 4] = b"GGUF";

/// The key that says what the beginning of a tensor is a multiple of, in bytes.
const ALIGNMENT: &str = "general.alignment";
const DEFAULT_ALIGNMENT: usize = 32;
const LARGEST_ALIGNMENT: u64 = 1 << 20;

/// The most axes of a tensor.
const AXES: u32 = 4;

/// The shortest a tensor's description can be: length of a name without letters, number of axes, type, offset.
const LEAST_TENSOR: usize = 8 + 4 + 4 + 8;

/// The shortest a key with its value can be: length of a key without letters, type, one byte.
const LEAST_PAIR: usize = 8 + 4 + 1;

/// Reads a file that begins with [`MAGIC`].
pub(super) fn read(bytes: &[u8]) -> Result<Contents, WeightsError> {
    let mut cursor = Cursor::after(bytes, MAGIC.len());
    version(&mut cursor)?;
    let tensors = cursor.count("tensors", LEAST_TENSOR)?;
    let pairs = cursor.count("pairs of metadata", LEAST_PAIR)?;
    let (metadata, alignment) = metadata(&mut cursor, pairs)?;
    let mut described = Vec::new();
    let mut names = BTreeSet::new();
    for _ in 0..tensors {
        let at = cursor.at();
        let tensor = tensor(&mut cursor, alignment)?;
        if !names.insert(tensor.name) {
            return Err(refusal(at, duplicate("tensor", tensor.name)));
        }
        described.push(tensor);
    }
    // No overflow: memory is shorter than usize::MAX by far more than an alignment.
    let data = cursor.at().next_multiple_of(alignment);
    let tensors = placed(described, data, bytes.len().saturating_sub(data))?;
    Ok(Contents { tensors, metadata })
}

fn version(cursor: &mut Cursor<'_>) -> Result<(), WeightsError> {
    let at = cursor.at();
    match cursor.u32("the version")? {
        2 | 3 => Ok(()),
        // A small number whose bytes are turned round; ggml tells it in the same way.
        found if found != 0 && found.trailing_zeros() >= 16 => Err(refusal(at, Fault::BigEndian)),
        found => Err(refusal(at, Fault::Version { found })),
    }
}

/// So many keys with their values, and the alignment that they ask for.
fn metadata(cursor: &mut Cursor<'_>, pairs: usize) -> Result<(Metadata, usize), WeightsError> {
    let mut metadata = Metadata::default();
    let mut alignment = DEFAULT_ALIGNMENT;
    for _ in 0..pairs {
        let key_at = cursor.at();
        let key = cursor.text("a key")?;
        let value_at = cursor.at();
        let value = value::read(cursor, key)?;
        if key == ALIGNMENT {
            alignment = aligned(&value).map_err(|fault| refusal(value_at, fault))?;
        }
        if !metadata.add(key, value) {
            return Err(refusal(key_at, duplicate("metadata key", key)));
        }
    }
    Ok((metadata, alignment))
}

/// The value of [`ALIGNMENT`].
fn aligned(value: &Value) -> Result<usize, Fault> {
    let found = match value {
        Value::Unsigned(number) if number.is_power_of_two() && *number <= LARGEST_ALIGNMENT => {
            return Ok(1 << number.trailing_zeros());
        }
        Value::Unsigned(number) => number.to_string(),
        other => other.kind().to_owned(),
    };
    Err(Fault::Alignment {
        found,
        limit: LARGEST_ALIGNMENT,
    })
}

/// A tensor whose place is not compared with the file and the other tensors yet.
struct Described<'a> {
    /// Where its offset is written.
    at: usize,
    name: &'a str,
    shape: Vec<usize>,
    storage: Storage,
    /// Length.
    bytes: usize,
    /// From the start of the data.
    offset: u64,
}

fn tensor<'a>(cursor: &mut Cursor<'a>, alignment: usize) -> Result<Described<'a>, WeightsError> {
    let name = cursor.text("a tensor's name")?;
    let rank_at = cursor.at();
    let rank = cursor.u32("the number of a tensor's axes")?;
    if rank > AXES {
        let fault = Fault::Rank {
            tensor: short(name),
            rank,
            limit: AXES,
        };
        return Err(refusal(rank_at, fault));
    }
    let shape_at = cursor.at();
    let mut axes = Vec::new();
    for _ in 0..rank {
        axes.push(cursor.u64("a tensor's axis")?);
    }
    // ggml names the nearest axis first.
    axes.reverse();
    let type_at = cursor.at();
    let number = cursor.u32("a tensor's type")?;
    let Some(storage) = Storage::ALL
        .into_iter()
        .find(|storage| storage.number() == number)
    else {
        let fault = Fault::TensorType {
            tensor: short(name),
            found: type_name(number),
        };
        return Err(refusal(type_at, fault));
    };
    let (shape, bytes) = storage
        .measured(name, &axes)
        .map_err(|fault| refusal(shape_at, fault))?;
    let at = cursor.at();
    let offset = cursor.u64("a tensor's offset")?;
    if !offset.is_multiple_of(alignment as u64) {
        let fault = Fault::Misaligned {
            tensor: short(name),
            offset,
            alignment,
        };
        return Err(refusal(at, fault));
    }
    Ok(Described {
        at,
        name,
        shape,
        storage,
        bytes,
        offset,
    })
}

/// Places tensors of different names in the file, whose data begin at `data` and are `room` bytes long.
fn placed(
    mut described: Vec<Described<'_>>,
    data: usize,
    room: usize,
) -> Result<BTreeMap<String, Place>, WeightsError> {
    described.sort_by_key(|tensor| tensor.offset);
    let mut tensors = BTreeMap::new();
    // End and name of the last tensor that has bytes.
    let mut before: Option<(usize, &str)> = None;
    for tensor in described {
        let range = usize::try_from(tensor.offset)
            .ok()
            .and_then(|offset| Some(offset..offset.checked_add(tensor.bytes)?))
            .filter(|range| range.end <= room);
        let Some(range) = range else {
            let fault = Fault::Outside {
                tensor: short(tensor.name),
                offset: tensor.offset,
                bytes: tensor.bytes as u64,
                room,
            };
            return Err(refusal(tensor.at, fault));
        };
        // An empty tensor shares no bytes, wherever it is.
        if !range.is_empty() {
            if let Some((end, name)) = before
                && range.start < end
            {
                let fault = Fault::Overlap {
                    first: short(name),
                    second: short(tensor.name),
                };
                return Err(refusal(tensor.at, fault));
            }
            before = Some((range.end, tensor.name));
        }
        let place = Place {
            shape: tensor.shape,
            storage: tensor.storage,
            range: data + range.start..data + range.end,
        };
        tensors.insert(tensor.name.to_owned(), place);
    }
    Ok(tensors)
}

/// A type of `enum ggml_type` that is not read, with the name that ggml has for it.
fn type_name(number: u32) -> String {
    let name = match number {
        6 => "Q5_0",
        7 => "Q5_1",
        9 => "Q8_1",
        10 => "Q2_K",
        11 => "Q3_K",
        12 => "Q4_K",
        13 => "Q5_K",
        14 => "Q6_K",
        15 => "Q8_K",
        16..=23 | 29 => "one of the IQ types",
        24 => "I8",
        25 => "I16",
        26 => "I32",
        27 => "I64",
        28 => "F64",
        34 | 35 => "one of the ternary types",
        39 => "MXFP4",
        _ => return format!("type {number}, which is not known"),
    };
    format!("type {number}, {name}")
}

fn refusal(at: usize, fault: Fault) -> WeightsError {
    WeightsError::Malformed {
        format: Format::Gguf,
        at,
        fault,
    }
}

#[cfg(test)]
mod tests;
