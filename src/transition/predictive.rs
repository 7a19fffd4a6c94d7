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

use super::built_tree::visible_label;
use super::gold_tree::{
    MAX_LABELS, ROOT, binarized_labels_of, check_run, check_tree, label_of, may_repeat,
    repeats_a_label,
};
use super::shared_stack::Stack;
use super::stack_buffer::StackBuffer;
use super::state::clone_in_place;
use super::{Action, ActionKind, Forest, Open, TransitionSystem, View};
use crate::symbols::{Label, Sentence, Symbols};
use crate::tree::binarize::Binarization;
use crate::tree::{Child, Token, Tree, Visit};
use crate::{Error, Result};

/// The largest number of distinct lists of children.
const MAX_LISTS: usize = 60_000;

/// An action of the predictive system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PredictiveAction {
    /// Matches the predicted tag with the next word.
    Match,
    /// Replaces the topmost label by a list of children, given by its position.
    Predict(u16),
    /// Ends the derivation.
    Finish,
}

impl Action for PredictiveAction {
    fn kind(self) -> ActionKind {
        match self {
            Self::Match => ActionKind::Shift,
            Self::Predict(_) => ActionKind::Open,
            Self::Finish => ActionKind::Finish,
        }
    }

    fn label(self) -> Option<Label> {
        None
    }

    fn code(self) -> u32 {
        match self {
            Self::Match => 0,
            Self::Finish => 1,
            Self::Predict(list) => 2 + u32::from(list),
        }
    }
}

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

/// The predictive system over a fixed inventory of lists.
#[derive(Debug, Clone)]
pub struct Predictive {
    tables: PredictiveTables,
    predictions: Vec<PredictiveAction>,
    /// The empty prediction, if the lists have it.
    nothing: Option<PredictiveAction>,
}

/// A configuration of the predictive system.
#[derive(Debug)]
pub struct PredictiveState {
    base: StackBuffer,
    /// The predictions, the next one on top.
    stack: Stack,
    /// The open constituents. One has all its children when nothing is left above its base.
    open: Stack,
    /// The number of consecutive predictions before this configuration.
    predicted: u32,
}

