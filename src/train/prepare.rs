//! The trees of a treebank as the parser is trained on them.

use std::borrow::Cow;

use super::Trainer;
use super::session::is_short;
use crate::error::counted;
use crate::observer::Event;
use crate::parallel;
use crate::tree::Tree;
use crate::tree::heads::Uncovered;
use crate::treebank::Treebank;

impl Trainer<'_> {
    /// Strips the trees of a `kind`, such as `training` ([`Cleaning::strip`](crate::treebank::Cleaning::strip)), and notes how
    /// many have no words for the parser.
    pub(super) fn stripped<'t>(&self, treebank: &'t Treebank, kind: &str) -> Cow<'t, Treebank> {
        let clean = &self.plan.preset.clean;
        let stripped = treebank.stripped(clean);
        let has_words = |tree: &&Tree| clean.leaves_words(tree.tokens());
        let left_out = treebank.trees.len() - stripped.trees.iter().filter(has_words).count();
        if left_out > 0 {
            let trees = counted(left_out as u64, &format!("{kind} tree"));
            let note = format!("left out {trees} without words after cleaning");
            self.observer.event(Event::Note(&note));
        }
        stripped
    }

    /// Cleans the trees and marks heads; trees over the length limit are left out.
    pub(super) fn prepare(&self, trees: &[Tree]) -> Vec<Tree> {
        let max_words = self.plan.preset.max_words;
        let short: Vec<&Tree> = trees.iter().filter(|tree| is_short(tree, max_words)).collect();
        if short.len() < trees.len() {
            let left_out = counted((trees.len() - short.len()) as u64, "tree");
            let note = format!("left out {left_out} of more than {max_words} words");
            self.observer.event(Event::Note(&note));
        }
        let marked = parallel::map(&short, |tree| self.plan.cleaned((*tree).clone()));
        let mut uncovered = Uncovered::default();
        let trees = marked.into_iter().map(|(tree, without_rule)| {
            uncovered.merge(&without_rule.unwrap_or_default());
            tree
        });
        let trees = trees.collect();
        if !uncovered.is_empty() {
            let note = format!(
                "no head rule for {uncovered}: the outermost child that is not punctuation is the head"
            );
            self.observer.event(Event::Note(&note));
        }
        trees
    }
}
