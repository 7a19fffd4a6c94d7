//! PARSEVAL over aligned characters: scores parses of raw text whose words or sentences differ from gold (after Jo et al.
//! 2024).
//!
//! Both sides are sequences of characters, without white space and traces and with escapes of brackets and quotes undone.
//! Equal characters are aligned; where the texts differ, the shortest detour to eight equal characters is skipped,
//! which takes linear time. A word, a sentence or a bracket is then an interval of the common text. Sentences are merged
//! until both sides have the same boundaries. A bracket is right if the other side has one with its interval and label in
//! the same merged sentence, each matched once. Words count by the gold tags: characters of words that are deleted, such as
//! punctuation, are in no interval.
//!
//! With the words and sentences of the gold trees, precision, recall and F1 are those of [`Evaluation`] with gold tags in
//! which failures are parses without brackets.
//!
//! [`Evaluation`]: crate::eval::Evaluation

mod characters;

use std::ops::Range;

use compact_str::CompactString;

use crate::eval::brackets::Bracketing;
use crate::eval::counts::Counts;
use crate::eval::params::Params;
use crate::tree::{Token, Tree};
use crate::treebank::penn;
use characters::{EqualRun, aligned};

/// The scores of aligned trees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AlignedScores {
    /// Sentences with the same characters on both sides.
    pub sentences: Counts,
    /// Words with the same characters on both sides, punctuation included.
    pub words: Counts,
    /// The same without deleted words, with the right tag.
    pub tagged: Counts,
    /// Brackets.
    pub brackets: Counts,
    /// Gold sentences whose sentence, words and brackets are exactly right.
    pub exact: u64,
    /// Gold characters that have a counterpart.
    pub aligned_characters: u64,
    /// Gold characters.
    pub characters: u64,
}

/// Scores the trees of a text against its gold trees, whatever their numbers of words and sentences.
pub fn score(gold: &[Tree], test: &[Tree], params: &Params) -> AlignedScores {
    let (mut gold, mut test) = (Side::new(gold, params), Side::new(test, params));
    let runs = aligned(&gold.text, &test.text);
    gold.keep_counted(params);
    test.follow(&gold, &runs, params);
    place(&mut gold, &mut test, &runs);
    let mut scores = AlignedScores {
        aligned_characters: runs.iter().map(|run| run.length as u64).sum(),
        characters: gold.text.len() as u64,
        ..AlignedScores::default()
    };
    scores.sentences = Counts::common(gold.sentence_spans(), test.sentence_spans());
    scores.words = Counts::common(gold.word_spans(), test.word_spans());
    scores.tagged = Counts::common(gold.tagged(params), test.tagged(params));
    for [of_gold, of_test] in blocks(&gold, &test) {
        let brackets =
            Counts::common(gold.brackets(&of_gold, params), test.brackets(&of_test, params));
        let is_same = brackets.gold == brackets.test && brackets.test == brackets.gold_matched;
        if let ([of_gold], [of_test]) = (&of_gold[..], &of_test[..]) {
            let has_same_words = gold.words_of(*of_gold).eq(test.words_of(*of_test));
            scores.exact += u64::from(is_same && has_same_words);
        }
        scores.brackets += brackets;
    }
    scores
}

/// One side of the alignment.
struct Side<'t> {
    trees: &'t [Tree],
    /// The characters of all words.
    text: Vec<char>,
    words: Vec<Word<'t>>,
    /// For each tree its words.
    sentences: Vec<Range<usize>>,
    /// For each character the places before and after it in the common text.
    places: Vec<[Place; 2]>,
}

/// A word that is not a trace.
struct Word<'t> {
    token: &'t Token,
    /// Its characters.
    span: Range<usize>,
    /// The tag that decides whether it counts.
    deciding_tag: &'t str,
    counts: bool,
}

