//! 57 small scenarios from nanoseconds to milliseconds - arithmetic, branches, memory, allocation, text, two threads -
//! with nothing of the tool in them: the suite on which the noise figures in docs/performance.md are measured.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reproducible numbers (xorshift; Marsaglia 2003).
fn numbers(count: usize) -> Vec<u64> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
    .take(count)
    .collect()
}

fn floats(count: usize) -> Vec<f32> {
    #[expect(clippy::cast_precision_loss, reason = "24 bits")]
    numbers(count)
        .into_iter()
        .map(|number| (number >> 40) as f32 / 16_777_216.0)
        .collect()
}

/// Instructions only: 0.3 ns to 100 µs.
fn arithmetic(c: &mut Criterion) {
    let mut group = c.benchmark_group("arithmetic");
    group.bench_function("add", |b| b.iter(|| black_box(1_u64) + black_box(2)));
    group.bench_function("divide", |b| b.iter(|| black_box(1_000_003_u64) / black_box(7)));
    group.bench_function("sqrt", |b| b.iter(|| black_box(2.0_f64).sqrt()));
    group.bench_function("sin", |b| b.iter(|| black_box(1.1_f64).sin()));
    group.bench_function("exp", |b| b.iter(|| black_box(1.1_f64).exp()));
    group.bench_function("gcd", |b| {
        b.iter(|| {
            let (mut a, mut b) = (black_box(1_134_903_170_u64), black_box(701_408_733_u64));
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        });
    });
    for n in [12_u32, 20] {
        group.bench_with_input(BenchmarkId::new("fibonacci", n), &n, |b, n| {
            fn fibonacci(n: u32) -> u64 {
                if n < 2 {
                    u64::from(n)
                } else {
                    fibonacci(n - 1) + fibonacci(n - 2)
                }
            }
            b.iter(|| fibonacci(black_box(*n)));
        });
    }
    for n in [100_u64, 10_000] {
        group.bench_with_input(BenchmarkId::new("collatz", n), &n, |b, n| {
            b.iter(|| {
                let mut longest = 0;
                for start in 1..black_box(*n) / 10 {
                    let (mut value, mut steps) = (start, 0_u32);
                    while value > 1 {
                        value = if value.is_multiple_of(2) {
                            value / 2
                        } else {
                            3 * value + 1
                        };
                        steps += 1;
                    }
                    longest = longest.max(steps);
                }
                longest
            });
        });
    }
    group.finish();
}

/// A single cycle through all places in random order, so that each load waits for the one before.
fn cycle(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (1..count).collect();
    let random = numbers(count);
    for at in (1..order.len()).rev() {
        order.swap(at, usize::try_from(random[at] % (at as u64 + 1)).unwrap_or(0));
    }
    let mut next = vec![0; count];
    let mut at = 0;
    for place in order {
        next[at] = place;
        at = place;
    }
    next[at] = 0;
    next
}

/// Vectors in cache and out of it: 10 ns to 3 ms.
fn memory(c: &mut Criterion) {
    let mut group = c.benchmark_group("memory");
    // Data is made when it is first needed: a process measures a few of these and should not pay for all.
    for (name, count) in [("l1", 2_048), ("l2", 65_536), ("ram", 4_194_304)] {
        let data = LazyCell::new(|| floats(count));
        group.throughput(Throughput::Bytes(count as u64 * 4));
        group.bench_function(BenchmarkId::new("sum", name), |b| {
            let data = &**data;
            b.iter(|| black_box(data).iter().sum::<f32>());
        });
        group.bench_function(BenchmarkId::new("maximum", name), |b| {
            let data = &**data;
            b.iter(|| black_box(data).iter().copied().fold(f32::MIN, f32::max));
        });
        let mut copy = None;
        group.bench_function(BenchmarkId::new("copy", name), |b| {
            let data = &**data;
            let copy = copy.get_or_insert_with(|| data.to_vec());
            b.iter(|| copy.copy_from_slice(black_box(data)));
        });
        let mut scaled = None;
        group.bench_function(BenchmarkId::new("scale", name), |b| {
            let scaled = scaled.get_or_insert_with(|| data.to_vec());
            b.iter(|| {
                black_box(&mut *scaled)
                    .iter_mut()
                    .for_each(|x| *x = *x * 0.5 + 0.25)
            });
        });
    }
    for (name, count) in [("l1", 1_024), ("l2", 32_768), ("ram", 1_048_576)] {
        let next = LazyCell::new(|| cycle(count));
        group.throughput(Throughput::Elements(1_000));
        group.bench_function(BenchmarkId::new("chase", name), |b| {
            let next = &**next;
            let mut at = 0;
            b.iter(|| {
                for _ in 0..1_000 {
                    at = next[at];
                }
                at
            });
        });
    }
    group.finish();
}

