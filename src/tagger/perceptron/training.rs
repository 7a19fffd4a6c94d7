//! Training.

use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rustc_hash::FxHashMap;

use super::{PerceptronTagger, PerceptronTaggerParams};
use crate::classifier::packed::MAX_CLASSES;
use crate::classifier::sparse::SparseWeights;
use crate::classifier::{Fit, ScoreScale};
use crate::symbols::Symbols;
use crate::tagger::feature::{self, HISTORY, MOST, NO_TAG, PLACES, REACH, Window, tag_value};
use crate::tagger::form::Form;
use crate::tagger::lexicon::Lexicon;
use crate::tree::Token;
use crate::{Error, Result};

/// The encoded sentences, and the weights so far.
pub(super) struct Training {
    tags: Symbols,
    lexicon: Lexicon,
    /// The form of each distinct word.
    forms: Vec<Form>,
    /// For each token its word, as an index into `forms`, and its tag.
    sentences: Vec<Vec<(u32, u16)>>,
    weights: SparseWeights,
    rng: ChaCha8Rng,
}

impl Training {
    pub(super) fn new(
        sentences: &[&[Token]],
        params: &PerceptronTaggerParams,
        seed: u64,
    ) -> Result<Self> {
        let mut tags = Symbols::default();
        let mut positions: FxHashMap<&str, u32> = FxHashMap::default();
        let mut words: Vec<&str> = Vec::new();
        let mut numbered = |token: &'_ Token| tags.intern(&token.tag) as u16;
        let mut encoded = Vec::with_capacity(sentences.len());
        for sentence in sentences {
            let tokens = sentence.iter().map(|token| {
                let next = words.len() as u32;
                let word = *positions.entry(&token.word).or_insert(next);
                if word == next {
                    words.push(&token.word);
                }
                (word, numbered(token))
            });
            encoded.push(tokens.collect::<Vec<_>>());
        }
        if words.is_empty() {
            return Err(Error::Unfit("there are no tagged words to train on".into()));
        }
        if tags.len() > MAX_CLASSES {
            let problem = format!(
                "{} tags, but at most {MAX_CLASSES} are supported: check the input",
                tags.len()
            );
            return Err(Error::Unfit(problem));
        }
        let tokens = encoded.iter().flatten().map(|&(word, tag)| (words[word as usize], tag));
        let lexicon = Lexicon::of(tokens, params.min_word_count);
        let forms = words.iter().map(|word| Form::of(word, &lexicon)).collect();
        let (weights, rng) = (SparseWeights::default(), ChaCha8Rng::seed_from_u64(seed));
        Ok(Self { tags, lexicon, forms, sentences: encoded, weights, rng })
    }

    pub(super) fn run(
        mut self,
        params: &PerceptronTaggerParams,
        fit: &Fit<'_>,
    ) -> Result<PerceptronTagger> {
        fit.unless_stopped()?;
        let mut order: Vec<u32> = (0..self.sentences.len() as u32).collect();
        let words: usize = self.sentences.iter().map(Vec::len).sum();
        for epoch in 1..=params.epochs {
            order.shuffle(&mut self.rng);
            let mistakes = self.epoch(&order, params, fit);
            let right = 100.0 * (1.0 - mistakes as f64 / words as f64);
            let done = f64::from(epoch) / f64::from(params.epochs);
            fit.step(done, &format!("epoch {epoch}: training accuracy {right:.2} %"));
            if fit.is_stopped() {
                break;
            }
        }
        let seen = vec![true; self.tags.len()];
        let averaged = self.weights.averaged();
        let tables = averaged.pack(&params.prune, &seen, ScoreScale::Margin, MOST);
        Ok(PerceptronTagger { tags: self.tags, lexicon: self.lexicon, tables })
    }

    /// Processes all sentences once; returns the number of mistakes.
    fn epoch(&mut self, order: &[u32], params: &PerceptronTaggerParams, fit: &Fit<'_>) -> u64 {
        let margin = params.margin as i32;
        let (mut ids, mut rows, mut forms) = (Vec::new(), Vec::new(), Vec::new());
        let mut sums = vec![0; self.tags.len()];
        let mut mistakes = 0;
        for &at in order {
            if fit.is_stopped() {
                break;
            }
            let sentence = &self.sentences[at as usize];
            forms.clear();
            forms.extend([Form::BOUNDARY; REACH]);
            forms.extend(sentence.iter().map(|&(word, _)| self.forms[word as usize]));
            forms.extend([Form::BOUNDARY; REACH]);
            let mut tags = [NO_TAG; HISTORY];
            for (&forms, &(_, gold)) in forms.array_windows::<PLACES>().zip(sentence) {
                let mut forms = forms;
                let rare = forms[REACH].class == 0;
                if rare
                    && params.word_dropout > 0.0
                    && self.rng.random::<f64>() < params.word_dropout
                {
                    forms[REACH] = forms[REACH].hidden();
                }
                ids.clear();
                for (place, form) in forms.iter().enumerate() {
                    feature::word(place, form, &mut ids);
                }
                feature::context(&Window { forms, tags }, &mut ids);
                self.weights.find(&ids, &mut rows);
                sums.fill(0);
                self.weights.add(&rows, &mut sums);
                let (best, rival) = best_and_rival(&sums, gold);
                mistakes += u64::from(best != gold);
                if let Some(rival) = rival
                    && sums[usize::from(gold)] - sums[usize::from(rival)] <= margin
                {
                    self.weights.update(&ids, gold, 1);
                    self.weights.update(&ids, rival, -1);
                }
                self.weights.tick();
                tags = [tag_value(best), tags[0], tags[1]];
            }
        }
        mistakes
    }
}

/// The tag with the highest sum, the first among equals; and the best of the tags other than the gold tag.
fn best_and_rival(sums: &[i32], gold: u16) -> (u16, Option<u16>) {
    let mut best = 0;
    let mut rival: Option<usize> = None;
    for (tag, &sum) in sums.iter().enumerate() {
        if sum > sums[best] {
            best = tag;
        }
        if tag != usize::from(gold) && rival.is_none_or(|rival| sum > sums[rival]) {
            rival = Some(tag);
        }
    }
    (best as u16, rival.map(|rival| rival as u16))
}
