//! Who has which page of a cache of keys and values (Kwon et al., 2023): pages of a fixed number of tokens, handed out
//! as sequences grow, so that no memory is held for tokens that never come.

/// Why a pool did not do what was asked. It is as it was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// A pool that cannot be.
    #[error(
        "pages: {pages} pages of {page_tokens} tokens are no pool; take pages of at least one token, or fewer"
    )]
    Size {
        /// Tokens of a page.
        page_tokens: usize,
        /// Pages.
        pages: u32,
    },
    /// More pages are needed than are free.
    #[error(
        "pages: {needed} more are needed, and {free} are free; remove a sequence, or make the pool larger"
    )]
    Exhausted {
        /// Pages that the sequence lacks; the largest number there is, if they cannot be counted.
        needed: usize,
        /// Pages that are free.
        free: usize,
    },
    /// A sequence that is not there.
    #[error("pages: {0:?} is not in this pool; it was removed")]
    Unknown(SequenceId),
    /// A token that the sequence does not have.
    #[error("pages: the sequence has {tokens} tokens, and token {token} was asked for; append first")]
    Token {
        /// What was asked for, from 0.
        token: usize,
        /// How many there are.
        tokens: usize,
    },
}

/// A sequence of a pool, for that pool alone: in another one it may be somebody else. Those of removed sequences are
/// never given out again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SequenceId {
    slot: usize,
    generation: u64,
}

/// Pages, free or of a sequence, each in exactly one place.
///
/// Once as many sequences of some length have been in it, it allocates nothing for as many that follow.
#[derive(Debug, Clone)]
pub struct PagePool {
    page_tokens: usize,
    /// The last one is handed out next.
    free: Vec<u32>,
    slots: Vec<Slot>,
    /// Slots without a sequence.
    vacant: Vec<usize>,
}

/// Where sequences live, one after the other.
#[derive(Debug, Clone, Default)]
struct Slot {
    /// How many have lived here before. Nobody has an id of this generation while the slot is vacant.
    generation: u64,
    tokens: usize,
    table: Vec<u32>,
}

impl PagePool {
    /// A pool of `pages` pages of `page_tokens` tokens each, all free. One of no pages is a pool to which nothing can
    /// be appended.
    ///
    /// # Errors
    /// [`PageError::Size`] if a page has no token, or there are more tokens than `usize` counts.
    pub fn new(page_tokens: usize, pages: u32) -> Result<Self, PageError> {
        let tokens = usize::try_from(pages)
            .ok()
            .and_then(|pages| pages.checked_mul(page_tokens));
        if page_tokens == 0 || tokens.is_none() {
            return Err(PageError::Size { page_tokens, pages });
        }
        Ok(Self {
            page_tokens,
            free: (0..pages).rev().collect(),
            slots: Vec::new(),
            vacant: Vec::new(),
        })
    }

