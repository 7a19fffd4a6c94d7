//! Trees as Penn brackets: on one line, or indented.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

use super::is_space;
use crate::tree::{Child, Traversal, Tree, Visit};

/// The maximum indentation, so that a very deep tree does not take quadratic space.
const DEEPEST_INDENT: usize = 100;

/// Writes a tree on one line, with the line feed.
///
/// The result can always be read again: round brackets become `-LRB-` and `-RRB-`, also inside words; white space
/// inside a word becomes `_`, and so does an empty word, tag or inner label. Other brackets are not changed. A tree
/// without tokens under an unlabelled root is written as `(())`.
///
/// # Errors
/// When writing fails.
pub fn write_line(tree: &Tree, out: &mut impl Write) -> io::Result<()> {
    write_brackets(tree, out)?;
    out.write_all(b"\n")
}

/// Writes a tree on one line, without the line feed; see [`write_line`].
///
/// # Errors
/// When writing fails.
pub fn write_brackets(tree: &Tree, out: &mut impl Write) -> io::Result<()> {
    if is_bare(tree) {
        return out.write_all(b"(())");
    }
    write_steps(tree, tree.traverse(), out)
}

/// Writes a node or a token with its tag on one line, without the line feed, as [`write_line`] does.
///
/// # Errors
/// When writing fails.
pub fn write_subtree(tree: &Tree, top: Child, out: &mut impl Write) -> io::Result<()> {
    match top {
        Child::Node(id) => write_steps(tree, tree.traverse_from(id), out),
        Child::Token(position) => write_token(tree, position, out),
    }
}

fn write_steps(tree: &Tree, steps: Traversal<'_>, out: &mut impl Write) -> io::Result<()> {
    let root = tree.root();
    let mut first = true;
    for step in steps {
        match step {
            Visit::Open(id) => {
                out.write_all(if first { b"(" } else { b" (" })?;
                let label = &tree.node(id).label;
                if Some(id) != root || !label.is_empty() {
                    write_form(label, out)?;
                }
                if tree.children(id).is_empty() {
                    out.write_all(b" ")?;
                }
                first = false;
            }
            Visit::Token(position) => {
                out.write_all(b" ")?;
                write_token(tree, position, out)?;
            }
            Visit::Close(_) => out.write_all(b")")?,
        }
    }
    Ok(())
}

/// Prints the tree on one line, as [`write_line`], or with `{:#}` indented, as [`write_pretty`]; without the line
/// feed.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        let written = if f.alternate() {
            write_pretty(self, &mut text)
        } else {
            write_brackets(self, &mut text)
        };
        written.map_err(|_| fmt::Error)?;
        f.write_str(String::from_utf8_lossy(&text).trim_end_matches('\n'))
    }
}

/// Writes a tree over several lines, indented as in the Penn Treebank, with the line feed.
///
/// Tokens are on the line of the preceding label or token; every node begins a new line. Words are escaped as in
/// [`write_line`].
///
/// # Errors
/// When writing fails.
pub fn write_pretty(tree: &Tree, out: &mut impl Write) -> io::Result<()> {
    if is_bare(tree) {
        return out.write_all(b"(())\n");
    }
    let mut depth = 0usize;
    let mut after_node = false;
    for step in tree.traverse() {
        match step {
            Visit::Open(id) => {
                let label = &tree.node(id).label;
                let root = depth == 0;
                // In the Penn Treebank, trees with unlabelled roots begin with `( (S`.
                let on_root_line = depth == 1
                    && tree.root().is_some_and(|root| tree.node(root).label.is_empty())
                    && !after_node;
                if on_root_line {
                    out.write_all(b" ")?;
                } else if !root {
                    indent(depth, out)?;
                }
                out.write_all(b"(")?;
                if !root || !label.is_empty() {
                    write_form(label, out)?;
                }
                if tree.children(id).is_empty() {
                    out.write_all(b" ")?;
                }
                depth += 1;
                after_node = false;
            }
            Visit::Token(position) => {
                if after_node {
                    indent(depth, out)?;
                } else {
                    out.write_all(b" ")?;
                }
                write_token(tree, position, out)?;
                after_node = false;
            }
            Visit::Close(_) => {
                out.write_all(b")")?;
                depth -= 1;
                after_node = true;
            }
        }
    }
    out.write_all(b"\n")
}

/// Returns whether a tree is empty, except perhaps for an unlabelled root.
fn is_bare(tree: &Tree) -> bool {
    match tree.nodes() {
        [] => true,
        [root] => root.label.is_empty() && tree.tokens().is_empty(),
        _ => false,
    }
}

fn indent(depth: usize, out: &mut impl Write) -> io::Result<()> {
    write!(out, "\n{:width$}", "", width = 2 * depth.min(DEEPEST_INDENT))
}

fn write_token(tree: &Tree, position: u32, out: &mut impl Write) -> io::Result<()> {
    let token = &tree.tokens()[position as usize];
    out.write_all(b"(")?;
    write_form(&token.tag, out)?;
    out.write_all(b" ")?;
    write_form(&token.word, out)?;
    out.write_all(b")")
}

fn write_form(text: &str, out: &mut impl Write) -> io::Result<()> {
    out.write_all(escape(text).as_bytes())?;
    if text.ends_with('\\') {
        // Else the closing bracket that follows would count as escaped.
        out.write_all(b" ")?;
    }
    Ok(())
}

/// Escapes a word, tag or label for Penn brackets; see [`write_line`].
///
/// ```
/// use srparse::treebank::penn::escape;
/// assert_eq!(escape("f(x)"), "f-LRB-x-RRB-");
/// assert_eq!(escape("20 000"), "20_000");
/// assert_eq!(escape(""), "_");
/// ```
pub fn escape(text: &str) -> Cow<'_, str> {
    if text.is_empty() {
        return Cow::Borrowed("_");
    }
    if !text.bytes().any(|byte| matches!(byte, b'(' | b')') || is_space(char::from(byte))) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '(' => escaped.push_str("-LRB-"),
            ')' => escaped.push_str("-RRB-"),
            c if is_space(c) => escaped.push('_'),
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}
