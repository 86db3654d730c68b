//! What kernels find wrong while they can tell nobody.

use super::{Buffer, Device, DeviceError};

/// What each bit means. `cuda/numbers.cuh` has the same numbers.
const VIOLATIONS: [(u32, &str); 3] = [
    (1, "an index is no row of its table"),
    (2, "a row has no number to be the largest"),
    (4, "a position is beyond the cache or the table of angles"),
];

/// The token that a step chose and the latch of its kernels, side by side: both come to the host in one copy.
#[derive(Debug)]
pub struct Answer {
    both: Buffer,
    token: Buffer,
    latch: Latch,
}

/// Words from the token to the latch: parts of a buffer begin at multiples of 16 bytes.
const LATCH: usize = 4;

/// A word on the device that kernels set bits of instead of failing, which a captured step cannot do. It is read with
/// the result of the step, before that is used.
#[derive(Debug)]
pub struct Latch {
    word: Buffer,
}

impl Device {
    /// A latch with nothing in it.
    ///
    /// # Errors
    /// As [`Device::upload`].
    pub fn latch(&self) -> Result<Latch, DeviceError> {
        let word = self.upload(&[0_u32])?;
        Ok(Latch { word })
    }

    /// Token 0 and a latch with nothing in it.
    ///
    /// # Errors
    /// As [`Device::upload`].
    pub fn answer(&self) -> Result<Answer, DeviceError> {
        let both = self.upload(&[0_u32; LATCH + 1])?;
        let word = size_of::<u32>();
        Ok(Answer {
            token: both.part(0, word)?,
            latch: Latch {
                word: both.part(LATCH * word, word)?,
            },
            both,
        })
    }
}

impl Answer {
    /// Where the token is: a word of 32 bits.
    #[must_use]
    pub const fn token(&self) -> &Buffer {
        &self.token
    }

    /// The latch.
    #[must_use]
    pub const fn latch(&self) -> &Latch {
        &self.latch
    }

    /// The token, behind all work so far, unless a kernel has reported anything.
    ///
    /// # Errors
    /// As [`Latch::check`].
    pub fn read(&self) -> Result<u32, DeviceError> {
        let words: Vec<u32> = self.both.download(LATCH + 1)?;
        match words[..] {
            [token, .., latch] => self.latch.judge(latch).map(|()| token),
            _ => Err(DeviceError::Size {
                call: "read the token",
                wanted: self.both.bytes(),
                held: size_of_val(&words[..]),
            }),
        }
    }

    /// Token 0, and nothing reported, behind all work so far, without waiting.
    ///
    /// # Errors
    /// As [`Buffer::fill`].
    pub fn clear(&self) -> Result<(), DeviceError> {
        self.both.fill(0)
    }
}

impl Latch {
    /// Says what kernels reported since the last time, and forgets it.
    ///
    /// # Errors
    /// [`DeviceError::Violated`] with all that was reported; as [`Buffer::download`].
    pub fn check(&self) -> Result<(), DeviceError> {
        let word: Vec<u32> = self.word.download(1)?;
        self.judge(word.first().copied().unwrap_or(0))
    }

    fn judge(&self, word: u32) -> Result<(), DeviceError> {
        let found = violations(word);
        if found.is_empty() {
            return Ok(());
        }
        self.word.set(0)?;
        Err(DeviceError::Violated { violations: found })
    }

    pub(super) fn word(&self) -> &Buffer {
        &self.word
    }
}

fn violations(word: u32) -> Vec<&'static str> {
    let found = VIOLATIONS.iter().filter(|(bit, _)| word & bit != 0);
    found.map(|(_, meaning)| *meaning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_is_told() {
        assert!(violations(0).is_empty());
        assert_eq!(violations(5).len(), 2);
        let told = DeviceError::Violated {
            violations: violations(3),
        };
        assert_eq!(
            told.to_string(),
            "a kernel reports: an index is no row of its table, a row has no number to be the largest; the weights or the \
             ids are broken"
        );
    }

    #[test]
    fn the_kernels_have_the_same_numbers() {
        let shared = include_str!("../../cuda/numbers.cuh");
        for (name, (bit, _)) in ["WRONG_INDEX", "NO_NUMBER", "WRONG_POSITION"]
            .iter()
            .zip(VIOLATIONS)
        {
            assert!(shared.contains(&format!("#define {name} {bit}u")), "{name}");
        }
    }
}
