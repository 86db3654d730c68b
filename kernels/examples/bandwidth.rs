//! How near the movers of bytes come to what the memory of this GPU can do: each large case as a share of the
//! bandwidth of a copy on the device, all measured in one run.
//!
//! ```text
//! cargo run --release -p kernels --example bandwidth [folder in which compiled kernels are kept]
//! ```
//!
//! Counted are the bytes that must cross the memory at least: those that are read once and those that are written. A
//! share of 0.85 is what is asked for; the exit status tells whether every case has it.
#![expect(clippy::print_stdout, reason = "prints a table")]

use kernels::DType;
use kernels::device::{Availability, Device, DeviceError, PtxCache, probe};
use kernels::movement::{Expand, Path, Tile, Transpose};
use std::process::ExitCode;

/// What every case should reach of the copy.
const WANTED: f64 = 0.85;
/// Untimed runs before: they load the kernel, warm it, and raise the clocks.
const WARMUPS: usize = 20;
/// Timed runs, of which the median counts.
const REPEATS: usize = 41;
/// Runs between two events: more than one, so that the distance of a launch does not count.
const BATCH: usize = 4;

/// Shapes and how often they are repeated along each axis.
const TILES: [(DType, &[usize], &[i64]); 4] = [
    (DType::F32, &[2048, 4096], &[4, 2]),
    (DType::Bf16, &[8192, 8, 128], &[1, 16, 1]),
    (DType::F32, &[16_384, 4096], &[1, 2]),
    (DType::F32, &[16_384, 4096], &[2, 1]),
];

/// Shapes and the order of their axes: two matrices, the heads of attention, a batch.
const TRANSPOSES: [(DType, &[usize], &[usize]); 4] = [
    (DType::F32, &[8192, 8192], &[1, 0]),
    (DType::F16, &[16_384, 8192], &[1, 0]),
    (DType::Bf16, &[8, 4096, 32, 128], &[0, 2, 1, 3]),
    (DType::F32, &[64, 1024, 1024], &[0, 2, 1]),
];

/// Shapes before and after: a row, two columns, shared heads of keys.
const EXPANDS: [(DType, &[usize], &[usize]); 4] = [
    (DType::F32, &[1, 4096], &[16_384, 4096]),
    (DType::F32, &[16_384, 1], &[16_384, 4096]),
    (DType::F16, &[32_768, 1], &[32_768, 4096]),
    (DType::Bf16, &[128, 8, 1, 128], &[128, 8, 1024, 128]),
];

/// A case that was measured.
struct Row {
    name: &'static str,
    dtype: &'static str,
    shape: String,
    bytes: usize,
    milliseconds: f32,
}

impl Row {
    fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / (f64::from(self.milliseconds) / 1e3)
    }
}

fn main() -> ExitCode {
    match probe() {
        Availability::Available => {}
        other => {
            println!("skipped: {other}");
            return ExitCode::SUCCESS;
        }
    }
    match measured() {
        Ok(rows) => report(&rows),
        Err(error) => {
            println!("{error}");
            ExitCode::from(2)
        }
    }
}

fn measured() -> Result<Vec<Row>, DeviceError> {
    let cache = std::env::args_os().nth(1);
    let cache = cache.map_or_else(PtxCache::none, |folder| {
        PtxCache::at(std::path::Path::new(&folder))
    });
    let device = Device::open(cache)?;
    let (major, minor) = device.capability();
    println!("{}, compute capability {major}.{minor}", device.name()?);
    device.load_kernels()?;
    let mut rows = vec![copy(&device)?];
    for (dtype, shape, repeats) in TILES {
        rows.push(tile(&device, dtype, shape, repeats)?);
    }
    for (dtype, shape, order) in TRANSPOSES {
        rows.push(transpose(&device, dtype, shape, order)?);
    }
    for (dtype, from, into) in EXPANDS {
        rows.push(expand(&device, dtype, from, into)?);
    }
    for (dtype, width) in [(DType::F32, 1024), (DType::F16, 2048), (DType::Bf16, 512)] {
        rows.push(gather(&device, dtype, width)?);
    }
    for (dtype, shape) in [
        (DType::F32, [16_384, 4096]),
        (DType::F16, [32_768, 4096]),
        (DType::Bf16, [32_768, 4096]),
    ] {
        rows.push(add(&device, dtype, shape)?);
    }
    Ok(rows)
}

fn copy(device: &Device) -> Result<Row, DeviceError> {
    const BYTES: usize = 256 << 20;
    let (from, into) = (device.buffer(BYTES)?, device.buffer(BYTES)?);
    from.fill(1)?;
    let milliseconds = median(device, || into.copy_from(&from))?;
    Ok(Row {
        name: "copy",
        dtype: "bytes",
        shape: format!("[{BYTES}]"),
        bytes: 2 * BYTES,
        milliseconds,
    })
}

