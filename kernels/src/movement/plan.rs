//! How bytes are moved: a broadcast, a repetition or a permutation, turned into the fewest axes and the widest words.
//!
//! All three operators are one thing: a walk over the axes of the output, each with a length, a distance in the
//! source and one in the destination. A repeated axis is two, of which the outer does not move the source; axes that
//! lie in a row on both sides are one; and where the innermost one lies in a row on both sides, several numbers are
//! one word.

use crate::device::{INDEX_LIMIT, magic};
use crate::error::OpError;
use crate::tensor::strides;

/// Axes that a kernel walks at most.
const MOST_AXES: usize = 16;
/// The widest word that one instruction moves, in bytes.
const WIDEST: usize = 16;
/// Shortest sides of a transposition that goes through squares in shared memory: below, most of a square would be
/// empty.
const SHORTEST_SIDE: usize = 16;

/// Bytes of the destination between two copies, below which a source is loaded again for each of them: what was read
/// so shortly before is still near, and the destination is written in the order in which it lies in memory.
const NEAR: usize = 256 << 10;

/// An axis of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Axis {
    /// Steps along it.
    pub(crate) length: usize,
    /// Distance of neighbours in the source, in words; 0 where it is repeated.
    pub(crate) from: usize,
    /// Distance of neighbours in the destination, in words.
    pub(crate) to: usize,
}

/// Which kernel moves, and what it is told beside the axes. All counts and distances are in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moves {
    /// The output is empty.
    Nothing,
    /// A word for each place of the axes, stored `copies` times.
    Strided {
        /// Bytes of a word.
        word: usize,
        /// Whether indices take more than 32 bits.
        is_wide: bool,
        /// Places of the axes.
        count: usize,
        /// How often each word is stored.
        copies: usize,
        /// How far apart.
        copy_distance: usize,
    },
    /// For each place of the axes, a word that is repeated until 16 bytes are full. Distances in the destination are
    /// in units of 16 bytes.
    Spread {
        /// Bytes of a word.
        word: usize,
        /// Places of the axes.
        count: usize,
    },
    /// For each place of the axes, a transposition of `a`, which lies in a row in the source, and `b`, which does in
    /// the destination.
    Tiles {
        /// Bytes of a word.
        word: usize,
        /// Whether all lengths and distances are of pairs of words, and words have two bytes.
        is_pairs: bool,
        /// Places of the axes.
        batches: usize,
        /// Length of `a`.
        a: usize,
        /// Length of `b`.
        b: usize,
        /// Distance of neighbours along `b` in the source.
        b_from: usize,
        /// Distance of neighbours along `a` in the destination.
        a_to: usize,
    },
}

/// A way to move bytes, checked and ready to be told a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    moves: Moves,
    axes: Vec<Axis>,
    words: Vec<u64>,
    reads: usize,
    writes: usize,
}

impl Plan {
    /// A plan to write a dense output of `shape`, whose neighbours along each axis are `distances` apart in the
    /// source, all in elements of `element` bytes (1, 2, 4, 8 or 16).
    ///
    /// # Errors
    /// [`OpError::Shape`] if there is not one distance for each axis; [`OpError::Range`] for elements of another size,
    /// and if more than 16 axes are left after merging.
    pub fn new(
        op: &'static str,
        element: usize,
        shape: &[usize],
        distances: &[usize],
    ) -> Result<Self, OpError> {
        OpError::unless_shape(op, "distances", &[shape.len()], &[distances.len()])?;
        if !element.is_power_of_two() || element > WIDEST {
            return Err(OpError::Range {
                op,
                what: "bytes of an element, a power of two,",
                found: element,
                limit: WIDEST + 1,
            });
        }
        if shape.contains(&0) {
            return Ok(Self::of(Moves::Nothing, Vec::new(), (0, 0)));
        }
        let mut axes: Vec<Axis> = shape
            .iter()
            .zip(distances)
            .zip(strides(shape))
            .map(|((length, from), to)| Axis {
                length: *length,
                from: *from,
                to,
            })
            .collect();
        merge(&mut axes);
        if axes.len() > MOST_AXES {
            return Err(OpError::Range {
                op,
                what: "the number of axes that do not merge",
                found: axes.len(),
                limit: MOST_AXES + 1,
            });
        }
        let reach = (
            reach(&axes, element, |axis| axis.from),
            reach(&axes, element, |axis| axis.to),
        );
        if let Some((axes, count)) = spread(&axes, element) {
            return Ok(Self::of(Moves::Spread { word: element, count }, axes, reach));
        }
        let word = widen(&mut axes, element);
        Ok(tiles(&axes, word).map_or_else(
            || Self::strided(axes.clone(), word, reach),
            |(moves, batch)| Self::of(moves, batch, reach),
        ))
    }

    fn strided(mut axes: Vec<Axis>, word: usize, reach: (usize, usize)) -> Self {
        let is_wide = reach.0.max(reach.1) / word >= INDEX_LIMIT;
        let (copies, copy_distance) = take_repeated(&mut axes, word);
        let moves = Moves::Strided {
            word,
            is_wide,
            count: places(&axes),
            copies,
            copy_distance,
        };
        Self::of(moves, axes, reach)
    }

    fn of(moves: Moves, axes: Vec<Axis>, (reads, writes): (usize, usize)) -> Self {
        let words = axes
            .iter()
            .flat_map(|axis| {
                [
                    axis.length as u64,
                    axis.from as u64,
                    axis.to as u64,
                    magic(axis.length),
                ]
            })
            .collect();
        Self {
            moves,
            axes,
            words,
            reads,
            writes,
        }
    }

