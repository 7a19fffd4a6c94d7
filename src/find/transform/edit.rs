//! A tree while operations change it.

use compact_str::{CompactString, ToCompactString, format_compact};

use super::operation::{NewLabel, NewTree, Operation, Side, Source};
use crate::find::Position;
use crate::tree::{Child, Tree, TreeBuilder};

/// Nodes, tags and words, each with its children.
#[derive(Debug)]
pub(super) struct EditedTree {
    nodes: Vec<EditedNode>,
    /// The number of nodes before any was added.
    n_before: usize,
    root: usize,
    names: Vec<(String, usize)>,
}

#[derive(Debug)]
struct EditedNode {
    label: CompactString,
    parent: Option<usize>,
    children: Vec<usize>,
    is_word: bool,
}

/// The size of a tree: its nodes, tags and words, and the bytes of their labels.
pub(super) fn size(tree: &Tree) -> usize {
    let nodes: usize = tree.nodes().iter().map(|node| 1 + node.label.len()).sum();
    let tokens = tree.tokens().iter().map(|token| 2 + token.tag.len() + token.word.len());
    nodes + tokens.sum::<usize>()
}

type Outcome<T = ()> = Result<T, String>;

impl EditedTree {
    /// A tree with named nodes.
    pub(super) fn of(tree: &Tree, names: &[(String, Position)]) -> Self {
        let n = tree.nodes().len();
        let number = |position| match position {
            Position::Node(id) => id.index(),
            Position::Tag(token) => n + 2 * token as usize,
            Position::Word(token) => n + 2 * token as usize + 1,
        };
        let mut nodes: Vec<EditedNode> =
            tree.nodes().iter().map(|node| EditedNode::new(node.label.clone(), false)).collect();
        for token in tree.tokens() {
            nodes.push(EditedNode::new(token.tag.clone(), false));
            nodes.push(EditedNode::new(token.word.clone(), true));
        }
        let n_before = nodes.len();
        let mut edited = Self { nodes, n_before, root: n.saturating_sub(1), names: Vec::new() };
        for token in 0..tree.tokens().len() {
            edited.append(n + 2 * token, n + 2 * token + 1);
        }
        for id in tree.ids() {
            for &child in tree.children(id) {
                let child = match child {
                    Child::Node(child) => child.index(),
                    Child::Token(token) => n + 2 * token as usize,
                };
                edited.append(id.index(), child);
            }
        }
        edited.names =
            names.iter().map(|(name, position)| (name.clone(), number(*position))).collect();
        edited
    }

    /// The size, with the nodes that were taken away.
    pub(super) fn size(&self) -> usize {
        self.nodes.iter().map(|node| 1 + node.label.len()).sum()
    }

    fn append(&mut self, parent: usize, child: usize) {
        self.nodes[parent].children.push(child);
        self.nodes[child].parent = Some(parent);
    }

    fn named(&self, name: &str) -> Option<usize> {
        self.names.iter().rev().find(|(known, _)| known == name).map(|&(_, node)| node)
    }

    /// Changes the tree; does nothing if a node of the operation has not been found.
    pub(super) fn apply(&mut self, operation: &Operation) -> Outcome {
        match operation {
            Operation::Delete(names) => names.iter().try_for_each(|name| match self.named(name) {
                Some(node) => self.take("delete", node),
                None => Ok(()),
            }),
            Operation::Prune(names) => names.iter().try_for_each(|name| self.prune(name)),
            Operation::Excise(top, bottom) => match (self.named(top), self.named(bottom)) {
                (Some(top), Some(bottom)) => self.excise(top, bottom),
                _ => Ok(()),
            },
            Operation::Relabel(name, label) => {
                if let Some(node) = self.named(name) {
                    let label = label.of(&self.nodes[node].label)?;
                    self.nodes[node].label = label;
                }
                Ok(())
            }
            Operation::Insert(source, place) => {
                // Before the new tree, which may use the name again.
                let other = self.named(&place.node);
                match (other, other.and_then(|_| self.source(source))) {
                    (Some(other), Some(node)) => self.put("insert", node, other, place.side),
                    _ => Ok(()),
                }
            }
            Operation::Move(name, place) => match (self.named(name), self.named(&place.node)) {
                (Some(node), Some(other)) => {
                    if self.is_at_or_below(other, node) {
                        return Err("`move` puts a node below itself or beside itself".to_owned());
                    }
                    self.take("move", node)?;
                    self.put("move", node, other, place.side)
                }
                _ => Ok(()),
            },
            Operation::Replace(name, source) => {
                if let (Some(node), Some(new)) = (self.named(name), self.source(source)) {
                    self.exchange(node, &[new]);
                }
                Ok(())
            }
            Operation::Adjoin(tree, name) => {
                if let Some(node) = self.named(name) {
                    self.adjoin(tree, node);
                }
                Ok(())
            }
            Operation::Coindex(names) => {
                self.coindex(names);
                Ok(())
            }
        }
    }

