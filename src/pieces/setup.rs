//! The steps of a tokenizer before it looks for pieces, and how `kitoken` is told.

use kitoken::{
    Configuration, Definition, Kitoken, Metadata, Model, Processing, SpecialToken,
    SpecialTokenKind, Token,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A kind of tokenizer with its normalization.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// Pieces inside a word begin with `##`.
    WordPiece {
        /// Control characters are removed.
        clean: bool,
        /// Chinese characters stand alone.
        split_chinese: bool,
        strip_accents: bool,
        lowercase: bool,
        /// Longer parts of words are unknown.
        most_characters: u32,
    },
    /// Pieces are bytes, with a space before the word.
    BytePairs,
    /// The first piece begins with `▁`.
    Unigram {
        /// Replacements of characters as SentencePiece compiles them, in base64; may be empty.
        charsmap: String,
    },
}

impl Kind {
    pub(super) fn begins_with_space(&self) -> bool {
        matches!(self, Self::BytePairs)
    }

    /// Whether pieces are joined of earlier ones.
    pub(super) fn joins(&self) -> bool {
        matches!(self, Self::BytePairs)
    }

    pub(super) fn has_scores(&self) -> bool {
        matches!(self, Self::Unigram { .. })
    }

    pub(super) fn begins_word(&self, piece: &[u8]) -> bool {
        !matches!(self, Self::WordPiece { .. }) || !piece.starts_with(b"##")
    }

    /// Whether a piece is a single character (a byte, for byte-level BPE) at the beginning or inside of words.
    pub(super) fn is_character(&self, piece: &[u8]) -> bool {
        let text = match self {
            Self::WordPiece { .. } => piece.strip_prefix(b"##").unwrap_or(piece),
            Self::BytePairs => return piece.len() == 1,
            Self::Unigram { .. } => piece.strip_prefix("▁".as_bytes()).unwrap_or(piece),
        };
        std::str::from_utf8(text).is_ok_and(|text| text.chars().nth(1).is_none())
    }

    /// The settings of a tokenizer as `tokenizer.json` has them, with the unknown piece only.
    fn json(&self) -> serde_json::Value {
        let unknown = json!([{ "id": 0, "content": "?", "single_word": false, "lstrip": false, "rstrip": false,
                               "normalized": false, "special": true }]);
        match self {
            Self::WordPiece { clean, split_chinese, strip_accents, lowercase, most_characters } => {
                json!({
                    "added_tokens": unknown,
                    "normalizer": { "type": "BertNormalizer", "clean_text": clean, "lowercase": lowercase,
                                    "handle_chinese_chars": split_chinese, "strip_accents": strip_accents },
                    "pre_tokenizer": { "type": "BertPreTokenizer" },
                    "model": { "type": "WordPiece", "unk_token": "?", "continuing_subword_prefix": "##",
                               "max_input_chars_per_word": most_characters, "vocab": { "?": 0 } },
                })
            }
            Self::BytePairs => json!({
                "added_tokens": unknown,
                "pre_tokenizer": { "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true },
                "model": { "type": "BPE", "unk_token": "?", "vocab": { "?": 0 }, "merges": [] },
            }),
            Self::Unigram { charsmap } => json!({
                "added_tokens": unknown,
                "normalizer": match charsmap.is_empty() {
                    true => json!(null),
                    false => json!({ "type": "Precompiled", "precompiled_charsmap": charsmap }),
                },
                "pre_tokenizer": { "type": "Sequence", "pretokenizers": [
                    { "type": "WhitespaceSplit" },
                    { "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always" },
                ] },
                "model": { "type": "Unigram", "unk_id": 0, "vocab": [["?", 0.0]] },
            }),
        }
    }

    fn configuration(&self) -> Option<Configuration> {
        let json = self.json().to_string();
        Some(Definition::from_tokenizers_slice(json.as_bytes()).ok()?.config)
    }
}

/// The ids of special pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Special {
    pub(super) unknown: u32,
    pub(super) first: u32,
    pub(super) last: u32,
}

impl Special {
    pub(super) fn map(self, f: impl Fn(u32) -> u32) -> Self {
        Self { unknown: f(self.unknown), first: f(self.first), last: f(self.last) }
    }
}

/// Pieces that can be found.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    /// In the order in which BPE joins them.
    pub(super) pieces: Vec<Token>,
    /// Of Unigram, one for each piece.
    pub(super) scores: Vec<f32>,
}

/// Everything about a tokenizer but its pieces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Setup {
    pub(super) kind: Kind,
    pub(super) special: Special,
}

impl Setup {
    /// The tokenizer with these pieces; `None` if there are none that can begin a word, or they do not fit.
    pub(super) fn tokenizer(&self, vocabulary: Vocabulary) -> Option<Kitoken> {
        let mut config = self.kind.configuration()?;
        for processing in &mut config.processing {
            if let Processing::Collapse { id } = processing {
                *id = self.special.unknown;
            }
        }
        let unknown = SpecialToken {
            id: self.special.unknown,
            bytes: b"[UNK]".to_vec(),
            kind: SpecialTokenKind::Unknown,
            ident: None,
            score: 0.0,
            extract: false,
        };
        let Vocabulary { pieces: vocab, scores } = vocabulary;
        if !vocab.iter().any(|piece| self.kind.begins_word(&piece.bytes)) {
            return None;
        }
        let model = match self.kind {
            Kind::WordPiece { most_characters, .. } => {
                Model::WordPiece { vocab, max_word_chars: most_characters }
            }
            Kind::BytePairs => Model::BytePair { vocab, chars: false },
            Kind::Unigram { .. } => Model::Unigram { vocab, scores },
        };
        Kitoken::new(model, vec![unknown], config, Metadata::default()).ok()
    }
}
