//! Oracles: the optimal actions of a configuration, given the gold tree.
//!
//! An [`Oracle`] is defined on the gold path. A [`DynamicOracle`] is defined in every configuration, so that
//! training can explore the parser's own mistakes.
//!
//! - [`replay`]: the static oracle of every system.
//! - [`binary`]: the dynamic oracle of the binary system, a heuristic.
//! - [`bracketing`]: the dynamic oracles of the top-down and in-order systems, exact while no limit binds.
//! - [`items`]: the dynamic oracle of the item system, exact where its limit on children does not bind.
//! - [`reachability`]: the dynamic oracle of the non-binary system, exact with reductions of every label and number of
//!   items; an inventory read off training trees may lack some.

pub mod binary;
pub mod bracketing;
mod gold;
mod guide;
pub mod items;
pub mod reachability;
pub mod replay;

pub use gold::Gold;
pub use guide::{Guide, GuideKind, guide};

use crate::Result;
use crate::transition::TransitionSystem;
use crate::transition::binary::Binary;
use crate::transition::bracketing::Bracketing;
use crate::transition::items::Items;
use crate::transition::non_binary::NonBinary;
use crate::transition::predictive::Predictive;
use crate::tree::Tree;

/// Gives the optimal actions for a gold tree.
pub trait Oracle<S: TransitionSystem>: Send + Sync + 'static {
    /// A gold tree, prepared for queries.
    type Gold: Send + Sync + 'static;

    /// Prepares a gold tree, head-marked where the system needs heads.
    ///
    /// # Errors
    /// [`crate::Error::Unfit`] when the system cannot build the tree.
    fn prepare(&self, system: &S, tree: &Tree) -> Result<Self::Gold>;

    /// Writes the optimal actions, all legal, into `out` (emptied first). Never empty on the gold path.
    fn optimal(&self, system: &S, gold: &Self::Gold, state: &S::State, out: &mut Vec<S::Action>);
}

/// An oracle for every configuration, on the gold path or off it. Off the gold path `optimal` may be empty if
/// the oracle is a heuristic.
pub trait DynamicOracle<S: TransitionSystem>: Oracle<S> {
    /// The loss: gold brackets that cannot be built any more plus wrong brackets built.
    fn loss(&self, system: &S, gold: &Self::Gold, state: &S::State) -> u32;
}

/// A system with its dynamic oracle: what a parser can be trained for.
pub trait Supervised: TransitionSystem {
    /// The dynamic oracle; [`NoDynamicOracle`] for a system that has none.
    type Dynamic: DynamicOracle<Self>;

    /// The dynamic oracle, if there is one for the tables of this system.
    fn dynamic_oracle(&self) -> Option<Self::Dynamic>;
}

impl Supervised for Binary {
    type Dynamic = binary::NextBracket;

    fn dynamic_oracle(&self) -> Option<Self::Dynamic> {
        Some(binary::NextBracket)
    }
}

impl Supervised for NonBinary {
    type Dynamic = reachability::Reachability;

    /// None over binarized trees: temporary nodes are not brackets.
    fn dynamic_oracle(&self) -> Option<Self::Dynamic> {
        self.tables().binarization.is_none().then_some(reachability::Reachability)
    }
}

impl Supervised for Bracketing {
    type Dynamic = bracketing::OpenBrackets;

    /// None over binarized trees: temporary nodes are not brackets.
    fn dynamic_oracle(&self) -> Option<Self::Dynamic> {
        self.tables().binarization.is_none().then_some(bracketing::OpenBrackets)
    }
}

impl Supervised for Items {
    type Dynamic = items::ItemOracle;

    fn dynamic_oracle(&self) -> Option<Self::Dynamic> {
        Some(items::ItemOracle)
    }
}

impl Supervised for Predictive {
    type Dynamic = NoDynamicOracle;

    fn dynamic_oracle(&self) -> Option<NoDynamicOracle> {
        None
    }
}

/// The dynamic oracle type of systems without one; it has no values.
#[derive(Debug, Clone, Copy)]
pub enum NoDynamicOracle {}

impl<S: TransitionSystem> Oracle<S> for NoDynamicOracle {
    type Gold = ();

    fn prepare(&self, _system: &S, _tree: &Tree) -> Result<()> {
        match *self {}
    }

    fn optimal(&self, _system: &S, _gold: &(), _state: &S::State, _out: &mut Vec<S::Action>) {
        match *self {}
    }
}

impl<S: TransitionSystem> DynamicOracle<S> for NoDynamicOracle {
    fn loss(&self, _system: &S, _gold: &(), _state: &S::State) -> u32 {
        match *self {}
    }
}
