//! Cleaning: converts the trees of a treebank to the trees that a parser is trained on.
//!
//! Each step is a field of [`Cleaning`]; the default is the usual preprocessing. The steps are applied in the
//! order of the fields, except that the root comes last. Turian and Melamed (2005, table 3) use all of them.
//!
//! [`reattach`] puts the tokens that cleaning removed from a sentence back into its parse.

use compact_str::{CompactString, ToCompactString};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::penn::{ROOT_LABELS, is_space};
use super::sentences::TRACE;
use crate::tree::{BottomUpBuilder, Child, Token, Tree};

pub use super::reattach::reattach;
use super::reattach::{Edges, attach};

/// The label of the root after cleaning.
pub const TOP: &str = "TOP";

/// The word that replaces rare words.
pub const UNKNOWN: &str = "UNK";

/// The steps of cleaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cleaning {
    /// Removes traces (`-NONE-`), and nodes that have no token.
    pub traces: bool,
    /// Removes function tags and indices from node labels: `NP-SBJ-1` becomes `NP`.
    ///
    /// A label is cut at the first separator that is not its first character; a label that starts and ends
    /// with a separator (`-LRB-`) is not cut.
    pub functions: bool,
    /// The characters that separate function tags; some treebanks use `#`, `*` or `|`.
    pub separators: String,
    /// Renames `PRT` to `ADVP` (Magerman 1995).
    pub prt_to_advp: bool,
    /// Removes quotation marks, the tokens tagged ` `` ` and `''`.
    pub quotes: bool,
    /// Raises punctuation to the lowest node that contains words on both sides of it; at the edges of the sentence, to
    /// the node below the root (Collins 1999).
    pub raise_punctuation: bool,
    /// Removes punctuation at the edges of the sentence.
    pub outermost_punctuation: bool,
    /// The tags that count as punctuation, separated by spaces; the default is EVALB's.
    pub punctuation: String,
    /// Merges a node with its only child if they have the same label.
    pub collapse_unaries: bool,
    /// Lowercases words.
    pub lowercase: bool,
    /// Replaces words seen fewer times than this in training by `UNK`.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub unknown_below: u32,
    /// How the root is changed.
    pub root: RootPolicy,
}

/// How the root is changed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum RootPolicy {
    /// Every tree gets exactly one `TOP` as root: an unlabelled root, `ROOT`, `S1` and `VROOT` are renamed; any
    /// other root gets a `TOP` above it.
    #[default]
    Top,
    /// The root is not changed.
    Keep,
}

impl Default for Cleaning {
    fn default() -> Self {
        Self {
            traces: true,
            functions: true,
            separators: "-=".to_owned(),
            prt_to_advp: false,
            quotes: false,
            raise_punctuation: false,
            outermost_punctuation: false,
            punctuation: ", : `` '' .".to_owned(),
            collapse_unaries: true,
            lowercase: false,
            unknown_below: 0,
            root: RootPolicy::Top,
        }
    }
}

/// A cleaned tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanedTree {
    /// The tree.
    pub tree: Tree,
    /// The positions of its tokens in the original sentence, from 0, ascending.
    pub positions: Vec<u32>,
}

/// A cleaned sentence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CleanedSentence {
    /// The tokens that remain.
    pub tokens: Vec<Token>,
    /// Their positions in the original sentence, from 0, ascending.
    pub positions: Vec<u32>,
}

impl Cleaning {
    /// Returns a cleaning without any steps.
    pub fn none() -> Self {
        Self {
            traces: false,
            functions: false,
            collapse_unaries: false,
            root: RootPolicy::Keep,
            ..Self::default()
        }
    }

    /// Cleans a tree. Heads of nodes whose children change are dropped.
    pub fn apply(&self, mut tree: Tree) -> CleanedTree {
        self.relabel(&mut tree);
        let positions = self.remaining(tree.tokens());
        if self.raise_punctuation {
            // The root comes first, because it limits how far punctuation is raised.
            if positions.len() < tree.tokens().len() || self.changes_shape(&tree) {
                tree = self.rewrite(tree, &positions, true);
            }
            tree = self.raise(tree);
            let all: Vec<u32> = (0..tree.tokens().len() as u32).collect();
            tree = self.rewrite(tree, &all, true);
        } else if positions.len() < tree.tokens().len() || self.changes_shape(&tree) {
            tree = self.rewrite(tree, &positions, true);
        }
        if self.lowercase {
            tree.tokens_mut().iter_mut().for_each(|token| lowercase(&mut token.word));
        }
        CleanedTree { tree, positions }
    }