impl<'t> Side<'t> {
    fn new(trees: &'t [Tree], params: &Params) -> Self {
        let (mut text, mut words) = (Vec::new(), Vec::new());
        let mut sentences = Vec::with_capacity(trees.len());
        for tree in trees {
            let first = words.len();
            for token in tree.tokens().iter().filter(|token| !params.deletes_for_length(&token.tag))
            {
                let start = text.len();
                text.extend(plain(&token.word));
                let span = start..text.len();
                words.push(Word { token, span, deciding_tag: &token.tag, counts: true });
            }
            sentences.push(first..words.len());
        }
        Self { trees, text, words, sentences, places: Vec::new() }
    }

    /// Decides by the own tags which words count.
    fn keep_counted(&mut self, params: &Params) {
        for word in &mut self.words {
            word.counts = !params.deletes(word.deciding_tag);
        }
    }

    /// Decides by the tags of the gold words which words count: a word with characters of several by the first that does.
    fn follow(&mut self, gold: &Side<'t>, runs: &[EqualRun], params: &Params) {
        let mut runs = runs.iter().peekable();
        let mut at_gold = 0;
        for word in &mut self.words {
            let mut deciding = None;
            for at in word.span.clone() {
                while runs.peek().is_some_and(|run| run.test + run.length <= at) {
                    runs.next();
                }
                let Some(run) = runs.peek().filter(|run| run.test <= at) else { continue };
                let character = run.gold + at - run.test;
                while gold.words[at_gold].span.end <= character {
                    at_gold += 1;
                }
                let found = &gold.words[at_gold];
                if deciding.is_none() || found.counts {
                    deciding = Some(found.deciding_tag);
                }
                if found.counts {
                    break;
                }
            }
            word.deciding_tag = deciding.unwrap_or(word.deciding_tag);
        }
        self.keep_counted(params);
    }

    /// Whether each character belongs to a counted word.
    fn counted_characters(&self) -> Vec<bool> {
        let mut counted = vec![false; self.text.len()];
        for word in self.words.iter().filter(|word| word.counts) {
            counted[word.span.clone()].fill(true);
        }
        counted
    }

    /// The places before and after a word or a sentence; a word without characters is where the one before it ends.
    fn ends(&self, span: &Range<usize>) -> [Place; 2] {
        let after = |at: usize| at.checked_sub(1).map_or(Place::default(), |at| self.places[at][1]);
        let end = after(span.end);
        [if span.is_empty() { end } else { self.places[span.start][0] }, end]
    }

    fn interval(&self, span: &Range<usize>) -> (u32, u32) {
        let [start, end] = self.ends(span);
        (start.all, end.all)
    }

    /// The interval of a sentence; `None` without words.
    fn sentence(&self, number: usize) -> Option<(u32, u32)> {
        let words = &self.words[self.sentences[number].clone()];
        let (first, last) = (words.first()?, words.last()?);
        Some(self.interval(&(first.span.start..last.span.end)))
    }

    fn sentence_spans(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.sentences.len()).filter_map(|number| self.sentence(number))
    }

    fn words_of(&self, number: usize) -> impl Iterator<Item = (u32, u32)> {
        self.words[self.sentences[number].clone()].iter().map(|word| self.interval(&word.span))
    }

    fn word_spans(&self) -> impl Iterator<Item = (u32, u32)> {
        self.words.iter().map(|word| self.interval(&word.span))
    }

    /// The counted words with their tags.
    fn tagged<'p>(&self, params: &'p Params) -> impl Iterator<Item = ((u32, u32), &'p str)>
    where
        't: 'p,
    {
        let words = self.words.iter().filter(|word| word.counts);
        words.map(|word| (self.interval(&word.span), canonical(&word.token.tag, params)))
    }

    /// The brackets of sentences, each with the interval of its counted characters and its label.
    fn brackets(&self, sentences: &[usize], params: &Params) -> Vec<((u32, u32), CompactString)> {
        let mut found = Vec::new();
        for &number in sentences {
            let words = &self.words[self.sentences[number].clone()];
            let tree = retagged(&self.trees[number], words, params);
            let counted: Vec<&Word<'_>> = words.iter().filter(|word| word.counts).collect();
            for bracket in &Bracketing::from_tree(&tree, params).brackets {
                let ends = (counted.get(bracket.start as usize), bracket.end.checked_sub(1));
                let (Some(first), Some(last)) = ends else { continue };
                let Some(last) = counted.get(last as usize).filter(|_| bracket.counts(params))
                else {
                    continue;
                };
                let ([start, _], [_, end]) = (self.ends(&first.span), self.ends(&last.span));
                let interval = (start.counted, end.counted);
                let label = if params.labeled { bracket.label } else { "" };
                found.push((interval, canonical(label, params).into()));
            }
        }
        found
    }
}

