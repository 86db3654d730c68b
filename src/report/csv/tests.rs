//! What tables read, to the letter.

use super::render;
use crate::report::row::COLUMNS;
use crate::report::{json, sample};

#[test]
fn the_sample_as_csv() {
    // A right-to-left override would reverse this file in an editor.
    let text = render(&sample::report()).replace('\u{202e}', "<RLO>");
    insta::assert_snapshot!(text, @r#"
    scenario,kind,package,target,metric,unit,better,base,head,change,low,high,floor,detectable,rounds,confirmed,instructions_change,verdict,flag,notes
    matmul/f32/8x1024x1024,criterion,kernels,ops,time,ns,lower,1049000.0,1178027.0,0.123,0.11699999999999999,0.1284,0.0048000000000000004,0.009600000000000001,16,true,,regressed,alert,instructions did not change: layout suspected
    gather/bf16,criterion,kernels,ops,time,ns,lower,12340.0,12981.68,0.052,0.020999999999999998,0.0799,0.024800000000000003,0.049600000000000005,16,false,,unclear,unclear,"not confirmed: +5.2 % at first, +0.3 % with fresh processes"
    add|`f16`/*1_000*,criterion,kernels,ops,time,ns,lower,402.0,415.668,0.034,0.023000000000000003,0.0439,0.0088,0.0176,16,true,,regressed,warn,
    reduce_mean/<script>,criterion,kernels,ops,time,ns,lower,88000000.0,88967999.99999999,0.011,-0.05,0.0659,0.0488,0.0976,16,,,unclear,unclear,needs about 208 rounds to show 2 %
    "add/f32/a_very_long_parameter_list/with_many_parts/and_another_one/rows=4096,cols=1024",criterion,kernels,ops,time,ns,lower,1234.5,1238.3269500000001,0.0031,-0.0049,0.0103,0.0064,0.0128,16,,,unchanged,ok,
    add/f32/1,criterion,kernels,ops,time,ns,lower,1.5,1.5,0.0,0.0,0.0,0.0,0.0,16,,,unchanged,ok,
    logits/penalty,criterion,kernels,ops,time,ns,lower,999.96,809.9676000000001,-0.19,-0.21,-0.172,0.016,0.032,16,true,,improved,faster,
    sampling/top_p,criterion,kernels,ops,time,ns,lower,1500.0,3100.0,,,,,,,,,not_comparable,none,bench source changed: benches/ops.rs:41
    "kv_cache/pages
    @everyone",criterion,kernels,ops,time,ns,lower,0.402,,,,,,,,,,failed,none,"head crashed in round 3:
    thread 'main' panicked at src/kv.rs:12:
      index out of bounds </details> ```"
    matmul/hang,criterion,kernels,ops,time,ns,lower,,,,,,,,,,,unclear,unclear,
    tokenize/日本 µ,criterion,kernels,ops,time,ns,lower,2000000000.0,2000000000.0,,,,,,,,,identical,none,
    grammar/<RLO>mask ,criterion,kernels,ops,time,ns,lower,,31.4,,,,,,,,,new,none,
    grammar/old,criterion,kernels,ops,time,ns,lower,30.9,,,,,,,,,,removed,none,
    "#);
}

#[test]
fn a_report_without_rows_still_has_its_header() {
    assert_eq!(render(&sample::empty()), format!("{}\n", COLUMNS.join(",")));
}

#[test]
fn columns_are_the_keys_of_json_findings_in_their_order() {
    let json = json::render(&sample::report());
    let (_, findings) = json.split_once("\"findings\"").unwrap();
    let mut rest = findings;
    for column in COLUMNS {
        let (_, after) = rest.split_once(&format!("\"{column}\":")).unwrap();
        rest = after;
    }
}

#[test]
fn ids_come_back_as_they_were() {
    let ids = [
        "=1+1",
        "+a",
        "-b",
        "@c",
        "\td",
        "quote\"comma,",
        "line\nbreak",
        " space ",
        "日本",
        "",
    ];
    let mut report = sample::empty();
    report.findings = ids.iter().map(|id| sample::unchanged(id)).collect();
    let text = render(&report);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let read: Vec<String> = reader
        .records()
        .map(|record| record.unwrap()[0].to_owned())
        .collect();
    assert_eq!(read, ids);
}

#[test]
fn several_notes_share_a_cell() {
    let mut report = sample::empty();
    let mut finding = sample::unchanged("a");
    finding.notes = vec!["one".to_owned(), "two".to_owned()];
    report.findings.push(finding);
    assert!(render(&report).ends_with(",one; two\n"));
}
