use super::*;
use crate::history::Commit;

fn sha(digit: char) -> String {
    digit.to_string().repeat(40)
}

fn file(path: &str, text: &str) -> Vec<(String, Vec<u8>)> {
    vec![(path.to_owned(), text.as_bytes().to_vec())]
}

const DATA_JS: &str = r#"window.BENCHMARK_DATA = {
  "lastUpdate": 1700000000000, "repoUrl": "https://github.com/o/r",
  "entries": {"Rust": [{"commit": {"author": {}, "id": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "message": "m", "timestamp": "2023-11-14T22:13:20Z", "url": ""},
    "date": 1700000000000, "tool": "cargo", "benches": [
      {"name": "add/64", "value": 1234, "range": "± 1,012", "unit": "ns/iter"},
      {"name": "rate", "value": 5.5, "unit": "ops/sec"}]}]}}"#;

#[test]
fn data_js_is_read_with_units_and_spreads() {
    let read = Foreign::GithubActionBenchmark
        .read(&file("data.js", DATA_JS), None)
        .unwrap();
    let shown: Vec<_> = read
        .iter()
        .map(|each| {
            (
                each.id.as_str(),
                each.metric.name.as_str(),
                each.value,
                each.error,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("add/64", "time", 1234.0, Some(1012.0)),
            ("rate", "rate", 5.5, None)
        ]
    );
    assert_eq!(
        (read[0].commit.clone(), read[0].at.as_str()),
        (sha('a'), "2023-11-14T22:13:20Z")
    );
    let kept = measurements(&read, Foreign::GithubActionBenchmark, "0.1.0");
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].0, "github-action-benchmark-rust");
    assert_eq!(kept[0].1.groups.len(), 2);
}

#[test]
fn what_is_not_the_format_is_refused_with_what_is_wrong() {
    let commit = sha('a');
    let refused =
        |of: Foreign, text: &str, commit| of.read(&file("f", text), commit).unwrap_err().to_string();
    assert!(
        refused(Foreign::GithubActionBenchmark, "[]", None)
            .contains("f is not what github-action-benchmark writes")
    );
    let unit = DATA_JS.replace("ops/sec", "points");
    assert!(refused(Foreign::GithubActionBenchmark, &unit, None).contains("`rate` has the unit `points`"));
    let short = DATA_JS.replace(&sha('a'), "aaaa");
    assert!(refused(Foreign::GithubActionBenchmark, &short, None).contains("`aaaa`, which is no full id"));
    assert!(refused(Foreign::Bmf, "{}", None).contains("add --commit"));
    assert!(refused(Foreign::Bmf, "{}", Some(commit.as_str())).contains("there is nothing of Bencher"));
    assert!(
        refused(
            Foreign::Bmf,
            r#"{"a":{"score":{"value":1}}}"#,
            Some(commit.as_str())
        )
        .contains("unit `score`")
    );
    assert!(refused(Foreign::Asv, "{}", None).contains("there is nothing of asv"));
    let nothing = Foreign::Asv.read(&file("m/x.json", "{}"), None).unwrap_err();
    assert!(
        nothing.to_string().contains("there is no `commit_hash`"),
        "{nothing}"
    );
}

#[test]
fn bencher_criterion_and_asv_are_read() {
    let commit = sha('b');
    let bmf = r#"{"add": {"latency": {"value": 88.0, "lower_value": 87.0, "upper_value": 89.0}}}"#;
    let read = Foreign::Bmf.read(&file("bmf.json", bmf), Some(&commit)).unwrap();
    assert_eq!(
        (read[0].value, read[0].error, &read[0].commit),
        (88.0, Some(1.0), &commit)
    );
    let files = [
        (
            "g/add/new/benchmark.json",
            r#"{"group_id":"g","function_id":"add","full_id":"g/add"}"#,
        ),
        (
            "g/add/new/estimates.json",
            r#"{"mean":{},"median":{"point_estimate":42.5,"standard_error":0.5,"confidence_interval":{}}}"#,
        ),
        ("g/add/base/estimates.json", "{}"),
        ("report/index.html", ""),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    let read = Foreign::Criterion.read(&files, Some(&commit)).unwrap();
    assert_eq!(
        (read[0].id.as_str(), read[0].value, read[0].error),
        ("g/add", 42.5, Some(0.5))
    );
    let two = format!(
        r#"{{"commit_hash":"{commit}","env_name":"py3","date":1700000000000,"params":{{"machine":"box"}},"version":2,
            "result_columns":["result","params","version"],
            "results":{{"s.T.time_add":[[0.001,null,0.003],[["64","128","256"]],"v"],"s.track_x":[[1.0],[]],"s.mem_y":[[7],[]]}}}}"#
    );
    let read = Foreign::Asv
        .read(&file("results/box/b-py3.json", &two), None)
        .unwrap();
    let shown: Vec<_> = read
        .iter()
        .map(|each| (each.id.as_str(), each.metric.unit.as_str(), each.value))
        .collect();
    assert_eq!(
        shown,
        [
            ("s.T.time_add(64)", "ns", 1e6),
            ("s.T.time_add(256)", "ns", 3e6),
            ("s.mem_y", "bytes", 7.0)
        ]
    );
    assert_eq!(read[0].class, "asv box py3");
    let one =
        format!(r#"{{"commit_hash":"{commit}","params":{{}},"results":{{"a.time_b":0.5}},"version":1}}"#);
    let read = Foreign::Asv.read(&file("x/y.json", &one), None).unwrap();
    assert_eq!((read.len(), read[0].value), (1, 5e8));
}

/// What a history exports, the same program's reader takes up again.
#[test]
fn what_is_written_can_be_read_again() {
    let readings: Vec<Reading> = ['a', 'b']
        .into_iter()
        .flat_map(|digit| {
            [("ops", "add/64", 100.0), ("io", "read", 2500.0)].map(|(target, id, value)| Reading {
                commit: sha(digit),
                at: "2023-11-14T22:13:20Z".to_owned(),
                class: "box".to_owned(),
                target: target.to_owned(),
                id: id.to_owned(),
                metric: Metric::time(),
                value,
                error: Some(1.5),
            })
        })
        .collect();
    for (of, expected) in [
        (Foreign::GithubActionBenchmark, 4),
        (Foreign::Bmf, 2),
        (Foreign::Criterion, 2),
        (Foreign::Asv, 4),
    ] {
        let files = of.write(&readings);
        let again = of.read(&files, Some(&sha('b'))).unwrap();
        assert_eq!(again.len(), expected, "{of:?}");
        let mut values: Vec<f64> = again.iter().map(|each| each.value.round()).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        assert_eq!(values, [100.0, 2500.0], "{of:?}");
    }
}

#[test]
fn a_history_exports_the_newest_measurement_of_each_commit_in_order() {
    let mut one = crate::history::file::tests::measurement(Some("1"), "b", &[("add", 0.0, 0.01)]);
    let file_of = |measurement: &Measurement| super::super::File::new("c".to_owned(), measurement.clone());
    let newer = file_of(&one);
    one.head.sha = sha('a');
    let older = file_of(&one);
    let commit = |digit: char| Commit {
        sha: sha(digit),
        ..Commit::default()
    };
    let found = readings(&[newer, older], &[commit('a'), commit('b')]);
    let order: Vec<&str> = found.iter().map(|reading| &reading.commit[..1]).collect();
    assert_eq!(order, ["a", "b"]);
    assert_eq!((found[0].value, found[0].error), (100.0, Some(1.0)));
    assert!(readings(&[], &[commit('a')]).is_empty());
}
