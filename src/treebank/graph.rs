//! Sentence graphs with crossing branches, and their conversion to trees.
//!
//! A node is discontinuous if its words are not adjacent. Two steps make all nodes continuous:
//!
//! 1. A token directly below the root, such as punctuation in NEGRA, is attached to the lowest node that has words on
//!    both sides of it.
//! 2. Children are raised, bottom-up: of a node that is still discontinuous, the contiguous children that include
//!    the head (edge label `HD`) stay, or without a head those with the most words, not counting words of raised
//!    children; the other children move to its parent. This is the usual conversion of NEGRA and TIGER (Kübler
//!    2005); Boyd (2007) compares it with splitting nodes.

use std::ops::Range;

use compact_str::CompactString;

use crate::tree::{Token, Tree, TreeBuilder};

/// The label of the root of a graph.
pub(super) const ROOT: &str = "VROOT";

/// The edge label of heads.
const HEAD: &str = "HD";

/// A node or a token of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Vertex {
    /// A token, by its position.
    Token(u32),
    /// A node, by its position in the list of nodes.
    Node(u32),
}

/// A node of a graph.
#[derive(Debug, Clone, Default)]
struct GraphNode {
    label: CompactString,
    children: Vec<Vertex>,
    /// Whether it is a child itself.
    is_attached: bool,
    /// The child whose edge is labelled as the head.
    head: Option<Vertex>,
}

/// The graph of a sentence. Its root is the node 0.
#[derive(Debug, Clone)]
pub(super) struct Graph {
    tokens: Vec<Token>,
    /// For each token, whether it is a child.
    attached: Vec<bool>,
    nodes: Vec<GraphNode>,
}

/// The root of every graph.
pub(super) const GRAPH_ROOT: u32 = 0;

impl Graph {
    /// A graph of a root alone.
    pub(super) fn new() -> Self {
        let root = GraphNode { label: ROOT.into(), ..GraphNode::default() };
        Self { tokens: Vec::new(), attached: Vec::new(), nodes: vec![root] }
    }

    /// Adds a token.
    pub(super) fn token(&mut self, token: Token) -> Vertex {
        self.tokens.push(token);
        self.attached.push(false);
        Vertex::Token(self.tokens.len() as u32 - 1)
    }

    /// Adds a node.
    pub(super) fn node(&mut self, label: &str) -> u32 {
        self.nodes.push(GraphNode { label: label.into(), ..GraphNode::default() });
        self.nodes.len() as u32 - 1
    }

    /// Makes a vertex a child of a node; returns false if it is a child already. The function of a node, if it has any,
    /// is joined to its label by a hyphen.
    pub(super) fn attach(&mut self, child: Vertex, parent: u32, function: &str) -> bool {
        let is_attached = match child {
            Vertex::Token(position) => &mut self.attached[position as usize],
            Vertex::Node(child) => &mut self.nodes[child as usize].is_attached,
        };
        if std::mem::replace(is_attached, true) {
            return false;
        }
        let node = &mut self.nodes[parent as usize];
        node.children.push(child);
        if function == HEAD {
            node.head.get_or_insert(child);
        }
        if let Vertex::Node(child) = child
            && !function.is_empty()
            && function.bytes().any(|byte| byte != b'-')
        {
            let label = &mut self.nodes[child as usize].label;
            label.push('-');
            label.push_str(function);
        }
        true
    }

    /// Attaches everything without a parent to the root.
    pub(super) fn attach_rest(&mut self) {
        for position in 0..self.tokens.len() as u32 {
            self.attach(Vertex::Token(position), GRAPH_ROOT, "");
        }
        for node in 1..self.nodes.len() as u32 {
            self.attach(Vertex::Node(node), GRAPH_ROOT, "");
        }
    }

    /// Makes a tree and counts the nodes that were discontinuous; nodes without words are left out. `None` if a
    /// node dominates itself, or has two parents.
    pub(super) fn into_tree(mut self) -> Option<(Tree, u64)> {
        let order = self.top_down()?;
        self.lower_tokens(&order);
        let discontinuous = self.raise_children(&order);
        Some((self.tree(), discontinuous))
    }

