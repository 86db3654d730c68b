//! Levels of things of which only differences were measured, some of them more than once and along more than one way.
//!
//! Each difference has an error of its own, independent of the others. A tree of differences fixes all levels of a
//! connected group up to a constant; every further difference closes a loop and improves what it spans. The result is the
//! generalised least-squares solution (Aitken 1936), computed by conditioning the tree on its loops: with `v` the
//! variances of the tree's differences, a loop sees the sum of those on its way, two loops share the sum over what they
//! have in common, and the correction is the usual `V H' (H V H' + B)^-1 (D - H d)`. That takes `O(n m)` for `n` levels and
//! `m` loops instead of `O(n^3)`.

use std::collections::BTreeMap;

/// Loops that are used in one group; of more, those that come last. Their matrix is inverted whole, and a corrected
/// level is hardly better known for the sixty-fifth direct comparison. Chosen; arbitrary.
const MOST_LOOPS: usize = 64;

/// One measured difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Node it starts at.
    pub from: usize,
    /// Node it leads to; another one.
    pub to: usize,
    /// Level of `to` less that of `from`; finite.
    pub value: f64,
    /// Squared standard error, finite, `>= 0`.
    pub variance: f64,
}

/// Nodes that differences connect.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// Ascending.
    nodes: Vec<usize>,
    /// Best estimate of each level, the first node's being 0.
    levels: Vec<f64>,
    /// For each node the one before it in the tree, and the variance from the root to it.
    up: Vec<(usize, f64)>,
    /// Positions of the nodes, each behind the one before it in the tree.
    order: Vec<usize>,
    /// Where each node is in that order.
    rank: Vec<usize>,
    /// For each node its covariance with each loop given the loops before, in units of the loop's standard deviation.
    shares: Vec<Vec<f64>>,
}

