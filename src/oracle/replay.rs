//! The static oracle: the derivation of the gold tree, replayed.

use crate::transition::{Action, Forest, Oracle, State, TransitionSystem};
use crate::tree::Tree;
use crate::{Error, Result};

/// The static oracle; defined on the gold path only.
#[derive(Debug)]
pub struct Replay(Vec<Action>);

impl Replay {
    /// The oracle of a system for a tree.
    ///
    /// # Errors
    /// [`Error::Unfit`] when the system cannot build it.
    pub fn new(system: &dyn TransitionSystem, tree: &Tree) -> Result<Self> {
        system.derivation(tree).map(Self)
    }
}

impl Oracle for Replay {
    fn optimal(&self, state: &State, _forest: &Forest, out: &mut Vec<Action>) {
        out.clear();
        out.extend(self.0.get(state.steps as usize));
    }
}

/// Replays the derivation of a tree and checks that it rebuilds the tree ([`TransitionSystem::target`]).
/// Returns the number of actions. Training checks every tree first.
///
/// # Errors
/// [`Error::Unfit`] when an action of the derivation is illegal, or the result is a different tree.
pub fn check_replay(
    system: &dyn TransitionSystem,
    sentence: &crate::symbols::Sentence,
    tree: &Tree,
) -> Result<usize> {
    let derivation = system.derivation(tree)?;
    let (mut state, mut forest) = system.start(sentence);
    let mut legal = Vec::new();
    for (step, &action) in derivation.iter().enumerate() {
        system.legal(&state, &forest, &mut legal);
        if !legal.contains(&action) {
            return Err(Error::Unfit(format!(
                "the tree cannot be rebuilt: {} is illegal at step {}",
                system.name(action),
                step + 1
            )));
        }
        system.apply(&mut state, &mut forest, action);
    }
    let rebuilt = system.tree(&state, &forest, tree.tokens());
    if !state.finished || !same_brackets(&rebuilt, &system.target(tree)) {
        return Err(Error::Unfit(
            "the tree cannot be rebuilt: its derivation gives a different tree".into(),
        ));
    }
    Ok(derivation.len())
}

/// Whether two trees have the same nodes in the same order, regardless of heads.
pub fn same_brackets(a: &Tree, b: &Tree) -> bool {
    a.nodes().len() == b.nodes().len()
        && a.nodes()
            .iter()
            .zip(b.nodes())
            .all(|(x, y)| (x.start, x.end) == (y.start, y.end) && x.label == y.label)
}
