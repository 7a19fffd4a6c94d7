//! What the states of several systems share: complete items in a row, a buffer, and how a constituent is
//! put over the last items.
//!
//! Heads are optional. With head rules, the head child of a constituent is what the rules say of its label
//! and children when it is built, so features see head words and dependents. Without, a constituent is
//! headed by its last child: its head word is its last word, and there are no dependents.

use std::ops::Range;
use std::sync::Arc;

use super::state::{Dependents, Forest, clone_in_place};
use crate::symbols::{Label, Sentence, Symbols};
use crate::tree::binarize::mark_heads;
use crate::tree::heads::{HeadRules, HeadTable};
use crate::tree::{Child, Token, Tree, TreeBuilder};
use crate::{Error, Result};

/// The label of every root.
pub const ROOT: &str = "TOP";

/// The largest number of labels a system may have.
pub const MAX_LABELS: usize = 65_000;

/// Finds head children in the numbers of a system: labels, then tag values.
#[derive(Debug, Clone)]
pub struct HeadFinder {
    table: Arc<HeadTable>,
    n_labels: usize,
}

impl HeadFinder {
    /// The finder of a system with these labels over sentences with these tags.
    pub fn new(rules: &HeadRules, labels: &Symbols, tags: &Symbols) -> Self {
        // Tag values 0 and 1 are nothing and an unknown tag.
        let categories = labels.names().chain(["", ""]).chain(tags.names());
        Self { table: Arc::new(rules.table(labels.names(), categories)), n_labels: labels.len() }
    }
}

/// A row of items and a buffer.
#[derive(Debug)]
pub struct Stacked {
    /// Everything built so far.
    pub forest: Forest,
    /// The complete items, from left to right.
    pub items: Vec<u32>,
    /// The position of the first token of the buffer.
    pub buffer: u32,
    /// The number of tokens.
    pub n_tokens: u32,
    /// The dependents found so far, if there are head rules.
    pub dependents: Option<Dependents>,
    tags: Option<Arc<[u32]>>,
    /// One more than the codes of the last two actions.
    pub recent: [u32; 2],
    /// How many actions have been taken.
    pub steps: u32,
    /// Whether the derivation has ended.
    pub finished: bool,
}

clone_in_place!(Stacked {
    forest,
    items,
    buffer,
    n_tokens,
    dependents,
    tags,
    recent,
    steps,
    finished
});

impl Stacked {
    /// Everything in the buffer.
    pub fn new(sentence: &Sentence, heads: Option<&HeadFinder>) -> Self {
        Self {
            forest: Forest::with_room_for(sentence.len()),
            items: Vec::with_capacity(sentence.len().min(64)),
            buffer: 0,
            n_tokens: sentence.len() as u32,
            dependents: heads.map(|_| Dependents::new(sentence.len())),
            tags: heads.map(|_| sentence.tags.as_slice().into()),
            recent: [0; 2],
            steps: 0,
            finished: false,
        }
    }

    /// Counts an action and remembers its code.
    pub fn note(&mut self, code: u32) {
        self.steps += 1;
        self.recent = [code + 1, self.recent[0]];
    }

    /// How many tokens are still in the buffer.
    pub fn remaining(&self) -> u32 {
        self.n_tokens - self.buffer
    }

    /// Makes the first token of the buffer an item; gives its node.
    pub fn shift(&mut self) -> u32 {
        let id = self.forest.push_token(self.buffer);
        self.items.push(id);
        self.buffer += 1;
        id
    }

    /// Makes the items from position `first` on, of which there must be one at least, one constituent;
    /// gives its node.
    pub fn join(
        &mut self,
        heads: Option<&HeadFinder>,
        label: Label,
        temporary: bool,
        first: usize,
    ) -> u32 {
        self.join_range(heads, label, temporary, first..self.items.len())
    }

    /// Makes a range of items, which must not be empty, one constituent; gives its node.
    pub fn join_range(
        &mut self,
        heads: Option<&HeadFinder>,
        label: Label,
        temporary: bool,
        range: Range<usize>,
    ) -> u32 {
        let at = self.head_at(heads, label, range.clone());
        let children = &self.items[range.clone()];
        let head = self.forest.node(children[at]).head;
        if let Some(dependents) = &mut self.dependents {
            // Nearest first on both sides, as a parser that joins two items at a time finds them.
            for &child in children[..at].iter().rev().chain(&children[at + 1..]) {
                dependents.attach(head, self.forest.node(child).head);
            }
        }
        let id = self.forest.push(label, temporary, children, head);
        self.items[range.start] = id;
        self.items.drain(range.start + 1..range.end);
        id
    }

    /// Which of a range of items, counted from its first, would head them under a label.
    pub fn head_at(&self, heads: Option<&HeadFinder>, label: Label, range: Range<usize>) -> usize {
        let children = &self.items[range];
        let heads = match heads {
            Some(heads) if children.len() > 1 => heads,
            _ => return children.len() - 1,
        };
        let category = |child: usize| {
            let node = self.forest.node(children[child]);
            match (node.label, &self.tags) {
                (Some(label), _) => usize::from(label.0),
                (None, Some(tags)) => heads.n_labels + tags[node.start as usize] as usize,
                (None, None) => heads.n_labels,
            }
        };
        heads.table.head_of(usize::from(label.0), children.len(), category)
    }

    /// The items and the rest of the buffer as a tree; see [`tree_of`]. Heads are marked if there are head
    /// rules.
    pub fn tree(&self, labels: &Symbols, tokens: &[Token]) -> Tree {
        tree_of(&self.forest, &self.items, self.buffer, labels, tokens, self.dependents.is_some())
    }
}

