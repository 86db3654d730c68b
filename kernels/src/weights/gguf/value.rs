//! The typed values of GGUF's metadata.

use super::cursor::Cursor;
use super::refusal;
use crate::weights::error::{Fault, WeightsError, short};
use crate::weights::metadata::{List, Value};

/// The deepest list: a list of lists is 2.
pub(super) const DEPTH: usize = 4;

/// What a value is, as its number says.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Of so many bytes.
    Unsigned(u8),
    /// Of so many bytes.
    Signed(u8),
    Single,
    Double,
    Flag,
    Text,
    List,
}

impl Kind {
    /// `enum gguf_type` of ggml.
    const fn of(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Unsigned(1),
            1 => Self::Signed(1),
            2 => Self::Unsigned(2),
            3 => Self::Signed(2),
            4 => Self::Unsigned(4),
            5 => Self::Signed(4),
            6 => Self::Single,
            7 => Self::Flag,
            8 => Self::Text,
            9 => Self::List,
            10 => Self::Unsigned(8),
            11 => Self::Signed(8),
            12 => Self::Double,
            _ => return None,
        })
    }

    fn read(cursor: &mut Cursor<'_>, key: &str) -> Result<Self, WeightsError> {
        let at = cursor.at();
        let number = cursor.u32("the type of a value")?;
        Self::of(number).ok_or_else(|| {
            let key = short(key);
            refusal(at, Fault::ValueType { key, number })
        })
    }

    /// The fewest bytes that such a value takes: of a text, its length; of a list, kind and count.
    const fn least(self) -> usize {
        match self {
            Self::Unsigned(bytes) | Self::Signed(bytes) => bytes as usize,
            Self::Flag => 1,
            Self::Single => 4,
            Self::Double | Self::Text => 8,
            Self::List => 12,
        }
    }
}

/// The value of a key: its kind, then itself.
pub(super) fn read(cursor: &mut Cursor<'_>, key: &str) -> Result<Value, WeightsError> {
    Ok(match Kind::read(cursor, key)? {
        Kind::Unsigned(bytes) => Value::Unsigned(cursor.unsigned(bytes)?),
        Kind::Signed(bytes) => Value::Signed(cursor.signed(bytes)?),
        Kind::Single => Value::Float(cursor.single()?),
        Kind::Double => Value::Float(cursor.double()?),
        Kind::Flag => Value::Flag(flag(cursor, key)?),
        Kind::Text => Value::Text(cursor.text("a text")?.to_owned()),
        Kind::List => Value::List(list(cursor, key, 1)?),
    })
}

/// A list, which is within `depth - 1` others: the kind of all items, their number, then themselves.
fn list(cursor: &mut Cursor<'_>, key: &str, depth: usize) -> Result<List, WeightsError> {
    if depth > DEPTH {
        let fault = Fault::Depth {
            key: short(key),
            limit: DEPTH,
        };
        return Err(refusal(cursor.at(), fault));
    }
    let kind = Kind::read(cursor, key)?;
    let count = cursor.count("items", kind.least())?;
    Ok(match kind {
        Kind::Unsigned(bytes) => List::Unsigned(items(count, || cursor.unsigned(bytes))?),
        Kind::Signed(bytes) => List::Signed(items(count, || cursor.signed(bytes))?),
        Kind::Single => List::Float(items(count, || cursor.single())?),
        Kind::Double => List::Float(items(count, || cursor.double())?),
        Kind::Flag => List::Flag(items(count, || flag(cursor, key))?),
        Kind::Text => List::Text(items(count, || Ok(cursor.text("a text")?.to_owned()))?),
        Kind::List => List::List(items(count, || list(cursor, key, depth + 1))?),
    })
}

/// So many items; the number was compared with the bytes that are left.
fn items<T>(count: usize, mut item: impl FnMut() -> Result<T, WeightsError>) -> Result<Vec<T>, WeightsError> {
    let mut items = Vec::with_capacity(count);
    for _ in 0..count {
        items.push(item()?);
    }
    Ok(items)
}

fn flag(cursor: &mut Cursor<'_>, key: &str) -> Result<bool, WeightsError> {
    let at = cursor.at();
    match cursor.u8("a truth value")? {
        0 => Ok(false),
        1 => Ok(true),
        found => {
            let key = short(key);
            Err(refusal(at, Fault::Flag { key, found }))
        }
    }
}
