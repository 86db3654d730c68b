//! Writing GGUF: as much as tests and made-up models need, and files that are wrong on purpose.

use super::gguf::MAGIC;
use super::metadata::{List, Value};
use super::storage::Storage;

/// A GGUF file in the making, version 3 and little-endian. It checks nothing: what is given is written, so that wrong
/// files can be made as well.
///
/// ```
/// use kernels::weights::{GgufWriter, Storage, Value, Weights};
///
/// let file = GgufWriter::new()
///     .value("general.architecture", &Value::Text("llama".into()))
///     .tensor("token_embd.weight", &[2, 1], Storage::F32, &[0; 8])
///     .finish();
/// let weights = Weights::from_bytes(file)?;
/// assert_eq!(weights.get("token_embd.weight").map(|view| view.rows()), Some(2));
/// # Ok::<(), kernels::weights::WeightsError>(())
/// ```
#[derive(Debug, Clone)]
pub struct GgufWriter {
    version: u32,
    alignment: usize,
    pairs: u64,
    metadata: Vec<u8>,
    tensors: u64,
    infos: Vec<u8>,
    data: Vec<u8>,
}

impl Default for GgufWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl GgufWriter {
    /// A file without metadata and tensors, whose data is aligned to 32 bytes.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            version: 3,
            alignment: 32,
            pairs: 0,
            metadata: Vec::new(),
            tensors: 0,
            infos: Vec::new(),
            data: Vec::new(),
        }
    }

    /// Claims another version; the layout is the same in 2 and 3.
    #[must_use]
    pub fn version(mut self, version: u32) -> Self {
        self.version = version;
        self
    }

    /// Aligns the data, and each tensor that is added from now on, to so many bytes (0 counts as 1), and writes so.
    #[must_use]
    pub fn alignment(mut self, bytes: u32) -> Self {
        self.alignment = (bytes as usize).max(1);
        self.raw_value("general.alignment", 4, &bytes.to_le_bytes())
    }

    /// Adds a value: numbers as `u32`, `i32`, `f32` where they are the same then, else in 64 bits; those of lists
    /// always in 64 bits.
    #[must_use]
    pub fn value(self, key: &str, value: &Value) -> Self {
        let (number, bytes) = encoded(value);
        self.raw_value(key, number, &bytes)
    }

    /// Adds a value of the type that `number` stands for, already as bytes.
    #[must_use]
    pub fn raw_value(mut self, key: &str, number: u32, bytes: &[u8]) -> Self {
        self.pairs += 1;
        self.metadata.extend(text(key));
        self.metadata.extend(number.to_le_bytes());
        self.metadata.extend(bytes);
        self
    }

    /// Adds a tensor behind the others, nearest axis last. `bytes` are its numbers as `storage` stores them.
    #[must_use]
    pub fn tensor(mut self, name: &str, shape: &[usize], storage: Storage, bytes: &[u8]) -> Self {
        let offset = self.data.len().next_multiple_of(self.alignment);
        self.data.resize(offset, 0);
        self.data.extend(bytes);
        let axes: Vec<u64> = shape.iter().rev().map(|axis| *axis as u64).collect();
        self.raw_tensor(name, &axes, storage.number(), offset as u64)
    }

    /// Describes a tensor without adding data: axes in the order of GGUF, nearest first, the number that stands for its
    /// type, and its first byte from the start of the data.
    #[must_use]
    pub fn raw_tensor(mut self, name: &str, axes: &[u64], number: u32, offset: u64) -> Self {
        self.tensors += 1;
        self.infos.extend(text(name));
        // A file with more axes than a u32 counts would not fit into any memory.
        self.infos.extend((axes.len() as u32).to_le_bytes());
        self.infos.extend(axes.iter().flat_map(|axis| axis.to_le_bytes()));
        self.infos.extend(number.to_le_bytes());
        self.infos.extend(offset.to_le_bytes());
        self
    }

    /// The file.
    #[must_use]
    pub fn finish(&self) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend(self.version.to_le_bytes());
        file.extend(self.tensors.to_le_bytes());
        file.extend(self.pairs.to_le_bytes());
        file.extend(&self.metadata);
        file.extend(&self.infos);
        file.resize(file.len().next_multiple_of(self.alignment), 0);
        file.extend(&self.data);
        file
    }
}

/// Length and letters.
fn text(text: &str) -> Vec<u8> {
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text.as_bytes());
    bytes
}

/// Number of the type, and the value.
fn encoded(value: &Value) -> (u32, Vec<u8>) {
    match value {
        Value::Unsigned(number) => match u32::try_from(*number) {
            Ok(number) => (4, number.to_le_bytes().to_vec()),
            Err(_) => (10, number.to_le_bytes().to_vec()),
        },
        Value::Signed(number) => match i32::try_from(*number) {
            Ok(number) => (5, number.to_le_bytes().to_vec()),
            Err(_) => (11, number.to_le_bytes().to_vec()),
        },
        Value::Float(number) => {
            let single = *number as f32;
            if f64::from(single).to_bits() == number.to_bits() {
                (6, single.to_le_bytes().to_vec())
            } else {
                (12, number.to_le_bytes().to_vec())
            }
        }
        Value::Flag(flag) => (7, vec![u8::from(*flag)]),
        Value::Text(letters) => (8, text(letters)),
        Value::List(items) => (9, list(items)),
    }
}

/// Type of the items, their number, and the items.
fn list(items: &List) -> Vec<u8> {
    let (number, count, items): (u32, usize, Vec<u8>) = match items {
        List::Unsigned(items) => (
            10,
            items.len(),
            items.iter().flat_map(|item| item.to_le_bytes()).collect(),
        ),
        List::Signed(items) => (
            11,
            items.len(),
            items.iter().flat_map(|item| item.to_le_bytes()).collect(),
        ),
        List::Float(items) => (
            12,
            items.len(),
            items.iter().flat_map(|item| item.to_le_bytes()).collect(),
        ),
        List::Flag(items) => (7, items.len(), items.iter().map(|item| u8::from(*item)).collect()),
        List::Text(items) => (8, items.len(), items.iter().flat_map(|item| text(item)).collect()),
        List::List(items) => (9, items.len(), items.iter().flat_map(list).collect()),
    };
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.extend((count as u64).to_le_bytes());
    bytes.extend(items);
    bytes
}
