//! Constituency trees: an arena with explicit spans, walked without recursion.
//!
//! A [`Tree`] holds its tokens and its nodes. Nodes are in post-order: children before their parent, the
//! root last. A bottom-up pass is a loop over the nodes, a top-down pass the same loop backwards, so trees of
//! any depth are safe. Spans count tokens; a node may span none.

#[doc(hidden)]
pub mod binarize;
#[doc(hidden)]
pub mod dependencies;
#[doc(hidden)]
pub mod draw;
pub mod heads;
mod label;
#[doc(hidden)]
pub mod markovize;
mod token;

use compact_str::CompactString;
pub(crate) use label::function_tags_problem;
#[doc(hidden)]
pub use label::{OTHER_ROOTS, TOP, base_label, is_root_label};
pub use token::Token;
#[doc(hidden)]
pub use token::{TRACE, remove_tags};

/// The position of a node in its tree, in post-order from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The position as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A child of a node: an inner node or a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Child {
    /// An inner node.
    Node(NodeId),
    /// The token at this position of the sentence, from 0.
    Token(u32),
}

/// An inner node (a constituent); tokens with their tags are not nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The label, with whatever function tags the source has; empty for an unlabelled root.
    pub label: CompactString,
    /// The first token of the span.
    pub start: u32,
    /// One past the last token of the span.
    pub end: u32,
    /// Which child is the head, from 0, when head rules have been applied.
    pub head: Option<u32>,
    /// Whether it is a temporary node of a binarization, written with a `*` after the label.
    pub temporary: bool,
    children: (u32, u32),
}

/// A tree over a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tree {
    tokens: Vec<Token>,
    nodes: Vec<Node>,
    children: Vec<Child>,
}

impl Tree {
    /// The tokens of the sentence, in order.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The tokens, to rewrite words and tags in place.
    pub fn tokens_mut(&mut self) -> &mut [Token] {
        &mut self.tokens
    }

    /// Drops the nodes and returns the tokens.
    pub fn into_tokens(self) -> Vec<Token> {
        self.tokens
    }

    /// Moves the tokens out; spans and children still refer to them.
    pub fn take_tokens(&mut self) -> Vec<Token> {
        std::mem::take(&mut self.tokens)
    }

    /// The nodes in post-order; the root is the last.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The nodes, to rewrite labels and heads in place.
    pub fn nodes_mut(&mut self) -> &mut [Node] {
        &mut self.nodes
    }

    /// One node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The root; `None` only in [`Tree::default`].
    pub fn root(&self) -> Option<NodeId> {
        self.nodes.len().checked_sub(1).map(|last| NodeId(last as u32))
    }

    /// The ids of all nodes in post-order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// The children of a node, from left to right.
    pub fn children(&self, id: NodeId) -> &[Child] {
        let (first, last) = self.nodes[id.index()].children;
        &self.children[first as usize..last as usize]
    }

    /// The label of a child: a node's label or a token's tag.
    pub fn child_label(&self, child: Child) -> &CompactString {
        match child {
            Child::Node(id) => &self.node(id).label,
            Child::Token(position) => &self.tokens[position as usize].tag,
        }
    }

    /// The span of a child as `(start, end)` in tokens.
    pub fn child_span(&self, child: Child) -> (u32, u32) {
        match child {
            Child::Node(id) => (self.node(id).start, self.node(id).end),
            Child::Token(position) => (position, position + 1),
        }
    }

    /// The head token of a child: a token itself, or the token at the end of the chain of head children, where
    /// the last child counts as head if none is marked. `None` if that chain ends in a node without children.
    pub fn head_token(&self, child: Child) -> Option<u32> {
        let mut child = child;
        loop {
            match child {
                Child::Token(position) => return Some(position),
                Child::Node(id) => {
                    let children = self.children(id);
                    let head =
                        self.node(id).head.map_or(children.len().wrapping_sub(1), |h| h as usize);
                    child = *children.get(head)?;
                }
            }
        }
    }

    /// The parent of each node, by position; `None` for the root.
    pub fn parents(&self) -> Vec<Option<NodeId>> {
        let mut parents = vec![None; self.nodes.len()];
        for id in self.ids() {
            for child in self.children(id) {
                if let Child::Node(child) = child {
                    parents[child.index()] = Some(id);
                }
            }
        }
        parents
    }

    /// Inserts a node between the root and its children, headed as the root was.
    pub fn insert_below_root(&mut self, label: impl Into<CompactString>) {
        let Some(root) = self.nodes.pop() else { return };
        let inserted = NodeId(self.nodes.len() as u32);
        let first = self.children.len() as u32;
        self.children.push(Child::Node(inserted));
        self.nodes.push(Node { label: label.into(), ..root.clone() });
        self.nodes.push(Node { head: Some(0), children: (first, first + 1), ..root });
    }

