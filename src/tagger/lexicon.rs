//! The words of the training sentences, and the ambiguity classes of the frequent ones.

use rustc_hash::FxHashMap;

use super::hash::word_hash;
use crate::memory::{Array, Sections};
use crate::sort::sort_by_key;
use crate::{Error, Result};

/// Tags with a smaller share of a word's occurrences do not count for its class.
const SHARE: f64 = 0.02;

/// Maximum number of ambiguity classes.
const MOST_CLASSES: usize = 60_000;

/// Words by fingerprint, in ascending order, with their ambiguity classes: words with the same set of tags
/// are in one class. Class 0 is that of rare words.
#[derive(Debug, Clone)]
pub struct Lexicon {
    words: Array<u32>,
    classes: Array<u16>,
}

fn fingerprint(hash: u64) -> u32 {
    (hash >> 32) as u32
}

impl Lexicon {
    /// The lexicon of tagged words; only words that occur at least `minimum` times get a class.
    pub fn of<'a>(tokens: impl Iterator<Item = (&'a str, u16)>, minimum: u32) -> Self {
        let mut counts: FxHashMap<u32, Vec<(u16, u32)>> = FxHashMap::default();
        for (word, tag) in tokens {
            let tags = counts.entry(fingerprint(word_hash(word))).or_default();
            match tags.iter_mut().find(|(other, _)| *other == tag) {
                Some((_, count)) => *count += 1,
                None => tags.push((tag, 1)),
            }
        }
        let mut words: Vec<(u32, Vec<(u16, u32)>)> = counts.into_iter().collect();
        sort_by_key(&mut words, |(word, _)| *word);
        let mut sets: FxHashMap<Vec<u16>, u16> = FxHashMap::default();
        let classes = words.iter().map(|(_, tags)| {
            let total: u32 = tags.iter().map(|(_, count)| count).sum();
            if total < minimum {
                return 0;
            }
            let often = |count: u32| f64::from(count) >= SHARE * f64::from(total);
            let mut set: Vec<u16> =
                tags.iter().filter(|(_, count)| often(*count)).map(|(tag, _)| *tag).collect();
            set.sort_unstable();
            match sets.get(&set) {
                Some(&class) => class,
                None if sets.len() < MOST_CLASSES => {
                    let class = sets.len() as u16 + 1;
                    sets.insert(set, class);
                    class
                }
                None => 0,
            }
        });
        let classes: Vec<u16> = classes.collect();
        let words: Vec<u32> = words.into_iter().map(|(word, _)| word).collect();
        Self { words: words.into(), classes: classes.into() }
    }

    /// The class of a word, given its hash; `None` if it was not seen in training.
    pub fn class(&self, hash: u64) -> Option<u16> {
        let at = self.words.binary_search(&fingerprint(hash)).ok()?;
        self.classes.get(at).copied()
    }

    /// Whether a word was seen in training.
    pub fn knows(&self, word: &str) -> bool {
        self.class(word_hash(word)).is_some()
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Adds the lexicon to the sections of a model.
    pub fn store(&self, sections: &mut Sections) {
        sections.put("lexicon.words", self.words.clone());
        sections.put("lexicon.classes", self.classes.clone());
    }

    /// Reads what [`Lexicon::store`] wrote.
    ///
    /// # Errors
    /// When a section is missing, or the sections do not match.
    pub fn load(sections: &Sections) -> Result<Self> {
        let lexicon = Self {
            words: sections.get("lexicon.words")?,
            classes: sections.get("lexicon.classes")?,
        };
        if lexicon.words.len() != lexicon.classes.len() || !lexicon.words.is_sorted() {
            return Err(Error::Corrupt("the lexicon of the tagger is corrupted".into()));
        }
        Ok(lexicon)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_the_same_tags_are_of_one_class_and_rare_ones_of_none() {
        let words = ["run", "run", "walk", "walk", "dog", "dog", "once"];
        let tags = [1, 2, 2, 1, 3, 3, 3];
        let lexicon = Lexicon::of(words.into_iter().zip(tags), 2);
        let class = |word| lexicon.class(word_hash(word));
        assert_eq!(class("run"), class("walk"));
        assert_ne!(class("run"), class("dog"));
        assert_eq!((class("once"), class("never")), (Some(0), None));
        assert_eq!(lexicon.len(), 4);
    }

    #[test]
    fn a_lexicon_that_is_not_whole_is_refused() {
        let mut sections = Sections::default();
        sections.put::<u32>("lexicon.words", vec![2, 1].into());
        sections.put::<u16>("lexicon.classes", vec![0, 0].into());
        assert!(Lexicon::load(&sections).is_err());
        let mut sections = Sections::default();
        sections.put::<u32>("lexicon.words", vec![1, 2].into());
        sections.put::<u16>("lexicon.classes", vec![0].into());
        assert!(Lexicon::load(&sections).is_err());
    }
}
