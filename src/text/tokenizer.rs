//! The tokenizer of raw text: settings, and word boundaries that a model has learned.

use std::sync::Arc;

use super::language::{Language, LanguageRules};
use super::piece::Role;
use super::script::Script;
use super::segmenter::{Marks, Segmenter};
use super::settings::TextSettings;
use super::splitter::{Layout, Splitter, TextSentence};

/// The tag of emoji and emoticons in the English Web Treebank.
const EMOJI_TAG: &str = "NFP";

/// How raw text becomes sentences of words. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    settings: TextSettings,
    segmenter: Option<Arc<Segmenter>>,
    straightens: bool,
    tags_quotes: bool,
    tags_emoji: bool,
}

impl Default for Tokenizer {
    fn default() -> Self {
        Self::from(TextSettings::default())
    }
}

impl From<TextSettings> for Tokenizer {
    fn from(settings: TextSettings) -> Self {
        Self::new(settings, None)
    }
}

impl Tokenizer {
    /// A tokenizer with the word boundaries of a model, if it has learned any.
    pub(crate) fn new(mut settings: TextSettings, segmenter: Option<Segmenter>) -> Self {
        settings.language = match &segmenter {
            Some(segmenter) => settings.language.resolved(|word| segmenter.knows(word)),
            None if settings.tokenization.is_penn() => Language::English,
            None => settings.language,
        };
        let straightens = segmenter.as_ref().is_some_and(has_straight_apostrophes);
        let segmenter = segmenter.map(Arc::new);
        Self { settings, segmenter, straightens, tags_quotes: false, tags_emoji: false }
    }

    /// The same, which gives tags that the model knows: ` `` ` and `''` to straight quotation marks that open and close, `NFP` to
    /// emoji and emoticons.
    #[must_use]
    pub(crate) fn tagging(self, knows: impl Fn(&str) -> bool) -> Self {
        Self { tags_quotes: knows("``") && knows("''"), tags_emoji: knows(EMOJI_TAG), ..self }
    }

    /// The settings.
    pub fn settings(&self) -> TextSettings {
        self.settings
    }

    /// The sentences of a whole text.
    ///
    /// ```
    /// use srparse::text::Tokenizer;
    /// let found = Tokenizer::default().sentences("Dogs bark. Don't\nthey?");
    /// assert_eq!(found.iter().map(|sentence| sentence.tokens.len()).collect::<Vec<_>>(), [3, 4]);
    /// ```
    pub fn sentences(&self, text: &str) -> Vec<TextSentence> {
        let mut splitter = Splitter::new(self.clone());
        let mut found = Vec::new();
        for line in text.split_inclusive('\n') {
            splitter.add_line(line);
            found.extend(std::iter::from_fn(|| splitter.next_sentence()));
        }
        splitter.end_paragraph();
        found.extend(std::iter::from_fn(|| splitter.next_sentence()));
        found
    }

    /// The words of a text that is one sentence, whatever its punctuation; `None` if it has no words.
    pub(crate) fn one_sentence(&self, text: &str) -> Option<TextSentence> {
        let (mut tokens, mut spans) = (Vec::new(), Vec::new());
        for sentence in self.sentences(text) {
            tokens.extend(sentence.tokens);
            spans.extend(sentence.layout.spans);
        }
        let layout = Layout { text: text.trim().to_owned(), spans, space_after: true };
        (!tokens.is_empty()).then_some(TextSentence { tokens, layout })
    }

    /// Why the words of a text, such as a sentence, cannot be found, if they cannot: its script has no spaces between
    /// words, and the model has not learned where they end.
    pub fn refuses(&self, text: &str) -> Option<&'static str> {
        let script = Script::of_text([text]).filter(|_| text.trim().chars().nth(1).is_some())?;
        let is_known = self.segmenter().is_some_and(|segmenter| segmenter.knows_script(script));
        (!is_known).then_some(
            "the script has no spaces between words, and the model has not learned where words end: give the \
             words (`--input tokens`, `tokens` in JSON), or use a model trained on a treebank of this language",
        )
    }

    /// Whether curly apostrophes are written as straight ones, as the treebank has them.
    pub(super) fn straightens(&self) -> bool {
        self.straightens
    }

    /// The tag of a token; empty for all but straight quotation marks and emoji.
    pub(super) fn tag(&self, surface: &str, role: Role) -> &'static str {
        match (surface, role) {
            ("\"" | "\u{ff02}", Role::Closing) if self.tags_quotes => "''",
            ("\"" | "\u{ff02}", _) if self.tags_quotes => "``",
            // `<3` is `less than three` too.
            (_, Role::Emoticon) if self.tags_emoji && surface != "<3" => EMOJI_TAG,
            _ => "",
        }
    }

    pub(super) fn rules(&self) -> &'static LanguageRules {
        self.settings.language.rules()
    }

    pub(super) fn segmenter(&self) -> Option<&Segmenter> {
        self.segmenter.as_deref()
    }

    /// How words are written that differ from the text.
    pub(super) fn marks(&self) -> Marks {
        self.segmenter().map(Segmenter::marks).unwrap_or_default()
    }
}

/// Whether a treebank has words with straight apostrophes, and no curly ones.
fn has_straight_apostrophes(segmenter: &Segmenter) -> bool {
    const WORDS: [&str; 10] = ["l'", "d'", "qu'", "n'", "s'", "'s", "'t", "'n", "'", "zo'n"];
    let is_known = |word: &&str| segmenter.knows(word);
    let is_curly = |word: &&str| segmenter.knows(&word.replace('\'', "\u{2019}"));
    WORDS.iter().any(is_known) && !WORDS.iter().any(is_curly)
}
