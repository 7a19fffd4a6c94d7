//! The predictive top-down system: PREDICT, MATCH, FINISH (the top-down parser of Kalt 2004, section 4).
//!
//! The stack holds predicted labels and tags. PREDICT(list) replaces the topmost label
//! by the labels and tags of its children; MATCH takes the next word for the topmost tag, whatever the tag of
//! the word is. In contrast to [`super::bracketing`] a constituent is complete with the last of its predicted
//! children. Trees are usually binarized first ([`Binarization`]); further binarization postpones decisions. With
//! `R0` some temporary nodes are predicted over no words; they leave nothing in the tree.
//!
//! MATCH is forced when a tag is on top; FINISH is forced when nothing else is legal, so that every derivation
//! ends. The derivation is complete if no prediction and no word remains. Between two words at most as many
//! predictions are made as in the training trees. No constituent has a single child of its own label unless one
//! of the training trees has: a label is not replaced by itself, and a constituent that predictions over no
//! words leave with such a child is not built.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::action_table::{ActionRow, ActionTable};
use super::built_tree::visible_label;
use super::gold_tree::{
    MAX_LABELS, ROOT, binarized_labels_of, check_run, check_tree, label_of, may_repeat,
    repeats_a_label,
};
use super::inventory::stored;
use super::shared_stack::Stack;
use super::{Action, ActionKind, Forest, Open, State, StoredSystem, TransitionSystem};
use crate::symbols::{Label, Sentence, Symbols};
use crate::tree::binarize::Binarization;
use crate::tree::{Child, Tree, Visit};
use crate::{Error, Result};

/// The largest number of distinct lists of children.
const MAX_LISTS: usize = 60_000;

/// A predicted child: twice the position of its label or tag in the names, plus one for a temporary node.
type Prediction = u32;

/// The stored tables of a predictive system.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PredictiveTables {
    /// The labels, `TOP` last; then the tags, each after a slash.
    pub names: Symbols,
    /// The number of labels among the names.
    pub n_labels: u32,
    /// The lists of children, in order.
    pub lists: Vec<Vec<Prediction>>,
    /// The limit on predictions between two words.
    pub max_predictions: u32,
    /// The binarization of the trees.
    #[serde(flatten)]
    pub binarization: Binarization,
    /// Whether a constituent may have a single child of its own label.
    #[serde(default = "may_repeat")]
    pub repeated_labels: bool,
}

/// The predictive system over a fixed inventory of lists. The code of a prediction is the position of its list; MATCH and
/// FINISH follow.
#[derive(Debug, Clone)]
pub struct Predictive {
    tables: PredictiveTables,
    actions: ActionTable,
    /// The empty prediction, if the lists have it.
    nothing: Option<Action>,
}

impl Predictive {
    /// The system that can build the given trees, rooted in `TOP`.
    ///
    /// # Errors
    /// [`Error::Unfit`] when there are too many labels or lists of children.
    pub fn of_trees<'a>(
        trees: impl IntoIterator<Item = &'a Tree> + Clone,
        binarization: impl Into<Binarization>,
    ) -> Result<Self> {
        let binarization = binarization.into();
        let (mut names, _) = binarized_labels_of(trees.clone(), binarization)?;
        names.intern(ROOT);
        let n_labels = names.len() as u32;
        for token in trees.clone().into_iter().flat_map(Tree::tokens) {
            names.intern(&format!("/{}", token.tag));
        }
        let (mut lists, mut max_predictions) = (BTreeSet::new(), 1);
        let mut repeated_labels = false;
        for tree in trees {
            let Ok(steps) = derive(tree, &names, binarization) else { continue };
            repeated_labels |= repeats_a_label(tree);
            let mut predicted = 0;
            for step in steps {
                predicted = if step.is_some() { predicted + 1 } else { 0 };
                max_predictions = max_predictions.max(predicted);
                lists.extend(step);
            }
        }
        let lists = lists.into_iter().collect();
        Self::from_tables(PredictiveTables {
            names,
            n_labels,
            lists,
            max_predictions,
            binarization,
            repeated_labels,
        })
    }

    fn list_name(&self, list: &[Prediction]) -> String {
        let name = |&child: &Prediction| {
            let mark = if child % 2 == 1 { "*" } else { "" };
            format!("{}{mark}", self.tables.names.name(child / 2).unwrap_or_default())
        };
        list.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    /// MATCH, which takes the next word for the predicted tag.
    fn matching(&self) -> Action {
        Action::new(self.tables.lists.len() as u32)
    }

    /// FINISH, which ends the derivation.
    fn finish(&self) -> Action {
        Action::new(self.tables.lists.len() as u32 + 1)
    }

    fn is_label(&self, forest: &Forest, prediction: u32) -> bool {
        let label = forest.node(prediction).label;
        label.is_some_and(|label| u32::from(label.0) < self.tables.n_labels)
    }

    /// The prediction that would replace the label of a node by itself, if that is illegal.
    fn repetition(&self, forest: &Forest, node: u32) -> Option<Action> {
        let node = forest.node(node);
        let label = node.label.filter(|_| !self.tables.repeated_labels && !node.temporary)?;
        let alone = [u32::from(label.0) * 2];
        let at = self.tables.lists.binary_search_by(|list| list[..].cmp(&alone)).ok()?;
        Some(Action::new(at as u32))
    }

    /// Whether the words since an open constituent began are a single item of its label.
    fn is_repetition(
        &self,
        state: &State,
        forest: &Forest,
        Open { node, first, .. }: Open,
    ) -> bool {
        let node = forest.node(node);
        let may_be = !self.tables.repeated_labels && !node.temporary;
        let only = state.top(forest).filter(|_| may_be && state.items.len() == first as usize + 1);
        only.is_some_and(|only| visible_label(forest, only, None) == node.label)
    }

    /// Completes the open constituents that have all their children: nothing is left above their bases. The root stays
    /// open.
    fn complete(&self, state: &mut State, forest: &mut Forest) {
        while let Some(last) = forest.opened.last(state.open)
            && (state.open.len() > 1 && state.stack.len() == last.base as usize)
        {
            forest.opened.pop(&mut state.open);
            let node = *forest.node(last.node);
            let n = state.items.len() - last.first as usize;
            let is_built = n > 0 && !self.is_repetition(state, forest, last);
            if let (Some(label), true) = (node.label, is_built) {
                state.join(forest, (label, node.temporary), n, |_, children| children.len() - 1);
            }
        }
    }
}