/// The allocator: 10 ns to 100 µs.
fn allocation(c: &mut Criterion) {
    let mut group = c.benchmark_group("allocation");
    for size in [16_usize, 1_024, 65_536] {
        group.bench_with_input(BenchmarkId::new("boxed", size), &size, |b, size| {
            b.iter(|| vec![0_u8; black_box(*size)].into_boxed_slice());
        });
    }
    group.bench_function("grow", |b| {
        b.iter(|| {
            let mut grown = Vec::new();
            for n in 0..black_box(1_000_u32) {
                grown.push(n);
            }
            grown
        });
    });
    group.bench_function("many", |b| {
        b.iter(|| (0..black_box(1_000_u64)).map(Box::new).collect::<Vec<_>>());
    });
    group.finish();
}

/// Standard collections: 100 ns to 1 ms.
fn collections(c: &mut Criterion) {
    let mut group = c.benchmark_group("collections");
    for count in [100, 10_000] {
        let keys = numbers(count);
        group.bench_with_input(BenchmarkId::new("sort", count), &keys, |b, keys| {
            b.iter_batched_ref(
                || keys.clone(),
                |keys| keys.sort_unstable(),
                criterion::BatchSize::LargeInput,
            );
        });
        group.bench_with_input(BenchmarkId::new("hash_build", count), &keys, |b, keys| {
            b.iter(|| keys.iter().map(|key| (*key, ())).collect::<HashMap<_, _>>());
        });
        let map: HashMap<u64, u64> = keys.iter().map(|key| (*key, key / 2)).collect();
        group.bench_with_input(BenchmarkId::new("hash_find", count), &keys, |b, keys| {
            b.iter(|| {
                keys.iter()
                    .filter_map(|key| map.get(black_box(key)))
                    .fold(0_u64, |a, b| a ^ b)
            });
        });
        group.bench_with_input(BenchmarkId::new("tree_build", count), &keys, |b, keys| {
            b.iter(|| keys.iter().map(|key| (*key, ())).collect::<BTreeMap<_, _>>());
        });
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        group.bench_with_input(BenchmarkId::new("binary_search", count), &keys, |b, keys| {
            b.iter(|| {
                keys.iter()
                    .filter(|key| sorted.binary_search(black_box(key)).is_ok())
                    .count()
            });
        });
    }
    group.bench_function("queue", |b| {
        let mut queue: VecDeque<u64> = (0..1_000).collect();
        b.iter(|| {
            queue.rotate_left(1);
            queue.front().copied()
        });
    });
    group.finish();
}

