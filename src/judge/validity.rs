//! Whether both sides of a program did the same: validity comes before rate.
//!
//! What a program told of itself is looked at launch by launch. A rate is compared only where the settings are the same,
//! the generated tokens are the same, generations ended for the same reason and began with the same cache, and each
//! launch was measured on its plateau.

use crate::judge::wording::some;
use crate::profile::Generation;
use crate::recording::Told;
use crate::revision::Side;
use crate::scenario::Target;
use crate::stats::quantile::median;
use std::collections::{BTreeMap, BTreeSet};

/// Why the rates of a program may not be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    /// A sentence.
    pub reason: String,
    /// Whether what was counted means the same nevertheless: the sides were set to do the same.
    pub spares_counts: bool,
}

/// The first objection; absent where nothing speaks against it, and for programs that tell nothing of themselves.
#[must_use]
pub fn objection(told: &[Told], target: &Target) -> Option<Objection> {
    let launches = launches(told, target)?;
    let strict = |reason: String| Objection {
        reason,
        spares_counts: false,
    };
    let mild = |reason: String| Objection {
        reason,
        spares_counts: true,
    };
    settings(&launches)
        .or_else(|| {
            by_position(&launches, "stop reason", |generation| {
                generation.stop.as_deref().map(shown)
            })
        })
        .or_else(|| {
            by_position(&launches, "number of remembered prompt tokens", |generation| {
                generation.prefix_hit_tokens.map(|tokens| tokens.to_string())
            })
        })
        .map(strict)
        .or_else(|| tokens(&launches).or_else(|| plateau(&launches)).map(mild))
}

/// Settings that only one side tells, as a sentence: nobody knows whether they are the same.
#[must_use]
pub fn untold(told: &[Told], target: &Target) -> Option<String> {
    let [base, head] = launches(told, target)?.map(|launches| {
        let settings = launches.into_iter().flat_map(|told| told.settings.keys());
        settings.collect::<BTreeSet<&String>>()
    });
    let lonely: Vec<String> = base.symmetric_difference(&head).map(|key| shown(key)).collect();
    (!lonely.is_empty() && !base.is_empty() && !head.is_empty())
        .then(|| format!("told by one side only: {}", some(&lonely)))
}

type Launches<'a> = [Vec<&'a Told>; 2];

/// Base's and head's; absent unless both have one.
fn launches<'a>(told: &'a [Told], target: &Target) -> Option<Launches<'a>> {
    let launches = Side::BOTH.map(|side| {
        let of_side = told
            .iter()
            .filter(|told| told.side == side && told.target == *target);
        of_side.collect::<Vec<&Told>>()
    });
    launches
        .iter()
        .all(|launches| !launches.is_empty())
        .then_some(launches)
}

/// The first setting that differs, within a side or between them; one that a side does not tell says nothing.
fn settings(launches: &Launches<'_>) -> Option<String> {
    let values = launches.each_ref().map(|launches| {
        let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (key, value) in launches.iter().flat_map(|told| &told.settings) {
            values.entry(key).or_default().insert(value);
        }
        values
    });
    let list = |values: &BTreeSet<&str>| some(&values.iter().map(|value| shown(value)).collect::<Vec<_>>());
    for (side, values) in Side::BOTH.iter().zip(&values) {
        if let Some((key, values)) = values.iter().find(|(_, values)| values.len() > 1) {
            return Some(format!(
                "`{}` differs between launches of {side}: {}",
                shown(key),
                list(values)
            ));
        }
    }
    let [base, head] = &values;
    base.iter().find_map(|(key, base)| {
        let head = head.get(key)?;
        (base != head).then(|| {
            let key = shown(key);
            format!("`{key}` is {} on base and {} on head", list(base), list(head))
        })
    })
}

/// What is to be the same for the generations at one position in all launches, and is not.
fn by_position(
    launches: &Launches<'_>,
    what: &str,
    of: impl Fn(&Generation) -> Option<String>,
) -> Option<String> {
    (0..most_generations(launches)).find_map(|position| {
        let [base, head] = launches.each_ref().map(|launches| {
            let generations = launches.iter().filter_map(|told| told.generations.get(position));
            generations.filter_map(&of).collect::<BTreeSet<String>>()
        });
        let is_told = !base.is_empty() && !head.is_empty();
        (is_told && (base != head || base.len() > 1)).then(|| {
            let list = |values: BTreeSet<String>| some(&values.into_iter().collect::<Vec<_>>());
            format!(
                "the {what} of generation {} is {} on base and {} on head",
                position + 1,
                list(base),
                list(head)
            )
        })
    })
}

