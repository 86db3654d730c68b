//! Plans, walked on the CPU the way the kernels walk them.

use super::*;
use crate::device::divide;
use crate::ops::expand;
use proptest::prelude::*;

/// What is in the output before: nothing may be left of it.
const POISON: u8 = 0xa5;

/// The bytes that the kernels would write.
fn moved(plan: &Plan, input: &[u8], bytes: usize) -> Vec<u8> {
    let mut out = vec![POISON; bytes];
    let axes: Vec<&[u64]> = plan.words().chunks_exact(4).collect();
    match *plan.moves() {
        Moves::Nothing => {}
        Moves::Strided {
            word,
            count,
            copies,
            copy_distance,
            ..
        } => {
            for place in 0..count {
                let (from, to) = walk(&axes, place);
                for copy in 0..copies {
                    let to = (to + copy * copy_distance) * word;
                    out[to..to + word].copy_from_slice(&input[from * word..][..word]);
                }
            }
        }
        Moves::Spread { word, count } => {
            for place in 0..count {
                let (from, to) = walk(&axes, place);
                for to in out[to * 16..][..16].chunks_exact_mut(word) {
                    to.copy_from_slice(&input[from * word..][..word]);
                }
            }
        }
        Moves::Tiles {
            word,
            is_pairs,
            batches,
            a,
            b,
            b_from,
            a_to,
        } => {
            let unit = if is_pairs { 2 } else { 1 };
            for batch in 0..batches {
                let (from, to) = walk(&axes, batch);
                for (i, j) in (0..a * unit).flat_map(|i| (0..b * unit).map(move |j| (i, j))) {
                    let from = (from * unit + i + j * b_from * unit) * word;
                    let to = (to * unit + j + i * a_to * unit) * word;
                    out[to..to + word].copy_from_slice(&input[from..from + word]);
                }
            }
        }
    }
    out
}

/// Where the place is in the source and in the destination.
fn walk(axes: &[&[u64]], place: usize) -> (usize, usize) {
    let (mut rest, mut from, mut to) = (place as u32, 0, 0);
    for axis in axes.iter().rev() {
        let outer = divide(rest, axis[3]);
        let step = u64::from(rest - outer * axis[0] as u32);
        from += step * axis[1];
        to += step * axis[2];
        rest = outer;
    }
    assert_eq!(rest, 0);
    (from as usize, to as usize)
}

/// The definition, byte by byte.
fn wanted(element: usize, shape: &[usize], distances: &[usize], input: &[u8]) -> Vec<u8> {
    let into = strides(shape);
    (0..shape.iter().product::<usize>())
        .flat_map(|place| {
            let from: usize = (0..shape.len())
                .map(|axis| place / into[axis] % shape[axis] * distances[axis])
                .sum();
            input[from * element..][..element].to_vec()
        })
        .collect()
}

fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i * 151 % 251) as u8).collect()
}

fn check(element: usize, shape: &[usize], distances: &[usize], input_places: usize) -> Plan {
    let input = bytes(input_places * element);
    let wanted = wanted(element, shape, distances, &input);
    let plan = Plan::new("test", element, shape, distances).unwrap();
    assert_eq!(moved(&plan, &input, wanted.len()), wanted, "{plan:?}");
    let (reads, writes) = plan.reach();
    assert!(reads <= input.len() && writes == wanted.len(), "{plan:?}");
    plan
}

/// Shape and distances of a permutation.
fn permuted(shape: &[usize], order: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let from = strides(shape);
    (
        order.iter().map(|axis| shape[*axis]).collect(),
        order.iter().map(|axis| from[*axis]).collect(),
    )
}

/// Shape and distances of a repetition.
fn repeated(shape: &[usize], repeats: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let from = strides(shape);
    let axes = (0..shape.len()).flat_map(|axis| [(repeats[axis], 0), (shape[axis], from[axis])]);
    axes.unzip()
}

fn permute(element: usize, shape: &[usize], order: &[usize]) -> Plan {
    let (out, distances) = permuted(shape, order);
    check(element, &out, &distances, shape.iter().product())
}

