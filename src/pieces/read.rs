//! Tokenizers in the folders of encoders: `tokenizer.json` or `vocab.txt`.

use std::collections::HashMap;
use std::path::Path;

use kitoken::{Definition, Model, Token};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::setup::{Kind, Setup, Special, Vocabulary};
use super::{MAX_LENGTH, MAX_PIECES, PieceTokenizer, charsmap};
use crate::error::{Error, Place, Result};
use crate::text_file;

/// The largest file; that of XLM-R has 17 MB.
const MAX_BYTES: u64 = 1 << 28;
const MOST_CHARACTERS: u32 = 100;

/// A part of `tokenizer.json` that is done before pieces are looked for. Whatever is not here is refused.
#[derive(Deserialize)]
#[serde(tag = "type")]
enum Preparation {
    BertNormalizer {
        clean_text: bool,
        handle_chinese_chars: bool,
        strip_accents: Option<bool>,
        lowercase: bool,
    },
    Precompiled {
        precompiled_charsmap: Option<String>,
    },
    /// Without effect where whitespace ends a word.
    Replace {
        pattern: Pattern,
        content: String,
    },
    BertPreTokenizer,
    ByteLevel {
        #[serde(default = "yes")]
        use_regex: bool,
    },
    WhitespaceSplit,
    Metaspace {
        replacement: char,
        prepend_scheme: Option<String>,
    },
    Sequence {
        #[serde(alias = "pretokenizers")]
        normalizers: Vec<Preparation>,
    },
}

#[derive(Deserialize)]
enum Pattern {
    Regex(String),
    String(String),
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
struct TokenizerFile {
    normalizer: Option<Value>,
    pre_tokenizer: Option<Value>,
    model: ModelFile,
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
}

/// What says which pieces there are is read by `kitoken`.
#[derive(Deserialize)]
struct ModelFile {
    #[serde(rename = "type")]
    model: String,
    #[serde(default)]
    continuing_subword_prefix: Option<String>,
    #[serde(default)]
    end_of_word_suffix: Option<String>,
    #[serde(default)]
    byte_fallback: Option<bool>,
    #[serde(default)]
    max_input_chars_per_word: Option<u32>,
}

#[derive(Deserialize, Serialize)]
#[serde(default)]
struct TokenizerConfig {
    do_lower_case: bool,
    strip_accents: Option<bool>,
    tokenize_chinese_chars: bool,
}

impl Default for TokenizerConfig {
    fn default() -> Self {
        Self { do_lower_case: true, strip_accents: None, tokenize_chinese_chars: true }
    }
}

impl PieceTokenizer {
    /// Reads the tokenizer of a folder: `tokenizer.json` or, for WordPiece, `vocab.txt`, for which
    /// `tokenizer_config.json` says whether words are lowercased.
    ///
    /// # Errors
    /// When both files are missing, or the tokenizer is malformed or of another kind than WordPiece, byte-level BPE
    /// and Unigram.
    pub fn read(folder: &Path) -> Result<Self> {
        let file = folder.join("tokenizer.json");
        if file.exists() {
            return of_json(&file, &read_bytes(&file)?);
        }
        let file = folder.join("vocab.txt");
        if file.exists() {
            let json = json_of_list(folder, &file)?;
            return of_json(&file, json.to_string().as_bytes());
        }
        let advice = "no `tokenizer.json` and no `vocab.txt` in this folder: download them, or make the first of \
                      other files here by `python -c \"from transformers import AutoTokenizer as T; \
                      T.from_pretrained('.').save_pretrained('.')\"`";
        Err(unusable(folder, advice))
    }
}

/// The error of a file of an encoder that cannot be used.
pub(crate) fn unusable(path: &Path, problem: impl Into<String>) -> Error {
    Error::Model { path: path.to_path_buf(), problem: problem.into() }
}

fn other_kind(path: &Path, what: &str) -> Error {
    let advice = "give an encoder with a tokenizer of the kinds WordPiece (as BERT's), byte-level BPE (as RoBERTa's) \
                  or Unigram (as XLM-R's)";
    unusable(path, format!("{what}: {advice}"))
}

fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let problem = "too large for a tokenizer: give the files of an encoder";
    text_file::read_bytes(path, MAX_BYTES)?.ok_or_else(|| unusable(path, problem))
}

