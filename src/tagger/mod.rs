//! Part-of-speech taggers: from words to tags.
//!
//! 1. A [`Tagger`] is shared by all threads; each thread tags with a [`TaggerWorker`] of its own.
//!    A worker's output does not depend on the sentences it tagged before.
//! 2. Any word gets a tag, whether or not it was seen in training, and words are not changed.
//! 3. The same sentences, settings and seed give the same tagger on any number of threads.
//!
//! Taggers:
//!
//! - [`perceptron`]: greedy from left to right, an averaged perceptron over affixes, shapes and context.
//! - [`two_pass`]: any learner, in two passes over the sentence (Wang, Sagae and Mitamura 2006).
//!
//! [`jackknife`] tags training sentences with taggers that were not trained on them.

pub mod accuracy;
pub mod feature;
pub mod form;
mod hash;
pub mod jackknife;
pub mod lexicon;
pub mod perceptron;
pub mod two_pass;

use crate::Result;
use crate::memory::Sections;
use crate::symbols::Symbols;
use crate::tree::Token;
pub use accuracy::Accuracy;
use lexicon::Lexicon;

/// A tagger, shared by all threads.
pub trait Tagger: Send + Sync {
    /// The tags, in order of their numbers.
    fn tags(&self) -> &Symbols;
    /// The words seen in training.
    fn lexicon(&self) -> &Lexicon;
    /// A predictor for one thread.
    fn predictor(&self) -> Box<dyn TagPredictor + '_>;
    /// Adds the tagger to the sections of a model.
    ///
    /// # Errors
    /// When something in it cannot be written.
    fn store(&self, sections: &mut Sections) -> Result<()>;
}

/// Predicts tags as numbers, with scratch memory for one thread.
pub trait TagPredictor: Send {
    /// Writes the number of each token's tag into `out` (emptied first). The tags of `tokens` are ignored.
    fn predict(&mut self, tokens: &[Token], out: &mut Vec<u16>);
}

/// Tags sentences in place; each thread has a worker of its own.
pub struct TaggerWorker<'a> {
    tags: &'a Symbols,
    predictor: Box<dyn TagPredictor + 'a>,
    numbers: Vec<u16>,
}

impl<'a> TaggerWorker<'a> {
    /// A worker of a tagger.
    pub fn new(tagger: &'a dyn Tagger) -> Self {
        Self { tags: tagger.tags(), predictor: tagger.predictor(), numbers: Vec::new() }
    }

    /// Gives tokens without tags predicted ones.
    pub fn tag(&mut self, tokens: &mut [Token]) {
        self.predictor.predict(tokens, &mut self.numbers);
        for (token, &number) in tokens.iter_mut().zip(&self.numbers) {
            if token.tag.is_empty() {
                token.tag = self.tags.name(u32::from(number)).unwrap_or_default().into();
            }
        }
    }
}
