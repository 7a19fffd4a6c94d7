use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

/// A forest of trees given as labels and depths.
fn forest(trees: &[Vec<(u64, usize)>]) -> Forest {
    let mut forest = Forest::default();
    for tree in trees {
        forest.begin(tree[0].0);
        tree[1..].iter().for_each(|&(label, depth)| forest.push(label, depth));
    }
    forest
}

/// All subtrees of a tree with up to `size` nodes, by trying all sets of nodes.
fn subtrees(tree: &[(u64, usize)], size: usize) -> BTreeSet<Vec<Key>> {
    let parent = |at: usize| (0..at).rev().find(|&above| tree[above].1 < tree[at].1);
    let subtree = |nodes: &[usize]| -> Option<Vec<Key>> {
        let mut keys = vec![(0, tree[nodes[0]].0)];
        for pair in nodes.windows(2) {
            nodes.iter().find(|&&node| Some(node) == parent(pair[1]))?;
            keys.push(((tree[pair[0]].1 + 1 - tree[pair[1]].1) as u32, tree[pair[1]].0));
        }
        Some(keys)
    };
    let sets = (1u32..1 << tree.len()).filter(|set| set.count_ones() as usize <= size);
    let nodes = sets.map(|set| (0..tree.len()).filter(|at| set >> at & 1 == 1).collect::<Vec<_>>());
    nodes.filter_map(|nodes| subtree(&nodes)).collect()
}

/// The rows with each subtree in at least `min_rows` of them.
fn frequent(
    trees: &[Vec<(u64, usize)>],
    params: &SubtreeBoostingParams,
) -> BTreeMap<Vec<Key>, Vec<u32>> {
    let mut rows: BTreeMap<Vec<Key>, Vec<u32>> = BTreeMap::new();
    for (tree, row) in trees.iter().zip(0..) {
        for subtree in subtrees(tree, params.max_nodes as usize) {
            rows.entry(subtree).or_default().push(row);
        }
    }
    rows.retain(|_, rows| rows.len() >= params.min_rows as usize);
    rows
}

fn tree() -> impl Strategy<Value = Vec<(u64, usize)>> {
    prop::collection::vec((0u64..3, 0usize..4), 1..8).prop_map(|nodes| {
        let mut before = 0;
        let node = |(at, (label, depth)): (usize, (u64, usize))| {
            let depth = if at == 0 { 0 } else { (depth + 1).min(before + 1) };
            before = depth;
            (label, depth)
        };
        nodes.into_iter().enumerate().map(node).collect()
    })
}

fn weighted_trees() -> impl Strategy<Value = Vec<(Vec<(u64, usize)>, i32)>> {
    let weight = prop_oneof![-50i32..=-1, 1i32..=50];
    prop::collection::vec((tree(), weight), 1..12)
}

#[test]
fn a_subtree_keeps_parents_and_the_order_of_siblings() {
    // (a (b c) d)
    let found = subtrees(&[(0, 0), (1, 1), (2, 2), (3, 1)], 3);
    assert!(found.contains(&vec![(0, 0), (0, 1), (1, 3)]));
    assert!(found.contains(&vec![(0, 0), (0, 3)]));
    assert!(
        !found.contains(&vec![(0, 0), (0, 2)]) && !found.contains(&vec![(0, 0), (0, 3), (1, 1)])
    );
    assert_eq!(found.len(), 4 + 3 + 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn the_best_stump_is_that_of_an_exhaustive_search(
        trees in weighted_trees(),
        max_nodes in 1u32..5,
        min_rows in 1u32..3,
    ) {
        let params = SubtreeBoostingParams { max_nodes, min_rows, rounds: 1 };
        let (trees, weights): (Vec<_>, Vec<_>) = trees.into_iter().unzip();
        let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
        let frequent = frequent(&trees, &params);
        let forest = forest(&trees);
        let mut search = Search::new(&forest, &params);
        // With other weights what is kept must still do.
        let reversed: Vec<f64> = weights.iter().map(|weight| 1.0 - weight).collect();
        for weights in [&weights, &reversed, &weights] {
            let sum: f64 = weights.iter().sum();
            let gain = |rows: &Vec<u32>| {
                let with: f64 = rows.iter().map(|&row| weights[row as usize]).sum();
                2.0 * with - sum
            };
            let most = frequent.values().map(|rows| gain(rows).abs()).reduce(f64::max);
            let best = search.best(weights);
            prop_assert_eq!(best.as_ref().map(|best| best.gain), most);
            if let Some(best) = best {
                prop_assert_eq!(&best.rows, &frequent[&best.subtree]);
                prop_assert_eq!(best.gain, best.sign * gain(&best.rows));
                let first = frequent.iter().find(|(_, rows)| gain(rows).abs() == best.gain);
                prop_assert_eq!(first.map(|(subtree, _)| subtree), Some(&best.subtree));
            }
        }
    }
}
