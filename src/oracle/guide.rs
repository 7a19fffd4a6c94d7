//! Guides: the answers of any oracle for one gold tree.

use super::replay::Replay;
use super::{DynamicOracle, Oracle, Supervised};
use crate::Result;
use crate::transition::TransitionSystem;
use crate::tree::Tree;

/// Answers for one gold tree.
pub trait Guide<S: TransitionSystem>: Send + Sync {
    /// Writes the optimal actions into `out` (emptied first). Guides of static oracles may be asked on the
    /// gold path only.
    fn optimal(&self, system: &S, state: &S::State, out: &mut Vec<S::Action>);
    /// The loss of a configuration ([`DynamicOracle::loss`]); `None` from a static oracle.
    fn loss(&self, _system: &S, _state: &S::State) -> Option<u32> {
        None
    }
}

struct Prepared<O, G> {
    oracle: O,
    gold: G,
}

impl<S: TransitionSystem, O: Oracle<S>> Guide<S> for Prepared<O, O::Gold> {
    fn optimal(&self, system: &S, state: &S::State, out: &mut Vec<S::Action>) {
        self.oracle.optimal(system, &self.gold, state, out);
    }
}

/// The same of a dynamic oracle.
struct PreparedDynamic<O, G>(Prepared<O, G>);

impl<S: TransitionSystem, O: DynamicOracle<S>> Guide<S> for PreparedDynamic<O, O::Gold> {
    fn optimal(&self, system: &S, state: &S::State, out: &mut Vec<S::Action>) {
        self.0.optimal(system, state, out);
    }

    fn loss(&self, system: &S, state: &S::State) -> Option<u32> {
        Some(self.0.oracle.loss(system, &self.0.gold, state))
    }
}

/// Which oracle guides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuideKind {
    /// The replayed derivation: one optimal action, on the gold path only.
    Static,
    /// The dynamic oracle, or, in systems without one, the replayed derivation.
    DynamicIfAny,
}

/// Prepares the guide to a tree.
///
/// # Errors
/// [`crate::Error::Unfit`] when the system cannot build the tree.
pub fn guide<S: Supervised>(system: &S, tree: &Tree, kind: GuideKind) -> Result<Box<dyn Guide<S>>> {
    Ok(match system.dynamic_oracle().filter(|_| kind == GuideKind::DynamicIfAny) {
        Some(oracle) => {
            Box::new(PreparedDynamic(Prepared { gold: oracle.prepare(system, tree)?, oracle }))
        }
        None => Box::new(Prepared { gold: Replay.prepare(system, tree)?, oracle: Replay }),
    })
}
