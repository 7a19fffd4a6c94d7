//! Trees in brackets as CoreNLP prints them.

use std::io::Write;

use crate::find::Position;
use crate::tree::{NodeId, TOP, Tree, Visit, is_root_label};
use crate::treebank::penn::escape;

/// The label of all roots.
const ROOT: &str = "ROOT";

/// The deepest indentation, so that a very deep tree does not take quadratic space.
const DEEPEST: usize = 100;

/// A tree whose root is `ROOT`, as all trees of CoreNLP have it.
pub(super) fn rooted(mut tree: Tree) -> Tree {
    let is_root = |label: &str| is_root_label(label) || label == TOP;
    let Some(root) = tree.root() else { return tree };
    let label = tree.node(root).label.clone();
    if !is_root(&label) {
        tree.insert_below_root(label);
    }
    if let Some(root) = tree.nodes_mut().last_mut() {
        root.label = ROOT.into();
    }
    tree
}

/// A whole tree: constituents begin a line, words follow on the line of the label or word before them, except after a
/// conjunction (`CC`).
pub(super) fn pretty(tree: &Tree) -> String {
    tree.root().map_or_else(|| format!("({ROOT})"), |root| subtree(tree, Position::Node(root)))
}

/// The subtree of a node, in the same form; a word stands alone.
pub(super) fn subtree(tree: &Tree, position: Position) -> String {
    match position {
        Position::Node(id) => {
            let mut out = Vec::new();
            // Writing to memory does not fail.
            let _ = write(tree, id, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        }
        Position::Tag(at) => {
            let token = &tree.tokens()[at as usize];
            format!("({} {})", escape(&token.tag), escape(&token.word))
        }
        Position::Word(at) => escape(&tree.tokens()[at as usize].word).into_owned(),
    }
}

fn write(tree: &Tree, top: NodeId, out: &mut Vec<u8>) -> std::io::Result<()> {
    let mut depth = 0;
    let mut breaks = false;
    for step in tree.traverse_from(top) {
        match step {
            Visit::Open(id) => {
                if depth > 0 {
                    indent(depth, out)?;
                }
                write!(out, "({}", escape(&tree.node(id).label))?;
                depth += 1;
                breaks = false;
            }
            Visit::Token(position) => {
                let token = &tree.tokens()[position as usize];
                if breaks {
                    indent(depth, out)?;
                } else {
                    out.write_all(b" ")?;
                }
                write!(out, "({} {})", escape(&token.tag), escape(&token.word))?;
                breaks = token.tag.starts_with("CC");
            }
            Visit::Close(_) => {
                out.write_all(b")")?;
                depth -= 1;
                breaks = true;
            }
        }
    }
    Ok(())
}

fn indent(depth: usize, out: &mut Vec<u8>) -> std::io::Result<()> {
    write!(out, "\n{:width$}", "", width = 2 * depth.min(DEEPEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::TreeBuilder;

    #[test]
    fn words_stay_on_the_line_except_after_conjunctions() {
        let mut builder = TreeBuilder::new();
        for label in ["TOP", "S", "NP"] {
            builder.open(label);
        }
        builder.token("salt", "NN");
        builder.token("and", "CC");
        builder.token("(", "-LRB-");
        builder.close();
        builder.open("VP");
        builder.token("help", "VBP");
        builder.close();
        builder.token(".", ".");
        builder.close();
        builder.close();
        let expected = "(ROOT\n  (S\n    (NP (NN salt) (CC and)\n      (-LRB- -LRB-))\n    (VP (VBP help))\n    (. .)))";
        let tree = rooted(builder.finish());
        assert_eq!(pretty(&tree), expected);
        assert_eq!(subtree(&tree, Position::Tag(2)), "(-LRB- -LRB-)");
        assert_eq!(subtree(&tree, Position::Word(3)), "help");
        builder.open("NP");
        builder.token("salt", "NN");
        builder.close();
        assert_eq!(pretty(&rooted(builder.finish())), "(ROOT\n  (NP (NN salt)))");
        assert_eq!(pretty(&rooted(Tree::default())), "(ROOT)");
    }
}
