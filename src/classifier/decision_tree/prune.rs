//! Pruning: subtrees that are not expected to make fewer errors than a leaf become leaves.

use super::grow::Node;

/// The standard normal deviate that is exceeded with probability `p`, from 0 to 0.5 (Abramowitz and Stegun
/// 1964, formula 26.2.23; error below 0.0005).
fn deviate(p: f64) -> f64 {
    let t = (-2.0 * p.max(1e-300).ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - above / below
}

/// The expected errors on `n` new instances, given `errors` on `n` training instances: `n` times the upper
/// confidence limit of the error rate (Quinlan 1993, section 4.2). Without errors it is the exact binomial
/// limit, otherwise the normal approximation with continuity correction.
fn expected_errors(n: u32, errors: u32, confidence: f64) -> f64 {
    let (n, e) = (f64::from(n), f64::from(errors));
    if errors == 0 {
        return n * (1.0 - confidence.powf(1.0 / n));
    }
    if e + 0.5 >= n {
        return e + 0.67 * (n - e);
    }
    let z2 = deviate(confidence).powi(2);
    let seen = e + 0.5;
    n * (seen + z2 / 2.0 + (z2 * (seen * (1.0 - seen / n) + z2 / 4.0)).sqrt()) / (n + z2)
}

/// Replaces subtrees by leaves, bottom-up, if the expected errors increase by at most 0.1 (Quinlan 1993,
/// chapter 4), or if the subtree makes no fewer errors on its own instances.
pub(super) fn pessimistic(nodes: &mut [Node], confidence: f64) {
    let seen = |node: &Node| f64::from(node.errors());
    by_cost(nodes, seen, seen);
    let expected = |node: &Node| expected_errors(node.n(), node.errors(), confidence);
    by_cost(nodes, |node| expected(node) - 0.1, expected);
}

/// Replaces subtrees by leaves so that errors + `complexity` × leaves is least (minimal cost-complexity
/// pruning: Breiman, Friedman, Olshen and Stone 1984, section 3.3).
pub(super) fn cost_complexity(nodes: &mut [Node], complexity: f64) {
    let cost = |node: &Node| f64::from(node.errors()) + complexity;
    by_cost(nodes, cost, cost);
}

/// Replaces subtrees by leaves, bottom-up, where `if_made` of the node is at most the cost of the subtree
/// below it; `cost` is then the cost of the leaf.
fn by_cost(nodes: &mut [Node], if_made: impl Fn(&Node) -> f64, cost: impl Fn(&Node) -> f64) {
    let mut costs = vec![0.0; nodes.len()];
    // Children come after their parents.
    for at in (0..nodes.len()).rev() {
        let node = &nodes[at];
        let below: f64 = node.children().map(|child| costs[child]).sum();
        if node.test.is_none() || if_made(node) <= below {
            costs[at] = cost(node);
            nodes[at].test = None;
        } else {
            costs[at] = below;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::grow::Test;
    use super::*;

    fn leaf(counts: &[(u16, u32)]) -> Node {
        Node { counts: counts.to_vec(), test: None, children: 0 }
    }

    fn inner(counts: &[(u16, u32)], n_children: u16, first: u32) -> Node {
        let test = Some((0, Test::Which((1..=n_children).collect())));
        Node { counts: counts.to_vec(), test, children: first }
    }

    #[test]
    fn the_expected_errors_are_those_of_quinlans_example() {
        // Quinlan 1993, section 4.2: U(0, 6) = .206, U(0, 9) = .143, U(0, 1) = .750, U(1, 16) = .157.
        for (n, errors, rate) in [(6, 0, 0.206), (9, 0, 0.143), (1, 0, 0.75), (16, 1, 0.157)] {
            let expected = expected_errors(n, errors, 0.25) / f64::from(n);
            assert!((expected - rate).abs() < 0.005, "U({errors}, {n}) = {expected}");
        }
    }

    #[test]
    fn quinlans_example_is_pruned() {
        // Leaves of 6, 9 and 1 cases without error: 3.273 expected errors; as one leaf 2.512.
        let mut nodes = vec![
            inner(&[(0, 15), (1, 1)], 3, 1),
            leaf(&[(0, 6)]),
            leaf(&[(0, 9)]),
            leaf(&[(1, 1)]),
        ];
        pessimistic(&mut nodes, 0.25);
        assert_eq!(nodes[0].test, None);
    }

    #[test]
    fn a_split_that_pays_is_kept() {
        let mut nodes = vec![inner(&[(0, 50), (1, 50)], 2, 1), leaf(&[(0, 50)]), leaf(&[(1, 50)])];
        pessimistic(&mut nodes, 0.25);
        assert!(nodes[0].test.is_some());
    }

    #[test]
    fn a_subtree_goes_when_its_leaves_save_less_than_they_cost() {
        let grown = vec![inner(&[(0, 50), (1, 4)], 2, 1), leaf(&[(0, 50)]), leaf(&[(1, 4)])];
        let pruned = |complexity: f64| {
            let mut nodes = grown.clone();
            cost_complexity(&mut nodes, complexity);
            nodes[0].test.is_none()
        };
        assert_eq!([pruned(3.9), pruned(4.0)], [false, true]);
    }
}
