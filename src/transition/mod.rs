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
//! A configuration has two parts: a [`State`], which is small, and a [`Forest`], which holds what all hypotheses over a
//! sentence have built. An [`Action`] is a number; what it does is the system's own business, so searches, scorers and
//! training know all systems as `dyn TransitionSystem`.
//!
//! What they share: [`shared_stack`] (stacks), [`action_table`] (the number, kind and label of each action), `inventory` (the
//! actions of a system without candidates, and of two together), [`head_finder`] (head children), [`built_tree`] (what has
//! been built, as a tree), [`gold_tree`] (what is read off training trees), `gold_brackets` (for dynamic oracles, each of
//! which stands beside its system).

pub mod action_table;
pub mod binary;
pub mod bracketing;
pub mod built_tree;
mod gold_brackets;
pub mod gold_tree;
pub mod head_finder;
mod inventory;
pub mod items;
pub mod non_binary;
pub mod predictive;
pub mod shared_stack;
pub mod state;

use std::borrow::Cow;

pub use action_table::{ActionRow, ActionTable};
pub use shared_stack::StackView;
pub use state::{Constituent, Dependents, Focus, Forest, NO_HEAD, NO_NODE, Open, State, View};

use serde::Serialize;
use serde::de::DeserializeOwned;

use self::built_tree::tree_of;
use self::shared_stack::Stack;
use crate::Result;
use crate::symbols::{Label, Sentence, Symbols};
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

/// One step of a derivation. What it does is known to its system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Action {
    /// Of a candidate, the first of its children on the frontier and one past the last; zeros in other systems.
    pub place: [u32; 2],
    /// The position among the actions of the system, below [`TransitionSystem::n_actions`] if a scorer ranks it. In systems
    /// with candidates ([`View::focus`]), actions that do the same to different candidates share it.
    pub code: u32,
}

impl Action {
    /// The action of a code, in a system without candidates.
    pub fn new(code: u32) -> Self {
        Self { place: [0; 2], code }
    }
}

/// Answers for one gold tree.
pub trait Oracle: Send + Sync {
    /// Writes the optimal actions, all legal, into `out` (emptied first). Never empty on the gold path; off it, a
    /// heuristic may have no answer, and a static oracle must not be asked.
    fn optimal(&self, state: &State, forest: &Forest, out: &mut Vec<Action>);
    /// The loss: gold brackets that cannot be built any more plus wrong brackets built; `None` from a static oracle.
    fn loss(&self, _state: &State, _forest: &Forest) -> Option<u32> {
        None
    }
}