/// Parses the bytes of a JSON file of an encoder.
pub(crate) fn parse<'a, T: Deserialize<'a>>(path: &Path, bytes: &'a [u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| {
        let at = Place::new(path.display().to_string(), error.line() as u64, error.column() as u64);
        let problem = error.to_string();
        let problem = problem.split(" at line ").next().unwrap_or_default();
        Error::syntax(at, format!("{problem}: download the file again"))
    })
}

/// The `tokenizer.json` that a list of pieces stands for. A repeated piece keeps its first id.
fn json_of_list(folder: &Path, path: &Path) -> Result<Value> {
    let config = folder.join("tokenizer_config.json");
    let config = match config.exists() {
        true => parse(&config, &read_bytes(&config)?)?,
        false => TokenizerConfig::default(),
    };
    let bytes = read_bytes(path)?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| unusable(path, "not in UTF-8: save it as UTF-8"))?;
    let mut ids: HashMap<&str, usize> = HashMap::new();
    for (id, piece) in text.lines().enumerate().take(MAX_PIECES) {
        ids.entry(piece.trim_end()).or_insert(id);
    }
    let special: Vec<Value> = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
        .iter()
        .filter_map(|&name| {
            let id = *ids.get(name)?;
            Some(json!({ "id": id, "content": name, "single_word": false, "lstrip": false,
                         "rstrip": false, "normalized": false, "special": true }))
        })
        .collect();
    Ok(json!({
        "added_tokens": special,
        "normalizer": { "type": "BertNormalizer", "clean_text": true, "lowercase": config.do_lower_case,
                        "handle_chinese_chars": config.tokenize_chinese_chars,
                        "strip_accents": config.strip_accents },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                   "max_input_chars_per_word": MOST_CHARACTERS, "vocab": ids },
    }))
}

fn of_json(path: &Path, bytes: &[u8]) -> Result<PieceTokenizer> {
    let file: TokenizerFile = parse(path, bytes)?;
    // Before kitoken reads it, which trusts tables of replacements.
    let kind = kind(path, &file)?;
    let definition = Definition::from_tokenizers_slice(bytes)
        .map_err(|error| other_kind(path, &format!("a tokenizer that cannot be read ({error})")))?;
    let mut named: HashMap<&str, u32> = HashMap::new();
    named.extend(file.added_tokens.iter().map(|token| (&*token.content, token.id)));
    let mut vocabulary = match &definition.model {
        Model::Unigram { vocab, scores } => {
            Vocabulary { pieces: vocab.clone(), scores: scores.clone() }
        }
        Model::WordPiece { vocab, .. } | Model::BytePair { vocab, .. } => {
            Vocabulary { pieces: vocab.clone(), scores: Vec::new() }
        }
        _ => Vocabulary::default(),
    };
    for piece in &vocabulary.pieces {
        if let Ok(text) = std::str::from_utf8(&piece.bytes) {
            named.entry(text).or_insert(piece.id);
        }
    }
    let names = match kind {
        Kind::WordPiece { .. } => ["[UNK]", "[CLS]", "[SEP]"],
        _ => ["<unk>", "<s>", "</s>"],
    };
    let mut special = [0; 3];
    for (id, name) in special.iter_mut().zip(names) {
        *id = *named.get(name).ok_or_else(|| {
            unusable(path, format!("no piece `{name}`: give the tokenizer of an encoder for texts"))
        })?;
    }
    let added = file.added_tokens.iter().map(|token| token.id);
    let last = vocabulary.pieces.iter().map(|piece| piece.id).chain(added).max().unwrap_or(0);
    drop_pieces(&mut vocabulary, |piece| {
        piece.bytes.is_empty() || piece.bytes.len() > MAX_LENGTH || special.contains(&piece.id)
    });
    let [unknown, first, last_piece] = special;
    let setup = Setup { kind, special: Special { unknown, first, last: last_piece } };
    let len = (last as usize).saturating_add(1);
    PieceTokenizer::of_parts(setup, len, vocabulary).ok_or_else(|| {
        let most = MAX_PIECES;
        let problem = format!(
            "the vocabulary is not sound: ids and pieces must be different, ids below {most}, scores finite"
        );
        unusable(path, format!("{problem}: download the file again"))
    })
}

