//! Identifiers of sentences.

use crate::tree::{Child, NodeId, Token, Tree, TreeBuilder, Visit, is_root_label};

/// The tag of an identifier in brackets.
const ID: &str = "ID";

/// Returns the ID of a tree in the style of the Penn parsed corpora, `( (S …) (ID x))`: the last child of a root without
/// a label.
pub fn of(tree: &Tree) -> Option<&str> {
    let root = tree.root().filter(|&root| tree.node(root).label.is_empty())?;
    let Some(&Child::Token(position)) = tree.children(root).last() else { return None };
    let token = &tree.tokens()[position as usize];
    (token.tag == ID).then_some(token.word.as_str())
}

/// Returns a tree with an ID, where [`of`] finds it; a root `TOP`, or with another label that only roots have, gives way
/// to one without a label.
pub fn with_id(tree: &Tree, id: &str) -> Tree {
    let is_top = |node: NodeId| Some(node) == tree.root() && is_root_label(&tree.node(node).label);
    let mut builder = TreeBuilder::new();
    builder.open("");
    for step in tree.traverse() {
        match step {
            Visit::Open(node) if is_top(node) => {}
            Visit::Open(node) => builder.open(tree.node(node).label.clone()),
            Visit::Token(position) => {
                let Token { word, tag } = &tree.tokens()[position as usize];
                builder.token(word.clone(), tag.clone());
            }
            Visit::Close(node) if is_top(node) => {}
            Visit::Close(_) => builder.close(),
        }
    }
    builder.token(id, ID);
    builder.close();
    builder.finish()
}

/// Removes the ID of a tree, if it has one.
pub fn without_id(tree: Tree) -> Tree {
    if of(&tree).is_none() {
        return tree;
    }
    let last = tree.tokens().len() - 1;
    let mut builder = TreeBuilder::new();
    for step in tree.traverse() {
        match step {
            Visit::Open(node) => builder.open(tree.node(node).label.clone()),
            Visit::Token(position) if position as usize == last => {}
            Visit::Token(position) => {
                let Token { word, tag } = &tree.tokens()[position as usize];
                builder.token(word.clone(), tag.clone());
            }
            Visit::Close(_) => builder.close(),
        }
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_last_child_of_a_root_without_a_label() {
        for (tree, id) in [
            ("( (S (A a)) (ID x.1))", Some("x.1")),
            ("( (S (A a)))", None),
            ("(TOP (S (A a)) (ID x))", None),
            ("(())", None),
        ] {
            assert_eq!(of(&tree.parse().unwrap()), id, "{tree}");
        }
        let tree: Tree = "(TOP (S (A a)) (B b))".parse().unwrap();
        let named = with_id(&tree, "a b");
        assert_eq!(named.to_string(), "( (S (A a)) (B b) (ID a_b))");
        assert_eq!(without_id(named).to_string(), "( (S (A a)) (B b))");
        assert_eq!(with_id(&"(S (A a))".parse().unwrap(), "1").to_string(), "( (S (A a)) (ID 1))");
        let tree: Tree = "(VROOT (S (VROOT (A a))) (B b))".parse().unwrap();
        assert_eq!(with_id(&tree, "1").to_string(), "( (S (VROOT (A a))) (B b) (ID 1))");
        assert_eq!(with_id(&Tree::default(), "1").to_string(), "( (ID 1))");
    }
}
