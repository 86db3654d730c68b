//! SHA-256 digests as they are written: 64 lower-case hexadecimal digits.

use sha2::{Digest as _, Sha256};

/// Digest of some bytes.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    written(&Sha256::digest(bytes))
}

/// A finished digest as text.
#[must_use]
pub fn written(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Whether a text is such a digest, and so a safe file name.
#[must_use]
pub fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_nothing_is_the_known_one() {
        // printf '' | sha256sum
        let nothing = sha256(b"");
        assert_eq!(
            nothing,
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert!(is_digest(&nothing));
    }

    #[test]
    fn other_texts_are_no_digests() {
        for text in ["", "../../x", &"A".repeat(64), &"0".repeat(63), &"é".repeat(32)] {
            assert!(!is_digest(text), "{text}");
        }
    }
}