fn drop_pieces(vocabulary: &mut Vocabulary, is_dropped: impl Fn(&Token) -> bool) {
    let kept: Vec<bool> = vocabulary.pieces.iter().map(|piece| !is_dropped(piece)).collect();
    let mut flags = kept.iter();
    vocabulary.scores.retain(|_| *flags.next().unwrap_or(&false));
    let mut flags = kept.iter();
    vocabulary.pieces.retain(|_| *flags.next().unwrap_or(&false));
}

/// The kind of a tokenizer with its normalization; whatever would give other pieces is refused.
fn kind(path: &Path, file: &TokenizerFile) -> Result<Kind> {
    let normalizer = steps(path, "normalizer", file.normalizer.as_ref())?;
    let splitter = steps(path, "pre_tokenizer", file.pre_tokenizer.as_ref())?;
    let prefix = file.model.continuing_subword_prefix.as_deref().unwrap_or_default();
    let suffix = file.model.end_of_word_suffix.as_deref().unwrap_or_default();
    if !suffix.is_empty() || file.model.byte_fallback == Some(true) {
        return Err(other_kind(path, "`end_of_word_suffix` or `byte_fallback` is set"));
    }
    match (&file.model.model[..], &normalizer[..], &splitter[..]) {
        (
            "WordPiece",
            &[
                Preparation::BertNormalizer {
                    clean_text,
                    handle_chinese_chars,
                    strip_accents,
                    lowercase,
                },
            ],
            [Preparation::BertPreTokenizer],
        ) if prefix == "##" => Ok(Kind::WordPiece {
            clean: clean_text,
            split_chinese: handle_chinese_chars,
            strip_accents: strip_accents.unwrap_or(lowercase),
            lowercase,
            most_characters: file.model.max_input_chars_per_word.unwrap_or(MOST_CHARACTERS),
        }),
        ("BPE", [], [Preparation::ByteLevel { use_regex: true }]) if prefix.is_empty() => {
            Ok(Kind::BytePairs)
        }
        (
            "Unigram",
            tables @ ([] | [_]),
            [Preparation::WhitespaceSplit, Preparation::Metaspace { .. }]
            | [Preparation::Metaspace { .. }],
        ) => {
            let table = match tables {
                [Preparation::Precompiled { precompiled_charsmap: Some(table) }] => {
                    charsmap::checked(table)
                }
                [] | [Preparation::Precompiled { .. }] => Some(String::new()),
                _ => return Err(other_kind(path, "another normalizer than `Precompiled`")),
            };
            let malformed = "`precompiled_charsmap` is malformed: download the file again";
            table
                .map(|charsmap| Kind::Unigram { charsmap })
                .ok_or_else(|| unusable(path, malformed))
        }
        _ => {
            Err(other_kind(path, "another combination of model, `normalizer` and `pre_tokenizer`"))
        }
    }
}

/// The steps of a normalizer or a splitter in order, without those that have no effect here.
fn steps(path: &Path, name: &str, value: Option<&Value>) -> Result<Vec<Preparation>> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(Vec::new()) };
    let step = Preparation::deserialize(value).map_err(|error| {
        other_kind(path, &format!("`{name}` has a step that is not known ({error})"))
    })?;
    let steps = match step {
        Preparation::Sequence { normalizers } => normalizers,
        step => vec![step],
    };
    let is_refused = |step: &Preparation| match step {
        Preparation::Sequence { .. } => true,
        Preparation::Metaspace { replacement, prepend_scheme } => {
            *replacement != '▁' || prepend_scheme.as_deref().is_some_and(|scheme| scheme == "never")
        }
        _ => false,
    };
    if steps.iter().any(is_refused) {
        return Err(other_kind(path, &format!("`{name}` has a step that is not known")));
    }
    let joins_spaces = |step: &Preparation| match step {
        Preparation::Replace {
            pattern: Pattern::Regex(pattern) | Pattern::String(pattern),
            content,
        } => [" {2,}", "  +", "  ", "\n"].contains(&pattern.as_str()) && content == " ",
        _ => false,
    };
    Ok(steps.into_iter().filter(|step| !joins_spaces(step)).collect())
}
