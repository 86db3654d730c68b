//! A benchmark suite with known changes in it: what `qualify --inject` and `qualify --shift` measure.
//!
//! Every lane does 100 units of work; on head, some do more. The number of units is data that the compiler cannot see
//! through, so both sides run the same instructions, just not equally often, and a change of 5 % is five units of a
//! hundred. Or no lane does more, and a function that nothing measured calls lies before all lanes: they are at another
//! place then, and should take as long.

use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng};
use std::fmt::Write as _;

/// Number of lanes; the suite's own sources make them.
pub const LANES: usize = 48;

/// Statements of the largest unrelated function; each is some ten bytes of instructions.
const STATEMENTS: u32 = 200;

/// A suite in which some lanes are slower by a whole number of percent; 0 where nothing is added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injection {
    extra: [u32; LANES],
    /// Statements of the unrelated function.
    unrelated: u32,
}

impl Injection {
    /// Nothing is slower: base.
    #[must_use]
    pub fn none() -> Self {
        Self {
            extra: [0; LANES],
            unrelated: 0,
        }
    }

    /// Nothing is slower, but an unrelated function, of a size that the seed decides, lies before all lanes: head.
    #[must_use]
    pub fn shift(seed: u64) -> Self {
        Self {
            unrelated: ChaCha8Rng::seed_from_u64(seed).random_range(1..=STATEMENTS),
            ..Self::none()
        }
    }

    /// Each of these sizes, and nothing, for as many lanes as any other (as far as they can be shared), dealt by
    /// chance: head.
    #[must_use]
    pub fn of(sizes: &[u32], seed: u64) -> Self {
        let mut deck: Vec<u32> = std::iter::once(0)
            .chain(sizes.iter().copied())
            .cycle()
            .take(LANES)
            .collect();
        deck.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let mut extra = [0; LANES];
        extra.copy_from_slice(&deck);
        Self {
            extra,
            ..Self::none()
        }
    }

    /// What was added to the lane that registers as the `n`-th, in percent.
    #[must_use]
    pub fn percent(&self, n: usize) -> u32 {
        self.extra.get(n).copied().unwrap_or(0)
    }

    /// The files of the suite: path and content.
    #[must_use]
    pub fn files(&self) -> Vec<(&'static str, String)> {
        let extra: Vec<String> = self.extra.iter().map(u32::to_string).collect();
        let table = format!(
            "//! Units that each lane does in addition.\n\npub static EXTRA: [u32; {LANES}] = [{}];\n",
            extra.join(", ")
        );
        vec![
            (
                "Cargo.toml",
                include_str!("../assets/injection/manifest.toml").to_owned(),
            ),
            (
                "benches/injected.rs",
                include_str!("../assets/injection/bench.rs").to_owned(),
            ),
            ("src/extra.rs", table),
            (
                "src/lib.rs",
                include_str!("../assets/injection/lib.rs").to_owned(),
            ),
            ("src/pad.rs", pad(self.unrelated)),
        ]
    }
}

/// A module with a function that is linked though nothing calls it; an empty one for 0 statements.
///
/// Functions of a unit lie in the order of their symbols, so it is before all others because its name is short.
fn pad(statements: u32) -> String {
    let mut text = "//! Code that nothing measured calls.\n".to_owned();
    if statements > 0 {
        text.push_str("\n#[used]\nstatic LINKED: fn(u64) -> u64 = pad;\n\n#[inline(never)]\n");
        text.push_str("fn pad(mut state: u64) -> u64 {\n");
        for n in 1..=statements {
            let _ = writeln!(text, "    state = std::hint::black_box(state ^ {});", n * 7919);
        }
        text.push_str("    state\n}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_as_many_lanes_and_the_seed_deals_them() {
        let injection = Injection::of(&[1, 2, 5], 1);
        for size in [0, 1, 2, 5] {
            let lanes = (0..LANES).filter(|n| injection.percent(*n) == size).count();
            assert_eq!(lanes, LANES / 4);
        }
        assert_eq!(injection, Injection::of(&[1, 2, 5], 1));
        assert_ne!(injection, Injection::of(&[1, 2, 5], 2));
        assert_eq!(Injection::of(&[], 1), Injection::none());
    }

    #[test]
    fn the_suite_has_a_file_for_what_is_added_and_the_others_are_the_same() {
        let (base, head) = (Injection::none().files(), Injection::of(&[10], 1).files());
        let differing: Vec<&str> = base
            .iter()
            .zip(&head)
            .filter(|(base, head)| base != head)
            .map(|(base, _)| base.0)
            .collect();
        assert_eq!(differing, ["src/extra.rs"]);
    }

    #[test]
    fn a_shift_adds_a_function_of_another_size_each_time_and_no_work() {
        let (one, other) = (Injection::shift(1), Injection::shift(2));
        assert_ne!(one, other);
        assert_eq!(one, Injection::shift(1));
        assert!((0..LANES).all(|n| one.percent(n) == 0));
        let text = |of: &Injection| of.files().pop().unwrap().1;
        assert_eq!(text(&Injection::none()).lines().count(), 1);
        assert_eq!(text(&one).matches("black_box").count(), one.unrelated as usize);
    }
}
