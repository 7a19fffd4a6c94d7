//! Word boundaries that are learned from the words of a treebank.
//!
//! Between any two characters that are no white space, the sum of the weights of features decides whether a word ends
//! (Neubig, Nakata & Mori 2011, "Pointwise prediction for robust, adaptable Japanese morphological analysis", ACL). Features are the
//! characters around, their types, and the words of the treebank that end, begin or stand there, in scripts without spaces with
//! their tags; nothing depends on other decisions. Where the treebank has words with spaces in them (`par_exemple`), white space is decided on too;
//! the module `joined` then corrects words that the treebank does not have.

mod features;
mod joined;
#[cfg(feature = "train")]
mod train;

use std::sync::OnceLock;

use super::script::Script;
use crate::memory::{Array, Sections};
use crate::{Error, Result};
use features::{Candidates, Features, Lexicon, Text};

/// The weights of a segmenter, and the words that it knows.
#[derive(Debug, Clone)]
pub(crate) struct Segmenter {
    marks: Marks,
    /// The weights of hashed features.
    weights: Array<i8>,
    /// The hashes of known words, in ascending order.
    words: Array<u32>,
    /// For scripts without spaces, the class of each word: the number of its most frequent tag, by frequency.
    classes: Array<u8>,
    /// Whether the treebank has words in each script without spaces.
    scripts: [OnceLock<bool>; Script::ALL.len()],
}

/// How the treebank writes words that differ from the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// On both sides of a boundary between letters: `orð$ $ið`.
    pub(super) glue: Option<char>,
    /// For a space in a word: `par_exemple`.
    pub(super) join: Option<char>,
}

impl Marks {
    fn candidates(self, unspaced: bool) -> Candidates {
        Candidates { at_spaces: self.join.is_some(), unspaced }
    }
}

/// The part of a model's sections that holds the segmenter.
const PART: &str = "segmenter";

impl Segmenter {
    /// Loads the segmenter of a model, if it has one.
    ///
    /// # Errors
    /// When it is corrupt.
    pub(crate) fn load(sections: &Sections) -> Result<Option<Self>> {
        let sections = sections.part(PART);
        if sections.0.is_empty() {
            return Ok(None);
        }
        let marks = sections.get::<u32>("marks")?;
        let [glue, join] = marks[..] else {
            return Err(Error::Corrupt("the segmenter does not have two marks".to_owned()));
        };
        let mark = |code| char::from_u32(code).filter(|&mark| mark != '\0');
        let has_classes = sections.0.iter().any(|section| section.name == "classes");
        let segmenter = Self {
            marks: Marks { glue: mark(glue), join: mark(join) },
            weights: sections.get("weights")?,
            words: sections.get("words")?,
            classes: if has_classes { sections.get("classes")? } else { Vec::new().into() },
            scripts: Default::default(),
        };
        if !segmenter.weights.len().is_power_of_two() || segmenter.weights.len() < 2 {
            let problem = "the number of weights of the segmenter is not a power of two";
            return Err(Error::Corrupt(problem.to_owned()));
        }
        if has_classes && segmenter.classes.len() != segmenter.words.len() {
            let problem = "the segmenter does not have a class for each word";
            return Err(Error::Corrupt(problem.to_owned()));
        }
        Ok(Some(segmenter))
    }

    /// Stores it in a model.
    #[cfg(feature = "train")]
    pub(crate) fn store(self, sections: &mut Sections) {
        let mut part = Sections::default();
        let code = |mark: Option<char>| mark.map_or(0, u32::from);
        part.put("marks", vec![code(self.marks.glue), code(self.marks.join)].into());
        part.put("weights", self.weights);
        part.put("words", self.words);
        if !self.classes.is_empty() {
            part.put("classes", self.classes);
        }
        sections.put_part(PART, part);
    }

    /// Whether the treebank has a word.
    pub(super) fn knows(&self, word: &str) -> bool {
        self.has(features::word_hash(word, false))
    }

    fn has(&self, word: u32) -> bool {
        self.words.binary_search(&word).is_ok()
    }

    /// Whether the treebank has words in a script without spaces between words: then it has several of one character,
    /// if only punctuation marks. One may be an accident, because two words can have the same hash.
    pub(super) fn knows_script(&self, script: Script) -> bool {
        let knows = |c: char| self.knows(c.encode_utf8(&mut [0; 4]));
        *self.scripts[script as usize]
            .get_or_init(|| script.characters().filter(|&c| knows(c)).nth(1).is_some())
    }

    /// How the treebank writes words that differ from the text.
    pub(super) fn marks(&self) -> Marks {
        self.marks
    }

    /// The ends of the words of a line, in bytes, in ascending order; `line` is all that is known of the text. Curly apostrophes
    /// are read as straight ones if `straightens`.
    pub(super) fn ends(&self, line: &str, straightens: bool, ends: &mut Vec<usize>) {
        let text = Text::new(line, straightens);
        let lexicon = Lexicon { words: &self.words, classes: &self.classes };
        let mut features = Features::new(&text, lexicon, self.weights.len());
        let candidates = self.marks.candidates(!self.classes.is_empty());
        for place in text.places() {
            let is_end = if text.is_candidate(place, candidates) {
                let weight = |&index: &usize| i32::from(self.weights[index]);
                features.at(place).iter().map(weight).sum::<i32>() > 0
            } else {
                text.is_word_end(place)
            };
            if is_end {
                ends.push(text.offset(place));
            }
        }
    }
}

#[cfg(all(test, feature = "train"))]
mod tests;
