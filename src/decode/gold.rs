//! The walk along the gold derivation of a tree, for whoever looks at its decisions: extraction of instances and of
//! candidates, counts of correct decisions, margins.

use super::{Cursor, Problem};
use crate::scorer::{Configuration, Memory, Reading};
use crate::transition::{Action, Oracle};

/// A configuration of a gold derivation.
pub struct GoldStep<'a> {
    /// The configuration.
    pub at: Configuration<'a>,
    /// The memory of the scorer.
    pub memory: &'a Memory,
    /// The legal actions, in their order.
    pub legal: &'a [Action],
    /// The correct ones.
    pub optimal: &'a [Action],
}

impl GoldStep<'_> {
    /// Whether there is nothing to decide, because the system takes the only action without being asked.
    pub fn is_forced(&self) -> bool {
        self.at.system.is_forced(self.at.state, self.at.forest)
    }
}

/// Follows a derivation of gold actions to its end. `visit` is called in each configuration, and returns the action to take,
/// one of the correct ones; `None` ends the walk. Returns whether the derivation is complete.
pub fn follow_gold(
    problem: Problem<'_>,
    oracle: &dyn Oracle,
    reading: &mut dyn Reading,
    visit: &mut dyn FnMut(GoldStep<'_>, &mut dyn Reading) -> Option<Action>,
) -> bool {
    let (mut legal, mut optimal) = (Vec::new(), Vec::new());
    let (mut cursor, mut forest) = Cursor::start(problem, reading);
    while !cursor.is_final() {
        oracle.optimal(&cursor.state, &forest, &mut optimal);
        cursor.legal(problem, &forest, &mut legal);
        let at = cursor.at(problem, &forest);
        let step = GoldStep { at, memory: &cursor.memory, legal: &legal, optimal: &optimal };
        let Some(action) = visit(step, reading) else { return false };
        cursor.take(problem, &mut forest, action, reading);
    }
    true
}