fn tile(device: &Device, dtype: DType, shape: &[usize], repeats: &[i64]) -> Result<Row, DeviceError> {
    let into: Vec<usize> = shape
        .iter()
        .zip(repeats)
        .map(|(length, count)| length * *count as usize)
        .collect();
    let (input, out) = (device.tensor(dtype, shape)?, device.tensor(dtype, &into)?);
    let counts = device.upload(repeats)?;
    let mut kernel = Tile::new(Path::Persistent);
    let milliseconds = median(device, || kernel.run(device, &input, &counts, &out))?;
    Ok(Row {
        name: "tile",
        dtype: dtype.name(),
        shape: format!("{shape:?} x {repeats:?}"),
        bytes: input.buffer().bytes() + out.buffer().bytes(),
        milliseconds,
    })
}

fn transpose(device: &Device, dtype: DType, shape: &[usize], order: &[usize]) -> Result<Row, DeviceError> {
    let into: Vec<usize> = order.iter().map(|axis| shape[*axis]).collect();
    let (input, out) = (device.tensor(dtype, shape)?, device.tensor(dtype, &into)?);
    let mut kernel = Transpose::new(Path::Persistent, order);
    let milliseconds = median(device, || kernel.run(device, &input, &out))?;
    Ok(Row {
        name: "transpose",
        dtype: dtype.name(),
        shape: format!("{shape:?} in order {order:?}"),
        bytes: 2 * out.buffer().bytes(),
        milliseconds,
    })
}

fn expand(device: &Device, dtype: DType, from: &[usize], into: &[usize]) -> Result<Row, DeviceError> {
    let (input, out) = (device.tensor(dtype, from)?, device.tensor(dtype, into)?);
    let mut kernel = Expand::new(Path::Persistent);
    let milliseconds = median(device, || kernel.run(device, &input, &out))?;
    Ok(Row {
        name: "expand",
        dtype: dtype.name(),
        shape: format!("{from:?} to {into:?}"),
        bytes: input.buffer().bytes() + out.buffer().bytes(),
        milliseconds,
    })
}

fn gather(device: &Device, dtype: DType, width: usize) -> Result<Row, DeviceError> {
    const BYTES: usize = 256 << 20;
    let count = BYTES / (width * dtype.bytes());
    let table = device.tensor(dtype, &[2 * count, width])?;
    let out = device.tensor(dtype, &[count, width])?;
    // Every row once, so that none comes out of a cache.
    let indices: Vec<u32> = (0..count).map(|i| (97 * i % (2 * count)) as u32).collect();
    let (indices, latch) = (device.upload(&indices)?, device.latch()?);
    let milliseconds = median(device, || device.gather(&table, &indices, &latch, &out))?;
    latch.check()?;
    Ok(Row {
        name: "gather",
        dtype: dtype.name(),
        shape: format!("{count} of {:?}", table.shape()),
        bytes: 2 * out.buffer().bytes() + indices.bytes(),
        milliseconds,
    })
}

fn add(device: &Device, dtype: DType, shape: [usize; 2]) -> Result<Row, DeviceError> {
    let (input, out) = (device.tensor(dtype, &shape)?, device.tensor(dtype, &shape)?);
    let row = device.tensor(dtype, &shape[1..])?;
    for tensor in [&input, &row] {
        // Numbers, and not whatever the memory held.
        tensor.buffer().fill(0x3c)?;
    }
    let milliseconds = median(device, || device.add(&input, &row, &out))?;
    Ok(Row {
        name: "add",
        dtype: dtype.name(),
        shape: format!("{shape:?} + [{}]", shape[1]),
        bytes: 2 * out.buffer().bytes() + row.buffer().bytes(),
        milliseconds,
    })
}

/// Milliseconds of one run: the median of all batches. Events are read when everything is over, so that the host never
/// stands in the way.
fn median(device: &Device, mut run: impl FnMut() -> Result<(), DeviceError>) -> Result<f32, DeviceError> {
    for _ in 0..WARMUPS {
        run()?;
    }
    device.wait()?;
    let mut events = vec![device.event()?];
    for _ in 0..REPEATS {
        for _ in 0..BATCH {
            run()?;
        }
        events.push(device.event()?);
    }
    let mut times = Vec::with_capacity(REPEATS);
    for pair in events.windows(2) {
        times.push(pair[0].until(&pair[1])? / BATCH as f32);
    }
    times.sort_by(f32::total_cmp);
    Ok(times[times.len() / 2])
}

fn report(rows: &[Row]) -> ExitCode {
    let copy = rows.first().map_or(f64::NAN, Row::bytes_per_second);
    println!(
        "{:<10} {:<5} {:<46} {:>8} {:>9} {:>6}",
        "case", "type", "shape", "ms", "GB/s", "share"
    );
    let mut all = true;
    for row in rows {
        let share = row.bytes_per_second() / copy;
        all &= share >= WANTED;
        println!(
            "{:<10} {:<5} {:<46} {:>8.3} {:>9.1} {:>6.3}{}",
            row.name,
            row.dtype,
            row.shape,
            row.milliseconds,
            row.bytes_per_second() / 1e9,
            share,
            if share < WANTED { "  below" } else { "" }
        );
    }
    println!("median of {REPEATS} batches of {BATCH} runs, after {WARMUPS}; wanted: {WANTED} of the copy");
    if all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
