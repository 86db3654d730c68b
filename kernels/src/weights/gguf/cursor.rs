//! Reading GGUF from left to right: each length is compared with the bytes that are left before it is used.

use super::refusal;
use crate::weights::error::{Fault, WeightsError};

/// A position in a file, never behind its end.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Behind the first `skipped` bytes, or at the end of fewer.
    pub(super) fn after(bytes: &'a [u8], skipped: usize) -> Self {
        Self {
            bytes,
            at: skipped.min(bytes.len()),
        }
    }

    /// Where the next byte is, counted from the start of the file.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// Bytes up to the end of the file.
    const fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// A number of things that take at least `least` bytes each, no more than can follow.
    pub(super) fn count(&mut self, what: &'static str, least: usize) -> Result<usize, WeightsError> {
        let at = self.at;
        let count = self.u64("a count")?;
        let room = self.left() / least;
        usize::try_from(count)
            .ok()
            .filter(|count| *count <= room)
            .ok_or_else(|| refusal(at, Fault::Count { what, count, room }))
    }

    /// A length, then as many bytes of UTF-8.
    pub(super) fn text(&mut self, what: &'static str) -> Result<&'a str, WeightsError> {
        let length = self.u64(what)?;
        let at = self.at;
        let bytes = self.take(length, what)?;
        std::str::from_utf8(bytes).map_err(|error| refusal(at + error.valid_up_to(), Fault::Text { what }))
    }

    /// A number of so many bytes, up to eight.
    pub(super) fn unsigned(&mut self, bytes: u8) -> Result<u64, WeightsError> {
        let bytes = self.take(u64::from(bytes), "a number")?;
        Ok(bytes
            .iter()
            .rev()
            .fold(0, |number, byte| (number << 8) | u64::from(*byte)))
    }

    /// A number of so many bytes, one to eight, in two's complement.
    pub(super) fn signed(&mut self, bytes: u8) -> Result<i64, WeightsError> {
        // Moves the sign to the front and back again.
        let unused = 64 - 8 * u32::from(bytes);
        Ok((self.unsigned(bytes)? << unused).cast_signed() >> unused)
    }

    /// A number of binary32.
    pub(super) fn single(&mut self) -> Result<f64, WeightsError> {
        self.array("a number").map(f32::from_le_bytes).map(f64::from)
    }

    /// A number of binary64.
    pub(super) fn double(&mut self) -> Result<f64, WeightsError> {
        self.array("a number").map(f64::from_le_bytes)
    }

    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, WeightsError> {
        self.array(what).map(u8::from_le_bytes)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, WeightsError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, WeightsError> {
        self.array(what).map(u64::from_le_bytes)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], WeightsError> {
        let Some(array) = self.bytes[self.at..].first_chunk::<N>() else {
            return Err(self.truncated(what, N as u64));
        };
        self.at += N;
        Ok(*array)
    }

    fn take(&mut self, length: u64, what: &'static str) -> Result<&'a [u8], WeightsError> {
        let rest = &self.bytes[self.at..];
        let taken = usize::try_from(length).ok().and_then(|length| rest.get(..length));
        let Some(taken) = taken else {
            return Err(self.truncated(what, length));
        };
        self.at += taken.len();
        Ok(taken)
    }

    fn truncated(&self, what: &'static str, wanted: u64) -> WeightsError {
        let left = self.left();
        refusal(self.at, Fault::Truncated { what, wanted, left })
    }
}
