//! A matrix of weights, in the type that it is stored in.

use crate::dtype::{DType, Element};
use crate::ops::lanes;
use crate::tensor::places;
use crate::weights::{Storage, View, quant};
use half::{bf16, f16};
use pulp::Arch;
use rayon::prelude::*;
use std::borrow::Cow;

/// Rows that one thread takes at a time: enough to be worth handing over, few enough to share evenly.
const ROWS: usize = 32;
/// Numbers of a row that are widened at a time.
const BLOCK: usize = 256;

/// `[rows, columns]` numbers; a token's vector of `columns` times it is one of `rows`.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    stored: Stored,
}

#[derive(Debug, Clone, PartialEq)]
enum Stored {
    F32(Vec<f32>),
    F16(Vec<f16>),
    Bf16(Vec<bf16>),
    /// Blocks of 32 numbers that share a scale, row after row.
    Blocks(Storage, Vec<u8>),
}

/// Numbers of a matrix without blocks.
pub(super) enum Numbers<'a> {
    F32(Cow<'a, [f32]>),
    F16(&'a [f16]),
    Bf16(&'a [bf16]),
}

impl Matrix {
    /// A matrix in which each number is what `number` makes of its place, rounded to this type.
    ///
    /// # Panics
    /// For more numbers than memory holds.
    #[must_use]
    pub fn from_fn(rows: usize, columns: usize, dtype: DType, number: impl Fn(usize) -> f32 + Sync) -> Self {
        let places = places(&[rows, columns]).unwrap_or(usize::MAX);
        let stored = match dtype {
            DType::F32 => Stored::F32(filled(places, number)),
            DType::F16 => Stored::F16(filled(places, number)),
            DType::Bf16 => Stored::Bf16(filled(places, number)),
        };
        Self {
            rows,
            columns,
            stored,
        }
    }

    /// The matrix of a file, as it is stored there. One with fewer or more than two axes is none.
    #[must_use]
    pub fn of(view: &View<'_>) -> Option<Self> {
        let &[rows, columns] = view.shape() else {
            return None;
        };
        let stored = match view.storage() {
            Storage::F32 => Stored::F32(view.tensor().into_data()),
            Storage::F16 => Stored::F16(view.tensor().into_data()),
            Storage::Bf16 => Stored::Bf16(view.tensor().into_data()),
            blocks => Stored::Blocks(blocks, view.bytes().to_vec()),
        };
        Some(Self {
            rows,
            columns,
            stored,
        })
    }

    /// Length of what comes out.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Length of what goes in.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// How a number is stored.
    #[must_use]
    pub const fn storage(&self) -> Storage {
        match self.stored {
            Stored::F32(_) => Storage::F32,
            Stored::F16(_) => Storage::F16,
            Stored::Bf16(_) => Storage::Bf16,
            Stored::Blocks(storage, _) => storage,
        }
    }

    /// How its numbers are where they do not lie in blocks: as they are stored, or `f32`.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        match self.stored {
            Stored::F32(_) | Stored::Blocks(..) => DType::F32,
            Stored::F16(_) => DType::F16,
            Stored::Bf16(_) => DType::Bf16,
        }
    }

    /// All numbers, row after row, as they are stored if that is `dtype`, and widened otherwise.
    pub(super) fn numbers(&self, dtype: DType) -> Numbers<'_> {
        match (&self.stored, dtype) {
            (Stored::F32(numbers), _) => Numbers::F32(Cow::Borrowed(numbers)),
            (Stored::F16(numbers), DType::F16) => Numbers::F16(numbers),
            (Stored::Bf16(numbers), DType::Bf16) => Numbers::Bf16(numbers),
            _ => {
                let mut wide = vec![0.0; self.rows * self.columns];
                for row in 0..self.rows {
                    self.row(row, &mut wide[row * self.columns..][..self.columns]);
                }
                Numbers::F32(Cow::Owned(wide))
            }
        }
    }

    /// Bytes that are read for one product.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.rows * self.row_bytes()
    }

    const fn row_bytes(&self) -> usize {
        self.columns / self.storage().block() * self.storage().block_bytes()
    }

    /// Writes one row in `f32`.
    ///
    /// # Panics
    /// If there is no such row, or `to` is not as long as one.
    pub fn row(&self, row: usize, to: &mut [f32]) {
        let range = row * self.columns..(row + 1) * self.columns;
        match &self.stored {
            Stored::F32(numbers) => f32::widen(&numbers[range], to),
            Stored::F16(numbers) => f16::widen(&numbers[range], to),
            Stored::Bf16(numbers) => bf16::widen(&numbers[range], to),
            Stored::Blocks(storage, bytes) => {
                quant::widen(*storage, &bytes[row * self.row_bytes()..][..self.row_bytes()], to);
            }
        }
    }

    /// Writes the matrix times `vector`. Sums in `f32`, in an order that depends on nothing but the length, whatever
    /// the number of threads.
    ///
    /// # Panics
    /// If `vector` or `to` does not have the length of a row or a column.
    pub fn times(&self, vector: &[f32], to: &mut [f32]) {
        assert_eq!(
            (vector.len(), to.len()),
            (self.columns, self.rows),
            "lengths of a product"
        );
        match &self.stored {
            Stored::F32(numbers) => times(numbers, vector, to),
            Stored::F16(numbers) => times(numbers, vector, to),
            Stored::Bf16(numbers) => times(numbers, vector, to),
            Stored::Blocks(storage, bytes) => each_row(to, |row| {
                quant::dot(
                    *storage,
                    &bytes[row * self.row_bytes()..][..self.row_bytes()],
                    vector,
                )
            }),
        }
    }
}

