//! A lint: looks for words, tags and labels in a treebank that are probably something else.
//!
//! Trees are judged as they are after [`Cleaning::strip`], so a treebank whose conventions are handled by its
//! profile gives no findings. The rules are rough and conservative: treebanks without such conventions give no
//! findings either.

mod by_file;
mod finding;

use compact_str::{CompactString, ToCompactString};
use rustc_hash::{FxHashMap, FxHashSet};

use super::clean::Cleaning;
use crate::error::Place;
use crate::tree::{TRACE, Token, Tree};
use by_file::LabelsByFile;
pub use finding::{Finding, Suspect};

/// Possible separators of words and lemmas.
const LEMMA_SEPARATORS: [char; 6] = ['-', '|', '_', '/', '+', '@'];
/// Marks in labels that are neither categories nor the usual separators.
const LABEL_MARKS: [char; 8] = [';', '{', '}', '*', '#', ':', '<', '>'];
/// The number of tags that no tagset without extensions has.
const MANY_TAGS: usize = 1000;
/// Possible separators of a tag and its extensions.
const TAG_SEPARATORS: [char; 6] = ['#', '-', '=', '|', ':', '_'];

/// Collects what looks wrong, tree by tree.
#[derive(Debug)]
pub struct Lint<'c> {
    cleaning: &'c Cleaning,
    trees: u64,
    /// Trees on which the rules fail; the example is the first error.
    failed_rules: Option<Occurrence>,
    one_word: Option<Occurrence>,
    words: u64,
    different_words: FxHashSet<CompactString>,
    tags: FxHashMap<CompactString, TagCounts>,
    labels: FxHashMap<CompactString, Occurrence>,
    traces: Option<Occurrence>,
    /// The words `*`, which are empty elements if there are other such words.
    asterisks: Option<Occurrence>,
    /// The number of words with letters, and of those that may have a lemma after each of
    /// [`LEMMA_SEPARATORS`].
    lettered: u64,
    lemmas: [Option<Occurrence>; LEMMA_SEPARATORS.len()],
    /// The number of these that begin with the same letter as the lemma.
    alike: [u64; LEMMA_SEPARATORS.len()],
    /// The number of words before lemmas were removed, and of those that had one.
    raw_words: u64,
    cut: Option<Occurrence>,
    by_file: LabelsByFile,
}

/// The number of occurrences, and the first one.
#[derive(Debug, Clone)]
struct Occurrence {
    count: u64,
    example: String,
    at: Place,
}

/// Counts of the words with a tag.
#[derive(Debug)]
struct TagCounts {
    seen: Occurrence,
    with_digit: u64,
    zeros: Option<Occurrence>,
    markup: Option<Occurrence>,
    same_as_word: u64,
    /// The distinct words, until one occurs twice.
    distinct: Option<FxHashSet<CompactString>>,
}

fn record(slot: &mut Option<Occurrence>, example: impl FnOnce() -> String, at: &Place) {
    match slot {
        Some(occurrence) => occurrence.count += 1,
        None => *slot = Some(Occurrence { count: 1, example: example(), at: at.clone() }),
    }
}

impl<'c> Lint<'c> {
    /// Returns a lint of trees that will be cleaned.
    pub fn new(cleaning: &'c Cleaning) -> Self {
        Self {
            cleaning,
            trees: 0,
            failed_rules: None,
            one_word: None,
            words: 0,
            different_words: FxHashSet::default(),
            tags: FxHashMap::default(),
            labels: FxHashMap::default(),
            traces: None,
            asterisks: None,
            lettered: 0,
            lemmas: Default::default(),
            alike: Default::default(),
            raw_words: 0,
            cut: None,
            by_file: LabelsByFile::default(),
        }
    }

