//! Metadata that stays on the device from one call to the next.

use crate::device::DeviceError;

/// What a slot needs of a device.
pub trait Memory {
    /// Some words in device memory, freed when dropped.
    type Block;

    /// Whether a capture is under way.
    fn is_capturing(&self) -> bool;

    /// Waits until everything that was launched is done.
    ///
    /// # Errors
    /// What the device answers.
    fn wait(&self) -> Result<(), DeviceError>;

    /// Allocates a block, copies these words to it, and waits until they are there. No words still give a block.
    ///
    /// # Errors
    /// What the device answers; nothing stays allocated then.
    fn place(&self, words: &[u64]) -> Result<Self::Block, DeviceError>;
}

/// The last metadata of a kernel, on the host to compare with and on the device to launch with.
///
/// The block is freed when other metadata takes its place, or with the slot. A graph that was captured with it must
/// keep it alive by itself: blocks of [`Device`](crate::device::Device) are kept by every graph that they were
/// recorded in.
#[derive(Debug)]
pub struct MetadataSlot<B> {
    held: Option<Held<B>>,
}

#[derive(Debug)]
struct Held<B> {
    words: Vec<u64>,
    block: B,
}

impl<B> Default for MetadataSlot<B> {
    fn default() -> Self {
        Self { held: None }
    }
}

impl<B> MetadataSlot<B> {
    /// A block with these words: the one that is held if it has them, without any call to the device, and otherwise a
    /// new one, after everything that may still read the old one is done.
    ///
    /// # Errors
    /// [`DeviceError::MetadataChanged`] for other words during a capture; what the device answers. The slot is as it
    /// was then.
    pub fn prepare<M: Memory<Block = B>>(&mut self, memory: &M, words: &[u64]) -> Result<&B, DeviceError> {
        let held = match self.held.take_if(|held| held.words == words) {
            Some(held) => held,
            None => {
                if memory.is_capturing() {
                    return Err(DeviceError::MetadataChanged);
                }
                if self.held.is_some() {
                    memory.wait()?;
                }
                Held {
                    words: words.to_vec(),
                    block: memory.place(words)?,
                }
            }
        };
        Ok(&self.held.insert(held).block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    type Log = Rc<RefCell<Vec<String>>>;

    /// Writes down what is asked of it.
    #[derive(Default)]
    struct Memo {
        log: Log,
        is_capturing: Cell<bool>,
        fails: Cell<bool>,
    }

    #[derive(Debug)]
    struct Block {
        name: String,
        log: Log,
    }

    impl Drop for Block {
        fn drop(&mut self) {
            self.log.borrow_mut().push(format!("free {}", self.name));
        }
    }

    impl Memory for Memo {
        type Block = Block;

        fn is_capturing(&self) -> bool {
            self.is_capturing.get()
        }

        fn wait(&self) -> Result<(), DeviceError> {
            self.log.borrow_mut().push("wait".into());
            Ok(())
        }

        fn place(&self, words: &[u64]) -> Result<Block, DeviceError> {
            let block = Block {
                name: format!("{words:?}"),
                log: Rc::clone(&self.log),
            };
            self.log.borrow_mut().push(format!("place {words:?}"));
            if self.fails.get() {
                return Err(DeviceError::EmptyGraph);
            }
            Ok(block)
        }
    }

    impl Memo {
        fn log(&self) -> Vec<String> {
            self.log.take()
        }
    }

    #[test]
    fn the_same_words_ask_nothing_of_the_device_even_during_a_capture() {
        let memory = Memo::default();
        let mut slot = MetadataSlot::default();
        slot.prepare(&memory, &[1, 2]).unwrap();
        assert_eq!(memory.log(), ["place [1, 2]"]);
        slot.prepare(&memory, &[1, 2]).unwrap();
        memory.is_capturing.set(true);
        assert_eq!(slot.prepare(&memory, &[1, 2]).unwrap().name, "[1, 2]");
        assert!(memory.log().is_empty());
    }

    #[test]
    fn other_words_wait_for_the_readers_of_the_old_ones_before_those_are_freed() {
        let memory = Memo::default();
        let mut slot = MetadataSlot::default();
        slot.prepare(&memory, &[1]).unwrap();
        slot.prepare(&memory, &[2]).unwrap();
        assert_eq!(memory.log(), ["place [1]", "wait", "place [2]", "free [1]"]);
        drop(slot);
        assert_eq!(memory.log(), ["free [2]"]);
    }

    #[test]
    fn other_words_during_a_capture_are_refused_and_touch_nothing() {
        let memory = Memo::default();
        let mut slot = MetadataSlot::default();
        slot.prepare(&memory, &[1]).unwrap();
        memory.is_capturing.set(true);
        let refused = slot.prepare(&memory, &[2]).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the shape changed during graph capture; warm the exact shape first"
        );
        slot.prepare(&memory, &[1]).unwrap();
        assert_eq!(memory.log(), ["place [1]"]);
        let mut empty = MetadataSlot::default();
        assert!(empty.prepare(&memory, &[1]).is_err());
    }

    #[test]
    fn words_that_cannot_be_placed_leave_the_old_ones() {
        let memory = Memo::default();
        let mut slot = MetadataSlot::default();
        slot.prepare(&memory, &[1]).unwrap();
        memory.fails.set(true);
        assert!(slot.prepare(&memory, &[2]).is_err());
        assert_eq!(memory.log(), ["place [1]", "wait", "place [2]", "free [2]"]);
        assert_eq!(slot.prepare(&memory, &[1]).unwrap().name, "[1]");
    }

    #[test]
    fn no_words_have_a_block_too() {
        let memory = Memo::default();
        let mut slot = MetadataSlot::default();
        slot.prepare(&memory, &[]).unwrap();
        slot.prepare(&memory, &[]).unwrap();
        assert_eq!(memory.log(), ["place []"]);
    }
}
