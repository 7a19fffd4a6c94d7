//! Labels: function tags, indices, and the names of roots.

use compact_str::CompactString;

use super::settings::{Cleaning, Functions, Relabel, RootPolicy};
use crate::escapes::escaped_bracket;
use crate::tree::{Child, NodeId, TOP, Tree, is_root_label};

impl Cleaning {
    /// Applies the steps that change only labels.
    pub(super) fn relabel(&self, tree: &mut Tree) {
        self.cut_labels(tree);
        if self.prt_to_advp {
            for node in tree.nodes_mut().iter_mut().filter(|node| node.label == "PRT") {
                node.label = CompactString::const_new("ADVP");
            }
        }
        if self.root == RootPolicy::Top
            && let Some(root) = tree.nodes_mut().last_mut()
            && is_root_label(&root.label)
        {
            root.label = CompactString::const_new(TOP);
        }
    }

    /// Gives nodes the new labels of `clean.relabel`, with the function tags that they have.
    pub(super) fn rename(&self, tree: &mut Tree) {
        if self.relabel.is_empty() {
            return;
        }
        for id in tree.ids() {
            let label = &tree.node(id).label;
            let old = bare(label, &self.separators);
            let is_meant = |Relabel { from, tag, .. }: &&Relabel| {
                from == old && (tag.is_none() || tag.as_deref() == only_tag(tree, id))
            };
            if let Some(Relabel { to, .. }) = self.relabel.iter().find(is_meant) {
                let new = compact_str::format_compact!("{to}{}", &label[old.len()..]);
                tree.nodes_mut()[id.index()].label = new;
            }
        }
    }

    /// Removes function tags and indices from labels.
    pub(in crate::treebank) fn cut_labels(&self, tree: &mut Tree) {
        // Most labels consist of letters only and need no search for separators.
        let no_letters = !self.separators.bytes().any(|byte| byte.is_ascii_alphabetic());
        for node in tree.nodes_mut() {
            let plain = || no_letters && node.label.bytes().all(|byte| byte.is_ascii_alphabetic());
            match self.functions {
                Functions::Drop if !plain() => {
                    let length = bare(&node.label, &self.separators).len();
                    node.label.truncate(length);
                }
                Functions::Keep if self.indices && !plain() => {
                    node.label = without_indices(&node.label, &self.separators);
                }
                _ => {}
            }
        }
    }
}

/// The tag of the word that is the only child of a node, if there is such a word.
fn only_tag(tree: &Tree, id: NodeId) -> Option<&str> {
    match tree.children(id) {
        &[Child::Token(position)] => Some(&tree.tokens()[position as usize].tag),
        _ => None,
    }
}

/// Returns a label without function tags and indices.
pub(super) fn bare<'a>(label: &'a str, separators: &str) -> &'a str {
    let separates = |c: char| separators.contains(c);
    if label.starts_with(separates) && label.ends_with(separates) {
        return label;
    }
    let end = label.len() - escaped_bracket(label).len();
    let after_first = label.chars().next().map_or(0, char::len_utf8);
    match label.get(after_first..end).and_then(|label| label.find(separates)) {
        Some(at) => &label[..after_first + at],
        None => label,
    }
}

/// Returns a label without indices: `NP-SBJ-1` becomes `NP-SBJ`.
fn without_indices(label: &str, separators: &str) -> CompactString {
    let (first, mut rest) = label.split_at(label.chars().next().map_or(0, char::len_utf8));
    let mut kept = CompactString::from(first);
    while let Some(next) = rest.chars().next() {
        let length = match index_length(rest, separators) {
            0 => {
                kept.push(next);
                next.len_utf8()
            }
            length => length,
        };
        rest = &rest[length..];
    }
    kept
}

/// Returns the length of the index that a text begins with, with the separator before it; 0 if there is none.
fn index_length(text: &str, separators: &str) -> usize {
    let separates = |c: char| separators.contains(c);
    let body = text.strip_prefix(|c: char| c != '{' && separates(c)).unwrap_or(text);
    let before = text.len() - body.len();
    if body.starts_with('{') {
        return before + body.find('}').map_or(body.len(), |at| at + 1);
    }
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let ends = body[digits..].chars().next().is_none_or(|next| next == '{' || separates(next));
    if before > 0 && digits > 0 && ends { before + digits } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_cut_at_a_separator_but_never_away() {
        for (label, expected) in [
            ("NP-SBJ", "NP"),
            ("NP=1", "NP"),
            ("-LRB-", "-LRB-"),
            ("-NONE-", "-NONE-"),
            ("-X-Y", "-X"),
            ("-", "-"),
            ("--", "--"),
            ("", ""),
            ("PRT|ADVP", "PRT|ADVP"),
            ("\u{4f60}-A", "\u{4f60}"),
        ] {
            assert_eq!(bare(label, "-="), expected);
        }
        assert_eq!(bare("NP##case=nom##", "#"), "NP");
    }

    #[test]
    fn indices_are_removed_and_function_tags_stay() {
        for (label, expected) in [
            ("NP-SBJ-1", "NP-SBJ"),
            ("NP-1-SBJ", "NP-SBJ"),
            ("IP-MAT=2", "IP-MAT"),
            ("NP-LOC-2=3", "NP-LOC"),
            ("NP;{A_1}", "NP"),
            ("NP-SBJ{A-1}-X", "NP-SBJ-X"),
            ("NP-SBJ;{A", "NP-SBJ"),
            ("IP-ADV2", "IP-ADV2"),
            ("NP-2X", "NP-2X"),
            ("-LRB-", "-LRB-"),
            ("-1", "-1"),
            ("", ""),
        ] {
            assert_eq!(without_indices(label, "-=;{"), expected, "{label}");
        }
    }
}