    /// Cleans a sentence without a tree: removes the tokens that [`Cleaning::apply`] would remove.
    pub fn apply_tokens(&self, tokens: &[Token]) -> CleanedSentence {
        let positions = self.remaining(tokens);
        let mut tokens: Vec<Token> =
            positions.iter().map(|&position| tokens[position as usize].clone()).collect();
        if self.lowercase {
            tokens.iter_mut().for_each(|token| lowercase(&mut token.word));
        }
        CleanedSentence { tokens, positions }
    }

    fn is_punctuation(&self, tag: &str) -> bool {
        self.punctuation.split(is_space).any(|punctuation| punctuation == tag && !tag.is_empty())
    }

    fn drops_empty(&self) -> bool {
        self.traces || self.quotes || self.outermost_punctuation
    }

    fn remaining(&self, tokens: &[Token]) -> Vec<u32> {
        let stays = |token: &Token| {
            !(self.traces && token.tag == TRACE)
                && !(self.quotes && (token.tag == "``" || token.tag == "''"))
        };
        let mut positions: Vec<u32> =
            (0u32..).zip(tokens).filter(|(_, token)| stays(token)).map(|(i, _)| i).collect();
        if self.outermost_punctuation {
            let is_word = |&i: &u32| !self.is_punctuation(&tokens[i as usize].tag);
            positions.truncate(positions.iter().rposition(is_word).map_or(0, |last| last + 1));
            positions.drain(..positions.iter().position(is_word).unwrap_or(0));
        }
        positions
    }

    /// Applies the steps that change only labels.
    fn relabel(&self, tree: &mut Tree) {
        // Most labels consist of letters only and need no search for separators.
        let no_letters = !self.separators.bytes().any(|byte| byte.is_ascii_alphabetic());
        for node in tree.nodes_mut() {
            let plain = || no_letters && node.label.bytes().all(|byte| byte.is_ascii_alphabetic());
            if self.functions && !plain() {
                let length = bare(&node.label, &self.separators).len();
                node.label.truncate(length);
            }
            if self.prt_to_advp && node.label == "PRT" {
                node.label = CompactString::const_new("ADVP");
            }
        }
        if self.root == RootPolicy::Top
            && let Some(root) = tree.nodes_mut().last_mut()
            && is_root_label(&root.label)
        {
            root.label = CompactString::const_new(TOP);
        }
    }

    /// Returns whether a relabelled tree that keeps its tokens must be rewritten.
    fn changes_shape(&self, tree: &Tree) -> bool {
        let Some(root) = tree.root() else { return true };
        if self.root == RootPolicy::Top && tree.node(root).label != TOP {
            return true;
        }
        tree.ids().any(|id| match *tree.children(id) {
            [Child::Node(child)] => {
                let (label, below) = (&tree.node(id).label, &tree.node(child).label);
                (self.collapse_unaries && label == below)
                    || (self.root == RootPolicy::Top && id == root && is_root_label(below))
            }
            [] => self.drops_empty() && id != root,
            _ => false,
        })
    }

    /// Rewrites a tree over the tokens at `positions`, in one pass from the bottom up.
    fn rewrite(&self, mut tree: Tree, positions: &[u32], finally: bool) -> Tree {
        const GONE: u32 = u32::MAX;
        let mut tokens = tree.take_tokens();
        // For each old token, its new position or GONE, and the new position of the next token that remains.
        let mut position_of = vec![(GONE, 0); tokens.len() + 1];
        let (mut next, mut old) = (0, 0);
        tokens.retain(|_| {
            let stays = positions.get(next as usize) == Some(&old);
            position_of[old as usize] = (if stays { next } else { GONE }, next);
            next += u32::from(stays);
            old += 1;
            stays
        });
        position_of[old as usize].1 = next;
        let mut builder = BottomUpBuilder::new(tokens, tree.nodes().len());
        let mut rewritten: Vec<Option<Child>> = Vec::with_capacity(tree.nodes().len());
        let mut children = Vec::new();
        let root = tree.root();
        for id in tree.ids() {
            children.clear();
            children.extend(tree.children(id).iter().filter_map(|&child| match child {
                Child::Node(child) => rewritten[child.index()],
                Child::Token(token) => {
                    let position = position_of[token as usize].0;
                    (position != GONE).then_some(Child::Token(position))
                }
            }));
            let node = &mut tree.nodes_mut()[id.index()];
            let label = std::mem::take(&mut node.label);
            let at = position_of[node.start as usize].1;
            rewritten.push(if Some(id) == root && finally && self.root == RootPolicy::Top {
                Some(top(&mut builder, label, &mut children, at))
            } else {
                match children[..] {
                    [] if self.drops_empty() && Some(id) != root => None,
                    [Child::Node(child)]
                        if finally && self.collapse_unaries && *builder.label(child) == label =>
                    {
                        children.first().copied()
                    }
                    _ => Some(builder.node(label, children.iter().copied(), at)),
                }
            });
        }
        if root.is_none() {
            top(&mut builder, CompactString::const_new(""), &mut children, 0);
        }
        builder.finish()
    }