/// Items and the tokens from `buffer` on side by side under `TOP`, without temporary nodes and without a
/// `TOP` that a parser has built. Heads are marked if wanted.
pub fn tree_of(
    forest: &Forest,
    items: &[u32],
    buffer: u32,
    labels: &Symbols,
    tokens: &[Token],
    with_heads: bool,
) -> Tree {
    let mut builder = TreeBuilder::new();
    let mut heads = Vec::with_capacity(2 * tokens.len() + 1);
    builder.open(ROOT);
    walk(forest, items, labels, |visit| match visit {
        Visit::Token(position) => {
            let token = &tokens[position as usize];
            builder.token(token.word.clone(), token.tag.clone());
        }
        Visit::Open(label) => builder.open(labels.name(label.0.into()).unwrap_or_default()),
        Visit::Close(id) => {
            builder.close();
            heads.push(Some(forest.node(id).head));
        }
    });
    for token in &tokens[buffer as usize..] {
        builder.token(token.word.clone(), token.tag.clone());
    }
    builder.close();
    heads.push(items.last().map(|&id| forest.node(id).head));
    let mut tree = builder.finish();
    if with_heads {
        mark_heads(&mut tree, &heads);
    }
    tree
}

/// The constituents that [`tree_of`] makes nodes of, in the order of the nodes; the root is not among them.
pub fn built_nodes(forest: &Forest, items: &[u32], labels: &Symbols) -> Vec<u32> {
    let mut nodes = Vec::new();
    walk(forest, items, labels, |visit| {
        if let Visit::Close(id) = visit {
            nodes.push(id);
        }
    });
    nodes
}

/// A step of a walk over what has been built.
enum Visit {
    /// The token of this position.
    Token(u32),
    /// The beginning of a constituent.
    Open(Label),
    /// The end of a constituent.
    Close(u32),
}

/// Walks over items from left to right, passing over temporary nodes and a `TOP` that a parser has built.
fn walk(forest: &Forest, items: &[u32], labels: &Symbols, mut see: impl FnMut(Visit)) {
    enum Task {
        Visit(u32),
        Close(u32),
    }
    let built_root = labels.position(ROOT).map(|position| Label(position as u16));
    let mut tasks: Vec<Task> = items.iter().rev().map(|&id| Task::Visit(id)).collect();
    while let Some(task) = tasks.pop() {
        let id = match task {
            Task::Visit(id) => id,
            Task::Close(id) => {
                see(Visit::Close(id));
                continue;
            }
        };
        let node = forest.node(id);
        let Some(label) = node.label else {
            see(Visit::Token(node.start));
            continue;
        };
        if !node.temporary && Some(label) != built_root {
            see(Visit::Open(label));
            tasks.push(Task::Close(id));
        }
        tasks.extend(forest.children(id).iter().rev().map(|&child| Task::Visit(child)));
    }
}

/// What keeps every system from building a tree: a root that is not `TOP`, a `TOP` below it, a node over no
/// words.
///
/// # Errors
/// [`Error::Unfit`] with the reason.
pub fn check_tree(tree: &Tree) -> Result<()> {
    let root = tree.root().filter(|&root| tree.node(root).label == ROOT);
    let Some(root) = root else {
        return Err(Error::Unfit("the root is not TOP: clean with root = \"top\"".into()));
    };
    if let Some(node) = tree.nodes().iter().find(|node| node.start == node.end) {
        return Err(Error::Unfit(format!(
            "a {} over no words: clean with traces = true",
            node.label
        )));
    }
    if tree.ids().any(|id| id != root && tree.node(id).label == ROOT) {
        return Err(Error::Unfit("a TOP below the root".into()));
    }
    Ok(())
}

/// The labels below the roots of trees, in order of first appearance, with how often each is seen. There is
/// one at least.
///
/// # Errors
/// [`Error::Unfit`] when there are more than [`MAX_LABELS`].
pub fn labels_of<'a>(trees: impl IntoIterator<Item = &'a Tree>) -> Result<(Symbols, Vec<u64>)> {
    let (mut labels, mut counts) = (Symbols::default(), Vec::new());
    for tree in trees.into_iter().filter(|tree| check_tree(tree).is_ok()) {
        for node in tree.nodes().split_last().map_or(&[][..], |(_, below)| below) {
            let label = labels.intern(&node.label) as usize;
            counts.resize(labels.len(), 0);
            counts[label] += 1;
        }
        if labels.len() > MAX_LABELS {
            return Err(too_many_labels());
        }
    }
    if labels.is_empty() {
        labels.intern("X");
        counts.push(0);
    }
    Ok((labels, counts))
}

/// The error for more labels than [`MAX_LABELS`].
pub(super) fn too_many_labels() -> Error {
    Error::Unfit(format!("more than {MAX_LABELS} different labels: strip function tags first"))
}

/// The number of a label.
///
/// # Errors
/// [`Error::Unfit`] when there is none.
pub fn label_of(labels: &Symbols, name: &str) -> Result<Label> {
    match labels.position(name) {
        Some(position) => Ok(Label(position as u16)),
        None => Err(Error::Unfit(format!("the label {name} was not in the training trees"))),
    }
}

/// How many children the root of a tree has.
pub fn n_roots(tree: &Tree) -> u32 {
    tree.root().map_or(0, |root| tree.children(root).len() as u32)
}

/// The longest chain of nodes with a single child each, of which the root is none.
pub fn longest_unary_chain(tree: &Tree) -> u32 {
    let mut chain = vec![0; tree.nodes().len()];
    let below_root = tree.nodes().len().saturating_sub(1);
    for id in tree.ids().take(below_root) {
        chain[id.index()] = match *tree.children(id) {
            [Child::Node(child)] => chain[child.index()] + 1,
            [Child::Token(_)] => 1,
            _ => 0,
        };
    }
    chain.into_iter().max().unwrap_or(0)
}
