//! One small history that every renderer's tests share: a jump, a drift, something better, something blessed, a broken
//! chain, hostile text.

use crate::history::Commit;
use crate::history::chain::{Begins, Level, Stretch};
use crate::history::change::Shape;
use crate::history::trend::{Change, Series, Trend};
use crate::metric::Metric;
use crate::scenario::{Kind, Scenario, Target};
use crate::units::Fraction;

/// The sample, with scenarios of these ids in place of its own if there are any.
pub(crate) fn trend(ids: &[&str]) -> Trend {
    let own = [
        "decode/step",
        "matmul/f32/512x512x512",
        "gather/rows",
        "sample/top_k",
        "<b>&\"id\"\u{202e}",
    ];
    let ids = if ids.is_empty() { &own[..] } else { ids };
    let mut series: Vec<Series> = ids.iter().enumerate().map(|(n, id)| one(n, id)).collect();
    let change = |shape, before, at, size: f64, worse, blessed: Option<&str>| Change {
        shape,
        before,
        at,
        size,
        low: size - 0.012,
        high: size + 0.012,
        chance: 2e-7,
        worse,
        blessed: blessed.map(str::to_owned),
    };
    for (series, changes) in series.iter_mut().zip([
        vec![change(Shape::Jump, 24, 25, 0.12, true, None)],
        vec![change(Shape::Drift, 30, 42, 0.268, true, None)],
        vec![change(Shape::Jump, 11, 12, -0.09, false, None)],
        vec![change(
            Shape::Jump,
            34,
            35,
            0.06,
            true,
            Some("checks every <index> now"),
        )],
    ]) {
        for change in &changes {
            for level in series
                .stretches
                .iter_mut()
                .flat_map(|stretch| &mut stretch.levels)
            {
                let share = level
                    .commit
                    .saturating_sub(change.before)
                    .min(change.at - change.before);
                #[expect(clippy::cast_precision_loss, reason = "a few commits")]
                let part = share as f64 / (change.at - change.before) as f64;
                level.level += change.size.ln_1p() * part;
            }
        }
        series.changes = changes;
    }
    if let Some(last) = series.last_mut() {
        let rest = last.stretches[0].levels.split_off(30);
        last.stretches.push(Stretch {
            begins: Begins::NotComparable,
            levels: rest,
            reference: 0,
        });
    }
    Trend {
        branch: "main".to_owned(),
        threshold: Fraction(0.02),
        commits: (0..60).map(commit).collect(),
        series,
        notes: vec!["1 measured commit of other branches, left out: eeeeeeeeee".to_owned()],
        skipped: vec![(
            "baselines/c/b.json".to_owned(),
            "is damaged or cut off (EOF); it was left as it is".to_owned(),
        )],
        link: Some("https://github.com/o/r/commit/".to_owned()),
    }
}

fn commit(n: usize) -> Commit {
    let time = 1_767_225_600 + 93_600 * i64::try_from(n).unwrap_or(0);
    Commit {
        // Multiples of the golden ratio look like digests.
        sha: format!(
            "{:08x}{:032x}",
            (n as u32 + 1).wrapping_mul(0x9e37_79b9),
            (n as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834)
        ),
        tree: String::new(),
        time,
        subject: if n == 25 {
            "Copy rows <script>alert(1)</script>".to_owned()
        } else {
            format!("Change number {n}")
        },
        tags: match n {
            15 => vec!["v0.8.0".to_owned()],
            40 => vec!["v0.9.0".to_owned()],
            _ => Vec::new(),
        },
    }
}

fn one(n: usize, id: &str) -> Series {
    // A small generator, so that the picture is the same on every machine.
    let mut state = 7 + n as u64;
    let mut noise = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        #[expect(clippy::cast_precision_loss, reason = "a coin of sorts")]
        let part = (state >> 33) as f64 / f64::from(1_u32 << 31);
        (part - 0.5) * 0.016
    };
    let level = |commit: usize| {
        #[expect(clippy::cast_precision_loss, reason = "a few commits")]
        let steps = commit as f64;
        Level {
            commit,
            level: noise(),
            error: 0.004 * steps.sqrt(),
            walk: 1.6e-5,
            own: 0.0,
        }
    };
    Series {
        class: "intel-r-xeon-r-processor-2-cores".to_owned(),
        scenario: Scenario {
            kind: Kind::Criterion,
            target: Target {
                package: "kernels".to_owned(),
                target: if n < 4 { "ops".to_owned() } else { "io".to_owned() },
            },
            id: id.to_owned(),
            metric: Metric::time(),
        },
        latest: Some(1234.5 * f64::from(1 << n)),
        stretches: vec![Stretch {
            begins: Begins::First,
            levels: (0..60).map(level).collect(),
            reference: 0,
        }],
        changes: Vec::new(),
    }
}
