//! Recordings: judged later, in parts, damaged.

use crate::support::bench::TestBench;
use crate::support::files::Files;
use crate::support::report::Report;
use crate::support::script::five;
use serde_json::Value;
use std::path::Path;

fn findings(report: &Report) -> Value {
    report.0["findings"].clone()
}

#[test]
fn a_recording_judged_later_has_the_findings_of_the_comparison() {
    let at = TestBench::of_suite();
    let base = at.script(&five());
    let head = at.script(
        &five()
            .into_iter()
            .map(|bench| bench.times(1.2))
            .collect::<Vec<_>>(),
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("of-compare.jsonl");
    let file = file.to_str().unwrap();
    let compared = at.compare(&base, &head, &["--rounds", "8", "--recording", file]);
    let judged = at.tool(&["judge", file]).json().run();
    assert_eq!(findings(judged.expect(0)), findings(compared.expect(0)));

    // `record` measures as `compare` does. The findings agree as far as nothing depends on the speed of the machine:
    // numbers of iterations do, and so the rounding of scripted times to whole nanoseconds.
    let file = folder.path().join("deep/of-record.jsonl");
    let file = file.to_str().unwrap();
    let recorded = at
        .tool(&["record", &base, &head, "--seed", "1", "--rounds", "8", "-o", file])
        .run();
    recorded.expect_code(0);
    assert!(!recorded.stdout.contains("g/a"), "{}", recorded.stdout);
    let judged = at.tool(&["judge", file, "--fail-on", "regression"]).json().run();
    let report = judged.expect(1);
    assert_eq!(report.flagged(), compared.expect(0).flagged());
    for row in report.rows() {
        let same = compared.expect(0).row(row.id());
        assert_eq!(row.verdict(), same.verdict());
        assert!((row.change() - same.change()).abs() < 1e-3, "{}", report.table());
    }

    // A report never replaces what it is made from.
    let ended = at.tool(&["judge", file, "--format", "md", "-o", file]).run();
    assert!(ended.refusal(2).contains("would replace the recording"));
    let ended = at.tool(&["judge", file]).json().run();
    ended.expect(0);

    // Other limits, the same numbers.
    let judged = at
        .tool(&["judge", file, "--threshold", "30%", "--margin", "30%"])
        .json()
        .run();
    judged.expect(0).all("unchanged");
}

#[test]
fn shards_measure_every_scenario_once_and_are_judged_as_one() {
    let at = TestBench::of_suite();
    let base = at.script(&five());
    let head = at.script(
        &five()
            .into_iter()
            .map(|bench| bench.times(1.2))
            .collect::<Vec<_>>(),
    );
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<String> = (1..=2)
        .map(|n| {
            let file = folder
                .path()
                .join(format!("{n}.jsonl"))
                .to_str()
                .unwrap()
                .to_owned();
            // The second one learns it from the cluster.
            let shard = if n == 1 { "1/2" } else { "auto" };
            let args = [
                "record", &base, &head, "--rounds", "8", "--shard", shard, "-o", &file,
            ];
            at.tool(&args)
                .env("SLURM_ARRAY_TASK_ID", n.to_string())
                .env("SLURM_ARRAY_TASK_MIN", "1")
                .env("SLURM_ARRAY_TASK_COUNT", "2")
                .run()
                .expect_code(0);
            file
        })
        .collect();
    let alone = at.tool(&["judge", &files[0]]).json().run();
    let mut seen: Vec<String> = alone
        .expect(0)
        .rows()
        .iter()
        .map(|row| row.id().to_owned())
        .collect();
    alone.expect(0).noted("measured by other shards");
    let other = at.tool(&["judge", &files[1]]).json().run();
    seen.extend(other.expect(0).rows().iter().map(|row| row.id().to_owned()));
    seen.sort();
    assert_eq!(seen, ["g/a", "g/b", "g/c", "g/d", "g/e"]);

    let ended = at.tool(&["judge", &files[0], &files[1]]).json().run();
    let report = ended.expect(0);
    report.all("regressed");
    assert_eq!(report.rows().len(), 5);
    assert!(
        report.rows().iter().all(|row| row.0["rounds"] == 8),
        "{}",
        report.table()
    );
    assert!(!report.notes().contains("other shards"), "{}", report.notes());
}

#[test]
fn files_that_are_no_recordings_are_refused_with_the_reason() {
    let at = TestBench::of_own(&Files::fixture("benchless"));
    let folder = tempfile::tempdir().unwrap();
    let judge = |content: &[u8]| {
        let file = folder.path().join("file");
        std::fs::write(&file, content).unwrap();
        let ended = at.tool(&["judge", file.to_str().unwrap()]).json().run();
        ended.refusal(2).to_owned()
    };
    assert!(judge(b"").contains("the recording is empty"));
    assert!(judge(b"PK\x03\x04\xff\xfe").contains("this is not a recording"));
    assert!(judge(b"{\"schema\":\"nightly/1\"}\n").contains("this is not a recording"));
    let said = judge(b"{\"event\":\"header\",\"schema\":\"abreast/recording/9\"}\n");
    assert!(
        said.contains("abreast/recording/9") && said.contains("abreast/recording/1"),
        "{said}"
    );
    let said = judge(b"{\"event\":\"header\",\"schema\":\"abreast/recording/1\"}\n");
    assert!(said.contains("line 1"), "{said}");
    let ended = at.tool(&["judge", "no-such-file"]).json().run();
    assert!(ended.refusal(2).contains("no-such-file"));
}

#[test]
fn a_recording_that_was_cut_off_is_judged_as_far_as_it_goes_and_a_damaged_one_is_refused() {
    let at = TestBench::of_suite();
    let base = at.script(&five());
    let head = at.script(
        &five()
            .into_iter()
            .map(|bench| bench.times(1.2))
            .collect::<Vec<_>>(),
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("whole.jsonl");
    let file = path.to_str().unwrap();
    at.tool(&[
        "record",
        &base,
        &head,
        "--rounds",
        "8",
        "--no-confirm",
        "-o",
        file,
    ])
    .run()
    .expect_code(0);
    let text = std::fs::read(&path).unwrap();
    let judge = |name: &str, content: &[u8]| {
        let file = folder.path().join(name);
        std::fs::write(&file, content).unwrap();
        at.tool(&["judge", Path::new(&file).to_str().unwrap()])
            .json()
            .run()
    };
    // At every length the answer is a report or a refusal with a reason; never a crash.
    for part in 1..20 {
        let cut = judge("cut", &text[..text.len() * part / 20]);
        assert!([Some(0), Some(2), Some(3)].contains(&cut.code), "{}", cut.stderr);
        assert_eq!(cut.report.is_some(), cut.code != Some(2), "{}", cut.stderr);
    }
    let cut = judge("cut", &text[..text.len() - 200]);
    cut.expect(0).noted("the recording was cut off");

    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let mut damaged = lines.clone();
    damaged[5] = b"{\"event\":\"slot\"}";
    let ended = judge("damaged", &damaged.join(&b'\n'));
    assert!(
        ended.refusal(2).contains("line 6 of the recording is damaged"),
        "{}",
        ended.stderr
    );

    let twice = at.tool(&["judge", file, file]).json().run();
    assert!(twice.refusal(2).contains("given twice"), "{}", twice.stderr);
    let file_of_others = folder.path().join("others.jsonl");
    let args = [
        "record",
        &head,
        &base,
        "--rounds",
        "8",
        "--no-confirm",
        "-o",
        file_of_others.to_str().unwrap(),
    ];
    at.tool(&args).run().expect_code(0);
    let ended = at
        .tool(&["judge", file, file_of_others.to_str().unwrap()])
        .json()
        .run();
    assert!(
        ended.refusal(2).contains("do not belong together"),
        "{}",
        ended.stderr
    );
}
