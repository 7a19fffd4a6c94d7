//! Trees in brackets as CoreNLP prints them.

use std::io::Write;

use crate::tree::{Tree, Visit, is_root_label};
use crate::treebank::penn::escape;

/// The deepest indentation, so that a very deep tree does not take quadratic space.
const DEEPEST: usize = 100;

/// A tree under `ROOT`: constituents begin a line, words follow on the line of the label or word before them, except
/// after a conjunction (`CC`).
pub(super) fn pretty(tree: &Tree) -> String {
    let mut out = Vec::new();
    // Writing to memory does not fail.
    let _ = write(tree, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn write(tree: &Tree, out: &mut Vec<u8>) -> std::io::Result<()> {
    let root = tree.root();
    let is_root = |label: &str| is_root_label(label) || label == crate::tree::TOP;
    let has_root = root.is_some_and(|root| is_root(&tree.node(root).label));
    out.write_all(b"(ROOT")?;
    let mut depth = usize::from(!has_root);
    let mut breaks = false;
    for step in tree.traverse() {
        match step {
            Visit::Open(id) => {
                if depth > 0 {
                    indent(depth, out)?;
                    write!(out, "({}", escape(&tree.node(id).label))?;
                }
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
    if has_root { Ok(()) } else { out.write_all(b")") }
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
        assert_eq!(pretty(&builder.finish()), expected);
        builder.open("NP");
        builder.token("salt", "NN");
        builder.close();
        assert_eq!(pretty(&builder.finish()), "(ROOT\n  (NP (NN salt)))");
        assert_eq!(pretty(&Tree::default()), "(ROOT)");
    }
}