    /// The nodes, parents before children; `None` if not every node has exactly one path from the root.
    fn top_down(&self) -> Option<Vec<u32>> {
        let mut order = vec![GRAPH_ROOT];
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            at += 1;
            for child in &self.nodes[node as usize].children {
                if let Vertex::Node(child) = *child {
                    order.push(child);
                }
            }
            if order.len() > self.nodes.len() {
                return None;
            }
        }
        let mut is_seen = vec![false; self.nodes.len()];
        let once = order.iter().all(|&node| !std::mem::replace(&mut is_seen[node as usize], true));
        (once && order.len() == self.nodes.len()).then_some(order)
    }

    /// The parent of each node, and the node above each token.
    fn parents(&self) -> (Vec<u32>, Vec<u32>) {
        let mut of_nodes = vec![GRAPH_ROOT; self.nodes.len()];
        let mut of_tokens = vec![GRAPH_ROOT; self.tokens.len()];
        for (node, number) in self.nodes.iter().zip(0..) {
            for child in &node.children {
                match *child {
                    Vertex::Token(position) => of_tokens[position as usize] = number,
                    Vertex::Node(child) => of_nodes[child as usize] = number,
                }
            }
        }
        (of_nodes, of_tokens)
    }

    /// Attaches the tokens below the root to the lowest node with words on both sides.
    fn lower_tokens(&mut self, order: &[u32]) {
        let (parent, above) = self.parents();
        let mut depth = vec![0; self.nodes.len()];
        for &node in &order[1..] {
            depth[node as usize] = depth[parent[node as usize] as usize] + 1;
        }
        let common = |mut a: u32, mut b: u32| {
            while a != b {
                let deeper = if depth[a as usize] >= depth[b as usize] { &mut a } else { &mut b };
                *deeper = parent[*deeper as usize];
            }
            a
        };
        // The tokens below the root since the last other token are attached with the next one.
        let (mut last, mut waiting) = (None, Vec::new());
        for (&node, position) in above.iter().zip(0..) {
            if node == GRAPH_ROOT {
                waiting.push(Vertex::Token(position));
                continue;
            }
            let lowest = last.map_or(GRAPH_ROOT, |last| common(last, node));
            if lowest != GRAPH_ROOT && !waiting.is_empty() {
                self.nodes[GRAPH_ROOT as usize].children.retain(|child| !waiting.contains(child));
                self.nodes[lowest as usize].children.extend(&waiting);
            }
            waiting.clear();
            last = Some(node);
        }
    }

    /// Raises children until every node is continuous, and removes nodes without words. Returns how many nodes were
    /// discontinuous.
    fn raise_children(&mut self, order: &[u32]) -> u64 {
        let mut spans = vec![(0, 0); self.nodes.len()];
        let (parents, _) = self.parents();
        let mut raised: Vec<Vec<Vertex>> = vec![Vec::new(); self.nodes.len()];
        let mut discontinuous = 0;
        // The children of a node in order, and whether each was raised to it. Lists of nodes have no more room than they
        // need: what passes through many of them would be quadratic.
        let mut all: Vec<(Vertex, bool)> = Vec::new();
        for &node in order.iter().rev() {
            let span_of = |vertex: Vertex| match vertex {
                Vertex::Token(position) => (position, position + 1),
                Vertex::Node(child) => spans[child as usize],
            };
            let GraphNode { children, head, .. } = &mut self.nodes[node as usize];
            let own = std::mem::take(children).into_iter().map(|child| (child, false));
            let from_below = std::mem::take(&mut raised[node as usize]).into_iter();
            all.clear();
            all.extend(own.filter(|&(child, _)| span_of(child).0 < span_of(child).1));
            all.extend(from_below.map(|child| (child, true)));
            // Linear if what was raised is in order.
            all.sort_by_key(|&(child, _)| span_of(child));
            let stay = kept_children(&all, *head, span_of);
            *children = all[stay.clone()].iter().map(|&(child, _)| child).collect();
            spans[node as usize] = match children[..] {
                [first, .., last] => (span_of(first).0, span_of(last).1),
                [only] => span_of(only),
                [] => (0, 0),
            };
            if stay.len() < all.len() {
                discontinuous += 1;
                let away = all[..stay.start].iter().chain(&all[stay.end..]);
                raised[parents[node as usize] as usize].extend(away.map(|&(child, _)| child));
            }
        }
        discontinuous
    }

    /// The tree of a graph that is continuous.
    fn tree(mut self) -> Tree {
        let mut builder = TreeBuilder::new();
        let mut open = vec![(GRAPH_ROOT, 0)];
        builder.open(self.nodes[GRAPH_ROOT as usize].label.clone());
        while let Some((node, next)) = open.last_mut() {
            let child = self.nodes[*node as usize].children.get(*next).copied();
            *next += 1;
            match child {
                None => {
                    builder.close();
                    open.pop();
                }
                Some(Vertex::Token(position)) => {
                    let Token { word, tag } = std::mem::take(&mut self.tokens[position as usize]);
                    builder.token(word, tag);
                }
                Some(Vertex::Node(child)) => {
                    builder.open(self.nodes[child as usize].label.clone());
                    open.push((child, 0));
                }
            }
        }
        builder.finish()
    }
}

