//! Pairs of brackets and quotation marks below the same node.

use super::ancestors::Ancestors;
use super::{Graph, Vertex};
use crate::escapes::{QUOTATION_MARKS, mark};
use crate::tree::Token;

/// The most nodes between a token and the node that it is moved to.
const MAX_STEPS: usize = 100;

/// A pair, by the positions of its tokens.
#[derive(Debug, Clone, Copy)]
struct Pair {
    opening: u32,
    closing: u32,
}

/// The pairs of a sentence. Every second quotation mark closes, since which side one is on differs by language: „so“, “so”.
fn pairs(tokens: &[Token]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut open: Vec<(&str, u32)> = Vec::new();
    let mut quotation = None;
    for (token, position) in tokens.iter().zip(0..) {
        let word = mark(&token.word).unwrap_or(&token.word);
        let closed_by = match word {
            "(" => ")",
            "[" => "]",
            "{" => "}",
            ")" | "]" | "}" => {
                if let Some(&(expected, opening)) = open.last()
                    && expected == word
                {
                    pairs.push(Pair { opening, closing: position });
                    open.pop();
                }
                continue;
            }
            _ if QUOTATION_MARKS.contains(&word) => {
                match quotation.take() {
                    Some(opening) => pairs.push(Pair { opening, closing: position }),
                    None => quotation = Some(position),
                }
                continue;
            }
            _ => continue,
        };
        open.push((closed_by, position));
    }
    pairs
}

/// The places of the tokens of a graph that is continuous.
struct TokenPlaces {
    ancestors: Ancestors,
    parents: Vec<u32>,
    /// The node above each token.
    above: Vec<u32>,
    /// The first token of each node, and one past its last.
    spans: Vec<(u32, u32)>,
}

impl TokenPlaces {
    /// Moves the tokens of a pair below one node where the tree stays continuous: the node of the inner token if the
    /// other one is next to it, or else the lowest node above both.
    fn join(&mut self, Pair { opening, closing }: Pair) {
        let [left, right] = [opening, closing].map(|token| self.above[token as usize]);
        let both = self.ancestors.common(left, right);
        let target = if self.spans[left as usize].1 == closing {
            left
        } else if self.spans[right as usize].0 == opening + 1 {
            right
        } else {
            both
        };
        if [opening, closing].into_iter().all(|token| self.can_move(token, target, both)) {
            [opening, closing].into_iter().for_each(|token| self.move_to(token, target, both));
        }
    }

    /// The nodes from one up to, and without, one above it.
    fn path(&self, from: u32, to: u32) -> impl Iterator<Item = u32> {
        let above = move |&node: &u32| Some(self.parents[node as usize]);
        std::iter::successors(Some(from), above).take_while(move |&node| node != to)
    }

    /// Whether a token, moved below a node, leaves no gap and no node empty. `top` is above both.
    fn can_move(&self, token: u32, target: u32, top: u32) -> bool {
        let above = self.above[token as usize];
        let is_at_edge = |node: u32| {
            let (start, end) = self.spans[node as usize];
            end - start > 1 && (start == token || end == token + 1)
        };
        let is_next = |node: u32| {
            let (start, end) = self.spans[node as usize];
            start == token + 1 || end == token
        };
        above == target
            || self.path(above, top).chain(self.path(target, top)).nth(MAX_STEPS).is_none()
                && self.path(above, top).all(is_at_edge)
                && self.path(target, top).all(is_next)
    }

    fn move_to(&mut self, token: u32, target: u32, top: u32) {
        let above = std::mem::replace(&mut self.above[token as usize], target);
        if above == target {
            return;
        }
        let mut node = above;
        while node != top {
            let span = &mut self.spans[node as usize];
            *span = if span.0 == token { (token + 1, span.1) } else { (span.0, token) };
            node = self.parents[node as usize];
        }
        node = target;
        while node != top {
            let span = &mut self.spans[node as usize];
            *span = (span.0.min(token), span.1.max(token + 1));
            node = self.parents[node as usize];
        }
    }
}

