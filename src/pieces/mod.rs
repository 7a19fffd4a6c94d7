//! Words as pieces: the tokenizers of pretrained encoders.
//!
//! A word is tokenized by itself. WordPiece (Wu et al. 2016) takes the longest known piece from left to right, byte-level
//! BPE (Sennrich et al. 2016) joins bytes in a learned order, Unigram (Kudo 2018) finds the most probable pieces. Text is
//! normalized for lookup only; the words of a sentence stay as they are. The crate `kitoken` does all of this; here are
//! what may be read, how it is stored in a model, and how pieces are left out.

mod charsmap;
pub(crate) mod read;
mod setup;
mod stored;

use std::borrow::Cow;
use std::fmt;

use kitoken::{Kitoken, Model, Token};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::escapes;
use setup::{Setup, Vocabulary};

/// The most pieces of a tokenizer.
const MAX_PIECES: usize = 1 << 21;
/// The longest piece in bytes; longer ones are never found.
const MAX_LENGTH: usize = u8::MAX as usize;
/// The most bytes of a word that are split: a word of Chinese characters takes quadratic time.
const MAX_WORD: usize = 1_000;

/// A tokenizer of words, shared by all threads.
pub struct PieceTokenizer {
    setup: Setup,
    len: usize,
    tokenizer: Kitoken,
}

impl fmt::Debug for PieceTokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PieceTokenizer").field("len", &self.len).finish_non_exhaustive()
    }
}

impl PieceTokenizer {
    /// The number of pieces: ids are below it.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The piece before the words of a sentence: `[CLS]` or `<s>`.
    pub fn first_piece(&self) -> u32 {
        self.setup.special.first
    }

    /// The piece after the words of a sentence: `[SEP]` or `</s>`.
    pub fn last_piece(&self) -> u32 {
        self.setup.special.last
    }

    /// Adds the ids of a word's pieces, at least one. Penn escapes of brackets and quotes are replaced by what they
    /// stand for. A word of more than 1,000 bytes is cut off there.
    pub fn pieces(&self, word: &str, out: &mut Vec<u32>) {
        let word = escapes::mark(word).unwrap_or(word);
        let word = &word[..word.floor_char_boundary(MAX_WORD)];
        let text = match self.setup.kind.begins_with_space() {
            true => Cow::Owned(format!(" {word}")),
            false => Cow::Borrowed(word),
        };
        let pieces = self.tokenizer.encode(text, false).unwrap_or_default();
        if pieces.is_empty() {
            out.push(self.setup.special.unknown);
        }
        out.extend(pieces);
    }

    /// A tokenizer with fewer pieces: the special ones, those of one character, those that `keep` accepts by id and
    /// text, and those from which byte-level BPE joins them. Returns with it the ids that its pieces have here.
    pub fn restrict(&self, keep: impl Fn(u32, &str) -> bool) -> (Self, Vec<u32>) {
        let Vocabulary { mut pieces, mut scores } = self.vocabulary();
        let is_kept = |piece: &Token| {
            self.setup.kind.is_character(&piece.bytes)
                || keep(piece.id, &String::from_utf8_lossy(&piece.bytes))
        };
        let mut kept: Vec<bool> = pieces.iter().map(is_kept).collect();
        if self.setup.kind.joins() {
            keep_parts(&pieces, &mut kept);
        }
        // One at least that can begin a word.
        let begins = |(piece, _): &(&Token, &mut bool)| self.setup.kind.begins_word(&piece.bytes);
        let mut beginning = pieces.iter().zip(&mut kept).filter(begins);
        if let Some((_, first)) = beginning.next() {
            *first |= beginning.all(|(_, kept)| !*kept);
        }
        let special = self.setup.special;
        let mut old: Vec<u32> = vec![special.unknown, special.first, special.last];
        old.extend(pieces.iter().zip(&kept).filter(|&(_, &kept)| kept).map(|(piece, _)| piece.id));
        old.sort_unstable();
        old.dedup();
        let new: FxHashMap<u32, u32> = old.iter().copied().zip(0..).collect();
        let mut flags = kept.iter();
        pieces.retain(|_| *flags.next().unwrap_or(&false));
        let mut flags = kept.iter();
        scores.retain(|_| *flags.next().unwrap_or(&false));
        pieces.iter_mut().for_each(|piece| piece.id = new[&piece.id]);
        let setup = Setup { kind: self.setup.kind.clone(), special: special.map(|id| new[&id]) };
        let tokenizer = setup.tokenizer(Vocabulary { pieces, scores });
        // Fewer of the same pieces are as sound as all of them.
        let tokenizer = tokenizer.unwrap_or_else(|| unreachable!("a part of a sound vocabulary"));
        (Self { setup, len: old.len(), tokenizer }, old)
    }

