//! The static oracle: the derivation of the gold tree, replayed.

use super::Oracle;
use crate::transition::TransitionSystem;
use crate::tree::Tree;
use crate::{Error, Result};

/// The static oracle; defined on the gold path only.
#[derive(Debug, Clone, Copy, Default)]
pub struct Replay;

impl<S: TransitionSystem> Oracle<S> for Replay {
    type Gold = Vec<S::Action>;

    fn prepare(&self, system: &S, tree: &Tree) -> Result<Self::Gold> {
        system.derivation(tree)
    }

    fn optimal(&self, system: &S, gold: &Self::Gold, state: &S::State, out: &mut Vec<S::Action>) {
        out.clear();
        out.extend(gold.get(system.steps(state)));
    }
}

/// Replays the derivation of a tree and checks that it rebuilds the tree ([`TransitionSystem::target`]).
/// Returns the number of actions. Training checks every tree first.
///
/// # Errors
/// [`Error::Unfit`] when an action of the derivation is illegal, or the result is a different tree.
pub fn check_replay<S: TransitionSystem>(
    system: &S,
    sentence: &crate::symbols::Sentence,
    tree: &Tree,
) -> Result<usize> {
    let derivation = system.derivation(tree)?;
    let mut state = system.start(sentence);
    let mut legal = Vec::new();
    for (step, &action) in derivation.iter().enumerate() {
        system.legal(&state, &mut legal);
        if !legal.contains(&action) {
            return Err(Error::Unfit(format!(
                "the tree cannot be rebuilt: {} is illegal at step {}",
                system.name(action),
                step + 1
            )));
        }
        system.apply(&mut state, action);
    }
    let rebuilt = system.tree(&state, tree.tokens());
    if !system.is_final(&state) || !same_brackets(&rebuilt, &system.target(tree)) {
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
