//! The tool's own hot loops: reading a recording, judging it, rendering the report; and reading a history, finding what
//! changed, rendering its page.

#[path = "synthetic/history.rs"]
mod remembered;
mod synthetic;

use abreast::history::trend::{Question, Trend};
use abreast::history::{File, append};
use abreast::judge;
use abreast::plan::Policy;
use abreast::recording::Recording;
use abreast::report::trend;
use abreast::report::{Format, render, terminal::Options};
use abreast::units::Fraction;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

fn halves(c: &mut Criterion) {
    let mut group = c.benchmark_group("recording");
    for (scenarios, rounds) in [(100, 40), (400, 40), (100, 160)] {
        let text = synthetic::recording(scenarios, rounds);
        let size = format!("{scenarios}x{rounds}");
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("read", &size), &text, |b, text| {
            b.iter(|| Recording::read(black_box(text.as_slice())).map(|recording| recording.slots.len()));
        });
        let Ok(recording) = Recording::read(text.as_slice()) else {
            continue;
        };
        group.throughput(Throughput::Elements(u64::from(scenarios * rounds)));
        group.bench_with_input(BenchmarkId::new("judge", &size), &recording, |b, recording| {
            b.iter(|| judge::judge(black_box(recording), &Policy::default()));
        });
    }
    group.finish();
}

fn renderers(c: &mut Criterion) {
    let mut group = c.benchmark_group("render");
    let Ok(recording) = Recording::read(synthetic::recording(400, 16).as_slice()) else {
        return;
    };
    let report = judge::judge(&recording, &Policy::default());
    let formats = [
        Format::Term,
        Format::Md,
        Format::Json,
        Format::Csv,
        Format::Html,
        Format::Svg,
    ];
    for (format, name) in formats
        .into_iter()
        .zip(["term", "md", "json", "csv", "html", "svg"])
    {
        group.bench_with_input(BenchmarkId::new(name, 400), &report, |b, report| {
            b.iter(|| render(black_box(report), format, &Options::default()));
        });
    }
    group.finish();
}

fn history(c: &mut Criterion) {
    let mut group = c.benchmark_group("history");
    group.sample_size(10);
    let question = Question {
        branch: "main".to_owned(),
        threshold: Fraction(0.02),
        anchor: None,
        link: None,
    };
    for (scenarios, commits) in [(100, 250), (100, 500), (100, 1000)] {
        let size = format!("{scenarios}x{commits}");
        let (line, known) = remembered::history(scenarios, commits);
        group.throughput(Throughput::Elements(u64::from(scenarios * commits)));
        group.bench_with_input(BenchmarkId::new("trend", &size), &known, |b, known| {
            b.iter(|| Trend::new(&line, black_box(known), &question).open().len());
        });
        let found = Trend::new(&line, &known, &question);
        group.bench_with_input(BenchmarkId::new("page", &size), &found, |b, found| {
            b.iter(|| trend::render(black_box(found), trend::Format::Html).len());
        });
    }
    let one = remembered::step(&"a".repeat(40), &"b".repeat(40), 1000, (1, 2));
    let file = File::new("class".to_owned(), one.clone()).to_json();
    group.throughput(Throughput::Bytes(file.len() as u64));
    group.bench_function("read/1000", |b| b.iter(|| File::parse(black_box(&file)).is_ok()));
    group.bench_function("append/1000", |b| {
        b.iter(|| append(Some(black_box(&file)), "class", &one).map(|bytes| bytes.len()));
    });
    group.finish();
}

criterion_group!(all, halves, renderers, history);
criterion_main!(all);
