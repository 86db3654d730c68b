//! Matrix product: `[m, k]` times `[k, n]`.
//!
//! The fast one follows Goto and van de Geijn (2008): panels of the second matrix are laid out so that the innermost
//! loop reads memory in order, and a tile of the result stays in registers while it is summed up. One row is another
//! matter: nothing is read twice, so nothing is laid out anew.

use crate::dtype::Element;
use crate::error::OpError;
use crate::tensor::Tensor;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use std::cell::Cell;

/// Which code does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// Plain loops over rows.
    Generic,
    /// The widest vector instructions that this machine has, found at run time.
    Simd,
}

impl Backend {
    /// `generic`, `simd`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::Simd => "simd",
        }
    }
}

/// Columns of a band are a multiple of it: it is one of the width of every panel.
const BAND_STEP: usize = 128;
/// Numbers of the second matrix that are laid out at a time: half a megabyte, which the second level of cache holds.
const LAID_OUT: usize = 1 << 17;
/// Rows of it at least, so that a tile is summed up for longer than it takes to load and store it.
const MIN_DEPTH: usize = 32;
/// Rows of the first matrix that are laid out together, and half of them.
const GROUP: usize = 8;
const HALF: usize = GROUP / 2;
/// Rows of the second matrix that are laid out at once.
const AT_ONCE: usize = 8;
/// Vectors side by side in a tile: two, so that each number of the first matrix is used twice once it is loaded.
const VECTORS: usize = 2;
/// Vectors of sums where the first matrix has one row: enough to hide the latency of a multiplication. Numbers in the
/// widest of them.
const SUMS_OF_A_ROW: usize = 8;
const WIDEST: usize = SUMS_OF_A_ROW * 16;

/// Writes `a` times `b`. Sums in `f32`, rounds once. Works in as many threads as the current rayon pool has; the result
/// does not depend on how many. `k = 0` gives zeros.
///
/// # Errors
/// [`OpError::Shape`] if the shapes are not `[m, k]`, `[k, n]` and `[m, n]`.
pub fn matmul<T: Element>(
    a: &Tensor<T>,
    b: &Tensor<T>,
    backend: Backend,
    out: &mut Tensor<T>,
) -> Result<(), OpError> {
    let sizes = Sizes::check(a.shape(), b.shape())?;
    OpError::unless_shape("matmul", "output", &[sizes.m, sizes.n], out.shape())?;
    if out.data().is_empty() {
        return Ok(());
    }
    match (backend, sizes.m) {
        (Backend::Generic, _) => generic(a.data(), b.data(), sizes, out.data_mut()),
        (Backend::Simd, 1) => row_times_matrix(a.data(), b.data(), sizes, out.data_mut()),
        (Backend::Simd, _) => in_bands(a.data(), b.data(), sizes, out.data_mut()),
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Sizes {
    m: usize,
    k: usize,
    n: usize,
}

impl Sizes {
    fn check(a: &[usize], b: &[usize]) -> Result<Self, OpError> {
        let &[m, k] = a else {
            return Err(OpError::shape(
                "matmul",
                "the first matrix",
                format_args!("[m, k]"),
                a,
            ));
        };
        match b {
            [rows, n] if *rows == k => Ok(Self { m, k, n: *n }),
            _ => Err(OpError::shape(
                "matmul",
                "the second matrix",
                format_args!("[{k}, n]"),
                b,
            )),
        }
    }
}

/// Rows of the result, each the sum of rows of `b`.
fn generic<T: Element>(a: &[T], b: &[T], Sizes { k, n, .. }: Sizes, out: &mut [T]) {
    out.par_chunks_mut(n).enumerate().for_each(|(i, to)| {
        let mut sums = taken(&SUMS, n);
        sums.fill(0.0);
        for (x, row) in a[i * k..(i + 1) * k].iter().zip(b.chunks_exact(n)) {
            let x = x.to_f32();
            for (sum, y) in sums.iter_mut().zip(row) {
                *sum += x * y.to_f32();
            }
        }
        T::narrow(&sums, to);
        SUMS.set(sums);
    });
}

/// Shares of columns, one for each thread.
fn row_times_matrix<T: Element>(a: &[T], b: &[T], Sizes { n, .. }: Sizes, out: &mut [T]) {
    let share = n
        .div_ceil(rayon::current_num_threads())
        .next_multiple_of(BAND_STEP);
    out.par_chunks_mut(share).enumerate().for_each(|(index, to)| {
        let first = index * share;
        Arch::new().dispatch(Share { a, b, n, first, to });
    });
}

/// Columns of the product of a row and a matrix, from `first` on.
struct Share<'a, T> {
    a: &'a [T],
    b: &'a [T],
    n: usize,
    first: usize,
    to: &'a mut [T],
}

impl<T: Element> WithSimd for Share<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let width = SUMS_OF_A_ROW * S::F32_LANES;
        // Two rooms: the last columns may be fewer than there are sums.
        let (mut wide, mut padded) = ([0.0_f32; WIDEST], [0.0_f32; WIDEST]);
        for (block, to) in self.to.chunks_mut(width).enumerate() {
            let first = self.first + block * width;
            let columns = first..first + to.len();
            let mut sums = [simd.splat_f32s(0.0); SUMS_OF_A_ROW];
            for (x, row) in self.a.iter().zip(self.b.chunks_exact(self.n)) {
                let x = simd.splat_f32s(x.to_f32());
                let mut row = T::wide(&row[columns.clone()], &mut wide[..to.len()]);
                if row.len() < width {
                    padded[..row.len()].copy_from_slice(row);
                    row = &padded[..width];
                }
                for (sum, y) in sums.iter_mut().zip(S::as_simd_f32s(row).0) {
                    *sum = simd.mul_add_f32s(x, *y, *sum);
                }
            }
            S::as_mut_simd_f32s(&mut padded[..width]).0.copy_from_slice(&sums);
            T::narrow(&padded[..to.len()], to);
        }
    }
}

