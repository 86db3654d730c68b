//! Why weights cannot be read.

use super::storage::Storage;
use std::path::PathBuf;

/// How a file of weights is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// The format of ggml and llama.cpp, versions 2 and 3, little-endian.
    Gguf,
    /// The format of Hugging Face.
    Safetensors,
}

impl std::fmt::Display for Format {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(match self {
            Self::Gguf => "GGUF",
            Self::Safetensors => "safetensors",
        })
    }
}

/// A file that gave no weights.
#[derive(Debug, thiserror::Error)]
#[error("weights {path:?}: {source}")]
pub struct OpenError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub source: WeightsError,
}

/// Why there are no weights. Every text is one line, whatever the file says.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// The operating system does not give the bytes.
    #[error("cannot be read: {0}")]
    Read(#[from] std::io::Error),
    /// There are no bytes to be read.
    #[error("is {found}; name the file of the weights itself")]
    NotAFile {
        /// What is there instead.
        found: &'static str,
    },
    /// Bytes of another kind.
    #[error("neither GGUF nor safetensors, but {found}")]
    Unrecognised {
        /// What they look like, and what to do then.
        found: &'static str,
    },
    /// Bytes that contradict their format.
    #[error("{format}, byte {at}: {fault}")]
    Malformed {
        /// The format.
        format: Format,
        /// Where in the file, counted from 0.
        at: usize,
        /// In what way.
        fault: Fault,
    },
}

