use super::*;
use crate::history::file::tests::measurement;

fn sha(n: usize) -> String {
    format!("{n:040x}")
}

fn line(n: usize) -> Line {
    let commit = |n: usize| Commit {
        sha: sha(n),
        tree: format!("tree {n}"),
        time: 1_700_000_000 + 86_400 * i64::try_from(n).unwrap(),
        subject: format!("commit {n}"),
        tags: Vec::new(),
    };
    Line::new((0..n).map(commit).collect())
}

fn question() -> Question {
    Question {
        branch: "main".to_owned(),
        threshold: Fraction(0.02),
        anchor: None,
        link: None,
    }
}

fn step(base: usize, head: usize, rows: &[(&str, f64, f64)]) -> File {
    let mut measured = measurement(Some("a"), "b", rows);
    measured.head.sha = sha(head);
    if let Some(base_point) = &mut measured.base {
        base_point.sha = sha(base);
    }
    File::new("c".to_owned(), measured)
}

/// Forty commits of which one is 8 % slower, measured with errors that are like those of a runner but the same each time.
fn known(of: impl Fn(usize, usize) -> File) -> Known {
    Known {
        files: (1..40).map(|head| of(head - 1, head)).collect(),
        ..Known::default()
    }
}

fn wobble(n: usize) -> f64 {
    [0.004, -0.007, 0.009, -0.002, -0.006, 0.003, 0.001, -0.001][n % 8]
}

fn slower_at(at: usize, id: &'static str) -> impl Fn(usize, usize) -> File {
    move |base, head| {
        let change = if head == at { 0.08 } else { wobble(head) };
        step(base, head, &[(id, change, 0.006)])
    }
}

fn summary(trend: &Trend) -> Vec<String> {
    let of = |series: &Series, change: &Change| {
        format!(
            "{} {:?} {}-{} {:+.0} %{}{}",
            series.scenario.id,
            change.shape,
            change.before,
            change.at,
            change.size * 100.0,
            if change.worse { " worse" } else { "" },
            change
                .blessed
                .as_ref()
                .map(|reason| format!(" ({reason})"))
                .unwrap_or_default()
        )
    };
    let all = trend
        .series
        .iter()
        .flat_map(|series| series.changes.iter().map(move |change| (series, change)));
    all.map(|(series, change)| of(series, change)).collect()
}

#[test]
fn a_slower_commit_is_found_named_and_stays_open_until_it_is_blessed() {
    let mut known = known(slower_at(20, "add"));
    let trend = Trend::new(&line(40), &known, &question());
    assert_eq!(summary(&trend), ["add Jump 19-20 +8 % worse"]);
    assert_eq!(trend.open().len(), 1);
    assert!(trend.series[0].is_open());
    let blessing = |n: usize, scenario: Option<&str>| Blessing {
        commit: sha(n),
        reason: "checks bounds".to_owned(),
        scenario: scenario.map(str::to_owned),
        blessed_at: String::new(),
    };
    for other in [blessing(23, None), blessing(20, Some("^sum")), blessing(18, None)] {
        known.blessings = vec![other];
        assert_eq!(Trend::new(&line(40), &known, &question()).open().len(), 1);
    }
    known.blessings = vec![blessing(20, Some("^add$"))];
    let trend = Trend::new(&line(40), &known, &question());
    assert_eq!(summary(&trend), ["add Jump 19-20 +8 % worse (checks bounds)"]);
    assert!(trend.open().is_empty() && !trend.series[0].is_open());
}

#[test]
fn what_is_small_is_not_reported_and_what_is_faster_is_no_bad_news() {
    let of = |size: f64| {
        let files =
            known(move |base, head| step(base, head, &[("add", if head == 20 { size } else { 0.0 }, 0.001)]));
        summary(&Trend::new(&line(40), &files, &question()))
    };
    assert_eq!(of(0.015), [""; 0]);
    assert_eq!(of(-0.05), ["add Jump 19-20 -5 %"]);
}

