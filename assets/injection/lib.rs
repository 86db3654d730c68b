//! Work in units of one percent: each lane does the same unit over and over, and a side that is to be slower does it
//! more often.

mod pad;

mod extra;

pub use extra::EXTRA;

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::LazyLock;

/// Units that a lane does where nothing is added.
pub const UNITS: u32 = 100;

/// One benchmark.
pub struct Lane {
    /// `sort/64`.
    pub id: String,
    run: Box<dyn Fn(u32)>,
}

impl Lane {
    /// Does this many units.
    pub fn run(&self, units: u32) {
        (self.run)(units);
    }
}

/// All lanes: a dozen kinds of work in four sizes, from a few nanoseconds a unit to tens of microseconds.
pub fn lanes() -> Vec<Lane> {
    let mut lanes = Vec::new();
    for size in [1_usize, 8, 64, 512] {
        let mut add = |kind: &str, run: Box<dyn Fn(u32)>| {
            lanes.push(Lane { id: format!("{kind}/{size}"), run });
        };
        add("multiply", repeated(move || multiply(size)));
        add("float", repeated(move || float(&NUMBERS[..size * 4])));
        add("hash", repeated(move || hash(&BYTES[..size * 8])));
        add("branch", repeated(move || branch(&BYTES[..size * 4])));
        add("sort", repeated(move || sort(&NUMBERS[..size * 2])));
        add("search", repeated(move || search(size)));
        add("chase", chase(size));
        add("copy", copy(size * 256));
        add("allocate", repeated(move || allocate(size)));
        add("format", repeated(move || format_numbers(size)));
        add("map", repeated(move || look_up(size)));
        add("threads", Box::new(move |units| threads(units, size)));
    }
    lanes
}

fn repeated<T>(unit: impl Fn() -> T + 'static) -> Box<dyn Fn(u32)> {
    Box::new(move |units| {
        for _ in 0..units {
            black_box(unit());
        }
    })
}

static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut state = 1_u64;
    (0..8192).map(|_| next(&mut state) as u8).collect()
});
static NUMBERS: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let mut state = 2_u64;
    (0..8192).map(|_| (next(&mut state) >> 11) as f64).collect()
});
static SORTED: LazyLock<Vec<u64>> = LazyLock::new(|| (0..65_536).map(|n| n * 3).collect());
static RING: LazyLock<Vec<u32>> = LazyLock::new(|| {
    // One cycle through all of 16 MiB, in an order that no prefetcher follows (Sattolo 1986).
    let mut ring: Vec<u32> = (0..1 << 22).collect();
    let mut state = 3_u64;
    for n in (1..ring.len()).rev() {
        ring.swap(n, (next(&mut state) % n as u64) as usize);
    }
    ring
});
static MAP: LazyLock<HashMap<u64, u64>> = LazyLock::new(|| (0..10_000).map(|n| (n * 7, n)).collect());

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 16
}

fn multiply(size: usize) -> u64 {
    (0..size as u64).fold(black_box(1), |product, n| product.wrapping_mul(n | 1) ^ n)
}

fn float(numbers: &[f64]) -> f64 {
    numbers.iter().sum()
}

fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn branch(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |sum, byte| if black_box(*byte) > 127 { sum + 3 } else { sum ^ 5 })
}

fn sort(numbers: &[f64]) -> f64 {
    let mut own = numbers.to_vec();
    own.sort_by(f64::total_cmp);
    own[0]
}

fn search(size: usize) -> usize {
    let mut state = 4_u64;
    (0..size).filter(|_| SORTED.binary_search(&(next(&mut state) % 200_000)).is_ok()).count()
}

fn chase(size: usize) -> Box<dyn Fn(u32)> {
    let at = Cell::new(0_u32);
    Box::new(move |units| {
        let ring = &*RING;
        let mut place = at.get();
        for _ in 0..units as usize * size {
            place = ring[place as usize];
        }
        at.set(black_box(place));
    })
}

fn copy(bytes: usize) -> Box<dyn Fn(u32)> {
    const ROOM: usize = 8 << 20;
    static SOURCE: LazyLock<Vec<u8>> = LazyLock::new(|| vec![7; ROOM]);
    let at = Cell::new(0_usize);
    Box::new(move |units| {
        let mut to = vec![0; bytes];
        for _ in 0..units {
            let from = at.get();
            to.copy_from_slice(&SOURCE[from..from + bytes]);
            black_box(&mut to);
            at.set((from + bytes) % (ROOM - bytes));
        }
    })
}

fn allocate(size: usize) -> usize {
    (0..size).map(|n| black_box(Vec::<u8>::with_capacity(64 + n)).capacity()).sum()
}

fn format_numbers(size: usize) -> usize {
    let mut text = String::with_capacity(size * 8);
    for n in 0..size {
        let _ = write!(text, "{}", black_box(n * 7919));
    }
    text.len()
}

fn look_up(size: usize) -> u64 {
    (0..size as u64).filter_map(|n| MAP.get(&(n * 7))).sum()
}

fn threads(units: u32, size: usize) {
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || {
                for _ in 0..units {
                    black_box(hash(&BYTES[..size * 16]));
                }
            });
        }
    });
}
