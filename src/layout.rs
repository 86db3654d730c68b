//! In which order the code of an executable lies in memory.
//!
//! The same instructions at another address can take a fifth more or less time: caches, branch predictors and fetch
//! windows look at addresses. An executable linked in another order is the same code and another draw of that luck.

use serde::{Deserialize, Serialize};

/// One order. 0 is the one that cargo's build has; every other number is the seed of a shuffle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Layout(pub u32);

/// Number of shuffled orders that are made of an executable. Chosen: each is one replication of "the same change,
/// elsewhere in memory", so eight make a trimmed t interval of five degrees of freedom; linking one takes a second or less.
pub const LAYOUTS: u32 = 8;

/// Rounds in which every shuffled order has its turn once, with either side first.
pub const ONE_EACH: u32 = 2 * LAYOUTS;

/// Number of them that take turns in the relink control. Chosen: with half as many, each has twice the rounds, and the
/// largest of their changes is less due to noise.
const LAYOUTS_OF_CONTROL: u32 = LAYOUTS / 2;

impl Layout {
    /// As cargo's build has it.
    pub const AS_BUILT: Self = Self(0);

    /// The shuffled orders.
    pub fn shuffled() -> impl Iterator<Item = Self> {
        (1..=LAYOUTS).map(Self)
    }

    /// The shuffled order that is due in a round; both rounds of a pair have the same one.
    #[must_use]
    pub fn of_round(round: u32) -> Self {
        Self(1 + (round / 2) % LAYOUTS)
    }

    /// The shuffled order of the relink control in a round.
    #[must_use]
    pub fn of_control(round: u32) -> Self {
        Self(1 + (round / 2) % LAYOUTS_OF_CONTROL)
    }

    /// Whether nothing was shuffled.
    #[must_use]
    pub fn is_as_built(&self) -> bool {
        *self == Self::AS_BUILT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_of_a_pair_share_an_order_and_all_orders_have_their_turn() {
        let of = |rounds: std::ops::Range<u32>| -> Vec<u32> {
            rounds.map(|round| Layout::of_round(round).0).collect()
        };
        assert_eq!(of(0..6), [1, 1, 2, 2, 3, 3]);
        assert_eq!(of(2 * LAYOUTS - 2..2 * LAYOUTS + 2), [LAYOUTS, LAYOUTS, 1, 1]);
        assert_eq!(Layout::shuffled().count(), LAYOUTS as usize);
    }
}
