//! Sentence graphs with crossing branches, and their conversion to trees.
//!
//! A node is discontinuous if its words are not adjacent. Two steps make all nodes continuous, a third joins what they tear
//! apart:
//!
//! 1. A token directly below the root, such as punctuation in NEGRA, is attached to the lowest node that has words on
//!    both sides of it.
//! 2. Children are raised, bottom-up: of a node that is still discontinuous, the contiguous children that include
//!    the head (edge label `HD`, or `hd` in Alpino) stay, or without a head those with the most words, not counting
//!    words of raised children; the other children move to its parent. This is the usual conversion of NEGRA and TIGER
//!    (Kübler 2005); Boyd (2007) compares it with splitting nodes.
//! 3. Brackets and quotation marks that belong together are put below the same node where the tree stays continuous.

mod ancestors;
mod pairs;
mod runs;

use compact_str::CompactString;

use ancestors::Ancestors;
use runs::{Chains, Runs, VertexRun};

use crate::tree::{Token, Tree, TreeBuilder};

/// The label of the root of a graph.
pub(super) const ROOT_LABEL: &str = "VROOT";

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
pub(super) const ROOT: u32 = 0;

impl Graph {
    /// A graph of a root alone.
    pub(super) fn new() -> Self {
        let root = GraphNode { label: ROOT_LABEL.into(), ..GraphNode::default() };
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
        if function.eq_ignore_ascii_case(HEAD) {
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
            self.attach(Vertex::Token(position), ROOT, "");
        }
        for node in 1..self.nodes.len() as u32 {
            self.attach(Vertex::Node(node), ROOT, "");
        }
    }

    /// Makes a tree and counts the nodes that were discontinuous; nodes without words are left out. `None` if a
    /// node dominates itself, or has two parents.
    pub(super) fn into_tree(mut self) -> Option<(Tree, u64)> {
        let order = self.top_down()?;
        self.lower_tokens(&order);
        let (spans, discontinuous) = self.raise_children(&order);
        self.join_pairs(&order, spans);
        Some((self.tree(), discontinuous))
    }

    /// The nodes, parents before children; `None` if not every node has exactly one path from the root.
    fn top_down(&self) -> Option<Vec<u32>> {
        let mut order = vec![ROOT];
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
        let mut of_nodes = vec![ROOT; self.nodes.len()];
        let mut of_tokens = vec![ROOT; self.tokens.len()];
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
        let ancestors = Ancestors::new(parent, order);
        let mut is_lowered = vec![false; self.tokens.len()];
        // The tokens below the root since the last other token are attached with the next one.
        let (mut last, mut waiting) = (ROOT, Vec::new());
        for (&node, position) in above.iter().zip(0..) {
            if node == ROOT {
                waiting.push(position);
                continue;
            }
            let lowest = if waiting.is_empty() { ROOT } else { ancestors.common(last, node) };
            if lowest != ROOT {
                let tokens = waiting.iter().map(|&position| Vertex::Token(position));
                self.nodes[lowest as usize].children.extend(tokens);
                waiting.iter().for_each(|&position| is_lowered[position as usize] = true);
            }
            waiting.clear();
            last = node;
        }
        let stays = |child: &Vertex| !matches!(*child, Vertex::Token(position) if is_lowered[position as usize]);
        self.nodes[ROOT as usize].children.retain(stays);
    }

    /// Raises children until every node is continuous, and removes nodes without words. Returns the span of each node and
    /// how many nodes were discontinuous.
    fn raise_children(&mut self, order: &[u32]) -> (Vec<(u32, u32)>, u64) {
        let (parents, _) = self.parents();
        let mut spans = vec![(0, 0); self.nodes.len()];
        let mut raised = vec![Runs::default(); self.nodes.len()];
        let mut chains = Chains::new(self.tokens.len(), self.nodes.len());
        let mut discontinuous = 0;
        for &node in order.iter().rev() {
            let span_of = |vertex: Vertex| match vertex {
                Vertex::Token(position) => (position, position + 1),
                Vertex::Node(child) => spans[child as usize],
            };
            let GraphNode { children, head, .. } = &mut self.nodes[node as usize];
            let mut runs = std::mem::take(&mut raised[node as usize]);
            children.retain(|&child| span_of(child).0 < span_of(child).1);
            children.sort_unstable_by_key(|&child| span_of(child));
            let is_next = |pair: &[Vertex]| span_of(pair[0]).1 == span_of(pair[1]).0;
            if !runs.is_empty() || !children.windows(2).all(is_next) {
                let own: Vec<(u32, u32)> = children.iter().map(|&child| span_of(child)).collect();
                for (&child, &span) in children.iter().zip(&own) {
                    runs.add(span.0, VertexRun::of(child, span), &mut chains);
                }
                let head = head.map(span_of).filter(|(start, end)| start < end);
                *children =
                    runs.take_kept(&own, head).map_or_else(Vec::new, |run| chains.list(&run));
            }
            if let [first, .., last] | [first @ last] = children[..] {
                spans[node as usize] = (span_of(first).0, span_of(last).1);
            }
            if !runs.is_empty() {
                discontinuous += 1;
                raised[parents[node as usize] as usize].merge(runs, &mut chains);
            }
        }
        (spans, discontinuous)
    }