/// The result in bands of columns, one for each thread, kept apart until all are done: they are interleaved in the
/// result, and threads do not share it.
fn in_bands<T: Element>(a: &[T], b: &[T], sizes: Sizes, out: &mut [T]) {
    let Sizes { m, k, n } = sizes;
    let mut left = taken(&LEFT, m.next_multiple_of(GROUP) * k);
    interleave(a, sizes, &mut left);
    let width = n
        .div_ceil(rayon::current_num_threads())
        .next_multiple_of(BAND_STEP);
    let mut bands = taken(&BANDS, n.div_ceil(width) * width * m);
    bands
        .par_chunks_mut(width * m)
        .enumerate()
        .for_each(|(index, band)| {
            let first = index * width;
            Arch::new().dispatch(Band {
                left: &left,
                b,
                sizes,
                columns: first..(first + width).min(n),
                band,
                width,
            });
        });
    for (i, row) in out.chunks_exact_mut(n).enumerate() {
        for (index, to) in row.chunks_mut(width).enumerate() {
            let band = &bands[(index * m + i) * width..];
            T::narrow(&band[..to.len()], to);
        }
    }
    LEFT.set(left);
    BANDS.set(bands);
}

/// Lays out the first matrix in groups of rows, each as `k` times one number of every row; missing rows are zero.
fn interleave<T: Element>(a: &[T], Sizes { k, .. }: Sizes, left: &mut [f32]) {
    for (group, to) in left.chunks_exact_mut((GROUP * k).max(1)).enumerate() {
        for r in 0..GROUP {
            let row = a.chunks_exact(k).nth(group * GROUP + r).unwrap_or(&[]);
            for (column, to) in to[r..].iter_mut().step_by(GROUP).enumerate() {
                *to = row.get(column).map_or(0.0, |number| number.to_f32());
            }
        }
    }
}

/// One band: `m` rows of `width` columns, of which `columns` are the result's.
struct Band<'a, T> {
    left: &'a [f32],
    b: &'a [T],
    sizes: Sizes,
    columns: std::ops::Range<usize>,
    band: &'a mut [f32],
    width: usize,
}

