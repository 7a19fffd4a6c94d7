//! Decision trees: C4.5 ([`c45`]) and CART ([`cart`]), grown on columns rather than indicators.
//!
//! Both are grown level by level (`grow.rs`) from encoded instances (`table.rs`), pruned (`prune.rs`) and
//! packed into a [`DecisionTree`]. The scores are natural logarithms of probabilities. The class
//! distribution of a node backs off to that of its parent, as Kalt (2004, section 3.4) suggests:
//!
//! > p(class | node) = (count(class, node) + `backoff` × p(class | parent)) ÷ (count(node) + `backoff`)
//!
//! At the root it is the relative frequency. A value without a branch ends at the node of the test, with
//! the distribution of that node. Words that were ignored in training share a branch where C4.5 branches on
//! every value, and never satisfy a test for one value.

pub mod c45;
pub mod cart;
mod codes;
mod grow;
mod impurity;
mod pack;
mod prune;
mod table;
mod tally;
pub mod tree;

pub use c45::C45Params;
pub use cart::CartParams;
pub use tree::DecisionTree;

use super::{Classifier, Fit, Instances};
use crate::{Error, Result};
use grow::{Chooser, Node, grow};
use table::{Coding, encode};

/// The number of instances of each class, up to the last class that occurs.
fn dense_counts(classes: &[u16]) -> Vec<u32> {
    let mut counts = vec![0; classes.iter().max().map_or(0, |&class| usize::from(class) + 1)];
    for &class in classes {
        counts[usize::from(class)] += 1;
    }
    counts
}

/// Checks the instances and grows a tree from them.
fn grow_tree(
    instances: &Instances,
    min_word_count: u32,
    chooser: &dyn Chooser,
    fit: &Fit<'_>,
) -> Result<(Vec<Coding>, Vec<Node>)> {
    instances.check_single_values("decision trees")?;
    if instances.is_empty() {
        return Err(Error::Unfit("no instances to grow a decision tree from".into()));
    }
    let (codings, root) = encode(instances, min_word_count);
    fit.unless_stopped()?;
    let nodes = grow(&codings, root, chooser, fit);
    Ok((codings, nodes))
}

/// Packs the pruned tree.
fn finish(
    instances: &Instances,
    codings: &[Coding],
    nodes: &[Node],
    backoff: f64,
    fit: &Fit<'_>,
) -> Result<Box<dyn Classifier>> {
    let tree = DecisionTree::pack(codings, nodes, instances.n_classes(), backoff)?;
    let (grown, leaves) = (nodes.len(), tree.n_leaves());
    let (kept, tests) = reachable(nodes);
    let text = format!(
        "{grown} nodes grown, {kept} after pruning, {leaves} leaves, {tests:.1} tests per instance"
    );
    fit.log(&text);
    Ok(Box::new(tree))
}

/// The number of nodes that are reachable from the root, and the average number of tests on the path of an
/// instance.
fn reachable(nodes: &[Node]) -> (usize, f64) {
    let (mut kept, mut tests) = (0, 0);
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        let node: &Node = &nodes[at];
        kept += 1;
        if node.test.is_some() {
            tests += u64::from(node.n());
            open.extend(node.children());
        }
    }
    (kept, tests as f64 / f64::from(nodes[0].n().max(1)))
}

#[cfg(test)]
mod tests;
