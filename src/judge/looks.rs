//! When the numbers are looked at, and what each look costs.
//!
//! Looking again after more rounds is a new chance of a false flag, so the looks are few, planned, and paid for:
//! without a fixed number of rounds they come after 16, 32, 64, ... paired rounds and once at the end, and look `k`
//! may spend `1 / 2^k` of the family's level. However many there are, together they spend no more than all of it.

use crate::plan::MIN_ROUNDS;

/// Rounds before the first look. Chosen: eight rounds of each order are the fewest where trimming has something to
/// trim; at eight rounds the corrected interval of a family of 57 is twice as wide.
pub const FIRST_LOOK: u32 = 16;

/// Part of the level that the single look of a run with a fixed number of rounds spends. In the tail the trimmed t is
/// liberal: up to 1.3 times its level in the worlds of docs/statistics.md (study_of_the_tail), and 1.3 * 0.7 < 1 with a
/// margin for worlds that are not there. With several looks the first, which is not liberal, spends half of all.
const SINGLE_LOOK: f64 = 0.7;

/// One look at the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Paired rounds it sees: the first so many.
    pub rounds: u32,
    /// Part of the family's level it may spend, above 0, at most 1.
    pub share: f64,
}

/// The looks at a scenario with `available` paired rounds; with `fixed` rounds there is just one, at all of them.
///
/// The last look sees everything that is available. Empty below [`MIN_ROUNDS`].
#[must_use]
pub fn looks(available: u32, fixed: Option<u32>) -> Vec<Look> {
    if available < MIN_ROUNDS {
        return Vec::new();
    }
    if fixed.is_some() {
        return vec![Look {
            rounds: available,
            share: SINGLE_LOOK,
        }];
    }
    let mut looks = planned(available);
    if looks.last().is_none_or(|last| last.rounds != available) {
        let share = looks.last().map_or(1.0, |last| last.share) / 2.0;
        looks.push(Look {
            rounds: available,
            share,
        });
    }
    looks
}

/// The looks at 16, 32, 64, ... rounds that `available` rounds have reached; no look at the end.
#[must_use]
pub fn planned(available: u32) -> Vec<Look> {
    let mut looks = Vec::new();
    let (mut rounds, mut share) = (FIRST_LOOK, 0.5);
    while rounds <= available {
        looks.push(Look { rounds, share });
        let Some(next) = rounds.checked_mul(2) else { break };
        (rounds, share) = (next, share / 2.0);
    }
    looks
}

/// The first look after `rounds` rounds: 16 from 0 to 15, 32 from 16 to 31, ...
#[must_use]
pub fn next_look(rounds: u32) -> u32 {
    let mut look = FIRST_LOOK;
    while look <= rounds {
        match look.checked_mul(2) {
            Some(next) => look = next,
            None => return u32::MAX,
        }
    }
    look
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(looks: &[Look]) -> Vec<u32> {
        looks.iter().map(|look| look.rounds).collect()
    }

    #[test]
    fn looks_double_and_the_last_one_sees_everything() {
        assert_eq!(rounds(&looks(7, None)), [0; 0]);
        assert_eq!(rounds(&looks(8, None)), [8]);
        assert_eq!(rounds(&looks(16, None)), [16]);
        assert_eq!(rounds(&looks(17, None)), [16, 17]);
        assert_eq!(rounds(&looks(100, None)), [16, 32, 64, 100]);
        assert_eq!(rounds(&looks(100, Some(100))), [100]);
        assert_eq!(rounds(&planned(100)), [16, 32, 64]);
        assert_eq!(
            [next_look(0), next_look(15), next_look(16), next_look(40)],
            [16, 16, 32, 64]
        );
        assert_eq!(next_look(u32::MAX), u32::MAX);
    }

    #[test]
    fn all_looks_together_spend_at_most_the_level() {
        for available in [8, 16, 40, 1 << 20, u32::MAX] {
            let spent: f64 = looks(available, None).iter().map(|look| look.share).sum();
            assert!(spent <= 1.0, "{spent}");
            assert!(looks(available, None).iter().all(|look| look.share > 0.0));
        }
    }
}