    /// Takes a node from its parent.
    fn take(&mut self, operation: &str, node: usize) -> Outcome {
        if node == self.root {
            return Err(format!("`{operation}` takes the root away"));
        }
        if let Some(parent) = self.nodes[node].parent.take() {
            self.nodes[parent].children.retain(|&child| child != node);
        }
        Ok(())
    }

    fn prune(&mut self, name: &str) -> Outcome {
        let Some(mut node) = self.named(name) else { return Ok(()) };
        while let Some(parent) =
            self.nodes[node].parent.filter(|&p| self.nodes[p].children.len() == 1)
        {
            node = parent;
        }
        self.take("prune", node)
    }

    fn excise(&mut self, top: usize, bottom: usize) -> Outcome {
        if !self.is_at_or_below(bottom, top) {
            return Err("`excise`: the first node is not above the second".to_owned());
        }
        let children = std::mem::take(&mut self.nodes[bottom].children);
        if top == self.root && children.len() != 1 {
            return Err(format!("`excise` leaves {} roots", children.len()));
        }
        self.exchange(top, &children);
        Ok(())
    }

    /// Puts nodes in the place of one.
    fn exchange(&mut self, node: usize, new: &[usize]) {
        let parent = self.nodes[node].parent.take();
        for &new in new {
            if let Some(old) = self.nodes[new].parent.take() {
                self.nodes[old].children.retain(|&child| child != new);
            }
            self.nodes[new].parent = parent;
        }
        match parent {
            Some(parent) => {
                let children = &mut self.nodes[parent].children;
                if let Some(at) = children.iter().position(|&child| child == node) {
                    children.splice(at..=at, new.iter().copied());
                }
            }
            None if node == self.root => self.root = new.first().copied().unwrap_or(node),
            // It was taken away before.
            None => {}
        }
    }

    fn is_at_or_below(&self, node: usize, top: usize) -> bool {
        let mut at = Some(node);
        while let Some(node) = at {
            if node == top {
                return true;
            }
            at = self.nodes[node].parent;
        }
        false
    }

    /// Puts a node below another, or beside it.
    fn put(&mut self, operation: &str, node: usize, other: usize, side: Side) -> Outcome {
        let too_few = |n: usize| format!("`{operation}`: the node has too few children ({n})");
        let (parent, at) = match side {
            Side::Child(at) => (other, at),
            Side::ChildFromLast(at) => {
                let n = self.nodes[other].children.len();
                let at = n.checked_sub(at).ok_or_else(|| too_few(n))?;
                (other, at)
            }
            Side::Left | Side::Right => {
                let Some(parent) = self.nodes[other].parent else {
                    return Err(format!("`{operation}` puts a node beside the root"));
                };
                let at = self.nodes[parent].children.iter().position(|&child| child == other);
                (parent, at.unwrap_or_default() + usize::from(side == Side::Right))
            }
        };
        if self.nodes[parent].is_word {
            return Err(format!("`{operation}` puts a node below a word"));
        }
        let n = self.nodes[parent].children.len();
        if at > n {
            return Err(too_few(n));
        }
        self.nodes[parent].children.insert(at, node);
        self.nodes[node].parent = Some(parent);
        Ok(())
    }

    /// A new tree, or a copy of a named node.
    fn source(&mut self, source: &Source) -> Option<usize> {
        match source {
            Source::New(tree) => Some(self.build(tree).0),
            Source::Named(name) => self.named(name).map(|node| self.copy(node)),
        }
    }

    fn copy(&mut self, top: usize) -> usize {
        let copied = self.nodes.len();
        let EditedNode { label, is_word, .. } = &self.nodes[top];
        self.nodes.push(EditedNode::new(label.clone(), *is_word));
        let mut waiting = vec![(top, copied)];
        while let Some((old, new)) = waiting.pop() {
            for child in self.nodes[old].children.clone() {
                let at = self.nodes.len();
                let EditedNode { label, is_word, .. } = &self.nodes[child];
                self.nodes.push(EditedNode::new(label.clone(), *is_word));
                self.append(new, at);
                waiting.push((child, at));
            }
        }
        copied
    }