impl<T: Element> WithSimd for Band<'_, T> {
    type Output = ();

    /// A few rows of the second matrix at a time, so that they are read in the order in which they lie in memory, and
    /// stay near once they are laid out.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Sizes { m, k, n } = self.sizes;
        self.band.fill(0.0);
        let depth = (LAID_OUT / self.width).clamp(MIN_DEPTH, k.max(MIN_DEPTH));
        let width = VECTORS * S::F32_LANES;
        let mut panels = taken(&PANELS, depth * self.width);
        let mut wide = taken(&SUMS, AT_ONCE * self.columns.len());
        for first in (0..k).step_by(depth) {
            let depth = depth.min(k - first);
            let rows = &self.b[first * n..(first + depth) * n];
            for (index, rows) in rows.chunks(AT_ONCE * n).enumerate() {
                let mut rooms = wide.chunks_exact_mut(self.columns.len());
                let mut rows = rows
                    .chunks_exact(n)
                    .filter_map(|row| Some(T::wide(&row[self.columns.clone()], rooms.next()?)));
                let rows: [&[f32]; AT_ONCE] = std::array::from_fn(|_| rows.next().unwrap_or_default());
                lay_out::<S>(&rows, depth, index * AT_ONCE, &mut panels);
            }
            let panels = panels
                .chunks_exact(width * depth)
                .take(self.columns.len().div_ceil(width));
            for (index, panel) in panels.enumerate() {
                let panel = S::as_simd_f32s(panel).0;
                for (group, left) in self.left.chunks_exact(GROUP * k).enumerate() {
                    let left = &left[first * GROUP..(first + depth) * GROUP];
                    let rows = GROUP.min(m - group * GROUP);
                    let band = &mut self.band[group * GROUP * self.width + index * width..];
                    // Eight rows are sixteen sums, which 32 registers hold; four are eight sums, for machines with 16.
                    // Either is enough to hide the latency of a multiplication.
                    if S::REGISTER_COUNT >= 32 && rows > HALF {
                        tile::<S, GROUP, 0>(simd, left, panel, band, self.width, rows);
                        continue;
                    }
                    tile::<S, HALF, 0>(simd, left, panel, band, self.width, rows.min(HALF));
                    if rows > HALF {
                        let band = &mut band[HALF * self.width..];
                        tile::<S, HALF, HALF>(simd, left, panel, band, self.width, rows - HALF);
                    }
                }
            }
        }
        PANELS.set(panels);
        SUMS.set(wide);
    }
}

/// Writes rows as rows `row` and on of panels that have `depth` of them; empty ones are none. Several at once, so that
/// what is written lies in a row for longer.
#[inline(always)]
fn lay_out<S: Simd>(rows: &[&[f32]; AT_ONCE], depth: usize, row: usize, panels: &mut [f32]) {
    let width = VECTORS * S::F32_LANES;
    let tiles = rows.map(|from| S::as_simd_f32s(from).0.as_chunks::<VECTORS>().0);
    let to = S::as_mut_simd_f32s(panels).0.as_chunks_mut::<VECTORS>().0;
    for index in 0..tiles[0].len() {
        for (n, tiles) in tiles.iter().enumerate() {
            if let Some(tile) = tiles.get(index) {
                to[index * depth + row + n] = *tile;
            }
        }
    }
    let whole = tiles[0].len();
    for (n, from) in rows.iter().enumerate() {
        let rest = from.get(whole * width..).unwrap_or_default();
        if !rest.is_empty() {
            panels[(whole * depth + row + n) * width..][..rest.len()].copy_from_slice(rest);
        }
    }
}

/// Adds to the first `rows` of `ROWS` rows of a band what rows of a group, from row `FIRST` on, make with two vectors of
/// columns: `k` goes in order.
#[inline(always)]
fn tile<S: Simd, const ROWS: usize, const FIRST: usize>(
    simd: S,
    left: &[f32],
    panel: &[S::f32s],
    band: &mut [f32],
    width: usize,
    rows: usize,
) {
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; ROWS];
    for (sums, from) in sums.iter_mut().take(rows).zip(band.chunks(width)) {
        sums.copy_from_slice(S::as_simd_f32s(&from[..VECTORS * S::F32_LANES]).0);
    }
    for (xs, ys) in left
        .as_chunks::<GROUP>()
        .0
        .iter()
        .zip(panel.as_chunks::<VECTORS>().0)
    {
        for r in 0..ROWS {
            let x = simd.splat_f32s(xs[FIRST + r]);
            for v in 0..VECTORS {
                sums[r][v] = simd.mul_add_f32s(x, ys[v], sums[r][v]);
            }
        }
    }
    for (sums, to) in sums.iter().take(rows).zip(band.chunks_mut(width)) {
        S::as_mut_simd_f32s(&mut to[..VECTORS * S::F32_LANES])
            .0
            .copy_from_slice(sums);
    }
}

