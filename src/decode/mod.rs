//! Decoders: from a sentence to the derivation a scorer likes best.
//!
//! - [`greedy`]: one path, the best action at every step.
//! - [`beam`]: the best few hypotheses at every step.
//! - [`best_first`]: the best hypothesis of all that are open.
//!
//! [`Search`] is what presets say about them, and a decoder that does it.
//!
//! [`constituents`] says how sure the scorer was of what a decoder built.
//!
//! [`parser`] puts a system, a scorer and a decoder behind one interface for sentences as strings.

pub mod beam;
pub mod best_first;
pub mod constituents;
pub mod greedy;
mod heap;
pub mod parser;
mod path;
mod search;

pub use beam::Beam;
pub use best_first::{BestFirst, Unfinished};
pub use greedy::Greedy;
pub use parser::{NbestRequest, Parse, Parser, Worker};
pub use path::PathScore;
pub use search::{Fallback, Method, Search, SearchScratch};

use serde::{Deserialize, Serialize};

use crate::scorer::Scorer;
use crate::symbols::Sentence;
use crate::transition::TransitionSystem;

/// What happens when the best-scoring action of the whole inventory is not legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Illegal {
    /// Only legal actions compete, so every parse ends.
    #[default]
    NextBest,
    /// All actions compete; an illegal winner ends the parse with a partial tree.
    Fail,
}

/// The end of a search.
#[derive(Debug, Clone)]
pub struct Decoded<State, Action> {
    /// The last state.
    pub state: State,
    /// The actions that led to it, first to last.
    pub actions: Vec<Action>,
    /// The score of the path to it.
    pub score: f64,
    /// Whether the derivation was ended by the system's own rules.
    pub complete: bool,
}

/// A search for the best derivation.
pub trait Decoder<S: TransitionSystem, P: Scorer<S>>: Send + Sync {
    /// Memory of one thread.
    type Scratch: Default + Send;

    /// Searches one sentence.
    fn decode(
        &self,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
        scratch: &mut Self::Scratch,
    ) -> Decoded<S::State, S::Action>;

    /// Searches one sentence for several derivations, best first; there is always one at least. Decoders
    /// that keep one path give one.
    fn decode_nbest(
        &self,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
        _n: usize,
        scratch: &mut Self::Scratch,
    ) -> Vec<Decoded<S::State, S::Action>> {
        vec![self.decode(system, scorer, sentence, scratch)]
    }

    /// The label of the node that joins the parts of a parse that failed; empty to leave them side by
    /// side under the root.
    fn failure_label(&self) -> &str {
        ""
    }
}
