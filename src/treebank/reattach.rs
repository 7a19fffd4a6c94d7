//! Reattaching to a parse the tokens that cleaning removed from its sentence.

use crate::tree::{Token, Tree, TreeBuilder, Visit};

/// Where tokens at the edges of the sentence are attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edges {
    /// To the root.
    Root,
    /// To the only child of the root, which is a node.
    BelowRoot,
}

/// Extends a tree over some tokens of a sentence to the whole sentence.
///
/// `positions` are the positions in `tokens` of the tokens of the tree, ascending. A missing token becomes a
/// child of the lowest node that has words on both sides of it, or of the root if it is at an edge of the
/// sentence. Thus no bracket is crossed, and a bracket grows only by tokens inside it.
pub fn reattach(tree: &Tree, positions: &[u32], tokens: &[Token]) -> Tree {
    attach(tree, positions, tokens, Edges::Root)
}

/// Like [`reattach`], with a choice for the edges of the sentence.
pub(super) fn attach(tree: &Tree, positions: &[u32], tokens: &[Token], edges: Edges) -> Tree {
    let edge_depth = match edges {
        Edges::Root => 1,
        Edges::BelowRoot => 2,
    };
    let mut writer =
        Writer { tree, tokens, builder: TreeBuilder::new(), heads: Vec::new(), next: 0 };
    let mut steps = Vec::new();
    for step in tree.traverse() {
        let Visit::Token(position) = step else {
            steps.push(step);
            continue;
        };
        let original = positions.get(position as usize).copied();
        let place = if position == 0 { Gap::First(edge_depth) } else { Gap::Inner };
        writer.between(&steps, original.unwrap_or(writer.next), place);
        steps.clear();
        writer.kept(position, original);
    }
    let place = if tree.tokens().is_empty() { Gap::First(1) } else { Gap::Last(edge_depth) };
    writer.between(&steps, tokens.len() as u32, place);
    if steps.is_empty() {
        writer.missing(tokens.len() as u32);
    }
    writer.builder.finish()
}

/// A gap between tokens, and the depth at which missing tokens are attached there.
#[derive(Debug, Clone, Copy)]
enum Gap {
    /// Where this depth is reached first.
    First(usize),
    /// Where the depth is minimal: at the lowest node that contains both neighbours.
    Inner,
    /// Where this depth is left last.
    Last(usize),
}

struct Writer<'a> {
    tree: &'a Tree,
    tokens: &'a [Token],
    builder: TreeBuilder,
    /// For each open node, the number of its children so far and its head, shifted by added tokens.
    heads: Vec<(u32, Option<u32>)>,
    next: u32,
}

impl Writer<'_> {
    /// Copies the brackets between two tokens and adds the tokens missing before `until`.
    fn between(&mut self, steps: &[Visit], until: u32, gap: Gap) {
        let at = if self.next < until { self.point(steps, gap) } else { usize::MAX };
        for (i, step) in steps.iter().enumerate() {
            if i == at {
                self.missing(until);
            }
            match *step {
                Visit::Open(id) => {
                    self.child();
                    let node = self.tree.node(id);
                    self.builder.open(node.label.clone());
                    self.heads.push((0, node.head));
                }
                Visit::Close(_) => {
                    let head = self.heads.pop().and_then(|(_, head)| head);
                    self.builder.close_with_head(head);
                }
                Visit::Token(_) => {}
            }
        }
        if at == steps.len() {
            self.missing(until);
        }
    }

    /// Returns the index of the step before which missing tokens are added.
    fn point(&self, steps: &[Visit], gap: Gap) -> usize {
        let mut depth = self.builder.depth();
        let mut best = (depth, 0);
        for (i, step) in steps.iter().enumerate() {
            match gap {
                Gap::First(wanted) if depth == wanted => return i,
                Gap::Last(wanted) if depth >= wanted => best = (depth, i),
                _ => {}
            }
            match step {
                Visit::Open(_) => depth += 1,
                _ => depth -= 1,
            }
            if matches!(gap, Gap::Inner) && depth < best.0 {
                best = (depth, i + 1);
            }
        }
        match gap {
            Gap::First(_) => steps.len(),
            _ => best.1,
        }
    }

    /// Adds the tokens missing before `until`.
    fn missing(&mut self, until: u32) {
        while self.next < until {
            if let Some(token) = self.tokens.get(self.next as usize) {
                self.builder.token(token.word.clone(), token.tag.clone());
                if let Some((begun, Some(head))) = self.heads.last_mut()
                    && *begun <= *head
                {
                    *head += 1;
                    *begun += 1;
                }
            }
            self.next += 1;
        }
    }

    /// Adds a token of the tree with its original word and tag.
    fn kept(&mut self, position: u32, original: Option<u32>) {
        self.child();
        let token = original.and_then(|original| self.tokens.get(original as usize));
        let token = token.unwrap_or(&self.tree.tokens()[position as usize]);
        self.builder.token(token.word.clone(), token.tag.clone());
        self.next = self.next.max(original.unwrap_or(self.next).saturating_add(1));
    }

    fn child(&mut self) {
        if let Some((begun, _)) = self.heads.last_mut() {
            *begun += 1;
        }
    }
}