    /// Walks the tree from the root, left to right, without recursion.
    #[doc(hidden)]
    pub fn traverse(&self) -> Traversal<'_> {
        Traversal {
            tree: self,
            stack: self.root().map(|root| (root, 0)).into_iter().collect(),
            opened: false,
        }
    }

    /// Walks a node and what is below it, left to right, without recursion.
    #[doc(hidden)]
    pub fn traverse_from(&self, id: NodeId) -> Traversal<'_> {
        Traversal { tree: self, stack: vec![(id, 0)], opened: false }
    }
}

/// A step of [`Tree::traverse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Visit {
    /// A node begins.
    Open(NodeId),
    /// A token.
    Token(u32),
    /// A node ends.
    Close(NodeId),
}

/// The depth-first walk of a tree; see [`Tree::traverse`].
#[derive(Debug)]
#[doc(hidden)]
pub struct Traversal<'a> {
    tree: &'a Tree,
    stack: Vec<(NodeId, usize)>,
    opened: bool,
}

impl Iterator for Traversal<'_> {
    type Item = Visit;

    fn next(&mut self) -> Option<Visit> {
        if !self.opened {
            self.opened = true;
            return self.stack.last().map(|&(id, _)| Visit::Open(id));
        }
        let (id, next) = self.stack.last_mut()?;
        let id = *id;
        match self.tree.children(id).get(*next) {
            Some(&child) => {
                *next += 1;
                match child {
                    Child::Token(position) => Some(Visit::Token(position)),
                    Child::Node(child) => {
                        self.stack.push((child, 0));
                        Some(Visit::Open(child))
                    }
                }
            }
            None => {
                self.stack.pop();
                Some(Visit::Close(id))
            }
        }
    }
}

/// Builds a [`Tree`] from brackets in reading order.
///
/// ```
/// use srparse::tree::TreeBuilder;
/// let mut builder = TreeBuilder::new();
/// builder.open("NP");
/// builder.token("dogs", "NNS");
/// builder.close();
/// let tree = builder.finish();
/// assert_eq!(tree.tokens().len(), 1);
/// ```
#[derive(Debug, Default)]
pub struct TreeBuilder {
    tree: Tree,
    open: Vec<(CompactString, u32, usize)>,
    pending: Vec<Child>,
}

impl TreeBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a node.
    pub fn open(&mut self, label: impl Into<CompactString>) {
        self.open.push((label.into(), self.tree.tokens.len() as u32, self.pending.len()));
    }

    /// Adds a token to the innermost open node.
    pub fn token(&mut self, word: impl Into<CompactString>, tag: impl Into<CompactString>) {
        self.pending.push(Child::Token(self.tree.tokens.len() as u32));
        self.tree.tokens.push(Token::new(word, tag));
    }

    /// Ends the innermost open node, with the position of its head child if known.
    ///
    /// # Panics
    /// When no node is open.
    pub fn close_with_head(&mut self, head: Option<u32>) {
        let (label, start, first) = self.open.pop().expect("close() needs an open node");
        let from = self.tree.children.len() as u32;
        self.tree.children.extend(self.pending.drain(first..));
        let children = (from, self.tree.children.len() as u32);
        let end = self.tree.tokens.len() as u32;
        self.pending.push(Child::Node(NodeId(self.tree.nodes.len() as u32)));
        self.tree.nodes.push(Node { label, start, end, head, temporary: false, children });
    }

    /// Ends the innermost open node as a temporary node of a binarization.
    ///
    /// # Panics
    /// When no node is open.
    pub fn close_temporary(&mut self, head: Option<u32>) {
        self.close_with_head(head);
        if let Some(node) = self.tree.nodes.last_mut() {
            node.temporary = true;
        }
    }

    /// Ends the innermost open node.
    ///
    /// # Panics
    /// When no node is open.
    pub fn close(&mut self) {
        self.close_with_head(None);
    }

    /// The number of open nodes.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The label of the innermost open node.
    pub fn label(&self) -> Option<&CompactString> {
        self.open.last().map(|open| &open.0)
    }

    /// The label of the outermost open node.
    pub fn root_label(&self) -> Option<&str> {
        self.open.first().map(|open| open.0.as_str())
    }

    /// The token added last.
    pub fn last_token(&self) -> Option<&Token> {
        self.tree.tokens.last()
    }

    /// The number of children the innermost open node has so far.
    pub fn pending_children(&self) -> usize {
        self.pending.len() - self.open.last().map_or(0, |open| open.2)
    }

    /// Empties the builder and keeps its memory.
    pub fn clear(&mut self) {
        self.tree.tokens.clear();
        self.tree.nodes.clear();
        self.tree.children.clear();
        self.open.clear();
        self.pending.clear();
    }

    /// Returns the tree and empties the builder. Without a single root node, the tree gets a root with an empty
    /// label.
    ///
    /// # Panics
    /// When a node is still open.
    pub fn finish(&mut self) -> Tree {
        assert!(self.open.is_empty(), "finish() needs every node closed");
        if !matches!(self.pending[..], [Child::Node(_)]) {
            self.open.push((CompactString::default(), 0, 0));
            self.close();
        }
        self.pending.clear();
        // Drained into vectors of the exact size: the builder keeps its capacity, trees have no spare one.
        Tree {
            tokens: self.tree.tokens.drain(..).collect(),
            nodes: self.tree.nodes.drain(..).collect(),
            children: self.tree.children.drain(..).collect(),
        }
    }
}