    /// A new sequence, without tokens or pages.
    pub fn create(&mut self) -> SequenceId {
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        });
        SequenceId {
            slot,
            generation: self.slots[slot].generation,
        }
    }

    /// Appends `more` tokens, with pages where the last one is full. Nothing happens for none.
    ///
    /// # Errors
    /// [`PageError::Unknown`]; [`PageError::Exhausted`] if there are not enough free pages for all of them.
    pub fn append(&mut self, id: SequenceId, more: usize) -> Result<(), PageError> {
        let slot = self.slot(id)?;
        let Slot { tokens, table, .. } = &mut self.slots[slot];
        let grown = tokens.checked_add(more);
        let needed = grown.map_or(usize::MAX, |grown| grown.div_ceil(self.page_tokens) - table.len());
        let free = self.free.len();
        let (Some(grown), Some(rest)) = (grown, free.checked_sub(needed)) else {
            return Err(PageError::Exhausted { needed, free });
        };
        table.extend(self.free.drain(rest..).rev());
        *tokens = grown;
        Ok(())
    }

    /// Removes a sequence; its pages are free, and the first of them is handed out next.
    ///
    /// # Errors
    /// [`PageError::Unknown`].
    pub fn remove(&mut self, id: SequenceId) -> Result<(), PageError> {
        let slot = self.slot(id)?;
        let Slot {
            generation,
            tokens,
            table,
        } = &mut self.slots[slot];
        self.free.extend(table.drain(..).rev());
        *tokens = 0;
        *generation += 1;
        self.vacant.push(slot);
        Ok(())
    }

    /// The pages of a sequence, in order of its tokens.
    ///
    /// # Errors
    /// [`PageError::Unknown`].
    pub fn table(&self, id: SequenceId) -> Result<&[u32], PageError> {
        self.slot(id).map(|slot| self.slots[slot].table.as_slice())
    }

    /// How many tokens a sequence has.
    ///
    /// # Errors
    /// [`PageError::Unknown`].
    pub fn tokens(&self, id: SequenceId) -> Result<usize, PageError> {
        self.slot(id).map(|slot| self.slots[slot].tokens)
    }

    /// Where token `token` of a sequence, counted from 0, is among all tokens that the pool has room for.
    ///
    /// # Errors
    /// [`PageError::Unknown`]; [`PageError::Token`] if the sequence does not have it.
    pub fn place(&self, id: SequenceId, token: usize) -> Result<usize, PageError> {
        let Slot { tokens, table, .. } = &self.slots[self.slot(id)?];
        if token >= *tokens {
            return Err(PageError::Token {
                token,
                tokens: *tokens,
            });
        }
        let page = table[token / self.page_tokens] as usize;
        Ok(page * self.page_tokens + token % self.page_tokens)
    }

    /// How many pages are free.
    #[must_use]
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// Tokens of a page.
    #[must_use]
    pub fn page_tokens(&self) -> usize {
        self.page_tokens
    }

    fn slot(&self, id: SequenceId) -> Result<usize, PageError> {
        let is_there = self
            .slots
            .get(id.slot)
            .is_some_and(|slot| slot.generation == id.generation);
        if is_there {
            Ok(id.slot)
        } else {
            Err(PageError::Unknown(id))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pages_come_as_the_last_one_is_full() {
        let mut pool = PagePool::new(16, 4).unwrap();
        let id = pool.create();
        for (more, tokens, pages) in [(0, 0, 0), (1, 1, 1), (15, 16, 1), (1, 17, 2), (31, 48, 3)] {
            pool.append(id, more).unwrap();
            assert_eq!(pool.tokens(id), Ok(tokens));
            assert_eq!(pool.table(id).unwrap().len(), pages);
            assert_eq!(pool.free(), 4 - pages);
        }
        assert_eq!(pool.table(id), Ok([0, 1, 2].as_slice()));
    }

    #[test]
    fn what_the_suite_measures_takes_sixteen_of_sixty_four_pages_and_gives_them_back() {
        let mut pool = PagePool::new(16, 64).unwrap();
        for _ in 0..3 {
            let id = pool.create();
            pool.append(id, 256).unwrap();
            assert_eq!(pool.table(id).unwrap(), (0..16).collect::<Vec<u32>>());
            assert_eq!(pool.free(), 48);
            pool.remove(id).unwrap();
            assert_eq!(pool.free(), 64);
        }
    }

    #[test]
    fn an_exhausted_pool_hands_out_nothing_rather_than_a_part() {
        let mut pool = PagePool::new(16, 4).unwrap();
        let (one, other) = (pool.create(), pool.create());
        pool.append(one, 40).unwrap();
        let refused = pool.append(other, 17).unwrap_err();
        assert_eq!(refused, PageError::Exhausted { needed: 2, free: 1 });
        assert_eq!((pool.tokens(other), pool.free()), (Ok(0), 1));
        pool.append(one, 8).unwrap();
        pool.append(other, 16).unwrap();
        assert_eq!(
            pool.append(one, 1),
            Err(PageError::Exhausted { needed: 1, free: 0 })
        );
        assert!(matches!(
            pool.append(one, usize::MAX),
            Err(PageError::Exhausted { free: 0, .. })
        ));
    }

    #[test]
    fn a_removed_sequence_is_unknown_even_where_another_has_taken_its_place() {
        let mut pool = PagePool::new(16, 4).unwrap();
        let old = pool.create();
        pool.append(old, 20).unwrap();
        pool.remove(old).unwrap();
        let new = pool.create();
        assert_ne!(old, new);
        assert_eq!(pool.append(old, 1), Err(PageError::Unknown(old)));
        assert_eq!(pool.remove(old), Err(PageError::Unknown(old)));
        assert_eq!(pool.table(old), Err(PageError::Unknown(old)));
        assert_eq!(pool.tokens(new), Ok(0));
        assert!(pool.table(new).unwrap().is_empty());
    }

    #[test]
    fn a_token_is_in_its_page_at_its_offset() {
        let mut pool = PagePool::new(16, 4).unwrap();
        let (one, other) = (pool.create(), pool.create());
        pool.append(one, 1).unwrap();
        pool.append(other, 20).unwrap();
        assert_eq!(pool.table(other), Ok([1, 2].as_slice()));
        assert_eq!(pool.place(other, 0), Ok(16));
        assert_eq!(pool.place(other, 19), Ok(35));
        assert_eq!(
            pool.place(other, 20),
            Err(PageError::Token {
                token: 20,
                tokens: 20
            })
        );
    }

    #[test]
    fn a_pool_without_pages_is_one_and_pages_without_tokens_are_none() {
        let mut pool = PagePool::new(16, 0).unwrap();
        let id = pool.create();
        assert_eq!(pool.append(id, 0), Ok(()));
        assert_eq!(
            pool.append(id, 1),
            Err(PageError::Exhausted { needed: 1, free: 0 })
        );
        assert!(matches!(PagePool::new(0, 4), Err(PageError::Size { .. })));
        assert!(matches!(
            PagePool::new(usize::MAX, 2),
            Err(PageError::Size { .. })
        ));
    }

    #[derive(Debug, Clone)]
    enum Step {
        Create,
        Append(prop::sample::Index, usize),
        Remove(prop::sample::Index),
    }

    fn step() -> impl Strategy<Value = Step> {
        let which = any::<prop::sample::Index>;
        prop_oneof![
            Just(Step::Create),
            (which(), 0_usize..40).prop_map(|(which, more)| Step::Append(which, more)),
            which().prop_map(Step::Remove),
        ]
    }

    proptest! {
        #[test]
        fn every_page_is_free_or_of_one_sequence(steps in prop::collection::vec(step(), 0..200)) {
            let mut pool = PagePool::new(4, 32).unwrap();
            let mut model: Vec<(SequenceId, usize)> = Vec::new();
            for step in steps {
                match step {
                    Step::Create => model.push((pool.create(), 0)),
                    Step::Append(which, more) if !model.is_empty() => {
                        let at = which.index(model.len());
                        let (id, tokens) = model[at];
                        let needed = (tokens + more).div_ceil(4) - tokens.div_ceil(4);
                        let fits = needed <= pool.free();
                        prop_assert_eq!(pool.append(id, more).is_ok(), fits);
                        model[at].1 += if fits { more } else { 0 };
                    }
                    Step::Remove(which) if !model.is_empty() => {
                        let (id, _) = model.swap_remove(which.index(model.len()));
                        pool.remove(id).unwrap();
                    }
                    Step::Append(..) | Step::Remove(_) => {}
                }
                let mut pages = pool.free.clone();
                for (id, tokens) in &model {
                    prop_assert_eq!(pool.tokens(*id), Ok(*tokens));
                    prop_assert_eq!(pool.table(*id).unwrap().len(), tokens.div_ceil(4));
                    pages.extend(pool.table(*id).unwrap());
                }
                pages.sort_unstable();
                prop_assert_eq!(pages, (0..32).collect::<Vec<u32>>());
            }
            for (id, _) in model {
                pool.remove(id).unwrap();
            }
            prop_assert_eq!(pool.free(), 32);
        }
    }
}
