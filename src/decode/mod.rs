//! Decoders: the search for the highest-scoring derivation of a sentence.
//!
//! - [`greedy`]: one hypothesis, the best action at every step.
//! - [`beam`]: the best k hypotheses at every step.
//! - [`best_first`]: always the best of all open hypotheses.
//!
//! All of them move a [`Cursor`] along derivations of a [`Problem`]. [`Search`] holds the settings of presets
//! and selects the decoder. [`constituents`] scores the constituents of a parse, [`gold`] follows gold
//! derivations.

pub mod beam;
pub mod best_first;
pub mod constituents;
mod cursor;
pub mod gold;
pub mod greedy;
mod heap;
mod path;
pub(crate) mod search;

pub use beam::Beam;
pub use best_first::{BestFirst, Unfinished};
pub use cursor::{Cursor, Problem};
pub use gold::{GoldStep, follow_gold};
pub use greedy::Greedy;
pub use path::PathScore;
pub use search::{Fallback, Method, Search, SearchScratch};

use serde::{Deserialize, Serialize};

use crate::transition::{Action, Forest, State, TransitionSystem};

/// What greedy search does when the best-scoring action is not legal. Other searches consider legal actions only.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Illegal {
    /// Only legal actions compete, so every parse ends.
    #[default]
    NextBest,
    /// All actions compete; an illegal winner ends the parse with a partial tree (Wang, Sagae and Mitamura 2006,
    /// section 2; Kalt 2004, section 3.1).
    Fail,
    /// Legal actions compete: with an empty stack that is a shift, with an empty buffer no shift. Once the last word
    /// is read, the end of the parse competes too; if it wins while several items remain, the sentence is rejected,
    /// with a partial tree (Sagae and Lavie 2005, sections 2.1 and 2.2: "whether to reduce or reject the input when
    /// only reduce actions are possible").
    Reject,
}

impl Illegal {
    /// Whether actions that are not legal ever compete, so that a learner must know decisions with one legal action.
    pub fn ranks_all_actions(self) -> bool {
        self != Self::NextBest
    }
}

/// A derivation found by a search.
#[derive(Debug)]
pub struct Decoded {
    /// The last state.
    pub state: State,
    /// The constituents built so far.
    pub forest: Forest,
    /// The actions, first to last.
    pub actions: Vec<Action>,
    /// The score of the derivation.
    pub score: f64,
    /// Whether the derivation is complete; if not, the tree is a partial analysis.
    pub complete: bool,
}

impl Decoded {
    fn new(
        system: &dyn TransitionSystem,
        (state, forest): (State, Forest),
        actions: Vec<Action>,
        score: f64,
    ) -> Self {
        let complete = system.is_complete(&state, &forest);
        Self { state, forest, actions, score, complete }
    }

    /// The derivation of the given actions, without what other hypotheses have built.
    fn replayed(problem: Problem<'_>, actions: Vec<Action>, score: f64) -> Self {
        let Problem { system, sentence } = problem;
        let (mut state, mut forest) = system.start(sentence);
        actions.iter().for_each(|&action| system.apply(&mut state, &mut forest, action));
        Self::new(system, (state, forest), actions, score)
    }
}
