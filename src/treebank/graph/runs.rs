//! Runs of adjacent children on their way up.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Vertex;

/// Adjacent vertices.
#[derive(Debug, Clone, Copy)]
pub(super) struct VertexRun {
    /// One past the last token.
    end: u32,
    first: Vertex,
    last: Vertex,
    /// The words of children that were not raised.
    words: u32,
}

impl VertexRun {
    /// A child that was not raised.
    pub(super) fn of(child: Vertex, (start, end): (u32, u32)) -> Self {
        Self { end, first: child, last: child, words: end - start }
    }
}

/// The vertex after each in its run, the tokens first: joining two runs takes the same time for any length.
pub(super) struct Chains {
    next: Vec<Vertex>,
    n_tokens: usize,
}

impl Chains {
    pub(super) fn new(n_tokens: usize, n_nodes: usize) -> Self {
        Self { next: vec![Vertex::Token(0); n_tokens + n_nodes], n_tokens }
    }

    fn next(&mut self, vertex: Vertex) -> &mut Vertex {
        match vertex {
            Vertex::Token(position) => &mut self.next[position as usize],
            Vertex::Node(node) => &mut self.next[self.n_tokens + node as usize],
        }
    }

    /// The vertices of a run.
    pub(super) fn list(&mut self, run: &VertexRun) -> Vec<Vertex> {
        let mut list = vec![run.first];
        let mut at = run.first;
        while at != run.last {
            at = *self.next(at);
            list.push(at);
        }
        list
    }
}

/// Runs that are not adjacent, by their first token. What passes through many nodes is never copied: of two sets, the
/// smaller one is added to the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Runs(BTreeMap<u32, VertexRun>);

impl Runs {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a run, joined with those next to it.
    pub(super) fn add(&mut self, mut start: u32, mut run: VertexRun, chains: &mut Chains) {
        if let Some((&left_start, &left)) = self.0.range(..start).next_back()
            && left.end == start
        {
            self.0.remove(&left_start);
            *chains.next(left.last) = run.first;
            (start, run) =
                (left_start, VertexRun { first: left.first, words: left.words + run.words, ..run });
        }
        if let Some(right) = self.0.remove(&run.end) {
            *chains.next(run.last) = right.first;
            run = VertexRun { first: run.first, words: run.words + right.words, ..right };
        }
        self.0.insert(start, run);
    }

    /// Adds all runs of another set.
    pub(super) fn merge(&mut self, mut other: Self, chains: &mut Chains) {
        if other.0.len() > self.0.len() {
            std::mem::swap(self, &mut other);
        }
        other.0.into_iter().for_each(|(start, run)| self.add(start, run, chains));
    }

    /// The first token of the run that has a token.
    fn containing(&self, token: u32) -> Option<u32> {
        self.0.range(..=token).next_back().map(|(&start, _)| start)
    }

    /// Takes the run that has the head, or without a head the first of those with the most words of children that were
    /// not raised, which are given by their spans. Above, the words of the others are those of raised children.
    pub(super) fn take_kept(
        &mut self,
        own: &[(u32, u32)],
        head: Option<(u32, u32)>,
    ) -> Option<VertexRun> {
        let of_own = || own.iter().filter_map(|&(start, _)| self.containing(start));
        let kept = match head {
            Some((start, _)) => self.containing(start),
            None => of_own().max_by_key(|start| (self.0[start].words, Reverse(*start))),
        };
        let others: Vec<u32> = of_own().filter(|&start| Some(start) != kept).collect();
        for start in others {
            self.0.entry(start).and_modify(|run| run.words = 0);
        }
        kept.and_then(|start| self.0.remove(&start))
    }
}
