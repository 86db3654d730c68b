//! Whether both sides of a program did the same: validity comes before rate.
//!
//! What a program told of itself is looked at launch by launch. A rate is compared only where the settings are the same,
//! the generated tokens are the same, generations ended for the same reason and began with the same cache, and each
//! launch was measured on its plateau.

use crate::profile::Generation;
use crate::recording::Told;
use crate::revision::Side;
use crate::scenario::Target;
use crate::stats::quantile::median;
use std::collections::{BTreeMap, BTreeSet};

/// Why the rates of a program may not be compared, as a sentence; absent where nothing speaks against it, and for
/// programs that tell nothing of themselves.
#[must_use]
pub fn objection(told: &[Told], target: &Target) -> Option<String> {
    let told = Side::BOTH.map(|side| {
        let of_side = told
            .iter()
            .filter(|told| told.side == side && told.target == *target);
        of_side.collect::<Vec<&Told>>()
    });
    if told.iter().any(Vec::is_empty) {
        return None;
    }
    settings(&told)
        .or_else(|| tokens(&told))
        .or_else(|| each_generation(&told, "stop reason", |generation| generation.stop.clone()))
        .or_else(|| {
            each_generation(
                &told,
                "number of prompt tokens remembered from before",
                |generation| generation.prefix_hit_tokens.map(|tokens| tokens.to_string()),
            )
        })
        .or_else(|| plateau(&told))
}

type Launches<'a> = [Vec<&'a Told>; 2];

/// The first setting that differs; one that a side does not tell says nothing.
fn settings(told: &Launches<'_>) -> Option<String> {
    let values = told.each_ref().map(|launches| {
        let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (key, value) in launches.iter().flat_map(|told| &told.settings) {
            values.entry(key).or_default().insert(value);
        }
        values
    });
    let [base, head] = &values;
    base.iter().find_map(|(key, base)| {
        let head = head.get(key)?;
        (base != head).then(|| {
            let list = |values: &BTreeSet<&str>| values.iter().copied().collect::<Vec<_>>().join(", ");
            format!("`{key}` is {} on base and {} on head", list(base), list(head))
        })
    })
}

/// That a side's own launches do not generate the same tokens, or that the sides do not.
fn tokens(told: &Launches<'_>) -> Option<String> {
    for (side, launches) in Side::BOTH.iter().zip(told) {
        let (first, others) = launches.split_first()?;
        if let Some(difference) = others
            .iter()
            .find_map(|other| difference(&first.generations, &other.generations))
        {
            let Difference {
                generation, place, ..
            } = difference;
            return Some(format!(
                "{side} does not generate the same tokens in each of its own launches (generation {generation}, token \
                 {place}): it is not deterministic, so nothing can be said of what the change did to them"
            ));
        }
    }
    let [base, head] = told.each_ref().map(|launches| launches.first());
    let Difference {
        generation,
        place,
        base,
        head,
    } = difference(&base?.generations, &head?.generations)?;
    let token = |id: Option<u32>| id.map_or_else(|| "none".to_owned(), |id| id.to_string());
    Some(format!(
        "outputs differ: token {place} of generation {generation} is {} on base and {} on head",
        token(base),
        token(head)
    ))
}

/// Where two lists of generations part.
struct Difference {
    /// Counted from 1.
    generation: usize,
    /// Counted from 0, as indices of tokens are.
    place: usize,
    base: Option<u32>,
    head: Option<u32>,
}

/// Compares as many generations as both have.
fn difference(base: &[Generation], head: &[Generation]) -> Option<Difference> {
    base.iter()
        .zip(head)
        .enumerate()
        .find_map(|(index, (base, head))| {
            // One that tells only times says nothing of its tokens.
            if base.ids.is_empty() || head.ids.is_empty() {
                return None;
            }
            let longest = base.ids.len().max(head.ids.len());
            let place = (0..longest).find(|place| base.ids.get(*place) != head.ids.get(*place))?;
            Some(Difference {
                generation: index + 1,
                place,
                base: base.ids.get(place).copied(),
                head: head.ids.get(place).copied(),
            })
        })
}

/// What is to be the same for all generations, and is not.
fn each_generation(
    told: &Launches<'_>,
    what: &str,
    of: impl Fn(&Generation) -> Option<String>,
) -> Option<String> {
    let [base, head] = told.each_ref().map(|launches| {
        let generations = launches.iter().flat_map(|told| &told.generations);
        generations.filter_map(&of).collect::<BTreeSet<String>>()
    });
    if base.is_empty() || head.is_empty() || base == head {
        return None;
    }
    let list = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join(", ");
    Some(format!(
        "the {what} is {} on base and {} on head",
        list(base),
        list(head)
    ))
}

/// How much slower the first measured generation of a launch may be than its last, as a factor either way. Chosen:
/// launches of a warm program agree within a few percent.
const PLATEAU: f64 = 1.1;

