//! A toy item system: the state is a frontier of items, an action puts a label over some neighbours.
//!
//! As Turian and Melamed's parser it has no order of work: every gold item whose children stand on the
//! frontier is right to build. A parse ends when the frontier is a single `TOP`.

use srparse::Result;
use srparse::oracle::Oracle;
use srparse::symbols::{Label, Sentence, Symbols};
use srparse::transition::{Action, ActionKind, Focus, Forest, TransitionSystem, View};
use srparse::tree::{Child, Token, Tree, TreeBuilder};

/// The most children of an item; `TOP` may have any number.
const MOST_CHILDREN: usize = 5;
/// The most items with a single child, one over the other.
const MOST_UNARIES: u32 = 3;

/// The system: a list of labels, the first of which is `TOP`.
#[derive(Debug, Clone)]
pub struct Items {
    labels: Symbols,
}

/// A frontier.
#[derive(Debug, Clone)]
pub struct ItemState {
    forest: Forest,
    frontier: Vec<u32>,
    steps: usize,
}

/// Puts a label over the items `first..last` of the frontier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Build {
    pub first: u16,
    pub last: u16,
    pub label: Label,
}

impl Action for Build {
    fn kind(self) -> ActionKind {
        if self.label == Label(0) { ActionKind::Finish } else { ActionKind::Reduce }
    }

    fn label(self) -> Option<Label> {
        Some(self.label)
    }

    fn code(self) -> u32 {
        u32::from(self.first) << 16
            | u32::from(self.last - self.first) << 8
            | u32::from(self.label.0)
    }
}

impl Items {
    /// The system over the labels of some trees.
    pub fn of_trees(trees: &[Tree]) -> Self {
        let mut labels = Symbols::default();
        labels.intern("TOP");
        for node in trees.iter().flat_map(Tree::nodes) {
            labels.intern(&node.label);
        }
        Self { labels }
    }

    /// All labels but `TOP`.
    pub fn labels(&self) -> impl Iterator<Item = Label> + use<> {
        (1..self.labels.len() as u16).map(Label)
    }

    /// How many items with a single child stand one over the other at the top of an item.
    fn unaries(state: &ItemState, mut id: u32) -> u32 {
        let mut n = 0;
        while let [child] = *state.forest.children(id) {
            id = child;
            n += 1;
        }
        n
    }
}

impl TransitionSystem for Items {
    type State = ItemState;
    type Action = Build;

    fn start(&self, sentence: &Sentence) -> ItemState {
        let mut forest = Forest::with_room_for(sentence.len());
        let frontier = (0..sentence.len() as u32).map(|at| forest.push_token(at)).collect();
        ItemState { forest, frontier, steps: 0 }
    }

    fn is_final(&self, state: &ItemState) -> bool {
        match state.frontier[..] {
            [] => true,
            [only] => state.forest.node(only).label == Some(Label(0)),
            _ => false,
        }
    }

    fn legal(&self, state: &ItemState, out: &mut Vec<Build>) {
        out.clear();
        if self.is_final(state) {
            return;
        }
        let n = state.frontier.len();
        for first in 0..n {
            for last in first + 1..=n {
                let build = |label| Build { first: first as u16, last: last as u16, label };
                if (first, last) == (0, n) {
                    out.push(build(Label(0)));
                }
                let single = last - first == 1;
                let too_high =
                    single && Self::unaries(state, state.frontier[first]) >= MOST_UNARIES;
                if last - first <= MOST_CHILDREN && !too_high {
                    out.extend(self.labels().map(build));
                }
            }
        }
    }

    fn apply(&self, state: &mut ItemState, Build { first, last, label }: Build) {
        let range = usize::from(first)..usize::from(last);
        let children: Vec<u32> = state.frontier[range.clone()].to_vec();
        let head = state.forest.node(children[0]).head;
        let item = state.forest.push(label, false, &children, head);
        state.frontier.splice(range, [item]);
        state.steps += 1;
    }

    fn tree(&self, state: &ItemState, tokens: &[Token]) -> Tree {
        fn build(system: &Items, forest: &Forest, id: u32, tokens: &[Token], to: &mut TreeBuilder) {
            let node = forest.node(id);
            let Some(label) = node.label else {
                let token = &tokens[node.start as usize];
                return to.token(token.word.clone(), token.tag.clone());
            };
            to.open(system.label_name(label));
            forest.children(id).iter().for_each(|&child| build(system, forest, child, tokens, to));
            to.close_with_head(Some(0));
        }
        let mut builder = TreeBuilder::new();
        let partial = !self.is_final(state) || state.frontier.is_empty();
        if partial {
            builder.open("TOP");
        }
        for &item in &state.frontier {
            build(self, &state.forest, item, tokens, &mut builder);
        }
        if partial {
            builder.close();
        }
        builder.finish()
    }

    fn view<'a>(&'a self, state: &'a ItemState, focus: Option<Build>) -> View<'a> {
        let focus =
            focus.map(|build| Focus { first: u32::from(build.first), last: u32::from(build.last), head: build.first.into() });
        View {
            forest: &state.forest,
            labels: &self.labels,
            stack: &state.frontier,
            open: &[],
            complete: &state.frontier,
            buffer: 0,
            dependents: None,
            recent: [0; 2],
            focus,
            signatures: &[],
        }
    }

    fn steps(&self, state: &ItemState) -> usize {
        state.steps
    }

    fn bound(&self, n: usize) -> usize {
        // n - 1 items with more children than one, chains over these and the tokens, and TOP.
        n + (2 * n) * MOST_UNARIES as usize
    }

    fn name(&self, Build { first, last, label }: Build) -> String {
        format!("BUILD-{}[{first},{last}]", self.label_name(label))
    }

    fn label_name(&self, label: Label) -> &str {
        self.labels.name(label.0.into()).unwrap_or_default()
    }
}

/// Label and span of an item; tokens have no label.
type Key = (Option<Label>, u32, u32);

/// An oracle that wants every gold item whose children are there, in no order.
#[derive(Debug, Clone, Copy)]
pub struct AnyOrder;

/// The items of a gold tree, each with its children.
pub type GoldItems = Vec<(Label, Vec<Key>)>;

impl Oracle<Items> for AnyOrder {
    type Gold = GoldItems;

    fn prepare(&self, system: &Items, tree: &Tree) -> Result<GoldItems> {
        let label = |name: &str| Label(system.labels.position(name).unwrap_or(0) as u16);
        let key = |&child: &Child| {
            let (start, end) = tree.child_span(child);
            match child {
                Child::Node(id) => (Some(label(&tree.node(id).label)), start, end),
                Child::Token(_) => (None, start, end),
            }
        };
        let item = |id| (label(&tree.node(id).label), tree.children(id).iter().map(key).collect());
        Ok(tree.ids().map(item).collect())
    }

    fn optimal(&self, _: &Items, gold: &GoldItems, state: &ItemState, out: &mut Vec<Build>) {
        out.clear();
        let frontier: Vec<Key> = state
            .frontier
            .iter()
            .map(|&id| state.forest.node(id))
            .map(|node| (node.label, node.start, node.end))
            .collect();
        for (label, children) in gold {
            if let Some(first) =
                frontier.windows(children.len()).position(|items| items == &children[..])
            {
                let last = (first + children.len()) as u16;
                out.push(Build { first: first as u16, last, label: *label });
            }
        }
    }
}
