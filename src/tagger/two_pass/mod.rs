//! The tagger of Wang, Sagae and Mitamura 2006, section 3.3: two passes over the sentence, each with its
//! own classifier: SVMs in the paper, any learner here.
//!
//! The features of the first pass are the two words and tags before the token, the two words after it, and
//! the word: its length, and whether it contains numerals, the dot of a foreign name, a common Chinese
//! family name, Latin letters or a date. The second pass also has the first pass's tags of the token and of
//! the two tokens after it. The paper names no other features; the first and the last characters of the
//! word are added, because nothing else would distinguish unseen words.
//!
//! Both passes are trained with the correct tags before the token. The second is trained with tags of the
//! first pass from jackknifing, so that they are as accurate as at test time; the paper does not say which
//! tags it uses.

mod columns;

use super::jackknife::jackknife;
use super::lexicon::Lexicon;
use super::{TagPredictor, Tagger};
use crate::classifier::{Classifier, Fit, Instances, Learner, Scratch, first_best};
use crate::feature::{Column, Row};
use crate::memory::Sections;
use crate::model::bincode_section;
use crate::observer::Part;
use crate::symbols::{NOTHING, Symbols};
use crate::tree::Token;
use crate::{Error, Result};
pub use columns::columns;
use columns::{Encoded, Numbers, tag_value, write_row};

/// Makes a learner for some columns and a number of tags.
pub type MakeLearner<'a> = dyn Fn(&[Column], usize) -> Result<Box<dyn Learner>> + Sync + 'a;

/// The tagger.
pub struct TwoPassTagger {
    numbers: Numbers,
    lexicon: Lexicon,
    first: Box<dyn Classifier>,
    /// `None` while the tags for its training are predicted.
    second: Option<Box<dyn Classifier>>,
}

/// The share of the work that is done after the first pass, and after jackknifing.
const FIRST_DONE: f64 = 0.1;
const JACKKNIFED: f64 = 0.8;

impl TwoPassTagger {
    /// Fits the two passes; the second is trained on tags that the first predicts by jackknifing in `parts`
    /// parts. Without `affixes` the columns of characters hold one value for all words.
    ///
    /// # Errors
    /// When there are no words, too few sentences, or the learner refuses the data.
    pub fn fit(
        sentences: &[&[Token]],
        make: &MakeLearner<'_>,
        parts: u32,
        affixes: bool,
        fit: &Fit<'_>,
    ) -> Result<Self> {
        let part = |name, from, to| Part { observer: fit.observer, name, from, to };
        let first = part("first pass", 0.0, FIRST_DONE);
        let mut tagger =
            Self::fit_first(sentences, make, affixes, &Fit { observer: &first, ..*fit })?;
        let unseen = part("first pass on unseen parts", FIRST_DONE, JACKKNIFED);
        let unseen = Fit { observer: &unseen, checkpoint: None, ..*fit };
        let (tagged, accuracy) = jackknife(sentences, parts, &unseen, |others, fit| {
            Ok(Box::new(Self::fit_first(others, make, affixes, fit)?))
        })?;
        unseen.step(1.0, &accuracy.to_string());
        let instances = instances(&tagger.numbers, sentences, Some(&tagged));
        let learner = make(&columns(true), tagger.numbers.tags.len())?;
        let second = part("second pass", JACKKNIFED, 1.0);
        let fit = Fit { observer: &second, checkpoint: None, ..*fit };
        tagger.second = Some(learner.fit(&instances, &fit)?);
        Ok(tagger)
    }

    /// A tagger of the first pass only.
    fn fit_first(
        sentences: &[&[Token]],
        make: &MakeLearner<'_>,
        affixes: bool,
        fit: &Fit<'_>,
    ) -> Result<Self> {
        let numbers = Numbers::of(sentences, affixes);
        if numbers.tags.is_empty() {
            return Err(Error::Unfit("there are no tagged words to train on".into()));
        }
        if numbers.tags.len() > usize::from(u16::MAX) {
            let problem = format!("{} tags are too many: check the input", numbers.tags.len());
            return Err(Error::Unfit(problem));
        }
        let words = sentences.iter().copied().flatten().map(|token| (token.word.as_str(), 0));
        let lexicon = Lexicon::of(words, u32::MAX);
        let instances = instances(&numbers, sentences, None);
        let first = make(&columns(false), numbers.tags.len())?.fit(&instances, fit)?;
        Ok(Self { numbers, lexicon, first, second: None })
    }