/// In what way a file contradicts its format, or asks for what is not read here. Names are cut to
/// [`LONGEST`] characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Fewer bytes than were announced.
    #[error(
        "{what} takes {wanted} bytes and {left} are left; the file is cut short or damaged, fetch it again"
    )]
    Truncated {
        /// What was to be read.
        what: &'static str,
        /// Its length in bytes.
        wanted: u64,
        /// Bytes up to the end of the file.
        left: usize,
    },
    /// A version of GGUF that is not read.
    #[error("version {found} of the format; 2 and 3 can be read, convert the model anew")]
    Version {
        /// The version.
        found: u32,
    },
    /// A file for machines of the other byte order.
    #[error("numbers are written most significant byte first; convert the model to little-endian")]
    BigEndian,
    /// More than the rest of the file could hold.
    #[error("{count} {what} are announced, and the file has room for {room}; it is damaged, fetch it again")]
    Count {
        /// Of what.
        what: &'static str,
        /// How many the file says there are.
        count: u64,
        /// How many fit, each as short as it can be.
        room: usize,
    },
    /// Bytes that are no text.
    #[error("{what} is not UTF-8; the file is damaged, fetch it again")]
    Text {
        /// What was to be read.
        what: &'static str,
    },
    /// A metadata value of a type that GGUF does not have.
    #[error("metadata {key:?} is of type {number}; types 0 to 12 are known")]
    ValueType {
        /// Its key.
        key: String,
        /// The number that stands for the type.
        number: u32,
    },
    /// A truth value that is neither false nor true.
    #[error("metadata {key:?} is a truth value of {found}; 0 and 1 are allowed")]
    Flag {
        /// Its key.
        key: String,
        /// The byte.
        found: u8,
    },
    /// Lists within lists within lists.
    #[error("metadata {key:?} is a list of lists, deeper than {limit}; nothing here needs that")]
    Depth {
        /// Its key.
        key: String,
        /// The deepest nesting that is read.
        limit: usize,
    },
    /// Two of the same name, of which a reader could believe either.
    #[error("{what} {name:?} is there twice; a name must be unique")]
    Duplicate {
        /// `tensor` or `metadata key`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// An alignment that is none.
    #[error("general.alignment is {found}; it must be a power of two from 1 to {limit}")]
    Alignment {
        /// What it is instead.
        found: String,
        /// The largest that is read.
        limit: u64,
    },
    /// More axes than GGUF has.
    #[error("tensor {tensor:?} has {rank} axes; up to {limit} are allowed")]
    Rank {
        /// The tensor.
        tensor: String,
        /// Number of its axes.
        rank: u32,
        /// The most that is read.
        limit: u32,
    },
    /// A tensor that is stored in a way that is not read.
    #[error(
        "tensor {tensor:?} is stored as {found}; F32, F16, BF16, and in GGUF Q8_0, Q4_0, Q4_1 can be read, convert it"
    )]
    TensorType {
        /// The tensor.
        tensor: String,
        /// Number and name of its type, as far as they are known.
        found: String,
    },
    /// A size that no memory has.
    #[error("tensor {tensor:?} has more elements than can be counted; the file is damaged, fetch it again")]
    Elements {
        /// The tensor.
        tensor: String,
    },
    /// Rows that do not consist of whole blocks.
    #[error("tensor {tensor:?} has rows of {width}; {storage} stores multiples of {}", .storage.block())]
    Block {
        /// The tensor.
        tensor: String,
        /// How it is stored.
        storage: Storage,
        /// Elements along its last axis.
        width: usize,
    },
    /// A tensor between two places where one may begin.
    #[error("tensor {tensor:?} begins at {offset} of the data; offsets must be multiples of {alignment}")]
    Misaligned {
        /// The tensor.
        tensor: String,
        /// Where it begins, in bytes from the start of the data.
        offset: u64,
        /// What that must be a multiple of.
        alignment: usize,
    },
    /// A tensor that is not within the file.
    #[error(
        "tensor {tensor:?} takes {bytes} bytes from {offset} of the data on, which ends at {room}; the file is cut \
         short or damaged, fetch it again"
    )]
    Outside {
        /// The tensor.
        tensor: String,
        /// Where it begins, in bytes from the start of the data.
        offset: u64,
        /// Its length.
        bytes: u64,
        /// Length of the data.
        room: usize,
    },
    /// Two tensors that share bytes.
    #[error("tensors {first:?} and {second:?} overlap; the file is damaged or made to deceive")]
    Overlap {
        /// The one that begins first.
        first: String,
        /// The other.
        second: String,
    },
    /// A header beyond what the format allows.
    #[error("a header of {length} bytes; up to {limit} are allowed")]
    HeaderLength {
        /// What the file says.
        length: u64,
        /// The longest allowed.
        limit: u64,
    },
    /// A header that is not what safetensors describes.
    #[error("the header is wrong: {message}")]
    Header {
        /// How, in the words of the JSON reader, on one line.
        message: String,
    },
    /// A tensor whose bytes are not as many as its shape takes.
    #[error("tensor {tensor:?} has bytes {from} to {to} of the data; its shape and type take {wanted} bytes")]
    Length {
        /// The tensor.
        tensor: String,
        /// Its first byte, from the start of the data.
        from: u64,
        /// The one after its last.
        to: u64,
        /// Elements times bytes of an element.
        wanted: u64,
    },
    /// Bytes that nothing explains.
    #[error("bytes {from} to {to} of the data belong to no tensor; safetensors has no holes")]
    Hole {
        /// The first, from the start of the data.
        from: u64,
        /// The one after the last.
        to: u64,
    },
}

/// Characters of a name that an error repeats; the name itself may be as long as the file.
pub const LONGEST: usize = 64;

/// A name that is there twice.
pub(super) fn duplicate(what: &'static str, name: &str) -> Fault {
    Fault::Duplicate {
        what,
        name: short(name),
    }
}

/// A name, cut short where it is long.
pub(super) fn short(name: &str) -> String {
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_megabyte_with_line_breaks_gives_one_short_line() {
        let fault = Fault::Duplicate {
            what: "tensor",
            name: short(&"ä\n\r\u{1b}[2J".repeat(1 << 20)),
        };
        let text = fault.to_string();
        assert!(!text.chars().any(char::is_control), "{text}");
        assert!(text.len() < 1000 && text.contains('…'), "{text}");
        assert_eq!(short("blk.0.attn_q.weight"), "blk.0.attn_q.weight");
    }
}
