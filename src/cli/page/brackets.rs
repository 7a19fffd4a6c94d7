//! Trees as pages get them; `tree.js` reads them.

use serde::Serialize;

use crate::eval::Mark;
use crate::find::Position;
use crate::tree::{Child, NodeId, TRACE, Token, Tree, Visit};

/// A tree with its words. Traces are left out, and nodes over nothing but traces.
#[derive(Debug, Serialize)]
pub(crate) struct TreeData<'t> {
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<Vec<&'t str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<Vec<&'t str>>,
    brackets: Vec<Item<'t>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    marks: String,
    /// The number of each node in the order in which they open.
    #[serde(skip)]
    numbers: Vec<u32>,
}

/// The number of a node that is left out.
const LEFT_OUT: u32 = u32::MAX;

/// An item of the list: a label opens a node, a number stands for as many words, 0 closes a node.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Item<'t> {
    Open(&'t str),
    Words(u32),
    /// Always 0.
    Close(u8),
}

impl<'t> TreeData<'t> {
    /// A tree without marks.
    pub(crate) fn of(tree: &'t Tree) -> Self {
        let is_word = |token: &&Token| token.tag != TRACE;
        let words = tree.tokens().iter().filter(is_word);
        let mut data = Self {
            words: Some(words.clone().map(|token| token.word.as_str()).collect()),
            tags: Some(words.map(|token| token.tag.as_str()).collect()),
            brackets: Vec::new(),
            marks: String::new(),
            numbers: vec![LEFT_OUT; tree.nodes().len()],
        };
        let empty = over_traces(tree);
        let mut number = 0;
        for step in tree.traverse() {
            let items = &mut data.brackets;
            match step {
                Visit::Open(id) if !empty[id.index()] => {
                    items.push(Item::Open(&tree.node(id).label));
                    data.numbers[id.index()] = number;
                    number += 1;
                }
                Visit::Close(id) if !empty[id.index()] => items.push(Item::Close(0)),
                Visit::Token(at) if is_word(&&tree.tokens()[at as usize]) => match items.last_mut()
                {
                    Some(Item::Words(words)) => *words += 1,
                    _ => items.push(Item::Words(1)),
                },
                _ => {}
            }
        }
        data
    }

    /// Leaves out the words, and the tags, if they are those of another tree of the sentence.
    pub(crate) fn beside(mut self, other: &Self) -> Self {
        if self.words == other.words {
            self.words = None;
            self.tags = self.tags.filter(|tags| other.tags.as_ref() != Some(tags));
        }
        self
    }

    /// The tree with a mark for each node.
    pub(crate) fn marked(mut self, tree: &Tree, marks: &[Mark]) -> Self {
        self.marks = self.marks_of(tree, marks);
        self
    }

    /// The tree with a mark for each node that a search has found; for a tag or a word, for the node over it.
    pub(crate) fn with_found(mut self, tree: &Tree, found: &[Position]) -> Self {
        let n = self.numbers.iter().filter(|&&number| number != LEFT_OUT).count();
        let mut marks = vec!['='; n];
        let mut mark = |id: NodeId| {
            if let Some(mark) = marks.get_mut(self.number(id) as usize) {
                *mark = '*';
            }
        };
        let mut over_words = vec![None; tree.tokens().len()];
        for id in tree.ids() {
            for &child in tree.children(id) {
                if let Child::Token(at) = child {
                    over_words[at as usize] = Some(id);
                }
            }
        }
        for position in found {
            match *position {
                Position::Node(id) => mark(id),
                Position::Tag(at) | Position::Word(at) => {
                    over_words[at as usize].into_iter().for_each(&mut mark);
                }
            }
        }
        self.marks = marks.into_iter().collect();
        self
    }

    /// A character for the mark of each node of the tree, in the order in which they open.
    pub(crate) fn marks_of(&self, tree: &Tree, marks: &[Mark]) -> String {
        let mut found = Vec::with_capacity(marks.len());
        for id in tree.ids().filter(|id| self.numbers[id.index()] != LEFT_OUT) {
            found.push((self.number(id), character(marks[id.index()])));
        }
        found.sort_unstable();
        found.into_iter().map(|(_, mark)| mark).collect()
    }

    /// The number of a node among those in the data, from 0.
    pub(crate) fn number(&self, id: NodeId) -> u32 {
        self.numbers[id.index()]
    }
}

/// For each node, whether it has traces and no words.
fn over_traces(tree: &Tree) -> Vec<bool> {
    let mut words = Vec::with_capacity(tree.tokens().len() + 1);
    words.push(0);
    for token in tree.tokens() {
        words.push(words[words.len() - 1] + u32::from(token.tag != TRACE));
    }
    let is_empty = |node: &crate::tree::Node| {
        node.start < node.end && words[node.start as usize] == words[node.end as usize]
    };
    tree.nodes().iter().map(is_empty).collect()
}

fn character(mark: Mark) -> char {
    match mark {
        Mark::Unscored => '.',
        Mark::Matched => '=',
        Mark::Relabelled => '~',
        Mark::Wrong => '-',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_left_out_with_the_nodes_over_them() {
        let tree: Tree = "(TOP (S (NP (-NONE- *)) (VP (VB go) (PP (IN to) (NP (NN bed)))) (. .)))"
            .parse()
            .unwrap();
        let mut tree = tree;
        tree.tokens_mut()[0].tag = TRACE.into();
        let mut marks = vec![Mark::Matched; tree.nodes().len()];
        marks[1] = Mark::Wrong;
        let data = TreeData::of(&tree).marked(&tree, &marks);
        let json = serde_json::to_value(&data).unwrap();
        let brackets = serde_json::json!(["TOP", "S", "VP", 1, "PP", 1, "NP", 1, 0, 0, 0, 1, 0, 0]);
        assert_eq!(json["brackets"], brackets);
        assert_eq!(json["words"], serde_json::json!(["go", "to", "bed", "."]));
        assert_eq!(json["marks"], "====-");
        assert_eq!(data.number(NodeId(1)), 4);
    }

    #[test]
    fn found_words_mark_the_node_over_them() {
        let tree: Tree = "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))".parse().unwrap();
        let found = [Position::Word(2), Position::Tag(0), Position::Word(3)];
        let json = serde_json::to_value(TreeData::of(&tree).with_found(&tree, &found)).unwrap();
        assert_eq!(json["marks"], "=***");
    }
}
