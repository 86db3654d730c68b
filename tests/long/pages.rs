//! Pages in a real browser: they open from a file, sort, search, show charts, change their colours, and fit a phone.
//!
//! A script that stands behind the page's own plays the reader and writes down what it saw; chromium prints the document.

use abreast::history::Commit;
use abreast::history::chain::{Begins, Level, Stretch};
use abreast::history::change::Shape;
use abreast::history::trend::{Change, Series, Trend};
use abreast::judge;
use abreast::metric::Metric;
use abreast::plan::Policy;
use abreast::recording::Recording;
use abreast::report::trend::{self, Format as TrendFormat};
use abreast::report::{Format, Options, render};
use abreast::scenario::{Kind, Scenario, Target};
use abreast::units::Fraction;
use serde_json::Value;
use std::process::Command;

/// The history of a large project: every scenario at every commit.
fn large(scenarios: usize, commits: usize) -> Trend {
    let mut state = 1_u64;
    let mut coin = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        #[expect(clippy::cast_precision_loss, reason = "a coin of sorts")]
        let part = (state >> 33) as f64 / f64::from(1_u32 << 31);
        part - 0.5
    };
    let mut series = |n: usize| {
        let mut level = 0.0;
        let levels: Vec<Level> = (0..commits)
            .map(|commit| {
                level += 0.02 * coin()
                    + if commit == 500 && n.is_multiple_of(10) {
                        0.08
                    } else {
                        0.0
                    };
                #[expect(clippy::cast_precision_loss, reason = "a few thousand commits")]
                let error = 0.006 * (commit as f64).sqrt();
                Level {
                    commit,
                    level,
                    error,
                    walk: 3.6e-5,
                    own: 0.0,
                }
            })
            .collect();
        let change = Change {
            shape: Shape::Jump,
            before: 499,
            at: 500,
            size: 0.083,
            low: 0.07,
            high: 0.1,
            chance: 1e-6,
            worse: true,
            blessed: n.is_multiple_of(20).then(|| "as agreed".to_owned()),
        };
        Series {
            class: "class".to_owned(),
            scenario: Scenario {
                kind: Kind::Criterion,
                target: Target {
                    package: "p".to_owned(),
                    target: "ops".to_owned(),
                },
                id: format!("group{}/case{n}", n % 7),
                metric: Metric::time(),
            },
            latest: Some(100.0 + coin()),
            stretches: vec![Stretch {
                begins: Begins::First,
                levels,
                reference: 0,
            }],
            changes: if n.is_multiple_of(10) {
                vec![change]
            } else {
                Vec::new()
            },
        }
    };
    Trend {
        branch: "main".to_owned(),
        threshold: Fraction(0.02),
        series: (0..scenarios).map(&mut series).collect(),
        commits: (0..commits)
            .map(|n| Commit {
                sha: format!("{:040x}", n + 1),
                tree: String::new(),
                time: 1_700_000_000 + 10_000 * i64::try_from(n).unwrap(),
                subject: format!("Change number {n}"),
                tags: if n % 300 == 100 {
                    vec![format!("v0.{}.0", n / 300)]
                } else {
                    Vec::new()
                },
            })
            .collect(),
        notes: vec!["a note".to_owned()],
        skipped: Vec::new(),
        link: Some("https://example.org/commit/".to_owned()),
    }
}

const READER: &str = r##"<script>(async () => {
  const told = {};
  const wait = () => new Promise((done) => setTimeout(done, 20));
  for (let n = 0; n < 400 && !document.documentElement.dataset.ready; n += 1) await wait();
  const rows = () => [...document.querySelectorAll("tbody tr")];
  const names = () => rows().slice(0, 3).map((row) => row.querySelector("td.name button").textContent);
  const type = (id, value) => { const input = document.getElementById(id); input.value = value; input.dispatchEvent(new Event("input")); };
  const heading = (word) => [...document.querySelectorAll("thead button")].find((button) => button.textContent === word);
  told.rows = rows().length;
  told.first = names();
  told.open = document.querySelector("#detail h2") ? document.querySelector("#detail h2").textContent : null;
  heading("Scenario").click(); told.ascending = names();
  heading("Scenario").click(); told.descending = names();
  told.sorted = document.querySelector("thead th[aria-sort=descending]").textContent;
  type("search", "CASE42"); told.found = names();
  type("search", "nothing like it"); told.none = rows().length;
  type("search", "");
  rows()[0].querySelector("button").click();
  told.heading = document.querySelector("#detail h2").textContent;
  told.focused = document.activeElement.tagName;
  told.shapes = document.querySelectorAll("#detail svg path, #detail svg circle").length;
  const chart = document.querySelector("#detail .chart[tabindex]");
  if (chart) { chart.dispatchEvent(new KeyboardEvent("keydown", { key: "Home" })); told.read = document.querySelector(".readout").textContent; }
  told.links = [...document.querySelectorAll("#detail a")].map((link) => link.href).slice(0, 2);
  told.paper = getComputedStyle(document.body).backgroundColor;
  document.getElementById("theme").click();
  told.other = getComputedStyle(document.body).backgroundColor;
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  told.closed = document.querySelector("#detail").childElementCount === 0;
  told.fits = document.documentElement.scrollWidth <= innerWidth;
  told.requests = performance.getEntriesByType("resource").length;
  const box = document.createElement("pre"); box.id = "told"; box.textContent = JSON.stringify(told); document.body.append(box);
})();</script>"##;