/// The steps that build a tree: a list of predicted children, or `None` for a word.
fn derive(
    tree: &Tree,
    names: &Symbols,
    binarization: Binarization,
) -> Result<Vec<Option<Vec<Prediction>>>> {
    check_tree(tree)?;
    let binary = binarization.apply(tree);
    let child = |&child: &Child| -> Result<Prediction> {
        let (name, temporary) = match child {
            Child::Node(id) => (binary.node(id).label.clone(), binary.node(id).temporary),
            Child::Token(at) => (format!("/{}", tree.tokens()[at as usize].tag).into(), false),
        };
        Ok(u32::from(label_of(names, &name)?.0) * 2 + u32::from(temporary))
    };
    let mut steps = Vec::with_capacity(tree.tokens().len() + binary.nodes().len());
    for step in binary.traverse() {
        match step {
            Visit::Token(_) => steps.push(None),
            Visit::Open(id) => {
                let list = binary.children(id).iter().map(child).collect::<Result<_>>()?;
                steps.push(Some(list));
            }
            Visit::Close(_) => {}
        }
    }
    Ok(steps)
}

impl StoredSystem for Predictive {
    type Tables = PredictiveTables;

    fn tables(&self) -> &PredictiveTables {
        &self.tables
    }

    fn from_tables(tables: PredictiveTables) -> Result<Self> {
        check_run(tables.max_predictions)?;
        let PredictiveTables { names, n_labels, lists, .. } = &tables;
        let known = |&child: &Prediction| (child as usize / 2) < names.len();
        let top = (*n_labels as usize).checked_sub(1).and_then(|last| names.name(last as u32));
        let sorted = lists.windows(2).all(|pair| pair[0] < pair[1]);
        if lists.len() > MAX_LISTS || names.len() > MAX_LABELS {
            let problem = format!("more than {MAX_LISTS} lists of children, or too many labels");
            return Err(Error::Unfit(problem));
        }
        if top != Some(ROOT) || !sorted || !lists.iter().flatten().all(known) {
            return Err(Error::corrupt("the tables are not those of a predictive system"));
        }
        let nothing = lists.first().filter(|list| list.is_empty()).map(|_| Action::new(0));
        let row = |number, kind| ActionRow { number, kind, label: None };
        let predictions = (2..2 + lists.len() as u32).map(|number| row(number, ActionKind::Open));
        let others = [row(0, ActionKind::Shift), row(1, ActionKind::Finish)];
        Ok(Self { actions: ActionTable::new(predictions.chain(others)), nothing, tables })
    }

    fn union(&self, other: &Self) -> Result<Self> {
        let both = [&self.tables, &other.tables];
        let labels = |tables: &PredictiveTables| tables.n_labels as usize - 1;
        let mut names = Symbols::default();
        for tables in both {
            tables.names.names().take(labels(tables)).for_each(|name| _ = names.intern(name));
        }
        let n_labels = names.intern(ROOT) + 1;
        for tables in both {
            tables.names.names().skip(labels(tables)).for_each(|name| _ = names.intern(name));
        }
        let mut lists = BTreeSet::new();
        for tables in both {
            let numbers: Vec<u32> = tables.names.names().map(|name| names.intern(name)).collect();
            let renumbered = |&child: &Prediction| 2 * numbers[child as usize / 2] + child % 2;
            lists.extend(
                tables.lists.iter().map(|list| list.iter().map(renumbered).collect::<Vec<_>>()),
            );
        }
        Self::from_tables(PredictiveTables {
            names,
            n_labels,
            lists: lists.into_iter().collect(),
            max_predictions: self.tables.max_predictions.max(other.tables.max_predictions),
            binarization: self.tables.binarization,
            repeated_labels: self.tables.repeated_labels || other.tables.repeated_labels,
        })
    }
}

