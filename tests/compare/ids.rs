//! Ids that break what is not careful.

use crate::support::bench::TestBench;
use crate::support::files::Files;
use crate::support::script::{Bench, bench, suite};

/// The suite with `benches/ids.rs` as its bench, which registers ids as they are.
fn raw(script: &[Bench]) -> Files {
    suite(script)
        .replaced("Cargo.toml", "name = \"scripted\"", "name = \"ids\"")
        .without("benches/scripted.rs")
        .and(Files::fixture("ids"))
}

#[test]
fn awkward_ids_stay_apart_and_arrive_as_they_are() {
    let at = TestBench::of_suite();
    let alike = "x".repeat(64);
    let (one, two, between) = (format!("{alike}1"), format!("{alike}2"), format!("{alike}0"));
    let long = "long ".repeat(60);
    let ids = [
        "g/a/b",
        "pipe|pipe",
        "tick`tick",
        "star*star",
        "<b>less</b>",
        "ünïcødé 測定",
        "trailing ",
        "quote\"quote",
        "back\\slash",
        "(group)+[a-z]$",
        "@someone #1",
        "g/a",
        &one,
        &two,
        &long,
    ];
    let slow = "star*star";
    let of = |ids: &[&str], factor: f64| {
        let one = |id: &&str| bench(id, 1e5).times(if *id == slow { factor } else { 1.0 });
        at.commit(&raw(&ids.iter().map(one).collect::<Vec<_>>()))
    };
    let base = of(&ids, 1.0);
    // Between ids that are cut to the same folder name, so that criterion's numbered folders mean others on head.
    let mut shifted = ids.to_vec();
    shifted.insert(12, &between);
    let head = of(&shifted, 2.0);

    let folder = tempfile::tempdir().unwrap();
    let markdown = folder.path().join("report.md");
    let ended = at
        .comparing(&base, &head, &["--rounds", "8"])
        .args(&["--format", "md", "-o", markdown.to_str().unwrap()])
        .run();
    let report = ended.expect(0);
    for id in ids {
        assert_eq!(report.row(id).0["rounds"], 8, "{id}: {}", report.table());
    }
    assert_eq!(report.row(&between).verdict(), "new");
    assert_eq!(report.flagged(), [slow], "{}", report.table());
    assert_eq!(report.rows().len(), ids.len() + 1);

    let text = std::fs::read_to_string(markdown).unwrap();
    let unescaped = |line: &str| line.replace("\\\\", "").replace("\\|", "").matches('|').count();
    let tables: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert!(tables.len() > ids.len(), "{text}");
    for line in &tables {
        assert_eq!(unescaped(line), 8, "a row of another width: {line}");
    }
    // Inside code an id is shown as it is; outside it would be markup, or call somebody.
    let text = text.replace("``tick`tick``", "`tick`");
    let outside: Vec<&str> = text.split('`').step_by(2).collect();
    assert!(
        !outside.concat().contains("<b>") && !outside.concat().contains('@'),
        "{text}"
    );
}

#[test]
fn an_id_in_two_targets_and_an_id_twice_in_one_target_are_rows_of_their_own() {
    let at = TestBench::of_suite();
    let both = |factor: f64| {
        let script = [
            bench("group/fn", 1e5).times(factor),
            bench("group/fn", 1e6),
            bench("group/other", 1e5),
        ];
        at.commit(&suite(&script).and(Files::fixture("ids")).replaced(
            "Cargo.toml",
            "[[bench]]\nname = \"scripted\"",
            "[[bench]]\nname = \"ids\"\nharness = false\n\n[[bench]]\nname = \"scripted\"",
        ))
    };
    let ended = at.compare(&both(1.0), &both(2.0), &["--rounds", "8"]);
    let report = ended.expect(0);
    let mut rows: Vec<String> = report
        .rows()
        .iter()
        .map(|row| format!("{} {} {}", row.target(), row.id(), row.verdict()))
        .collect();
    rows.sort();
    assert_eq!(rows.len(), 6, "{rows:#?}");
    for target in ["ids", "scripted"] {
        assert!(
            rows.contains(&format!("{target} group/fn regressed")),
            "{rows:#?}"
        );
        assert!(
            rows.iter()
                .any(|row| row.starts_with(&format!("{target} group/fn #2"))),
            "{rows:#?}"
        );
    }
    assert_eq!(report.flagged(), ["group/fn", "group/fn"], "{}", report.table());
}
