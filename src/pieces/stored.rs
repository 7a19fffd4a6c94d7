//! Tokenizers in model files.
//!
//! All numbers are little-endian: the length of the header (u32); the header, which is JSON; for each id the length of
//! its piece in bytes (u8), 0 if it is never found; the pieces; for each that can be found its place in the order of
//! joining (BPE, u32) or its score (Unigram, f32).

use kitoken::Token;
use serde::{Deserialize, Serialize};

use super::setup::{Kind, Setup, Vocabulary};
use super::{MAX_PIECES, PieceTokenizer, charsmap};
use crate::error::{Error, Result};

#[derive(Serialize, Deserialize)]
struct Header {
    setup: Setup,
    pieces: usize,
}

impl PieceTokenizer {
    /// The tokenizer as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Vocabulary { pieces, scores } = self.vocabulary();
        let mut by_id: Vec<Option<usize>> = vec![None; self.len];
        for (at, piece) in pieces.iter().enumerate() {
            by_id[piece.id as usize] = Some(at);
        }
        let header = Header { setup: self.setup.clone(), pieces: self.len };
        let header = serde_json::to_vec(&header).unwrap_or_default();
        let mut bytes = (header.len() as u32).to_le_bytes().to_vec();
        bytes.extend(header);
        bytes.extend(by_id.iter().map(|at| at.map_or(0, |at| pieces[at].bytes.len() as u8)));
        let found = || by_id.iter().flatten().copied();
        found().for_each(|at| bytes.extend_from_slice(&pieces[at].bytes));
        match self.setup.kind {
            Kind::WordPiece { .. } => {}
            Kind::BytePairs => found().for_each(|at| bytes.extend((at as u32).to_le_bytes())),
            Kind::Unigram { .. } => found().for_each(|at| bytes.extend(scores[at].to_le_bytes())),
        }
        bytes
    }

    /// Reads a tokenizer from bytes.
    ///
    /// # Errors
    /// When the bytes are not those of a tokenizer.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        read(bytes).ok_or_else(|| Error::corrupt("the pieces of words are malformed"))
    }
}

fn read(bytes: &[u8]) -> Option<PieceTokenizer> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (header, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let Header { mut setup, pieces } = serde_json::from_slice(header).ok()?;
    if pieces > MAX_PIECES {
        return None;
    }
    if let Kind::Unigram { charsmap } = &mut setup.kind {
        *charsmap = charsmap::checked(charsmap)?;
    }
    let (lengths, mut rest) = rest.split_at_checked(pieces)?;
    let mut vocabulary = Vocabulary::default();
    for (id, &length) in lengths.iter().enumerate().filter(|&(_, &length)| length > 0) {
        let (text, after) = rest.split_at_checked(usize::from(length))?;
        vocabulary.pieces.push(Token { id: id as u32, bytes: text.to_vec() });
        rest = after;
    }
    let (numbers, []) = rest.as_chunks::<4>() else { return None };
    let expected = match setup.kind {
        Kind::WordPiece { .. } => 0,
        Kind::BytePairs | Kind::Unigram { .. } => vocabulary.pieces.len(),
    };
    if numbers.len() != expected {
        return None;
    }
    match setup.kind {
        Kind::WordPiece { .. } => {}
        Kind::BytePairs => {
            let mut ranked: Vec<(u32, Token)> = numbers
                .iter()
                .map(|&rank| u32::from_le_bytes(rank))
                .zip(vocabulary.pieces)
                .collect();
            ranked.sort_by_key(|&(rank, _)| rank);
            let mut ranks = ranked.iter().zip(0..);
            if !ranks.all(|((rank, _), at)| *rank == at) {
                return None;
            }
            vocabulary.pieces = ranked.into_iter().map(|(_, piece)| piece).collect();
        }
        Kind::Unigram { .. } => {
            vocabulary.scores = numbers.iter().map(|&score| f32::from_le_bytes(score)).collect();
        }
    }
    PieceTokenizer::of_parts(setup, pieces, vocabulary)
}
