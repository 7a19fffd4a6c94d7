//! A configuration as one rooted, ordered, labelled tree, for learners of subtrees and tree kernels.
//!
//! The children of the root are always the same positions, from left to right:
//!
//! 1. for each of the four topmost stack items, the lowest first: the item, and its head;
//! 2. the first four tokens of the buffer.
//!
//! The child of an item's position is the item as the system built it, temporary nodes included. Of its levels
//! only the given number is there, of which the first is its own label; a token is its tag. An item has at most 1,000 nodes, the first in preorder. The child of a head, and of a
//! token of the buffer, is the tag of that token, and its word is the only child of the tag. A position beyond
//! the end of stack or buffer has no child, nor has the head of an item without tokens.
//!
//! ```text
//! (ROOT s3 h3 s2 h2 s1 h1
//!   (s0 (NP DT NN)) (h0 (NN dog))
//!   (b0 (VBZ barks)) (b1 (. .)) b2 b3)
//! ```

use super::TAG_SYMBOLS;
use crate::symbols::Sentence;
use crate::transition::View;

/// The number of stack items, and of tokens of the buffer.
const ITEMS: usize = 4;
/// The label of the root; those of positions follow.
pub const ROOT: u32 = 1 << 22;
const FIRST_ITEM: u32 = ROOT + 1;
const FIRST_HEAD: u32 = FIRST_ITEM + ITEMS as u32;
const FIRST_TOKEN: u32 = FIRST_HEAD + ITEMS as u32;
/// Offset that separates words from tags and labels.
const WORD_SYMBOLS: u32 = 1 << 31;

/// The largest number of nodes of an item; the others are left out.
const MAX_ITEM_NODES: usize = 1_000;
/// The largest number of nodes of a tree.
pub const MAX_NODES: usize = 1 + 2 * ITEMS + ITEMS * (MAX_ITEM_NODES + 2) + 3 * ITEMS;
/// The largest depth of a node: of the lowest one of nine levels, which are below the root and a position.
pub const MAX_DEPTH: u32 = 10;

/// Appends the tree of a configuration to `members`, as a row stores it, and returns the index of its size.
pub(super) fn write(
    sentence: &Sentence,
    view: &View<'_>,
    levels: u8,
    members: &mut Vec<u32>,
) -> u32 {
    let size_at = members.len();
    members.extend([0, ROOT, 0]);
    for at in (0..ITEMS).rev() {
        let item = view.stack.nth(at);
        members.extend([FIRST_ITEM + at as u32, 1]);
        if let Some(item) = item {
            let limits = (u32::from(levels) + 1, members.len() + 2 * MAX_ITEM_NODES);
            write_item(sentence, view, item, 2, limits, members);
        }
        members.extend([FIRST_HEAD + at as u32, 1]);
        write_token(sentence, item.map(|item| view.forest.node(item).head), members);
    }
    for at in 0..ITEMS as u32 {
        members.extend([FIRST_TOKEN + at, 1]);
        write_token(sentence, Some(view.buffer + at), members);
    }
    members[size_at] = (members.len() - size_at - 1) as u32;
    size_at as u32
}

/// Appends the nodes of an item from `depth` to `deepest`, which limits the recursion, until `members` has `most` numbers.
fn write_item(
    sentence: &Sentence,
    view: &View<'_>,
    node: u32,
    depth: u32,
    (deepest, most): (u32, usize),
    members: &mut Vec<u32>,
) {
    let symbol = match view.forest.node(node).symbol() {
        0 => tag_symbol(sentence, view.forest.node(node).head as usize),
        symbol => symbol,
    };
    members.extend([symbol, depth]);
    if depth < deepest {
        for &child in view.forest.children(node) {
            if members.len() < most {
                write_item(sentence, view, child, depth + 1, (deepest, most), members);
            }
        }
    }
}

/// Appends tag and word of a token, if there is one.
fn write_token(sentence: &Sentence, token: Option<u32>, members: &mut Vec<u32>) {
    let token = token.map(|token| token as usize).filter(|&token| token < sentence.len());
    if let Some(token) = token {
        members.extend([tag_symbol(sentence, token), 2]);
        members.extend([WORD_SYMBOLS | sentence.words[token], 3]);
    }
}

fn tag_symbol(sentence: &Sentence, token: usize) -> u32 {
    TAG_SYMBOLS + sentence.tags[token]
}
