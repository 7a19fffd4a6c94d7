//! Training: an averaged perceptron over the boundaries in the texts of a treebank.

use compact_str::CompactString;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rustc_hash::FxHashMap;

use super::super::settings::{Compounds, TextSettings};
use super::super::spacing::{SpacedLine, Spacing};
use super::features::{Features, Text, word_hash};
use super::{Marks, Segmenter};

/// The number of different features.
const FEATURES: usize = 1 << 18;
const EPOCHS: usize = 8;
/// The parts of the training data.
const FOLDS: usize = 8;

/// A line, and whether a word ends at each of its candidates.
struct Example {
    text: Text,
    decisions: Vec<(usize, bool)>,
}

impl Segmenter {
    /// Learns from the words of sentences, in the order of the text.
    pub(crate) fn train(
        sentences: &[Vec<CompactString>],
        (settings, attached): (TextSettings, &[String]),
        seed: u64,
    ) -> Self {
        let splits_compounds = settings.compounds == Compounds::Split;
        let spacing = Spacing::of(sentences, splits_compounds, attached);
        let marks = Marks { glue: spacing.glue, join: spacing.join };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut sentences = sentences;
        let mut lines = Vec::new();
        while !sentences.is_empty() {
            let n = rng.random_range(1..=3).min(sentences.len());
            lines.push(spacing.joined(sentences[..n].iter().map(|words| spacing.line(words))));
            sentences = &sentences[n..];
        }
        let words = Words::of(&lines);
        let examples: Vec<Example> = lines.iter().map(|line| Example::new(line, marks)).collect();
        let weights = learn(&examples, &words, &mut rng);
        Self {
            marks,
            weights: weights.into(),
            words: words.all.into(),
            scripts: Default::default(),
        }
    }
}

/// The hashes of words, in ascending order: of all lines, and of those outside of each fold. A line is learned from with
/// the words of other folds, so that it has unknown words, as new texts have.
struct Words {
    all: Vec<u32>,
    outside: [Vec<u32>; FOLDS],
}

impl Words {
    fn of(lines: &[SpacedLine]) -> Self {
        let mut folds: FxHashMap<u32, u32> = FxHashMap::default();
        for (index, line) in lines.iter().enumerate() {
            let mut start = 0;
            for &end in &line.ends {
                let word = word_hash(line.text[start..end].trim_start(), false);
                *folds.entry(word).or_default() |= 1 << (index % FOLDS);
                start = end;
            }
        }
        let with = |is_known: &dyn Fn(u32) -> bool| {
            let known = folds.iter().filter(|&(_, &folds)| is_known(folds));
            let mut words: Vec<u32> = known.map(|(&word, _)| word).collect();
            words.sort_unstable();
            words
        };
        let outside = std::array::from_fn(|fold| with(&|folds| folds & !(1 << fold) != 0));
        Self { all: with(&|_| true), outside }
    }
}

impl Example {
    fn new(line: &SpacedLine, marks: Marks) -> Self {
        let text = Text::new(&line.text, false);
        let mut ends = line.ends.iter().peekable();
        let mut decisions = Vec::new();
        for place in text.places() {
            while ends.next_if(|&&end| end < text.offset(place)).is_some() {}
            if text.is_candidate(place, marks.join.is_some()) {
                let is_end = ends.peek().is_some_and(|&&end| end == text.offset(place));
                decisions.push((place, is_end));
            }
        }
        Self { text, decisions }
    }
}

/// Weights of an averaged perceptron, rounded.
fn learn(examples: &[Example], words: &Words, rng: &mut ChaCha8Rng) -> Vec<i8> {
    let mut weights = vec![0_i32; FEATURES];
    let mut totals = vec![0_i64; FEATURES];
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let mut time = 1_i64;
    for _ in 0..EPOCHS {
        order.shuffle(rng);
        for &index in &order {
            let Example { text, decisions } = &examples[index];
            let mut features = Features::new(text, &words.outside[index % FOLDS], FEATURES);
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