    /// The pieces that can be found, in the order of joining for BPE; Unigram's scores.
    fn vocabulary(&self) -> Vocabulary {
        match self.tokenizer.to_definition().model {
            Model::Unigram { vocab, scores } => Vocabulary { pieces: vocab, scores },
            Model::WordPiece { vocab, .. } | Model::BytePair { vocab, .. } => {
                Vocabulary { pieces: vocab, scores: Vec::new() }
            }
            _ => Vocabulary::default(),
        }
    }

    /// Makes a tokenizer of parts from anywhere; `None` if they are not sound.
    fn of_parts(setup: Setup, len: usize, mut vocabulary: Vocabulary) -> Option<Self> {
        let special = setup.special;
        let specials = [special.unknown, special.first, special.last];
        if len > MAX_PIECES || specials.iter().any(|&id| id as usize >= len) {
            return None;
        }
        let mut ids = vec![false; len];
        specials.iter().for_each(|&id| ids[id as usize] = true);
        let mut texts = FxHashSet::default();
        for piece in &vocabulary.pieces {
            let used = ids.get_mut(piece.id as usize)?;
            let is_readable = setup.kind.joins() || std::str::from_utf8(&piece.bytes).is_ok();
            if piece.bytes.is_empty() || !is_readable || !texts.insert(&piece.bytes) {
                return None;
            }
            if std::mem::replace(used, true) {
                return None;
            }
        }
        drop(texts);
        let are_scored = vocabulary.scores.len() == vocabulary.pieces.len();
        if setup.kind.has_scores() != are_scored && !vocabulary.pieces.is_empty()
            || vocabulary.scores.iter().any(|score| !score.is_finite())
        {
            return None;
        }
        if !setup.kind.has_scores() {
            vocabulary.scores.clear();
        }
        let tokenizer = setup.tokenizer(vocabulary)?;
        Some(Self { setup, len, tokenizer })
    }
}

/// Keeps two parts of each kept piece, which stand before it: those of which the later one is the earliest.
fn keep_parts(pieces: &[Token], kept: &mut [bool]) {
    let ranks: FxHashMap<&[u8], usize> =
        pieces.iter().enumerate().map(|(rank, piece)| (&piece.bytes[..], rank)).collect();
    // Single bytes have no parts, wherever they stand.
    for rank in (0..pieces.len()).rev().filter(|&rank| pieces[rank].bytes.len() > 1) {
        if !kept[rank] {
            continue;
        }
        let bytes = &pieces[rank].bytes[..];
        let parts = (1..bytes.len()).filter_map(|at| {
            let (left, right) = bytes.split_at(at);
            let parts = [*ranks.get(left)?, *ranks.get(right)?];
            let last = parts.into_iter().filter(|&part| pieces[part].bytes.len() > 1).max();
            (last < Some(rank)).then_some((last, parts))
        });
        if let Some((_, parts)) = parts.min() {
            parts.into_iter().for_each(|part| kept[part] = true);
        }
    }
}

#[cfg(test)]
mod tests;
