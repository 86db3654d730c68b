//! A history: every scenario measured at every commit beside the one before, a tenth of them 8 % slower in the middle.

use abreast::history::trend::Known;
use abreast::history::{Commit, File, Group, Line, Measurement, Point, Row};
use abreast::metric::{Better, Unit};
use abreast::recording::Host;
use abreast::scenario::Kind;
use abreast::verdict::Verdict;

/// The commits, and what is known of them.
pub(crate) fn history(scenarios: u32, commits: u32) -> (Line, Known) {
    let sha = |n: u32| format!("{n:040x}");
    let commit = |n: u32| Commit {
        sha: sha(n),
        time: i64::from(n) * 10_000,
        ..Commit::default()
    };
    let files = (1..commits).map(|head| {
        File::new(
            "class".to_owned(),
            step(&sha(head - 1), &sha(head), scenarios, (head, commits)),
        )
    });
    let known = Known {
        files: files.collect(),
        ..Known::default()
    };
    (Line::new((0..commits).map(commit).collect()), known)
}

/// One commit beside the one before.
pub(crate) fn step(base: &str, head: &str, scenarios: u32, (at, of): (u32, u32)) -> Measurement {
    let point = |sha: &str| Point {
        sha: sha.to_owned(),
        tree: None,
        label: "main".to_owned(),
    };
    let row = |n: u32| {
        // A fixed pseudo-random number (splitmix64 of Steele, Lea and Flood 2014).
        let mut state = (u64::from(at) << 32 | u64::from(n)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        #[expect(clippy::cast_precision_loss, reason = "a coin of sorts")]
        let coin = ((state ^ (state >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
        let slower = if n.is_multiple_of(10) && at == of / 2 {
            0.08
        } else {
            0.0
        };
        Row {
            id: format!("group{}/case{n}", n % 7),
            base: Some(1000.0),
            head: Some(1000.0),
            change: Some(0.02 * coin + slower),
            error: Some(0.006),
            rounds: Some(16),
            verdict: Verdict::Unclear,
        }
    };
    Measurement {
        base: Some(point(base)),
        head: point(head),
        measured_at: String::new(),
        run: format!("run {at}"),
        tool: String::new(),
        host: Host::default(),
        groups: vec![Group {
            kind: Kind::Criterion,
            package: "p".to_owned(),
            target: "ops".to_owned(),
            metric: "time".to_owned(),
            unit: Unit::Ns,
            better: Better::Lower,
            rows: (0..scenarios).map(row).collect(),
        }],
    }
}
