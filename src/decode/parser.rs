//! Parsers for sentences as strings.
//!
//! A [`Parser`] is what all threads share: tables and rules. A [`Worker`] is what one thread needs
//! besides: scratch memory. The types of system, scorer and decoder end here.

use crate::decode::Decoder;
use crate::scorer::Scorer;
use crate::symbols::{Sentence, Vocabulary};
use crate::transition::TransitionSystem;
use crate::tree::{Token, Tree};
use crate::treebank::{Cleaning, reattach};

/// What comes out for a sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Parse {
    /// The tree over all words of the input, rooted in `TOP`, with head children where known.
    pub tree: Tree,
    /// The score of the derivation, on the model's own scale.
    pub score: f64,
    /// Whether the derivation came to its end; if not, the tree is a partial analysis.
    pub complete: bool,
}

/// A parser, shared by all threads.
pub trait Parser: Send + Sync {
    /// A worker for one thread.
    fn worker(&self) -> Box<dyn Worker + '_>;
}

/// A parser's hand in one thread.
pub trait Worker: Send {
    /// Parses a sentence. Words and tags come back unchanged and in order.
    fn parse(&mut self, tokens: &[Token]) -> Parse;
}

/// A system, a scorer and a decoder at work.
#[derive(Debug)]
pub struct Pipeline<S, P, D> {
    /// How the input is cleaned for the parser's view.
    pub cleaning: Cleaning,
    /// The known words and tags.
    pub vocabulary: Vocabulary,
    /// The transition system.
    pub system: S,
    /// The scorer.
    pub scorer: P,
    /// The decoder.
    pub decoder: D,
}

struct PipelineWorker<'a, S: TransitionSystem, P: Scorer<S>, D: Decoder<S, P>> {
    pipeline: &'a Pipeline<S, P, D>,
    sentence: Sentence,
    scratch: D::Scratch,
}

impl<S: TransitionSystem, P: Scorer<S>, D: Decoder<S, P>> Parser for Pipeline<S, P, D> {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(PipelineWorker {
            pipeline: self,
            sentence: Sentence::default(),
            scratch: D::Scratch::default(),
        })
    }
}

impl<S: TransitionSystem, P: Scorer<S>, D: Decoder<S, P>> Worker for PipelineWorker<'_, S, P, D> {
    fn parse(&mut self, tokens: &[Token]) -> Parse {
        let Pipeline { cleaning, vocabulary, system, scorer, decoder } = self.pipeline;
        let kept = cleaning.apply_tokens(tokens);
        vocabulary.encode_into(&kept.tokens, &mut self.sentence);
        let decoded = decoder.decode(system, scorer, &self.sentence, &mut self.scratch);
        let tree = if kept.tokens.len() == tokens.len() {
            system.tree(&decoded.state, tokens)
        } else {
            reattach(&system.tree(&decoded.state, &kept.tokens), &kept.kept, tokens)
        };
        Parse { tree, score: decoded.score, complete: decoded.complete }
    }
}