    /// Examines a tree as it is in the file; `at` is where it begins.
    pub fn add(&mut self, tree: &Tree, at: &Place) {
        if !self.cleaning.lemma_separator.is_empty() {
            self.add_raw(tree, at);
        }
        if !tree.tokens().is_empty()
            && let Some(Err(error)) = self.cleaning.rules.change(tree)
        {
            record(&mut self.failed_rules, || error.to_string(), at);
        }
        let Some(mut tree) = self.cleaning.strip(tree.clone()) else { return };
        self.cleaning.cut_labels(&mut tree);
        self.by_file.add(&tree, at);
        let words: Vec<&Token> = tree.tokens().iter().filter(|token| token.tag != TRACE).collect();
        self.trees += 1;
        self.words += words.len() as u64;
        if let [word] = words[..] {
            record(&mut self.one_word, || bracketed(word), at);
        }
        for token in words {
            self.add_word(token, at);
        }
        for node in tree.nodes().iter().filter(|node| !node.label.is_empty()) {
            match self.labels.get_mut(&node.label) {
                Some(seen) => seen.count += 1,
                None => {
                    let example = format!("({})", node.label);
                    let seen = Occurrence { count: 1, example, at: at.clone() };
                    self.labels.insert(node.label.clone(), seen);
                }
            }
        }
    }

    /// Counts the words from which a lemma is removed.
    fn add_raw(&mut self, tree: &Tree, at: &Place) {
        let separator = self.cleaning.lemma_separator.as_str();
        let is_dropped = self.cleaning.dropped_tokens(tree);
        let kept = tree.tokens().iter().zip(is_dropped).filter(|(_, is_dropped)| !is_dropped);
        for (token, _) in kept.filter(|(token, _)| has_letter(&token.word)) {
            self.raw_words += 1;
            if token.word.contains(separator) {
                record(&mut self.cut, || bracketed(token), at);
            }
        }
    }

    fn add_word(&mut self, token: &Token, at: &Place) {
        let word = token.word.as_str();
        if !self.different_words.contains(word) {
            self.different_words.insert(token.word.clone());
        }
        let tag = self.tags.entry(token.tag.clone()).or_insert_with(|| TagCounts {
            seen: Occurrence { count: 0, example: bracketed(token), at: at.clone() },
            with_digit: 0,
            zeros: None,
            markup: None,
            same_as_word: 0,
            distinct: Some(FxHashSet::default()),
        });
        tag.add(token, at);
        if is_trace(word) {
            record(&mut self.traces, || bracketed(token), at);
        } else if word == "*" {
            record(&mut self.asterisks, || bracketed(token), at);
        } else if has_letter(word) {
            self.lettered += 1;
            for (place, separator) in LEMMA_SEPARATORS.iter().enumerate() {
                if let Some((word, lemma)) = split(word, *separator) {
                    record(&mut self.lemmas[place], || bracketed(token), at);
                    self.alike[place] += u64::from(initial(word) == initial(lemma));
                }
            }
        }
    }

    /// Returns the findings.
    pub fn findings(&self) -> Vec<Finding> {
        let mut tags: Vec<(&str, &TagCounts)> =
            self.tags.iter().map(|(tag, counts)| (tag.as_str(), counts)).collect();
        tags.sort_unstable_by_key(|(tag, _)| *tag);
        let mut findings = self.metadata(&tags);
        let failed = self.failed_rules.clone();
        findings.extend(failed.map(|found| found.finding(Suspect::FailedRules, None)));
        findings.extend(self.empty_elements(&tags));
        findings.extend(self.lemmas());
        findings.extend(self.sentences());
        findings.extend(self.label_findings());
        findings.extend(self.tags_like_words(&tags));
        findings.extend(self.by_file.findings(&self.cleaning.relabel));
        findings
    }

    /// Identifiers and markup, which can be dropped by their tags.
    fn metadata(&self, tags: &[(&str, &TagCounts)]) -> Vec<Finding> {
        let of_identifiers = |(tag, counts): &&(&str, &TagCounts)| counts.is_of_identifiers(tag);
        let of_markup = |(tag, counts): &&(&str, &TagCounts)| counts.is_of_markup(tag);
        let drop: Vec<String> = tags
            .iter()
            .filter(|tag| of_identifiers(tag) || of_markup(tag))
            .map(|(tag, _)| (*tag).to_owned())
            .collect();
        let setting = setting_of_list("drop", self.cleaning.drop.iter().chain(&drop));
        let identifiers = tags.iter().filter(of_identifiers).map(|(_, counts)| &counts.seen);
        let others = || tags.iter().filter(|tag| !of_identifiers(tag));
        let to_drop = others().filter(of_markup).map(|(_, counts)| &counts.seen);
        let to_keep = others().filter(|tag| !of_markup(tag));
        let markup = to_drop.chain(to_keep.filter_map(|(_, counts)| counts.markup.as_ref()));
        let found = [(Suspect::Identifiers, sum(identifiers)), (Suspect::Markup, sum(markup))];
        let finding = |(suspect, found): (Suspect, Option<Occurrence>)| {
            found.map(|found| found.finding(suspect, (!drop.is_empty()).then(|| setting.clone())))
        };
        found.into_iter().filter_map(finding).collect()
    }

