//! The vocabulary of a parser in its model: words, tags and parts of words, and the tokenizer of its encoder.

use std::sync::Arc;

use super::bincode_section;
use crate::Result;
use crate::memory::{Array, Sections};
use crate::pieces::PieceTokenizer;
use crate::symbols::Vocabulary;

const WORDS: &str = "vocabulary";
const PIECES: &str = "pieces";

/// Adds a vocabulary to the sections of a model.
///
/// # Errors
/// When it is too large.
pub fn store(vocabulary: &Vocabulary, sections: &mut Sections) -> Result<()> {
    bincode_section::put(sections, WORDS, vocabulary)?;
    if let Some(tokenizer) = vocabulary.pieces() {
        sections.put(PIECES, tokenizer.to_bytes().into());
    }
    Ok(())
}

/// Reads the vocabulary of a model.
///
/// # Errors
/// When it is missing or damaged.
pub fn load(sections: &Sections) -> Result<Vocabulary> {
    let mut vocabulary: Vocabulary = bincode_section::get(sections, WORDS)?;
    if sections.0.iter().any(|section| section.name == PIECES) {
        let bytes: Array<u8> = sections.get(PIECES)?;
        vocabulary.set_pieces(Arc::new(PieceTokenizer::from_bytes(&bytes)?));
    }
    Ok(vocabulary)
}
