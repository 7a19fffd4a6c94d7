//! Finds head children while a parser builds constituents.

use std::sync::Arc;

use crate::symbols::Symbols;
use crate::tree::heads::{HeadRules, HeadTable};
use crate::tree::markovize::category;

/// Head rules over the labels of a system and tag values.
#[derive(Debug, Clone)]
pub struct HeadFinder {
    pub(super) table: Arc<HeadTable>,
    pub(super) n_labels: usize,
}

impl HeadFinder {
    /// Compiles head rules for the labels of a system, without what they remember, and the tags of sentences.
    pub fn new(rules: &HeadRules, labels: &Symbols, tags: &Symbols) -> Self {
        // Tag values 0 and 1 mean no tag and an unknown tag.
        let parents = || labels.names().map(category);
        let categories = parents().chain(["", ""]).chain(tags.names());
        Self { table: Arc::new(rules.table(parents(), categories)), n_labels: labels.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::Vocabulary;
    use crate::transition::TransitionSystem;
    use crate::transition::bracketing::{Bracketing, Strategy};
    use crate::transition::non_binary::NonBinary;
    use crate::tree::Tree;
    use crate::tree::binarize::{Binarization, Scheme};
    use crate::tree::markovize::Markovization;

    const TREES: [&str; 3] = [
        "(TOP (S (NP (DT the) (JJ old) (NN dog)) (VP (VBZ barks)) (ADVP (RB often)) (. .)))",
        "(TOP (S (PP (IN in) (NP (NN rain))) (NP-SBJ (NP (NNS cats)) (PP (IN of) (NP (NN town)))) (VP (MD may) \
         (VP (VB sleep) (ADVP (RB long)))) (. .)))",
        "(TOP (NP (NP (NNS cats)) (CC and) (NP (NNS dogs)) (, ,) (ADJP (RB very) (JJ old) (PP (IN at) (NN heart)))))",
    ];

    /// The heads of all nodes of a tree that its derivation rebuilds.
    fn heads(
        system: &dyn TransitionSystem,
        vocabulary: &Vocabulary,
        tree: &Tree,
    ) -> Vec<Option<u32>> {
        let (mut state, mut forest) = system.start(&vocabulary.encode(tree.tokens()));
        for action in system.derivation(tree).unwrap() {
            system.apply(&mut state, &mut forest, action);
        }
        system.tree(&state, &forest, tree.tokens()).nodes().iter().map(|node| node.head).collect()
    }

    #[test]
    fn markovization_does_not_change_heads() {
        let trees = TREES.map(|text| text.parse::<Tree>().unwrap());
        let vocabulary = Vocabulary::of(trees.iter().map(Tree::tokens), 1);
        let rules = HeadRules::named("collins-modified").unwrap();
        let found = |scheme, markovization| {
            let binarization = Binarization { scheme, markovization };
            let finder =
                |labels: &Symbols| Some(HeadFinder::new(&rules, labels, vocabulary.tags()));
            let system = NonBinary::of_trees(&trees, binarization).unwrap();
            let heads_of_labels = finder(system.labels());
            let non_binary = system.with_heads(heads_of_labels);
            let system = Bracketing::of_trees(&trees, Strategy::InOrder, binarization).unwrap();
            let heads_of_labels = finder(system.labels());
            let in_order = system.with_heads(heads_of_labels);
            trees.each_ref().map(|tree| {
                [heads(&non_binary, &vocabulary, tree), heads(&in_order, &vocabulary, tree)]
            })
        };
        for scheme in [Scheme::L, Scheme::R2, Scheme::R1] {
            let remembering = Markovization { horizontal: 1, vertical: 2 };
            assert_eq!(
                found(scheme, remembering),
                found(scheme, Markovization::default()),
                "{scheme:?}"
            );
        }
    }
}
