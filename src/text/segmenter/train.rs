//! Training: an averaged perceptron over the boundaries in the texts of a treebank.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use compact_str::CompactString;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rustc_hash::FxHashMap;

use super::super::settings::{Compounds, TextSettings};
use super::super::spacing::{SpacedLine, Spacing};
use super::features::{Candidates, Features, Lexicon, Text, word_hash};
use super::{Marks, Segmenter};
use crate::tree::Token;

/// The number of different features, in scripts with spaces and without.
const FEATURES: [usize; 2] = [1 << 18, 1 << 19];
const EPOCHS: usize = 8;
/// The parts of the training data.
const FOLDS: usize = 8;

/// A line, and whether a word ends at each of its candidates.
struct Example {
    text: Text,
    decisions: Vec<(usize, bool)>,
}

impl Segmenter {
    /// Learns from the words and tags of sentences, in the order of the text.
    pub(crate) fn train(
        sentences: &[&[Token]],
        (settings, attached): (TextSettings, &[String]),
        seed: u64,
    ) -> Self {
        let splits_compounds = settings.compounds == Compounds::Split;
        let forms = |tokens: &&[Token]| tokens.iter().map(|token| token.word.clone()).collect();
        let forms: Vec<Vec<CompactString>> = sentences.iter().map(forms).collect();
        let spacing = Spacing::of(&forms, splits_compounds, attached);
        let marks = Marks { glue: spacing.glue, join: spacing.join };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut rest = &forms[..];
        let mut lines = Vec::new();
        while !rest.is_empty() {
            let n = rng.random_range(1..=3).min(rest.len());
            lines.push(spacing.joined(rest[..n].iter().map(|words| spacing.line(words))));
            rest = &rest[n..];
        }
        let tags = sentences.iter().copied().flatten().map(|token| token.tag.as_str());
        let classes = if spacing.is_unspaced { classes(tags) } else { Vec::new() };
        let words = Words::of(&lines, &classes);
        let candidates = marks.candidates(spacing.is_unspaced);
        let examples: Vec<Example> =
            lines.iter().map(|line| Example::new(line, candidates)).collect();
        let weights =
            learn(&examples, &words, FEATURES[usize::from(spacing.is_unspaced)], &mut rng);
        Self {
            marks,
            weights: weights.into(),
            words: words.all.words.into(),
            classes: words.all.classes.into(),
            scripts: Default::default(),
        }
    }
}

/// The class of each token: the number of its tag, the most frequent first; the rarest tags have the last class together.
fn classes<'t>(tags: impl Iterator<Item = &'t str> + Clone) -> Vec<u8> {
    let mut counts: FxHashMap<&str, u32> = FxHashMap::default();
    tags.clone().for_each(|tag| *counts.entry(tag).or_default() += 1);
    let mut order: Vec<(&str, u32)> = counts.into_iter().collect();
    order.sort_unstable_by_key(|&(tag, count)| (Reverse(count), tag));
    let numbers: FxHashMap<&str, u8> = (order.iter().map(|&(tag, _)| tag))
        .zip((0..=u8::MAX).chain(std::iter::repeat(u8::MAX)))
        .collect();
    tags.map(|tag| numbers[tag]).collect()
}

/// The words of all lines, and of those outside of each fold. A line is learned from with the words of other folds, so
/// that it has unknown words, as new texts have.
struct Words {
    all: WordClasses,
    outside: [WordClasses; FOLDS],
}

/// Hashes of words, in ascending order, and their classes.
struct WordClasses {
    words: Vec<u32>,
    classes: Vec<u8>,
}

impl WordClasses {
    fn lexicon(&self) -> Lexicon<'_> {
        Lexicon { words: &self.words, classes: &self.classes }
    }
}

impl Words {
    /// `classes` has one for each word of the lines, or none.
    fn of(lines: &[SpacedLine], classes: &[u8]) -> Self {
        let mut folds: FxHashMap<u32, u32> = FxHashMap::default();
        let mut counts: FxHashMap<u32, BTreeMap<u8, u32>> = FxHashMap::default();
        let mut classes = classes.iter();
        for (index, line) in lines.iter().enumerate() {
            let mut start = 0;
            for &end in &line.ends {
                let word = word_hash(line.text[start..end].trim_start(), false);
                *folds.entry(word).or_default() |= 1 << (index % FOLDS);
                if let Some(&class) = classes.next() {
                    *counts.entry(word).or_default().entry(class).or_default() += 1;
                }
                start = end;
            }
        }
        let most_frequent = |word: &u32| {
            let classes = counts.get(word)?;
            let (&class, _) = classes.iter().max_by_key(|&(&class, &n)| (n, Reverse(class)))?;
            Some(class)
        };
        let with = |is_known: &dyn Fn(u32) -> bool| {
            let known = folds.iter().filter(|&(_, &folds)| is_known(folds));
            let mut words: Vec<u32> = known.map(|(&word, _)| word).collect();
            words.sort_unstable();
            WordClasses { classes: words.iter().filter_map(most_frequent).collect(), words }
        };
        let outside = std::array::from_fn(|fold| with(&|folds| folds & !(1 << fold) != 0));
        Self { all: with(&|_| true), outside }
    }
}

impl Example {
    fn new(line: &SpacedLine, candidates: Candidates) -> Self {
        let text = Text::new(&line.text, false);
        let mut ends = line.ends.iter().peekable();
        let mut decisions = Vec::new();
        for place in text.places() {
            while ends.next_if(|&&end| end < text.offset(place)).is_some() {}
            if text.is_candidate(place, candidates) {
                let is_end = ends.peek().is_some_and(|&&end| end == text.offset(place));
                decisions.push((place, is_end));
            }
        }
        Self { text, decisions }
    }
}

/// Weights of an averaged perceptron, rounded.
fn learn(examples: &[Example], words: &Words, n: usize, rng: &mut ChaCha8Rng) -> Vec<i8> {
    let mut weights = vec![0_i32; n];
    let mut totals = vec![0_i64; n];
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let mut time = 1_i64;
    for _ in 0..EPOCHS {
        order.shuffle(rng);
        for &index in &order {
            let Example { text, decisions } = &examples[index];
            let lexicon = words.outside[index % FOLDS].lexicon();
            let mut features = Features::new(text, lexicon, n);
            for &(place, is_end) in decisions {
                let found = features.at(place);
                let sum: i32 = found.iter().map(|&feature| weights[feature]).sum();
                let sign = if is_end { 1 } else { -1 };
                if sum * sign <= MARGIN {
                    for &feature in found {
                        weights[feature] += sign;
                        totals[feature] += i64::from(sign) * time;
                    }
                }
                time += 1;
            }
        }
    }
    let average = |(weight, total): (&i32, &i64)| f64::from(*weight) - *total as f64 / time as f64;
    let averages: Vec<f64> = weights.iter().zip(&totals).map(average).collect();
    let largest = averages.iter().fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
    let scale = 127.0 / largest.max(1e-9);
    averages.iter().map(|weight| (weight * scale).round() as i8).collect()
}

/// Decisions with no more than this are learned again.
const MARGIN: i32 = 8;
