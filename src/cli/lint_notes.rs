//! Prints what looks wrong with trees before training.

use std::collections::BTreeSet;

use compact_str::CompactString;

use super::options::ProfileArg;
use super::unseen::first_names;
use crate::preset::{Preset, TreebankProfile};
use crate::tree::{TRACE, Tree, is_root_label};
use crate::treebank::lint::Finding;

/// Prints the findings, each with the setting that fixes it, and points to the profiles.
pub(super) fn print(findings: &[Finding], profile: &ProfileArg) {
    for finding in findings {
        match &finding.setting {
            Some(setting) => say!("note: {finding}: try --set '{setting}'"),
            None => say!("note: {finding}"),
        }
    }
    if findings.iter().any(|finding| finding.setting.is_some()) && !profile.is_given() {
        let names: Vec<&str> = TreebankProfile::names().collect();
        say!("note: --treebank NAME has all settings for a known treebank: {}", names.join(", "));
    }
}

/// The tags or the labels of a tree.
type Names = fn(&Tree) -> Vec<CompactString>;

/// Warns of development trees that have no tag, or, for a parser, no label of the training trees.
pub(super) fn warn_of_other_treebank(train: &[Tree], dev: &[Tree], preset: &Preset) {
    let cleaning = &preset.clean;
    let kinds = [("tag", tags as Names), ("label", labels as Names)];
    let kinds = if preset.only_tagger { &kinds[..1] } else { &kinds };
    let cleaned = |tree: &Tree| Some(cleaning.apply(cleaning.strip(tree.clone())?));
    for (what, names) in kinds {
        let all = |trees: &[Tree]| -> BTreeSet<CompactString> {
            trees.iter().filter_map(cleaned).flat_map(|tree| names(&tree)).collect()
        };
        let of_dev = all(dev);
        let is_alike = |tree: Tree| names(&tree).iter().any(|name| of_dev.contains(name));
        // Of trees that belong together, the first is enough.
        if !of_dev.is_empty() && !train.iter().filter_map(cleaned).any(is_alike) {
            say!(
                "WARNING: the development trees share no {what} with the training trees, so their scores mean nothing: give \
                 trees of the same treebank. Development: {}; training: {}",
                first_names(of_dev.iter().map(CompactString::as_str), what),
                first_names(all(train).iter().map(CompactString::as_str), what)
            );
            return;
        }
    }
}

fn tags(tree: &Tree) -> Vec<CompactString> {
    let words = tree.tokens().iter().filter(|token| token.tag != TRACE);
    words.map(|token| token.tag.clone()).collect()
}

fn labels(tree: &Tree) -> Vec<CompactString> {
    let below_root = tree.nodes().iter().filter(|node| !is_root_label(&node.label));
    below_root.map(|node| node.label.clone()).collect()
}