    /// Reads what [`Tagger::store`] wrote, with the learners that it was fitted by.
    ///
    /// # Errors
    /// When the sections are not those of such a tagger.
    pub fn load(sections: &Sections, make: &MakeLearner<'_>) -> Result<Self> {
        let numbers: Numbers = bincode_section::get(sections, "numbers")?;
        let n = numbers.tags.len();
        let pass = |second: bool, part: &str| {
            let classifier = make(&columns(second), n)?.load(&sections.part(part))?;
            if n == 0 || classifier.n_classes() != n {
                let scored = classifier.n_classes();
                return Err(Error::Corrupt(format!(
                    "the tagger has {n} tags, and its {part} pass scores {scored}"
                )));
            }
            Ok(classifier)
        };
        let (first, second) = (pass(false, "first")?, pass(true, "second")?);
        Ok(Self { numbers, lexicon: Lexicon::load(sections)?, first, second: Some(second) })
    }
}

/// An instance for each token, with the correct tags before it and, in the second pass, the tags of the
/// first.
fn instances(
    numbers: &Numbers,
    sentences: &[&[Token]],
    first_pass: Option<&[Vec<Token>]>,
) -> Instances {
    let class = |token: &Token| numbers.tags.position(&token.tag).unwrap_or_default() as u16;
    let mut instances = Instances::new(columns(first_pass.is_some()), numbers.tags.len());
    let (mut encoded, mut row) = (Vec::new(), Row::default());
    for (number, sentence) in sentences.iter().enumerate() {
        instances.begin_sentence();
        numbers.encode(sentence, &mut encoded);
        let tagged = first_pass.and_then(|tagged| tagged.get(number));
        let tagged: Option<Vec<u16>> = tagged.map(|tokens| tokens.iter().map(class).collect());
        let mut before = [NOTHING; 2];
        for (at, token) in sentence.iter().enumerate() {
            let ahead = tagged.as_ref().map(|tags| &tags[at..]);
            write_row(&encoded, at, before, ahead, &mut row.values);
            instances.push(&row, class(token));
            before = [tag_value(class(token)), before[0]];
        }
    }
    instances
}

impl Tagger for TwoPassTagger {
    fn tags(&self) -> &Symbols {
        &self.numbers.tags
    }

    fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    fn predictor(&self) -> Box<dyn TagPredictor + '_> {
        Box::new(TwoPassPredictor { tagger: self, memory: Memory::default(), first: Vec::new() })
    }

    fn store(&self, sections: &mut Sections) -> Result<()> {
        bincode_section::put(sections, "numbers", &self.numbers)?;
        self.lexicon.store(sections);
        for (part, classifier) in [("first", Some(&self.first)), ("second", self.second.as_ref())] {
            let mut inside = Sections::default();
            if let Some(classifier) = classifier {
                classifier.store(&mut inside);
            }
            sections.put_part(part, inside);
        }
        Ok(())
    }
}

struct TwoPassPredictor<'a> {
    tagger: &'a TwoPassTagger,
    memory: Memory,
    /// The tags of the first pass.
    first: Vec<u16>,
}

#[derive(Default)]
struct Memory {
    encoded: Vec<Encoded>,
    row: Row,
    scratch: [Scratch; 2],
    scores: Vec<f32>,
}

impl Memory {
    /// Tags the encoded sentence in one pass; the second pass receives the tags of the first.
    fn pass(
        &mut self,
        classifier: &dyn Classifier,
        first_pass: Option<&[u16]>,
        out: &mut Vec<u16>,
    ) {
        let Self { encoded, row, scratch, scores } = self;
        let scratch = &mut scratch[usize::from(first_pass.is_some())];
        out.clear();
        scores.resize(classifier.n_classes(), 0.0);
        let mut before = [NOTHING; 2];
        for at in 0..encoded.len() {
            let ahead = first_pass.map(|tags| &tags[at..]);
            write_row(encoded, at, before, ahead, &mut row.values);
            classifier.scores(row.borrow(), scratch, scores);
            let tag = first_best(scores.as_slice()) as u16;
            out.push(tag);
            before = [tag_value(tag), before[0]];
        }
    }
}

impl TagPredictor for TwoPassPredictor<'_> {
    fn predict(&mut self, tokens: &[Token], out: &mut Vec<u16>) {
        let Self { tagger, memory, first } = self;
        tagger.numbers.encode(tokens, &mut memory.encoded);
        match &tagger.second {
            None => memory.pass(&*tagger.first, None, out),
            Some(second) => {
                memory.pass(&*tagger.first, None, first);
                memory.pass(&**second, Some(first), out);
            }
        }
    }
}

#[cfg(test)]
mod tests;
