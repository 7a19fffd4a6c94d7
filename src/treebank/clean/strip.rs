//! The first stage of cleaning: removes what a treebank contains besides words, tags and labels.

use std::borrow::Cow;

use super::labels::bare;
use super::pattern::matches;
use super::settings::{Cleaning, Separator};
use crate::tree::{Child, TRACE, Token, Tree};

/// The wildcard of labels to drop. In traces `*` is a character like any other, so theirs is different.
const IN_LABELS: &str = "*";
const IN_TRACES: &str = "...";
/// How many bytes all replacements together may add to a word: they come with models, whoever made them, and each may
/// apply to the result of another.
const MAX_ADDED: usize = 1000;

impl Cleaning {
    /// Returns whether there is anything to strip. Traces that only a tag marks are left to [`Cleaning::apply`].
    pub fn strips(&self) -> bool {
        let Self {
            rules,
            drop,
            traces,
            lemma_separator,
            replace,
            relabel,
            tag_separators,
            separators,
            ..
        } = self;
        // Scoring cuts labels at the separators of function tags in the Penn Treebank by itself.
        let cuts_labels = separators.chars().any(|separator| !"-=".contains(separator));
        cuts_labels
            || !rules.is_empty()
            || !drop.is_empty()
            || traces.iter().any(|pattern| pattern != TRACE)
            || !lemma_separator.is_empty()
            || !replace.is_empty()
            || !relabel.is_empty()
            || !tag_separators.is_empty()
    }

    /// Strips a tree as it is in the file: removes metadata, empty elements and lemmas, and cuts tags and labels.
    /// Returns `None` if the tree had words and none is left.
    #[must_use]
    pub fn strip(&self, mut tree: Tree) -> Option<Tree> {
        if !self.strips() || tree.tokens().is_empty() {
            return Some(tree);
        }
        tree = self.rules.apply(tree);
        let is_dropped = self.dropped_tokens(&tree);
        let stays = |(position, token): &(u32, &Token)| {
            !is_dropped[*position as usize] && !self.is_empty_element(token)
        };
        let positions: Vec<u32> =
            (0u32..).zip(tree.tokens()).filter(stays).map(|(position, _)| position).collect();
        if positions.is_empty() {
            return None;
        }
        if positions.len() < tree.tokens().len() || tree.nodes().iter().any(|n| n.start == n.end) {
            tree = self.rewrite(tree, &positions, false);
        }
        for token in tree.tokens_mut() {
            self.strip_token(token);
        }
        self.cut_labels(&mut tree);
        self.rename(&mut tree);
        Some(tree)
    }

    /// Marks the tokens that are dropped themselves or are below a node that is.
    pub(in crate::treebank) fn dropped_tokens(&self, tree: &Tree) -> Vec<bool> {
        let drops = |label: &str| self.drop.iter().any(|drop| matches(drop, IN_LABELS, label));
        let mut tokens: Vec<bool> = tree.tokens().iter().map(|token| drops(&token.tag)).collect();
        let mut nodes: Vec<bool> = tree.nodes().iter().map(|node| drops(&node.label)).collect();
        for id in tree.ids().rev().filter(|_| !self.drop.is_empty()) {
            if nodes[id.index()] {
                for &child in tree.children(id) {
                    match child {
                        Child::Node(child) => nodes[child.index()] = true,
                        Child::Token(position) => tokens[position as usize] = true,
                    }
                }
            }
        }
        tokens
    }

    /// Returns whether a tag or a word is that of an empty element.
    pub(super) fn is_trace(&self, text: &str) -> bool {
        self.traces.iter().any(|trace| matches(trace, IN_TRACES, text))
    }

    fn is_empty_element(&self, token: &Token) -> bool {
        self.is_trace(&token.tag) || self.is_trace(&self.replaced(&token.word))
    }

    fn strip_token(&self, token: &mut Token) {
        let word = self.replaced(self.without_lemma(&token.word));
        if word != token.word && !word.is_empty() {
            token.word = word.into();
        }
        if !self.tag_separators.is_empty() {
            let length = bare(&token.tag, &self.tag_separators).len();
            token.tag.truncate(length);
        }
    }

    /// Returns a word without its lemma.
    fn without_lemma<'a>(&self, word: &'a str) -> &'a str {
        let separator = self.lemma_separator.as_str();
        let of_separators_alone =
            !separator.is_empty() && word.trim_start_matches(separator).is_empty();
        if separator.is_empty() || of_separators_alone {
            return word;
        }
        let first = if is_escape(word.get(..5).unwrap_or_default()) {
            5
        } else {
            word.chars().next().map_or(0, char::len_utf8)
        };
        let at = match self.lemma_after {
            Separator::First => word[first..].find(separator),
            Separator::Last => word[first..].rfind(separator),
        };
        at.map_or(word, |at| &word[..first + at])
    }

    fn replaced<'a>(&self, word: &'a str) -> Cow<'a, str> {
        let longest = word.len() + MAX_ADDED;
        let mut word = Cow::Borrowed(word);
        for (from, to) in self.replace.iter().filter_map(|pair| pair.split_once(' ')) {
            if from.is_empty() || !word.contains(from) {
                continue;
            }
            let (to, n) = (to.trim(), word.matches(from).count());
            if word.len() - n * from.len() + n * to.len() <= longest {
                word = Cow::Owned(word.replace(from, to));
            }
        }
        word
    }
}

