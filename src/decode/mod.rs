//! Decoders: from a sentence to the derivation a scorer likes best.
//!
//! - [`greedy`]: one path, the best action at every step.
//! - [`beam`]: the best few hypotheses at every step.
//! - [`best_first`]: the best hypothesis of all that are open.
//!
//! [`Search`] is what presets say about them, and a decoder that does it.
//!
//! [`parser`] puts a system, a scorer and a decoder behind one interface for sentences as strings.

pub mod beam;
pub mod best_first;
pub mod greedy;
pub mod parser;
mod search;

pub use beam::Beam;
pub use best_first::BestFirst;
pub use greedy::Greedy;
pub use parser::{Parse, Parser, Worker};
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

/// How the scores of a path's steps make the score of the path. A greedy search does not ask about steps
/// that leave no choice, and they count nothing; the others ask, because paths differ in them. So scores
/// compare between parses of one method only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathScore {
    /// Their sum.
    #[default]
    Sum,
    /// Their mean, which does not favour short derivations or long ones.
    Mean,
    /// The least of them.
    Min,
}

impl PathScore {
    /// The score of a path without steps.
    pub fn empty(self) -> f64 {
        match self {
            Self::Sum | Self::Mean => 0.0,
            Self::Min => f64::INFINITY,
        }
    }

    /// What is kept of a path made one step longer: a sum, or the least.
    pub fn extend(self, path: f64, step: f32) -> f64 {
        match self {
            Self::Sum | Self::Mean => path + f64::from(step),
            Self::Min => path.min(f64::from(step)),
        }
    }

    /// What the next step must score at least for a path, which has so many steps before it, to reach
    /// `score`; rounding aside.
    pub fn needed(self, path: f64, steps: usize, score: f64) -> f64 {
        match self {
            Self::Sum => score - path,
            Self::Mean => score * (steps + 1) as f64 - path,
            Self::Min => score,
        }
    }

    /// The score of a path of so many steps, from what was kept of it.
    pub fn score(self, path: f64, steps: usize) -> f64 {
        match self {
            Self::Mean => path / steps.max(1) as f64,
            Self::Sum | Self::Min => path,
        }
    }
}

/// The end of a search.
#[derive(Debug, Clone)]
pub struct Decoded<State> {
    /// The last state.
    pub state: State,
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
    ) -> Decoded<S::State>;

    /// Searches one sentence for several derivations, best first; there is always one at least. Decoders
    /// that keep one path give one.
    fn decode_nbest(
        &self,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
        _n: usize,
        scratch: &mut Self::Scratch,
    ) -> Vec<Decoded<S::State>> {
        vec![self.decode(system, scorer, sentence, scratch)]
    }

    /// The label of the node that joins the parts of a parse that failed; empty to leave them side by
    /// side under the root.
    fn failure_label(&self) -> &str {
        ""
    }
}
