//! Part-of-speech taggers: from words to tags.
//!
//! 1. A [`Tagger`] is shared by all threads; a [`Worker`] is its hand in one thread. What a worker
//!    tagged before changes nothing.
//! 2. Any word gets a tag, seen in training or not, and the words stay as they are.
//! 3. The same sentences, settings and seed give the same tagger on any number of threads.
//!
//! Taggers:
//!
//! - [`perceptron`]: greedy from left to right, an averaged perceptron over affixes, shapes and context.
//! - [`two_pass`]: any learner, in two passes over the sentence (Wang, Sagae and Mitamura 2006).
//!
//! [`jackknife`] tags training sentences by taggers that have not seen them.

pub mod accuracy;
pub mod feature;
pub mod form;
pub mod jackknife;
pub mod lexicon;
pub mod perceptron;
pub mod two_pass;

use crate::Result;
use crate::memory::Sections;
use crate::symbols::Symbols;
use crate::tree::Token;
use crate::treebank::sentences::TRACE;
pub use accuracy::Accuracy;
use lexicon::Lexicon;

/// A tagger, shared by all threads.
pub trait Tagger: Send + Sync {
    /// The tags, in order of their numbers.
    fn tags(&self) -> &Symbols;
    /// The words seen in training.
    fn lexicon(&self) -> &Lexicon;
    /// A worker for one thread.
    fn worker(&self) -> Box<dyn Worker + '_>;
    /// Adds the tagger to the sections of a model.
    ///
    /// # Errors
    /// When something in it cannot be written.
    fn store(&self, sections: &mut Sections) -> Result<()>;
}

/// A tagger's hand in one thread.
pub trait Worker: Send {
    /// Writes the number of the tag of each token into `out` (emptied first). Only the words of the
    /// tokens are looked at.
    fn predict(&mut self, tokens: &[Token], out: &mut Vec<u16>);
}

/// Tags sentences in place, with the memory that it takes.
pub struct Hand<'a> {
    tags: &'a Symbols,
    worker: Box<dyn Worker + 'a>,
    numbers: Vec<u16>,
}

impl<'a> Hand<'a> {
    /// A hand of a tagger.
    pub fn new(tagger: &'a dyn Tagger) -> Self {
        Self { tags: tagger.tags(), worker: tagger.worker(), numbers: Vec::new() }
    }

    /// Replaces all tags, but that of traces, by those that the tagger predicts.
    pub fn tag(&mut self, tokens: &mut [Token]) {
        self.worker.predict(tokens, &mut self.numbers);
        for (token, &number) in tokens.iter_mut().zip(&self.numbers) {
            if token.tag != TRACE {
                token.tag = self.tags.name(u32::from(number)).unwrap_or_default().into();
            }
        }
    }
}