thread_local! {
    // Room that is kept from one product to the next.
    static SUMS: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
    static LEFT: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
    static BANDS: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
    static PANELS: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

/// Room for so many numbers, with whatever was in it. It is taken out and set again rather than borrowed: a thread that
/// waits for others may be given another product meanwhile.
fn taken(room: &'static std::thread::LocalKey<Cell<Vec<f32>>>, length: usize) -> Vec<f32> {
    let mut numbers = room.take();
    numbers.resize(length, 0.0);
    numbers
}

/// `out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + ..`
///
/// # Errors
/// [`OpError::Shape`] if the shapes are not `[m, k]` and `[k, n]`.
pub fn oracle(a: &Tensor<f32>, b: &Tensor<f32>) -> Result<Tensor<f32>, OpError> {
    let Sizes { m, k, n } = Sizes::check(a.shape(), b.shape())?;
    Ok(Tensor::from_fn(&[m, n], |at| {
        let (i, j) = (at / n, at % n);
        let mut sum = 0.0;
        for l in 0..k {
            sum += a.data()[i * k + l] * b.data()[l * n + j];
        }
        sum
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{assert_near, noise, rounded, same_bits};
    use half::{bf16, f16};

    fn product<T: Element>(m: usize, k: usize, n: usize, backend: Backend) -> (Tensor<T>, Tensor<f32>) {
        let a: Tensor<T> = rounded(&noise(&[m, k], 1));
        let b: Tensor<T> = rounded(&noise(&[k, n], 2));
        let mut out = Tensor::pattern(&[m, n]);
        matmul(&a, &b, backend, &mut out).unwrap();
        (out, oracle(&a.widened(), &b.widened()).unwrap())
    }

    const SIZES: [(usize, usize, usize); 12] = [
        (1, 1, 1),
        (1, 256, 256),
        (1, 7, 1030),
        (2, 3, 5),
        (4, 16, 128),
        (5, 9, 129),
        (8, 33, 31),
        (13, 64, 300),
        (32, 128, 64),
        (3, 0, 4),
        (1, 0, 4),
        (0, 3, 4),
    ];

    #[test]
    fn both_are_near_the_oracle_in_every_type_and_size() {
        for backend in [Backend::Generic, Backend::Simd] {
            for (m, k, n) in SIZES {
                let scale = k.max(1) as f32;
                let (found, wanted) = product::<f32>(m, k, n, backend);
                assert_near(&found, &wanted, scale, 1e-5);
                let (found, wanted) = product::<f16>(m, k, n, backend);
                assert_near(&found, &wanted, scale, 1e-3);
                let (found, wanted) = product::<bf16>(m, k, n, backend);
                assert_near(&found, &wanted, scale, 8e-3);
            }
        }
    }

    #[test]
    fn plain_loops_give_every_bit_of_the_oracle() {
        let (found, wanted) = product::<f32>(7, 65, 33, Backend::Generic);
        assert!(same_bits(&found, &wanted));
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let pool = |threads| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap()
        };
        for (m, k, n) in [(1, 300, 700), (9, 64, 700)] {
            let one = pool(1).install(|| product::<f32>(m, k, n, Backend::Simd).0);
            let eight = pool(8).install(|| product::<f32>(m, k, n, Backend::Simd).0);
            assert!(same_bits(&one, &eight));
        }
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let (a, b) = (Tensor::<f32>::pattern(&[2, 3]), Tensor::<f32>::pattern(&[4, 5]));
        let refused = matmul(&a, &b, Backend::Simd, &mut Tensor::zeros(&[2, 5])).unwrap_err();
        let text = "matmul: the second matrix must have shape [3, n], and has [4, 5]";
        assert_eq!(refused.to_string(), text);
        let b = Tensor::<f32>::pattern(&[3, 5]);
        assert!(matmul(&a, &b, Backend::Simd, &mut Tensor::zeros(&[5, 2])).is_err());
        assert!(
            matmul(
                &Tensor::<f32>::pattern(&[3]),
                &b,
                Backend::Simd,
                &mut Tensor::zeros(&[1, 5])
            )
            .is_err()
        );
    }
}