#[test]
fn rows_that_stay_rows_are_moved_in_words_of_16_bytes() {
    let plan = permute(2, &[3, 5, 64], &[1, 0, 2]);
    assert!(
        matches!(
            plan.moves(),
            Moves::Strided {
                word: 16,
                count: 120,
                ..
            }
        ),
        "{plan:?}"
    );
    let plan = permute(4, &[3, 5, 3], &[1, 0, 2]);
    assert!(matches!(plan.moves(), Moves::Strided { word: 4, .. }), "{plan:?}");
}

#[test]
fn an_order_that_changes_nothing_is_one_row() {
    let plan = permute(4, &[2, 3, 4], &[0, 1, 2]);
    assert_eq!(plan.axes().len(), 1);
    assert!(
        matches!(
            plan.moves(),
            Moves::Strided {
                word: 16,
                count: 6,
                copies: 1,
                ..
            }
        ),
        "{plan:?}"
    );
}

#[test]
fn long_sides_are_transposed_through_squares_and_short_ones_are_not() {
    let plan = permute(4, &[70, 33], &[1, 0]);
    let Moves::Tiles {
        word: 4,
        is_pairs: false,
        batches: 1,
        a: 33,
        b: 70,
        b_from: 33,
        a_to: 70,
    } = *plan.moves()
    else {
        panic!("{plan:?}");
    };
    assert!(plan.words().is_empty());
    assert!(matches!(
        permute(4, &[70, 3], &[1, 0]).moves(),
        Moves::Strided { word: 4, .. }
    ));
    assert!(matches!(
        permute(4, &[2, 40, 3, 20], &[2, 3, 0, 1]).moves(),
        Moves::Tiles { .. }
    ));
}

#[test]
fn two_byte_numbers_are_transposed_in_pairs_where_everything_is_even() {
    let pairs = |plan: Plan| matches!(plan.moves(), Moves::Tiles { is_pairs: true, .. });
    assert!(pairs(permute(2, &[66, 34], &[1, 0])));
    assert!(pairs(permute(2, &[3, 66, 34], &[0, 2, 1])));
    assert!(!pairs(permute(2, &[66, 33], &[1, 0])));
    assert!(!pairs(permute(2, &[65, 34], &[1, 0])));
    assert!(!pairs(permute(4, &[66, 34], &[1, 0])));
}

#[test]
fn a_run_of_exactly_one_word_is_transposed_as_that_word() {
    let plan = permute(4, &[20, 30, 4], &[1, 0, 2]);
    assert!(
        matches!(
            plan.moves(),
            Moves::Tiles {
                word: 16,
                a: 30,
                b: 20,
                ..
            }
        ),
        "{plan:?}"
    );
}

#[test]
fn a_long_broadcast_row_is_loaded_once_and_stored_for_each_copy() {
    let row = NEAR / 4;
    let plan = check(4, &[7, row], &[0, 1], row);
    let Moves::Strided {
        word: 16,
        count,
        copies: 7,
        copy_distance,
        ..
    } = *plan.moves()
    else {
        panic!("{plan:?}");
    };
    assert_eq!((count, copy_distance), (row / 4, row / 4));
}

#[test]
fn a_short_broadcast_row_is_loaded_again_so_that_the_output_is_written_in_order() {
    let plan = check(4, &[7, 8], &[0, 1], 8);
    assert!(
        matches!(
            plan.moves(),
            Moves::Strided {
                word: 16,
                count: 14,
                copies: 1,
                ..
            }
        ),
        "{plan:?}"
    );
}

#[test]
fn a_broadcast_column_is_spread_over_words_of_16_bytes() {
    let plan = check(2, &[3, 16], &[1, 0], 3);
    assert!(
        matches!(plan.moves(), Moves::Spread { word: 2, count: 6 }),
        "{plan:?}"
    );
    let plan = check(2, &[3, 15], &[1, 0], 3);
    assert!(matches!(plan.moves(), Moves::Strided { word: 2, .. }), "{plan:?}");
    // One number everywhere, and one that is exactly a word.
    assert!(matches!(
        check(4, &[2, 4], &[0, 0], 1).moves(),
        Moves::Spread { count: 2, .. }
    ));
    assert!(matches!(
        check(4, &[4], &[0], 1).moves(),
        Moves::Spread { count: 1, .. }
    ));
}