    fn empty_elements(&self, tags: &[(&str, &TagCounts)]) -> Option<Finding> {
        let zeros = tags.iter().filter_map(|(_, counts)| counts.empty_zeros());
        // A single tag may be that of numbers.
        let zeros = if zeros.clone().count() > 1 { sum(zeros) } else { None };
        let mut traces = self.cleaning.traces.clone();
        traces.extend(self.traces.iter().map(|_| "*...".to_owned()));
        traces.extend(zeros.iter().map(|_| "0".to_owned()));
        let asterisks = self.traces.as_ref().and(self.asterisks.as_ref());
        let found = sum(self.traces.iter().chain(asterisks).chain(&zeros))?;
        Some(found.finding(Suspect::Traces, Some(setting_of_list("traces", traces.iter()))))
    }

    fn lemmas(&self) -> Option<Finding> {
        if let Some(cut) = self.cut.as_ref().filter(|cut| cut.count * 3 < self.raw_words) {
            let setting = "clean.lemma_separator=\"\"".to_owned();
            return Some(cut.clone().finding(Suspect::NoLemmas, Some(setting)));
        }
        let candidates = LEMMA_SEPARATORS.iter().zip(&self.lemmas).zip(self.alike);
        for ((separator, found), alike) in candidates {
            if let Some(found) = found
                && found.count * 2 > self.lettered
                && alike * 3 > found.count
            {
                let setting = format!("clean.lemma_separator=\"{separator}\"");
                return Some(found.clone().finding(Suspect::Lemmas, Some(setting)));
            }
        }
        None
    }

    fn sentences(&self) -> Option<Finding> {
        let found = self.one_word.as_ref().filter(|found| found.count * 5 >= self.trees)?;
        (self.trees >= 10).then(|| found.clone().finding(Suspect::OneWord, None))
    }

    fn label_findings(&self) -> Vec<Finding> {
        let mut labels: Vec<(&str, &Occurrence)> =
            self.labels.iter().map(|(label, seen)| (label.as_str(), seen)).collect();
        labels.sort_unstable_by_key(|(label, _)| *label);
        let marked = |label: &str| label.chars().skip(1).find(|c| LABEL_MARKS.contains(c));
        let mut separators = self.cleaning.separators.clone();
        for mark in labels.iter().filter_map(|(label, _)| marked(label)) {
            if !separators.contains(mark) {
                separators.push(mark);
            }
        }
        let with_marks = labels.iter().filter(|(label, _)| marked(label).is_some());
        let mut findings = Vec::new();
        if let Some(found) = sum(with_marks.map(|(_, seen)| *seen)) {
            let setting = format!("clean.separators=\"{separators}\"");
            findings.push(found.finding(Suspect::LabelMarks, Some(setting)));
        }
        let once: Vec<&Occurrence> =
            labels.iter().map(|(_, seen)| *seen).filter(|seen| seen.count == 1).collect();
        if labels.len() >= 20
            && once.len() * 4 > labels.len()
            && let Some(found) = sum(once.into_iter())
        {
            findings.push(found.finding(Suspect::RareLabels, None));
        }
        findings
    }

    fn tags_like_words(&self, tags: &[(&str, &TagCounts)]) -> Option<Finding> {
        let same: u64 = tags.iter().map(|(_, counts)| counts.same_as_word).sum();
        if same * 2 > self.words {
            let (_, counts) = tags.iter().max_by_key(|(_, counts)| counts.same_as_word)?;
            let found = Occurrence { count: same, ..counts.seen.clone() };
            return Some(found.finding(Suspect::TagsLikeWords, None));
        }
        if tags.len() < 100 || tags.len() as u64 * 20 < self.words {
            return None;
        }
        let divides_most = |c: &&char| {
            let divided = tags.iter().filter(|(tag, _)| tag.chars().skip(1).any(|d| d == **c));
            divided.count() * 2 > tags.len()
        };
        let separator = TAG_SEPARATORS.iter().find(divides_most);
        // In a few trees, a large tagset has many tags too, but the words are more than twice as many.
        let are_few = 2 * tags.len() <= self.different_words.len() && tags.len() < MANY_TAGS;
        if separator.is_none() && are_few {
            return None;
        }
        let setting = separator.map(|separator| format!("clean.tag_separators=\"{separator}\""));
        let found = Occurrence { count: tags.len() as u64, ..tags.first()?.1.seen.clone() };
        Some(found.finding(Suspect::TagsLikeWords, setting))
    }
}