    /// Adds the nodes of a new tree; returns its root and its foot.
    fn build(&mut self, tree: &NewTree) -> (usize, usize) {
        let first = self.nodes.len();
        for (at, node) in tree.nodes.iter().enumerate() {
            self.nodes.push(EditedNode::new(node.label.clone(), !node.is_node));
            if let Some(parent) = node.parent {
                self.append(first + parent, first + at);
            }
            if let Some(name) = &node.name {
                self.names.push((name.clone(), first + at));
            }
        }
        (first, first + tree.foot.unwrap_or_default())
    }

    fn adjoin(&mut self, tree: &NewTree, node: usize) {
        let (root, foot) = self.build(tree);
        let children = std::mem::take(&mut self.nodes[node].children);
        self.exchange(node, &[root]);
        for child in children {
            self.append(foot, child);
        }
        // Later operations mean the node that has the children now.
        for (_, named) in self.names.iter_mut().filter(|(_, named)| *named == node) {
            *named = foot;
        }
    }

    /// Appends the index after the highest of any label.
    fn coindex(&mut self, names: &[String]) {
        let index_of = |label: &str| {
            label.rsplit_once(['-', '=']).and_then(|(_, index)| index.parse::<u64>().ok())
        };
        let highest = self
            .nodes
            .iter()
            .filter(|node| !node.is_word)
            .filter_map(|node| index_of(&node.label))
            .max();
        let index = highest.unwrap_or(0).saturating_add(1);
        for node in names.iter().filter_map(|name| self.named(name)).collect::<Vec<_>>() {
            self.nodes[node].label = format_compact!("{}-{index}", self.nodes[node].label);
        }
    }

    /// The changed tree.
    pub(super) fn finish(&self) -> Outcome<Tree> {
        enum Step {
            Open(usize),
            Close,
        }
        let mut builder = TreeBuilder::new();
        let mut steps = vec![Step::Open(self.root)];
        while let Some(step) = steps.pop() {
            let Step::Open(at) = step else {
                builder.close();
                continue;
            };
            let node = &self.nodes[at];
            match node.children[..] {
                _ if node.is_word => {
                    return Err(format!("the word `{}` has no tag of its own", node.label));
                }
                [] if at >= self.n_before => {
                    let label = &node.label;
                    return Err(format!(
                        "the node `{label}` has no word left: add it as `({label} word)`"
                    ));
                }
                [only] if self.nodes[only].is_word && builder.depth() > 0 => {
                    builder.token(self.nodes[only].label.clone(), node.label.clone());
                }
                _ => {
                    builder.open(node.label.clone());
                    steps.push(Step::Close);
                    steps.extend(node.children.iter().rev().map(|&child| Step::Open(child)));
                }
            }
        }
        Ok(builder.finish())
    }
}

impl EditedNode {
    fn new(label: CompactString, is_word: bool) -> Self {
        Self { label, parent: None, children: Vec::new(), is_word }
    }
}

impl NewLabel {
    /// The new label of a node with a label.
    fn of(&self, label: &str) -> Outcome<CompactString> {
        let (regex, replacement) = match self {
            Self::Label(label) => return Ok(label.clone()),
            Self::Substitution(regex, replacement) => (regex, replacement),
        };
        let (mut new, mut rest) = (String::new(), 0);
        for captures in regex.captures_iter(label) {
            let captures =
                captures.map_err(|_| format!("`relabel` takes too many steps on `{label}`"))?;
            let Some(whole) = captures.get(0) else { continue };
            new.push_str(&label[rest..whole.start()]);
            let mut parts = replacement.chars().peekable();
            while let Some(part) = parts.next() {
                if part == '\\' {
                    new.push(parts.next().unwrap_or(part));
                    continue;
                }
                let group = (part == '$').then(|| parts.next_if(char::is_ascii_digit)).flatten();
                match group.and_then(|digit| digit.to_digit(10)) {
                    Some(group) => {
                        new.push_str(
                            captures.get(group as usize).map_or("", |found| found.as_str()),
                        );
                    }
                    None => new.push(part),
                }
            }
            rest = whole.end();
        }
        new.push_str(&label[rest..]);
        Ok(new.to_compact_string())
    }
}
