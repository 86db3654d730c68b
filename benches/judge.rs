//! The tool's own hot loops: reading a recording, judging it, rendering the report.

mod synthetic;

use abreast::judge;
use abreast::plan::Policy;
use abreast::recording::Recording;
use abreast::report::{Format, render, terminal::Options};
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
    let formats = [Format::Term, Format::Md, Format::Json, Format::Csv, Format::Svg];
    for (format, name) in formats.into_iter().zip(["term", "md", "json", "csv", "svg"]) {
        group.bench_with_input(BenchmarkId::new(name, 400), &report, |b, report| {
            b.iter(|| render(black_box(report), format, &Options::default()));
        });
    }
    group.finish();
}

criterion_group!(all, halves, renderers);
criterion_main!(all);