/// The tree with the tags that decide which words count.
fn retagged(tree: &Tree, words: &[Word<'_>], params: &Params) -> Tree {
    let mut tree = tree.clone();
    let tokens = tree.tokens_mut().iter_mut();
    let tokens = tokens.filter(|token| !params.deletes_for_length(&token.tag));
    for (token, word) in tokens.zip(words) {
        token.tag = word.deciding_tag.into();
    }
    tree
}

/// The first of the labels that count as equal.
fn canonical<'a>(label: &'a str, params: &'a Params) -> &'a str {
    let mut names = params.equal_labels.iter().flat_map(|(a, b)| [a.as_str(), b.as_str()]);
    names.find(|name| params.labels_match(name, label)).unwrap_or(label)
}

/// The characters of a word as in raw text.
fn plain(word: &str) -> impl Iterator<Item = char> {
    let word = penn::unescape(word).replace("``", "\"").replace("''", "\"");
    let plain = word.chars().filter(|c| !c.is_whitespace()).map(|c| match c {
        '\u{201c}' | '\u{201d}' => '"',
        '\u{2018}' | '\u{2019}' | '`' => '\'',
        c => c,
    });
    plain.collect::<Vec<_>>().into_iter()
}

/// Numbers the positions of the common text: of aligned characters, and between them those of either side alone.
fn place(gold: &mut Side<'_>, test: &mut Side<'_>, runs: &[EqualRun]) {
    let (of_gold, of_test) = (gold.counted_characters(), test.counted_characters());
    let mut at = Place::default();
    let (mut g, mut t) = (0, 0);
    let end = EqualRun { gold: gold.text.len(), test: test.text.len(), length: 0 };
    for &EqualRun { gold: gold_start, test: test_start, length } in runs.iter().chain([&end]) {
        gold.places.extend(of_gold[g..gold_start].iter().map(|&counts| at.step(counts)));
        test.places.extend(of_test[t..test_start].iter().map(|&counts| at.step(counts)));
        for &counts in &of_gold[gold_start..gold_start + length] {
            let steps = at.step(counts);
            gold.places.push(steps);
            test.places.push(steps);
        }
        (g, t) = (gold_start + length, test_start + length);
    }
}

/// A place in the common text.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// The number of counted positions before it.
    counted: u32,
    /// The number of all positions before it.
    all: u32,
}

impl Place {
    /// Moves over a position; returns the places before and after it.
    fn step(&mut self, counts: bool) -> [Self; 2] {
        let before = *self;
        self.counted += u32::from(counts);
        self.all += 1;
        [before, *self]
    }
}

