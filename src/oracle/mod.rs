//! Oracles of gold trees: the replayed derivation, which every system has, and the dynamic oracle of a system
//! ([`TransitionSystem::dynamic_oracle`]), which answers in every configuration, so that training can explore the parser's
//! own mistakes.

pub mod replay;

use crate::Result;
use crate::symbols::Sentence;
use crate::transition::{Oracle, TransitionSystem};
use crate::tree::Tree;
use replay::Replay;

/// A gold tree with its encoded sentence.
#[derive(Debug, Clone)]
pub struct Example {
    /// The sentence.
    pub sentence: Sentence,
    /// The tree, cleaned and head-marked.
    pub tree: Tree,
}

/// Which oracle is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OracleKind {
    /// The replayed derivation: one optimal action, on the gold path only.
    Static,
    /// The dynamic oracle, or, in systems without one, the replayed derivation.
    DynamicIfAny,
}

/// The oracle of a system for a tree, head-marked where the system needs heads.
///
/// # Errors
/// [`crate::Error::Unfit`] when the system cannot build the tree.
pub fn oracle<'a>(
    system: &'a dyn TransitionSystem,
    tree: &Tree,
    kind: OracleKind,
) -> Result<Box<dyn Oracle + 'a>> {
    if kind == OracleKind::DynamicIfAny
        && let Some(oracle) = system.dynamic_oracle(tree)?
    {
        return Ok(oracle);
    }
    Ok(Box::new(Replay::new(system, tree)?))
}
