use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A tree as labels and depths in preorder.
type Nodes = Vec<(u32, u32)>;

fn flat(tree: &Nodes) -> Vec<u32> {
    tree.iter().flat_map(|&(label, depth)| [label, depth]).collect()
}

fn params(decay: f64, tree_share: f64) -> TreeKernelParams {
    TreeKernelParams { decay, tree_share, ..TreeKernelParams::default() }
}

/// The children of a node.
fn children(tree: &Nodes, at: usize) -> Vec<usize> {
    let below = (at + 1..tree.len()).take_while(|&node| tree[node].1 > tree[at].1);
    below.filter(|&node| tree[node].1 == tree[at].1 + 1).collect()
}

/// All subtrees with this root, as text with the number of their productions: each node has all of its children or none.
fn subtrees(tree: &Nodes, root: usize) -> Vec<(String, i32)> {
    let mut all = vec![(format!("({}", tree[root].0), 1)];
    for child in children(tree, root) {
        let mut ways = vec![(format!("{} ", tree[child].0), 0)];
        if !children(tree, child).is_empty() {
            ways.extend(subtrees(tree, child));
        }
        let pairs = all.iter().flat_map(|(text, n)| {
            ways.iter().map(move |(way, more)| (format!("{text} {way}"), n + more))
        });
        all = pairs.collect();
    }
    all.into_iter().map(|(text, n)| (text + ")", n)).collect()
}

/// The number of times that each subtree occurs, and its productions.
fn counts(tree: &Nodes) -> BTreeMap<String, (f64, i32)> {
    let mut counts = BTreeMap::new();
    for root in (0..tree.len()).filter(|&root| !children(tree, root).is_empty()) {
        for (subtree, productions) in subtrees(tree, root) {
            counts.entry(subtree).or_insert((0.0, productions)).0 += 1.0;
        }
    }
    counts
}

fn tree() -> impl Strategy<Value = Nodes> {
    prop::collection::vec((0u32..2, 0u32..4), 2..10).prop_map(|nodes| {
        let mut before = 0;
        let node = |(at, (label, depth)): (usize, (u32, u32))| {
            let depth = if at == 0 { 0 } else { (depth + 1).min(before + 1) };
            before = depth;
            (label, depth)
        };
        nodes.into_iter().enumerate().map(node).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn the_kernel_counts_common_subtrees(a in tree(), b in tree(), decay in 0.1f64..1.0) {
        let mut trees = Trees::default();
        trees.push(&flat(&a));
        trees.push(&flat(&b));
        let (of_a, of_b) = (counts(&a), counts(&b));
        let common = of_a.iter().filter_map(|(subtree, (n, productions))| {
            Some(n * of_b.get(subtree)?.0 * decay.powi(*productions))
        });
        let wanted: f64 = common.sum();
        for (one, other) in [(0, 1), (1, 0)] {
            let kernel = trees.kernel(one, (&trees, other), decay);
            prop_assert!((kernel - wanted).abs() <= 1e-9 * wanted.max(1.0), "{kernel} {wanted}");
        }
    }
}

#[test]
fn both_kernels_are_normalized_and_mixed() {
    let mut examples = Examples::default();
    let mixed = params(0.5, 0.25);
    // (0 1 2), (0 1 3) below a root; two of three indicators in common.
    examples.push(&[9, 0, 0, 1, 1, 2, 2, 2], &[1, 2, 3], &mixed);
    examples.push(&[9, 0, 0, 1, 1, 2, 3, 2], &[2, 3, 4], &mixed);
    let kernel = |at, other| examples.kernel(at, (&examples, other), &mixed);
    assert!((kernel(0, 0) - 1.0).abs() < 1e-12 && (kernel(1, 1) - 1.0).abs() < 1e-12);
    // With itself: 9 above 0, with what is below it or not, and that alone.
    let tree = 0.5 / (0.5 + 0.5 * 0.5 + 0.5);
    assert!((kernel(0, 1) - (0.25 * tree + 0.75 * 9.0 / 16.0)).abs() < 1e-12);
    assert_eq!(kernel(0, 1), kernel(1, 0));
}

#[test]
fn the_kernel_of_wide_trees_is_finite() {
    let mut wide = vec![0, 0];
    (0..3_000).for_each(|_| wide.extend([1, 1, 2, 2]));
    let (mut examples, params) = (Examples::default(), params(1.0, 1.0));
    examples.push(&wide, &[], &params);
    assert!((examples.kernel(0, (&examples, 0), &params) - 1.0).abs() < 1e-9);
}