clone_in_place!(PredictiveState { base, stack, open, predicted });

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

    fn is_label(&self, state: &PredictiveState, prediction: u32) -> bool {
        let label = state.base.forest.node(prediction).label;
        label.is_some_and(|label| u32::from(label.0) < self.tables.n_labels)
    }

    /// The prediction that would replace the label of a node by itself, if that is illegal.
    fn repetition(&self, state: &PredictiveState, node: u32) -> Option<PredictiveAction> {
        let node = state.base.forest.node(node);
        let label = node.label.filter(|_| !self.tables.repeated_labels && !node.temporary)?;
        let alone = [u32::from(label.0) * 2];
        let at = self.tables.lists.binary_search_by(|list| list[..].cmp(&alone)).ok()?;
        Some(PredictiveAction::Predict(at as u16))
    }

    /// Whether the words since an open constituent began are a single item of its label.
    fn is_repetition(&self, base: &StackBuffer, Open { node, first, .. }: Open) -> bool {
        let node = base.forest.node(node);
        let may_be = !self.tables.repeated_labels && !node.temporary;
        let only = base.top().filter(|_| may_be && base.items.len() == first as usize + 1);
        only.is_some_and(|only| visible_label(&base.forest, only, None) == node.label)
    }

    /// Completes the open constituents that have all their children. The root stays open.
    fn complete(&self, state: &mut PredictiveState) {
        let PredictiveState { base, stack, open, .. } = state;
        while let Some(last) = base.forest.opened.last(*open)
            && (open.len() > 1 && stack.len() == last.base as usize)
        {
            base.forest.opened.pop(open);
            let node = *base.forest.node(last.node);
            let n = base.items.len() - last.first as usize;
            let is_built = n > 0 && !self.is_repetition(base, last);
            if let (Some(label), true) = (node.label, is_built) {
                base.join(None, label, node.temporary, n);
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

impl TransitionSystem for Predictive {
    type State = PredictiveState;
    type Action = PredictiveAction;
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
        let predictions: Vec<PredictiveAction> =
            (0..lists.len()).map(|list| PredictiveAction::Predict(list as u16)).collect();
        let nothing = predictions.first().copied().filter(|_| lists[0].is_empty());
        Ok(Self { predictions, nothing, tables })
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

    fn facts(&self) -> Vec<(&'static str, String)> {
        let tables = self.tables();
        vec![
            ("labels", tables.n_labels.to_string()),
            ("lists of children", tables.lists.len().to_string()),
            ("predictions between two words, at most", tables.max_predictions.to_string()),
        ]
    }

    fn derivation(&self, tree: &Tree) -> Result<Vec<PredictiveAction>> {
        let steps = derive(tree, &self.tables.names, self.tables.binarization)?;
        let action = |step: Option<Vec<Prediction>>| match step {
            None => Ok(PredictiveAction::Match),
            Some(list) => match self.tables.lists.binary_search(&list) {
                Ok(at) => Ok(PredictiveAction::Predict(at as u16)),
                Err(_) => Err(Error::Unfit(format!("no prediction of {}", self.list_name(&list)))),
            },
        };
        let mut actions: Vec<PredictiveAction> =
            steps.into_iter().map(action).collect::<Result<_>>()?;
        actions.push(PredictiveAction::Finish);
        Ok(actions)
    }

    fn start(&self, sentence: &Sentence) -> PredictiveState {
        let mut base = StackBuffer::new(sentence, None);
        let top = Label((self.tables.n_labels - 1) as u16);
        let root = base.forest.push_open(top, false, None, 0);
        let mut stack = Stack::default();
        base.forest.stacks.push(&mut stack, root);
        PredictiveState { base, stack, open: Stack::default(), predicted: 0 }
    }

    fn forest_mut(state: &mut PredictiveState) -> &mut Forest {
        &mut state.base.forest
    }

    fn is_final(&self, state: &PredictiveState) -> bool {
        state.base.finished
    }

    fn is_forced(&self, state: &PredictiveState) -> bool {
        let next = state.base.forest.stacks.last(state.stack);
        let Some(next) = next.filter(|&next| self.is_label(state, next)) else {
            return true;
        };
        let may_predict = match state.base.remaining() {
            0 => self.nothing.is_some(),
            _ => self.predictions.len() > usize::from(self.repetition(state, next).is_some()),
        };
        !may_predict || state.predicted >= self.tables.max_predictions
    }

    fn is_complete(&self, state: &PredictiveState) -> bool {
        state.base.finished && state.stack.is_empty() && state.base.remaining() == 0
    }

    fn legal(&self, state: &PredictiveState, out: &mut Vec<PredictiveAction>) {
        out.clear();
        if state.base.finished {
            return;
        }
        let at_end = state.base.remaining() == 0;
        match state.base.forest.stacks.last(state.stack) {
            Some(next) if self.is_label(state, next) => match at_end {
                _ if state.predicted >= self.tables.max_predictions => {}
                true => out.extend(self.nothing),
                false => {
                    out.extend_from_slice(&self.predictions);
                    let repetition = self.repetition(state, next);
                    if let Some(at) = repetition.and_then(|list| out.binary_search(&list).ok()) {
                        out.remove(at);
                    }
                }
            },
            Some(_) if !at_end => out.push(PredictiveAction::Match),
            _ => {}
        }
        if out.is_empty() {
            out.push(PredictiveAction::Finish);
        }
    }

    fn apply(&self, state: &mut PredictiveState, action: PredictiveAction) {
        let PredictiveState { base, stack, open, predicted } = state;
        base.note(action.code());
        match action {
            PredictiveAction::Match => {
                base.forest.stacks.pop(stack);
                base.shift();
                *predicted = 0;
                self.complete(state);
            }
            PredictiveAction::Predict(list) => {
                let forest = &mut base.forest;
                let Some(node) = forest.stacks.pop(stack) else { return };
                let (first, height) = (base.items.len() as u32, stack.len() as u32);
                forest.opened.push(open, Open { node, first, base: height });
                for &child in self.tables.lists[usize::from(list)].iter().rev() {
                    let (label, temporary) = (Label((child / 2) as u16), child % 2 == 1);
                    let prediction = forest.push_open(label, temporary, None, base.buffer);
                    forest.stacks.push(stack, prediction);
                }
                *predicted += 1;
                self.complete(state);
            }
            PredictiveAction::Finish => base.finished = true,
        }
    }

    /// Open constituents are left out: their complete children become siblings.
    fn tree(&self, state: &PredictiveState, tokens: &[Token]) -> Tree {
        state.base.tree(&self.tables.names, tokens)
    }

    fn view<'a>(&'a self, state: &'a PredictiveState) -> View<'a> {
        View {
            forest: &state.base.forest,
            labels: &self.tables.names,
            stack: state.base.forest.stacks.view(state.stack),
            frontier: &[],
            open: state.base.forest.opened.view(state.open),
            complete: state.base.items(),
            buffer: state.base.buffer,
            recent: state.base.recent,
            focus: None,
            signatures: &[],
        }
    }

    fn steps(&self, state: &PredictiveState) -> usize {
        state.base.steps as usize
    }

    fn bound(&self, n: usize) -> usize {
        n + (n + 1) * self.tables.max_predictions as usize + 1
    }

    fn inventory(&self, _state: &PredictiveState, out: &mut Vec<PredictiveAction>) {
        out.clear();
        out.extend_from_slice(&self.predictions);
    }

    fn name(&self, action: PredictiveAction) -> String {
        match action {
            PredictiveAction::Match => "MATCH".to_owned(),
            PredictiveAction::Finish => "FINISH".to_owned(),
            PredictiveAction::Predict(list) => {
                format!("PREDICT({})", self.list_name(&self.tables.lists[usize::from(list)]))
            }
        }
    }

    fn label_name(&self, label: Label) -> &str {
        self.tables.names.name(u32::from(label.0)).unwrap_or_default()
    }
}