/// Returns the contiguous children, sorted, that include the head, or without a head those with the most words,
/// not counting words of children that were raised.
fn kept_children(
    children: &[(Vertex, bool)],
    head: Option<Vertex>,
    span_of: impl Fn(Vertex) -> (u32, u32),
) -> Range<usize> {
    let mut best: (Range<usize>, u32) = (0..0, 0);
    let (mut from, mut words, mut has_head) = (0, 0, false);
    for (&(child, is_raised), to) in children.iter().zip(1..) {
        let (start, end) = span_of(child);
        if !is_raised {
            words += end - start;
        }
        has_head |= head == Some(child);
        if children.get(to).is_some_and(|&(next, _)| span_of(next).0 == end) {
            continue;
        }
        if has_head {
            return from..to;
        }
        if words > best.1 {
            best = (from..to, words);
        }
        (from, words) = (to, 0);
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph of the words `0 1 2 …`: for each word and then each node, its parent (0 for the root, then the nodes from
    /// 1) and its function.
    fn tree(words: &[(u32, &str)], nodes: &[(u32, &str)]) -> Option<(String, u64)> {
        let mut graph = Graph::new();
        let tokens: Vec<Vertex> =
            (0..words.len()).map(|n| graph.token(Token::new(n.to_string(), "T"))).collect();
        let numbers: Vec<u32> =
            (0..nodes.len()).map(|n| graph.node(&format!("N{}", n + 1))).collect();
        for (token, (parent, function)) in tokens.into_iter().zip(words) {
            graph.attach(token, *parent, function);
        }
        for (node, (parent, function)) in numbers.into_iter().zip(nodes) {
            graph.attach(Vertex::Node(node), *parent, function);
        }
        graph.into_tree().map(|(tree, n)| (tree.to_string(), n))
    }

    #[test]
    fn a_continuous_graph_is_its_tree() {
        let found = tree(&[(2, "NK"), (1, "HD"), (0, "--")], &[(0, "--"), (1, "SB")]);
        let expected = "(VROOT (N1 (N2-SB (T 0)) (T 1)) (T 2))";
        assert_eq!(found, Some((expected.to_owned(), 0)));
        assert_eq!(tree(&[], &[]), Some(("(VROOT )".to_owned(), 0)));
        assert_eq!(tree(&[(0, "")], &[(0, "")]), Some(("(VROOT (T 0))".to_owned(), 0)));
    }

    #[test]
    fn punctuation_below_the_root_joins_the_words_around_it() {
        let found = tree(
            &[(0, ""), (2, "HD"), (0, ""), (2, "OA"), (0, ""), (1, "HD"), (0, "")],
            &[(0, ""), (1, "MO")],
        );
        let expected = "(VROOT (T 0) (N1 (N2-MO (T 1) (T 2) (T 3)) (T 4) (T 5)) (T 6))";
        assert_eq!(found, Some((expected.to_owned(), 0)));
    }

    #[test]
    fn children_away_from_the_head_are_raised() {
        // N2 has the words 0, 2 and 3, N1 the word 1.
        let nodes = [(0, ""), (1, "OC")];
        let headed = tree(&[(2, "HD"), (1, "HD"), (2, "OA"), (2, "MO")], &nodes);
        let expected = "(VROOT (N1 (N2-OC (T 0)) (T 1) (T 2) (T 3)))";
        assert_eq!(headed, Some((expected.to_owned(), 1)));
        let headless = tree(&[(2, "OA"), (1, "HD"), (2, "OA"), (2, "MO")], &nodes);
        let expected = "(VROOT (N1 (T 0) (T 1) (N2-OC (T 2) (T 3))))";
        assert_eq!(headless, Some((expected.to_owned(), 1)));
        // N3 below N2 below N1: what is raised may have to rise again.
        let twice = tree(&[(3, "X"), (1, "HD"), (3, "HD")], &[(0, ""), (1, ""), (2, "")]);
        let expected = "(VROOT (N1 (T 0) (T 1) (N2 (N3 (T 2)))))";
        assert_eq!(twice, Some((expected.to_owned(), 2)));
    }

    #[test]
    fn a_node_below_itself_or_below_nothing_is_refused() {
        assert_eq!(tree(&[(1, "")], &[(2, ""), (1, "")]), None);
        assert_eq!(tree(&[(1, "")], &[(1, "")]), None);
    }
}
