//! The classes of errors, after Kummerfeld, Hall, Curran and Klein (2012), "Parser Showdown at the Wall Street Corral".
//!
//! They name classes by how a tree has to be changed: a node moves, is relabelled, added or removed. The same is found
//! here from the brackets alone, see [`super::attachment`], so that the errors of a sentence add up to its wrong
//! brackets. Labels and tags are those of the Penn Treebank; other treebanks fall into the classes without names.

use std::fmt;

use super::{ParseError, Scored, Side};
use crate::tree::{Child, NodeId};

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

    /// The class of an error in which these children of a node stand at its edge although they should not, or the
    /// other way round.
    pub(super) fn of_moved(side: &Side<'_>, children: &[Child]) -> Self {
        let labels = children.iter().map(|&child| side.tree.child_label(child).as_str());
        let is_conjunction = |label: &str| matches!(base(label), "CC" | "CONJP" | "CONJ");
        if labels.clone().any(is_conjunction) {
            return Self::Coordination;
        }
        let is_phrase = |child: &&Child| matches!(child, Child::Node(_));
        let main = children.iter().find(is_phrase).or(children.first());
        let label = main.map_or("", |&child| base(side.tree.child_label(child)));
        match label {
            "PP" | "WHPP" | "IN" | "TO" => Self::PpAttachment,
            "NP" | "WHNP" | "NX" | "NML" | "QP" => Self::NpAttachment,
            "VP" => Self::ClauseAttachment,
            _ if label.starts_with('S') && label.len() > 1 || label == "S" => {
                Self::ClauseAttachment
            }
            "ADVP" | "ADJP" | "WHADVP" | "WHADJP" | "PRT" | "RP" => Self::ModifierAttachment,
            _ if label.starts_with("RB") || label.starts_with("JJ") => Self::ModifierAttachment,
            _ if label.starts_with("NN") || label.starts_with("PRP") => Self::NpAttachment,
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

/// A label without functions and indices.
fn base(label: &str) -> &str {
    let end = label.char_indices().skip(1).find(|(_, c)| matches!(c, '-' | '='));
    &label[..end.map_or(label.len(), |(at, _)| at)]
}

/// What remains: one error for each node.
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

fn is_nominal(label: &str) -> bool {
    matches!(label, "NP" | "NX" | "NML" | "NAC" | "QP" | "ADJP" | "WHNP")
}