#[test]
fn a_repetition_is_a_broadcast_of_split_axes() {
    let (shape, distances) = repeated(&[256, 256], &[3, 2]);
    let plan = check(4, &shape, &distances, 65_536);
    assert!(
        matches!(
            plan.moves(),
            Moves::Strided {
                word: 16,
                count: 32_768,
                copies: 3,
                ..
            }
        ),
        "{plan:?}"
    );
}

#[test]
fn empty_outputs_move_nothing_and_a_lone_number_is_moved() {
    assert_eq!(*check(4, &[3, 0], &[0, 1], 0).moves(), Moves::Nothing);
    assert!(matches!(
        check(2, &[], &[], 1).moves(),
        Moves::Strided {
            word: 2,
            count: 1,
            ..
        }
    ));
    assert!(matches!(
        check(2, &[1, 1], &[1, 1], 1).moves(),
        Moves::Strided {
            word: 2,
            count: 1,
            ..
        }
    ));
}

#[test]
fn what_32_bits_do_not_reach_is_walked_with_64() {
    let wide = |shape: &[usize], distances: &[usize]| {
        let plan = Plan::new("test", 2, shape, distances).unwrap();
        matches!(plan.moves(), Moves::Strided { is_wide: true, .. })
    };
    // An odd row keeps words at two bytes.
    assert!(wide(&[1 << 30, 3], &[0, 1]));
    assert!(!wide(&[1 << 29, 3], &[0, 1]));
    // A column that would be spread, were it shorter.
    assert!(wide(&[1 << 15, 1 << 16], &[1, 0]));
}

#[test]
fn more_axes_than_a_kernel_walks_are_refused() {
    let shape = vec![2; 34];
    let (shape, distances) = repeated(&shape[..17], &shape[..17]);
    let refused = Plan::new("tile", 4, &shape, &distances).unwrap_err().to_string();
    assert!(
        refused.contains("the number of axes that do not merge is 34"),
        "{refused}"
    );
    assert!(Plan::new("tile", 4, &[2, 2], &[1]).is_err());
}

proptest! {
    #[test]
    fn every_permutation_is_right(
        shape in prop::collection::vec(0_usize..7, 0..5),
        order in Just((0..5).collect::<Vec<usize>>()).prop_shuffle(),
        element in prop::sample::select(vec![1_usize, 2, 4, 8, 16]),
    ) {
        let order: Vec<usize> = order.into_iter().filter(|axis| *axis < shape.len()).collect();
        permute(element, &shape, &order);
    }

    #[test]
    fn every_transposition_of_long_sides_is_right(
        shape in prop::collection::vec(1_usize..4, 0..2),
        sides in (14_usize..70, 14_usize..70),
        inner in 1_usize..9,
        element in prop::sample::select(vec![1_usize, 2, 4]),
    ) {
        let mut whole = shape.clone();
        whole.extend([sides.0, sides.1, inner]);
        let mut order: Vec<usize> = (0..whole.len()).collect();
        order.swap(shape.len(), shape.len() + 1);
        permute(element, &whole, &order);
    }

    #[test]
    fn every_repetition_is_right(
        axes in prop::collection::vec((0_usize..9, 0_usize..4), 0..4),
        element in prop::sample::select(vec![1_usize, 2, 4, 8]),
    ) {
        let (shape, repeats): (Vec<usize>, Vec<usize>) = axes.into_iter().unzip();
        let (out, distances) = repeated(&shape, &repeats);
        check(element, &out, &distances, shape.iter().product());
    }

    #[test]
    fn every_broadcast_is_right(
        axes in prop::collection::vec((0_usize..9, any::<bool>()), 0..5),
        dropped in 0_usize..3,
        element in prop::sample::select(vec![1_usize, 2, 4, 8]),
    ) {
        let shape: Vec<usize> = axes.iter().map(|(length, _)| *length).collect();
        let from: Vec<usize> = axes
            .iter()
            .skip(dropped)
            .map(|(length, is_repeated)| if *is_repeated { 1 } else { *length })
            .collect();
        let distances = expand::distances(&from, &shape).unwrap();
        check(element, &shape, &distances, from.iter().product());
    }
}