/// Builds a [`Tree`] over given tokens bottom-up, children before their parent, to rewrite a tree in one pass
/// over its nodes.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct BottomUpBuilder {
    tree: Tree,
}

impl BottomUpBuilder {
    /// A builder over the tokens of a sentence, with room for a number of nodes.
    pub fn new(tokens: Vec<Token>, nodes: usize) -> Self {
        let children = Vec::with_capacity(nodes + tokens.len());
        Self { tree: Tree { tokens, nodes: Vec::with_capacity(nodes), children } }
    }

    /// Adds a node over children, from left to right; child nodes were added before. Without children, its span
    /// is empty and begins at the token `at`.
    pub fn node(
        &mut self,
        label: CompactString,
        children: impl IntoIterator<Item = Child>,
        at: u32,
    ) -> Child {
        let from = self.tree.children.len();
        self.tree.children.extend(children);
        let (start, end) = match self.tree.children[from..] {
            [first, .., last] => (self.tree.child_span(first).0, self.tree.child_span(last).1),
            [only] => self.tree.child_span(only),
            [] => (at, at),
        };
        let children = (from as u32, self.tree.children.len() as u32);
        self.tree.nodes.push(Node { label, start, end, head: None, temporary: false, children });
        Child::Node(NodeId(self.tree.nodes.len() as u32 - 1))
    }

    /// The label of a node.
    pub fn label(&self, id: NodeId) -> &CompactString {
        &self.tree.node(id).label
    }

    /// Removes the node added last and returns its children.
    pub fn unwrap_last(&mut self) -> Vec<Child> {
        match self.tree.nodes.pop() {
            Some(node) => self.tree.children.split_off(node.children.0 as usize),
            None => Vec::new(),
        }
    }

    /// Returns the tree; the node added last is its root.
    pub fn finish(self) -> Tree {
        self.tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Tree {
        let mut builder = TreeBuilder::new();
        builder.open("TOP");
        builder.open("S");
        builder.open("NP");
        builder.token("dogs", "NNS");
        builder.close();
        builder.open("VP");
        builder.token("bark", "VBP");
        builder.close();
        builder.close();
        builder.close();
        builder.finish()
    }

    #[test]
    fn nodes_stand_in_post_order_with_their_spans() {
        let tree = small();
        let rows: Vec<_> =
            tree.nodes().iter().map(|n| (n.label.as_str(), n.start, n.end)).collect();
        assert_eq!(rows, [("NP", 0, 1), ("VP", 1, 2), ("S", 0, 2), ("TOP", 0, 2)]);
    }

    #[test]
    fn a_node_inserted_below_the_root_takes_its_children_and_its_head() {
        let mut builder = TreeBuilder::new();
        builder.open("TOP");
        for word in ["dogs", "bark"] {
            builder.token(word, "NN");
        }
        builder.close_with_head(Some(1));
        let mut tree = builder.finish();
        tree.insert_below_root("IP");
        let rows: Vec<_> =
            tree.nodes().iter().map(|n| (n.label.as_str(), n.start, n.end, n.head)).collect();
        assert_eq!(rows, [("IP", 0, 2, Some(1)), ("TOP", 0, 2, Some(0))]);
        assert_eq!(tree.children(NodeId(0)), [Child::Token(0), Child::Token(1)]);
        assert_eq!(tree.children(NodeId(1)), [Child::Node(NodeId(0))]);
    }

    #[test]
    fn walk_opens_and_closes_every_node_once_in_reading_order() {
        let tree = small();
        let text: String = tree
            .traverse()
            .map(|step| match step {
                Visit::Open(id) => format!("({} ", tree.node(id).label),
                Visit::Token(position) => tree.tokens()[position as usize].word.to_string(),
                Visit::Close(_) => ")".to_owned(),
            })
            .collect();
        assert_eq!(text, "(TOP (S (NP dogs)(VP bark)))");
    }

    #[test]
    fn a_bare_token_gets_an_unlabelled_root() {
        let mut builder = TreeBuilder::new();
        builder.token("dog", "NN");
        let tree = builder.finish();
        assert_eq!(tree.nodes().len(), 1);
        assert_eq!(tree.nodes()[0].label, "");
    }
}
