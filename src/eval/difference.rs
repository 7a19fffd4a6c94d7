//! The differences between a gold tree and a test tree: a mark for every node, and the errors behind wrong ones.

mod attachment;
mod class;

use crate::eval::brackets::{Bracket, Bracketing};
use crate::eval::params::Params;
use crate::eval::sentence_score::Matches;
use crate::tree::{NodeId, Tree, Visit};
pub use class::ErrorClass;

/// How a node was scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mark {
    /// Not scored: its label or all of its words are deleted.
    #[default]
    Unscored,
    /// The other tree has the same bracket.
    Matched,
    /// The other tree has a bracket with another label there.
    Relabelled,
    /// Missed if it is a node of the gold tree; spurious if it is one of the test tree.
    Wrong,
}

/// An error: brackets that are wrong for one reason. Every wrong bracket belongs to one error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The kind of error.
    pub class: ErrorClass,
    /// The nodes of the gold tree that were missed.
    pub missed: Vec<NodeId>,
    /// The nodes of the test tree that are spurious.
    pub spurious: Vec<NodeId>,
}

/// The differences between two trees of one sentence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Difference {
    /// A mark for each node of the gold tree, by [`NodeId`].
    pub gold: Vec<Mark>,
    /// The same of the test tree.
    pub test: Vec<Mark>,
    /// The errors, by the first word of their brackets.
    pub errors: Vec<ParseError>,
}

/// A node with its span over the words that are scored.
#[derive(Debug, Clone, Copy)]
struct Scored<'t> {
    id: NodeId,
    label: &'t str,
    start: u32,
    end: u32,
    mark: Mark,
    /// Whether an error explains it.
    explained: bool,
}

impl Scored<'_> {
    fn span(&self) -> (u32, u32) {
        (self.start, self.end)
    }

    fn is_open(&self) -> bool {
        self.mark == Mark::Wrong && !self.explained
    }
}

/// One of the two trees.
struct Side<'t> {
    tree: &'t Tree,
    /// The scored nodes in the order in which they open.
    nodes: Vec<Scored<'t>>,
    /// The spans of all nodes over the words that are scored, by [`NodeId`].
    spans: Vec<(u32, u32)>,
    /// The number of scored words before each token, and in all.
    before: Vec<u32>,
}

impl<'t> Side<'t> {
    fn new(
        tree: &'t Tree,
        brackets: &[Bracket<'t>],
        matched: &[Option<bool>],
        params: &Params,
    ) -> Self {
        let opened = tree.traverse().filter_map(|step| match step {
            Visit::Open(id) => Some(id),
            _ => None,
        });
        let mut spans = vec![(0, 0); tree.nodes().len()];
        let mut nodes = Vec::new();
        for (id, (bracket, &matched)) in opened.zip(brackets.iter().zip(matched)) {
            let &Bracket { label, start, end, .. } = bracket;
            spans[id.index()] = (start, end);
            let mark = match matched {
                None => continue,
                Some(true) => Mark::Matched,
                Some(false) => Mark::Wrong,
            };
            nodes.push(Scored { id, label, start, end, mark, explained: false });
        }
        let mut words = 0;
        let before = tree.tokens().iter().map(|token| {
            let is_scored = !params.deletes(&token.tag);
            words += u32::from(is_scored);
            words - u32::from(is_scored)
        });
        let mut before: Vec<u32> = before.collect();
        before.push(words);
        Self { tree, nodes, spans, before }
    }

    fn marks(&self) -> Vec<Mark> {
        let mut marks = vec![Mark::Unscored; self.tree.nodes().len()];
        self.nodes.iter().for_each(|node| marks[node.id.index()] = node.mark);
        marks
    }

    /// Takes a node out of what remains to be explained.
    fn explain(&mut self, at: usize) -> NodeId {
        self.nodes[at].explained = true;
        self.nodes[at].id
    }
}

impl Difference {
    /// Compares two trees whose brackets were matched.
    pub(super) fn new(
        (gold, gold_brackets): (&Tree, &Bracketing<'_>),
        (test, test_brackets): (&Tree, &Bracketing<'_>),
        matches: &Matches,
        params: &Params,
    ) -> Self {
        let mut gold = Side::new(gold, &gold_brackets.brackets, &matches.gold, params);
        let mut test = Side::new(test, &test_brackets.brackets, &matches.test, params);
        let mut errors = relabelled(&mut gold, &mut test);
        errors.extend(attachment::errors(&mut gold, &mut test));
        errors.extend(class::single_nodes(&mut gold, true));
        errors.extend(class::single_nodes(&mut test, false));
        let start = |error: &ParseError| {
            let missed = error.missed.iter().map(|id| gold.spans[id.index()]);
            missed.chain(error.spurious.iter().map(|id| test.spans[id.index()])).min()
        };
        crate::sort::stable_sort_by_key(&mut errors, start);
        Self { gold: gold.marks(), test: test.marks(), errors }
    }
}

/// Pairs of a missed and a spurious bracket with one span.
fn relabelled(gold: &mut Side<'_>, test: &mut Side<'_>) -> Vec<ParseError> {
    let mut spurious: Vec<usize> =
        (0..test.nodes.len()).filter(|&at| test.nodes[at].is_open()).collect();
    crate::sort::stable_sort_by_key(&mut spurious, |&at| test.nodes[at].span());
    let mut errors = Vec::new();
    for at in 0..gold.nodes.len() {
        let node = gold.nodes[at];
        let first = spurious.partition_point(|&other| test.nodes[other].span() < node.span());
        let others = spurious[first..].iter().take_while(|&&o| test.nodes[o].span() == node.span());
        let Some(&other) = others.clone().find(|&&other| test.nodes[other].is_open()) else {
            continue;
        };
        if !node.is_open() {
            continue;
        }
        let (missed, spurious) = (vec![gold.explain(at)], vec![test.explain(other)]);
        (gold.nodes[at].mark, test.nodes[other].mark) = (Mark::Relabelled, Mark::Relabelled);
        errors.push(ParseError { class: ErrorClass::DifferentLabel, missed, spurious });
    }
    errors
}

#[cfg(test)]
mod tests;