/// The groups of gold and test sentences that overlap: sentences are merged until boundaries agree. Sentences without words
/// are in none.
fn blocks(gold: &Side<'_>, test: &Side<'_>) -> Vec<[Vec<usize>; 2]> {
    let spans = |side: &Side<'_>| -> Vec<(usize, (u32, u32))> {
        let all = 0..side.sentences.len();
        all.filter_map(|number| Some((number, side.sentence(number)?))).collect()
    };
    let sides = [spans(gold), spans(test)];
    let (mut blocks, mut at, mut end) = (Vec::<[Vec<usize>; 2]>::new(), [0, 0], 0);
    loop {
        let next =
            |side: usize| sides[side].get(at[side]).map(|&(number, span)| (span, side, number));
        let Some(((start, stop), side, number)) = next(0).into_iter().chain(next(1)).min() else {
            return blocks;
        };
        match blocks.last_mut() {
            Some(block) if start < end => block[side].push(number),
            _ => {
                let mut block = [Vec::new(), Vec::new()];
                block[side].push(number);
                blocks.push(block);
            }
        }
        end = end.max(stop);
        at[side] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Evaluation;

    fn trees(lines: &[&str]) -> Vec<Tree> {
        lines.iter().map(|line| line.parse().unwrap()).collect()
    }

    fn scored(gold: &[&str], test: &[&str]) -> AlignedScores {
        score(&trees(gold), &trees(test), &Params::default())
    }

    fn triple(counts: Counts) -> (u64, u64, u64) {
        (counts.gold, counts.test, counts.gold_matched)
    }

    #[test]
    fn other_words_and_sentences_are_compared_by_their_characters() {
        let gold = [
            "(TOP (S (NP (PRP I)) (VP (MD ca) (RB n't) (VP (VB go))) (. .)))",
            "(TOP (S (NP (PRP We)) (VP (VBP stay)) (. .)))",
        ];
        // One sentence, a contraction in one word, a stop that hangs on its word.
        let test = [
            "(TOP (S (S (NP (PRP I)) (VP (MD can't) (VP (VB go)))) (. .) (S (NP (PRP We)) (VP (VBP stay.)))))",
        ];
        let found = scored(&gold, &test);
        assert_eq!(triple(found.sentences), (2, 1, 0));
        assert_eq!(triple(found.words), (8, 6, 4));
        assert_eq!(triple(found.tagged), (6, 5, 3));
        // The S over both sentences has no counterpart; stops count on neither side.
        assert_eq!(triple(found.brackets), (7, 8, 7));
        assert_eq!((found.exact, found.aligned_characters, found.characters), (0, 16, 16));
    }

    #[test]
    fn escapes_quotes_and_missing_text_are_aligned() {
        let gold = [
            "(S (NP (`` ``) (NN dog) ('' '')) (-LRB- -LRB-) (VP (VB a\\/b)))",
            "(S (NP (NN left) (NN out)))",
            "(S (NP (NN last) (NN words)) (VP (VB stay)))",
        ];
        let test = [
            "(S (NP (`` \u{201c}) (NN dog) ('' \u{201d})) (-LRB- -LRB-) (VP (VB a/b)))",
            "(())",
            gold[2],
        ];
        let found = scored(&gold, &test);
        assert_eq!(triple(found.brackets), (8, 6, 6));
        assert_eq!((found.characters - found.aligned_characters, found.exact), (7, 2));
        assert_eq!(scored(&[], &[]), AlignedScores::default());
        assert_eq!(triple(scored(&gold, &[]).brackets), (8, 0, 0));
        assert_eq!(triple(scored(&[], &test).brackets), (0, 6, 0));
    }

    #[test]
    fn texts_without_anything_in_common_take_linear_time() {
        let line = |word: &str, n: usize| format!("(S {})", format!("(A {word})").repeat(n));
        let (gold, test) = (line("abcdefgh", 20_000), line("ijklmnop", 20_000));
        assert_eq!(scored(&[&gold], &[&test]).aligned_characters, 0);
    }

    #[test]
    fn the_same_words_and_sentences_have_the_scores_of_eval() {
        let gold = [
            "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sits) (PRT (RP up))) (. .)))",
            "(TOP (X (X (NN a))))",
            "(TOP (S (NP (NP (NN a)) (, ,) (NP (NN b))) (VP (VB c))))",
            "(TOP (S (NP (NN lost))))",
        ];
        let test = [
            "(TOP (S (NP (DT the)) (VP (NN cat) (VBZ sits) (ADVP (RP up) (. .)))))",
            "(TOP (X (X (X (NN a)))))",
            "(TOP (S (NP (NN a) (NN ,) (NP (NN b))) (VP (, c))))",
            "(())",
        ];
        let mut evaluation = Evaluation::new(Params::default(), None);
        evaluation.gold_tags = true;
        for (gold, test) in trees(&gold).iter().zip(&trees(&test)) {
            evaluation.add(gold, test);
        }
        let all = &evaluation.all;
        let found = scored(&gold, &test);
        assert_eq!(triple(found.brackets), (all.gold + all.lost, all.test, all.matched));
        assert_eq!(found.brackets.f1(), all.f1_failures_empty());
    }
}