    /// Raises punctuation: removes it and reattaches it as high as possible.
    fn raise(&self, tree: Tree) -> Tree {
        let words: Vec<u32> = (0u32..)
            .zip(tree.tokens())
            .filter(|(_, token)| !self.is_punctuation(&token.tag))
            .map(|(position, _)| position)
            .collect();
        if words.is_empty() || words.len() == tree.tokens().len() {
            return tree;
        }
        let tokens = tree.tokens().to_vec();
        let emptying = Self { traces: true, ..Self::none() };
        // A root with a single child is only a label above the sentence, not its highest node.
        let edges = match tree.root().map(|root| tree.children(root)) {
            Some([Child::Node(_)]) => Edges::BelowRoot,
            _ => Edges::Root,
        };
        attach(&emptying.rewrite(tree, &words, false), &words, &tokens, edges)
    }
}

/// Adds the root `TOP`, exactly once, over the children of the old root.
fn top(
    builder: &mut BottomUpBuilder,
    label: CompactString,
    children: &mut Vec<Child>,
    at: u32,
) -> Child {
    if !is_root_label(&label) {
        // A node that has lost all its tokens is dropped.
        if !children.is_empty() {
            let same =
                matches!(children[..], [Child::Node(child)] if *builder.label(child) == label);
            let node = if same { children[0] } else { builder.node(label, children.drain(..), at) };
            children.clear();
            children.push(node);
        }
        return builder.node(CompactString::const_new(TOP), children.drain(..), at);
    }
    while let [Child::Node(child)] = children[..]
        && is_root_label(builder.label(child))
    {
        *children = builder.unwrap_last();
    }
    builder.node(CompactString::const_new(TOP), children.drain(..), at)
}

fn is_root_label(label: &str) -> bool {
    label.is_empty() || ROOT_LABELS.contains(&label)
}

/// Returns a label without function tags and indices.
fn bare<'a>(label: &'a str, separators: &str) -> &'a str {
    let separates = |c: char| separators.contains(c);
    if label.starts_with(separates) && label.ends_with(separates) {
        return label;
    }
    let after_first = label.chars().next().map_or(0, char::len_utf8);
    match label[after_first..].find(separates) {
        Some(at) => &label[..after_first + at],
        None => label,
    }
}

/// Lowercases a word, except for escaped brackets.
fn lowercase(word: &mut CompactString) {
    let escape = word.len() == 5 && word.starts_with('-') && word.ends_with("B-");
    if !escape && word.chars().any(char::is_uppercase) {
        *word = word.to_lowercase().to_compact_string();
    }
}

/// How often each word occurs in the training trees, for [`Cleaning::unknown_below`].
#[derive(Debug, Clone, Default)]
pub struct WordCounts {
    counts: FxHashMap<CompactString, u32>,
}

impl WordCounts {
    /// Returns empty counts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts the words of a cleaned sentence.
    pub fn add(&mut self, tokens: &[Token]) {
        for token in tokens {
            match self.counts.get_mut(&token.word) {
                Some(count) => *count = count.saturating_add(1),
                None => {
                    self.counts.insert(token.word.clone(), 1);
                }
            }
        }
    }

    /// Returns the count of a word.
    pub fn get(&self, word: &str) -> u32 {
        self.counts.get(word).copied().unwrap_or(0)
    }

    /// Returns the words with at least this count, sorted: the vocabulary of a model.
    pub fn frequent(&self, at_least: u32) -> Vec<CompactString> {
        let frequent = self.counts.iter().filter(|&(_, &count)| count >= at_least);
        let mut words: Vec<_> = frequent.map(|(word, _)| word.clone()).collect();
        words.sort_unstable();
        words
    }

    /// Replaces words with a count below `below` by [`UNKNOWN`].
    pub fn replace_rare(&self, tokens: &mut [Token], below: u32) {
        for token in tokens {
            if self.get(&token.word) < below {
                token.word = CompactString::const_new(UNKNOWN);
            }
        }
    }
}

#[cfg(test)]
mod tests;
