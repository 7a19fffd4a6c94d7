//! Transition systems: how a parser builds a tree, one action at a time.
//!
//! What a [`TransitionSystem`] promises:
//!
//! 1. `legal` is never empty before the final state, and what the oracle wants on a tree that the
//!    system was made for is always in it.
//! 2. Every walk over legal actions ends within [`TransitionSystem::bound`] actions.
//! 3. `tree` is total: any state, finished or not, gives a valid tree over all tokens, in order.
//! 4. Actions have a total order; ties between scores are broken by it.
//!
//! Systems:
//!
//! - [`binary`]: bottom-up, binary and unary reductions (Sagae and Lavie 2005, section 2).
//! - [`bracketing`]: top-down (Dyer et al. 2016) and in-order (Liu and Zhang 2017); over binarized trees
//!   Kalt's left-corner parser.
//! - [`non_binary`]: bottom-up, reductions of any number of items (Fernández-González and Gómez-Rodríguez
//!   2018, section 3); over binarized trees Kalt's shift-reduce parser (2004, section 4).
//! - [`items`]: labelled spans in any order, or in one of two fixed ones (Turian and Melamed 2005).
//! - [`predictive`]: top-down by predicted lists of children, the top-down parser of Kalt.
//!
//! What they share: [`stack_buffer`] (the state), [`head_finder`] (head children), [`built_tree`] (what has been
//! built, as a tree), [`gold_tree`] (what is read off training trees).

pub mod binary;
pub mod bracketing;
pub mod built_tree;
pub mod gold_tree;
pub mod head_finder;
pub mod items;
pub mod non_binary;
pub mod predictive;
pub mod stack_buffer;
pub mod state;

use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::Hash;

pub use state::{Constituent, Dependents, Focus, Forest, NO_HEAD, Open, View};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Result;
use crate::symbols::{Label, Sentence};
use crate::tree::{Token, Tree};

/// What an action does, in the terms all systems share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActionKind {
    /// Moves the next word from the buffer.
    Shift,
    /// Builds or completes a constituent.
    Reduce,
    /// Announces a constituent.
    Open,
    /// Ends the parse.
    Finish,
}

/// One step of a derivation.
pub trait Action: Copy + Eq + Ord + Hash + Debug + Send + Sync + 'static {
    /// What the action does.
    fn kind(self) -> ActionKind;
    /// The label of the constituent it builds, if it builds one.
    fn label(self) -> Option<Label>;
    /// A small number that tells the action from all others of its system but those that do the same to
    /// another candidate ([`View::focus`]): what tables are indexed by.
    fn code(self) -> u32;
}

/// The rules of a parser: states, actions, and what they do.
pub trait TransitionSystem: Clone + Send + Sync + 'static {
    /// A configuration: stack, buffer, and what has been built.
    type State: Clone + Send;
    /// A step of a derivation.
    type Action: Action;
    /// What a model file stores of the system: labels, actions and limits.
    type Tables: Serialize + DeserializeOwned;

    /// The tables of the system.
    fn tables(&self) -> &Self::Tables;
    /// The system with the given tables, without head rules.
    ///
    /// # Errors
    /// [`crate::Error::Unfit`] when the tables are inconsistent.
    fn from_tables(tables: Self::Tables) -> Result<Self>;
    /// Sizes and limits of the system, by name, for the log.
    fn facts(&self) -> Vec<(&'static str, String)>;

    /// The actions that build a tree rooted in `TOP`, from the first to the last. Where several derivations
    /// build it, one of them.
    ///
    /// # Errors
    /// [`crate::Error::Unfit`] when the system cannot build the tree, with the reason.
    fn derivation(&self, tree: &Tree) -> Result<Vec<Self::Action>>;
    /// The tree that the derivation builds: the given one, unless a limit of the system leaves out some of
    /// its nodes.
    fn target<'a>(&self, tree: &'a Tree) -> Cow<'a, Tree> {
        Cow::Borrowed(tree)
    }

    /// The state before the first action.
    fn start(&self, sentence: &Sentence) -> Self::State;
    /// Whether the derivation has ended.
    fn is_final(&self, state: &Self::State) -> bool;
    /// Puts the actions that are allowed here into `out` (emptied first), in their order.
    fn legal(&self, state: &Self::State, out: &mut Vec<Self::Action>);
    /// Takes an action, which must be legal.
    fn apply(&self, state: &mut Self::State, action: Self::Action);
    /// Whether the rules leave no choice here, so that no scorer is asked even where all actions are ranked:
    /// there is one legal action, and it is taken.
    fn is_forced(&self, _state: &Self::State) -> bool {
        false
    }
    /// Whether the derivation has ended with a whole tree. Some systems may also end with constituents
    /// left over, so that every walk ends.
    fn is_complete(&self, state: &Self::State) -> bool {
        self.is_final(state)
    }
    /// The tree built so far over the sentence's tokens, with head children where the system knows them;
    /// a partial analysis when the state is not final.
    fn tree(&self, state: &Self::State, tokens: &[Token]) -> Tree;
    /// What features may see. With a focus, the addresses for a candidate mean that action's item;
    /// systems without candidates ignore it.
    fn view<'a>(&'a self, state: &'a Self::State, focus: Option<Self::Action>) -> View<'a>;
    /// How many actions have been taken.
    fn steps(&self, state: &Self::State) -> usize;
    /// The most actions a derivation over `n` tokens can have.
    fn bound(&self, n: usize) -> usize;
    /// Every action that a scorer may be asked about, in order: what is ranked when illegal choices end a
    /// parse. Systems whose actions are not a fixed list give the legal ones.
    fn inventory(&self, state: &Self::State, out: &mut Vec<Self::Action>) {
        self.legal(state, out);
    }
    /// A number for the state, or for the one that `next` makes of it: states that differ in nothing but the
    /// order of the actions that led to them share it, so that a search may keep one of them. None in
    /// systems that have one derivation for each state.
    fn identity(&self, _state: &Self::State, _next: Option<Self::Action>) -> Option<u64> {
        None
    }
    /// The action as the literature writes it, such as `REDUCE-LEFT-NP`.
    fn name(&self, action: Self::Action) -> String;
    /// The same of all actions that share its code.
    fn kind_name(&self, action: Self::Action) -> String {
        self.name(action)
    }
    /// The name of a label; empty if there is none of that number.
    fn label_name(&self, label: Label) -> &str;
    /// The names of all labels, by number.
    fn labels(&self) -> impl Iterator<Item = &str> {
        let names = (0..=u16::MAX).map(|number| self.label_name(Label(number)));
        names.take_while(|name| !name.is_empty())
    }
}
