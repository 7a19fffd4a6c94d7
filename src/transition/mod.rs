//! Transition systems: how a parser builds a tree, one action at a time.
//!
//! What a [`TransitionSystem`] promises:
//!
//! 1. `legal` is never empty before the final configuration. On the gold path of a tree that the system was
//!    built from, it contains the oracle's actions.
//! 2. Every sequence of legal actions ends within [`TransitionSystem::bound`] actions.
//! 3. `tree` is total: every configuration, final or not, gives a valid tree over all tokens, in order.
//! 4. Actions have a total order, which breaks ties between scores.
//!
//! Systems:
//!
//! - [`binary`]: bottom-up, binary and unary reductions (Sagae and Lavie 2005, section 2).
//! - [`bracketing`]: top-down (Dyer et al. 2016) and in-order (Liu and Zhang 2017); over
//!   binarized trees the left-corner parser of Kalt (2004, section 4).
//! - [`non_binary`]: bottom-up, reductions of any number of items (Fernández-González and Gómez-Rodríguez
//!   2018, section 3); over binarized trees Kalt's shift-reduce parser (2004, section 4).
//! - [`items`]: labelled spans in free or fixed order (Turian and Melamed 2005, section 3).
//! - [`predictive`]: top-down by predicted lists of children, the top-down parser of Kalt (2004, section 4).
//!
//! What they share: [`stack_buffer`] (the state), [`shared_stack`] (its stacks), [`head_finder`] (head children),
//! [`built_tree`] (what has been built, as a tree), [`gold_tree`] (what is read off training trees), `union` (the labels
//! and actions of two systems).

pub mod binary;
pub mod bracketing;
pub mod built_tree;
pub mod gold_tree;
pub mod head_finder;
pub mod items;
pub mod non_binary;
pub mod predictive;
pub mod shared_stack;
pub mod stack_buffer;
pub mod state;
mod union;

use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::Hash;

pub use shared_stack::StackView;
pub use state::{Constituent, Dependents, Focus, Forest, NO_HEAD, NO_NODE, Open, View};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Result;
use crate::symbols::{Label, Sentence};
use crate::tree::{Token, Tree};

/// The kind of an action, common to all systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActionKind {
    /// Moves the next word from the buffer.
    Shift,
    /// Builds or completes a constituent.
    Reduce,
    /// Opens a nonterminal: the label of a constituent is decided before its last child.
    Open,
    /// Ends the derivation.
    Finish,
}

/// One step of a derivation.
pub trait Action: Copy + Eq + Ord + Hash + Debug + Send + Sync + 'static {
    /// The kind of the action.
    fn kind(self) -> ActionKind;
    /// The label of the constituent that it builds or opens, if any.
    fn label(self) -> Option<Label>;
    /// A small integer that identifies the action among those of its system. In systems with candidates
    /// ([`View::focus`]), actions that do the same to different candidates share it.
    fn code(self) -> u32;
}

/// The rules of a parser: states, actions, and what they do.
pub trait TransitionSystem: Clone + Send + Sync + 'static {
    /// A configuration: stack, buffer, and what has been built.
    ///
    /// A search lends its hypotheses one forest, in turn ([`Self::forest_mut`]): their states are small without it,
    /// and the time to copy one does not grow with the derivation.
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
    /// [`crate::Error::Corrupt`] when the tables are inconsistent.
    fn from_tables(tables: Self::Tables) -> Result<Self>;
    /// The system with the labels and actions of both, without head rules. The labels of this one keep their numbers
    /// unless the system puts others before them, and the higher limit holds.
    ///
    /// # Errors
    /// [`crate::Error::Unfit`] when there are too many labels or actions.
    fn union(&self, other: &Self) -> Result<Self>;
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
    /// What has been built, which a search takes from the state to share it.
    fn forest_mut(state: &mut Self::State) -> &mut Forest;
    /// Whether the derivation has ended.
    fn is_final(&self, state: &Self::State) -> bool;
    /// Writes the legal actions into `out` (emptied first), in their order.
    fn legal(&self, state: &Self::State, out: &mut Vec<Self::Action>);
    /// Applies an action, which must be legal.
    fn apply(&self, state: &mut Self::State, action: Self::Action);
    /// Whether the next action is given by the rules of the system, so that no scorer ranks it: exactly one action
    /// is legal, and it is always taken.
    fn is_forced(&self, _state: &Self::State) -> bool {
        false
    }
    /// Whether the derivation has ended with a complete tree. Some systems also end with several constituents
    /// on the stack, so that every derivation ends.
    fn is_complete(&self, state: &Self::State) -> bool {
        self.is_final(state)
    }
    /// The tree built so far over the sentence's tokens, with head children where the system knows them;
    /// a partial tree if the configuration is not final.
    fn tree(&self, state: &Self::State, tokens: &[Token]) -> Tree;
    /// The part of the configuration that features see.
    fn view<'a>(&'a self, state: &'a Self::State) -> View<'a>;
    /// The number of actions taken.
    fn steps(&self, state: &Self::State) -> usize;
    /// The largest number of actions in a derivation over `n` tokens.
    fn bound(&self, n: usize) -> usize;
    /// Writes every action that a scorer ranks into `out` (emptied first), in order, whether or not it is
    /// legal. Systems without a fixed inventory give the legal actions.
    fn inventory(&self, state: &Self::State, out: &mut Vec<Self::Action>) {
        self.legal(state, out);
    }
    /// A hash of the configuration, or of the one that `next` leads to. Configurations that differ only in the
    /// order of the actions that led to them share it, so that a search keeps one of them. `None` in systems
    /// with one derivation per configuration.
    ///
    /// Beam and best-first search, which are generic over all systems, ask every system. In a trait for
    /// item systems alone, the searches would need specialization to find it.
    fn identity(&self, _state: &Self::State, _next: Option<Self::Action>) -> Option<u64> {
        None
    }
    /// The action as the literature writes it, such as `REDUCE-LEFT-NP`.
    fn name(&self, action: Self::Action) -> String;
    /// The name shared by all actions of its code.
    fn kind_name(&self, action: Self::Action) -> String {
        self.name(action)
    }
    /// The name of a label; empty if the number is out of range.
    fn label_name(&self, label: Label) -> &str;
    /// The names of all labels, by number.
    fn labels(&self) -> impl Iterator<Item = &str> {
        let names = (0..=u16::MAX).map(|number| self.label_name(Label(number)));
        names.take_while(|name| !name.is_empty())
    }
}

/// A system whose actions are candidates, such as items over a part of the frontier: features see each of them.
pub trait CandidateSystem: TransitionSystem {
    /// What features see of an action: [`View::focus`] is set, so the addresses of candidates refer to it.
    fn focused_view<'a>(&'a self, state: &'a Self::State, action: Self::Action) -> View<'a>;
}