/// That a side's own launches do not generate the same tokens, or that the sides do not.
fn tokens(launches: &Launches<'_>) -> Option<String> {
    (0..most_generations(launches)).find_map(|position| {
        let mut of_sides = [None, None];
        for ((side, launches), of_side) in Side::BOTH.iter().zip(launches).zip(&mut of_sides) {
            let mut told = launches
                .iter()
                .filter_map(|told| told.generations.get(position))
                .filter(|generation| length(generation) > 0);
            let Some(first) = told.next() else { continue };
            if let Some(place) = told.find_map(|other| parting(first, other)) {
                return Some(format!(
                    "{side} does not generate the same tokens in each of its own launches (generation {}, token \
                     {place}): it is not deterministic, so nothing can be said of what the change did to them",
                    position + 1
                ));
            }
            *of_side = Some(first);
        }
        let [Some(base), Some(head)] = of_sides else {
            return None;
        };
        let place = parting(base, head)?;
        let token = |generation: &Generation| match generation.ids.get(place) {
            Some(id) => id.to_string(),
            None if place < generation.t_ns.len() => "one more".to_owned(),
            None => "none".to_owned(),
        };
        Some(format!(
            "outputs differ: token {place} of generation {} is {} on base and {} on head",
            position + 1,
            token(base),
            token(head)
        ))
    })
}

/// First token at which two generations part: another id, or one that is not there.
fn parting(one: &Generation, other: &Generation) -> Option<usize> {
    let has_ids = !one.ids.is_empty() && !other.ids.is_empty();
    let both = one.ids.iter().zip(&other.ids);
    let differing = both.take_while(|(one, other)| one == other).count();
    let shorter = length(one).min(length(other));
    if has_ids && differing < one.ids.len().min(other.ids.len()) {
        return Some(differing);
    }
    (length(one) != length(other)).then_some(shorter)
}

/// Number of tokens, from their ids or from their times.
fn length(generation: &Generation) -> usize {
    generation.ids.len().max(generation.t_ns.len())
}

fn most_generations(launches: &Launches<'_>) -> usize {
    let counts = launches.iter().flatten().map(|told| told.generations.len());
    counts.max().unwrap_or(0)
}

/// How much slower the first measured generation of a launch may be than its last, as a factor either way. Chosen:
/// launches of a warm program agree within a few percent.
const PLATEAU: f64 = 1.1;

