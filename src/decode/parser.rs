//! Parsers for sentences as strings.
//!
//! A [`Parser`] is what all threads share: tables and rules. A [`Worker`] is what one thread needs
//! besides: scratch memory. The types of system, scorer and decoder end here.

use super::constituents::constituent_scores;
use super::{Decoded, Decoder};
use crate::oracle::replay::same_brackets;
use crate::scorer::Scorer;
use crate::symbols::{Sentence, Vocabulary};
use crate::transition::TransitionSystem;
use crate::tree::{Token, Tree};
use crate::treebank::{CleanedSentence, Cleaning, reattach};

/// What comes out for a sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Parse {
    /// The tree over all words of the input, rooted in `TOP`, with head children where known.
    pub tree: Tree,
    /// The score of the derivation, on the model's own scale.
    pub score: f64,
    /// Whether the derivation came to its end; if not, the tree is a partial analysis.
    pub complete: bool,
    /// If they were wanted, for each node of the tree how sure the scorer was of it
    /// ([`super::constituents`]); infinity for the root, and where there was no choice.
    pub constituents: Option<Vec<f32>>,
}

/// What is wanted of a parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NbestRequest {
    /// The most different trees.
    pub trees: usize,
    /// Whether each constituent is to have a score.
    pub constituents: bool,
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
    /// The best different trees for a sentence, best first: at least one, and as many of those wanted as the
    /// search finds.
    fn parse_nbest(&mut self, tokens: &[Token], wanted: NbestRequest) -> Vec<Parse>;
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

impl<S: TransitionSystem, P, D: Decoder<S, P>> Pipeline<S, P, D>
where
    P: Scorer<S>,
{
    /// The tree over all words that the end of a search stands for.
    fn parse(
        &self,
        decoded: &Decoded<S::State, S::Action>,
        kept: &CleanedSentence,
        tokens: &[Token],
    ) -> Parse {
        let Decoded { state, score, complete, .. } = decoded;
        let is_whole = kept.tokens.len() == tokens.len();
        let mut tree = self.system.tree(state, if is_whole { tokens } else { &kept.tokens });
        if !complete {
            join_parts(&mut tree, self.decoder.failure_label());
        }
        if !is_whole {
            tree = reattach(&tree, &kept.positions, tokens);
        }
        Parse { tree, score: *score, complete: *complete, constituents: None }
    }
}

struct PipelineWorker<'a, S: TransitionSystem, P: Scorer<S>, D: Decoder<S, P>> {
    pipeline: &'a Pipeline<S, P, D>,
    sentence: Sentence,
    scratch: D::Scratch,
    replay: P::Scratch,
}

impl<S: TransitionSystem, P: Scorer<S>, D: Decoder<S, P>> Parser for Pipeline<S, P, D> {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(PipelineWorker {
            pipeline: self,
            sentence: Sentence::default(),
            scratch: D::Scratch::default(),
            replay: P::Scratch::default(),
        })
    }
}

/// Puts one node over the parts under the root, if there are several and the label is not empty.
fn join_parts(tree: &mut Tree, label: &str) {
    let n_parts = tree.root().map_or(0, |root| tree.children(root).len());
    if n_parts > 1 && !label.is_empty() {
        tree.insert_below_root(label);
    }
}