/// That the typical launch had not reached its plateau when it was measured: its first generation is slower or faster
/// than its last.
fn plateau(told: &Launches<'_>) -> Option<String> {
    for (side, launches) in Side::BOTH.iter().zip(told) {
        let factors: Vec<f64> = launches
            .iter()
            .filter_map(|told| match &told.generations[..] {
                [first, .., last] => Some(typical_interval_ns(first)? / typical_interval_ns(last)?),
                _ => None,
            })
            .filter(|factor| factor.is_finite())
            .collect();
        if let Some(factor) = median(&factors)
            && !(1.0 / PLATEAU..=PLATEAU).contains(&factor)
        {
            return Some(format!(
                "{side} was not on its plateau: a token of the first measured generation of a launch takes {factor:.2} \
                 times as long as one of the last; let it warm up longer"
            ));
        }
    }
    None
}

/// Median of the time between tokens, in nanoseconds; absent for fewer than two.
fn typical_interval_ns(generation: &Generation) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "no token takes three months")]
    let intervals: Vec<f64> = generation
        .t_ns
        .windows(2)
        .map(|pair| pair[1].saturating_sub(pair[0]) as f64)
        .collect();
    median(&intervals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Phase;

    fn target() -> Target {
        Target {
            package: String::new(),
            target: "p".into(),
        }
    }

    fn generation(ids: &[u32], step_ns: u64) -> Generation {
        Generation {
            ids: ids.to_vec(),
            t_ns: (0..20).map(|n| 1000 + n * step_ns).collect(),
            stop: Some("length".into()),
            prefix_hit_tokens: Some(0),
            counters: BTreeMap::new(),
        }
    }

    fn told(side: Side, generations: &[Generation]) -> Told {
        Told {
            phase: Phase::Measure,
            round: 0,
            side,
            target: target(),
            settings: BTreeMap::from([("model".into(), "m".into())]),
            generations: generations.to_vec(),
            counts: Vec::new(),
        }
    }

    fn objection_to(told: Vec<Told>) -> Option<String> {
        objection(&told, &target())
    }

    fn of_both(base: &[Generation], head: &[Generation]) -> Option<String> {
        objection_to(vec![told(Side::Base, base), told(Side::Head, head)])
    }

    #[test]
    fn nothing_speaks_against_the_same_tokens() {
        let one = [generation(&[1, 2, 3], 10)];
        assert_eq!(of_both(&one, &one), None);
        assert_eq!(objection_to(vec![told(Side::Base, &one)]), None, "one side alone");
    }

    #[test]
    fn another_setting_is_named_and_one_that_is_not_told_says_nothing() {
        let one = [generation(&[1], 10)];
        let mut head = told(Side::Head, &one);
        head.settings.insert("threads".into(), "8".into());
        assert_eq!(objection_to(vec![told(Side::Base, &one), head.clone()]), None);
        head.settings.insert("model".into(), "n".into());
        assert_eq!(
            objection_to(vec![told(Side::Base, &one), head]).unwrap(),
            "`model` is m on base and n on head"
        );
    }

    #[test]
    fn the_first_token_that_differs_is_named_also_where_a_side_stops_early() {
        let found = of_both(&[generation(&[1, 2, 3], 10)], &[generation(&[1, 9, 3], 10)]);
        assert_eq!(
            found.unwrap(),
            "outputs differ: token 1 of generation 1 is 2 on base and 9 on head"
        );
        let found = of_both(&[generation(&[1, 2, 3], 10)], &[generation(&[1, 2], 10)]);
        assert_eq!(
            found.unwrap(),
            "outputs differ: token 2 of generation 1 is 3 on base and none on head"
        );
    }

    #[test]
    fn a_program_that_is_not_deterministic_is_told_from_a_changed_one() {
        let (one, other) = ([generation(&[1, 2], 10)], [generation(&[1, 3], 10)]);
        let found = objection_to(vec![
            told(Side::Base, &one),
            told(Side::Base, &other),
            told(Side::Head, &one),
        ]);
        assert!(
            found
                .unwrap()
                .starts_with("base does not generate the same tokens in each of its own")
        );
    }

    #[test]
    fn other_stop_reasons_and_caches_are_named() {
        let one = generation(&[1, 2], 10);
        let eos = Generation {
            stop: Some("eos".into()),
            ..one.clone()
        };
        assert_eq!(
            of_both(std::slice::from_ref(&one), &[eos]).unwrap(),
            "the stop reason is length on base and eos on head"
        );
        let warm = Generation {
            prefix_hit_tokens: Some(4095),
            ..one.clone()
        };
        assert_eq!(
            of_both(&[one], &[warm]).unwrap(),
            "the number of prompt tokens remembered from before is 0 on base and 4095 on head"
        );
    }

    #[test]
    fn a_side_that_was_still_warming_up_is_named() {
        let warm = [generation(&[1], 10), generation(&[1], 10)];
        let cold = [generation(&[1], 16), generation(&[1], 10)];
        let found = of_both(&warm, &cold).unwrap();
        assert!(
            found.contains("head was not on its plateau") && found.contains("1.60 times"),
            "{found}"
        );
    }
}
