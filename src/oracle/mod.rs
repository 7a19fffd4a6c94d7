//! Oracles: what to do in a state, given the tree that should come out.
//!
//! An [`Oracle`] answers on the gold path. A [`DynamicOracle`] answers in every state, so that training
//! may explore the parser's own mistakes; only it may be asked off the gold path.
//!
//! - [`replay`]: the static oracle of every system that can derive a tree.
//! - [`bracketing`]: the dynamic oracle of the binary system.

pub mod bracketing;
pub mod replay;

use crate::Result;
use crate::transition::TransitionSystem;
use crate::tree::Tree;

/// Knows the right actions on the way to a gold tree.
pub trait Oracle<S: TransitionSystem>: Send + Sync {
    /// A gold tree, prepared for questions.
    type Gold: Send + Sync;

    /// Prepares a tree, head-marked where the system wants heads.
    ///
    /// # Errors
    /// [`crate::Error::Unfit`] when the system cannot build the tree.
    fn prepare(&self, system: &S, tree: &Tree) -> Result<Self::Gold>;

    /// Puts the right actions into `out` (emptied first). Never empty on the gold path; all of them legal.
    fn optimal(&self, system: &S, gold: &Self::Gold, state: &S::State, out: &mut Vec<S::Action>);
}

/// An oracle for every state, on the gold path or off it. Off the path `optimal` may be empty where a
/// heuristic has nothing to say.
pub trait DynamicOracle<S: TransitionSystem>: Oracle<S> {
    /// What has been lost for good: gold brackets out of reach plus wrong brackets built.
    fn loss(&self, system: &S, gold: &Self::Gold, state: &S::State) -> u32;
}
