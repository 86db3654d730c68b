//! Copies what lies at regular distances: what tile, transpose and expand have in common.

use crate::dtype::Element;

/// Writes `out` in memory order, reading from `data` at the distances that each axis of `shape` is given.
///
/// `shape` and `distances` have one length, `out` has as many places as `shape`, and every place that is reached is inside
/// `data`: callers have checked it. Nothing for an axis of length zero.
pub(super) fn copy<T: Element>(data: &[T], shape: &[usize], distances: &[usize], out: &mut [T]) {
    let Some((inner, outer)) = shape.split_last() else {
        out.copy_from_slice(&data[..1]);
        return;
    };
    if out.is_empty() {
        return;
    }
    let step = distances[outer.len()];
    let mut at = vec![0; outer.len()];
    let mut source = 0;
    for run in out.chunks_exact_mut(*inner) {
        copy_run(&data[source..], step, run);
        for axis in (0..outer.len()).rev() {
            at[axis] += 1;
            source += distances[axis];
            if at[axis] < outer[axis] {
                break;
            }
            source -= at[axis] * distances[axis];
            at[axis] = 0;
        }
    }
}

fn copy_run<T: Element>(data: &[T], step: usize, run: &mut [T]) {
    match step {
        0 => run.fill(data[0]),
        1 => run.copy_from_slice(&data[..run.len()]),
        _ => {
            for (to, from) in run.iter_mut().zip(data.iter().step_by(step)) {
                *to = *from;
            }
        }
    }
}