/// Bytes and characters: 50 ns to 200 µs.
fn text(c: &mut Criterion) {
    let mut group = c.benchmark_group("text");
    let prose = "It was the best of times, it was the worst of times, ".repeat(200);
    group.throughput(Throughput::Bytes(prose.len() as u64));
    group.bench_function("count_words", |b| {
        b.iter(|| black_box(&prose).split_whitespace().count())
    });
    group.bench_function("find", |b| b.iter(|| black_box(&prose).find("not there")));
    group.bench_function("uppercase", |b| b.iter(|| black_box(&prose).to_uppercase()));
    group.bench_function("replace", |b| {
        b.iter(|| black_box(&prose).replace("times", "Zeiten"))
    });
    group.bench_function("validate", |b| {
        b.iter(|| std::str::from_utf8(black_box(prose.as_bytes())).is_ok())
    });
    let numerals: Vec<String> = numbers(100)
        .iter()
        .map(|number| (number >> 20).to_string())
        .collect();
    group.throughput(Throughput::Elements(100));
    group.bench_function("parse_integers", |b| {
        b.iter(|| {
            numerals
                .iter()
                .filter_map(|text| black_box(text).parse::<u64>().ok())
                .fold(0, u64::wrapping_add)
        });
    });
    group.bench_function("format_floats", |b| {
        let values = floats(100);
        b.iter(|| {
            values
                .iter()
                .map(|value| format!("{value:.3}"))
                .collect::<Vec<_>>()
        });
    });
    group.finish();
}

/// Branches the processor can and cannot foresee: 1 to 100 µs.
fn branches(c: &mut Criterion) {
    let mut group = c.benchmark_group("branches");
    let random = numbers(10_000);
    let mut sorted = random.clone();
    sorted.sort_unstable();
    for (name, data) in [("random", &random), ("sorted", &sorted)] {
        group.bench_with_input(BenchmarkId::new("collect", name), data, |b, data| {
            let mut large = Vec::with_capacity(data.len());
            b.iter(|| {
                large.clear();
                for value in black_box(data) {
                    if *value > u64::MAX / 2 {
                        large.push(*value);
                    }
                }
                large.len()
            });
        });
    }
    group.bench_function("match", |b| {
        b.iter(|| {
            black_box(&random)
                .iter()
                .fold(0_u64, |sum, value| match value % 7 {
                    0 => sum.wrapping_add(*value),
                    1 => sum ^ value,
                    2 => sum.rotate_left(3),
                    3 => sum.wrapping_sub(*value),
                    4 => sum.wrapping_mul(3),
                    5 => sum | 1,
                    _ => !sum,
                })
        });
    });
    group.finish();
}

/// Two threads: 100 ns to 100 µs.
fn threads(c: &mut Criterion) {
    let mut group = c.benchmark_group("threads");
    group.bench_function("spawn", |b| {
        b.iter(|| std::thread::spawn(|| black_box(1)).join().is_ok())
    });
    group.bench_function("channel", |b| {
        let (sender, receiver) = std::sync::mpsc::channel();
        b.iter(|| {
            for n in 0..100_u32 {
                let _ = sender.send(n);
            }
            receiver.try_iter().map(u64::from).sum::<u64>()
        });
    });
    group.bench_function("atomic", |b| {
        let counter = AtomicU64::new(0);
        b.iter(|| {
            (0..100)
                .map(|_| counter.fetch_add(1, Ordering::SeqCst))
                .fold(0, u64::wrapping_add)
        });
    });
    let data = LazyCell::new(|| floats(1_048_576));
    for count in [1_usize, 2] {
        group.bench_with_input(BenchmarkId::new("sum", count), &count, |b, count| {
            let data = &**data;
            b.iter(|| {
                let part = data.len() / count;
                std::thread::scope(|scope| {
                    let workers: Vec<_> = data
                        .chunks(part)
                        .map(|chunk| scope.spawn(|| chunk.iter().sum::<f32>()))
                        .collect();
                    workers
                        .into_iter()
                        .filter_map(|worker| worker.join().ok())
                        .sum::<f32>()
                })
            });
        });
    }
    group.bench_function("barrier", |b| {
        let barrier = Barrier::new(1);
        b.iter(|| barrier.wait().is_leader());
    });
    group.finish();
}

criterion_group!(
    all,
    arithmetic,
    memory,
    allocation,
    collections,
    text,
    branches,
    threads
);
criterion_main!(all);