impl TransitionSystem for Predictive {
    fn stored(&self) -> serde_json::Value {
        stored(&self.tables)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("labels", self.tables.n_labels.to_string()),
            ("lists of children", self.tables.lists.len().to_string()),
            ("predictions between two words, at most", self.tables.max_predictions.to_string()),
        ]
    }

    /// With the tags.
    fn labels(&self) -> &Symbols {
        &self.tables.names
    }

    fn actions(&self) -> &ActionTable {
        &self.actions
    }

    fn name(&self, action: Action) -> String {
        match self.tables.lists.get(action.code as usize) {
            Some(list) => format!("PREDICT({})", self.list_name(list)),
            None if action == self.matching() => "MATCH".to_owned(),
            None => "FINISH".to_owned(),
        }
    }

    /// The predictions: the others are forced.
    fn n_actions(&self) -> usize {
        self.tables.lists.len()
    }

    fn derivation(&self, tree: &Tree) -> Result<Vec<Action>> {
        let steps = derive(tree, &self.tables.names, self.tables.binarization)?;
        let action = |step: Option<Vec<Prediction>>| match step {
            None => Ok(self.matching()),
            Some(list) => match self.tables.lists.binary_search(&list) {
                Ok(at) => Ok(Action::new(at as u32)),
                Err(_) => Err(Error::Unfit(format!("no prediction of {}", self.list_name(&list)))),
            },
        };
        let mut actions: Vec<Action> = steps.into_iter().map(action).collect::<Result<_>>()?;
        actions.push(self.finish());
        Ok(actions)
    }

    fn start(&self, sentence: &Sentence) -> (State, Forest) {
        let mut state = State::new(sentence);
        let mut forest = Forest::of_sentence(sentence, None);
        let top = Label((self.tables.n_labels - 1) as u16);
        let root = forest.push_open(top, false, None, 0);
        forest.stacks.push(&mut state.stack, root);
        (state, forest)
    }

    fn is_forced(&self, state: &State, forest: &Forest) -> bool {
        let next = forest.stacks.last(state.stack);
        let Some(next) = next.filter(|&next| self.is_label(forest, next)) else {
            return true;
        };
        let may_predict = match state.remaining() {
            0 => self.nothing.is_some(),
            _ => self.n_actions() > usize::from(self.repetition(forest, next).is_some()),
        };
        !may_predict || state.run >= self.tables.max_predictions
    }

    fn is_complete(&self, state: &State, _forest: &Forest) -> bool {
        state.finished && state.stack.is_empty() && state.remaining() == 0
    }

    fn legal(&self, state: &State, forest: &Forest, out: &mut Vec<Action>) {
        out.clear();
        if state.finished {
            return;
        }
        let at_end = state.remaining() == 0;
        match forest.stacks.last(state.stack) {
            Some(next) if self.is_label(forest, next) => match at_end {
                _ if state.run >= self.tables.max_predictions => {}
                true => out.extend(self.nothing),
                false => {
                    self.inventory(state, forest, out);
                    if let Some(repetition) = self.repetition(forest, next) {
                        out.remove(repetition.code as usize);
                    }
                }
            },
            Some(_) if !at_end => out.push(self.matching()),
            _ => {}
        }
        if out.is_empty() {
            out.push(self.finish());
        }
    }

    fn apply(&self, state: &mut State, forest: &mut Forest, action: Action) {
        state.note(action.code);
        if action == self.finish() {
            state.finished = true;
            return;
        }
        let Some(node) = forest.stacks.pop(&mut state.stack) else { return };
        match self.tables.lists.get(action.code as usize) {
            None => {
                state.shift(forest);
                state.run = 0;
            }
            Some(list) => {
                let (first, base) = (state.items.len() as u32, state.stack.len() as u32);
                forest.opened.push(&mut state.open, Open { node, first, base });
                for &child in list.iter().rev() {
                    let (label, temporary) = (Label((child / 2) as u16), child % 2 == 1);
                    let prediction = forest.push_open(label, temporary, None, state.buffer);
                    forest.stacks.push(&mut state.stack, prediction);
                }
                state.run += 1;
            }
        }
        self.complete(state, forest);
    }

    fn bound(&self, n: usize) -> usize {
        n + (n + 1) * self.tables.max_predictions as usize + 1
    }

    fn stack(&self, state: &State) -> Stack {
        state.stack
    }
}
