//! Bytes of a file, and what they are if they are no weights.
#![expect(
    clippy::disallowed_methods,
    reason = "this file is where weights are read from disk"
)]

use super::error::WeightsError;
use std::path::Path;

/// All bytes of a file. They are read, not mapped: a map is unsafe, as another program may change the file below it.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, WeightsError> {
    let about = std::fs::metadata(path)?;
    if about.is_dir() {
        return Err(WeightsError::NotAFile { found: "a folder" });
    }
    // A pipe or a device may have no end.
    if !about.is_file() {
        return Err(WeightsError::NotAFile {
            found: "a pipe or a device",
        });
    }
    Ok(std::fs::read(path)?)
}

/// First bytes of what people take for weights.
const KNOWN: [(&[u8], &str); 14] = [
    (b"\x1f\x8b", "compressed by gzip; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd; unpack it first"),
    (b"BZh", "compressed by bzip2; unpack it first"),
    (b"\xfd7zXZ", "compressed by xz; unpack it first"),
    (
        b"PK\x03\x04",
        "a zip archive, as PyTorch writes; convert it to safetensors or GGUF",
    ),
    (
        b"\x80\x02",
        "a pickle, as PyTorch wrote; convert it to safetensors or GGUF",
    ),
    (
        b"\x80\x04",
        "a pickle, as Python writes; convert it to safetensors or GGUF",
    ),
    (b"\x89HDF", "HDF5; convert it to safetensors or GGUF"),
    (b"\x93NUMPY", "an array of NumPy; convert it to safetensors"),
    (
        b"version https://git-lfs",
        "a pointer of Git LFS; fetch the file that it stands for",
    ),
    (b"lmgg", "a file of ggml from before GGUF; convert it to GGUF"),
    (b"fmgg", "a file of ggml from before GGUF; convert it to GGUF"),
    (b"tjgg", "a file of ggml from before GGUF; convert it to GGUF"),
    (
        b"FUGG",
        "GGUF of the other byte order; convert it to little-endian",
    ),
];

/// Bytes that are looked at to tell text from the rest.
const HEAD: usize = 512;

/// What bytes look like that are neither format, and what to do then.
pub(super) fn guess(bytes: &[u8]) -> &'static str {
    if bytes.is_empty() {
        return "empty";
    }
    if let Some((_, found)) = KNOWN.iter().find(|(start, _)| bytes.starts_with(start)) {
        return found;
    }
    if is_text(&bytes[..bytes.len().min(HEAD)]) {
        "text, such as a page that says why it is not the file; look into it"
    } else {
        "of no kind that is known here"
    }
}

/// Whether bytes are text, of which the last character may have been cut.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            return is_text(&bytes[..error.valid_up_to()]);
        }
        Err(_) => return false,
    };
    !text
        .chars()
        .any(|letter| letter.is_control() && !letter.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_weights_is_called_by_its_name() {
        for (bytes, word) in [
            (&b""[..], "empty"),
            (b"\x1f\x8b\x08\0\0\0\0\0", "gzip"),
            (b"PK\x03\x04\x14\0", "zip"),
            (b"<!DOCTYPE html>\n<title>Not found</title>", "text"),
            (
                b"version https://git-lfs.github.com/spec/v1\noid sha256:",
                "Git LFS",
            ),
            ("{\n  \"metadata\": \"grün\"".as_bytes(), "text"),
            (b"lmgg\0\0\0\0", "before GGUF"),
            (&[0; 64], "no kind"),
            (b"\xff\xfe\xfd", "no kind"),
        ] {
            assert!(guess(bytes).contains(word), "{bytes:?}: {}", guess(bytes));
        }
    }

    #[test]
    fn text_that_is_cut_within_a_letter_is_text() {
        assert!(is_text(&"ä".as_bytes()[..1]));
        assert!(is_text("a\tb\r\n".as_bytes()));
        assert!(!is_text(b"a\0b"));
    }
}
