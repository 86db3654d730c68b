//! How near the CPU kernels come to what this machine can do: the peak of its multiplications and its memory bandwidth,
//! measured in the same run, on one thread.
//!
//!     cargo run --release -p kernels --example roofline
#![allow(clippy::print_stdout, reason = "a program to be read")]
#![allow(clippy::disallowed_methods, reason = "it keeps time")]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]

use kernels::Tensor;
use kernels::ops::add::add;
use kernels::ops::gather::gather;
use kernels::ops::matmul::{Backend, matmul};
use pulp::{Arch, Simd, WithSimd};
use std::hint::black_box;
use std::time::Instant;

/// Rounds: everything is measured once in each, so a slow moment meets all of them.
const ROUNDS: usize = 40;

fn main() {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a thread starts");
    pool.install(measure);
}

fn measure() {
    let [m, k, n] = [32, 1024, 1024];
    let (left, right) = (Tensor::<f32>::pattern(&[m, k]), Tensor::<f32>::pattern(&[k, n]));
    let mut product = Tensor::zeros(&[m, n]);

    let big = Tensor::<f32>::pattern(&[1024, 4096]);
    let row = Tensor::<f32>::pattern(&[4096]);
    // All of them write here: a destination of its own would be nearer or farther than the others'.
    let mut sum = Tensor::<f32>::zeros(&[1024, 4096]);

    let table = Tensor::<f32>::pattern(&[32_768, 512]);
    let indices: Vec<u32> = (0..32_768).map(|i| i * 97 % 32_768).collect();
    let mut rows = Tensor::<f32>::zeros(&[256, 512]);

    let [
        mut peak,
        mut matmuls,
        mut copies,
        mut scales,
        mut adds,
        mut row_copies,
        mut gathers,
    ] = [const { Vec::new() }; 7];
    for round in 0..ROUNDS {
        peak.push(Peak::OPERATIONS as f64 / seconds(|| Arch::new().dispatch(Peak)));
        // As in a loop over products: the matrices are in the cache that they fit into.
        matmul(&left, &right, Backend::Simd, &mut product).expect("shapes fit");
        let operations = (2 * m * k * n) as f64;
        matmuls.push(
            operations / seconds(|| matmul(&left, &right, Backend::Simd, &mut product).expect("shapes fit")),
        );
        let moved = (2 * big.data().len() * 4) as f64;
        copies.push(moved / seconds(|| black_box(sum.data_mut()).copy_from_slice(black_box(big.data()))));
        scales.push(moved / seconds(|| scale(black_box(big.data()), black_box(sum.data_mut()))));
        adds.push(moved / seconds(|| add(black_box(&big), &row, &mut sum).expect("shapes fit")));
        let moved = (2 * 256 * 512 * 4) as f64;
        let first = round * 256 % (32_768 - 256) * 512;
        row_copies.push(
            moved
                / seconds(|| {
                    black_box(rows.data_mut()).copy_from_slice(black_box(&table.data()[first..][..256 * 512]))
                }),
        );
        let chosen = &indices[(round * 256 + 16_384) % (32_768 - 256)..][..256];
        gathers
            .push(moved / seconds(|| gather(black_box(&table), chosen, &mut rows).expect("rows are there")));
    }
    line("multiply and add, peak of one core", &peak, &peak, "GFLOP/s");
    line("matmul 32x1024x1024 f32", &matmuls, &peak, "GFLOP/s");
    line("copy of 16 MiB", &copies, &copies, "GB/s");
    line("add large f32", &adds, &copies, "GB/s");
    line("scale of 16 MiB", &scales, &scales, "GB/s");
    line("add large f32, of that", &adds, &scales, "GB/s");
    line("copy of 512 KiB, cold", &row_copies, &row_copies, "GB/s");
    line("gather large f32, cold", &gathers, &row_copies, "GB/s");
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Median rate, and the median over the rounds of its share of the limit.
fn line(what: &str, rates: &[f64], limits: &[f64], unit: &str) {
    let shares: Vec<f64> = rates
        .iter()
        .zip(limits)
        .map(|(rate, limit)| rate / limit)
        .collect();
    let [rate, share] = [median(rates) / 1e9, 100.0 * median(&shares)];
    println!("{what:<36} {rate:>8.1} {unit:<8} {share:>5.0} %");
}

/// STREAM's scale (McCalpin, 1995): a loop that reads and writes as much as a copy, but as any loop writes: through the
/// cache, which reads first what is overwritten. The copy of the C library writes past it.
fn scale(from: &[f32], to: &mut [f32]) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for (to, from) in to.iter_mut().zip(from) {
                *to = 3.0 * from;
            }
        },
    );
}

fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Multiplications and additions with nothing to wait for: enough sums to cover the time that one takes, few enough for
/// the registers.
struct Peak;

impl Peak {
    const STEPS: usize = 200_000;
    const SUMS: usize = 12;
    const OPERATIONS: usize = Self::STEPS * Self::SUMS * 2 * 16;
}

impl WithSimd for Peak {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (x, y) = (
            simd.splat_f32s(black_box(0.999)),
            simd.splat_f32s(black_box(0.001)),
        );
        let mut sums = [simd.splat_f32s(1.0); Self::SUMS];
        // The same number of operations whatever the width of a vector.
        for _ in 0..Self::STEPS * 16 / S::F32_LANES {
            for sum in &mut sums {
                *sum = simd.mul_add_f32s(*sum, x, y);
            }
        }
        black_box(sums);
    }
}
