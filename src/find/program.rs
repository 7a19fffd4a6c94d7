//! A pattern as it is searched: nodes with goals.

use super::labels::{LabelTest, TestId};
use super::relation::Relation;

/// The number of a named node in its pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NameId(pub(super) u32);

/// The number of a node in its pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PatternNodeId(pub(super) u32);

/// The description in a node of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// A node whose label passes a test.
    Labelled(TestId),
    /// The named node itself: `=name`.
    Same(NameId),
    /// A node with the label of the named node: `~name`.
    Alike(NameId),
}

/// A node of a pattern.
#[derive(Debug, Clone)]
pub(super) struct PatternNode {
    pub(super) target: Target,
    pub(super) name: Option<NameId>,
    /// Groups of its expression, each with the number of the variable that takes the text.
    pub(super) groups: Vec<(usize, u32)>,
    /// All must be met.
    pub(super) goals: Vec<Goal>,
    /// Whether the answer depends on nothing but what is below it in the pattern.
    pub(super) is_closed: bool,
    /// Its place among the closed nodes with goals, whose answers are worth remembering.
    pub(super) memo: Option<u32>,
}

/// How a goal counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Mode {
    /// It must be met, and counts once for every way.
    #[default]
    Plain,
    /// It must not be met.
    Not,
    /// It may be met, and then names nodes; it counts once.
    Optional,
}

/// A condition on a node.
#[derive(Debug, Clone)]
pub(super) struct Goal {
    pub(super) mode: Mode,
    pub(super) kind: GoalKind,
}

#[derive(Debug, Clone)]
pub(super) enum GoalKind {
    /// There is a node to which this one has a relation.
    Related(Relation, PatternNodeId),
    /// One of several lists of goals is met.
    Any(Vec<Vec<Goal>>),
}

/// A pattern as it is searched.
#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    pub(super) tests: Vec<LabelTest>,
    pub(super) names: Vec<String>,
    pub(super) n_variables: u32,
    pub(super) nodes: Vec<PatternNode>,
    /// The alternatives for the node that is found.
    pub(super) roots: Vec<PatternNodeId>,
    pub(super) needs_heads: bool,
    /// Tests that hold somewhere in every tree with a match.
    pub(super) required: u64,
    pub(super) n_memos: u32,
    /// Whether every node is closed, so that matches can be counted without finding them.
    pub(super) is_closed: bool,
}

impl Program {
    pub(super) fn node(&self, PatternNodeId(id): PatternNodeId) -> &PatternNode {
        &self.nodes[id as usize]
    }

    /// Finds out what a search can make use of, once all nodes are there.
    pub(super) fn analyse(&mut self) {
        self.is_closed = true;
        // The nodes of goals stand after the node that has the goals.
        for at in (0..self.nodes.len()).rev() {
            let PatternNode { target, groups, goals, .. } = &self.nodes[at];
            let is_alone = matches!(target, Target::Labelled(_)) && groups.is_empty();
            let is_closed = is_alone && self.are_closed(goals);
            self.nodes[at].is_closed = is_closed;
            self.is_closed &= is_closed;
            if is_closed && !self.nodes[at].goals.is_empty() {
                self.nodes[at].memo = Some(self.n_memos);
                self.n_memos += 1;
            }
        }
        if let [root] = self.roots[..] {
            self.required = self.required_by(root);
        }
    }

    /// Whether goals do not depend on each other, nor on anything but what is below their nodes in the pattern.
    pub(super) fn are_closed(&self, goals: &[Goal]) -> bool {
        goals.iter().all(|goal| match &goal.kind {
            GoalKind::Related(_, target) => self.node(*target).is_closed,
            GoalKind::Any(alternatives) => alternatives.iter().all(|goals| self.are_closed(goals)),
        })
    }

    fn required_by(&self, root: PatternNodeId) -> u64 {
        let (mut required, mut waiting) = (0, vec![root]);
        while let Some(id) = waiting.pop() {
            let node = self.node(id);
            if let Target::Labelled(TestId(test @ 0..64)) = node.target {
                required |= 1 << test;
            }
            for goal in &node.goals {
                if let (Mode::Plain, GoalKind::Related(_, target)) = (goal.mode, &goal.kind) {
                    waiting.push(*target);
                }
            }
        }
        required
    }
}