/// The groups that these differences connect, in the order of their first nodes. Differences that are not finite, or
/// lead from a node to itself, are left out. Without any there is no group.
#[must_use]
pub fn levels(differences: &[Difference]) -> Vec<Levels> {
    let edges = joined(differences);
    let nodes: Vec<usize> = {
        let mut all: Vec<usize> = edges.iter().flat_map(|edge| [edge.from, edge.to]).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let place = |node: usize| nodes.binary_search(&node).unwrap_or(0);
    let mut above: Vec<usize> = (0..nodes.len()).collect();
    let mut tree: Vec<Vec<(usize, f64, f64)>> = vec![Vec::new(); nodes.len()];
    let mut loops = Vec::new();
    for edge in &edges {
        let (from, to) = (place(edge.from), place(edge.to));
        let (one, other) = (root(&mut above, from), root(&mut above, to));
        if one != other {
            above[other] = one;
            tree[from].push((to, edge.value, edge.variance));
            tree[to].push((from, -edge.value, edge.variance));
        } else {
            loops.push((from, to, edge.value, edge.variance));
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut first: BTreeMap<usize, usize> = BTreeMap::new();
    for place in 0..nodes.len() {
        let root = root(&mut above, place);
        let first = *first.entry(root).or_insert(place);
        groups.entry(first).or_default().push(place);
    }
    let of = |places: Vec<usize>| {
        let own: Vec<_> = loops
            .iter()
            .copied()
            .filter(|each| places.binary_search(&each.0).is_ok())
            .collect();
        solved(&nodes, &places, &tree, &own)
    };
    groups.into_values().map(of).collect()
}

/// The node that stands for everything connected with this one (disjoint sets, paths halved: Tarjan 1975).
fn root(above: &mut [usize], mut node: usize) -> usize {
    while above[node] != node {
        above[node] = above[above[node]];
        node = above[node];
    }
    node
}

/// Differences between the same two nodes as one, shortest first: what joins neighbours makes the tree.
fn joined(differences: &[Difference]) -> Vec<Difference> {
    let mut between: BTreeMap<(usize, usize), Vec<(f64, f64)>> = BTreeMap::new();
    for each in differences {
        let usable = each.value.is_finite() && each.variance.is_finite() && each.variance >= 0.0;
        if usable && each.from != each.to {
            let (ends, value) = if each.from < each.to {
                ((each.from, each.to), each.value)
            } else {
                ((each.to, each.from), -each.value)
            };
            between.entry(ends).or_default().push((value, each.variance));
        }
    }
    let mut joined: Vec<Difference> = between
        .into_iter()
        .map(|((from, to), all)| {
            let (value, variance) = weighted(&all);
            Difference {
                from,
                to,
                value,
                variance,
            }
        })
        .collect();
    joined.sort_by_key(|each| (each.to - each.from, each.to));
    joined
}

/// Mean by inverse variance; exact values count alone.
fn weighted(all: &[(f64, f64)]) -> (f64, f64) {
    if let [one] = all {
        return *one;
    }
    let exact: Vec<f64> = all
        .iter()
        .filter(|(_, variance)| *variance <= 0.0)
        .map(|(value, _)| *value)
        .collect();
    if !exact.is_empty() {
        #[expect(clippy::cast_precision_loss, reason = "few measurements")]
        let count = exact.len() as f64;
        return (exact.iter().sum::<f64>() / count, 0.0);
    }
    let weight: f64 = all.iter().map(|(_, variance)| 1.0 / variance).sum();
    let sum: f64 = all.iter().map(|(value, variance)| value / variance).sum();
    (sum / weight, 1.0 / weight)
}

type Loop = (usize, usize, f64, f64);

/// `places` are positions in `nodes`, ascending; the first is the root.
fn solved(nodes: &[usize], places: &[usize], tree: &[Vec<(usize, f64, f64)>], loops: &[Loop]) -> Levels {
    let local = |place: usize| places.binary_search(&place).unwrap_or(0);
    let mut up = vec![(0, 0.0); places.len()];
    let mut levels = vec![0.0; places.len()];
    let mut order = vec![0];
    let mut seen = vec![false; places.len()];
    seen[0] = true;
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        for &(to, value, variance) in &tree[places[at]] {
            let to = local(to);
            if !seen[to] {
                seen[to] = true;
                up[to] = (at, up[at].1 + variance);
                levels[to] = levels[at] + value;
                order.push(to);
            }
        }
    }
    let mut rank = vec![0; places.len()];
    for (n, place) in order.iter().enumerate() {
        rank[*place] = n;
    }
    let mut loops = loops.to_vec();
    loops.sort_by_key(|(from, to, ..)| (*to, *from));
    loops.drain(..loops.len().saturating_sub(MOST_LOOPS));
    let mut shares = vec![Vec::with_capacity(loops.len()); places.len()];
    let mut corrections: Vec<f64> = Vec::with_capacity(loops.len());
    let ends: Vec<(usize, usize)> = loops
        .iter()
        .map(|(from, to, ..)| (local(*from), local(*to)))
        .collect();
    for (n, &(.., value, variance)) in loops.iter().enumerate() {
        let (from, to) = ends[n];
        // What each node's way from the root has in common with this loop, less what earlier loops explain of it.
        let (with_from, with_to) = (shared(&up, &order, from), shared(&up, &order, to));
        let common: Vec<f64> = with_to
            .iter()
            .zip(&with_from)
            .map(|(to, from)| to - from)
            .collect();
        let row: Vec<f64> = (0..n).map(|k| shares[to][k] - shares[from][k]).collect();
        let explained: f64 = row.iter().map(|part| part * part).sum();
        let spread = common[to] - common[from] + variance - explained;
        // Loops that are exact and agree have nothing left to vary; the remainder is rounding.
        let pivot = spread.max(1e-18).sqrt();
        for place in 0..places.len() {
            let known: f64 = row
                .iter()
                .zip(&shares[place])
                .map(|(one, other)| one * other)
                .sum();
            shares[place].push((common[place] - known) / pivot);
        }
        let known: f64 = row.iter().zip(&corrections).map(|(one, other)| one * other).sum();
        corrections.push((value - (levels[to] - levels[from]) - known) / pivot);
    }
    for (level, shares) in levels.iter_mut().zip(&shares) {
        *level += shares
            .iter()
            .zip(&corrections)
            .map(|(share, by)| share * by)
            .sum::<f64>();
    }
    Levels {
        nodes: places.iter().map(|place| nodes[*place]).collect(),
        levels,
        up,
        order,
        rank,
        shares,
    }
}

/// For each node the variance that its way from the root shares with that of `end`.
fn shared(up: &[(usize, f64)], order: &[usize], end: usize) -> Vec<f64> {
    let mut on_the_way = vec![false; up.len()];
    let mut at = end;
    while !std::mem::replace(&mut on_the_way[at], true) {
        at = up[at].0;
    }
    let mut shared = vec![0.0; up.len()];
    for &place in order {
        shared[place] = if on_the_way[place] {
            up[place].1
        } else {
            shared[up[place].0]
        };
    }
    shared
}

impl Levels {
    /// The nodes, ascending; at least two.
    #[must_use]
    pub fn nodes(&self) -> &[usize] {
        &self.nodes
    }

    /// Best estimate of each node's level, in the order of the nodes; the first is 0.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.levels
    }

    /// Variance of the difference of the levels of two nodes, given by their positions; 0 for one node.
    #[must_use]
    pub fn variance(&self, one: usize, other: usize) -> f64 {
        let (mut a, mut b) = (one, other);
        while a != b {
            let further = if self.rank[a] > self.rank[b] {
                &mut a
            } else {
                &mut b
            };
            *further = self.up[*further].0;
        }
        self.between(one, other, self.up[a].1)
    }

    /// As [`variance`](Self::variance), from one node to every node.
    #[must_use]
    pub fn variances(&self, from: usize) -> Vec<f64> {
        let shared = shared(&self.up, &self.order, from);
        (0..self.nodes.len())
            .map(|place| self.between(from, place, shared[place]))
            .collect()
    }

    fn between(&self, one: usize, other: usize, shared: f64) -> f64 {
        let tree = self.up[one].1 + self.up[other].1 - 2.0 * shared;
        let explained = self.shares[one]
            .iter()
            .zip(&self.shares[other])
            .map(|(a, b)| (a - b).powi(2));
        (tree - explained.sum::<f64>()).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(from: usize, to: usize, value: f64, variance: f64) -> Difference {
        Difference {
            from,
            to,
            value,
            variance,
        }
    }

    fn close(one: &[f64], other: &[f64]) {
        assert_eq!(one.len(), other.len());
        for (one, other) in one.iter().zip(other) {
            assert!((one - other).abs() < 1e-12, "{one} {other}");
        }
    }

    #[test]
    fn a_chain_adds_up_and_so_do_its_errors() {
        let found = levels(&[
            step(3, 5, 0.2, 0.01),
            step(1, 3, 0.1, 0.04),
            step(5, 9, -0.5, 0.09),
        ]);
        let [chain] = &found[..] else { panic!("{found:?}") };
        assert_eq!(chain.nodes(), [1, 3, 5, 9]);
        close(chain.values(), &[0.0, 0.1, 0.3, -0.2]);
        close(&chain.variances(0), &[0.0, 0.04, 0.05, 0.14]);
        close(&chain.variances(2), &[0.05, 0.01, 0.0, 0.09]);
        close(&[chain.variance(1, 3), chain.variance(3, 1)], &[0.1, 0.1]);
    }

    /// By hand: 0 -> 1 -> 2 says 0.3 with variance 0.04 + 0.04, the direct comparison 0.1 with 0.08: the mean is 0.2, each
    /// step takes half of the difference, and the end is known with 0.04.
    #[test]
    fn a_direct_comparison_is_shared_out_over_the_steps_it_spans() {
        let found = levels(&[
            step(0, 1, 0.1, 0.04),
            step(1, 2, 0.2, 0.04),
            step(2, 3, 0.0, 0.04),
            step(0, 2, 0.1, 0.08),
        ]);
        close(found[0].values(), &[0.0, 0.05, 0.2, 0.2]);
        close(&found[0].variances(0), &[0.0, 0.03, 0.04, 0.08]);
    }

    #[test]
    fn overlapping_loops_give_the_least_squares_solution() {
        let edges = [
            (0, 1, 0.1, 0.01),
            (1, 2, 0.2, 0.02),
            (2, 3, -0.1, 0.01),
            (0, 2, 0.25, 0.03),
            (0, 3, 0.3, 0.02),
            (1, 3, 0.05, 0.04),
        ];
        let found = levels(&edges.map(|(from, to, value, variance)| step(from, to, value, variance)));
        // Normal equations, solved by Gauss.
        let mut rows = [[0.0; 4]; 3];
        for (from, to, value, variance) in edges {
            for (node, sign) in [(from, -1.0), (to, 1.0)] {
                if node > 0 {
                    rows[node - 1][3] += sign * value / variance;
                    for (other, also) in [(from, -1.0), (to, 1.0)] {
                        if other > 0 {
                            rows[node - 1][other - 1] += sign * also / variance;
                        }
                    }
                }
            }
        }
        let solve = |mut rows: [[f64; 4]; 3]| {
            for at in 0..3 {
                let pivot = rows[at][at];
                rows[at] = rows[at].map(|each| each / pivot);
                for other in 0..3 {
                    if other != at {
                        let (by, row) = (rows[other][at], rows[at]);
                        rows[other]
                            .iter_mut()
                            .zip(row)
                            .for_each(|(each, of)| *each -= by * of);
                    }
                }
            }
            rows.map(|row| row[3])
        };
        let expected = solve(rows);
        close(&found[0].values()[1..], &expected);
        for node in 0..3 {
            let mut unit = rows;
            for (at, row) in unit.iter_mut().enumerate() {
                row[3] = if at == node { 1.0 } else { 0.0 };
            }
            close(&[found[0].variance(0, node + 1)], &[solve(unit)[node]]);
            close(&[found[0].variances(0)[node + 1]], &[solve(unit)[node]]);
        }
    }

    #[test]
    fn what_nothing_connects_stays_apart() {
        let found = levels(&[
            step(4, 5, 0.1, 0.0),
            step(0, 1, 0.1, 0.0),
            step(8, 8, 0.1, 0.0),
            step(6, 7, f64::NAN, 0.0),
        ]);
        let nodes: Vec<&[usize]> = found.iter().map(Levels::nodes).collect();
        assert_eq!(nodes, [&[0, 1][..], &[4, 5]]);
        assert!(levels(&[]).is_empty());
    }

    #[test]
    fn the_same_step_measured_twice_is_known_better_and_an_exact_one_alone_counts() {
        let found = levels(&[step(0, 1, 0.1, 0.04), step(1, 0, -0.3, 0.04)]);
        close(found[0].values(), &[0.0, 0.2]);
        close(&found[0].variances(0), &[0.0, 0.02]);
        let exact = levels(&[step(0, 1, 0.1, 0.04), step(0, 1, 0.3, 0.0)]);
        close(exact[0].values(), &[0.0, 0.3]);
        let agreeing = levels(&[step(0, 1, 0.1, 0.0), step(1, 2, 0.1, 0.0), step(0, 2, 0.2, 0.0)]);
        assert!(agreeing[0].values().iter().all(|level| level.is_finite()));
    }
}