/// That the typical launch had not reached its plateau when it was measured: its first generation is slower or faster
/// than its last.
fn plateau(launches: &Launches<'_>) -> Option<String> {
    Side::BOTH.iter().zip(launches).find_map(|(side, launches)| {
        let factors: Vec<f64> = launches
            .iter()
            .filter_map(|told| match &told.generations[..] {
                [first, .., last] => Some(typical_interval_ns(first)? / typical_interval_ns(last)?),
                _ => None,
            })
            .filter(|factor| factor.is_finite())
            .collect();
        let factor = median(&factors).filter(|factor| !(1.0 / PLATEAU..=PLATEAU).contains(factor))?;
        Some(format!(
            "{side} was not on its plateau: a token of the first measured generation of a launch takes {factor:.2} times \
             as long as one of the last; let it warm up longer"
        ))
    })
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

/// Foreign text in a sentence: one line, and not a long one.
fn shown(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut shown: String = text
        .chars()
        .take(LONGEST)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
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
            t_ns: (0..20).take(ids.len()).map(|n| 1000 + n * step_ns).collect(),
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
            unknown: BTreeMap::new(),
        }
    }

    fn reason(told: &[Told]) -> Option<String> {
        objection(told, &target()).map(|objection| objection.reason)
    }

    fn of_both(base: &[Generation], head: &[Generation]) -> Option<String> {
        reason(&[told(Side::Base, base), told(Side::Head, head)])
    }

    #[test]
    fn nothing_speaks_against_the_same_tokens() {
        let one = [generation(&[1, 2, 3], 10)];
        assert_eq!(of_both(&one, &one), None);
        assert_eq!(reason(&[told(Side::Base, &one)]), None, "one side alone");
    }

    #[test]
    fn another_setting_is_named_and_one_that_is_not_told_is_said() {
        let one = [generation(&[1], 10)];
        let base = told(Side::Base, &one);
        let mut head = told(Side::Head, &one);
        head.settings.insert("threads".into(), "8".into());
        let both = [base.clone(), head.clone()];
        assert_eq!(reason(&both), None);
        assert_eq!(
            untold(&both, &target()).unwrap(),
            "told by one side only: threads"
        );
        head.settings.insert("model".into(), "n".into());
        assert_eq!(
            objection(&[base, head], &target()).unwrap(),
            Objection {
                reason: "`model` is m on base and n on head".into(),
                spares_counts: false,
            }
        );
    }

    #[test]
    fn settings_that_change_within_a_side_are_no_comparison_even_if_both_sides_have_the_same_ones() {
        let one = [generation(&[1], 10)];
        let other = |side| {
            let mut told = told(side, &one);
            told.settings.insert("model".into(), "n".into());
            told
        };
        let crossed = [
            told(Side::Base, &one),
            other(Side::Base),
            other(Side::Head),
            told(Side::Head, &one),
        ];
        assert_eq!(
            reason(&crossed).unwrap(),
            "`model` differs between launches of base: m, n"
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
    fn a_launch_without_ids_hides_no_other_and_a_length_is_seen_without_ids() {
        let (one, other) = (generation(&[1, 2], 10), generation(&[1, 3], 10));
        let silent = Generation {
            ids: Vec::new(),
            ..one.clone()
        };
        let found = reason(&[
            told(Side::Base, std::slice::from_ref(&silent)),
            told(Side::Base, std::slice::from_ref(&one)),
            told(Side::Base, &[other]),
            told(Side::Head, &[one]),
        ]);
        assert_eq!(found, None, "the first launch has no ids, and lengths agree");
        let longer = Generation {
            ids: Vec::new(),
            ..generation(&[1, 2, 3], 10)
        };
        assert_eq!(
            of_both(&[silent], &[longer]).unwrap(),
            "outputs differ: token 2 of generation 1 is none on base and one more on head"
        );
    }

    #[test]
    fn a_program_that_is_not_deterministic_is_told_from_a_changed_one_and_its_counts_stand() {
        let (one, other) = ([generation(&[1, 2], 10)], [generation(&[1, 3], 10)]);
        let found = objection(
            &[
                told(Side::Base, &one),
                told(Side::Base, &other),
                told(Side::Head, &one),
            ],
            &target(),
        );
        let found = found.unwrap();
        assert!(
            found
                .reason
                .starts_with("base does not generate the same tokens in each of its own")
        );
        assert!(found.spares_counts);
    }

    #[test]
    fn other_stop_reasons_and_caches_are_named_at_their_position() {
        let one = generation(&[1, 2], 10);
        let eos = Generation {
            stop: Some("eos".into()),
            ..one.clone()
        };
        assert_eq!(
            of_both(&[one.clone(), eos.clone()], &[eos, one.clone()]).unwrap(),
            "the stop reason of generation 1 is length on base and eos on head"
        );
        let warm = Generation {
            prefix_hit_tokens: Some(4095),
            ..one.clone()
        };
        assert_eq!(
            of_both(&[one], &[warm]).unwrap(),
            "the number of remembered prompt tokens of generation 1 is 0 on base and 4095 on head"
        );
    }

    #[test]
    fn a_side_that_was_still_warming_up_is_named() {
        let of = |step_ns| generation(&[1, 2, 3], step_ns);
        let found = of_both(&[of(10), of(10)], &[of(16), of(10)]).unwrap();
        assert!(
            found.contains("head was not on its plateau") && found.contains("1.60 times"),
            "{found}"
        );
    }

    #[test]
    fn foreign_text_stays_one_short_line() {
        let long = format!("a\nb{}", "c".repeat(200));
        let shown = shown(&long);
        assert!(shown.starts_with("a b") && shown.ends_with('…') && shown.chars().count() == 81);
    }
}