/// Returns whether a text is an escaped bracket, such as `-LRB-`.
pub(super) fn is_escape(text: &str) -> bool {
    text.len() == 5 && text.starts_with('-') && text.ends_with("B-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::treebank::clean::{Functions, Relabel};

    fn lines(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    fn ppche() -> Cleaning {
        Cleaning {
            drop: lines(&["ID", "CODE*"]),
            traces: lines(&["-NONE-", "0", "*...", "<...>"]),
            lemma_separator: "-".to_owned(),
            replace: lines(&["<dash/> -", "<slash/> /"]),
            ..Cleaning::default()
        }
    }

    fn stripped(text: &str, cleaning: &Cleaning) -> Option<String> {
        cleaning.strip(text.parse().unwrap()).map(|tree| tree.to_string())
    }

    #[test]
    fn by_default_nothing_is_stripped() {
        let text = "( (S-1 (NP-SBJ (-NONE- *)) (NN-X a-b)) (ID x))";
        assert_eq!(stripped(text, &Cleaning::default()).unwrap(), text);
    }

    #[test]
    fn metadata_empty_elements_and_their_nodes_go() {
        let text = "( (IP-MAT=1 (CODE ({COM:x})) (CODE-2 (A (B <P_1>))) (NP-SBJ-2 *T*-1) (CP (C 0) (WNP *con*)) \
                    (VB fara-fara)) (ID 1.X,.1))";
        assert_eq!(stripped(text, &ppche()).unwrap(), "( (IP (VB fara)))");
        assert_eq!(stripped("( (CODE <P_1>) (ID 1.X,.2))", &ppche()), None);
        assert_eq!(stripped("(CODE (X <P_1>))", &ppche()), None);
        assert_eq!(stripped("(())", &ppche()).unwrap(), "(())");
    }

    #[test]
    fn the_word_ends_where_the_lemma_begins() {
        let mut cleaning = ppche();
        for (word, first, last) in [
            ("hestar-hestur", "hestar", "hestar"),
            ("vel<dash/>kominn-velkominn", "vel-kominn", "vel-kominn"),
            ("minni-lítill-lítill", "minni", "minni-lítill"),
            ("XXV-25", "XXV", "XXV"),
            ("$du-þú", "$du", "$du"),
            (",-,", ",", ","),
            ("\"-\"-\"", "\"", "\"-\""),
            ("<dash/>-<dash/>", "-", "-"),
            ("<slash/>-<slash/>", "/", "/"),
            ("0-0", "0", "0"),
            ("-", "-", "-"),
            ("---", "---", "---"),
            ("-LRB-", "-LRB-", "-LRB-"),
            ("-LRB---LRB-", "-LRB-", "-LRB---LRB"),
            ("-a-a", "-a", "-a"),
            ("þ$", "þ$", "þ$"),
        ] {
            let mut strip = |lemma_after| {
                cleaning.lemma_after = lemma_after;
                let mut token = Token::new(word, "X");
                cleaning.strip_token(&mut token);
                token.word
            };
            assert_eq!((strip(Separator::First).as_str(), word), (first, word));
            assert_eq!((strip(Separator::Last).as_str(), word), (last, word));
        }
        cleaning.lemma_separator = "@l=".to_owned();
        let mut token = Token::new("a-t-il@l=avoir", "X");
        cleaning.strip_token(&mut token);
        assert_eq!(token.word, "a-t-il");
    }

    #[test]
    fn nodes_get_new_labels_by_label_or_by_their_only_word() {
        let relabel = serde_json::from_str(r#"["NP(WDT) WHNP", "NX NML"]"#).unwrap();
        let cleaning = Cleaning { relabel, ..Cleaning::default() };
        let tree = "(S (NP-SBJ (WDT that)) (NP (WDT which) (NX=1 (NN x))) (NP (NP (WDT that))) (VP (VB go)))";
        let new = "(S (WHNP (WDT that)) (NP (WDT which) (NML (NN x))) (NP (WHNP (WDT that))) (VP (VB go)))";
        assert_eq!(stripped(tree, &cleaning).unwrap(), new);
        let keep = Cleaning { functions: Functions::Keep, ..cleaning };
        let new = "(S (WHNP-SBJ (WDT that)) (NP (WDT which) (NML (NN x))) (NP (WHNP (WDT that))) (VP (VB go)))";
        assert_eq!(stripped(tree, &keep).unwrap(), new);
    }

    #[test]
    fn a_rule_for_labels_is_written_as_it_is_read_or_refused() {
        for rule in ["NX NML", "NP(WDT) WHNP"] {
            assert_eq!(String::from(Relabel::try_from(rule.to_owned()).unwrap()), rule);
        }
        for rule in ["", "NP", "NP(WDT)", "(WDT) X", "NP() X", "NP) X", "A B C"] {
            assert!(Relabel::try_from(rule.to_owned()).unwrap_err().contains("FROM TO"), "{rule}");
        }
    }

    #[test]
    fn words_are_empty_elements_in_trees_only_and_tags_are_cut() {
        let cleaning = Cleaning { tag_separators: "-#".to_owned(), ..ppche() };
        let tree = "(S (NN-SB##x## 0-0) (C 0) (-LRB- -LRB-) ($-RRB- -RRB-) ($. .-.))";
        assert_eq!(
            stripped(tree, &cleaning).unwrap(),
            "(S (NN 0) (-LRB- -LRB-) ($-RRB- -RRB-) ($. .))"
        );
        let tokens = [Token::new("0", "NUM"), Token::new("*", "SYM"), Token::new("a-b", "ID")];
        assert_eq!(cleaning.apply_tokens(&tokens).tokens, tokens);
    }
}
