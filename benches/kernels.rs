//! The kernels of an inference engine, on CPU: adding a row, means, rows of a table, and matrix products, in the types
//! that models are stored in, on one thread and on eight.
//!
//! Data are made and threads started outside of what is timed. What is read once per token in an engine is not hot in
//! cache there, so additions and gathers go round through more memory than a core's own caches hold. The throughput of
//! a product counts operations, two for each multiplication, not numbers that come out.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use half::{bf16, f16};
use kernels::ops::add::add;
use kernels::ops::gather::gather;
use kernels::ops::matmul::{Backend, matmul};
use kernels::ops::reduce_mean::reduce_mean;
use kernels::{Element, Tensor};
use rayon::ThreadPoolBuilder;
use std::hint::black_box;

/// Bytes that additions and gathers go round through: several times the cache that a core has to itself.
const ROUND: usize = 16 << 20;

const ADDITIONS: [(&str, &[usize]); 3] = [
    ("small", &[1024]),
    ("medium", &[256, 1024]),
    ("large", &[1024, 4096]),
];

fn adds(c: &mut Criterion) {
    for (size, shape) in ADDITIONS {
        add_of::<f32>(c, size, shape);
        add_of::<f16>(c, size, shape);
        add_of::<bf16>(c, size, shape);
    }
}

fn add_of<T: Element>(c: &mut Criterion, size: &str, shape: &[usize]) {
    let elements: usize = shape.iter().product();
    let mut group = c.benchmark_group("add");
    group.throughput(Throughput::Elements(elements as u64));
    group.bench_function(id::<T>(size, elements), |b| {
        let first = Tensor::<T>::pattern(shape);
        let row = Tensor::<T>::pattern(&[first.width()]);
        let copies = (ROUND / (2 * elements * T::DTYPE.bytes())).max(1);
        let mut round = vec![(first.clone(), first); copies];
        let mut at = 0;
        b.iter(|| {
            let (input, out) = &mut round[at];
            at = if at + 1 < copies { at + 1 } else { 0 };
            add(black_box(input), black_box(&row), out).expect("shapes fit");
        });
    });
}

fn reduce_means(c: &mut Criterion) {
    for (size, shape) in [
        ("small", [32, 128]),
        ("medium", [128, 512]),
        ("large", [256, 1024]),
    ] {
        let elements: usize = shape.iter().product();
        let mut group = c.benchmark_group("reduce_mean");
        group.throughput(Throughput::Elements(elements as u64));
        group.bench_function(id::<f32>(size, elements), |b| {
            let input = Tensor::<f32>::pattern(&shape);
            let mut out = Tensor::zeros(&[shape[0], 1]);
            b.iter(|| reduce_mean(black_box(&input), &mut out).expect("shapes fit"));
        });
    }
}

fn gathers(c: &mut Criterion) {
    let sizes = [
        ("small", [4096, 128], 32),
        ("medium", [16_384, 256], 128),
        ("large", [32_768, 512], 256),
    ];
    for (size, table, rows) in sizes {
        gather_of::<f32>(c, size, table, rows);
        gather_of::<f16>(c, size, table, rows);
        gather_of::<bf16>(c, size, table, rows);
    }
}

fn gather_of<T: Element>(c: &mut Criterion, size: &str, table: [usize; 2], rows: usize) {
    let elements = rows * table[1];
    let mut group = c.benchmark_group("gather");
    group.throughput(Throughput::Elements(elements as u64));
    group.bench_function(id::<T>(size, elements), |b| {
        let numbers = Tensor::<T>::pattern(&table);
        // Row 97 i of the table, then on from where the last iteration ended, so that all of the table has its turn.
        let turns = table[0] / rows;
        let indices: Vec<u32> = (0..turns * rows)
            .map(|i| u32::try_from(97 * i % table[0]).expect("tables are small"))
            .collect();
        let mut out = Tensor::zeros(&[rows, table[1]]);
        let mut turn = 0;
        b.iter(|| {
            let indices = &indices[turn * rows..][..rows];
            turn = if turn + 1 < turns { turn + 1 } else { 0 };
            gather(black_box(&numbers), black_box(indices), &mut out).expect("rows are there");
        });
    });
}

/// `small/f32/threads=1-internal/1024`, in a group: who works is the operator's own affair.
fn id<T: Element>(size: &str, elements: usize) -> BenchmarkId {
    BenchmarkId::new(format!("{size}/{}/threads=1-internal", T::DTYPE), elements)
}

fn matmuls(c: &mut Criterion) {
    let sizes = [
        ("small", [1, 256, 256]),
        ("medium", [32, 512, 512]),
        ("large", [32, 1024, 1024]),
    ];
    let backends: &[Backend] = if cfg!(target_arch = "x86_64") {
        &[Backend::Generic, Backend::Simd]
    } else {
        &[Backend::Generic]
    };
    for (size, mkn) in sizes {
        for backend in backends {
            for threads in [1, 8] {
                matmul_of::<f32>(c, size, mkn, *backend, threads);
                matmul_of::<f16>(c, size, mkn, *backend, threads);
                matmul_of::<bf16>(c, size, mkn, *backend, threads);
            }
        }
    }
}

fn matmul_of<T: Element>(
    c: &mut Criterion,
    size: &str,
    [m, k, n]: [usize; 3],
    backend: Backend,
    threads: usize,
) {
    let mut group = c.benchmark_group("matmul");
    group.throughput(Throughput::Elements(2 * (m * k * n) as u64));
    let function = format!("{size}/{}/{}/threads={threads}", backend.name(), T::DTYPE);
    group.bench_function(BenchmarkId::new(function, format!("{m}x{k}x{n}")), |b| {
        let (left, right) = (Tensor::<T>::pattern(&[m, k]), Tensor::<T>::pattern(&[k, n]));
        let mut out = Tensor::zeros(&[m, n]);
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads start");
        // The whole of the timing runs in the pool: stepping into it once per product would be a good part of a small
        // one.
        pool.install(|| {
            b.iter(|| matmul(black_box(&left), black_box(&right), backend, &mut out).expect("shapes fit"));
        });
    });
}

criterion_group!(benches, adds, reduce_means, gathers, matmuls);
criterion_main!(benches);
