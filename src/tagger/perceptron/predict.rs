//! Tagging.
//!
//! Most weights depend on one word and its distance from the token only. For each word they are added up
//! once for each position in the window, and cached; a token then needs five such sums and the few weights
//! of [`feature::context`]. Sums are integers, so the cache does not change the result.

use compact_str::CompactString;

use super::PerceptronTagger;
use crate::classifier::first_best;
use crate::classifier::packed::{LANES, Lookup};
use crate::tagger::TagPredictor;
use crate::tagger::feature::{self, HISTORY, NO_TAG, PLACES, REACH, Window, tag_value};
use crate::tagger::form::Form;
use crate::tagger::hash::word_hash;
use crate::tree::Token;

/// The approximate size of the cache in bytes; it has room for some words at least.
const CACHE_BYTES: usize = 4 << 20;
const FEWEST_SLOTS: usize = 64;
/// The number of tokens whose sums are incomplete, at least [`PLACES`].
const OPEN: usize = 8;

/// A predictor; see the module.
pub(super) struct PerceptronPredictor<'a> {
    tagger: &'a PerceptronTagger,
    /// The length of a row of sums.
    width: usize,
    /// The words in the cache, each in the slot of its hash; a later word replaces an earlier one.
    cached: Vec<Option<(CompactString, Form)>>,
    /// For each slot and position, a row of sums.
    cached_sums: Vec<i16>,
    /// The sums of the incomplete tokens, in a ring buffer.
    open: Vec<i16>,
    forms: Vec<Form>,
    lookup: Lookup,
}

impl<'a> PerceptronPredictor<'a> {
    pub(super) fn new(tagger: &'a PerceptronTagger) -> Self {
        let width = tagger.tags.len().next_multiple_of(LANES);
        let slots = CACHE_BYTES / (size_of::<i16>() * PLACES * width);
        let slots = slots.max(FEWEST_SLOTS).next_power_of_two();
        Self {
            tagger,
            width,
            cached: vec![None; slots],
            cached_sums: vec![0; slots * PLACES * width],
            open: vec![0; OPEN * width],
            forms: Vec::new(),
            lookup: Lookup::default(),
        }
    }

    /// Adds the weights of a word to the sums of all tokens in whose window it is; returns its form.
    fn add_word(&mut self, word: &str, at: usize) -> Form {
        let slots = self.cached.len();
        let slot = (word_hash(word) >> 32) as usize % slots;
        let size = PLACES * self.width;
        let sums = &mut self.cached_sums[slot * size..][..size];
        let form = match &self.cached[slot] {
            Some((cached, form)) if cached == word => *form,
            _ => {
                let form = Form::of(word, &self.tagger.lexicon);
                sums.fill(0);
                for (place, sums) in sums.chunks_exact_mut(self.width).enumerate() {
                    self.lookup.ids.clear();
                    feature::word(place, &form, &mut self.lookup.ids);
                    self.tagger.tables.sum(&mut self.lookup, sums);
                }
                self.cached[slot] = Some((word.into(), form));
                form
            }
        };
        for (place, sums) in sums.chunks_exact(self.width).enumerate() {
            // A word at position `place` of a window is that far right of the token, less the reach.
            let Some(token) = (at + REACH).checked_sub(place) else { break };
            let open = &mut self.open[token % OPEN * self.width..][..self.width];
            for (open, sum) in open.iter_mut().zip(sums) {
                *open = open.wrapping_add(*sum);
            }
        }
        form
    }

    /// Adds the weights of the sentence boundaries to the sums of the tokens in whose window they are.
    fn add_boundary(&mut self, token: usize, n: usize) {
        for place in 0..PLACES {
            if (REACH..n + REACH).contains(&(token + place)) {
                continue;
            }
            self.lookup.ids.clear();
            feature::word(place, &Form::BOUNDARY, &mut self.lookup.ids);
            let open = &mut self.open[token % OPEN * self.width..][..self.width];
            self.tagger.tables.sum(&mut self.lookup, open);
        }
    }
}

impl TagPredictor for PerceptronPredictor<'_> {
    fn predict(&mut self, tokens: &[Token], out: &mut Vec<u16>) {
        out.clear();
        self.open.fill(0);
        self.forms.clear();
        self.forms.extend([Form::BOUNDARY; REACH]);
        let n = tokens.len();
        let mut tags = [NO_TAG; HISTORY];
        for ahead in 0..n + REACH {
            let form = match tokens.get(ahead) {
                Some(token) => self.add_word(&token.word, ahead),
                None => Form::BOUNDARY,
            };
            self.forms.push(form);
            // The token whose window is complete.
            let Some(token) = ahead.checked_sub(REACH) else { continue };
            if token < REACH || token + REACH >= n {
                self.add_boundary(token, n);
            }
            let Some(&forms) = self.forms[token..].first_chunk::<PLACES>() else { break };
            self.lookup.ids.clear();
            feature::context(&Window { forms, tags }, &mut self.lookup.ids);
            let sums = &mut self.open[token % OPEN * self.width..][..self.width];
            self.tagger.tables.sum(&mut self.lookup, sums);
            let tag = first_best(&sums[..self.tagger.tags.len()]) as u16;
            sums.fill(0);
            tags = [tag_value(tag), tags[0], tags[1]];
            out.push(tag);
        }
    }
}
