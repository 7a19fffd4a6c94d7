//! The names of the symbols that networks have parameters for: by them, a network takes over the parameters of another one
//! whose symbols have other numbers.

use rustc_hash::FxHashMap;

use crate::encoder::{PARTS, TAGS, WORDS};
use crate::neural::params::SameSymbols;
use crate::symbols::{FIRST, Symbols, Vocabulary};
use crate::transition::{Action, TransitionSystem};

/// The set of actions that have scores.
pub(super) const ACTIONS: &str = "actions";
/// The set of past actions: none, then those that have scores ([`super::action_row`]).
pub(super) const RECENT: &str = "recent actions";
/// The set of tags of words, and labels of constituents and temporary nodes, as the network on positions numbers them.
pub(super) const NODES: &str = "nodes";
/// The set of labels as the stack-LSTM numbers them: those of open nonterminals, then those of constituents by number of
/// children.
pub(super) const LABELS: &str = "labels";

/// The names of the symbols of a network.
pub struct SymbolNames<'a> {
    vocabulary: &'a Vocabulary,
    labels: Vec<&'a str>,
    /// Each action with its label, without which temporary nodes of X and nodes of X* have the same name.
    actions: Vec<(String, &'a str)>,
}

/// What a row or column stands for: its name, in two parts, and which of the symbols of this name it is.
type Symbol<'a> = ([&'a str; 2], u32);

impl<'a> SymbolNames<'a> {
    /// The names of a system and a vocabulary.
    pub fn new(system: &'a dyn TransitionSystem, vocabulary: &'a Vocabulary) -> Self {
        let label = |action| system.label(action).map(|label| system.label_name(label));
        let name = |action| (system.name(action), label(action).unwrap_or_default());
        let actions = (0..system.n_actions() as u32).map(|code| name(Action::new(code))).collect();
        Self { vocabulary, labels: system.labels().names().collect(), actions }
    }

    /// The symbols of a set, which has `n` rows or columns, by number.
    fn symbols(&self, set: &str, n: u32) -> Vec<Symbol<'_>> {
        let values = |names: &'a Symbols| {
            let reserved = (0..FIRST).map(|value| (["", ""], value));
            reserved.chain(names.names().map(|name| ([name, ""], FIRST)))
        };
        let labels = |first: u32| {
            let label = move |&label| [0, 1].map(|temporary| ([label, ""], first + temporary));
            self.labels.iter().flat_map(label)
        };
        let actions = self.actions.iter().map(|(name, label)| ([&**name, label], 1));
        match set {
            WORDS => values(self.vocabulary.words()).take(n as usize).collect(),
            TAGS => values(self.vocabulary.tags()).collect(),
            PARTS => values(self.vocabulary.parts()).collect(),
            NODES => values(self.vocabulary.tags()).chain(labels(FIRST + 1)).collect(),
            LABELS => {
                let blocks = n.checked_div(2 * self.labels.len() as u32).unwrap_or(0);
                (0..blocks).flat_map(|block| labels(2 * block)).collect()
            }
            ACTIONS => actions.collect(),
            RECENT => std::iter::once((["", ""], 0)).chain(actions).collect(),
            _ => Vec::new(),
        }
    }
}

/// A network and another one, from which it takes parameters.
pub struct Renumbering<'a> {
    /// The names of the network.
    pub own: SymbolNames<'a>,
    /// The names of the other one.
    pub other: SymbolNames<'a>,
}

impl SameSymbols for Renumbering<'_> {
    fn numbers(&self, set: &'static str, [own, other]: [u32; 2]) -> Vec<Option<u32>> {
        let numbers: FxHashMap<Symbol<'_>, u32> =
            self.other.symbols(set, other).into_iter().zip(0..other).collect();
        self.own.symbols(set, own).iter().map(|symbol| numbers.get(symbol).copied()).collect()
    }
}
