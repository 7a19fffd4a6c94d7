//! Dependencies between words, read off a tree with marked heads.
//!
//! Every word depends on the head word of the smallest constituent that it does not head itself. The
//! relation is named after the largest constituent that the word heads.

use compact_str::CompactString;

use super::{Child, NodeId, Tree};

/// A dependency of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The head token, counted from 1; 0 for the root of the sentence.
    pub head: u32,
    /// The label of the largest constituent the token heads, as it stands in the tree; its tag if it
    /// heads none, or only one without a label; `root` for the root of the sentence.
    pub label: CompactString,
}

/// Returns the head of each token of the tree, as in [`dependencies`].
pub fn head_positions(tree: &Tree) -> Vec<u32> {
    dependencies(tree).into_iter().map(|found| found.head).collect()
}

/// Returns one dependency for each token of the tree, in order.
///
/// Exactly one token is the root and there are no cycles, whatever the tree. Where no head is marked, or
/// the marked head has no words (a trace whose word was removed), it is replaced by the next child to the
/// right that has words, or else by the next one to the left; without any mark the search begins at the
/// last child, as in [`Tree::head_token`].
///
/// ```
/// use srparse::tree::{TreeBuilder, dependencies::dependencies, heads::HeadRules};
/// let mut builder = TreeBuilder::new();
/// builder.open("S");
/// builder.open("NP");
/// builder.token("dogs", "NNS");
/// builder.close();
/// builder.open("VP");
/// builder.token("bark", "VBP");
/// builder.close();
/// builder.close();
/// let mut tree = builder.finish();
/// HeadRules::named("collins").unwrap().apply(&mut tree);
/// let found = dependencies(&tree);
/// assert_eq!((found[0].head, found[0].label.as_str()), (2, "NP"));
/// assert_eq!((found[1].head, found[1].label.as_str()), (0, "root"));
/// ```
pub fn dependencies(tree: &Tree) -> Vec<Dependency> {
    let mut found: Vec<Dependency> = tree
        .tokens()
        .iter()
        .map(|_| Dependency { head: 0, label: CompactString::const_new("root") })
        .collect();
    // The head token of each node so far; nodes come in post-order, so children come first.
    let mut heads: Vec<Option<u32>> = Vec::with_capacity(tree.nodes().len());
    for id in tree.ids() {
        let head = head_child(tree, id, &heads).and_then(|child| word(child, &heads));
        for &child in tree.children(id) {
            if let (Some(head), Some(dependent)) = (head, word(child, &heads))
                && head != dependent
            {
                found[dependent as usize] =
                    Dependency { head: head + 1, label: relation(tree, child, dependent) };
            }
        }
        heads.push(head);
    }
    found
}

/// The marked head child or, if it has no words, the nearest that has, first to the right of it.
fn head_child(tree: &Tree, id: NodeId, heads: &[Option<u32>]) -> Option<Child> {
    let children = tree.children(id);
    let last = children.len().checked_sub(1)?;
    let marked = tree.node(id).head.map_or(last, |head| (head as usize).min(last));
    let (left, right) = children.split_at(marked);
    right.iter().chain(left.iter().rev()).copied().find(|&child| word(child, heads).is_some())
}

/// The head token of a child, given those of the nodes before.
fn word(child: Child, heads: &[Option<u32>]) -> Option<u32> {
    match child {
        Child::Token(position) => Some(position),
        Child::Node(id) => heads[id.index()],
    }
}

/// The name of the relation of `child`, which is headed by the token `dependent`.
fn relation(tree: &Tree, child: Child, dependent: u32) -> CompactString {
    let label = tree.child_label(child);
    if label.is_empty() { tree.tokens()[dependent as usize].tag.clone() } else { label.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::TreeBuilder;
    use crate::tree::heads::HeadRules;

    /// A tree from `(S (NP (NN dog)) …)`, split at white space and brackets.
    fn tree(text: &str) -> Tree {
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut builder = TreeBuilder::new();
        let mut i = 0;
        while i < words.len() {
            match words[i..] {
                ["(", tag, word, ")", ..] if word != "(" && tag != ")" => {
                    builder.token(word, tag);
                    i += 4;
                }
                ["(", label, ..] => {
                    builder.open(label);
                    i += 2;
                }
                _ => {
                    builder.close();
                    i += 1;
                }
            }
        }
        builder.finish()
    }

    fn rows(tree: &Tree) -> Vec<(u32, String)> {
        dependencies(tree).into_iter().map(|d| (d.head, d.label.to_string())).collect()
    }

    fn expect(tree: &Tree, expected: &[(u32, &str)]) {
        let expected: Vec<_> = expected.iter().map(|&(h, l)| (h, l.to_owned())).collect();
        assert_eq!(rows(tree), expected);
    }

    #[test]
    fn words_depend_on_the_head_of_the_constituent_above() {
        let mut tree = tree(
            "(TOP (S (NP-SBJ (DT the) (NN cook)) (VP (MD will) (VP (VB taste) (NP (PRP it)) \
             (PP (IN with) (NP (DT a) (NN spoon))))) (. .)))",
        );
        HeadRules::named("collins").unwrap().apply(&mut tree);
        expect(
            &tree,
            &[
                (2, "DT"),
                (3, "NP-SBJ"),
                (0, "root"),
                (3, "VP"),
                (4, "NP"),
                (4, "PP"),
                (8, "DT"),
                (6, "NP"),
                (3, "."),
            ],
        );
    }

    #[test]
    fn unmarked_heads_are_the_last_children() {
        expect(&tree("(A (B (x a) (y b)) (C (z c)))"), &[(2, "x"), (3, "B"), (0, "root")]);
    }

    #[test]
    fn no_token_and_one_token_are_fine() {
        expect(&Tree::default(), &[]);
        expect(&TreeBuilder::new().finish(), &[]);
        expect(&tree("(NP (NN dog))"), &[(0, "root")]);
    }

    #[test]
    fn a_head_without_words_is_replaced_by_its_neighbour() {
        let mut builder = TreeBuilder::new();
        builder.open("S");
        builder.token("a", "x");
        builder.open("NP");
        builder.close();
        builder.open("");
        builder.token("b", "y");
        builder.close();
        builder.close_with_head(Some(1));
        expect(&builder.finish(), &[(2, "x"), (0, "root")]);
        builder.open("S");
        builder.open("");
        builder.token("b", "y");
        builder.close();
        builder.token("a", "x");
        builder.open("NP");
        builder.close();
        builder.close_with_head(Some(70));
        expect(&builder.finish(), &[(2, "y"), (0, "root")]);
    }

    #[test]
    fn a_very_deep_tree_is_no_problem() {
        let mut builder = TreeBuilder::new();
        for _ in 0..100_000 {
            builder.open("S");
            builder.token("w", "x");
        }
        for _ in 0..100_000 {
            builder.close();
        }
        let found = dependencies(&builder.finish());
        assert_eq!(found.iter().filter(|d| d.head == 0).count(), 1);
        assert_eq!(found[0].head, 100_000);
    }
}
