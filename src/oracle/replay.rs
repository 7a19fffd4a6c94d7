//! The static oracle: the one derivation of the gold tree, replayed.

use super::Oracle;
use crate::transition::TransitionSystem;
use crate::tree::Tree;
use crate::{Error, Result};

/// Replays derivations; answers on the gold path only.
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

/// Follows a derivation and checks that it gives its target back: what training does with every tree
/// before it starts.
///
/// # Errors
/// [`Error::Unfit`] when an action is illegal where it is due, or another tree comes out.
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
                "{} is illegal at step {}",
                system.name(action),
                step + 1
            )));
        }
        system.apply(&mut state, action);
    }
    let rebuilt = system.tree(&state, tree.tokens());
    if !system.is_final(&state) || !same_brackets(&rebuilt, &system.target(tree)) {
        return Err(Error::Unfit("replaying its derivation gives another tree".into()));
    }
    Ok(derivation.len())
}

/// Whether two trees have the same nodes in the same order, heads aside.
pub fn same_brackets(a: &Tree, b: &Tree) -> bool {
    a.nodes().len() == b.nodes().len()
        && a.nodes()
            .iter()
            .zip(b.nodes())
            .all(|(x, y)| (x.start, x.end) == (y.start, y.end) && x.label == y.label)
}
