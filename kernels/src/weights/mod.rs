//! Weights of a model: named tensors as a file stores them, and what the file says about them.
//!
//! [`Weights::open`] reads GGUF and safetensors. A file is hostile until it is read: every count, length and offset is
//! compared with the bytes that are there before anything is allocated for it, so that reading takes a small multiple
//! of the header, whatever it says, and ends with weights or with a sentence. Nothing is converted while reading; a [`View`] dequantises what is asked for.

mod error;
mod file;
mod gguf;
mod metadata;
pub(crate) mod quant;
mod safetensors;
mod storage;
mod write;

pub use error::{Fault, Format, LONGEST, OpenError, WeightsError};
pub use metadata::{KindError, List, Metadata, Value};
pub use quant::BLOCK;
pub use storage::Storage;
pub use write::GgufWriter;

use crate::digest::sha256;
use crate::dtype::Element;
use crate::error::OpError;
use crate::tensor::Tensor;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// The tensors of a file, by name, and its metadata.
pub struct Weights {
    format: Format,
    bytes: Vec<u8>,
    contents: Contents,
}

/// What a reader found.
struct Contents {
    tensors: BTreeMap<String, Place>,
    metadata: Metadata,
}

/// Where a tensor is. The range lies within the file and is as long as shape and storage say.
struct Place {
    shape: Vec<usize>,
    storage: Storage,
    range: Range<usize>,
}

impl Weights {
    /// Reads a file into memory, as a whole.
    ///
    /// # Errors
    /// Whatever [`Weights::from_bytes`] refuses, and a path that is no file or cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref();
        file::read(path)
            .and_then(Self::from_bytes)
            .map_err(|source| OpenError {
                path: path.to_owned(),
                source,
            })
    }

    /// Takes the content of a file.
    ///
    /// # Errors
    /// [`WeightsError::Unrecognised`] if it begins like neither format, [`WeightsError::Malformed`] if it contradicts
    /// the one that it begins like or has tensors of types that are not read here.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, WeightsError> {
        let (format, contents) = if bytes.starts_with(gguf::MAGIC) {
            (Format::Gguf, gguf::read(&bytes)?)
        } else if safetensors::begins_like(&bytes) {
            (Format::Safetensors, safetensors::read(&bytes)?)
        } else {
            let found = file::guess(&bytes);
            return Err(WeightsError::Unrecognised { found });
        };
        Ok(Self {
            format,
            bytes,
            contents,
        })
    }

    /// The format of the file. The formats name the tensors of one model differently.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The tensor of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<View<'_>> {
        let place = self.contents.tensors.get(name)?;
        Some(View {
            shape: &place.shape,
            storage: place.storage,
            bytes: self.bytes.get(place.range.clone())?,
        })
    }

    /// Names of the tensors, sorted.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.contents.tensors.keys().map(String::as_str)
    }

    /// What the file says about itself.
    #[must_use]
    pub const fn metadata(&self) -> &Metadata {
        &self.contents.metadata
    }

    /// The file, byte for byte.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// SHA-256 of the file, 64 lower-case hexadecimal digits: two runs of one digest had the same weights. Computed on
    /// every call.
    #[must_use]
    pub fn sha256(&self) -> String {
        sha256(&self.bytes)
    }
}

impl std::fmt::Debug for Weights {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Weights")
            .field("format", &self.format)
            .field("bytes", &self.bytes.len())
            .field("tensors", &self.contents.tensors.len())
            .finish_non_exhaustive()
    }
}

/// A tensor as it is stored. Rows are along the last axis, which is the nearest in memory; a tensor without axes is one
/// row of one number.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    shape: &'a [usize],
    storage: Storage,
    bytes: &'a [u8],
}

impl<'a> View<'a> {
    /// Lengths of the axes, nearest last. Their product is less than 2^64, and that of all but the last as well.
    #[must_use]
    pub const fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// How the numbers are stored.
    #[must_use]
    pub const fn storage(&self) -> Storage {
        self.storage
    }

