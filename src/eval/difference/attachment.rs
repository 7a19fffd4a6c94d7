//! Attachment errors: words at the edge of a bracket that belong outside it, or the other way round.
//!
//! Two patterns show that the words `d` stand in the wrong place:
//!
//! - a missed and a spurious bracket of one label differ by `d` at one edge;
//! - a wrong bracket consists of `d` and of a matched bracket of the same label, as an NP that is there only to attach
//!   a PP to an NP.
//!
//! All brackets that are wrong by the same words are one error. If brackets could belong to several, the one that
//! explains most comes first.

use rustc_hash::FxHashMap;

use super::{ErrorClass, Mark, ParseError, Side, class};

type Span = (u32, u32);

/// How many smaller brackets are tried for each larger one, the largest first: deep chains have many.
const NEAREST: usize = 8;

/// A way to explain wrong brackets by moved words.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    moved: Span,
    /// The larger bracket, which contains the moved words: its side and its position there.
    larger: (usize, usize),
    /// The smaller wrong bracket on the other side, in the first pattern.
    smaller: Option<usize>,
}

/// Explains brackets by moved words.
pub(super) fn errors<'t>(gold: &mut Side<'t>, test: &mut Side<'t>) -> Vec<ParseError> {
    let mut sides = [gold, test];
    let mut groups: FxHashMap<Span, Vec<Candidate>> = FxHashMap::default();
    for (at, side) in sides.iter().enumerate() {
        for candidate in candidates(at, side, sides[1 - at]) {
            groups.entry(candidate.moved).or_default().push(candidate);
        }
    }
    let mut groups: Vec<(Span, Vec<Candidate>)> = groups.into_iter().collect();
    crate::sort::sort_by_key(&mut groups, |(moved, group)| {
        (std::cmp::Reverse(group.len()), moved.1 - moved.0, *moved)
    });
    groups.into_iter().filter_map(|(moved, group)| error(&mut sides, moved, &group)).collect()
}

/// The candidates whose larger bracket is on one side.
fn candidates(number: usize, side: &Side<'_>, other: &Side<'_>) -> Vec<Candidate> {
    let wrong = wrong_by_edge(other);
    let mut found = Vec::new();
    for (at, node) in side.nodes.iter().enumerate().filter(|(_, node)| node.is_open()) {
        let larger = (number, at);
        for edge in [Edge::Start(node.start), Edge::End(node.end)] {
            let others = wrong.get(&(edge, node.label)).into_iter().flatten();
            let candidates = others.filter_map(|&other_at| {
                let moved = rest(node.span(), other.nodes[other_at].span())?;
                Some(Candidate { moved, larger, smaller: Some(other_at) })
            });
            found.extend(candidates.take(NEAREST));
        }
        let inner = side.nodes[at + 1..].iter().take_while(|inner| inner.start < node.end);
        let matched =
            inner.filter(|inner| inner.mark == Mark::Matched && inner.label == node.label);
        let adjoined = matched.filter_map(|inner| rest(node.span(), inner.span())).next();
        found.extend(adjoined.map(|moved| Candidate { moved, larger, smaller: None }));
    }
    found
}

/// Where a bracket begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Edge {
    Start(u32),
    End(u32),
}

/// The wrong brackets of a side by each of their edges and their label.
fn wrong_by_edge<'t>(side: &Side<'t>) -> FxHashMap<(Edge, &'t str), Vec<usize>> {
    let mut wrong: FxHashMap<(Edge, &str), Vec<usize>> = FxHashMap::default();
    for (at, node) in side.nodes.iter().enumerate().filter(|(_, node)| node.is_open()) {
        for edge in [Edge::Start(node.start), Edge::End(node.end)] {
            wrong.entry((edge, node.label)).or_default().push(at);
        }
    }
    wrong
}

/// The rest of a span without a smaller one at one of its edges.
fn rest(larger: Span, smaller: Span) -> Option<Span> {
    let is_inside = larger.0 <= smaller.0 && smaller.1 <= larger.1 && smaller.0 < smaller.1;
    match (larger.0 == smaller.0, larger.1 == smaller.1) {
        (true, false) if is_inside => Some((smaller.1, larger.1)),
        (false, true) if is_inside => Some((larger.0, smaller.0)),
        _ => None,
    }
}

/// One error of the candidates that are not explained yet; `None` if there are none.
fn error(sides: &mut [&mut Side<'_>; 2], moved: Span, group: &[Candidate]) -> Option<ParseError> {
    let mut found = [Vec::new(), Vec::new()];
    let mut only_nominal = true;
    for candidate in group {
        let (side, at) = candidate.larger;
        let is_open = |side: usize, at: usize| sides[side].nodes[at].is_open();
        if !is_open(side, at) || candidate.smaller.is_some_and(|other| !is_open(1 - side, other)) {
            continue;
        }
        only_nominal &= class::is_nominal(sides[side].nodes[at].label);
        found[side].push(sides[side].explain(at));
        if let Some(other) = candidate.smaller {
            found[1 - side].push(sides[1 - side].explain(other));
        }
    }
    let [missed, spurious] = found;
    let class = ErrorClass::of_moved(&pieces(sides[0], moved), only_nominal);
    (missed.len() + spurious.len() > 0).then_some(ParseError { class, missed, spurious })
}

/// The largest nodes and the tokens that the moved words consist of in a tree: labels and tags, and whether it is a node.
fn pieces<'s>(side: &'s Side<'_>, moved: Span) -> Vec<(&'s str, bool)> {
    let mut pieces = Vec::new();
    let mut at = moved.0;
    while at < moved.1 {
        let from = side.nodes.partition_point(|node| node.start < at);
        let mut here = side.nodes[from..].iter().take_while(|node| node.start == at);
        // Nodes that begin at one word are ordered from the outermost to the innermost.
        if let Some(node) = here.find(|node| node.end <= moved.1) {
            pieces.push((node.label, true));
            at = node.end;
        } else {
            let token = side.before.partition_point(|&before| before <= at) - 1;
            pieces.push((side.tree.tokens().get(token).map_or("", |token| &token.tag), false));
            at += 1;
        }
    }
    pieces
}