/// The rules of a parser: actions, and what they do to a configuration, which is a [`State`] with its [`Forest`].
pub trait TransitionSystem: Send + Sync {
    /// The tables of the system that a model file stores: labels, actions and limits.
    fn stored(&self) -> serde_json::Value;
    /// Sizes and limits of the system, by name, for the log.
    fn facts(&self) -> Vec<(&'static str, String)>;
    /// The names of the labels, by number.
    fn labels(&self) -> &Symbols;
    /// The actions, by code.
    fn actions(&self) -> &ActionTable;
    /// The number of actions that a scorer ranks, which have the lowest codes; 0 in systems with candidates.
    fn n_actions(&self) -> usize {
        self.actions().rows().len()
    }

    /// The kind of an action.
    fn kind(&self, action: Action) -> ActionKind {
        self.actions().row(action).kind
    }
    /// The label of the constituent that an action builds or opens, if any.
    fn label(&self, action: Action) -> Option<Label> {
        self.actions().row(action).label
    }
    /// The name of an action as the literature writes it, such as `REDUCE-LEFT-NP`.
    fn name(&self, action: Action) -> String;
    /// The name shared by all actions of its code, without the place of a candidate.
    fn kind_name(&self, action: Action) -> String {
        self.name(action)
    }
    /// The name of a label; empty if the number is out of range.
    fn label_name(&self, label: Label) -> &str {
        self.labels().name(label.0.into()).unwrap_or_default()
    }

    /// The actions that build a tree rooted in `TOP`, from the first to the last. Where several derivations
    /// build it, one of them.
    ///
    /// # Errors
    /// [`crate::Error::Unfit`] when the system cannot build the tree, with the reason.
    fn derivation(&self, tree: &Tree) -> Result<Vec<Action>>;
    /// The tree that the derivation builds: the given one, unless a limit of the system leaves out some of
    /// its nodes.
    fn target<'a>(&self, tree: &'a Tree) -> Cow<'a, Tree> {
        Cow::Borrowed(tree)
    }
    /// Whether the system has a dynamic oracle, which answers in every configuration.
    fn has_dynamic_oracle(&self) -> bool {
        false
    }
    /// The dynamic oracle for a tree, head-marked where the system needs heads; `None` if the system has none.
    ///
    /// # Errors
    /// [`crate::Error::Unfit`] when the system cannot build the tree.
    fn dynamic_oracle<'a>(&'a self, _tree: &Tree) -> Result<Option<Box<dyn Oracle + 'a>>> {
        Ok(None)
    }

    /// The configuration before the first action.
    fn start(&self, sentence: &Sentence) -> (State, Forest);
    /// Writes the legal actions into `out` (emptied first), in their order.
    fn legal(&self, state: &State, forest: &Forest, out: &mut Vec<Action>);
    /// Applies an action, which must be legal.
    fn apply(&self, state: &mut State, forest: &mut Forest, action: Action);
    /// Whether the next action is given by the rules of the system, so that no scorer ranks it: exactly one action
    /// is legal, and it is always taken.
    fn is_forced(&self, _state: &State, _forest: &Forest) -> bool {
        false
    }
    /// Whether the derivation has ended with a complete tree. Some systems also end with several constituents
    /// on the stack, so that every derivation ends.
    fn is_complete(&self, state: &State, _forest: &Forest) -> bool {
        state.finished
    }
    /// The largest number of actions in a derivation over `n` tokens.
    fn bound(&self, n: usize) -> usize;
    /// Writes every action that a scorer ranks into `out` (emptied first), in order, whether or not it is
    /// legal; in systems with candidates the legal ones.
    fn inventory(&self, _state: &State, _forest: &Forest, out: &mut Vec<Action>) {
        out.clear();
        out.extend((0..self.n_actions() as u32).map(Action::new));
    }
    /// The tree built so far over the sentence's tokens, with head children where the system knows them;
    /// a partial tree if the configuration is not final. Open constituents are left out: their complete children become
    /// siblings.
    fn tree(&self, state: &State, forest: &Forest, tokens: &[Token]) -> Tree {
        let items = self.view(state, forest).complete.to_vec();
        tree_of(forest, &items, state.buffer, self.labels(), tokens)
    }
    /// What features see as the stack: the complete items, or in systems that open constituents [`State::stack`].
    fn stack(&self, state: &State) -> Stack {
        state.items
    }
    /// The part of the configuration that features see.
    fn view<'a>(&'a self, state: &'a State, forest: &'a Forest) -> View<'a> {
        View {
            forest,
            labels: self.labels(),
            stack: forest.stacks.view(self.stack(state)),
            frontier: &[],
            open: forest.opened.view(state.open),
            complete: forest.stacks.view(state.items),
            buffer: state.buffer,
            recent: state.recent,
            actions: self.actions(),
            focus: None,
            signatures: &[],
        }
    }

    /// Whether actions are candidates, such as items over a part of the frontier: features see each of them.
    fn has_candidates(&self) -> bool {
        false
    }
    /// What features see of a candidate: [`View::focus`] is set, so the addresses of candidates refer to it.
    fn focused_view<'a>(&'a self, state: &'a State, forest: &'a Forest, _: Action) -> View<'a> {
        self.view(state, forest)
    }
    /// A hash of the configuration, or of the one that `next` leads to. Configurations that differ only in the
    /// order of the actions that led to them share it, so that a search keeps one of them. `None` in systems
    /// with one derivation per configuration.
    fn identity(&self, _: &State, _: &Forest, _next: Option<Action>) -> Option<u64> {
        None
    }
}

/// How a system is stored in a model, and extended by another one.
pub trait StoredSystem: TransitionSystem + Sized {
    /// Labels, actions and limits.
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
}
