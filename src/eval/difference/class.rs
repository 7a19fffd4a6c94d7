//! The classes of errors, after Kummerfeld, Hall, Curran and Klein (2012), "Parser Showdown at the Wall Street Corral".
//!
//! They name classes by how a tree has to be changed: a node moves, is relabelled, added or removed. The same is found
//! here from the brackets alone, see [`super::attachment`], so that the errors of a sentence add up to its wrong
//! brackets. Labels and tags are those of the Penn Treebank; other treebanks fall into the classes without names.

use std::fmt;

use super::{ParseError, Scored, Side};
use crate::tree::{NodeId, base_label};

/// A class of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorClass {
    /// A prepositional phrase is attached to another node.
    PpAttachment,
    /// A noun phrase is.
    NpAttachment,
    /// A clause or verb phrase is.
    ClauseAttachment,
    /// An adverb, adjective or adverbial phrase is.
    ModifierAttachment,
    /// Something else is.
    OtherAttachment,
    /// A conjunction, or what it joins, is.
    Coordination,
    /// The bracket is right, but not its label.
    DifferentLabel,
    /// One of several nodes over the same words is missed or spurious.
    Unary,
    /// A node inside a noun phrase is missed or spurious.
    NpInternal,
    /// A node over one word is missed or spurious.
    SingleWord,
    /// Another node is missed or spurious.
    Other,
}

impl ErrorClass {
    /// All classes.
    pub const ALL: [Self; 11] = [
        Self::PpAttachment,
        Self::NpAttachment,
        Self::ClauseAttachment,
        Self::ModifierAttachment,
        Self::OtherAttachment,
        Self::Coordination,
        Self::DifferentLabel,
        Self::Unary,
        Self::NpInternal,
        Self::SingleWord,
        Self::Other,
    ];

    /// The class of an error in which words stand in the wrong place. They consist of pieces with labels or tags, which
    /// are nodes or not; `only_nominal` says whether all brackets that are wrong by them are those of noun phrases.
    pub(super) fn of_moved(pieces: &[(&str, bool)], only_nominal: bool) -> Self {
        if pieces.iter().any(|(label, _)| matches!(base_label(label), "CC" | "CONJP" | "CONJ")) {
            return Self::Coordination;
        }
        let Some((label, is_node)) = pieces.iter().find(|(_, is_node)| *is_node).or(pieces.first())
        else {
            return Self::OtherAttachment;
        };
        let label = base_label(label);
        if only_nominal && (!is_node || matches!(label, "NML" | "NX" | "QP")) {
            return Self::NpInternal;
        }
        match label {
            "PP" | "WHPP" | "IN" | "TO" => Self::PpAttachment,
            "VP" | "S" | "SBAR" | "SBARQ" | "SINV" | "SQ" => Self::ClauseAttachment,
            "ADVP" | "ADJP" | "WHADVP" | "WHADJP" | "PRT" | "RP" => Self::ModifierAttachment,
            _ if label.starts_with("RB") || label.starts_with("JJ") => Self::ModifierAttachment,
            _ if is_nominal(label) || label.starts_with("NN") || label.starts_with("PRP") => {
                Self::NpAttachment
            }
            _ => Self::OtherAttachment,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::PpAttachment => "PP attachment",
            Self::NpAttachment => "NP attachment",
            Self::ClauseAttachment => "clause attachment",
            Self::ModifierAttachment => "modifier attachment",
            Self::OtherAttachment => "other attachment",
            Self::Coordination => "coordination",
            Self::DifferentLabel => "different label",
            Self::Unary => "unary",
            Self::NpInternal => "NP internal structure",
            Self::SingleWord => "single-word phrase",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The remaining nodes: one error for each.
pub(super) fn single_nodes(side: &mut Side<'_>, is_gold: bool) -> Vec<ParseError> {
    let mut errors = Vec::new();
    // The open nodes around each node, which are in the order in which they open.
    let mut around: Vec<Scored<'_>> = Vec::new();
    for at in 0..side.nodes.len() {
        let node = side.nodes[at];
        while around.last().is_some_and(|last| last.end < node.end || last.end <= node.start) {
            around.pop();
        }
        if node.is_open() {
            let next = side.nodes.get(at + 1);
            let class = class_of_single(&node, around.last(), next);
            let nodes: Vec<NodeId> = vec![side.explain(at)];
            let (missed, spurious) = if is_gold { (nodes, vec![]) } else { (vec![], nodes) };
            errors.push(ParseError { class, missed, spurious });
        }
        around.push(node);
    }
    errors
}

fn class_of_single(
    node: &Scored<'_>,
    parent: Option<&Scored<'_>>,
    next: Option<&Scored<'_>>,
) -> ErrorClass {
    let spans_same = |other: Option<&Scored<'_>>| other.is_some_and(|o| o.span() == node.span());
    if spans_same(parent) || spans_same(next) {
        ErrorClass::Unary
    } else if parent.is_some_and(|parent| is_nominal(parent.label)) && is_nominal(node.label) {
        ErrorClass::NpInternal
    } else if node.end - node.start == 1 {
        ErrorClass::SingleWord
    } else {
        ErrorClass::Other
    }
}

pub(super) fn is_nominal(label: &str) -> bool {
    matches!(label, "NP" | "NX" | "NML" | "NAC" | "QP" | "ADJP" | "WHNP")
}