impl Graph {
    /// Puts brackets and quotation marks that belong together below the same node where the tree stays continuous. `order`
    /// has parents before children; `spans` are those of the nodes.
    pub(super) fn join_pairs(&mut self, order: &[u32], spans: Vec<(u32, u32)>) {
        let pairs = pairs(&self.tokens);
        if pairs.is_empty() {
            return;
        }
        let (parents, above) = self.parents();
        let ancestors = Ancestors::new(parents.clone(), order);
        let mut places = TokenPlaces { ancestors, parents, above: above.clone(), spans };
        pairs.into_iter().for_each(|pair| places.join(pair));
        let TokenPlaces { above: below, spans, .. } = places;
        let mut is_changed = vec![false; self.nodes.len()];
        let is_moved = |position: u32| above[position as usize] != below[position as usize];
        for position in (0..self.tokens.len() as u32).filter(|&position| is_moved(position)) {
            let target = below[position as usize];
            self.nodes[target as usize].children.push(Vertex::Token(position));
            for node in [target, above[position as usize]] {
                is_changed[node as usize] = true;
            }
        }
        for (node, number) in
            self.nodes.iter_mut().zip(0..).filter(|(_, number)| is_changed[*number as usize])
        {
            let stays = |child: &Vertex| !matches!(*child, Vertex::Token(position) if below[position as usize] != number);
            node.children.retain(stays);
            node.children.sort_unstable_by_key(|&child| match child {
                Vertex::Token(position) => position,
                Vertex::Node(child) => spans[child as usize].0,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    /// A graph of words and nodes, each with its parent: 0 for the root, then the nodes from 1.
    fn graph(words: &str, parents: &[u32], nodes: &[u32]) -> Graph {
        let mut graph = Graph::new();
        let tokens: Vec<Vertex> =
            words.split(' ').map(|word| graph.token(Token::new(word, "T"))).collect();
        (1..=nodes.len()).for_each(|number| _ = graph.node(&format!("N{number}")));
        for (token, &parent) in tokens.into_iter().zip(parents) {
            graph.attach(token, parent, "");
        }
        for (node, &parent) in (1..).zip(nodes) {
            graph.attach(Vertex::Node(node), parent, "");
        }
        graph
    }

    fn tree(words: &str, parents: &[u32], nodes: &[u32]) -> String {
        graph(words, parents, nodes).into_tree().unwrap().0.to_string()
    }

    #[test]
    fn the_outer_one_of_a_pair_joins_the_inner_one() {
        // Punctuation below the root is lowered to the lowest node around it: ( into N2, ) into N1.
        let found = tree("a ( b ) c .", &[2, 0, 2, 0, 1, 0], &[0, 1]);
        let joined = "(VROOT (N1 (N2 (T a) (T -LRB-) (T b) (T -RRB-)) (T c)) (T .))";
        assert_eq!(found, joined);
        let found = tree("\" a \" b .", &[0, 2, 0, 1, 0], &[0, 1]);
        assert_eq!(found, "(VROOT (N1 (T \") (N2 (T a)) (T \") (T b)) (T .))");
        let found = tree("a „ b “", &[2, 0, 2, 0], &[0, 1]);
        assert_eq!(found, "(VROOT (N1 (N2 (T a) (T „) (T b) (T “))))");
    }

    #[test]
    fn both_move_up_where_neither_can_join_the_other() {
        let found = tree("[ a b ] c", &[2, 2, 3, 3, 1], &[0, 1, 1]);
        assert_eq!(found, "(VROOT (N1 (T [) (N2 (T a)) (N3 (T b)) (T ]) (T c)))");
        // The bracket is not at the edge of its node, or alone below it.
        let found = tree("a ( b c )", &[2, 2, 2, 3, 3], &[0, 1, 1]);
        assert_eq!(found, "(VROOT (N1 (N2 (T a) (T -LRB-) (T b)) (N3 (T c) (T -RRB-))))");
        let found = tree("( a b )", &[2, 2, 1, 3], &[0, 1, 1]);
        assert_eq!(found, "(VROOT (N1 (N2 (T -LRB-) (T a)) (T b) (N3 (T -RRB-))))");
    }

    #[test]
    fn pairs_are_nested_and_quotation_marks_alternate() {
        let found = |words: &str| -> Vec<(u32, u32)> {
            let tokens: Vec<Token> = words.split(' ').map(|word| Token::new(word, "T")).collect();
            pairs(&tokens).into_iter().map(|pair| (pair.opening, pair.closing)).collect()
        };
        assert_eq!(found("( a [ b ] ) )"), [(2, 4), (0, 5)]);
        assert_eq!(found("-LRB- « a -RRB- » »"), [(0, 3), (1, 4)]);
        assert_eq!(found("( ] a"), []);
    }

    #[test]
    fn random_trees_keep_their_words_and_labels() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let words = ["a", "(", ")", "\"", "b"];
        let mut n_joined = 0;
        for _ in 0..3_000 {
            let (n_tokens, n_nodes) = (rng.random_range(1..14), rng.random_range(0..8));
            let chosen: Vec<&str> =
                (0..n_tokens).map(|_| words[rng.random_range(0..words.len())]).collect();
            let nodes: Vec<u32> = (0..n_nodes).map(|node| rng.random_range(0..=node)).collect();
            let parents: Vec<u32> = (0..n_tokens).map(|_| rng.random_range(0..=n_nodes)).collect();
            let mut before = graph(&chosen.join(" "), &parents, &nodes);
            let order = before.top_down().unwrap();
            before.lower_tokens(&order);
            let (spans, _) = before.raise_children(&order);
            let mut after = before.clone();
            after.join_pairs(&order, spans);
            let [before, after] = [before, after].map(Graph::tree);
            n_joined += u32::from(before != after);
            let sorted = |tree: &Tree| {
                let text = tree.to_string();
                let mut labels: Vec<String> =
                    text.split(['(', ' ', ')']).map(str::to_owned).collect();
                labels.sort_unstable();
                labels
            };
            assert_eq!(sorted(&before), sorted(&after));
            assert_eq!(before.tokens(), after.tokens(), "{before}\n{after}");
        }
        assert!(n_joined > 300, "{n_joined}");
    }
}