fn filled<T: Element>(places: usize, number: impl Fn(usize) -> f32 + Sync) -> Vec<T> {
    (0..places)
        .into_par_iter()
        .map(|place| T::from_f32(number(place)))
        .collect()
}

fn times<T: Element>(numbers: &[T], vector: &[f32], to: &mut [f32]) {
    let columns = vector.len();
    each_row(to, |row| {
        dot(&numbers[row * columns..(row + 1) * columns], vector)
    });
}

/// Writes what `product` makes of each row, in as many threads as the current pool has.
fn each_row(to: &mut [f32], product: impl Fn(usize) -> f32 + Sync) {
    to.par_chunks_mut(ROWS).enumerate().for_each(|(chunk, to)| {
        Arch::new().dispatch(
            #[inline(always)]
            || {
                for (row, to) in to.iter_mut().enumerate() {
                    *to = product(chunk * ROWS + row);
                }
            },
        );
    });
}

#[inline(always)]
fn dot<T: Element>(row: &[T], vector: &[f32]) -> f32 {
    let mut room = [0.0; BLOCK];
    let mut sums = lanes::Sums::default();
    for (row, vector) in row.chunks(BLOCK).zip(vector.chunks(BLOCK)) {
        sums.add_products(T::wide(row, &mut room[..row.len()]), vector);
    }
    sums.total()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_near_the_plain_sum_in_every_type() {
        for dtype in [DType::F32, DType::F16, DType::Bf16] {
            let (rows, columns) = (37, 301);
            let matrix = Matrix::from_fn(rows, columns, dtype, |i| (i % 17) as f32 / 8.0 - 1.0);
            let vector: Vec<f32> = (0..columns).map(|i| (i % 5) as f32 - 2.0).collect();
            let mut found = vec![0.0; rows];
            matrix.times(&vector, &mut found);
            let mut row = vec![0.0; columns];
            for (r, found) in found.iter().enumerate() {
                matrix.row(r, &mut row);
                let wanted: f32 = row.iter().zip(&vector).map(|(x, y)| x * y).sum();
                assert!((found - wanted).abs() < 1e-3, "{dtype} {r}: {found} {wanted}");
            }
        }
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let matrix = Matrix::from_fn(200, 333, DType::F32, |i| ((i * 31) % 101) as f32 / 50.0 - 1.0);
        let vector: Vec<f32> = (0..333).map(|i| 1.0 / (i as f32 + 1.0)).collect();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let mut to = vec![0.0; 200];
            pool.install(|| matrix.times(&vector, &mut to));
            to.iter().map(|number| number.to_bits()).collect::<Vec<u32>>()
        };
        assert_eq!(run(1), run(8));
    }
}