impl<S: TransitionSystem, P: Scorer<S>, D: Decoder<S, P>> Worker for PipelineWorker<'_, S, P, D> {
    fn parse(&mut self, tokens: &[Token]) -> Parse {
        let Pipeline { vocabulary, system, scorer, decoder, .. } = self.pipeline;
        let kept = self.pipeline.cleaning.apply_tokens(tokens);
        vocabulary.encode_into(&kept.tokens, &mut self.sentence);
        let decoded = decoder.decode(system, scorer, &self.sentence, &mut self.scratch);
        self.pipeline.parse(&decoded, &kept, tokens)
    }

    fn parse_nbest(&mut self, tokens: &[Token], wanted: NbestRequest) -> Vec<Parse> {
        let Pipeline { vocabulary, system, scorer, decoder, .. } = self.pipeline;
        let kept = self.pipeline.cleaning.apply_tokens(tokens);
        vocabulary.encode_into(&kept.tokens, &mut self.sentence);
        let (sentence, scratch) = (&self.sentence, &mut self.scratch);
        // Different derivations may build the same tree.
        let mut parses: Vec<Parse> = Vec::new();
        for decoded in decoder.decode_nbest(system, scorer, sentence, wanted.trees, scratch) {
            let mut parse = self.pipeline.parse(&decoded, &kept, tokens);
            if parses.iter().any(|other| same_brackets(&other.tree, &parse.tree)) {
                continue;
            }
            if wanted.constituents {
                let actions = &decoded.actions;
                let mut scores =
                    constituent_scores(system, scorer, sentence, actions, &mut self.replay);
                // The root, and a node that joins the parts of a parse that failed.
                scores.resize(parse.tree.nodes().len(), f32::INFINITY);
                parse.constituents = Some(scores);
            }
            parses.push(parse);
        }
        parses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::ScoreScale;
    use crate::decode::{Illegal, Search};
    use crate::scorer::Configuration;
    use crate::transition::binary::Binary;
    use crate::tree::TreeBuilder;
    use crate::treebank::penn;

    /// Wants the first action of the inventory, SHIFT, or its last, FINISH, whatever the state.
    struct Stubborn {
        wants_last: bool,
    }

    impl<S: TransitionSystem> Scorer<S> for Stubborn {
        type Memory = ();
        type Scratch = ();

        fn begin(&self, _at: Configuration<'_, S>, _scratch: &mut Self::Scratch) {}

        fn score(
            &self,
            _at: Configuration<'_, S>,
            _memory: &(),
            actions: &[S::Action],
            _scratch: &mut (),
            out: &mut Vec<f32>,
        ) {
            out.clear();
            out.resize(actions.len(), 0.0);
            let wanted = if self.wants_last { out.last_mut() } else { out.first_mut() };
            if let Some(score) = wanted {
                *score = 1.0;
            }
        }

        fn scale(&self) -> ScoreScale {
            ScoreScale::Margin
        }
    }

    fn failed(words: &str, wants_last: bool, label: &str, cleaning: Cleaning) -> String {
        let mut builder = TreeBuilder::new();
        builder.open("TOP");
        builder.open("NP");
        builder.token("a", "NN");
        builder.token("b", "NN");
        builder.close();
        builder.close();
        let tree = builder.finish();
        let pipeline = Pipeline {
            cleaning,
            vocabulary: Vocabulary::of([tree.tokens()], 1),
            system: Binary::of_trees([&tree]).unwrap(),
            scorer: Stubborn { wants_last },
            decoder: Search {
                illegal: Illegal::Fail,
                failure_label: label.into(),
                ..Search::default()
            },
        };
        let tokens: Vec<Token> = words
            .split(' ')
            .map(|word| Token::new(word, if word == "``" { word } else { "NN" }))
            .collect();
        let parse = pipeline.worker().parse(&tokens);
        assert!(!parse.complete);
        assert_eq!(parse.tree.tokens(), tokens);
        let mut line = Vec::new();
        penn::write_line(&parse.tree, &mut line).unwrap();
        String::from_utf8(line).unwrap().trim_end().to_owned()
    }

    #[test]
    fn a_failed_parse_is_flat_or_under_one_node_of_any_label() {
        let plain = Cleaning::none;
        // All shifted, then one shift too many; and a FINISH at once, with everything unread.
        for wants_last in [false, true] {
            let flat = "(TOP (NN a) (NN b) (NN c))";
            assert_eq!(failed("a b c", wants_last, "", plain()), flat);
            let joined = "(TOP (fail (NN a) (NN b) (NN c)))";
            assert_eq!(failed("a b c", wants_last, "fail", plain()), joined);
            assert_eq!(failed("a", wants_last, "fail", plain()), "(TOP (NN a))");
        }
    }

    #[test]
    fn tokens_that_were_cleaned_away_come_back() {
        let cleaning = Cleaning { quotes: true, ..Cleaning::none() };
        let tree = failed("a `` B", false, "IP", cleaning.clone());
        assert_eq!(tree, "(TOP (IP (NN a) (`` ``) (NN B)))");
        let cleaning = Cleaning { lowercase: true, ..cleaning };
        assert_eq!(failed("A B", false, "IP", cleaning), "(TOP (IP (NN A) (NN B)))");
    }
}