impl TagCounts {
    fn add(&mut self, token: &Token, at: &Place) {
        let word = token.word.as_str();
        self.seen.count += 1;
        self.with_digit += u64::from(word.bytes().any(|byte| byte.is_ascii_digit()));
        if word == "0" {
            record(&mut self.zeros, || bracketed(token), at);
        }
        if is_markup(word) {
            record(&mut self.markup, || bracketed(token), at);
        }
        let is_name = word.len() > 1 && word.chars().all(char::is_alphabetic);
        self.same_as_word += u64::from(is_name && token.tag == token.word);
        if let Some(distinct) = &mut self.distinct
            && !distinct.insert(token.word.clone())
        {
            self.distinct = None;
        }
    }

    /// Whether the words of a tag contain digits and occur once each.
    fn is_of_identifiers(&self, tag: &str) -> bool {
        let count = self.seen.count;
        tag == "ID" || (count >= 20 && self.with_digit == count && self.distinct.is_some())
    }

    fn is_of_markup(&self, tag: &str) -> bool {
        let markup = self.markup.as_ref().map_or(0, |markup| markup.count);
        (markup > 1 && markup == self.seen.count) || tag.starts_with("CODE")
    }

    /// Zeros that are empty elements: their tag has hardly any other numbers.
    fn empty_zeros(&self) -> Option<&Occurrence> {
        let zeros = self.zeros.as_ref()?;
        ((self.with_digit - zeros.count) * 10 < zeros.count).then_some(zeros)
    }
}

impl Occurrence {
    fn finding(self, suspect: Suspect, setting: Option<String>) -> Finding {
        let Self { count, example, at } = self;
        Finding { suspect, count, example, at, setting }
    }
}

/// Adds up counts; the example is the first one.
fn sum<'s>(occurrences: impl Iterator<Item = &'s Occurrence>) -> Option<Occurrence> {
    occurrences.fold(None, |sum: Option<Occurrence>, found| match sum {
        Some(sum) => Some(Occurrence { count: sum.count + found.count, ..sum }),
        None => Some(found.clone()),
    })
}

/// A list as a setting.
fn setting_of_list<'s>(key: &str, items: impl Iterator<Item = &'s String>) -> String {
    let items: Vec<String> = items.map(|item| format!("\"{item}\"")).collect();
    format!("clean.{key}=[{}]", items.join(", "))
}

fn bracketed(token: &Token) -> String {
    format!("({} {})", token.tag, super::penn::excerpt(&token.word))
}

fn has_letter(word: &str) -> bool {
    word.chars().any(char::is_alphabetic)
}

/// `*pro*`, `*T*-1`: letters between asterisks, and perhaps an index.
fn is_trace(word: &str) -> bool {
    let Some((name, index)) = word.strip_prefix('*').and_then(|rest| rest.rsplit_once('*')) else {
        return false;
    };
    let index = index.trim_start_matches(['-', '=']);
    has_letter(name) && index.bytes().all(|byte| byte.is_ascii_digit())
}

/// `<P_12>`, `{COM:sic}`.
fn is_markup(word: &str) -> bool {
    let encloses = |open, close| word.starts_with(open) && word.ends_with(close);
    word.len() > 2 && (encloses('<', '>') || encloses('{', '}')) && has_letter(word)
}

/// Splits a word at a separator that is not at its edge.
fn split(word: &str, separator: char) -> Option<(&str, &str)> {
    let (before, after) = word.split_once(separator)?;
    (!before.is_empty() && !after.is_empty()).then_some((before, after))
}

fn initial(word: &str) -> Option<CompactString> {
    word.chars().next().map(|first| first.to_lowercase().to_compact_string())
}

#[cfg(test)]
mod tests;