#[test]
fn a_renamed_scenario_goes_on_only_if_somebody_says_so() {
    let renamed = |base: usize, head: usize| {
        let id = if head < 25 { "add" } else { "sum" };
        step(base, head, &[(id, wobble(head), 0.006)])
    };
    let mut known = known(renamed);
    let names = |known: &Known| {
        let trend = Trend::new(&line(40), known, &question());
        let of = |series: &Series| (series.scenario.id.clone(), series.levels().count());
        trend.series.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(names(&known), [("add".to_owned(), 25), ("sum".to_owned(), 16)]);
    known.aliases = Aliases::parse("[[rename]]\nfrom = 'add'\nto = 'sum'").unwrap();
    assert_eq!(names(&known), [("sum".to_owned(), 40)]);
}

#[test]
fn another_class_of_machines_is_another_history_unless_it_is_bridged() {
    let moved = |base: usize, head: usize| {
        let mut file = step(base, head, &[("add", wobble(head), 0.006)]);
        if head >= 25 {
            file.class = "d".to_owned();
        }
        file
    };
    let mut known = known(moved);
    assert_eq!(Trend::new(&line(40), &known, &question()).series.len(), 2);
    known.aliases = Aliases::parse("[[bridge]]\nfrom = 'c'\nto = 'd'\nreason = 'same processor'").unwrap();
    let trend = Trend::new(&line(40), &known, &question());
    assert_eq!((trend.series.len(), trend.series[0].stretches.len()), (1, 1));
    assert_eq!(
        trend.notes,
        ["measurements of `c` are read as those of `d`: same processor"]
    );
}

#[test]
fn commits_that_were_rebased_are_found_by_their_files_and_others_are_named() {
    let files = known(|base, head| {
        let mut file = step(base, head, &[("add", wobble(head), 0.006)]);
        let measured = &mut file.measurements[0];
        if head == 10 {
            measured.head.sha = "f".repeat(40);
            measured.head.tree = Some("tree 10".to_owned());
        }
        if head == 30 {
            measured.head.sha = "e".repeat(40);
        }
        file
    });
    let trend = Trend::new(&line(40), &files, &question());
    let lengths: Vec<usize> = trend.series[0]
        .stretches
        .iter()
        .map(|stretch| stretch.levels.len())
        .collect();
    assert_eq!(lengths, [30, 10]);
    assert_eq!(
        trend.notes,
        [
            "1 measured commit was written anew with the same files and is read as what it became",
            "1 measured commit of other branches, or of history that this clone does not have, left out: eeeeeeeeee",
        ]
    );
}

#[test]
fn levels_are_told_relative_to_the_newest_release_or_the_commit_that_was_asked_for() {
    let mut commits = line(40).commits().to_vec();
    commits[5].tags = vec!["v0.9.0".to_owned()];
    commits[15].tags = vec!["nightly".to_owned(), "abreast-v1.0".to_owned()];
    let line = Line::new(commits);
    let known = known(slower_at(20, "add"));
    let reference =
        |question: &Question| Trend::new(&line, &known, question).series[0].stretches[0].reference;
    assert_eq!(reference(&question()), 15);
    let asked = Question {
        anchor: Some(sha(3)),
        ..question()
    };
    assert_eq!(reference(&asked), 3);
    assert!(!is_release("v1") && !is_release("1.x") && is_release("v10.2.1") && !is_release("build"));
}

#[test]
fn a_commit_beside_itself_and_an_empty_history_say_nothing() {
    let known = Known {
        files: vec![step(3, 3, &[("add", 0.0, 0.01)])],
        ..Known::default()
    };
    let trend = Trend::new(&line(5), &known, &question());
    assert!(trend.series.is_empty() && trend.commits.is_empty() && trend.open().is_empty());
}

/// Normal numbers (Box and Muller 1958).
fn normal(random: &mut rand::rngs::ChaCha8Rng) -> f64 {
    use rand::RngExt as _;
    let (one, two): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * two).cos()
}

/// 1 in 20 histories may report something; of 80, that more than 10 do has a probability of 0.3 %.
#[test]
fn histories_of_unchanged_code_report_nothing_nearly_always() {
    use rand::SeedableRng as _;
    let mut random = rand::rngs::ChaCha8Rng::seed_from_u64(8);
    let ids: Vec<String> = (0..15).map(|n| format!("case {n}")).collect();
    let mut reported = 0;
    for _ in 0..80 {
        // Layout luck of each commit, which its neighbours do not share, on top of the errors of comparisons.
        let mut luck = vec![0.0; ids.len()];
        let files = (1..40).map(|head| {
            let rows: Vec<(&str, f64, f64)> = ids
                .iter()
                .zip(&mut luck)
                .map(|(id, luck)| {
                    let next = 0.006 * normal(&mut random);
                    let change = next - std::mem::replace(luck, next) + 0.008 * normal(&mut random);
                    (id.as_str(), change.exp_m1(), 0.008)
                })
                .collect();
            step(head - 1, head, &rows)
        });
        let known = Known {
            files: files.collect(),
            ..Known::default()
        };
        let anything = Question {
            threshold: Fraction(0.0),
            ..question()
        };
        reported += usize::from(!Trend::new(&line(40), &known, &anything).open().is_empty());
    }
    assert!(reported <= 10, "{reported} of 80");
}