/// What the reader saw; `None` without a browser.
fn read(page: &str, size: &str, more: &[&str]) -> Option<Value> {
    let browser = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| {
            Command::new(name)
                .arg("--version")
                .output()
                .is_ok_and(|output| output.status.success())
        })?;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    std::fs::write(&path, page.replace("</body>", &format!("{READER}</body>"))).unwrap();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--dump-dom",
            "--virtual-time-budget=20000",
        ])
        .arg(format!("--window-size={size}"))
        .arg(format!(
            "--user-data-dir={}",
            folder.path().join("profile").display()
        ))
        .args(more)
        .arg(format!("file://{}", path.display()))
        .output()
        .unwrap();
    let document = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = document.rsplit_once("<pre id=\"told\">").unwrap_or_else(|| {
        panic!(
            "the reader did not come to an end: {}",
            String::from_utf8_lossy(&output.stderr)
        )
    });
    let json = told.1.split("</pre>").next().unwrap();
    let json = json
        .replace("&amp;", "&")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    Some(serde_json::from_str(&json).unwrap())
}

#[test]
#[ignore = "starts a browser, if there is one; some 10 s"]
fn the_page_of_a_large_history_can_be_used_with_mouse_keys_and_thumb() {
    let page = String::from_utf8(trend::render(&large(1000, 2000), TrendFormat::Html)).unwrap();
    assert!(page.len() < 10_000_000, "{} bytes", page.len());
    for (size, dark) in [("1280,900", false), ("390,844", true)] {
        let more: &[&str] = if dark {
            &["--blink-settings=preferredColorScheme=0"]
        } else {
            &[]
        };
        let Some(told) = read(&page, size, more) else {
            return;
        };
        assert_eq!(told["rows"], 1000, "{told}");
        assert_eq!(told["open"], "group3/case10", "{told}");
        assert_eq!(told["ascending"][0], "group0/case0", "{told}");
        assert_eq!(
            (&told["descending"][0], &told["sorted"]),
            (&Value::from("group6/case993"), &Value::from("Scenario"))
        );
        assert!(told["found"][0].as_str().unwrap().contains("case42"), "{told}");
        assert_eq!(told["none"], 0);
        assert_eq!(
            (&told["heading"], &told["focused"]),
            (&Value::from("group6/case993"), &Value::from("H2"))
        );
        assert!(told["shapes"].as_u64().unwrap() >= 2, "{told}");
        assert!(
            told["read"].as_str().unwrap().contains("Change number 0"),
            "{told}"
        );
        assert_ne!(told["paper"], told["other"]);
        assert_eq!(
            (&told["closed"], &told["fits"], &told["requests"]),
            (&Value::Bool(true), &Value::Bool(true), &Value::from(0)),
            "{told}"
        );
    }
}

#[test]
#[ignore = "starts a browser, if there is one; some 5 s"]
fn the_page_of_a_report_can_be_used_as_well() {
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/recordings/readme.jsonl");
    let recording = Recording::read(std::fs::read(recording).unwrap().as_slice()).unwrap();
    let report = judge::judge(&recording, &Policy::default());
    let page = render(&report, Format::Html, &Options::default());
    for size in ["1280,900", "390,844"] {
        let Some(told) = read(&page, size, &[]) else {
            return;
        };
        assert_eq!(
            told["rows"].as_u64().unwrap(),
            report.findings.len() as u64,
            "{told}"
        );
        assert!(
            told["ascending"][0].as_str() < told["descending"][0].as_str(),
            "{told}"
        );
        assert_ne!(told["paper"], told["other"]);
        assert_eq!(
            (&told["closed"], &told["fits"], &told["requests"]),
            (&Value::Bool(true), &Value::Bool(true), &Value::from(0)),
            "{told}"
        );
    }
}