    /// The tree of a graph that is continuous.
    fn tree(mut self) -> Tree {
        let mut builder = TreeBuilder::new();
        let mut open = vec![(ROOT, 0)];
        builder.open(self.nodes[ROOT as usize].label.clone());
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

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::ChaCha8Rng;
    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};

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

    /// The steps of the head of this file, taken literally: in quadratic time.
    fn slow_tree(mut graph: Graph) -> Option<(Tree, u64)> {
        let order = graph.top_down()?;
        let (parent, above) = graph.parents();
        let chain = |node: u32| {
            let up = |&node: &u32| (node != ROOT).then(|| parent[node as usize]);
            std::iter::successors(Some(node), up).collect::<Vec<u32>>()
        };
        let is_low = |&position: &usize| above[position] != ROOT;
        for position in (0..above.len()).filter(|position| !is_low(position)) {
            let before = (0..position).rev().find(is_low).map(|at| chain(above[at]));
            let after = (position..above.len()).find(is_low).map(|at| chain(above[at]));
            let (Some(before), Some(after)) = (before, after) else { continue };
            let lowest = before.into_iter().find(|node| after.contains(node)).unwrap();
            let token = Vertex::Token(position as u32);
            graph.nodes[ROOT as usize].children.retain(|&child| child != token);
            graph.nodes[lowest as usize].children.push(token);
        }
        let (mut spans, mut discontinuous) = (vec![(0, 0); graph.nodes.len()], 0);
        let mut raised: Vec<Vec<Vertex>> = vec![Vec::new(); graph.nodes.len()];
        for &node in order.iter().rev() {
            let span_of = |vertex: Vertex| match vertex {
                Vertex::Token(position) => (position, position + 1),
                Vertex::Node(child) => spans[child as usize],
            };
            let words = |vertex: Vertex| span_of(vertex).1 - span_of(vertex).0;
            let own = std::mem::take(&mut graph.nodes[node as usize].children);
            let mut all = [&own[..], &raised[node as usize]].concat();
            all.retain(|&child| words(child) > 0);
            all.sort_by_key(|&child| span_of(child));
            let runs: Vec<&[Vertex]> =
                all.chunk_by(|&a, &b| span_of(a).1 == span_of(b).0).collect();
            let own_words = |run: &[Vertex]| -> u32 {
                run.iter().filter(|child| own.contains(child)).map(|&child| words(child)).sum()
            };
            let head = graph.nodes[node as usize].head;
            let with_head =
                runs.iter().position(|run| head.is_some_and(|head| run.contains(&head)));
            let most = runs.iter().map(|run| own_words(run)).max().filter(|&most| most > 0);
            let kept =
                with_head.or_else(|| runs.iter().position(|run| Some(own_words(run)) == most));
            let stay = kept.map_or_else(Vec::new, |kept| runs[kept].to_vec());
            let away: Vec<Vertex> =
                all.iter().copied().filter(|child| !stay.contains(child)).collect();
            discontinuous += u64::from(!away.is_empty());
            if let [first, .., last] | [first @ last] = stay[..] {
                spans[node as usize] = (span_of(first).0, span_of(last).1);
            }
            graph.nodes[node as usize].children = stay;
            raised[parent[node as usize] as usize].extend(away);
        }
        Some((graph.tree(), discontinuous))
    }

    #[test]
    fn random_graphs_become_the_trees_that_the_steps_describe() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..3_000 {
            let (n_tokens, n_nodes) = (rng.random_range(0..14), rng.random_range(0..8));
            let mut graph = Graph::new();
            for position in 0..n_tokens {
                graph.token(Token::new(position.to_string(), "T"));
            }
            (0..n_nodes).for_each(|node| _ = graph.node(&format!("N{node}")));
            let function = |is_head: bool| if is_head { HEAD } else { "" };
            let mut vertices: Vec<Vertex> = (1..=n_nodes).map(Vertex::Node).collect();
            vertices.extend((0..n_tokens).map(Vertex::Token));
            vertices.shuffle(&mut rng);
            for vertex in vertices {
                let below = if let Vertex::Node(node) = vertex { node - 1 } else { n_nodes };
                graph.attach(vertex, rng.random_range(0..=below), function(rng.random_bool(0.2)));
            }
            let expected = slow_tree(graph.clone()).map(|(tree, n)| (tree.to_string(), n));
            assert_eq!(graph.into_tree().map(|(tree, n)| (tree.to_string(), n)), expected);
        }
    }

    #[test]
    fn a_node_below_itself_or_below_nothing_is_refused() {
        assert_eq!(tree(&[(1, "")], &[(2, ""), (1, "")]), None);
        assert_eq!(tree(&[(1, "")], &[(1, "")]), None);
    }
}
