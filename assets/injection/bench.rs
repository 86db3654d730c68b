use criterion::{Criterion, criterion_group, criterion_main};
use injected::{EXTRA, UNITS, lanes};
use std::hint::black_box;

fn injected(criterion: &mut Criterion) {
    for (lane, extra) in lanes().into_iter().zip(black_box(EXTRA)) {
        let units = UNITS + extra;
        criterion.bench_function(&lane.id.clone(), |bencher| bencher.iter(|| lane.run(black_box(units))));
    }
}

criterion_group!(benches, injected);
criterion_main!(benches);
