//! Notes on input that is unknown to the model: tags of another tagset, words of another language.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use compact_str::CompactString;

use crate::error::counted;
use crate::parser::{Parser, Unseen};
use crate::tree::Token;

/// The number of sentences that are examined.
const SENTENCES: u32 = 1000;
/// The number of tags that are listed.
const LISTED: usize = 10;
/// The minimum number of words for a note that many are unknown.
const WORDS: u64 = 20;

/// Counts of unknown words and tags in the first sentences.
pub(super) struct UnseenNotes<'a> {
    parser: &'a Parser,
    quiet: bool,
    /// Whether the tags of the input are replaced.
    retags: bool,
    /// What to do about unknown tags.
    advice: &'static str,
    sentences: u32,
    all: Unseen,
}

impl<'a> UnseenNotes<'a> {
    pub(super) fn new(parser: &'a Parser, quiet: bool, retags: bool) -> Self {
        let advice = if parser.has_tagger() {
            "--retag replaces the tags by those of the model's tagger"
        } else {
            "Tag the words with the tagset of the model"
        };
        Self { parser, quiet, retags, advice, sentences: 0, all: Unseen::default() }
    }

    /// The same, with other advice on unknown tags.
    pub(super) fn advising(self, advice: &'static str) -> Self {
        Self { advice, ..self }
    }

    /// Examines the next sentence. After the last of [`SENTENCES`], returns a note if there is something to
    /// report.
    pub(super) fn add(&mut self, tokens: &[Token]) -> Option<String> {
        if self.quiet || self.sentences == SENTENCES {
            return None;
        }
        self.sentences += 1;
        let found = self.parser.unseen(tokens);
        self.all.n_words += found.n_words;
        self.all.unseen_words += found.unseen_words;
        if !self.retags {
            self.all.n_tags += found.n_tags;
            self.all.unseen_tags.extend(found.unseen_tags);
        }
        if self.sentences == SENTENCES { self.found() } else { None }
    }

    /// Prints the note at the end of a shorter input.
    pub(super) fn end(&self) {
        if let Some(found) = self.found().filter(|_| self.sentences < SENTENCES) {
            say!("{found}");
        }
    }

    fn found(&self) -> Option<String> {
        let tags = (!self.all.unseen_tags.is_empty()).then(|| self.tags());
        let Unseen { n_words, unseen_words, .. } = self.all;
        let words = (n_words >= WORDS && are_of_another_language(unseen_words, n_words)).then(|| {
            format!(
                "note: {unseen_words} of {n_words} words are unknown to the model: it was trained on texts of another \
                 language, script or kind, or on few trees"
            )
        });
        let found: Vec<String> = tags.into_iter().chain(words).collect();
        (!found.is_empty()).then(|| found.join("\n"))
    }

    /// The message on unknown tags.
    fn tags(&self) -> String {
        let Unseen { n_tags, unseen_tags, .. } = &self.all;
        let known = first_names(self.parser.tags(), "tag");
        let unknown = most_frequent(unseen_tags);
        let (advice, n_unknown) = (self.advice, unseen_tags.len());
        if 2 * n_unknown as u64 > *n_tags {
            return format!(
                "WARNING: the tags of {n_unknown} of {n_tags} words are unknown to the model, so the trees are of \
                 little use: {unknown}. It knows {known}. {advice}"
            );
        }
        format!("note: tags unknown to the model: {unknown}. It knows {known}. {advice}")
    }
}

/// The first names; after them, if there are more, the number of all.
pub(super) fn first_names<'n>(names: impl ExactSizeIterator<Item = &'n str>, noun: &str) -> String {
    let n = names.len();
    let first = names.take(LISTED).collect::<Vec<_>>().join(", ");
    if n > LISTED { format!("{first}, … ({})", counted(n as u64, noun)) } else { first }
}

/// Whether so many words are unknown that the text is of another language: more than two fifths of them plus two words. Of
/// other text in the language of a model of `models/`, up to 21 % are unknown; of English text, 46 % (`french`) and more.
fn are_of_another_language(unseen: u64, words: u64) -> bool {
    5 * unseen > 2 * words + 10
}

/// The most frequent tags with their counts, and how many more there are.
fn most_frequent(tags: &[CompactString]) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for tag in tags {
        *counts.entry(tag).or_default() += 1;
    }
    let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|&(_, count)| Reverse(count));
    let listed = counts.iter().take(LISTED).map(|(tag, count)| format!("{tag} ({count})"));
    let listed = listed.collect::<Vec<_>>().join(", ");
    match counts.len().saturating_sub(LISTED) {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}