    /// The numbers as they are stored, row after row; of no particular alignment.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Numbers in a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.shape.last().copied().unwrap_or(1)
    }

    /// Number of rows; those of an empty tensor may be any number.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.shape
            .split_last()
            .map_or(1, |(_, others)| others.iter().product())
    }

    /// Numbers in all.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Writes all numbers, dequantised.
    ///
    /// # Errors
    /// [`OpError::Shape`] if `out` is not as long as the tensor.
    pub fn to_f32(&self, out: &mut [f32]) -> Result<(), OpError> {
        OpError::unless_shape("weights", "output", &[self.len()], &[out.len()])?;
        quant::widen(self.storage, self.bytes, out);
        Ok(())
    }

    /// Writes one row, dequantised.
    ///
    /// # Errors
    /// [`OpError::Range`] if there is no such row, [`OpError::Shape`] if `out` is not as long as a row.
    pub fn row_to_f32(&self, row: usize, out: &mut [f32]) -> Result<(), OpError> {
        let bytes = self.row(row)?;
        OpError::unless_shape("weights", "output", &[self.width()], &[out.len()])?;
        quant::widen(self.storage, bytes, out);
        Ok(())
    }

    /// Sum of the products of one row and `other`; 0 of empty ones. Products and sums are rounded to `f32` one by one,
    /// in an order that is the same for every storage: lane `j` of 32 adds numbers `j`, `j + 32`, ..., then the upper
    /// half of the lanes is added to the lower one until one is left.
    ///
    /// # Errors
    /// [`OpError::Range`] if there is no such row, [`OpError::Shape`] if `other` is not as long as a row.
    pub fn dot(&self, row: usize, other: &[f32]) -> Result<f32, OpError> {
        let bytes = self.row(row)?;
        OpError::unless_shape("weights", "other", &[self.width()], &[other.len()])?;
        Ok(quant::dot(self.storage, bytes, other))
    }

    /// A tensor of the same shape and numbers, rounded to `T` once.
    #[must_use]
    pub fn tensor<T: Element>(&self) -> Tensor<T> {
        // Numbers that are in between as `f32`: few enough for the nearest cache.
        const PIECE: usize = 32 * BLOCK;
        let mut tensor = Tensor::zeros(self.shape);
        let mut wide = [0.0; PIECE];
        let piece_bytes = PIECE / self.storage.block() * self.storage.block_bytes();
        for (bytes, out) in self
            .bytes
            .chunks(piece_bytes)
            .zip(tensor.data_mut().chunks_mut(PIECE))
        {
            let wide = &mut wide[..out.len()];
            quant::widen(self.storage, bytes, wide);
            T::narrow(wide, out);
        }
        tensor
    }

    /// Bytes of a row.
    fn row(&self, row: usize) -> Result<&'a [u8], OpError> {
        let missing = OpError::Range {
            op: "weights",
            what: "row",
            found: row,
            limit: self.rows(),
        };
        if row >= self.rows() {
            return Err(missing);
        }
        let bytes = self.width() / self.storage.block() * self.storage.block_bytes();
        // No overflow: the row is one of those that make up the tensor, or empty.
        self.bytes.get(row * bytes..(row + 1) * bytes).ok_or(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn singles(numbers: &[f32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// A matrix of two rows in Q4_0, with scales one and minus two.
    fn small() -> Weights {
        let mut blocks = vec![0x00, 0x3c];
        blocks.extend([0x98; 16]);
        blocks.extend([0x00, 0xc0]);
        blocks.extend([0x7a; 16]);
        let file = GgufWriter::new()
            .value("general.architecture", &Value::Text("llama".into()))
            .tensor("w", &[2, 32], Storage::Q4_0, &blocks)
            .tensor("bias", &[3], Storage::F32, &singles(&[1.0, -2.0, 0.1]))
            .tensor("none", &[4, 0], Storage::F32, &[])
            .tensor("one", &[], Storage::F32, &singles(&[7.0]))
            .finish();
        Weights::from_bytes(file).unwrap()
    }

    #[test]
    fn tensors_are_found_by_name_with_their_shape_nearest_axis_last() {
        let weights = small();
        assert_eq!(weights.format(), Format::Gguf);
        assert_eq!(weights.names().collect::<Vec<_>>(), ["bias", "none", "one", "w"]);
        let view = weights.get("w").unwrap();
        assert_eq!(view.shape(), [2, 32]);
        assert_eq!((view.width(), view.rows(), view.len()), (32, 2, 64));
        assert_eq!(view.bytes().len(), 36);
        assert!(weights.get("v").is_none());
        assert_eq!(weights.metadata().text("general.architecture"), Ok(Some("llama")));
    }

    #[test]
    fn rows_and_the_whole_are_the_same_numbers() {
        let weights = small();
        let view = weights.get("w").unwrap();
        let wanted: Vec<f32> = [[0.0; 16], [1.0; 16], [-4.0; 16], [2.0; 16]].concat();
        let mut all = vec![0.0; 64];
        view.to_f32(&mut all).unwrap();
        assert_eq!(all, wanted);
        let mut row = vec![0.0; 32];
        view.row_to_f32(1, &mut row).unwrap();
        assert_eq!(row, wanted[32..]);
        assert_eq!(view.tensor::<f32>().data(), wanted);
        assert_eq!(view.tensor::<half::f16>().widened().data(), wanted);
        assert_eq!(view.dot(1, &[1.0; 32]).unwrap().to_bits(), (-32.0_f32).to_bits());
    }

    #[test]
    fn an_empty_tensor_and_one_without_axes_are_read_like_any_other() {
        let weights = small();
        let none = weights.get("none").unwrap();
        assert!(none.is_empty() && none.rows() == 4);
        none.to_f32(&mut []).unwrap();
        none.row_to_f32(3, &mut []).unwrap();
        assert_eq!(none.dot(0, &[]).unwrap().to_bits(), 0.0_f32.to_bits());
        assert_eq!(none.tensor::<f32>().shape(), [4, 0]);
        let one = weights.get("one").unwrap();
        assert_eq!((one.width(), one.rows(), one.len()), (1, 1, 1));
        assert_eq!(one.dot(0, &[2.0]).unwrap().to_bits(), 14.0_f32.to_bits());
    }

    #[test]
    fn lengths_that_do_not_fit_are_refused_and_so_is_a_row_that_is_not_there() {
        let weights = small();
        let view = weights.get("w").unwrap();
        assert!(view.to_f32(&mut [0.0; 63]).is_err());
        assert!(view.row_to_f32(0, &mut [0.0; 31]).is_err());
        assert!(view.dot(0, &[0.0; 33]).is_err());
        let refused = view.dot(2, &[0.0; 32]).unwrap_err();
        assert_eq!(refused.to_string(), "weights: row is 2, and must be below 2");
        assert!(view.dot(usize::MAX, &[0.0; 32]).is_err());
    }

    #[test]
    fn a_tensor_of_many_pieces_is_converted_to_its_last_number() {
        let numbers: Vec<f32> = (0_u16..2500).map(f32::from).collect();
        let file = GgufWriter::new().tensor("w", &[5, 500], Storage::F32, &singles(&numbers));
        let weights = Weights::from_bytes(file.finish()).unwrap();
        let tensor = weights.get("w").unwrap().tensor::<f32>();
        assert_eq!((tensor.shape(), tensor.data()), (&[5, 500][..], &numbers[..]));
    }

    #[test]
    fn the_digest_is_that_of_the_file() {
        let weights = Weights::from_bytes(b"\x02\0\0\0\0\0\0\0{}".to_vec()).unwrap();
        assert_eq!(weights.format(), Format::Safetensors);
        // printf '\x02\0\0\0\0\0\0\0{}' | sha256sum
        assert_eq!(
            weights.sha256(),
            "411a485216e432ece6b9af94fa32154cf79a2a56d4f81266baa50063f45092bd"
        );
    }

    #[test]
    fn a_file_is_opened_by_its_content_whatever_its_name() {
        let mut file = tempfile::NamedTempFile::with_suffix(".txt").unwrap();
        file.write_all(small().bytes()).unwrap();
        let weights = Weights::open(file.path()).unwrap();
        assert_eq!(weights.names().len(), 4);
        assert_eq!(weights.bytes(), small().bytes());
    }

    #[test]
    fn what_is_no_file_of_weights_is_refused_with_a_sentence_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let missing = Weights::open(folder.path().join("absent.gguf")).unwrap_err();
        assert!(
            missing.to_string().contains("absent.gguf\": cannot be read: "),
            "{missing}"
        );
        let refused = Weights::open(folder.path()).unwrap_err();
        assert!(
            refused
                .to_string()
                .ends_with("is a folder; name the file of the weights itself")
        );
        let empty = tempfile::NamedTempFile::new().unwrap();
        let refused = Weights::open(empty.path()).unwrap_err();
        assert!(
            refused
                .to_string()
                .ends_with("neither GGUF nor safetensors, but empty"),
            "{refused}"
        );
    }
}