    /// What the kernel finds in device memory: length, both distances and a multiplier for dividing, for each axis
    /// from the outermost on.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Bytes from the start of the source and of the destination that are touched.
    #[must_use]
    pub fn reach(&self) -> (usize, usize) {
        (self.reads, self.writes)
    }

    pub(crate) fn moves(&self) -> &Moves {
        &self.moves
    }

    pub(crate) fn axes(&self) -> &[Axis] {
        &self.axes
    }
}

/// Drops axes of length 1, and makes one of each two that lie in a row on both sides.
fn merge(axes: &mut Vec<Axis>) {
    let mut merged: Vec<Axis> = Vec::with_capacity(axes.len());
    for axis in axes.iter().filter(|axis| axis.length != 1) {
        match merged.last_mut() {
            Some(outer) if outer.from == axis.from * axis.length && outer.to == axis.to * axis.length => {
                outer.length *= axis.length;
                outer.from = axis.from;
                outer.to = axis.to;
            }
            _ => merged.push(*axis),
        }
    }
    if merged.is_empty() {
        merged.push(Axis {
            length: 1,
            from: 1,
            to: 1,
        });
    }
    *axes = merged;
}

/// How many bytes are touched; more than there can be memory of, if the shape is absurd.
fn reach(axes: &[Axis], word: usize, distance: impl Fn(&Axis) -> usize) -> usize {
    let last = axes.iter().fold(0_usize, |last, axis| {
        last.saturating_add((axis.length - 1).saturating_mul(distance(axis)))
    });
    last.saturating_add(1).saturating_mul(word)
}

fn places(axes: &[Axis]) -> usize {
    axes.iter().map(|axis| axis.length).product()
}

/// The axes in 16 bytes of the destination, if the innermost repeats a narrower word in whole ones.
fn spread(axes: &[Axis], word: usize) -> Option<(Vec<Axis>, usize)> {
    let (inner, outer) = axes.split_last()?;
    let times = WIDEST / word;
    let is_whole =
        inner.length.is_multiple_of(times) && outer.iter().all(|axis| axis.to.is_multiple_of(times));
    if times < 2 || inner.from != 0 || !is_whole {
        return None;
    }
    let mut spread: Vec<Axis> = outer
        .iter()
        .map(|axis| Axis {
            to: axis.to / times,
            ..*axis
        })
        .collect();
    spread.push(Axis {
        length: inner.length / times,
        from: 0,
        to: 1,
    });
    // A lone axis of length 1 stays, so that there is one; in a row it adds nothing.
    if spread.len() > 1 {
        spread.retain(|axis| axis.length != 1);
    }
    let count = places(&spread);
    let is_near =
        reach(axes, word, |axis| axis.from).max(reach(axes, word, |axis| axis.to)) / word < INDEX_LIMIT;
    is_near.then_some((spread, count))
}

/// Makes words of several elements where all of them lie in a row on both sides; gives the bytes of a word.
fn widen(axes: &mut Vec<Axis>, element: usize) -> usize {
    let Some((inner, outer)) = axes.split_last() else {
        return element;
    };
    if inner.from != 1 || inner.to != 1 {
        return element;
    }
    let fits = |times: usize| {
        let even = |distance: usize| distance.is_multiple_of(times);
        even(inner.length) && outer.iter().all(|axis| even(axis.from) && even(axis.to))
    };
    let mut times = WIDEST / element;
    while times > 1 && !fits(times) {
        times /= 2;
    }
    if times < 2 {
        return element;
    }
    let last = axes.len() - 1;
    for (i, axis) in axes.iter_mut().enumerate() {
        if i == last {
            axis.length /= times;
        } else {
            axis.from /= times;
            axis.to /= times;
        }
    }
    merge(axes);
    element * times
}

/// A transposition through squares and the axes that it is done for each place of, if the innermost axes of both sides
/// differ and are long enough.
fn tiles(axes: &[Axis], word: usize) -> Option<(Moves, Vec<Axis>)> {
    let (b, outer) = axes.split_last()?;
    if b.from <= 1 || b.to != 1 {
        return None;
    }
    let place = outer.iter().position(|axis| axis.from == 1)?;
    let a = outer[place];
    if a.length < SHORTEST_SIDE || b.length < SHORTEST_SIDE {
        return None;
    }
    let mut batch = outer.to_vec();
    batch.remove(place);
    let even = |number: usize| number.is_multiple_of(2);
    let is_pairs = word == 2
        && [a.length, a.to, b.length, b.from].into_iter().all(even)
        && batch.iter().all(|axis| even(axis.from) && even(axis.to));
    let unit = if is_pairs { 2 } else { 1 };
    for axis in &mut batch {
        axis.from /= unit;
        axis.to /= unit;
    }
    let moves = Moves::Tiles {
        word,
        is_pairs,
        batches: places(&batch),
        a: a.length / unit,
        b: b.length / unit,
        b_from: b.from / unit,
        a_to: a.to / unit,
    };
    Some((moves, batch))
}

/// Takes the outermost axis that repeats the source out of the walk, if it is not the innermost one and its copies are
/// far apart: a word that was loaded once is then stored for each of its steps. Gives its length and its distance in the destination.
fn take_repeated(axes: &mut Vec<Axis>, word: usize) -> (usize, usize) {
    let inner = axes.len().saturating_sub(1);
    let is_far = |axis: &Axis| axis.from == 0 && axis.to.saturating_mul(word) >= NEAR;
    match axes[..inner].iter().position(is_far) {
        Some(place) => {
            let axis = axes.remove(place);
            (axis.length, axis.to)
        }
        None => (1, 0),
    }
}

#[cfg(test)]
mod tests;
